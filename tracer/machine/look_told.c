/* look_told.c - which mbarriers an access takes whose address the code does not tell, but walks do.
 *
 * Reads: snapshot.walks, steps and barriers.  Writes: addresses of snapshot.accesses.
 *
 * All walks of a grid must be whole, and those of some CTA there for each of its threads.  An access then may take any
 * stage of the one array of which it takes some, as in an unrolled loop: another CTA may go round more often.
 */
#include "machine/look.h"

enum { STAGES_MOST = 64 };

/* An array of mbarriers, by the rows of one CTA. */
struct array {
    uint32_t first, stride, places;
};

/* ---- whether walks tell ---- */

static bool is_of_grid(const struct wsdbg_snapshot *out, const struct wsdbg_walk_row *walk, uint32_t grid)
{
    return out->ctas[out->warps[walk->warp].cta].grid == grid;
}

/* The lanes of a warp that were walked. */
static uint32_t walked_lanes(const struct wsdbg_snapshot *out, uint32_t warp)
{
    uint32_t lanes = 0;
    for (size_t i = 0; i < out->walk_count; i++)
        lanes |= out->walks[i].warp == warp ? out->walks[i].lanes : 0;
    return lanes;
}

static bool is_walked(const struct wsdbg_snapshot *out, uint32_t cta)
{
    const struct wsdbg_cta *row = &out->ctas[cta];
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++)
        if (!walked_lanes(out, w))
            return false;
    return row->warp_count > 0;
}

static bool do_walks_tell(const struct wsdbg_snapshot *out, uint32_t grid)
{
    uint32_t cta = WSDBG_NONE;
    for (size_t i = 0; i < out->walk_count; i++) {
        if (!is_of_grid(out, &out->walks[i], grid))
            continue;
        if (!out->walks[i].is_whole || out->walks[i].is_guessed)
            return false;
        cta = out->warps[out->walks[i].warp].cta;
    }
    return cta != WSDBG_NONE && is_walked(out, cta);
}

/* ---- the array ---- */

static const struct wsdbg_barrier *barrier_at(const struct wsdbg_snapshot *out, uint32_t cta, uint32_t offset)
{
    for (size_t i = 0; i < out->barrier_count; i++) {
        const struct wsdbg_barrier *row = &out->barriers[i];
        if (row->cta == cta && row->kind == WSDBG_BARRIER_MBARRIER && row->shared_offset.known &&
            row->shared_offset.value == offset)
            return row;
    }
    return NULL;
}

/* False: its stages do not lie in one row. */
static bool array_of(const struct wsdbg_snapshot *out, const struct wsdbg_barrier *of, struct array *array)
{
    uint32_t offsets[STAGES_MOST] = {0}, count = 0;
    for (size_t i = 0; i < out->barrier_count; i++) {
        const struct wsdbg_barrier *row = &out->barriers[i];
        if (row->cta != of->cta || row->kind != of->kind || row->id != of->id)
            continue;
        if (row->stage >= STAGES_MOST)
            return false;
        offsets[row->stage] = row->shared_offset.value;
        count++;
    }
    *array = (struct array){offsets[0], count > 1 ? offsets[1] - offsets[0] : 0, count};
    for (uint32_t i = 1; i < count; i++)
        if (count > STAGES_MOST || offsets[i] != array->first + i * array->stride)
            return false;
    return count > 0;
}

/* ---- accesses ---- */

/* The mbarrier that the first step of the access takes, if all of them take one of its array in their own CTA; NULL. */
static const struct wsdbg_barrier *taken_by(const struct wsdbg_snapshot *out, uint32_t access)
{
    const struct wsdbg_barrier *found = NULL;
    for (size_t i = 0; i < out->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &out->walks[i];
        const uint32_t cta = out->warps[walk->warp].cta;
        for (uint32_t k = 0; k < walk->step_count; k++) {
            const struct wsdbg_step_row *step = &out->steps[walk->step_first + k];
            if (step->access != access)
                continue;
            const struct wsdbg_barrier *row =
                step->rank == WSDBG_STEP_OWN_RANK ? barrier_at(out, cta, step->address) : NULL;
            if (!row || (found && row->id != found->id))
                return NULL;
            found = found ? found : row;
        }
    }
    return found;
}

static void tell_access(struct wsdbg_snapshot *out, uint32_t access)
{
    struct wsdbg_access_row *row = &out->accesses[access];
    struct array array;
    if (!wsdbg_is_mbarrier_access(row->kind) || row->address.known || row->any_rank)
        return;
    const struct wsdbg_barrier *barrier = taken_by(out, access);
    if (!barrier || !array_of(out, barrier, &array))
        return;
    row->certain = true;
    row->address = wsdbg_known_u32(array.first);
    row->stride = array.stride;
    row->places = array.places;
}

void wsdbg_look_told(struct wsdbg_snapshot *out)
{
    for (uint32_t grid = 0; grid < out->grid_count; grid++) {
        if (!do_walks_tell(out, grid))
            continue;
        for (uint32_t access = 0; access < out->access_count; access++)
            if (out->accesses[access].grid == grid)
                tell_access(out, access);
    }
}
