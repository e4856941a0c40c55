/* output_lines.c - see output_lines.h.
 *
 * Follows the shape of escape sequences (ECMA-48) only to leave them out.  A carriage return starts the line again,
 * as a progress bar means it; what a program draws by moving the cursor comes out as text in the order written.
 */
#include "program/output_lines.h"

#include <stdbool.h>
#include <stdlib.h>

enum { LINE_BYTES = 4096, TAB_COLUMNS = 8, ESCAPE = 0x1b, BELL = 0x07, DELETE = 0x7f };

enum state {
    PLAIN,
    ESCAPED,     /* after ESC */
    CONTROL,     /* ESC [ … up to a byte from @ on */
    STRING,      /* ESC ] and its kin, up to BEL or ESC \ */
    STRING_ENDS, /* ESC inside a string */
};

struct wsdbg_output_lines {
    void (*line)(void *owner, const char *text);
    void *owner;
    enum state state;
    bool restart; /* a carriage return was the last thing */
    size_t length;
    char text[LINE_BYTES];
};

struct wsdbg_error *wsdbg_output_lines_create(void (*line)(void *owner, const char *text), void *owner,
                                              struct wsdbg_output_lines **out)
{
    struct wsdbg_output_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return &wsdbg_error_no_memory;
    lines->line = line;
    lines->owner = owner;
    *out = lines;
    return NULL;
}

static void emit(struct wsdbg_output_lines *lines)
{
    lines->text[lines->length] = '\0';
    lines->line(lines->owner, lines->text);
    lines->length = 0;
    lines->restart = false;
}

static void append(struct wsdbg_output_lines *lines, char byte)
{
    if (lines->restart)
        lines->length = 0;
    lines->restart = false;
    if (lines->length == LINE_BYTES - 1)
        emit(lines);
    lines->text[lines->length++] = byte;
}

/* One character back: all of its bytes. */
static void erase(struct wsdbg_output_lines *lines)
{
    while (lines->length > 0 && ((unsigned char)lines->text[--lines->length] & 0xc0) == 0x80)
        continue;
}

static void add_plain(struct wsdbg_output_lines *lines, unsigned char byte)
{
    if (byte == '\n')
        emit(lines);
    else if (byte == '\r')
        lines->restart = true;
    else if (byte == '\b')
        erase(lines);
    else if (byte == ESCAPE)
        lines->state = ESCAPED;
    else if (byte == '\t')
        do
            append(lines, ' ');
        while (lines->length % TAB_COLUMNS != 0);
    else if (byte >= ' ' && byte != DELETE)
        append(lines, (char)byte);
}

static enum state after_escape(unsigned char byte)
{
    switch (byte) {
    case '[':
        return CONTROL;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return STRING;
    default:
        /* Intermediate bytes ask for one more: ESC ( B. */
        return byte >= 0x20 && byte < 0x30 ? ESCAPED : PLAIN;
    }
}

static void add(struct wsdbg_output_lines *lines, unsigned char byte)
{
    switch (lines->state) {
    case PLAIN:
        add_plain(lines, byte);
        return;
    case ESCAPED:
        lines->state = after_escape(byte);
        return;
    case CONTROL:
        /* A control character ends a broken sequence; it must not swallow the lines that follow. */
        if (byte >= 0x40 || byte < ' ')
            lines->state = PLAIN;
        if (byte < ' ')
            add_plain(lines, byte);
        return;
    case STRING:
        if (byte == BELL || byte == '\n')
            lines->state = PLAIN;
        else if (byte == ESCAPE)
            lines->state = STRING_ENDS;
        return;
    case STRING_ENDS:
        lines->state = byte == '\\' ? PLAIN : STRING;
        return;
    }
}

void wsdbg_output_lines_add(struct wsdbg_output_lines *lines, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(lines, (unsigned char)bytes[i]);
}

const char *wsdbg_output_lines_unfinished(struct wsdbg_output_lines *lines)
{
    lines->text[lines->length] = '\0';
    return lines->text;
}

void wsdbg_output_lines_finish(struct wsdbg_output_lines *lines)
{
    if (lines->length > 0)
        emit(lines);
}

void wsdbg_output_lines_destroy(struct wsdbg_output_lines *lines)
{
    free(lines);
}
