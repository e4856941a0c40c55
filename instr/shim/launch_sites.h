/* launch_sites.h - keeps evidence of which line of the program made a launch or a call of NCCL.
 *
 * Rows of the segment behind the fixed tables (wsdbg/segment_sites.h).  Any thread may call these functions while the
 * shim records.  They keep errno.
 */
#ifndef WSDBG_SHIM_LAUNCH_SITES_H
#define WSDBG_SHIM_LAUNCH_SITES_H

#include <stdint.h>

#include "wsdbg/session.h"

/* What wsdbg needs to unwind from here. */
struct site_registers {
    uint64_t values[WSDBG_SITE_REGISTERS];
};

/* The registers of the function that this is written into. */
static inline __attribute__((always_inline)) void site_here(struct site_registers *out)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %%rbx, 0(%0)\n\t"
                     "movq %%rbp, 8(%0)\n\t"
                     "movq %%rsp, 16(%0)\n\t"
                     "movq %%r12, 24(%0)\n\t"
                     "movq %%r13, 32(%0)\n\t"
                     "movq %%r14, 40(%0)\n\t"
                     "movq %%r15, 48(%0)\n\t"
                     "leaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, 56(%0)"
                     :
                     : "r"(out->values)
                     : "rax", "memory");
#else
    *out = (struct site_registers){{0}};
#endif
}

/* Before the driver's call.  entry: of the launch table, UINT64_MAX = the launch has none, and nothing is kept. */
void launch_site_launched(const struct site_registers *here, uint64_t entry, const struct wsdbg_launch_row *launch);
/* After the driver's call.  The thread's next launch is made cheaper. */
void launch_site_returned(void);
/* A kernel node of a graph that the program adds or changes. */
void launch_site_node(const struct site_registers *here, uint64_t graph, const struct wsdbg_launch_row *kernel);
/* A call of NCCL: entry among those of the communicator with this number. */
void launch_site_called(const struct site_registers *here, uint64_t communicator, uint64_t entry);

#endif
