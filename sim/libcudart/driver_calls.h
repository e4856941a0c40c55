/* driver_calls.h - the functions of the Driver API that the stand-in for the runtime calls.  They are public, and found
 * in libcuda.so.1, so an observer that interposes them sees the runtime's calls as it sees a program's. */
#ifndef WSDBG_LIBCUDART_DRIVER_CALLS_H
#define WSDBG_LIBCUDART_DRIVER_CALLS_H

#include "libcuda/cuda_types.h"

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorString(CUresult result, const char **text);
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);

CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int name_bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUresult cuDeviceGetUuid_v2(unsigned char *uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *byte_count, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *id, int id_bytes, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);

CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxSynchronize(void);
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuCtxSetLimit(int limit, size_t value);
CUresult cuCtxGetCacheConfig(int *config);
CUresult cuCtxSetCacheConfig(int config);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);
CUresult cuCtxResetPersistingL2Cache(void);

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, const int *jit_options, void **jit_values,
                           unsigned jit_count, const int *options, void **values, unsigned count);
CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, const int *jit_options, void **jit_values,
                               unsigned jit_count, const int *options, void **values, unsigned count);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library);
CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *byte_count, CUlibrary library, const char *name);
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *byte_count, CUlibrary library, const char *name);
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel);
CUresult cuKernelGetName(const char **name, CUkernel kernel);
CUresult cuKernelGetAttribute(int *value, int attribute, CUkernel kernel, CUdevice device);
CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice device);
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t number, size_t *offset, size_t *byte_count);

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, CUstream stream, void **parameters, void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared_bytes, CUstream stream, void **parameters);
CUresult cuLaunchKernelEx(const struct cu_launch_config *config, CUfunction function, void **parameters, void **extra);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, CUfunction function, int threads,
                                                              size_t shared_bytes, unsigned flags);
CUresult cuOccupancyMaxActiveClusters(int *count, CUfunction function, const struct cu_launch_config *config);
CUresult cuOccupancyMaxPotentialClusterSize(int *ctas, CUfunction function, const struct cu_launch_config *config);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, CUfunction function, int ctas, int threads);

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t byte_count);
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch_bytes, size_t width_bytes, size_t height,
                            unsigned element_bytes);
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t byte_count, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t byte_count, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t byte_count, CUmemoryPool pool, CUstream stream);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemHostAlloc(void **address, size_t byte_count, unsigned flags);
CUresult cuMemFreeHost(void *address);
CUresult cuMemHostRegister_v2(void *address, size_t byte_count, unsigned flags);
CUresult cuMemHostUnregister(void *address);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags);
CUresult cuMemHostGetFlags(unsigned *flags, void *address);
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CUresult cuPointerGetAttributes(unsigned count, const int *attributes, void **values, CUdeviceptr address);
CUresult cuMemPoolCreate(CUmemoryPool *pool, const void *properties);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep);

CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t byte_count);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t byte_count);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t byte_count, CUstream stream);
CUresult cuMemcpy2D_v2(const struct cu_copy_2d *copy);
CUresult cuMemcpy2D_v2_ptds(const struct cu_copy_2d *copy);
CUresult cuMemcpy2DAsync_v2(const struct cu_copy_2d *copy, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch_bytes, unsigned char value, size_t width, size_t height);
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch_bytes, unsigned char value, size_t width, size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch_bytes, unsigned char value, size_t width, size_t height,
                           CUstream stream);

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamGetFlags(CUstream stream, unsigned *flags);
CUresult cuStreamGetPriority(CUstream stream, int *priority);
CUresult cuStreamGetId(CUstream stream, unsigned long long *id);
CUresult cuStreamGetDevice(CUstream stream, CUdevice *device);
CUresult cuStreamIsCapturing(CUstream stream, int *status);
CUresult cuStreamAddCallback(CUstream stream, void (*callback)(CUstream, CUresult, void *), void *user, unsigned flags);
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t byte_count, unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *user);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);

CUresult cuThreadExchangeStreamCaptureMode(int *mode);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, CUgraphNode *before, const struct cu_edge *edges,
                                     size_t count, int mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, uint64_t *id, CUgraph *graph, CUgraphNode **nodes,
                                   void **edges, size_t *count);
CUresult cuGraphCreate(CUgraph *out, unsigned flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph *out, CUgraph graph);
CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode node, CUgraph clone);
CUresult cuGraphNodeGetType(CUgraphNode node, int *type);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *out, size_t *count);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *out, size_t *count);
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, struct cu_edge *edges, size_t *count);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *out, struct cu_edge *edges, size_t *count);
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *out, struct cu_edge *edges, size_t *count);
CUresult cuGraphAddDependencies_v2(CUgraph graph, CUgraphNode const *from, CUgraphNode const *to,
                                   const struct cu_edge *edges, size_t count);
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, CUgraphNode const *from, CUgraphNode const *to,
                                      const struct cu_edge *edges, size_t count);
CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, uint64_t flags);
CUresult cuGraphExecGetFlags(CUgraphExec exec, uint64_t *flags);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, struct cu_graph_update *out);
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled);
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled);
CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph, struct cu_graph_instantiate *with);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *out, CUgraph graph, struct cu_graph_instantiate *with);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                                 const struct cu_kernel_node *given);
CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                              const struct cu_copy_3d *given, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                              const struct cu_memset_node *given, CUcontext context);
CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                            const struct cu_host_node *given);
CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count);
CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                                   CUevent event);
CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                                 CUevent event);
CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, CUgraphNode const *before, size_t count,
                                  CUgraph child);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, struct cu_kernel_node *out);
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, struct cu_memset_node *out);
CUresult cuGraphHostNodeGetParams(CUgraphNode node, struct cu_host_node *out);
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out);
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, unsigned id, void *out);
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, unsigned id, const void *value);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const struct cu_kernel_node *given);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const struct cu_memset_node *given);
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const struct cu_host_node *given);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const struct cu_kernel_node *given);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cu_copy_3d *given,
                                        CUcontext context);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cu_memset_node *given,
                                        CUcontext context);
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cu_host_node *given);

#endif
