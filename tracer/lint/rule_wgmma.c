/* rule_wgmma.c - wgmma that do not overlap: see docs/causes/WGMMA_*.md.
 *
 * Reads the machine code, which tells how many are in flight at best, and the PTX, which tells how many its author
 * asked for and what may have kept ptxas from it.  Of PTX alone the same causes are a prediction.  What ptxas thought
 * it does not leave in its output: a cause is what its own advisories name and what stands in the code, "probably".
 */
#include <string.h>

#include "lint/rules.h"
#include "lint/wgmma_cause.h"

static const char *up_to(unsigned in_flight)
{
    return in_flight >= WSDBG_WGMMA_MANY ? "at least" : "up to";
}

/* ---- machine code ---- */

static bool is_same_line(const struct wsdbg_lint_place *a, const struct wsdbg_lint_place *b)
{
    return a->line && a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* Unrolled loops wait at a line many times: each line is named once. */
static void add_waits(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out,
                      struct wsdbg_lint_finding *finding, const struct wsdbg_wgmma_places *waits)
{
    enum { SHOWN = 4 };
    struct wsdbg_lint_place places[WSDBG_WGMMA_PLACES_MOST];
    size_t shown = 0;
    for (size_t i = 0; i < waits->count && i < WSDBG_WGMMA_PLACES_MOST; i++) {
        bool is_new = true;
        places[i] = wsdbg_lint_place_of_code(kernel, waits->at[i]);
        for (size_t k = 0; k < i; k++)
            is_new = is_new && !is_same_line(&places[k], &places[i]);
        if (i && is_new && shown++ < SHOWN)
            wsdbg_lint_note(out, finding, places[i], "waits here, too");
    }
}

static void add_serialized(const struct wsdbg_wgmma_case *facts, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_wgmma_machine *machine = facts->machine;
    const struct wsdbg_wgmma_cause cause = wsdbg_wgmma_cause_of(facts);
    const struct wsdbg_lint_place place = machine->waits.count
                                              ? wsdbg_lint_place_of_code(facts->kernel, machine->waits.at[0])
                                              : wsdbg_lint_place_of_code(facts->kernel, machine->first_issue);
    struct wsdbg_lint_finding *finding;
    if (facts->source)
        finding =
            wsdbg_lint_add(out, cause.code, WSDBG_LINT_WARNING, place,
                           "wgmma are serialized: ptxas waits after each one (%zu waits), and the PTX has %s %u in "
                           "flight%s",
                           machine->waits.count, up_to(facts->source->in_flight), facts->source->in_flight, cause.text);
    else
        finding = wsdbg_lint_add(
            out, cause.code, WSDBG_LINT_WARNING, place, "wgmma are serialized: no two of them overlap, because of %s%s",
            facts->has_lines ? "waits that have no source line of their own" : "waits of ptxas or of the source itself",
            cause.text);
    wsdbg_wgmma_cause_add_notes(facts, &cause, out, finding);
    add_waits(facts->kernel, out, finding, &machine->waits);
    wsdbg_lint_fix(
        out, finding,
        "%s; what is in flight at run time: wsdbg run --keep-history of a kernel with probes, then wsdbg report",
        cause.fix);
}

/* ptxas keeps what the PTX means: where an accumulator is used before a wait, it waits. */
static void add_single_wait(const struct wsdbg_wgmma_case *facts, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_wgmma_cause cause = wsdbg_wgmma_cause_of(facts);
    if (cause.kind < WSDBG_WGMMA_CAUSE_SPILLED || cause.kind > WSDBG_WGMMA_CAUSE_WRITTEN)
        return;
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(out, cause.code, WSDBG_LINT_WARNING, wsdbg_lint_place_of_ptx(facts->kernel, cause.ptx),
                       "ptxas waits here for all wgmma, and the PTX does not%s", cause.text);
    wsdbg_wgmma_cause_add_notes(facts, &cause, out, finding);
    wsdbg_lint_fix(out, finding, "%s", cause.fix);
}

/* Each wgmma is waited for before the next one, and somebody meant it otherwise. */
static bool is_serialized(const struct wsdbg_wgmma_case *facts)
{
    const struct wsdbg_wgmma_machine *machine = facts->machine;
    if (machine->in_flight != 1)
        return false;
    if (facts->source)
        return facts->source->in_flight > 1;
    if (machine->opaque_calls.count && machine->issues > 1)
        return true;
    const bool is_spilled = machine->spill_loads.count || machine->spill_stores.count;
    return (is_spilled || (machine->issues > 1 && machine->idle_waits.count)) && machine->idle_with_a_line == 0;
}

/* ---- PTX alone ---- */

static void add_prediction(const struct wsdbg_wgmma_case *facts, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_wgmma_cause cause = wsdbg_wgmma_cause_of(facts);
    if (cause.kind > WSDBG_WGMMA_CAUSE_SCALE_D || facts->source->in_flight < 2)
        return;
    /* ptxas of CUDA 12 minded a scale-d that is computed, that of 13 mostly does not. */
    const bool is_of_old = cause.kind == WSDBG_WGMMA_CAUSE_SCALE_D;
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(out, cause.code, is_of_old ? WSDBG_LINT_NOTE : WSDBG_LINT_WARNING,
                       wsdbg_lint_place_of_ptx(facts->kernel, cause.ptx),
                       "ptxas %s serialize the wgmma, of which %s %u are in flight in the PTX%s",
                       is_of_old ? "of CUDA 12 may" : "will probably", up_to(facts->source->in_flight),
                       facts->source->in_flight, cause.text);
    wsdbg_wgmma_cause_add_notes(facts, &cause, out, finding);
    wsdbg_lint_fix(out, finding, "%s", cause.fix);
}

static struct wsdbg_error *read_source(struct wsdbg_lint_kernel *kernel, struct wsdbg_wgmma_source *source,
                                       bool *is_there)
{
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    wsdbg_lint_ptx(kernel, &program, &function);
    *is_there = false;
    struct wsdbg_error *error = function ? wsdbg_wgmma_source_read(program, function, source) : NULL;
    *is_there = function && !error && source->issues;
    return error;
}

struct wsdbg_error *wsdbg_lint_rule_wgmma(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_graph *graph;
    const struct wsdbg_lines *lines = wsdbg_lint_module_lines(kernel->module);
    struct wsdbg_wgmma_machine machine = {0};
    struct wsdbg_wgmma_source source = {0};
    struct wsdbg_wgmma_case facts = {.kernel = kernel, .has_lines = lines != NULL};
    bool has_source = false;
    if (kernel->function && !(kernel->code_interests & WSDBG_INTEREST_WGMMA))
        return NULL;
    struct wsdbg_error *error = read_source(kernel, &source, &has_source);
    facts.source = has_source ? &source : NULL;
    if (!error && kernel->function) {
        error = wsdbg_lint_graph(kernel, &graph);
        if (!error)
            error = wsdbg_wgmma_machine_read(graph, lines, kernel->function, &machine);
        facts.machine = &machine;
    }
    if (error)
        return error;
    if (!facts.machine && has_source)
        add_prediction(&facts, out);
    else if (facts.machine && machine.issues && is_serialized(&facts))
        add_serialized(&facts, out);
    else if (facts.machine && machine.issues && has_source)
        add_single_wait(&facts, out);
    return NULL;
}
