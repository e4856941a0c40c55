/* barrier_survey.h - what the rules about barriers ask of a kernel: which warps may reach an instruction, whether two
 * operands may name the same barrier, what a thread must execute, whether an instruction comes again.
 *
 * Reads: the kernel's control flow and its accesses.  Every answer errs on one side, which it names: "may" is never too
 * narrow, "must" never too wide.
 */
#ifndef WSDBG_LINT_BARRIER_SURVEY_H
#define WSDBG_LINT_BARRIER_SURVEY_H

#include "lint/kernel.h"
#include "sass/access.h"
#include "sass/graph.h"

enum {
    WSDBG_SURVEY_WARPS_MOST = 32,
    WSDBG_SURVEY_PLACES_MOST = 64,     /* that one operand may name: more, and nobody knows which */
    WSDBG_SURVEY_ACCESSES_MOST = 2048, /* of a kernel that is judged */
    WSDBG_SURVEY_TRIES_MOST = 64,      /* how often a rule follows the code of one kernel, whatever is in it */
};

struct wsdbg_survey_name {
    int8_t id;     /* -1 = not known */
    int16_t count; /* threads, 0 = all of the CTA; -1 = not known */
};

struct wsdbg_barrier_survey {
    struct wsdbg_lint_kernel *kernel;
    const struct wsdbg_graph *graph;
    const struct wsdbg_access *accesses; /* to barriers, and exits; without parities and lanes */
    size_t count;
    struct wsdbg_launch_values launch; /* the kernel's, and which guards are worth deciding */
    uint32_t threads_most;             /* of a CTA; 1024 where the kernel does not say */
    uint32_t warp_count;               /* of a CTA with that many */
    bool is_closed;   /* nothing outside of this code can touch a barrier of the CTA, and all paths are known */
    bool is_in_x;     /* nothing asks for a thread's index in y or z: all are told apart by x */
    uint32_t *warps;  /* by access: the warps that may execute it, threads counted in x; a bit each */
    uint8_t *again;   /* by access: enum wsdbg_survey_again, 0 = not asked yet */
    uint64_t *holds;  /* the instructions at which a thread may have to wait for another one */
    uint64_t *guards; /* instructions whose guards tell threads apart */
    struct wsdbg_trace *trace;        /* of the values, by turns for all threads and for some */
    struct wsdbg_lanes_finder *lanes; /* for all threads */
    struct wsdbg_graph **of_warps;    /* by warp: what it can execute; NULL = not asked yet */
    struct wsdbg_survey_name *names;  /* [warp * count + access]: of named barriers, as that warp executes them */
    bool are_names_known;             /* all of those that are executed; else only some rows are those of the warp */
};

/* *out is NULL where the kernel has no barrier, or its barriers cannot be analysed. */
struct wsdbg_error *wsdbg_barrier_survey_create(struct wsdbg_lint_kernel *kernel, struct wsdbg_barrier_survey **out);
void wsdbg_barrier_survey_destroy(struct wsdbg_barrier_survey *survey); /* NULL is fine */

bool wsdbg_survey_is_mbarrier(const struct wsdbg_access *access);
bool wsdbg_survey_is_named(const struct wsdbg_access *access);
/* True where the access counts as an arrival, or more than one. */
bool wsdbg_survey_arrives(const struct wsdbg_access *access);
/* True where it is exactly one number. */
bool wsdbg_survey_is_one(const struct wsdbg_value_set *set, uint64_t number);
bool wsdbg_survey_is_number(const struct wsdbg_value_set *set);
/* Whether the set may hold the number; whether two sets may have one in common. */
bool wsdbg_survey_may_be(const struct wsdbg_value_set *set, uint64_t number);
bool wsdbg_survey_may_meet(const struct wsdbg_value_set *a, const struct wsdbg_value_set *b);

/* A __syncthreads, or a sync that counts as many threads as the CTA has. */
bool wsdbg_survey_is_block_sync(const struct wsdbg_barrier_survey *survey, size_t access);

/* An empty set of the kernel's instructions, which the caller frees; NULL: out of memory. */
uint64_t *wsdbg_survey_set_create(const struct wsdbg_barrier_survey *survey);
void wsdbg_survey_set_add(uint64_t *set, uint32_t instruction);

/* How many lanes of a warp execute the access. */
enum wsdbg_lanes wsdbg_survey_lanes(const struct wsdbg_barrier_survey *survey, size_t access);
/* The parity that a wait asks for. */
struct wsdbg_value_set wsdbg_survey_parity(const struct wsdbg_barrier_survey *survey, size_t wait);

/* The control flow that the warp can take; the survey keeps it. */
struct wsdbg_error *wsdbg_survey_graph_of_warp(const struct wsdbg_barrier_survey *survey, uint32_t warp,
                                               const struct wsdbg_graph **out);

/* Whether a thread that has executed an access may reach it again, and whether something may hold it before. */
enum wsdbg_survey_again { WSDBG_SURVEY_NEVER_AGAIN = 1, WSDBG_SURVEY_AGAIN_WHEN_HELD, WSDBG_SURVEY_AGAIN_AT_ONCE };
enum wsdbg_survey_again wsdbg_survey_again(const struct wsdbg_barrier_survey *survey, size_t access);

/* Whether some thread of a CTA as large as it can be executes an instruction of `set` on every path that it can take
 * from the kernel's start to an exit. */
struct wsdbg_error *wsdbg_survey_must_execute(const struct wsdbg_barrier_survey *survey, wsdbg_instruction_set set,
                                              uint32_t warps, bool *out);

/* "warps 0, 4-7" */
enum { WSDBG_SURVEY_WARPS_BYTES = 128 };
const char *wsdbg_survey_warps_text(uint32_t warps, char out[WSDBG_SURVEY_WARPS_BYTES]);
uint32_t wsdbg_survey_warp_count(uint32_t warps);

/* A note at an instruction, if there is none yet with the same words at the same line, as of an unrolled loop, and no
 * more than a few of them. */
void wsdbg_survey_note(const struct wsdbg_barrier_survey *survey, struct wsdbg_lint_findings *findings,
                       struct wsdbg_lint_finding *finding, uint32_t instruction, const char *text);

#endif
