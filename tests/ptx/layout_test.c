/* layout_test.c - where variables and parameters lie, their initial values, and limits of kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

static void assert_variable(const struct wsdbg_ptx_program *program, const char *name, uint8_t space, uint64_t offset,
                            uint64_t byte_count, uint32_t alignment)
{
    const struct wsdbg_ptx_variable *variable = wsdbg_ptx_find_variable(program, name);
    assert_non_null(variable);
    assert_int_equal(variable->space, space);
    assert_int_equal(variable->offset, offset);
    assert_int_equal(variable->byte_count, byte_count);
    assert_int_equal(variable->alignment, alignment);
}

static void module_variables_lie_in_blocks(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_module(".global .u8 a;\n"
                                                     ".visible .global .align 16 .b8 b[20];\n"
                                                     ".const .f64 c;\n"
                                                     ".weak .global .attribute(.managed) .v4 .f32 d[2];\n"
                                                     ".const .u16 e[3][2];\n");
    assert_variable(program, "a", WSDBG_PTX_GLOBAL, 0, 1, 1);
    assert_variable(program, "b", WSDBG_PTX_GLOBAL, 16, 20, 16);
    assert_variable(program, "d", WSDBG_PTX_GLOBAL, 48, 32, 16);
    assert_int_equal(program->global_bytes, 80);
    assert_variable(program, "c", WSDBG_PTX_CONST, 0, 8, 8);
    assert_variable(program, "e", WSDBG_PTX_CONST, 8, 12, 2);
    assert_int_equal(program->const_bytes, 20);
    wsdbg_ptx_program_destroy(program);
}

static void initial_values_are_bytes(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_module(".global .u16 a[4] = {1, -2, 0x1234};\n"
                                                     ".global .f32 f = 0f3f800000;\n"
                                                     ".global .u8 n[2][3] = {{1, 2}, {3}};\n"
                                                     ".global .u32 open[] = {5, 6};\n"
                                                     ".global .u32 z;\n");
    const unsigned char a[] = {1, 0, 0xfe, 0xff, 0x34, 0x12, 0, 0}, f[] = {0, 0, 0x80, 0x3f}, n[] = {1, 2, 0, 3, 0, 0};
    assert_memory_equal(wsdbg_ptx_find_variable(program, "a")->initial, a, sizeof a);
    assert_memory_equal(wsdbg_ptx_find_variable(program, "f")->initial, f, sizeof f);
    assert_memory_equal(wsdbg_ptx_find_variable(program, "n")->initial, n, sizeof n);
    assert_int_equal(wsdbg_ptx_find_variable(program, "open")->byte_count, 8);
    assert_null(wsdbg_ptx_find_variable(program, "z")->initial);
    wsdbg_ptx_program_destroy(program);
    assert_module_refused(".global .u8 a[2] = {1, 2, 3};", "a.ptx:4: a has more values than room");
    assert_module_refused(".global .u8 a[2] = {{1}};", "a.ptx:4: expected a value, not 1");
    assert_module_refused(".shared .u8 a = 1;", "a.ptx:4: a cannot have initial values");
}

/* An address of a function, as a whole and byte by byte: nvcc writes structures so. */
static void addresses_of_functions_are_initial_values(void **state)
{
    struct wsdbg_ptx_program *program = parse_module(
        ".func f() { ret; }\n.func g() { ret; }\n.global .u64 whole[1] = {g};\n"
        ".global .u8 bytes[8] = {0xFF(g), 0xFF00(g), 0xFF0000(g), 0xFF000000(g), 0xFF00000000(g), 0xFF0000000000(g),\n"
        "0xFF000000000000(g), 0xFF00000000000000(g)};\n.entry k() { ret; }\n");
    static const unsigned char none[8];
    (void)state;
    const unsigned char *whole = wsdbg_ptx_find_variable(program, "whole")->initial;
    assert_memory_not_equal(whole, none, sizeof none);
    assert_memory_equal(wsdbg_ptx_find_variable(program, "bytes")->initial, whole, sizeof none);
    wsdbg_ptx_program_destroy(program);
    assert_module_refused(".func f() { ret; }\n.global .u32 half = f;",
                          "a.ptx:5: an address does not fit a value of 4 bytes");
}

static void addresses_in_initial_values_are_relocations(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_module(".global .u32 x;\n.global .u32 y[4];\n"
                                                     ".global .u64 p[3] = {generic(y)+8, 0, x};\n"
                                                     ".global .b8 s[9] = {1, 0xff(y), 0xff00(y), 0xff0000(y)};\n");
    assert_int_equal(program->relocation_count, 5);
    const struct wsdbg_ptx_relocation *first = &program->relocations[0], *last = &program->relocations[4];
    assert_string_equal(program->variables[first->variable].name, "p");
    assert_string_equal(program->variables[first->target].name, "y");
    assert_int_equal(first->offset, 0);
    assert_int_equal(first->addend, 8);
    assert_int_equal(first->byte_count, 8);
    assert_true(first->is_generic);
    assert_int_equal(program->relocations[1].offset, 16);
    assert_false(program->relocations[1].is_generic);
    assert_int_equal(last->offset, 3);
    assert_int_equal(last->byte_count, 1);
    assert_int_equal(last->shift, 16);
    wsdbg_ptx_program_destroy(program);
    assert_module_refused(".global .u64 p = nobody;", "a.ptx:4: nobody is not a variable that was declared");
    assert_module_refused(".global .u32 x;\n.global .u16 p = x;",
                          "a.ptx:5: an address does not fit a value of 2 bytes");
}

/* Static ones in the order of their declaration; dynamic ones begin behind them, aligned. */
static void shared_memory_is_laid_out_for_each_kernel(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_module(".shared .align 4 .b8 a[20];\n"
                                                     ".shared .align 16 .b8 b[8];\n"
                                                     ".extern .shared .align 128 .b8 dynamic[];\n"
                                                     ".entry both() { .reg .b32 %r<3>;\n"
                                                     "mov.b32 %r0, b; mov.b32 %r1, a+4; mov.b32 %r2, dynamic+8; }\n"
                                                     ".entry one() { .reg .b32 %r0; .shared .u64 own;\n"
                                                     "mov.b32 %r0, b; mov.b32 %r0, own; }\n"
                                                     ".entry none() { ret; }\n");
    const struct wsdbg_ptx_instruction *code = program->instructions;
    assert_int_equal(code[0].operands[1].value, 32);
    assert_int_equal(code[1].operands[1].value, 4);
    assert_int_equal(code[2].operands[1].value, 128 + 8);
    assert_int_equal(wsdbg_ptx_find_function(program, "both")->shared_bytes, 128);
    const uint32_t one = wsdbg_ptx_find_function(program, "one")->first;
    assert_int_equal(code[one].operands[1].value, 0);
    assert_int_equal(code[one + 1].operands[1].value, 8);
    assert_int_equal(wsdbg_ptx_find_function(program, "one")->shared_bytes, 16);
    assert_int_equal(wsdbg_ptx_find_function(program, "none")->shared_bytes, 0);
    wsdbg_ptx_program_destroy(program);
}

static void parameters_lie_at_their_alignment(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_module(".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b,\n"
                     ".param .align 64 .b8 c[128], .param .u16 d) { ret; }");
    const struct wsdbg_ptx_function *kernel = wsdbg_ptx_find_function(program, "k");
    const struct {
        const char *name;
        uint32_t offset, byte_count;
    } rows[] = {{"a", 0, 1}, {"b", 8, 8}, {"c", 64, 128}, {"d", 192, 2}};
    assert_int_equal(kernel->parameter_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(kernel->parameters[i].name, rows[i].name);
        assert_int_equal(kernel->parameters[i].offset, rows[i].offset);
        assert_int_equal(kernel->parameters[i].byte_count, rows[i].byte_count);
    }
    assert_int_equal(kernel->parameter_bytes, 194);
    wsdbg_ptx_program_destroy(program);
}

static void limits_of_a_kernel_are_kept(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_module(".entry k()\n.maxntid 384, 1, 1\n.minnctapersm 2\n.maxnreg 168\n.explicitcluster\n"
                     ".reqnctapercluster 2, 1, 1\n{ .local .align 8 .b8 l[20]; ret; }\n"
                     ".entry q() .reqntid 128 { ret; }\n");
    const struct wsdbg_ptx_function *k = wsdbg_ptx_find_function(program, "k");
    assert_true(k->is_kernel);
    assert_int_equal(k->max_threads[0], 384);
    assert_int_equal(k->min_ctas, 2);
    assert_int_equal(k->max_registers, 168);
    assert_int_equal(k->required_cluster[0], 2);
    assert_int_equal(k->required_cluster[2], 1);
    assert_int_equal(k->local_bytes, 20);
    assert_int_equal(k->required_threads[0], 0);
    assert_int_equal(wsdbg_ptx_find_function(program, "q")->required_threads[0], 128);
    assert_int_equal(wsdbg_ptx_find_function(program, "q")->required_threads[2], 1);
    wsdbg_ptx_program_destroy(program);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    assert_module_refused(".const .b8 a[70000];", "a.ptx:4: a: the module's constant memory is more than 64 KiB");
    assert_module_refused(".global .b8 a[0x20000000000];",
                          "a.ptx:4: a dimension must be a whole number from 0 to 1099511627776");
    assert_module_refused(".global .b8 a[1000000][2000000];", "a.ptx:4: a has more than 2^40 bytes");
    assert_module_refused(".global .b8 a[100000000] = {1};", "a.ptx:4: initial values of more than 64 MiB");
    assert_module_refused(".shared .b8 a[300000];\n.entry k() { .reg .b32 r; mov.b32 r, a; }",
                          "a.ptx:4: a: a CTA's shared memory is more than 227 KiB");
    assert_module_refused(".entry k() { .local .b8 a[600000]; }",
                          "a.ptx:4: a: a thread's local memory is more than 512 KiB");
    assert_module_refused(".entry k(.param .b8 a[40000]) { }", "a.ptx:4: more than 32764 bytes of parameters");
    assert_module_refused(".global .align 3 .b8 a;", "a.ptx:4: alignment 3 is no power of two");
    assert_module_refused(".global .u32 a;\n.global .u32 a;", "a.ptx:5: a is declared twice");
    assert_module_refused(".extern .global .u32 a;\n.entry k() { .reg .b64 r;\nmov.b64 r, a; }",
                          "a.ptx:6: a is declared .extern and defined nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_variables_lie_in_blocks),
        cmocka_unit_test(initial_values_are_bytes),
        cmocka_unit_test(addresses_in_initial_values_are_relocations),
        cmocka_unit_test(addresses_of_functions_are_initial_values),
        cmocka_unit_test(shared_memory_is_laid_out_for_each_kernel),
        cmocka_unit_test(parameters_lie_at_their_alignment),
        cmocka_unit_test(limits_of_a_kernel_are_kept),
        cmocka_unit_test(too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
