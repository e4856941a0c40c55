/* hook_table.h - every driver function that the shim hooks, one row each.
 *
 * Read by libcuda.c (names, real addresses) and hooks.c (the wrappers).  A new hook is a new row.
 * Columns: exported symbol, body, parameters, arguments.  A body (hooks_*.c) gets (row, real function, arguments).
 * The "synchronising" rows share one body; their second column is the stream waited for, WSDBG_UNKNOWN64 if none.
 * So do those that give the GPU work and come back at once; their second column says what, the third the stream.
 * The "loading" rows have no body: all are forwarded alike.
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
    X(cuEventQuery, query_body, (void *handle), (handle))                                                   \
    X(cuMemAlloc_v2, alloc_body, (CUdeviceptr *address, size_t bytes), (address, bytes))                    \
    X(cuMemAllocPitch_v2, alloc_pitch_body, (CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element), (address, pitch, width, height, element)) \
    X(cuMemAllocAsync, alloc_async_body, (CUdeviceptr *address, size_t bytes, CUstream stream), (address, bytes, stream)) \
    X(cuMemAllocAsync_ptsz, alloc_async_body, (CUdeviceptr *address, size_t bytes, CUstream stream), (address, bytes, stream)) \
    X(cuMemAllocFromPoolAsync, alloc_pool_body, (CUdeviceptr *address, size_t bytes, void *pool, CUstream stream), (address, bytes, pool, stream)) \
    X(cuMemAllocFromPoolAsync_ptsz, alloc_pool_body, (CUdeviceptr *address, size_t bytes, void *pool, CUstream stream), (address, bytes, pool, stream)) \
    X(cuMemAllocManaged, alloc_managed_body, (CUdeviceptr *address, size_t bytes, unsigned flags), (address, bytes, flags)) \
    X(cuMemFree_v2, free_body, (CUdeviceptr address), (address))                                            \
    X(cuMemFreeAsync, free_async_body, (CUdeviceptr address, CUstream stream), (address, stream))           \
    X(cuMemFreeAsync_ptsz, free_async_body, (CUdeviceptr address, CUstream stream), (address, stream))      \
    X(cuMemHostAlloc, host_alloc_body, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags)) \
    X(cuMemAllocHost_v2, alloc_host_body, (void **memory, size_t bytes), (memory, bytes))                   \
    X(cuMemFreeHost, free_host_body, (void *memory), (memory))                                              \
    X(cuMemHostRegister_v2, host_register_body, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags)) \
    X(cuMemHostUnregister, host_unregister_body, (void *memory), (memory))                                  \
    X(cuIpcOpenMemHandle, ipc_open_body, (CUdeviceptr *address, struct cu_ipc_handle handle, unsigned flags), (address, handle, flags)) \
    X(cuIpcOpenMemHandle_v2, ipc_open_body, (CUdeviceptr *address, struct cu_ipc_handle handle, unsigned flags), (address, handle, flags)) \
    X(cuIpcCloseMemHandle, ipc_close_body, (CUdeviceptr address), (address))                                \
    X(cuExternalMemoryGetMappedBuffer, external_buffer_body, (CUdeviceptr *address, void *memory, const struct cu_external_buffer *buffer), (address, memory, buffer)) \
    X(cuGraphicsResourceGetMappedPointer_v2, mapped_pointer_body, (CUdeviceptr *address, size_t *bytes, void *resource), (address, bytes, resource)) \
    X(cuIpcGetMemHandle, ipc_get_body, (void *handle, CUdeviceptr address), (handle, address))              \
    X(cuMemPoolExportPointer, pool_export_body, (void *data, CUdeviceptr address), (data, address))         \
    X(cuMemPoolImportPointer, pool_import_body, (CUdeviceptr *address, void *pool, void *data), (address, pool, data)) \
    X(cuMemPoolSetAccess, pool_access_body, (void *pool, const struct cu_memory_access *access, size_t count), (pool, access, count)) \
    X(cuMemGetHandleForAddressRange, range_handle_body, (void *handle, CUdeviceptr address, size_t bytes, int type, uint64_t flags), (handle, address, bytes, type, flags)) \
    X(cuPointerSetAttribute, pointer_attribute_body, (const void *value, int attribute, CUdeviceptr address), (value, attribute, address)) \
    X(cuCtxEnablePeerAccess, peer_body, (CUcontext peer, unsigned flags), (peer, flags))                    \
    X(cuMemCreate, mem_create_body, (uint64_t *handle, size_t bytes, const struct cu_memory_properties *properties, uint64_t flags), (handle, bytes, properties, flags)) \
    X(cuMemImportFromShareableHandle, mem_import_body, (uint64_t *handle, void *shared, int type), (handle, shared, type)) \
    X(cuMemExportToShareableHandle, mem_export_body, (void *shared, uint64_t handle, int type, uint64_t flags), (shared, handle, type, flags)) \
    X(cuMemRetainAllocationHandle, mem_retain_body, (uint64_t *handle, void *address), (handle, address))   \
    X(cuMemRelease, mem_release_body, (uint64_t handle), (handle))                                          \
    X(cuMemMap, mem_map_body, (CUdeviceptr address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags), (address, bytes, offset, handle, flags)) \
    X(cuMemUnmap, mem_unmap_body, (CUdeviceptr address, size_t bytes), (address, bytes))                    \
    X(cuMemSetAccess, mem_access_body, (CUdeviceptr address, size_t bytes, const struct cu_memory_access *access, size_t count), (address, bytes, access, count)) \
    X(cuMulticastBindMem, multicast_mem_body, (uint64_t multicast, size_t at, uint64_t handle, size_t from, size_t bytes, uint64_t flags), (multicast, at, handle, from, bytes, flags)) \
    X(cuMulticastBindAddr, multicast_address_body, (uint64_t multicast, size_t at, CUdeviceptr address, size_t bytes, uint64_t flags), (multicast, at, address, bytes, flags)) \
    X(cuCtxSynchronize_v2, context_synchronize_body, (CUcontext context), (context))

/* Nothing is recorded of these calls.  They may load the code of a kernel or of a whole library, and no inspector may
 * detach during that (debug_attach_load_begin). */
#define WSDBG_LOAD_HOOKS(X)                                                                                 \
    X(cuCtxSetCurrent, (CUcontext context), (context))                                                      \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name), (address, bytes, module, name)) \
    X(cuLibraryGetGlobal, (CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name), (address, bytes, library, name)) \
    X(cuLibraryGetManaged, (CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name), (address, bytes, library, name)) \
    X(cuFuncLoad, (CUfunction f), (f))                                                                      \
    X(cuFuncGetAttribute, (int *value, int attribute, CUfunction f), (value, attribute, f))                 \
    X(cuFuncSetCacheConfig, (CUfunction f, int config), (f, config))                                        \
    X(cuKernelGetAttribute, (int *value, int attribute, CUkernel kernel, CUdevice device), (value, attribute, kernel, device)) \
    X(cuKernelSetCacheConfig, (CUkernel kernel, int config, CUdevice device), (kernel, config, device))     \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction f, int threads, size_t shared), (blocks, f, threads, shared)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks, CUfunction f, int threads, size_t shared, unsigned flags), (blocks, f, threads, shared, flags)) \
    X(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, CUfunction f, int blocks, int threads), (bytes, f, blocks, threads)) \
    X(cuOccupancyMaxPotentialClusterSize, (int *size, CUfunction f, const struct cu_launch_config *config), (size, f, config)) \
    X(cuOccupancyMaxActiveClusters, (int *clusters, CUfunction f, const struct cu_launch_config *config), (clusters, f, config))

#define STREAM_VALUE ((uint64_t)(uintptr_t)stream)
#define WSDBG_SYNC_HOOKS(X)                                                                                 \
    X(cuCtxSynchronize, WSDBG_UNKNOWN64, (void), ())                                                        \
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
    X(cuMemcpy3DPeer_ptds, WSDBG_UNKNOWN64, (const void *copy), (copy))

#define WSDBG_WORK_HOOKS(X)                                                                                 \
    X(cuMemcpyAsync, WORK_COPY, stream, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyAsync_ptsz, WORK_COPY, stream, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyPeerAsync, WORK_COPY, stream, (CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes, CUstream stream), (to, in, from, of, bytes, stream)) \
    X(cuMemcpyPeerAsync_ptsz, WORK_COPY, stream, (CUdeviceptr to, CUcontext in, CUdeviceptr from, CUcontext of, size_t bytes, CUstream stream), (to, in, from, of, bytes, stream)) \
    X(cuMemcpyHtoDAsync_v2, WORK_COPY, stream, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyHtoDAsync_v2_ptsz, WORK_COPY, stream, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyDtoHAsync_v2, WORK_COPY, stream, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyDtoHAsync_v2_ptsz, WORK_COPY, stream, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyDtoDAsync_v2, WORK_COPY, stream, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyDtoDAsync_v2_ptsz, WORK_COPY, stream, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
    X(cuMemcpyHtoAAsync_v2, WORK_COPY, stream, (CUarray to, size_t at, const void *from, size_t bytes, CUstream stream), (to, at, from, bytes, stream)) \
    X(cuMemcpyHtoAAsync_v2_ptsz, WORK_COPY, stream, (CUarray to, size_t at, const void *from, size_t bytes, CUstream stream), (to, at, from, bytes, stream)) \
    X(cuMemcpyAtoHAsync_v2, WORK_COPY, stream, (void *to, CUarray from, size_t at, size_t bytes, CUstream stream), (to, from, at, bytes, stream)) \
    X(cuMemcpyAtoHAsync_v2_ptsz, WORK_COPY, stream, (void *to, CUarray from, size_t at, size_t bytes, CUstream stream), (to, from, at, bytes, stream)) \
    X(cuMemcpy2DAsync_v2, WORK_COPY, stream, (const void *copy, CUstream stream), (copy, stream))           \
    X(cuMemcpy2DAsync_v2_ptsz, WORK_COPY, stream, (const void *copy, CUstream stream), (copy, stream))      \
    X(cuMemcpy3DAsync_v2, WORK_COPY, stream, (const void *copy, CUstream stream), (copy, stream))           \
    X(cuMemcpy3DAsync_v2_ptsz, WORK_COPY, stream, (const void *copy, CUstream stream), (copy, stream))      \
    X(cuMemcpy3DPeerAsync, WORK_COPY, stream, (const void *copy, CUstream stream), (copy, stream))          \
    X(cuMemcpy3DPeerAsync_ptsz, WORK_COPY, stream, (const void *copy, CUstream stream), (copy, stream))     \
    X(cuMemcpyBatchAsync, WORK_COPY, stream, (CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count, void *attributes, size_t *first, size_t kinds, size_t *failed, CUstream stream), (to, from, bytes, count, attributes, first, kinds, failed, stream)) \
    X(cuMemcpyBatchAsync_ptsz, WORK_COPY, stream, (CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count, void *attributes, size_t *first, size_t kinds, size_t *failed, CUstream stream), (to, from, bytes, count, attributes, first, kinds, failed, stream)) \
    X(cuMemcpyBatchAsync_v2, WORK_COPY, stream, (CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count, void *attributes, size_t *first, size_t kinds, CUstream stream), (to, from, bytes, count, attributes, first, kinds, stream)) \
    X(cuMemcpyBatchAsync_v2_ptsz, WORK_COPY, stream, (CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count, void *attributes, size_t *first, size_t kinds, CUstream stream), (to, from, bytes, count, attributes, first, kinds, stream)) \
    X(cuMemcpy3DBatchAsync, WORK_COPY, stream, (size_t count, void *copies, size_t *failed, unsigned long long flags, CUstream stream), (count, copies, failed, flags, stream)) \
    X(cuMemcpy3DBatchAsync_ptsz, WORK_COPY, stream, (size_t count, void *copies, size_t *failed, unsigned long long flags, CUstream stream), (count, copies, failed, flags, stream)) \
    X(cuMemcpy3DBatchAsync_v2, WORK_COPY, stream, (size_t count, void *copies, unsigned long long flags, CUstream stream), (count, copies, flags, stream)) \
    X(cuMemcpy3DBatchAsync_v2_ptsz, WORK_COPY, stream, (size_t count, void *copies, unsigned long long flags, CUstream stream), (count, copies, flags, stream)) \
    X(cuMemsetD8_v2, WORK_MEMSET, NULL, (CUdeviceptr to, unsigned char value, size_t count), (to, value, count)) \
    X(cuMemsetD8_v2_ptds, WORK_MEMSET, NULL, (CUdeviceptr to, unsigned char value, size_t count), (to, value, count)) \
    X(cuMemsetD2D8_v2, WORK_MEMSET, NULL, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height), (to, pitch, value, width, height)) \
    X(cuMemsetD2D8_v2_ptds, WORK_MEMSET, NULL, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height), (to, pitch, value, width, height)) \
    X(cuMemsetD8Async, WORK_MEMSET, stream, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream), (to, value, count, stream)) \
    X(cuMemsetD8Async_ptsz, WORK_MEMSET, stream, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream), (to, value, count, stream)) \
    X(cuMemsetD2D8Async, WORK_MEMSET, stream, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream), (to, pitch, value, width, height, stream)) \
    X(cuMemsetD2D8Async_ptsz, WORK_MEMSET, stream, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream), (to, pitch, value, width, height, stream)) \
    X(cuMemsetD16_v2, WORK_MEMSET, NULL, (CUdeviceptr to, unsigned short value, size_t count), (to, value, count)) \
    X(cuMemsetD16_v2_ptds, WORK_MEMSET, NULL, (CUdeviceptr to, unsigned short value, size_t count), (to, value, count)) \
    X(cuMemsetD2D16_v2, WORK_MEMSET, NULL, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height), (to, pitch, value, width, height)) \
    X(cuMemsetD2D16_v2_ptds, WORK_MEMSET, NULL, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height), (to, pitch, value, width, height)) \
    X(cuMemsetD16Async, WORK_MEMSET, stream, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream), (to, value, count, stream)) \
    X(cuMemsetD16Async_ptsz, WORK_MEMSET, stream, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream), (to, value, count, stream)) \
    X(cuMemsetD2D16Async, WORK_MEMSET, stream, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream), (to, pitch, value, width, height, stream)) \
    X(cuMemsetD2D16Async_ptsz, WORK_MEMSET, stream, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream), (to, pitch, value, width, height, stream)) \
    X(cuMemsetD32_v2, WORK_MEMSET, NULL, (CUdeviceptr to, unsigned value, size_t count), (to, value, count)) \
    X(cuMemsetD32_v2_ptds, WORK_MEMSET, NULL, (CUdeviceptr to, unsigned value, size_t count), (to, value, count)) \
    X(cuMemsetD2D32_v2, WORK_MEMSET, NULL, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height), (to, pitch, value, width, height)) \
    X(cuMemsetD2D32_v2_ptds, WORK_MEMSET, NULL, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height), (to, pitch, value, width, height)) \
    X(cuMemsetD32Async, WORK_MEMSET, stream, (CUdeviceptr to, unsigned value, size_t count, CUstream stream), (to, value, count, stream)) \
    X(cuMemsetD32Async_ptsz, WORK_MEMSET, stream, (CUdeviceptr to, unsigned value, size_t count, CUstream stream), (to, value, count, stream)) \
    X(cuMemsetD2D32Async, WORK_MEMSET, stream, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream), (to, pitch, value, width, height, stream)) \
    X(cuMemsetD2D32Async_ptsz, WORK_MEMSET, stream, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream), (to, pitch, value, width, height, stream)) \
    X(cuStreamWriteValue32, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint32_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue32_ptsz, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint32_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue32_v2, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint32_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue32_v2_ptsz, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint32_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue64, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint64_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue64_ptsz, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint64_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue64_v2, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint64_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamWriteValue64_v2_ptsz, WORK_OTHER, stream, (CUstream stream, CUdeviceptr to, uint64_t value, unsigned flags), (stream, to, value, flags)) \
    X(cuStreamBatchMemOp, WORK_OTHER, stream, (CUstream stream, unsigned count, void *operations, unsigned flags), (stream, count, operations, flags)) \
    X(cuStreamBatchMemOp_ptsz, WORK_OTHER, stream, (CUstream stream, unsigned count, void *operations, unsigned flags), (stream, count, operations, flags)) \
    X(cuStreamBatchMemOp_v2, WORK_OTHER, stream, (CUstream stream, unsigned count, void *operations, unsigned flags), (stream, count, operations, flags)) \
    X(cuStreamBatchMemOp_v2_ptsz, WORK_OTHER, stream, (CUstream stream, unsigned count, void *operations, unsigned flags), (stream, count, operations, flags)) \
    X(cuLaunchHostFunc, WORK_OTHER, stream, (CUstream stream, void (*function)(void *), void *data), (stream, function, data)) \
    X(cuLaunchHostFunc_ptsz, WORK_OTHER, stream, (CUstream stream, void (*function)(void *), void *data), (stream, function, data)) \
    X(cuStreamAddCallback, WORK_OTHER, stream, (CUstream stream, void *callback, void *data, unsigned flags), (stream, callback, data, flags)) \
    X(cuStreamAddCallback_ptsz, WORK_OTHER, stream, (CUstream stream, void *callback, void *data, unsigned flags), (stream, callback, data, flags))
/* clang-format on */

enum wsdbg_hook_id {
#define X(symbol, ...) WSDBG_HOOK_##symbol,
    WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X) WSDBG_WORK_HOOKS(X) WSDBG_LOAD_HOOKS(X)
#undef X
        WSDBG_HOOK_COUNT
};

#endif
