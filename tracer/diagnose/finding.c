/* finding.c - names of causes and confidences, and the lifetime of a diagnosis.  See finding.h. */
#include "diagnose/finding.h"

#include <stdlib.h>
#include <string.h>

static const char *const cause_names[WSDBG_CAUSE_COUNT] = {
#define X(code) [WSDBG_CAUSE_##code] = #code,
    WSDBG_CAUSES(X)
#undef X
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

void wsdbg_diagnosis_deinit(struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        free(diagnosis->findings[i].evidence);
    free(diagnosis->findings);
    free(diagnosis->edges);
    memset(diagnosis, 0, sizeof *diagnosis);
}
