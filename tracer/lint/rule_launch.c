/* rule_launch.c - whether a CTA of the kernel fits into a multiprocessor's registers at launch: LAUNCH_TOO_MANY_REGS.
 *
 * Reads the launch facts; adds findings.  .reqntid says how many threads every launch has, .maxntid how many it may
 * have; without either the file does not say, and the largest CTA that launches is worth a note where warps share out
 * work.
 */
#include <stdio.h>

#include "lint/rules.h"
#include "model/launch_needs.h"

enum { THREADS_MOST = 1024 };

static void fix(struct wsdbg_lint_findings *findings, struct wsdbg_lint_finding *finding, uint32_t threads)
{
    wsdbg_lint_fix(findings, finding, "compile for at most %u registers: __launch_bounds__(%u), or -maxrregcount=%u",
                   wsdbg_registers_most(threads, WSDBG_SM_90_REGISTERS), threads,
                   wsdbg_registers_most(threads, WSDBG_SM_90_REGISTERS));
}

/* Every launch has `threads`, or (`at_most`) may have as many. */
static void judge_bounds(const struct wsdbg_lint_launch *launch, uint32_t threads, bool at_most,
                         struct wsdbg_lint_findings *out)
{
    const uint64_t needed = wsdbg_registers_of_cta(launch->registers, threads);
    if (needed <= WSDBG_SM_90_REGISTERS)
        return;
    const uint32_t given = wsdbg_registers_given(launch->registers);
    char rounded[24] = "";
    if (given != launch->registers)
        snprintf(rounded, sizeof rounded, ", given out as %u,", given);
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        out, WSDBG_LINT_LAUNCH_TOO_MANY_REGS, at_most ? WSDBG_LINT_WARNING : WSDBG_LINT_ERROR,
        wsdbg_lint_place_of_kernel(), "%s: %u registers a thread%s x %u threads = %llu > %d",
        at_most ? "a CTA as large as .maxntid allows cannot be launched" : "the kernel cannot be launched",
        launch->registers, rounded, threads, (unsigned long long)needed, WSDBG_SM_90_REGISTERS);
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_kernel(), "largest that launches: %u registers; or %u threads",
                    wsdbg_registers_most(threads, WSDBG_SM_90_REGISTERS),
                    wsdbg_threads_most(launch->registers, WSDBG_SM_90_REGISTERS));
    fix(out, finding, threads);
}

struct wsdbg_error *wsdbg_lint_rule_launch(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_lint_launch *launch = &kernel->launch;
    const unsigned roles = WSDBG_INTEREST_REGISTERS | WSDBG_INTEREST_WGMMA | WSDBG_INTEREST_COPIES;
    if (launch->registers == 0)
        return NULL;
    const uint32_t most = wsdbg_threads_most(launch->registers, WSDBG_SM_90_REGISTERS);
    if (launch->threads_required)
        judge_bounds(launch, launch->threads_required, false, out);
    else if (launch->threads_most)
        judge_bounds(launch, launch->threads_most, true, out);
    else if (most < THREADS_MOST && kernel->code_interests & roles)
        wsdbg_lint_add(out, WSDBG_LINT_LAUNCH_TOO_MANY_REGS, WSDBG_LINT_NOTE, wsdbg_lint_place_of_kernel(),
                       "no launch bounds: with %u registers a thread the largest CTA that launches has %u threads",
                       launch->registers, most);
    return NULL;
}
