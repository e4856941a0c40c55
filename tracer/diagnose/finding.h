/* finding.h - what the diagnosis says: a cause code, a sentence, what it rests on, how sure it is.
 *
 * Written by: the rules.  Read by: store, report, viewer.  Codes are stable identifiers (docs/CAUSES.md).
 */
#ifndef WSDBG_DIAGNOSE_FINDING_H
#define WSDBG_DIAGNOSE_FINDING_H

#include "model/snapshot.h"

/* The most specific first: of findings with the same confidence the one with the smaller cause is the verdict. */
enum wsdbg_cause {
#define CAUSE(code, kind, title) WSDBG_CAUSE_##code,
#include "diagnose/causes.def"
    WSDBG_CAUSE_COUNT
};
const char *wsdbg_cause_name(enum wsdbg_cause cause); /* "PARITY_WRONG" */

enum wsdbg_confidence { WSDBG_CONFIDENCE_POSSIBLE = 1, WSDBG_CONFIDENCE_LIKELY, WSDBG_CONFIDENCE_PROVEN };
const char *wsdbg_confidence_name(enum wsdbg_confidence confidence);

/* Whether it says why; WAIT_CYCLE and UNKNOWN only say that nothing can go on. */
bool wsdbg_cause_says_why(enum wsdbg_cause cause);

/* Where a finding is headed. */
enum wsdbg_title_place {
    WSDBG_TITLE_FIRST,  /* as the verdict on a standstill */
    WSDBG_TITLE_FAULT,  /* as the verdict on an error that ended the kernel */
    WSDBG_TITLE_BESIDE, /* below a verdict that says why */
};
enum { WSDBG_TITLE_BYTES = 96 };
/* "PARITY_WRONG (likely)".  Of a finding that does not say why the confidence is only how sure it is that the kernel
 * hangs: "cause not known (UNKNOWN; that it hangs is likely)", "that it hangs is likely (WAIT_CYCLE)". */
void wsdbg_finding_title(enum wsdbg_cause cause, enum wsdbg_confidence confidence, enum wsdbg_title_place place,
                         char out[WSDBG_TITLE_BYTES]);
/* The place of the finding with this index, where the first one has this cause.  is_fault: an error ended the kernel.
 */
enum wsdbg_title_place wsdbg_title_place(size_t index, enum wsdbg_cause first, bool is_fault);

enum wsdbg_evidence_kind { WSDBG_EVIDENCE_WARP = 1, WSDBG_EVIDENCE_BARRIER, WSDBG_EVIDENCE_EVENT, WSDBG_EVIDENCE_TEXT };

/* One row the finding rests on. */
struct wsdbg_evidence_row {
    enum wsdbg_evidence_kind kind;
    uint32_t warp;                  /* index in snapshot.warps, or WSDBG_NONE */
    uint32_t barrier;               /* index in snapshot.barriers, or WSDBG_NONE */
    uint32_t event;                 /* index in snapshot.history, or WSDBG_NONE */
    char text[256];                 /* what it shows, one clause */
    struct wsdbg_optional_u32 call; /* index in snapshot.collectives: what it is about; not kept in sessions */
};

struct wsdbg_finding {
    enum wsdbg_cause cause;
    enum wsdbg_confidence confidence;
    uint32_t grid;
    uint32_t cta;                   /* the example CTA */
    uint32_t cta_count;             /* CTAs of the grid folded into this finding */
    struct wsdbg_optional_u32 role; /* role id at fault */
    uint32_t barrier;               /* index in snapshot.barriers, or WSDBG_NONE */
    bool open;                      /* UNKNOWN: nobody is known to be stuck, and nothing was seen to move; goes before
                                       whatever else is only possible.  Not kept in sessions */
    bool is_walked;   /* walks of the case lead to the picture; goes before what rests on less.  Not kept in
                         sessions */
    bool is_repaired; /* ... and with one change they lead to the kernel's end; goes before what rests on less.  Not
                         kept in sessions */
    bool leads; /* only possible, but its warps are known to wait in a cycle, or for nobody, and no cause is likelier;
                   goes before WAIT_CYCLE and UNKNOWN.  Not kept in sessions */
    struct wsdbg_optional_u32 process_id; /* whose fault it is; not known: the process of the grid */
    char sentence[512];                   /* the cause, one plain sentence */
    char fix[512];                        /* what to change, "" = nothing to suggest */
    struct wsdbg_evidence_row *evidence;
    size_t evidence_count;
};

/* waiter waits for object, which `waker` could complete (an edge of the wait-for graph). */
struct wsdbg_edge {
    uint32_t waiter;  /* index in snapshot.warps */
    uint32_t barrier; /* index in snapshot.barriers */
    uint32_t waker;   /* index in snapshot.warps, WSDBG_NONE = nobody known */
    bool in_cycle;
    const char *why; /* "declared", "arrived before", "may arrive", "has exited": static string */
};

struct wsdbg_diagnosis {
    bool hang;                      /* proven or likely that the running grid cannot go on */
    struct wsdbg_finding *findings; /* best first; findings[0] is the verdict */
    size_t finding_count;
    struct wsdbg_edge *edges;
    size_t edge_count;
};

/* The process whose finding it is. */
struct wsdbg_optional_u32 wsdbg_finding_process_id(const struct wsdbg_snapshot *snapshot,
                                                   const struct wsdbg_finding *finding);

/* Whether a finding with this cause blames this process. */
bool wsdbg_diagnosis_blames(const struct wsdbg_diagnosis *diagnosis, enum wsdbg_cause cause, uint32_t process_id);
/* Appends a finding without a CTA or a barrier; NULL: no memory.  Valid until the next one is added. */
struct wsdbg_finding *wsdbg_diagnosis_add(struct wsdbg_diagnosis *diagnosis, enum wsdbg_cause cause,
                                          enum wsdbg_confidence confidence, uint32_t grid);
/* Appends a row of evidence that is only text.  False: no memory. */
bool wsdbg_finding_add_text(struct wsdbg_finding *finding, const char *text);

/* Below 0: `a` goes before `b`. */
int wsdbg_finding_compare(const struct wsdbg_finding *a, const struct wsdbg_finding *b);

/* Judges a stalled snapshot.  Pure: same snapshot, same answer; no I/O, no clock.  All findings of all
 * running grids; CTAs that agree are folded.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_diagnose(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *out);
/* The same of a snapshot that is not stalled, after a GPU fault: only what the fault ended is judged, whatever else
 * runs may wait for a moment. */
struct wsdbg_error *wsdbg_diagnose_faults(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *out);
/* A copy that shares only static strings.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_diagnosis_copy(const struct wsdbg_diagnosis *diagnosis, struct wsdbg_diagnosis *out);
void wsdbg_diagnosis_deinit(struct wsdbg_diagnosis *diagnosis);

#endif
