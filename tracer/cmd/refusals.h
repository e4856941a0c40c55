/* refusals.h - what the driver refused, explained as it happens: each different refusal once. */
#ifndef WSDBG_CMD_REFUSALS_H
#define WSDBG_CMD_REFUSALS_H

#include "cmd/watch.h"

/* Those that were said; begins as zero. */
struct wsdbg_refusals_said {
    struct wsdbg_refusal_said {
        uint32_t process_id, number, times; /* as it is stored; 0 = not yet */
        struct wsdbg_refused_words words;
    } * said;
    size_t count, capacity;
    uint64_t left_out;
    bool failed; /* the database takes no more of them */
};

/* Says those of the snapshot that were not said yet, and keeps them in the session's database; `last`: no other
 * snapshot comes, and how often they happened is kept.  Trouble with the database is said once. */
void wsdbg_refusals_say(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                        const struct wsdbg_snapshot *snapshot, bool last);
void wsdbg_refusals_said_deinit(struct wsdbg_refusals_said *said);

#endif
