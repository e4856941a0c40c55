/* lint_sarif.h - findings of lint as SARIF 2.1.0, the form that CI systems read, written one by one: nothing is kept.
 */
#ifndef WSDBG_CMD_LINT_SARIF_H
#define WSDBG_CMD_LINT_SARIF_H

#include <stdio.h>

#include "cmd/lint_fold.h"

struct wsdbg_lint_sarif;

/* Begins the document; `out` stays the caller's. */
struct wsdbg_error *wsdbg_lint_sarif_begin(FILE *out, struct wsdbg_lint_sarif **sarif);
void wsdbg_lint_sarif_finding(struct wsdbg_lint_sarif *sarif, const char *path, const struct wsdbg_lint_folded *folded);
/* What was not read, or could not be: `level` is "note" or "error". */
void wsdbg_lint_sarif_notify(struct wsdbg_lint_sarif *sarif, const char *level, const char *path, const char *text);
/* Ends the document, and frees *sarif. */
struct wsdbg_error *wsdbg_lint_sarif_end(struct wsdbg_lint_sarif *sarif);

#endif
