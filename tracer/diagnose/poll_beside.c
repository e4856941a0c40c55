/* poll_beside.c - see poll_beside.h.
 *
 * Reads: the wait graph, what is polled.  Writes nothing.
 */
#include "diagnose/poll_beside.h"

#include "diagnose/poll_writers.h"
#include "diagnose/wait_graph.h"

static bool some_poll_shared(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(pollers, w) && wsdbg_poll_of(c, w).shared)
            return true;
    return false;
}

/* A warp that polls may be one of them: lanes of it wait there, and others poll. */
static bool some_wait_at_mbarriers(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_MBARRIER && wsdbg_case_stuck(c, w))
            return true;
    return false;
}

/* Whether some warps would stay stuck even if every polling warp went on. */
static bool some_hang_without(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const struct wsdbg_warp_set behind = wsdbg_progress_if(c, pollers);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_stuck(c, w) && !wsdbg_set_has(pollers, w) && !wsdbg_set_has(&behind, w))
            return true;
    return false;
}

enum wsdbg_beside wsdbg_hangs_beside(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    if (!c->of_machine)
        return WSDBG_BESIDE_NOBODY;
    const bool is_shared = some_poll_shared(c, pollers);
    if (some_hang_without(c, pollers))
        return WSDBG_BESIDE_WARPS;
    if (is_shared)
        return some_wait_at_mbarriers(c) ? WSDBG_BESIDE_MBARRIER : WSDBG_BESIDE_NOBODY;
    return wsdbg_writer_may_hang(c) ? WSDBG_BESIDE_CTA : WSDBG_BESIDE_NOBODY;
}
