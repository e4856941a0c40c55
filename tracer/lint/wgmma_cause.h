/* wgmma_cause.h - why ptxas serialises the wgmma of a kernel, as far as machine code and PTX show it. */
#ifndef WSDBG_LINT_WGMMA_CAUSE_H
#define WSDBG_LINT_WGMMA_CAUSE_H

#include "lint/kernel.h"
#include "lint/wgmma_flow.h"
#include "lint/wgmma_machine.h"
#include "lint/wgmma_source.h"

/* What is known of one kernel. */
struct wsdbg_wgmma_case {
    struct wsdbg_lint_kernel *kernel;
    const struct wsdbg_wgmma_machine *machine; /* NULL: PTX alone */
    const struct wsdbg_wgmma_source *source;   /* NULL: no PTX */
    bool has_lines;
};

/* From what always serialises to what does so at times: the first that holds is the cause. */
enum wsdbg_wgmma_cause_kind {
    WSDBG_WGMMA_CAUSE_OPAQUE_CALL,
    WSDBG_WGMMA_CAUSE_WGMMA_IN_CALL,
    WSDBG_WGMMA_CAUSE_SPILLED,
    WSDBG_WGMMA_CAUSE_BRANCH,
    WSDBG_WGMMA_CAUSE_READ,
    WSDBG_WGMMA_CAUSE_WRITTEN,
    WSDBG_WGMMA_CAUSE_INPUT,
    WSDBG_WGMMA_CAUSE_LATE,
    WSDBG_WGMMA_CAUSE_PARTING,
    WSDBG_WGMMA_CAUSE_REGISTERS,
    WSDBG_WGMMA_CAUSE_SCALE_D,
    WSDBG_WGMMA_CAUSE_FIRST_VALUES,
    WSDBG_WGMMA_CAUSE_UNKNOWN,
};

struct wsdbg_wgmma_cause {
    enum wsdbg_wgmma_cause_kind kind;
    enum wsdbg_lint_code code;
    uint32_t ptx;    /* the instruction that shows it, or the first wgmma; only with a source */
    char text[256];  /* what follows the sentence that names the effect: "; probably because …" */
    const char *fix; /* what helps */
};

struct wsdbg_wgmma_cause wsdbg_wgmma_cause_of(const struct wsdbg_wgmma_case *facts);
/* Where it stands, and what else was seen of that kind. */
void wsdbg_wgmma_cause_add_notes(const struct wsdbg_wgmma_case *facts, const struct wsdbg_wgmma_cause *cause,
                                 struct wsdbg_lint_findings *out, struct wsdbg_lint_finding *finding);

#endif
