/* closing.h - the last lines of `wsdbg run`: what was seen, so that silence is not taken for health. */
#ifndef WSDBG_WATCH_CLOSING_H
#define WSDBG_WATCH_CLOSING_H

#include <stdbool.h>

#include "program/unwatched.h"
#include "watch/watch.h"

struct wsdbg_closing {
    const struct wsdbg_watch *watch; /* that is over */
    const struct wsdbg_unwatched *unwatched;
    const char *output;     /* the database, NULL = it is not kept: nothing is in it */
    const char *hint;       /* why no CUDA may have been seen; NULL = nothing is known of that */
    bool quiet;             /* nothing of a run without a hang */
    bool ended_by_follower; /* it was wsdbg who ended the program, and it has said why */
    bool could_dump;        /* another run could have the driver write a dump at a fault */
};

/* Where the session is, and the commands that read it.  In the current folder they need no name: they take the newest
 * session there.  watch NULL = on stderr. */
void wsdbg_closing_say_next(const struct wsdbg_watch *watch, const char *database);
void wsdbg_closing_say(const struct wsdbg_closing *closing);
/* Whether something of the program was not watched, whoever is to blame. */
bool wsdbg_closing_lacks_something(const struct wsdbg_closing *closing);

#endif
