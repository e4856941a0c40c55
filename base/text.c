/* text.c - see text.h.  Pure functions on zero-terminated UTF-8. */
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t sequence_bytes(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Overlong forms, surrogates and values past U+10FFFF. */
static bool forbidden(unsigned value, size_t bytes)
{
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    return value < smallest[bytes] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000);
}

size_t wsdbg_text_next(const char *text, unsigned *character)
{
    const unsigned char *at = (const unsigned char *)text;
    const size_t bytes = sequence_bytes(*at);
    unsigned value = bytes < 2 ? *at : *at & (0x7fu >> bytes);
    *character = 0xfffd;
    if (bytes == 0)
        return 1;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (at[i] & 0x3f);
    }
    if (forbidden(value, bytes))
        return 1;
    *character = value;
    return bytes;
}

static bool invalid(const char *text, unsigned character, size_t bytes)
{
    return character == 0xfffd && bytes == 1 && (unsigned char)*text >= 0x80;
}

/* What moves a terminal's cursor, or turns the order in which it shows what follows. */
static bool is_control(unsigned character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c || character == 0x200e ||
           character == 0x200f || (character >= 0x2028 && character < 0x202f) ||
           (character >= 0x2066 && character < 0x206a);
}

/* Of a line's end a CR is kept; elsewhere it would have the line written over. */
static bool is_kept(const char *text, const char *kept)
{
    return strchr(kept, *text) && (*text != '\r' || text[1] == '\n');
}

enum { ESCAPED_MOST = 16 }; /* bytes of one character, \xNN for each of its four */

/* One character of `text`, of `bytes` bytes, for a terminal; returns its new length. */
static size_t escape_one(const char *text, unsigned character, size_t bytes, const char *kept,
                         char out[ESCAPED_MOST + 1])
{
    const bool is_bad = is_control(character) || invalid(text, character, bytes);
    size_t length = 0;
    if (!is_bad || (bytes == 1 && is_kept(text, kept))) {
        memcpy(out, text, bytes);
        length = bytes;
    } else if (character == '\n' || character == '\t') {
        out[length++] = '\\';
        out[length++] = character == '\n' ? 'n' : 't';
    } else {
        for (size_t i = 0; i < bytes; i++)
            length += (size_t)sprintf(out + length, "\\x%02x", (unsigned char)text[i]);
    }
    return length;
}

static void escape(const char *text, const char *kept, char *out, size_t size)
{
    size_t length = 0;
    while (*text) {
        char one[ESCAPED_MOST + 1];
        unsigned character;
        const size_t bytes = wsdbg_text_next(text, &character);
        const size_t count = escape_one(text, character, bytes, kept, one);
        if (length + count >= size)
            break;
        memcpy(out + length, one, count);
        length += count;
        text += bytes;
    }
    out[length] = '\0';
}

static char *escaped_copy(const char *text, const char *kept)
{
    const size_t size = 4 * strlen(text) + 1;
    char *out = malloc(size);
    if (out)
        escape(text, kept, out, size);
    return out;
}

char *wsdbg_text_escape(const char *text)
{
    return escaped_copy(text, "");
}

void wsdbg_text_escape_into(const char *text, char *out, size_t size)
{
    escape(text, "", out, size);
}

char *wsdbg_text_escape_lines(const char *text)
{
    return escaped_copy(text, "\n\t\r");
}

char *wsdbg_text_utf8(const char *text)
{
    char *out = malloc(3 * strlen(text) + 1);
    size_t length = 0;
    while (out && *text) {
        unsigned character;
        const size_t bytes = wsdbg_text_next(text, &character);
        const bool replace = invalid(text, character, bytes);
        memcpy(out + length, replace ? "\xef\xbf\xbd" : text, replace ? 3 : bytes);
        length += replace ? 3 : bytes;
        text += bytes;
    }
    if (out)
        out[length] = '\0';
    return out;
}

static size_t columns_of(unsigned character)
{
    const bool combining = (character >= 0x300 && character < 0x370) || (character >= 0x200b && character < 0x2010) ||
                           (character >= 0xfe00 && character < 0xfe10) || character == 0xfeff;
    const bool wide = (character >= 0x1100 && character < 0x1160) || (character >= 0x2e80 && character < 0xa4d0) ||
                      (character >= 0xac00 && character < 0xd7a4) || (character >= 0xf900 && character < 0xfb00) ||
                      (character >= 0xfe30 && character < 0xfe70) || (character >= 0xff00 && character < 0xff61) ||
                      (character >= 0x1f300 && character < 0x1f650) || (character >= 0x1f680 && character < 0x1f6fd) ||
                      (character >= 0x1f900 && character < 0x1fb00) || (character >= 0x20000 && character < 0x3fffe);
    return combining ? 0 : wide ? 2 : 1;
}

char *wsdbg_text_uri_path(const char *path)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = malloc(3 * strlen(path) + 1), *at = out;
    for (; out && *path; path++) {
        const unsigned char byte = (unsigned char)*path;
        const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= 'a' && byte <= 'z') || strchr("-._~/", byte);
        *at++ = is_plain ? *path : '%';
        if (!is_plain) {
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        }
    }
    if (out)
        *at = '\0';
    return out;
}

/* Bytes of the sequence for colours at `text`, 0 where there is none.  Escaped text has none. */
static size_t colour_bytes(const char *text)
{
    if (text[0] != '\033' || text[1] != '[')
        return 0;
    const size_t numbers = strspn(text + 2, "0123456789;");
    return text[2 + numbers] == 'm' ? numbers + 3 : 0;
}

size_t wsdbg_text_width(const char *text)
{
    size_t columns = 0;
    while (*text) {
        unsigned character;
        text += wsdbg_text_next(text, &character);
        columns += columns_of(character);
    }
    return columns;
}

void wsdbg_text_cut(char *text, size_t columns)
{
    if (wsdbg_text_width(text) <= columns)
        return;
    size_t used = 0;
    while (*text) {
        unsigned character;
        const size_t bytes = wsdbg_text_next(text, &character);
        if (used + columns_of(character) > columns - 1)
            break;
        used += columns_of(character);
        text += bytes;
    }
    strcpy(text, "…");
}

void wsdbg_text_cut_middle(char *text, size_t columns)
{
    static const char ellipsis[] = "…";
    const size_t begin = columns < 3 ? 1 : columns / 3; /* columns, the ellipsis among them */
    size_t left = wsdbg_text_width(text), used = 0;
    char *middle = text, *end = text;
    unsigned character;
    if (left <= columns)
        return;
    while (used + 2 < begin) { /* the next character may be wide */
        middle += wsdbg_text_next(middle, &character);
        used += columns_of(character);
    }
    const char *const room = middle + sizeof ellipsis - 1; /* so the text grows no longer */
    for (; *end && (left > columns - begin || end < room); left -= columns_of(character))
        end += wsdbg_text_next(end, &character);
    memmove(middle + sizeof ellipsis - 1, end, strlen(end) + 1);
    memcpy(middle, ellipsis, sizeof ellipsis - 1);
}

size_t wsdbg_text_line_bytes(const char *text, size_t columns)
{
    size_t bytes = 0, last_space = 0, width = 0;
    while (text[bytes]) {
        unsigned character;
        const size_t colour = colour_bytes(text + bytes);
        const size_t next = colour ? colour : wsdbg_text_next(text + bytes, &character);
        width += colour ? 0 : columns_of(character);
        if (width > columns && bytes > 0)
            return last_space ? last_space : bytes;
        bytes += next;
        if (!colour && character == ' ')
            last_space = bytes;
    }
    return bytes;
}
