/* runtime.h - the stand-in for the CUDA runtime (libcudart.so.12 and .13): types of its ABI, and what its parts offer
 * each other.
 *
 * Every function of the runtime is a few calls of the public Driver API.  Programs that are linked with `-cudart
 * shared` get this library instead of NVIDIA's when they run on the simulator, because NVIDIA's asks its driver for
 * tables that nobody else has.  The types are those of driver_types.h; they are declared here so that the library
 * builds without a CUDA toolkit.
 */
#ifndef WSDBG_LIBCUDART_RUNTIME_H
#define WSDBG_LIBCUDART_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcuda/cuda_types.h"
#include "libcudart/driver_calls.h"

/* RUNTIME_VERSION (12090 or 13000) is the build's: two libraries are made from the same sources. */

typedef int cudaError_t;

enum {
#define RUNTIME_ERROR(name, number, text) name = number,
#include "libcudart/errors.def"
#undef RUNTIME_ERROR
};

typedef struct {
    unsigned x, y, z;
} dim3;

/* A function that programs call. */
#define RUNTIME(symbol, ...)                                                \
    __attribute__((visibility("default"))) cudaError_t symbol(__VA_ARGS__); \
    cudaError_t symbol(__VA_ARGS__)

/* The two forms of a function that works on a stream: 0 is the legacy default stream or (with the suffix _ptsz, _ptds)
 * the calling thread's.  `body` gets the arguments, then that stream. */
#define PARAMETERS(...) __VA_ARGS__
#define STREAM_RUNTIME(symbol, suffix, parameters, body, ...) \
    RUNTIME(symbol, PARAMETERS parameters)                    \
    {                                                         \
        return body(__VA_ARGS__, NULL);                       \
    }                                                         \
    RUNTIME(symbol##suffix, PARAMETERS parameters)            \
    {                                                         \
        return body(__VA_ARGS__, CU_STREAM_PER_THREAD);       \
    }

/* state.c */

/* Every call begins with this: the driver is initialised, and the calling thread has a current context, the primary one
 * of its device if the program has made none current.  Returns an error of the driver. */
CUresult runtime_enter(void);
/* Every call ends with this: the error becomes the thread's last one if it is one, and is returned as the runtime
 * numbers it. */
cudaError_t runtime_done(CUresult result);
/* The same for an error that only the runtime has. */
cudaError_t runtime_fail(cudaError_t error);
/* The calling thread's last error, which stays. */
cudaError_t runtime_last_error(void);
/* The device of the calling thread. */
CUdevice runtime_device(void);

/* Functions that are one call of the driver.  In `call` of the second, default_stream is the stream that 0 stands for.
 */
#define RUNTIME_CALLS(symbol, parameters, call)                        \
    RUNTIME(symbol, PARAMETERS parameters)                             \
    {                                                                  \
        const CUresult result = runtime_enter();                       \
        return runtime_done(result == CUDA_SUCCESS ? (call) : result); \
    }
#define STREAM_RUNTIME_CALLS(symbol, suffix, parameters, call)         \
    RUNTIME(symbol, PARAMETERS parameters)                             \
    {                                                                  \
        const CUstream default_stream = NULL;                          \
        const CUresult result = runtime_enter();                       \
        return runtime_done(result == CUDA_SUCCESS ? (call) : result); \
    }                                                                  \
    RUNTIME(symbol##suffix, PARAMETERS parameters)                     \
    {                                                                  \
        const CUstream default_stream = CU_STREAM_PER_THREAD;          \
        const CUresult result = runtime_enter();                       \
        return runtime_done(result == CUDA_SUCCESS ? (call) : result); \
    }

/* A function that asks the driver about the kernel of `function`: `call` has it as `kernel`. */
#define KERNEL_RUNTIME_CALLS(symbol, parameters, call)               \
    RUNTIME(symbol, PARAMETERS parameters)                           \
    {                                                                \
        CUkernel kernel;                                             \
        const cudaError_t error = runtime_kernel(function, &kernel); \
        return error ? error : runtime_done(call);                   \
    }

static inline CUstream runtime_stream(CUstream stream, CUstream default_stream)
{
    return stream ? stream : default_stream;
}

/* registry.c: what the program's constructors have registered. */

/* The kernel that the host's function stands for, loaded on first use.  A kernel handle stands for itself. */
cudaError_t runtime_kernel(const void *host_function, CUkernel *out);
/* Where the variable lies in device memory. */
cudaError_t runtime_symbol(const void *host_variable, CUdeviceptr *address, size_t *byte_count);
/* From now on `kernel` is known as the handle of a kernel. */
cudaError_t runtime_note_kernel(CUkernel kernel);

#endif
