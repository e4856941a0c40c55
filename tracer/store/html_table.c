/* html_table.c - see html_table.h. */
#include "store/html_table.h"

#include "store/quote.h"
#include "store/report_internal.h"

void wsdbg_html_begin_table(const char *label, const char *caption, const char *const *heads, FILE *out)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n<caption>%s</caption>\n"
            "<thead><tr>",
            label, caption);
    for (; *heads; heads++)
        fprintf(out, "<th scope=\"col\">%s</th>", *heads);
    fputs("</tr></thead>\n<tbody>\n", out);
}

void wsdbg_html_end_table(size_t left_out, FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (left_out > 0)
        fprintf(out, "<p class=\"soft\">%zu more rows are left out.</p>\n", left_out);
}

void wsdbg_html_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    wsdbg_put_xml(out, text && *text ? text : "?");
    fputs("</td>", out);
}

void wsdbg_html_blank_cell(FILE *out)
{
    fputs("<td></td>", out);
}

void wsdbg_html_range_cell(FILE *out, struct wsdbg_range range)
{
    char text[48];
    wsdbg_range_text(range, text, sizeof text);
    wsdbg_html_cell(out, text);
}

void wsdbg_html_u32_cell(FILE *out, struct wsdbg_optional_u32 value)
{
    wsdbg_html_range_cell(out, (struct wsdbg_range){value.known, value.value, value.value});
}
