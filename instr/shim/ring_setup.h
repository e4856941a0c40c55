/* ring_setup.h - the ring of a probed module. */
#ifndef WSDBG_SHIM_RING_SETUP_H
#define WSDBG_SHIM_RING_SETUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum module_state { MODULE_NEW, MODULE_BUSY, MODULE_PLAIN, MODULE_PROBED, MODULE_FAILED };
struct shim_module {
    uint64_t module;  /* CUmodule, 0 = not seen yet (a library nobody launched from) */
    uint64_t library; /* CUlibrary, 0 = none */
    uint32_t context; /* row, WSDBG_UNKNOWN32 for a library */
    uint32_t row;     /* in the segment, WSDBG_UNKNOWN32 when the table was full */
    bool alive;
    _Atomic int state;           /* enum module_state */
    _Atomic uint32_t generation; /* raised when it is unloaded */
};

/* Configures the module's probes; the module's context is current. */
void ring_configure(struct shim_module *module);

#endif
