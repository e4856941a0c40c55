/* libcuda.h - the driver's library: the real functions behind the hooks, and what we call ourselves. */
#ifndef WSDBG_SHIM_LIBCUDA_H
#define WSDBG_SHIM_LIBCUDA_H

#include <stdbool.h>

#include "driver_api.h"
#include "hook_table.h"

/* What libcuda calls the hooked functions, by row. */
extern const char *const hook_name[WSDBG_HOOK_COUNT];

extern struct wsdbg_driver shim_driver; /* valid once libcuda_ready() */
bool libcuda_ready(void);               /* it is loaded and every needed call was found */
bool libcuda_is_loaded(void);           /* looks for it until it is found */
/* Anything that libcuda exports, NULL when it does not.  For threads of our own: it may leave a dlerror(). */
void *libcuda_symbol(const char *name);
/* The hook's real function in libcuda, NULL when there is none. */
void *libcuda_real(enum wsdbg_hook_id id);
/* Without a look for libcuda: the hook whose real function that is, -1 = none; whether a hook has one. */
int libcuda_hook_of(const void *function);
bool libcuda_has(enum wsdbg_hook_id id);
/* Where the exported symbol forwards to: another preloaded interposer, or libcuda. */
void *libcuda_next(enum wsdbg_hook_id id);

#endif
