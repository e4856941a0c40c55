/* source_text.c - see source_text.h. */
#include "viewer/source_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TAB_COLUMNS 4
#define CALL_LINES 4 /* lines that a macro's call may take */
#define MACRO_LETTERS 4

void viewer_source_text_deinit(struct viewer_source_text *text)
{
    free(text->path);
    free(text->text);
    free(text->starts);
    *text = (struct viewer_source_text){0};
}

static size_t count_of(const char *text, char wanted)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == wanted;
    return count;
}

/* Copies the text line by line into `out`, which has room for it. */
static void cut(const char *text, struct viewer_source_text *out)
{
    size_t used = 0, column = 0;
    out->starts[out->line_count++] = 0;
    for (; *text; text++) {
        if (*text == '\r' && text[1] == '\n')
            continue;
        if (*text == '\t') {
            do
                out->text[used++] = ' ';
            while (++column % TAB_COLUMNS != 0);
            continue;
        }
        out->text[used++] = *text == '\n' ? '\0' : *text;
        column = *text == '\n' ? 0 : column + 1;
        if (*text == '\n' && text[1])
            out->starts[out->line_count++] = (uint32_t)used;
    }
    out->text[used] = '\0';
}

struct wsdbg_error *viewer_source_text_read(struct viewer_source *source, uint32_t module,
                                            struct viewer_source_text *out)
{
    viewer_source_text_deinit(out);
    if (!source->ops->source_file)
        return NULL;
    const struct viewer_source_file file = source->ops->source_file(source, module);
    if (file.path && !(out->path = strdup(file.path)))
        return &wsdbg_error_no_memory;
    if (!file.text)
        return NULL;
    out->text = malloc(strlen(file.text) + count_of(file.text, '\t') * TAB_COLUMNS + 1);
    out->starts = calloc(count_of(file.text, '\n') + 1, sizeof *out->starts);
    if (!out->text || !out->starts) {
        viewer_source_text_deinit(out);
        return &wsdbg_error_no_memory;
    }
    cut(file.text, out);
    return NULL;
}

const char *viewer_source_text_line(const struct viewer_source_text *text, uint32_t number)
{
    return number >= 1 && number <= text->line_count ? text->text + text->starts[number - 1] : NULL;
}

static bool calls_macro(const char *line)
{
    for (size_t letters = 0; *line; line++) {
        if (*line == '(' && letters >= MACRO_LETTERS)
            return true;
        if (isupper((unsigned char)*line) || (letters > 0 && (isdigit((unsigned char)*line) || *line == '_')))
            letters++;
        else
            letters = 0;
        while (letters == 0 && isalnum((unsigned char)*line) && (isalnum((unsigned char)line[1]) || line[1] == '_'))
            line++;
    }
    return false;
}

bool viewer_source_text_has_probe(const struct viewer_source_text *text, uint32_t number)
{
    for (uint32_t back = 0; back < CALL_LINES && back < number; back++) {
        const char *line = viewer_source_text_line(text, number - back);
        if (!line || (back > 0 && strchr(line, ';'))) /* a statement that has ended reaches no further line */
            return false;
        if (calls_macro(line))
            return true;
    }
    return false;
}
