/* ledger.c - sorts the mbarrier events of a case by the stage they act on.  See ledger.h.
 *
 * Reads: histories, names, barriers.  Writes: struct wsdbg_ledger.  Linear in the number of events: a full chip has
 * 200,000.
 */
#include "diagnose/ledger.h"

#include <stdlib.h>
#include <string.h>

#define IDS 256u
#define STAGES (WSDBG_STAGE_MASK + 1u)

bool wsdbg_event_is_arrival(const struct wsdbg_history_event *event)
{
    return event->kind == WSDBG_EVENT_MBARRIER_ARRIVE || event->kind == WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX;
}

bool wsdbg_event_is_expect(const struct wsdbg_history_event *event)
{
    return event->kind == WSDBG_EVENT_MBARRIER_EXPECT_TX || event->kind == WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX;
}

uint32_t wsdbg_event_arrivals(const struct wsdbg_history_event *event)
{
    if (event->kind == WSDBG_EVENT_MBARRIER_ARRIVE)
        return WSDBG_SITE_LANES(event->value);
    return event->kind == WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX;
}

static bool is_mbarrier_event(const struct wsdbg_history_event *event)
{
    return event->kind >= WSDBG_EVENT_MBARRIER_INIT && event->kind <= WSDBG_EVENT_TMA_ISSUE;
}

/* Bit k: the event acts on the case's CTA k. */
static uint32_t targets(const struct wsdbg_case *c, uint32_t own, const struct wsdbg_history_event *event)
{
    uint32_t ranks = 0, result = 0;
    if (event->kind == WSDBG_EVENT_TMA_ISSUE)
        ranks = WSDBG_TMA_MULTICAST(event->value);
    else if (event->kind == WSDBG_EVENT_MBARRIER_ARRIVE && WSDBG_SITE_TARGET(event->value) > 0)
        ranks = 1u << (WSDBG_SITE_TARGET(event->value) - 1);
    if (ranks == 0)
        return 1u << own;
    for (uint32_t k = 0; k < c->cta_count; k++)
        if (ranks >> (c->snapshot->ctas[c->ctas[k]].cluster_rank & 31) & 1)
            result |= 1u << k;
    return result;
}

static struct wsdbg_error *stage_at(const struct wsdbg_case *c, struct wsdbg_ledger *ledger, uint32_t cta, uint32_t id,
                                    uint32_t stage, uint32_t *out)
{
    uint32_t *entry = &ledger->table[(cta * IDS + id) * STAGES + stage];
    if (*entry == 0) {
        /* Grown in powers of two. */
        if ((ledger->stage_count & (ledger->stage_count - 1)) == 0) {
            const size_t room = ledger->stage_count ? 2 * (size_t)ledger->stage_count : 1;
            struct wsdbg_stage *grown = realloc(ledger->stages, room * sizeof *grown);
            if (!grown)
                return &wsdbg_error_no_memory;
            ledger->stages = grown;
        }
        const uint32_t module = c->snapshot->grids[c->grid].module;
        ledger->stages[ledger->stage_count++] =
            (struct wsdbg_stage){.cta = c->ctas[cta],
                                 .id = id,
                                 .stage = stage,
                                 .barrier = WSDBG_NONE,
                                 .name = wsdbg_snapshot_name(c->snapshot, module, WSDBG_NAME_MBARRIER, id)};
        *entry = ledger->stage_count;
    }
    *out = *entry - 1;
    return NULL;
}

/* Calls once per (event, target): with fill, stores the use; without, counts it. */
static struct wsdbg_error *walk(const struct wsdbg_case *c, struct wsdbg_ledger *ledger, bool fill)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
        const uint32_t own = wsdbg_case_cta(c, wsdbg_case_warp(c, w)->cta);
        for (uint32_t i = 0; i < count; i++) {
            if (!is_mbarrier_event(&events[i]))
                continue;
            for (uint32_t mask = targets(c, own, &events[i]); mask; mask &= mask - 1) {
                uint32_t at;
                struct wsdbg_error *error = stage_at(c, ledger, (uint32_t)__builtin_ctz(mask), events[i].barrier,
                                                     events[i].stage & WSDBG_STAGE_MASK, &at);
                if (error)
                    return error;
                struct wsdbg_stage *stage = &ledger->stages[at];
                if (fill)
                    ledger->uses[stage->use_first + stage->use_count] =
                        (struct wsdbg_use){.event = &events[i], .warp = w, .round = WSDBG_NONE};
                stage->use_count++;
            }
        }
    }
    return NULL;
}

static struct wsdbg_error *place_uses(const struct wsdbg_case *c, struct wsdbg_ledger *ledger)
{
    struct wsdbg_error *error = walk(c, ledger, false);
    if (error)
        return error;
    for (uint32_t i = 0; i < ledger->stage_count; i++) {
        ledger->stages[i].use_first = ledger->use_count;
        ledger->use_count += ledger->stages[i].use_count;
        ledger->stages[i].use_count = 0;
    }
    ledger->uses = malloc((ledger->use_count + 1) * sizeof *ledger->uses);
    return ledger->uses ? walk(c, ledger, true) : &wsdbg_error_no_memory;
}

/* Adds what the snapshot's barrier rows know: index, and the count where the init event scrolled off. */
static void link_barriers(const struct wsdbg_case *c, struct wsdbg_ledger *ledger, const uint32_t *barriers,
                          uint32_t barrier_count)
{
    for (uint32_t i = 0; i < barrier_count; i++) {
        const struct wsdbg_barrier *barrier = &c->snapshot->barriers[barriers[i]];
        const uint32_t cta = wsdbg_case_cta(c, barrier->cta);
        if (cta == WSDBG_NONE || barrier->id >= IDS || barrier->stage >= STAGES)
            continue;
        const uint32_t entry = ledger->table[(cta * IDS + barrier->id) * STAGES + barrier->stage];
        if (entry == 0)
            continue;
        ledger->stages[entry - 1].barrier = barriers[i];
        ledger->stages[entry - 1].init = barrier->expected_arrivals;
    }
}

static struct wsdbg_error *find_barriers(const struct wsdbg_case *c, struct wsdbg_ledger *ledger)
{
    /* Barrier rows of a CTA may lie anywhere; the rows are few beside the events. */
    uint32_t *rows = malloc((c->snapshot->barrier_count + 1) * sizeof *rows);
    if (!rows)
        return &wsdbg_error_no_memory;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->snapshot->barrier_count; i++)
        if (c->snapshot->barriers[i].kind == WSDBG_BARRIER_MBARRIER)
            rows[count++] = i;
    link_barriers(c, ledger, rows, count);
    free(rows);
    return NULL;
}

/* Stage counts where the author gave none: the highest stage seen. */
static void count_stages(struct wsdbg_ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->stage_count; i++) {
        struct wsdbg_stage *stage = &ledger->stages[i];
        if (stage->name && stage->name->stages > 0) {
            stage->stages = stage->name->stages;
            continue;
        }
        for (uint32_t k = 0; k < ledger->stage_count; k++)
            if (ledger->stages[k].cta == stage->cta && ledger->stages[k].id == stage->id &&
                ledger->stages[k].stage >= stage->stages)
                stage->stages = ledger->stages[k].stage + 1;
    }
}

/* The author's iterations are believed only where they fit the stage and never go back within a warp. */
static bool iterations_fit(const struct wsdbg_stage *stage, const struct wsdbg_use *uses)
{
    uint32_t previous = 0, warp = WSDBG_NONE;
    bool any = false;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        const uint32_t iteration = uses[i].event->iteration;
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_INIT || iteration == WSDBG_NO_ITERATION)
            continue;
        if (iteration % stage->stages != stage->stage)
            return false;
        if (warp == uses[i].warp && iteration < previous)
            return false;
        warp = uses[i].warp;
        previous = iteration;
        any = true;
    }
    return any;
}

/* Iterations that nobody gave are needed where some warp passes over rounds; else a count tells more: it takes in what
 * a warp did before its first wait. */
static bool counts_do(const struct wsdbg_case *c, const struct wsdbg_stage *stage, const struct wsdbg_use *uses)
{
    uint32_t warp = WSDBG_NONE, waits = 0;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (uses[i].warp != warp)
            waits = 0;
        warp = uses[i].warp;
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END && uses[i].event->iteration / stage->stages != waits++)
            return false;
    }
    return c->snapshot->names_inferred && c->all_whole;
}

/* Turns by counting, for one warp whose history is whole. */
static void number_by_counting(struct wsdbg_use *uses, uint32_t count)
{
    uint32_t waits = 0, arrivals = 0, expects = 0;
    bool begun = false;
    for (uint32_t i = 0; i < count; i++) {
        switch (uses[i].event->kind) {
        case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
            uses[i].round = waits++;
            begun = true;
            break;
        case WSDBG_EVENT_MBARRIER_WAIT_END: /* a wait that ended at the first look has no begin */
            uses[i].round = begun ? waits - 1 : waits++;
            begun = false;
            break;
        case WSDBG_EVENT_MBARRIER_ARRIVE:
            uses[i].round = arrivals++;
            break;
        case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
        case WSDBG_EVENT_MBARRIER_EXPECT_TX:
            uses[i].round = expects++;
            break;
        case WSDBG_EVENT_TMA_ISSUE:
            uses[i].round = expects ? expects - 1 : WSDBG_NONE;
            break;
        default:
            break;
        }
    }
}

/* All recorded arrivals together are no more than the first phase needs, so all belong to it, also several of one
 * warp: its lanes may arrive by different instructions. */
static bool is_first_phase(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    return c->all_whole && stage->init.known && !stage->initialised_again && stage->arrivals <= stage->init.value;
}

static void number_first_phase(const struct wsdbg_stage *stage, struct wsdbg_use *uses)
{
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (wsdbg_event_is_arrival(uses[i].event) || wsdbg_event_is_expect(uses[i].event) ||
            uses[i].event->kind == WSDBG_EVENT_TMA_ISSUE)
            uses[i].round = 0;
}

static void number_stage(const struct wsdbg_case *c, struct wsdbg_ledger *ledger, struct wsdbg_stage *stage)
{
    struct wsdbg_use *uses = ledger->uses + stage->use_first;
    uint32_t inits = 0;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        stage->arrivals += wsdbg_event_arrivals(uses[i].event);
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_INIT) {
            stage->init = wsdbg_known_u32(uses[i].event->value);
            inits++;
        }
    }
    stage->initialised_again = inits > 1;
    stage->tagged = iterations_fit(stage, uses) && !counts_do(c, stage, uses);
    for (uint32_t i = 0, next; i < stage->use_count; i = next) {
        for (next = i; next < stage->use_count && uses[next].warp == uses[i].warp; next++)
            if (stage->tagged && uses[next].event->iteration != WSDBG_NO_ITERATION)
                uses[next].round = uses[next].event->iteration / stage->stages;
        if (!stage->tagged && wsdbg_case_warp(c, uses[i].warp)->history_whole)
            number_by_counting(uses + i, next - i);
    }
    if (!stage->tagged && is_first_phase(c, stage))
        number_first_phase(stage, uses);
}

static struct wsdbg_error *list_waits(const struct wsdbg_case *c, struct wsdbg_ledger *ledger)
{
    ledger->waits = malloc((c->warp_count + 1) * sizeof *ledger->waits);
    if (!ledger->waits)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < ledger->stage_count; i++) {
        const struct wsdbg_stage *stage = &ledger->stages[i];
        const struct wsdbg_use *uses = ledger->uses + stage->use_first;
        for (uint32_t k = 0; k < stage->use_count; k++) {
            uint32_t count;
            const struct wsdbg_history_event *events = wsdbg_case_events(c, uses[k].warp, &count);
            if (uses[k].event != &events[count - 1] || uses[k].event->kind != WSDBG_EVENT_MBARRIER_WAIT_BEGIN ||
                wsdbg_case_warp(c, uses[k].warp)->state != WSDBG_WARP_WAIT_MBARRIER)
                continue;
            ledger->waits[ledger->wait_count++] = (struct wsdbg_wait){
                .warp = uses[k].warp, .stage = stage, .event = uses[k].event, .round = uses[k].round};
        }
    }
    return NULL;
}

/* ---- families ---- */

static struct wsdbg_barrier_family *family_of(const struct wsdbg_ledger *ledger, uint32_t cta, uint32_t id)
{
    for (uint32_t i = 0; i < ledger->family_count; i++)
        if (ledger->families[i].cta == cta && ledger->families[i].id == id)
            return &ledger->families[i];
    return NULL;
}

static void add_users(const struct wsdbg_ledger *ledger, const struct wsdbg_stage *stage,
                      struct wsdbg_barrier_family *family)
{
    const struct wsdbg_use *uses = ledger->uses + stage->use_first;
    for (uint32_t k = 0; k < stage->use_count; k++) {
        const bool arrives = wsdbg_event_is_arrival(uses[k].event);
        if (arrives)
            wsdbg_set_add(&family->arrivers, uses[k].warp);
        if (arrives || wsdbg_event_is_expect(uses[k].event) || uses[k].event->kind == WSDBG_EVENT_TMA_ISSUE)
            wsdbg_set_add(&family->actors, uses[k].warp);
    }
}

/* The warp has waited for something since: what it does for others of the same round is behind it. */
static bool has_gone_on(const struct wsdbg_case *c, const struct wsdbg_use *use)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, use->warp, &count);
    for (const struct wsdbg_history_event *event = use->event; event < events + count; event++)
        if (event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || event->kind == WSDBG_EVENT_MBARRIER_WAIT_END)
            return true;
    return false;
}

/* The first arrivals of the CTA's own warps, one of each that has gone on, complete a phase of the stage. */
static bool completed_at_home(const struct wsdbg_case *c, const struct wsdbg_ledger *ledger,
                              const struct wsdbg_stage *stage)
{
    const struct wsdbg_use *uses = ledger->uses + stage->use_first;
    uint32_t arrivals = 0, warp = WSDBG_NONE;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (!wsdbg_event_is_arrival(uses[i].event) || uses[i].warp == warp)
            continue;
        arrivals += has_gone_on(c, &uses[i]) ? wsdbg_event_arrivals(uses[i].event) : 0;
        warp = uses[i].warp;
    }
    return stage->init.known && arrivals > 0 && arrivals >= stage->init.value;
}

static bool peers_may_arrive(const struct wsdbg_case *c, const struct wsdbg_ledger *ledger, uint32_t id)
{
    bool at_home = false;
    for (uint32_t i = 0; i < ledger->family_count; i++)
        for (uint32_t w = 0; w < c->warp_count && ledger->families[i].id == id; w++)
            if (wsdbg_set_has(&ledger->families[i].arrivers, w) &&
                wsdbg_case_warp(c, w)->cta != ledger->families[i].cta)
                return true;
    for (uint32_t i = 0; i < ledger->stage_count && !at_home && c->all_whole; i++)
        at_home = ledger->stages[i].id == id && completed_at_home(c, ledger, &ledger->stages[i]);
    return !at_home;
}

static struct wsdbg_error *gather_families(const struct wsdbg_case *c, struct wsdbg_ledger *ledger)
{
    ledger->families = calloc(ledger->stage_count + 1, sizeof *ledger->families);
    if (!ledger->families)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < ledger->stage_count; i++) {
        const struct wsdbg_stage *stage = &ledger->stages[i];
        struct wsdbg_barrier_family *family = family_of(ledger, stage->cta, stage->id);
        if (!family) {
            family = &ledger->families[ledger->family_count++];
            *family = (struct wsdbg_barrier_family){.cta = stage->cta, .id = stage->id};
        }
        add_users(ledger, stage, family);
    }
    for (uint32_t i = 0; i < ledger->family_count && c->cta_count > 1; i++)
        ledger->families[i].peers = peers_may_arrive(c, ledger, ledger->families[i].id);
    return NULL;
}

struct wsdbg_error *wsdbg_ledger_create(const struct wsdbg_case *c, struct wsdbg_ledger **out)
{
    struct wsdbg_ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = NULL;
    ledger->table = calloc((size_t)c->cta_count * IDS * STAGES, sizeof *ledger->table);
    if (!ledger->table)
        error = &wsdbg_error_no_memory;
    if (!error)
        error = place_uses(c, ledger);
    if (!error)
        error = find_barriers(c, ledger);
    if (!error) {
        count_stages(ledger);
        for (uint32_t i = 0; i < ledger->stage_count; i++)
            number_stage(c, ledger, &ledger->stages[i]);
        error = list_waits(c, ledger);
    }
    if (!error)
        error = gather_families(c, ledger);
    if (error) {
        wsdbg_ledger_destroy(ledger);
        return error;
    }
    *out = ledger;
    return NULL;
}

void wsdbg_ledger_destroy(struct wsdbg_ledger *ledger)
{
    if (!ledger)
        return;
    free(ledger->stages);
    free(ledger->uses);
    free(ledger->families);
    free(ledger->waits);
    free(ledger->rounds);
    free(ledger->table);
    free(ledger);
}

struct wsdbg_warp_set wsdbg_family_actors(const struct wsdbg_case *c, uint32_t cta, uint32_t id)
{
    const struct wsdbg_barrier_family *family = family_of(c->ledger, cta, id);
    return family ? family->actors : (struct wsdbg_warp_set){{0}};
}

struct wsdbg_warp_set wsdbg_family_arrivers(const struct wsdbg_case *c, uint32_t cta, uint32_t id)
{
    const struct wsdbg_barrier_family *family = family_of(c->ledger, cta, id);
    return family ? family->arrivers : (struct wsdbg_warp_set){{0}};
}

bool wsdbg_peers_may_arrive(const struct wsdbg_case *c, uint32_t id)
{
    for (uint32_t i = 0; i < c->ledger->family_count; i++)
        if (c->ledger->families[i].id == id)
            return c->ledger->families[i].peers;
    return c->cta_count > 1;
}
