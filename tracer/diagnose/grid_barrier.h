/* grid_barrier.h - whether the CTAs of a grid wait for each other at a word in global memory.  Private to this room. */
#ifndef WSDBG_DIAGNOSE_GRID_BARRIER_H
#define WSDBG_DIAGNOSE_GRID_BARRIER_H

#include "diagnose/case.h"

struct wsdbg_grid_barrier {
    bool counted;  /* every CTA that is there polls one word, which holds how many they are */
    bool launched; /* ... whatever it holds, of a cooperative launch: all CTAs began at once */
    uint32_t gone; /* CTAs that have left: those of a cooperative launch that are not there, else 0 */
};

/* Of the case's grid, from the machine's state; all false where the machine was not looked at. */
struct wsdbg_grid_barrier wsdbg_grid_barrier_of(const struct wsdbg_case *c);

#endif
