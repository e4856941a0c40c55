/* closing.c - see closing.h.  Reads: the outcome of the watch.  Writes: lines for people. */
#include "watch/closing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/console.h"

static bool has_verdict(const struct wsdbg_watch *watch)
{
    return watch->hang || watch->given_up_ns;
}

static void say_fault(const struct wsdbg_closing *closing)
{
    const struct wsdbg_watch *watch = closing->watch;
    if (!watch->fault[0] || watch->fault_reported)
        return;
    wsdbg_watch_say(watch, "%s%s%s", watch->fault, watch->fault_launches[0] ? "; " : "", watch->fault_launches);
    if (closing->could_dump)
        wsdbg_watch_say(watch, "with --evidence core the driver tells where in the code a fault happens, but may stand "
                               "still over a bad address (driver 580)");
}

static void say_line(const struct wsdbg_watch *watch, const char *what, const char *word, const char *database)
{
    if (watch)
        wsdbg_watch_say(watch, "%s%s%s", what, word, database);
    else
        wsdbg_say("%s%s%s", what, word, database);
}

void wsdbg_closing_say_next(const struct wsdbg_watch *watch, const char *database)
{
    say_line(watch, "session in ", "", database);
    if (!strchr(database, '/')) {
        say_line(watch, "show it: wsdbg view; explain it: wsdbg why; ask it: wsdbg query", "", "");
        return;
    }
    say_line(watch, "show it: ", "wsdbg view ", database);
    say_line(watch, "explain it: ", "wsdbg why ", database);
    say_line(watch, "ask it: ", "wsdbg query ", database);
}

static void say_session(const struct wsdbg_closing *closing)
{
    const struct wsdbg_watch *watch = closing->watch;
    if (watch->not_stored || watch->verdict_not_stored)
        wsdbg_watch_say(watch, "%s lacks %s: it could not be stored", closing->output,
                        watch->verdict_not_stored ? "the verdict" : "what was seen last");
    if ((has_verdict(watch) && !watch->verdict_not_stored) || closing->ended_by_follower)
        wsdbg_closing_say_next(watch, closing->output);
}

static void say_unwatched(const struct wsdbg_closing *closing)
{
    const struct wsdbg_unwatched *unwatched = closing->unwatched;
    if (unwatched->count > 1)
        wsdbg_watch_say(closing->watch, "%zu processes were not watched, process %ld for one: %s", unwatched->count,
                        (long)unwatched->process, unwatched->reason);
    else if (unwatched->count)
        wsdbg_watch_say(closing->watch, "process %ld was not watched: %s", (long)unwatched->process, unwatched->reason);
}

static void say_unread(const struct wsdbg_closing *closing)
{
    const struct wsdbg_watch *watch = closing->watch;
    if (watch->unread_segments > 1)
        wsdbg_watch_say(watch, "what %" PRIu64 " observers wrote could not be read, of one of them: %s",
                        watch->unread_segments, watch->unread_reason);
    else if (watch->unread_segments)
        wsdbg_watch_say(watch, "what an observer wrote could not be read: %s", watch->unread_reason);
}

/* Launches were seen, and nothing that could have shown a hang of them. */
static bool sees_no_hang(const struct wsdbg_watch *watch)
{
    return watch->cuda_seen && !watch->probes_seen && !watch->look_ns;
}

/* How a run without a hang ended. */
static const char *end_words(const struct wsdbg_watch *watch)
{
    static const char *const ends[] = {
        [WSDBG_LOOKED] = "no hang",
        [WSDBG_SPARED_LATER_WORK] =
            "no hang seen, but a stall was not looked at: a kernel may have waited for new work",
        [WSDBG_SPARED_WORK] =
            "no hang seen, but work of which nothing was known was not looked at: a dump would have ended it",
        [WSDBG_COULD_NOT_LOOK] = "no hang seen, but the GPU could not be looked at",
    };
    if (watch->fault[0])
        return "ended by a GPU fault";
    if (sees_no_hang(watch))
        return "none with probes: a hang would not have been noticed";
    return watch->cut ? "no hang known" : ends[watch->not_looked];
}

static void say_launches(const struct wsdbg_closing *closing)
{
    const struct wsdbg_watch *watch = closing->watch;
    char gap[64] = "";
    if (watch->blind_ns)
        snprintf(gap, sizeof gap, ", not watched for %.1f s of it", (double)watch->blind_ns / 1e9);
    if (watch->blind)
        wsdbg_watch_say(watch, "the program was not watched to its end; session in %s", closing->output);
    else if (watch->cuda_seen && watch->launches == 0 && !watch->fault[0] && watch->not_looked == WSDBG_LOOKED &&
             !watch->cut)
        wsdbg_watch_say(watch, "no kernel launch was seen%s; session in %s", gap, closing->output);
    else if (watch->cuda_seen)
        wsdbg_watch_say(watch, "%" PRIu64 " kernel launch%s seen, %s%s; session in %s", watch->launches,
                        watch->launches == 1 ? "" : "es", end_words(watch), gap, closing->output);
    else
        wsdbg_watch_say(watch, "no%s use of CUDA was seen%s%s%s%s%s",
                        closing->unwatched->count || watch->unread_segments ? " other" : "", gap,
                        closing->hint ? ": " : "", closing->hint ? closing->hint : "",
                        closing->output ? "; session in " : "", closing->output ? closing->output : "");
}

void wsdbg_closing_say(const struct wsdbg_closing *closing)
{
    say_fault(closing);
    say_session(closing);
    say_unwatched(closing);
    say_unread(closing);
    if (!closing->quiet && !has_verdict(closing->watch))
        say_launches(closing);
}

bool wsdbg_closing_lacks_something(const struct wsdbg_closing *closing)
{
    const struct wsdbg_watch *watch = closing->watch;
    return watch->blind || watch->blind_ns || watch->unread_segments || closing->unwatched->count ||
           sees_no_hang(watch);
}
