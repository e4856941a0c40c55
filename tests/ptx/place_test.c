/* place_test.c - source places: .file, .loc, inlining, and functions' names in .debug_str. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

static const char files[] = ".file 1 \"main.cu\"\n.file 4 \"sync.cuh\", 17, 2048\n";
static const char strings[] = ".section .debug_str\n{\n"
                              "$L__info_string0:\n.b8 119,97,105,116,0\n"
                              "$L__info_string1:\n.b8 97,114\n.b8 114,105,118,101,0\n}\n"
                              ".section .debug_info { .b32 .debug_abbrev\n.b8 1 }\n";

static struct wsdbg_ptx_program *parse_with(const char *body)
{
    char module[1024];
    snprintf(module, sizeof module, ".entry k() { %s }\n%s%s", body, files, strings);
    return parse_module(module);
}

/* "main.cu:12 < wait sync.cuh:7": outermost first, each inlined function before its place. */
static void assert_places(const struct wsdbg_ptx_program *program, uint32_t instruction, const char *expected)
{
    char text[256] = "", longer[256];
    for (uint32_t at = program->instructions[instruction].place; at != WSDBG_PTX_NONE;) {
        const struct wsdbg_ptx_place *place = &program->places[at];
        snprintf(longer, sizeof longer, "%s%s%s:%u%s%.120s", place->function_name ? place->function_name : "",
                 place->function_name ? " " : "", program->files[place->file], (unsigned)place->line,
                 *text ? " < " : "", text);
        strcpy(text, longer);
        at = place->inlined_at;
    }
    assert_string_equal(text, expected);
}

static void places_hold_until_the_next(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_with("bar.sync 0;\n.loc 1 12 5\nbar.sync 1; bar.sync 2;\n.loc 4 7 1\nret;");
    assert_int_equal(program->instructions[0].place, WSDBG_PTX_NONE);
    assert_places(program, 1, "main.cu:12");
    assert_places(program, 2, "main.cu:12");
    assert_places(program, 3, "sync.cuh:7");
    assert_int_equal(program->file_count, 2);
    wsdbg_ptx_program_destroy(program);
}

static void inlined_places_name_their_function(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_with(".loc 1 12 5\n"
                   ".loc 1 40 3, function_name $L__info_string0, inlined_at 1 12 5\nbar.sync 0;\n"
                   ".loc 4 7 9, function_name $L__info_string1, inlined_at 1 40 3\nbar.sync 1;\n"
                   ".loc 4 9 9, function_name $L__info_string1+2, inlined_at 1 99 1\nbar.sync 2;\nret;");
    assert_places(program, 0, "main.cu:12 < wait main.cu:40");
    assert_places(program, 1, "main.cu:12 < wait main.cu:40 < arrive sync.cuh:7");
    assert_places(program, 2, "main.cu:99 < rive sync.cuh:9"); /* a place that no .loc named is not inlined itself */
    wsdbg_ptx_program_destroy(program);
}

/* What is called on several lines and comes of few is a wrapper; the kernel's own line and a longer step are none. */
static void small_functions_of_several_calls_are_wrappers(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_with(".loc 1 12 5\n.loc 4 7 3, function_name $L__info_string0, inlined_at 1 12 5\nbar.sync 0;\n"
                   ".loc 1 19 5\n.loc 4 7 3, function_name $L__info_string0, inlined_at 1 19 5\nbar.sync 1;\n"
                   ".loc 4 9 9, function_name $L__info_string1, inlined_at 1 19 5\nbar.sync 2;\nret;");
    const struct wsdbg_ptx_place *place = &program->places[program->instructions[0].place];
    assert_true(place->is_wrapper);
    assert_false(program->places[place->inlined_at].is_wrapper);
    assert_true(program->places[program->instructions[1].place].is_wrapper);
    assert_false(program->places[program->instructions[2].place].is_wrapper);
    wsdbg_ptx_program_destroy(program);
}

static void the_same_place_is_kept_once(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_with(".loc 1 12 5\nbar.sync 0;\n.loc 1 13 5\nbar.sync 1;\n.loc 1 12 5\nret;");
    assert_int_equal(program->place_count, 2);
    assert_int_equal(program->instructions[0].place, program->instructions[2].place);
    wsdbg_ptx_program_destroy(program);
}

static void wrong_places_are_refused(void **state)
{
    (void)state;
    assert_module_refused(".entry k() {\n.loc 3 1 1\nret; }", "a.ptx:5: file 3 of .loc is not declared");
    assert_module_refused(".file 1 \"a\"\n.entry k() {\n.loc 1 1 1, function_name $none, inlined_at 1 2 3\nret; }",
                          "a.ptx:6: function_name $none is no string of .debug_str");
    assert_module_refused(".file 1 \"a\"\n.entry k() {\n.loc 1 1 1, function_name s, inlined_at 1 2 3\nret; }\n"
                          ".section .debug_str { s: .b8 65,66 }",
                          "a.ptx:6: function_name s is no string of .debug_str");
    assert_module_refused(".entry k() {\n.loc 1 1 1, colour 5\nret; }", "a.ptx:5: a .loc with colour");
    assert_module_refused(".section .debug_str {\n.b8 1", "a.ptx:5: expected }, but the text ends");
    assert_module_refused(".file 1 main.cu", "a.ptx:4: expected a file's name, not main");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_hold_until_the_next),
        cmocka_unit_test(inlined_places_name_their_function),
        cmocka_unit_test(small_functions_of_several_calls_are_wrappers),
        cmocka_unit_test(the_same_place_is_kept_once),
        cmocka_unit_test(wrong_places_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
