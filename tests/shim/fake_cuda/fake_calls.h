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
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction, int, int))

#endif
