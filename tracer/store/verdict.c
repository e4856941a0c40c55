/* verdict.c - writes a diagnosis: findings, the evidence they rest on, edges of the wait-for graph, whose fault it is.
 * Reads the diagnosis and the snapshot it was made from, which must be the one stored last. */
#include "diagnose/blame.h"
#include "store/tables.h"
#include "store/words.h"

static bool event_stored(const struct wsdbg_snapshot *s, uint32_t index)
{
    if (index >= s->history_count)
        return false;
    for (size_t i = 0; i < s->warp_count; i++)
        if (index - s->warps[i].history_first < s->warps[i].history_count)
            return true;
    return false;
}

static struct wsdbg_error *write_evidence(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                          const struct wsdbg_finding *finding, int64_t finding_id)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO evidence (finding_id, kind, warp_id, barrier_id, event_id, text) "
                       "VALUES (?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct wsdbg_evidence_row *e = &finding->evidence[i];
        wsdbg_insert_number(&insert, finding_id);
        wsdbg_insert_string(&insert, wsdbg_evidence_kind_word(e->kind));
        wsdbg_insert_offset(&insert, store->first.warp, s->warp_count, e->warp);
        wsdbg_insert_offset(&insert, store->first.barrier, s->barrier_count, e->barrier);
        wsdbg_insert_maybe(&insert, event_stored(s, e->event), store->first.event + e->event);
        wsdbg_insert_string(&insert, e->text);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static int64_t write_finding(struct wsdbg_insert *insert, struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                             const struct wsdbg_finding *f)
{
    wsdbg_insert_number(insert, store->snapshot_id);
    wsdbg_insert_string(insert, wsdbg_cause_name(f->cause));
    wsdbg_insert_string(insert, wsdbg_confidence_name(f->confidence));
    wsdbg_insert_offset(insert, store->first.grid, s->grid_count, f->grid);
    wsdbg_insert_offset(insert, store->first.cta, s->cta_count, f->cta);
    wsdbg_insert_number(insert, f->cta_count);
    wsdbg_insert_u32(insert, f->role);
    wsdbg_insert_offset(insert, store->first.barrier, s->barrier_count, f->barrier);
    wsdbg_insert_string(insert, f->sentence);
    wsdbg_insert_text(insert, f->fix);
    wsdbg_insert_u32(insert, wsdbg_finding_process_id(s, f));
    return wsdbg_insert_row(insert);
}

static struct wsdbg_error *write_findings(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                          const struct wsdbg_diagnosis *d)
{
    struct wsdbg_error *error = NULL;
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO finding (snapshot_id, cause, confidence, grid_id, cta_id, cta_count, role, "
                       "barrier_id, sentence, fix, process_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
    for (size_t i = 0; i < d->finding_count && !error && insert.status == SQLITE_OK; i++) {
        const int64_t id = write_finding(&insert, store, s, &d->findings[i]);
        if (insert.status == SQLITE_OK)
            error = write_evidence(store, s, &d->findings[i], id);
    }
    struct wsdbg_error *own = wsdbg_insert_end(&insert);
    if (!error)
        return own;
    wsdbg_error_destroy(own);
    return error;
}

static struct wsdbg_error *write_edges(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                       const struct wsdbg_diagnosis *d)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO edge (snapshot_id, warp_id, barrier_id, waker_warp_id, in_cycle, why) "
                       "VALUES (?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < d->edge_count; i++) {
        const struct wsdbg_edge *e = &d->edges[i];
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_offset(&insert, store->first.warp, s->warp_count, e->waiter);
        wsdbg_insert_offset(&insert, store->first.barrier, s->barrier_count, e->barrier);
        wsdbg_insert_offset(&insert, store->first.warp, s->warp_count, e->waker);
        wsdbg_insert_number(&insert, e->in_cycle);
        wsdbg_insert_text(&insert, e->why);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *mark_diagnosed(struct wsdbg_store *store, bool hang)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "UPDATE snapshot SET diagnosed = 1, hang = ? WHERE id = ?");
    wsdbg_insert_number(&insert, hang);
    wsdbg_insert_number(&insert, store->snapshot_id);
    wsdbg_insert_row(&insert);
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_write_blame(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                      const struct wsdbg_diagnosis *d)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "UPDATE member SET blame = ? WHERE snapshot_id = ? AND process_id = ?");
    for (uint32_t i = 0; i < s->process_count; i++) {
        wsdbg_insert_text(&insert, wsdbg_blame_name(wsdbg_blame_of(s, d, i)));
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_number(&insert, s->processes[i].process_id);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_store_diagnosis(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                          const struct wsdbg_diagnosis *diagnosis)
{
    if (store->snapshot_id == 0)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: a diagnosis without its snapshot", store->path);
    struct wsdbg_error *error = wsdbg_db_begin(store);
    if (error)
        return error;
    error = mark_diagnosed(store, diagnosis->hang);
    if (!error)
        error = write_findings(store, snapshot, diagnosis);
    if (!error)
        error = write_edges(store, snapshot, diagnosis);
    if (!error)
        error = wsdbg_write_blame(store, snapshot, diagnosis);
    return wsdbg_db_end(store, error);
}
