/* text_test.c - text for a terminal and names of kernels: escaping, widths, cutting, demangling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/symbol.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void control_characters_and_broken_utf8_are_escaped(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"plain", "plain"},
                                           {"a\nb\tc", "a\\nb\\tc"},
                                           {"\033[31mred", "\\x1b[31mred"},
                                           {"caf\xc3\xa9", "caf\xc3\xa9"},
                                           {"\xff\xfe", "\\xff\\xfe"},
                                           {"\xc3", "\\xc3"},
                                           {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
                                           {"\xc2\x9b", "\\xc2\\x9b"},
                                           {"\u202eabc\u202c", "\\xe2\\x80\\xaeabc\\xe2\\x80\\xac"},
                                           {"\u2066a\u2069", "\\xe2\\x81\\xa6a\\xe2\\x81\\xa9"},
                                           {"\u200e\u061c", "\\xe2\\x80\\x8e\\xd8\\x9c"},
                                           {"\u2028", "\\xe2\\x80\\xa8"},
                                           {"\u2010 \u0639\u0631", "\u2010 \u0639\u0631"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = wsdbg_text_escape(cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
    char *lines = wsdbg_text_escape_lines("a\n\tb\r\n\033[2J");
    assert_string_equal(lines, "a\n\tb\r\n\\x1b[2J");
    free(lines);
    lines = wsdbg_text_escape_lines("good\rEVIL"); /* a line would be written over */
    assert_string_equal(lines, "good\\x0dEVIL");
    free(lines);
    static const struct {
        size_t size;
        const char *text;
    } cuts[] = {{1, ""}, {2, "a"}, {5, "a"}, {6, "a\\x1b"}, {7, "a\\x1b"}, {8, "a\\x1b\xc3\xa9"}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        char into[16];
        wsdbg_text_escape_into("a\033\xc3\xa9", into, cuts[i].size);
        assert_string_equal(into, cuts[i].text);
    }
    char *text = wsdbg_text_utf8("a\xff\n");
    assert_string_equal(text, "a\xef\xbf\xbd\n");
    free(text);
}

static void paths_in_uris_are_percent_encoded(void **state)
{
    (void)state;
    char *path = wsdbg_text_uri_path("/a b/~c-d_e.cu?#%\xc3\xa9");
    assert_string_equal(path, "/a%20b/~c-d_e.cu%3F%23%25%C3%A9");
    free(path);
}

static void width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(wsdbg_text_width("abc"), 3);
    assert_int_equal(wsdbg_text_width("日本"), 4);
    assert_int_equal(wsdbg_text_width("e\xcc\x81"), 1);
}

static void cutting_ends_with_an_ellipsis(void **state)
{
    (void)state;
    char text[16] = "abcdef";
    wsdbg_text_cut(text, 6);
    assert_string_equal(text, "abcdef");
    wsdbg_text_cut(text, 4);
    assert_string_equal(text, "abc…");
    strcpy(text, "日本語");
    wsdbg_text_cut(text, 4);
    assert_string_equal(text, "日…");
}

static void a_cut_in_the_middle_keeps_the_end(void **state)
{
    (void)state;
    char text[40] = "abcdefghijkl";
    wsdbg_text_cut_middle(text, 12);
    assert_string_equal(text, "abcdefghijkl");
    wsdbg_text_cut_middle(text, 9);
    assert_string_equal(text, "a…ghijkl");
    for (size_t columns = 1; columns < 9; columns++) {
        strcpy(text, "日本語abc");
        wsdbg_text_cut_middle(text, columns);
        assert_true(wsdbg_text_width(text) <= columns && strstr(text, "…"));
    }
}

static void kernel_names_are_read_as_far_as_they_are_certain(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"gemm", "gemm"},
        {"_Z11gemm_kernelPv", "gemm_kernel"},
        {"_Z11gemm_kernelILi128EEvPv", "gemm_kernel<128>"},
        {"_ZL6kernelPv", "kernel"}, /* static */
        {"_ZL6kernelILi4EEvPv", "kernel<4>"},
        {"_ZN2ns6kernelEv", "ns::kernel"},
        {"_ZN7cutlass13device_kernelINS_4gemm6kernelIN4cute5tupleIJiiiEEEEEEEvNT_6ParamsE",
         "cutlass::device_kernel<kernel<(int,int,int)>>"},
        {"_ZN2ns1CILi3EE3runEv", "ns::C<3>::run"},
        {"_Z5plainIN4cute5tupleIJPKfA4_hEEELi64EEvPT_", "plain<(float const*,unsigned char[4]),64>"},
        {"_ZN35_GLOBAL__N__559c553b_6_sym_cu__Z1fv6hiddenINS_1LEEEvPT_", "hidden<L>"},
        {"_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_"
         "10collective13CollectiveMmaINS1_"
         "34MainloopSm90TmaGmmaWarpSpecializedILi4ENS5_IJNS4_1CILi2EEENSA_ILi1EEESC_EEENS1_"
         "35KernelTmaWarpSpecializedCooperativeEEENS5_IJNSA_ILi128EEESG_NSA_ILi64EEEEEENS4_6half_tENS5_IJlSC_lEEEEENS5_"
         "IJPKSJ_RfEEEJNS1_5SchedILNS1_4ModeE1ELb1ELin3EEEEEEEEvNT_6ParamsE",
         "cutlass::device_kernel<GemmUniversal<(int,int,int,int),CollectiveMma<MainloopSm90TmaGmmaWarpSpecialized<4,(2,"
         "1,1),"
         "KernelTmaWarpSpecializedCooperative>,(128,128,64),half_t,(long,1,long)>,(half_t "
         "const*,float&),Sched<1,true,-3>>>"},
        {"_Z6kernelIFvvEEvT_", "kernel<…>"},
        {"_Z6kernelIXadL_Z1fvEEEvv", "kernel<…>"},
        {"_ZN12_GLOBAL__N_16kernelEv", "kernel"},
        {"_ZN37_INTERNAL_b39d3f4d_7_gemm_cu_7f2d28779gemm_bodyEiiPK12gemm_problem", "gemm_body"},
        {"_ZN2ns41_GLOBAL__N__f085d0f8_13_bsrmv_cu_6e47b6156kernelEv", "ns::kernel"},
        {"_ZN2ns1CILNS_4sort5OrderE0EE3runEv", "ns::C<0>::run"},
        {"$_Z4pipePi$_Z4picki", "pick"},
        {"__nv_static_30__1f018a0a_9_second_cu_bdbaa69d__Z6secondb", "second"},
        {"__nv_static_30__1f018a0a_9_second_cu_bdbaa69d_", "__nv_static_30__1f018a0a_9_second_cu_bdbaa69d_"},
        {"__nv_static_99__1f018a0a__Z6secondb", "__nv_static_99__1f018a0a__Z6secondb"},
        {"_Z999kernel", "_Z999kernel"},
        {"_Z", "_Z"},
        {"_ZN", "_ZN"},
        {"", ""},
    };
    static const char *const variables[][2] = {
        {"_ZZ5chainiiPfE4full", "full"},
        {"_ZZ5chainiiPfE4full_0", "full"},
        {"_ZZ5chainiiPfE4full__10_", "full"},
        {"_ZZN2ns1CILi4EE3runENS_1PEE5empty", "empty"},
        {"_ZN2ns3barE", "ns::bar"},
        {"bars", "bars"},
        {"_ZZ5chainiiPfE9full", "_ZZ5chainiiPfE9full"},
        {"_ZZ", "_ZZ"},
        {"_ZZ1kvEs", "_ZZ1kvEs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[256];
        wsdbg_symbol_name(cases[i][0], name, sizeof name);
        assert_string_equal(name, cases[i][1]);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        char name[64];
        wsdbg_symbol_variable(variables[i][0], name, sizeof name);
        assert_string_equal(name, variables[i][1]);
    }
}

/* A session keeps 255 bytes of a name. */
static void of_a_name_that_was_cut_there_is_what_was_kept(void **state)
{
    (void)state;
    static const char expected[] =
        "cutlass::device_kernel<GemmUniversal<tuple,tuple,tuple,tuple,tuple,tuple,tuple,tuple,tuple,"
        "tuple,tuple,tuple,tuple,tuple,tuple,…>>";
    char whole[1024] = "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalI", name[512];
    for (int i = 0; i < 60; i++)
        strcat(whole, "N4cute5tupleE");
    for (size_t kept = 255; kept > 240; kept--) {
        char symbol[256];
        snprintf(symbol, sizeof symbol, "%.*s", (int)kept, whole);
        wsdbg_symbol_name(symbol, name, sizeof name);
        assert_string_equal(name, kept == 255 ? expected : symbol);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_and_broken_utf8_are_escaped),
        cmocka_unit_test(paths_in_uris_are_percent_encoded),
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(cutting_ends_with_an_ellipsis),
        cmocka_unit_test(a_cut_in_the_middle_keeps_the_end),
        cmocka_unit_test(kernel_names_are_read_as_far_as_they_are_certain),
        cmocka_unit_test(of_a_name_that_was_cut_there_is_what_was_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
