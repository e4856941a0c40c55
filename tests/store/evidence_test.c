/* evidence_test.c - what a finding rests on, as the lines that people read: rows that say the same are one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/report_internal.h"

enum { ROWS_MOST = 8 };

static const struct {
    const char *rows[ROWS_MOST], *places[ROWS_MOST];
    const char *lines;
} cases[] = {
    {{"warp 8 (consumer 1) arrived", "warp 9 (consumer 1) arrived", "warp 11 (consumer 1) arrived"},
     {NULL},
     "each of warps 8-9,11 (consumer 1) arrived\n"},
    {{"warp 8 (consumer 1) arrived", "4 of 8 arrivals", "warp 9 (consumer 1) arrived"},
     {NULL},
     "each of warps 8-9 (consumer 1) arrived\n4 of 8 arrivals\n"},
    {{"second arrival, no wait between", "second arrival, no wait between"},
     {NULL},
     "second arrival, no wait between (2 times)\n"},
    {{"warp 8 (consumer 1) arrived", "warp 9 (consumer 0) arrived"},
     {NULL},
     "warp 8 (consumer 1) arrived\nwarp 9 (consumer 0) arrived\n"},
    /* The same warp of another CTA. */
    {{"warp 8 waits", "warp 8 waits", "warp 9 waits"}, {NULL}, "each of warps 8-9 waits\nwarp 8 waits\n"},
    {{"warp 1 waits", "warp 2 waits"}, {"a.cu:1", "a.cu:2"}, "warp 1 waits (a.cu:1)\nwarp 2 waits (a.cu:2)\n"},
    {{"warp 1 waits", "warp 2 waits"}, {"a.cu:1", "a.cu:1"}, "each of warps 1-2 waits (a.cu:1)\n"},
    /* What is no number of a warp of a CTA, and what begins alike. */
    {{"warp 256 waits", "warp 257 waits"}, {NULL}, "warp 256 waits\nwarp 257 waits\n"},
    {{"warp x waits", "warps 1-2 wait", "warp 1"}, {NULL}, "warp x waits\nwarps 1-2 wait\nwarp 1\n"},
};

static void rows_that_say_the_same_are_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wsdbg_report_evidence rows[ROWS_MOST] = {0};
        struct wsdbg_report_finding finding = {.evidence = rows};
        char lines[1024] = "", line[512];
        for (size_t k = 0; k < ROWS_MOST && cases[i].rows[k]; k++) {
            snprintf(rows[k].text, sizeof rows[k].text, "%s", cases[i].rows[k]);
            snprintf(rows[k].place, sizeof rows[k].place, "%s", cases[i].places[k] ? cases[i].places[k] : "");
            finding.evidence_count++;
        }
        assert_true(wsdbg_report_fold_evidence(&finding));
        for (size_t k = 0; k < finding.line_count; k++) {
            wsdbg_report_evidence_line_text(&finding.lines[k], line, sizeof line);
            strcat(strcat(lines, line), "\n");
        }
        assert_string_equal(lines, cases[i].lines);
        free(finding.lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_say_the_same_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
