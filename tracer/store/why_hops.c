/* why_hops.c - from a wait to those who could end it, and on from theirs: the edges of a stored diagnosis as a tree
 * whose nodes are groups of warps that do the same.  Reads a loaded session.
 *
 * A group is opened once; where it comes again the tree says so, so it has no more nodes than groups.
 */
#include "store/why_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where warps stand, and how far they are, does not change what they wait for. */
#define GROUP_LEVEL 2

/* "ranks 0-1 " of the CTAs that a group is in; "" outside of clusters. */
static void ranks_text(const struct wsdbg_snapshot *s, const struct wsdbg_why_group *g, char *out, size_t bytes)
{
    struct wsdbg_members ranks = {0};
    char numbers[40];
    out[0] = '\0';
    if (s->ctas[s->warps[g->warps[0]].cta].cluster_size <= 1)
        return;
    for (size_t i = 0; i < g->warp_count; i++) {
        const uint32_t rank = s->ctas[s->warps[g->warps[i]].cta].cluster_rank & 255u;
        ranks.bits[rank / 64] |= 1ull << rank % 64;
    }
    wsdbg_members_text(&ranks, numbers, sizeof numbers);
    snprintf(out, bytes, "%s %s ", strpbrk(numbers, ",-") ? "ranks" : "rank", numbers);
}

static void name_group(const struct wsdbg_snapshot *s, struct wsdbg_why_group *g)
{
    char ranks[60], members[136], role[WSDBG_REPORT_LABEL_BYTES];
    ranks_text(s, g, ranks, sizeof ranks);
    wsdbg_report_members_text(&g->words.members, members, sizeof members);
    wsdbg_report_role_beside_warps(&g->words, role, sizeof role);
    const bool named = role[0] && strcmp(role, "?") != 0 && strcmp(role, "-") != 0;
    g->rank_bytes = strlen(ranks);
    snprintf(g->who, sizeof g->who, "%.60s%.60s%s%.30s%s", ranks, members, named ? " (" : "", named ? role : "",
             named ? ")" : "");
}

static bool fill_group(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *fold,
                       const struct wsdbg_fold_row *rows, size_t row_count, struct wsdbg_why_group *out)
{
    const uint32_t ignored = wsdbg_fold_warp_levels[GROUP_LEVEL];
    size_t length;
    out->warps = malloc(row_count * sizeof *out->warps);
    if (!out->warps)
        return false;
    for (size_t i = 0; (i = wsdbg_fold_next(fold, rows, row_count, ignored, i, &length)) < row_count; i += length)
        for (size_t k = i; k < i + length; k++)
            out->warps[out->warp_count++] = rows[k].source;
    wsdbg_fold_warps_row(s, fold, &out->words);
    if (out->warp_count > 0)
        name_group(s, out);
    return true;
}

struct wsdbg_error *wsdbg_why_groups(const struct wsdbg_snapshot *s, const uint32_t *warps, size_t warp_count,
                                     struct wsdbg_why_group **out, size_t *count)
{
    struct wsdbg_fold_group *folds = NULL;
    struct wsdbg_fold_row *rows = calloc(warp_count + 1, sizeof *rows);
    struct wsdbg_why_group *groups = NULL;
    size_t group_count = 0;
    bool whole = rows != NULL;
    for (size_t i = 0; whole && i < warp_count; i++)
        wsdbg_fold_warp(s, warps[i], &rows[i]);
    struct wsdbg_error *error =
        whole ? wsdbg_fold_rows(rows, warp_count, wsdbg_fold_warp_levels[GROUP_LEVEL], &folds, &group_count)
              : &wsdbg_error_no_memory;
    if (!error) {
        groups = calloc(group_count + 1, sizeof *groups);
        whole = groups != NULL;
        for (size_t i = 0; whole && i < group_count; i++)
            whole = fill_group(s, &folds[i], rows, warp_count, &groups[i]);
        if (!whole) {
            wsdbg_why_groups_destroy(groups, groups ? group_count : 0);
            error = &wsdbg_error_no_memory;
        }
    }
    free(folds);
    free(rows);
    if (error)
        return error;
    *out = groups;
    *count = group_count;
    return NULL;
}

void wsdbg_why_groups_destroy(struct wsdbg_why_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(groups[i].warps);
    free(groups);
}

enum mark { NEW, ON_THE_WAY, OPENED };

struct walk {
    const struct wsdbg_loaded *loaded;
    unsigned char *marks; /* enum mark, by warp of the snapshot */
    struct wsdbg_why_hops *out;
};

static bool any_marked(const struct walk *walk, const struct wsdbg_why_group *g, enum mark mark)
{
    for (size_t i = 0; i < g->warp_count; i++)
        if (walk->marks[g->warps[i]] == mark)
            return true;
    return false;
}

static void mark_all(struct walk *walk, const struct wsdbg_why_group *g, enum mark mark)
{
    for (size_t i = 0; i < g->warp_count; i++)
        walk->marks[g->warps[i]] = (unsigned char)mark;
}

/* Who could end the waits of the group's warps, each once; *how is how they are known, *judged whether an edge says
 * anything at all. */
static struct wsdbg_error *wakers(const struct walk *walk, const struct wsdbg_why_group *g, uint32_t **out,
                                  size_t *count, const char **how, bool *judged)
{
    const struct wsdbg_diagnosis *d = &walk->loaded->diagnosis;
    const size_t warp_count = walk->loaded->snapshot.warp_count;
    bool *waits = calloc(2 * warp_count + 1, sizeof *waits), *taken = waits + warp_count;
    uint32_t *warps = malloc((warp_count + 1) * sizeof *warps);
    *judged = false;
    *count = 0;
    *out = warps;
    if (!waits || !warps) {
        free(waits);
        return &wsdbg_error_no_memory;
    }
    for (size_t i = 0; i < g->warp_count; i++)
        waits[g->warps[i]] = true;
    for (size_t i = 0; i < d->edge_count; i++) {
        const struct wsdbg_edge *edge = &d->edges[i];
        if (edge->waiter >= warp_count || !waits[edge->waiter])
            continue;
        *judged = true;
        if (edge->waker >= warp_count || taken[edge->waker])
            continue;
        taken[edge->waker] = true;
        *how = edge->why;
        warps[(*count)++] = edge->waker;
    }
    free(waits);
    return NULL;
}

static enum wsdbg_why_end end_of(const struct wsdbg_why_group *g, size_t waker_count, bool judged)
{
    if (waker_count > 0)
        return WSDBG_WHY_GOES_ON;
    if (!wsdbg_warp_state_waits(g->words.state))
        return WSDBG_WHY_NO_WAIT;
    return judged ? WSDBG_WHY_NOBODY : WSDBG_WHY_NOT_JUDGED;
}

static struct wsdbg_error *walk_warps(struct walk *walk, const uint32_t *warps, size_t count, unsigned depth,
                                      const char *how);

/* Opens the hop that was put last. */
static struct wsdbg_error *open_hop(struct walk *walk, unsigned depth)
{
    struct wsdbg_why_hop *hop = &walk->out->hops[walk->out->count - 1];
    const struct wsdbg_why_group *g = &hop->group;
    const char *how = NULL;
    uint32_t *next;
    size_t count;
    bool judged;
    if (g->words.state == WSDBG_WARP_EXITED) {
        hop->end = WSDBG_WHY_LEFT;
        return NULL;
    }
    if (any_marked(walk, g, ON_THE_WAY) || any_marked(walk, g, OPENED)) {
        hop->end = any_marked(walk, g, ON_THE_WAY) ? WSDBG_WHY_RING : WSDBG_WHY_SHOWN;
        return NULL;
    }
    mark_all(walk, g, ON_THE_WAY);
    struct wsdbg_error *error = wakers(walk, g, &next, &count, &how, &judged);
    if (!error) {
        hop->end = end_of(g, count, judged);
        error = walk_warps(walk, next, count, depth + 1, how);
    }
    free(next);
    mark_all(walk, g, OPENED);
    return error;
}

static void put_hop(struct walk *walk, struct wsdbg_why_group *group, unsigned depth, const char *how)
{
    const struct wsdbg_snapshot *s = &walk->loaded->snapshot;
    const uint32_t barrier = s->warps[group->warps[0]].barrier;
    walk->out->hops[walk->out->count++] = (struct wsdbg_why_hop){
        .depth = depth,
        .group = *group,
        .how = how,
        .barrier = wsdbg_warp_state_waits(group->words.state) && barrier < s->barrier_count ? barrier : WSDBG_NONE};
    for (size_t i = 0; i < group->warp_count; i++)
        walk->out->reached[group->warps[i]] = true;
    *group = (struct wsdbg_why_group){0}; /* the hop owns it now */
}

static struct wsdbg_error *walk_warps(struct walk *walk, const uint32_t *warps, size_t count, unsigned depth,
                                      const char *how)
{
    struct wsdbg_why_group *groups;
    size_t group_count;
    struct wsdbg_error *error = wsdbg_why_groups(&walk->loaded->snapshot, warps, count, &groups, &group_count);
    if (error)
        return error;
    for (size_t i = 0; i < group_count && !error; i++) {
        if (walk->out->count == WSDBG_WHY_HOPS) {
            walk->out->cut = true;
            break;
        }
        put_hop(walk, &groups[i], depth, how);
        error = open_hop(walk, depth);
    }
    wsdbg_why_groups_destroy(groups, group_count);
    return error;
}

struct wsdbg_error *wsdbg_why_walk(const struct wsdbg_loaded *loaded, const uint32_t *warps, size_t warp_count,
                                   struct wsdbg_why_hops *out)
{
    const size_t all = loaded->snapshot.warp_count;
    struct wsdbg_why_hops hops = {.hops = calloc(WSDBG_WHY_HOPS, sizeof *hops.hops),
                                  .reached = calloc(all + 1, sizeof *hops.reached)};
    struct walk walk = {loaded, calloc(all + 1, 1), &hops};
    struct wsdbg_error *error = hops.hops && hops.reached && walk.marks ? walk_warps(&walk, warps, warp_count, 0, NULL)
                                                                        : &wsdbg_error_no_memory;
    free(walk.marks);
    if (error)
        wsdbg_why_hops_deinit(&hops);
    else
        *out = hops;
    return error;
}

void wsdbg_why_hops_deinit(struct wsdbg_why_hops *hops)
{
    for (size_t i = 0; i < hops->count; i++)
        free(hops->hops[i].group.warps);
    free(hops->hops);
    free(hops->reached);
    *hops = (struct wsdbg_why_hops){0};
}
