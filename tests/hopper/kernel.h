/* kernel.h - kernels given as the body of one, on the machine of machine.h, also such that end in a hang or a fault. */
#ifndef TESTS_HOPPER_KERNEL_H
#define TESTS_HOPPER_KERNEL_H

#include "hopper/machine.h"

/* A kernel `main` around the body.  %rd1 holds machine->out, %rd0 machine->in; %r<32>, %rd<32>, %f<256>, %p<8> and
 * %h<16> are declared.  The text is the caller's to free. */
char *kernel_text(const char *body);

struct kernel_launch {
    uint32_t grid, block, cluster, shared_bytes; /* grid, block: 0 = 1 and 32 */
};
/* Launches `main` and runs until the device stops, however that is. */
enum wsdbg_gpu_outcome kernel_launch(struct machine *machine, struct kernel_launch launch);
/* The fault's CUresult; 0: none. */
int kernel_error(const struct machine *machine);

/* A machine with the body's kernel. */
void kernel_create(struct machine *machine, const char *body, const struct wsdbg_schedule_options *schedule);
/* The same, launched and run. */
enum wsdbg_gpu_outcome kernel_run(struct machine *machine, const char *body, struct kernel_launch launch,
                                  const struct wsdbg_schedule_options *schedule);

#endif
