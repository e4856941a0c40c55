/* refusals.h - what the driver refused, explained: a launch as it happens, each different one once.
 *
 * Programs ask for what they do not need: a library looks up kernels for all devices, and none of them is launched.
 * So a refused question (a look-up, a module, an attribute) is held back.  It is said when a launch of that kernel is
 * refused too, or of its module for want of code, or when the program ends badly.  The database has all of them.
 */
#ifndef WSDBG_WATCH_REFUSALS_H
#define WSDBG_WATCH_REFUSALS_H

#include "watch/watch.h"

/* Those that were seen; begins as zero. */
struct wsdbg_refusals_said {
    struct wsdbg_refusal_said {
        struct wsdbg_refusal refusal; /* as the newest snapshot has it */
        uint32_t times;               /* as it is stored; 0 = not yet */
        bool held;                    /* a question that was not said */
        struct wsdbg_refused_words words;
    } * said;
    size_t count, capacity;
    uint64_t left_out;  /* different calls that the observer had no room for */
    bool left_out_said;
    bool failed;        /* the database takes no more of them */
};

/* Says the launches of the snapshot that were not said yet, and the questions that belong to a refused one; keeps all
 * in the session's database.  `last`: no other snapshot comes, and how often they happened is kept.  An error of the
 * database is printed once. */
void wsdbg_refusals_say(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                        const struct wsdbg_snapshot *snapshot, bool last);
/* The program ended badly: says the questions that were held back, those with the same explanation as one. */
void wsdbg_refusals_say_held(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch);
void wsdbg_refusals_said_deinit(struct wsdbg_refusals_said *said);

#endif
