/* promote_test.c - variables in local memory become registers for who reads a program: which do, and what their loads
 * and stores become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parse.h"

static struct wsdbg_ptx_program *parse(const char *functions, const char *body)
{
    struct wsdbg_ptx_program *program = NULL;
    char text[4096];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90a\n.address_size 64\n%s\n"
             ".entry k(.param .u64 p0) { .local .align 8 .b8 depot[64]; .reg .b64 sp, spl; .reg .b64 d<9>;\n"
             ".reg .b32 r<9>; .reg .b16 h<4>; .reg .pred p<4>; .reg .f32 f<4>;\n"
             "mov.u64 spl, depot; cvta.local.u64 sp, spl; ld.param.u64 d8, [p0];\n%s ret; }\n",
             functions, body);
    struct wsdbg_error *error = wsdbg_ptx_parse_to_follow(text, strlen(text), "a.ptx", &program);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    return program;
}

static bool is_memory(const struct wsdbg_ptx_instruction *instruction)
{
    return (instruction->operation == WSDBG_PTX_OP_ld || instruction->operation == WSDBG_PTX_OP_st) &&
           (instruction->space == WSDBG_PTX_LOCAL || instruction->space == WSDBG_PTX_GENERIC);
}

/* How many loads and stores of local memory, or of generic addresses, are left. */
static unsigned memory_accesses(const struct wsdbg_ptx_program *program)
{
    unsigned count = 0;
    for (size_t i = 0; i < program->instruction_count; i++)
        count += is_memory(&program->instructions[i]);
    return count;
}

static void assert_accesses(const char *functions, const char *body, unsigned left)
{
    struct wsdbg_ptx_program *program = parse(functions, body);
    if (memory_accesses(program) != left)
        fail_msg("%u loads and stores, not %u: %s", memory_accesses(program), left, body);
    wsdbg_ptx_program_destroy(program);
}

static void known_places_become_registers(void **state)
{
    static const struct {
        const char *body;
        unsigned left;
    } rows[] = {
        {"st.local.u32 [depot+4], 5; ld.local.u32 r1, [depot+4];", 0},
        {"st.u32 [sp+4], 5; ld.u32 r1, [sp+4];", 0},
        {"add.u64 d1, sp, 8; st.u32 [d1+4], r1; ld.local.u32 r2, [spl+12];", 0},
        {"mov.b64 d1, sp; add.s64 d2, d1, 16; sub.s64 d3, d2, 8; st.u8 [d3], r1; ld.s8 r2, [d3];", 0},
        {"st.u32 [sp], r1; @p1 st.u32 [sp], r2; ld.u32 r3, [sp];", 0}, /* written twice is a register like others */
        {"setp.ne.s64 p1, sp, 0; st.u32 [sp], 1;", 0},                 /* a comparison takes the address nowhere */
        {"st.u64 [sp], sp; ld.u64 d1, [sp]; st.u32 [d1+8], 1;", 0},    /* the word is stored once: d1 is the address */
        {"st.u64 [sp], d8; ld.u32 r1, [sp]; ld.u32 r2, [sp+4];", 0},   /* as its halves */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_accesses("", rows[i].body, rows[i].left);
}

static void what_does_not_fit_stays(void **state)
{
    static const struct {
        const char *body;
        unsigned left;
    } rows[] = {
        {"st.u32 [sp], 1; ld.u8 r1, [sp+1]; st.u32 [sp+8], 1;", 2},            /* a byte of a word */
        {"st.u64 [sp], d8; ld.u32 r1, [sp+2];", 2},                            /* neither half */
        {"st.v2.u32 [sp], {r1, r2}; ld.u32 r3, [sp+4]; st.u32 [sp+8], 1;", 2}, /* a vector */
        {"st.u32 [sp], 1; ld.u32 r1, [d8];", 1},                               /* the other one is no local memory */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_accesses("", rows[i].body, rows[i].left);
}

static void a_variable_whose_address_leaves_stays(void **state)
{
    static const char *const rows[] = {
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; st.global.u64 [d8], sp;",
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; and.b64 d1, sp, 7;",
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; sub.s64 d1, sp, d8;",
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; mov.b64 {r2, r3}, sp;",
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; mov.b64 d1, sp; @p1 mov.b64 d1, d8;", /* d1 may be either */
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; @p1 mov.b64 d1, sp;",
        "st.u32 [sp+4], 5; ld.u32 r1, [sp+4]; atom.add.u32 r2, [sp+4], 1;",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_accesses("", rows[i], 2);
    /* Two addresses are stored in one word: which of them it holds is not known. */
    assert_accesses("", "st.u64 [sp], sp; @p1 st.u64 [sp], d8; ld.u64 d1, [sp]; st.u32 [d1], 1;", 4);
}

/* An argument of code that is not in the kernel: that may store where it points to.  vprintf stores nothing. */
static void a_variable_whose_address_is_passed_to_unseen_code_stays(void **state)
{
    static const char pass[] = "st.u32 [sp], 1; { .param .b64 a; st.param.b64 [a], sp; %s } ld.u32 r1, [sp];";
    static const struct {
        const char *functions, *call;
        unsigned left;
    } rows[] = {
        {".extern .func f(.param .b64 a);", "call f, (a);", 2},
        {".func g(.param .b64 a) { ret; }",
         ".reg .b64 q; mov.u64 q, g; P: .callprototype _ (.param .b64 _); call q, (a), P;", 2},
        {".func g(.param .b64 a) { ret; }", "call g, (a);", 0},
        {".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);",
         ".param .b32 r; call (r), vprintf, (a, a);", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[512];
        snprintf(body, sizeof body, pass, rows[i].call);
        assert_accesses(rows[i].functions, body, rows[i].left);
    }
}

/* An index counts from the address that it is added to: what lies below is not part of the array. */
static void an_array_stays(void **state)
{
    (void)state;
    assert_accesses("",
                    "st.u32 [sp], 1; ld.u32 r1, [sp]; add.u64 d1, sp, 16; add.s64 d2, d1, d8; st.u32 [d2], r1;\n"
                    "ld.u32 r2, [sp+16]; st.u32 [sp+32], 1;",
                    3);
}

/* An array stays in memory; its generic accesses are known to be local ones.  The address of a function, which no
 * instruction writes, is none of local memory: storing it takes nothing away. */
static void generic_accesses_of_an_array_become_local(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse(".func g() { ret; }", "mov.u64 d3, g; st.global.u64 [d8], d3; add.s64 d2, sp, d8; st.u32 [d2], 1;");
    unsigned local = 0;
    for (size_t i = 0; i < program->instruction_count; i++)
        local += is_memory(&program->instructions[i]) && program->instructions[i].space == WSDBG_PTX_LOCAL;
    assert_int_equal(local, 1);
    wsdbg_ptx_program_destroy(program);
}

static void loads_and_stores_become_moves(void **state)
{
    struct wsdbg_ptx_program *program =
        parse("", "st.u32 [sp], 5; ld.u32 r1, [sp]; st.u8 [sp+4], r2; ld.s8 r3, [sp+4]; @p1 st.f32 [sp+8], f1;\n"
                  "st.u64 [sp+16], d8; ld.u32 r4, [sp+20]; ld.s32 d1, [sp];");
    const struct wsdbg_ptx_instruction *code = program->instructions + 3;
    (void)state;
    assert_int_equal(code[0].operation, WSDBG_PTX_OP_mov);
    assert_int_equal(code[0].operands[1].value, 5);
    assert_int_equal(code[1].operation, WSDBG_PTX_OP_mov);
    assert_int_equal(code[1].operands[1].number, code[0].operands[0].number);
    assert_int_equal(code[2].operation, WSDBG_PTX_OP_cvt); /* the low byte alone */
    assert_int_equal(code[2].source_type, WSDBG_PTX_U8);
    assert_int_equal(code[3].operation, WSDBG_PTX_OP_cvt); /* and its sign */
    assert_int_equal(code[3].type, WSDBG_PTX_S32);
    assert_int_equal(code[3].source_type, WSDBG_PTX_S8);
    assert_int_equal(code[4].operation, WSDBG_PTX_OP_mov);
    assert_int_equal(code[4].type, WSDBG_PTX_F32);
    assert_int_not_equal(code[4].guard, WSDBG_PTX_NONE);
    assert_int_equal(code[5].operands[0].kind, WSDBG_PTX_OPERAND_VECTOR); /* two halves */
    assert_int_equal(program->vectors[code[5].operands[0].number + 1].number, code[6].operands[1].number);
    assert_int_equal(code[7].operation, WSDBG_PTX_OP_cvt); /* to 64 bits */
    assert_int_equal(code[7].type, WSDBG_PTX_S64);
    assert_int_equal(code[7].source_type, WSDBG_PTX_S32);
    const struct wsdbg_ptx_function *kernel = wsdbg_ptx_find_function(program, "k");
    assert_int_equal(kernel->register_types[code[0].operands[0].number], WSDBG_PTX_B32);
    wsdbg_ptx_program_destroy(program);
}

/* Arguments, results, and a variable that is changed through its address. */
static void calls_pass_everything_in_registers(void **state)
{
    static const char functions[] = ".func (.param .b32 r) next(.param .b64 self, .param .align 4 .b8 pair[8])\n"
                                    "{ .reg .b64 d; .reg .b32 a, b; ld.param.u64 d, [self]; ld.param.u32 b, [pair+4];\n"
                                    "ld.u32 a, [d+4]; add.s32 a, a, b; st.u32 [d+4], a; st.param.b32 [r], a; ret; }\n";
    static const char call[] = "{ .param .b64 self; .param .align 4 .b8 pair[8]; .param .b32 out;\n"
                               "add.u64 d1, sp, 8; st.param.b64 [self], d1; st.param.b32 [pair], 1;\n"
                               "st.param.b32 [pair+4], 2; call (out), next, (self, pair); ld.param.b32 r1, [out]; }\n";
    char body[1024];
    snprintf(body, sizeof body, "st.u32 [sp+12], 7; %s %s ld.u32 r2, [sp+12];", call, "");
    (void)state;
    assert_accesses(functions, body, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_places_become_registers),
        cmocka_unit_test(what_does_not_fit_stays),
        cmocka_unit_test(a_variable_whose_address_leaves_stays),
        cmocka_unit_test(an_array_stays),
        cmocka_unit_test(a_variable_whose_address_is_passed_to_unseen_code_stays),
        cmocka_unit_test(loads_and_stores_become_moves),
        cmocka_unit_test(generic_accesses_of_an_array_become_local),
        cmocka_unit_test(calls_pass_everything_in_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
