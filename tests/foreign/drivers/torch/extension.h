/* torch/extension.h - stands for PyTorch's header: just enough for host code that checks tensors and takes their
 * pointers.
 *
 * Some projects keep a kernel in one file with a host function that takes tensors.  With this header such a file
 * compiles without PyTorch, and a host program of ours can call that function.  A tensor here is contiguous and owns no
 * memory.
 */
#ifndef WSDBG_TESTS_FOREIGN_TORCH_EXTENSION_H
#define WSDBG_TESTS_FOREIGN_TORCH_EXTENSION_H

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define TORCH_CHECK(condition, ...)             \
    do {                                        \
        if (!(condition)) {                     \
            printf("Failed: %s\n", #condition); \
            exit(1);                            \
        }                                       \
    } while (0)

namespace at
{
enum class ScalarType { Char, Half, BFloat16, Float, Float8_e4m3fn };
}

namespace torch
{

constexpr at::ScalarType kInt8 = at::ScalarType::Char, kFloat32 = at::ScalarType::Float;
typedef std::vector<int64_t> IntArrayRef;

struct TensorOptions {
    at::ScalarType type = at::ScalarType::Float;
    TensorOptions dtype(at::ScalarType other) const
    {
        return {other};
    }
};

struct Tensor {
    void *memory = nullptr;
    at::ScalarType type = at::ScalarType::Float;
    IntArrayRef shape;

    int64_t dim() const
    {
        return (int64_t)shape.size();
    }
    int64_t size(int64_t at) const
    {
        return shape[at < 0 ? at + dim() : at];
    }
    int64_t stride(int64_t at) const
    {
        int64_t all = 1;
        for (int64_t i = (at < 0 ? at + dim() : at) + 1; i < dim(); i++)
            all *= shape[i];
        return all;
    }
    const IntArrayRef &sizes() const
    {
        return shape;
    }
    at::ScalarType dtype() const
    {
        return type;
    }
    at::ScalarType scalar_type() const
    {
        return type;
    }
    TensorOptions options() const
    {
        return {type};
    }
    bool is_cuda() const
    {
        return true;
    }
    bool is_contiguous() const
    {
        return true;
    }
    void *data_ptr() const
    {
        return memory;
    }
};

/* Of four bytes an element, which suffices for every type here. */
inline Tensor empty(const IntArrayRef &shape, TensorOptions options = {})
{
    Tensor all = {nullptr, options.type, shape};
    if (all.size(0) > 0)
        TORCH_CHECK(cudaMalloc(&all.memory, (size_t)(all.size(0) * all.stride(0) * 4)) == cudaSuccess);
    return all;
}

} // namespace torch

#endif
