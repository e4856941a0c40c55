/* look_places.c - mbarriers that only walks name: the code computes their addresses in a way that nobody follows
 * without running it.
 *
 * Reads: snapshot.walks and steps, the words of mbarriers.  Writes: rows of snapshot.barriers, and which ones parts,
 * warps and exceptions refer to.
 *
 * A row is added for each mbarrier that some walk initialises in its own CTA, and that has none.  It has no name;
 * look_rings.c finds out which ones are one array.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

enum { ADDED_MOST = 64 }; /* of a CTA */

struct places {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    struct wsdbg_words *words; /* beside the CTAs */
    struct wsdbg_snapshot *out;
    struct wsdbg_barrier *rows; /* all that there will be */
    uint32_t *moved;            /* by row of the snapshot: where it is among these */
    size_t count, capacity;
    uint32_t next; /* row of the snapshot that is not taken over yet */
    /* Walks of a CTA: the number of the first one + 1, by CTA; of the next one + 1, by walk.  0 = there is none. */
    uint32_t *first_walk, *next_walk;
    /* By step with which walks begin, which may share their steps: the steps up to their last INIT, + 1; 0 = not read.
     */
    uint32_t *init_end;
    struct added {
        uint32_t offset;
        struct wsdbg_optional_u32 expected; /* as it is initialised */
    } added[ADDED_MOST];
    uint32_t added_count;
};

/* ---- what a CTA lacks ---- */

static bool has_row(const struct places *places, uint32_t cta, uint32_t offset)
{
    const struct wsdbg_snapshot *out = places->out;
    for (size_t i = places->next; i < out->barrier_count && out->barriers[i].cta <= cta; i++)
        if (out->barriers[i].cta == cta && out->barriers[i].kind == WSDBG_BARRIER_MBARRIER &&
            out->barriers[i].shared_offset.known && out->barriers[i].shared_offset.value == offset)
            return true;
    return false;
}

/* Ascending. */
static void add_init(struct places *places, const struct wsdbg_step_row *init)
{
    uint32_t at = 0;
    while (at < places->added_count && places->added[at].offset < init->address)
        at++;
    if (places->added_count == ADDED_MOST || (at < places->added_count && places->added[at].offset == init->address))
        return;
    memmove(&places->added[at + 1], &places->added[at], (places->added_count - at) * sizeof *places->added);
    places->added[at] = (struct added){.offset = init->address};
    if (init->number_known)
        places->added[at].expected = wsdbg_known_u32(init->number);
    places->added_count++;
}

static bool is_own_init(const struct wsdbg_step_row *step, const struct wsdbg_cta *cta)
{
    return step->kind == WSDBG_ACCESS_INIT && step->address % sizeof(uint64_t) == 0 &&
           (step->rank == WSDBG_STEP_OWN_RANK || step->rank == cta->cluster_rank);
}

/* How many steps of a walk there are up to its last INIT. */
static uint32_t init_end_of(struct places *places, const struct wsdbg_walk_row *walk)
{
    const struct wsdbg_step_row *steps = &places->out->steps[walk->step_first];
    uint32_t count = walk->step_count;
    if (count == 0 || places->init_end[walk->step_first])
        return count ? places->init_end[walk->step_first] - 1 : 0;
    while (count > 0 && steps[count - 1].kind != WSDBG_ACCESS_INIT)
        count--;
    places->init_end[walk->step_first] = count + 1;
    return count;
}

static void find_added(struct places *places, uint32_t cta)
{
    const struct wsdbg_snapshot *out = places->out;
    places->added_count = 0;
    for (uint32_t i = places->first_walk[cta]; i && places->seen->ctas[cta].machine != WSDBG_NONE;
         i = places->next_walk[i - 1]) {
        const struct wsdbg_walk_row *walk = &out->walks[i - 1];
        const uint32_t end = init_end_of(places, walk);
        for (uint32_t k = 0; k < end; k++) {
            const struct wsdbg_step_row *step = &out->steps[walk->step_first + k];
            if (is_own_init(step, &out->ctas[cta]) && !has_row(places, cta, step->address))
                add_init(places, step);
        }
    }
}

static void list_walks(struct places *places)
{
    const struct wsdbg_snapshot *out = places->out;
    for (uint32_t i = (uint32_t)out->walk_count; i > 0; i--) {
        uint32_t *first = &places->first_walk[out->warps[out->walks[i - 1].warp].cta];
        places->next_walk[i - 1] = *first;
        *first = i;
    }
}

/* ---- rows ---- */

static bool add_row(struct places *places, const struct wsdbg_barrier *row)
{
    if (!wsdbg_grow((void **)&places->rows, &places->capacity, places->count + 1, sizeof *places->rows))
        return false;
    places->rows[places->count++] = *row;
    return true;
}

/* Rows of the CTA up to the last mbarrier, or all that are left of it. */
static bool take_rows(struct places *places, uint32_t cta, bool only_mbarriers)
{
    const struct wsdbg_snapshot *out = places->out;
    for (; places->next < out->barrier_count && out->barriers[places->next].cta == cta; places->next++) {
        if (only_mbarriers && out->barriers[places->next].kind > WSDBG_BARRIER_MBARRIER)
            return true;
        places->moved[places->next] = (uint32_t)places->count;
        if (!add_row(places, &out->barriers[places->next]))
            return false;
    }
    return true;
}

/* Reads the words that lie near each other at once: the GPU may stand still for it. */
static struct wsdbg_error *read_spans(struct places *places, uint32_t cta)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0, end; !error && i < places->added_count; i = end) {
        struct wsdbg_span span = {.first = places->added[i].offset};
        for (end = i; end < places->added_count; end++) {
            const uint32_t bytes = places->added[end].offset - span.first + (uint32_t)sizeof(uint64_t);
            if (bytes > WSDBG_SPAN_BYTES_MAX)
                break;
            span.byte_count = bytes;
        }
        error = wsdbg_words_read(&places->words[cta], places->source->machine, places->seen->ctas[cta].machine, span);
    }
    return error;
}

static struct wsdbg_error *add_missing(struct places *places, uint32_t cta)
{
    struct wsdbg_error *error = read_spans(places, cta);
    for (uint32_t i = 0; !error && i < places->added_count; i++) {
        const uint32_t offset = places->added[i].offset;
        struct wsdbg_barrier row = {.cta = cta,
                                    .kind = WSDBG_BARRIER_MBARRIER,
                                    .id = wsdbg_look_unnamed_id(offset),
                                    .expected_arrivals = places->added[i].expected};
        error = wsdbg_look_read_mbarrier(places->source, places->seen, offset, places->words, &row);
        if (!error && !add_row(places, &row))
            error = &wsdbg_error_no_memory;
    }
    return error;
}

static struct wsdbg_error *pass_cta(struct places *places, uint32_t cta)
{
    find_added(places, cta);
    if (!take_rows(places, cta, true))
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = add_missing(places, cta);
    return error || take_rows(places, cta, false) ? error : &wsdbg_error_no_memory;
}

static void move_reference(const struct places *places, uint32_t *barrier)
{
    if (*barrier < places->out->barrier_count)
        *barrier = places->moved[*barrier];
}

static void put_rows(struct places *places)
{
    struct wsdbg_snapshot *out = places->out;
    for (size_t i = 0; i < out->warp_count; i++)
        move_reference(places, &out->warps[i].barrier);
    for (size_t i = 0; i < out->part_count; i++)
        move_reference(places, &out->parts[i].barrier);
    for (size_t i = 0; i < out->exception_count; i++)
        move_reference(places, &out->exceptions[i].barrier);
    free(out->barriers);
    out->barriers = places->rows;
    out->barrier_count = places->count;
    places->rows = NULL;
}

struct wsdbg_error *wsdbg_look_places(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                      struct wsdbg_words *words, struct wsdbg_snapshot *out)
{
    if (!out->walk_count)
        return NULL;
    struct places places = {.source = source,
                            .seen = seen,
                            .words = words,
                            .out = out,
                            .moved = calloc(out->barrier_count + 1, sizeof *places.moved),
                            .first_walk = calloc(out->cta_count + 1, sizeof *places.first_walk),
                            .next_walk = calloc(out->walk_count, sizeof *places.next_walk),
                            .init_end = calloc(out->step_count + 1, sizeof *places.init_end)};
    const bool has_memory = places.moved && places.first_walk && places.next_walk && places.init_end;
    struct wsdbg_error *error = has_memory ? NULL : &wsdbg_error_no_memory;
    if (has_memory)
        list_walks(&places);
    for (uint32_t cta = 0; !error && cta < out->cta_count; cta++)
        error = pass_cta(&places, cta);
    if (!error && places.count > out->barrier_count)
        put_rows(&places);
    free(places.rows);
    free(places.moved);
    free(places.first_walk);
    free(places.next_walk);
    free(places.init_end);
    return error;
}
