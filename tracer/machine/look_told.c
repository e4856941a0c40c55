/* look_told.c - which mbarriers an access takes whose address the code does not tell, but walks do.
 *
 * Reads: snapshot.walks, steps and barriers.  Writes: addresses and places of snapshot.accesses.
 *
 * All walks of a grid must be whole, and made for each CTA in which a warp waits.  If an access takes some stages of
 * one array, it may take any stage of it: the loop may be unrolled, and another CTA may make more rounds.
 */
#include <stdlib.h>

#include "machine/look.h"

enum { PLACES_MOST = 64 }; /* mbarriers of a CTA */

/* An array of mbarriers, by the rows of one CTA. */
struct array {
    uint32_t first, stride, places;
};

/* ---- whether walks tell ---- */

static bool is_of_grid(const struct wsdbg_snapshot *out, const struct wsdbg_walk_row *walk, uint32_t grid)
{
    return out->ctas[out->warps[walk->warp].cta].grid == grid;
}

/* Whether the walks of the grid are whole, and there are some of each warp that waits for an mbarrier, and of those
 * beside it in its CTA.  walked: by warp. */
static bool do_walks_tell(const struct wsdbg_snapshot *out, uint32_t grid, bool *walked)
{
    bool tells = false;
    for (size_t i = 0; i < out->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &out->walks[i];
        if (!is_of_grid(out, walk, grid))
            continue;
        if (!walk->is_whole || walk->is_guessed)
            return false;
        walked[walk->warp] = tells = true;
    }
    for (uint32_t w = 0; w < out->warp_count && tells; w++) {
        const struct wsdbg_cta *cta = &out->ctas[out->warps[w].cta];
        for (uint32_t i = cta->warp_first; out->warps[w].state == WSDBG_WARP_WAIT_MBARRIER && cta->grid == grid &&
                                           i < cta->warp_first + cta->warp_count;
             i++)
            tells &= walked[i];
    }
    return tells;
}

/* ---- arrays ---- */

/* The mbarriers of a CTA, and by access of the snapshot the one that its first step takes. */
struct told {
    struct wsdbg_snapshot *out;
    uint32_t grid;
    const struct wsdbg_barrier *places[PLACES_MOST];
    uint32_t place_count;
    const struct wsdbg_barrier **taken; /* NULL = none so far */
    bool *is_open;                      /* by access: it takes what is not known, or several arrays */
    bool *walked;                       /* by warp */
    bool *is_read;                      /* by step: a walk that begins with it was read; walks may share their steps */
};

/* The rows of the first CTA of the grid that has some: all have the same.  False: there are too many. */
static bool note_places(struct told *told)
{
    const struct wsdbg_snapshot *out = told->out;
    told->place_count = 0;
    for (size_t i = 0; i < out->barrier_count; i++) {
        const struct wsdbg_barrier *row = &out->barriers[i];
        if (row->kind != WSDBG_BARRIER_MBARRIER || !row->shared_offset.known ||
            out->ctas[row->cta].grid != told->grid || (told->place_count && told->places[0]->cta != row->cta))
            continue;
        if (told->place_count == PLACES_MOST)
            return false;
        told->places[told->place_count++] = row;
    }
    return told->place_count > 0;
}

static const struct wsdbg_barrier *place_at(const struct told *told, uint32_t offset)
{
    for (uint32_t i = 0; i < told->place_count; i++)
        if (told->places[i]->shared_offset.value == offset)
            return told->places[i];
    return NULL;
}

/* False: its stages do not lie in one row, or not each of them has just one row. */
static bool array_of(const struct told *told, uint32_t id, struct array *array)
{
    uint32_t offsets[PLACES_MOST] = {0}, count = 0;
    bool has_stage[PLACES_MOST] = {false};
    for (uint32_t i = 0; i < told->place_count; i++) {
        const struct wsdbg_barrier *row = told->places[i];
        if (row->id != id)
            continue;
        if (row->stage >= PLACES_MOST || has_stage[row->stage])
            return false;
        has_stage[row->stage] = true;
        offsets[row->stage] = row->shared_offset.value;
        count++;
    }
    *array = (struct array){offsets[0], count > 1 ? offsets[1] - offsets[0] : 0, count};
    for (uint32_t i = 0; i < count; i++)
        if (!has_stage[i] || offsets[i] != array->first + i * array->stride)
            return false;
    return count > 0;
}

/* ---- accesses ---- */

/* Whether the code does not tell where an access begins, or where it ends. */
static bool is_asked(const struct told *told, uint32_t access)
{
    const struct wsdbg_access_row *row = access < told->out->access_count ? &told->out->accesses[access] : NULL;
    return row && row->grid == told->grid && wsdbg_is_mbarrier_access(row->kind) && !row->any_rank &&
           (!row->address.known || (row->stride && !row->places));
}

static bool is_any_asked(const struct told *told)
{
    for (uint32_t access = 0; access < told->out->access_count; access++)
        if (is_asked(told, access))
            return true;
    return false;
}

static void read_step(struct told *told, const struct wsdbg_step_row *step)
{
    if (!is_asked(told, step->access) || told->is_open[step->access])
        return;
    const struct wsdbg_barrier *row = step->rank == WSDBG_STEP_OWN_RANK ? place_at(told, step->address) : NULL;
    const struct wsdbg_barrier **taken = &told->taken[step->access];
    told->is_open[step->access] = !row || (*taken && (*taken)->id != row->id);
    *taken = *taken ? *taken : row;
}

static void read_walks(struct told *told)
{
    const struct wsdbg_snapshot *out = told->out;
    for (size_t i = 0; i < out->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &out->walks[i];
        if (!walk->step_count || !is_of_grid(out, walk, told->grid) || told->is_read[walk->step_first])
            continue;
        told->is_read[walk->step_first] = true;
        for (uint32_t k = 0; k < walk->step_count; k++)
            read_step(told, &out->steps[walk->step_first + k]);
    }
}

static void tell_access(struct told *told, uint32_t access)
{
    struct wsdbg_access_row *row = &told->out->accesses[access];
    struct array array;
    if (!is_asked(told, access) || told->is_open[access] || !told->taken[access] ||
        !array_of(told, told->taken[access]->id, &array))
        return;
    row->certain = true;
    row->address = wsdbg_known_u32(array.first);
    row->stride = array.stride;
    row->places = array.places;
}

static void tell_grid(struct told *told)
{
    if (!is_any_asked(told) || !do_walks_tell(told->out, told->grid, told->walked) || !note_places(told))
        return;
    read_walks(told);
    for (uint32_t access = 0; access < told->out->access_count; access++)
        tell_access(told, access);
}

struct wsdbg_error *wsdbg_look_told(struct wsdbg_snapshot *out)
{
    struct told told = {.out = out,
                        .taken = calloc(out->access_count + 1, sizeof *told.taken),
                        .is_open = calloc(out->access_count + 1, sizeof *told.is_open),
                        .walked = calloc(out->warp_count + 1, sizeof *told.walked),
                        .is_read = calloc(out->step_count + 1, sizeof *told.is_read)};
    const bool has_memory = told.taken && told.is_open && told.walked && told.is_read;
    for (; has_memory && told.grid < out->grid_count; told.grid++)
        tell_grid(&told);
    free(told.taken);
    free(told.is_open);
    free(told.walked);
    free(told.is_read);
    return has_memory ? NULL : &wsdbg_error_no_memory;
}
