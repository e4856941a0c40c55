/* scope_test.c - names: registers, ranges, variables and labels in nested blocks, as inline assembly makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/parsed.h"

static uint32_t register_of(const struct wsdbg_ptx_program *program, uint32_t instruction, unsigned operand)
{
    const struct wsdbg_ptx_operand *found = &program->instructions[instruction].operands[operand];
    assert_int_equal(found->kind, WSDBG_PTX_OPERAND_REGISTER);
    return found->number;
}

static void a_block_hides_the_names_around_it(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body(".reg .b32 a;\n"
                                                   "mov.b32 a, 1;\n" /* 0 */
                                                   "{ .reg .b32 a;\n"
                                                   "  mov.b32 a, 2; }\n" /* 1 */
                                                   "{ .reg .pred a;\n"
                                                   "  mov.pred a, 1; }\n" /* 2 */
                                                   "mov.b32 a, 3;\n");    /* 3 */
    assert_int_equal(register_of(program, 0, 0), register_of(program, 3, 0));
    assert_int_not_equal(register_of(program, 0, 0), register_of(program, 1, 0));
    const struct wsdbg_ptx_function *kernel = wsdbg_ptx_find_function(program, "k");
    assert_int_equal(kernel->register_types[register_of(program, 1, 0)], WSDBG_PTX_B32);
    assert_int_equal(kernel->register_types[register_of(program, 2, 0)], WSDBG_PTX_PRED);
    assert_int_equal(kernel->register_count, 3);
    wsdbg_ptx_program_destroy(program);
    assert_body_refused("{ .reg .b32 a;\n}\nmov.b32 a, 1;",
                        "a.ptx:22: operand 1 is not known (a is not declared): mov.b32 a, 1");
}

/* The same label in every block of inline assembly; the branch goes to its own block's. */
static void labels_belong_to_their_block(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("{ again: mov.b32 %r1, 1;\n" /* 0 */
                                                   "  bra again; }\n"           /* 1 */
                                                   "{ bra again;\n"             /* 2 */
                                                   "  again: bra out; }\n"      /* 3 */
                                                   "{{ bra again; }\n"          /* 4 */
                                                   "  again: }\n"
                                                   "out: ret;\n"); /* 5 */
    assert_int_equal(program->instructions[1].target, 0);
    assert_int_equal(program->instructions[2].target, 3);
    assert_int_equal(program->instructions[3].target, 5);
    assert_int_equal(program->instructions[4].target, 5);
    wsdbg_ptx_program_destroy(program);
    assert_body_refused("{ inner: ret; }\nbra inner;", "a.ptx:21: there is no label inner here");
    assert_body_refused("a: ret;\na: ret;", "a.ptx:21: a is declared twice");
}

static void a_label_may_have_the_name_of_a_register_outside(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("done: mov.b32 %r1, 1;\n"
                                                   "{ .reg .pred done;\n"
                                                   "  setp.eq.b32 done, %r1, 0;\n"
                                                   "  @done bra done; }\n");
    assert_int_equal(program->instructions[2].target, 0);
    wsdbg_ptx_program_destroy(program);
}

/* %r<300> declares %r0 to %r299; only those that are used get a number. */
static void ranges_declare_their_registers(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body(".reg .b32 %x<3>, %y1<2>;\n"
                                                   "mov.b32 %x2, %y11;\n"
                                                   "mov.b32 %x0, %x2;\n");
    assert_int_equal(register_of(program, 0, 0), register_of(program, 1, 1));
    assert_int_equal(wsdbg_ptx_find_function(program, "k")->register_count, 3);
    wsdbg_ptx_program_destroy(program);
    assert_body_refused("mov.b32 %r300, 1;",
                        "a.ptx:20: operand 1 is not known (%r300 is not declared): mov.b32 %r300, 1");
    assert_body_refused("mov.b32 %r01, 1;", "a.ptx:20: operand 1 is not known (%r01 is not declared): mov.b32 %r01, 1");
    assert_body_refused(".reg .b32 %z<2000000>;",
                        "a.ptx:20: expected a number of registers up to 1048576, not 2000000");
}

/* Inline assembly that has ranges of its own reads registers of larger ones outside by the same prefix. */
static void a_range_hides_the_registers_that_it_has(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program =
        parse_body("mov.b32 %r2, 1;\n"                                          /* 0 */
                   "mov.b32 %r250, 2;\n"                                        /* 1 */
                   "{ .reg .b32 %r<3>; mov.b32 %r2, 3; mov.b32 %r250, 4; }\n"); /* 2, 3 */
    assert_int_not_equal(register_of(program, 0, 0), register_of(program, 2, 0));
    assert_int_equal(register_of(program, 1, 0), register_of(program, 3, 0));
    wsdbg_ptx_program_destroy(program);
}

static void branch_tables_hold_their_labels(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("t: .branchtargets one, two, one;\n"
                                                   "brx.idx %r1, t;\n"      /* 0 */
                                                   "one: mov.b32 %r1, 1;\n" /* 1 */
                                                   "two: ret;\n");          /* 2 */
    const uint32_t *table = &program->branch_tables[program->instructions[0].target];
    assert_int_equal(table[0], 3);
    assert_int_equal(table[1], 1);
    assert_int_equal(table[2], 2);
    assert_int_equal(table[3], 1);
    assert_int_equal(program->instructions[0].operand_count, 1);
    wsdbg_ptx_program_destroy(program);
    assert_body_refused("t: .branchtargets none;\nbrx.idx %r1, t;", "a.ptx:20: there is no label none here");
}

static void a_body_that_falls_off_its_end_returns(void **state)
{
    (void)state;
    struct wsdbg_ptx_program *program = parse_body("@%p1 bra end;\nmov.b32 %r1, 1;\nend:");
    assert_int_equal(program->instruction_count, 3);
    assert_int_equal(program->instructions[2].operation, WSDBG_PTX_OP_ret);
    assert_int_equal(program->instructions[0].target, 2);
    char text[32];
    wsdbg_ptx_text(program, 2, text, sizeof text);
    assert_string_equal(text, "ret");
    wsdbg_ptx_program_destroy(program);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char deep[256] = "";
    for (unsigned i = 0; i < 64; i++)
        strcat(deep, "{");
    assert_body_refused(deep, "a.ptx:20: blocks are nested more than 64 deep");
    assert_body_refused("{", "a.ptx:22: expected }, but the text ends");
    assert_body_refused("}", "a.ptx:21: expected a directive, not }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_hides_the_names_around_it),
        cmocka_unit_test(labels_belong_to_their_block),
        cmocka_unit_test(a_label_may_have_the_name_of_a_register_outside),
        cmocka_unit_test(ranges_declare_their_registers),
        cmocka_unit_test(a_range_hides_the_registers_that_it_has),
        cmocka_unit_test(branch_tables_hold_their_labels),
        cmocka_unit_test(a_body_that_falls_off_its_end_returns),
        cmocka_unit_test(nesting_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
