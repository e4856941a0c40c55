/* grid_match.c - which launch a grid came from.  Never a guess: where two answers are possible there is none.
 *
 * Reads: grids (by grid id) and launches (by sequence) of each context.  Writes: grid.launch, grid.function
 * and whether grid ids are in stream order.
 *
 * Grids of one class (module, CTAs, warps a CTA, cluster size) and the launches that fit the class are both
 * in launch order.  Each grid has an earliest and a latest launch it can be; where they agree it is that one.
 * The order counts only if one thread made the launches, and nothing is concluded where a grid may come from
 * something unseen: a graph, a launch that left the table, a function whose module is not known.
 */
#include <stdlib.h>

#include "evidence/builder.h"
#include "wsdbg/session.h"

/* The launches that fit one class of grids. */
struct fit {
    const uint32_t *launches; /* indexes in snapshot.launches, ascending */
    size_t count;
    bool blurred; /* a grid of the class may come from something unseen */
    bool one_thread, one_stream;
    uint32_t function; /* the only function, WSDBG_NONE = several or none */
    bool may_overlap;  /* some launch is a programmatic dependent */
};

static bool same_class(const struct wsdbg_builder *builder, size_t a, size_t b)
{
    const struct wsdbg_grid *x = &builder->out->grids[a], *y = &builder->out->grids[b];
    return x->context == y->context && x->module == y->module && x->cta_total == y->cta_total &&
           x->warps_per_cta == y->warps_per_cta && builder->grids[a].cluster_size == builder->grids[b].cluster_size;
}

static bool shape_fits(const struct wsdbg_builder *builder, size_t grid, const uint32_t ctas[3],
                       const uint32_t block[3], const struct wsdbg_optional_u32 given[3])
{
    const struct wsdbg_grid *row = &builder->out->grids[grid];
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint64_t cluster = builder->grids[grid].cluster_size;
    if (given[0].known && given[1].known && given[2].known)
        cluster = (uint64_t)given[0].value * given[1].value * given[2].value;
    return ctas[0] * ctas[1] * ctas[2] == row->cta_total && (threads + 31) / 32 == row->warps_per_cta &&
           cluster == builder->grids[grid].cluster_size;
}

static bool may_be_of(const struct wsdbg_builder *builder, size_t grid, uint32_t function)
{
    const uint32_t module = function == WSDBG_NONE ? WSDBG_NONE : builder->out->functions[function].module;
    return module == WSDBG_NONE || module == builder->out->grids[grid].module;
}

/* What has no function is a graph, or a function that found no row.  Of a graph all kernels may be known. */
static bool may_hold(const struct wsdbg_builder *builder, size_t grid, const struct wsdbg_launch *launch)
{
    if (!launch->graph || launch->flags & WSDBG_LAUNCH_GRAPH_PARTLY)
        return true;
    for (size_t i = 0; i < builder->out->graph_kernel_count; i++) {
        const struct wsdbg_graph_kernel *kernel = &builder->out->graph_kernels[i];
        if (kernel->process_id == launch->process_id && kernel->graph == launch->graph &&
            may_be_of(builder, grid, kernel->function) &&
            shape_fits(builder, grid, kernel->grid, kernel->block, kernel->cluster))
            return true;
    }
    return false;
}

static bool coordinates_fit(const struct wsdbg_builder *builder, size_t grid, const struct wsdbg_launch *launch)
{
    const struct wsdbg_grid_work *work = &builder->grids[grid];
    return work->max_x < launch->grid[0] && work->max_y < launch->grid[1] && work->max_z < launch->grid[2];
}

/* A call that has not returned may have started its grid already. */
static bool was_refused(const struct wsdbg_launch *launch)
{
    return (launch->result != 0 && launch->result != WSDBG_RESULT_PENDING) || (launch->flags & WSDBG_LAUNCH_REFUSED);
}

/* Takes one launch into account for the class of `grid`; true = it is a candidate. */
static bool weigh_launch(const struct wsdbg_builder *builder, size_t grid, const struct wsdbg_launch *launch,
                         struct fit *fit)
{
    const struct wsdbg_grid *row = &builder->out->grids[grid];
    if (was_refused(launch) || (launch->context != row->context && launch->context != WSDBG_NONE))
        return false;
    if (launch->function == WSDBG_NONE) {
        fit->blurred |= may_hold(builder, grid, launch);
        return false;
    }
    const uint32_t module = builder->out->functions[launch->function].module;
    if (!may_be_of(builder, grid, launch->function) ||
        !shape_fits(builder, grid, launch->grid, launch->block, launch->cluster))
        return false;
    if (module == WSDBG_NONE || launch->context == WSDBG_NONE || (launch->flags & WSDBG_LAUNCH_CAPTURED))
        fit->blurred = true;
    return true;
}

static struct fit find_fit(const struct wsdbg_builder *builder, size_t grid, uint32_t *room)
{
    const struct wsdbg_snapshot *out = builder->out;
    const struct wsdbg_process_base *base = &builder->bases[builder->grids[grid].process];
    struct fit fit = {.launches = room, .blurred = base->launches_dropped, .one_thread = true, .one_stream = true};
    bool one_function = true;
    for (uint32_t i = base->launch; i < base->launch + base->launch_count; i++) {
        if (!weigh_launch(builder, grid, &out->launches[i], &fit))
            continue;
        const struct wsdbg_launch *first = &out->launches[fit.count ? room[0] : i];
        fit.one_thread &= out->launches[i].thread_id == first->thread_id;
        fit.one_stream &= out->launches[i].stream == first->stream;
        one_function &= out->launches[i].function == first->function;
        fit.may_overlap |= (out->launches[i].flags & WSDBG_LAUNCH_PROGRAMMATIC) != 0;
        room[fit.count++] = i;
    }
    const bool whole = fit.count && one_function && !fit.blurred;
    fit.function = whole ? out->launches[room[0]].function : WSDBG_NONE;
    return fit;
}

/* The only function of a module that was ever launched or looked up. */
static uint32_t only_function(const struct wsdbg_snapshot *out, uint32_t module)
{
    uint32_t found = WSDBG_NONE;
    for (size_t i = 0; i < out->function_count; i++) {
        if (out->functions[i].module == WSDBG_NONE)
            return WSDBG_NONE;
        if (out->functions[i].module != module)
            continue;
        if (found != WSDBG_NONE)
            return WSDBG_NONE;
        found = (uint32_t)i;
    }
    return found;
}

/* Place in fit.launches of the earliest candidate not before `from`, or fit.count. */
static size_t earliest(const struct wsdbg_builder *builder, const struct fit *fit, size_t grid, size_t from)
{
    while (from < fit->count && !coordinates_fit(builder, grid, &builder->out->launches[fit->launches[from]]))
        from++;
    return from;
}

/* One more than the place of the latest candidate before `end`, or 0. */
static size_t latest(const struct wsdbg_builder *builder, const struct fit *fit, size_t grid, size_t end)
{
    while (end > 0 && !coordinates_fit(builder, grid, &builder->out->launches[fit->launches[end - 1]]))
        end--;
    return end;
}

/* members: the class's grids in order of grid id; first[]: room for one number each. */
static void match_in_order(struct wsdbg_builder *builder, const struct fit *fit, const uint32_t *members, size_t count,
                           size_t *first)
{
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        first[i] = earliest(builder, fit, members[i], from);
        if (first[i] == fit->count)
            return; /* more grids than launches that fit: something was not seen */
        from = first[i] + 1;
    }
    size_t end = fit->count;
    for (size_t i = count; i-- > 0;) {
        end = latest(builder, fit, members[i], end);
        if (end-- == 0)
            return;
        if (first[i] == end)
            builder->out->grids[members[i]].launch = fit->launches[end];
    }
}

static void match_class(struct wsdbg_builder *builder, const struct fit *fit, const uint32_t *members, size_t count,
                        size_t *first)
{
    const uint32_t module = builder->out->grids[members[0]].module;
    const bool certain = fit->count && !fit->blurred;
    const uint32_t function = fit->function != WSDBG_NONE || module == WSDBG_NONE || certain
                                  ? fit->function
                                  : only_function(builder->out, module);
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_grid_work *work = &builder->grids[members[i]];
        builder->out->grids[members[i]].function = function;
        work->ordered = certain && fit->one_stream && fit->one_thread;
        work->may_overlap = certain && fit->may_overlap;
        work->stream = certain ? builder->out->launches[fit->launches[0]].stream : 0;
        work->thread_id = certain ? builder->out->launches[fit->launches[0]].thread_id : 0;
    }
    if (certain && (fit->one_thread || fit->count == 1))
        match_in_order(builder, fit, members, count, first);
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_grid *grid = &builder->out->grids[members[i]];
        if (grid->launch != WSDBG_NONE)
            grid->function = builder->out->launches[grid->launch].function;
    }
}

struct wsdbg_error *wsdbg_match_launches(struct wsdbg_builder *builder)
{
    const size_t grids = builder->out->grid_count;
    uint32_t *room = malloc((builder->out->launch_count + 1) * sizeof *room);
    uint32_t *members = malloc((grids + 1) * sizeof *members);
    size_t *first = malloc((grids + 1) * sizeof *first);
    bool *done = calloc(grids + 1, sizeof *done);
    const bool whole = room && members && first && done;
    for (size_t i = 0; whole && i < grids; i++) {
        if (done[i] || builder->out->grids[i].module == WSDBG_NONE)
            continue;
        size_t count = 0;
        for (size_t j = i; j < grids && builder->out->grids[j].context == builder->out->grids[i].context; j++)
            if (!done[j] && same_class(builder, i, j)) {
                members[count++] = (uint32_t)j;
                done[j] = true;
            }
        const struct fit fit = find_fit(builder, i, room);
        match_class(builder, &fit, members, count, first);
    }
    free(room);
    free(members);
    free(first);
    free(done);
    return whole ? NULL : &wsdbg_error_no_memory;
}
