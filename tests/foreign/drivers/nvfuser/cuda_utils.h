/* cuda_utils.h - stands for nvFuser's header of this name, of which the kernels of its tests need one macro. */
#ifndef WSDBG_TESTS_FOREIGN_NVFUSER_CUDA_UTILS_H
#define WSDBG_TESTS_FOREIGN_NVFUSER_CUDA_UTILS_H

#include <cstdint>

#include <cuda_runtime.h>

#define NVFUSER_CUDA_RT_SAFE_CALL(call) (void)(call)

#endif
