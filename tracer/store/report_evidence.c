/* report_evidence.c - what a finding rests on, as lines: rows that say the same of several warps are one.
 *
 * Reads: a finding's rows.  Writes: lines, text.
 */
#include "store/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARED_MOST = 64 }; /* newest lines that a row is compared with */

static const char warp_word[] = "warp ";

/* "warp 8 (consumer 1) arrived" is 8 and " (consumer 1) arrived"; any other text is -1 and itself. */
static const char *without_warp(const char *text, long *warp)
{
    char *end = NULL;
    *warp = -1;
    if (strncmp(text, warp_word, sizeof warp_word - 1) != 0)
        return text;
    const long number = strtol(text + sizeof warp_word - 1, &end, 10);
    const long most = (long)(sizeof((struct wsdbg_members *)0)->bits * 8);
    if (end == text + sizeof warp_word - 1 || *end != ' ' || number < 0 || number >= most)
        return text;
    *warp = number;
    return end;
}

static bool is_in(const struct wsdbg_members *warps, long warp)
{
    return warps->bits[warp / 64] >> (warp % 64) & 1;
}

static bool says_the_same(const struct wsdbg_evidence_line *line, const struct wsdbg_report_evidence *row)
{
    long first, warp;
    const char *said = without_warp(line->first->text, &first), *says = without_warp(row->text, &warp);
    if ((first < 0) != (warp < 0) || strcmp(said, says) != 0 || strcmp(line->first->place, row->place) != 0)
        return false;
    return warp < 0 || !is_in(&line->warps, warp); /* the same warp of another CTA is another row */
}

static struct wsdbg_evidence_line *line_of(struct wsdbg_evidence_line *lines, size_t count,
                                           const struct wsdbg_report_evidence *row)
{
    for (size_t i = count > COMPARED_MOST ? count - COMPARED_MOST : 0; i < count; i++)
        if (says_the_same(&lines[i], row))
            return &lines[i];
    return NULL;
}

bool wsdbg_report_fold_evidence(struct wsdbg_report_finding *finding)
{
    finding->lines = calloc(finding->evidence_count + 1, sizeof *finding->lines);
    for (size_t i = 0; finding->lines && i < finding->evidence_count; i++) {
        const struct wsdbg_report_evidence *row = &finding->evidence[i];
        struct wsdbg_evidence_line *line = line_of(finding->lines, finding->line_count, row);
        long warp;
        if (!line) {
            line = &finding->lines[finding->line_count++];
            line->first = row;
        }
        line->row_count++;
        without_warp(row->text, &warp);
        if (warp >= 0)
            line->warps.bits[warp / 64] |= (uint64_t)1 << warp % 64;
    }
    return finding->lines;
}

void wsdbg_report_evidence_text(const struct wsdbg_report_evidence *e, char *out, size_t bytes)
{
    const bool place =
        e->place[0] && !strstr(e->text, " at ") && !strstr(e->text, "(line ") && !strstr(e->text, e->place);
    snprintf(out, bytes, "%s%s%s%s", e->text, place ? " (" : "", place ? e->place : "", place ? ")" : "");
}

void wsdbg_report_evidence_line_text(const struct wsdbg_evidence_line *line, char *out, size_t bytes)
{
    char text[WSDBG_PLACE_BYTES + 260], numbers[112];
    long warp;
    wsdbg_report_evidence_text(line->first, text, sizeof text);
    const char *rest = without_warp(text, &warp);
    wsdbg_members_text(&line->warps, numbers, sizeof numbers);
    if (line->row_count == 1)
        snprintf(out, bytes, "%s", text);
    else if (warp < 0)
        snprintf(out, bytes, "%s (%zu times)", text, line->row_count);
    else
        snprintf(out, bytes, "each of warps %s%s", numbers, rest);
}
