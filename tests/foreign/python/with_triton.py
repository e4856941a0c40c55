"""with_triton.py - Triton without PyTorch: memory of the driver instead of tensors.  With the word "hangs" it runs the kernel that hangs, too."""
import ctypes
import sys

import triton
import triton.language as tl
from triton.runtime import driver

cuda = ctypes.CDLL("libcuda.so.1")


@triton.jit
def fill(p, w, N: tl.constexpr):
    o = tl.arange(0, N)
    tl.store(p + o, o + w)


@triton.jit
def hang(p):
    while tl.load(p, volatile=True) != -1:
        pass


class Buffer:
    """Device memory, with what Triton asks of a tensor."""

    dtype = "int32"

    def __init__(self, count):
        self.count, self.address = count, ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(4 * count)) == 0

    def data_ptr(self):
        return self.address.value

    def read(self):
        values = (ctypes.c_int * self.count)()
        assert cuda.cuMemcpyDtoH_v2(values, self.address, ctypes.c_size_t(4 * self.count)) == 0
        return list(values)


context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
driver.active.get_current_device = lambda: 0
driver.active.get_current_stream = lambda device: 0
driver.active.set_current_device = lambda device: None
buffer = Buffer(32)
fill[(1,)](buffer, 5, 32)
assert buffer.read() == list(range(5, 37)), buffer.read()
print("ok")
if "hangs" in sys.argv:
    hang[(1,)](buffer)
    print(buffer.read())
