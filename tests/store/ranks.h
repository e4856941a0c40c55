/* ranks.h - a session of two processes, built by hand: rank 1 hangs by its own fault, rank 0 polls what rank 1 would
 * write. */
#ifndef TESTS_STORE_RANKS_H
#define TESTS_STORE_RANKS_H

#include "store/example.h"

/* Rank 1 is process 77 (the example's), rank 0 process 78; host node-a. */
void ranks_make(struct example *example);

#endif
