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
    uint32_t count;          /* how often a walk of the stopped warp uses it */
    uint64_t turns;          /* bit n: the n-th of these, from 0, is where the warp was stopped */
    struct wsdbg_warp_set others;
    bool in_one_round; /* the others use it as often, and name the other number in a turn in which the warp was stopped
                        */
};

enum { TURNS_MAX = 64 };

static bool is_use(const struct wsdbg_step_row *step)
{
    return (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) && step->number_known &&
           step->number > 0;
}

static bool is_at(const struct wsdbg_snapshot *s, const struct wsdbg_step_row *step, uint32_t site)
{
    return step->access < s->access_count && s->accesses[step->access].site == site;
}

static const struct wsdbg_step_row *step_of(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk,
                                            uint32_t k)
{
    return &s->steps[walk->step_first + k];
}

static uint32_t count_uses(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk, uint32_t id)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < walk->step_count; k++)
        count += is_use(step_of(s, walk, k)) && step_of(s, walk, k)->address == id;
    return count;
}

static void note_turns(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk, uint32_t site,
                       struct uses *uses)
{
    uint32_t turn = 0;
    for (uint32_t k = 0; k < walk->step_count && turn < TURNS_MAX; k++) {
        const struct wsdbg_step_row *step = step_of(s, walk, k);
        if (!is_use(step) || step->address != uses->id)
            continue;
        if (is_at(s, step, site))
            uses->turns |= UINT64_C(1) << turn;
        turn++;
    }
    uses->count = count_uses(s, walk, uses->id);
}

/* What the warp names at the place where it was stopped; false: its walks do not tell, or it names several barriers
 * there. */
static bool find_own(const struct wsdbg_snapshot *s, const struct wsdbg_exception *e, struct uses *uses)
{
    bool any = false;
    for (size_t i = 0; i < s->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        const bool before = any;
        for (uint32_t k = 0; k < walk->step_count && walk->warp == e->warp && !walk->is_guessed; k++) {
            const struct wsdbg_step_row *step = step_of(s, walk, k);
            if (!is_use(step) || !is_at(s, step, e->site))
                continue;
            if (any && (step->address != uses->id || step->number != uses->own))
                return false;
            uses->id = step->address;
            uses->own = step->number;
            any = true;
        }
        if (any && !before)
            note_turns(s, walk, e->site, uses);
    }
    return any;
}

/* Reads a walk of another warp. */
static void find_other(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk, uint32_t warp,
                       struct uses *uses)
{
    const bool as_often = count_uses(s, walk, uses->id) == uses->count;
    uint32_t turn = 0;
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = step_of(s, walk, k);
        if (!is_use(step) || step->address != uses->id)
            continue;
        const bool same_turn = as_often && turn < TURNS_MAX && uses->turns >> turn & 1;
        turn++;
        if (step->number == uses->own || (uses->other && step->number != uses->other))
            continue;
        uses->other = step->number;
        uses->in_one_round |= same_turn;
        wsdbg_set_add(&uses->others, warp);
    }
}

/* Who else names another number there; the first one counts. */
static void find_others(const struct wsdbg_case *c, const struct wsdbg_exception *e, struct uses *uses)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    for (size_t i = 0; i < s->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        const uint32_t warp = wsdbg_case_local_warp(c, walk->warp);
        if (warp != WSDBG_NONE && walk->warp != e->warp && !walk->is_guessed &&
            s->warps[walk->warp].cta == s->warps[e->warp].cta)
            find_other(s, walk, warp, uses);
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
    struct wsdbg_finding *finding =
        uses.other ? wsdbg_case_find(c, WSDBG_CAUSE_NAMED_COUNT,
                                     uses.in_one_round ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE,
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
