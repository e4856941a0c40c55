/* rules.h - the rules: each reads one kernel and adds what it finds.  One file a family; lint.c has the table.
 *
 * A rule says ERROR only where the file proves the sentence.  A rule that cannot tell adds nothing.
 */
#ifndef WSDBG_LINT_RULES_H
#define WSDBG_LINT_RULES_H

#include "lint/kernel.h"

/* An error means that the kernel could not be read (out of memory, too many instructions): the error is reported, and
 * other kernels are still read. */
typedef struct wsdbg_error *wsdbg_lint_rule(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out);

wsdbg_lint_rule wsdbg_lint_rule_launch;
wsdbg_lint_rule wsdbg_lint_rule_barriers;
wsdbg_lint_rule wsdbg_lint_rule_init_fence;
wsdbg_lint_rule wsdbg_lint_rule_registers;
wsdbg_lint_rule wsdbg_lint_rule_calls;
wsdbg_lint_rule wsdbg_lint_rule_ignored;
wsdbg_lint_rule wsdbg_lint_rule_architecture;
wsdbg_lint_rule wsdbg_lint_rule_wgmma;

#endif
