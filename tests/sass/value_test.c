/* value_test.c - values followed through registers: counters that wrap, guards, calls.
 *
 * Code is written as instructions, their operands in nvdisasm's order; asked is what register the last but one
 * instruction reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sass/access.h"

#define GENERAL(n)                                                  \
    {                                                               \
        .kind = WSDBG_OPERAND_REGISTER, .number = n, .registers = 1 \
    }
#define PREDICATE(n)                                                 \
    {                                                                \
        .kind = WSDBG_OPERAND_PREDICATE, .number = n, .registers = 1 \
    }
#define NUMBER(n)                                                   \
    {                                                               \
        .kind = WSDBG_OPERAND_IMMEDIATE, .value = n, .registers = 1 \
    }
#define ALWAYS .guard = WSDBG_PT, .is_whole = true
#define IF(n) .guard = n, .is_whole = true
#define IF_NOT(n) .guard = n, .guard_is_negated = true, .is_whole = true

#define MOVE(to, number)                                                                                           \
    .operation = WSDBG_OP_MOV, .destinations = {GENERAL(to)}, .sources = {NUMBER(number)}, .destination_count = 1, \
    .source_count = 1
#define ADD(to, from, number)                                                                               \
    .operation = WSDBG_OP_VIADD, .destinations = {GENERAL(to)}, .sources = {GENERAL(from), NUMBER(number)}, \
    .destination_count = 1, .source_count = 2
/* P = from (comparison) number */
#define COMPARE(to, comparison, from, number)                        \
    .operation = WSDBG_OP_ISETP, .mode = WSDBG_COMPARE_##comparison, \
    .destinations = {PREDICATE(to), PREDICATE(WSDBG_PT)},            \
    .sources = {GENERAL(from), NUMBER(number), PREDICATE(WSDBG_PT)}, .destination_count = 2, .source_count = 3
#define SELECT(to, if_true, if_false, by)                     \
    .operation = WSDBG_OP_SEL, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(if_true), GENERAL(if_false), PREDICATE(by)}, .destination_count = 1, .source_count = 3
/* The lesser of two, or the greater; of the bits of a sum. */
#define LEAST(to, a, b)                                          \
    .operation = WSDBG_OP_VIMNMX, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(a), NUMBER(b), PREDICATE(WSDBG_PT)}, .destination_count = 1, .source_count = 3
#define NOT_TRUE                                                                                \
    {                                                                                           \
        .kind = WSDBG_OPERAND_PREDICATE, .number = WSDBG_PT, .registers = 1, .is_negated = true \
    }
#define GREATEST(to, a, b)                                                                                     \
    .operation = WSDBG_OP_VIMNMX, .destinations = {GENERAL(to)}, .sources = {GENERAL(a), NUMBER(b), NOT_TRUE}, \
    .destination_count = 1, .source_count = 3
#define LEAST_OF_SUM(to, a, added, b)                               \
    .operation = WSDBG_OP_VIADDMNMX, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(a), NUMBER(added), NUMBER(b), PREDICATE(WSDBG_PT)}, .destination_count = 1, .source_count = 4
#define SHIFT_ADD(to, from, number, shift)                    \
    .operation = WSDBG_OP_LEA, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(from), NUMBER(number), NUMBER(shift)}, .destination_count = 1, .source_count = 3
/* to = from * number + added; of the wide one both halves of the product, without anything added. */
#define MULTIPLY_ADD(to, from, number, added)                  \
    .operation = WSDBG_OP_IMAD, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(from), NUMBER(number), GENERAL(added)}, .destination_count = 1, .source_count = 3
#define MULTIPLY_WIDE(to, from, factor)                                               \
    .operation = WSDBG_OP_IMAD, .is_wide = true,                                      \
    .destinations = {{.kind = WSDBG_OPERAND_REGISTER, .number = to, .registers = 2}}, \
    .sources = {GENERAL(from), NUMBER(factor), GENERAL(WSDBG_RZ)}, .destination_count = 1, .source_count = 3
#define SUBTRACT(to, from, what)                                                                       \
    .operation = WSDBG_OP_IMAD, .destinations = {GENERAL(to)},                                         \
    .sources = {GENERAL(from),                                                                         \
                NUMBER(1),                                                                             \
                {.kind = WSDBG_OPERAND_REGISTER, .number = what, .registers = 1, .is_negated = true}}, \
    .destination_count = 1, .source_count = 3
#define SUBTRACT_BY_ADDING(to, from, what)                                                            \
    .operation = WSDBG_OP_IADD3, .destinations = {GENERAL(to)},                                       \
    .sources = {GENERAL(from),                                                                        \
                {.kind = WSDBG_OPERAND_REGISTER, .number = what, .registers = 1, .is_negated = true}, \
                GENERAL(WSDBG_RZ)},                                                                   \
    .destination_count = 1, .source_count = 3
/* to = (from >> 1) + added */
#define HALVE_ADD(to, from, added)                                                                     \
    .operation = WSDBG_OP_LEA, .is_high = true, .destinations = {GENERAL(to)},                         \
    .sources = {GENERAL(from), GENERAL(added), GENERAL(WSDBG_RZ), NUMBER(31)}, .destination_count = 1, \
    .source_count = 4
#define SHIFT_RIGHT(to, from, by)                                                                      \
    .operation = WSDBG_OP_SHF, .is_high = true, .is_right_shift = true, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(WSDBG_RZ), NUMBER(by), GENERAL(from)}, .destination_count = 1, .source_count = 3
/* mapa: the address `from` in the CTA whose rank is in `rank` */
#define MAP(to, rank, from)                                    \
    .operation = WSDBG_OP_PRMT, .destinations = {GENERAL(to)}, \
    .sources = {GENERAL(rank), NUMBER(0x654), GENERAL(from)}, .destination_count = 1, .source_count = 3
#define LOAD(to) .operation = WSDBG_OP_LDG, .destinations = {GENERAL(to)}, .destination_count = 1
#define READS(from) .operation = WSDBG_OP_SYNCS_ARRIVE, .sources = {GENERAL(from)}, .source_count = 1
#define TO(rows) .has_target = true, .target_offset_bytes = (rows)*WSDBG_INSTRUCTION_BYTES
#define BRANCH .operation = WSDBG_OP_BRA
#define EXIT .operation = WSDBG_OP_EXIT

static void assert_read(const struct wsdbg_instruction *code, size_t count, struct wsdbg_value_set expected)
{
    struct wsdbg_graph *graph;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    for (uint32_t i = 0; i < count; i++) {
        if (code[i].operation != WSDBG_OP_SYNCS_ARRIVE)
            continue;
        const struct wsdbg_value_set set = wsdbg_value_of(graph, NULL, i, 0);
        assert_int_equal(set.known, expected.known);
        assert_int_equal(set.base, expected.base);
        assert_int_equal(set.stride, expected.stride);
        assert_int_equal(set.count, expected.count);
    }
    wsdbg_graph_destroy(graph);
}

#define ASSERT_READ(code, ...) assert_read(code, sizeof(code) / sizeof *(code), (struct wsdbg_value_set){__VA_ARGS__})

/* if (++stage == 7) stage = 0, by a selection. */
static void a_stage_that_is_selected_back_is_counted(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, MOVE(1, 0)},
        /* loop */ {ALWAYS, SHIFT_ADD(2, 1, 0x400, 3)},
        {ALWAYS, READS(2)},
        {ALWAYS, ADD(1, 1, 1)},
        {ALWAYS, COMPARE(0, NE, 1, 7)},
        {ALWAYS, SELECT(1, 1, WSDBG_RZ, 0)},
        {IF(1), BRANCH, TO(-5)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(code, true, 0x400, 8, 7);
}

/* The same with a guarded move, and with a branch around one. */
static void a_stage_that_is_set_back_is_counted(void **state)
{
    (void)state;
    const struct wsdbg_instruction by_guard[] = {
        {ALWAYS, MOVE(1, 0)},
        /* loop */ {ALWAYS, READS(1)}, {ALWAYS, ADD(1, 1, 1)},  {ALWAYS, COMPARE(0, EQ, 1, 5)},
        {IF(0), MOVE(1, 0)},           {IF(1), BRANCH, TO(-4)}, {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction by_branch[] = {
        {ALWAYS, MOVE(1, 0)},
        /* loop */ {ALWAYS, READS(1)},
        {ALWAYS, ADD(1, 1, 1)},
        {ALWAYS, COMPARE(0, LT, 1, 5)},
        {IF(0), BRANCH, TO(2)},
        {ALWAYS, MOVE(1, 0)},
        {IF(1), BRANCH, TO(-5)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(by_guard, true, 0, 1, 5);
    ASSERT_READ(by_branch, true, 0, 1, 5);
}

/* for (i = 0; i < 4; i++), the comparison at the loop's end. */
static void a_loop_s_bound_bounds_its_counter(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, MOVE(1, 0)},
        /* loop */ {ALWAYS, READS(1)}, {ALWAYS, ADD(1, 1, 1)}, {ALWAYS, COMPARE(0, LT, 1, 4)},
        {IF(0), BRANCH, TO(-3)},       {ALWAYS, EXIT},
    };
    ASSERT_READ(code, true, 0, 1, 4);
}

static void a_counter_without_a_bound_keeps_its_stride(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, MOVE(1, 0x400)},
        /* loop */ {ALWAYS, READS(1)}, {ALWAYS, ADD(1, 1, 16)}, {IF(0), BRANCH, TO(-2)}, {ALWAYS, EXIT},
    };
    ASSERT_READ(code, true, 0x400, 16, 0);
}

/* A value under a guard is read under the same one, also in another block; under another one it is not known. */
static void what_is_written_under_a_guard_is_read_under_it(void **state)
{
    (void)state;
    const struct wsdbg_instruction same[] = {
        {ALWAYS, LOAD(1)},    {IF(0), MOVE(1, 0x410)}, {IF(2), BRANCH, TO(2)},
        {ALWAYS, MOVE(3, 0)}, {IF(0), READS(1)},       {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction opposite[] = {
        {ALWAYS, MOVE(1, 0x408)},
        {IF(0), MOVE(1, 0x410)},
        {IF_NOT(0), READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction other[] = {
        {ALWAYS, LOAD(1)},
        {IF(0), MOVE(1, 0x410)},
        {IF(1), READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction rewritten[] = {
        {ALWAYS, LOAD(1)}, {IF(0), MOVE(1, 0x410)}, {ALWAYS, COMPARE(0, EQ, 4, 1)}, {IF(0), READS(1)}, {ALWAYS, EXIT},
    };
    ASSERT_READ(same, true, 0x410, 0, 1);
    ASSERT_READ(opposite, true, 0x408, 0, 1);
    ASSERT_READ(other, .known = false);
    ASSERT_READ(rewritten, .known = false);
}

/* stage = tile % 7, the reciprocal having 33 bits, and the stage behind it, which wraps. */
static void a_remainder_of_seven_has_seven_values(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0x24924925)},
        {ALWAYS, SUBTRACT(4, 7, 5)},
        {ALWAYS, HALVE_ADD(4, 4, 5)},
        {ALWAYS, MOVE(5, 0)},
        {ALWAYS, SHIFT_RIGHT(4, 4, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -7, 7)},
        /* loop */ {ALWAYS, SHIFT_ADD(2, 1, 0x400, 3)},
        {ALWAYS, READS(2)},
        {ALWAYS, ADD(1, 1, 1)},
        {ALWAYS, COMPARE(0, NE, 1, 7)},
        {ALWAYS, SELECT(1, 1, WSDBG_RZ, 0)},
        {IF(1), BRANCH, TO(-5)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction by_adding[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0x24924925)},
        {ALWAYS, SUBTRACT_BY_ADDING(4, 7, 5)},
        {ALWAYS, HALVE_ADD(4, 4, 5)},
        {ALWAYS, SHIFT_RIGHT(4, 4, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -7, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(code, true, 0x400, 8, 7);
    ASSERT_READ(by_adding, true, 0, 1, 7);
}

/* The reciprocals of 5 and 3 have 32 bits; that of 14 is one of 7, for x / 2. */
static void a_remainder_with_a_short_reciprocal_is_counted(void **state)
{
    (void)state;
    const struct wsdbg_instruction five[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0xcccccccd)},
        {ALWAYS, SHIFT_RIGHT(4, 5, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -5, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction three[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0xaaaaaaab)},
        {ALWAYS, SHIFT_RIGHT(4, 5, 1)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -3, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction fourteen[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, SHIFT_RIGHT(4, 7, 1)},
        {ALWAYS, MULTIPLY_WIDE(4, 4, 0x92492493)},
        {ALWAYS, SHIFT_RIGHT(4, 5, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -14, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(fourteen, true, 0, 1, 14);
    ASSERT_READ(five, true, 0, 1, 5);
    ASSERT_READ(three, true, 0, 1, 3);
}

/* The same instructions, one number or one register another. */
static void what_only_looks_like_a_remainder_is_not_known(void **state)
{
    (void)state;
    const struct wsdbg_instruction reciprocal_too_small[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0xcccccccc)},
        {ALWAYS, SHIFT_RIGHT(4, 5, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -5, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction shift_too_small[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0xcccccccd)},
        {ALWAYS, SHIFT_RIGHT(4, 5, 1)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -5, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction of_the_low_half[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0xcccccccd)},
        {ALWAYS, SHIFT_RIGHT(4, 4, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -5, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction difference_the_other_way[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, MULTIPLY_WIDE(4, 7, 0x24924925)},
        {ALWAYS, SUBTRACT(4, 5, 7)},
        {ALWAYS, HALVE_ADD(4, 4, 5)},
        {ALWAYS, SHIFT_RIGHT(4, 4, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -7, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction of_another[] = {
        {ALWAYS, LOAD(7)}, {ALWAYS, MULTIPLY_WIDE(4, 7, 0xcccccccd)}, {ALWAYS, SHIFT_RIGHT(4, 5, 2)},
        {ALWAYS, LOAD(7)}, {ALWAYS, MULTIPLY_ADD(1, 4, -5, 7)},       {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    const struct wsdbg_instruction odd_after_a_shift[] = {
        {ALWAYS, LOAD(7)},
        {ALWAYS, SHIFT_RIGHT(4, 7, 1)},
        {ALWAYS, MULTIPLY_WIDE(4, 4, 0x92492493)},
        {ALWAYS, SHIFT_RIGHT(4, 5, 2)},
        {ALWAYS, MULTIPLY_ADD(1, 4, -15, 7)},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(odd_after_a_shift, .known = false);
    ASSERT_READ(reciprocal_too_small, .known = false);
    ASSERT_READ(shift_too_small, .known = false);
    ASSERT_READ(of_the_low_half, .known = false);
    ASSERT_READ(difference_the_other_way, .known = false);
    ASSERT_READ(of_another, .known = false);
}

/* An arrival in another CTA: all of its address is made where it is used, under one guard; the stage has no bound. */
static void a_mapped_address_is_followed_under_its_guard(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, LOAD(1)},
        {ALWAYS, LOAD(3)},
        {IF_NOT(0), SHIFT_ADD(2, 1, 0x400, 3)},
        {ALWAYS, ADD(1, 1, 1)},
        {IF_NOT(0), ADD(2, 2, 0x38)},
        {IF_NOT(0), MAP(2, 3, 2)},
        {IF_NOT(0), READS(2)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(code, true, 0x438, 8, 0);
}

/* What a called piece of code does not write is what its caller had; what it writes, what it wrote. */
static void a_call_changes_what_the_callee_writes(void **state)
{
    (void)state;
    const struct wsdbg_instruction kept[] = {
        {ALWAYS, MOVE(1, 0x408)}, {ALWAYS, .operation = WSDBG_OP_CALL, TO(3)}, {ALWAYS, READS(1)}, {ALWAYS, EXIT},
        {ALWAYS, MOVE(2, 1)},     {ALWAYS, .operation = WSDBG_OP_RET},
    };
    const struct wsdbg_instruction changed[] = {
        {ALWAYS, MOVE(1, 0x408)}, {ALWAYS, .operation = WSDBG_OP_CALL, TO(3)}, {ALWAYS, READS(1)}, {ALWAYS, EXIT},
        {ALWAYS, MOVE(1, 0x418)}, {ALWAYS, .operation = WSDBG_OP_RET},
    };
    const struct wsdbg_instruction elsewhere[] = {
        {ALWAYS, MOVE(1, 0x408)},
        {ALWAYS, .operation = WSDBG_OP_CALL},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(kept, true, 0x408, 0, 1);
    ASSERT_READ(changed, true, 0x418, 0, 1);
    ASSERT_READ(elsewhere, .known = false);
}

/* 1, 4, 7 or 10, as a branch decides. */
#define ONE_TO_TEN(to)                              \
    {ALWAYS, MOVE(to, 1)}, {IF(1), ADD(to, to, 3)}, \
    {                                               \
        IF(2), ADD(to, to, 6)                       \
    }

static void a_minimum_is_what_is_not_beyond_the_other(void **state)
{
    (void)state;
    const uint64_t halves = 1 << (73 - 64);
    const struct wsdbg_instruction least[] = {
        ONE_TO_TEN(1), {ALWAYS, LEAST(2, 1, 7)}, {ALWAYS, READS(2)}, {ALWAYS, EXIT}};
    const struct wsdbg_instruction greatest[] = {
        ONE_TO_TEN(1), {ALWAYS, GREATEST(2, 1, 7)}, {ALWAYS, READS(2)}, {ALWAYS, EXIT}};
    const struct wsdbg_instruction by_sign[] = {
        ONE_TO_TEN(1), {ALWAYS, .is_signed = true, LEAST(2, 1, -2)}, {ALWAYS, READS(2)}, {ALWAYS, EXIT}};
    const struct wsdbg_instruction of_sum[] = {
        ONE_TO_TEN(1), {ALWAYS, LEAST_OF_SUM(2, 1, -4, 3)}, {ALWAYS, READS(2)}, {ALWAYS, EXIT}};
    const struct wsdbg_instruction of_halves[] = {
        ONE_TO_TEN(1), {ALWAYS, .words = {0, halves}, LEAST(2, 1, 7)}, {ALWAYS, READS(2)}, {ALWAYS, EXIT}};
    ASSERT_READ(least, true, 1, 3, 3);
    ASSERT_READ(greatest, true, 7, 3, 2);
    ASSERT_READ(by_sign, true, (uint32_t)-2, 0, 1);
    ASSERT_READ(of_sum, true, 0, 3, 2); /* 1 - 4 is a large number */
    ASSERT_READ(of_halves, .known = false);
}

static void behind_a_branch_nobody_can_follow_nothing_is_known(void **state)
{
    (void)state;
    const struct wsdbg_instruction code[] = {
        {ALWAYS, MOVE(1, 0x408)},
        {IF(0), .operation = WSDBG_OP_BRX},
        {ALWAYS, READS(1)},
        {ALWAYS, EXIT},
    };
    ASSERT_READ(code, .known = false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_that_is_selected_back_is_counted),
        cmocka_unit_test(a_stage_that_is_set_back_is_counted),
        cmocka_unit_test(a_loop_s_bound_bounds_its_counter),
        cmocka_unit_test(a_counter_without_a_bound_keeps_its_stride),
        cmocka_unit_test(what_is_written_under_a_guard_is_read_under_it),
        cmocka_unit_test(a_remainder_of_seven_has_seven_values),
        cmocka_unit_test(a_remainder_with_a_short_reciprocal_is_counted),
        cmocka_unit_test(what_only_looks_like_a_remainder_is_not_known),
        cmocka_unit_test(a_mapped_address_is_followed_under_its_guard),
        cmocka_unit_test(a_call_changes_what_the_callee_writes),
        cmocka_unit_test(a_minimum_is_what_is_not_beyond_the_other),
        cmocka_unit_test(behind_a_branch_nobody_can_follow_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
