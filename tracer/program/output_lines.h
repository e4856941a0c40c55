/* output_lines.h - from the bytes a program writes to a terminal to lines of plain text. */
#ifndef WSDBG_PROGRAM_OUTPUT_LINES_H
#define WSDBG_PROGRAM_OUTPUT_LINES_H

#include <stddef.h>

#include "base/error.h"

struct wsdbg_output_lines;

/* `line` is called with each whole line: no control characters, no newline, at most 4095 bytes (a longer one comes in
 * pieces). */
struct wsdbg_error *wsdbg_output_lines_create(void (*line)(void *owner, const char *text), void *owner,
                                              struct wsdbg_output_lines **out);
void wsdbg_output_lines_add(struct wsdbg_output_lines *lines, const char *bytes, size_t count);
/* What came after the last newline: a prompt, a progress bar.  "" = nothing. */
const char *wsdbg_output_lines_unfinished(struct wsdbg_output_lines *lines);
/* Makes a line of what is unfinished. */
void wsdbg_output_lines_finish(struct wsdbg_output_lines *lines);
/* NULL is fine. */
void wsdbg_output_lines_destroy(struct wsdbg_output_lines *lines);

#endif
