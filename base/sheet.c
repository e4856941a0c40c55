/* sheet.c - see sheet.h.  Reads: the widths of terminals, NO_COLOR and TERM.  Writes: streams. */
#include "base/sheet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

enum { COLUMNS_LEAST = 20, HANGING = 4 };

size_t wsdbg_sheet_columns(FILE *stream)
{
    struct winsize size;
    const int descriptor = fileno(stream);
    if (descriptor < 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 0;
    return size.ws_col > COLUMNS_LEAST ? size.ws_col : COLUMNS_LEAST;
}

bool wsdbg_sheet_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if ((no_colour && no_colour[0]) || !term || strcmp(term, "dumb") == 0)
        return false;
    return isatty(fileno(stream));
}

struct wsdbg_sheet wsdbg_sheet_on(FILE *file, FILE *reader)
{
    return (struct wsdbg_sheet){
        .file = file, .columns = wsdbg_sheet_columns(reader), .colour = wsdbg_sheet_colour(reader)};
}

static size_t fit(const struct wsdbg_sheet *sheet, size_t most)
{
    return sheet->columns && sheet->columns < most ? sheet->columns : most;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One line of the output, without spaces at its end. */
static void put(const struct wsdbg_sheet *sheet, const char *colour, const char *first, size_t indent, const char *text,
                size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == ' ')
        bytes--;
    fprintf(sheet->file, "%s%s%s", colour ? "\033[" : "", colour ? colour : "", colour ? "m" : "");
    fprintf(sheet->file, "%s%*s%.*s%s\n", first, (int)indent, "", (int)bytes, text, colour ? "\033[0m" : "");
}

void wsdbg_sheet_put(const struct wsdbg_sheet *sheet, const char *colour, const char *first, size_t indent, size_t most,
                     const char *text)
{
    const size_t columns = fit(sheet, most), least = columns / 3;
    const size_t before = wsdbg_text_width(first);
    const bool is_alone = *text && before + least > columns; /* too little room beside it */
    if (is_alone)
        put(sheet, colour, "", 0, first, strlen(first));
    for (const char *at = text; *at;) {
        const bool begins = at == text && !is_alone;
        const size_t margin = begins ? before : smaller(indent, columns - least);
        const size_t room = columns > margin + least ? columns - margin : least;
        const size_t bytes = wsdbg_text_line_bytes(at, room);
        put(sheet, colour, begins ? first : "", begins ? 0 : margin, at, bytes);
        at += bytes;
    }
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    while (*text) {
        const size_t bytes = strcspn(text, "\n");
        char *line = strndup(text, bytes);
        const size_t width = line ? wsdbg_text_width(line) : 0;
        free(line);
        widest = width > widest ? width : widest;
        text += bytes + (text[bytes] == '\n');
    }
    return widest;
}

/* "- ", "2. ": bytes that a line of a list begins with; 0 = it is none. */
static size_t item_bytes(const char *line)
{
    const size_t digits = strspn(line, "0123456789");
    if (line[0] == '-' && line[1] == ' ')
        return 2;
    return digits && strncmp(line + digits, ". ", 2) == 0 ? digits + 2 : 0;
}

/* A line that continues no paragraph: of a list, a table or an example, an empty one, none. */
static bool stands_alone(const char *line)
{
    return !*line || strchr(" \n|", *line) || item_bytes(line);
}

/* Bytes up to the end of the paragraph that begins here. */
static size_t paragraph_bytes(const char *text)
{
    size_t bytes = strcspn(text, "\n");
    while (!strchr(" |", text[0]) && bytes > 0 && text[bytes] && !stands_alone(text + bytes + 1))
        bytes += 1 + strcspn(text + bytes + 1, "\n");
    return bytes;
}

static void put_paragraph(const struct wsdbg_sheet *sheet, const char *text, size_t bytes)
{
    const size_t blanks = strspn(text, " "), margin = smaller(blanks, bytes);
    char *first = strndup(text, margin), *rest = strndup(text + margin, bytes - margin);
    for (char *at = rest; at && *at; at++)
        if (*at == '\n')
            *at = ' ';
    if (first && rest && *rest)
        wsdbg_sheet_put(sheet, NULL, first, margin ? margin + HANGING : item_bytes(rest), sheet->columns, rest);
    else /* empty, or there is no memory */
        fprintf(sheet->file, "%.*s\n", rest ? 0 : (int)bytes, text);
    free(first);
    free(rest);
}

void wsdbg_sheet_put_paragraphs(const struct wsdbg_sheet *sheet, const char *text)
{
    if (!sheet->columns || widest_line(text) <= sheet->columns) {
        fputs(text, sheet->file);
        return;
    }
    while (*text) {
        const size_t bytes = paragraph_bytes(text);
        put_paragraph(sheet, text, bytes);
        text += bytes + (text[bytes] == '\n');
    }
}
