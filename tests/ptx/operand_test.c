/* operand_test.c - the forms of operands and what they become; constants; an instruction's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

static int64_t constant_of(const char *instruction)
{
    struct wsdbg_ptx_program *program = parse_body(instruction);
    const struct wsdbg_ptx_operand operand = program->instructions[0].operands[1];
    assert_int_equal(operand.kind, WSDBG_PTX_OPERAND_IMMEDIATE);
    wsdbg_ptx_program_destroy(program);
    return operand.value;
}

static void constants_have_their_types_bits(void **state)
{
    (void)state;
    const struct {
        const char *instruction;
        int64_t value;
    } rows[] = {
        {"mov.b32 %r1, -1;", -1},
        {"mov.u32 %r1, 0xffffffff;", -1}, /* sign-extended from 32 bits */
        {"mov.u32 %r1, 0x1ffffffff;", -1},
        {"mov.u16 %h1, 65535;", -1},
        {"mov.u64 %d1, 0xffffffff;", 0xffffffff},
        {"mov.s64 %d1, 0x8000000000000000;", INT64_MIN},
        {"mov.b32 %r1, 0b101;", 5},
        {"mov.b32 %r1, 017;", 15},
        {"mov.b32 %r1, 5U;", 5},
        {"mov.b32 %r1, WARP_SZ;", 32},
        {"mov.b32 %r1, (2 + 3) * 4 - 6 / 2;", 17},
        {"mov.b32 %r1, 1 << 4 | 3 & 1;", 17},
        {"mov.b32 %r1, !0 ? ~0 : 3;", -1},
        {"mov.b32 %r1, -7 >> 1;", -4},
        {"mov.b64 %d1, (.u64) -8 >> 62;", 3},
        {"mov.b32 %r1, 3 < 2 || 4 >= 4;", 1},
        {"mov.f32 %f1, 0f3fc00000;", 0x3fc00000},
        {"mov.f32 %f1, 0fbfc00000;", (int32_t)0xbfc00000},
        {"mov.f32 %f1, -1.5;", (int32_t)0xbfc00000},
        {"mov.f32 %f1, 0d3ff8000000000000;", 0x3fc00000},
        {"mov.f64 %e1, 1.5;", 0x3ff8000000000000},
        {"mov.f64 %e1, 0f3fc00000;", 0x3ff8000000000000},
        {"mov.b32 %r1, 0f3fc00000;", 0x3fc00000},
        {"mov.pred %p1, -1;", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (constant_of(rows[i].instruction) != rows[i].value)
            fail_msg("%s gives %lld", rows[i].instruction, (long long)constant_of(rows[i].instruction));
}

static void wrong_constants_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *instruction, *message;
    } rows[] = {
        {"mov.b32 %r1, 0x10000000000000000;", "a.ptx:20: a number is larger than 64 bits"},
        {"mov.b32 %r1, 0x;", "a.ptx:20: a number has no digits"},
        {"mov.b32 %r1, 12ab;", "a.ptx:20: letters follow a number"},
        {"mov.f32 %f1, 0f3fc;", "a.ptx:20: a floating-point number has too few digits"},
        {"mov.b32 %r1, 1 / 0;", "a.ptx:20: a constant expression has no value"},
        {"mov.b32 %r1, 0x8000000000000000 % -1 / 0;", "a.ptx:20: a constant expression has no value"},
        {"mov.b32 %r1, ~1.5;", "a.ptx:20: ~ of a floating-point number"},
        {"mov.b32 %r1, 1.5;", "a.ptx:20: operand 2 is not a 32-bit value: mov.b32 %r1, 1.5"},
        {"mov.f32 %f1, 3;", "a.ptx:20: operand 2 is not an f32 value: mov.f32 %f1, 3"},
        {"mov.b32 %r1, (1;", "a.ptx:20: expected ), not ;"},
        {"mov.b32 %r1, $;", "a.ptx:20: operand 2 is not known ($ is not declared): mov.b32 %r1, $"},
        {"mov.b32 %r1, \\;", "a.ptx:20: a character that PTX does not have"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_body_refused(rows[i].instruction, rows[i].message);
    }
}

/* Every address is a register, or none, and an offset; a variable's own offset is in it. */
static void addresses_are_a_base_and_an_offset(void **state)
{
    (void)state;
    const struct {
        const char *instruction;
        bool has_register;
        uint8_t space;
        int64_t value;
    } rows[] = {
        {"ld.u32 %r1, [%d1];", true, WSDBG_PTX_GENERIC, 0},
        {"ld.u32 %r1, [%d1+16];", true, WSDBG_PTX_GENERIC, 16},
        {"ld.u32 %r1, [%d1+-16];", true, WSDBG_PTX_GENERIC, -16},
        {"ld.u32 %r1, [%d1-16];", true, WSDBG_PTX_GENERIC, -16},
        {"ld.u32 %r1, [%d1+4*4];", true, WSDBG_PTX_GENERIC, 16},
        {"ld.u32 %r1, [4096];", false, WSDBG_PTX_GENERIC, 4096},
        {"ld.param.u32 %r1, [map+4];", false, WSDBG_PTX_PARAM, 68},
        {"ld.global.u32 %r1, [glob+8];", false, WSDBG_PTX_GLOBAL, 8},
        {"ld.const.u32 %r1, [cons+4];", false, WSDBG_PTX_CONST, 4},
        {"ld.local.u32 %r1, [loc];", false, WSDBG_PTX_LOCAL, 0},
        {"mov.u64 %d1, map;", false, WSDBG_PTX_PARAM, 64},
        {"mov.u64 %d1, stat+12;", false, WSDBG_PTX_SHARED, 12},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_ptx_program *program = parse_body(rows[i].instruction);
        const struct wsdbg_ptx_operand *operand = &program->instructions[0].operands[1];
        assert_int_equal(operand->kind, WSDBG_PTX_OPERAND_ADDRESS);
        assert_int_equal(operand->number != WSDBG_PTX_NONE, rows[i].has_register);
        assert_int_equal(operand->space, rows[i].space);
        if (operand->value != rows[i].value)
            fail_msg("%s: offset %lld", rows[i].instruction, (long long)operand->value);
        wsdbg_ptx_program_destroy(program);
    }
}

static void generic_of_a_name_says_so(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("mov.u64 %d1, generic(glob)+4;");
    const struct wsdbg_ptx_operand *operand = &program->instructions[0].operands[1];
    assert_int_equal(operand->from_generic, 1);
    assert_int_equal(operand->value, 4);
    wsdbg_ptx_program_destroy(program);
}

static void vectors_are_elements_of_the_program(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("ld.global.v4.u32 {%r1, _, %r2, %r1}, [%d1];\n"
                                                   "st.global.v2.u32 [%d1], {7, %r2};");
    const struct wsdbg_ptx_operand *loaded = &program->instructions[0].operands[0];
    const struct wsdbg_ptx_operand *stored = &program->instructions[1].operands[1];
    assert_int_equal(loaded->kind, WSDBG_PTX_OPERAND_VECTOR);
    assert_int_equal(loaded->count, 4);
    const struct wsdbg_ptx_operand *elements = &program->vectors[loaded->number];
    assert_int_equal(elements[0].kind, WSDBG_PTX_OPERAND_REGISTER);
    assert_int_equal(elements[1].kind, WSDBG_PTX_OPERAND_NONE);
    assert_int_equal(elements[3].number, elements[0].number);
    assert_int_equal(program->vectors[stored->number].kind, WSDBG_PTX_OPERAND_IMMEDIATE);
    assert_int_equal(program->vectors[stored->number].value, 7);
    assert_int_equal(program->vectors[stored->number + 1].number, elements[2].number);
    wsdbg_ptx_program_destroy(program);
}

static void vector_registers_have_components(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_body(".reg .v2 .f32 v; .reg .v4 .b32 w, x; mov.f32 v.y, %f1; add.f32 v.x, v.y, v.g; "
                   "ld.global.v4.b32 w, [%d1]; st.global.v4.b32 [%d1], w;");
    const struct wsdbg_ptx_instruction *const moved = &program->instructions[0], *const added = &moved[1];
    assert_int_equal(added->operands[0].kind, WSDBG_PTX_OPERAND_REGISTER);
    assert_int_equal(added->operands[1].number, moved->operands[0].number);
    assert_int_equal(added->operands[2].number, moved->operands[0].number); /* .g is .y */
    assert_int_not_equal(added->operands[0].number, moved->operands[0].number);
    const struct wsdbg_ptx_operand *const loaded = &moved[2].operands[0], *const stored = &moved[3].operands[1];
    assert_int_equal(loaded->kind, WSDBG_PTX_OPERAND_VECTOR);
    assert_int_equal(loaded->count, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(program->vectors[loaded->number + i].number, program->vectors[stored->number + i].number);
    wsdbg_ptx_program_destroy(program);
}

static void wrong_components_are_refused(void **state)
{
    (void)state;
    assert_body_refused(".reg .v2 .f32 v; mov.f32 v.z, %f1;", "a.ptx:20: v has no register .z");
    assert_body_refused(".reg .v2 .f32 v; mov.f32 v.xy, %f1;", "a.ptx:20: v has no register .xy");
    assert_body_refused(".reg .v2 .f32 v; mov.f32 %f1, v;",
                        "a.ptx:20: operand 2 is not a vector that makes up the type: mov.f32 %f1, v");
    assert_body_refused(".reg .v2 .b32 v; st.global.v4.b32 [%d1], {v, v, v, v};", "a.ptx:20: a vector of vectors");
    assert_body_refused(".reg .v2 .f32 v<4>;", "a.ptx:20: v is a range of vectors, which is not supported");
    assert_body_refused(".reg .v2 .f32 v, v;", "a.ptx:20: v is declared twice");
}

static void a_tensor_is_its_map_and_coordinates(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_body("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [map, {%r1, 64}], [stat+128];");
    const struct wsdbg_ptx_instruction *instruction = &program->instructions[0];
    assert_int_equal(instruction->operands[0].kind, WSDBG_PTX_OPERAND_TENSOR);
    assert_int_equal(instruction->operands[0].count, 2);
    const struct wsdbg_ptx_operand *elements = &program->vectors[instruction->operands[0].number];
    assert_int_equal(elements[0].kind, WSDBG_PTX_OPERAND_ADDRESS);
    assert_int_equal(elements[0].space, WSDBG_PTX_PARAM);
    assert_int_equal(elements[0].value, 64);
    assert_int_equal(elements[1].kind, WSDBG_PTX_OPERAND_REGISTER);
    assert_int_equal(elements[2].value, 64);
    assert_int_equal(instruction->operands[1].value, 128);
    wsdbg_ptx_program_destroy(program);
}

static void predicates_may_be_negated(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("@!%p1 setp.eq.or.b32 %p2|%p3, %r1, 0, !%p4;");
    const struct wsdbg_ptx_instruction *instruction = &program->instructions[0];
    assert_true(instruction->guard_negated);
    assert_int_not_equal(instruction->guard, WSDBG_PTX_NONE);
    assert_int_equal(instruction->operand_count, 5);
    assert_true(instruction->operands[4].negated);
    assert_false(instruction->operands[0].negated);
    wsdbg_ptx_program_destroy(program);
    char *message = refuse_body("@%r1 ret;");
    assert_string_equal(message, "a.ptx:20: the guard %r1 is no predicate register");
    free(message);
}

static void special_registers_have_their_numbers(void **state)
{
    (void)state;
    const struct {
        const char *instruction;
        uint32_t number;
    } rows[] = {
        {"mov.u32 %r1, %tid.x;", WSDBG_PTX_TID_X},
        {"mov.u32 %r1, %nctaid.z;", WSDBG_PTX_NCTAID_Z},
        {"mov.u32 %r1, %cluster_ctaid.y;", WSDBG_PTX_CLUSTER_CTAID_Y},
        {"mov.u32 %r1, %cluster_ctarank;", WSDBG_PTX_CLUSTER_CTARANK},
        {"mov.u64 %d1, %globaltimer;", WSDBG_PTX_GLOBALTIMER},
        {"mov.u32 %r1, %lanemask_lt;", WSDBG_PTX_LANEMASK_LT},
        {"mov.pred %p1, %is_explicit_cluster;", WSDBG_PTX_IS_EXPLICIT_CLUSTER},
        {"mov.u32 %r1, %dynamic_smem_size;", WSDBG_PTX_DYNAMIC_SMEM_SIZE},
        {"mov.u32 %r1, %envreg2;", WSDBG_PTX_ENVREG_2},
        {"mov.u32 %r1, %reserved_smem_offset_1;", WSDBG_PTX_RESERVED_SMEM_OFFSET_1},
        {"mov.u32 %r1, %reserved_smem_offset_end;", WSDBG_PTX_RESERVED_SMEM_OFFSET_END},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_ptx_program *program = parse_body(rows[i].instruction);
        assert_int_equal(program->instructions[0].operands[1].kind, WSDBG_PTX_OPERAND_SPECIAL);
        assert_int_equal(program->instructions[0].operands[1].number, rows[i].number);
        wsdbg_ptx_program_destroy(program);
    }
    char *message = refuse_body("mov.u32 %r1, %tid.w;");
    assert_non_null(strstr(message, "a.ptx:20: "));
    free(message);
}

static void text_is_one_line_without_comments(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("@%p1\tadd.s32   %r1, // one\n\t%r2, /* two */ 3 ;");
    char text[64], cut[12];
    wsdbg_ptx_text(program, 0, text, sizeof text);
    assert_string_equal(text, "@%p1 add.s32 %r1, %r2, 3");
    wsdbg_ptx_text(program, 0, cut, sizeof cut);
    assert_string_equal(cut, "@%p1 add.s3");
    wsdbg_ptx_text(program, 99, text, sizeof text);
    assert_string_equal(text, "?");
    assert_int_equal(program->instructions[0].text_line, 20);
    wsdbg_ptx_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_have_their_types_bits),     cmocka_unit_test(wrong_constants_are_refused),
        cmocka_unit_test(addresses_are_a_base_and_an_offset),  cmocka_unit_test(generic_of_a_name_says_so),
        cmocka_unit_test(vectors_are_elements_of_the_program), cmocka_unit_test(a_tensor_is_its_map_and_coordinates),
        cmocka_unit_test(vector_registers_have_components),    cmocka_unit_test(wrong_components_are_refused),
        cmocka_unit_test(predicates_may_be_negated),           cmocka_unit_test(special_registers_have_their_numbers),
        cmocka_unit_test(text_is_one_line_without_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
