/* races.c - see races.h.
 *
 * Reads: the file that sim/libcuda/races.c writes.  Writes: stderr.
 */
#include "cmd/races.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/console.h"
#include "base/sheet.h"
#include "model/symbol.h"

enum { FIELDS = 15, SIDE_FIELDS = 5 };
enum { CODE, KERNEL, MEMORY, FIRST, SECOND = FIRST + SIDE_FIELDS, MISSING = SECOND + SIDE_FIELDS, CHANGE };

struct wsdbg_error *wsdbg_races_begin(bool is_wanted, struct wsdbg_races *out)
{
    *out = (struct wsdbg_races){.folder = {.lock = -1}};
    if (!is_wanted)
        return NULL;
    struct wsdbg_error *error = wsdbg_spool_create(&out->folder);
    if (!error && asprintf(&out->path, "%s/races", out->folder.path) < 0) {
        out->path = NULL;
        error = &wsdbg_error_no_memory;
    }
    return error;
}

void wsdbg_races_end(struct wsdbg_races *races)
{
    wsdbg_spool_destroy(&races->folder);
    free(races->path);
    races->path = NULL;
}

static json_t *text_or_null(const char *text)
{
    return strcmp(text, "?") == 0 ? json_null() : json_string(text);
}

static json_t *side_of(char **fields)
{
    return json_pack("{s:o, s:o, s:s, s:s, s:s}", "cta", text_or_null(fields[0]), "warp",
                     strcmp(fields[1], "?") == 0 ? json_null() : json_integer(atoi(fields[1])), "does", fields[2], "by",
                     fields[3], "place", fields[4]);
}

/* Whether a race of these places is there already. */
static bool is_known(const json_t *rows, char **fields)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *const row = json_array_get(rows, i);
        const char *const places[] = {json_string_value(json_object_get(json_object_get(row, "first"), "place")),
                                      json_string_value(json_object_get(json_object_get(row, "second"), "place"))};
        const char *const here[] = {fields[FIRST + 4], fields[SECOND + 4]};
        const bool is_pair = (strcmp(places[0], here[0]) == 0 && strcmp(places[1], here[1]) == 0) ||
                             (strcmp(places[0], here[1]) == 0 && strcmp(places[1], here[0]) == 0);
        if (is_pair && strcmp(json_string_value(json_object_get(row, "code")), fields[CODE]) == 0 &&
            strcmp(json_string_value(json_object_get(row, "kernel")), fields[KERNEL]) == 0)
            return true;
    }
    return false;
}

static void add_line(json_t *rows, char *line)
{
    char *fields[FIELDS];
    size_t count = 0;
    for (char *field; count < FIELDS && (field = strsep(&line, "\t"));)
        fields[count++] = field;
    if (count != FIELDS || is_known(rows, fields)) /* a line that was cut: its writer was killed */
        return;
    json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:s}", "code", fields[CODE], "kernel",
                                          fields[KERNEL], "memory", fields[MEMORY], "first", side_of(fields + FIRST),
                                          "second", side_of(fields + SECOND), "missing", fields[MISSING], "change",
                                          fields[CHANGE]));
}

json_t *wsdbg_races_read(const struct wsdbg_races *races)
{
    json_t *const rows = json_array();
    FILE *const file = races->path ? fopen(races->path, "re") : NULL;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while (rows && file && (length = getline(&line, &capacity, file)) > 0) {
        line[length - (line[length - 1] == '\n')] = '\0';
        add_line(rows, line);
    }
    free(line);
    if (file)
        fclose(file);
    return rows;
}

static const char *word(const json_t *row, const char *name)
{
    const char *const text = json_string_value(json_object_get(row, name));
    return text ? text : "?";
}

static void put_part(const char *name, const char *text)
{
    char first[16];
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stderr, stderr);
    const int columns = snprintf(first, sizeof first, "  %-8s ", name);
    wsdbg_sheet_put(&sheet, NULL, first, (size_t)columns, SIZE_MAX, text);
}

static void say_side(const char *name, const json_t *side)
{
    const json_t *const warp = json_object_get(side, "warp");
    const bool is_async = strcmp(word(side, "by"), "async") == 0;
    char who[96] = "", *text = NULL;
    if (json_is_integer(warp))
        snprintf(who, sizeof who, "CTA %s warp %d ", word(side, "cta"), (int)json_integer_value(warp));
    if (asprintf(&text, "%s%s%s at %s", who, word(side, "does"), is_async ? " (asynchronously)" : "",
                 word(side, "place")) >= 0)
        put_part(name, text);
    free(text);
}

/* "shared memory: byte 0 of tile", for the symbol of the variable. */
static void write_memory(const char *memory, char *out, size_t bytes)
{
    static const char of[] = " of _Z";
    const char *symbol = strstr(memory, of);
    char name[256];
    symbol = symbol ? symbol + strlen(" of ") : memory + strlen(memory);
    if (*symbol)
        wsdbg_symbol_variable(symbol, name, sizeof name);
    snprintf(out, bytes, "%.*s%s", (int)(symbol - memory), memory, *symbol ? name : "");
}

void wsdbg_races_say(const json_t *rows, bool is_quiet)
{
    const size_t count = json_array_size(rows);
    for (size_t i = 0; i < count; i++) {
        const json_t *const row = json_array_get(rows, i);
        char kernel[256], memory[512];
        wsdbg_symbol_name(word(row, "kernel"), kernel, sizeof kernel);
        write_memory(word(row, "memory"), memory, sizeof memory);
        wsdbg_say("%s in %s: %s", word(row, "code"), kernel, memory);
        say_side("first:", json_object_get(row, "first"));
        say_side("second:", json_object_get(row, "second"));
        put_part("missing:", word(row, "missing"));
        put_part("change:", word(row, "change"));
    }
    if (count)
        wsdbg_say("%zu race%s found", count, count == 1 ? "" : "s");
    else if (!is_quiet)
        wsdbg_say("no race found");
}
