/* html_table.h - a table of the HTML report and its cells, as well-formed XML.  Private to the HTML report. */
#ifndef WSDBG_STORE_HTML_TABLE_H
#define WSDBG_STORE_HTML_TABLE_H

#include <stdio.h>

#include "base/optional.h"
#include "store/report.h"

/* A longer table says how many rows are left out. */
enum { WSDBG_HTML_ROWS_MAX = 100 };

/* `heads`: of the columns, NULL at the end. */
void wsdbg_html_begin_table(const char *label, const char *caption, const char *const *heads, FILE *out);
void wsdbg_html_end_table(size_t left_out, FILE *out);
/* "" and NULL are shown as "?". */
void wsdbg_html_cell(FILE *out, const char *text);
/* Empty where a value would make no sense; "?" is for what is not known. */
void wsdbg_html_blank_cell(FILE *out);
void wsdbg_html_range_cell(FILE *out, struct wsdbg_range range);
void wsdbg_html_u32_cell(FILE *out, struct wsdbg_optional_u32 value);

#endif
