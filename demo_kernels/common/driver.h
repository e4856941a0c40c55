/* driver.h - the CUDA Driver API, found at run time, and the little a demo program needs of it.
 *
 * Nothing links libcuda: the program starts, and can say what is missing, on a machine without a driver.
 */
#ifndef DEMO_DRIVER_H
#define DEMO_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "base/error.h"

/* X(function): the entry points used.  cuda.h renames some to their newest version; so do these rows. */
#define CUDA_FUNCTIONS(X)                                                                                       \
    X(cuInit)                                                                                                   \
    X(cuDeviceGet)                                                                                              \
    X(cuDeviceGetCount)                                                                                         \
    X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease)         \
        X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuGetErrorString) X(cuModuleLoadData) X(cuModuleUnload)        \
            X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuFuncGetAttribute) X(cuMemAlloc) X(cuMemFree)       \
                X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuTensorMapEncodeTiled) X(cuStreamCreate)       \
                    X(cuStreamSynchronize) X(cuStreamDestroy) X(cuEventCreate) X(cuEventRecord) X(cuEventQuery) \
                        X(cuEventSynchronize) X(cuEventElapsedTime) X(cuEventDestroy) X(cuLaunchKernel)         \
                            X(cuLaunchKernelEx) X(cuMemHostAlloc) X(cuMemHostGetDevicePointer) X(cuMemFreeHost)     \
                                X(cuMemcpyHtoDAsync) X(cuStreamBeginCapture) X(cuStreamEndCapture)              \
                                    X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) \
                                        X(cuOccupancyMaxActiveClusters)

struct cuda_driver {
#define CUDA_FIELD(function) __typeof__(&function) function;
    CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
};

/* Device 0, its primary context (made current for the calling thread) and one stream. */
struct device {
    struct cuda_driver cu;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    int multiprocessors;
    bool is_simulated; /* wsdbg's simulator: right, and slow */
};

/* Opens libcuda.so.1 and device 0.  Errors say which of the two is missing. */
struct wsdbg_error *device_open(struct device *out);
void device_close(struct device *device);

/* NULL when `result` is CUDA_SUCCESS, else "what: the driver's text". */
struct wsdbg_error *device_check(const struct device *device, CUresult result, const char *what);

/* Allocates `bytes` of device memory and fills it from `source`, or with zero bytes when that is NULL. */
struct wsdbg_error *device_upload(const struct device *device, const void *source, size_t bytes, CUdeviceptr *out);
void device_free(const struct device *device, CUdeviceptr memory);

/* Loads `image` (a fatbin) and finds `kernel` in it; its dynamic shared memory limit becomes `shared_bytes`. */
struct wsdbg_error *device_load(const struct device *device, const void *image, const char *kernel,
                                unsigned shared_bytes, CUmodule *module_out, CUfunction *function_out);

/* What the demo programs end with, but for 0. */
enum { STATUS_FAILED = 1, STATUS_BAD_OPTION = 2, STATUS_TIMED_OUT = 3 };

/* Waits for the stream; with `timeout_ms` >= 0 gives up after that: says so in the name of `program` and ends it, as
 * nothing can be freed under a kernel that runs. */
struct wsdbg_error *device_wait(const struct device *device, const char *program, long timeout_ms);

#endif
