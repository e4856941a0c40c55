/* text.c - an instruction as one line, from the text it was read from.  See parse.h. */
#include <stdio.h>

#include "ptx/parse.h"
#include "ptx/parser.h"

/* Behind a comment that begins at `at`, else `at`. */
static const char *behind_comment(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return at;
    const bool is_line = at[1] == '/';
    for (at += 2; at < end; at++) {
        if (is_line && *at == '\n')
            return at;
        if (!is_line && at[0] == '*' && at + 1 < end && at[1] == '/')
            return at + 2;
    }
    return end;
}

void ptx_statement_text(const char *at, const char *end, char *out, size_t byte_count)
{
    size_t length = 0;
    bool gap = false;
    while (at < end && *at != ';') {
        const char *behind = behind_comment(at, end);
        if (behind != at || *at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
            gap = true;
            at = behind != at ? behind : at + 1;
            continue;
        }
        if (gap && length && length + 1 < byte_count)
            out[length++] = ' ';
        gap = false;
        if (length + 1 < byte_count)
            out[length++] = *at >= ' ' && *at <= '~' ? *at : '?';
        at++;
    }
    if (byte_count)
        out[length] = '\0';
}

void wsdbg_ptx_text(const struct wsdbg_ptx_program *program, uint32_t instruction, char *out, size_t byte_count)
{
    const struct ptx_storage *storage = program->storage;
    if (instruction >= program->instruction_count) {
        snprintf(out, byte_count, "?");
        return;
    }
    const char *at = storage->text + storage->instruction_text[instruction];
    if (*at == '}') /* a function's end, which returns */
        snprintf(out, byte_count, "ret");
    else
        ptx_statement_text(at, storage->text + storage->text_length, out, byte_count);
}
