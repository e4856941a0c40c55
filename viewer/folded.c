/* folded.c - see folded.h.  Reads the picture through the filter; the folding itself is the store's. */
#include "viewer/folded.h"

#include <stdlib.h>

#include "viewer/marks.h"

#define GROUPS_WANTED 48
#define GROUP_WARPS 4u

void viewer_folded_deinit(struct viewer_folded *folded)
{
    free(folded->rows);
    free(folded->groups);
    free(folded->order);
    free(folded->marks);
    *folded = (struct viewer_folded){0};
}

static struct wsdbg_error *begin(struct viewer_folded *folded, size_t capacity)
{
    viewer_folded_deinit(folded);
    folded->rows = calloc(capacity + 1, sizeof *folded->rows);
    return folded->rows ? NULL : &wsdbg_error_no_memory;
}

struct sorting {
    const struct wsdbg_fold_group *groups;
    viewer_fold_sort_fn *key;
    unsigned sort;
};

static int compare(const void *left, const void *right, void *context)
{
    const struct sorting *by = context;
    const uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    const struct wsdbg_fold_group *a = &by->groups[l], *b = &by->groups[r];
    if (a->grid != b->grid)
        return a->grid < b->grid ? -1 : 1;
    const int64_t x = by->key ? by->key(a, by->sort) : 0, y = by->key ? by->key(b, by->sort) : 0;
    return x != y ? (x < y ? -1 : 1) : (l > r) - (l < r);
}

/* What is said of one row holds for all that are equal to it. */
static void mark_groups(struct viewer_folded *f, const unsigned char *masks)
{
    size_t length;
    for (size_t g = 0; masks && g < f->group_count; g++)
        for (size_t i = 0;
             (i = wsdbg_fold_next(&f->groups[g], f->rows, f->row_count, f->ignored, i, &length)) < f->row_count;
             i += length)
            for (size_t k = i; k < i + length; k++)
                f->marks[g] |= masks[f->rows[k].source];
}

static struct wsdbg_error *fold(struct viewer_folded *folded, const uint32_t *levels, struct sorting by,
                                const unsigned char *masks)
{
    struct wsdbg_error *error = wsdbg_fold_fit(folded->rows, folded->row_count, levels, GROUPS_WANTED, &folded->groups,
                                               &folded->group_count, &folded->ignored);
    if (error)
        return error;
    folded->order = calloc(folded->group_count + 1, sizeof *folded->order);
    folded->marks = calloc(folded->group_count + 1, 1);
    if (!folded->order || !folded->marks)
        return &wsdbg_error_no_memory;
    by.groups = folded->groups;
    for (size_t i = 0; i < folded->group_count; i++)
        folded->order[i] = (uint32_t)i;
    qsort_r(folded->order, folded->group_count, sizeof *folded->order, compare, &by);
    mark_groups(folded, masks);
    return NULL;
}

static struct wsdbg_error *finish(struct viewer_folded *folded, struct wsdbg_error *error, struct viewer_marks *marks)
{
    viewer_marks_deinit(marks);
    if (error)
        viewer_folded_deinit(folded);
    return error;
}

struct wsdbg_error *viewer_fold_warps(const struct viewer_context *context, const uint32_t *levels,
                                      viewer_fold_sort_fn *sort, struct viewer_folded *folded)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    struct viewer_marks marks = {0};
    struct wsdbg_error *error = begin(folded, s ? s->warp_count : 0);
    if (!error)
        error = viewer_marks_read(context->picture, &marks);
    for (size_t i = 0; !error && s && i < s->warp_count; i++)
        if (viewer_filter_warp(context->filter, s, (uint32_t)i))
            wsdbg_fold_warp(s, i, &folded->rows[folded->row_count++]);
    if (!error)
        error = fold(folded, levels, (struct sorting){NULL, sort, context->sort}, marks.warps);
    return finish(folded, error, &marks);
}

struct wsdbg_error *viewer_fold_barriers(const struct viewer_context *context, viewer_fold_sort_fn *sort,
                                         struct viewer_folded *folded)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    struct viewer_marks marks = {0};
    struct wsdbg_error *error = begin(folded, s ? s->barrier_count : 0);
    if (!error)
        error = viewer_marks_read(context->picture, &marks);
    for (size_t i = 0; !error && s && i < s->barrier_count; i++)
        if (viewer_filter_cta(context->filter, s, s->barriers[i].cta))
            wsdbg_fold_barrier(s, i, &folded->rows[folded->row_count++]);
    if (!error)
        error = fold(folded, wsdbg_fold_barrier_levels, (struct sorting){NULL, sort, context->sort}, marks.barriers);
    return finish(folded, error, &marks);
}

const struct wsdbg_fold_group *viewer_folded_group(const struct viewer_folded *folded, uint32_t source)
{
    for (size_t i = 0; i < folded->group_count; i++)
        if (folded->groups[i].source == source)
            return &folded->groups[i];
    return NULL;
}

/* The rows are ordered by CTA. */
static size_t first_of_cta(const struct viewer_folded *folded, uint32_t cta)
{
    size_t low = 0, high = folded->row_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (folded->rows[middle].cta < cta)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t viewer_folded_run(const struct viewer_folded *folded, const struct wsdbg_fold_group *group, uint32_t cta,
                         size_t *length)
{
    size_t first = first_of_cta(folded, cta), end = first;
    *length = 0;
    while (end < folded->row_count && folded->rows[end].cta == cta)
        end++;
    first = wsdbg_fold_next(group, folded->rows, end, folded->ignored, first, length);
    if (first == end)
        *length = 0;
    return first;
}

const struct wsdbg_fold_group *viewer_folded_holder(const struct viewer_folded *folded, uint32_t source)
{
    const struct wsdbg_fold_row *row = NULL;
    for (size_t i = 0; i < folded->row_count && !row; i++)
        if (folded->rows[i].source == source)
            row = &folded->rows[i];
    for (size_t i = 0; row && i < folded->group_count; i++) {
        size_t length;
        const size_t first = viewer_folded_run(folded, &folded->groups[i], row->cta, &length);
        for (size_t k = first; k < first + length; k++)
            if (&folded->rows[k] == row)
                return &folded->groups[i];
    }
    return NULL;
}

bool viewer_folded_part(const struct viewer_folded *folded, const struct wsdbg_fold_group *group, uint32_t cta,
                        uint32_t warpgroup, struct wsdbg_fold_group *out)
{
    size_t length, found = 0;
    const size_t first = viewer_folded_run(folded, group, cta, &length);
    for (size_t i = first; i < first + length; i++) {
        const struct wsdbg_fold_row *row = &folded->rows[i];
        if (warpgroup != WSDBG_NONE && row->member / GROUP_WARPS != warpgroup)
            continue;
        if (found++ == 0)
            *out = wsdbg_fold_single(row);
        else
            wsdbg_fold_join(out, row);
    }
    return found > 0;
}

unsigned viewer_folded_mask(const struct viewer_folded *folded, const struct wsdbg_fold_group *group)
{
    return folded->marks[group - folded->groups];
}
