/* wgmma_cause.c - see wgmma_cause.h. */
#include "lint/wgmma_cause.h"

#include <stdarg.h>
#include <stdio.h>

enum { REGISTERS_MOST = 255, REGISTERS_OF_AN_SM = 65536, REGISTERS_FOR_THE_REST = 16, REGISTER_UNIT = 8 };

/* By enum wsdbg_wgmma_cause_kind. */
static const struct {
    enum wsdbg_lint_code code;
    const char *fix;
} rows[] = {
    {WSDBG_LINT_WGMMA_SERIALIZED,
     "keep calls that ptxas cannot see into out of the kernel: compile printf and assert out, "
     "inline functions, branch instead of calling through a pointer"},
    {WSDBG_LINT_WGMMA_SERIALIZED, "inline the function that issues wgmma (__forceinline__)"},
    {WSDBG_LINT_WGMMA_SPILL, "keep accumulators in named scalars, or index their array by constants only (unroll every "
                             "loop over it), and let them fit into the registers of a thread"},
    {WSDBG_LINT_WGMMA_WAIT_IN_BRANCH, "wait (wgmma.wait_group 0) on every path, outside of conditions, before "
                                      "accumulators are used: where nothing is in flight it costs nothing"},
    {WSDBG_LINT_WGMMA_SERIALIZED, "use accumulators only behind a wgmma.wait_group that completes their wgmma"},
    {WSDBG_LINT_WGMMA_SERIALIZED,
     "write accumulators only behind a wgmma.wait_group that completes their wgmma, and issue "
     "a wgmma.fence after that"},
    {WSDBG_LINT_WGMMA_SERIALIZED,
     "load the next fragment into other registers, or wait before its registers are written"},
    {WSDBG_LINT_WGMMA_SERIALIZED, "wait for all groups before the loop's next round, or use accumulators in the round "
                                  "that issued their wgmma"},
    {WSDBG_LINT_WGMMA_SERIALIZED,
     "take branches that only some threads of a warp follow out of the stage: put them before "
     "its first wgmma or behind its commit"},
    {WSDBG_LINT_WGMMA_SERIALIZED, "use a smaller tile, or spread it over more warpgroups"},
    {WSDBG_LINT_WGMMA_SCALE_D, "peel the first iteration: issue its first wgmma with scale-d 0 and all others with 1, "
                               "both constants"},
    {WSDBG_LINT_WGMMA_SERIALIZED, "peel the first iteration: with a constant scale-d of 0 its first wgmma reads no "
                                  "accumulators, and nothing else need set them; or compile with CUDA 13"},
    {WSDBG_LINT_WGMMA_SERIALIZED, "look at what ptxas says when it compiles the kernel (advisories C7508 to C7520)"},
};

/* ---- which cause ---- */

static unsigned registers_of_thread(const struct wsdbg_lint_launch *launch)
{
    const uint32_t threads = launch->threads_required ? launch->threads_required : launch->threads_most;
    unsigned most = REGISTERS_MOST;
    if (launch->registers_most && launch->registers_most < most)
        most = launch->registers_most;
    if (threads && REGISTERS_OF_AN_SM / threads < most)
        most = REGISTERS_OF_AN_SM / threads / REGISTER_UNIT * REGISTER_UNIT;
    return most;
}

static bool has_branch(const struct wsdbg_wgmma_source *source, uint32_t *at)
{
    for (unsigned i = WSDBG_WGMMA_SPILLED; i <= WSDBG_WGMMA_WRITTEN; i++)
        if (source->touches[i].of_branch) {
            *at = source->touches[i].branch_first;
            return true;
        }
    return false;
}

static enum wsdbg_wgmma_cause_kind kind_of_source(const struct wsdbg_wgmma_case *facts, uint32_t *at)
{
    static const uint8_t of_touch[] = {
        [WSDBG_WGMMA_SPILLED] = WSDBG_WGMMA_CAUSE_SPILLED, [WSDBG_WGMMA_READ] = WSDBG_WGMMA_CAUSE_READ,
        [WSDBG_WGMMA_WRITTEN] = WSDBG_WGMMA_CAUSE_WRITTEN, [WSDBG_WGMMA_INPUT] = WSDBG_WGMMA_CAUSE_INPUT,
        [WSDBG_WGMMA_LATE] = WSDBG_WGMMA_CAUSE_LATE,
    };
    const struct wsdbg_wgmma_source *source = facts->source;
    *at = source->opaque_call;
    if (source->opaque_calls)
        return WSDBG_WGMMA_CAUSE_OPAQUE_CALL;
    *at = source->wgmma_in_call;
    if (source->wgmma_in_calls)
        return WSDBG_WGMMA_CAUSE_WGMMA_IN_CALL;
    *at = source->touches[WSDBG_WGMMA_SPILLED].first;
    if (source->touches[WSDBG_WGMMA_SPILLED].count)
        return WSDBG_WGMMA_CAUSE_SPILLED;
    if (has_branch(source, at))
        return WSDBG_WGMMA_CAUSE_BRANCH;
    for (unsigned i = WSDBG_WGMMA_READ; i < WSDBG_WGMMA_TOUCH_KINDS; i++) {
        *at = source->touches[i].first;
        if (source->touches[i].count)
            return of_touch[i];
    }
    *at = source->first_issue;
    if (facts->machine && (facts->machine->spill_loads.count || facts->machine->spill_stores.count))
        return WSDBG_WGMMA_CAUSE_SPILLED;
    *at = source->branch_inside;
    if (facts->machine && source->branches_inside)
        return WSDBG_WGMMA_CAUSE_PARTING;
    *at = source->first_issue;
    if (source->registers + REGISTERS_FOR_THE_REST > registers_of_thread(&facts->kernel->launch))
        return WSDBG_WGMMA_CAUSE_REGISTERS;
    *at = source->scales ? source->scale : source->first_issue;
    if (source->scales)
        return WSDBG_WGMMA_CAUSE_SCALE_D;
    return source->first_values ? WSDBG_WGMMA_CAUSE_FIRST_VALUES : WSDBG_WGMMA_CAUSE_UNKNOWN;
}

static enum wsdbg_wgmma_cause_kind kind_of_machine(const struct wsdbg_wgmma_machine *machine)
{
    if (machine->opaque_calls.count)
        return WSDBG_WGMMA_CAUSE_OPAQUE_CALL;
    if (machine->spill_loads.count || machine->spill_stores.count)
        return WSDBG_WGMMA_CAUSE_SPILLED;
    if (machine->written.count)
        return WSDBG_WGMMA_CAUSE_WRITTEN;
    if (machine->joinings.count)
        return WSDBG_WGMMA_CAUSE_PARTING;
    return machine->scales.count == machine->issues ? WSDBG_WGMMA_CAUSE_SCALE_D : WSDBG_WGMMA_CAUSE_UNKNOWN;
}

/* ---- in words ---- */

/* Machine code alone shows what is between wgmma, not what its author wrote: much of it stands in kernels that overlap.
 */
static const char *because(const struct wsdbg_wgmma_case *facts, const struct wsdbg_wgmma_cause *cause)
{
    if (cause->kind == WSDBG_WGMMA_CAUSE_UNKNOWN)
        return "";
    return facts->source || cause->kind <= WSDBG_WGMMA_CAUSE_SPILLED ? "probably because " : "perhaps because ";
}

static void say(const struct wsdbg_wgmma_case *facts, struct wsdbg_wgmma_cause *cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(const struct wsdbg_wgmma_case *facts, struct wsdbg_wgmma_cause *cause, const char *format, ...)
{
    const int begun = snprintf(cause->text, sizeof cause->text, "; %s", because(facts, cause));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cause->text + begun, sizeof cause->text - (size_t)begun, format, arguments);
    va_end(arguments);
}

static void say_spilled(const struct wsdbg_wgmma_case *facts, struct wsdbg_wgmma_cause *cause)
{
    const struct wsdbg_wgmma_machine *machine = facts->machine;
    if (machine && (machine->spill_loads.count || machine->spill_stores.count)) {
        say(facts, cause, "accumulators are in local memory: %zu loads and %zu stores of them around wgmma",
            machine->spill_loads.count, machine->spill_stores.count);
    } else {
        const struct wsdbg_wgmma_touch *touch = &facts->source->touches[WSDBG_WGMMA_SPILLED];
        say(facts, cause,
            "accumulators are in local memory: %zu loads and %zu stores of them while wgmma may "
            "be in flight",
            touch->loads, touch->count - touch->loads);
    }
}

static void say_call(const struct wsdbg_wgmma_case *facts, struct wsdbg_wgmma_cause *cause)
{
    const char *callee = facts->source ? facts->source->callee : NULL;
    say(facts, cause, "the kernel calls %s, which ptxas cannot see into",
        callee ? callee : "a function outside of its own code");
}

static void say_cause(const struct wsdbg_wgmma_case *facts, struct wsdbg_wgmma_cause *cause)
{
    switch (cause->kind) {
    case WSDBG_WGMMA_CAUSE_OPAQUE_CALL:
        say_call(facts, cause);
        break;
    case WSDBG_WGMMA_CAUSE_WGMMA_IN_CALL:
        say(facts, cause, "a function that is called issues wgmma");
        break;
    case WSDBG_WGMMA_CAUSE_SPILLED:
        say_spilled(facts, cause);
        break;
    case WSDBG_WGMMA_CAUSE_BRANCH:
        say(facts, cause, "the wait for them is on some paths to this use of accumulators and not on others");
        break;
    case WSDBG_WGMMA_CAUSE_READ:
        say(facts, cause, "accumulators are read or moved while wgmma may be in flight");
        break;
    case WSDBG_WGMMA_CAUSE_WRITTEN:
        say(facts, cause,
            facts->source ? "accumulators are written while wgmma may be in flight"
                          : "accumulators are written between wgmma");
        break;
    case WSDBG_WGMMA_CAUSE_INPUT:
        say(facts, cause, "registers of the first matrix are written while wgmma may read them");
        break;
    case WSDBG_WGMMA_CAUSE_LATE:
        say(facts, cause,
            "accumulators are used a round of the loop after their wgmma was issued, behind a "
            "wait that leaves groups in flight");
        break;
    case WSDBG_WGMMA_CAUSE_PARTING:
        say(facts, cause, "threads of a warp may part between wgmma of a stage");
        break;
    case WSDBG_WGMMA_CAUSE_REGISTERS:
        say(facts, cause, "%u registers of accumulators a thread are too many for its %u", facts->source->registers,
            registers_of_thread(&facts->kernel->launch));
        break;
    case WSDBG_WGMMA_CAUSE_SCALE_D:
        say(facts, cause, "scale-d of %zu of them is not a constant",
            facts->source ? facts->source->scales : facts->machine->scales.count);
        break;
    case WSDBG_WGMMA_CAUSE_FIRST_VALUES:
        say(facts, cause,
            "accumulators get their first values from other instructions and are in flight around a loop");
        break;
    case WSDBG_WGMMA_CAUSE_UNKNOWN:
        say(facts, cause, "why cannot be seen here");
        break;
    }
}

struct wsdbg_wgmma_cause wsdbg_wgmma_cause_of(const struct wsdbg_wgmma_case *facts)
{
    struct wsdbg_wgmma_cause cause = {.ptx = 0};
    cause.kind = facts->source ? kind_of_source(facts, &cause.ptx) : kind_of_machine(facts->machine);
    cause.code = rows[cause.kind].code;
    cause.fix = rows[cause.kind].fix;
    say_cause(facts, &cause);
    return cause;
}

/* ---- where ---- */

static void note_places(const struct wsdbg_wgmma_case *facts, struct wsdbg_lint_findings *out,
                        struct wsdbg_lint_finding *finding, const struct wsdbg_wgmma_places *places, const char *what)
{
    enum { SHOWN = 2 };
    for (size_t i = 0; i < places->count && i < SHOWN; i++)
        wsdbg_lint_note(out, finding, wsdbg_lint_place_of_code(facts->kernel, places->at[i]), "%s", what);
}

static void note_ptx(const struct wsdbg_wgmma_case *facts, struct wsdbg_lint_findings *out,
                     struct wsdbg_lint_finding *finding, uint32_t instruction, const char *what)
{
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    char text[96];
    wsdbg_lint_ptx(facts->kernel, &program, &function);
    wsdbg_ptx_text(program, instruction, text, sizeof text);
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_ptx(facts->kernel, instruction), "%s: %s", what, text);
}

void wsdbg_wgmma_cause_add_notes(const struct wsdbg_wgmma_case *facts, const struct wsdbg_wgmma_cause *cause,
                                 struct wsdbg_lint_findings *out, struct wsdbg_lint_finding *finding)
{
    const struct wsdbg_wgmma_source *source = facts->source;
    const struct wsdbg_wgmma_machine *machine = facts->machine;
    if (!finding)
        return;
    if (source && cause->kind == WSDBG_WGMMA_CAUSE_SCALE_D && source->scale_source != WSDBG_PTX_NONE)
        note_ptx(facts, out, finding, source->scale_source, "computes the first scale-d that is no constant");
    else if (source && cause->kind < WSDBG_WGMMA_CAUSE_REGISTERS &&
             !(cause->kind == WSDBG_WGMMA_CAUSE_SPILLED && !source->touches[WSDBG_WGMMA_SPILLED].count))
        note_ptx(facts, out, finding, cause->ptx, "the first such place in the PTX");
    if (!machine)
        return;
    if (cause->kind == WSDBG_WGMMA_CAUSE_SPILLED) {
        note_places(facts, out, finding, &machine->spill_loads, "loads accumulators");
        note_places(facts, out, finding, &machine->spill_stores, "stores accumulators");
    }
    if (source)
        return;
    if (cause->kind == WSDBG_WGMMA_CAUSE_OPAQUE_CALL)
        note_places(facts, out, finding, &machine->opaque_calls, "calls");
    if (cause->kind == WSDBG_WGMMA_CAUSE_WRITTEN)
        note_places(facts, out, finding, &machine->written, "writes accumulators");
    if (cause->kind == WSDBG_WGMMA_CAUSE_PARTING)
        note_places(facts, out, finding, &machine->joinings, "they come together");
    if (cause->kind == WSDBG_WGMMA_CAUSE_SCALE_D)
        note_places(facts, out, finding, &machine->scales, "scale-d is computed");
}
