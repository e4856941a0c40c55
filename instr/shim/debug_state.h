/* debug_state.h - how an inspector stands to the program's calls, in words that every hooked call looks at. */
#ifndef WSDBG_SHIM_DEBUG_STATE_H
#define WSDBG_SHIM_DEBUG_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* True while calls wait: from before an inspector's first step to after its last, or while one that stays looks. */
extern _Atomic bool debug_attach_open;
/* True while the driver may load its debugger library. */
extern _Atomic bool debug_attach_loading;
/* True while an inspector is attached and calls go on but for its looks. */
extern _Atomic bool debug_attach_stays;
/* True until the first launch need not wait for an inspector any more. */
extern _Atomic bool debug_attach_awaited;
/* Until then calls wait for an attach watchdog; 0 = they do not. */
extern _Atomic uint64_t debug_attach_rescued_by_ns;

#endif
