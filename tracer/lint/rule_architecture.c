/* rule_architecture.c - code for sm_90 that needs sm_90a: ARCH_MISMATCH.
 *
 * Reads the PTX, and messages in the machine code; adds findings.  wgmma and setmaxnreg exist for sm_90a alone.  In PTX
 * for sm_90 ptxas refuses them.  Sources that ask the compiler first leave them out, and CUTLASS leaves a message in
 * their place, which the kernel prints instead of computing.
 */
#include <string.h>

#include "lint/rules.h"

static bool needs_specific(const struct wsdbg_ptx_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_PTX_OP_setmaxnreg:
    case WSDBG_PTX_OP_wgmma_fence:
    case WSDBG_PTX_OP_wgmma_mma_async:
    case WSDBG_PTX_OP_wgmma_commit_group:
    case WSDBG_PTX_OP_wgmma_wait_group:
        return true;
    default:
        return false;
    }
}

static void judge_ptx(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    wsdbg_lint_ptx(kernel, &program, &function);
    if (!function || program->target_is_specific)
        return;
    for (uint32_t i = function->first; i < function->end; i++) {
        char text[128];
        if (!needs_specific(&program->instructions[i]))
            continue;
        wsdbg_ptx_text(program, i, text, sizeof text);
        text[strcspn(text, " ")] = '\0';
        struct wsdbg_lint_finding *finding =
            wsdbg_lint_add(out, WSDBG_LINT_ARCH_MISMATCH, WSDBG_LINT_ERROR, wsdbg_lint_place_of_ptx(kernel, i),
                           "ptxas refuses %s for sm_90: the PTX is not for sm_90a", text);
        wsdbg_lint_fix(out, finding, "-gencode arch=compute_90a,code=sm_90a");
        return;
    }
}

static void judge_message(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    struct wsdbg_lint_module *module = kernel->module;
    if (!module->needs_specific)
        return;
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(out, WSDBG_LINT_ARCH_MISMATCH, WSDBG_LINT_WARNING, wsdbg_lint_place_of_kernel(),
                       "compiled for sm_90, and a message in the code says that sm_90a is needed: \"%.*s\"",
                       (int)strcspn(module->needs_specific, "\n"), module->needs_specific);
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_kernel(),
                    "the kernel of this module that prints it computes nothing");
    wsdbg_lint_fix(out, finding, "-gencode arch=compute_90a,code=sm_90a");
    module->needs_specific = NULL; /* once a module */
}

struct wsdbg_error *wsdbg_lint_rule_architecture(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    if (!kernel->function)
        judge_ptx(kernel, out);
    else
        judge_message(kernel, out);
    return NULL;
}
