/* not_exited.c - see not_exited.h.
 *
 * Reads: barrier words, walks.  Writes: findings.
 */
#include "diagnose/not_exited.h"

#include "diagnose/code_say.h"

enum { STAGES_LEAST = 2 };

/* ---- a count unlike those of other stages ---- */

/* How many arrivals all other stages of the barrier in the CTA take; 0: they do not agree, or there are too few. */
static uint32_t count_of_others(const struct wsdbg_case *c, uint32_t barrier)
{
    const struct wsdbg_barrier *rows = c->snapshot->barriers;
    uint32_t count = 0, stages = 0;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        struct wsdbg_barrier_word word;
        if (b == barrier || rows[b].cta != rows[barrier].cta || rows[b].id != rows[barrier].id ||
            !wsdbg_word_of(c, b, &word))
            continue;
        if (stages++ > 0 && word.expected != count)
            return 0;
        count = word.expected;
    }
    return stages >= STAGES_LEAST ? count : 0;
}

bool wsdbg_not_exited_count(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const uint32_t others = count_of_others(c, missing->word.barrier);
    if (others == 0 || missing->word.expected <= others || missing->made != others)
        return false;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_SHORT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return true;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, which has got %u of %u arrivals. All its other stages are initialised for %u, and "
                "as many were made here, so this stage is initialised for too many.",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text, missing->made, missing->word.expected, others);
    wsdbg_print(finding->fix, sizeof finding->fix, "Initialise every stage of %s with the same count (%u).",
                wsdbg_say_family(c, missing->word.barrier).text, others);
    return true;
}

/* ---- a phase that has passed ---- */

/* What the walks of a CTA's warps do with one of its barriers, up to the kernel's end. */
struct rounds_walked {
    uint64_t arrivals; /* of the CTA's own threads */
    uint32_t phases;   /* that the waiting warp waits for */
    bool is_whole;     /* all walks are, rest on nothing that may have been other before, and wait alike */
};

/* How many phases a walk waits for.  A first wait for parity 1 ends at once, and one that repeats the parity of the
 * wait before it is for the same phase. */
static uint32_t phases_waited(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset)
{
    uint32_t phases = 0, parity = 1;
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        if (step->kind != WSDBG_ACCESS_WAIT || step->address != offset || (step->number & 1) == parity)
            continue;
        parity = step->number & 1;
        phases++;
    }
    return phases;
}

/* Whether the walk only arrives on the barrier and waits for its parities. */
static bool is_plain(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset)
{
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        const bool is_odd = step->kind == WSDBG_ACCESS_DROP || step->kind == WSDBG_ACCESS_INVALIDATE ||
                            step->kind == WSDBG_ACCESS_COPY_ARRIVE ||
                            (step->kind == WSDBG_ACCESS_WAIT && !step->number_known);
        if (wsdbg_is_mbarrier_access(step->kind) && step->address == offset && is_odd)
            return false;
    }
    return true;
}

static uint64_t arrivals_made(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset)
{
    const uint32_t lanes = (uint32_t)__builtin_popcount(walk->lanes);
    const uint32_t own = c->snapshot->ctas[c->snapshot->warps[walk->warp].cta].cluster_rank;
    uint64_t arrivals = 0;
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        if (step->address != offset || (step->rank != WSDBG_STEP_OWN_RANK && step->rank != own))
            continue;
        if (step->kind == WSDBG_ACCESS_ARRIVE)
            arrivals += (uint64_t)step->number * lanes;
        else if (step->kind == WSDBG_ACCESS_ARRIVE_EXPECT)
            arrivals += lanes;
    }
    return arrivals;
}

/* The step of a walk that waits on the barrier, from this step on; the walk's count of steps if none does. */
static uint32_t next_wait(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset, uint32_t from)
{
    for (; from < walk->step_count; from++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + from];
        if (step->kind == WSDBG_ACCESS_WAIT && step->address == offset)
            return from;
    }
    return from;
}

/* Whether two walks wait on the barrier for the same parities, or one of them does not wait on it.  Warpgroups that do
 * not may take turns: each then passes over the phases of the others. */
static bool wait_alike(const struct wsdbg_case *c, const struct wsdbg_walk_row *a, const struct wsdbg_walk_row *b,
                       uint32_t offset)
{
    const struct wsdbg_step_row *steps = c->snapshot->steps;
    uint32_t i = next_wait(c, a, offset, 0), k = next_wait(c, b, offset, 0);
    if (i == a->step_count || k == b->step_count)
        return true;
    while (i < a->step_count && k < b->step_count &&
           !((steps[a->step_first + i].number ^ steps[b->step_first + k].number) & 1)) {
        i = next_wait(c, a, offset, i + 1);
        k = next_wait(c, b, offset, k + 1);
    }
    return i == a->step_count && k == b->step_count;
}

/* Of the waiting warp's walks, the one that waits for the most phases of the barrier; NULL = none waits on it. */
static const struct wsdbg_walk_row *walk_of_waiter(const struct wsdbg_case *c,
                                                   const struct wsdbg_missing_arrivals *missing, uint32_t offset)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const struct wsdbg_walk_row *most = NULL;
    for (size_t i = 0; i < s->walk_count; i++)
        if (s->walks[i].warp == c->warps[missing->warp] &&
            phases_waited(c, &s->walks[i], offset) > (most ? phases_waited(c, most, offset) : 0))
            most = &s->walks[i];
    return most;
}

static struct rounds_walked add_up(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const struct wsdbg_barrier *barrier = &s->barriers[missing->word.barrier];
    const uint32_t offset = (uint32_t)barrier->shared_offset.value;
    const struct wsdbg_walk_row *waiter = walk_of_waiter(c, missing, offset);
    struct rounds_walked sum = {.is_whole = barrier->shared_offset.known && waiter,
                                .phases = waiter ? phases_waited(c, waiter, offset) : 0};
    for (size_t i = 0; i < s->walk_count && sum.is_whole; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        if (s->warps[walk->warp].cta != barrier->cta)
            continue;
        sum.is_whole = walk->is_whole && !walk->is_guessed && !walk->has_loaded && is_plain(c, walk, offset) &&
                       wait_alike(c, waiter, walk, offset);
        sum.arrivals += arrivals_made(c, walk, offset);
    }
    return sum;
}

/* Whether the walk begins to wait on the barrier with a wait that ends at once, and hands over what it takes in each
 * round: it does more behind its last wait there than wait. */
static bool has_round_more(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset)
{
    const struct wsdbg_step_row *steps = c->snapshot->steps + walk->step_first;
    const uint32_t first = next_wait(c, walk, offset, 0);
    bool hands_over = false;
    for (uint32_t k = first; k < walk->step_count; k++)
        if (steps[k].kind == WSDBG_ACCESS_WAIT && steps[k].address == offset)
            hands_over = false;
        else if (steps[k].kind != WSDBG_ACCESS_WAIT && wsdbg_is_mbarrier_access(steps[k].kind))
            hands_over = true;
    return hands_over && steps[first].number & 1;
}

bool wsdbg_walks_make_all(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct rounds_walked sum = add_up(c, missing);
    const uint32_t offset = (uint32_t)c->snapshot->barriers[missing->word.barrier].shared_offset.value;
    if (!sum.is_whole || sum.phases == 0)
        return false;
    const uint32_t rounds = sum.phases + has_round_more(c, walk_of_waiter(c, missing, offset), offset);
    return sum.arrivals >= (uint64_t)rounds * missing->word.expected;
}

bool wsdbg_not_exited_drift(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct rounds_walked sum = add_up(c, missing);
    const uint32_t expected = missing->word.expected;
    if (!sum.is_whole || sum.phases == 0 || expected == 0)
        return false;
    /* The word is what all these arrivals lead to. */
    const uint64_t completed = sum.arrivals / expected;
    if (completed < sum.phases || (completed & 1) != missing->word.phase || sum.arrivals % expected != missing->made)
        return false;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_PARITY_DRIFT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return true;
    finding->role = wsdbg_case_warp(c, missing->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for a phase that has passed. The warps that arrive on it completed %llu phase%s, "
                "while the warp waits for %u, and exited: they ran ahead of its waits.",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text, (unsigned long long)completed, completed == 1 ? "" : "s",
                sum.phases);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Check what holds back the warps that arrive on %s until each phase was waited for: an arrival too "
                "many on the barrier that they wait for, or a wrong parity, lets them through too early.",
                wsdbg_say_family(c, missing->word.barrier).text);
    wsdbg_evidence_text(c, finding,
                        "followed from its start to its end, the kernel makes %llu arrivals on it; %u each "
                        "complete a phase",
                        (unsigned long long)sum.arrivals, expected);
    return true;
}
