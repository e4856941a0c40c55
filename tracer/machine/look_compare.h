/* look_compare.h - what moved between two looks; private to this room. */
#ifndef WSDBG_MACHINE_LOOK_COMPARE_H
#define WSDBG_MACHINE_LOOK_COMPARE_H

#include "machine/look_result.h"

/* What two looks saw of one warp. */
struct wsdbg_look_motion {
    bool moved;      /* it stands elsewhere, waits for something else, or has other registers */
    uint64_t stands; /* known to stand, by the wait or by its registers: a hash of place and registers; else 0 */
};

/* Fills `moved` and `barriers_changed` of the later look's row; motion[w], where given, for its warp w. */
void wsdbg_look_compare(const struct wsdbg_look *before, struct wsdbg_look *now, struct wsdbg_look_motion *motion);
/* Shows in the snapshot, whose warps from first_warp on are those of the later look: who moved is RUNNING, who did not
 * and is in no wait that lasts is UNKNOWN, there and in snapshot.before. */
void wsdbg_look_show_motion(struct wsdbg_snapshot *to, size_t first_warp, size_t count,
                            const struct wsdbg_look_motion *motion);

#endif
