/* step_test.c - what one instruction does to a thread's registers: arithmetic, logic, predicates, guards, floats, and
 * values of which only some bits are known.
 */
#include "step_world.h"

/* Behind the instruction: R10 in `low`, R11 in `high`, and P3; ANY: it is not known. */
#define NO_CARRY ((uint64_t)WSDBG_PT << (81 - 64))

/* clang-format off */
static const struct {
    struct wsdbg_instruction instruction;
    int64_t low, high, predicate;
} steps[] = {
    {{DO(MOV), TO(R(10)), FROM(R(7))}, 0x12345678, ANY, ANY},
    {{DO(MOV), TO(R(10)), FROM(R(9))}, ANY, ANY, ANY},
    {{DO(LDC), TO(PAIR(10)), FROM(CONSTANTS(0x20, 2)), .width_bytes = 8}, 0x1020, 0x1024, ANY},
    {{DO(LDC), TO(R(10)), FROM(CONSTANTS(0x22, 1)), .width_bytes = 2}, 0, ANY, ANY},
    {{DO(LDC), TO(R(10)), FROM(CONSTANTS(0x20, 1)), .width_bytes = 1}, 0x20, ANY, ANY},
    {{DO(LDC), TO(R(10)), FROM(CONSTANTS(0x80, 1)), .width_bytes = 1, .words = {1, 0}}, ANY, ANY, ANY},
    {{DO(LDC), TO(R(10)), FROM(CONSTANTS(0x200, 1)), .width_bytes = 4}, ANY, ANY, ANY},
    {{DO(S2R), TO(R(10)), FROM(SPECIAL(TID_X))}, 5, ANY, ANY},
    {{DO(S2R), TO(R(10)), FROM(SPECIAL(1))}, ANY, ANY, ANY},
    {{DO(CS2R), TO(PAIR(10)), FROM(SPECIAL(255)), .width_bytes = 8}, 0, 0, ANY},
    {{DO(LDG), TO(R(10)), FROM(R(4)), .width_bytes = 4}, ANY, ANY, ANY},
    /* sums and their carries: -x is ~x + 1 */
    {{DO(IADD3), TO(R(10), P(3)), FROM(R(0), R(1), ZERO)}, 1, ANY, 1},
    {{DO(IADD3), TO(R(10), P(3)), FROM(R(1), R(3), ZERO)}, 9, ANY, 0},
    {{DO(IADD3), TO(R(10), P(3)), FROM(R(1), MINUS(1), ZERO)}, 0, ANY, 1},
    {{DO(IADD3), TO(R(10), P(3)), FROM(R(1), MINUS(3), ZERO)}, 0xfffffffb, ANY, 0},
    {{DO(IADD3), TO(R(10), P(3)), FROM(R(0), R(1), R(3))}, 8, ANY, ANY},
    {{DO(IADD3), TO(R(10), P(3), P(4)), FROM(R(0), R(1), R(3))}, 8, ANY, 1},
    {{DO(IADD3), TO(R(10), P(4), P(3)), FROM(R(0), R(1), R(3))}, 8, ANY, 0},
    {{DO(IADD3), TO(R(10), P(4), P(3)), FROM(R(0), R(0), R(3))}, 5, ANY, 1},
    {{DO(IADD3), TO(R(10), P(3)), FROM(R(0), R(1), ZERO), .words = {0, NO_CARRY}}, 1, ANY, ANY},
    {{DO(IADD3), TO(R(10)), FROM(R(1), R(3), ZERO, P(0), NOT_P(WSDBG_PT)), .has_carry_in = true}, 10, ANY, ANY},
    {{DO(IADD3), TO(R(10)), FROM(R(1), INVERTED(3), ZERO, P(1), NOT_P(WSDBG_PT)), .has_carry_in = true}, 0xfffffffa, ANY, ANY},
    {{DO(IADD3), TO(R(10)), FROM(R(1), R(3), ZERO, P(2), NOT_P(WSDBG_PT)), .has_carry_in = true}, ANY, ANY, ANY},
    {{DO(VIADD), TO(R(10)), FROM(R(1), NUMBER(-3))}, 0xffffffff, ANY, ANY},
    /* products */
    {{DO(IMAD), TO(R(10)), FROM(R(1), R(3), R(6))}, 17, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(ZERO, R(9), MINUS(6))}, 0xfffffffd, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(R(1), R(9), R(6))}, ANY, ANY, ANY},
    {{DO(IMAD), TO(PAIR(10)), FROM(R(0), R(1), PAIR(3)), .is_wide = true}, 5, 2, ANY},
    {{DO(IMAD), TO(PAIR(10)), FROM(R(0), R(1), PAIR(3)), .is_wide = true, .is_signed = true}, 5, 0, ANY},
    {{DO(IMAD), TO(R(10)), FROM(R(0), R(1), ZERO), .is_high = true}, 1, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(R(1), R(3), R(6), P(0)), .has_carry_in = true}, 18, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(R(1), R(3), R(6), P(2)), .has_carry_in = true}, ANY, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(ZERO, ZERO, INVERTED(3), P(0)), .has_carry_in = true}, 0xfffffff9, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(ZERO, ZERO, INVERTED(3), P(1)), .has_carry_in = true}, 0xfffffff8, ANY, ANY},
    {{DO(IMAD), TO(R(10)), FROM(ZERO, ZERO, INVERTED(9), P(0)), .has_carry_in = true}, ANY, ANY, ANY},
    /* shifts */
    {{DO(LEA), TO(R(10), P(3)), FROM(R(3), R(0), NUMBER(2))}, 27, ANY, 1},
    {{DO(LEA), TO(R(10)), FROM(R(2), R(3), R(6), NUMBER(2)), .is_high = true}, 7 + 14, ANY, ANY},
    {{DO(LEA), TO(R(10)), FROM(R(2), R(3), R(6), NUMBER(2), P(0)), .is_high = true, .has_carry_in = true}, 7 + 14 + 1, ANY, ANY},
    {{DO(LEA), TO(R(10)), FROM(R(2), R(3), NUMBER(2)), .is_high = true, .is_signed = true}, 7 - 2, ANY, ANY},
    {{DO(SHF), TO(R(10)), FROM(R(3), NUMBER(4), ZERO)}, 0x70, ANY, ANY},
    {{DO(SHF), TO(R(10)), FROM(ZERO, NUMBER(4), R(2)), .is_right_shift = true, .is_high = true}, 0x08000000, ANY, ANY},
    {{DO(SHF), TO(R(10)), FROM(ZERO, NUMBER(4), R(2)), .is_right_shift = true, .is_high = true, .is_signed = true}, 0xf8000000, ANY, ANY},
    {{DO(SHF), TO(R(10)), FROM(R(7), NUMBER(8), R(6)), .is_right_shift = true, .is_wide = true}, 0x03123456, ANY, ANY},
    {{DO(SHF), TO(R(10)), FROM(R(7), NUMBER(8), R(6)), .is_wide = true, .is_high = true}, 0x312, ANY, ANY},
    {{DO(SHF), TO(R(10)), FROM(R(7), NUMBER(40), R(6)), .is_wide = true, .is_high = true}, ANY, ANY, ANY},
    /* bits */
    {{DO(LOP3), TO(P(3), R(10)), FROM(R(7), NUMBER(0xff), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0}, 0x78, ANY, 1},
    {{DO(LOP3), TO(P(3), R(10)), FROM(R(1), NUMBER(1), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0}, 0, ANY, 0},
    {{DO(LOP3), TO(P(3), R(10)), FROM(R(1), NUMBER(1), ZERO, NUMBER(0xc0), P(2)), .table = 0xc0}, 0, ANY, ANY},
    {{DO(PRMT), TO(R(10)), FROM(R(7), NUMBER(0x9540), R(2))}, 0x00000078, ANY, ANY},
    {{DO(PRMT), TO(R(10)), FROM(R(7), NUMBER(0x7f10), R(2))}, 0x80ff5678, ANY, ANY},
    {{DO(SGXT), TO(R(10)), FROM(R(7), NUMBER(8)), .words = {1}, .is_signed = true}, 0x00000078, ANY, ANY},
    {{DO(SGXT), TO(R(10)), FROM(R(0), NUMBER(8)), .words = {1}, .is_signed = true}, 0xffffffff, ANY, ANY},
    {{DO(SGXT), TO(R(10)), FROM(R(0), NUMBER(8)), .words = {1}}, 0x000000ff, ANY, ANY},
    {{DO(SGXT), TO(R(10)), FROM(R(0), NUMBER(0)), .words = {1}}, ANY, ANY, ANY},
    {{DO(SGXT), TO(R(10)), FROM(R(9), NUMBER(8)), .words = {1}, .is_signed = true}, ANY, ANY, ANY},
    {{DO(SEL), TO(R(10)), FROM(R(1), R(3), P(0))}, 2, ANY, ANY},
    {{DO(P2R), TO(R(10)), FROM(P(0), ZERO, NUMBER(3))}, 1, ANY, ANY},
    {{DO(P2R), TO(R(10)), FROM(P(0), ZERO, NUMBER(4))}, ANY, ANY, ANY},
    {{DO(SEL), TO(R(10)), FROM(R(1), R(3), P(1))}, 7, ANY, ANY},
    {{DO(SEL), TO(R(10)), FROM(R(1), R(3), P(2))}, ANY, ANY, ANY},
    {{DO(IMNMX), TO(R(10)), FROM(R(0), R(1), P(WSDBG_PT))}, 2, ANY, ANY},
    {{DO(IMNMX), TO(R(10)), FROM(R(0), R(1), P(WSDBG_PT)), .is_signed = true}, 0xffffffff, ANY, ANY},
    {{DO(VIMNMX), TO(R(10)), FROM(R(0), R(1), NOT_P(WSDBG_PT))}, 0xffffffff, ANY, ANY},
    {{DO(VIMNMX), TO(R(10)), FROM(R(0), R(1), P(WSDBG_PT)), .words = {0, 1 << (73 - 64)}}, ANY, ANY, ANY},
    {{DO(VIADDMNMX), TO(R(10)), FROM(R(1), R(3), R(6), P(WSDBG_PT))}, 3, ANY, ANY},
    {{DO(VIADDMNMX), TO(R(10)), FROM(R(1), R(3), R(6), P(2))}, ANY, ANY, ANY},
    /* predicates */
    {{DO(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(0), R(1), P(WSDBG_PT)), .mode = WSDBG_COMPARE_GT}, ANY, ANY, 1},
    {{DO(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(0), R(1), P(WSDBG_PT)), .mode = WSDBG_COMPARE_GT, .is_signed = true}, ANY, ANY, 0},
    {{DO(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(0), R(9), P(1)), .mode = WSDBG_COMPARE_GT}, ANY, ANY, 0},
    {{DO(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(4), ZERO, P(WSDBG_PT), P(0)), .mode = WSDBG_COMPARE_NE}, ANY, ANY, 1},
    {{DO(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(4), ZERO, P(WSDBG_PT), P(1)), .mode = WSDBG_COMPARE_NE}, ANY, ANY, 0},
    {{DO(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(3), R(1), P(WSDBG_PT), P(1)), .mode = WSDBG_COMPARE_GE}, ANY, ANY, 1},
    {{DO(PLOP3), TO(P(3), P(WSDBG_PT)), FROM(P(0), P(1), P(WSDBG_PT)), .table = 0x80}, ANY, ANY, 0},
    {{DO(PLOP3), TO(P(3), P(WSDBG_PT)), FROM(P(2), P(1), P(WSDBG_PT)), .table = 0x80}, ANY, ANY, 0},
    {{DO(PLOP3), TO(P(3), P(WSDBG_PT)), FROM(P(2), P(0), P(WSDBG_PT)), .table = 0x80}, ANY, ANY, ANY},
    /* what is not decoded whole is not followed */
    {{.operation = WSDBG_OP_MOV, .guard = WSDBG_PT, TO(R(10)), FROM(R(7))}, ANY, ANY, ANY},
};
/* clang-format on */

static void every_operation_gives_its_result(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct wsdbg_thread_state state = state_before();
        wsdbg_thread_step(&steps[i].instruction, &world, &state);
        assert_register(&state, 10, steps[i].low, i);
        assert_register(&state, 11, steps[i].high, i);
        assert_register(&state, WSDBG_REGISTER_PREDICATE + 3, steps[i].predicate, i);
        assert_register(&state, 7, before[7], i);
    }
}

static void a_guard_decides_what_is_written(void **unused)
{
    (void)unused;
    struct wsdbg_instruction move = {DO(MOV), TO(R(1)), FROM(NUMBER(9))};
    struct wsdbg_thread_state state = state_before();
    move.guard = 1;
    wsdbg_thread_step(&move, &world, &state);
    assert_register(&state, 1, 2, 0);
    move.guard = 2;
    wsdbg_thread_step(&move, &world, &state);
    assert_register(&state, 1, ANY, 0);
    move.guard = 0;
    wsdbg_thread_step(&move, &world, &state);
    assert_register(&state, 1, 9, 0);
    move.guard = 2; /* either way it holds the same */
    wsdbg_thread_step(&move, &world, &state);
    assert_register(&state, 1, 9, 0);
}

static void what_nobody_knows_may_write_anything(void **unused)
{
    (void)unused;
    const struct wsdbg_instruction other = {.operation = WSDBG_OP_OTHER, .guard = WSDBG_PT};
    struct wsdbg_instruction all = {DO(R2P), TO(P(0)), FROM(R(1))};
    struct wsdbg_thread_state state = state_before();
    all.destinations[0].registers = WSDBG_PT;
    wsdbg_thread_step(&all, &world, &state);
    assert_register(&state, WSDBG_REGISTER_PREDICATE, ANY, 0);
    assert_register(&state, WSDBG_REGISTER_PREDICATE + 1, ANY, 0);
    assert_register(&state, 1, 2, 0);
    wsdbg_thread_step(&other, &world, &state);
    assert_register(&state, 1, ANY, 0);
}

static void an_address_is_that_of_its_registers(void **unused)
{
    (void)unused;
    const struct wsdbg_thread_state state = state_before();
    struct wsdbg_operand operand = {
        .kind = WSDBG_OPERAND_MEMORY, .number = 0, .uniform = WSDBG_URZ, .registers = 2, .value = -8};
    uint64_t address = 0;
    assert_true(wsdbg_thread_address(&state, &operand, &address));
    assert_int_equal(address, 0x2fffffff7);
    operand.uniform = 4; /* not known */
    assert_false(wsdbg_thread_address(&state, &operand, &address));
    operand.uniform = WSDBG_URZ;
    operand.registers = 1; /* of shared memory */
    assert_false(wsdbg_thread_address(&state, &operand, &address));
}

/* A CTA's cluster: its number times the reciprocal that the driver has among the constants, towards 0. */
static void a_clusters_number_is_a_product_of_floats(void **unused)
{
    static const struct {
        uint32_t number, reciprocal, cluster;
    } rows[] = {{5, 0x3e800000 /* 1/4 */, 1}, {7, 0x3f000000 /* 1/2 */, 3}, {131, 0x3f800000, 131}, {0, 0x3e800000, 0}};
    const struct wsdbg_instruction convert = {OP_HALF(I2FP, 0x00000000000b7245, 0x201000), TO(R(11))};
    const struct wsdbg_instruction multiply = {OP_HALF(FMUL, 0x000000040b0b7220, 0x400000), TO(R(11))};
    const struct wsdbg_instruction cut = {OP_HALF(F2I, 0x0000000b000b7305, 0x20f000), TO(R(11))};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_thread_state state = {0};
        state.known[0] = state.known[4] = true;
        state.value[0] = rows[i].number;
        state.value[4] = rows[i].reciprocal;
        wsdbg_thread_step(&convert, &world, &state);
        wsdbg_thread_step(&multiply, &world, &state);
        assert_true(state.known[11]);
        wsdbg_thread_step(&cut, &world, &state);
        assert_register(&state, 11, rows[i].cluster, i);
    }
}

/* Comparisons as the compiler encodes them, and what becomes of their predicate. */
static void a_comparison_of_floats_is_told(void **unused)
{
    enum { ONE = 0x3f800000, TWO = 0x40000000, MINUS_ONE = (int)0xbf800000, NOTHING = 0x7fc00000, TINY = 1 };
    static const struct {
        uint64_t words[2];
        uint32_t r0, r7, to;
        enum wsdbg_truth truth;
    } rows[] = {
        /* FSETP.NEU P1, R0, |R7| */
        {{0x400000070000720b, 0x000fe40003f2d000}, ONE, MINUS_ONE, 1, WSDBG_TRUTH_NO},
        {{0x400000070000720b, 0x000fe40003f2d000}, ONE, TWO, 1, WSDBG_TRUTH_YES},
        {{0x400000070000720b, 0x000fe40003f2d000}, NOTHING, NOTHING, 1, WSDBG_TRUTH_YES},
        /* FSETP.GE P4, R0, R7 */
        {{0x000000070000720b, 0x0c0fe40003f86000}, ONE, ONE, 4, WSDBG_TRUTH_YES},
        {{0x000000070000720b, 0x0c0fe40003f86000}, MINUS_ONE, ONE, 4, WSDBG_TRUTH_NO},
        {{0x000000070000720b, 0x0c0fe40003f86000}, NOTHING, ONE, 4, WSDBG_TRUTH_NO},
        /* FSETP.GT P3, R7, -R0 */
        {{0x800000000700720b, 0x000fe40003f64000}, TWO, MINUS_ONE, 3, WSDBG_TRUTH_YES},
        {{0x800000000700720b, 0x000fe40003f64000}, ONE, MINUS_ONE, 3, WSDBG_TRUTH_NO},
        /* FSETP.EQ.OR P1, R0, RZ, !P0, where P0 is true */
        {{0x000000ff0000720b, 0x040fe40004722400}, 0x80000000, 0, 1, WSDBG_TRUTH_YES},
        {{0x000000ff0000720b, 0x040fe40004722400}, TINY, 0, 1, WSDBG_TRUTH_NO},
        /* ... with .FTZ */
        {{0x000000ff0000720b, 0x040fe40004732400}, TINY, 0, 1, WSDBG_TRUTH_YES},
        /* FSETP.GT P4, R0, 1.5 */
        {{0x3fc000000000780b, 0x040fe20003f84000}, TWO, 0, 4, WSDBG_TRUTH_YES},
        {{0x3fc000000000780b, 0x040fe20003f84000}, ONE, 0, 4, WSDBG_TRUTH_NO},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_thread_state state = state_before();
        struct wsdbg_instruction compare;
        const struct wsdbg_operand to = P(rows[i].to);
        wsdbg_decode(rows[i].words, &compare);
        assert_int_equal(compare.operation, WSDBG_OP_FSETP);
        state.value[0] = rows[i].r0;
        state.value[7] = rows[i].r7;
        wsdbg_thread_step(&compare, &world, &state);
        if (wsdbg_thread_predicate(&state, &to) != rows[i].truth)
            fail_msg("row %zu", i);
        state.known[0] = false;
        state.bits[0] = 0;
        wsdbg_thread_step(&compare, &world, &state);
        assert_int_equal(wsdbg_thread_predicate(&state, &to), WSDBG_TRUTH_UNKNOWN);
    }
}

/* Only conversions to and from words without a sign, rounded towards 0, and the reciprocal of a normal number. */
static void other_steps_with_floats_are_not_followed(void **unused)
{
    static const struct {
        struct wsdbg_instruction instruction; /* from R0 to R11 */
        uint32_t from;
        bool is_followed;
        uint32_t to;
    } rows[] = {
        {{OP_HALF(I2F, 0x0000000000007306, 0x209000), TO(R(11))}, 7, true, 0x40e00000},         /* I2F.U32.RP */
        {{OP_HALF(I2F, 0x0000000000007306, 0x209400), TO(R(11))}, 7, true, 0x40e00000},         /* I2F.RP */
        {{OP_HALF(I2F, 0x0000000000007306, 0x209400), TO(R(11))}, 0x80000000, false, 0},        /* of -2^31 */
        {{OP_HALF(I2F, 0x0000000000007312, 0x309000), TO(R(11))}, 7, false, 0},                 /* I2F.U64.RP */
        {{OP_HALF(MUFU, 0x0000000000007308, 0x1000), TO(R(11))}, 0x40000000, true, 0x3f000000}, /* MUFU.RCP of 2 */
        {{OP_HALF(MUFU, 0x8000000000007308, 0x1000), TO(R(11))}, 0x40000000, false, 0},         /* ... of -2 */
        {{OP_HALF(MUFU, 0x0000000000007308, 0x1000), TO(R(11))}, 1, false, 0},                  /* ... too small */
        {{OP_HALF(MUFU, 0x0000000000007308, 0x1400), TO(R(11))}, 0x40000000, false, 0},         /* MUFU.RSQ */
        {{OP_HALF(F2I, 0x0000000000007305, 0x20f000), TO(R(11))},
         0x4f32d05e,
         true,
         3000000000u},                                                                   /* F2I.U32.TRUNC.NTZ */
        {{OP_HALF(F2I, 0x0000000000007305, 0x20f100), TO(R(11))}, 0x4f32d05e, false, 0}, /* F2I.TRUNC.NTZ */
        {{OP_HALF(F2I, 0x0000000000007311, 0x30d100), TO(R(11))}, 0x40000000, false, 0}, /* F2I.F64.TRUNC */
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_thread_state state = {0};
        state.known[0] = true;
        state.value[0] = rows[i].from;
        wsdbg_thread_step(&rows[i].instruction, &world, &state);
        print_message("row %zu\n", i);
        assert_int_equal(state.known[11], rows[i].is_followed);
        if (rows[i].is_followed)
            assert_register(&state, 11, rows[i].to, i);
    }
}

/* The steps of a division of 64 bits: the divisor's number rounded up, and the reciprocal's whole one. */
static void numbers_of_64_bits_go_through_floats(void **unused)
{
    static const struct wsdbg_instruction to_float = {OP_HALF(I2F, 0x0000000000007312, 0x309000), TO(R(11))},
                                          to_long = {OP_HALF(F2I, 0x0000000000007311, 0x20d800), TO(PAIR(10))};
    static const struct {
        uint32_t low, high, number;
    } floats[] = {{1024, 0, 0x44800000}, {0, 1, 0x4f800000}, {1, 1, 0x4f800001}, {UINT32_MAX, UINT32_MAX, 0x5f800000}};
    static const struct {
        uint32_t number, low, high;
    } wholes[] = {{0x44800000, 1024, 0}, {0x5f000000, 0, 0x80000000}, {0x4f800001, 512, 1}};
    (void)unused;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        struct wsdbg_thread_state state = {0};
        state.known[0] = state.known[1] = true;
        state.value[0] = floats[i].low;
        state.value[1] = floats[i].high;
        wsdbg_thread_step(&to_float, &world, &state);
        assert_register(&state, 11, floats[i].number, i);
    }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        struct wsdbg_thread_state state = {0};
        state.known[0] = true;
        state.value[0] = wholes[i].number;
        wsdbg_thread_step(&to_long, &world, &state);
        assert_register(&state, 10, wholes[i].low, i);
        assert_register(&state, 11, wholes[i].high, i);
    }
    struct wsdbg_thread_state state = {.known = {true}, .value = {0x5f800000}}; /* 2^64 */
    wsdbg_thread_step(&to_long, &world, &state);
    assert_register(&state, 10, ANY, 0);
}

/* A flag of 16 bits in a register whose other half nobody knows. */
static void bits_are_known_where_a_word_is_not(void **unused)
{
    static const struct wsdbg_instruction sets = {DO(PRMT), TO(R(9)), FROM(R(1), NUMBER(0x7610), R(9))};
    static const struct wsdbg_instruction asks = {
        DO(LOP3), TO(P(3), R(10)), FROM(R(9), NUMBER(0xff), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0};
    static const struct wsdbg_instruction asks_more = {
        DO(LOP3), TO(P(3), R(10)), FROM(R(9), NUMBER(0xfffff000), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0};
    struct wsdbg_thread_state state = state_before(), other = state_before();
    (void)unused;
    wsdbg_thread_step(&sets, &world, &state);
    assert_false(state.known[9]);
    wsdbg_thread_step(&asks, &world, &state);
    assert_register(&state, 10, 2, 0);
    assert_register(&state, WSDBG_REGISTER_PREDICATE + 3, 1, 0);
    wsdbg_thread_step(&asks_more, &world, &state);
    assert_register(&state, 10, ANY, 1);
    assert_register(&state, WSDBG_REGISTER_PREDICATE + 3, ANY, 1);
    other.value[1] = 6;
    wsdbg_thread_step(&sets, &world, &other);
    wsdbg_thread_meet(&state, &other);
    wsdbg_thread_step(&asks, &world, &state);
    assert_register(&state, 10, ANY, 2);
    assert_register(&state, WSDBG_REGISTER_PREDICATE + 3, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_gives_its_result),
        cmocka_unit_test(a_guard_decides_what_is_written),
        cmocka_unit_test(what_nobody_knows_may_write_anything),
        cmocka_unit_test(an_address_is_that_of_its_registers),
        cmocka_unit_test(a_clusters_number_is_a_product_of_floats),
        cmocka_unit_test(a_comparison_of_floats_is_told),
        cmocka_unit_test(other_steps_with_floats_are_not_followed),
        cmocka_unit_test(numbers_of_64_bits_go_through_floats),
        cmocka_unit_test(bits_are_known_where_a_word_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
