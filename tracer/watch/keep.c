/* keep.c - what a watch keeps of what it sees: frames of a recording, the session's database.
 *
 * Reads: the newest look.  Writes: the recording, the database.  A recording that failed is left out from then
 * on; what the database lacks is replaced by what comes later, but for a verdict: that is tried for a while.
 */
#include "watch/loop.h"

#include <time.h>

#include "base/console.h"

#define VERDICT_MOST_NS 5000000000ull

enum {
    RECORD_EVERY_NS = 250000000,
    STORE_EVERY_NS = 2000000000, /* storing is most of what watching costs */
    VERDICT_AGAIN_NS = 100000000,
    NOT_STORED_SAID = 3, /* what comes and goes is not said for ever */
};

bool wsdbg_watch_give_up(const struct wsdbg_watch *watch, struct wsdbg_error *error, const char *what, bool *failed)
{
    if (!error)
        return false;
    wsdbg_watch_say(watch, "%s from here on: %s", what, wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    *failed = true;
    return true;
}

void wsdbg_watch_record(struct wsdbg_watch_loop *loop, uint64_t time_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    if (!watch->record_path || loop->record_failed || time_ns < loop->recorded_ns)
        return;
    loop->recorded_ns = time_ns;
    loop->recorded_progress_ns = loop->last.progress_ns;
    wsdbg_watch_give_up(watch, wsdbg_evidence_record(watch->evidence, watch->record_path, time_ns), "not recording",
                        &loop->record_failed);
}

void wsdbg_watch_record_progress(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool over)
{
    bool moved = loop->last.progress_ns > loop->recorded_progress_ns;
    bool silent = loop->last.progress_ns < now_ns;
    if (loop->recorded_ns == 0 ? loop->last.context_count > 0 : over)
        wsdbg_watch_record(loop, now_ns);
    else if (moved && (silent || now_ns - loop->recorded_ns >= RECORD_EVERY_NS))
        wsdbg_watch_record(loop, loop->last.progress_ns);
}

/* The files as they are now belong to a program that runs now, not to a recording. */
static struct wsdbg_error *keep_sources(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot)
{
    if (!loop->watch->clock->is_live)
        return NULL;
    return wsdbg_sources_keep(&loop->sources, loop->watch->store, snapshot, loop->watch->spool);
}

/* What slots tell of work that goes on without them is less than what a look at the GPU told. */
static bool says_less(const struct wsdbg_watch_loop *loop)
{
    return loop->look_shown && loop->last.look_count == 0 && !wsdbg_watched_slots(&loop->last).running &&
           wsdbg_watched_work(&loop->last, 0).running;
}

/* A full disk may have room again; what was not stored is then replaced by what is newer. */
static void note_stored(struct wsdbg_watch_loop *loop, struct wsdbg_error *error)
{
    if (error && !loop->store_failed && loop->store_gaps++ < NOT_STORED_SAID)
        wsdbg_watch_say(loop->watch, "not stored: %s; trying again", wsdbg_error_message(error));
    else if (!error && loop->store_failed && loop->store_gaps <= NOT_STORED_SAID)
        wsdbg_watch_say(loop->watch, "stored again");
    loop->store_failed = loop->watch->not_stored = error != NULL;
    wsdbg_error_destroy(error);
}

void wsdbg_watch_await_leave(struct wsdbg_watch_loop *loop)
{
    struct wsdbg_evidence *evidence = loop->watch->evidence;
    if (evidence->ops->await_leave)
        evidence->ops->await_leave(evidence, &loop->last);
}

void wsdbg_watch_store(struct wsdbg_watch_loop *loop, uint64_t now_ns, bool now_please)
{
    if (!now_please && now_ns - loop->stored_ns < STORE_EVERY_NS)
        return;
    if (says_less(loop))
        return;
    wsdbg_watch_await_leave(loop);
    loop->look_shown = loop->last.look_count > 0;
    loop->stored_ns = now_ns;
    struct wsdbg_error *error = wsdbg_store_snapshot(loop->watch->store, &loop->last);
    if (!error)
        error = keep_sources(loop, &loop->last);
    note_stored(loop, error);
}

static struct wsdbg_error *store_verdict(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot,
                                         const struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_error *error = wsdbg_store_snapshot(loop->watch->store, snapshot);
    if (!error)
        error = keep_sources(loop, snapshot);
    return error ? error : wsdbg_store_diagnosis(loop->watch->store, snapshot, diagnosis);
}

/* There is one moment for it: the program may be ended next.  Somebody else may read the database just now, and a disk
 * may get room. */
void wsdbg_watch_store_verdict(struct wsdbg_watch_loop *loop, const struct wsdbg_snapshot *snapshot,
                               const struct wsdbg_diagnosis *diagnosis, uint64_t now_ns)
{
    struct wsdbg_watch *watch = loop->watch;
    struct wsdbg_error *error;
    wsdbg_watch_await_leave(loop);
    loop->stored_ns = now_ns;
    loop->look_shown = snapshot->look_count > 0;
    const uint64_t until_ns = wsdbg_monotonic_ns() + VERDICT_MOST_NS;
    while ((error = store_verdict(loop, snapshot, diagnosis)) != NULL && watch->clock->is_live &&
           wsdbg_monotonic_ns() < until_ns) {
        wsdbg_error_destroy(error);
        nanosleep(&(struct timespec){.tv_nsec = VERDICT_AGAIN_NS}, NULL);
    }
    watch->verdict_not_stored = error != NULL;
    if (error)
        wsdbg_watch_say(watch, "the verdict could not be stored: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}
