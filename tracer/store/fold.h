/* fold.h - private to the room: rows of many CTAs folded into groups of CTAs that agree.
 *
 * Step one joins the rows of a CTA that have equal keys into one member set (which warps, which stages);
 * step two joins CTAs of a grid that have the same key and the same members.
 */
#ifndef WSDBG_STORE_FOLD_H
#define WSDBG_STORE_FOLD_H

#include "store/report.h"

#define WSDBG_FOLD_KEYS 14
#define WSDBG_FOLD_UNKNOWN INT64_MIN
#define WSDBG_FOLD_MEMBERS (1u << 31) /* in a mask: CTAs may differ in their members */

struct wsdbg_fold_row {
    uint32_t grid, cta, member, source; /* source: index of what the row was made from */
    int64_t key[WSDBG_FOLD_KEYS];
};

struct wsdbg_fold_group {
    uint32_t grid, cta, cta_count, source; /* of the first CTA */
    struct wsdbg_members members;
    int64_t low[WSDBG_FOLD_KEYS], high[WSDBG_FOLD_KEYS];
};

/* Folds `rows` (sorted in place).  Bit i of `ignored`: key i may differ in a group, which keeps its range.
 * Groups come in the order grid, first member, most CTAs first.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_fold_rows(struct wsdbg_fold_row *rows, size_t row_count, uint32_t ignored,
                                    struct wsdbg_fold_group **out, size_t *count);

struct wsdbg_range wsdbg_fold_range(const struct wsdbg_fold_group *group, int key);
int wsdbg_members_first(const struct wsdbg_members *members);

#endif
