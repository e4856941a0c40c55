/* sheet.h - what people read: lines as wide as the terminal that shows them.
 *
 * A text has a usual width, which it has in files and pipes.  On a terminal that is narrower its lines are broken at
 * the terminal's width, between words.
 */
#ifndef WSDBG_BASE_SHEET_H
#define WSDBG_BASE_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What lines are written on. */
struct wsdbg_sheet {
    FILE *file;
    size_t columns; /* of the terminal that shows them; 0 = none does */
    bool colour;
};

/* Columns of the terminal that a stream is; 0 where it is none, and where its width is not known. */
size_t wsdbg_sheet_columns(FILE *stream);
/* Whether the stream is a terminal that wants colour (NO_COLOR, TERM=dumb). */
bool wsdbg_sheet_colour(FILE *stream);
/* Lines go to `file` and are read on `reader`, which is the same stream unless `file` is memory. */
struct wsdbg_sheet wsdbg_sheet_on(FILE *file, FILE *reader);

/* One text, as lines of at most `most` columns: `first` before the first line, `indent` spaces before the others.  The
 * text is escaped but may have colours of its own (SGR sequences); colour = SGR code of whole lines, NULL = none.
 * Nothing where the text is empty. */
void wsdbg_sheet_put(const struct wsdbg_sheet *sheet, const char *colour, const char *first, size_t indent, size_t most,
                     const char *text);
/* A text of several lines, as it is where all of them fit.  On a terminal that is too narrow, lines that begin without
 * a space are joined to paragraphs, which are broken anew; the other lines are broken each for itself. */
void wsdbg_sheet_put_paragraphs(const struct wsdbg_sheet *sheet, const char *text);

#endif
