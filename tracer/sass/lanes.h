/* lanes.h - how many lanes of a warp come to an instruction and execute it. */
#ifndef WSDBG_SASS_LANES_H
#define WSDBG_SASS_LANES_H

#include "sass/trace.h"

struct wsdbg_lanes_finder;

/* The graph and the trace must outlive *out. */
struct wsdbg_error *wsdbg_lanes_create(const struct wsdbg_graph *graph, struct wsdbg_trace *trace,
                                       struct wsdbg_lanes_finder **out);
void wsdbg_lanes_destroy(struct wsdbg_lanes_finder *finder); /* NULL is fine */

enum wsdbg_lanes wsdbg_lanes_at(struct wsdbg_lanes_finder *finder, uint32_t instruction);

#endif
