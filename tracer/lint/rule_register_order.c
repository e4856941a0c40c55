/* rule_register_order.c - requests for registers that would fit, but wait for one another: REGS_ORDER.
 *
 * Reads where the steps of the warps come to a stop; adds the finding.
 */
#include "lint/register_order.h"
#include "lint/register_say.h"

#include <stdio.h>

struct saying {
    struct wsdbg_lint_kernel *kernel;
    struct wsdbg_lint_findings *out;
    const struct wsdbg_register_view *view;
    const struct wsdbg_register_stop *stop;
};

static struct wsdbg_lint_place place_of(const struct saying *saying, uint32_t instruction)
{
    return wsdbg_lint_place_of_code(saying->kernel, instruction);
}

static uint32_t count_of(const struct saying *saying)
{
    for (uint32_t i = 0; i < saying->view->site_count; i++)
        if (saying->view->sites[i].instruction == saying->stop->request)
            return saying->view->sites[i].count;
    return 0;
}

static enum wsdbg_lint_severity severity(const struct saying *saying)
{
    return saying->view->threads_are_assumed || !saying->stop->is_certain ? WSDBG_LINT_WARNING : WSDBG_LINT_ERROR;
}

static const char *condition(const struct saying *saying)
{
    return saying->stop->is_certain ? "" : "if other warps are served first, ";
}

/* The first that give something back behind it, else the first. */
static const struct wsdbg_register_wait *guilty(const struct wsdbg_register_stop *stop)
{
    for (uint32_t i = 0; i < stop->wait_count; i++)
        if (stop->waits[i].release != WSDBG_GRAPH_NONE)
            return &stop->waits[i];
    return &stop->waits[0];
}

static void note_waits(const struct saying *saying, struct wsdbg_lint_finding *finding)
{
    for (uint32_t i = 0; i < saying->stop->wait_count; i++) {
        const struct wsdbg_register_wait *wait = &saying->stop->waits[i];
        char behind[64] = "";
        if (wait->release != WSDBG_GRAPH_NONE)
            snprintf(behind, sizeof behind, "; setmaxnreg.dec %u comes behind it", wait->released);
        wsdbg_lint_note(saying->out, finding, place_of(saying, wait->sync), "held at barrier %d: %s%s", wait->id,
                        wsdbg_register_say_warps(wait->warps).text, behind);
    }
}

/* Somebody is held at a barrier. */
static struct wsdbg_lint_finding *say_barrier(const struct saying *saying)
{
    const struct wsdbg_register_stop *stop = saying->stop;
    const struct wsdbg_register_wait *wait = guilty(stop);
    const bool gives = wait->release != WSDBG_GRAPH_NONE;
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(saying->out, WSDBG_LINT_REGS_ORDER, severity(saying), place_of(saying, stop->request),
                       "%ssetmaxnreg.inc %u is never served for some of %s: %s %s barrier %d, which does not complete "
                       "until that request "
                       "is served",
                       condition(saying), count_of(saying), wsdbg_register_say_warps(stop->asking).text,
                       wsdbg_register_say_warps(wait->warps).text,
                       gives ? "would give registers back behind" : "would go on behind", wait->id);
    note_waits(saying, finding);
    wsdbg_lint_fix(saying->out, finding,
                   "give registers back (setmaxnreg.dec) before the barrier, or sync before any warp asks");
    return finding;
}

/* Each request could be served only behind another one. */
static struct wsdbg_lint_finding *say_requests(const struct saying *saying)
{
    const struct wsdbg_register_stop *stop = saying->stop;
    struct wsdbg_lint_finding *finding =
        wsdbg_lint_add(saying->out, WSDBG_LINT_REGS_ORDER, severity(saying), place_of(saying, stop->request),
                       "%ssetmaxnreg.inc %u is never served for some of %s: nobody else gives back what they need",
                       condition(saying), count_of(saying), wsdbg_register_say_warps(stop->asking).text);
    wsdbg_lint_fix(saying->out, finding, "ask for less, or give more back (setmaxnreg.dec) before any of them asks");
    return finding;
}

struct wsdbg_error *wsdbg_lint_rule_register_order(struct wsdbg_lint_kernel *kernel,
                                                   const struct wsdbg_register_view *view,
                                                   struct wsdbg_lint_findings *out)
{
    struct wsdbg_register_stop stop;
    struct wsdbg_error *error = wsdbg_register_order_read(kernel, view, &stop);
    if (error || !stop.is_found)
        return error;
    const struct saying saying = {kernel, out, view, &stop};
    struct wsdbg_lint_finding *finding = stop.wait_count ? say_barrier(&saying) : say_requests(&saying);
    wsdbg_register_note_threads(kernel, out, view, finding);
    wsdbg_register_note_sites(kernel, out, view, finding);
    return NULL;
}
