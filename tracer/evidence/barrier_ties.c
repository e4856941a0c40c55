/* barrier_ties.c - see barrier_ties.h.
 *
 * Reads: waits in the record and waits that the look saw.  Writes: ids and names of the look's mbarriers, ids of its
 * polled words, rows for barriers that only the record has.
 *
 * A warp whose newest recorded event begins a wait, and that stands in one wait on an mbarrier for the same parity,
 * ties that stage of a recorded barrier to a stage of an array of words.  All ties of the two must agree, stage by
 * stage: else the words keep the name that the code gives them.  A poll ties a word that is polled in the same way.
 */
#include "evidence/barrier_ties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/rows.h"

enum { IDS = 256, UNTIED = -1, DISPUTED = -2 };

struct ties {
    struct wsdbg_snapshot *snapshot;
    const struct wsdbg_snapshot *record;
    uint32_t grid, was;
    enum wsdbg_barrier_kind kind, recorded_kind;
    enum wsdbg_warp_state state, recorded_state; /* of a warp that waits on one */
    int recorded[IDS];                           /* by the look's id: the record's, or UNTIED or DISPUTED */
    int seen[IDS];                               /* the other way round */
    uint8_t renamed[IDS];
    uint32_t *head, *next; /* barriers of each CTA of the snapshot, WSDBG_NONE = no other */
};

static bool is_of_kind(const struct wsdbg_snapshot *snapshot, uint32_t barrier, enum wsdbg_barrier_kind kind)
{
    return barrier < snapshot->barrier_count && snapshot->barriers[barrier].kind == kind &&
           snapshot->barriers[barrier].id < IDS;
}

/* Lanes that stand in another wait may be those that recorded theirs. */
static bool waits_elsewhere(const struct ties *ties, const struct wsdbg_warp_row *warp)
{
    const struct wsdbg_snapshot *snapshot = ties->snapshot;
    for (uint32_t i = warp->part_first; i < warp->part_first + warp->part_count; i++)
        if (snapshot->parts[i].state == ties->state && snapshot->parts[i].barrier != warp->barrier)
            return true;
    return false;
}

static void tie(int *ties, uint32_t from, uint32_t to, bool fits)
{
    if (ties[from] == UNTIED && fits)
        ties[from] = (int)to;
    else if (ties[from] != (int)to || !fits)
        ties[from] = DISPUTED;
}

static void tie_wait(struct ties *ties, const struct wsdbg_warp_row *now, const struct wsdbg_warp_row *was)
{
    if (now->state != ties->state || was->state != ties->recorded_state ||
        !is_of_kind(ties->snapshot, now->barrier, ties->kind) ||
        !is_of_kind(ties->record, was->barrier, ties->recorded_kind) ||
        (now->parity.known && now->parity.value != was->last.parity) || waits_elsewhere(ties, now))
        return;
    const struct wsdbg_barrier *word = &ties->snapshot->barriers[now->barrier];
    const struct wsdbg_barrier *recorded = &ties->record->barriers[was->barrier];
    const bool fits = word->stage == recorded->stage;
    tie(ties->recorded, word->id, recorded->id, fits);
    tie(ties->seen, recorded->id, word->id, fits);
}

static void collect(struct ties *ties)
{
    const struct wsdbg_grid *grid = &ties->snapshot->grids[ties->grid];
    for (uint32_t i = 0; i < IDS; i++)
        ties->recorded[i] = ties->seen[i] = UNTIED;
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++) {
        const struct wsdbg_cta *cta = &ties->snapshot->ctas[c];
        const uint32_t cta_was = wsdbg_snapshot_same_cta(ties->snapshot, c, ties->record, ties->was);
        if (cta_was == WSDBG_NONE)
            continue;
        const struct wsdbg_cta *other = &ties->record->ctas[cta_was];
        for (uint32_t w = 0; w < cta->warp_count; w++)
            for (uint32_t v = 0; v < other->warp_count; v++)
                if (ties->record->warps[other->warp_first + v].warp == ties->snapshot->warps[cta->warp_first + w].warp)
                    tie_wait(ties, &ties->snapshot->warps[cta->warp_first + w],
                             &ties->record->warps[other->warp_first + v]);
    }
}

/* What is tied both ways. */
static bool is_tied(const struct ties *ties, uint32_t id)
{
    return ties->recorded[id] >= 0 && ties->seen[ties->recorded[id]] == (int)id;
}

static const struct wsdbg_name *name_of(const struct ties *ties, const struct wsdbg_snapshot *snapshot, uint32_t grid,
                                        uint32_t id)
{
    return ties->kind == WSDBG_BARRIER_MBARRIER
               ? wsdbg_snapshot_name(snapshot, snapshot->grids[grid].module, WSDBG_NAME_MBARRIER, id)
               : NULL;
}

static bool is_used(const struct ties *ties, uint32_t id)
{
    bool used = name_of(ties, ties->snapshot, ties->grid, id) || ties->seen[id] != UNTIED;
    for (size_t i = 0; i < ties->snapshot->barrier_count && !used; i++)
        used = ties->snapshot->barriers[i].kind == ties->kind && ties->snapshot->barriers[i].id == id;
    return used;
}

/* Words that had a recorded name by likeness alone, which others now have by their deeds, go without one. */
static void choose_ids(struct ties *ties)
{
    uint32_t unused = IDS;
    for (uint32_t id = 0; id < IDS; id++)
        ties->renamed[id] = (uint8_t)(is_tied(ties, id) ? ties->recorded[id] : (int)id);
    for (uint32_t id = 0; id < IDS; id++) {
        const bool taken = ties->seen[id] >= 0 && ties->seen[id] != (int)id && is_tied(ties, (uint32_t)ties->seen[id]);
        if (is_tied(ties, id) || !taken)
            continue;
        while (unused > 0 && is_used(ties, --unused))
            ;
        ties->renamed[id] = (uint8_t)(unused > 0 ? unused : id);
    }
}

static void rename_barriers(const struct ties *ties, struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    for (size_t i = 0; i < snapshot->barrier_count; i++) {
        struct wsdbg_barrier *barrier = &snapshot->barriers[i];
        if (!is_of_kind(snapshot, (uint32_t)i, ties->kind) || barrier->cta < row->cta_first ||
            barrier->cta >= row->cta_first + row->cta_count || ties->renamed[barrier->id] == barrier->id)
            continue;
        barrier->id = ties->renamed[barrier->id];
        barrier->name = name_of(ties, snapshot, grid, barrier->id);
    }
}

/* Only of exact counts: the record says them where it lacks nothing, as far as it knows. */
static bool differ(const struct wsdbg_barrier *word, const struct wsdbg_barrier *recorded)
{
    return word->word.known && word->phase.known && word->pending_arrivals.known && recorded->phase.known &&
           recorded->pending_arrivals.known &&
           (word->phase.value != recorded->phase.value ||
            word->pending_arrivals.value != recorded->pending_arrivals.value);
}

/* The record of a poll does not tell in which memory the word is. */
static bool is_same_kind(enum wsdbg_barrier_kind seen, enum wsdbg_barrier_kind recorded)
{
    return seen == recorded || (seen == WSDBG_BARRIER_SHARED_FLAG && recorded == WSDBG_BARRIER_GLOBAL_FLAG);
}

static struct wsdbg_barrier *find(const struct ties *ties, uint32_t cta, const struct wsdbg_barrier *barrier)
{
    for (uint32_t i = ties->head[cta]; i != WSDBG_NONE; i = ties->next[i]) {
        struct wsdbg_barrier *row = &ties->snapshot->barriers[i];
        if (is_same_kind(row->kind, barrier->kind) && row->id == barrier->id && row->stage == barrier->stage)
            return row;
    }
    return NULL;
}

/* Barriers of the record are each there once: those that are added need not be found. */
static bool list_barriers(struct ties *ties)
{
    const struct wsdbg_snapshot *snapshot = ties->snapshot;
    ties->head = malloc((snapshot->cta_count + 1) * sizeof *ties->head);
    ties->next = malloc((snapshot->barrier_count + 1) * sizeof *ties->next);
    if (!ties->head || !ties->next)
        return false;
    for (size_t i = 0; i < snapshot->cta_count; i++)
        ties->head[i] = WSDBG_NONE;
    for (uint32_t i = 0; i < snapshot->barrier_count; i++) {
        ties->next[i] = ties->head[snapshot->barriers[i].cta];
        ties->head[snapshot->barriers[i].cta] = i;
    }
    return true;
}

static struct wsdbg_error *add_barrier(const struct ties *ties, uint32_t cta, const struct wsdbg_barrier *recorded)
{
    struct wsdbg_snapshot *snapshot = ties->snapshot;
    struct wsdbg_barrier *word = find(ties, cta, recorded);
    if (word) {
        const bool tied = recorded->kind == WSDBG_BARRIER_MBARRIER && recorded->id < IDS &&
                          ties->seen[recorded->id] >= 0 && is_tied(ties, (uint32_t)ties->seen[recorded->id]);
        word->record_lacks = tied && differ(word, recorded);
        word->completed_phases = word->completed_phases.known ? word->completed_phases : recorded->completed_phases;
        return NULL;
    }
    struct wsdbg_error *error = wsdbg_rows_reserve(snapshot, &(struct wsdbg_table_counts){.barriers = 1});
    if (error)
        return error;
    struct wsdbg_barrier *row = &snapshot->barriers[snapshot->barrier_count++];
    *row = *recorded;
    row->cta = cta;
    row->waiters = 0;
    if (recorded->name)
        row->name =
            wsdbg_snapshot_name(snapshot, snapshot->grids[ties->grid].module, recorded->name->kind, recorded->id);
    return NULL;
}

static struct wsdbg_error *add_barriers(const struct ties *ties)
{
    const struct wsdbg_grid *was = &ties->record->grids[ties->was];
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; i < ties->record->barrier_count && !error; i++) {
        const struct wsdbg_barrier *recorded = &ties->record->barriers[i];
        if (recorded->cta < was->cta_first || recorded->cta >= was->cta_first + was->cta_count)
            continue;
        const uint32_t cta = wsdbg_snapshot_same_cta(ties->record, recorded->cta, ties->snapshot, ties->grid);
        error = cta == WSDBG_NONE ? NULL : add_barrier(ties, cta, recorded);
    }
    return error;
}

static void give_ids(struct ties *ties)
{
    struct wsdbg_snapshot *const before = ties->snapshot->before;
    const uint32_t grid = before ? wsdbg_snapshot_same_grid(ties->snapshot, ties->grid, before) : WSDBG_NONE;
    collect(ties);
    choose_ids(ties);
    rename_barriers(ties, ties->snapshot, ties->grid);
    if (grid != WSDBG_NONE)
        rename_barriers(ties, before, grid);
}

struct wsdbg_error *wsdbg_tie_barriers(struct wsdbg_snapshot *snapshot, uint32_t grid,
                                       const struct wsdbg_snapshot *record, uint32_t was)
{
    static const struct {
        enum wsdbg_barrier_kind kind, recorded_kind;
        enum wsdbg_warp_state state, recorded_state;
    } waits[] = {{WSDBG_BARRIER_GLOBAL_FLAG, WSDBG_BARRIER_GLOBAL_FLAG, WSDBG_WARP_SPIN_GLOBAL, WSDBG_WARP_SPIN_GLOBAL},
                 {WSDBG_BARRIER_SHARED_FLAG, WSDBG_BARRIER_GLOBAL_FLAG, WSDBG_WARP_SPIN_SHARED, WSDBG_WARP_SPIN_GLOBAL},
                 {WSDBG_BARRIER_MBARRIER, WSDBG_BARRIER_MBARRIER, WSDBG_WARP_WAIT_MBARRIER, WSDBG_WARP_WAIT_MBARRIER}};
    struct ties ties;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        ties = (struct ties){.snapshot = snapshot,
                             .record = record,
                             .grid = grid,
                             .was = was,
                             .kind = waits[i].kind,
                             .recorded_kind = waits[i].recorded_kind,
                             .state = waits[i].state,
                             .recorded_state = waits[i].recorded_state};
        give_ids(&ties);
    }
    /* The mbarriers' ties, which come last, tell which counts to compare. */
    struct wsdbg_error *error = list_barriers(&ties) ? add_barriers(&ties) : &wsdbg_error_no_memory;
    free(ties.head);
    free(ties.next);
    return error;
}
