/* lint_json.h - findings of lint as JSON (docs/lint.schema.json), written one by one: nothing is kept. */
#ifndef WSDBG_CMD_LINT_JSON_H
#define WSDBG_CMD_LINT_JSON_H

#include <stdio.h>

#include "lint/lint.h"

struct wsdbg_lint_json;

/* Begins the document; `out` stays the caller's. */
struct wsdbg_error *wsdbg_lint_json_begin(FILE *out, struct wsdbg_lint_json **json);
void wsdbg_lint_json_finding(struct wsdbg_lint_json *json, const char *path, const struct wsdbg_lint_subject *subject,
                             const struct wsdbg_lint_finding *finding);
/* What was not read of a file. */
void wsdbg_lint_json_left_out(struct wsdbg_lint_json *json, const char *path, const char *text);
/* A file is through; error NULL = it could be read. */
void wsdbg_lint_json_file(struct wsdbg_lint_json *json, const char *path, const struct wsdbg_lint_totals *totals,
                          const struct wsdbg_error *error);
/* Ends the document, and frees *json. */
struct wsdbg_error *wsdbg_lint_json_end(struct wsdbg_lint_json *json, const struct wsdbg_lint_totals *totals);

#endif
