/* rule_code_mates.c - a warp that does what the three others of its warpgroup do, but waits for other phases.
 *
 * Reads: walks, warp states; a replay that ends in the picture, if there is one.  Adds: PARITY_WRONG, PARITY_DRIFT.
 *
 * It compares walks with one another and needs no order of events: what such a warp leads to is a race.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* A warp, and its first wait that differs from those of its mates. */
struct odd_wait {
    uint32_t warp;                    /* local number */
    const struct wsdbg_step_row *own; /* NULL = its waits are like theirs */
    uint32_t step;                    /* of its walk */
    uint32_t parity;                  /* that its mates ask for */
    uint32_t turn;                    /* its waits on the barrier before */
};

static bool is_wait(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_WAIT && step->number_known && step->rank == WSDBG_STEP_OWN_RANK;
}

/* How often the first steps of a walk wait on the barrier of the last one of them. */
static uint32_t turn_of(const struct wsdbg_step_row *steps, uint32_t at)
{
    uint32_t turn = 0;
    for (uint32_t k = 0; k < at; k++)
        turn += steps[k].kind == WSDBG_ACCESS_WAIT && steps[k].address == steps[at].address;
    return turn;
}

static bool executes(const struct wsdbg_step_row *steps, uint32_t count, uint32_t access)
{
    for (uint32_t k = 0; k < count; k++)
        if (steps[k].access == access)
            return true;
    return false;
}

/* The first step of `a` from `at` on by an instruction that `b` executes, too.  One warp of a warpgroup may have more
 * to do than the others; and its lanes may wait for each other where those of the others need not. */
static uint32_t next_common(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *a,
                            const struct wsdbg_walk_row *b, uint32_t at)
{
    const struct wsdbg_step_row *own = &s->steps[a->step_first], *its = &s->steps[b->step_first];
    while (at < a->step_count &&
           (own[at].kind == WSDBG_STEP_TOGETHER ||
            (own[at].access != WSDBG_NONE && !executes(its, b->step_count, own[at].access))))
        at++;
    return at;
}

/* Whether two warps do the same by the instructions that both execute, but for the parities of waits.  *odd gets the first wait of the first warp that
 * differs. */
static bool are_alike(const struct wsdbg_case *c, uint32_t warp, uint32_t mate, struct odd_wait *odd)
{
    const struct wsdbg_walk_row *a = wsdbg_code_walk(c, warp), *b = wsdbg_code_walk(c, mate);
    *odd = (struct odd_wait){.warp = warp};
    if (!a || !b || a->is_guessed || b->is_guessed || a->is_whole != b->is_whole)
        return false;
    const struct wsdbg_step_row *own = &c->snapshot->steps[a->step_first], *its = &c->snapshot->steps[b->step_first];
    uint32_t i = next_common(c->snapshot, a, b, 0), k = next_common(c->snapshot, b, a, 0);
    for (; i < a->step_count && k < b->step_count;
         i = next_common(c->snapshot, a, b, i + 1), k = next_common(c->snapshot, b, a, k + 1)) {
        if (own[i].kind != its[k].kind || own[i].address != its[k].address || own[i].rank != its[k].rank)
            return false;
        if (own[i].number == its[k].number)
            continue;
        if (!is_wait(&own[i]) || !is_wait(&its[k]))
            return false;
        if (!odd->own)
            *odd = (struct odd_wait){warp, &own[i], i, its[k].number & 1, turn_of(own, i)};
    }
    return i >= a->step_count && k >= b->step_count;
}

/* Whether the warp differs from all three mates, and these are alike. */
static bool is_odd(const struct wsdbg_case *c, uint32_t warp, struct odd_wait *odd)
{
    uint32_t mates = 0, first = WSDBG_NONE;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct odd_wait between;
        if (w == warp || !wsdbg_case_are_mates(c, w, warp))
            continue;
        if (!are_alike(c, warp, w, odd) || !odd->own)
            return false;
        if (first != WSDBG_NONE && (!are_alike(c, first, w, &between) || between.own))
            return false;
        first = w;
        mates++;
    }
    return mates == WSDBG_GROUP_WARPS - 1;
}

static uint32_t barrier_of(const struct wsdbg_case *c, const struct odd_wait *odd)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    for (uint32_t b = 0; b < s->barrier_count; b++)
        if (s->barriers[b].kind == WSDBG_BARRIER_MBARRIER && s->barriers[b].cta == wsdbg_case_warp(c, odd->warp)->cta &&
            s->barriers[b].shared_offset.known && s->barriers[b].shared_offset.value == odd->own->address)
            return b;
    return WSDBG_NONE;
}

static void say(struct wsdbg_case *c, const struct odd_wait *odd, uint32_t barrier)
{
    const enum wsdbg_cause cause = odd->turn ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                                                    wsdbg_case_warp(c, odd->warp)->cta, barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, odd->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s asks for parity %u in its wait number %u on %s. The three other warps of its warpgroup, which do "
                "the same otherwise, ask for parity %u there. So its waits are out of step with theirs.",
                wsdbg_say_warp(c, odd->warp).text, odd->own->number & 1, odd->turn + 1,
                wsdbg_say_object(c, barrier).text, odd->parity);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the parity of waits on %s in the same way in all warps of the warpgroup.",
                wsdbg_say_family(c, barrier).text);
    wsdbg_tell_access(c, finding, odd->own->access, "is the wait");
    wsdbg_tell_wait(c, finding, odd->warp);
}

/* Whether the warp may have come to the wait: one that is still to come is not what the kernel hangs at. */
static bool may_have_come(struct wsdbg_case *c, const struct odd_wait *odd)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    for (uint32_t i = 0; replay && i < replay->agent_count; i++)
        if (&c->snapshot->walks[replay->agents[i].walk] == wsdbg_code_walk(c, odd->warp))
            return odd->step <= replay->agents[i].at;
    return wsdbg_code_may_have_taken(c, odd->warp, odd->own);
}

/* Whether some warp of the CTA waits on a stage of the barrier: else this is not what the kernel hangs at. */
static bool is_waited_on(const struct wsdbg_case *c, uint32_t barrier)
{
    const struct wsdbg_barrier *rows = c->snapshot->barriers;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->state == WSDBG_WARP_WAIT_MBARRIER && row->barrier != WSDBG_NONE && row->cta == rows[barrier].cta &&
            rows[row->barrier].id == rows[barrier].id)
            return true;
    }
    return false;
}

void wsdbg_rule_code_mates(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct odd_wait odd;
        const uint32_t barrier = is_odd(c, w, &odd) ? barrier_of(c, &odd) : WSDBG_NONE;
        if (barrier == WSDBG_NONE || !is_waited_on(c, barrier) || !may_have_come(c, &odd))
            continue;
        say(c, &odd, barrier);
        return;
    }
}
