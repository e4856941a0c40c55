/* refusals.h - calls that the driver refused; errno is kept, the result is not looked at twice. */
#ifndef WSDBG_SHIM_REFUSALS_H
#define WSDBG_SHIM_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"
#include "driver_api.h"

/* Errors of what is launched, and not of work before it, of the context or of handles. */
bool refusal_is_about_launch(CUresult result);
/* A launch, its row filled by observer_launch_begin. */
void refusal_launch(const char *call, const struct wsdbg_launch_row *launch, CUfunction handle, CUresult result);
/* A kernel of a graph, of whose node the members that CUDA 12 added are not read; a graph of which no kernel is known
 * to be the reason. */
void refusal_node(const char *call, CUfunction handle, const struct cu_kernel_node *kernel, CUresult result);
void refusal_graph(const char *call, const void *graph, CUresult result);
struct refused_code {
    const void *image; /* that was to be loaded, NULL = none */
    const char *name;  /* of the kernel or the file, NULL = not given */
    CUmodule module;   /* in which it was looked for */
    CUlibrary library;
    CUkernel kernel;
};
void refusal_code(const char *call, const struct refused_code *code, CUresult result);
struct refused_setting {
    CUfunction function; /* NULL: */
    CUkernel kernel;
    CUdevice device; /* of the kernel */
    int attribute, value;
};
void refusal_setting(const char *call, const struct refused_setting *setting, CUresult result);

#endif
