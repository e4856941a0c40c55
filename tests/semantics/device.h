/* device.h - one unit on a device, through the Driver API of whatever libcuda.so.1 it is. */
#ifndef TESTS_SEMANTICS_DEVICE_H
#define TESTS_SEMANTICS_DEVICE_H

#include "semantics/corpus.h"

struct semantics_launch_attribute { /* as CUlaunchAttribute */
    uint32_t id, padding;
    uint32_t value[16];
};
struct semantics_launch_config { /* as CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    struct semantics_launch_attribute *attributes;
    unsigned attribute_count;
};

/* clang-format off */
#define SEMANTICS_CALLS(X)                                                                                            \
    X(cuInit, (unsigned)) X(cuDriverGetVersion, (int *)) X(cuDeviceGet, (int *, int))                                 \
    X(cuDeviceGetName, (char *, int, int)) X(cuDevicePrimaryCtxRetain, (void **, int)) X(cuCtxSetCurrent, (void *))   \
    X(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **)) X(cuModuleUnload, (void *))              \
    X(cuModuleGetFunction, (void **, void *, const char *)) X(cuFuncSetAttribute, (void *, int, int))                 \
    X(cuMemAlloc_v2, (uint64_t *, size_t)) X(cuMemFree_v2, (uint64_t)) X(cuMemsetD8_v2, (uint64_t, unsigned char, size_t)) \
    X(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t)) X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))               \
    X(cuLaunchKernelEx, (const struct semantics_launch_config *, void *, void **, void **)) X(cuCtxSynchronize, (void)) \
    X(cuTensorMapEncodeTiled, (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,   \
                               const uint32_t *, int, int, int, int))                                                 \
    X(cuTensorMapEncodeIm2col, (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,       \
                                const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int))
/* clang-format on */

struct semantics_device {
#define CALL(name, parameters) int(*name) parameters;
    SEMANTICS_CALLS(CALL)
#undef CALL
};

/* NULL, or why there is no device. */
const char *semantics_device_open(struct semantics_device *device, const char *library);
void semantics_device_describe(const struct semantics_device *device, char *name, size_t bytes, int *driver_version);
/* Runs the unit from PTX text or a cubin and reads back what it wrote.  The CUresult; `step` (40 bytes) names the call
 * that gave it. */
int semantics_device_run(const struct semantics_device *device, const struct semantics_unit *unit, const char *image,
                         unsigned char *output, char *step);

#endif
