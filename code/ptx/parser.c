/* parser.c - see parser.h: what all files of the parser stand on: arrays that grow, errors with their line, and tokens
 * that must be there.
 *
 * Reads the current token; writes the arrays and the lexer's place.
 */
#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void *ptx_append(struct ptx_array *array, size_t size)
{
    if (array->count >= WSDBG_PTX_NONE - 1 || !wsdbg_grow(&array->items, &array->room, array->count + 1, size))
        return NULL;
    return memset((char *)array->items + array->count++ * size, 0, size);
}

struct wsdbg_error *ptx_error(const struct ptx_parser *parser, uint32_t line, const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    if (length < 0)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error =
        wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s:%u: %s", parser->name, (unsigned)line, message);
    free(message);
    return error;
}

struct wsdbg_error *ptx_unexpected(const struct ptx_parser *parser, const char *what)
{
    const struct ptx_token *token = &parser->lexer.token;
    char text[48];
    if (token->kind == PTX_TOKEN_BAD)
        return ptx_error(parser, token->line, "%s", token->reason);
    if (token->kind == PTX_TOKEN_END)
        return ptx_error(parser, token->line, "expected %s, but the text ends", what);
    const size_t length = token->text.length < sizeof text - 1 ? token->text.length : sizeof text - 1;
    memcpy(text, token->text.bytes, length);
    text[length] = '\0';
    return ptx_error(parser, token->line, "expected %s, not %s%s", what, token->kind == PTX_TOKEN_DOTTED ? "." : "",
                     text);
}

struct wsdbg_error *ptx_expect_mark(struct ptx_parser *parser, unsigned mark)
{
    const char text[] = {(char)mark, '\0'};
    return ptx_take_mark(&parser->lexer, mark) ? NULL : ptx_unexpected(parser, text);
}

struct wsdbg_error *ptx_expect_name(struct ptx_parser *parser, struct ptx_slice *name)
{
    if (parser->lexer.token.kind != PTX_TOKEN_NAME)
        return ptx_unexpected(parser, "a name");
    *name = parser->lexer.token.text;
    ptx_lexer_next(&parser->lexer);
    return NULL;
}
