// registers.cuh - setmaxnreg for the sources of this folder.  Each defines body<FIXED>; of its kernels `defect` has the
// defect that the first line names, at the line marked "// here", and `fixed` has not.
#pragma once

#define RELEASE(count) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count))
#define REQUEST(count) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count))

#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory")
#define SIGNAL(id, threads) asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(threads) : "memory")

#define KERNELS(...)                                                                                                  \
    extern "C" __global__ void __VA_ARGS__ defect(int *out, int n)                                                    \
    {                                                                                                                 \
        body<false>(out, n);                                                                                          \
    }                                                                                                                 \
    extern "C" __global__ void __VA_ARGS__ fixed(int *out, int n)                                                     \
    {                                                                                                                 \
        body<true>(out, n);                                                                                           \
    }

enum { GROUP = 128, WARP = 32 };
