/* graph_kernels.h - which kernels a graph launch carries. */
#ifndef WSDBG_SHIM_GRAPH_KERNELS_H
#define WSDBG_SHIM_GRAPH_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver_api.h"

/* A graph was made ready to run as `exec`: its nodes are read. */
void graph_kernels_made(const void *exec, CUgraph graph, uint32_t context);
/* `exec` holds from now on what `graph` does. */
void graph_kernels_updated(const void *exec, CUgraph graph, uint32_t context);
/* A node of `exec` has other parameters from now on; kernel NULL = what they are is not known. */
void graph_kernels_changed(const void *exec, void *node, const struct cu_kernel_node *kernel, uint32_t context);
/* The number of what `exec` holds now, 0 = not known; *partly as WSDBG_LAUNCH_GRAPH_PARTLY, left alone for 0. */
uint32_t graph_kernels_of(const void *exec, bool *partly);
/* False: the driver does not tell. */
bool graph_kernel_read(void *node, struct cu_kernel_node *out);
/* As the driver was given it: CUfunction or CUkernel. */
CUfunction graph_kernel_function(const struct cu_kernel_node *kernel);

#endif
