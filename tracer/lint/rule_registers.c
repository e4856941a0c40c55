/* rule_registers.c - setmaxnreg: see docs/causes/REGS_*.md.  Reads the kernel's accesses; adds findings. */
#include "lint/rules.h"

struct wsdbg_error *wsdbg_lint_rule_registers(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_access *accesses;
    size_t count;
    if (!kernel->function || !(kernel->code_interests & WSDBG_INTEREST_REGISTERS))
        return NULL;
    (void)out;
    return wsdbg_lint_accesses(kernel, &accesses, &count);
}
