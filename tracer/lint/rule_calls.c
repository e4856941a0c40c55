/* rule_calls.c - calls while a warp holds other registers than at launch: REGS_CALL_INSIDE.
 *
 * Reads the control flow; adds findings.  What a call leads to that lies outside of the kernel's code was compiled for
 * itself: nothing in the file compares its registers with those that are left.
 */
#include <stdlib.h>

#include "lint/rules.h"

enum { SITES_MOST = 64 };

struct sites {
    uint32_t numbers[SITES_MOST];
    uint32_t count;
};

/* Every setmaxnreg, and the set of them; false where there are too many. */
static bool read_sites(const struct wsdbg_graph *graph, struct sites *out, uint64_t *set)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        if (wsdbg_graph_instruction(graph, i)->operation != WSDBG_OP_USETMAXREG)
            continue;
        if (out->count == SITES_MOST)
            return false;
        out->numbers[out->count++] = i;
        set[i / 64] |= UINT64_C(1) << i % 64;
    }
    return true;
}

/* The first call out of the kernel's code among what was reached; the end where there is none. */
static uint32_t first_call(const struct wsdbg_graph *graph, const uint64_t *reached)
{
    const uint32_t count = wsdbg_graph_instruction_count(graph);
    for (uint32_t i = 0; i < count; i++) {
        if (!(reached[i / 64] >> i % 64 & 1) || wsdbg_graph_instruction(graph, i)->operation != WSDBG_OP_CALL)
            continue;
        if (wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, i))->callee == WSDBG_GRAPH_NONE)
            return i;
    }
    return count;
}

static void say_call(struct wsdbg_lint_kernel *kernel, const struct wsdbg_instruction *setmaxnreg, uint32_t site,
                     uint32_t call, struct wsdbg_lint_findings *out)
{
    const bool releases = setmaxnreg->mode == WSDBG_MAXREG_DEALLOC;
    const unsigned count = setmaxnreg->source_count ? (unsigned)setmaxnreg->sources[0].value : 0;
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        out, WSDBG_LINT_REGS_CALL_INSIDE, releases ? WSDBG_LINT_WARNING : WSDBG_LINT_NOTE,
        wsdbg_lint_place_of_code(kernel, call),
        releases
            ? "a call (printf, assert or another function) after setmaxnreg.dec %u: if it needs more registers than "
              "that, the warp uses some that it does not hold"
            : "a call (printf, assert or another function) while the warp holds the registers of setmaxnreg.inc %u",
        count);
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_code(kernel, site), "setmaxnreg.%s %u here",
                    releases ? "dec" : "inc", count);
    wsdbg_lint_fix(out, finding, "no printf, assert or call of a function that is not inlined in this role");
}

struct wsdbg_error *wsdbg_lint_rule_calls(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_graph *graph;
    struct sites sites = {.count = 0};
    struct wsdbg_error *error = wsdbg_lint_graph(kernel, &graph);
    if (error)
        return error;
    const size_t words = (size_t)wsdbg_graph_instruction_count(graph) / 64 + 1;
    uint64_t *set = calloc(words, sizeof *set), *reached = calloc(words, sizeof *reached);
    if (!set || !reached)
        error = &wsdbg_error_no_memory;
    else if (read_sites(graph, &sites, set))
        for (uint32_t i = 0; i < sites.count; i++) {
            const struct wsdbg_instruction *setmaxnreg = wsdbg_graph_instruction(graph, sites.numbers[i]);
            wsdbg_graph_reach_set(graph, sites.numbers[i] + 1, set, reached);
            const uint32_t call = first_call(graph, reached);
            if (call < wsdbg_graph_instruction_count(graph))
                say_call(kernel, setmaxnreg, sites.numbers[i], call, out);
        }
    free(set);
    free(reached);
    return error;
}
