/* register_say.c - see register_say.h.  Reads the view; writes words, and notes of a finding. */
#include "lint/register_say.h"

#include <stdio.h>

uint32_t wsdbg_register_warps_of(const struct wsdbg_register_view *view, uint32_t site)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < view->warp_count; i++)
        warps |= (uint32_t)(view->warps[i].reached >> site & 1) << i;
    return warps;
}

struct wsdbg_register_words wsdbg_register_say_warps(uint32_t warps)
{
    struct wsdbg_register_words words = {"no warp"};
    size_t used = 0;
    for (uint32_t first = 0; first < 32; first++) {
        uint32_t last = first;
        if (!(warps >> first & 1))
            continue;
        while (last < 31 && warps >> (last + 1) & 1)
            last++;
        used += (size_t)snprintf(words.text + used, sizeof words.text - used, "%s%u",
                                 used                  ? ", "
                                 : warps & (warps - 1) ? "warps "
                                                       : "warp ",
                                 first);
        if (last > first)
            used += (size_t)snprintf(words.text + used, sizeof words.text - used, "-%u", last);
        first = last;
    }
    return words;
}

/* What a warpgroup holds; that of its first warp. */
static uint32_t held(const struct wsdbg_register_view *view, uint32_t first, uint32_t request, uint32_t others)
{
    const struct wsdbg_register_warp *warp = &view->warps[first];
    return warp->asks ? request : warp->held_least < others ? warp->held_least : others;
}

struct wsdbg_register_words wsdbg_register_say_largest(const struct wsdbg_register_view *view, uint32_t request,
                                                       uint32_t others)
{
    struct wsdbg_register_words words = {""};
    size_t used = 0;
    for (uint32_t first = 0; first < view->warp_count;) {
        const uint32_t count = held(view, first, request, others);
        uint32_t groups = 0;
        for (; first < view->warp_count && held(view, first, request, others) == count; first += WSDBG_VIEW_GROUP_WARPS)
            groups++;
        char times[16] = "";
        if (groups > 1)
            snprintf(times, sizeof times, "%u x ", groups);
        used +=
            (size_t)snprintf(words.text + used, sizeof words.text - used, "%s%s%u", used ? " + " : "", times, count);
    }
    return words;
}

void wsdbg_register_note_sites(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *findings,
                               const struct wsdbg_register_view *view, struct wsdbg_lint_finding *finding)
{
    for (uint32_t i = 0; i < view->site_count; i++) {
        const uint32_t warps = wsdbg_register_warps_of(view, i);
        if (warps)
            wsdbg_lint_note(findings, finding, wsdbg_lint_place_of_code(kernel, view->sites[i].instruction),
                            "setmaxnreg.%s %u: %s", view->sites[i].is_request ? "inc" : "dec", view->sites[i].count,
                            wsdbg_register_say_warps(warps).text);
    }
}

void wsdbg_register_note_threads(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *findings,
                                 const struct wsdbg_register_view *view, struct wsdbg_lint_finding *finding)
{
    wsdbg_lint_note(findings, finding, wsdbg_lint_place_of_kernel(),
                    "%u threads (%s), %u registers a thread at launch: a pool of %u registers", view->threads,
                    view->threads_are_assumed         ? "assumed: neither .maxntid nor .reqntid says how many"
                    : kernel->launch.threads_required ? ".reqntid"
                                                      : ".maxntid, from __launch_bounds__",
                    view->launch, view->launch * view->threads);
}
