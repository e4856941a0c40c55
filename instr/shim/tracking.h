/* tracking.h - modules and functions as this process knows them, and the end of a context with all that is in it. */
#ifndef WSDBG_SHIM_TRACKING_H
#define WSDBG_SHIM_TRACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "driver_api.h"

/* A context is about to be destroyed: keeps our thread out of it.  Ends with the one below. */
void tracking_close_begin(uint32_t row);
void tracking_close_end(uint32_t row, bool destroyed);

/* A module (context known) or library was loaded; image may be NULL. */
void tracking_loaded(CUmodule module, CUlibrary library, const void *image);
void tracking_unloading(CUmodule module, CUlibrary library);
void tracking_kernel(CUkernel kernel, CUlibrary library);
/* The module is in the current context: points its probes at the ring. */
void tracking_module_seen(CUmodule module, CUlibrary library);
void tracking_kernel_function(CUfunction function, CUkernel kernel);
/* Row of a function about to be launched in context `context`; its module has its ring then. */
uint32_t tracking_launch_function(CUfunction function, uint32_t context);

/* Row of a living module or library, WSDBG_UNKNOWN32 where it has none. */
uint32_t tracking_module_row(CUmodule module, CUlibrary library);
/* The same of one that was seen there before, WSDBG_UNKNOWN32 where it was not: the driver is asked nothing. */
uint32_t tracking_seen_function(CUfunction function, uint32_t context);
/* A handle that was given for a launch: *library is set for a kernel of one.  The function to ask the driver about in
 * context `context`, NULL where it is not known.  The driver is not asked for a kernel's function: it would load it,
 * where nothing has yet. */
CUfunction tracking_look_into(CUfunction handle, uint32_t context, CUlibrary *library);

#endif
