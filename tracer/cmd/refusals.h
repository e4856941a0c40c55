/* refusals.h - what the driver refused, explained as it happens: each different refusal once. */
#ifndef WSDBG_CMD_REFUSALS_H
#define WSDBG_CMD_REFUSALS_H

#include "cmd/watch.h"

/* Those that were said; begins as zero. */
struct wsdbg_refusals_said {
    struct wsdbg_refusal_key {
        uint32_t process_id, number;
    } * said;
    size_t count, capacity;
    uint64_t left_out;
};

/* Says those of the snapshot that were not said yet, and keeps them in the session's database. */
void wsdbg_refusals_say(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                        const struct wsdbg_snapshot *snapshot);
void wsdbg_refusals_said_deinit(struct wsdbg_refusals_said *said);

#endif
