"""triton_matmul.py - Triton's warp-specialized matmul (tl.range with warp_specialize, tensor descriptors), without PyTorch.

    triton_matmul.py [M N K [COUNT-OF-LAUNCHES]]

A is M x K, B is N x K, both fp16 small integers, so that the product is exact whatever the order of additions.  It is compared with NumPy's."""
import ctypes
import sys

import numpy as np
import triton
import triton.language as tl
from triton.runtime import driver
from triton.tools.tensor_descriptor import TensorDescriptor

cuda = ctypes.CDLL("libcuda.so.1")


@triton.jit
def matmul(a, b, c, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m, n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    sum = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K), warp_specialize=True, num_stages=3):
        tile_a = a.load([m, k * BLOCK_K])
        tile_b = b.load([n, k * BLOCK_K])
        sum = tl.dot(tile_a, tile_b.T, sum)
    c.store([m, n], sum.to(tl.float16))


class Half(str):
    """The name of a type, with what a tensor descriptor asks of one."""

    itemsize = 2


class Matrix:
    """A matrix in device memory, with what Triton asks of a tensor."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, Half("fp16")
        self.address = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(values.nbytes)) == 0
        assert cuda.cuMemcpyHtoD_v2(self.address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes)) == 0

    def data_ptr(self):
        return self.address.value

    def element_size(self):
        return self.values.itemsize

    def read(self):
        assert cuda.cuMemcpyDtoH_v2(self.values.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(self.values.nbytes)) == 0
        return self.values

    def tiles(self, *block):
        return TensorDescriptor(self, list(self.shape), [self.shape[1], 1], list(block))


def use_first_device():
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    driver.active.get_current_device = lambda: 0
    driver.active.get_current_stream = lambda device: 0
    driver.active.set_current_device = lambda device: None


def main(m=256, n=256, k=512, launches=1):
    use_first_device()
    random = np.random.default_rng(1)
    a, b = (random.integers(-2, 3, (rows, k)).astype(np.float16) for rows in (m, n))
    product = Matrix(np.zeros((m, n), np.float16))
    block_m, block_n, block_k = 64, 128, 64
    for _ in range(launches):
        matmul[(m // block_m, n // block_n)](Matrix(a).tiles(block_m, block_k), Matrix(b).tiles(block_n, block_k), product.tiles(block_m, block_n), k,
                                              block_m, block_n, block_k, num_warps=4)
    assert (product.read() == (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)).all(), "the product is wrong"
    print("ok")


main(*map(int, sys.argv[1:]))
