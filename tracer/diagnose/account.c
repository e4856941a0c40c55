/* account.c - see account.h.  Makes the case of the barrier's CTA or cluster and asks it what the rules ask. */
#include "diagnose/account.h"

#include <stdlib.h>

#include "diagnose/code_case.h"
#include "diagnose/round.h"
#include "diagnose/wait_graph.h"

struct accounting {
    struct wsdbg_case c;
    const struct wsdbg_barrier *row;
    uint32_t barrier;
    struct wsdbg_account *account; /* one row a warp of the case until the empty ones are dropped */
};

static void share(struct accounting *a, uint32_t warp, enum wsdbg_share what)
{
    a->account->rows[warp].shares |= what;
}

static void share_set(struct accounting *a, const struct wsdbg_warp_set *set, enum wsdbg_share what)
{
    for (uint32_t w = 0; w < a->c.warp_count; w++)
        if (wsdbg_set_has(set, w))
            share(a, w, what);
}

static bool has(const struct accounting *a, uint32_t warp, unsigned shares)
{
    return (a->account->rows[warp].shares & shares) != 0;
}

/* A part of the lanes is enough.  The cluster's barrier has a row in each CTA and is one. */
static bool waits_here(const struct accounting *a, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(&a->c, warp);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(&a->c, warp, &count);
    if (a->row->kind == WSDBG_BARRIER_CLUSTER && row->state == WSDBG_WARP_WAIT_CLUSTER)
        return true;
    bool waits = wsdbg_warp_state_waits(row->state) && row->barrier == a->barrier;
    for (uint32_t i = 0; i < count && !waits; i++)
        waits = wsdbg_warp_state_waits(parts[i].state) && parts[i].barrier == a->barrier;
    return waits;
}

/* Who could end the waits of those that wait here, as the wait-for graph has it. */
static struct wsdbg_warp_set wakers_of_waiters(struct accounting *a)
{
    struct wsdbg_warp_set wakers = {0};
    for (uint32_t w = 0; w < a->c.warp_count; w++) {
        const struct wsdbg_wait_node *node = &a->c.graph->nodes[w];
        if (!has(a, w, WSDBG_SHARE_WAITS))
            continue;
        a->account->to_come_known = a->account->to_come_known && !node->open && !node->outside;
        wsdbg_set_join(&wakers, &node->wakers);
    }
    return wakers;
}

static const struct wsdbg_stage *stage_of(const struct accounting *a)
{
    for (uint32_t s = 0; s < a->c.ledger->stage_count; s++)
        if (a->c.ledger->stages[s].barrier == a->barrier)
            return &a->c.ledger->stages[s];
    return NULL;
}

static void note_last_deeds(struct accounting *a, const struct wsdbg_stage *stage)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(&a->c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++) {
        const struct wsdbg_history_event *event = uses[i].event;
        if (wsdbg_event_is_arrival(event) || wsdbg_event_is_expect(event) || event->kind == WSDBG_EVENT_TMA_ISSUE)
            a->account->rows[uses[i].warp].last_deed = *event;
    }
}

/* A wait says which round of arrivals it needs: that is the present one. */
static const struct wsdbg_wait *wait_with_round(const struct accounting *a, const struct wsdbg_stage *stage,
                                                struct wsdbg_round *round)
{
    for (uint32_t i = 0; i < a->c.ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &a->c.ledger->waits[i];
        if (wait->stage != stage)
            continue;
        *round = wsdbg_round_of(&a->c, wait);
        if (round->known && round->needs_known)
            return wait;
    }
    return NULL;
}

/* All arrivals of the round were made, and yet the barrier needs its full count: it now waits for the next round. */
static bool is_over(const struct accounting *a, const struct wsdbg_round *round)
{
    const struct wsdbg_optional_u32 pending = a->row->pending_arrivals, expected = a->row->expected_arrivals;
    return pending.known && expected.known && pending.value == expected.value && round->arrivals >= expected.value;
}

static void note_torn(struct accounting *a, const struct wsdbg_stage *stage, const struct wsdbg_round *round)
{
    if (!round->covered || !stage->init.known || stage->init.value <= round->arrivals)
        return;
    const struct wsdbg_torn torn = wsdbg_round_torn(&a->c, stage, round, stage->init.value - round->arrivals);
    if (torn.warp == WSDBG_NONE)
        return;
    a->account->rows[torn.warp].arrived = torn.arrived;
    a->account->rows[torn.warp].threads = torn.threads;
}

static void share_round(struct accounting *a, const struct wsdbg_wait *wait, const struct wsdbg_round *round)
{
    const struct wsdbg_stage *stage = wait->stage;
    const struct wsdbg_use *uses = wsdbg_stage_uses(&a->c, stage);
    bool declared;
    const struct wsdbg_warp_set arrivers = wsdbg_arrivers(&a->c, stage, &declared);
    share_set(a, &round->arrived, WSDBG_SHARE_ARRIVED);
    share_set(a, &round->expected, WSDBG_SHARE_EXPECTED);
    note_torn(a, stage, round);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].round == round->tag && uses[i].event->kind == WSDBG_EVENT_TMA_ISSUE)
            share(a, uses[i].warp, WSDBG_SHARE_ISSUED);
    for (uint32_t w = 0; w < a->c.warp_count; w++)
        if (wsdbg_set_has(&arrivers, w) && wsdbg_contribution(&a->c, wait, round, w) == WSDBG_SKIPPED)
            share(a, w, WSDBG_SHARE_SKIPPED);
    a->account->phase_known = round->covered && round->certain;
    a->account->phase_over = is_over(a, round);
    a->account->expected_bytes = wsdbg_known_u64(round->expected_bytes);
    a->account->issued_bytes = wsdbg_known_u64(round->issued_bytes);
    if (round->iteration != WSDBG_NO_ITERATION)
        a->account->iteration = wsdbg_known_u32(round->iteration);
}

/* Whoever has not come and could: from the graph where somebody waits, else from the code or from who came before. */
static struct wsdbg_warp_set candidates(struct accounting *a, const struct wsdbg_stage *stage, bool waited_on)
{
    bool declared = false;
    if (waited_on)
        return wakers_of_waiters(a);
    a->account->to_come_known = false;
    if (a->c.of_machine && a->row->kind == WSDBG_BARRIER_MBARRIER)
        return wsdbg_code_able(&a->c, WSDBG_KINDS_ARRIVAL, a->barrier, WSDBG_CAN_DOUBTFUL);
    if (a->c.of_machine && a->row->kind == WSDBG_BARRIER_NAMED)
        return wsdbg_code_able(&a->c, WSDBG_KINDS_NAMED, a->barrier, WSDBG_CAN_DOUBTFUL);
    return stage ? wsdbg_arrivers(&a->c, stage, &declared) : (struct wsdbg_warp_set){0};
}

static void fill(struct accounting *a)
{
    bool waited_on = false;
    struct wsdbg_round round;
    const struct wsdbg_stage *stage = stage_of(a);
    for (uint32_t w = 0; w < a->c.warp_count; w++) {
        a->account->rows[w].warp = a->c.warps[w];
        if (waits_here(a, w))
            share(a, w, WSDBG_SHARE_WAITS);
        waited_on = waited_on || has(a, w, WSDBG_SHARE_WAITS);
    }
    if (stage) {
        const struct wsdbg_wait *wait = wait_with_round(a, stage, &round);
        note_last_deeds(a, stage);
        if (wait)
            share_round(a, wait, &round);
    }
    a->account->to_come_known = true;
    const struct wsdbg_warp_set able = candidates(a, stage, waited_on);
    const unsigned done = a->account->phase_over ? 0 : WSDBG_SHARE_ARRIVED | WSDBG_SHARE_SKIPPED;
    for (uint32_t w = 0; w < a->c.warp_count; w++)
        if (wsdbg_set_has(&able, w) && !has(a, w, done))
            share(a, w, wsdbg_case_warp(&a->c, w)->state == WSDBG_WARP_EXITED ? WSDBG_SHARE_LEFT : WSDBG_SHARE_TO_COME);
}

static void drop_empty(struct wsdbg_account *account)
{
    size_t kept = 0;
    for (size_t i = 0; i < account->row_count; i++)
        if (account->rows[i].shares || account->rows[i].last_deed.kind != WSDBG_EVENT_NONE)
            account->rows[kept++] = account->rows[i];
    account->row_count = kept;
}

static struct wsdbg_error *make_case(struct wsdbg_case *c)
{
    struct wsdbg_error *error = wsdbg_ledger_create(c, &c->ledger);
    if (!error)
        error = wsdbg_rounds_create(c);
    return error ? error : wsdbg_wait_graph_create(c, &c->graph);
}

struct wsdbg_error *wsdbg_account_ctas(const struct wsdbg_snapshot *snapshot, uint32_t cta, uint32_t **out,
                                       uint32_t *count)
{
    const struct wsdbg_cta *self = &snapshot->ctas[cta];
    *count = 0;
    *out = NULL;
    if (self->grid >= snapshot->grid_count || !wsdbg_grid_is_sound(snapshot, &snapshot->grids[self->grid]))
        return NULL;
    const struct wsdbg_grid *grid = &snapshot->grids[self->grid];
    uint32_t *ctas = malloc((grid->cta_count + 1) * sizeof *ctas);
    if (!ctas)
        return &wsdbg_error_no_memory;
    /* More than a case holds is a snapshot not to be believed: the case is refused then. */
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count && *count <= WSDBG_CASE_WARPS_MAX; i++) {
        const struct wsdbg_cta *other = &snapshot->ctas[i];
        if (i != cta && (self->cluster_size <= 1 || other->cluster_id != self->cluster_id))
            continue;
        uint32_t at = (*count)++;
        for (; at > 0 && snapshot->ctas[ctas[at - 1]].cluster_rank > other->cluster_rank; at--)
            ctas[at] = ctas[at - 1];
        ctas[at] = i;
    }
    *out = ctas;
    return NULL;
}

struct wsdbg_error *wsdbg_account(const struct wsdbg_snapshot *snapshot, uint32_t barrier, struct wsdbg_account *out)
{
    struct wsdbg_account account = {0};
    struct accounting a = {.row = &snapshot->barriers[barrier], .barrier = barrier, .account = &account};
    uint32_t *ctas, cta_count;
    struct wsdbg_error *error = wsdbg_account_ctas(snapshot, a.row->cta, &ctas, &cta_count);
    if (!error && cta_count > 0)
        error = wsdbg_case_init(snapshot, snapshot->ctas[a.row->cta].grid, ctas, cta_count, &a.c);
    if (!error && a.c.warp_count > 0) {
        error = make_case(&a.c);
        if (!error && !(account.rows = calloc(a.c.warp_count, sizeof *account.rows)))
            error = &wsdbg_error_no_memory;
        account.row_count = account.rows ? a.c.warp_count : 0;
        if (!error)
            fill(&a);
        drop_empty(&account);
    }
    wsdbg_case_deinit(&a.c);
    free(ctas);
    if (error)
        wsdbg_account_deinit(&account);
    else
        *out = account;
    return error;
}

void wsdbg_account_deinit(struct wsdbg_account *account)
{
    free(account->rows);
    *account = (struct wsdbg_account){0};
}
