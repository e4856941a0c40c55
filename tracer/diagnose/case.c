/* case.c - sets of warps, events of a case's warps, and the findings about it.  See case.h.
 *
 * Reads: the snapshot.  Writes: struct wsdbg_case.
 */
#include "diagnose/case.h"

#include <stdio.h>
#include <stdlib.h>

#define EVIDENCE_MAX 64u

uint32_t wsdbg_set_count(const struct wsdbg_warp_set *set)
{
    uint32_t count = 0;
    for (size_t i = 0; i < WSDBG_CASE_WARPS_MAX / 64; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    return count;
}

bool wsdbg_set_meets(const struct wsdbg_warp_set *a, const struct wsdbg_warp_set *b)
{
    for (size_t i = 0; i < WSDBG_CASE_WARPS_MAX / 64; i++)
        if (a->words[i] & b->words[i])
            return true;
    return false;
}

uint32_t wsdbg_case_lanes_at_launch(const struct wsdbg_case *c, uint32_t warp)
{
    const uint32_t *block = c->snapshot->grids[c->grid].block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    const uint64_t first = (uint64_t)wsdbg_case_warp(c, warp)->warp * WSDBG_WARP_THREADS;
    if (threads <= first)
        return 0;
    return threads - first < WSDBG_WARP_THREADS ? (1u << (threads - first)) - 1 : UINT32_MAX;
}

const struct wsdbg_history_event *wsdbg_case_events(const struct wsdbg_case *c, uint32_t warp, uint32_t *count)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->history_count > 0) {
        *count = row->history_count;
        return &c->snapshot->history[row->history_first];
    }
    *count = row->last.kind == WSDBG_EVENT_NONE ? 0 : 1;
    return &row->last;
}

uint32_t wsdbg_case_cta(const struct wsdbg_case *c, uint32_t cta)
{
    for (uint32_t i = 0; i < c->cta_count; i++)
        if (c->ctas[i] == cta)
            return i;
    return WSDBG_NONE;
}

uint32_t wsdbg_case_mbarrier_at(const struct wsdbg_case *c, uint32_t cta, uint32_t offset)
{
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        if (row->cta == cta && row->kind == WSDBG_BARRIER_MBARRIER && row->shared_offset.known &&
            row->shared_offset.value == offset)
            return b;
    }
    return WSDBG_NONE;
}

bool wsdbg_case_have_exited(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            return false;
    return true;
}

enum wsdbg_cause wsdbg_case_cause_of_exit(const struct wsdbg_case *c, const struct wsdbg_warp_set *exited, uint32_t cta)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const uint32_t its = wsdbg_case_warp(c, w)->cta;
        if (wsdbg_set_has(exited, w) && (its == cta || !wsdbg_snapshot_cta_has_left(c->snapshot, its)))
            return WSDBG_CAUSE_WAKER_EXITED;
    }
    return wsdbg_set_count(exited) ? WSDBG_CAUSE_PEER_EXITED : WSDBG_CAUSE_WAKER_EXITED;
}

uint32_t wsdbg_case_ctas_left(const struct wsdbg_case *c)
{
    const uint32_t size = c->snapshot->ctas[c->ctas[0]].cluster_size;
    uint32_t there = 0;
    for (uint32_t i = 0; i < c->cta_count; i++)
        there += !wsdbg_snapshot_cta_has_left(c->snapshot, c->ctas[i]);
    return size > there ? size - there : 0;
}

enum wsdbg_confidence wsdbg_case_cap(const struct wsdbg_case *c, enum wsdbg_confidence wanted)
{
    if (c->of_machine)
        return wanted;
    if (!c->quiet)
        return WSDBG_CONFIDENCE_POSSIBLE;
    if (!c->history_any && wanted > WSDBG_CONFIDENCE_LIKELY)
        return WSDBG_CONFIDENCE_LIKELY;
    return wanted;
}

/* Whether a finding rests on rounds that no author named: a simulated device counts the waits of code without probes,
 * and a mistake in the code makes it miscount. */
static bool are_rounds_inferred(const struct wsdbg_case *c, uint32_t barrier)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const uint32_t module = s->grids[c->grid].module;
    return !c->of_machine && module < s->module_count && s->modules[module].unnamed && barrier < s->barrier_count &&
           s->barriers[barrier].kind == WSDBG_BARRIER_MBARRIER;
}

struct wsdbg_finding *wsdbg_case_find(struct wsdbg_case *c, enum wsdbg_cause cause, enum wsdbg_confidence confidence,
                                      uint32_t cta, uint32_t barrier)
{
    struct wsdbg_finding *grown = realloc(c->findings, (c->finding_count + 1) * sizeof *grown);
    if (!grown) {
        c->no_memory = true;
        return NULL;
    }
    c->findings = grown;
    if (confidence > WSDBG_CONFIDENCE_LIKELY && are_rounds_inferred(c, barrier))
        confidence = WSDBG_CONFIDENCE_LIKELY;
    struct wsdbg_finding *finding = &grown[c->finding_count++];
    *finding = (struct wsdbg_finding){.cause = cause,
                                      .confidence = wsdbg_case_cap(c, confidence),
                                      .grid = c->grid,
                                      .cta = cta,
                                      .cta_count = 1,
                                      .barrier = barrier};
    return finding;
}

static void add_row(struct wsdbg_case *c, struct wsdbg_finding *finding, struct wsdbg_evidence_row row,
                    const char *format, va_list arguments)
{
    /* A report names the first ones; the rest is in the snapshot. */
    if (!finding || finding->evidence_count >= EVIDENCE_MAX)
        return;
    struct wsdbg_evidence_row *grown = realloc(finding->evidence, (finding->evidence_count + 1) * sizeof *grown);
    if (!grown) {
        c->no_memory = true;
        return;
    }
    vsnprintf(row.text, sizeof row.text, format, arguments);
    finding->evidence = grown;
    grown[finding->evidence_count++] = row;
}

void wsdbg_evidence_warp(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp, const char *format, ...)
{
    const struct wsdbg_evidence_row row = {.kind = WSDBG_EVIDENCE_WARP,
                                           .warp = c->warps[warp],
                                           .barrier = wsdbg_case_warp(c, warp)->barrier,
                                           .event = WSDBG_NONE};
    va_list arguments;
    va_start(arguments, format);
    add_row(c, finding, row, format, arguments);
    va_end(arguments);
}

void wsdbg_evidence_barrier(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t barrier, const char *format,
                            ...)
{
    const struct wsdbg_evidence_row row = {
        .kind = WSDBG_EVIDENCE_BARRIER, .warp = WSDBG_NONE, .barrier = barrier, .event = WSDBG_NONE};
    va_list arguments;
    va_start(arguments, format);
    add_row(c, finding, row, format, arguments);
    va_end(arguments);
}

void wsdbg_evidence_event(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp,
                          const struct wsdbg_history_event *event, const char *format, ...)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    const struct wsdbg_warp_row *warp_row = wsdbg_case_warp(c, warp);
    struct wsdbg_evidence_row row = {.kind = WSDBG_EVIDENCE_EVENT,
                                     .warp = c->warps[warp],
                                     .barrier = WSDBG_NONE,
                                     .event = warp_row->history_first + (uint32_t)(event - events)};
    if (warp_row->history_count == 0) {
        row.kind = WSDBG_EVIDENCE_WARP;
        row.event = WSDBG_NONE;
    }
    va_list arguments;
    va_start(arguments, format);
    add_row(c, finding, row, format, arguments);
    va_end(arguments);
}

void wsdbg_evidence_text(struct wsdbg_case *c, struct wsdbg_finding *finding, const char *format, ...)
{
    const struct wsdbg_evidence_row row = {
        .kind = WSDBG_EVIDENCE_TEXT, .warp = WSDBG_NONE, .barrier = WSDBG_NONE, .event = WSDBG_NONE};
    va_list arguments;
    va_start(arguments, format);
    add_row(c, finding, row, format, arguments);
    va_end(arguments);
}
