/* lint_fold_test.c - which findings are said once, and how the kernels that share one are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/lint_fold.h"

struct said {
    const char *module, *kernel, *symbol;
    const char *file; /* NULL: a place in the kernel alone */
    unsigned line;
    const char *message, *fix;
};

static void show(void *context, const struct wsdbg_lint_folded *folded)
{
    FILE *out = context;
    fprintf(out, "%s:%u %s (%s", folded->finding.place.file ? folded->finding.place.file : "-",
            folded->finding.place.line, folded->finding.message, folded->subject.kernel);
    if (folded->places_more)
        fprintf(out, " +%zu places", folded->places_more);
    if (folded->kernels_more)
        fprintf(out, " +%zu kernels", folded->kernels_more);
    for (size_t i = 0; i < WSDBG_LINT_ALSO_MOST && folded->also[i]; i++)
        fprintf(out, " %s", folded->also[i]);
    fputs(")\n", out);
}

static void expect(const struct said *said, const char *expected)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct wsdbg_lint_fold *fold = wsdbg_lint_fold_create();
    assert_non_null(fold);
    for (; said->kernel; said++) {
        const struct wsdbg_lint_subject subject = {said->module, said->kernel, said->symbol, false};
        const struct wsdbg_lint_finding finding = {
            .code = WSDBG_LINT_TX_MISMATCH,
            .severity = WSDBG_LINT_ERROR,
            .place = {.offset_bytes = 16, .file = said->file, .line = said->line},
            .message = (char *)said->message,
            .fix = (char *)said->fix,
        };
        assert_true(wsdbg_lint_fold_add(fold, &subject, &finding));
    }
    wsdbg_lint_fold_flush(fold, show, out);
    wsdbg_lint_fold_flush(fold, show, out); /* nothing is left */
    wsdbg_lint_fold_destroy(fold);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void one_line_and_one_sentence_are_one_finding(void **state)
{
    static const struct said said[] = {
        {"m1", "f", "f", "a.cu", 3, "hangs", NULL},
        {"m1", "g", "g", "a.cu", 3, "hangs", NULL},
        {"m1", "h", "h", "a.cu", 3, "hangs", NULL},
        {0},
    };
    (void)state;
    expect(said, "a.cu:3 hangs (f +2 kernels g h)\n");
}

static void another_line_file_sentence_or_advice_is_another(void **state)
{
    static const struct said said[] = {
        {"m1", "f", "f", "a.cu", 3, "hangs", NULL},  {"m1", "g", "g", "a.cu", 4, "hangs", NULL},
        {"m1", "h", "h", "b.cu", 3, "hangs", NULL},  {"m1", "i", "i", "a.cu", 3, "crawls", NULL},
        {"m1", "j", "j", "a.cu", 3, "hangs", "fix"}, {0},
    };
    (void)state;
    expect(said, "a.cu:3 hangs (f)\na.cu:4 hangs (g)\nb.cu:3 hangs (h)\na.cu:3 crawls (i)\na.cu:3 hangs (j)\n");
}

static void without_a_line_nothing_folds(void **state)
{
    static const struct said said[] = {
        {"m1", "f", "f", NULL, 0, "hangs", NULL}, {"m1", "g", "g", NULL, 0, "hangs", NULL}, {0}};
    (void)state;
    expect(said, "-:0 hangs (f)\n-:0 hangs (g)\n");
}

/* Instances of a template differ in the linker's name alone, images of one source in the module. */
static void kernels_of_one_name_are_told_apart(void **state)
{
    static const struct said said[] = {
        {"m1", "f<...>", "_Z1fILi1E", "a.cu", 3, "hangs", NULL},
        {"m1", "f<...>", "_Z1fILi2E", "a.cu", 3, "hangs", NULL},
        {"m2", "f<...>", "_Z1fILi1E", "a.cu", 3, "hangs", NULL},
        {"m3", "g", "g", "a.cu", 3, "hangs", NULL},
        {"m4", "k", "k", "a.cu", 3, "hangs", NULL},
        {0},
    };
    (void)state;
    expect(said, "a.cu:3 hangs (f<...> +4 kernels _Z1fILi2E f<...> (m2) g)\n");
}

static void a_kernel_counts_once_however_often_it_has_the_line(void **state)
{
    static const struct said said[] = {
        {"m1", "f", "f", "a.cu", 3, "hangs", NULL},
        {"m1", "f", "f", "a.cu", 3, "hangs", NULL},
        {"m1", "g", "g", "a.cu", 3, "hangs", NULL},
        {"m1", "g", "g", "a.cu", 3, "hangs", NULL},
        {0},
    };
    (void)state;
    expect(said, "a.cu:3 hangs (f +1 places +1 kernels g)\n");
}

static void what_is_beyond_the_most_is_for_the_caller(void **state)
{
    struct wsdbg_lint_fold *fold = wsdbg_lint_fold_create();
    const struct wsdbg_lint_subject subject = {"", "f", "f", false};
    struct wsdbg_lint_finding finding = {.place = {.file = "a.cu"}, .message = (char *)"hangs"};
    size_t kept = 0;
    (void)state;
    while (kept < 100000 && wsdbg_lint_fold_add(fold, &subject, &finding))
        finding.place.line = (uint32_t)++kept;
    assert_in_range(kept, 1000, 10000);
    finding.place.line = 1; /* one that is known is still counted */
    assert_true(wsdbg_lint_fold_add(fold, &subject, &finding));
    wsdbg_lint_fold_destroy(fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_and_one_sentence_are_one_finding),
        cmocka_unit_test(another_line_file_sentence_or_advice_is_another),
        cmocka_unit_test(without_a_line_nothing_folds),
        cmocka_unit_test(kernels_of_one_name_are_told_apart),
        cmocka_unit_test(a_kernel_counts_once_however_often_it_has_the_line),
        cmocka_unit_test(what_is_beyond_the_most_is_for_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
