"""triton_kernel.py - a kernel of Triton that waits until a word is not 0."""
import triton
import triton.language as tl


@triton.jit
def wait(flag):
    while tl.atomic_or(flag, 0) == 0:
        pass
