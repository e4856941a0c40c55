/* targets.h - the functions of the stand-ins for the CUDA runtime, and where each of them lies once it is looked up.
 *
 * They are looked up when one of them is first called: the jumps to them are placed before the C library is
 * initialised, or while the loader maps a library, and nothing can be loaded then.
 */
#ifndef WSDBG_STATIC_RUNTIME_TARGETS_H
#define WSDBG_STATIC_RUNTIME_TARGETS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Where a function continues: at first in a routine that looks it up.  It stays where it is for ever. */
typedef _Atomic(void *) target_slot;

/* The slot of this function of the stand-in for CUDA 12 or 13; NULL: the stand-in has no such function, or cannot be
 * read.  One thread at a time may ask. */
target_slot *target_find(bool is_12, const char *name);

/* Whether this file is one of the stand-ins: it lies in the folder of this library. */
bool target_is_stand_in(const char *path);

#endif
