/* look_clusters.c - which CTAs of a grid are on the GPU, and which have exited while another CTA of their cluster is
 * still there.
 *
 * Reads: a machine's CTAs.  Writes: struct wsdbg_look_seats, the place of a CTA in its cluster.
 *
 * The hardware starts the CTAs of a cluster together, and each stays until it exits.  So if one CTA of a cluster is
 * there, a missing one has exited.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

enum { CTAS_OF_CLUSTER_MOST = 16 }; /* of the hardware; a damaged file may name any number */

static uint32_t at_least_1(struct wsdbg_optional_u32 value)
{
    return value.known && value.value ? value.value : 1;
}

void wsdbg_look_cluster_size(const struct wsdbg_machine_grid *grid, const struct wsdbg_machine_cta *cta,
                             uint32_t size[3])
{
    for (unsigned i = 0; i < 3; i++)
        size[i] = at_least_1(cta->cluster_size[i].known && cta->cluster_size[i].value ? cta->cluster_size[i]
                                                                                      : grid->cluster[i]);
}

void wsdbg_look_place_in_cluster(const struct wsdbg_machine_grid *grid, const struct wsdbg_machine_cta *sibling,
                                 struct wsdbg_cta *row)
{
    const uint32_t at[3] = {row->x, row->y, row->z};
    uint32_t size[3];
    wsdbg_look_cluster_size(grid, sibling, size);
    row->cluster_size = size[0] * size[1] * size[2];
    for (unsigned i = 3; i-- > 0;) {
        row->cluster_rank = row->cluster_rank * size[i] + at[i] % size[i];
        row->cluster_id = row->cluster_id * (grid->grid[i] / size[i]) + at[i] / size[i];
    }
}

bool wsdbg_look_size_fits(const struct wsdbg_machine *machine, uint32_t machine_row)
{
    const struct wsdbg_machine_grid *grid = &machine->grids[machine_row];
    const uint64_t total = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    for (size_t i = 0; i < machine->cta_count; i++) {
        const struct wsdbg_machine_cta *cta = &machine->ctas[i];
        if (cta->grid == machine_row && (cta->x >= grid->grid[0] || cta->y >= grid->grid[1] || cta->z >= grid->grid[2]))
            return false;
    }
    return total > 0 && total <= UINT32_MAX;
}

/* ---- seats ---- */

static int compare_seats(const void *left, const void *right)
{
    const struct wsdbg_look_seat *a = left, *b = right;
    for (unsigned i = 3; i-- > 0;)
        if (a->at[i] != b->at[i])
            return a->at[i] < b->at[i] ? -1 : 1;
    return 0;
}

/* Those that are there first. */
static int compare_rows(const void *left, const void *right)
{
    const struct wsdbg_look_seat *a = left, *b = right;
    const int order = compare_seats(a, b);
    return order ? order : a->has_left - b->has_left;
}

static struct wsdbg_error *add_seat(struct wsdbg_look_seats *seats, struct wsdbg_look_seat seat)
{
    if (!wsdbg_grow((void **)&seats->rows, &seats->capacity, seats->count + 1, sizeof *seats->rows))
        return &wsdbg_error_no_memory;
    seats->rows[seats->count++] = seat;
    return NULL;
}

static void sort(struct wsdbg_look_seats *seats, size_t first)
{
    if (seats->count > first)
        qsort(seats->rows + first, seats->count - first, sizeof *seats->rows, compare_rows);
}

/* Adds the seats of a cluster that are not among the `taken` seats from `first` on.  If the cluster has several CTAs
 * there, each of them adds them. */
static struct wsdbg_error *add_left(struct wsdbg_look_seats *seats, size_t first, size_t taken,
                                    const struct wsdbg_look_seat *member, const uint32_t size[3])
{
    struct wsdbg_look_seat seat = {.grid = member->grid, .sibling = member->sibling, .has_left = true};
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < size[0] * size[1] * size[2]; i++) {
        const uint32_t offset[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
        for (unsigned axis = 0; axis < 3; axis++)
            seat.at[axis] = member->at[axis] - member->at[axis] % size[axis] + offset[axis];
        if (!bsearch(&seat, seats->rows + first, taken, sizeof seat, compare_seats))
            error = add_seat(seats, seat);
    }
    return error;
}

static void drop_doubles(struct wsdbg_look_seats *seats, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < seats->count; i++)
        if (i == first || !seats->rows[i].has_left || compare_seats(&seats->rows[i], &seats->rows[kept - 1]) != 0)
            seats->rows[kept++] = seats->rows[i];
    seats->count = kept;
}

/* Whether the clusters of a grid can be told from where its CTAs are. */
static bool has_clusters(const struct wsdbg_machine *machine, uint32_t grid, const uint32_t size[3])
{
    const uint32_t *ctas = machine->grids[grid].grid;
    const uint64_t count = (uint64_t)size[0] * size[1] * size[2];
    return count > 1 && count <= CTAS_OF_CLUSTER_MOST && ctas[0] % size[0] == 0 && ctas[1] % size[1] == 0 &&
           ctas[2] % size[2] == 0;
}

struct wsdbg_error *wsdbg_look_seats_add(const struct wsdbg_machine *machine, uint32_t grid, uint32_t machine_grid,
                                         struct wsdbg_look_seats *seats)
{
    const size_t first = seats->count;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < machine->cta_count; i++)
        if (machine->ctas[i].grid == machine_grid)
            error = add_seat(
                seats, (struct wsdbg_look_seat){.grid = grid,
                                                .sibling = i,
                                                .at = {machine->ctas[i].x, machine->ctas[i].y, machine->ctas[i].z}});
    sort(seats, first);
    const size_t end = seats->count;
    const bool is_size_known = wsdbg_look_size_fits(machine, machine_grid);
    for (size_t i = first; !error && i < end; i++) {
        const struct wsdbg_look_seat member = seats->rows[i];
        uint32_t size[3];
        wsdbg_look_cluster_size(&machine->grids[machine_grid], &machine->ctas[member.sibling], size);
        if (is_size_known && has_clusters(machine, machine_grid, size))
            error = add_left(seats, first, end - first, &member, size);
    }
    sort(seats, first);
    drop_doubles(seats, first);
    return error;
}
