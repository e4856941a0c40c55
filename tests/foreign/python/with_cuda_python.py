"""with_cuda_python.py - kernels.cu through NVRTC to PTX, with cuda-python.  With the word "hangs" it runs the kernel that hangs, too."""
import ctypes
import pathlib
import sys

from cuda.bindings import driver, nvrtc


def check(result):
    assert int(result[0]) == 0, result[0]
    return result[1] if len(result) == 2 else result[1:]


check(driver.cuInit(0))
check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(0))))))
source = pathlib.Path(__file__).with_name("kernels.cu").read_bytes()
program = check(nvrtc.nvrtcCreateProgram(source, b"kernels.cu", 0, [], []))
check(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=compute_90a"]))
ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
check(nvrtc.nvrtcGetPTX(program, ptx))
module = check(driver.cuModuleLoadData(ptx))
memory = check(driver.cuMemAlloc(32 * 4))


def run(name, *more):
    function = check(driver.cuModuleGetFunction(module, name))
    types = (ctypes.c_void_p,) + (ctypes.c_int,) * len(more)
    check(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, ((int(memory),) + more, types), 0))


def read():
    values = (ctypes.c_int * 32)()
    check(driver.cuMemcpyDtoH(ctypes.addressof(values), memory, 32 * 4))
    return list(values)


run(b"fill", 5)
assert read() == list(range(5, 37)), read()
print("ok")
if "hangs" in sys.argv:
    run(b"hang")
    read()
