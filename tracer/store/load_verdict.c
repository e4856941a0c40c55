/* load_verdict.c - reads the diagnosis of the shown picture back: findings, evidence, edges. */
#include "store/load_internal.h"
#include "store/words.h"

static struct wsdbg_error *load_evidence(struct wsdbg_loader *loader, struct wsdbg_finding *f, int64_t finding_id)
{
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT kind, warp_id, barrier_id, event_id, text FROM evidence WHERE finding_id = ?1 "
                       "ORDER BY id",
                       finding_id);
    while (wsdbg_select_next(&q)) {
        if (!wsdbg_array_push(&f->evidence, &f->evidence_count, sizeof *f->evidence)) {
            wsdbg_select_fail(&q, SQLITE_NOMEM);
            break;
        }
        struct wsdbg_evidence_row *e = &f->evidence[f->evidence_count - 1];
        e->kind = (enum wsdbg_evidence_kind)wsdbg_word_value(wsdbg_select_string(&q), wsdbg_evidence_word,
                                                             WSDBG_EVIDENCE_TEXT + 1, WSDBG_EVIDENCE_TEXT);
        e->warp = wsdbg_id_map_find(&loader->warps, wsdbg_select_number(&q));
        e->barrier = wsdbg_id_map_find(&loader->barriers, wsdbg_select_number(&q));
        e->event = wsdbg_loader_event(loader, wsdbg_select_number(&q));
        wsdbg_select_text(&q, e->text, sizeof e->text);
    }
    return wsdbg_select_end(&q);
}

static void read_finding(struct wsdbg_loader *loader, struct wsdbg_select *q, struct wsdbg_finding *f)
{
    f->cause = (enum wsdbg_cause)wsdbg_word_value(wsdbg_select_string(q), wsdbg_cause_word, WSDBG_CAUSE_COUNT,
                                                  WSDBG_CAUSE_UNKNOWN);
    f->confidence = (enum wsdbg_confidence)wsdbg_word_value(wsdbg_select_string(q), wsdbg_confidence_word,
                                                            WSDBG_CONFIDENCE_PROVEN + 1, WSDBG_CONFIDENCE_POSSIBLE);
    f->grid = wsdbg_id_map_find(&loader->grids, wsdbg_select_number(q));
    f->cta = wsdbg_id_map_find(&loader->ctas, wsdbg_select_number(q));
    f->cta_count = (uint32_t)wsdbg_select_number(q);
    f->role = wsdbg_select_u32(q);
    f->barrier = wsdbg_id_map_find(&loader->barriers, wsdbg_select_number(q));
    wsdbg_select_text(q, f->sentence, sizeof f->sentence);
    wsdbg_select_text(q, f->fix, sizeof f->fix);
    f->process_id = wsdbg_select_u32(q);
}

static struct wsdbg_error *load_findings(struct wsdbg_loader *loader)
{
    struct wsdbg_diagnosis *d = &loader->loaded->diagnosis;
    struct wsdbg_error *error = NULL;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, cause, confidence, grid_id, cta_id, cta_count, role, barrier_id, sentence, fix, "
                       "process_id "
                       "FROM finding WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (!error && wsdbg_select_next(&q)) {
        const int64_t id = wsdbg_select_number(&q);
        if (!wsdbg_array_push(&d->findings, &d->finding_count, sizeof *d->findings)) {
            wsdbg_select_fail(&q, SQLITE_NOMEM);
            break;
        }
        struct wsdbg_finding *f = &d->findings[d->finding_count - 1];
        read_finding(loader, &q, f);
        error = load_evidence(loader, f, id);
    }
    struct wsdbg_error *own = wsdbg_select_end(&q);
    if (!error)
        return own;
    wsdbg_error_destroy(own);
    return error;
}

static struct wsdbg_error *load_edges(struct wsdbg_loader *loader)
{
    struct wsdbg_diagnosis *d = &loader->loaded->diagnosis;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT warp_id, barrier_id, waker_warp_id, in_cycle, why FROM edge WHERE snapshot_id = ?1 "
                       "ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q)) {
        if (!wsdbg_array_push(&d->edges, &d->edge_count, sizeof *d->edges)) {
            wsdbg_select_fail(&q, SQLITE_NOMEM);
            break;
        }
        struct wsdbg_edge *e = &d->edges[d->edge_count - 1];
        e->waiter = wsdbg_id_map_find(&loader->warps, wsdbg_select_number(&q));
        e->barrier = wsdbg_id_map_find(&loader->barriers, wsdbg_select_number(&q));
        e->waker = wsdbg_id_map_find(&loader->warps, wsdbg_select_number(&q));
        e->in_cycle = wsdbg_select_number(&q) != 0;
        e->why = wsdbg_loader_string(loader, &q);
    }
    return wsdbg_select_end(&q);
}

struct wsdbg_error *wsdbg_load_diagnosis(struct wsdbg_loader *loader)
{
    struct wsdbg_error *error = load_findings(loader);
    return error ? error : load_edges(loader);
}
