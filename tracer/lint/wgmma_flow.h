/* wgmma_flow.h - how many wgmma may be in flight at each instruction, and whose accumulators those are: the events of
 * wgmma_code.h followed along all paths.
 *
 * What may be on some path: at a place where paths meet, the larger counts and the younger groups of all of them.
 */
#ifndef WSDBG_LINT_WGMMA_FLOW_H
#define WSDBG_LINT_WGMMA_FLOW_H

#include "lint/wgmma_code.h"

/* Groups that are told apart; what is older is one with the oldest.  More than any wait names (0 to 7). */
enum { WSDBG_WGMMA_GROUPS = 9, WSDBG_WGMMA_MANY = 64 };

/* Of a tile, in a byte: its last wgmma on some path is in flight, and committed that many groups ago; on some path it
 * was waited for; it was in flight when a loop's next round began, and no wait for all groups came since. */
enum wsdbg_wgmma_tile_state {
    WSDBG_WGMMA_AGE = 0xf, /* 0 = not in flight, 1 = not committed, 2 = in the last group, … */
    WSDBG_WGMMA_WAITED_FOR = 0x10,
    WSDBG_WGMMA_CARRIED = 0x20,
};

/* Counts are at most WSDBG_WGMMA_MANY, which also means more. */
struct wsdbg_wgmma_state {
    bool is_reached;
    uint8_t open;                       /* wgmma that are in no group yet */
    uint8_t groups[WSDBG_WGMMA_GROUPS]; /* in flight in each, the last one first */
    uint8_t tiles[WSDBG_WGMMA_TILES_MOST];
};

/* Told of each instruction that some path reaches: what may be in flight just before it. */
typedef void wsdbg_wgmma_visitor(void *context, uint32_t instruction, const struct wsdbg_wgmma_event *event,
                                 const struct wsdbg_wgmma_state *before);

/* Follows all paths, then visits the instructions in their order.  BAD_INPUT where the code is too large for that. */
struct wsdbg_error *wsdbg_wgmma_flow(const struct wsdbg_wgmma_code *code, wsdbg_wgmma_visitor *visitor, void *context);

/* All wgmma that may be in flight. */
unsigned wsdbg_wgmma_in_flight(const struct wsdbg_wgmma_state *state);
/* The same once another one was issued. */
unsigned wsdbg_wgmma_in_flight_with_one_more(const struct wsdbg_wgmma_state *state);

#endif
