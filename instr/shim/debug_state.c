/* debug_state.c - see debug_state.h.  Reads: nothing.  Writes: nothing. */
#include "debug_state.h"

_Atomic bool debug_attach_open;
_Atomic bool debug_attach_loading;
_Atomic bool debug_attach_stays;
_Atomic bool debug_attach_awaited;
_Atomic uint64_t debug_attach_rescued_by_ns;
