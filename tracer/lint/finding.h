/* finding.h - what a rule says of a kernel: a code, how bad it is, a sentence, the place, notes, what to change.
 *
 * Written by: the rules, through wsdbg_lint_add and its kin.  Read by: who prints.  Codes are stable identifiers; each
 * has a page in docs/causes.
 */
#ifndef WSDBG_LINT_FINDING_H
#define WSDBG_LINT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* clang-format off */
/* X(CODE), one row a family of rules. */
#define WSDBG_LINT_CODES(X) \
    X(REGS_BUDGET) X(REGS_ORDER) X(REGS_PARTIAL_WARPGROUP) X(REGS_DIVERGED) X(REGS_UNBALANCED) X(REGS_IGNORED) \
    X(REGS_CALL_INSIDE) X(REGS_ACCOUNT) X(ARCH_MISMATCH) \
    X(LAUNCH_TOO_MANY_REGS) \
    X(WGMMA_SERIALIZED) X(WGMMA_SPILL) X(WGMMA_SCALE_D) X(WGMMA_WAIT_IN_BRANCH) \
    X(BARRIER_NOT_INIT) X(ARRIVE_MISSING) X(ARRIVE_SHORT) X(TX_NO_ARRIVE) X(TX_MISMATCH) X(NAMED_COUNT) \
    X(NAMED_ID_SHARED) X(BLOCK_SYNC_IN_ROLE) X(CLUSTER_MISSING) X(PEER_EXITED)
/* clang-format on */

enum wsdbg_lint_code {
#define X(code) WSDBG_LINT_##code,
    WSDBG_LINT_CODES(X)
#undef X
        WSDBG_LINT_CODE_COUNT
};
const char *wsdbg_lint_code_name(enum wsdbg_lint_code code); /* "REGS_BUDGET" */
/* The code of that name, in letters of any case.  False where there is none: *out is then one whose name is near, or
 * WSDBG_LINT_CODE_COUNT. */
bool wsdbg_lint_code_of_name(const char *name, enum wsdbg_lint_code *out);

/* ERROR: it hangs, does not launch or computes garbage, and the file proves it.  WARNING: it will be slow, or it hangs
 * if the condition in the sentence holds.  NOTE: worth knowing. */
enum wsdbg_lint_severity { WSDBG_LINT_NOTE = 1, WSDBG_LINT_WARNING, WSDBG_LINT_ERROR };
const char *wsdbg_lint_severity_name(enum wsdbg_lint_severity severity); /* "error" */

/* Where in the kernel; what is not known is -1, NULL or 0. */
struct wsdbg_lint_place {
    int64_t offset_bytes;   /* of the instruction, from the function's start; -1: the kernel as a whole, or PTX */
    const char *file;       /* of the source, with -lineinfo; valid as long as the kernel is open */
    uint32_t line;          /* of inlined code: the one outside of all wrappers of barriers (base/inlined.h) */
    const char *inner_file; /* of the wrapper that the instruction itself comes from; NULL = none */
    uint32_t inner_line;
    const char *caller_file; /* the call in the kernel's own file that the line was inlined at; NULL = none */
    uint32_t caller_line;
    uint32_t ptx_line; /* in the PTX of the module, from 1 */
};

struct wsdbg_lint_note {
    struct wsdbg_lint_place place;
    char *text;
};

enum { WSDBG_LINT_NOTES_MOST = 64 };

struct wsdbg_lint_finding {
    enum wsdbg_lint_code code;
    enum wsdbg_lint_severity severity;
    struct wsdbg_lint_place place;
    char *message; /* one plain sentence without a full stop at its end */
    char *fix;     /* what to change, NULL = nothing to suggest */
    struct wsdbg_lint_note *notes;
    size_t note_count, note_capacity;
};

struct wsdbg_lint_kernel;

/* The findings of one kernel. */
struct wsdbg_lint_findings {
    struct wsdbg_lint_finding **rows;
    size_t count, capacity;
    uint64_t suppressed; /* codes nobody wants, a bit each */
    size_t left_out;     /* beyond the most that is kept of one kernel */
    bool is_out_of_memory;
};

/* A new finding, with a printf-style message.  NULL where the code is suppressed, or nothing more is kept; what follows
 * takes that NULL. */
struct wsdbg_lint_finding *wsdbg_lint_add(struct wsdbg_lint_findings *findings, enum wsdbg_lint_code code,
                                          enum wsdbg_lint_severity severity, struct wsdbg_lint_place place,
                                          const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A further line below the finding. */
void wsdbg_lint_note(struct wsdbg_lint_findings *findings, struct wsdbg_lint_finding *finding,
                     struct wsdbg_lint_place place, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What to change; the last call holds. */
void wsdbg_lint_fix(struct wsdbg_lint_findings *findings, struct wsdbg_lint_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the findings in the order of their places and codes. */
void wsdbg_lint_findings_sort(struct wsdbg_lint_findings *findings);
/* Frees what the findings hold. */
void wsdbg_lint_findings_deinit(struct wsdbg_lint_findings *findings);

#endif
