"""with_cupy.py - kernels.cu as a RawModule of CuPy.  With the word "hangs" it runs the kernel that hangs, too."""
import pathlib
import sys

import cupy
import numpy

module = cupy.RawModule(code=pathlib.Path(__file__).with_name("kernels.cu").read_text())
values = cupy.zeros(32, dtype=cupy.int32)
module.get_function("fill")((1,), (32,), (values, cupy.int32(5)))
assert (values.get() == numpy.arange(5, 37)).all(), values.get()
print("ok")
if "hangs" in sys.argv:
    module.get_function("hang")((1,), (32,), (values,))
    print(values.get())
