/* call_test.c - functions that kernels call: their code in place of the call or behind the kernel's, registers and
 * memory of their own, copies of arguments and results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

static const char twice[] =
    ".func (.param .b32 result) twice(.param .b32 value)\n"
    "{ .reg .b32 a; ld.param.b32 a, [value]; add.s32 a, a, a; st.param.b32 [result], a; ret; }\n";

static struct wsdbg_ptx_program *parse_two(const char *first, const char *second)
{
    char module[2048];
    strcpy(module, first);
    strcat(module, second);
    return parse_module(module);
}

static void assert_text(const struct wsdbg_ptx_program *program, uint32_t instruction, uint16_t operation,
                        int64_t local_address)
{
    const struct wsdbg_ptx_instruction *found = &program->instructions[instruction];
    assert_int_equal(found->operation, operation);
    for (unsigned i = 0; i < found->operand_count; i++)
        if (found->operands[i].kind == WSDBG_PTX_OPERAND_ADDRESS) {
            assert_int_equal(found->operands[i].space, WSDBG_PTX_LOCAL);
            assert_int_equal(found->operands[i].value, local_address);
        }
    if (operation == WSDBG_PTX_OP_ld || operation == WSDBG_PTX_OP_st)
        assert_int_equal(found->space, WSDBG_PTX_LOCAL);
}

static void a_call_copies_arguments_and_results(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_two(twice, ".entry k() { .reg .b32 r; .reg .pred p;\n"
                                                         "{ .param .b32 in; .param .b32 out;\n"
                                                         "st.param.b32 [in], 21;\n"
                                                         "@p call.uni (out), twice, (in);\n"
                                                         "ld.param.b32 r, [out]; } ret; }");
    const struct wsdbg_ptx_function *kernel = wsdbg_ptx_find_function(program, "k");
    const struct wsdbg_ptx_function *callee = wsdbg_ptx_find_function(program, "twice");
    assert_int_equal(kernel->first, 0);
    assert_int_equal(kernel->end, 12);
    assert_false(callee->is_kernel);
    assert_int_equal(callee->end, 0);
    assert_int_equal(kernel->local_bytes, 16); /* in, out; the callee's result at 8, its value at 12 */
    assert_text(program, 0, WSDBG_PTX_OP_st, 0);
    assert_text(program, 1, WSDBG_PTX_OP_ld, 0);
    assert_text(program, 2, WSDBG_PTX_OP_st, 12);
    assert_int_equal(program->instructions[3].operation,
                     WSDBG_PTX_OP_bra); /* in place of the call: lanes that do not call go past the code */
    assert_text(program, 4, WSDBG_PTX_OP_ld, 12);
    assert_text(program, 6, WSDBG_PTX_OP_st, 8);
    assert_int_equal(program->instructions[7].operation, WSDBG_PTX_OP_bra); /* it returns */
    assert_text(program, 8, WSDBG_PTX_OP_ld, 8);
    assert_text(program, 9, WSDBG_PTX_OP_st, 4);
    assert_text(program, 10, WSDBG_PTX_OP_ld, 4);
    assert_int_equal(program->instructions[3].target, 8);
    assert_int_equal(program->instructions[3].reconverge, 8);
    assert_true(program->instructions[3].guard_negated);
    assert_int_equal(program->instructions[7].target, 8);
    static const uint32_t copies[] = {1, 2, 8, 9};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) { /* the guard is that of the call */
        assert_int_equal(program->instructions[copies[i]].guard, program->instructions[3].guard);
        assert_false(program->instructions[copies[i]].guard_negated);
    }
    wsdbg_ptx_program_destroy(program);
}

/* A function that is too large to stand in place of its calls: a loop behind many additions. */
static char *large_function(const char *kernel)
{
    enum { ADDITIONS = 5000 };
    static const char addition[] = "add.s32 r, r, 1;\n";
    char *module = malloc(ADDITIONS * sizeof addition + 1024);
    char *at = stpcpy(module, ".func f() { .reg .b32 r; .reg .pred p;\nl: ");
    for (unsigned i = 0; i < ADDITIONS; i++)
        at = stpcpy(at, addition);
    strcpy(stpcpy(at, "@!p bra l; ret; }\n"), kernel);
    return module;
}

static void a_large_function_is_called(void **state)
{
    (void)state;
    char *module = large_function(".entry k() { call f; call f; ret; }\n");
    struct wsdbg_ptx_program *program = parse_module(module);
    const struct wsdbg_ptx_instruction *code = program->instructions;
    assert_int_equal(wsdbg_ptx_find_function(program, "k")->end, 3 + 5002);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(code[i].operation, WSDBG_PTX_OP_call);
        assert_int_equal(code[i].target, 3);
        assert_string_equal(program->functions[code[i].operands[0].value].name, "f");
    }
    assert_int_equal(code[3 + 5000].target, 3); /* the loop's own branch */
    assert_int_equal(code[3 + 5001].operation, WSDBG_PTX_OP_ret);
    wsdbg_ptx_program_destroy(program);
    free(module);
}

static void each_call_has_its_callees_code(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_module(
        ".func f();\n"
        ".entry a() { .reg .b64 x; .reg .b64 y; mov.b64 x, 1; mov.b64 y, x; call f; ret; }\n" /* 0-2, f: 3-6, 7 */
        ".entry b() { .reg .pred q; mov.pred q, 1; call f; call f; ret; }\n" /* 8, 9, f: 10-13, 14, f: 15-18, 19 */
        ".func f() { .reg .b32 r; .reg .pred p;\n"
        "l: mov.b32 r, 5; @!p bra l; mov.b64 {r, _}, 7; ret; }\n");
    const struct wsdbg_ptx_instruction *code = program->instructions;
    const struct wsdbg_ptx_function *a = wsdbg_ptx_find_function(program, "a");
    const struct wsdbg_ptx_function *b = wsdbg_ptx_find_function(program, "b");
    assert_int_equal(program->instruction_count, 20);
    assert_int_equal(a->end, 8);
    assert_int_equal(b->first, 8);
    assert_int_equal(code[2].operation, WSDBG_PTX_OP_bra);
    assert_int_equal(code[2].target, 3);
    assert_int_equal(code[6].operation, WSDBG_PTX_OP_bra);
    assert_int_equal(code[6].target, 7);
    assert_int_equal(code[13].target, 14);
    assert_int_equal(code[18].target, 19);
    static const uint32_t loops[] = {4, 11, 16}; /* the loop's own branch, in each copy */
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        assert_int_equal(code[loops[i]].target, loops[i] - 1);
        assert_int_equal(code[loops[i]].reconverge, loops[i] + 1);
    }
    assert_int_equal(code[3].operands[0].number, 2); /* behind x and y */
    assert_int_equal(code[4].guard, 3);
    assert_int_equal(code[10].operands[0].number, 1); /* behind q, and the same in both copies: one is active */
    assert_int_equal(code[15].operands[0].number, 1);
    assert_int_equal(code[16].guard, 2);
    assert_int_equal(program->vectors[code[5].operands[0].number].number, 2);
    assert_int_equal(program->vectors[code[17].operands[0].number].number, 1);
    const uint8_t types_of_a[] = {WSDBG_PTX_B64, WSDBG_PTX_B64, WSDBG_PTX_B32, WSDBG_PTX_PRED};
    assert_int_equal(a->register_count, 4);
    assert_memory_equal(a->register_types, types_of_a, 4);
    assert_int_equal(b->register_count, 3);
    wsdbg_ptx_program_destroy(program);
}

static void shared_memory_of_a_callee_is_the_kernels(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_module(".shared .b8 a[4];\n.shared .b8 b[4];\n.shared .b8 c[4];\n"
                                                     ".func f() { .reg .b32 r; mov.b32 r, c; ret; }\n"
                                                     ".entry k() { .reg .b32 r; mov.b32 r, b; call f; ret; }\n");
    assert_int_equal(wsdbg_ptx_find_function(program, "k")->shared_bytes, 8);
    assert_int_equal(program->instructions[0].operands[1].value, 0);
    assert_int_equal(program->instructions[2].operands[1].value, 4);
    wsdbg_ptx_program_destroy(program);
}

static void functions_without_a_body_keep_their_arguments(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_module(".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
                     ".entry k() { .reg .b64 d<2>; .param .b32 r; call (r), vprintf, (d0, 0); ret; }\n");
    assert_text(program, 0, WSDBG_PTX_OP_st, 8 + 8);
    assert_text(program, 1, WSDBG_PTX_OP_st, 8 + 16);
    assert_text(program, 2, WSDBG_PTX_OP_call, 8);
    assert_int_equal(program->instructions[2].target, WSDBG_PTX_NONE);
    wsdbg_ptx_program_destroy(program);
}

static struct wsdbg_ptx_program *parse_to_read(const char *module)
{
    struct wsdbg_ptx_program *program = NULL;
    char text[1024];
    snprintf(text, sizeof text, ".version 8.0\n.target sm_90a\n.address_size 64\n%s", module);
    struct wsdbg_error *error = wsdbg_ptx_parse_to_read(text, strlen(text), "a.ptx", &program);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    return program;
}

/* Nobody follows them: the simulator ends a kernel that executes one. */
static void calls_through_pointers_are_taken(void **state)
{
    static const char module[] =
        ".func f() { ret; }\n.global .u64 table[3] = {f, 0, generic(f)};\n"
        ".entry k() { .reg .b64 p; .reg .b32 r; .reg .pred q; .param .b32 in; .param .b32 out;\n"
        "mov.b64 p, f;\n@q call (out), p, (in), shape;\ncall p, (in), shape;\ncall p, shape;\n"
        "shape: .callprototype (.param .b32 _) _ (.param .b32 _);\nld.param.b32 r, [out];\ncall f;\nret; }\n";
    (void)state;
    struct wsdbg_ptx_program *program = parse_to_read(module);
    const struct wsdbg_ptx_instruction *code = program->instructions;
    assert_int_equal(code[0].operands[1].kind, WSDBG_PTX_OPERAND_REGISTER);
    assert_int_not_equal(code[0].operands[1].number, code[0].operands[0].number);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(code[i].operation, WSDBG_PTX_OP_call);
        assert_int_equal(code[i].target, WSDBG_PTX_NONE);
        assert_int_equal(code[i].operands[0].kind, WSDBG_PTX_OPERAND_REGISTER);
        assert_int_equal(code[i].operands[0].number, code[0].operands[0].number);
    }
    assert_int_not_equal(code[1].guard, WSDBG_PTX_NONE);
    assert_int_equal(code[5].operation, WSDBG_PTX_OP_bra); /* the direct one */
    wsdbg_ptx_program_destroy(program);
    program = parse_module(module);
    assert_int_equal(program->instructions[0].operands[1].kind, WSDBG_PTX_OPERAND_IMMEDIATE);
    assert_int_not_equal(program->instructions[0].operands[1].value, 0); /* code may ask whether there is a function */
    assert_int_equal(program->instructions[1].operands[0].kind, WSDBG_PTX_OPERAND_REGISTER);
    wsdbg_ptx_program_destroy(program);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    assert_module_refused(".func f();\n.func g() { call f; }\n.func f() { call g; }\n.entry k() { call f; }",
                          "a.ptx:5: f calls itself, directly or not: recursion is not supported");
    assert_module_refused(".entry k() { call k; }", "a.ptx:4: k is a kernel, which cannot be called");
    assert_module_refused(".global .b64 d;\n.entry k() {\ncall d; }",
                          "a.ptx:6: d is neither a function nor a register that holds its address");
    assert_module_refused(".func f(.param .b32 a);\n.entry k() {\ncall f; }",
                          "a.ptx:6: f has 0 results and 1 parameters, the call 0 and 0");
    assert_module_refused(".func f(.param .b32 a);\n.entry k() { .reg .b64 d;\ncall f, (d); }",
                          "a.ptx:6: an argument of the call does not fit parameter a");
    assert_module_refused(".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }",
                          "a.ptx:5: f is declared with other parameters before");
    assert_module_refused(".func f() { ret; }\n.func f() { ret; }", "a.ptx:5: f has a body already");
    assert_module_refused(".func f(.reg .b32 a) { ret; }", "a.ptx:4: expected .param, not .reg");
    assert_module_refused(".entry k();", "a.ptx:4: expected {, not ;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_copies_arguments_and_results),
        cmocka_unit_test(a_large_function_is_called),
        cmocka_unit_test(each_call_has_its_callees_code),
        cmocka_unit_test(shared_memory_of_a_callee_is_the_kernels),
        cmocka_unit_test(functions_without_a_body_keep_their_arguments),
        cmocka_unit_test(calls_through_pointers_are_taken),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
