/* snapshot_drop.c - see snapshot_drop.h.  model/tables.def says which rows belong to a grid. */
#include "evidence/snapshot_drop.h"

#include <stdlib.h>

#include "model/rows.h"

static bool is_of_process(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const void *process_id)
{
    return grid->context < snapshot->context_count &&
           snapshot->contexts[grid->context].process_id == *(const uint32_t *)process_id;
}

struct wsdbg_error *wsdbg_snapshot_drop_grids(struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    return wsdbg_snapshot_drop_chosen_grids(snapshot, is_of_process, &process_id);
}

struct wsdbg_error *wsdbg_snapshot_drop_chosen_grids(struct wsdbg_snapshot *snapshot, wsdbg_grid_choice *is_dropped,
                                                     const void *user)
{
    bool *dropped = calloc(snapshot->grid_count + 1, sizeof *dropped);
    if (!dropped)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < snapshot->grid_count; i++)
        dropped[i] = is_dropped(snapshot, &snapshot->grids[i], user);
    struct wsdbg_error *error = wsdbg_rows_drop(snapshot, &(struct wsdbg_table_choice){.grids = dropped});
    free(dropped);
    return error;
}
