/* life_cycle.h - the start of recording; all else in life_cycle.c is called by the loader and the C library. */
#ifndef WSDBG_SHIM_LIFE_CYCLE_H
#define WSDBG_SHIM_LIFE_CYCLE_H

#include <stdbool.h>

/* True when calls are to be recorded; creates the segment at the first call.  Never true inside our own calls. */
bool shim_recording(void);

#endif
