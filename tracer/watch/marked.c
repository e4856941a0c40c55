/* marked.c - the picture for a hang that another wsdbg of the same run has found.
 *
 * Reads: the evidence.  Writes: the newest look, the database.
 *
 * This program is not known to have stalled for the stall time, so wsdbg calls nothing in it a hang: findings are
 * possible at most.  The picture is kept like a judged one, whatever becomes of the program.
 */
#include "watch/loop.h"

#include <stdlib.h>

/* A stall that was judged is a picture of what it is about. */
static bool has_picture(const struct wsdbg_watch_loop *loop)
{
    return loop->watch->hang || wsdbg_stall_is_judged(&loop->slots) || wsdbg_stall_is_judged(&loop->work);
}

/* Where nothing is found, why there is a picture. */
static struct wsdbg_error *say_why(struct wsdbg_diagnosis *diagnosis)
{
    diagnosis->findings = calloc(1, sizeof *diagnosis->findings);
    if (!diagnosis->findings)
        return &wsdbg_error_no_memory;
    diagnosis->finding_count = 1;
    diagnosis->findings[0] = (struct wsdbg_finding){
        .cause = WSDBG_CAUSE_UNKNOWN,
        .confidence = WSDBG_CONFIDENCE_POSSIBLE,
        .grid = WSDBG_NONE,
        .cta = WSDBG_NONE,
        .barrier = WSDBG_NONE,
        .sentence = "This picture was taken because a hang was found on another node; nothing here is known to stall."};
    return NULL;
}

static struct wsdbg_error *only_possible(struct wsdbg_diagnosis *diagnosis)
{
    diagnosis->hang = false;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        diagnosis->findings[i].confidence = WSDBG_CONFIDENCE_POSSIBLE;
    return diagnosis->finding_count == 0 ? say_why(diagnosis) : NULL;
}

enum { TRIES_MOST = 8 };
#define TRY_AGAIN_NS UINT64_C(1000000000)

bool wsdbg_watch_marked_is_due(const struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    return loop->marked.again_ns && now_ns >= loop->marked.again_ns;
}

/* A picture without some processes is better than none: the program may be ended at any time. */
static void try_again_if_taken(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const struct wsdbg_evidence *evidence = loop->watch->evidence;
    loop->marked.was_taken = evidence->ops->was_taken && evidence->ops->was_taken(evidence);
    loop->marked.again_ns = loop->marked.was_taken && loop->marked.tries < TRIES_MOST ? now_ns + TRY_AGAIN_NS : 0;
}

/* Of a later try: whether it saw less than the one before. */
static bool saw_nothing_new(const struct wsdbg_watch_loop *loop)
{
    return loop->marked.tries > 1 && loop->marked.was_taken && loop->last.look_count == 0;
}

static void store(struct wsdbg_watch_loop *loop, const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    if (watch->listener)
        watch->listener->judged(watch->listener, &loop->last, diagnosis);
    wsdbg_watch_store_verdict(loop, &loop->last, diagnosis, now_ns);
    wsdbg_watch_say(watch, "the picture of this moment is in the session; %s",
                    !loop->marked.was_taken ? "no verdict"
                    : loop->marked.again_ns ? "it lacks processes whose GPU another wsdbg looks at, and is taken again"
                                            : "it lacks processes whose GPU another wsdbg looks at");
}

static void take(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_diagnosis diagnosis = {0};
    loop->marked.tries++;
    struct wsdbg_error *error = watch->look_ends_work ? wsdbg_watch_inspect_within(loop, now_ns, WSDBG_RING_NS)
                                                      : wsdbg_watch_inspect(loop, now_ns);
    if (!error) {
        try_again_if_taken(loop, now_ns);
        if (saw_nothing_new(loop))
            return;
        wsdbg_watch_record(loop, now_ns);
        wsdbg_watch_read_stacks(loop);
        wsdbg_watch_mark_moving(loop);
        error = wsdbg_diagnose(&loop->last, &diagnosis);
    }
    if (!error)
        error = only_possible(&diagnosis);
    if (error)
        wsdbg_watch_say(watch, "the look failed: %s", wsdbg_error_message(error));
    else
        store(loop, &diagnosis, now_ns);
    wsdbg_error_destroy(error);
    wsdbg_diagnosis_deinit(&diagnosis);
}

void wsdbg_watch_take_marked(struct wsdbg_watch_loop *loop, uint64_t now_ns)
{
    const bool is_due = wsdbg_watch_marked_is_due(loop, now_ns);
    loop->marked.again_ns = 0;
    if (!is_due)
        loop->marked.tries = 0;
    if (!has_picture(loop))
        take(loop, now_ns);
    else if (!is_due)
        wsdbg_watch_say(loop->watch, "the picture of what stalls here is taken already");
}
