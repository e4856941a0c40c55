/* protocol_repair.c - see protocol_repair.h. */
#include "protocol_repair.h"

#include <string.h>

struct attempt {
    const struct repairs *r;
    struct repair_place place;
};

static bool is_named(const struct step *step)
{
    return step->kind == STEP_NAMED_SYNC || step->kind == STEP_NAMED_ARRIVE;
}

static bool is_arrival(const struct step *step)
{
    return step->kind == STEP_ARRIVE || step->kind == STEP_ARRIVE_EXPECT;
}

static bool expects(const struct step *step)
{
    return step->kind == STEP_EXPECT || step->kind == STEP_ARRIVE_EXPECT;
}

static bool is_there(const struct attempt *a, const struct step *step)
{
    return a->place.any || (step->rank == a->place.cta && step->barrier == a->place.barrier);
}

static bool works(const struct attempt *a, const struct protocol *p)
{
    return search_always_finishes(a->r->search, p);
}

static bool insert(struct protocol *p, uint32_t warp, uint32_t at, struct step step)
{
    if (p->lengths[warp] == PROTOCOL_STEPS)
        return false;
    memmove(&p->steps[warp][at + 1], &p->steps[warp][at], (p->lengths[warp] - at) * sizeof step);
    p->steps[warp][at] = step;
    p->lengths[warp]++;
    return true;
}

static void drop(struct protocol *p, uint32_t warp, uint32_t at)
{
    p->lengths[warp]--;
    memmove(&p->steps[warp][at], &p->steps[warp][at + 1], (p->lengths[warp] - at) * sizeof(struct step));
}

/* Whether it helps to insert the step somewhere. */
static bool one_more(const struct attempt *a, struct step step)
{
    for (uint32_t w = 0; w < protocol_warps(a->r->p); w++)
        for (uint32_t at = 0; at <= a->r->p->lengths[w]; at++) {
            struct protocol changed = *a->r->p;
            if (insert(&changed, w, at, step) && works(a, &changed))
                return true;
        }
    return false;
}

static bool one_more_at(const struct attempt *a, enum step_kind kind)
{
    const struct protocol *p = a->r->p;
    for (uint8_t cta = 0; cta < p->ctas; cta++)
        for (uint8_t b = 0; b < PROTOCOL_FAMILIES * p->stages; b++) {
            const struct step step = {.kind = kind, .barrier = b, .rank = cta, .amount = 1};
            if (is_there(a, &step) && one_more(a, step))
                return true;
        }
    return false;
}

/* ---- a change of one step; false: it does not apply there ---- */

typedef bool change(struct protocol *p, uint32_t warp, uint32_t at);

static bool each_step(const struct attempt *a, change *make)
{
    const struct protocol *p = a->r->p;
    for (uint32_t w = 0; w < protocol_warps(p); w++)
        for (uint32_t at = 0; at < p->lengths[w]; at++) {
            struct protocol changed = *p;
            if (is_there(a, &p->steps[w][at]) && make(&changed, w, at) && works(a, &changed))
                return true;
        }
    return false;
}

static bool less_arrivals(struct protocol *p, uint32_t warp, uint32_t at)
{
    struct step *step = &p->steps[warp][at];
    if (!is_arrival(step))
        return false;
    if (step->kind == STEP_ARRIVE && step->amount > 1)
        step->amount--;
    else
        drop(p, warp, at);
    return true;
}

static bool only_expects(struct protocol *p, uint32_t warp, uint32_t at)
{
    struct step *step = &p->steps[warp][at];
    const bool applies = step->kind == STEP_ARRIVE_EXPECT;
    step->kind = applies ? STEP_EXPECT : step->kind;
    return applies;
}

static bool also_arrives(struct protocol *p, uint32_t warp, uint32_t at)
{
    struct step *step = &p->steps[warp][at];
    const bool applies = step->kind == STEP_EXPECT;
    step->kind = applies ? STEP_ARRIVE_EXPECT : step->kind;
    return applies;
}

static bool other_parity(struct protocol *p, uint32_t warp, uint32_t at)
{
    p->steps[warp][at].parity ^= 1;
    return p->steps[warp][at].kind == STEP_WAIT;
}

static bool other_parities(struct protocol *p, uint32_t warp, uint32_t at)
{
    const struct step first = p->steps[warp][at];
    for (uint32_t i = at; i < p->lengths[warp]; i++) {
        struct step *step = &p->steps[warp][i];
        if (step->kind == STEP_WAIT && step->barrier / p->stages == first.barrier / p->stages)
            step->parity ^= 1;
    }
    return first.kind == STEP_WAIT;
}

static bool more_bytes(struct protocol *p, uint32_t warp, uint32_t at)
{
    p->steps[warp][at].amount++;
    return expects(&p->steps[warp][at]);
}

static bool less_bytes(struct protocol *p, uint32_t warp, uint32_t at)
{
    struct step *step = &p->steps[warp][at];
    return expects(step) && step->amount-- > 0;
}

static bool no_copy(struct protocol *p, uint32_t warp, uint32_t at)
{
    const bool applies = p->steps[warp][at].kind == STEP_COPY;
    drop(p, warp, at);
    return applies;
}

static bool more_warps(struct protocol *p, uint32_t warp, uint32_t at)
{
    p->steps[warp][at].amount++;
    return is_named(&p->steps[warp][at]);
}

static bool less_warps(struct protocol *p, uint32_t warp, uint32_t at)
{
    struct step *step = &p->steps[warp][at];
    return is_named(step) && step->amount-- > 1;
}

static bool no_named(struct protocol *p, uint32_t warp, uint32_t at)
{
    const bool applies = is_named(&p->steps[warp][at]);
    drop(p, warp, at);
    return applies;
}

static bool other_id(struct protocol *p, uint32_t warp, uint32_t at)
{
    p->steps[warp][at].barrier ^= 1;
    return is_named(&p->steps[warp][at]);
}

static bool no_cluster(struct protocol *p, uint32_t warp, uint32_t at)
{
    const bool applies = p->steps[warp][at].kind == STEP_CLUSTER_SYNC;
    drop(p, warp, at);
    return applies;
}

/* ---- changes of more than one step ---- */

static bool other_order(const struct attempt *a)
{
    const struct protocol *p = a->r->p;
    for (uint32_t w = 0; w < protocol_warps(p); w++)
        for (uint32_t at = 0; at + 1 < p->lengths[w]; at++) {
            const struct step *first = &p->steps[w][at], *second = first + 1;
            struct protocol changed = *p;
            changed.steps[w][at] = *second;
            changed.steps[w][at + 1] = *first;
            if ((is_there(a, first) || is_there(a, second)) && works(a, &changed))
                return true;
        }
    return false;
}

static bool other_count(const struct attempt *a, int by)
{
    const struct protocol *p = a->r->p;
    for (uint32_t b = 0; b < PROTOCOL_FAMILIES * p->stages; b++) {
        struct protocol changed = *p;
        if ((!a->place.any && b != a->place.barrier) || p->counts[b] + by < 1)
            continue;
        changed.counts[b] = (uint8_t)(changed.counts[b] + by);
        if (works(a, &changed))
            return true;
        /* The same change in all stages: one loop initialises the whole array. */
        for (uint32_t other = 0; other < PROTOCOL_FAMILIES * p->stages; other++)
            if (other != b && other / p->stages == b / p->stages)
                changed.counts[other] = changed.counts[b];
        if (works(a, &changed))
            return true;
    }
    return false;
}

/* All steps on one named barrier get another number of warps. */
static bool other_named_count(const struct attempt *a)
{
    for (uint32_t id = 0; id < PROTOCOL_NAMED; id++)
        for (uint8_t amount = 1; amount <= a->r->p->warps; amount++) {
            struct protocol changed = *a->r->p;
            for (uint32_t w = 0; w < protocol_warps(&changed); w++)
                for (uint32_t i = 0; i < changed.lengths[w]; i++)
                    if (is_named(&changed.steps[w][i]) && changed.steps[w][i].barrier == id)
                        changed.steps[w][i].amount = amount;
            if ((a->place.any || a->place.barrier == id) && works(a, &changed))
                return true;
        }
    return false;
}

static bool one_more_named(const struct attempt *a)
{
    const struct protocol *p = a->r->p;
    for (uint8_t id = 0; id < PROTOCOL_NAMED; id++)
        for (uint8_t kind = STEP_NAMED_SYNC; kind <= STEP_NAMED_ARRIVE; kind++)
            for (uint8_t amount = 1; amount <= p->warps && (a->place.any || a->place.barrier == id); amount++)
                if (one_more(a, (struct step){.kind = kind, .barrier = id, .amount = amount}))
                    return true;
    return false;
}

static bool longer(const struct attempt *a)
{
    for (uint32_t w = 0; a->r->right && w < protocol_warps(a->r->p); w++) {
        struct protocol changed = *a->r->p;
        memcpy(changed.steps[w], a->r->right->steps[w], sizeof changed.steps[w]);
        changed.lengths[w] = a->r->right->lengths[w];
        if (a->r->p->lengths[w] < changed.lengths[w] && works(a, &changed))
            return true;
    }
    return false;
}

static bool shorter(const struct attempt *a)
{
    for (uint32_t w = 0; w < protocol_warps(a->r->p); w++) {
        struct protocol changed = *a->r->p;
        changed.lengths[w] = a->r->stands->at[w];
        if (!protocol_left(a->r->p, a->r->stands, w) && works(a, &changed))
            return true;
    }
    return false;
}

bool repair_exists(const struct repairs *r, uint32_t kinds, struct repair_place place)
{
    static const struct {
        uint32_t kind;
        change *make;
    } steps[] = {{REPAIR_DROP_ARRIVAL, less_arrivals},
                 {REPAIR_DROP_ARRIVAL, only_expects},
                 {REPAIR_EXPECT_ARRIVES, also_arrives},
                 {REPAIR_PARITY, other_parity},
                 {REPAIR_PARITY, other_parities},
                 {REPAIR_BYTES, more_bytes},
                 {REPAIR_BYTES, less_bytes},
                 {REPAIR_COPY, no_copy},
                 {REPAIR_NAMED_COUNT, more_warps},
                 {REPAIR_NAMED_COUNT, less_warps},
                 {REPAIR_NAMED_STEP, no_named},
                 {REPAIR_NAMED_ID, other_id},
                 {REPAIR_CLUSTER_STEP, no_cluster}};
    const struct attempt a = {r, place};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if ((kinds & steps[i].kind) && each_step(&a, steps[i].make))
            return true;
    return ((kinds & REPAIR_LOWER_COUNT) && other_count(&a, -1)) ||
           ((kinds & REPAIR_RAISE_COUNT) && other_count(&a, 1)) || ((kinds & REPAIR_LONGER) && longer(&a)) ||
           ((kinds & REPAIR_SHORTER) && shorter(&a)) || ((kinds & REPAIR_ORDER) && other_order(&a)) ||
           ((kinds & REPAIR_NAMED_COUNT) && other_named_count(&a)) ||
           ((kinds & REPAIR_ADD_ARRIVAL) && one_more_at(&a, STEP_ARRIVE)) ||
           ((kinds & REPAIR_COPY) && one_more_at(&a, STEP_COPY)) ||
           ((kinds & REPAIR_CLUSTER_STEP) && one_more(&a, (struct step){.kind = STEP_CLUSTER_SYNC})) ||
           ((kinds & REPAIR_NAMED_STEP) && one_more_named(&a));
}
