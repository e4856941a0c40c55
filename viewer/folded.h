/* folded.h - the warps or barriers that the filter lets through, folded over CTAs that agree.
 *
 * Read by: the views that show groups.  A row is known by its `source` (index of the warp or barrier), a group by
 * the source of its first row; both hold until the picture or the filter changes.
 */
#ifndef VIEWER_FOLDED_H
#define VIEWER_FOLDED_H

#include "store/fold.h"
#include "viewer/view.h"

struct viewer_folded {
    struct wsdbg_fold_row *rows;
    size_t row_count;
    struct wsdbg_fold_group *groups;
    size_t group_count;
    uint32_t ignored;
    uint32_t *order;      /* groups in the order shown: by grid, then as sorted */
    unsigned char *marks; /* by group: what the verdict says of any of its rows */
};

/* What groups are sorted by: less comes first.  NULL = as folded. */
typedef int64_t viewer_fold_sort_fn(const struct wsdbg_fold_group *group, unsigned sort);

/* Fold the picture anew into `folded` (all zero at first), exactly or, where that gives more groups than a person
 * reads, more coarsely.  `folded` is empty after an error or without a snapshot. */
struct wsdbg_error *viewer_fold_warps(const struct viewer_context *context, const uint32_t *levels,
                                      viewer_fold_sort_fn *sort, struct viewer_folded *folded);
struct wsdbg_error *viewer_fold_barriers(const struct viewer_context *context, viewer_fold_sort_fn *sort,
                                         struct viewer_folded *folded);
void viewer_folded_deinit(struct viewer_folded *folded);

/* The group whose first row is `source`; the group that has `source` among its rows.  NULL = none. */
const struct wsdbg_fold_group *viewer_folded_group(const struct viewer_folded *folded, uint32_t source);
const struct wsdbg_fold_group *viewer_folded_holder(const struct viewer_folded *folded, uint32_t source);
/* The rows of a group in one of its CTAs: number of the first, *length of them (0 = the CTA is not in the group). */
size_t viewer_folded_run(const struct viewer_folded *folded, const struct wsdbg_fold_group *group, uint32_t cta,
                         size_t *length);
/* Those of the rows of a CTA that lie in `warpgroup` (WSDBG_NONE = all) as one group; false when there are none. */
bool viewer_folded_part(const struct viewer_folded *folded, const struct wsdbg_fold_group *group, uint32_t cta,
                        uint32_t warpgroup, struct wsdbg_fold_group *out);
/* What the verdict says of a group. */
unsigned viewer_folded_mask(const struct viewer_folded *folded, const struct wsdbg_fold_group *group);

#endif
