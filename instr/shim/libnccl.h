/* libnccl.h - the real functions of NCCL, and the names of those that are hooked. */
#ifndef WSDBG_SHIM_LIBNCCL_H
#define WSDBG_SHIM_LIBNCCL_H

#include <stdbool.h>

#include "nccl_table.h"

extern const char *const nccl_name[NCCL_HOOK_COUNT];

/* The hooked function of that name; -1 = none is. */
int libnccl_hook_by_name(const char *name);
/* What a call of the exported function from `caller` would have reached without us; NULL: no library has it. */
void *libnccl_next(enum nccl_hook id, const void *caller);
/* Whether some library of the process has it. */
bool libnccl_has(enum nccl_hook id);
/* What a look-up among the libraries that all others see would find without us; NULL, and dlerror() says so. */
void *libnccl_seen_by_all(const char *name);
/* The function that a look-up of the program found; false: another library's was found before, so this one is left as
 * it is. */
bool libnccl_found(enum nccl_hook id, void *function);
/* The one that was found first. */
void *libnccl_real(enum nccl_hook id);
/* Another function of the library that has `function`; NULL. */
void *libnccl_beside(const void *function, const char *name);

#endif
