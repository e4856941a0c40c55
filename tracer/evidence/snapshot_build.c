/* snapshot_build.c - runs the parts of the builder in order.  See snapshot_build.h. */
#include "evidence/snapshot_build.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/builder.h"

static void count_trouble(struct wsdbg_builder *builder)
{
    struct wsdbg_snapshot *out = builder->out;
    for (size_t p = 0; p < builder->request->process_count; p++) {
        const struct wsdbg_tracker *tracker = builder->request->processes[p];
        out->lost_rows += tracker->head.lost_rows;
        for (uint32_t c = 0; c < tracker->head.context_count; c++)
            for (uint32_t s = 0; s < tracker->contexts[c].slot_count; s++) {
                out->foreign_slots += tracker->contexts[c].slots[s].foreign;
                out->torn_events += tracker->contexts[c].slots[s].torn;
            }
    }
}

static void find_progress(struct wsdbg_builder *builder)
{
    for (size_t i = 0; i < builder->out->grid_count; i++) {
        struct wsdbg_grid *grid = &builder->out->grids[i];
        grid->progress_ns = builder->grids[i].changed_ns;
        if (grid->running && grid->progress_ns > builder->out->progress_ns)
            builder->out->progress_ns = grid->progress_ns;
    }
}

static struct wsdbg_error *build_parts(struct wsdbg_builder *builder)
{
    struct wsdbg_error *error = wsdbg_build_tables(builder);
    if (!error)
        error = wsdbg_build_grids(builder);
    if (!error)
        error = wsdbg_match_launches(builder);
    if (error)
        return error;
    wsdbg_mark_running(builder);
    find_progress(builder);
    error = wsdbg_build_warps(builder);
    if (!error)
        error = wsdbg_build_names(builder);
    if (!error)
        error = wsdbg_build_barriers(builder);
    if (!error && builder->request->histories)
        error = wsdbg_build_phases(builder);
    return error;
}

struct wsdbg_error *wsdbg_snapshot_build(const struct wsdbg_build_request *request, struct wsdbg_snapshot *out)
{
    struct wsdbg_snapshot snapshot = {.time_ns = request->now_ns, .source = request->source};
    struct wsdbg_builder builder = {.request = request, .out = &snapshot};
    count_trouble(&builder);
    struct wsdbg_error *error = build_parts(&builder);
    free(builder.bases);
    free(builder.grids);
    free(builder.entries);
    if (error) {
        wsdbg_snapshot_deinit(&snapshot);
        return error;
    }
    *out = snapshot;
    return NULL;
}
