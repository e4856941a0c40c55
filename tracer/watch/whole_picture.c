/* whole_picture.c - see whole_picture.h.  Reads: snapshots.  Writes: its own copy, the snapshot that it replaces. */
#include "watch/whole_picture.h"

static size_t processes_looked_at(const struct wsdbg_snapshot *snapshot)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->look_count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= snapshot->looks[k].process_id != snapshot->looks[i].process_id;
        count += is_first;
    }
    return count;
}

void wsdbg_whole_keep(struct wsdbg_whole_picture *whole, const struct wsdbg_snapshot *snapshot, uint64_t progress_ns)
{
    struct wsdbg_snapshot copy = {0};
    struct wsdbg_error *error = wsdbg_snapshot_copy(snapshot, &copy);
    wsdbg_whole_deinit(whole);
    if (!error)
        *whole = (struct wsdbg_whole_picture){copy, progress_ns};
    wsdbg_error_destroy(error);
}

bool wsdbg_whole_shows_more(const struct wsdbg_whole_picture *whole, const struct wsdbg_snapshot *snapshot,
                            uint64_t progress_ns)
{
    return whole->progress_ns == progress_ns && processes_looked_at(&whole->snapshot) > processes_looked_at(snapshot);
}

bool wsdbg_whole_bring_back(const struct wsdbg_whole_picture *whole, struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_snapshot copy = {0};
    struct wsdbg_error *error = wsdbg_snapshot_copy(&whole->snapshot, &copy);
    if (error) {
        wsdbg_error_destroy(error);
        return false;
    }
    wsdbg_snapshot_deinit(snapshot);
    *snapshot = copy;
    return true;
}

void wsdbg_whole_deinit(struct wsdbg_whole_picture *whole)
{
    wsdbg_snapshot_deinit(&whole->snapshot);
    *whole = (struct wsdbg_whole_picture){0};
}
