/* rank.h - which process of a parallel run this one is. */
#ifndef WSDBG_SHIM_RANK_H
#define WSDBG_SHIM_RANK_H

#include <stdbool.h>

/* Reads the environment and writes the segment's rank row where it says something new.  Only on a thread of the
 * program, inside a hooked call.  `if_unknown`: not where a rank is known already. */
void rank_read(bool if_unknown);

#endif
