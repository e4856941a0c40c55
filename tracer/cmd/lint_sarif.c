/* lint_sarif.c - see lint_sarif.h.  Reads findings and the pages of their codes; writes the stream. */
#include "cmd/lint_sarif.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cause_page.h"
#include "cmd/json_pieces.h"
#include "cmd/lint_text.h"

struct wsdbg_lint_sarif {
    struct wsdbg_json_pieces pieces;
    json_t *rules;                      /* of the codes that were found */
    int numbers[WSDBG_LINT_CODE_COUNT]; /* of each code's rule among them, from 1; 0 = not found yet */
    json_t *notifications;
    bool failed;
};

/* ---- rules ---- */

/* The first `sentences` of the text, as a copy; an end with a colon, behind which an example stood, becomes a stop. */
static json_t *beginning_of(const char *text, unsigned sentences)
{
    size_t length = 0;
    for (; text && text[length] && sentences; length++)
        sentences -= text[length] == '.' && (text[length + 1] == ' ' || !text[length + 1]);
    char *copy = text ? strndup(text, length) : NULL;
    if (copy && length && copy[length - 1] == ':')
        copy[length - 1] = '.';
    json_t *value = copy ? json_string(copy) : NULL;
    free(copy);
    return value;
}

/* What the code means and what to change, in a sentence or two of its page: viewers show that beside every result. */
static json_t *rule_of(enum wsdbg_lint_code code)
{
    const char *name = wsdbg_lint_code_name(code);
    char *meaning = wsdbg_cause_page_paragraph(name, NULL), *fix = wsdbg_cause_page_paragraph(name, "Fix");
    json_t *rule = json_pack("{s:s, s:s, s:{s:o}, s:{s:o}, s:{s:o}}", "id", name, "name", name, "shortDescription",
                             "text", beginning_of(meaning, 1), "fullDescription", "text", beginning_of(meaning, 2),
                             "help", "text", beginning_of(fix, 2));
    free(meaning);
    free(fix);
    return rule;
}

/* Its rule's place among the rules. */
static int number_of(struct wsdbg_lint_sarif *sarif, enum wsdbg_lint_code code)
{
    if (!sarif->numbers[code]) {
        wsdbg_json_keep(&sarif->pieces, sarif->rules, rule_of(code));
        sarif->numbers[code] = (int)json_array_size(sarif->rules);
    }
    return sarif->numbers[code] - 1;
}

struct wsdbg_error *wsdbg_lint_sarif_begin(FILE *out, struct wsdbg_lint_sarif **sarif)
{
    struct wsdbg_lint_sarif *begun = calloc(1, sizeof *begun);
    if (!begun)
        return &wsdbg_error_no_memory;
    *begun = (struct wsdbg_lint_sarif){.pieces = {.out = out}, .rules = json_array(), .notifications = json_array()};
    fputs("{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\", \"runs\": [{\n"
          "\"results\": [",
          out);
    *sarif = begun;
    return NULL;
}

/* ---- results ---- */

/* A file's name as a URI: absolute with its scheme, else relative to where the tool ran. */
static json_t *uri_of(const char *path)
{
    char *encoded = wsdbg_text_uri_path(path);
    json_t *uri = encoded ? json_sprintf("%s%s", path[0] == '/' ? "file://" : "", encoded) : NULL;
    free(encoded);
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

static json_t *location_of(const char *path, const struct wsdbg_lint_subject *subject,
                           const struct wsdbg_lint_place *place)
{
    return json_pack("{s:o, s:[{s:o, s:o, s:s}]}", "physicalLocation",
                     physical(path, place, wsdbg_lint_text_is_line_of_file(subject, place)), "logicalLocations", "name",
                     wsdbg_json_text(subject->kernel), "fullyQualifiedName", wsdbg_json_text(subject->symbol), "kind",
                     "function");
}

/* Takes the message. */
static json_t *related(const char *path, const struct wsdbg_lint_subject *subject, const struct wsdbg_lint_place *place,
                       json_t *message)
{
    json_t *location = location_of(path, subject, place), *text = json_pack("{s:o}", "text", message);
    if (location && text && json_object_set(location, "message", text) == 0) {
        json_decref(text);
        return location;
    }
    json_decref(location);
    json_decref(text);
    return NULL;
}

static json_t *also_text(const char *kernel)
{
    char *text;
    if (asprintf(&text, "also in kernel %s", kernel) < 0)
        return NULL;
    json_t *value = wsdbg_json_text(text);
    free(text);
    return value;
}

/* Adds to the list what it does not hold yet: the standard wants each once.  Takes the location. */
static void keep_new(struct wsdbg_json_pieces *pieces, json_t *all, json_t *location)
{
    size_t i = 0;
    while (location && i < json_array_size(all) && !json_equal(json_array_get(all, i), location))
        i++;
    if (location && i < json_array_size(all))
        json_decref(location);
    else
        wsdbg_json_keep(pieces, all, location);
}

/* Another line of the finding's place: `file` is NULL where there is none. */
static void keep_level(struct wsdbg_json_pieces *pieces, json_t *all, const char *path,
                       const struct wsdbg_lint_folded *folded, const char *file, uint32_t line, const char *text)
{
    struct wsdbg_lint_place level = folded->finding.place;
    level.file = file;
    level.line = line;
    if (file)
        keep_new(pieces, all, related(path, &folded->subject, &level, wsdbg_json_text(text)));
}

static json_t *related_of(struct wsdbg_json_pieces *pieces, const char *path, const struct wsdbg_lint_folded *folded)
{
    const struct wsdbg_lint_subject *subject = &folded->subject;
    const struct wsdbg_lint_finding *finding = &folded->finding;
    const struct wsdbg_lint_place *place = &finding->place;
    json_t *all = json_array();
    keep_level(pieces, all, path, folded, place->inner_file, place->inner_line, "the inlined code itself");
    keep_level(pieces, all, path, folded, place->caller_file, place->caller_line, "inlined at this call");
    for (size_t i = 0; i < finding->note_count; i++)
        keep_new(pieces, all,
                 related(path, subject, &finding->notes[i].place, wsdbg_json_text(finding->notes[i].text)));
    for (size_t i = 0; i < WSDBG_LINT_ALSO_MOST && folded->also[i]; i++)
        keep_new(pieces, all, related(path, subject, &finding->place, also_text(folded->also[i])));
    return all;
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

void wsdbg_lint_sarif_finding(struct wsdbg_lint_sarif *sarif, const char *path, const struct wsdbg_lint_folded *folded)
{
    const struct wsdbg_lint_finding *finding = &folded->finding;
    wsdbg_json_element(&sarif->pieces,
                       json_pack("{s:s, s:i, s:s, s:{s:o}, s:[o], s:o, s:I}", "ruleId",
                                 wsdbg_lint_code_name(finding->code), "ruleIndex", number_of(sarif, finding->code),
                                 "level", wsdbg_lint_severity_name(finding->severity), "message", "text",
                                 message_of(finding), "locations", location_of(path, &folded->subject, &finding->place),
                                 "relatedLocations", related_of(&sarif->pieces, path, folded), "occurrenceCount",
                                 (json_int_t)(1 + folded->places_more + folded->kernels_more)));
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
    wsdbg_json_member(&sarif->pieces, "tool",
                      json_pack("{s:{s:s, s:s, s:o}}", "driver", "name", "wsdbg lint", "version", WSDBG_VERSION,
                                "rules", sarif->rules));
    fputs(",\n", sarif->pieces.out);
    wsdbg_json_member(&sarif->pieces, "invocations",
                      json_pack("[{s:b, s:o}]", "executionSuccessful", !sarif->failed, "toolExecutionNotifications",
                                sarif->notifications));
    fputs("}]}\n", sarif->pieces.out);
    struct wsdbg_error *error = wsdbg_json_check(&sarif->pieces);
    free(sarif);
    return error;
}
