/* diagnose.c - runs the rules over every CTA or cluster of every grid that cannot go on.
 *
 * Reads: a snapshot.  Writes: struct wsdbg_diagnosis.  See finding.h for what the answer means.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/fold.h"
#include "diagnose/gone_ranks.h"
#include "diagnose/ledger.h"
#include "diagnose/missing_ranks.h"
#include "diagnose/poll_writers.h"
#include "diagnose/recorded_case.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"
#include "model/fault.h"

enum rule_evidence { RECORD, MACHINE, FAULT_RECORD, FAULT_MACHINE };

static const struct {
    enum rule_evidence evidence;
    wsdbg_rule *ask;
} rules[] = {
#define RULE(evidence, name) {evidence, wsdbg_rule_##name},
#include "diagnose/causes.def"
};

/* Once a rule on the machine's state has a likely finding, all other waits follow from it, and no further rule is
 * asked. For code that is not understood only the last rule is asked, which gives the place. */
static void ask_rules(struct wsdbg_case *c, enum rule_evidence evidence)
{
    const bool is_understood = wsdbg_causes_are_known(c->snapshot, &c->snapshot->grids[c->grid]);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const bool may_speak = evidence != MACHINE || is_understood || rules[i].ask == wsdbg_rule_cycle;
        if (rules[i].evidence == evidence && may_speak && !(evidence == MACHINE && wsdbg_case_explained(c)))
            rules[i].ask(c);
    }
}

/* After a fault nothing hangs.  Who waited when it came is told beside a cause, as no more than possible: alone it says
 * nothing, the wait may have been about to end. */
static void run_fault_rules(struct wsdbg_case *c)
{
    ask_rules(c, c->of_machine ? FAULT_MACHINE : FAULT_RECORD);
    const size_t causes = c->finding_count;
    if (causes == 0 || c->of_machine)
        return;
    wsdbg_rule_registers(c);
    wsdbg_rule_double(c);
    for (size_t i = causes; i < c->finding_count; i++)
        c->findings[i].confidence = WSDBG_CONFIDENCE_POSSIBLE;
}

static void run_rules(struct wsdbg_case *c)
{
    if (c->faulted) {
        run_fault_rules(c);
        return;
    }
    ask_rules(c, c->of_machine ? MACHINE : RECORD);
    wsdbg_case_settle(c);
}

static struct wsdbg_error *add_edge(struct wsdbg_diagnosis *out, struct wsdbg_edge edge)
{
    /* Grown in powers of two. */
    if ((out->edge_count & (out->edge_count - 1)) == 0) {
        const size_t room = out->edge_count ? 2 * out->edge_count : 1;
        struct wsdbg_edge *grown = realloc(out->edges, room * sizeof *grown);
        if (!grown)
            return &wsdbg_error_no_memory;
        out->edges = grown;
    }
    out->edges[out->edge_count++] = edge;
    return NULL;
}

static struct wsdbg_error *add_edges(const struct wsdbg_case *c, struct wsdbg_diagnosis *out)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_wait_node *node = &c->graph->nodes[w];
        struct wsdbg_edge edge = {
            .waiter = c->warps[w], .barrier = wsdbg_case_warp(c, w)->barrier, .waker = WSDBG_NONE, .why = node->why};
        struct wsdbg_error *error = NULL;
        if (node->waits && wsdbg_set_count(&node->wakers) == 0) {
            edge.why = "nobody known";
            error = add_edge(out, edge);
        }
        for (uint32_t v = 0; v < c->warp_count && node->waits && !error; v++) {
            if (!wsdbg_set_has(&node->wakers, v))
                continue;
            edge.waker = c->warps[v];
            edge.in_cycle =
                node->in_cycle && c->graph->nodes[v].in_cycle && node->component == c->graph->nodes[v].component;
            error = add_edge(out, edge);
        }
        if (error)
            return error;
    }
    return NULL;
}

static struct wsdbg_error *judge_case(struct wsdbg_case *c)
{
    struct wsdbg_error *error = wsdbg_ledger_create(c, &c->ledger);
    if (!error)
        error = wsdbg_rounds_create(c);
    if (!error)
        error = wsdbg_wait_graph_create(c, &c->graph);
    if (error)
        return error;
    wsdbg_infer_inits(c);
    run_rules(c);
    return NULL;
}

/* What the histories of the same warps say goes beside what the state says. */
static struct wsdbg_error *judge_record(const struct wsdbg_recorded *recorded, struct wsdbg_case *c)
{
    struct wsdbg_case record;
    uint32_t *ctas;
    struct wsdbg_error *error = wsdbg_recorded_case(recorded, c, &ctas, &record);
    if (!error && record.warp_count)
        error = judge_case(&record);
    if (!error && record.warp_count)
        wsdbg_recorded_join(recorded, c, &record);
    wsdbg_case_deinit(&record);
    free(ctas);
    return error;
}

/* What is made of the whole snapshot, for every case. */
struct whole {
    const struct wsdbg_snapshot *snapshot;
    struct wsdbg_recorded *recorded;
    struct wsdbg_polls *polls;
    uint32_t *order;          /* room for all CTAs */
    bool some_stand_at_polls; /* CTAs of the grid at hand, as wsdbg_replay_stands_at_polls says */
};

static struct wsdbg_error *diagnose_case(struct whole *whole, uint32_t grid, const uint32_t *ctas, uint32_t cta_count,
                                         struct wsdbg_diagnosis *out)
{
    struct wsdbg_case c;
    struct wsdbg_error *error = wsdbg_case_init(whole->snapshot, grid, ctas, cta_count, &c);
    if (error || c.warp_count == 0)
        return error;
    c.polls = whole->polls;
    error = judge_case(&c);
    if (!error && whole->recorded && c.of_machine)
        error = judge_record(whole->recorded, &c);
    if (!error)
        error = c.no_memory ? &wsdbg_error_no_memory : wsdbg_fold(&c, out);
    if (!error && !c.faulted)
        error = add_edges(&c, out);
    whole->some_stand_at_polls |= wsdbg_replay_stands_at_polls(&c);
    wsdbg_case_deinit(&c);
    return error;
}

/* qsort_r: the rows are its argument. */
static int compare_ctas(const void *left, const void *right, void *rows)
{
    const struct wsdbg_cta *ctas = rows;
    const struct wsdbg_cta *a = &ctas[*(const uint32_t *)left], *b = &ctas[*(const uint32_t *)right];
    if (a->cluster_id != b->cluster_id)
        return a->cluster_id < b->cluster_id ? -1 : 1;
    if (a->cluster_rank != b->cluster_rank)
        return a->cluster_rank < b->cluster_rank ? -1 : 1;
    return a < b ? -1 : a > b;
}

static struct wsdbg_error *diagnose_grid(struct whole *whole, uint32_t grid, struct wsdbg_diagnosis *out)
{
    const struct wsdbg_snapshot *snapshot = whole->snapshot;
    uint32_t *order = whole->order;
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    for (uint32_t i = 0; i < row->cta_count; i++)
        order[i] = row->cta_first + i;
    qsort_r(order, row->cta_count, sizeof *order, compare_ctas, snapshot->ctas);
    struct wsdbg_error *error = NULL;
    whole->some_stand_at_polls = false;
    for (uint32_t i = 0, next; i < row->cta_count && !error; i = next) {
        const struct wsdbg_cta *first = &snapshot->ctas[order[i]];
        for (next = i + 1; next < row->cta_count && first->cluster_size > 1; next++)
            if (snapshot->ctas[order[next]].cluster_id != first->cluster_id)
                break;
        error = diagnose_case(whole, grid, order + i, next - i, out);
    }
    if (!error && whole->some_stand_at_polls)
        wsdbg_doubt_polls(out, grid);
    return error;
}

static bool has_faulted(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    return grid->context < snapshot->context_count && snapshot->contexts[grid->context].error != 0;
}

static bool worth_a_look(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, bool faulted_only)
{
    const bool faulted = has_faulted(snapshot, grid);
    const bool told = faulted && wsdbg_fault_words_of(&snapshot->contexts[grid->context], grid)[0];
    return grid->cta_count > 0 &&
           (faulted ? grid->warps_live > 0 || told : grid->running && !grid->moves && !faulted_only) &&
           wsdbg_grid_is_sound(snapshot, grid);
}

static struct wsdbg_error *diagnose_grids(const struct wsdbg_snapshot *snapshot, bool faulted_only,
                                          struct wsdbg_diagnosis *out)
{
    struct wsdbg_diagnosis result = {0};
    struct whole whole = {.snapshot = snapshot, .order = malloc((snapshot->cta_count + 1) * sizeof *whole.order)};
    struct wsdbg_error *error = whole.order ? wsdbg_recorded_create(snapshot, &whole.recorded) : &wsdbg_error_no_memory;
    if (!error)
        error = wsdbg_polls_create(snapshot, &whole.polls);
    for (uint32_t grid = 0; grid < snapshot->grid_count && !error; grid++)
        if (worth_a_look(snapshot, &snapshot->grids[grid], faulted_only))
            error = diagnose_grid(&whole, grid, &result);
    if (!error && !faulted_only)
        error = wsdbg_find_missing_ranks(snapshot, &result);
    if (!error && !faulted_only)
        error = wsdbg_find_gone_ranks(snapshot, &result);
    wsdbg_polls_destroy(whole.polls);
    wsdbg_recorded_destroy(whole.recorded);
    free(whole.order);
    if (error) {
        wsdbg_diagnosis_deinit(&result);
        return error;
    }
    wsdbg_rank_findings(&result, snapshot);
    *out = result;
    return NULL;
}

struct wsdbg_error *wsdbg_diagnose(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *out)
{
    return diagnose_grids(snapshot, false, out);
}

struct wsdbg_error *wsdbg_diagnose_faults(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *out)
{
    return diagnose_grids(snapshot, true, out);
}
