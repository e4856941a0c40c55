/* context.h - contexts: made, current on a thread, found by handle, ended. */
#ifndef WSDBG_LIBCUDA_CONTEXT_H
#define WSDBG_LIBCUDA_CONTEXT_H

#include "libcuda/driver.h"

/* ---- context_stack.c ---- */

/* The calling thread's, NULL = none. */
struct context *context_current(void);
/* A number for the calling thread, never used for another. */
uint64_t context_thread(void);
bool context_stack_is_full(void);
/* Puts it on the calling thread's stack; false when that is full. */
bool context_push(struct context *context);
/* Takes the current one off the stack, if there is one. */
void context_pop(void);
/* The context of this handle; NULL stands for the current one.  With the lock held. */
CUresult context_find(CUcontext handle, struct context **out);

/* ---- context.c, with the lock held ---- */

CUresult context_create(unsigned flags, unsigned api_version, struct context **out);
void context_destroy(struct context *context);

#endif
