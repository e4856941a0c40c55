/* lane.h - one lane of a warp as its launch shows itself to it, to be followed (sass/follow.h).  Private to this room.
 */
#ifndef WSDBG_MACHINE_LANE_H
#define WSDBG_MACHINE_LANE_H

#include "machine/machine.h"
#include "sass/thread_step.h"

struct wsdbg_lane {
    struct wsdbg_machine *machine;
    uint32_t warp, lane;       /* warp: row of the machine */
    struct wsdbg_error *error; /* the first one */
};

/* What the lane finds in constants and special registers.  Valid as long as the lane. */
struct wsdbg_thread_world wsdbg_lane_world(struct wsdbg_lane *lane);
/* Into `shared` what all lanes of the warp (row of the machine) share. */
struct wsdbg_error *wsdbg_lane_read_uniform(struct wsdbg_machine *machine, uint32_t warp,
                                            struct wsdbg_thread_state *shared);
/* Into `state` what they share and all that the source has of the lane's registers; false where it has none. */
bool wsdbg_lane_read_registers(struct wsdbg_lane *lane, const struct wsdbg_thread_state *shared,
                               struct wsdbg_thread_state *state);

#endif
