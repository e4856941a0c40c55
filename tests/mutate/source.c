/* source.c - see source.h.  Reads PTX text; writes copies of it. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parse.h"
#include "ptx/parser.h"

char *source_read_file(const char *path, size_t *byte_count)
{
    FILE *file = path ? fopen(path, "rbe") : NULL;
    char *bytes = NULL;
    FILE *copy = file ? open_memstream(&bytes, byte_count) : NULL;
    char chunk[1 << 14];
    for (size_t count; copy && (count = fread(chunk, 1, sizeof chunk, file)) > 0;)
        fwrite(chunk, 1, count, copy);
    if (copy)
        fclose(copy);
    if (file)
        fclose(file);
    return bytes;
}

struct wsdbg_error *source_create(const char *text, size_t byte_count, const char *name, struct source *out)
{
    *out = (struct source){.text = malloc(byte_count + 1), .byte_count = byte_count};
    if (!out->text)
        return &wsdbg_error_no_memory;
    memcpy(out->text, text, byte_count);
    out->text[byte_count] = '\0';
    struct wsdbg_error *error = wsdbg_ptx_parse_to_read(text, byte_count, name, &out->program);
    if (error)
        source_destroy(out);
    return error;
}

void source_destroy(struct source *source)
{
    if (source->program)
        wsdbg_ptx_program_destroy(source->program);
    free(source->text);
    *source = (struct source){0};
}

/* The end of the comment or string that begins at `at`; `at` where none begins. */
static size_t behind_quiet(const struct source *source, size_t at)
{
    const char *text = source->text + at;
    const char *end = NULL;
    if (strncmp(text, "//", 2) == 0)
        end = strchr(text, '\n');
    else if (strncmp(text, "/*", 2) == 0 && (end = strstr(text + 2, "*/")))
        end += 2;
    else if (*text == '"' && (end = strchr(text + 1, '"')))
        end++;
    else if (*text != '"')
        return at;
    return end ? (size_t)(end - source->text) : source->byte_count;
}

bool source_statement(const struct source *source, uint32_t instruction, struct span *out)
{
    const struct ptx_storage *storage = source->program->storage;
    size_t at = storage->instruction_text[instruction];
    *out = (struct span){at, at};
    if (source->text[at] == '}')
        return false;
    while (at < source->byte_count && source->text[at] != ';') {
        const size_t behind = behind_quiet(source, at);
        at = behind == at ? at + 1 : behind;
    }
    out->end = at + 1;
    return at < source->byte_count;
}

size_t source_body(const struct source *source, uint32_t instruction)
{
    const struct ptx_storage *storage = source->program->storage;
    const size_t end = storage->instruction_text[instruction];
    size_t body = 0, depth = 0;
    for (size_t at = 0; at < end;) {
        const size_t behind = behind_quiet(source, at);
        if (behind == at) {
            if (source->text[at] == '{' && depth++ == 0)
                body = at + 1;
            if (source->text[at] == '}' && depth)
                depth--;
            at++;
        } else {
            at = behind;
        }
    }
    return depth ? body : 0;
}

static bool is_space(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

static size_t behind_spaces(const struct source *source, size_t at)
{
    while (is_space(source->text[at]) || behind_quiet(source, at) != at)
        at = is_space(source->text[at]) ? at + 1 : behind_quiet(source, at);
    return at;
}

static size_t behind_word(const struct source *source, size_t at)
{
    while (source->text[at] && !is_space(source->text[at]) && source->text[at] != ';')
        at++;
    return at;
}

/* Adds the operand in [begin, end) without the spaces around it; false: no room. */
static bool add_operand(const struct source *source, size_t begin, size_t end, struct words *out)
{
    begin = behind_spaces(source, begin);
    while (end > begin && is_space(source->text[end - 1]))
        end--;
    if (begin >= end)
        return true;
    if (out->operand_count == WORDS_MAX)
        return false;
    out->operand[out->operand_count++] = (struct span){begin, end};
    return true;
}

bool source_words(const struct source *source, struct span statement, struct words *out)
{
    *out = (struct words){0};
    size_t at = statement.begin;
    if (source->text[at] == '@') {
        out->guard = (struct span){at, behind_word(source, at)};
        at = behind_spaces(source, out->guard.end);
    }
    out->opcode = (struct span){at, behind_word(source, at)};
    size_t from = at = out->opcode.end;
    for (int depth = 0; at < statement.end; at++) {
        const char mark = source->text[at];
        depth += (mark == '[' || mark == '{' || mark == '(') - (mark == ']' || mark == '}' || mark == ')');
        if ((mark == ',' && depth == 0) || at + 1 == statement.end) {
            if (!add_operand(source, from, at, out))
                return false;
            from = at + 1;
        }
    }
    return true;
}

/* ---- edits ---- */

bool edits_add(struct edits *edits, struct span span, char *text)
{
    if (!text || edits->count == EDITS_MAX) {
        free(text);
        return false;
    }
    size_t at = edits->count++;
    for (; at && edits->list[at - 1].span.begin > span.begin; at--)
        edits->list[at] = edits->list[at - 1];
    edits->list[at] = (struct edit){span, text};
    return true;
}

void edits_clear(struct edits *edits)
{
    for (size_t i = 0; i < edits->count; i++)
        free(edits->list[i].text);
    edits->count = 0;
}

char *edits_apply(const struct edits *edits, const struct source *source)
{
    size_t byte_count = source->byte_count + 1, from = 0, to = 0;
    for (size_t i = 0; i < edits->count; i++)
        byte_count += strlen(edits->list[i].text);
    char *out = malloc(byte_count);
    for (size_t i = 0; out && i < edits->count; i++) {
        const struct edit *edit = &edits->list[i];
        memcpy(out + to, source->text + from, edit->span.begin - from);
        to += edit->span.begin - from;
        memcpy(out + to, edit->text, strlen(edit->text));
        to += strlen(edit->text);
        from = edit->span.end;
    }
    if (out)
        memcpy(out + to, source->text + from, source->byte_count - from + 1);
    return out;
}
