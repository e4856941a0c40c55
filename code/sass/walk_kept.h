/* walk_kept.h - registers that a stretch of code writes and restores.  Private to the walks.
 *
 * A function that is called keeps registers of its caller in its stack frame, and loads them again before it returns.
 * What it writes to them meanwhile is nothing that a walk which passes it has to forget.
 */
#ifndef WSDBG_SASS_WALK_KEPT_H
#define WSDBG_SASS_WALK_KEPT_H

#include "sass/flow.h"
#include "sass/walk_registers.h"

/* Takes registers out of the set `lost` that have, on each way from the end of block `from` to the begin of block `to`,
 * what they had at first.  visited: by block, the ones that may lie between. */
struct wsdbg_error *walk_kept_find(const struct wsdbg_graph *graph, uint32_t from, uint32_t to, const bool *visited,
                                   uint64_t lost[WSDBG_WALK_REGISTER_WORDS]);

#endif
