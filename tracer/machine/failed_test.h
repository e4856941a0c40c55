/* failed_test.h - which way a block goes on whose test of an mbarrier fails.  Private to this room. */
#ifndef WSDBG_MACHINE_FAILED_TEST_H
#define WSDBG_MACHINE_FAILED_TEST_H

#include "sass/graph.h"

/* The number of the successor that a warp takes if the phase is not over; ANY_WAY: the block tests nothing, or
 * something else decides, too. */
enum wsdbg_way_of_failure { WSDBG_FAILS_AHEAD, WSDBG_FAILS_BY_BRANCH, WSDBG_FAILS_ANY_WAY };

/* By block of the graph, for those whose bits are set in `blocks`; others have ANY_WAY.  The caller frees it; NULL
 * where memory ran out. */
uint8_t *wsdbg_ways_of_failure(const struct wsdbg_graph *graph, const uint64_t *blocks);

#endif
