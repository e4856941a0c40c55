/* look_compare.h - what moved between two looks; private to this room. */
#ifndef WSDBG_MACHINE_LOOK_COMPARE_H
#define WSDBG_MACHINE_LOOK_COMPARE_H

#include "machine/look.h"

/* Fills `moved` and `barriers_changed` of the later look's row; moved[w], where given, for its warp w. */
void wsdbg_look_compare(const struct wsdbg_look *before, struct wsdbg_look *now, bool *moved);

#endif
