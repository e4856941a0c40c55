/* report_groups.c - folds a snapshot's warps and barriers into the groups of the report: once exactly, once
 * as coarsely as it takes to fit a screen.  Reads a snapshot, writes the report's four group arrays. */
#include "store/fold.h"
#include "store/report_internal.h"

#include <stdlib.h>
#include <string.h>

static void group_place(const struct wsdbg_report *report, const struct wsdbg_fold_group *group, char *out)
{
    uint32_t sites[2];
    char first[WSDBG_PLACE_BYTES], last[WSDBG_PLACE_BYTES];
    wsdbg_fold_sites(group, sites);
    wsdbg_report_place(report, sites[0], first);
    wsdbg_report_place(report, sites[1], last);
    wsdbg_fold_places_text(group, first, last, out);
}

static struct wsdbg_error *fold_warps_to(const struct wsdbg_snapshot *s, const struct wsdbg_report *report,
                                         struct wsdbg_fold_row *rows, size_t limit, struct wsdbg_report_warps **out,
                                         size_t *count)
{
    struct wsdbg_fold_group *groups;
    size_t group_count;
    uint32_t ignored;
    struct wsdbg_error *error =
        wsdbg_fold_fit(rows, s->warp_count, wsdbg_fold_warp_levels, limit, &groups, &group_count, &ignored);
    if (error)
        return error;
    *out = calloc(group_count + 1, sizeof **out);
    *count = *out ? group_count : 0;
    for (size_t i = 0; i < *count; i++) {
        wsdbg_fold_warps_words(s, &groups[i], &(*out)[i]);
        group_place(report, &groups[i], (*out)[i].place);
    }
    free(groups);
    return *out ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_report_fold_warps(const struct wsdbg_snapshot *s, struct wsdbg_report *report)
{
    struct wsdbg_fold_row *rows = calloc(s->warp_count + 1, sizeof *rows);
    if (!rows)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < s->warp_count; i++)
        wsdbg_fold_warp(s, i, &rows[i]);
    struct wsdbg_error *error = fold_warps_to(s, report, rows, SIZE_MAX, &report->warps, &report->warps_count);
    if (!error)
        error = fold_warps_to(s, report, rows, WSDBG_REPORT_WARP_LINES, &report->rows, &report->row_count);
    free(rows);
    return error;
}

static struct wsdbg_error *fold_barriers_to(const struct wsdbg_snapshot *s, struct wsdbg_fold_row *rows, size_t limit,
                                            struct wsdbg_report_barriers **out, size_t *count)
{
    struct wsdbg_fold_group *groups;
    size_t group_count;
    uint32_t ignored;
    struct wsdbg_error *error =
        wsdbg_fold_fit(rows, s->barrier_count, wsdbg_fold_barrier_levels, limit, &groups, &group_count, &ignored);
    if (error)
        return error;
    *out = calloc(group_count + 1, sizeof **out);
    *count = *out ? group_count : 0;
    for (size_t i = 0; i < *count; i++)
        wsdbg_fold_barriers_row(s, &groups[i], &(*out)[i]);
    free(groups);
    return *out ? NULL : &wsdbg_error_no_memory;
}

/* Barriers somebody waits on come first; the order within is the fold's. */
static void waited_first(struct wsdbg_report_barriers *rows, size_t count)
{
    size_t waited = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].waiters.high <= 0)
            continue;
        const struct wsdbg_report_barriers row = rows[i];
        memmove(&rows[waited + 1], &rows[waited], (i - waited) * sizeof *rows);
        rows[waited++] = row;
    }
}

struct wsdbg_error *wsdbg_report_fold_barriers(const struct wsdbg_snapshot *s, struct wsdbg_report *report)
{
    struct wsdbg_fold_row *rows = calloc(s->barrier_count + 1, sizeof *rows);
    if (!rows)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < s->barrier_count; i++)
        wsdbg_fold_barrier(s, i, &rows[i]);
    struct wsdbg_error *error = fold_barriers_to(s, rows, SIZE_MAX, &report->barriers, &report->barriers_count);
    if (!error)
        error =
            fold_barriers_to(s, rows, WSDBG_REPORT_BARRIER_LINES, &report->barrier_rows, &report->barrier_row_count);
    if (!error)
        waited_first(report->barrier_rows, report->barrier_row_count);
    free(rows);
    return error;
}
