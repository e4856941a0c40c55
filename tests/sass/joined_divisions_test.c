/* joined_divisions_test.c - unsigned divisions that a compiler writes out step by step: which become shifts.
 */
#include "joined_lines.h"

#include "sass/thread_step.h"

/* clang-format off */
#define HALF(name, low, high, to) {.operation = WSDBG_OP_##name, UNGUARDED, .words = {low, high}, TO(R(to))}
#define MOVE(to, from) {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(R(from)))}
#define TIMES(to, a, b) {OF(OP(IMAD), UNGUARDED, TO(R(to)), FROM(R(a), R(b), ZERO))}
#define TIMES_HIGH(to, a, b) {OF(OP(IMAD), UNGUARDED, TO(R(to)), FROM(R(a), R(b), ZERO), .is_high = true)}
#define LESS(to, a, b) {OF(OP(IADD3), UNGUARDED, TO(R(to)), \
                           FROM(R(a), OPERAND(REGISTER, .number = (b), .registers = 1, .is_negated = true), ZERO))}
#define IS_AT_LEAST(p, a, b) {OF(OP(ISETP), UNGUARDED, TO(P(p), ALWAYS), FROM(R(a), R(b), ALWAYS), .mode = WSDBG_COMPARE_GE)}
#define PICK(to, a, b, p) {OF(OP(SEL), UNGUARDED, TO(R(to)), FROM(R(a), R(b), P(p)))}
/* clang-format on */

enum { DIVIDEND = 3, DIVISOR = 4, RESULT = 3 };

/* R3 / R4 as nvcc 13.0 -G writes it: R3 = threadIdx.x, R4 = the divisor.  The words of the first steps are those of
 * I2F.U32.RP, MUFU.RCP and F2I.FTZ.U32.TRUNC.NTZ. */
#define RECIPROCAL_OF_R4                                                                                          \
    HALF(I2F, 0x0000000400057306, 0x209000, 5), HALF(MUFU, 0x0000000500057308, 0x1000, 5), PLUS(5, 5, 0xffffffe), \
        HALF(F2I, 0x0000000500057305, 0x21f000, 5), TIMES(8, 5, 4), LESS(8, WSDBG_RZ, 8), MOVE(8, 8),             \
        TIMES_HIGH(8, 5, 8), SUM(8, 5, 8)
#define ESTIMATE TIMES_HIGH(8, 8, 3), TIMES(5, 8, 4), PLUS(9, 8, 1), LESS(5, 3, 5)
#define FIRST_CORRECTION IS_AT_LEAST(0, 5, 4), PICK(9, 9, 8, 0)
#define SECOND_CORRECTION PLUS(3, 9, 1), LESS(8, 5, 4), PICK(8, 8, 5, 0), IS_AT_LEAST(0, 8, 4), PICK(3, 3, 9, 0)
#define ZERO_CHECK                                                                                               \
    SET(5, 0), {OF(OP(ISETP), UNGUARDED, TO(P(0), ALWAYS), FROM(R(4), R(5), ALWAYS), .mode = WSDBG_COMPARE_NE)}, \
        {OF(OP(LOP3), UNGUARDED, TO(R(4)), FROM(ZERO, R(4), ZERO), .table = 0x33)},                              \
        {OF(OP(PLOP3), UNGUARDED, TO(P(0), ALWAYS), FROM(P(0), ALWAYS, ALWAYS), .table = 0x8)}, PICK(3, 4, 3, 0)

/* IADD3 in place of VIADD: the compiler writes no VIADD here. */
static void use_sums(struct joined_code *code)
{
    for (uint32_t i = 0; i < code->count; i++) {
        struct wsdbg_instruction *in = &code->lines[i].instruction;
        if (in->operation != WSDBG_OP_VIADD)
            continue;
        in->operation = WSDBG_OP_IADD3;
        in->sources[in->source_count++] = (struct wsdbg_operand)ZERO;
    }
}

static struct joined_code divided(const struct wsdbg_instruction *rows, uint32_t count)
{
    struct joined_code code = lines_of(rows, count);
    use_sums(&code);
    struct wsdbg_graph *graph = graph_of_lines(&code);
    joined_make_shifts(&code, graph);
    wsdbg_graph_destroy(graph);
    return code;
}

#define DIVIDED(rows) divided(rows, sizeof(rows) / sizeof *(rows))

static uint32_t count_of(const struct joined_code *code, uint8_t operation)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < code->count; i++)
        count += code->lines[i].instruction.operation == operation;
    return count;
}

/* What the code leaves in R3 where it begins with this dividend. */
static uint32_t result_of(const struct joined_code *code, uint32_t dividend)
{
    static const struct wsdbg_thread_world nothing = {0};
    struct wsdbg_thread_state *thread = calloc(1, sizeof *thread);
    assert_non_null(thread);
    thread->known[DIVIDEND] = true;
    thread->value[DIVIDEND] = dividend;
    for (uint32_t i = 0; i < code->count && code->lines[i].instruction.operation != WSDBG_OP_EXIT; i++)
        wsdbg_thread_step(&code->lines[i].instruction, &nothing, thread);
    assert_true(thread->known[RESULT]);
    const uint32_t result = thread->value[RESULT];
    free(thread);
    return result;
}

static const struct wsdbg_instruction by_128[] = {SET(6, 128),      MOVE(4, 6),        RECIPROCAL_OF_R4, ESTIMATE,
                                                  FIRST_CORRECTION, SECOND_CORRECTION, ZERO_CHECK,       FINISH};

static void test_a_division_by_a_power_of_two_becomes_a_shift(void **state)
{
    static const uint32_t dividends[] = {0, 1, 127, 128, 129, 255, 256, 383, UINT32_MAX};
    struct joined_code code = DIVIDED(by_128), as_it_was = lines_of(by_128, sizeof by_128 / sizeof *by_128);
    use_sums(&as_it_was);
    assert_int_equal(count_of(&code, WSDBG_OP_SHF), 1);
    assert_int_equal(count_of(&code, WSDBG_OP_SEL), 0); /* nothing is left to correct */
    for (size_t i = 0; i < sizeof dividends / sizeof *dividends; i++) {
        assert_int_equal(result_of(&as_it_was, dividends[i]), dividends[i] / 128);
        assert_int_equal(result_of(&code, dividends[i]), dividends[i] / 128);
    }
    free(code.lines);
    free(as_it_was.lines);
    (void)state;
}

/* The registers are other ones until the last correction. */
static void test_nothing_is_said_of_a_warp_within_the_steps(void **state)
{
    struct joined_code code = DIVIDED(by_128);
    uint32_t shift = 0, last = 0;
    for (uint32_t i = 0; i < code.count; i++) {
        shift = code.lines[i].instruction.operation == WSDBG_OP_SHF ? i : shift;
        last = code.lines[i].is_inside ? i : last;
    }
    assert_false(code.lines[shift].is_inside);
    for (uint32_t i = shift + 1; i <= last; i++)
        assert_true(code.lines[i].is_inside);
    assert_int_equal(last, code.count - 2);
    free(code.lines);
    (void)state;
}

static void test_the_remainder_is_found_too(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        SET(4, 128),   RECIPROCAL_OF_R4,     TIMES_HIGH(8, 8, 3), TIMES(8, 8, 4),
        LESS(8, 3, 8), IS_AT_LEAST(0, 8, 4), LESS(3, 8, 4),       PICK(3, 3, 8, 0),
        LESS(5, 3, 4), IS_AT_LEAST(0, 3, 4), PICK(5, 5, 3, 0),    MOVE(3, 5),
        FINISH};
    struct joined_code code = DIVIDED(rows);
    assert_int_equal(count_of(&code, WSDBG_OP_SHF), 1);
    assert_int_equal(count_of(&code, WSDBG_OP_SEL), 0);
    assert_int_equal(result_of(&code, 300), 300 % 128);
    free(code.lines);
    (void)state;
}

static void expect_as_it_was(const struct wsdbg_instruction *rows, uint32_t count)
{
    struct joined_code code = divided(rows, count), as_it_was = lines_of(rows, count);
    use_sums(&as_it_was);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(code.lines[i].instruction.operation, as_it_was.lines[i].instruction.operation);
    free(code.lines);
    free(as_it_was.lines);
}

#define EXPECT_AS_IT_WAS(rows) expect_as_it_was(rows, sizeof(rows) / sizeof *(rows))

/* No power of two; the quotient is corrected once only; the dividend is another one when it is subtracted from; the
 * divisor is not known; a comparison writes a second predicate. */
static void test_other_code_stays_as_it_is(void **state)
{
    static const struct wsdbg_instruction by_96[] = {SET(4, 96),       RECIPROCAL_OF_R4,  ESTIMATE,
                                                     FIRST_CORRECTION, SECOND_CORRECTION, FINISH};
    static const struct wsdbg_instruction once[] = {SET(4, 128), RECIPROCAL_OF_R4, ESTIMATE, FIRST_CORRECTION, FINISH};
    static const struct wsdbg_instruction other_dividend[] = {
        SET(4, 128),   RECIPROCAL_OF_R4, TIMES_HIGH(8, 8, 3), TIMES(5, 8, 4),    SET(3, 7),
        PLUS(9, 8, 1), LESS(5, 3, 5),    FIRST_CORRECTION,    SECOND_CORRECTION, FINISH};
    static const struct wsdbg_instruction by_parameter[] = {LOAD_CONSTANT(4, 0x210), RECIPROCAL_OF_R4,  ESTIMATE,
                                                            FIRST_CORRECTION,        SECOND_CORRECTION, FINISH};
    static const struct wsdbg_instruction two_answers[] = {
        SET(4, 128),
        RECIPROCAL_OF_R4,
        ESTIMATE,
        {OF(OP(ISETP), UNGUARDED, TO(P(0), P(1)), FROM(R(5), R(4), ALWAYS), .mode = WSDBG_COMPARE_GE)},
        PICK(9, 9, 8, 0),
        SECOND_CORRECTION,
        FINISH};
    EXPECT_AS_IT_WAS(two_answers);
    EXPECT_AS_IT_WAS(by_96);
    EXPECT_AS_IT_WAS(once);
    EXPECT_AS_IT_WAS(other_dividend);
    EXPECT_AS_IT_WAS(by_parameter);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_division_by_a_power_of_two_becomes_a_shift),
        cmocka_unit_test(test_nothing_is_said_of_a_warp_within_the_steps),
        cmocka_unit_test(test_the_remainder_is_found_too),
        cmocka_unit_test(test_other_code_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
