"""triton_matmul.py - Triton's warp-specialized matmul (tl.range with warp_specialize, tensor descriptors), without PyTorch.

    triton_matmul.py [M N K [COUNT-OF-LAUNCHES]]

A is M x K, B is N x K, both fp16 small integers, so that the product is exact whatever the order of additions.  It is compared with NumPy's.  On a Hopper GPU
Triton makes one producer and two consumer warpgroups of it, beside the warps of the kernel's start and end."""
import ctypes
import sys

import numpy as np
import triton
import triton.language as tl
from triton.runtime import driver

cuda = ctypes.CDLL("libcuda.so.1")


@triton.jit
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    tiles_b = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    tiles_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    m, n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    sum = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K), warp_specialize=True, num_stages=3):
        tile_a = tiles_a.load([m, k * BLOCK_K])
        tile_b = tiles_b.load([n, k * BLOCK_K])
        sum = tl.dot(tile_a, tile_b.T, sum)
    tiles_c.store([m, n], sum.to(tl.float16))


class Memory:
    """Device memory, with what Triton asks of a tensor."""

    dtype = "fp16"

    def __init__(self, size_bytes):
        self.address, self.size_bytes = ctypes.c_uint64(), ctypes.c_size_t(size_bytes)
        assert cuda.cuMemAlloc_v2(ctypes.byref(self.address), self.size_bytes) == 0

    def data_ptr(self):
        return self.address.value

    def write(self, values):
        assert cuda.cuMemcpyHtoD_v2(self.address, values.ctypes.data_as(ctypes.c_void_p), self.size_bytes) == 0
        return self

    def read(self, values):
        assert cuda.cuMemcpyDtoH_v2(values.ctypes.data_as(ctypes.c_void_p), self.address, self.size_bytes) == 0
        return values


def use_first_device():
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    driver.active.get_current_device = lambda: 0
    driver.active.get_current_stream = lambda device: 0
    driver.active.set_current_device = lambda device: None
    triton.set_allocator(lambda size_bytes, alignment, stream: Memory(size_bytes))


def main(m=256, n=256, k=512, launches=1):
    use_first_device()
    random = np.random.default_rng(1)
    a, b = (random.integers(-2, 3, (rows, k)).astype(np.float16) for rows in (m, n))
    c = np.zeros((m, n), np.float16)
    on_device = [Memory(matrix.nbytes).write(matrix) for matrix in (a, b, c)]
    for _ in range(launches):
        matmul[(m // 128, n // 128)](*on_device, m, n, k, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=4)
    assert (on_device[2].read(c) == (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)).all(), "the product is wrong"
    print("ok")


main(*map(int, sys.argv[1:]))
