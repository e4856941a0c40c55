/* refused.h - why the driver refused a launch, a module or a kernel's attribute, in the terms of what was asked for and
 * what kernel and device allow.
 *
 * Read by: cmd, store.  Codes are stable identifiers (docs/CAUSES.md); these end no kernel, so they are not among the
 * causes of finding.h.
 */
#ifndef WSDBG_DIAGNOSE_REFUSED_H
#define WSDBG_DIAGNOSE_REFUSED_H

#include "model/snapshot.h"
#include "sass/holds.h"

#define WSDBG_REFUSED(X)                                   \
    X(LAUNCH_REFUSED) /* for a reason that is not known */ \
    X(LAUNCH_TOO_MANY_REGS)                                \
    X(LAUNCH_SHARED_MEMORY)                                \
    X(LAUNCH_CLUSTER) X(LAUNCH_BLOCK) X(LAUNCH_GRID) X(LAUNCH_NOT_COOPERATIVE) X(LAUNCH_NO_IMAGE) X(ARCH_MISMATCH)

enum wsdbg_refused {
#define X(code) WSDBG_REFUSED_##code,
    WSDBG_REFUSED(X)
#undef X
        WSDBG_REFUSED_COUNT
};
/* "LAUNCH_TOO_MANY_REGS" */
const char *wsdbg_refused_name(enum wsdbg_refused cause);
/* "CUDA_ERROR_INVALID_VALUE" of 1; NULL for results with which nothing is refused that is told here. */
const char *wsdbg_refused_result_name(int32_t result);

/* Whether the driver call runs a kernel, or puts one into a graph; else it asks for code or sets an attribute. */
bool wsdbg_refused_is_launch(const char *call);
/* Whether a library took stock of its kernels, for whatever device there may be: NCCL looks up each by name.  That says
 * nothing of the program, also where it ends badly.  kernel: symbol, mangled or not. */
bool wsdbg_refused_is_inventory(const char *call, const char *kernel);
/* The code was not there, or not in a form that this driver and device can use. */
bool wsdbg_refused_is_about_code(int32_t result);

struct wsdbg_refused_words {
    enum wsdbg_refused cause;
    char subject[512];  /* what was refused: "gemm, grid 4x1x1, block 384x1x1" */
    char sentence[512]; /* why, with the numbers */
    char fix[512];      /* what to change, "" = nothing to suggest */
};

/* Pure: the same refusal, the same words.  holds: what code the image in question has, NULL = not known. */
void wsdbg_refused_explain(const struct wsdbg_refusal *refusal, const struct wsdbg_holds *holds,
                           struct wsdbg_refused_words *out);

#endif
