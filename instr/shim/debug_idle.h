/* debug_idle.h - whether the program's contexts have work left. */
#ifndef WSDBG_SHIM_DEBUG_IDLE_H
#define WSDBG_SHIM_DEBUG_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* True when everything that the program gave its contexts is done, or is within limit_ns.  While calls wait. */
bool debug_idle(uint64_t limit_ns);

#endif
