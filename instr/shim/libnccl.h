/* libnccl.h - the real functions of NCCL, and the names of those that are hooked. */
#ifndef WSDBG_SHIM_LIBNCCL_H
#define WSDBG_SHIM_LIBNCCL_H

#include <stdbool.h>

#include "nccl_table.h"

extern const char *const nccl_name[NCCL_HOOK_COUNT];

/* The hooked function of that name; -1 = that name is not hooked. */
int libnccl_hook_by_name(const char *name);
/* The function that a call from `caller` would have reached without the shim; NULL = no library has it. */
void *libnccl_next(enum nccl_hook id, const void *caller);
/* Whether another library of the process has the function. */
bool libnccl_has(enum nccl_hook id);
/* The function in the global scope, the shim's own left out.  NULL = there is none; dlerror() then has the error. */
void *libnccl_seen_by_all(const char *name);
/* Notes a function that the program's dlsym found.  False: another copy's was found before.  Then the program gets this
 * one without a wrapper. */
bool libnccl_found(enum nccl_hook id, void *function);
/* The function that was found first. */
void *libnccl_real(enum nccl_hook id);
/* Another function of the library that holds `function`; NULL = it has none of that name. */
void *libnccl_beside(const void *function, const char *name);

#endif
