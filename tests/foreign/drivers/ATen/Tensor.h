/* ATen/Tensor.h - stands for PyTorch's header, for files that only declare functions with tensors. */
#ifndef WSDBG_TESTS_FOREIGN_ATEN_TENSOR_H
#define WSDBG_TESTS_FOREIGN_ATEN_TENSOR_H

namespace at
{
class Tensor;
}

#endif
