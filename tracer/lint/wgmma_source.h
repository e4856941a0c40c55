/* wgmma_source.h - what the PTX of a kernel asks of its wgmma, and what in it may keep ptxas from overlapping them.
 *
 * Reads: PTX.  What ptxas looks for in a stage (from a wgmma to the wait for it), in the order of its own advisories:
 * instructions that use registers of a wgmma in flight, calls it cannot see into, and where waits are not on all paths.
 */
#ifndef WSDBG_LINT_WGMMA_SOURCE_H
#define WSDBG_LINT_WGMMA_SOURCE_H

#include "lint/wgmma_code.h"

/* How an instruction that is no wgmma uses registers of one that may be in flight. */
enum wsdbg_wgmma_touch_kind {
    WSDBG_WGMMA_SPILLED, /* stores accumulators to local memory, or loads them from there */
    WSDBG_WGMMA_READ,    /* reads an accumulator, or moves it */
    WSDBG_WGMMA_WRITTEN, /* writes an accumulator */
    WSDBG_WGMMA_INPUT,   /* writes a register that a wgmma takes its first matrix from */
    WSDBG_WGMMA_LATE, /* uses an accumulator that a wait for all but n groups completed, in a later round of a loop */
    WSDBG_WGMMA_TOUCH_KINDS
};

struct wsdbg_wgmma_touch {
    size_t count;
    uint32_t first;        /* instruction */
    size_t of_branch;      /* how many where one path waited and another did not */
    uint32_t branch_first; /* the first of these */
    size_t loads;          /* SPILLED: how many of `count` load */
};

struct wsdbg_wgmma_source {
    size_t issues;
    unsigned in_flight; /* at best, at most WSDBG_WGMMA_MANY */
    uint32_t first_issue;
    struct wsdbg_wgmma_touch touches[WSDBG_WGMMA_TOUCH_KINDS];
    size_t opaque_calls;   /* of what has no body here: printf, an assertion, another file's; or by pointer */
    uint32_t opaque_call;  /* the first */
    const char *callee;    /* its function's name; NULL = called through a pointer */
    size_t wgmma_in_calls; /* wgmma within functions that the kernel calls */
    uint32_t wgmma_in_call;
    size_t branches_inside; /* that some threads of a warp may take, between a wgmma and its commit */
    uint32_t branch_inside; /* the first */
    size_t scales;          /* wgmma whose scale-d is no constant */
    uint32_t scale;         /* the first */
    uint32_t scale_source;  /* what computes its predicate, WSDBG_PTX_NONE = not found */
    size_t first_values;    /* accumulators with values that other instructions gave them, in flight around a loop */
    unsigned registers;     /* of all accumulators that are in flight at one time, at most */
};

struct wsdbg_error *wsdbg_wgmma_source_read(const struct wsdbg_ptx_program *program,
                                            const struct wsdbg_ptx_function *kernel, struct wsdbg_wgmma_source *out);

#endif
