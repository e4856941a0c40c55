/* text.h - text for a terminal: escaping, display width, cutting. */
#ifndef WSDBG_BASE_TEXT_H
#define WSDBG_BASE_TEXT_H

#include <stddef.h>

/* A copy in which control characters, those that turn the direction of writing, and bytes that are not UTF-8 stand as
 * \n, \t, \xNN: no text from elsewhere does anything to a terminal but stand there.  NULL = no memory. */
char *wsdbg_text_escape(const char *text);
/* The same into `size` bytes, cut where it is longer: also without memory there are words. */
void wsdbg_text_escape_into(const char *text, char *out, size_t size);
/* As the first, but line ends (also CR LF) and tabs stay. */
char *wsdbg_text_escape_lines(const char *text);
/* A copy in which bytes that are not UTF-8 are U+FFFD, for JSON.  NULL = no memory. */
char *wsdbg_text_utf8(const char *text);
/* A copy as the path of a URI: all but letters, digits, "-._~" and "/" stand as %XX.  NULL = no memory. */
char *wsdbg_text_uri_path(const char *path);
/* Columns of escaped text: wide characters count 2, combining ones 0. */
size_t wsdbg_text_width(const char *text);
/* Cuts escaped text in place to `columns`, the last one an ellipsis.  The buffer must hold 3 more bytes. */
void wsdbg_text_cut(char *text, size_t columns);
/* Cuts in the middle instead, for names that differ at their end: keeps less than a third of the columns from the start
 * and fills the rest from the end.  The text takes no more bytes than before, unless it has fewer than the ellipsis. */
void wsdbg_text_cut_middle(char *text, size_t columns);
/* Bytes of escaped text that fit in a line of `columns`, cut after a space where there is one.  0 only for "".  Colours
 * (SGR sequences) in it take no columns. */
size_t wsdbg_text_line_bytes(const char *text, size_t columns);
/* Bytes of the character at `text` (1 for a byte that starts none) and its value (0xfffd then). */
size_t wsdbg_text_next(const char *text, unsigned *character);

#endif
