/* launch_match.c - see launch_match.h.
 *
 * Reads: launches that are not known to be done, and the kernels of graphs.  Writes: grid.launch, the size of a grid
 * whose size the GPU does not tell; in the row of a launch the cluster that the kernel was compiled for, and of a graph
 * launch what it runs.
 *
 * Never a guess: two launches that may have made the grid are none, and so is one beside a launch that may carry
 * anything.
 */
#include "machine/launch_match.h"

#include <string.h>

#include "model/launch_site.h"
#include "wsdbg/session.h"

/* What a launch, or a node of a graph, runs. */
struct shape {
    uint32_t function;
    const uint32_t *grid, *block;
    const struct wsdbg_optional_u32 *cluster;
};

struct match {
    uint32_t launch;                       /* the first that fits, WSDBG_NONE = none does */
    const struct wsdbg_graph_kernel *node; /* of a graph launch: what fits */
    bool ambiguous;
};

/* How much of the GPU's word on the grid's size is believed. */
enum trust {
    TRUST_SIZE,
    TRUST_NO_SIZE /* 1x1x1, as the driver (580) was seen to say of cooperative grids */
};

static bool axes_fit(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const uint32_t size[3])
{
    const uint64_t total = (uint64_t)size[0] * size[1] * size[2];
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count && i < snapshot->cta_count; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[i];
        if (cta->x >= size[0] || cta->y >= size[1] || cta->z >= size[2])
            return false;
    }
    return total <= UINT32_MAX && total >= grid->cta_count;
}

static bool size_fits(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const uint32_t size[3],
                      enum trust trust)
{
    if (trust == TRUST_SIZE && grid->cta_total)
        return memcmp(size, grid->size, sizeof grid->size) == 0;
    return axes_fit(snapshot, grid, size);
}

static bool cluster_fits(const struct wsdbg_grid *grid, const struct wsdbg_optional_u32 *cluster)
{
    for (int axis = 0; axis < 3; axis++)
        if (grid->cluster[axis].known && cluster[axis].known && grid->cluster[axis].value != cluster[axis].value)
            return false;
    return true;
}

static bool shape_fits(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, struct shape shape,
                       enum trust trust)
{
    return shape.function == grid->function && memcmp(shape.block, grid->block, sizeof grid->block) == 0 &&
           size_fits(snapshot, grid, shape.grid, trust) && cluster_fits(grid, shape.cluster);
}

static void add(struct match *match, uint32_t launch, const struct wsdbg_graph_kernel *node)
{
    match->ambiguous |= match->launch != WSDBG_NONE;
    match->launch = launch;
    match->node = node;
}

static void weigh_graph(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, uint32_t index,
                        enum trust trust, struct match *match)
{
    const struct wsdbg_launch *launch = &snapshot->launches[index];
    const struct wsdbg_graph_kernel *node = NULL;
    for (size_t i = 0; launch->graph && i < snapshot->graph_kernel_count; i++) {
        const struct wsdbg_graph_kernel *kernel = &snapshot->graph_kernels[i];
        if (kernel->process_id != launch->process_id || kernel->graph != launch->graph)
            continue;
        match->ambiguous |= kernel->function == WSDBG_NONE;
        if (!shape_fits(snapshot, grid, (struct shape){kernel->function, kernel->grid, kernel->block, kernel->cluster},
                        trust))
            continue;
        match->ambiguous |= node != NULL; /* the same launch, but which of its kernels? */
        node = kernel;
    }
    if (node)
        add(match, index, node);
    else
        match->ambiguous |= !launch->graph || (launch->flags & WSDBG_LAUNCH_GRAPH_PARTLY);
}

static void weigh(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, uint32_t index,
                  enum trust trust, struct match *match)
{
    const struct wsdbg_launch *launch = &snapshot->launches[index];
    const struct shape shape = {launch->function, launch->grid, launch->block, launch->cluster};
    if (launch->flags & WSDBG_LAUNCH_GRAPH)
        weigh_graph(snapshot, grid, index, trust, match);
    else if (launch->function == WSDBG_NONE || launch->context == WSDBG_NONE)
        match->ambiguous = true;
    else if (shape_fits(snapshot, grid, shape, trust) &&
             (trust == TRUST_SIZE || launch->flags & WSDBG_LAUNCH_COOPERATIVE))
        add(match, index, NULL);
}

static struct match match_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, enum trust trust)
{
    struct match match = {.launch = WSDBG_NONE};
    for (uint32_t i = 0; i < snapshot->launch_count; i++)
        if (wsdbg_launch_may_run(snapshot, i, grid->context))
            weigh(snapshot, grid, i, trust, &match);
    return match;
}

/* False: another grid of that launch is another node. */
static bool name_node(struct wsdbg_launch *launch, const struct wsdbg_graph_kernel *node)
{
    if (launch->function != WSDBG_NONE)
        return launch->function == node->function && memcmp(launch->grid, node->grid, sizeof launch->grid) == 0 &&
               memcmp(launch->block, node->block, sizeof launch->block) == 0;
    launch->function = node->function;
    memcpy(launch->grid, node->grid, sizeof launch->grid);
    memcpy(launch->block, node->block, sizeof launch->block);
    memcpy(launch->cluster, node->cluster, sizeof launch->cluster);
    launch->dynamic_shared_bytes = node->dynamic_shared_bytes;
    return true;
}

/* A kernel compiled for clusters is launched without naming them. */
static void fill_cluster(struct wsdbg_launch *launch, const struct wsdbg_grid *grid)
{
    for (int axis = 0; axis < 3; axis++)
        if (launch->cluster[axis].known || !grid->cluster[axis].known)
            return;
    if (grid->cluster[0].value * grid->cluster[1].value * grid->cluster[2].value > 1)
        memcpy(launch->cluster, grid->cluster, sizeof launch->cluster);
}

static bool is_one_cta(const struct wsdbg_grid *grid)
{
    return grid->cta_total == 1;
}

void wsdbg_find_launch(struct wsdbg_snapshot *snapshot, struct wsdbg_grid *grid)
{
    grid->launch = WSDBG_NONE;
    if (grid->function == WSDBG_NONE || !wsdbg_has_all_launches(snapshot, grid->context))
        return;
    struct match match = match_of(snapshot, grid, TRUST_SIZE);
    if (match.launch == WSDBG_NONE && !match.ambiguous && is_one_cta(grid))
        match = match_of(snapshot, grid, TRUST_NO_SIZE);
    if (match.launch == WSDBG_NONE || match.ambiguous)
        return;
    struct wsdbg_launch *launch = &snapshot->launches[match.launch];
    if (match.node && !name_node(launch, match.node))
        return;
    fill_cluster(launch, grid);
    grid->launch = match.launch;
    memcpy(grid->size, launch->grid, sizeof grid->size);
    grid->cta_total = launch->grid[0] * launch->grid[1] * launch->grid[2];
}
