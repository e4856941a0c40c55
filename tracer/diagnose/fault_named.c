/* fault_named.c - see fault_named.h.
 *
 * Reads: exceptions, walks.  Adds: NAMED_COUNT.
 *
 * A use of a named barrier that names another number of threads than the uses before it in the same round ends the
 * context as an illegal instruction, reported at that use (measured on an H200, driver 580).
 */
#include "diagnose/fault_named.h"

#include "diagnose/code_say.h"

enum { ILLEGAL_INSTRUCTION = 4 };

/* Uses of one named barrier in a CTA. */
struct uses {
    uint32_t id, own, other; /* the numbers of threads; other: 0 = all name the same */
    struct wsdbg_warp_set others;
};

static bool is_use(const struct wsdbg_step_row *step)
{
    return (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) && step->number_known &&
           step->number > 0;
}

static bool is_at(const struct wsdbg_snapshot *s, const struct wsdbg_step_row *step, uint32_t site)
{
    return step->access < s->access_count && s->accesses[step->access].site == site;
}

/* What the warp names at the place where it was stopped; false: its walks do not tell, or it names several barriers
 * there. */
static bool find_own(const struct wsdbg_snapshot *s, const struct wsdbg_exception *e, struct uses *uses)
{
    bool any = false;
    for (size_t i = 0; i < s->walk_count; i++)
        for (uint32_t k = 0; k < s->walks[i].step_count && s->walks[i].warp == e->warp; k++) {
            const struct wsdbg_step_row *step = &s->steps[s->walks[i].step_first + k];
            if (!is_use(step) || !is_at(s, step, e->site))
                continue;
            if (any && (step->address != uses->id || step->number != uses->own))
                return false;
            uses->id = step->address;
            uses->own = step->number;
            any = true;
        }
    return any;
}

/* Who else names another number there; the first one counts. */
static void find_others(const struct wsdbg_case *c, const struct wsdbg_exception *e, struct uses *uses)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    for (size_t i = 0; i < s->walk_count; i++) {
        const uint32_t warp = wsdbg_case_local_warp(c, s->walks[i].warp);
        if (warp == WSDBG_NONE || s->warps[s->walks[i].warp].cta != s->warps[e->warp].cta)
            continue;
        for (uint32_t k = 0; k < s->walks[i].step_count; k++) {
            const struct wsdbg_step_row *step = &s->steps[s->walks[i].step_first + k];
            if (!is_use(step) || step->address != uses->id || step->number == uses->own ||
                (uses->other && step->number != uses->other))
                continue;
            uses->other = step->number;
            wsdbg_set_add(&uses->others, warp);
        }
    }
}

bool wsdbg_say_named_counts(struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    struct uses uses = {0};
    if (e->code != ILLEGAL_INSTRUCTION ||
        (e->access != WSDBG_ACCESS_NAMED_SYNC && e->access != WSDBG_ACCESS_NAMED_ARRIVE) || !find_own(s, e, &uses))
        return false;
    find_others(c, e, &uses);
    struct wsdbg_finding *finding = uses.other ? wsdbg_case_find(c, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY,
                                                                 s->warps[e->warp].cta, WSDBG_NONE)
                                               : NULL;
    if (!finding)
        return false;
    finding->role = s->warps[e->warp].role;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s names %u threads at named barrier %u%s, where %s name%s %u. The GPU stops a warp that names another "
        "number than the warps before it in the same round (illegal instruction).",
        wsdbg_say_warp(c, wsdbg_case_local_warp(c, e->warp)).text, uses.own, uses.id,
        wsdbg_say_at_site(c, e->site).text, wsdbg_say_warps(c, &uses.others).text,
        wsdbg_set_count(&uses.others) == 1 ? "s" : "", uses.other);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Name the same number of threads in every bar.sync and bar.arrive of named barrier %u.", uses.id);
    return true;
}
