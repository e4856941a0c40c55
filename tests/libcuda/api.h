/* api.h - the driver's functions as a program finds them with dlopen, and what nearly every test begins with. */
#ifndef TESTS_LIBCUDA_API_H
#define TESTS_LIBCUDA_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libcuda/cuda_types.h"

/* clang-format off */
#define API(X)                                                                                                     \
    X(cuInit, (unsigned)) X(cuDriverGetVersion, (int *))                                                           \
    X(cuDeviceGetCount, (int *)) X(cuDeviceGet, (CUdevice *, int)) X(cuDeviceGetName, (char *, int, CUdevice))     \
    X(cuDeviceGetAttribute, (int *, int, CUdevice)) X(cuDeviceTotalMem_v2, (size_t *, CUdevice))                   \
    X(cuDeviceGetUuid_v2, (unsigned char *, CUdevice))                                                             \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice)) X(cuDevicePrimaryCtxRelease_v2, (CUdevice))               \
    X(cuDevicePrimaryCtxReset_v2, (CUdevice)) X(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *))         \
    X(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice)) X(cuCtxDestroy_v2, (CUcontext))                           \
    X(cuCtxPushCurrent_v2, (CUcontext)) X(cuCtxPopCurrent_v2, (CUcontext *)) X(cuCtxSetCurrent, (CUcontext))       \
    X(cuCtxGetCurrent, (CUcontext *)) X(cuCtxGetDevice, (CUdevice *)) X(cuCtxSynchronize, (void))                  \
    X(cuCtxGetLimit, (size_t *, int)) X(cuCtxSetLimit, (int, size_t)) X(cuCtxRecordEvent, (CUcontext, CUevent))    \
    X(cuModuleLoad, (CUmodule *, const char *)) X(cuModuleLoadData, (CUmodule *, const void *))                    \
    X(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **)) X(cuModuleUnload, (CUmodule))      \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *)) X(cuModuleGetFunctionCount, (unsigned *, CUmodule)) \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *))                                     \
    X(cuModuleEnumerateFunctions, (CUfunction *, unsigned, CUmodule))                                              \
    X(cuLibraryLoadData, (CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned))          \
    X(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *)) X(cuLibraryGetModule, (CUmodule *, CUlibrary))    \
    X(cuLibraryGetGlobal, (CUdeviceptr *, size_t *, CUlibrary, const char *)) X(cuLibraryUnload, (CUlibrary))      \
    X(cuKernelGetFunction, (CUfunction *, CUkernel)) X(cuKernelSetAttribute, (int, int, CUkernel, CUdevice))       \
    X(cuFuncGetAttribute, (int *, int, CUfunction)) X(cuFuncSetAttribute, (CUfunction, int, int))                  \
    X(cuFuncGetName, (const char **, CUfunction)) X(cuFuncGetModule, (CUmodule *, CUfunction))                     \
    X(cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *))                                                \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t))                               \
    X(cuOccupancyMaxActiveClusters, (int *, CUfunction, const struct cu_launch_config *))                          \
    X(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *, CUfunction, int, int))                                   \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t)) X(cuMemAllocPitch_v2, (CUdeviceptr *, size_t *, size_t, size_t, unsigned)) \
    X(cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned)) X(cuMemFree_v2, (CUdeviceptr))                         \
    X(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream)) X(cuMemFreeAsync, (CUdeviceptr, CUstream))               \
    X(cuMemGetInfo_v2, (size_t *, size_t *)) X(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr))    \
    X(cuMemHostAlloc, (void **, size_t, unsigned)) X(cuMemFreeHost, (void *))                                      \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned)) X(cuMemHostUnregister, (void *))                           \
    X(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned))                                             \
    X(cuPointerGetAttribute, (void *, int, CUdeviceptr))                                                           \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t)) X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))      \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))                                         \
    X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                                               \
    X(cuMemcpyDtoD_v2, (CUdeviceptr, CUdeviceptr, size_t)) X(cuMemcpy, (CUdeviceptr, CUdeviceptr, size_t))         \
    X(cuMemcpy2D_v2, (const struct cu_copy_2d *)) X(cuMemcpy3D_v2, (const struct cu_copy_3d *))                    \
    X(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t)) X(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t))      \
    X(cuMemsetD2D16_v2, (CUdeviceptr, size_t, unsigned short, size_t, size_t))                                     \
    X(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream))                                                 \
    X(cuDeviceGetDefaultMemPool, (CUmemoryPool *, CUdevice)) X(cuDeviceGetMemPool, (CUmemoryPool *, CUdevice))     \
    X(cuDeviceSetMemPool, (CUdevice, CUmemoryPool)) X(cuMemPoolCreate, (CUmemoryPool *, const void *))             \
    X(cuMemPoolDestroy, (CUmemoryPool)) X(cuMemPoolGetAttribute, (CUmemoryPool, int, void *))                      \
    X(cuMemPoolSetAttribute, (CUmemoryPool, int, const void *))                                                    \
    X(cuMemAllocFromPoolAsync, (CUdeviceptr *, size_t, CUmemoryPool, CUstream))                                    \
    X(cuMemGetAllocationGranularity, (size_t *, const void *, int))                                                \
    X(cuMemCreate, (uint64_t *, size_t, const void *, uint64_t)) X(cuMemRelease, (uint64_t))                       \
    X(cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t))                                             \
    X(cuMemImportFromShareableHandle, (uint64_t *, void *, int))                                                   \
    X(cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, uint64_t)) X(cuMemAddressFree, (uint64_t, size_t)) \
    X(cuMemMap, (uint64_t, size_t, size_t, uint64_t, uint64_t)) X(cuMemUnmap, (uint64_t, size_t))                  \
    X(cuMemSetAccess, (uint64_t, size_t, const void *, size_t))                                                    \
    X(cuStreamCreate, (CUstream *, unsigned)) X(cuStreamCreateWithPriority, (CUstream *, unsigned, int))           \
    X(cuStreamDestroy_v2, (CUstream)) X(cuStreamQuery, (CUstream)) X(cuStreamSynchronize, (CUstream))              \
    X(cuStreamWaitEvent, (CUstream, CUevent, unsigned)) X(cuStreamGetPriority, (CUstream, int *))                  \
    X(cuStreamIsCapturing, (CUstream, int *)) X(cuLaunchHostFunc, (CUstream, void (*)(void *), void *))            \
    X(cuStreamAddCallback, (CUstream, void (*)(CUstream, CUresult, void *), void *, unsigned))                     \
    X(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, uint32_t, unsigned))                                         \
    X(cuEventCreate, (CUevent *, unsigned)) X(cuEventDestroy_v2, (CUevent)) X(cuEventQuery, (CUevent))             \
    X(cuEventRecord, (CUevent, CUstream)) X(cuEventSynchronize, (CUevent))                                         \
    X(cuEventElapsedTime_v2, (float *, CUevent, CUevent))                                                          \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
                       void **, void **))                                                                          \
    X(cuLaunchCooperativeKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                                  CUstream, void **))                                                              \
    X(cuLaunchKernelEx, (const struct cu_launch_config *, CUfunction, void **, void **))                           \
    X(cuTensorMapEncodeTiled, (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, \
                               const uint32_t *, int, int, int, int))                                              \
    X(cuTensorMapEncodeIm2col, (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,    \
                                const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int))            \
    X(cuGetProcAddress, (const char *, void **, int, uint64_t))                                                    \
    X(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *)) X(cuGetErrorName, (CUresult, const char **)) \
    X(cuGetErrorString, (CUresult, const char **)) X(cuGetExportTable, (const void **, const void *))              \
    X(cuUserObjectCreate, (void)) X(cuGraphConditionalHandleCreate, (void))                                        \
    X(cuGraphCreate, (CUgraph *, unsigned)) X(cuGraphDestroy, (CUgraph)) X(cuStreamBeginCapture_v2, (CUstream, int)) \
    X(cuStreamEndCapture, (CUstream, CUgraph *)) X(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *))            \
    X(cuGraphGetRootNodes, (CUgraph, CUgraphNode *, size_t *)) X(cuGraphNodeGetType, (CUgraphNode, int *))         \
    X(cuGraphGetEdges_v2, (CUgraph, CUgraphNode *, CUgraphNode *, struct cu_edge *, size_t *))                     \
    X(cuGraphAddEmptyNode, (CUgraphNode *, CUgraph, CUgraphNode const *, size_t))                                  \
    X(cuGraphAddMemsetNode, (CUgraphNode *, CUgraph, CUgraphNode const *, size_t, const struct cu_memset_node *, CUcontext)) \
    X(cuGraphMemsetNodeGetParams, (CUgraphNode, struct cu_memset_node *))                                          \
    X(cuGraphAddKernelNode_v2, (CUgraphNode *, CUgraph, CUgraphNode const *, size_t, const struct cu_kernel_node *)) \
    X(cuGraphKernelNodeGetParams_v2, (CUgraphNode, struct cu_kernel_node *))                                       \
    X(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const struct cu_kernel_node *))                \
    X(cuGraphExecMemsetNodeSetParams, (CUgraphExec, CUgraphNode, const struct cu_memset_node *, CUcontext))        \
    X(cuGraphAddEventRecordNode, (CUgraphNode *, CUgraph, CUgraphNode const *, size_t, CUevent))                   \
    X(cuGraphAddDependencies, (CUgraph, CUgraphNode const *, CUgraphNode const *, size_t))                         \
    X(cuGraphRemoveDependencies, (CUgraph, CUgraphNode const *, CUgraphNode const *, size_t))                      \
    X(cuGraphClone, (CUgraph *, CUgraph)) X(cuGraphNodeFindInClone, (CUgraphNode *, CUgraphNode, CUgraph))         \
    X(cuGraphDestroyNode, (CUgraphNode)) X(cuGraphDebugDotPrint, (CUgraph, const char *, unsigned))                \
    X(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, uint64_t)) X(cuGraphLaunch, (CUgraphExec, CUstream))   \
    X(cuGraphUpload, (CUgraphExec, CUstream)) X(cuGraphExecDestroy, (CUgraphExec))                                 \
    X(cuGraphNodeSetEnabled, (CUgraphExec, CUgraphNode, unsigned)) X(cuThreadExchangeStreamCaptureMode, (int *))
/* clang-format on */

struct api {
    void *library;
#define X(name, types) CUresult(*name) types;
    API(X)
#undef X
};
extern struct api cu;

/* Loads the library; cuInit is not called. */
void api_open(void);
/* A cmocka set-up and tear-down: the device, a context of the test's own. */
int api_begin(void **state);
int api_end(void **state);

#define assert_cuda(expected, call) assert_int_equal(call, expected)
#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

/* Runs `body` in a process of its own and returns its exit status, or 128 + signal; what it says on stderr is in
 * `said`. A child that is not over after `seconds` is killed (SIGALRM). */
int in_child(void (*body)(void), unsigned seconds, char *said, size_t said_bytes);

#endif
