/* c10/cuda/CUDAGuard.h - stands for PyTorch's header, for kernels that use nothing of it. */
