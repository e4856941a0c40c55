/* protocol_evidence.c - see protocol_evidence.h.
 *
 * Reads: a protocol, a moment of it and the way there.  Writes: struct wsdbg_snapshot.
 */
#include "protocol_evidence.h"

#include "device.h"

#define REGISTERS 64u
#define LANES 32u

/* Number of a named barrier: 0 is the whole block's. */
static uint32_t named_id(const struct step *step)
{
    return step->barrier + 1u;
}

static uint32_t family_of(const struct protocol *p, uint32_t barrier)
{
    return barrier / p->stages;
}

/* ---- the record ---- */

static uint32_t bytes_of(const struct step *step)
{
    return step->amount * (uint32_t)PROTOCOL_UNIT_BYTES;
}

static void program_step(const struct protocol *p, struct device *d, uint32_t cta, uint32_t warp,
                         const struct step *step)
{
    const uint32_t iteration = p->iterations ? step->iteration : WSDBG_NO_ITERATION;
    const uint32_t id = family_of(p, step->barrier), stage = step->barrier % p->stages;
    switch ((enum step_kind)step->kind) {
    case STEP_ARRIVE:
        if (step->rank != cta)
            arrive_remote(d, cta, warp, id, stage, iteration, step->rank);
        else
            arrive(d, cta, warp, id, stage, iteration, step->amount);
        break;
    case STEP_ARRIVE_EXPECT:
        arrive_expect(d, cta, warp, id, stage, iteration, bytes_of(step));
        break;
    case STEP_EXPECT:
        expect(d, cta, warp, id, stage, iteration, bytes_of(step));
        break;
    case STEP_COPY:
        copy(d, cta, warp, id, stage, iteration, PROTOCOL_UNIT_BYTES, 0);
        break;
    case STEP_WAIT:
        wait(d, cta, warp, id, stage, step->parity, iteration);
        break;
    case STEP_NAMED_SYNC:
        named_sync(d, cta, warp, named_id(step), step->amount * LANES);
        break;
    case STEP_NAMED_ARRIVE:
        named_arrive(d, cta, warp, named_id(step), step->amount * LANES);
        break;
    case STEP_CLUSTER_SYNC:
        cluster_sync(d, cta, warp);
        break;
    }
}

static void name_all(const struct protocol *p, struct device *d)
{
    static const char *const roles[PROTOCOL_ROLES] = {"producer", "consumer", "other"};
    static const char *const families[PROTOCOL_FAMILIES] = {"full", "empty"};
    for (uint32_t r = 0; r < PROTOCOL_ROLES; r++)
        device_role(d, r, roles[r]);
    for (uint32_t f = 0; f < PROTOCOL_FAMILIES; f++)
        device_mbarrier(d, f, families[f], p->stages, p->families[f].first_free, p->families[f].arriving,
                        p->families[f].waiting);
}

/* Operations of a warp before its first step. */
static size_t prologue(const struct protocol *p, uint32_t w)
{
    return (w % p->warps == 0 ? PROTOCOL_FAMILIES * p->stages : 0) + p->names;
}

static struct device *make_device(const struct protocol *p)
{
    struct device *d = device_create(p->ctas, p->warps, p->ctas, REGISTERS);
    if (p->names)
        name_all(p, d);
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        const uint32_t cta = w / p->warps, warp = w % p->warps;
        for (uint32_t b = 0; b < PROTOCOL_FAMILIES * p->stages && warp == 0; b++)
            init(d, cta, 0, family_of(p, b), b % p->stages, p->counts[b]);
        if (p->names)
            role(d, cta, warp, p->roles[w]);
        for (uint32_t i = 0; i < p->lengths[w]; i++)
            program_step(p, d, cta, warp, &p->steps[w][i]);
        leave(d, cta, warp);
        for (size_t i = 0; i <= prologue(p, w); i++) /* its BEGIN, then the operations */
            device_step(d, cta, warp);
    }
    return d;
}

/* Warps that somebody else set going, and those that have nothing left to do but leave. */
static void catch_up(const struct protocol *p, const struct moment *m, struct device *d)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t w = 0; w < protocol_warps(p); w++) {
            const size_t target = prologue(p, w) + m->at[w] + protocol_left(p, m, w);
            const size_t at = device_at(d, w / p->warps, w % p->warps);
            if (at >= target)
                continue;
            device_step(d, w / p->warps, w % p->warps);
            again = again || device_at(d, w / p->warps, w % p->warps) > at;
        }
    }
}

static void replay(const struct protocol *p, struct moment *m, struct device *d, uint32_t transition)
{
    must(protocol_take(p, m, transition));
    if (transition < PROTOCOL_WARPS) {
        device_step(d, transition / p->warps, transition % p->warps);
    } else {
        const uint32_t place = transition - PROTOCOL_WARPS, b = place % PROTOCOL_BARRIERS;
        device_land(d, place / PROTOCOL_BARRIERS, family_of(p, b), b % p->stages);
    }
    catch_up(p, m, d);
}

void protocol_ring(const struct protocol *p, const uint8_t *transitions, size_t count, uint32_t busy, uint32_t depth,
                   struct wsdbg_snapshot *out)
{
    struct moment m = protocol_start(p);
    struct device *d = make_device(p);
    catch_up(p, &m, d);
    for (size_t i = 0; i < count; i++)
        replay(p, &m, d, transitions[i]);
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        const uint32_t cta = w / p->warps, warp = w % p->warps;
        const size_t at = device_at(d, cta, warp);
        must(at == prologue(p, w) + m.at[w] + protocol_left(p, &m, w));
        if (protocol_left(p, &m, w) || (m.came >> w & 1) || (busy >> w & 1))
            continue;
        device_step(d, cta, warp); /* it says that it waits */
        must(device_at(d, cta, warp) == at);
    }
    device_snapshot(d, depth, out);
    device_destroy(d);
}

/* ---- the picture ---- */

struct rows {
    uint32_t mbarriers[PROTOCOL_BARRIERS], named[PROTOCOL_NAMED], cluster; /* of CTA 0 */
};

static struct rows add_barriers(const struct protocol *p, const struct moment *m, struct picture *out)
{
    struct rows rows = {0};
    for (uint32_t b = 0; b < PROTOCOL_FAMILIES * p->stages; b++) {
        rows.mbarriers[b] = picture_mbarrier(out, family_of(p, b), b % p->stages, 0, 0, p->counts[b], 0);
        for (uint32_t cta = 0; cta < p->ctas; cta++) {
            struct wsdbg_barrier *row = &out->snapshot.barriers[rows.mbarriers[b] + cta];
            row->phase = wsdbg_known_u32(m->phases[cta][b] & 1);
            row->pending_arrivals = wsdbg_known_u32(m->pending[cta][b]);
            row->pending_tx_bytes = wsdbg_known_u64((uint64_t)((int64_t)m->units[cta][b] * PROTOCOL_UNIT_BYTES));
        }
    }
    for (uint32_t i = 0; i < PROTOCOL_NAMED; i++)
        rows.named[i] = picture_object(out, WSDBG_BARRIER_NAMED, i + 1);
    rows.cluster = picture_object(out, WSDBG_BARRIER_CLUSTER, 0);
    return rows;
}

static uint32_t add_access(const struct protocol *p, struct picture *out, const struct step *step, uint32_t cta)
{
    static const enum wsdbg_access_kind kinds[] = {
        WSDBG_ACCESS_ARRIVE, WSDBG_ACCESS_ARRIVE_EXPECT, WSDBG_ACCESS_EXPECT,       WSDBG_ACCESS_COPY,
        WSDBG_ACCESS_WAIT,   WSDBG_ACCESS_NAMED_SYNC,    WSDBG_ACCESS_NAMED_ARRIVE, WSDBG_ACCESS_CLUSTER_ARRIVE};
    const bool named = step->kind == STEP_NAMED_SYNC || step->kind == STEP_NAMED_ARRIVE;
    const uint32_t place = named ? named_id(step) : MBARRIER_AT(family_of(p, step->barrier), step->barrier % p->stages);
    const uint32_t count = named ? step->amount * LANES : step->kind == STEP_ARRIVE ? step->amount : bytes_of(step);
    const uint32_t access =
        picture_access(out, kinds[step->kind], place, 1, count, named ? WSDBG_LANES_ALL : WSDBG_LANES_ONE);
    out->snapshot.accesses[access].any_rank = !named && step->rank != cta;
    return access;
}

static void add_code(const struct protocol *p, const struct moment *m, uint32_t w, bool begun, struct picture *out)
{
    for (uint32_t i = 0; i < p->lengths[w]; i++) {
        const uint32_t access = add_access(p, out, &p->steps[w][i], w / p->warps);
        const bool done = i < m->at[w] || (begun && i == m->at[w]);
        picture_reach_of(out, w, access, done, done, done ? 0 : 2);
        if (p->steps[w][i].kind != STEP_CLUSTER_SYNC)
            continue;
        const uint32_t wait = picture_access(out, WSDBG_ACCESS_CLUSTER_WAIT, 0, 1, 0, WSDBG_LANES_ALL);
        picture_reach_of(out, w, wait, done, done, done ? 0 : 2);
    }
}

static void place_warp(const struct protocol *p, const struct moment *m, uint32_t w, const struct rows *rows,
                       struct picture *out)
{
    const struct step *step = &p->steps[w][m->at[w]];
    const uint32_t cta = w / p->warps;
    switch ((enum step_kind)step->kind) {
    case STEP_WAIT:
        picture_stand(out, w, WSDBG_WARP_WAIT_MBARRIER, rows->mbarriers[step->barrier] + cta, step->parity);
        break;
    case STEP_NAMED_SYNC:
        picture_stand(out, w, WSDBG_WARP_WAIT_NAMED, rows->named[step->barrier] + cta, 0);
        break;
    case STEP_CLUSTER_SYNC:
        picture_stand(out, w, WSDBG_WARP_WAIT_CLUSTER, rows->cluster + cta, 0);
        break;
    default:
        must(false); /* nothing else waits */
    }
    out->snapshot.parts[out->snapshot.part_count - 1].count = wsdbg_known_u32(step->amount * LANES);
}

void protocol_picture(const struct protocol *p, const struct moment *m, uint32_t busy, struct picture *out)
{
    picture_init(out, p->ctas, p->warps, REGISTERS);
    for (uint32_t cta = 0; cta < p->ctas; cta++) {
        struct wsdbg_cta *row = &out->snapshot.ctas[cta];
        row->cluster_id = 0;
        row->cluster_rank = cta;
        row->cluster_size = p->ctas;
    }
    if (p->names) {
        static const char *const families[PROTOCOL_FAMILIES] = {"full", "empty"};
        picture_role(out, 0, "producer", 0, 0);
        picture_role(out, 1, "consumer", 1, p->warps - 1);
        for (uint32_t f = 0; f < PROTOCOL_FAMILIES; f++)
            picture_name(out, f, families[f], p->stages, p->families[f].arriving, p->families[f].waiting);
    }
    const struct rows rows = add_barriers(p, m, out);
    for (uint32_t w = 0; w < protocol_warps(p); w++) {
        const bool computes = (busy >> w & 1) && !(m->came >> w & 1);
        if (protocol_left(p, m, w))
            picture_leave(out, w);
        else if (!computes)
            place_warp(p, m, w, &rows, out);
        add_code(p, m, w, !computes, out);
    }
}
