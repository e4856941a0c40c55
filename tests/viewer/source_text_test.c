/* Lines of a module's source, and which of them can be a probe's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "viewer/source_text.h"

struct fake {
    struct viewer_source base;
    struct wsdbg_source_file file;
};

static const struct wsdbg_source_file *source_file(struct viewer_source *source, uint32_t module)
{
    (void)module;
    return &((struct fake *)source)->file;
}

static const struct viewer_source_ops ops = {.name = "fake", .source_file = source_file};

static struct viewer_source_text read_file(struct wsdbg_source_file file)
{
    struct fake fake = {{&ops}, file};
    struct viewer_source_text out = {0};
    assert_null(viewer_source_text_read(&fake.base, 0, &out));
    return out;
}

static struct viewer_source_text read_text(const char *path, const char *text)
{
    return read_file((struct wsdbg_source_file){.path = path, .text = text});
}

static void lines_count_from_one(void **state)
{
    (void)state;
    struct viewer_source_text text = read_text("a.cu", "one\r\n\ttwo\nthree");
    assert_int_equal(text.line_count, 3);
    assert_null(viewer_source_text_line(&text, 0));
    assert_string_equal(viewer_source_text_line(&text, 1), "one");
    assert_string_equal(viewer_source_text_line(&text, 2), "    two");
    assert_string_equal(viewer_source_text_line(&text, 3), "three");
    assert_null(viewer_source_text_line(&text, 4));
    viewer_source_text_deinit(&text);
}

static void a_line_break_at_the_end_begins_no_line(void **state)
{
    (void)state;
    struct viewer_source_text text = read_text("a.cu", "one\n");
    assert_int_equal(text.line_count, 1);
    viewer_source_text_deinit(&text);
}

static void an_unknown_file_is_no_error(void **state)
{
    (void)state;
    struct viewer_source_text text = read_text(NULL, NULL);
    assert_null(text.path);
    assert_null(text.text);
    assert_null(viewer_source_text_line(&text, 1));
    text = read_text("gone.cu", NULL);
    assert_string_equal(text.path, "gone.cu");
    assert_false(viewer_source_text_has_probe(&text, 1));
    viewer_source_text_deinit(&text);
}

static void a_probe_is_a_macro_on_its_line_or_one_that_reaches_it(void **state)
{
    (void)state;
    struct viewer_source_text text = read_text("a.cu", "WSDBG_MBARRIER_WAIT_BEGIN(w, 1, s, p, i);\n" /* 1 */
                                                       "int x = 0;\n"
                                                       "MBARRIER_WAIT(w,\n" /* 3: the author's own macro */
                                                       "              FULL, s,\n"
                                                       "              p, i);\n" /* 5 */
                                                       "call(WSDBG_NO_ITERATION);\n"
                                                       "if (x) (y)(z);\n");
    assert_true(viewer_source_text_has_probe(&text, 1));
    assert_false(viewer_source_text_has_probe(&text, 2));
    assert_true(viewer_source_text_has_probe(&text, 3));
    assert_true(viewer_source_text_has_probe(&text, 5));
    assert_false(viewer_source_text_has_probe(&text, 6));
    assert_false(viewer_source_text_has_probe(&text, 7));
    assert_false(viewer_source_text_has_probe(&text, 99));
    viewer_source_text_deinit(&text);
}

static void a_site_is_shown_at_its_line_if_that_can_be_a_probes(void **state)
{
    (void)state;
    struct viewer_source_text text = read_text("a.cu", "int x;\nWAIT_BEGIN(1);\n");
    assert_false(text.is_ptx);
    assert_int_equal(viewer_source_text_find(&text, 2), 2);
    assert_int_equal(viewer_source_text_find(&text, 1), 0);
    assert_int_equal(viewer_source_text_find(&text, 99), 0);
    assert_int_equal(viewer_source_text_find(&text, 0), 0);
    viewer_source_text_deinit(&text);
}

static const char ptx[] = ".visible .entry k()\n"
                          "{\n"
                          "\t.loc\t1 132 9\n" /* 3 */
                          "\tld.shared.u64 %rd1, [%r1];\n"
                          "\t.loc\t2 57 5, function_name $L__info_string0, inlined_at 1 140 9\n" /* 5 */
                          "\t.loc\t2 132 5\n"
                          "\t.loc\t1 132 20\n" /* 7 */
                          "}\n"
                          "\t.file\t1 \"/src/gemm.cu\"\n"
                          "\t.file\t2 \"/src/wsdbg/probe.h\"\n";

static void ptx_shows_a_site_where_its_line_is_named_or_was_inlined(void **state)
{
    (void)state;
    struct viewer_source_text text =
        read_file((struct wsdbg_source_file){.path = "/src/gemm.cu", .text_missing = "not found", .ptx = ptx});
    assert_true(text.is_ptx);
    assert_string_equal(text.text_missing, "not found");
    assert_int_equal(text.line_count, 10);
    assert_int_equal(text.origin_count, 3);
    assert_int_equal(viewer_source_text_find(&text, 132), 3);
    assert_true(viewer_source_text_shows(&text, 7, 132));
    assert_false(viewer_source_text_shows(&text, 6, 132)); /* line 132 of another file */
    assert_int_equal(viewer_source_text_find(&text, 140), 5);
    assert_int_equal(viewer_source_text_find(&text, 57), 0);
    assert_int_equal(viewer_source_text_find(&text, 0), 0);
    viewer_source_text_deinit(&text);
}

static void ptx_of_an_unknown_source_shows_no_site(void **state)
{
    (void)state;
    struct viewer_source_text text = read_file((struct wsdbg_source_file){.ptx = ptx});
    assert_true(text.is_ptx);
    assert_int_equal(text.origin_count, 0);
    assert_int_equal(viewer_source_text_find(&text, 132), 0);
    viewer_source_text_deinit(&text);
}

static void a_source_is_shown_in_place_of_ptx(void **state)
{
    (void)state;
    struct viewer_source_text text =
        read_file((struct wsdbg_source_file){.path = "a.cu", .text = "WAIT_BEGIN(1);\n", .ptx = ptx});
    assert_false(text.is_ptx);
    assert_int_equal(text.line_count, 1);
    viewer_source_text_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_count_from_one),
        cmocka_unit_test(a_line_break_at_the_end_begins_no_line),
        cmocka_unit_test(an_unknown_file_is_no_error),
        cmocka_unit_test(a_probe_is_a_macro_on_its_line_or_one_that_reaches_it),
        cmocka_unit_test(a_site_is_shown_at_its_line_if_that_can_be_a_probes),
        cmocka_unit_test(ptx_shows_a_site_where_its_line_is_named_or_was_inlined),
        cmocka_unit_test(ptx_of_an_unknown_source_shows_no_site),
        cmocka_unit_test(a_source_is_shown_in_place_of_ptx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
