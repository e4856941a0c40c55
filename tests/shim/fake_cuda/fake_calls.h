/* fake_calls.h - the calls that a program can make to the fake driver. */
#ifndef WSDBG_TESTS_FAKE_CALLS_H
#define WSDBG_TESTS_FAKE_CALLS_H

#include "driver_api.h"

/* Columns: name in cuGetProcAddress, exported name, types. */
#define FAKE_CALLS(X)                                                                                                 \
    X(cuInit, cuInit, (unsigned))                                                                                     \
    X(cuCtxCreate, cuCtxCreate_v4, (CUcontext *, void *, unsigned, CUdevice))                                         \
    X(cuCtxDestroy, cuCtxDestroy_v2, (CUcontext))                                                                     \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext))                                                                  \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                                                     \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                    \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                            \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice))                                                \
    X(cuModuleLoadData, cuModuleLoadData, (CUmodule *, const void *))                                                 \
    X(cuModuleUnload, cuModuleUnload, (CUmodule))                                                                     \
    X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                               \
    X(cuLibraryLoadData, cuLibraryLoadData,                                                                           \
      (CUlibrary *, const void *, void *, void **, unsigned, void *, void **, unsigned))                              \
    X(cuLibraryUnload, cuLibraryUnload, (CUlibrary))                                                                  \
    X(cuLibraryGetKernel, cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *))                                  \
    X(cuLaunchKernel, cuLaunchKernel,                                                                                 \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **)) \
    X(cuLaunchKernelEx, cuLaunchKernelEx, (const struct cu_launch_config *, CUfunction, void **, void **))            \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                                           \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **))          \
    X(cuStreamCreate, cuStreamCreate, (CUstream *, unsigned))                                                         \
    X(cuStreamSynchronize, cuStreamSynchronize, (CUstream))                                                           \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))                                                 \
    X(cuStreamEndCapture, cuStreamEndCapture, (CUstream, CUgraph *))                                                  \
    X(cuGraphCreate, cuGraphCreate, (CUgraph *, unsigned))                                                            \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode_v2,                                                                  \
      (void **, CUgraph, const void *, size_t, const struct cu_kernel_node *))                                        \
    X(cuGraphAddChildGraphNode, cuGraphAddChildGraphNode, (void **, CUgraph, const void *, size_t, CUgraph))          \
    X(cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, (void *, int, const void *))                      \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2,                                              \
      (void *, void *, const struct cu_kernel_node *))                                                                \
    X(cuGraphExecUpdate, cuGraphExecUpdate_v2, (void *, CUgraph, void *))                                             \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags, (void **, CUgraph, unsigned long long))                        \
    X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, (void **, CUgraph, struct cu_graph_instantiate *))  \
    X(cuGraphLaunch, cuGraphLaunch, (void *, CUstream))                                                               \
    X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                             \
    X(cuMemFree, cuMemFree_v2, (CUdeviceptr))                                                                         \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                                   \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                             \
    X(cuMemAllocPitch, cuMemAllocPitch_v2, (CUdeviceptr *, size_t *, size_t, size_t, unsigned))                       \
    X(cuMemAllocAsync, cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))                                            \
    X(cuMemFreeAsync, cuMemFreeAsync, (CUdeviceptr, CUstream))                                                        \
    X(cuMemAllocManaged, cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned))                                        \
    X(cuMemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))                                                    \
    X(cuMemAllocHost, cuMemAllocHost_v2, (void **, size_t))                                                           \
    X(cuMemFreeHost, cuMemFreeHost, (void *))                                                                         \
    X(cuMemHostRegister, cuMemHostRegister_v2, (void *, size_t, unsigned))                                            \
    X(cuMemHostUnregister, cuMemHostUnregister, (void *))                                                             \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, (struct cu_ipc_handle *, CUdeviceptr))                                    \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2, (CUdeviceptr *, struct cu_ipc_handle, unsigned))                     \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, (CUdeviceptr))                                                        \
    X(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer,                                               \
      (CUdeviceptr *, void *, const struct cu_external_buffer *))                                                     \
    X(cuGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer_v2, (CUdeviceptr *, size_t *, void *))   \
    X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext, unsigned))                                            \
    X(cuMemCreate, cuMemCreate, (uint64_t *, size_t, const struct cu_memory_properties *, uint64_t))                  \
    X(cuMemRelease, cuMemRelease, (uint64_t))                                                                         \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, (uint64_t *, void *))                                 \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle, (uint64_t *, void *, int))                      \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t))                  \
    X(cuMemAddressReserve, cuMemAddressReserve, (CUdeviceptr *, size_t, size_t, CUdeviceptr, uint64_t))               \
    X(cuMemMap, cuMemMap, (CUdeviceptr, size_t, size_t, uint64_t, uint64_t))                                          \
    X(cuMemSetAccess, cuMemSetAccess, (CUdeviceptr, size_t, const struct cu_memory_access *, size_t))                 \
    X(cuMemUnmap, cuMemUnmap, (CUdeviceptr, size_t))                                                                  \
    X(cuMemcpyAsync, cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                     \
    X(cuMemsetD32Async, cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream))                                  \
    X(cuStreamWriteValue32, cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, uint32_t, unsigned))                     \
    X(cuLaunchHostFunc, cuLaunchHostFunc, (CUstream, void (*)(void *), void *))                                       \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction, int, int))

#endif
