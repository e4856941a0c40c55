/* launch_needs.h - what a CTA needs of a multiprocessor's registers, in the portions in which they are given out.
 *
 * As cuda_occupancy.h of the toolkit counts for compute capability 5.0 and newer, and as was measured on an H200: a
 * thread's registers are rounded up to 8, so a warp gets them 256 at a time, and a CTA's warps are rounded up to 4, one
 * for each of the multiprocessor's register files.
 */
#ifndef WSDBG_MODEL_LAUNCH_NEEDS_H
#define WSDBG_MODEL_LAUNCH_NEEDS_H

#include <stdint.h>

/* Of sm_90: registers of a multiprocessor, all of which one CTA may have. */
enum { WSDBG_SM_90_REGISTERS = 65536 };

/* Registers that a thread gets of `registers`: 170 → 176. */
uint32_t wsdbg_registers_given(uint32_t registers);
/* Registers that a CTA takes. */
uint64_t wsdbg_registers_of_cta(uint32_t registers, uint32_t threads);
/* The most registers a thread (at most 255) with which a CTA of so many threads can be launched, of `pool` registers;
 * in steps of 8.  0 = none. */
uint32_t wsdbg_registers_most(uint32_t threads, uint32_t pool);
/* The largest CTA, at most 1024 threads, of a kernel with so many registers a thread.  0 = none. */
uint32_t wsdbg_threads_most(uint32_t registers, uint32_t pool);

#endif
