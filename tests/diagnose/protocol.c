/* protocol.c - what one step of a protocol does.  See protocol.h.
 *
 * Reads: the protocol.  Writes: the moment.
 */
#include "protocol.h"

#include <string.h>

struct moment protocol_start(const struct protocol *p)
{
    struct moment m;
    memset(&m, 0, sizeof m); /* compared as bytes */
    for (uint32_t cta = 0; cta < p->ctas; cta++)
        memcpy(m.pending[cta], p->counts, sizeof p->counts);
    return m;
}

static void settle(const struct protocol *p, struct moment *m, uint32_t cta, uint32_t b)
{
    if (m->pending[cta][b] != 0 || m->units[cta][b] != 0)
        return;
    m->phases[cta][b]++;
    m->pending[cta][b] = p->counts[b];
}

static void arrive(const struct protocol *p, struct moment *m, uint32_t cta, uint32_t b, uint32_t times)
{
    for (; times > 0; times--) {
        if (m->pending[cta][b] == 0) {
            m->fault = true;
            return;
        }
        m->pending[cta][b]--;
        settle(p, m, cta, b);
    }
}

/* Warps of the CTA that are counted at the named barrier and wait there go on. */
static void gather(const struct protocol *p, struct moment *m, uint32_t cta, const struct step *step)
{
    if (++m->gathered[cta][step->barrier] < step->amount)
        return;
    m->gathered[cta][step->barrier] = 0;
    for (uint32_t w = cta * p->warps; w < (cta + 1) * p->warps && w < protocol_warps(p); w++) {
        const struct step *other = &p->steps[w][m->at[w]];
        if (!(m->came >> w & 1) || other->kind != STEP_NAMED_SYNC || other->barrier != step->barrier)
            continue;
        m->came &= (uint8_t) ~(1u << w);
        m->at[w]++;
    }
}

/* The cluster barrier opens when every warp that has not left has come. */
static void settle_cluster(const struct protocol *p, struct moment *m)
{
    uint32_t there = 0;
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        const bool at_it = (m->came >> w & 1) && p->steps[w][m->at[w]].kind == STEP_CLUSTER_SYNC;
        if (!at_it && !protocol_left(p, m, w))
            return;
        there += at_it;
    }
    for (uint32_t w = 0; w < protocol_warps(p) && there; w++)
        m->at[w] += !protocol_left(p, m, w);
    m->came = there ? 0 : m->came;
}

static bool take_sync(const struct protocol *p, struct moment *m, uint32_t warp, const struct step *step)
{
    if (m->came >> warp & 1)
        return false;
    m->came |= (uint8_t)(1u << warp);
    if (step->kind == STEP_NAMED_SYNC)
        gather(p, m, warp / p->warps, step);
    return true;
}

static bool take_step(const struct protocol *p, struct moment *m, uint32_t warp)
{
    if (m->fault || protocol_left(p, m, warp))
        return false;
    const struct step *step = &p->steps[warp][m->at[warp]];
    const uint32_t cta = step->rank, b = step->barrier;
    switch ((enum step_kind)step->kind) {
    case STEP_ARRIVE:
        arrive(p, m, cta, b, step->amount);
        break;
    case STEP_ARRIVE_EXPECT:
        m->units[cta][b] = (int8_t)(m->units[cta][b] + step->amount);
        arrive(p, m, cta, b, 1);
        break;
    case STEP_EXPECT:
        m->units[cta][b] = (int8_t)(m->units[cta][b] + step->amount);
        break;
    case STEP_COPY:
        m->flying[cta][b]++;
        break;
    case STEP_WAIT:
        if ((m->phases[cta][b] & 1) == step->parity)
            return false;
        break;
    case STEP_NAMED_ARRIVE:
        gather(p, m, warp / p->warps, step);
        break;
    case STEP_NAMED_SYNC:
    case STEP_CLUSTER_SYNC:
        return take_sync(p, m, warp, step);
    }
    m->at[warp]++;
    return true;
}

static bool land(const struct protocol *p, struct moment *m, uint32_t cta, uint32_t b)
{
    if (m->fault || m->flying[cta][b] == 0)
        return false;
    m->flying[cta][b]--;
    m->units[cta][b]--;
    settle(p, m, cta, b);
    return true;
}

bool protocol_take(const struct protocol *p, struct moment *m, uint32_t transition)
{
    if (transition >= PROTOCOL_WARPS) {
        const uint32_t place = transition - PROTOCOL_WARPS;
        return land(p, m, place / PROTOCOL_BARRIERS, place % PROTOCOL_BARRIERS);
    }
    if (transition >= protocol_warps(p) || !take_step(p, m, transition))
        return false;
    settle_cluster(p, m); /* whoever has left is not waited for */
    return true;
}

bool protocol_finished(const struct protocol *p, const struct moment *m)
{
    for (uint32_t w = 0; w < protocol_warps(p); w++)
        if (!protocol_left(p, m, w))
            return false;
    return !m->fault;
}

bool protocol_blocked(const struct protocol *p, const struct moment *m, uint32_t warp)
{
    struct moment after = *m;
    return !protocol_left(p, m, warp) && !take_step(p, &after, warp);
}
