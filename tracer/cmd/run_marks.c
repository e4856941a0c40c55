/* run_marks.c - see run_marks.h.  Reads and writes marks; says what becomes of them. */
#include "cmd/run_marks.h"

#include <time.h>

#include "base/console.h"

enum { PAUSE_NS = 50000000 };
#define WAIT_MOST_NS UINT64_C(10000000000)
/* So long a picture answers later marks too: those of one hang come within some seconds. */
#define PICTURE_FRESH_NS UINT64_C(10000000000)

struct wsdbg_error *wsdbg_run_marks_open(const char *folder, struct wsdbg_run_marks *out)
{
    *out = (struct wsdbg_run_marks){0};
    struct wsdbg_error *error = folder ? wsdbg_marks_open(folder, &out->files) : NULL;
    if (!error && out->files && wsdbg_marks_words(out->files)[0])
        wsdbg_say("%s", wsdbg_marks_words(out->files));
    return error;
}

bool wsdbg_run_marks_look(struct wsdbg_run_marks *marks, const struct wsdbg_watch *watch, uint64_t now_ns)
{
    struct wsdbg_mark mark;
    if (!marks->files)
        return false;
    if (marks->picture_due)
        wsdbg_marks_answer(marks->files);
    marks->picture_due = false;
    if (watch->hang)
        wsdbg_marks_set(marks->files, watch->cause);
    if (!wsdbg_marks_look(marks->files, now_ns, &mark))
        return false;
    wsdbg_watch_say(watch, "a hang was found on %s: %s", mark.host, mark.cause);
    if (watch->hang)
        return false;
    if (marks->picture_ns && now_ns - marks->picture_ns < PICTURE_FRESH_NS) {
        wsdbg_marks_answer(marks->files);
        return false;
    }
    marks->picture_due = true;
    marks->picture_ns = now_ns;
    return true;
}

void wsdbg_run_marks_wait(struct wsdbg_run_marks *marks, const struct wsdbg_watch *watch, struct wsdbg_child *child)
{
    const uint64_t began_ns = wsdbg_monotonic_ns();
    size_t others = 0, unanswered;
    if (!marks->files || !wsdbg_marks_set(marks->files, watch->cause))
        return;
    while ((unanswered = wsdbg_marks_unanswered(marks->files, &others)) > 0 &&
           wsdbg_monotonic_ns() - began_ns < WAIT_MOST_NS && !wsdbg_child_end_was_asked(child, began_ns))
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    if (others > 0)
        wsdbg_watch_say(watch, "%zu of %zu other wsdbg took their picture for this hang within %.1f s",
                        others - unanswered, others, (double)(wsdbg_monotonic_ns() - began_ns) / 1e9);
}

void wsdbg_run_marks_close(struct wsdbg_run_marks *marks)
{
    wsdbg_marks_close(marks->files);
    marks->files = NULL;
}
