/* rule_init_fence.c - mbarriers that nothing makes visible, after their initialisation, to who else uses them: the copy
 * engine, or the other CTAs of a cluster.
 *
 * Reads: the PTX, as fence.mbarrier_init compiles to nothing.  Adds BARRIER_NOT_INIT: a warning where another CTA
 * arrives and the cluster barrier is relaxed, a note where only copies complete there.  Any fence is taken for the
 * right one.
 */
#include "lint/ptx_calls.h"
#include "lint/rules.h"

/* What a kernel's PTX holds, by its instructions; WSDBG_PTX_NONE = none of them. */
struct holdings {
    uint32_t init, copy, remote;
    bool has_fence;   /* or calls code that may have one */
    bool has_release; /* before the other CTAs come: a cluster barrier that publishes what was written before it */
};

static bool completes_on_mbarrier(const struct wsdbg_ptx_instruction *in)
{
    return (in->operation == WSDBG_PTX_OP_bulk_copy || in->operation == WSDBG_PTX_OP_tensor_copy) &&
           (in->space == WSDBG_PTX_SHARED || in->space == WSDBG_PTX_SHARED_CLUSTER);
}

static bool is_arrival(const struct wsdbg_ptx_instruction *in)
{
    return in->operation == WSDBG_PTX_OP_mbarrier_arrive || in->operation == WSDBG_PTX_OP_mbarrier_arrive_expect_tx ||
           in->operation == WSDBG_PTX_OP_mbarrier_arrive_drop;
}

static void keep_first(uint32_t number, uint32_t *out)
{
    if (*out == WSDBG_PTX_NONE)
        *out = number;
}

static void take(const struct wsdbg_ptx_program *program, uint32_t number, struct holdings *out)
{
    const struct wsdbg_ptx_instruction *in = &program->instructions[number];
    if (in->operation == WSDBG_PTX_OP_mbarrier_init)
        keep_first(number, &out->init);
    if (completes_on_mbarrier(in))
        keep_first(number, &out->copy);
    if ((is_arrival(in) && in->space == WSDBG_PTX_SHARED_CLUSTER) ||
        (completes_on_mbarrier(in) && (in->flags & WSDBG_PTX_MULTICAST)))
        keep_first(number, &out->remote);
    out->has_fence |= in->operation == WSDBG_PTX_OP_fence || in->operation == WSDBG_PTX_OP_membar ||
                      wsdbg_lint_calls_any_code(program, in);
    out->has_release |= out->remote == WSDBG_PTX_NONE && in->operation == WSDBG_PTX_OP_barrier_cluster_arrive &&
                        !(in->flags & WSDBG_PTX_RELAXED);
}

struct wsdbg_error *wsdbg_lint_rule_init_fence(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *out)
{
    const struct wsdbg_ptx_program *program = NULL;
    const struct wsdbg_ptx_function *function = NULL;
    struct holdings holds = {.init = WSDBG_PTX_NONE, .copy = WSDBG_PTX_NONE, .remote = WSDBG_PTX_NONE};
    wsdbg_lint_ptx(kernel, &program, &function);
    for (uint32_t i = function ? function->first : 0; function && i < function->end; i++)
        take(program, i, &holds);
    const bool is_for_peers = holds.remote != WSDBG_PTX_NONE && !holds.has_release;
    const uint32_t use = is_for_peers ? holds.remote : holds.copy;
    if (holds.init == WSDBG_PTX_NONE || holds.has_fence || use == WSDBG_PTX_NONE)
        return NULL;
    struct wsdbg_lint_finding *finding = wsdbg_lint_add(
        out, WSDBG_LINT_BARRIER_NOT_INIT, is_for_peers ? WSDBG_LINT_WARNING : WSDBG_LINT_NOTE,
        wsdbg_lint_place_of_ptx(kernel, holds.init), "no fence in the kernel makes this initialisation visible to %s",
        is_for_peers ? "the other CTAs of the cluster: the first that comes there may be lost" : "the copy engine");
    wsdbg_lint_note(out, finding, wsdbg_lint_place_of_ptx(kernel, use), "used here");
    wsdbg_lint_fix(out, finding, "fence.mbarrier_init.release.cluster behind the initialisation");
    return NULL;
}
