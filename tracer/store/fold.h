/* fold.h - rows of many CTAs folded into groups of CTAs that agree.  Read by: the report, the viewer.
 *
 * Step one joins the rows of a CTA that have equal keys into one member set (which warps, which stages);
 * step two joins CTAs of a grid that have the same key and the same members.
 */
#ifndef WSDBG_STORE_FOLD_H
#define WSDBG_STORE_FOLD_H

#include "store/report.h"

#define WSDBG_FOLD_KEYS 16
#define WSDBG_FOLD_UNKNOWN INT64_MIN
#define WSDBG_FOLD_MEMBERS (1u << 31) /* in a mask: CTAs may differ in their members */

/* What makes two warps, or two barriers, equal: one key each. */
enum wsdbg_warp_key {
    WSDBG_WARP_KEY_STATE,
    WSDBG_WARP_KEY_ROLE,
    WSDBG_WARP_KEY_KIND, /* of the barrier waited for, 0 = none */
    WSDBG_WARP_KEY_ID,
    WSDBG_WARP_KEY_STAGE,
    WSDBG_WARP_KEY_PARITY,
    WSDBG_WARP_KEY_ITERATION,
    WSDBG_WARP_KEY_LINE,
    WSDBG_WARP_KEY_ASKED,
    WSDBG_WARP_KEY_HELD,
    WSDBG_WARP_KEY_LAST,
    WSDBG_WARP_KEY_WAITING, /* ns since its slot changed, when the snapshot was taken */
    WSDBG_WARP_KEY_SITE,
    WSDBG_WARP_KEY_PARTS, /* a number for which lanes stand where, 0 = together or not known */
    WSDBG_WARP_KEY_ADDRESS, /* polled */
    WSDBG_WARP_KEY_VALUE    /* last seen there */
};
enum wsdbg_barrier_key {
    WSDBG_BARRIER_KEY_KIND,
    WSDBG_BARRIER_KEY_ID,
    WSDBG_BARRIER_KEY_PHASE,
    WSDBG_BARRIER_KEY_PENDING,
    WSDBG_BARRIER_KEY_EXPECTED,
    WSDBG_BARRIER_KEY_COMPLETED,
    WSDBG_BARRIER_KEY_TX,
    WSDBG_BARRIER_KEY_TX_KNOWN,
    WSDBG_BARRIER_KEY_WAITERS,
    WSDBG_BARRIER_KEY_OFFSET, /* in shared memory; stages have their own, so groups keep the range */
    WSDBG_BARRIER_KEY_WORD
};
#define WSDBG_FOLD_BIT(key) (1u << (key)) /* in a mask */

struct wsdbg_fold_row {
    uint32_t grid, cta, member, source; /* source: index of what the row was made from */
    bool is_waited; /* a warp waits at it: a barrier's stage */
    int64_t key[WSDBG_FOLD_KEYS];
};

struct wsdbg_fold_group {
    uint32_t grid, cta, cta_count, source; /* of the first CTA */
    struct wsdbg_members members;
    struct wsdbg_members waited; /* the members at which a warp waits, in any of the CTAs */
    int64_t low[WSDBG_FOLD_KEYS], high[WSDBG_FOLD_KEYS];
};

/* Folds `rows` (sorted in place).  Bit i of `ignored`: key i may differ in a group, which keeps its range.
 * Groups come in the order grid, first member, most CTAs first.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_fold_rows(struct wsdbg_fold_row *rows, size_t row_count, uint32_t ignored,
                                    struct wsdbg_fold_group **out, size_t *count);

/* Keys to ignore, from exact to coarse: what a reader gives up first comes first. */
#define WSDBG_FOLD_LEVELS 5
extern const uint32_t wsdbg_fold_warp_levels[WSDBG_FOLD_LEVELS], wsdbg_fold_barrier_levels[WSDBG_FOLD_LEVELS];

/* Folds with the first of the levels that gives at most `limit` groups, else with the last one; *ignored says which. */
struct wsdbg_error *wsdbg_fold_fit(struct wsdbg_fold_row *rows, size_t row_count, const uint32_t *levels, size_t limit,
                                   struct wsdbg_fold_group **out, size_t *count, uint32_t *ignored);

/* The next CTA of a group: number of the first of its rows at or after `from`, *length of them; `row_count` when there
 * is none.  `rows` and `ignored` are those that made the group. */
size_t wsdbg_fold_next(const struct wsdbg_fold_group *group, const struct wsdbg_fold_row *rows, size_t row_count,
                       uint32_t ignored, size_t from, size_t *length);

/* A group of one row; the group with another row of one of its CTAs in it. */
struct wsdbg_fold_group wsdbg_fold_single(const struct wsdbg_fold_row *row);
void wsdbg_fold_join(struct wsdbg_fold_group *group, const struct wsdbg_fold_row *row);

/* The row of warp `index`, of barrier `index`; `source` is that index. */
void wsdbg_fold_warp(const struct wsdbg_snapshot *snapshot, size_t index, struct wsdbg_fold_row *row);
void wsdbg_fold_barrier(const struct wsdbg_snapshot *snapshot, size_t index, struct wsdbg_fold_row *row);
/* A group of such rows in the words of the report. */
void wsdbg_fold_warps_row(const struct wsdbg_snapshot *snapshot, const struct wsdbg_fold_group *group,
                          struct wsdbg_report_warps *out);
/* The same without its place: for many groups, of which the places are taken from sites that have theirs. */
void wsdbg_fold_warps_words(const struct wsdbg_snapshot *snapshot, const struct wsdbg_fold_group *group,
                            struct wsdbg_report_warps *out);
/* Two of the sites where a group's warps stand, the same twice where they stand at one; WSDBG_NONE = not known. */
void wsdbg_fold_sites(const struct wsdbg_fold_group *group, uint32_t sites[2]);
/* The places of those two, and whether there may be more: "gemm.cu:220, gemm.cu:239, …".  The group's range of lines
 * would not do: the innermost lines of its sites may be of different files.  `out` has WSDBG_PLACE_BYTES. */
void wsdbg_fold_places_text(const struct wsdbg_fold_group *group, const char *first, const char *last, char *out);
void wsdbg_fold_barriers_row(const struct wsdbg_snapshot *snapshot, const struct wsdbg_fold_group *group,
                             struct wsdbg_report_barriers *out);

struct wsdbg_range wsdbg_fold_range(const struct wsdbg_fold_group *group, int key);
int wsdbg_members_first(const struct wsdbg_members *members);

#endif
