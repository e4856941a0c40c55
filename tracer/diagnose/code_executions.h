/* code_executions.h - how often each warp has reached a named barrier, from the machine's state and the code. */
#ifndef WSDBG_DIAGNOSE_CODE_EXECUTIONS_H
#define WSDBG_DIAGNOSE_CODE_EXECUTIONS_H

#include "diagnose/barrier_participation.h"

/* Of one warp; its group is not filled in.  but_block_wide: without instructions that name no count, which are
 * for all threads of the CTA. */
struct wsdbg_barrier_executions wsdbg_code_executions(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier,
                                                      bool but_block_wide);

/* Of all warps of the barrier's CTA, where some wait on it for `count` threads; more_to_come is left to the caller.
 * False: some warp that came may have named another count. */
bool wsdbg_code_barrier_participation(const struct wsdbg_case *c, uint32_t barrier, uint32_t count,
                                      const struct wsdbg_warp_set *waiting, struct wsdbg_barrier_participation *out);

#endif
