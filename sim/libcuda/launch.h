/* launch.h - a launch as the calls describe it, and the operation that it becomes. */
#ifndef WSDBG_LIBCUDA_LAUNCH_H
#define WSDBG_LIBCUDA_LAUNCH_H

#include "libcuda/operation.h"

/* What all forms of a launch have. */
struct launch_request {
    CUfunction function;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes;
    CUstream stream;
    void *const *parameters, *const *extra;
    bool is_cooperative, is_programmatic;
};

/* The operation for a launch in the context, checked as far as it can be before its turn comes.  With the lock held. */
CUresult launch_make(struct context *context, const struct launch_request *request, struct operation **out);

#endif
