/* ranks.h - a session of two processes, built by hand: rank 1 hangs by its own fault, rank 0 polls what rank 1 would
 * write. */
#ifndef TESTS_STORE_RANKS_H
#define TESTS_STORE_RANKS_H

#include "store/example.h"

/* Rank 1 is process 77 (the example's), rank 0 process 78; host node-a. */
void ranks_make(struct example *example);
/* To ranks_make()'s ranks those up to `count`, which have no work: rank n is process 1000 + n.  The
 * last one was killed. */
void ranks_add_idle(struct example *example, uint32_t count);
/* Rank 0 alone, of which nothing is diagnosed: process 78. */
void ranks_make_waiting(struct example *example);
/* The rank of the example's only process, of a world of `world_size`; 0 = not known.  `job`: lines "NAME=value". */
void ranks_set(struct example *example, uint32_t rank, uint32_t world_size, const char *job);

#endif
