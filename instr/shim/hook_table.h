/* hook_table.h - every driver function that the shim hooks, one row each.
 *
 * Read by interpose.c (names, real addresses) and hooks.c (the wrappers).  A new hook is a new row.
 * Columns: exported symbol, body, parameters, arguments.  A body of hooks.c gets (row, real function, arguments).
 * The "synchronising" rows share one body; their third column is the stream waited for, WSDBG_UNKNOWN64 if none.
 */
#ifndef WSDBG_SHIM_HOOK_TABLE_H
#define WSDBG_SHIM_HOOK_TABLE_H

/* clang-format off */
#define LAUNCH_PARAMETERS                                                                                   \
    (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,            \
     unsigned shared, CUstream stream, void **parameters, void **extra)
#define LAUNCH_ARGUMENTS (f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra)
#define COOPERATIVE_PARAMETERS                                                                              \
    (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,            \
     unsigned shared, CUstream stream, void **parameters)
#define COOPERATIVE_ARGUMENTS (f, gx, gy, gz, bx, by, bz, shared, stream, parameters)
#define LAUNCH_EX_PARAMETERS (const struct cu_launch_config *config, CUfunction f, void **parameters, void **extra)
#define LAUNCH_EX_ARGUMENTS (config, f, parameters, extra)
#define LIBRARY_PARAMETERS                                                                                  \
    (CUlibrary *library, const void *code, void *jit, void **jit_values, unsigned jit_count,                \
     void *options, void **values, unsigned count)
#define LIBRARY_ARGUMENTS (library, code, jit, jit_values, jit_count, options, values, count)
#define CAPTURE_GRAPH_PARAMETERS                                                                            \
    (CUstream stream, CUgraph graph, const void *nodes, const void *edges, size_t count, int mode)

#define INSTANTIATE_PARAMETERS (void *exec, CUgraph graph, void **node, char *log, size_t bytes)
#define INSTANTIATE_ARGUMENTS (exec, graph, node, log, bytes)

#define WSDBG_HOOKS(X)                                                                                      \
    X(cuInit, init_body, (unsigned flags), (flags))                                                         \
    X(cuGetProcAddress, proc_address_body, (const char *symbol, void **pointer, int version, uint64_t flags), (symbol, pointer, version, flags)) \
    X(cuGetProcAddress_v2, proc_address_v2_body, (const char *symbol, void **pointer, int version, uint64_t flags, void *status), (symbol, pointer, version, flags, status)) \
    X(cuGetProcAddress_v2_ptsz, proc_address_v2_body, (const char *symbol, void **pointer, int version, uint64_t flags, void *status), (symbol, pointer, version, flags, status)) \
    X(cuLaunchKernel, launch_body, LAUNCH_PARAMETERS, LAUNCH_ARGUMENTS)                                     \
    X(cuLaunchKernel_ptsz, launch_body, LAUNCH_PARAMETERS, LAUNCH_ARGUMENTS)                                \
    X(cuLaunchKernelEx, launch_ex_body, LAUNCH_EX_PARAMETERS, LAUNCH_EX_ARGUMENTS)                          \
    X(cuLaunchKernelEx_ptsz, launch_ex_body, LAUNCH_EX_PARAMETERS, LAUNCH_EX_ARGUMENTS)                     \
    X(cuLaunchCooperativeKernel, cooperative_body, COOPERATIVE_PARAMETERS, COOPERATIVE_ARGUMENTS)           \
    X(cuLaunchCooperativeKernel_ptsz, cooperative_body, COOPERATIVE_PARAMETERS, COOPERATIVE_ARGUMENTS)      \
    X(cuGraphLaunch, graph_launch_body, (void *exec, CUstream stream), (exec, stream))                      \
    X(cuGraphLaunch_ptsz, graph_launch_body, (void *exec, CUstream stream), (exec, stream))                 \
    X(cuGraphAddKernelNode, kernel_node_body, (void *node, CUgraph graph, const void *nodes, size_t count, const struct cu_kernel_node *kernel), (node, graph, nodes, count, kernel)) \
    X(cuGraphAddKernelNode_v2, kernel_node_v2_body, (void *node, CUgraph graph, const void *nodes, size_t count, const struct cu_kernel_node *kernel), (node, graph, nodes, count, kernel)) \
    X(cuGraphAddNode, graph_node_body, (void *node, CUgraph graph, const void *nodes, size_t count, struct cu_graph_node *add), (node, graph, nodes, count, add)) \
    X(cuGraphAddNode_v2, graph_node_v2_body, (void *node, CUgraph graph, const void *nodes, const void *edges, size_t count, struct cu_graph_node *add), (node, graph, nodes, edges, count, add)) \
    X(cuGraphExecKernelNodeSetParams, set_node_body, (void *exec, void *node, const struct cu_kernel_node *kernel), (exec, node, kernel)) \
    X(cuGraphExecKernelNodeSetParams_v2, set_node_v2_body, (void *exec, void *node, const struct cu_kernel_node *kernel), (exec, node, kernel)) \
    X(cuGraphExecNodeSetParams, set_any_node_body, (void *exec, void *node, struct cu_graph_node *with), (exec, node, with)) \
    X(cuGraphExecChildGraphNodeSetParams, set_child_body, (void *exec, void *node, CUgraph child), (exec, node, child)) \
    X(cuGraphExecUpdate, update_log_body, (void *exec, CUgraph graph, void **node, int *why), (exec, graph, node, why)) \
    X(cuGraphExecUpdate_v2, update_body, (void *exec, CUgraph graph, void *why), (exec, graph, why))        \
    X(cuGraphInstantiate, instantiate_log_body, INSTANTIATE_PARAMETERS, INSTANTIATE_ARGUMENTS)              \
    X(cuGraphInstantiate_v2, instantiate_log_body, INSTANTIATE_PARAMETERS, INSTANTIATE_ARGUMENTS)           \
    X(cuGraphInstantiateWithFlags, instantiate_body, (void *exec, CUgraph graph, uint64_t flags), (exec, graph, flags)) \
    X(cuGraphInstantiateWithParams, instantiate_with_body, (void *exec, CUgraph graph, struct cu_graph_instantiate *with), (exec, graph, with)) \
    X(cuGraphInstantiateWithParams_ptsz, instantiate_with_body, (void *exec, CUgraph graph, struct cu_graph_instantiate *with), (exec, graph, with)) \
    X(cuStreamBeginCapture_v2, begin_capture_body, (CUstream stream, int mode), (stream, mode))             \
    X(cuStreamBeginCapture_v2_ptsz, begin_capture_body, (CUstream stream, int mode), (stream, mode))        \
    X(cuStreamBeginCaptureToGraph, capture_to_graph_body, CAPTURE_GRAPH_PARAMETERS, (stream, graph, nodes, edges, count, mode)) \
    X(cuStreamBeginCaptureToGraph_ptsz, capture_to_graph_body, CAPTURE_GRAPH_PARAMETERS, (stream, graph, nodes, edges, count, mode)) \
    X(cuStreamEndCapture, end_capture_body, (CUstream stream, CUgraph *graph), (stream, graph))             \
    X(cuStreamEndCapture_ptsz, end_capture_body, (CUstream stream, CUgraph *graph), (stream, graph))        \
    X(cuModuleLoad, module_file_body, (CUmodule *module, const char *file), (module, file))                 \
    X(cuModuleLoadData, module_data_body, (CUmodule *module, const void *image), (module, image))           \
    X(cuModuleLoadDataEx, module_data_ex_body, (CUmodule *module, const void *image, unsigned count, void *options, void **values), (module, image, count, options, values)) \
    X(cuModuleLoadFatBinary, module_data_body, (CUmodule *module, const void *image), (module, image))      \
    X(cuModuleUnload, module_unload_body, (CUmodule module), (module))                                      \
    X(cuModuleGetFunction, get_function_body, (CUfunction *f, CUmodule module, const char *name), (f, module, name)) \
    X(cuLibraryLoadData, library_data_body, LIBRARY_PARAMETERS, LIBRARY_ARGUMENTS)                          \
    X(cuLibraryLoadFromFile, library_file_body, LIBRARY_PARAMETERS, LIBRARY_ARGUMENTS)                      \
    X(cuLibraryUnload, library_unload_body, (CUlibrary library), (library))                                 \
    X(cuLibraryGetKernel, get_kernel_body, (CUkernel *kernel, CUlibrary library, const char *name), (kernel, library, name)) \
    X(cuLibraryEnumerateKernels, enumerate_body, (CUkernel *kernels, unsigned count, CUlibrary library), (kernels, count, library)) \
    X(cuLibraryGetModule, library_module_body, (CUmodule *module, CUlibrary library), (module, library))    \
    X(cuKernelGetFunction, kernel_function_body, (CUfunction *f, CUkernel kernel), (f, kernel))             \
    X(cuFuncSetAttribute, function_attribute_body, (CUfunction f, int attribute, int value), (f, attribute, value)) \
    X(cuKernelSetAttribute, kernel_attribute_body, (int attribute, int value, CUkernel kernel, CUdevice device), (attribute, value, kernel, device)) \
    X(cuCtxCreate, create_body, (CUcontext *context, unsigned flags, CUdevice device), (context, flags, device)) \
    X(cuCtxCreate_v2, create_body, (CUcontext *context, unsigned flags, CUdevice device), (context, flags, device)) \
    X(cuCtxCreate_v3, create_v3_body, (CUcontext *context, void *affinity, int count, unsigned flags, CUdevice device), (context, affinity, count, flags, device)) \
    X(cuCtxCreate_v4, create_v4_body, (CUcontext *context, void *parameters, unsigned flags, CUdevice device), (context, parameters, flags, device)) \
    X(cuCtxDestroy, destroy_body, (CUcontext context), (context))                                           \
    X(cuCtxDestroy_v2, destroy_body, (CUcontext context), (context))                                        \
    X(cuDevicePrimaryCtxRetain, retain_body, (CUcontext *context, CUdevice device), (context, device))      \
    X(cuDevicePrimaryCtxRelease, release_body, (CUdevice device), (device))                                 \
    X(cuDevicePrimaryCtxRelease_v2, release_body, (CUdevice device), (device))                              \
    X(cuDevicePrimaryCtxReset, release_body, (CUdevice device), (device))                                   \
    X(cuDevicePrimaryCtxReset_v2, release_body, (CUdevice device), (device))                                \
    X(cuStreamQuery, query_body, (void *handle), (handle))                                                  \
    X(cuStreamQuery_ptsz, query_body, (void *handle), (handle))                                             \
    X(cuEventQuery, query_body, (void *handle), (handle))

#define STREAM_VALUE ((uint64_t)(uintptr_t)stream)
#define WSDBG_SYNC_HOOKS(X)                                                                                 \
    X(cuCtxSynchronize, WSDBG_UNKNOWN64, (void), ())                                                        \
    X(cuCtxSynchronize_v2, WSDBG_UNKNOWN64, (CUcontext context), (context))                                 \
    X(cuStreamSynchronize, STREAM_VALUE, (CUstream stream), (stream))                                       \
    X(cuStreamSynchronize_ptsz, STREAM_VALUE, (CUstream stream), (stream))                                  \
    X(cuEventSynchronize, WSDBG_UNKNOWN64, (CUevent event), (event))                                        \
    X(cuMemcpy, WSDBG_UNKNOWN64, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes))       \
    X(cuMemcpy_ptds, WSDBG_UNKNOWN64, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes))  \
    X(cuMemcpyPeer, WSDBG_UNKNOWN64, (CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes), (to, in, from, of, bytes)) \
    X(cuMemcpyPeer_ptds, WSDBG_UNKNOWN64, (CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes), (to, in, from, of, bytes)) \
    X(cuMemcpyHtoD_v2, WSDBG_UNKNOWN64, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes))      \
    X(cuMemcpyHtoD_v2_ptds, WSDBG_UNKNOWN64, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes)) \
    X(cuMemcpyDtoH_v2, WSDBG_UNKNOWN64, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes))      \
    X(cuMemcpyDtoH_v2_ptds, WSDBG_UNKNOWN64, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes)) \
    X(cuMemcpyDtoD_v2, WSDBG_UNKNOWN64, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes))      \
    X(cuMemcpyDtoD_v2_ptds, WSDBG_UNKNOWN64, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes)) \
    X(cuMemcpyDtoA_v2, WSDBG_UNKNOWN64, (CUarray to, size_t at, CUdeviceptr from, size_t bytes), (to, at, from, bytes))      \
    X(cuMemcpyDtoA_v2_ptds, WSDBG_UNKNOWN64, (CUarray to, size_t at, CUdeviceptr from, size_t bytes), (to, at, from, bytes)) \
    X(cuMemcpyAtoD_v2, WSDBG_UNKNOWN64, (CUdeviceptr to, CUarray from, size_t at, size_t bytes), (to, from, at, bytes))      \
    X(cuMemcpyAtoD_v2_ptds, WSDBG_UNKNOWN64, (CUdeviceptr to, CUarray from, size_t at, size_t bytes), (to, from, at, bytes)) \
    X(cuMemcpyHtoA_v2, WSDBG_UNKNOWN64, (CUarray to, size_t at, const void *from, size_t bytes), (to, at, from, bytes))      \
    X(cuMemcpyHtoA_v2_ptds, WSDBG_UNKNOWN64, (CUarray to, size_t at, const void *from, size_t bytes), (to, at, from, bytes)) \
    X(cuMemcpyAtoH_v2, WSDBG_UNKNOWN64, (void *to, CUarray from, size_t at, size_t bytes), (to, from, at, bytes))            \
    X(cuMemcpyAtoH_v2_ptds, WSDBG_UNKNOWN64, (void *to, CUarray from, size_t at, size_t bytes), (to, from, at, bytes))       \
    X(cuMemcpy2D_v2, WSDBG_UNKNOWN64, (const void *copy), (copy))                                           \
    X(cuMemcpy2D_v2_ptds, WSDBG_UNKNOWN64, (const void *copy), (copy))                                      \
    X(cuMemcpy2DUnaligned_v2, WSDBG_UNKNOWN64, (const void *copy), (copy))                                  \
    X(cuMemcpy2DUnaligned_v2_ptds, WSDBG_UNKNOWN64, (const void *copy), (copy))                             \
    X(cuMemcpy3D_v2, WSDBG_UNKNOWN64, (const void *copy), (copy))                                           \
    X(cuMemcpy3D_v2_ptds, WSDBG_UNKNOWN64, (const void *copy), (copy))                                      \
    X(cuMemcpy3DPeer, WSDBG_UNKNOWN64, (const void *copy), (copy))                                          \
    X(cuMemcpy3DPeer_ptds, WSDBG_UNKNOWN64, (const void *copy), (copy))                                     \
    X(cuMemFree_v2, WSDBG_UNKNOWN64, (CUdeviceptr pointer), (pointer))                                      \
    X(cuMemFreeHost, WSDBG_UNKNOWN64, (void *pointer), (pointer))
/* clang-format on */

enum wsdbg_hook_id {
#define X(symbol, body, parameters, arguments) WSDBG_HOOK_##symbol,
    WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X)
#undef X
        WSDBG_HOOK_COUNT
};

#endif
