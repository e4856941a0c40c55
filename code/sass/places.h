/* places.h - where a path through a function may stand, calls and returns included.
 *
 * A path may first return from the procedures it is in, to any caller, and later call others; a procedure from which it
 * has returned is passed as a whole.  So each block is two places: an upper one, from which the path may still return,
 * and a lower one, to which a call leads and from which it does not.  Two more kinds of places stand for "has returned
 * from procedure p" and "has returned from some procedure", so that the edges stay as few as the code is long.
 */
#ifndef WSDBG_SASS_PLACES_H
#define WSDBG_SASS_PLACES_H

#include "sass/flow.h"

enum wsdbg_floor { WSDBG_FLOOR_UPPER, WSDBG_FLOOR_LOWER, WSDBG_FLOORS };

struct wsdbg_places {
    const struct wsdbg_graph *graph;
    bool *returns; /* by block: a path from its start reaches a return, within its procedure */
};

/* `stops` says, by block, whether no path goes through it; NULL = all may be passed. */
struct wsdbg_error *wsdbg_places_create(const struct wsdbg_graph *graph, const bool *stops, struct wsdbg_places *out);
void wsdbg_places_destroy(struct wsdbg_places *places);

uint32_t wsdbg_places_count(const struct wsdbg_places *places);
uint32_t wsdbg_place_of_block(uint32_t block, enum wsdbg_floor floor);
/* The block of a place, WSDBG_GRAPH_NONE for the two other kinds. */
uint32_t wsdbg_block_of_place(const struct wsdbg_places *places, uint32_t place);

/* Ways out of a place, some of which may lead nowhere: WSDBG_GRAPH_NONE. */
uint32_t wsdbg_place_ways(const struct wsdbg_places *places, uint32_t place);
uint32_t wsdbg_place_after(const struct wsdbg_places *places, uint32_t place, uint32_t way);
/* True where the way passes a call of this code as a whole. */
bool wsdbg_place_way_passes_call(const struct wsdbg_places *places, uint32_t place, uint32_t way);

/* Marks, by block, what leads to a marked block without a stop: along the edges within a procedure, past calls whose
 * callee's entry is marked; with `into_calls` past every call and into every callee. */
struct wsdbg_error *wsdbg_flow_mark_backwards(const struct wsdbg_graph *graph, const bool *stops, bool into_calls,
                                              bool *marked);

#endif
