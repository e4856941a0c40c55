/* rows.c - the small words every view uses: rows, names of roles and barriers, durations.  Reads the snapshot. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "viewer/view.h"

bool viewer_rows_add(struct viewer_rows *rows, const struct viewer_row *row)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 64;
        struct viewer_row *grown = realloc(rows->rows, capacity * sizeof *grown);
        if (!grown)
            return false;
        rows->rows = grown;
        rows->capacity = capacity;
    }
    rows->rows[rows->count++] = *row;
    return true;
}

enum viewer_style viewer_state_style(enum wsdbg_warp_state state)
{
    if (wsdbg_warp_state_waits(state))
        return VIEWER_STYLE_WAITING;
    if (state == WSDBG_WARP_RUNNING)
        return VIEWER_STYLE_MOVING;
    return state == WSDBG_WARP_EXITED ? VIEWER_STYLE_GONE : VIEWER_STYLE_UNKNOWN;
}

void viewer_role_text(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp, char *out, size_t bytes)
{
    const char *name = wsdbg_snapshot_role_name(snapshot, warp);
    if (name)
        snprintf(out, bytes, "%s", name);
    else if (warp->role.known)
        snprintf(out, bytes, "role %" PRIu32, warp->role.value);
    else
        snprintf(out, bytes, "?");
}

void viewer_barrier_text(const struct wsdbg_snapshot *snapshot, uint32_t barrier, char *out, size_t bytes)
{
    if (barrier >= snapshot->barrier_count) {
        snprintf(out, bytes, "?");
        return;
    }
    const struct wsdbg_barrier *b = &snapshot->barriers[barrier];
    const char *kind = wsdbg_barrier_kind_name(b->kind);
    if (b->kind == WSDBG_BARRIER_MBARRIER && b->name)
        snprintf(out, bytes, "%s[%" PRIu32 "]", b->name->name, b->stage);
    else if (b->kind == WSDBG_BARRIER_MBARRIER)
        snprintf(out, bytes, "%s %" PRIu32 "[%" PRIu32 "]", kind, b->id, b->stage);
    else if (b->kind == WSDBG_BARRIER_NAMED && b->name)
        snprintf(out, bytes, "%s (id %" PRIu32 ")", b->name->name, b->id);
    else if (b->kind == WSDBG_BARRIER_NAMED)
        snprintf(out, bytes, "%s %" PRIu32, kind, b->id);
    else
        snprintf(out, bytes, "%s", kind);
}

void viewer_duration_text(uint64_t ns, char *out, size_t bytes)
{
    double seconds = (double)ns / 1e9;
    if (ns < 1000)
        snprintf(out, bytes, "%u ns", (unsigned)ns);
    else if (seconds < 1e-3)
        snprintf(out, bytes, "%.1f us", seconds * 1e6);
    else if (seconds < 0.9995)
        snprintf(out, bytes, "%.0f ms", seconds * 1e3);
    else if (seconds < 100)
        snprintf(out, bytes, "%.1f s", seconds);
    else if (seconds < 6000)
        snprintf(out, bytes, "%.0f min", seconds / 60);
    else
        snprintf(out, bytes, "%.0f h", seconds / 3600);
}
