"""hang.py [THREADS [DEPTH [torch]]] - a program whose kernel hangs: it waits for 64 threads at a barrier, and has 32.

step() waits for the GPU, DEPTH calls down, in a call of libcuda or in PyTorch.  THREADS more threads wait for an event.
"""
import ctypes
import sys
import threading

PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry stuck() { bar.sync 1, 64; ret; }
"""
cuda = ctypes.CDLL("libcuda.so.1")
wait = cuda.cuCtxSynchronize
if "torch" in sys.argv:
    import torch

    wait = torch.cuda.synchronize


def check(status):
    if status:
        sys.exit(f"CUDA error {status}")


def launch():
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"stuck"))
    check(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None))


class Trainer:
    def step(self, depth):
        if depth:
            return self.step(depth - 1)
        return check(
            wait())


def feed(event):
    event.wait()


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    depth = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.setrecursionlimit(depth + 1000)
    event = threading.Event()
    for number in range(threads):
        threading.Thread(target=feed, args=(event,), name=f"feed-{number}", daemon=True).start()
    launch()
    Trainer().step(depth)


main()
