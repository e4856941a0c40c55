/* rule_ignored.c - setmaxnreg that stands in the PTX and not in the machine code: REGS_IGNORED.
 *
 * Reads the PTX of the module, and how its machine code was compiled; adds findings.  ptxas 13.0 names five reasons
 * (C7504 to C7508); four can be told from the file.
 */
#include <string.h>

#include "lint/ptx_calls.h"
#include "lint/rules.h"

/* The first setmaxnreg of the kernel, what it calls included; the end where there is none. */
static uint32_t first_setmaxnreg(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function)
{
    uint32_t i = function->first;
    while (i < function->end && program->instructions[i].operation != WSDBG_PTX_OP_setmaxnreg)
        i++;
    return i;
}

/* The runtime's own functions do not make ptxas give up. */
static bool calls_any_code(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function)
{
    for (uint32_t i = function->first; i < function->end; i++)
        if (wsdbg_lint_calls_any_code(program, &program->instructions[i]))
            return true;
    return false;
}

/* An option of ptxas in its note: between blanks. */
static bool was_given(const struct wsdbg_lint_kernel *kernel, const char *option)
{
    const char *options = wsdbg_cubin_compiler_options(kernel->module->cubin);
    const size_t length = strlen(option);
    for (const char *at = options; at && (at = strstr(at, option)); at += length)
        if ((at == options || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* As seen with ptxas 13.0: with the number of threads alone, -maxrregcount does not help. */
static bool is_bounded(const struct wsdbg_lint_kernel *kernel, const struct wsdbg_ptx_function *function)
{
    const bool has_threads = function->max_threads[0] || function->required_threads[0];
    return function->max_registers || (has_threads ? function->min_ctas > 0 : kernel->launch.registers_most > 0);
}

static void say_reason(struct wsdbg_lint_kernel *kernel, const struct wsdbg_ptx_program *program,
                       const struct wsdbg_ptx_function *function, struct wsdbg_lint_findings *out,
                       struct wsdbg_lint_finding *finding)
{
    const struct wsdbg_lint_place nowhere = wsdbg_lint_place_of_kernel();
    if (was_given(kernel, "-g")) {
        wsdbg_lint_note(out, finding, nowhere, "ptxas: \"ignored to allow debugging\" (C7505)");
        wsdbg_lint_fix(out, finding, "compile without -G; -lineinfo keeps the lines");
    } else if (was_given(kernel, "-c")) {
        wsdbg_lint_note(out, finding, nowhere,
                        "ptxas: \"ignored to maintain compatibility across compilation units\" (C7504)");
        wsdbg_lint_fix(out, finding, "compile the kernel as a whole, without -rdc=true or -dc");
    } else if (calls_any_code(program, function)) {
        wsdbg_lint_note(out, finding, nowhere,
                        "ptxas: \"ignored to maintain compatibility into 'extern' call\" (C7506)");
        wsdbg_lint_fix(out, finding, "call nothing that is compiled elsewhere or through a pointer");
    } else if (!is_bounded(kernel, function)) {
        wsdbg_lint_note(out, finding, nowhere,
                        "ptxas: \"ignored; unable to determine register count at entry\" (C7508): neither "
                        "__launch_bounds__ with two numbers nor __maxnreg__ nor -maxrregcount says it");
        wsdbg_lint_fix(out, finding, "__launch_bounds__(threads of the CTA, 1) on the kernel");
    } else {
        wsdbg_lint_fix(out, finding, "nvcc -Xptxas -v says ptxas's reason; the file does not");
    }
}

struct wsdbg_error *wsdbg_lint_rule_ignored(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    if (!kernel->function || kernel->code_interests & WSDBG_INTEREST_REGISTERS)
        return NULL;
    wsdbg_lint_ptx(kernel, &program, &function);
    if (!function)
        return NULL;
    const uint32_t first = first_setmaxnreg(program, function);
    if (first == function->end)
        return NULL;
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        out, WSDBG_LINT_REGS_IGNORED, WSDBG_LINT_WARNING, wsdbg_lint_place_of_ptx(kernel, first),
        "ptxas ignored setmaxnreg: every warp keeps the %u registers a thread of the launch", kernel->launch.registers);
    say_reason(kernel, program, function, out, finding);
    return NULL;
}
