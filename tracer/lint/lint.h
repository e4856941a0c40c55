/* lint.h - what can be said of the kernels in a file before anything runs.
 *
 * Reads a cubin, a fatbin, PTX text, or a program, library, object or archive of the host that holds such; one module
 * at a time is in memory.  Pure: the same file, the same findings in the same order.
 */
#ifndef WSDBG_LINT_LINT_H
#define WSDBG_LINT_LINT_H

#include "base/progress.h"
#include "lint/finding.h"

struct wsdbg_lint_options {
    uint64_t suppressed; /* codes nobody wants, 1 << enum wsdbg_lint_code */
};

/* Whose finding it is. */
struct wsdbg_lint_subject {
    const char *module; /* where in the file, "" = the file is this module */
    const char *kernel; /* as its author wrote it, as far as that can be told */
    const char *symbol; /* as the linker sees it */
    bool is_ptx;        /* the module is PTX alone */
};

/* Who is told.  Pointers hold during the call. */
struct wsdbg_lint_listener {
    void *context;
    void (*finding)(void *context, const struct wsdbg_lint_subject *subject, const struct wsdbg_lint_finding *finding);
    /* Something was not read, and why: one line. */
    void (*left_out)(void *context, const char *text);
};

struct wsdbg_lint_totals {
    size_t modules; /* for sm_90 and sm_90a: read */
    size_t kernels;
    size_t judged;                         /* kernels that hold something a rule is about */
    uint64_t code_bytes;                   /* of cubins, unpacked */
    size_t left_out;                       /* how often the listener was told so */
    size_t findings[WSDBG_LINT_ERROR + 1]; /* by severity */
};

/* Reads all of the file.  What is damaged, or made for another GPU, is left out and the rest still read.  BAD_INPUT
 * where the file is of no known kind or holds nothing for sm_90, OS where it cannot be read; *out is filled then, too.
 */
struct wsdbg_error *wsdbg_lint_file(const char *path, const struct wsdbg_lint_options *options,
                                    const struct wsdbg_lint_listener *listener, struct wsdbg_progress *progress,
                                    struct wsdbg_lint_totals *out);

#endif
