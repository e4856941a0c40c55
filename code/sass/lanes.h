/* lanes.h - how many lanes of a warp reach an instruction and execute it. */
#ifndef WSDBG_SASS_LANES_H
#define WSDBG_SASS_LANES_H

#include "sass/trace.h"

struct wsdbg_lanes_finder;

/* The graph and the trace must outlive *out. */
struct wsdbg_error *wsdbg_lanes_create(const struct wsdbg_graph *graph, struct wsdbg_trace *trace,
                                       struct wsdbg_lanes_finder **out);
void wsdbg_lanes_destroy(struct wsdbg_lanes_finder *finder); /* NULL is fine */

enum wsdbg_lanes wsdbg_lanes_at(struct wsdbg_lanes_finder *finder, uint32_t instruction);

/* The instruction that picks the one lane for this one alone: itself where its guard does, or the branch by which alone
 * its block is entered.  WSDBG_GRAPH_NONE: nothing does, or the lane was picked further up. */
uint32_t wsdbg_lanes_picked_at(struct wsdbg_lanes_finder *finder, uint32_t instruction);

#endif
