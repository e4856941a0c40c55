/* fold.c - see fold.h.  Pure: rows in, groups out. */
#include "store/fold.h"

#include <stdlib.h>
#include <string.h>

struct order {
    uint32_t ignored;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_keys(const int64_t *a, const int64_t *b, uint32_t ignored)
{
    for (int i = 0; i < WSDBG_FOLD_KEYS; i++)
        if (!(ignored >> i & 1) && a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct wsdbg_fold_row *a = left, *b = right;
    int order = compare_numbers(a->cta, b->cta);
    if (!order)
        order = compare_keys(a->key, b->key, ((struct order *)context)->ignored);
    return order ? order : compare_numbers(a->source, b->source);
}

static int compare_members(const struct wsdbg_members *a, const struct wsdbg_members *b)
{
    return memcmp(a->bits, b->bits, sizeof a->bits);
}

static int compare_groups(const void *left, const void *right, void *context)
{
    const struct wsdbg_fold_group *a = left, *b = right;
    const uint32_t ignored = ((struct order *)context)->ignored;
    int order = compare_numbers(a->grid, b->grid);
    if (!order)
        order = compare_keys(a->low, b->low, ignored);
    if (!order && !(ignored & WSDBG_FOLD_MEMBERS))
        order = compare_members(&a->members, &b->members);
    return order ? order : compare_numbers(a->cta, b->cta);
}

int wsdbg_members_first(const struct wsdbg_members *members)
{
    for (int i = 0; i < 256; i++)
        if (members->bits[i / 64] >> (i % 64) & 1)
            return i;
    return 256;
}

static int compare_display(const void *left, const void *right)
{
    const struct wsdbg_fold_group *a = left, *b = right;
    int order = compare_numbers(a->grid, b->grid);
    if (!order)
        order = compare_numbers(wsdbg_members_first(&a->members), wsdbg_members_first(&b->members));
    if (!order)
        order = compare_numbers(b->cta_count, a->cta_count);
    return order ? order : compare_numbers(a->source, b->source);
}

static void widen(struct wsdbg_fold_group *group, const int64_t *low, const int64_t *high)
{
    for (int i = 0; i < WSDBG_FOLD_KEYS; i++) {
        if (low[i] < group->low[i])
            group->low[i] = low[i];
        if (high[i] > group->high[i])
            group->high[i] = high[i];
    }
}

static bool same_run(const struct wsdbg_fold_row *a, const struct wsdbg_fold_row *b, uint32_t ignored)
{
    return a->cta == b->cta && !compare_keys(a->key, b->key, ignored);
}

static void add_member(struct wsdbg_members *members, uint32_t member)
{
    members->bits[member / 64 % 4] |= 1ull << (member % 64);
}

static void unite(struct wsdbg_members *members, const struct wsdbg_members *more)
{
    for (int word = 0; word < 4; word++)
        members->bits[word] |= more->bits[word];
}

static void add_row(struct wsdbg_fold_group *group, const struct wsdbg_fold_row *row)
{
    add_member(&group->members, row->member);
    if (row->is_waited)
        add_member(&group->waited, row->member);
}

void wsdbg_fold_join(struct wsdbg_fold_group *group, const struct wsdbg_fold_row *row)
{
    widen(group, row->key, row->key);
    add_row(group, row);
}

struct wsdbg_fold_group wsdbg_fold_single(const struct wsdbg_fold_row *row)
{
    struct wsdbg_fold_group group = {.grid = row->grid, .cta = row->cta, .cta_count = 1, .source = row->source};
    memcpy(group.low, row->key, sizeof row->key);
    memcpy(group.high, row->key, sizeof row->key);
    add_row(&group, row);
    return group;
}

/* Rows of one CTA with one key become one group. */
static size_t join_rows(const struct wsdbg_fold_row *rows, size_t row_count, uint32_t ignored,
                        struct wsdbg_fold_group *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        const struct wsdbg_fold_row *row = &rows[i];
        if (i == 0 || !same_run(&rows[i - 1], row, ignored)) {
            groups[count++] = wsdbg_fold_single(row);
            continue;
        }
        wsdbg_fold_join(&groups[count - 1], row);
    }
    return count;
}

/* Groups of several CTAs with one key and the same members become one. */
static size_t join_ctas(struct wsdbg_fold_group *groups, size_t group_count, struct order *order)
{
    size_t count = 0;
    for (size_t i = 0; i < group_count; i++) {
        struct wsdbg_fold_group *last = count ? &groups[count - 1] : NULL;
        const bool joins =
            last && last->grid == groups[i].grid && !compare_keys(last->low, groups[i].low, order->ignored) &&
            (order->ignored & WSDBG_FOLD_MEMBERS || !compare_members(&last->members, &groups[i].members));
        if (!joins) {
            groups[count++] = groups[i];
            continue;
        }
        last->cta_count++;
        widen(last, groups[i].low, groups[i].high);
        unite(&last->members, &groups[i].members);
        unite(&last->waited, &groups[i].waited);
    }
    return count;
}

struct wsdbg_error *wsdbg_fold_rows(struct wsdbg_fold_row *rows, size_t row_count, uint32_t ignored,
                                    struct wsdbg_fold_group **out, size_t *count)
{
    struct order order = {ignored};
    struct wsdbg_fold_group *groups = calloc(row_count + 1, sizeof *groups);
    if (!groups)
        return &wsdbg_error_no_memory;
    qsort_r(rows, row_count, sizeof *rows, compare_rows, &order);
    size_t group_count = join_rows(rows, row_count, ignored, groups);
    qsort_r(groups, group_count, sizeof *groups, compare_groups, &order);
    group_count = join_ctas(groups, group_count, &order);
    qsort(groups, group_count, sizeof *groups, compare_display);
    *out = groups;
    *count = group_count;
    return NULL;
}

struct wsdbg_error *wsdbg_fold_fit(struct wsdbg_fold_row *rows, size_t row_count, const uint32_t *levels, size_t limit,
                                   struct wsdbg_fold_group **out, size_t *count, uint32_t *ignored)
{
    for (size_t level = 0;; level++) {
        struct wsdbg_fold_group *groups;
        size_t group_count;
        struct wsdbg_error *error = wsdbg_fold_rows(rows, row_count, levels[level], &groups, &group_count);
        if (error)
            return error;
        if (group_count <= limit || level + 1 == WSDBG_FOLD_LEVELS) {
            *out = groups;
            *count = group_count;
            *ignored = levels[level];
            return NULL;
        }
        free(groups);
    }
}

size_t wsdbg_fold_next(const struct wsdbg_fold_group *group, const struct wsdbg_fold_row *rows, size_t row_count,
                       uint32_t ignored, size_t from, size_t *length)
{
    while (from < row_count) {
        struct wsdbg_members members = {0};
        size_t end = from;
        for (; end < row_count && same_run(&rows[from], &rows[end], ignored); end++)
            add_member(&members, rows[end].member);
        *length = end - from;
        if (rows[from].grid == group->grid && !compare_keys(rows[from].key, group->low, ignored) &&
            (ignored & WSDBG_FOLD_MEMBERS || !compare_members(&members, &group->members)))
            return from;
        from = end;
    }
    return row_count;
}

struct wsdbg_range wsdbg_fold_range(const struct wsdbg_fold_group *group, int key)
{
    return (struct wsdbg_range){group->low[key] != WSDBG_FOLD_UNKNOWN, group->low[key], group->high[key]};
}
