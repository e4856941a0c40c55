/* look_reaches.c - how each warp stands to each access of its grid's kernel: what it must have executed on its way, may
 * have, and still can.
 *
 * Reads: paths of the parts, executions.  Writes: snapshot.reaches.
 */
#include <stdlib.h>

#include "machine/look_executions.h"

struct reaches {
    const struct wsdbg_look_seen *seen;
    const uint32_t *deciding, *access_first;
    struct wsdbg_snapshot *out;
    struct wsdbg_look_executions *executions;
};

static uint8_t surer(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

/* The part is in the wait that the warp is shown in, perhaps at another place of its loop. */
static bool is_in_its_wait(const struct reaches *all, uint32_t warp, uint32_t part)
{
    const struct wsdbg_part *row = &all->out->parts[part], *deciding = &all->out->parts[all->deciding[warp]];
    return row == deciding || (row->state == WSDBG_WARP_WAIT_MBARRIER && deciding->state == row->state &&
                               row->barrier != WSDBG_NONE && row->barrier == deciding->barrier && row->parity.known &&
                               deciding->parity.known && row->parity.value == deciding->parity.value);
}

/* Before: of the part that the others wait for; after: of any of them. */
static struct wsdbg_error *add_reaches_of(const struct reaches *all, uint32_t warp)
{
    struct wsdbg_snapshot *out = all->out;
    const struct wsdbg_warp_row *row = &out->warps[warp];
    const uint32_t grid = out->ctas[row->cta].grid;
    const struct wsdbg_code_kernel *kernel = all->seen->grids[grid].kernel;
    const size_t first = out->reach_count, count = kernel ? kernel->access_count : 0;
    struct wsdbg_reach *reaches = &out->reaches[first];
    for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++) {
        const struct wsdbg_paths *paths;
        struct wsdbg_error *error = wsdbg_look_paths(all->seen, out, p, &paths);
        if (error)
            return error;
        if (!paths) {
            out->reach_count = first; /* a part stands where nobody knows how it goes on */
            return NULL;
        }
        const bool is_first = p == row->part_first, decides = p == all->deciding[warp],
                   is_apart = !is_in_its_wait(all, warp, p);
        out->reach_count = first + count;
        for (size_t i = 0; i < count; i++) {
            struct wsdbg_reach *reach = &reaches[i];
            if (is_first)
                *reach = (struct wsdbg_reach){.warp = warp, .access = all->access_first[grid] + (uint32_t)i};
            if (is_first || decides) {
                reach->before_least = paths->least[i];
                reach->before_most = paths->most[i];
                reach->before_known = paths->before_known[i];
            }
            reach->after = surer(reach->after, paths->after[i]);
            if (is_apart)
                reach->after_apart = surer(reach->after_apart, paths->after[i]);
        }
    }
    return NULL;
}

/* A warp may have each access twice: where its instruction is of another barrier for each warp. */
static struct wsdbg_error *make_room(const struct reaches *all)
{
    struct wsdbg_snapshot *out = all->out;
    size_t most = 0;
    for (uint32_t i = 0; i < out->warp_count; i++) {
        const struct wsdbg_code_kernel *kernel = all->seen->grids[out->ctas[out->warps[i].cta].grid].kernel;
        most += kernel ? 2 * kernel->access_count : 0;
    }
    out->reaches = malloc((most + 1) * sizeof *out->reaches);
    return out->reaches ? NULL : &wsdbg_error_no_memory;
}

static struct wsdbg_error *add_reaches(const struct reaches *all)
{
    struct wsdbg_error *error = make_room(all);
    for (uint32_t i = 0; !error && i < all->out->warp_count; i++) {
        const size_t first = all->out->reach_count;
        if (all->out->warps[i].part_count)
            error = add_reaches_of(all, i);
        if (!error)
            error = wsdbg_look_count_executions(all->executions, i, first);
    }
    return error;
}

struct wsdbg_error *wsdbg_look_reaches(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                       const uint32_t *deciding, const uint32_t *access_first,
                                       struct wsdbg_look_tables *tables)
{
    struct reaches all = {.seen = seen, .deciding = deciding, .access_first = access_first, .out = tables->out};
    struct wsdbg_error *error =
        wsdbg_look_executions_create(source, seen, deciding, access_first, tables, &all.executions);
    if (!error)
        error = add_reaches(&all);
    wsdbg_look_executions_destroy(all.executions);
    return error;
}
