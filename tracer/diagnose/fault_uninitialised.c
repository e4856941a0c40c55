/* fault_uninitialised.c - see fault_uninitialised.h.
 *
 * Reads: exceptions, walks.  Adds: BARRIER_NOT_INIT.
 *
 * A word that is no mbarrier may still look like one whose count is spent.  The walks tell: each thread of the CTA has
 * come past its initialisations, and others are made, but none at the place that the arrival names.  If some walk ends
 * early, or rests on a guess, that is only possible: a thread may initialise more behind the first meeting.
 */
#include "diagnose/fault_uninitialised.h"

#include "diagnose/code_case.h"
#include "diagnose/code_say.h"

enum { ILLEGAL_INSTRUCTION = 4, ARRIVE = 31 };

/* The initialisations of a CTA. */
struct inits {
    bool is_known;            /* all of them, up to where its threads meet */
    bool is_complete;         /* all of them: each walk goes to the kernel's end, and nothing is guessed */
    uint32_t count;           /* 0: none */
    uint32_t lowest, highest; /* places */
    bool is_there;            /* one is at the place that is asked for */
};

/* Whether the walk goes to the kernel's end, or past a meeting of threads: they initialise before they meet. */
static bool is_past_inits(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk)
{
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const uint8_t kind = s->steps[walk->step_first + k].kind;
        if (kind == WSDBG_ACCESS_NAMED_SYNC || kind == WSDBG_ACCESS_CLUSTER_WAIT)
            return true;
    }
    return walk->is_whole;
}

static struct inits inits_of(const struct wsdbg_snapshot *s, uint32_t cta, uint32_t place)
{
    struct inits inits = {.is_known = true, .is_complete = true, .lowest = UINT32_MAX};
    for (size_t i = 0; i < s->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        if (s->warps[walk->warp].cta != cta)
            continue;
        inits.is_known &= is_past_inits(s, walk);
        inits.is_complete &= walk->is_whole && !walk->is_guessed;
        for (uint32_t k = 0; k < walk->step_count; k++) {
            const struct wsdbg_step_row *step = &s->steps[walk->step_first + k];
            if (step->kind != WSDBG_ACCESS_INIT)
                continue;
            inits.count++;
            inits.lowest = step->address < inits.lowest ? step->address : inits.lowest;
            inits.highest = step->address > inits.highest ? step->address : inits.highest;
            inits.is_there |= step->address == place;
        }
    }
    return inits;
}

/* Whether each warp of the CTA has a walk. */
static bool are_all_walked(const struct wsdbg_snapshot *s, uint32_t cta)
{
    const struct wsdbg_cta *row = &s->ctas[cta];
    uint32_t walked = 0, last = WSDBG_NONE;
    for (size_t i = 0; i < s->walk_count; i++) {
        walked += s->warps[s->walks[i].warp].cta == cta && s->walks[i].warp != last;
        last = s->walks[i].warp;
    }
    return walked == row->warp_count;
}

static bool is_arrival_in_own_cta(const struct wsdbg_exception *e)
{
    return (e->code == ILLEGAL_INSTRUCTION || e->code == ARRIVE) && e->access < 32 &&
           WSDBG_KINDS_ARRIVAL >> e->access & 1 && !e->remote && e->barrier == WSDBG_NONE && e->in_shared &&
           e->address.known;
}

bool wsdbg_say_uninitialised(struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const uint32_t cta = s->warps[e->warp].cta, place = (uint32_t)e->address.value;
    if (!is_arrival_in_own_cta(e) || !are_all_walked(s, cta))
        return false;
    const struct inits inits = inits_of(s, cta, place);
    struct wsdbg_finding *finding =
        inits.is_known && inits.count && !inits.is_there
            ? wsdbg_case_find(c, WSDBG_CAUSE_BARRIER_NOT_INIT,
                              inits.is_complete ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, cta, WSDBG_NONE)
            : NULL;
    if (!finding)
        return false;
    finding->role = s->warps[e->warp].role;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s arrived%s on shared-memory address 0x%x, but no thread that was followed initialises an mbarrier there: "
        "%u are initialised, at 0x%x to 0x%x.",
        wsdbg_say_warp(c, wsdbg_case_local_warp(c, e->warp)).text, wsdbg_say_at_site(c, e->site).text, place,
        inits.count, inits.lowest, inits.highest);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise every stage (mbarrier.init, then fence.mbarrier_init), and synchronise all warps before "
                "its first use.");
    return true;
}
