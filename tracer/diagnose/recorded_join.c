/* recorded_join.c - what is left of the findings about a record and those about the state of the same case.
 *
 * Reads: the findings of both.  Writes: those of the state's case, which rows of the record become rows of.
 *
 * If both say the same, that proves no more than the better of them does.  They can differ for three reasons.  One saw
 * only a consequence: so a cause goes before a standstill, and a proven cause before a likely one.  Or some arrivals
 * have no probe: the words count them, the record does not.  Or one of them is wrong: then nothing is proven.
 */
#include <stdlib.h>

#include "diagnose/recorded_rows.h"
#include "diagnose/rules.h"

static uint32_t row_of(const uint32_t *rows, size_t count, uint32_t row)
{
    return row < count ? rows[row] : WSDBG_NONE;
}

static void translate_evidence(const struct wsdbg_recorded *recorded, struct wsdbg_evidence_row *row)
{
    row->warp = row_of(recorded->warps, recorded->then.warp_count, row->warp);
    row->barrier = row_of(recorded->barriers, recorded->then.barrier_count, row->barrier);
    if (row->event >= recorded->now->history_count)
        row->event = WSDBG_NONE;
    const bool lost = (row->kind == WSDBG_EVIDENCE_WARP && row->warp == WSDBG_NONE) ||
                      (row->kind == WSDBG_EVIDENCE_BARRIER && row->barrier == WSDBG_NONE) ||
                      (row->kind == WSDBG_EVIDENCE_EVENT && (row->event == WSDBG_NONE || row->warp == WSDBG_NONE));
    if (!lost)
        return;
    row->kind = WSDBG_EVIDENCE_TEXT;
    row->event = WSDBG_NONE;
}

/* A finding about a CTA that has left the kernel is told of one that has not. */
static void translate(const struct wsdbg_recorded *recorded, const struct wsdbg_case *c, struct wsdbg_finding *finding)
{
    const uint32_t cta = row_of(recorded->ctas, recorded->then.cta_count, finding->cta);
    finding->grid = c->grid;
    finding->cta = cta == WSDBG_NONE ? c->ctas[0] : cta;
    finding->barrier = row_of(recorded->barriers, recorded->then.barrier_count, finding->barrier);
    for (size_t i = 0; i < finding->evidence_count; i++)
        translate_evidence(recorded, &finding->evidence[i]);
    /* A word that does not count recorded arrivals is just what proves that the initialisation came after them. */
    const bool is_lost_arrival =
        finding->cause == WSDBG_CAUSE_BARRIER_NOT_INIT && finding->confidence == WSDBG_CONFIDENCE_PROVEN;
    if (finding->barrier != WSDBG_NONE && recorded->now->barriers[finding->barrier].record_lacks && !is_lost_arrival)
        finding->confidence = WSDBG_CONFIDENCE_POSSIBLE;
}

/* Says only that nothing goes on, or that something does. */
static bool is_standstill(enum wsdbg_cause cause)
{
    return cause == WSDBG_CAUSE_WAIT_CYCLE || cause == WSDBG_CAUSE_UNKNOWN || cause == WSDBG_CAUSE_SLOW;
}

static void remove_at(struct wsdbg_case *c, size_t at)
{
    free(c->findings[at].evidence);
    c->finding_count--;
    for (size_t i = at; i < c->finding_count; i++)
        c->findings[i] = c->findings[i + 1];
}

/* The better argued of two equal causes; of equals the record's, which knows counts and an author's names. */
static void merge_equals(struct wsdbg_case *c, struct wsdbg_case *record)
{
    for (size_t i = c->finding_count; i-- > 0;)
        for (size_t k = record->finding_count; k-- > 0;) {
            if (c->findings[i].cause != record->findings[k].cause)
                continue;
            if (c->findings[i].confidence > record->findings[k].confidence) {
                remove_at(record, k);
                continue;
            }
            remove_at(c, i);
            break;
        }
}

static const struct wsdbg_finding *proven_cause(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->finding_count; i++)
        if (c->findings[i].confidence == WSDBG_CONFIDENCE_PROVEN && !wsdbg_cause_is_fallback(c->findings[i].cause))
            return &c->findings[i];
    return NULL;
}

static void doubt(struct wsdbg_case *c, enum wsdbg_cause other, const char *whose)
{
    for (size_t i = 0; i < c->finding_count; i++) {
        if (c->findings[i].confidence != WSDBG_CONFIDENCE_PROVEN)
            continue;
        c->findings[i].confidence = WSDBG_CONFIDENCE_LIKELY;
        wsdbg_evidence_text(c, &c->findings[i], "but %s shows %s", whose, wsdbg_cause_name(other));
    }
}

static void doubt_both(struct wsdbg_case *c, struct wsdbg_case *record)
{
    const struct wsdbg_finding *state = proven_cause(c), *recorded = proven_cause(record);
    if (!state || !recorded)
        return;
    const enum wsdbg_cause of_state = state->cause, of_record = recorded->cause;
    doubt(c, of_record, "the record");
    doubt(record, of_state, "the GPU's state");
}

/* What runs now the state knows: it shows that nobody does, or who does. */
static void believe_state_about_now(struct wsdbg_case *c, struct wsdbg_case *record)
{
    bool runs = false, stands = false;
    for (size_t i = 0; i < c->finding_count; i++) {
        const bool likely = c->findings[i].confidence >= WSDBG_CONFIDENCE_LIKELY;
        runs = runs || c->findings[i].open || (likely && c->findings[i].cause == WSDBG_CAUSE_SLOW);
        stands = stands || (likely && c->findings[i].cause != WSDBG_CAUSE_SLOW);
    }
    for (size_t i = record->finding_count; i-- > 0;) {
        const enum wsdbg_cause cause = record->findings[i].cause;
        if ((runs && is_standstill(cause)) || (stands && (record->findings[i].open || cause == WSDBG_CAUSE_SLOW)))
            remove_at(record, i);
    }
}

static bool append(struct wsdbg_case *c, struct wsdbg_case *record)
{
    const size_t count = c->finding_count + record->finding_count;
    struct wsdbg_finding *grown = realloc(c->findings, (count + 1) * sizeof *grown);
    if (!grown)
        return false;
    c->findings = grown;
    for (size_t i = 0; i < record->finding_count; i++)
        grown[c->finding_count++] = record->findings[i];
    record->finding_count = 0;
    return true;
}

static void keep_best(struct wsdbg_case *c)
{
    enum wsdbg_confidence best = 0, cause = 0, specific = 0;
    for (size_t i = 0; i < c->finding_count; i++) {
        const struct wsdbg_finding *finding = &c->findings[i];
        best = finding->confidence > best ? finding->confidence : best;
        if (!is_standstill(finding->cause) && finding->confidence > cause)
            cause = finding->confidence;
        if (!wsdbg_cause_is_fallback(finding->cause) && finding->confidence > specific)
            specific = finding->confidence;
    }
    for (size_t i = c->finding_count; i-- > 0;) {
        const struct wsdbg_finding *finding = &c->findings[i];
        const bool standstill = is_standstill(finding->cause) && cause >= WSDBG_CONFIDENCE_LIKELY;
        const bool consequence = wsdbg_cause_is_fallback(finding->cause) && specific >= WSDBG_CONFIDENCE_LIKELY &&
                                 finding->confidence <= specific;
        const bool weaker = best == WSDBG_CONFIDENCE_PROVEN && finding->confidence < best &&
                            finding->cause != WSDBG_CAUSE_ROLE_DISAGREE;
        if (standstill || consequence || weaker)
            remove_at(c, i);
    }
}

void wsdbg_recorded_join(const struct wsdbg_recorded *recorded, struct wsdbg_case *c, struct wsdbg_case *record)
{
    for (size_t i = 0; i < record->finding_count; i++)
        translate(recorded, c, &record->findings[i]);
    believe_state_about_now(c, record);
    merge_equals(c, record);
    doubt_both(c, record);
    c->no_memory = c->no_memory || record->no_memory || !append(c, record);
    keep_best(c);
}
