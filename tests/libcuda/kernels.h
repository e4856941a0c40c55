/* kernels.h - the PTX that the tests load, and how they launch it. */
#ifndef TESTS_LIBCUDA_KERNELS_H
#define TESTS_LIBCUDA_KERNELS_H

#include "libcuda/api.h"

/* Kernels: number(out, first): out[thread] = first + thread, over all CTAs; add(out, value): one thread, *out += value;
 * hang(): waits for an mbarrier that nobody arrives on; poll(flag, out): lets dependent grids begin, waits for *flag,
 * then writes 1 to *out; dependent(out): out[0] = 1, and when the grid before it is over out[1] = 1; fault(address):
 * stores there; ranks(out): out[CTA] = rank in its cluster; shared(out): dynamic shared memory's size; big: 32 KiB of
 * static shared memory; lost, for 64 threads: warp 1 looks whether a flag is set, says that it sleeps, and waits, while
 * warp 0 sets the flag and then wakes whoever sleeps: it hangs when warp 0 does all of it between the two; kept: the
 * same, but warp 1 first says that it sleeps.
 * Variables: counter (.global .u32 = 7), table (.const .u32[4] = 1, 2, 3, 4). */
extern const char kernels[];
enum { KERNEL_COUNT = 11 };
#define LAST_KERNEL "kept"

CUmodule load_kernels(void);
CUfunction find_kernel(CUmodule module, const char *name);
/* One-dimensional, without dynamic shared memory. */
CUresult launch(CUfunction function, unsigned ctas, unsigned threads, CUstream stream, void **parameters);

#endif
