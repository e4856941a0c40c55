/* lint_json.c - see lint_json.h.  Reads findings; writes the stream. */
#include "cmd/lint_json.h"

#include <stdlib.h>

#include "cmd/json_pieces.h"

enum { SCHEMA_VERSION = 1 };

struct wsdbg_lint_json {
    struct wsdbg_json_pieces pieces;
    json_t *files;
    json_t *left_out; /* of the file that is being read */
};

struct wsdbg_error *wsdbg_lint_json_begin(FILE *out, struct wsdbg_lint_json **json)
{
    struct wsdbg_lint_json *begun = calloc(1, sizeof *begun);
    if (!begun)
        return &wsdbg_error_no_memory;
    *begun = (struct wsdbg_lint_json){.pieces = {.out = out}, .files = json_array(), .left_out = json_array()};
    fprintf(out, "{\"schema_version\": %d, \"wsdbg_version\": \"%s\",\n\"findings\": [", SCHEMA_VERSION, WSDBG_VERSION);
    *json = begun;
    return NULL;
}

static json_t *number_or_null(int64_t number, bool is_known)
{
    return is_known ? json_integer(number) : json_null();
}

static json_t *place_of(const struct wsdbg_lint_place *place)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "offset_bytes",
                     number_or_null(place->offset_bytes, place->offset_bytes >= 0), "file",
                     wsdbg_json_text(place->file), "line", number_or_null(place->line, place->file != NULL), "ptx_line",
                     number_or_null(place->ptx_line, place->ptx_line > 0));
}

static json_t *notes_of(struct wsdbg_json_pieces *pieces, const struct wsdbg_lint_finding *finding)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < finding->note_count; i++)
        wsdbg_json_keep(pieces, notes,
                        json_pack("{s:o, s:o}", "place", place_of(&finding->notes[i].place), "message",
                                  wsdbg_json_text(finding->notes[i].text)));
    return notes;
}

void wsdbg_lint_json_finding(struct wsdbg_lint_json *json, const char *path, const struct wsdbg_lint_subject *subject,
                             const struct wsdbg_lint_finding *finding)
{
    json_t *row =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "code", wsdbg_lint_code_name(finding->code),
                  "severity", wsdbg_lint_severity_name(finding->severity), "path", wsdbg_json_text(path), "module",
                  wsdbg_json_text(subject->module), "kernel", wsdbg_json_text(subject->kernel), "symbol",
                  wsdbg_json_text(subject->symbol), "place", place_of(&finding->place), "message",
                  wsdbg_json_text(finding->message), "notes", notes_of(&json->pieces, finding), "fix",
                  wsdbg_json_text(finding->fix));
    wsdbg_json_element(&json->pieces, row);
}

void wsdbg_lint_json_left_out(struct wsdbg_lint_json *json, const char *path, const char *text)
{
    (void)path;
    wsdbg_json_keep(&json->pieces, json->left_out, wsdbg_json_text(text));
}

static json_t *totals_of(const struct wsdbg_lint_totals *totals)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "modules", (json_int_t)totals->modules, "kernels",
                     (json_int_t)totals->kernels, "judged", (json_int_t)totals->judged, "code_bytes",
                     (json_int_t)totals->code_bytes, "errors", (json_int_t)totals->findings[WSDBG_LINT_ERROR],
                     "warnings", (json_int_t)totals->findings[WSDBG_LINT_WARNING], "notes",
                     (json_int_t)totals->findings[WSDBG_LINT_NOTE]);
}

void wsdbg_lint_json_file(struct wsdbg_lint_json *json, const char *path, const struct wsdbg_lint_totals *totals,
                          const struct wsdbg_error *error)
{
    wsdbg_json_keep(&json->pieces, json->files,
                    json_pack("{s:o, s:o, s:o, s:o}", "path", wsdbg_json_text(path), "error",
                              wsdbg_json_text(error ? wsdbg_error_message(error) : NULL), "left_out", json->left_out,
                              "totals", totals_of(totals)));
    json->left_out = json_array();
}

struct wsdbg_error *wsdbg_lint_json_end(struct wsdbg_lint_json *json, const struct wsdbg_lint_totals *totals)
{
    if (!json)
        return NULL;
    fputs("\n],\n", json->pieces.out);
    wsdbg_json_member(&json->pieces, "files", json->files);
    fputs(",\n", json->pieces.out);
    wsdbg_json_member(&json->pieces, "totals", totals_of(totals));
    fputs("}\n", json->pieces.out);
    struct wsdbg_error *error = wsdbg_json_check(&json->pieces);
    json_decref(json->left_out);
    free(json);
    return error;
}
