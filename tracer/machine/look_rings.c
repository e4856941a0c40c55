/* look_rings.c - mbarriers that turn out to be stages of one array only when threads are followed: one instruction of
 * theirs takes several in turn, and nothing in the code says from where on and how far it goes.
 *
 * Reads: snapshot.walks and steps.  Writes: ids and stages of snapshot.barriers, stages of snapshot.names.
 */
#include <stdio.h>
#include <string.h>

#include "machine/look.h"

enum { PLACES_MOST = 64, MBARRIER_BYTES = 8, SPACING_MOST = 64 };

/* An mbarrier of the CTAs of a grid, which all have the same. */
struct ring_place {
    uint32_t offset, id, stage;
    struct wsdbg_optional_u32 expected;
    uint32_t kinds;      /* of the accesses that walks make on it, a bit each */
    uint32_t ring_first; /* the first place of its ring */
};

struct rings {
    struct wsdbg_snapshot *out;
    uint32_t grid;
    struct ring_place places[PLACES_MOST]; /* as the rows of a CTA lie */
    uint32_t count;
    /* A bit for each pair of places that follow each other, by the kind of access: some instruction takes both. */
    uint64_t together[WSDBG_ACCESS_INVALIDATE + 1];
};

static bool is_of_grid(const struct rings *rings, const struct wsdbg_barrier *row)
{
    return row->kind == WSDBG_BARRIER_MBARRIER && row->shared_offset.known &&
           rings->out->ctas[row->cta].grid == rings->grid;
}

static uint32_t place_at(const struct rings *rings, uint32_t offset)
{
    uint32_t at = 0;
    while (at < rings->count && rings->places[at].offset != offset)
        at++;
    return at;
}

/* Where the array begins of which a place is, as far as that is known so far. */
static uint32_t first_offset(const struct rings *rings, const struct ring_place *place)
{
    uint32_t first = place->offset;
    for (uint32_t i = 0; i < rings->count; i++)
        if (rings->places[i].id == place->id && rings->places[i].offset < first)
            first = rings->places[i].offset;
    return first;
}

static bool lies_before(const struct rings *rings, const struct ring_place *a, const struct ring_place *b)
{
    const uint32_t first_a = first_offset(rings, a), first_b = first_offset(rings, b);
    return first_a != first_b ? first_a < first_b : a->offset < b->offset;
}

/* Array by array, in the order of their addresses: those without a name lie among the others. */
static void sort_places(struct rings *rings)
{
    for (uint32_t i = 1; i < rings->count; i++) {
        const struct ring_place place = rings->places[i];
        uint32_t at = i;
        for (; at > 0 && lies_before(rings, &place, &rings->places[at - 1]); at--)
            rings->places[at] = rings->places[at - 1];
        rings->places[at] = place;
    }
    for (uint32_t i = 0; i < rings->count; i++)
        rings->places[i].ring_first = i;
}

/* The mbarriers of the first CTA that has rows.  False: there are too many, or none. */
static bool note_places(struct rings *rings)
{
    uint32_t cta = WSDBG_NONE;
    for (size_t i = 0; i < rings->out->barrier_count; i++) {
        const struct wsdbg_barrier *row = &rings->out->barriers[i];
        if (!is_of_grid(rings, row) || (cta != WSDBG_NONE && row->cta != cta))
            continue;
        if (rings->count == PLACES_MOST)
            return false;
        cta = row->cta;
        rings->places[rings->count] = (struct ring_place){.offset = row->shared_offset.value,
                                                          .id = row->id,
                                                          .stage = row->stage,
                                                          .expected = row->expected_arrivals,
                                                          .ring_first = rings->count};
        rings->count++;
    }
    sort_places(rings);
    return rings->count > 1;
}

/* ---- which instructions take several ---- */

static bool is_of_walks(const struct rings *rings, const struct wsdbg_walk_row *walk)
{
    return rings->out->ctas[rings->out->warps[walk->warp].cta].grid == rings->grid;
}

/* The places that an instruction takes in the walk, a bit each. */
static void note_access(struct rings *rings, const struct wsdbg_walk_row *walk, uint32_t from)
{
    const struct wsdbg_step_row *steps = &rings->out->steps[walk->step_first];
    uint64_t taken = 0;
    for (uint32_t k = from; k < walk->step_count; k++) {
        const uint32_t at = steps[k].access == steps[from].access ? place_at(rings, steps[k].address) : rings->count;
        taken |= at < rings->count ? (uint64_t)1 << at : 0;
    }
    rings->together[steps[from].kind] |= taken & taken >> 1;
}

static bool is_first_of_access(const struct wsdbg_step_row *steps, uint32_t at)
{
    for (uint32_t k = 0; k < at; k++)
        if (steps[k].access == steps[at].access)
            return false;
    return true;
}

static void note_walk(struct rings *rings, const struct wsdbg_walk_row *walk)
{
    const struct wsdbg_step_row *steps = &rings->out->steps[walk->step_first];
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const uint32_t at = wsdbg_is_mbarrier_access(steps[k].kind) && steps[k].kind != WSDBG_ACCESS_INIT
                                ? place_at(rings, steps[k].address)
                                : rings->count;
        if (at == rings->count)
            continue;
        rings->places[at].kinds |= 1u << steps[k].kind;
        if (steps[k].access != WSDBG_NONE && is_first_of_access(steps, k))
            note_access(rings, walk, k);
    }
}

/* ---- rings ---- */

/* Whether the place is all that is known of its family. */
static bool is_single(const struct rings *rings, uint32_t at)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < rings->count; i++)
        places += rings->places[i].id == rings->places[at].id;
    return places == 1;
}

static bool is_taken_together(const struct rings *rings, uint32_t at)
{
    bool is_taken = false;
    for (uint32_t kind = WSDBG_ACCESS_WAIT; kind <= WSDBG_ACCESS_INVALIDATE; kind++)
        is_taken |= rings->together[kind] >> (at - 1) & 1;
    return is_taken;
}

static bool expects_other(const struct ring_place *place, const struct ring_place *other)
{
    return place->expected.known && other->expected.known && place->expected.value != other->expected.value;
}

/* Whether a place belongs to another ring than the place before it, though both are of one family so far: other
 * operations are done on it, or it expects other arrivals, and no instruction takes both. */
static bool breaks_off(const struct rings *rings, uint32_t at)
{
    const struct ring_place *place = &rings->places[at], *last = place - 1;
    return at < rings->count && place->id == last->id && place->kinds && last->kinds &&
           (place->kinds != last->kinds || expects_other(place, last)) && !is_taken_together(rings, at);
}

/* Whether a place goes on the ring of the one before it.  They are of different families so far.  One of these has no
 * other place, or the second one breaks off right behind its first place.  Both places lie in one row, expect the same,
 * and the same is done with them.  And some instruction takes both. */
static bool goes_on(const struct rings *rings, uint32_t at)
{
    const struct ring_place *last = &rings->places[at - 1], *next = &rings->places[at];
    const uint32_t spacing = next->offset - last->offset;
    if (next->id == last->id || next->offset <= last->offset || spacing % MBARRIER_BYTES || spacing > SPACING_MOST ||
        !last->expected.known || !next->expected.known || last->expected.value != next->expected.value ||
        last->kinds != next->kinds || !(is_single(rings, at - 1) || is_single(rings, at) || breaks_off(rings, at + 1)))
        return false;
    const bool is_in_row = last->ring_first == at - 1 || spacing == last->offset - rings->places[at - 2].offset;
    return is_in_row && is_taken_together(rings, at);
}

/* The stages of one family follow each other already.  True: some place has a new family. */
static bool join(struct rings *rings)
{
    bool any = false;
    for (uint32_t at = 1; at < rings->count; at++) {
        struct ring_place *place = &rings->places[at], *last = place - 1;
        const bool is_same = place->id == last->id, joins = goes_on(rings, at);
        const bool is_left = is_same && rings->places[last->ring_first].id != last->id && breaks_off(rings, at);
        any |= joins;
        if (is_left)
            place->stage = 0;
        else if (is_same || joins)
            place->ring_first = last->ring_first;
    }
    return any;
}

/* A name that is an address is that of the first stage. */
static void set_stages(struct rings *rings, uint32_t id, uint32_t stages, uint32_t first_offset_of_ring)
{
    static const char by_address[] = "mbarrier 0x";
    const uint32_t module = rings->out->grids[rings->grid].module;
    const struct wsdbg_name *name = wsdbg_snapshot_name(rings->out, module, WSDBG_NAME_MBARRIER, id);
    struct wsdbg_name *row = name ? &rings->out->names[name - rings->out->names] : NULL;
    if (row && stages <= UINT8_MAX)
        row->stages = (uint8_t)stages;
    if (row && !strncmp(row->name, by_address, sizeof by_address - 1))
        snprintf(row->name, sizeof row->name, "%s%x", by_address, first_offset_of_ring);
}

static uint32_t length_of(const struct rings *rings, uint32_t first)
{
    uint32_t length = 0;
    while (first + length < rings->count && rings->places[first + length].ring_first == first)
        length++;
    return length;
}

/* The id of a ring's first place that has a name; if none has, that of the first one. */
static uint32_t id_of_ring(const struct rings *rings, uint32_t first)
{
    for (uint32_t at = first; at < rings->count && rings->places[at].ring_first == first; at++)
        if (rings->places[at].id < WSDBG_LOOK_UNNAMED_ID)
            return rings->places[at].id;
    return rings->places[first].id;
}

/* How many letters of a name are its variable, where it names a part of one: "bars+24". */
static size_t variable_length(const struct wsdbg_name *name)
{
    const char *rest = name && name->reserved == WSDBG_NAME_OF_VARIABLE ? strrchr(name->name, '+') : NULL;
    return rest ? (size_t)(rest - name->name) : 0;
}

static const struct wsdbg_name *name_of(const struct rings *rings, uint32_t id)
{
    return wsdbg_snapshot_name(rings->out, rings->out->grids[rings->grid].module, WSDBG_NAME_MBARRIER, id);
}

/* A ring to which all parts of a variable belong is called as that is. */
static void name_whole(struct rings *rings, uint32_t first)
{
    const uint32_t id = id_of_ring(rings, first);
    const struct wsdbg_name *name = name_of(rings, id);
    const size_t length = variable_length(name);
    for (uint32_t at = 0; at < rings->count && length; at++) {
        const struct wsdbg_name *other = name_of(rings, rings->places[at].id);
        const bool is_of_ring = rings->places[at].ring_first == first;
        const bool is_of_variable = variable_length(other) == length && strncmp(name->name, other->name, length) == 0;
        if (is_of_ring != is_of_variable)
            return;
    }
    if (length)
        rings->out->names[name - rings->out->names].name[length] = '\0';
}

static void write(struct rings *rings)
{
    for (size_t i = 0; i < rings->out->barrier_count; i++) {
        struct wsdbg_barrier *row = &rings->out->barriers[i];
        const uint32_t at = is_of_grid(rings, row) ? place_at(rings, row->shared_offset.value) : rings->count;
        if (at == rings->count)
            continue;
        const struct ring_place *first = &rings->places[rings->places[at].ring_first];
        row->id = id_of_ring(rings, rings->places[at].ring_first);
        row->stage = first->stage + at - rings->places[at].ring_first;
        row->name =
            wsdbg_snapshot_name(rings->out, rings->out->grids[rings->grid].module, WSDBG_NAME_MBARRIER, row->id);
        set_stages(rings, row->id, first->stage + length_of(rings, rings->places[at].ring_first), first->offset);
    }
}

/* Of rings that have become longer. */
static void name_rings(struct rings *rings)
{
    for (uint32_t first = 0; first < rings->count; first++)
        if (rings->places[first].ring_first == first && length_of(rings, first) > 1)
            name_whole(rings, first);
}

void wsdbg_look_rings(struct wsdbg_snapshot *out)
{
    for (uint32_t grid = 0; grid < out->grid_count; grid++) {
        struct rings rings = {.out = out, .grid = grid};
        if (!note_places(&rings))
            continue;
        for (size_t i = 0; i < out->walk_count; i++)
            if (is_of_walks(&rings, &out->walks[i]))
                note_walk(&rings, &out->walks[i]);
        if (!join(&rings))
            continue;
        write(&rings);
        name_rings(&rings);
    }
}
