/* rule_code_mates.c - a warp that waits by the instructions of the three others of its warpgroup, or of all others of
 * its CTA that execute these, but for other phases.
 *
 * Reads: walks, warp states; a replay that ends in the picture, if there is one.  Adds: PARITY_WRONG, PARITY_DRIFT.
 *
 * It compares walks with one another and needs no order of events: what such a warp leads to is a race.  The walk of
 * that warp may end before its kernel does: what it loads behind a wait that ends too early is not known.
 */
#include <ctype.h>
#include <stdlib.h>

#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* With whom a warp is compared. */
enum peers { OF_WARPGROUP, OF_INSTRUCTION, PEERS_KINDS };

/* A warp, and its first wait that differs from those of its peers. */
struct odd_wait {
    uint32_t warp;                    /* local number */
    const struct wsdbg_step_row *own; /* NULL = its waits are like theirs */
    uint32_t step;                    /* of its walk */
    uint32_t parity;                  /* that its peers ask for */
    uint32_t turn;                    /* its waits on the barrier before */
    enum peers kind;
    struct wsdbg_warp_set peers;
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

enum { BY_FIRST = 1, BY_SECOND = 2, BY_BOTH = 3 };

/* Two walks, and by access which of them executes it. */
struct two_walks {
    const struct wsdbg_step_row *steps[2];
    uint32_t counts[2];
    uint8_t *executes;
};

static bool begin_walks(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *a, const struct wsdbg_walk_row *b,
                        struct two_walks *two)
{
    *two = (struct two_walks){.steps = {&s->steps[a->step_first], &s->steps[b->step_first]},
                              .counts = {a->step_count, b->step_count},
                              .executes = calloc(s->access_count + 1, sizeof *two->executes)};
    for (unsigned side = 0; side < 2 && two->executes; side++)
        for (uint32_t k = 0; k < two->counts[side]; k++)
            if (two->steps[side][k].access < s->access_count)
                two->executes[two->steps[side][k].access] |= side ? BY_SECOND : BY_FIRST;
    return two->executes;
}

/* The first step of a walk from `at` on by an instruction that the other one executes, too.  One warp of a warpgroup
 * may have more to do than the others; and its lanes may wait for each other where those of the others need not. */
static uint32_t next_common(const struct two_walks *two, unsigned side, uint32_t at)
{
    const struct wsdbg_step_row *steps = two->steps[side];
    while (at < two->counts[side] && (steps[at].kind == WSDBG_STEP_TOGETHER ||
                                      (steps[at].access != WSDBG_NONE && two->executes[steps[at].access] != BY_BOTH)))
        at++;
    return at;
}

/* Compares the common steps.  *odd gets the first wait of the first walk that names another parity than the second
 * one's, in the same turn on the same barrier.  False: something else differs.  is_open: how the first walk goes on
 * behind its end is not known. */
static bool compare(const struct two_walks *two, bool is_open, struct odd_wait *odd)
{
    const struct wsdbg_step_row *own = two->steps[0], *its = two->steps[1];
    uint32_t i = next_common(two, 0, 0), k = next_common(two, 1, 0);
    for (; i < two->counts[0] && k < two->counts[1]; i = next_common(two, 0, i + 1), k = next_common(two, 1, k + 1)) {
        if (own[i].kind != its[k].kind || own[i].address != its[k].address || own[i].rank != its[k].rank)
            return false;
        if (own[i].number == its[k].number)
            continue;
        if (!is_wait(&own[i]) || !is_wait(&its[k]))
            return false;
        if (odd->own)
            continue;
        odd->own = &own[i];
        odd->step = i;
        odd->parity = its[k].number & 1;
        odd->turn = turn_of(own, i);
        if (odd->turn != turn_of(its, k))
            return false;
    }
    return i >= two->counts[0] && (is_open || k >= two->counts[1]);
}

/* Whether the second walk has a step of its own on the barrier of the odd wait: then the two may be its two sides. */
static bool is_of_other_side(const struct two_walks *two, const struct odd_wait *odd)
{
    for (uint32_t k = 0; odd->own && k < two->counts[1]; k++) {
        const struct wsdbg_step_row *its = &two->steps[1][k];
        if (its->kind < 32 && wsdbg_is_mbarrier_access(its->kind) && its->address == odd->own->address &&
            its->access != WSDBG_NONE && two->executes[its->access] != BY_BOTH)
            return true;
    }
    return false;
}

/* Whether the first walk waits for other threads before the odd wait, by an instruction of its own: then it may be
 * meant to take part only from a later round on. */
static bool may_begin_later(const struct two_walks *two, const struct odd_wait *odd)
{
    for (uint32_t k = 0; odd->own && k < odd->step; k++) {
        const struct wsdbg_step_row *step = &two->steps[0][k];
        const bool waits = step->kind == WSDBG_ACCESS_WAIT || step->kind == WSDBG_ACCESS_NAMED_SYNC ||
                           step->kind == WSDBG_ACCESS_CLUSTER_WAIT;
        if (waits && step->access != WSDBG_NONE && two->executes[step->access] != BY_BOTH)
            return true;
    }
    return false;
}

/* Whether two warps do the same by the instructions that both execute, but for the parities of waits.  Of the first one
 * that holds as far as its walk is known. */
static bool are_alike(struct wsdbg_case *c, uint32_t warp, uint32_t mate, struct odd_wait *odd)
{
    const struct wsdbg_walk_row *a = wsdbg_code_walk(c, warp), *b = wsdbg_code_walk(c, mate);
    struct two_walks two = {.executes = NULL};
    odd->own = NULL;
    if (!a || !b || a->is_guessed || b->is_guessed || (a->is_whole && !b->is_whole))
        return false;
    if (!begin_walks(c->snapshot, a, b, &two)) {
        c->no_memory = true;
        return false;
    }
    const bool alike =
        compare(&two, !a->is_whole && b->is_whole, odd) && !is_of_other_side(&two, odd) && !may_begin_later(&two, odd);
    free(two.executes);
    return alike;
}

/* Whether two warps of a CTA wait for mbarriers by some common instruction. */
static bool share_a_wait(struct wsdbg_case *c, uint32_t warp, uint32_t other)
{
    const struct wsdbg_walk_row *a = wsdbg_code_walk(c, warp), *b = wsdbg_code_walk(c, other);
    struct two_walks two = {.executes = NULL};
    bool any = false;
    if (!a || !b || wsdbg_case_warp(c, warp)->cta != wsdbg_case_warp(c, other)->cta)
        return false;
    if (!begin_walks(c->snapshot, a, b, &two)) {
        c->no_memory = true;
        return false;
    }
    for (uint32_t k = 0; k < two.counts[0] && !any; k++)
        any = is_wait(&two.steps[0][k]) && two.steps[0][k].access < c->snapshot->access_count &&
              two.executes[two.steps[0][k].access] == BY_BOTH;
    free(two.executes);
    return any;
}

static bool is_peer(struct wsdbg_case *c, enum peers kind, uint32_t warp, uint32_t other)
{
    return other != warp &&
           (kind == OF_WARPGROUP ? wsdbg_case_are_mates(c, other, warp) : share_a_wait(c, warp, other));
}

/* Whether the warp differs from all its peers, and these are alike: three others at least. */
static bool is_odd(struct wsdbg_case *c, enum peers kind, uint32_t warp, struct odd_wait *odd)
{
    uint32_t first = WSDBG_NONE;
    *odd = (struct odd_wait){.warp = warp, .kind = kind};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct odd_wait between = {.warp = first};
        if (!is_peer(c, kind, warp, w))
            continue;
        if (!are_alike(c, warp, w, odd) || !odd->own)
            return false;
        if (first != WSDBG_NONE && (!are_alike(c, first, w, &between) || between.own))
            return false;
        first = w;
        wsdbg_set_add(&odd->peers, w);
    }
    return kind == OF_WARPGROUP ? wsdbg_set_count(&odd->peers) == WSDBG_GROUP_WARPS - 1
                                : wsdbg_set_count(&odd->peers) >= WSDBG_GROUP_WARPS - 1;
}

static void say(struct wsdbg_case *c, const struct odd_wait *odd, uint32_t barrier)
{
    const enum wsdbg_cause cause = odd->turn ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                                                    wsdbg_case_warp(c, odd->warp)->cta, barrier);
    if (!finding)
        return;
    char peers[160];
    const struct wsdbg_phrase others = wsdbg_say_warps(c, &odd->peers);
    if (odd->kind == OF_WARPGROUP)
        wsdbg_print(peers, sizeof peers, "The three other warps of its warpgroup");
    else
        wsdbg_print(peers, sizeof peers, "%c%.150s", toupper((unsigned char)others.text[0]), others.text + 1);
    finding->role = wsdbg_case_warp(c, odd->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s asks for parity %u in its wait number %u on %s. %s, which wait by the same instructions, ask for "
                "parity %u there. So its waits are out of step with theirs.",
                wsdbg_say_warp(c, odd->warp).text, odd->own->number & 1, odd->turn + 1,
                wsdbg_say_object(c, barrier).text, peers, odd->parity);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the parity of waits on %s in the same way in all warps that share them.",
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

/* True: something is said. */
static bool judge(struct wsdbg_case *c, enum peers kind, uint32_t warp)
{
    struct odd_wait odd;
    const uint32_t barrier = is_odd(c, kind, warp, &odd)
                                 ? wsdbg_case_mbarrier_at(c, wsdbg_case_warp(c, warp)->cta, odd.own->address)
                                 : WSDBG_NONE;
    if (barrier == WSDBG_NONE || c->no_memory || !wsdbg_code_is_waited_on(c, barrier) || !may_have_come(c, &odd))
        return false;
    say(c, &odd, barrier);
    return true;
}

void wsdbg_rule_code_mates(struct wsdbg_case *c)
{
    for (enum peers kind = OF_WARPGROUP; kind < PEERS_KINDS; kind++)
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (judge(c, kind, w))
                return;
}
