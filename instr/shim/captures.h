/* captures.h - stream captures that are under way, and the threads of ours that must not spoil one. */
#ifndef WSDBG_SHIM_CAPTURES_H
#define WSDBG_SHIM_CAPTURES_H

#include <stdbool.h>

#include "driver_api.h"

/* A stream capture begins (1; called before the driver is) or ended (-1) in this process. */
void captures_change(int change);
/* Which of the process's captures began last, from 1. */
uint32_t captures_number(void);
/* Whether some stream is captured now. */
bool captures_any(void);
/* What is put into the stream now goes into a graph. */
bool captures_holds(CUstream stream);
/* Between the two nothing is captured.  False, and no end then, while something is: a capture must not see a marker. */
bool captures_marking_begin(void);
void captures_marking_end(void);
/* Exchanges the mode in which captures restrict the calls of this thread. */
void captures_exchange_mode(int *mode);
/* For a thread of ours: from here on its calls disturb no capture of the program. */
void captures_do_not_disturb(void);

#endif
