/* memory.h - whether some allocation of the process has failed without an error message.
 *
 * Reads: what malloc and its kin return to wsdbg and to the libraries that are linked into it: the linker sends their
 * calls by way of memory.c (--wrap).  Writes: one flag.
 *
 * Many functions put "?" or nothing where they have no memory.  A command that ends well must not have done so.
 */
#ifndef WSDBG_BASE_MEMORY_H
#define WSDBG_BASE_MEMORY_H

#include "base/error.h"

/* An error if an allocation has failed since the last call, else NULL. */
struct wsdbg_error *wsdbg_memory_error(void);

#endif
