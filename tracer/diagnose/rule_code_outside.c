/* rule_code_outside.c - waits for something that no barrier of the CTA or cluster brings: a word in memory that is
 * polled, the grid before.
 *
 * Reads: parts, all grids' warps.  Adds: GLOBAL_SPIN, NOT_RESIDENT, GRID_DEPENDENCY.
 *
 * Plain stores are not followed, so that nobody writes the word is known only where nothing on the GPU runs; the host
 * or another GPU may still do it.
 */
#include "diagnose/code_graph.h"
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

static struct wsdbg_warp_set warps_in(const struct wsdbg_case *c, enum wsdbg_warp_state state)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == state)
            wsdbg_set_add(&set, w);
    return set;
}

/* The lanes that poll; where others wait for a barrier the warp's own row is theirs. */
static const struct wsdbg_part *polling_part(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state == WSDBG_WARP_SPIN_GLOBAL)
            return &parts[i];
    return NULL;
}

static struct wsdbg_warp_set warps_that_poll(const struct wsdbg_case *c)
{
    struct wsdbg_warp_set set = warps_in(c, WSDBG_WARP_SPIN_GLOBAL);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_warp_state_waits(wsdbg_case_warp(c, w)->state) && polling_part(c, w))
            wsdbg_set_add(&set, w);
    return set;
}

static uint32_t site_of_poll(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_part *part = polling_part(c, warp);
    return part ? part->site : wsdbg_case_warp(c, warp)->site;
}

static uint32_t word_polled(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_part *part = polling_part(c, warp);
    return part ? part->barrier : wsdbg_case_warp(c, warp)->barrier;
}

/* "4 bytes at 0x7f… (0 there)" as far as known. */
static struct wsdbg_phrase say_word(const struct wsdbg_case *c, uint32_t warp)
{
    const bool shared = wsdbg_code_polls_shared(c->snapshot, site_of_poll(c, warp));
    struct wsdbg_phrase phrase = {0};
    const struct wsdbg_part *part = polling_part(c, warp);
    wsdbg_print(phrase.text, sizeof phrase.text, "a word in %smemory", shared ? "shared " : "");
    if (!part || !part->address.known)
        return phrase;
    char width[32] = "memory", value[48] = "";
    const char *space = shared ? " of shared memory" : "";
    if (part->width_bytes.known)
        wsdbg_print(width, sizeof width, "%u bytes", part->width_bytes.value);
    if (part->value.known)
        wsdbg_print(value, sizeof value, " (0x%llx there)", (unsigned long long)part->value.value);
    wsdbg_print(phrase.text, sizeof phrase.text, "%s%s at 0x%llx%s", width, space,
                (unsigned long long)part->address.value, value);
    return phrase;
}

/* The CTAs seen are the first ones of the grid: those that are not were not launched yet, rather than over. */
static bool later_ctas_wait(const struct wsdbg_case *c)
{
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    const uint32_t line[3] = {grid->cta_total, 1, 1};
    const uint32_t *size = grid->launch < c->snapshot->launch_count ? c->snapshot->launches[grid->launch].grid : line;
    if (wsdbg_code_ctas_unseen(c) == 0)
        return false;
    for (uint32_t i = 0; i < grid->cta_count; i++) {
        const struct wsdbg_cta *cta = &c->snapshot->ctas[grid->cta_first + i];
        const uint64_t number = ((uint64_t)cta->z * size[1] + cta->y) * size[0] + cta->x;
        if (number >= grid->cta_count)
            return false;
    }
    return true;
}

static enum wsdbg_confidence confidence_of_wait(const struct wsdbg_case *c)
{
    return c->still && wsdbg_code_nobody_runs(c) ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
}

static enum wsdbg_confidence confidence_of_spin(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(pollers, w) && wsdbg_code_polls_system(c->snapshot, site_of_poll(c, w)))
            return WSDBG_CONFIDENCE_POSSIBLE;
    return confidence_of_wait(c);
}

static void say_not_resident(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const uint32_t first = wsdbg_first_of(pollers);
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_NOT_RESIDENT, confidence_of_spin(c, pollers),
                                                    wsdbg_case_warp(c, first)->cta, word_polled(c, first));
    if (!finding)
        return;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s poll%s %s%s while only %u of the grid's %u CTAs are on the GPU: if one of the others is to write it, "
        "it cannot start before these end.",
        wsdbg_say_warps(c, pollers).text, wsdbg_set_count(pollers) == 1 ? "s" : "", say_word(c, first).text,
        wsdbg_say_at_site(c, site_of_poll(c, first)).text, grid->cta_count, grid->cta_total);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Launch no more CTAs than fit at once (a cooperative launch checks it), or let no CTA wait for one that "
        "comes after it.");
    wsdbg_tell_waits(c, finding, pollers);
}

/* Who could still write the word that a warp polls, as a part of a sentence. */
static const char *say_writers(const struct wsdbg_case *c, uint32_t warp)
{
    if (!wsdbg_code_nobody_runs(c))
        return "; a warp that runs may still write it";
    if (wsdbg_code_polls_shared(c->snapshot, site_of_poll(c, warp)))
        return ", and no warp that was seen can still write it: all wait or have exited";
    if (wsdbg_code_polls_system(c->snapshot, site_of_poll(c, warp)))
        return ", which nobody on the GPU that was seen can still write; it is read as one that the host or another "
               "GPU "
               "may write, so this may be meant";
    return ", and no warp on the GPU that was seen can still write it: all wait or have exited; only the host or "
           "another "
           "GPU could";
}

static void say_spin(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers)
{
    const uint32_t first = wsdbg_first_of(pollers);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_GLOBAL_SPIN, confidence_of_spin(c, pollers),
                                                    wsdbg_case_warp(c, first)->cta, word_polled(c, first));
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence, "%s poll%s %s%s%s.", wsdbg_say_warps(c, pollers).text,
                wsdbg_set_count(pollers) == 1 ? "s" : "", say_word(c, first).text,
                wsdbg_say_at_site(c, site_of_poll(c, first)).text, say_writers(c, first));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Find who should write that word: a path that skips the write, a lock that is never released, or %s.",
                wsdbg_code_polls_shared(c->snapshot, site_of_poll(c, first))
                    ? "warps that change it at the same time without an atomic"
                    : "a kernel or host thread that waits for this kernel itself");
    wsdbg_tell_waits(c, finding, pollers);
}

/* ---- the grid before ---- */

/* Has left, or polls what this GPU should write. */
static bool polls_or_left(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp)
{
    return warp->state == WSDBG_WARP_EXITED ||
           (warp->state == WSDBG_WARP_SPIN_GLOBAL && !wsdbg_code_polls_system(snapshot, warp->site));
}

/* Another running grid of the context, and whether all of it that is seen polls or has left. */
static uint32_t grid_before(const struct wsdbg_case *c, bool *polls)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    for (uint32_t g = 0; g < snapshot->grid_count; g++) {
        const struct wsdbg_grid *grid = &snapshot->grids[g];
        if (g == c->grid || !grid->running || grid->context != snapshot->grids[c->grid].context)
            continue;
        *polls = true;
        for (size_t w = 0; w < snapshot->warp_count; w++)
            if (snapshot->warps[w].cta < snapshot->cta_count && snapshot->ctas[snapshot->warps[w].cta].grid == g)
                *polls = *polls && polls_or_left(snapshot, &snapshot->warps[w]);
        return g;
    }
    return WSDBG_NONE;
}

static void say_dependency(struct wsdbg_case *c, const struct wsdbg_warp_set *waiting)
{
    const uint32_t first = wsdbg_first_of(waiting);
    bool polls = false;
    const uint32_t before = grid_before(c, &polls);
    const char *name = before == WSDBG_NONE ? NULL : wsdbg_snapshot_grid_name(c->snapshot, &c->snapshot->grids[before]);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_GRID_DEPENDENCY, polls ? confidence_of_wait(c) : WSDBG_CONFIDENCE_POSSIBLE,
                        wsdbg_case_warp(c, first)->cta, wsdbg_case_warp(c, first)->barrier);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s%s for the grid before this one (griddepcontrol.wait)%s%.200s%s.",
                wsdbg_say_warps(c, waiting).text, wsdbg_set_count(waiting) == 1 ? "s" : "", wsdbg_say_at(c, first).text,
                name ? ": " : "", name ? name : "",
                before == WSDBG_NONE ? ", which was not seen on the GPU"
                : polls              ? ", which polls memory itself, perhaps for what this grid would write"
                                     : ", which has not ended");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "A grid may never wait for one that is launched as its dependent; let the grid before end, or signal "
                "before griddepcontrol.wait.");
    wsdbg_tell_waits(c, finding, waiting);
}

void wsdbg_rule_code_outside(struct wsdbg_case *c)
{
    const struct wsdbg_warp_set pollers = warps_that_poll(c);
    const struct wsdbg_warp_set dependent = warps_in(c, WSDBG_WARP_WAIT_GRID_DEPENDENCY);
    if (wsdbg_set_count(&dependent) > 0)
        say_dependency(c, &dependent);
    if (wsdbg_set_count(&pollers) == 0)
        return;
    if (later_ctas_wait(c))
        say_not_resident(c, &pollers);
    else
        say_spin(c, &pollers);
}
