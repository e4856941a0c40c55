/* wait_graph.c - builds the wait-for graph of a case, finds what can still move and what goes round in circles.
 *
 * Reads: warp states, names, ledger; without events the machine's state (code_graph.c).  Writes: struct
 * wsdbg_wait_graph.  Careful in one direction: a warp is called stuck only when nobody who might wake it can move.
 */
#include "diagnose/wait_graph.h"

#include <stdlib.h>

#include "diagnose/code_graph.h"
#include "diagnose/ledger.h"

/* A mate may write its last event a moment after this warp issued: %globaltimer ticks coarsely. */
#define WGMMA_SKEW_NS 100000u

static bool live(const struct wsdbg_case *c, uint32_t warp)
{
    return wsdbg_case_warp(c, warp)->state != WSDBG_WARP_EXITED;
}

uint8_t wsdbg_last_register_event(const struct wsdbg_case *c, uint32_t warp, uint32_t *registers)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (events[i].kind >= WSDBG_EVENT_REGISTERS_REQUEST && events[i].kind <= WSDBG_EVENT_REGISTERS_RELEASE) {
            *registers = events[i].value;
            return events[i].kind;
        }
    return 0;
}

static bool role_in(uint32_t roles, const struct wsdbg_warp_row *row)
{
    return row->role.known && row->role.value < 32 && (roles >> row->role.value & 1);
}

static void add_declared(const struct wsdbg_case *c, uint32_t waiter, uint32_t roles, bool remote,
                         struct wsdbg_wait_node *node)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (w == waiter || (row->cta != wsdbg_case_warp(c, waiter)->cta && !remote))
            continue;
        /* A live warp whose role is not known could be of any. */
        if (role_in(roles, row) || (!row->role.known && live(c, w)))
            wsdbg_set_add(&node->wakers, w);
    }
}

static void mbarrier_wakers(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const uint32_t id = row->last.barrier;
    const struct wsdbg_name *name =
        wsdbg_snapshot_name(c->snapshot, c->snapshot->grids[c->grid].module, WSDBG_NAME_MBARRIER, id);
    node->wakers = wsdbg_family_actors(c, row->cta, id);
    wsdbg_set_remove(&node->wakers, warp);
    if (name && name->arriving_roles) {
        const bool remote = wsdbg_peers_may_arrive(c, id);
        add_declared(c, warp, name->arriving_roles, remote, node);
        node->why = "declared";
    } else {
        /* Who arrived before is a hint: somebody who never did yet may still be meant to. */
        node->open = true;
        node->why = "arrived before";
    }
    /* Bytes still on their way complete the phase without any warp. */
    node->outside = !c->quiet;
}

static void register_wakers(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const uint32_t cta = wsdbg_case_warp(c, warp)->cta;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        uint32_t registers;
        if (row->cta != cta || w == warp || !live(c, w) || row->state == WSDBG_WARP_WAIT_REGISTERS)
            continue;
        if (wsdbg_last_register_event(c, w, &registers) != WSDBG_EVENT_REGISTERS_RELEASE)
            wsdbg_set_add(&node->wakers, w);
    }
    node->why = "holds registers";
}

/* Has the warp ever used the named barrier, as far as recorded? */
static bool uses_named(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind >= WSDBG_EVENT_NAMED_ARRIVE && events[i].kind <= WSDBG_EVENT_NAMED_SYNC_END &&
            events[i].barrier == id)
            return true;
    return false;
}

static void named_wakers(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, warp);
    const uint32_t id = self->last.barrier;
    const struct wsdbg_name *name =
        wsdbg_snapshot_name(c->snapshot, c->snapshot->grids[c->grid].module, WSDBG_NAME_NAMED_BARRIER, id);
    const uint32_t roles = name ? name->arriving_roles | name->waiting_roles : 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (w == warp || row->cta != self->cta || (row->state == WSDBG_WARP_WAIT_NAMED && row->last.barrier == id))
            continue;
        if (uses_named(c, w, id) || role_in(roles, row) || (roles && !row->role.known && live(c, w)))
            wsdbg_set_add(&node->wakers, w);
    }
    node->why = roles ? "declared" : "arrived before";
    /* A warp that has not reached its first bar.sync on this id yet leaves no trace of it. */
    node->open = roles == 0;
}

static void cluster_wakers(const struct wsdbg_case *c, struct wsdbg_wait_node *node)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (live(c, w) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_WAIT_CLUSTER)
            wsdbg_set_add(&node->wakers, w);
    node->why = "not at the cluster barrier";
}

/* Newest wgmma of a warp as recorded; NULL = none. */
static const struct wsdbg_history_event *last_wgmma(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (events[i].kind == WSDBG_EVENT_WGMMA_ISSUE)
            return &events[i];
    return NULL;
}

/* The warp has not reached `issue` yet: its last event is not newer, and its own last wgmma, if any, is older. */
static bool behind(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_history_event *issue)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_history_event *own = last_wgmma(c, warp);
    if (row->history_count == 0 || issue->iteration == WSDBG_NO_ITERATION)
        return false;
    const bool older = !own || (own->iteration != WSDBG_NO_ITERATION && own->iteration < issue->iteration);
    return older && row->last.gpu_time_ns <= issue->gpu_time_ns + WGMMA_SKEW_NS;
}

/* wgmma is one instruction of four warps: one that stands at it waits for the mates that are not there. */
static void wgmma_wakers(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, warp);
    if (self->last.kind != WSDBG_EVENT_WGMMA_ISSUE || !c->quiet)
        return;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (w != warp && row->cta == self->cta && row->warp / 4 == self->warp / 4 && behind(c, w, &self->last))
            wsdbg_set_add(&node->wakers, w);
    }
    node->waits = wsdbg_set_count(&node->wakers) > 0;
    node->why = "wgmma needs all four warps of the warpgroup";
}

static void describe_node(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const enum wsdbg_warp_state state = wsdbg_case_warp(c, warp)->state;
    if (c->of_machine) {
        wsdbg_code_describe(c, warp, node);
        return;
    }
    node->waits = wsdbg_warp_state_waits(state);
    node->why = "not known";
    switch (state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        mbarrier_wakers(c, warp, node);
        break;
    case WSDBG_WARP_WAIT_REGISTERS:
        register_wakers(c, warp, node);
        break;
    case WSDBG_WARP_WAIT_NAMED:
        named_wakers(c, warp, node);
        break;
    case WSDBG_WARP_WAIT_CLUSTER:
        cluster_wakers(c, node);
        break;
    case WSDBG_WARP_RUNNING:
        wgmma_wakers(c, warp, node);
        break;
    default:
        node->outside = node->waits;
        break;
    }
    /* A warp that was never seen could do anything. */
    if (!c->all_seen)
        node->outside = true;
    node->waits = node->waits || wsdbg_set_has(&c->stuck, warp);
}

static bool can_move(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_wait_node *node,
                     const struct wsdbg_warp_set *moving)
{
    if (!live(c, warp) || wsdbg_set_has(&c->stuck, warp))
        return false;
    if (!node->waits || node->outside || wsdbg_set_meets(&node->wakers, moving))
        return true;
    /* Open: any warp of the case may be the one, itself excepted (it is not moving when this is asked). */
    return node->open && wsdbg_set_count(moving) > 0;
}

static struct wsdbg_warp_set moving_set(const struct wsdbg_case *c, const struct wsdbg_wait_node *nodes,
                                        const struct wsdbg_warp_set *freed)
{
    struct wsdbg_warp_set moving = *freed;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (!wsdbg_set_has(&moving, w) && can_move(c, w, &nodes[w], &moving)) {
                wsdbg_set_add(&moving, w);
                changed = true;
            }
    }
    return moving;
}

struct wsdbg_warp_set wsdbg_live_wakers(const struct wsdbg_case *c, uint32_t warp)
{
    struct wsdbg_warp_set set = c->graph->nodes[warp].wakers;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&set, w) && !live(c, w))
            wsdbg_set_remove(&set, w);
    return set;
}

struct wsdbg_warp_set wsdbg_progress_if(const struct wsdbg_case *c, const struct wsdbg_warp_set *freed)
{
    return moving_set(c, c->graph->nodes, freed);
}

/* Tarjan's strongly connected components over waiter -> waker, live warps only. */
struct tarjan {
    const struct wsdbg_case *c;
    struct wsdbg_wait_graph *graph;
    uint32_t next_index, next_component, depth;
    uint32_t *index, *low, *stack;
    bool *on_stack;
};

static void close_component(struct tarjan *t, uint32_t root)
{
    uint32_t size = 0, member;
    const uint32_t top = t->depth;
    do {
        member = t->stack[--t->depth];
        t->on_stack[member] = false;
        t->graph->nodes[member].component = t->next_component;
        size++;
    } while (member != root);
    t->next_component++;
    for (uint32_t i = t->depth; i < top; i++)
        t->graph->nodes[t->stack[i]].in_cycle = size > 1;
    t->graph->cycle = t->graph->cycle || size > 1;
}

static void visit(struct tarjan *t, uint32_t warp)
{
    t->index[warp] = t->low[warp] = ++t->next_index;
    t->stack[t->depth++] = warp;
    t->on_stack[warp] = true;
    const struct wsdbg_wait_node *node = &t->graph->nodes[warp];
    for (uint32_t w = 0; w < t->c->warp_count && node->waits; w++) {
        if (!wsdbg_set_has(&node->wakers, w) || !live(t->c, w))
            continue;
        if (t->index[w] == 0) {
            visit(t, w);
            t->low[warp] = t->low[w] < t->low[warp] ? t->low[w] : t->low[warp];
        } else if (t->on_stack[w] && t->index[w] < t->low[warp]) {
            t->low[warp] = t->index[w];
        }
    }
    if (t->low[warp] == t->index[warp])
        close_component(t, warp);
}

static struct wsdbg_error *find_cycles(const struct wsdbg_case *c, struct wsdbg_wait_graph *graph)
{
    struct tarjan t = {.c = c, .graph = graph};
    t.index = calloc(c->warp_count, 3 * sizeof *t.index);
    t.on_stack = calloc(c->warp_count, sizeof *t.on_stack);
    struct wsdbg_error *error = t.index && t.on_stack ? NULL : &wsdbg_error_no_memory;
    if (!error) {
        t.low = t.index + c->warp_count;
        t.stack = t.low + c->warp_count;
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (t.index[w] == 0)
                visit(&t, w);
        graph->component_count = t.next_component;
    }
    free(t.index);
    free(t.on_stack);
    return error;
}

static bool waits_outside(const struct wsdbg_case *c, const struct wsdbg_wait_node *nodes, uint32_t warp)
{
    for (uint32_t w = 0; w < c->warp_count && nodes[warp].waits; w++)
        if (wsdbg_set_has(&nodes[warp].wakers, w) && live(c, w) && nodes[w].component != nodes[warp].component)
            return true;
    return false;
}

static struct wsdbg_error *find_roots(const struct wsdbg_case *c, struct wsdbg_wait_graph *graph)
{
    bool *leads_on = calloc(graph->component_count + 1, sizeof *leads_on);
    if (!leads_on)
        return &wsdbg_error_no_memory;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (waits_outside(c, graph->nodes, w))
            leads_on[graph->nodes[w].component] = true;
    for (uint32_t w = 0; w < c->warp_count; w++)
        graph->nodes[w].at_root = !leads_on[graph->nodes[w].component];
    free(leads_on);
    return NULL;
}

struct wsdbg_error *wsdbg_wait_graph_create(const struct wsdbg_case *c, struct wsdbg_wait_graph **out)
{
    struct wsdbg_wait_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return &wsdbg_error_no_memory;
    graph->nodes = calloc(c->warp_count, sizeof *graph->nodes);
    struct wsdbg_error *error = graph->nodes ? NULL : &wsdbg_error_no_memory;
    for (uint32_t w = 0; w < c->warp_count && !error; w++)
        describe_node(c, w, &graph->nodes[w]);
    if (!error)
        error = find_cycles(c, graph);
    if (!error)
        error = find_roots(c, graph);
    if (error) {
        wsdbg_wait_graph_destroy(graph);
        return error;
    }
    const struct wsdbg_warp_set nobody = {{0}};
    const struct wsdbg_warp_set moving = moving_set(c, graph->nodes, &nobody);
    for (uint32_t w = 0; w < c->warp_count; w++)
        graph->nodes[w].may_progress = wsdbg_set_has(&moving, w);
    *out = graph;
    return NULL;
}

void wsdbg_wait_graph_destroy(struct wsdbg_wait_graph *graph)
{
    if (graph)
        free(graph->nodes);
    free(graph);
}
