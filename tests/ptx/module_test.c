/* module_test.c - the directives of a module, and errors: one line that names the text, the line and the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

static void assert_refused(const char *text, const char *message)
{
    struct wsdbg_ptx_program *program = NULL;
    struct wsdbg_error *error = wsdbg_ptx_parse(text, strlen(text), "a.ptx", &program);
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), message);
    assert_null(program);
    wsdbg_error_destroy(error);
}

static void a_module_says_its_version_and_target(void **state)
{
    (void)state;
    static const char text[] = "// a comment\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n";
    struct wsdbg_ptx_program *program = NULL;
    assert_null(wsdbg_ptx_parse(text, sizeof text - 1, "a.ptx", &program));
    assert_int_equal(program->version_major, 9);
    assert_int_equal(program->version_minor, 0);
    assert_int_equal(program->target, 90);
    assert_true(program->target_is_specific);
    assert_int_equal(program->function_count, 0);
    wsdbg_ptx_program_destroy(program);
    static const char older[] = ".version 8.10\n.target sm_80";
    assert_null(wsdbg_ptx_parse(older, sizeof older - 1, "a.ptx", &program));
    assert_int_equal(program->version_minor, 10);
    assert_int_equal(program->target, 80);
    assert_false(program->target_is_specific);
    wsdbg_ptx_program_destroy(program);
}

static void wrong_modules_are_refused(void **state)
{
    (void)state;
    assert_refused("", "a.ptx:1: expected .version at the beginning, but the text ends");
    assert_refused("\x7f"
                   "ELF",
                   "a.ptx:1: a character that PTX does not have");
    assert_refused(".version 12", "a.ptx:1: expected a version such as 8.5, not 12");
    assert_refused(".version 4.2\n.target sm_90", "a.ptx:1: PTX 4.2: versions 6 to 9 can be read");
    assert_refused(".version 8.5\n", "a.ptx:2: expected .target behind .version, but the text ends");
    assert_refused(".version 8.6\n.target sm_100a\n", "a.ptx:2: the text is for sm_100a; the simulator is an sm_90");
    assert_refused(".version 8.6\n.target sm_80a\n", "a.ptx:2: the text is for sm_80a; the simulator is an sm_90");
    assert_refused(".version 8.6\n.target sm_90a\n.address_size 32", "a.ptx:3: addresses of 32 bits; 64 are supported");
    assert_refused(".version 8.6\n.target sm_90a\n.tex .u32 t;", "a.ptx:3: expected a directive of a module, not .tex");
    assert_refused(".version 8.6\n.target sm_90a\nadd.s32 a, b, c;", "a.ptx:3: expected a directive, not add");
    assert_refused(".version 8.6\n.target sm_90a\n/* open", "a.ptx:3: a comment does not end");
    assert_refused(".version 8.6\n.target sm_90a\n.file 1 \"open\n", "a.ptx:3: a string does not end on its line");
}

static void an_error_names_the_instruction(void **state)
{
    (void)state;
    const struct {
        const char *body, *message;
    } rows[] = {
        {"ret;\n  tcgen05.mma.cta_group::1 [%r1],\n\t%r2; // comment",
         "a.ptx:21: of sm_100 or later: the simulated device is an sm_90: tcgen05.mma.cta_group::1 [%r1], %r2"},
        {"add.s33 %r1, %r2, %r3;", "a.ptx:20: suffix .s33 is not one that add has here: add.s33 %r1, %r2, %r3"},
        {"mul.lo %r1, %r2, %r3;", "a.ptx:20: a suffix is missing: mul.lo %r1, %r2, %r3"},
        {"add.s32 %r1, %r2, %d3;", "a.ptx:20: operand 3 is not a 32-bit value: add.s32 %r1, %r2, %d3"},
        {"add.s32 %r1, %r2 %r3;", "a.ptx:20: expected ;, not %r3"},
        {"add.s32 %r1, %r2, %r3", "a.ptx:21: expected ;, not }"},
        {"mov.u32 %r1, k;",
         "a.ptx:20: operand 2 is not a value (k is a function, whose address has 64 bits): mov.u32 %r1, k"},
        {".tex .u32 t;", "a.ptx:20: expected a directive that a body may have, not .tex"},
        {".reg .b256 %q;", "a.ptx:20: expected the type of a register, not .b256"},
        {".reg .b32 %r1; .reg .b32 %q; .reg .b32 %q;", "a.ptx:20: %q is declared twice"},
        {"5;", "a.ptx:20: expected an instruction, not 5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_body_refused(rows[i].body, rows[i].message);
    }
}

static void text_may_hold_zero_bytes_and_end_anywhere(void **state)
{
    (void)state;
    static const char text[] = ".version 8.5\n.target sm_90a\n\0.address_size 64\n";
    struct wsdbg_ptx_program *program = NULL;
    struct wsdbg_error *error = wsdbg_ptx_parse(text, sizeof text - 1, "a.ptx", &program);
    assert_string_equal(wsdbg_error_message(error), "a.ptx:3: a character that PTX does not have");
    wsdbg_error_destroy(error);
    static const char whole[] = ".version 8.5\n.target sm_90a\n.global .u8 a[2] = {1, 2};\n.entry k(.param .u64 p)\n"
                                "{ .reg .b32 %r<2>; l: add.s32 %r0, %r1, 0x10; @!%p bra l; }";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char *copy = malloc(length + 1);
        memcpy(copy, whole, length);
        error = wsdbg_ptx_parse(copy, length, "a.ptx", &program);
        if (!error)
            wsdbg_ptx_program_destroy(program);
        wsdbg_error_destroy(error);
        free(copy);
    }
}

static void too_long_texts_are_refused(void **state)
{
    (void)state;
    const size_t length = ((size_t)64 << 20) + 1;
    char *text = malloc(length);
    memset(text, ' ', length);
    struct wsdbg_ptx_program *program = NULL;
    struct wsdbg_error *error = wsdbg_ptx_parse(text, length, "a.ptx", &program);
    assert_string_equal(wsdbg_error_message(error), "a.ptx:1: PTX text of more than 64 MiB");
    wsdbg_error_destroy(error);
    free(text);
}

/* Short texts that would ask for much: each is refused at once. */
static void texts_that_multiply_are_refused(void **state)
{
    (void)state;
    enum { REPEATED = 20000 };
    const struct {
        const char *before, *repeated, *behind, *message;
    } rows[] = {
        {".entry k() { ", ".reg .b32 %r<1000000>;\n", "}", "a.ptx:8: a function with more than 4194304 registers"},
        {".entry k() { .reg .b32 r; t: .branchtargets ", "l, ", "l; l: ret; }", ""},
        {".func f(.param .b8 a[30000]);\n.entry k() { .param .b8 x[30000];\n", "call f, (x);\n", "}",
         "a.ptx:285: more than 2097152 instructions"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *module = malloc((size_t)REPEATED * 32), *at = stpcpy(module, rows[i].before);
        for (unsigned repeat = 0; repeat < REPEATED; repeat++)
            at = stpcpy(at, rows[i].repeated);
        strcpy(at, rows[i].behind);
        assert_module_refused(module, rows[i].message);
        free(module);
    }
}

/* A thousand branches by a table of ten thousand labels. */
static void too_many_paths_are_refused(void **state)
{
    (void)state;
    char *body = malloc(200000), *at = stpcpy(body, "t: .branchtargets l");
    for (unsigned i = 0; i < 10000; i++)
        at = stpcpy(at, ", l");
    at = stpcpy(at, ";\n");
    for (unsigned i = 0; i < 1000; i++)
        at = stpcpy(at, "@%p1 brx.idx %r1, t;\n");
    strcpy(at, "l: ret;");
    assert_body_refused(body, "a.ptx:21: k branches to more than 8388608 places");
    free(body);
}

static void functions_and_variables_are_found_by_name(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("ret;");
    assert_string_equal(wsdbg_ptx_find_function(program, "k")->name, "k");
    assert_null(wsdbg_ptx_find_function(program, "kk"));
    assert_int_equal(wsdbg_ptx_find_variable(program, "glob")->byte_count, 64);
    assert_null(wsdbg_ptx_find_variable(program, "loc"));
    wsdbg_ptx_program_destroy(program);
    wsdbg_ptx_program_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_says_its_version_and_target),
        cmocka_unit_test(wrong_modules_are_refused),
        cmocka_unit_test(an_error_names_the_instruction),
        cmocka_unit_test(text_may_hold_zero_bytes_and_end_anywhere),
        cmocka_unit_test(too_long_texts_are_refused),
        cmocka_unit_test(texts_that_multiply_are_refused),
        cmocka_unit_test(too_many_paths_are_refused),
        cmocka_unit_test(functions_and_variables_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
