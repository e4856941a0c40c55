/* code_graph.h - whom a warp waits for, from the machine's state and the code alone. */
#ifndef WSDBG_DIAGNOSE_CODE_GRAPH_H
#define WSDBG_DIAGNOSE_CODE_GRAPH_H

#include "diagnose/wait_graph.h"

/* Fills in who could end the wait of one warp; `node` is zero before. */
void wsdbg_code_describe(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node);

/* The poll at the site reads with system scope: the host or another GPU may write the word.  True also where the
 * instruction is not known. */
bool wsdbg_code_polls_system(const struct wsdbg_snapshot *snapshot, uint32_t site);

/* Every part of the grids' warps that is seen waits or has left, and no CTA is missing: nothing that runs on the GPU
 * could still write a flag in global memory. */
bool wsdbg_code_nobody_runs(const struct wsdbg_case *c);

/* CTAs of the grid that are seen; of a machine's state, only those with a warp that has not exited. */
uint32_t wsdbg_code_ctas_there(const struct wsdbg_case *c);
/* The grid's other CTAs: whether they have left or were not launched yet is not said. */
uint32_t wsdbg_code_ctas_unseen(const struct wsdbg_case *c);

#endif
