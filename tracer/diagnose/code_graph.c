/* code_graph.c - the wait-for graph of a case known from the machine's state: a warp waits for the warps that
 * can still reach an instruction which may end its wait.
 *
 * Reads: warp states, parts, barrier words, reaches.  Writes: struct wsdbg_wait_node.  Careful in one direction: who
 * might wake counts as a waker, what the hardware may have under way counts as under way until two looks saw the same.
 */
#include "diagnose/code_graph.h"

#include <string.h>

#include "diagnose/code_case.h"
#include "diagnose/poll_writers.h"

static bool live(const struct wsdbg_case *c, uint32_t warp)
{
    return wsdbg_case_warp(c, warp)->state != WSDBG_WARP_EXITED;
}

/* One wait of a warp: that of all its lanes, or of a part of them. */
struct wait {
    enum wsdbg_warp_state state;
    uint32_t barrier;
    struct wsdbg_optional_u32 parity;
    uint32_t site;
    struct wsdbg_optional_u64 address; /* polled */
};

/* The kinds of access that bring what the phase still needs. */
static wsdbg_access_kinds lacking(const struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_barrier_word word;
    const wsdbg_access_kinds again = WSDBG_KIND(WSDBG_ACCESS_INIT);
    if (!wsdbg_word_of(c, barrier, &word))
        return again | WSDBG_KINDS_ARRIVAL | WSDBG_KINDS_BYTES;
    if (word.pending > 0)
        return again | WSDBG_KINDS_ARRIVAL;
    return again | (word.bytes > 0 ? WSDBG_KINDS_BYTES : WSDBG_KINDS_EXPECT);
}

/* No live warp can end this wait.  The report then names exited warps as its other end: those that may have reached an
 * instruction which ends it.  Where that is not known of a warp, its role decides. */
static void add_exited(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, warp);
    const struct wsdbg_name *name =
        self->barrier < c->snapshot->barrier_count ? c->snapshot->barriers[self->barrier].name : NULL;
    const wsdbg_access_kinds kinds = self->state == WSDBG_WARP_WAIT_NAMED
                                         ? WSDBG_KINDS_NAMED
                                         : lacking(c, self->barrier) & ~WSDBG_KIND(WSDBG_ACCESS_INIT);
    const uint32_t roles = name ? name->arriving_roles : 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->cta != self->cta || live(c, w))
            continue;
        const bool meant = roles == 0 || !row->role.known || (row->role.value < 32 && (roles >> row->role.value & 1));
        const enum wsdbg_can could = wsdbg_code_could(c, w, kinds, self->barrier);
        if (could == WSDBG_CAN || (could == WSDBG_CAN_DOUBTFUL && meant))
            wsdbg_set_add(&node->wakers, w);
    }
    node->why = "has exited";
}

/* The phase has ended already; or what is missing may be on its way: bytes, or arrivals that copies of cp.async make.
 */
static bool ends_by_itself(const struct wsdbg_case *c, const struct wait *wait)
{
    struct wsdbg_barrier_word word;
    if (!wait->parity.known || !wsdbg_word_of(c, wait->barrier, &word))
        return false;
    if (word.phase != wait->parity.value)
        return true;
    const bool copies_arrive = wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_COPY_ARRIVE), wait->barrier, NULL);
    /* Too many bytes: no copy can make up for them. */
    return !c->still && (word.pending == 0 ? word.bytes >= 0 : copies_arrive);
}

static void add_wakers(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier, struct wsdbg_wait_node *node)
{
    struct wsdbg_warp_set able = wsdbg_code_able(c, lacking(c, barrier), barrier, WSDBG_CAN_DOUBTFUL);
    wsdbg_set_remove(&able, warp);
    wsdbg_set_join(&node->wakers, &able);
}

/* Who may arrive on any mbarrier of its CTA that the warp can still test. */
static void add_wakers_of_all(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const uint32_t cta = wsdbg_case_warp(c, warp)->cta;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        if (row->cta != cta || row->kind != WSDBG_BARRIER_MBARRIER ||
            wsdbg_code_can(c, warp, WSDBG_KIND(WSDBG_ACCESS_WAIT), b, NULL) == WSDBG_CAN_NOT)
            continue;
        add_wakers(c, warp, b, node);
    }
}

static void mbarrier_wakers(const struct wsdbg_case *c, uint32_t warp, const struct wait *wait,
                            struct wsdbg_wait_node *node)
{
    node->outside = node->outside || ends_by_itself(c, wait);
    node->why = "may arrive";
    if (wait->barrier >= c->snapshot->barrier_count) {
        node->open = true; /* which barrier is not known */
        return;
    }
    add_wakers(c, warp, wait->barrier, node);
    if (wsdbg_code_waits_for_one_of(c, warp))
        add_wakers_of_all(c, warp, node);
}

/* All have come: in one picture the barrier opens just now. */
static bool opens_now(const struct wsdbg_case *c, uint32_t barrier)
{
    const struct wsdbg_barrier *row = barrier < c->snapshot->barrier_count ? &c->snapshot->barriers[barrier] : NULL;
    return row && !c->still && row->pending_arrivals.known && row->pending_arrivals.value == 0;
}

static void named_wakers(const struct wsdbg_case *c, uint32_t warp, const struct wait *wait,
                         struct wsdbg_wait_node *node)
{
    node->why = "may reach the barrier";
    node->open = node->open || wait->barrier >= c->snapshot->barrier_count;
    node->outside = node->outside || opens_now(c, wait->barrier);
    for (uint32_t w = 0; w < c->warp_count && !node->open; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->cta == wsdbg_case_warp(c, warp)->cta && row->barrier != wait->barrier &&
            wsdbg_code_can(c, w, WSDBG_KINDS_NAMED, wait->barrier, NULL) > WSDBG_CAN_NOT)
            wsdbg_set_add(&node->wakers, w);
    }
}

/* Nobody waits for an exited warp: the barrier opens without it. */
static void cluster_wakers(const struct wsdbg_case *c, const struct wait *wait, struct wsdbg_wait_node *node)
{
    node->why = "not at the cluster barrier";
    node->outside = node->outside || opens_now(c, wait->barrier);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (live(c, w) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_WAIT_CLUSTER)
            wsdbg_set_add(&node->wakers, w);
}

/* Registers come from a live warp of the same register file: warps equal modulo 4 (see rule_registers.c). */
static void register_wakers(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, warp);
    node->why = "may release registers";
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (w != warp && row->cta == self->cta && row->warp % WSDBG_GROUP_WARPS == self->warp % WSDBG_GROUP_WARPS &&
            wsdbg_code_can(c, w, WSDBG_KIND(WSDBG_ACCESS_REGISTERS_RELEASE), WSDBG_NONE, NULL) > WSDBG_CAN_NOT)
            wsdbg_set_add(&node->wakers, w);
    }
}

static bool stands_at_wgmma(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_site *site = wsdbg_snapshot_site(c->snapshot, row->site);
    if (row->state == WSDBG_WARP_WAIT_WGMMA)
        return true;
    return (row->state == WSDBG_WARP_RUNNING || row->unmoved) && site && site->is_wgmma;
}

/* The mate waits and has not reached its first wgmma.  After two equal looks any mate that waits elsewhere counts. */
static bool holds_up_wgmma(const struct wsdbg_case *c, uint32_t mate)
{
    uint32_t count, before = 0;
    if (!live(c, mate) || !wsdbg_warp_state_waits(wsdbg_case_warp(c, mate)->state) || stands_at_wgmma(c, mate))
        return false;
    if (wsdbg_code_can(c, mate, WSDBG_KIND(WSDBG_ACCESS_WGMMA), WSDBG_NONE, NULL) != WSDBG_CAN)
        return false;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, mate, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && access->kind == WSDBG_ACCESS_WGMMA)
            before += !reaches[i].before_known || reaches[i].before_most > 0;
    }
    return before == 0 || c->still;
}

/* wgmma is one instruction of four warps: it does not go on before the last of them is there. */
static void wgmma_wakers(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, warp);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (w != warp && wsdbg_case_are_mates(c, w, warp) && holds_up_wgmma(c, w))
            wsdbg_set_add(&node->wakers, w);
    const bool held_up = wsdbg_set_count(&node->wakers) > 0;
    node->waits = held_up || self->state == WSDBG_WARP_WAIT_WGMMA;
    node->outside = !held_up;
    node->why = "wgmma needs all four warps of the warpgroup";
}

/* Runs, may run, or goes on by itself once the hardware is done. */
static bool may_run(enum wsdbg_warp_state state)
{
    return state == WSDBG_WARP_RUNNING || state == WSDBG_WARP_UNKNOWN || state == WSDBG_WARP_WAIT_WGMMA ||
           state == WSDBG_WARP_WAIT_BULK;
}

static bool grid_is_quiet(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count && i < snapshot->cta_count; i++) {
        const struct wsdbg_cta *cta = &snapshot->ctas[i];
        for (uint32_t k = cta->warp_first; k < cta->warp_first + cta->warp_count && k < snapshot->warp_count; k++)
            if (may_run(snapshot->warps[k].state))
                return false;
    }
    return true;
}

uint32_t wsdbg_code_ctas_there(const struct wsdbg_case *c)
{
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    uint32_t there = grid->cta_count;
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count && c->of_machine; i++)
        there -= wsdbg_snapshot_cta_has_left(c->snapshot, i);
    return there;
}

uint32_t wsdbg_code_ctas_unseen(const struct wsdbg_case *c)
{
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    const uint32_t there = wsdbg_code_ctas_there(c);
    return grid->cta_total > there ? grid->cta_total - there : 0;
}

bool wsdbg_code_nobody_runs(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->snapshot->grid_count; i++)
        if (c->snapshot->grids[i].running &&
            (c->snapshot->grids[i].moves || !grid_is_quiet(c->snapshot, &c->snapshot->grids[i])))
            return false;
    return true;
}

bool wsdbg_code_polls_system(const struct wsdbg_snapshot *snapshot, uint32_t site)
{
    const struct wsdbg_site *row = wsdbg_snapshot_site(snapshot, site);
    return !row || !row->instruction[0] || row->is_system;
}

static void describe_wait(const struct wsdbg_case *c, uint32_t warp, const struct wait *wait,
                          struct wsdbg_wait_node *node)
{
    switch (wait->state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        mbarrier_wakers(c, warp, wait, node);
        break;
    case WSDBG_WARP_WAIT_REGISTERS:
        register_wakers(c, warp, node);
        break;
    case WSDBG_WARP_WAIT_NAMED:
        named_wakers(c, warp, wait, node);
        break;
    case WSDBG_WARP_WAIT_CLUSTER:
        cluster_wakers(c, wait, node);
        break;
    case WSDBG_WARP_SPIN_GLOBAL:
    case WSDBG_WARP_SPIN_SHARED:
        node->outside = node->outside || !c->still || !wsdbg_code_nobody_runs(c) ||
                        wsdbg_poll_at(c, wait->state, wait->site, wait->address).writer != WSDBG_WRITER_NOBODY;
        node->why = "polls memory";
        break;
    case WSDBG_WARP_RECONVERGE:
        node->outside = node->outside || !c->still;
        node->why = "waits for its own lanes";
        break;
    default: /* hardware or another grid; or lanes that run, which may do whatever the others wait for */
        node->outside = true;
        break;
    }
}

/* Every part's wait counts: any of them that ends may set the warp going.  Lanes that wait for the other lanes of their
 * warp add nothing, unless all do. */
static void describe_parts(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_part *part = &parts[i];
        const bool main = part->state == row->state && part->barrier == row->barrier;
        if (!main && part->state != WSDBG_WARP_RECONVERGE && part->state != WSDBG_WARP_EXITED)
            describe_wait(c, warp, &(struct wait){part->state, part->barrier, part->parity, part->site, part->address},
                          node);
    }
    const struct wsdbg_part *polls = wsdbg_polling_part(c, warp);
    const bool same = polls && polls->state == row->state && polls->site == row->site;
    const struct wsdbg_optional_u64 address = same ? polls->address : (struct wsdbg_optional_u64){0};
    describe_wait(c, warp, &(struct wait){row->state, row->barrier, row->parity, row->site, address}, node);
}

static bool cta_is_whole(const struct wsdbg_case *c, uint32_t warp)
{
    return c->snapshot->ctas[wsdbg_case_warp(c, warp)->cta].warp_count >= c->snapshot->grids[c->grid].warps_per_cta;
}

void wsdbg_code_describe(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_wait_node *node)
{
    node->waits = wsdbg_warp_state_waits(wsdbg_case_warp(c, warp)->state);
    node->why = "not known";
    if (stands_at_wgmma(c, warp))
        wgmma_wakers(c, warp, node);
    else if (node->waits)
        describe_parts(c, warp, node);
    /* A warp that was never seen could do anything. */
    node->outside = node->outside || !cta_is_whole(c, warp);
    const enum wsdbg_warp_state state = wsdbg_case_warp(c, warp)->state;
    if ((state == WSDBG_WARP_WAIT_MBARRIER || state == WSDBG_WARP_WAIT_NAMED) && !node->outside && !node->open &&
        wsdbg_set_count(&node->wakers) == 0)
        add_exited(c, warp, node);
}
