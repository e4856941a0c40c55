/* split_warp.h - one warp of a compiled kernel, run lane by lane until all that is left of it waits or polls, as a
 * machine: real code with the registers that it leaves, for tests that need no GPU.
 *
 * Lanes go on together, an instruction each, as far as nothing keeps them apart.  Memory is one small array.
 */
#ifndef TESTS_MACHINE_SPLIT_WARP_H
#define TESTS_MACHINE_SPLIT_WARP_H

#include "machine/machine.h"

#define SPLIT_MEMORY UINT64_C(0x7f5000000000) /* where the array lies */
enum { SPLIT_MEMORY_WORDS = 256, SPLIT_PARAMETERS_BYTES = 64 };

struct split_launch {
    const char *kernel;
    uint32_t block[3], cta_x;
    uint64_t parameters[SPLIT_PARAMETERS_BYTES / 8];
    uint32_t memory[SPLIT_MEMORY_WORDS];
    uint32_t no_registers_of; /* lanes */
    uint32_t ctas;            /* that all look the same; 0 = one */
};

/* `cubin`: the bytes of one with the kernel.  The caller closes the machine. */
struct wsdbg_machine *split_warp_run(const struct wsdbg_image *cubin, const struct split_launch *launch);

/* How often registers of some lane were asked for so far. */
uint32_t split_warp_reads(const struct wsdbg_machine *machine);

#endif
