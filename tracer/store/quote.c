/* quote.c - see quote.h. */
#include "store/quote.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char replacement[] = "\xef\xbf\xbd";

static void put_json_character(FILE *out, const char *at, size_t bytes, unsigned character)
{
    if (character == '"' || character == '\\')
        fprintf(out, "\\%c", (int)character);
    else if (character < 0x20)
        fprintf(out, "\\u%04x", character);
    else if (character == 0xfffd)
        fputs(replacement, out);
    else
        fwrite(at, 1, bytes, out);
}

/* Most text is plain: its bytes go out in one piece. */
static size_t plain_bytes(const char *text)
{
    size_t bytes = 0;
    while (text[bytes] >= 0x20 && text[bytes] < 0x7f && text[bytes] != '"' && text[bytes] != '\\')
        bytes++;
    return bytes;
}

void wsdbg_put_json_string(FILE *out, const char *text)
{
    putc('"', out);
    while (*text) {
        size_t bytes = plain_bytes(text);
        if (bytes > 0) {
            fwrite(text, 1, bytes, out);
        } else {
            unsigned character;
            bytes = wsdbg_text_next(text, &character);
            put_json_character(out, text, bytes, character);
        }
        text += bytes;
    }
    putc('"', out);
}

static void put_xml_character(FILE *out, const char *at, size_t bytes, unsigned character)
{
    if (character == '&')
        fputs("&amp;", out);
    else if (character == '<')
        fputs("&lt;", out);
    else if (character == '>')
        fputs("&gt;", out);
    else if (character == '"')
        fputs("&quot;", out);
    else if (character == 0xfffe || character == 0xffff) /* valid UTF-8 that XML forbids */
        fputs(replacement, out);
    else
        fwrite(at, 1, bytes, out);
}

void wsdbg_put_xml(FILE *out, const char *text)
{
    char *clean = wsdbg_text_escape(text);
    size_t bytes;
    for (const char *at = clean; at && *at; at += bytes) {
        unsigned character;
        bytes = wsdbg_text_next(at, &character);
        put_xml_character(out, at, bytes, character);
    }
    free(clean);
}

void wsdbg_print_xml(FILE *out, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    wsdbg_put_xml(out, text);
    free(text);
}

static void put_dot_line(FILE *out, const char *line, size_t bytes)
{
    char *copy = strndup(line, bytes);
    char *clean = copy ? wsdbg_text_escape(copy) : NULL;
    for (const char *at = clean; at && *at; at++) {
        if (*at == '"' || *at == '\\')
            putc('\\', out);
        putc(*at, out);
    }
    free(clean);
    free(copy);
}

void wsdbg_put_dot_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        put_dot_line(out, text, (size_t)(end - text));
        fputs("\\n", out);
    }
    put_dot_line(out, text, strlen(text));
    putc('"', out);
}
