/* protocol_make.c - random protocols: pipelines of a producer and consumers with or without a defect, and steps without
 * any sense.  See protocol.h.
 *
 * Reads: a number.  Writes: struct protocol; protocol_print writes it on stderr.
 */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "protocol.h"

enum { FULL, EMPTY };
enum { PRODUCER, CONSUMER, OTHER };
#define COUNT_MAX 3u /* most arrivals of a wild barrier */

uint32_t protocol_random(uint64_t *state, uint32_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)((z ^ z >> 31) % below);
}

static void add(struct protocol *p, uint32_t warp, struct step step)
{
    must(p->lengths[warp] < PROTOCOL_STEPS);
    p->steps[warp][p->lengths[warp]++] = step;
}

/* ---- a pipeline that is right ---- */

struct shape {
    uint32_t consumers, iterations;
    bool copies; /* the producer's copies fill a stage; else its arrival does */
    bool shared; /* consumers release the stage in all CTAs */
    bool at_end; /* warps gather when they are done */
    bool at_first;
};

static void produce(struct protocol *p, const struct shape *shape, uint32_t warp, uint8_t cta)
{
    for (uint8_t i = 0; i < shape->iterations; i++) {
        const uint8_t stage = (uint8_t)(i % p->stages), turn = (uint8_t)(i / p->stages);
        const uint8_t full = (uint8_t)(FULL * p->stages + stage), empty = (uint8_t)(EMPTY * p->stages + stage);
        add(p, warp, (struct step){STEP_WAIT, empty, (uint8_t)((turn & 1) ^ 1), cta, 0, i});
        if (shape->copies) {
            add(p, warp, (struct step){STEP_ARRIVE_EXPECT, full, 0, cta, 1, i});
            add(p, warp, (struct step){STEP_COPY, full, 0, cta, 1, i});
        } else {
            add(p, warp, (struct step){STEP_ARRIVE, full, 0, cta, 1, i});
        }
    }
}

static void consume(struct protocol *p, const struct shape *shape, uint32_t warp, uint8_t cta)
{
    for (uint8_t i = 0; i < shape->iterations; i++) {
        const uint8_t stage = (uint8_t)(i % p->stages), turn = (uint8_t)(i / p->stages);
        const uint8_t full = (uint8_t)(FULL * p->stages + stage), empty = (uint8_t)(EMPTY * p->stages + stage);
        add(p, warp, (struct step){STEP_WAIT, full, turn & 1, cta, 0, i});
        for (uint8_t rank = 0; rank < p->ctas; rank++)
            if (shape->shared || rank == cta)
                add(p, warp, (struct step){STEP_ARRIVE, empty, 0, rank, 1, i});
    }
}

static void make_pipeline(struct protocol *p, uint64_t *random)
{
    struct shape shape = {.consumers = 1 + protocol_random(random, 2),
                          .iterations = 2 + protocol_random(random, 3),
                          .copies = protocol_random(random, 3) > 0,
                          .at_end = protocol_random(random, 3) == 0,
                          .at_first = protocol_random(random, 4) == 0};
    p->ctas = 1 + (protocol_random(random, 3) == 0);
    p->stages = 1 + protocol_random(random, 2);
    shape.consumers = p->ctas > 1 ? 1 : shape.consumers;
    shape.shared = p->ctas > 1 && protocol_random(random, 2) == 0;
    p->warps = 1 + shape.consumers;
    for (uint32_t s = 0; s < p->stages; s++) {
        p->counts[FULL * p->stages + s] = 1;
        p->counts[EMPTY * p->stages + s] = (uint8_t)(shape.consumers * (shape.shared ? p->ctas : 1));
    }
    p->families[FULL] = (struct family){false, 1 << PRODUCER, 1 << CONSUMER};
    p->families[EMPTY] = (struct family){true, 1 << CONSUMER, 1 << PRODUCER};
    const struct step gather = {STEP_NAMED_SYNC, 0, 0, 0, (uint8_t)p->warps, 0};
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        const uint8_t cta = (uint8_t)(w / p->warps);
        p->roles[w] = w % p->warps == 0 ? PRODUCER : CONSUMER;
        if (shape.at_first)
            add(p, w, gather);
        if (p->roles[w] == PRODUCER)
            produce(p, &shape, w, cta);
        else
            consume(p, &shape, w, cta);
        if (shape.at_end && p->ctas == 1)
            add(p, w, gather);
        if (p->ctas > 1 && (shape.shared || shape.at_end))
            add(p, w, (struct step){.kind = STEP_CLUSTER_SYNC});
    }
}

/* ---- defects ---- */

static void drop(struct protocol *p, uint32_t warp, uint32_t at)
{
    p->lengths[warp]--;
    memmove(&p->steps[warp][at], &p->steps[warp][at + 1], (p->lengths[warp] - at) * sizeof(struct step));
}

static void repeat(struct protocol *p, uint32_t warp, uint32_t at)
{
    if (p->lengths[warp] == PROTOCOL_STEPS)
        return;
    memmove(&p->steps[warp][at + 1], &p->steps[warp][at], (p->lengths[warp] - at) * sizeof(struct step));
    p->lengths[warp]++;
}

/* The steps from `at` on that wait for the same family as the first of them have the other parity. */
static void flip_from(struct protocol *p, uint32_t warp, uint32_t at)
{
    const uint32_t family = p->steps[warp][at].barrier / p->stages;
    for (; at < p->lengths[warp]; at++)
        if (p->steps[warp][at].kind == STEP_WAIT && p->steps[warp][at].barrier / p->stages == family)
            p->steps[warp][at].parity ^= 1;
}

static enum defect spoil_step(struct protocol *p, uint64_t *random, uint32_t warp, uint32_t at)
{
    struct step *step = &p->steps[warp][at];
    switch ((enum step_kind)step->kind) {
    case STEP_ARRIVE:
        if (protocol_random(random, 2)) {
            drop(p, warp, at);
            return DEFECT_ARRIVAL_DROPPED;
        }
        repeat(p, warp, at);
        return DEFECT_ARRIVAL_DOUBLED;
    case STEP_WAIT:
        flip_from(p, warp, at);
        return DEFECT_PARITY;
    case STEP_ARRIVE_EXPECT:
        step->amount++;
        return DEFECT_BYTES;
    case STEP_COPY:
        drop(p, warp, at);
        return DEFECT_COPY_DROPPED;
    case STEP_NAMED_SYNC:
        step->amount = (uint8_t)(step->amount + 1);
        return DEFECT_NAMED;
    default:
        return DEFECT_NONE;
    }
}

static enum defect spoil(struct protocol *p, uint64_t *random)
{
    const uint32_t warp = protocol_random(random, protocol_warps(p));
    if (p->lengths[warp] < 2)
        return DEFECT_NONE;
    const uint32_t at = protocol_random(random, p->lengths[warp]);
    switch (protocol_random(random, 8)) {
    case 0:
        p->counts[protocol_random(random, 2 * p->stages)]++;
        return DEFECT_COUNT_HIGH;
    case 1:
        for (uint32_t s = 0; s < p->stages; s++)
            p->counts[EMPTY * p->stages + s] = 1;
        return DEFECT_COUNT_LOW;
    case 2:
        p->lengths[warp] = (uint8_t)at;
        return DEFECT_CUT_SHORT;
    case 3:
        if (at + 1 < p->lengths[warp]) {
            const struct step step = p->steps[warp][at];
            p->steps[warp][at] = p->steps[warp][at + 1];
            p->steps[warp][at + 1] = step;
        }
        return DEFECT_SWAPPED;
    default:
        return spoil_step(p, random, warp, at);
    }
}

/* ---- steps without sense ---- */

static struct step wild_step(const struct protocol *p, uint64_t *random, uint8_t cta)
{
    static const uint8_t kinds[] = {STEP_ARRIVE,        STEP_ARRIVE, STEP_ARRIVE, STEP_WAIT,        STEP_WAIT,
                                    STEP_WAIT,          STEP_EXPECT, STEP_COPY,   STEP_NAMED_SYNC,  STEP_NAMED_ARRIVE,
                                    STEP_ARRIVE_EXPECT, STEP_COPY,   STEP_ARRIVE, STEP_CLUSTER_SYNC};
    struct step step = {.kind = kinds[protocol_random(random, sizeof kinds)], .rank = cta, .amount = 1};
    const bool named = step.kind == STEP_NAMED_SYNC || step.kind == STEP_NAMED_ARRIVE;
    step.barrier = (uint8_t)protocol_random(random, named ? PROTOCOL_NAMED : 2 * p->stages);
    step.parity = step.kind == STEP_WAIT && protocol_random(random, 2);
    if (step.kind == STEP_ARRIVE)
        step.rank = (uint8_t)protocol_random(random, p->ctas);
    if (named)
        step.amount = 2; /* a count that differs from warp to warp is an error of its own */
    return step;
}

static void make_wild(struct protocol *p, uint64_t *random)
{
    p->ctas = 1 + protocol_random(random, 2);
    p->warps = p->ctas == 2 ? 2 : 2 + protocol_random(random, 2);
    p->stages = 1 + protocol_random(random, 2);
    p->defect = DEFECT_WILD;
    for (uint32_t b = 0; b < 2 * p->stages; b++)
        p->counts[b] = (uint8_t)(1 + protocol_random(random, COUNT_MAX));
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        const uint32_t length = 1 + protocol_random(random, p->ctas == 2 ? 6 : 8);
        for (uint32_t i = 0; i < length; i++)
            add(p, w, wild_step(p, random, (uint8_t)(w / p->warps)));
        p->roles[w] = OTHER;
    }
}

/* A protocol without defects, or a wild one. */
static struct protocol make(uint64_t *random)
{
    struct protocol p = {.defect = DEFECT_NONE};
    if (protocol_random(random, 3) == 0) {
        make_wild(&p, random);
        return p;
    }
    make_pipeline(&p, random);
    p.names = protocol_random(random, 2);
    p.iterations = protocol_random(random, 3) > 0;
    return p;
}

bool protocol_make_right(uint64_t number, struct protocol *out)
{
    *out = make(&number);
    return out->defect != DEFECT_WILD;
}

struct protocol protocol_make(uint64_t number)
{
    uint64_t random = number;
    struct protocol p = make(&random);
    if (p.defect == DEFECT_WILD)
        return p;
    for (uint32_t defects = protocol_random(&random, 4); defects > 0; defects--) {
        const enum defect defect = spoil(&p, &random);
        p.defect = p.defect == DEFECT_NONE ? defect : defect == DEFECT_NONE ? p.defect : DEFECT_MANY;
    }
    return p;
}

/* ---- for people ---- */

static void print_step(const struct protocol *p, const struct step *step)
{
    static const char *const words[] = {"arrive", "arrive.expect", "expect",       "copy",
                                        "wait",   "named.sync",    "named.arrive", "cluster.sync"};
    fprintf(stderr, " %s", words[step->kind]);
    if (step->kind == STEP_CLUSTER_SYNC)
        return;
    if (step->kind == STEP_NAMED_SYNC || step->kind == STEP_NAMED_ARRIVE)
        fprintf(stderr, "(%u,%u)", step->barrier, step->amount);
    else
        fprintf(stderr, "(%u%c%u", step->rank, step->barrier / p->stages == FULL ? 'f' : 'e',
                step->barrier % p->stages);
    if (step->kind == STEP_WAIT)
        fprintf(stderr, " p%u)", step->parity);
    else if (step->kind < STEP_WAIT)
        fprintf(stderr, " %u)", step->amount);
}

void protocol_print(const struct protocol *p, const struct moment *m)
{
    fprintf(stderr, "%u CTAs, %u warps each, %u stages, names %d, iterations %d, defect %d; counts", p->ctas, p->warps,
            p->stages, p->names, p->iterations, p->defect);
    for (uint32_t b = 0; b < 2 * p->stages; b++)
        fprintf(stderr, " %c%u:%u", b / p->stages == FULL ? 'f' : 'e', b % p->stages, p->counts[b]);
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        fprintf(stderr, "\n  CTA %u warp %u:", w / p->warps, w % p->warps);
        for (uint32_t i = 0; i < p->lengths[w]; i++) {
            fputs(i == m->at[w] ? (m->came >> w & 1 ? " [here, counted]" : " [here]") : "", stderr);
            print_step(p, &p->steps[w][i]);
        }
        fputs(protocol_left(p, m, w) ? " [left]" : "", stderr);
    }
    for (uint32_t cta = 0; cta < p->ctas; cta++)
        for (uint32_t b = 0; b < 2 * p->stages; b++)
            fprintf(stderr, "%s%u%c%u phase %u pending %u units %d", b ? ", " : "\n  ", cta,
                    b / p->stages == FULL ? 'f' : 'e', b % p->stages, m->phases[cta][b], m->pending[cta][b],
                    m->units[cta][b]);
    fputc('\n', stderr);
}
