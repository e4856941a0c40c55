/* finding.c - names of causes and confidences, and the lifetime of a diagnosis.  See finding.h. */
#include "diagnose/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cause_names[WSDBG_CAUSE_COUNT] = {
#define CAUSE(code, kind, title) [WSDBG_CAUSE_##code] = #code,
#include "diagnose/causes.def"
};

const char *wsdbg_cause_name(enum wsdbg_cause cause)
{
    return (unsigned)cause < WSDBG_CAUSE_COUNT ? cause_names[cause] : "UNKNOWN";
}

const char *wsdbg_confidence_name(enum wsdbg_confidence confidence)
{
    switch (confidence) {
    case WSDBG_CONFIDENCE_PROVEN:
        return "proven";
    case WSDBG_CONFIDENCE_LIKELY:
        return "likely";
    case WSDBG_CONFIDENCE_POSSIBLE:
        break;
    }
    return "possible";
}

bool wsdbg_cause_says_why(enum wsdbg_cause cause)
{
    return cause != WSDBG_CAUSE_WAIT_CYCLE && cause != WSDBG_CAUSE_UNKNOWN;
}

enum wsdbg_title_place wsdbg_title_place(size_t index, enum wsdbg_cause first, bool is_fault)
{
    if (is_fault)
        return WSDBG_TITLE_FAULT;
    return index > 0 && wsdbg_cause_says_why(first) ? WSDBG_TITLE_BESIDE : WSDBG_TITLE_FIRST;
}

void wsdbg_finding_title(enum wsdbg_cause cause, enum wsdbg_confidence confidence, enum wsdbg_title_place place,
                         char out[WSDBG_TITLE_BYTES])
{
    const char *name = wsdbg_cause_name(cause), *sure = wsdbg_confidence_name(confidence);
    if (place == WSDBG_TITLE_BESIDE && !wsdbg_cause_says_why(cause))
        snprintf(out, WSDBG_TITLE_BYTES, "that it hangs is %s (%s)", sure, name);
    else if (place == WSDBG_TITLE_FIRST && cause == WSDBG_CAUSE_UNKNOWN)
        snprintf(out, WSDBG_TITLE_BYTES, "cause not known (%s; that it hangs is %s)", name, sure);
    else
        snprintf(out, WSDBG_TITLE_BYTES, "%s (%s)", name, sure);
}

bool wsdbg_diagnosis_blames(const struct wsdbg_diagnosis *diagnosis, enum wsdbg_cause cause, uint32_t process_id)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis->findings[i];
        if (finding->cause == cause && finding->process_id.known && finding->process_id.value == process_id)
            return true;
    }
    return false;
}

struct wsdbg_finding *wsdbg_diagnosis_add(struct wsdbg_diagnosis *diagnosis, enum wsdbg_cause cause,
                                          enum wsdbg_confidence confidence, uint32_t grid)
{
    struct wsdbg_finding *grown = realloc(diagnosis->findings, (diagnosis->finding_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    diagnosis->findings = grown;
    struct wsdbg_finding *finding = &grown[diagnosis->finding_count++];
    *finding = (struct wsdbg_finding){
        .cause = cause, .confidence = confidence, .grid = grid, .cta = WSDBG_NONE, .barrier = WSDBG_NONE};
    return finding;
}

bool wsdbg_finding_add_text(struct wsdbg_finding *finding, const char *text)
{
    struct wsdbg_evidence_row *grown =
        realloc(finding->evidence, (finding->evidence_count + 1) * sizeof *finding->evidence);
    if (!grown)
        return false;
    finding->evidence = grown;
    struct wsdbg_evidence_row *row = &grown[finding->evidence_count++];
    *row = (struct wsdbg_evidence_row){
        .kind = WSDBG_EVIDENCE_TEXT, .warp = WSDBG_NONE, .barrier = WSDBG_NONE, .event = WSDBG_NONE};
    snprintf(row->text, sizeof row->text, "%s", text);
    return true;
}

static void *copy_bytes(const void *bytes, size_t count)
{
    void *copy = malloc(count ? count : 1);
    return copy && count ? memcpy(copy, bytes, count) : copy;
}

/* Counts grow as rows are copied, so that a copy that failed half-way can be freed. */
static bool copy_findings(const struct wsdbg_diagnosis *diagnosis, struct wsdbg_diagnosis *copy)
{
    for (; copy->finding_count < diagnosis->finding_count; copy->finding_count++) {
        struct wsdbg_finding *finding = &copy->findings[copy->finding_count];
        *finding = diagnosis->findings[copy->finding_count];
        finding->evidence = copy_bytes(finding->evidence, finding->evidence_count * sizeof *finding->evidence);
        if (!finding->evidence)
            return false;
    }
    return true;
}

struct wsdbg_error *wsdbg_diagnosis_copy(const struct wsdbg_diagnosis *diagnosis, struct wsdbg_diagnosis *out)
{
    struct wsdbg_diagnosis copy = {.hang = diagnosis->hang, .edge_count = diagnosis->edge_count};
    copy.findings = calloc(diagnosis->finding_count + 1, sizeof *copy.findings);
    copy.edges = copy_bytes(diagnosis->edges, diagnosis->edge_count * sizeof *copy.edges);
    if (!copy.findings || !copy.edges || !copy_findings(diagnosis, &copy)) {
        wsdbg_diagnosis_deinit(&copy);
        return &wsdbg_error_no_memory;
    }
    *out = copy;
    return NULL;
}

void wsdbg_diagnosis_deinit(struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        free(diagnosis->findings[i].evidence);
    free(diagnosis->findings);
    free(diagnosis->edges);
    memset(diagnosis, 0, sizeof *diagnosis);
}
