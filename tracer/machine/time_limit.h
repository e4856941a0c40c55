/* time_limit.h - whether a poll with a time limit may end by it.
 *
 * A library's wait often has a limit that the program leaves out: the loop looks at the clock all the same, and a value
 * that it keeps says that the limit does not count.  Reads: code, one lane's registers.  Private to this room.
 */
#ifndef WSDBG_MACHINE_TIME_LIMIT_H
#define WSDBG_MACHINE_TIME_LIMIT_H

#include "machine/loop.h"
#include "sass/thread_step.h"

/* Whether the loop may end by what the clock shows. */
bool wsdbg_loop_has_time_limit(const struct wsdbg_loop *loop);
/* The same for a lane that stands at an instruction of the loop with these registers.  True too where nobody knows. */
struct wsdbg_error *wsdbg_time_limit_may_count(const struct wsdbg_loop *loop, uint32_t instruction,
                                               const struct wsdbg_thread_state *state,
                                               const struct wsdbg_thread_world *world, bool *may_count);

#endif
