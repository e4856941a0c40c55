/* source_text.c - see source_text.h. */
#include "viewer/source_text.h"
#include "viewer/ptx_lines.h"

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
    free(text->text_missing);
    free(text->ptx_missing);
    free(text->origins);
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

static bool copy_words(const struct wsdbg_source_file *file, struct viewer_source_text *out)
{
    const char *const from[] = {file->path, file->text_missing, file->ptx_missing};
    char **const to[] = {&out->path, &out->text_missing, &out->ptx_missing};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        if (from[i] && !(*to[i] = strdup(from[i])))
            return false;
    return true;
}

static bool copy_text(const char *text, struct viewer_source_text *out)
{
    out->text = malloc(strlen(text) + count_of(text, '\t') * TAB_COLUMNS + 1);
    out->starts = calloc(count_of(text, '\n') + 1, sizeof *out->starts);
    if (!out->text || !out->starts)
        return false;
    cut(text, out);
    return true;
}

static bool find_origins(const struct wsdbg_source_file *file, struct viewer_source_text *out)
{
    const uint32_t number = file->path ? viewer_ptx_file(file->ptx, file->path) : 0;
    out->origins = calloc(out->line_count + (size_t)1, sizeof *out->origins);
    if (!out->origins)
        return false;
    for (uint32_t i = 0; i < out->line_count; i++) {
        viewer_ptx_origin(out->text + out->starts[i], number, out->origins[i]);
        out->origin_count += out->origins[i][0] || out->origins[i][1];
    }
    return true;
}

struct wsdbg_error *viewer_source_text_read(struct viewer_source *source, uint32_t module,
                                            struct viewer_source_text *out)
{
    viewer_source_text_deinit(out);
    const struct wsdbg_source_file *file = source->ops->source_file ? source->ops->source_file(source, module) : NULL;
    if (!file)
        return NULL;
    bool copied = copy_words(file, out);
    if (copied && file->text)
        copied = copy_text(file->text, out);
    else if (copied && file->ptx)
        copied = out->is_ptx = copy_text(file->ptx, out) && find_origins(file, out);
    if (copied)
        return NULL;
    viewer_source_text_deinit(out);
    return &wsdbg_error_no_memory;
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

bool viewer_source_text_shows(const struct viewer_source_text *text, uint32_t number, uint32_t site_line)
{
    if (number < 1 || number > text->line_count || site_line == 0)
        return false;
    if (text->is_ptx)
        return text->origins[number - 1][0] == site_line || text->origins[number - 1][1] == site_line;
    return number == site_line && viewer_source_text_has_probe(text, number);
}

uint32_t viewer_source_text_find(const struct viewer_source_text *text, uint32_t site_line)
{
    if (!text->is_ptx)
        return viewer_source_text_shows(text, site_line, site_line) ? site_line : 0;
    for (uint32_t number = 1; number <= text->line_count; number++)
        if (viewer_source_text_shows(text, number, site_line))
            return number;
    return 0;
}
