"""launch.py WAY - a Python program whose kernel hangs on the simulator; launch_test.sh knows its lines by their comments.

The kernel waits for 64 threads at a barrier, and has 32.  Other launches follow, and the main thread waits elsewhere.
"""
import ctypes
import sys
import threading

PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry stuck() { bar.sync 1, 64; ret; }
.visible .entry quick() { ret; }
"""
cuda = ctypes.CDLL("libcuda.so.1")
context, module, stuck, quick, stream = (ctypes.c_void_p() for _ in range(5))


def check(status):
    if status:
        sys.exit(f"CUDA error {status}")


def prepare():
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(stuck), module, b"stuck"))
    check(cuda.cuModuleGetFunction(ctypes.byref(quick), module, b"quick"))
    check(cuda.cuStreamCreate(ctypes.byref(stream), 1))


class Trainer:
    def step(self):
        numbers = [number for number in range(3)]
        check(cuda.cuLaunchKernel(stuck, 1, 1, 1, 32, 1, 1, 0, stream, None, None))  # SITE step
        return numbers


def worker():
    check(cuda.cuCtxSetCurrent(context))
    Trainer().step()  # SITE worker


def down(depth):
    if depth:
        return down(depth - 1)  # SITE deeper
    return check(cuda.cuLaunchKernel(stuck, 1, 1, 1, 32, 1, 1, 0, stream, None, None))  # SITE down


def launch_by_code_that_goes():
    """The function's code is gone when somebody asks, and other code may be where it was."""
    text = "def {}():\n check(cuda.cuLaunchKernel(stuck, 1, 1, 1, 32, 1, 1, 0, stream, None, None))\n"
    scope = {"cuda": cuda, "check": check, "stuck": stuck, "stream": stream}
    exec(text.format("once"), scope)
    scope["once"]()  # SITE gone
    del scope["once"]
    for number in range(200):
        exec(text.format(f"other{number}"), scope)


def main():
    prepare()
    way = sys.argv[1]
    if way == "step":
        Trainer().step()  # SITE main
    elif way == "thread":
        thread = threading.Thread(target=worker)
        thread.start()
        thread.join()
    elif way == "deep":
        down(100)
    elif way == "gone":
        launch_by_code_that_goes()
    for _ in range(100):
        check(cuda.cuLaunchKernel(quick, 1, 1, 1, 32, 1, 1, 0, None, None, None))
    cuda.cuCtxSynchronize()


main()
