/* wait_tree.c - see wait_tree.h.  Folds edges between warps to links between groups, then walks them depth first. */
#include "viewer/wait_tree.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 60
#define LINES_MAX 4096

/* `from` waits and `to` could end it. */
struct link {
    uint32_t from, to; /* groups; to WSDBG_NONE = nobody known */
    uint32_t waker;    /* an example */
    bool in_cycle, other_cta;
    const char *why;
};

enum visit { NOT_YET, ON_BRANCH, DONE };

struct builder {
    const struct viewer_context *context;
    const struct wsdbg_snapshot *s;
    struct viewer_wait_tree *tree;
    uint32_t *group_of; /* by warp */
    struct link *links;
    size_t link_count, link_capacity;
    unsigned char *visits; /* by group: enum visit */
};

void viewer_wait_tree_deinit(struct viewer_wait_tree *tree)
{
    viewer_folded_deinit(&tree->folded);
    free(tree->lines);
    *tree = (struct viewer_wait_tree){0};
}

/* All warps, the filtered ones too: they may be who others wait for.  What differs from moment to moment is ignored. */
static struct wsdbg_error *fold_all(struct builder *b)
{
    static const struct viewer_filter everything;
    struct viewer_context all = *b->context;
    const uint32_t *level = wsdbg_fold_warp_levels;
    const uint32_t levels[WSDBG_FOLD_LEVELS] = {level[2], level[2], level[3], level[4], level[4]};
    all.filter = &everything;
    return viewer_fold_warps(&all, levels, NULL, &b->tree->folded);
}

static void read_groups(struct builder *b)
{
    const struct viewer_folded *f = &b->tree->folded;
    size_t length;
    for (size_t g = 0; g < f->group_count; g++)
        for (size_t i = 0;
             (i = wsdbg_fold_next(&f->groups[g], f->rows, f->row_count, f->ignored, i, &length)) < f->row_count;
             i += length)
            for (size_t k = i; k < i + length; k++)
                b->group_of[f->rows[k].source] = (uint32_t)g;
}

static struct link *find_link(struct builder *b, const struct link *link)
{
    for (size_t i = 0; i < b->link_count; i++)
        if (b->links[i].from == link->from && b->links[i].to == link->to)
            return &b->links[i];
    return NULL;
}

static bool add_link(struct builder *b, const struct link *link)
{
    struct link *known = find_link(b, link);
    if (known) {
        known->in_cycle = known->in_cycle || link->in_cycle;
        known->other_cta = known->other_cta && link->other_cta;
        return true;
    }
    if (b->link_count == b->link_capacity) {
        const size_t capacity = b->link_capacity ? b->link_capacity * 2 : 64;
        struct link *grown = realloc(b->links, capacity * sizeof *grown);
        if (!grown)
            return false;
        b->links = grown;
        b->link_capacity = capacity;
    }
    b->links[b->link_count++] = *link;
    return true;
}

static bool add_edge(struct builder *b, const struct wsdbg_edge *edge)
{
    if (edge->waiter >= b->s->warp_count)
        return true;
    struct link link = {.from = b->group_of[edge->waiter],
                        .to = WSDBG_NONE,
                        .waker = edge->waker,
                        .in_cycle = edge->in_cycle,
                        .why = edge->why};
    if (edge->waker < b->s->warp_count) {
        link.to = b->group_of[edge->waker];
        link.other_cta = b->s->warps[edge->waker].cta != b->s->warps[edge->waiter].cta;
    }
    return add_link(b, &link);
}

/* A wait that no edge speaks of: nobody is known. */
static bool add_open_waits(struct builder *b)
{
    const struct viewer_folded *f = &b->tree->folded;
    for (size_t g = 0; g < f->group_count; g++) {
        struct link nobody = {.from = (uint32_t)g, .to = WSDBG_NONE, .waker = WSDBG_NONE};
        bool linked = !wsdbg_warp_state_waits(b->s->warps[f->groups[g].source].state);
        for (size_t i = 0; i < b->link_count && !linked; i++)
            linked = b->links[i].from == g;
        if (!linked && !add_link(b, &nobody))
            return false;
    }
    return true;
}

static bool add_line(struct builder *b, const struct viewer_wait_line *line)
{
    struct viewer_wait_tree *t = b->tree;
    if (t->count == LINES_MAX)
        return true;
    if (t->count == t->capacity) {
        const size_t capacity = t->capacity ? t->capacity * 2 : 64;
        struct viewer_wait_line *grown = realloc(t->lines, capacity * sizeof *grown);
        if (!grown)
            return false;
        t->lines = grown;
        t->capacity = capacity;
    }
    t->lines[t->count++] = *line;
    return true;
}

static bool add_node(struct builder *b, struct viewer_wait_line line);

static size_t links_from(const struct builder *b, uint32_t group)
{
    size_t count = 0;
    for (size_t i = 0; i < b->link_count; i++)
        count += b->links[i].from == group;
    return count;
}

/* The wakers below the barrier line `above`. */
static bool add_wakers(struct builder *b, const struct viewer_wait_line *above)
{
    size_t left = links_from(b, above->group);
    for (size_t i = 0; i < b->link_count; i++) {
        const struct link *link = &b->links[i];
        if (link->from != above->group)
            continue;
        const struct viewer_wait_line line = {
            .kind = link->to == WSDBG_NONE ? VIEWER_WAIT_NOBODY : VIEWER_WAIT_NODE,
            .group = link->to,
            .warp = link->waker,
            .barrier = WSDBG_NONE,
            .depth = above->depth + 1,
            .last = --left == 0,
            .rails = above->rails | (above->last ? 0 : 1ull << above->depth),
            .in_cycle = link->in_cycle,
            .other_cta = link->other_cta,
            .why = link->why ? link->why : "",
        };
        if (line.kind == VIEWER_WAIT_NOBODY ? !add_line(b, &line) : !add_node(b, line))
            return false;
    }
    return true;
}

/* A node, and below it what it waits on. */
static bool add_node(struct builder *b, struct viewer_wait_line line)
{
    const bool first = b->visits[line.group] == NOT_YET;
    const struct wsdbg_warp_row *warp = &b->s->warps[line.warp];
    if (!first)
        line.kind = b->visits[line.group] == ON_BRANCH ? VIEWER_WAIT_BACK : VIEWER_WAIT_ABOVE;
    if (!add_line(b, &line))
        return false;
    if (!first || !wsdbg_warp_state_waits(warp->state) || line.depth + 2 > DEPTH_MAX)
        return true;
    b->visits[line.group] = ON_BRANCH;
    struct viewer_wait_line barrier = {.kind = VIEWER_WAIT_BARRIER,
                                       .group = line.group,
                                       .warp = line.warp,
                                       .barrier = warp->barrier,
                                       .depth = line.depth + 1,
                                       .last = true,
                                       .rails = line.rails | (line.last ? 0 : 1ull << line.depth)};
    for (size_t i = 0; i < b->link_count; i++)
        barrier.in_cycle = barrier.in_cycle || (b->links[i].from == line.group && b->links[i].in_cycle);
    const bool fine = add_line(b, &barrier) && (!b->context->picture->diagnosis || add_wakers(b, &barrier));
    b->visits[line.group] = DONE;
    return fine;
}

static bool passes(const struct builder *b, uint32_t group)
{
    const struct viewer_folded *f = &b->tree->folded;
    size_t length;
    for (size_t i = 0;
         (i = wsdbg_fold_next(&f->groups[group], f->rows, f->row_count, f->ignored, i, &length)) < f->row_count;
         i += length)
        for (size_t k = i; k < i + length; k++)
            if (viewer_filter_warp(b->context->filter, b->s, f->rows[k].source))
                return true;
    return false;
}

static bool awaited(const struct builder *b, uint32_t group)
{
    for (size_t i = 0; i < b->link_count; i++)
        if (b->links[i].to == group && b->links[i].from != group)
            return true;
    return false;
}

static bool add_root(struct builder *b, uint32_t group)
{
    const uint32_t warp = b->tree->folded.groups[group].source;
    if (b->visits[group] != NOT_YET || !wsdbg_warp_state_waits(b->s->warps[warp].state) || !passes(b, group))
        return true;
    bool in_cycle = false;
    for (size_t i = 0; i < b->link_count; i++)
        in_cycle = in_cycle || (b->links[i].from == group && b->links[i].in_cycle);
    return add_node(b, (struct viewer_wait_line){.kind = VIEWER_WAIT_NODE,
                                                 .group = group,
                                                 .warp = warp,
                                                 .barrier = WSDBG_NONE,
                                                 .last = true,
                                                 .in_cycle = in_cycle});
}

/* Those that nobody waits for come first, so that a chain is read from its far end; then what is left: cycles. */
static bool add_roots(struct builder *b)
{
    const uint32_t count = (uint32_t)b->tree->folded.group_count;
    for (uint32_t g = 0; g < count; g++)
        if (!awaited(b, g) && !add_root(b, g))
            return false;
    for (uint32_t g = 0; g < count; g++)
        if (!add_root(b, g))
            return false;
    return true;
}

static bool read_links(struct builder *b)
{
    const struct wsdbg_diagnosis *d = b->context->picture->diagnosis;
    for (size_t i = 0; d && i < d->edge_count; i++)
        if (!add_edge(b, &d->edges[i]))
            return false;
    return add_open_waits(b);
}

struct wsdbg_error *viewer_wait_tree_read(const struct viewer_context *context, struct viewer_wait_tree *tree)
{
    struct builder b = {.context = context, .s = context->picture->snapshot, .tree = tree};
    viewer_wait_tree_deinit(tree);
    if (!b.s)
        return NULL;
    struct wsdbg_error *error = fold_all(&b);
    b.group_of = calloc(b.s->warp_count + 1, sizeof *b.group_of);
    b.visits = calloc(tree->folded.group_count + 1, 1);
    if (!error && (!b.group_of || !b.visits))
        error = &wsdbg_error_no_memory;
    if (!error) {
        read_groups(&b);
        if (!read_links(&b) || !add_roots(&b))
            error = &wsdbg_error_no_memory;
    }
    free(b.group_of);
    free(b.visits);
    free(b.links);
    if (error)
        viewer_wait_tree_deinit(tree);
    return error;
}
