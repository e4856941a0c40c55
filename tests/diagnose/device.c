/* device.c - executes warp programs with real barrier semantics; see device.h. */
#include "device_state.h"

#include <stdlib.h>
#include <string.h>

void must(bool holds)
{
    if (!holds)
        abort();
}

struct device *device_create(uint32_t ctas, uint32_t warps, uint32_t cluster, uint32_t registers)
{
    struct device *d = calloc(1, sizeof *d);
    must(d);
    d->cta_count = ctas;
    d->warp_count = warps;
    d->cluster = cluster;
    d->launch_registers = registers;
    d->ctas = calloc(ctas, sizeof *d->ctas);
    d->warps = calloc((size_t)ctas * warps, sizeof *d->warps);
    d->cluster_arrived = calloc(ctas, sizeof(uint32_t));
    d->cluster_generation = calloc(ctas, sizeof(uint32_t));
    for (uint32_t i = 0; i < ctas * warps; i++) {
        d->warps[i].registers = (registers + 7) / 8 * 8;
        d->warps[i].role = WSDBG_NONE;
    }
    return d;
}

void device_destroy(struct device *d)
{
    for (uint32_t i = 0; i < d->cta_count * d->warp_count; i++) {
        free(d->warps[i].ops);
        free(d->warps[i].events);
    }
    free(d->ctas);
    free(d->warps);
    free(d->cluster_arrived);
    free(d->cluster_generation);
    free(d);
}

static struct wsdbg_name *add_name(struct device *d, uint8_t kind, uint32_t id, const char *name)
{
    struct wsdbg_name *row = &d->names[d->name_count++];
    row->kind = kind;
    row->id = (uint8_t)id;
    strncpy(row->name, name, sizeof row->name - 1);
    return row;
}

void device_role(struct device *d, uint32_t id, const char *name)
{
    add_name(d, WSDBG_NAME_ROLE, id, name);
}

void device_mbarrier(struct device *d, uint32_t id, const char *name, uint32_t stages, bool first_free,
                     uint32_t arriving, uint32_t waiting)
{
    struct wsdbg_name *row = add_name(d, WSDBG_NAME_MBARRIER, id, name);
    row->stages = (uint8_t)stages;
    row->first_free = first_free;
    row->arriving_roles = arriving;
    row->waiting_roles = waiting;
}

void device_named(struct device *d, uint32_t id, const char *name, uint32_t arriving, uint32_t waiting)
{
    struct wsdbg_name *row = add_name(d, WSDBG_NAME_NAMED_BARRIER, id, name);
    row->arriving_roles = arriving;
    row->waiting_roles = waiting;
}

static void append(struct device *d, uint32_t cta, uint32_t warp, struct op op)
{
    struct warp *w = &d->warps[cta * d->warp_count + warp];
    w->ops = realloc(w->ops, (w->op_count + 1) * sizeof op);
    must(w->ops);
    w->ops[w->op_count++] = op;
}

#define OP(...) append(d, cta, warp, (struct op){__VA_ARGS__})
#define NO_ITERATION WSDBG_NO_ITERATION

void role(struct device *d, uint32_t cta, uint32_t warp, uint32_t id)
{
    OP(WSDBG_EVENT_ROLE_BEGIN, .iteration = NO_ITERATION, .value = id);
}

void init(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t arrivals)
{
    OP(WSDBG_EVENT_MBARRIER_INIT, (uint8_t)barrier, (uint8_t)stage, 0, NO_ITERATION, arrivals);
}

void wait(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t parity,
          uint32_t iteration)
{
    OP(WSDBG_EVENT_MBARRIER_WAIT_BEGIN, (uint8_t)barrier, (uint8_t)stage, (uint8_t)parity, iteration, LINE | 32u << 21);
}

void arrive(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
            uint32_t lanes)
{
    OP(WSDBG_EVENT_MBARRIER_ARRIVE, (uint8_t)barrier, (uint8_t)stage, 0, iteration, LINE | lanes << 21);
}

void arrive_remote(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
                   uint32_t rank)
{
    OP(WSDBG_EVENT_MBARRIER_ARRIVE, (uint8_t)barrier, (uint8_t)stage, 0, iteration, LINE | 1u << 21 | (rank + 1) << 27);
}

void arrive_expect(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
                   uint32_t bytes)
{
    OP(WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, (uint8_t)barrier, (uint8_t)stage, 0, iteration, bytes);
}

void expect(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
            uint32_t bytes)
{
    OP(WSDBG_EVENT_MBARRIER_EXPECT_TX, (uint8_t)barrier, (uint8_t)stage, 0, iteration, bytes);
}

void copy(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
          uint32_t bytes, uint32_t multicast)
{
    OP(WSDBG_EVENT_TMA_ISSUE, (uint8_t)barrier, (uint8_t)stage, 0, iteration, bytes | multicast << 24);
}

void lost_copy(struct device *d, uint32_t cta, uint32_t warp, uint32_t barrier, uint32_t stage, uint32_t iteration,
               uint32_t bytes)
{
    OP(OP_LOST_COPY, (uint8_t)barrier, (uint8_t)stage, 0, iteration, bytes);
}

void request(struct device *d, uint32_t cta, uint32_t warp, uint32_t registers)
{
    OP(WSDBG_EVENT_REGISTERS_REQUEST, .iteration = NO_ITERATION, .value = registers);
}

void release(struct device *d, uint32_t cta, uint32_t warp, uint32_t registers)
{
    OP(WSDBG_EVENT_REGISTERS_RELEASE, .iteration = NO_ITERATION, .value = registers);
}

void named_sync(struct device *d, uint32_t cta, uint32_t warp, uint32_t id, uint32_t threads)
{
    OP(WSDBG_EVENT_NAMED_SYNC_BEGIN, (uint8_t)id, .iteration = NO_ITERATION, .value = threads);
}

void named_arrive(struct device *d, uint32_t cta, uint32_t warp, uint32_t id, uint32_t threads)
{
    OP(WSDBG_EVENT_NAMED_ARRIVE, (uint8_t)id, .iteration = NO_ITERATION, .value = threads);
}

void cluster_sync(struct device *d, uint32_t cta, uint32_t warp)
{
    OP(OP_CLUSTER_SYNC, .iteration = NO_ITERATION);
}

void poll(struct device *d, uint32_t cta, uint32_t warp, uint32_t word, uint32_t writer)
{
    OP(WSDBG_EVENT_POLL_BEGIN, (uint8_t)word, (uint8_t)writer, .iteration = NO_ITERATION, .value = LINE);
}

void write_word(struct device *d, uint32_t cta, uint32_t warp, uint32_t word)
{
    OP(OP_WRITE_WORD, (uint8_t)word, .iteration = NO_ITERATION);
}

void grid_wait(struct device *d, uint32_t cta, uint32_t warp)
{
    OP(WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN, .iteration = NO_ITERATION, .value = LINE);
}

void tile(struct device *d, uint32_t cta, uint32_t warp, uint32_t iteration, uint32_t index)
{
    OP(WSDBG_EVENT_TILE_BEGIN, .iteration = iteration, .value = index);
}

void work(struct device *d, uint32_t cta, uint32_t warp, uint32_t steps)
{
    OP(OP_WORK, .iteration = NO_ITERATION, .value = steps);
}

bool device_delay(struct device *d, uint32_t cta, uint32_t warp, uint32_t at, uint32_t steps)
{
    struct warp *w = &d->warps[cta * d->warp_count + warp];
    if (at >= w->op_count)
        return false;
    work(d, cta, warp, steps);
    const struct op delay = w->ops[w->op_count - 1];
    memmove(&w->ops[at + 1], &w->ops[at], (w->op_count - 1 - at) * sizeof *w->ops);
    w->ops[at] = delay;
    return true;
}

void leave(struct device *d, uint32_t cta, uint32_t warp)
{
    OP(WSDBG_EVENT_EXIT, .iteration = NO_ITERATION);
}

/* ---- execution ---- */

static void record(struct device *d, struct warp *w, uint8_t kind, const struct op *op, uint32_t value)
{
    if ((w->event_count & (w->event_count - 1)) == 0) {
        const size_t room = w->event_count ? 2 * w->event_count : 1;
        w->events = realloc(w->events, room * sizeof *w->events);
        must(w->events);
    }
    w->events[w->event_count++] = (struct wsdbg_history_event){.gpu_time_ns = d->now * 96,
                                                               .iteration = op->iteration,
                                                               .value = value,
                                                               .kind = kind,
                                                               .barrier = op->barrier,
                                                               .stage = op->stage,
                                                               .parity = op->parity};
}

static void settle(struct mbarrier *b)
{
    if (b->ready && b->pending == 0 && b->bytes == 0) {
        b->phases++;
        b->pending = b->needed;
    }
}

static void arrive_at(struct mbarrier *b, uint32_t arrivals)
{
    for (; arrivals > 0; arrivals--) {
        b->pending--;
        settle(b);
    }
}

static void issue_copy(struct device *d, uint32_t cta, const struct op *op)
{
    const uint32_t mask = op->value >> 24, base = cta / d->cluster * d->cluster;
    for (uint32_t rank = 0; rank < d->cluster; rank++) {
        if (mask ? !(mask >> rank & 1) : base + rank != cta)
            continue;
        must(d->copy_count < COPIES);
        d->copies[d->copy_count++] =
            (struct landing){d->now + 6, base + rank, op->barrier, op->stage, op->value & 0xffffff};
    }
}

static void land(struct device *d, const struct landing *copy)
{
    struct mbarrier *b = &d->ctas[copy->cta].mbarriers[copy->barrier][copy->stage];
    b->bytes -= copy->bytes;
    settle(b);
}

static void land_copies(struct device *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->copy_count; i++) {
        if (d->copies[i].due > d->now)
            d->copies[kept++] = d->copies[i];
        else
            land(d, &d->copies[i]);
    }
    d->copy_count = kept;
}

void device_land(struct device *d, uint32_t cta, uint32_t barrier, uint32_t stage)
{
    for (size_t i = 0; i < d->copy_count; i++) {
        const struct landing copy = d->copies[i];
        if (copy.cta != cta || copy.barrier != barrier || copy.stage != stage)
            continue;
        memmove(&d->copies[i], &d->copies[i + 1], (--d->copy_count - i) * sizeof copy);
        land(d, &copy);
        return;
    }
}

static void named_came(struct cta *cta, const struct op *op)
{
    cta->named_count[op->barrier] += 32;
    if (cta->named_count[op->barrier] >= op->value) {
        cta->named_count[op->barrier] = 0;
        cta->named_generation[op->barrier]++;
    }
}

/* The cluster barrier opens when every warp that has not left has come. */
static void settle_cluster(struct device *d, uint32_t group)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < d->cluster * d->warp_count; i++)
        live += !d->warps[group * d->cluster * d->warp_count + i].left;
    if (d->cluster_arrived[group] == 0 || d->cluster_arrived[group] < live)
        return;
    d->cluster_arrived[group] = 0;
    d->cluster_generation[group]++;
}

/* What is free in the register file that a warp lives in. */
static uint32_t *register_file(struct device *d, const struct warp *w)
{
    const uint32_t index = (uint32_t)(w - d->warps);
    return &d->ctas[index / d->warp_count].pool_free[index % d->warp_count % 4];
}

/* Ops that may block: true once they are through. */
static bool step_blocking(struct device *d, uint32_t cta_index, struct warp *w, const struct op *op)
{
    struct cta *cta = &d->ctas[cta_index];
    const uint32_t group = cta_index / d->cluster;
    const bool first = !w->begun;
    uint32_t *const file = register_file(d, w);
    w->begun = true;
    switch (op->kind) {
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
        if ((cta->mbarriers[op->barrier][op->stage].phases & 1) == op->parity) {
            if (first) /* as the GEMM does: a wait that ends at the first look has no begin */
                record(d, w, op->kind, op, op->value);
            return false;
        }
        record(d, w, WSDBG_EVENT_MBARRIER_WAIT_END, op, op->value);
        return true;
    case WSDBG_EVENT_REGISTERS_REQUEST:
        if (first)
            record(d, w, op->kind, op, op->value);
        if (op->value > w->registers + *file)
            return false;
        *file -= op->value - w->registers;
        w->registers = op->value;
        record(d, w, WSDBG_EVENT_REGISTERS_GRANTED, op, op->value);
        return true;
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
        if (first) {
            record(d, w, op->kind, op, op->value);
            w->awaited = cta->named_generation[op->barrier];
            named_came(cta, op);
        }
        if (cta->named_generation[op->barrier] == w->awaited)
            return false;
        record(d, w, WSDBG_EVENT_NAMED_SYNC_END, op, op->value);
        return true;
    case OP_CLUSTER_SYNC:
        if (first) {
            record(d, w, WSDBG_EVENT_CLUSTER_ARRIVE, op, LINE);
            record(d, w, WSDBG_EVENT_CLUSTER_WAIT_BEGIN, op, LINE);
            w->awaited = d->cluster_generation[group];
            d->cluster_arrived[group]++;
            settle_cluster(d, group);
        }
        if (d->cluster_generation[group] == w->awaited)
            return false;
        record(d, w, WSDBG_EVENT_CLUSTER_WAIT_END, op, LINE);
        return true;
    case WSDBG_EVENT_POLL_BEGIN:
        if (first)
            record(d, w, op->kind, op, op->value);
        if (!d->words[op->barrier])
            return false;
        record(d, w, WSDBG_EVENT_POLL_END, op, op->value);
        return true;
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
        if (first)
            record(d, w, op->kind, op, op->value);
        return false;
    default: /* OP_WORK */
        if (first)
            w->rest = op->value;
        return w->rest == 0 || --w->rest == 0;
    }
}

static void step_plain(struct device *d, uint32_t cta_index, struct warp *w, const struct op *op)
{
    struct cta *cta = &d->ctas[cta_index];
    struct mbarrier *b = &cta->mbarriers[op->barrier % BARRIERS][op->stage % STAGES];
    const uint32_t target = WSDBG_SITE_TARGET(op->value);
    record(d, w, op->kind == OP_LOST_COPY ? WSDBG_EVENT_TMA_ISSUE : op->kind, op, op->value);
    switch (op->kind) {
    case WSDBG_EVENT_ROLE_BEGIN:
        w->role = op->value;
        break;
    case WSDBG_EVENT_MBARRIER_INIT:
        *b = (struct mbarrier){.ready = true, .needed = op->value, .pending = op->value};
        break;
    case WSDBG_EVENT_MBARRIER_ARRIVE:
        if (target)
            b = &d->ctas[cta_index / d->cluster * d->cluster + target - 1].mbarriers[op->barrier][op->stage];
        arrive_at(b, WSDBG_SITE_LANES(op->value));
        break;
    case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
        b->bytes += op->value;
        arrive_at(b, 1);
        break;
    case WSDBG_EVENT_MBARRIER_EXPECT_TX:
        b->bytes += op->value;
        break;
    case WSDBG_EVENT_TMA_ISSUE:
        issue_copy(d, cta_index, op);
        break;
    case WSDBG_EVENT_REGISTERS_RELEASE:
        *register_file(d, w) += w->registers - op->value;
        w->registers = op->value;
        break;
    case WSDBG_EVENT_NAMED_ARRIVE:
        named_came(cta, op);
        break;
    case WSDBG_EVENT_EXIT:
        w->left = true;
        settle_cluster(d, cta_index / d->cluster);
        break;
    default:
        break;
    }
}

static bool step(struct device *d, uint32_t index)
{
    struct warp *w = &d->warps[index];
    if (w->event_count == 0) {
        record(d, w, WSDBG_EVENT_BEGIN, &(struct op){.iteration = NO_ITERATION}, 0);
        return true;
    }
    if (w->left || w->at == w->op_count)
        return false;
    const struct op *op = &w->ops[w->at];
    const size_t events = w->event_count;
    switch (op->kind) {
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
    case WSDBG_EVENT_REGISTERS_REQUEST:
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
    case OP_CLUSTER_SYNC:
    case WSDBG_EVENT_POLL_BEGIN:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
    case OP_WORK:
        if (!step_blocking(d, index / d->warp_count, w, op))
            return w->event_count != events || op->kind == OP_WORK;
        break;
    case OP_WRITE_WORD:
        d->words[op->barrier] = true;
        break;
    default:
        step_plain(d, index / d->warp_count, w, op);
        break;
    }
    w->begun = false;
    w->at++;
    return true;
}

void device_step(struct device *d, uint32_t cta, uint32_t warp)
{
    step(d, cta * d->warp_count + warp);
    d->now++;
}

size_t device_at(const struct device *d, uint32_t cta, uint32_t warp)
{
    return d->warps[cta * d->warp_count + warp].at;
}

bool device_run_for(struct device *d, uint32_t seed, uint32_t steps)
{
    const uint32_t count = d->cta_count * d->warp_count;
    bool moved = true;
    if (d->now == 0)
        d->random = seed * 2654435761u + 1;
    for (uint32_t turn = 0; turn < steps && moved; turn++) {
        moved = d->copy_count > 0;
        const uint32_t start = (d->random = d->random * 1664525u + 1013904223u) >> 16;
        for (uint32_t i = 0; i < count; i++)
            moved = step(d, (start + i) % count) || moved;
        d->now++;
        land_copies(d);
    }
    return moved;
}

bool device_run(struct device *d, uint32_t seed)
{
    while (device_run_for(d, seed, 1000)) {
    }
    for (uint32_t i = 0; i < d->cta_count * d->warp_count; i++)
        if (!d->warps[i].left)
            return false;
    return true;
}
