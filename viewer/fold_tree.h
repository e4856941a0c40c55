/* fold_tree.h - rows that unfold: a grid's title, groups, their CTAs, and what the view makes of a CTA.
 *
 * Every row's data is the source of its group's first row (see folded.h).
 */
#ifndef VIEWER_FOLD_TREE_H
#define VIEWER_FOLD_TREE_H

#include "viewer/folded.h"

/* Where rows are being added: below one group. */
struct viewer_branch {
    struct viewer_context *context;
    struct viewer_rows *rows;
    const struct viewer_folded *folded;
    const struct wsdbg_fold_group *group;
};

/* Adds what there is of one CTA: `count` rows of the group from `run` on.  False when out of memory. */
typedef bool viewer_add_run_fn(struct viewer_branch *branch, const struct wsdbg_fold_row *run, size_t count,
                               uint8_t depth);

struct wsdbg_error *viewer_fold_tree_build(struct viewer_context *context, const struct viewer_folded *folded,
                                           viewer_add_run_fn *add_run, struct viewer_rows *rows);
/* Adds a row of the group that can be opened, or one that cannot (open = NULL).  False when out of memory. */
bool viewer_branch_add(struct viewer_branch *branch, struct viewer_object object, uint8_t depth, bool *open);
/* The folds on the way to row `source`, a CTA's included: fills at most 2 of `out`; returns how many. */
size_t viewer_fold_tree_path(const struct viewer_folded *folded, uint32_t source, uint32_t cta, struct viewer_row *out,
                             size_t capacity);

#endif
