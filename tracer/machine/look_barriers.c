/* look_barriers.c - the barriers that warps wait on, and every mbarrier that the kernel's code names, with what their
 * words say is missing.
 *
 * Reads: parts, families, words.  Writes: snapshot.barriers (by CTA, kind, id, stage), and which one each part and warp
 * waits on.
 *
 * The hardware shows no counts of named and cluster barriers: what is missing there are the threads that do not stand
 * in the wait.  Where code arrives without waiting that is not known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

struct barriers {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_look_operands *operands;
    const struct wsdbg_families *families; /* beside the grids */
    const uint32_t *deciding;
    struct wsdbg_words *words;
    struct wsdbg_snapshot *out;
};

/* cta << 32 | kind << 24 | id << 8 | stage: sorts as the barriers do. */
typedef uint64_t barrier_key;
#define NO_KEY UINT64_MAX
enum { ID_MASK = 0xffff, FLAGS_MAX = 4096 };

struct keys {
    barrier_key *items;
    size_t count, capacity;
    uint64_t flags[FLAGS_MAX]; /* addresses polled, their place is their id */
    uint32_t flag_count;
};

static barrier_key make_key(uint32_t cta, enum wsdbg_barrier_kind kind, uint32_t id, uint32_t stage)
{
    return (uint64_t)cta << 32 | (uint32_t)kind << 24 | (id & ID_MASK) << 8 | (stage & 0xff);
}

static const struct wsdbg_families *families_of(const struct barriers *barriers, uint32_t cta)
{
    return &barriers->families[barriers->out->ctas[cta].grid];
}

static barrier_key mbarrier_key(const struct barriers *barriers, uint32_t cta, uint32_t address)
{
    const uint32_t target = wsdbg_look_target(barriers->out, cta, address), offset = address & WSDBG_OFFSET_MASK;
    uint32_t family, stage;
    if (target == WSDBG_NONE || barriers->seen->ctas[target].machine == WSDBG_NONE)
        return NO_KEY;
    const struct wsdbg_families *families = families_of(barriers, target);
    if (wsdbg_family_at(families, offset, &family, &stage))
        return make_key(target, WSDBG_BARRIER_MBARRIER, families->rows[family].id, stage);
    return make_key(target, WSDBG_BARRIER_MBARRIER, wsdbg_look_unnamed_id(offset), 0);
}

/* Flags are numbered in the order of the parts that poll them. */
static barrier_key flag_key(struct keys *keys, uint32_t cta, enum wsdbg_barrier_kind kind,
                            struct wsdbg_optional_u64 address)
{
    uint32_t id = 0;
    while (id < keys->flag_count && keys->flags[id] != address.value)
        id++;
    if (!address.known || id == FLAGS_MAX)
        return NO_KEY;
    if (id == keys->flag_count)
        keys->flags[keys->flag_count++] = address.value;
    return make_key(cta, kind, id, 0);
}

static barrier_key part_key(const struct barriers *barriers, struct keys *keys, uint32_t number)
{
    const struct wsdbg_part *row = &barriers->out->parts[number];
    const struct wsdbg_part_operands *operands = &barriers->operands->parts[number];
    const struct wsdbg_warp_row *warp = &barriers->out->warps[row->warp];
    switch (row->state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        return mbarrier_key(barriers, warp->cta, operands->mbarrier);
    case WSDBG_WARP_WAIT_NAMED:
        return make_key(warp->cta, WSDBG_BARRIER_NAMED, operands->bar_id, 0);
    case WSDBG_WARP_WAIT_CLUSTER:
        return make_key(warp->cta, WSDBG_BARRIER_CLUSTER, 0, 0);
    case WSDBG_WARP_WAIT_REGISTERS:
        return make_key(warp->cta, WSDBG_BARRIER_REGISTERS, 0, 0);
    case WSDBG_WARP_WAIT_WGMMA:
        return make_key(warp->cta, WSDBG_BARRIER_WGMMA, warp->warp / 4, 0);
    case WSDBG_WARP_WAIT_BULK:
        return make_key(warp->cta, WSDBG_BARRIER_BULK, warp->warp, 0);
    case WSDBG_WARP_WAIT_GRID_DEPENDENCY:
        return make_key(warp->cta, WSDBG_BARRIER_GRID_DEPENDENCY, 0, 0);
    case WSDBG_WARP_SPIN_GLOBAL:
        return flag_key(keys, warp->cta, WSDBG_BARRIER_GLOBAL_FLAG, row->address);
    case WSDBG_WARP_SPIN_SHARED:
        return flag_key(keys, warp->cta, WSDBG_BARRIER_SHARED_FLAG, row->address);
    default:
        return NO_KEY;
    }
}

static struct wsdbg_error *add_key(struct keys *keys, barrier_key key)
{
    if (key == NO_KEY)
        return NULL;
    if (!wsdbg_grow((void **)&keys->items, &keys->capacity, keys->count + 1, sizeof *keys->items))
        return &wsdbg_error_no_memory;
    keys->items[keys->count++] = key;
    return NULL;
}

static struct wsdbg_error *collect(const struct barriers *barriers, struct keys *keys)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t cta = 0; cta < barriers->out->cta_count; cta++) {
        const struct wsdbg_families *families = families_of(barriers, cta);
        for (size_t f = 0; f < families->count && barriers->seen->ctas[cta].machine != WSDBG_NONE; f++)
            for (uint32_t stage = 0; !error && stage < families->rows[f].places; stage++)
                error = add_key(keys, make_key(cta, WSDBG_BARRIER_MBARRIER, families->rows[f].id, stage));
    }
    for (uint32_t i = 0; !error && i < barriers->out->part_count; i++)
        error = add_key(keys, part_key(barriers, keys, i));
    return error;
}

static int compare_keys(const void *left, const void *right)
{
    const barrier_key a = *(const barrier_key *)left, b = *(const barrier_key *)right;
    return (a > b) - (a < b);
}

static void sort_keys(struct keys *keys)
{
    size_t unique = 0;
    if (keys->count)
        qsort(keys->items, keys->count, sizeof *keys->items, compare_keys);
    for (size_t i = 0; i < keys->count; i++)
        if (i == 0 || keys->items[i] != keys->items[i - 1])
            keys->items[unique++] = keys->items[i];
    keys->count = unique;
}

static bool offset_of(const struct wsdbg_families *families, const struct wsdbg_barrier *barrier, uint32_t *offset)
{
    for (size_t i = 0; i < families->count; i++)
        if (families->rows[i].id == barrier->id) {
            *offset = families->rows[i].first + barrier->stage * families->rows[i].stride;
            return true;
        }
    *offset = (barrier->id - WSDBG_LOOK_UNNAMED_ID) * 8;
    return barrier->id >= WSDBG_LOOK_UNNAMED_ID;
}

/* How a simulated device calls it in events of its own. */
static void find_array(const struct barriers *barriers, uint32_t offset, struct wsdbg_barrier *barrier)
{
    const struct wsdbg_machine *machine = barriers->seen->machine;
    const uint32_t grid = barriers->seen->grids[barriers->out->ctas[barrier->cta].grid].machine;
    for (size_t i = 0; i < machine->array_count; i++) {
        const struct wsdbg_machine_array *array = &machine->arrays[i];
        const uint32_t from = offset - array->first;
        if (array->grid != grid || offset < array->first || from % array->stride ||
            from / array->stride >= array->stages)
            continue;
        barrier->device_id = wsdbg_known_u32(array->id);
        barrier->device_stage = from / array->stride;
        barrier->device_stages = array->stages;
    }
}

/* A word that no mbarrier can have is kept, and its phase stays unknown. */
struct wsdbg_error *wsdbg_look_read_mbarrier(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                             uint32_t offset, struct wsdbg_words *words, struct wsdbg_barrier *row)
{
    uint64_t word;
    bool known;
    row->shared_offset = wsdbg_known_u32(offset);
    struct wsdbg_error *error = wsdbg_look_word(source, seen, row->cta, offset, words, &word, &known);
    if (error || !known)
        return error;
    const struct wsdbg_mbarrier_word fields = wsdbg_mbarrier_word(word);
    row->word = wsdbg_known_u64(word);
    if (!fields.is_valid)
        return NULL;
    row->phase = wsdbg_known_u32(fields.phase);
    row->expected_arrivals = wsdbg_known_u32(fields.expected);
    row->pending_arrivals = wsdbg_known_u32(fields.pending);
    row->pending_tx_bytes = wsdbg_known_u64((uint64_t)(int64_t)fields.missing_bytes);
    return NULL;
}

static struct wsdbg_error *fill_mbarrier(const struct barriers *barriers, struct wsdbg_barrier *barrier)
{
    uint32_t offset;
    if (!offset_of(families_of(barriers, barrier->cta), barrier, &offset))
        return NULL;
    find_array(barriers, offset, barrier);
    return wsdbg_look_read_mbarrier(barriers->source, barriers->seen, offset, barriers->words, barrier);
}

static bool arrives_without_waiting(const struct wsdbg_look_grid *grid, uint8_t kind, uint32_t id)
{
    for (size_t i = 0; grid->kernel && i < grid->kernel->access_count; i++) {
        const struct wsdbg_access *access = &grid->kernel->accesses[i];
        if (access->kind == kind &&
            (!access->address.known || access->address.count != 1 || access->address.base == id))
            return true;
    }
    return !grid->kernel;
}

/* Threads of one CTA that stand in a wait for this named barrier. */
static uint32_t threads_in(const struct barriers *barriers, uint32_t cta, uint32_t id)
{
    const struct wsdbg_cta *row = &barriers->out->ctas[cta];
    uint32_t threads = 0;
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &barriers->out->warps[w];
        for (uint32_t p = warp->part_first; p < warp->part_first + warp->part_count; p++)
            if (barriers->out->parts[p].state == WSDBG_WARP_WAIT_NAMED && barriers->operands->parts[p].bar_id == id)
                threads += (uint32_t)__builtin_popcount(barriers->out->parts[p].lanes);
    }
    return threads;
}

/* The count that all who wait there ask for. */
static void fill_named(const struct barriers *barriers, struct wsdbg_barrier *barrier)
{
    const struct wsdbg_cta *row = &barriers->out->ctas[barrier->cta];
    struct wsdbg_optional_u32 asked = {0};
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &barriers->out->warps[w];
        for (uint32_t p = warp->part_first; p < warp->part_first + warp->part_count; p++) {
            const struct wsdbg_part *part = &barriers->out->parts[p];
            if (part->state != WSDBG_WARP_WAIT_NAMED || barriers->operands->parts[p].bar_id != barrier->id)
                continue;
            if (asked.known && asked.value != part->count.value)
                return;
            asked = part->count;
        }
    }
    barrier->expected_arrivals = asked;
    const uint32_t there = threads_in(barriers, barrier->cta, barrier->id);
    if (asked.known && there <= asked.value &&
        !arrives_without_waiting(&barriers->seen->grids[row->grid], WSDBG_ACCESS_NAMED_ARRIVE, barrier->id))
        barrier->pending_arrivals = wsdbg_known_u32(asked.value - there);
}

/* Threads of a CTA that have not arrived at the cluster barrier; false where some may have arrived and not waited. */
static struct wsdbg_error *missing_in_cluster(const struct barriers *barriers, uint32_t cta, uint32_t *missing,
                                              bool *known)
{
    const struct wsdbg_cta *row = &barriers->out->ctas[cta];
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &barriers->out->warps[w];
        for (uint32_t p = warp->part_first; p < warp->part_first + warp->part_count; p++) {
            const struct wsdbg_paths *paths;
            if (barriers->out->parts[p].state == WSDBG_WARP_WAIT_CLUSTER)
                continue;
            struct wsdbg_error *error = wsdbg_look_paths(barriers->seen, barriers->out, p, &paths);
            if (error)
                return error;
            *known = *known && paths && !paths->may_owe_wait;
            *missing += (uint32_t)__builtin_popcount(barriers->out->parts[p].lanes);
        }
    }
    return NULL;
}

/* Of all CTAs of the cluster; threads that exited count as arrived. */
static struct wsdbg_error *fill_cluster(const struct barriers *barriers, struct wsdbg_barrier *barrier)
{
    const struct wsdbg_cta *self = &barriers->out->ctas[barrier->cta];
    const struct wsdbg_grid *grid = &barriers->out->grids[self->grid];
    struct wsdbg_error *error = NULL;
    uint32_t missing = 0;
    bool known = true;
    for (uint32_t i = grid->cta_first; !error && i < grid->cta_first + grid->cta_count; i++)
        if (barriers->out->ctas[i].cluster_id == self->cluster_id)
            error = missing_in_cluster(barriers, i, &missing, &known);
    barrier->expected_arrivals = wsdbg_known_u32(self->cluster_size * grid->warps_per_cta * WSDBG_MACHINE_LANES);
    if (known)
        barrier->pending_arrivals = wsdbg_known_u32(missing);
    return error;
}

static struct wsdbg_error *make_barriers(const struct barriers *barriers, const struct keys *keys)
{
    struct wsdbg_snapshot *out = barriers->out;
    struct wsdbg_error *error = NULL;
    out->barriers = malloc((keys->count + 1) * sizeof *out->barriers);
    if (!out->barriers)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; !error && i < keys->count; i++) {
        const barrier_key key = keys->items[i];
        struct wsdbg_barrier *barrier = &out->barriers[out->barrier_count++];
        *barrier = (struct wsdbg_barrier){
            .cta = (uint32_t)(key >> 32),
            .kind = (enum wsdbg_barrier_kind)(key >> 24 & 0xff),
            .id = key >> 8 & ID_MASK,
            .stage = key & 0xff,
        };
        const uint32_t module = out->grids[out->ctas[barrier->cta].grid].module;
        if (barrier->kind == WSDBG_BARRIER_MBARRIER) {
            barrier->name = wsdbg_snapshot_name(out, module, WSDBG_NAME_MBARRIER, barrier->id);
            error = fill_mbarrier(barriers, barrier);
        } else if (barrier->kind == WSDBG_BARRIER_NAMED) {
            fill_named(barriers, barrier);
        } else if (barrier->kind == WSDBG_BARRIER_CLUSTER) {
            error = fill_cluster(barriers, barrier);
        }
    }
    return error;
}

static void link_parts(const struct barriers *barriers, struct keys *keys)
{
    struct wsdbg_snapshot *out = barriers->out;
    for (uint32_t i = 0; i < out->part_count; i++) {
        const barrier_key key = part_key(barriers, keys, i);
        const barrier_key *found =
            key != NO_KEY && keys->count ? bsearch(&key, keys->items, keys->count, sizeof key, compare_keys) : NULL;
        out->parts[i].barrier = found ? (uint32_t)(found - keys->items) : WSDBG_NONE;
    }
    for (uint32_t i = 0; i < out->warp_count; i++) {
        const uint32_t part = barriers->deciding[i];
        if (part == WSDBG_NONE || out->parts[part].barrier == WSDBG_NONE)
            continue;
        out->warps[i].barrier = out->parts[part].barrier;
        out->barriers[out->parts[part].barrier].waiters++;
    }
}

struct wsdbg_error *wsdbg_look_barriers(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                        const struct wsdbg_look_operands *operands,
                                        const struct wsdbg_families *families, const uint32_t *deciding,
                                        struct wsdbg_words *words, struct wsdbg_snapshot *out)
{
    const struct barriers barriers = {source, seen, operands, families, deciding, words, out};
    struct keys *keys = calloc(1, sizeof *keys);
    if (!keys)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = collect(&barriers, keys);
    sort_keys(keys);
    if (!error)
        error = make_barriers(&barriers, keys);
    if (!error)
        link_parts(&barriers, keys);
    free(keys->items);
    free(keys);
    return error;
}
