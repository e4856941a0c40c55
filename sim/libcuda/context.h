/* context.h - contexts: made, current on a thread, found by handle, ended. */
#ifndef WSDBG_LIBCUDA_CONTEXT_H
#define WSDBG_LIBCUDA_CONTEXT_H

#include "libcuda/driver.h"

/* The calling thread's, NULL = none. */
struct context *context_current(void);
/* A number for the calling thread, never used for another. */
uint64_t context_thread(void);

/* With the lock held. */
CUresult context_create(unsigned flags, unsigned api_version, struct context **out);
void context_destroy(struct context *context);
/* The context of this handle; NULL stands for the current one. */
CUresult context_find(CUcontext handle, struct context **out);
/* Puts it on the calling thread's stack; false when that is full. */
bool context_push(struct context *context);

#endif
