/* lint_fold.h - findings of one file, each said once: variants of a kernel (instances of a template, the image with
 * probes and the one without) have the same defect at the same line.
 *
 * Findings fold that have code, severity, line of the source, sentence and advice in common.  Without -lineinfo a place
 * is one of its kernel alone, and nothing folds.
 */
#ifndef WSDBG_CMD_LINT_FOLD_H
#define WSDBG_CMD_LINT_FOLD_H

#include "lint/lint.h"

enum { WSDBG_LINT_ALSO_MOST = 3 };

struct wsdbg_lint_folded {
    struct wsdbg_lint_subject subject; /* the first kernel of which it was said */
    struct wsdbg_lint_finding finding;
    size_t places_more;               /* in that kernel */
    size_t kernels_more;              /* others */
    char *also[WSDBG_LINT_ALSO_MOST]; /* what to call the first of those: a name that the list has only once */
};

struct wsdbg_lint_fold;

/* NULL = out of memory. */
struct wsdbg_lint_fold *wsdbg_lint_fold_create(void);
void wsdbg_lint_fold_destroy(struct wsdbg_lint_fold *fold); /* NULL is fine */
/* Takes note of a finding; copies it.  Kernels come one after another.  False: it is not kept, since memory is out or
 * as many are as should be; flush, and add it again. */
bool wsdbg_lint_fold_add(struct wsdbg_lint_fold *fold, const struct wsdbg_lint_subject *subject,
                         const struct wsdbg_lint_finding *finding);
/* Shows all that is kept, in the order in which each was first said, and forgets it. */
void wsdbg_lint_fold_flush(struct wsdbg_lint_fold *fold,
                           void (*show)(void *context, const struct wsdbg_lint_folded *folded), void *context);

#endif
