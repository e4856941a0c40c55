/* time_limit.h - whether a poll with a time limit may end by it.
 *
 * A library's wait often has an optional time limit.  If the program gives none, the loop still reads the clock, and a
 * register says that the limit is off.  Reads: code, one lane's registers.  Private to this room.
 */
#ifndef WSDBG_MACHINE_TIME_LIMIT_H
#define WSDBG_MACHINE_TIME_LIMIT_H

#include "machine/loop.h"
#include "sass/thread_step.h"

/* Whether a branch out of the loop depends on the clock. */
bool wsdbg_loop_has_time_limit(const struct wsdbg_loop *loop);
/* Whether the clock may end the loop for a lane at this instruction with these registers.  True if that is not known.
 */
struct wsdbg_error *wsdbg_time_limit_may_count(const struct wsdbg_loop *loop, uint32_t instruction,
                                               const struct wsdbg_thread_state *state,
                                               const struct wsdbg_thread_world *world, bool *may_count);

#endif
