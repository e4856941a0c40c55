/* fold_tree.c - see fold_tree.h. */
#include "viewer/fold_tree.h"

bool viewer_branch_add(struct viewer_branch *branch, struct viewer_object object, uint8_t depth, bool *open)
{
    struct viewer_row row = {.object = object, .data = branch->group->source, .depth = depth, .foldable = open != NULL};
    if (open)
        *open = row.open = viewer_is_open(branch->context, &row);
    return viewer_rows_add(branch->rows, &row);
}

static bool add_ctas(struct viewer_branch *b, viewer_add_run_fn *add_run)
{
    const struct viewer_folded *f = b->folded;
    size_t length;
    for (size_t i = 0; (i = wsdbg_fold_next(b->group, f->rows, f->row_count, f->ignored, i, &length)) < f->row_count;
         i += length) {
        const struct viewer_object cta = {VIEWER_OBJECT_CTA, f->rows[i].cta, 0};
        bool open = true;
        if (length > 1 && !viewer_branch_add(b, cta, 1, &open))
            return false;
        if (open && !add_run(b, f->rows + i, length, length > 1 ? 2 : 1))
            return false;
    }
    return true;
}

/* A group of one row is that row. */
static bool add_group(struct viewer_branch *b, viewer_add_run_fn *add_run)
{
    bool open;
    size_t length;
    const size_t first = viewer_folded_run(b->folded, b->group, b->group->cta, &length);
    if (b->group->cta_count == 1 && length == 1)
        return add_run(b, b->folded->rows + first, 1, 0);
    if (!viewer_branch_add(b, (struct viewer_object){VIEWER_OBJECT_GROUP, b->group->source, 0}, 0, &open))
        return false;
    if (!open)
        return true;
    return b->group->cta_count > 1 ? add_ctas(b, add_run) : add_run(b, b->folded->rows + first, length, 1);
}

/* Whether group number `i` of the order is the first of its grid, and there are several grids. */
static bool titled(const struct viewer_folded *f, size_t i)
{
    const uint32_t grid = f->groups[f->order[i]].grid;
    const bool many = f->groups[f->order[0]].grid != f->groups[f->order[f->group_count - 1]].grid;
    return many && (i == 0 || f->groups[f->order[i - 1]].grid != grid);
}

struct wsdbg_error *viewer_fold_tree_build(struct viewer_context *context, const struct viewer_folded *folded,
                                           viewer_add_run_fn *add_run, struct viewer_rows *rows)
{
    for (size_t i = 0; i < folded->group_count; i++) {
        struct viewer_branch branch = {context, rows, folded, &folded->groups[folded->order[i]]};
        const struct viewer_row title = {.object = {VIEWER_OBJECT_GRID, branch.group->grid, 0}};
        if ((titled(folded, i) && !viewer_rows_add(rows, &title)) || !add_group(&branch, add_run))
            return &wsdbg_error_no_memory;
    }
    return NULL;
}

size_t viewer_fold_tree_path(const struct viewer_folded *folded, uint32_t source, uint32_t cta, struct viewer_row *out,
                             size_t capacity)
{
    const struct wsdbg_fold_group *group = viewer_folded_holder(folded, source);
    if (!group || capacity < 2)
        return 0;
    out[0] = (struct viewer_row){{VIEWER_OBJECT_GROUP, group->source, 0}, group->source, 0, true, true};
    out[1] = (struct viewer_row){{VIEWER_OBJECT_CTA, cta, 0}, group->source, 1, true, true};
    return 2;
}
