/* lint_sarif.c - see lint_sarif.h.  Reads findings and the pages of their codes; writes the stream. */
#include "cmd/lint_sarif.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cause_page.h"
#include "cmd/json_pieces.h"
#include "cmd/lint_text.h"

struct wsdbg_lint_sarif {
    struct wsdbg_json_pieces pieces;
    json_t *notifications;
    bool failed;
};

/* ---- rules ---- */

static json_t *page_of(const char *code)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return NULL;
    wsdbg_cause_page_print(code, false, memory);
    fclose(memory);
    json_t *page = wsdbg_json_text(text && *text ? text : code);
    free(text);
    return page;
}

static json_t *rule_of(enum wsdbg_lint_code code)
{
    const char *name = wsdbg_lint_code_name(code);
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "id", name, "name", name, "shortDescription", "text", name, "help",
                     "text", page_of(name));
}

struct wsdbg_error *wsdbg_lint_sarif_begin(FILE *out, struct wsdbg_lint_sarif **sarif)
{
    struct wsdbg_lint_sarif *begun = calloc(1, sizeof *begun);
    if (!begun)
        return &wsdbg_error_no_memory;
    *begun = (struct wsdbg_lint_sarif){.pieces = {.out = out}, .notifications = json_array()};
    json_t *rules = json_array();
    for (unsigned code = 0; code < WSDBG_LINT_CODE_COUNT; code++)
        wsdbg_json_keep(&begun->pieces, rules, rule_of((enum wsdbg_lint_code)code));
    fputs("{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\", \"runs\": [{\n",
          out);
    wsdbg_json_member(
        &begun->pieces, "tool",
        json_pack("{s:{s:s, s:s, s:o}}", "driver", "name", "wsdbg lint", "version", WSDBG_VERSION, "rules", rules));
    fputs(",\n\"results\": [", out);
    *sarif = begun;
    return NULL;
}

/* ---- results ---- */

/* A file's name as a URI: absolute with its scheme, else relative to where the tool ran. */
static json_t *uri_of(const char *path)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return NULL;
    fputs(path[0] == '/' ? "file://" : "", memory);
    for (const unsigned char *at = (const unsigned char *)path; *at; at++)
        fprintf(memory, isalnum(*at) || strchr("-._~/", *at) ? "%c" : "%%%02X", *at);
    fclose(memory);
    json_t *uri = wsdbg_json_text(text);
    free(text);
    return uri;
}

/* is_source: the file is the PTX that a place's line is of. */
static json_t *physical(const char *path, const struct wsdbg_lint_place *place, bool is_source)
{
    if (place->file)
        return json_pack("{s:{s:o}, s:{s:i}}", "artifactLocation", "uri", uri_of(place->file), "region", "startLine",
                         (int)(place->line ? place->line : 1));
    if (is_source)
        return json_pack("{s:{s:o}, s:{s:i}}", "artifactLocation", "uri", uri_of(path), "region", "startLine",
                         (int)place->ptx_line);
    if (place->offset_bytes >= 0)
        return json_pack("{s:{s:o}, s:{s:I, s:s}}", "artifactLocation", "uri", uri_of(path), "address",
                         "relativeAddress", (json_int_t)place->offset_bytes, "kind", "instruction");
    return json_pack("{s:{s:o}}", "artifactLocation", "uri", uri_of(path));
}

static json_t *location_of(const char *path, const struct wsdbg_lint_kernel *kernel,
                           const struct wsdbg_lint_place *place)
{
    return json_pack("{s:o, s:[{s:o, s:o, s:s}]}", "physicalLocation",
                     physical(path, place, wsdbg_lint_text_is_line_of_file(kernel, place)), "logicalLocations", "name",
                     wsdbg_json_text(kernel->name), "fullyQualifiedName", wsdbg_json_text(kernel->symbol), "kind",
                     "function");
}

static json_t *notes_of(struct wsdbg_json_pieces *pieces, const char *path, const struct wsdbg_lint_kernel *kernel,
                        const struct wsdbg_lint_finding *finding)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < finding->note_count; i++) {
        json_t *note = location_of(path, kernel, &finding->notes[i].place);
        if (!note || json_object_set_new(note, "message",
                                         json_pack("{s:o}", "text", wsdbg_json_text(finding->notes[i].text))) != 0) {
            json_decref(note);
            note = NULL;
        }
        wsdbg_json_keep(pieces, notes, note);
    }
    return notes;
}

/* The sentence, and what to change. */
static json_t *message_of(const struct wsdbg_lint_finding *finding)
{
    char *text;
    if (asprintf(&text, "%s%s%s", finding->message, finding->fix ? ". Fix: " : "", finding->fix ? finding->fix : "") <
        0)
        return NULL;
    json_t *message = wsdbg_json_text(text);
    free(text);
    return message;
}

void wsdbg_lint_sarif_finding(struct wsdbg_lint_sarif *sarif, const char *path, const struct wsdbg_lint_kernel *kernel,
                              const struct wsdbg_lint_finding *finding)
{
    wsdbg_json_element(&sarif->pieces,
                       json_pack("{s:s, s:i, s:s, s:{s:o}, s:[o], s:o}", "ruleId", wsdbg_lint_code_name(finding->code),
                                 "ruleIndex", (int)finding->code, "level", wsdbg_lint_severity_name(finding->severity),
                                 "message", "text", message_of(finding), "locations",
                                 location_of(path, kernel, &finding->place), "relatedLocations",
                                 notes_of(&sarif->pieces, path, kernel, finding)));
}

void wsdbg_lint_sarif_notify(struct wsdbg_lint_sarif *sarif, const char *level, const char *path, const char *text)
{
    const struct wsdbg_lint_place whole = {.offset_bytes = -1};
    sarif->failed = sarif->failed || strcmp(level, "error") == 0;
    wsdbg_json_keep(&sarif->pieces, sarif->notifications,
                    json_pack("{s:s, s:{s:o}, s:[{s:o}]}", "level", level, "message", "text", wsdbg_json_text(text),
                              "locations", "physicalLocation", physical(path, &whole, false)));
}

struct wsdbg_error *wsdbg_lint_sarif_end(struct wsdbg_lint_sarif *sarif)
{
    if (!sarif)
        return NULL;
    fputs("\n],\n", sarif->pieces.out);
    wsdbg_json_member(&sarif->pieces, "invocations",
                      json_pack("[{s:b, s:o}]", "executionSuccessful", !sarif->failed, "toolExecutionNotifications",
                                sarif->notifications));
    fputs("}]}\n", sarif->pieces.out);
    struct wsdbg_error *error = wsdbg_json_check(&sarif->pieces);
    free(sarif);
    return error;
}
