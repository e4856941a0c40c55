/* cause_page.h - the pages of docs/causes, which are part of the program. */
#ifndef WSDBG_CMD_CAUSE_PAGE_H
#define WSDBG_CMD_CAUSE_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/sheet.h"

/* Whether a word is the code of a cause, in its letters. */
bool wsdbg_cause_is_known(const char *word);
/* The same in letters of any case: the code, and true.  False where there is none: the code is one that is near, or
 * "". */
bool wsdbg_cause_of_word(const char *word, char *code, size_t bytes);
/* Prints the page of a cause as text: headings in bold, examples indented. */
void wsdbg_cause_page_print(const char *code, const struct wsdbg_sheet *out);

/* The first paragraph of the page, or of its part with that heading ("Fix"), as one line without marks of Markdown.
 * NULL = out of memory; "" where there is none.  The caller frees it. */
char *wsdbg_cause_page_paragraph(const char *code, const char *heading);

#endif
