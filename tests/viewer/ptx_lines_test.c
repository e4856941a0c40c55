/* Which lines of a source file the lines of PTX come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "viewer/ptx_lines.h"

static void a_file_is_found_by_its_whole_path(void **state)
{
    (void)state;
    static const char ptx[] = "\t.file\t1 \"/a/gemm.cu\"\n\t.file\t2 \"/b/gemm.cu\", 1700000000, 512\n";
    assert_int_equal(viewer_ptx_file(ptx, "/a/gemm.cu"), 1);
    assert_int_equal(viewer_ptx_file(ptx, "/b/gemm.cu"), 2);
    assert_int_equal(viewer_ptx_file(ptx, "/c/gemm.cu"), 0);
}

static void a_relative_path_is_found_from_its_end(void **state)
{
    (void)state;
    static const char ptx[] = ".file 3 \"/src/kernels/gemm.cu\"\n.file 4 \"probe.h\"";
    assert_int_equal(viewer_ptx_file(ptx, "gemm.cu"), 3);
    assert_int_equal(viewer_ptx_file(ptx, "../kernels/gemm.cu"), 3);
    assert_int_equal(viewer_ptx_file(ptx, "./gemm.cu"), 3);
    assert_int_equal(viewer_ptx_file(ptx, "mm.cu"), 0);
    assert_int_equal(viewer_ptx_file(ptx, "other/gemm.cu"), 0);
    assert_int_equal(viewer_ptx_file(ptx, "/include/probe.h"), 4);
    assert_int_equal(viewer_ptx_file(ptx, ""), 0);
}

static void of_two_files_that_could_be_it_none_is(void **state)
{
    (void)state;
    assert_int_equal(viewer_ptx_file(".file 1 \"/a/gemm.cu\"\n.file 2 \"/b/gemm.cu\"\n", "gemm.cu"), 0);
}

static void what_is_no_file_directive_names_none(void **state)
{
    (void)state;
    assert_int_equal(viewer_ptx_file("// .file 1 \"a.cu\"\n.file \"a.cu\"\n.file 1 a.cu\n.file 0 \"a.cu\"", "a.cu"), 0);
    assert_int_equal(viewer_ptx_file("", "a.cu"), 0);
    assert_int_equal(viewer_ptx_file(".file 99999999999999999999 \"a.cu\"", "a.cu"), 0);
}

static void assert_origin(const char *line, uint32_t own, uint32_t outer)
{
    uint32_t origin[2] = {7, 7};
    viewer_ptx_origin(line, 1, origin);
    assert_int_equal(origin[0], own);
    assert_int_equal(origin[1], outer);
}

static void a_line_names_its_own_origin_and_where_it_was_inlined(void **state)
{
    (void)state;
    assert_origin("\t.loc\t1 132 9", 132, 0);
    assert_origin("    .loc    1 132 9, function_name $L__info_string0, inlined_at 1 140 2", 132, 140);
    assert_origin(".loc 2 57 5, function_name $L__info_string0+12, inlined_at 1 140 2", 0, 140);
    assert_origin(".loc 2 57 5, function_name $L__info_string0, inlined_at 3 140 2", 0, 0);
    assert_origin(".local .b8 x[4];", 0, 0);
    assert_origin("ld.shared.u64 %rd1, [%r1];", 0, 0);
    assert_origin(".loc", 0, 0);
    assert_origin(".loc 1", 0, 0);
}

static void an_unknown_file_has_no_lines(void **state)
{
    (void)state;
    uint32_t origin[2] = {7, 7};
    viewer_ptx_origin(".loc 0 132 9", 0, origin);
    assert_int_equal(origin[0], 0);
    assert_int_equal(origin[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_found_by_its_whole_path),
        cmocka_unit_test(a_relative_path_is_found_from_its_end),
        cmocka_unit_test(of_two_files_that_could_be_it_none_is),
        cmocka_unit_test(what_is_no_file_directive_names_none),
        cmocka_unit_test(a_line_names_its_own_origin_and_where_it_was_inlined),
        cmocka_unit_test(an_unknown_file_has_no_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
