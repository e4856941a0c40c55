/* joined_frame_test.c - the stack frame of joined code: which of its words become registers, which stay in memory, and
 * which memory generic addresses are of.
 */
#include "joined_lines.h"

#include "sass/definitions.h"
#include "sass/joined_frame.h"
#include "sass/walk_stack.h"

enum { FIRST_WORD = 256 };

static const struct wsdbg_instruction *instruction_at(const struct joined_code *code, uint32_t line)
{
    return &code->lines[line].instruction;
}

/* The frame begins 16 bytes below the place where the pointer is at first. */
static void test_words_at_constant_places_are_registers(void **state)
{
    static const struct wsdbg_instruction rows[] = {PROLOGUE, SET(2, 3), STORE(STACK, 4, 2), LOAD(4, STACK, 4), FINISH};
    struct joined_code code = FOLLOWED(rows);
    assert_true(code.lines[1].is_left_out); /* the pointer has one value */
    for (uint32_t line = 3; line <= 4; line++) {
        assert_int_equal(code.lines[line].words, 1);
        assert_int_equal(code.lines[line].word, FIRST_WORD + 1);
    }
    free(code.lines);
    (void)state;
}

/* The hardware gives a thread 512 KiB of local memory: no program that runs has a frame like this. */
static void test_a_frame_that_no_thread_can_have_is_not_followed(void **state)
{
    static const struct wsdbg_instruction fits[] = {PROLOGUE, PLUS(STACK, STACK, 16 - (512 << 10)), STORE(STACK, 4, 2),
                                                    LOAD(4, STACK, 4), FINISH};
    static const struct wsdbg_instruction is_larger[] = {PROLOGUE, PLUS(STACK, STACK, 12 - (512 << 10)),
                                                         STORE(STACK, 4, 2), LOAD(4, STACK, 4), FINISH};
    struct joined_code code = FOLLOWED(fits), larger = FOLLOWED(is_larger);
    assert_int_equal(code.lines[3].words, 1);
    assert_int_equal(larger.lines[3].words, 0);
    assert_false(larger.lines[1].is_left_out);
    free(code.lines);
    free(larger.lines);
    (void)state;
}

/* A function that was joined to the code has a frame of its own below; a pointer into the caller's one is passed. */
static void test_a_pointer_to_a_variable_is_followed(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        LOAD_CONSTANT(6, WINDOW),
        PLUS(8, STACK, 8),
        SUM(4, 8, 6), /* the generic address of a variable */
        LOAD_CONSTANT(5, WINDOW + 4),
        PLUS(STACK, STACK, -16),
        STORE(STACK, 0, 4), /* the parameter of a function */
        STORE(STACK, 4, 5),
        LOAD(10, STACK, 0),
        LOAD(11, STACK, 4),
        STORE_GENERIC(10, 2),
        PLUS(STACK, STACK, 16),
        LOAD(3, STACK, 8),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    const uint16_t variable = FIRST_WORD + (16 + 8) / 4;
    assert_int_equal(code.lines[11].words, 1);
    assert_int_equal(code.lines[11].word, variable);
    assert_int_equal(code.lines[13].words, 1);
    assert_int_equal(code.lines[13].word, variable);
    free(code.lines);
    (void)state;
}

/* The index comes from memory that nobody knows: a store there may be to any word of the program. */
static void test_a_store_to_any_word_leaves_them_in_memory(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        {OF(OP(LDG), UNGUARDED, TO(R(6)), FROM(PAIR_AT(30)), .width_bytes = 4)},
        {OF(OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(STACK), R(6), R(7)))},
        STORE(5, 0, 2),
        STORE(STACK, 4, 2),
        LOAD(4, STACK, 4),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(code.lines[6].words, 0);
    assert_int_equal(instruction_at(&code, 6)->operation, WSDBG_OP_LDL);
    assert_int_equal(instruction_at(&code, 4)->local_words, FRAME_BYTES / 4);
    free(code.lines);
    (void)state;
}

/* An array of two words: the index is 0 or 4.  The words beside it are registers all the same. */
static void test_an_array_stays_in_memory(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        {OF(OP(LDG), UNGUARDED, TO(R(6)), FROM(PAIR_AT(30)), .width_bytes = 4)},
        {OF(OP(LOP3), UNGUARDED, TO(R(6)), FROM(R(6), NUMBER(4), ZERO), .table = 0xc0)},
        SUM(5, STACK, 6),
        STORE(5, 0, 2),
        STORE(STACK, 8, 2),
        LOAD(4, STACK, 4),
        LOAD(9, STACK, 8),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(code.lines[7].words, 0);
    assert_int_equal(instruction_at(&code, 7)->operation, WSDBG_OP_LDL);
    assert_int_equal(instruction_at(&code, 5)->local_first, 0); /* of the frame's four words the two of the array */
    assert_int_equal(instruction_at(&code, 5)->local_words, 2);
    assert_int_equal(code.lines[6].words, 1);
    assert_int_equal(code.lines[8].words, 1);
    assert_int_equal(code.lines[8].word, code.lines[6].word);
    free(code.lines);
    (void)state;
}

/* What is added is a number the first time, and then one of several. */
static void test_an_index_of_an_index_has_a_range(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        {OF(OP(LDG), UNGUARDED, TO(R(8)), FROM(PAIR_AT(30)), .width_bytes = 4)},
        {OF(OP(LOP3), UNGUARDED, TO(R(8)), FROM(R(8), NUMBER(4), ZERO), .table = 0xc0)},
        SET(6, 0),
        SUM(5, STACK, 6), /* 5: the loop */
        SUM(7, 5, 8),
        STORE(7, 0, 2),
        {OF(OP(MOV), UNGUARDED, TO(R(6)), FROM(R(8)))},
        BRANCH_IF(0, -4),
        LOAD(4, STACK, 8),
        LOAD(9, STACK, 12),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(code.lines[10].words, 0);
    assert_int_equal(code.lines[11].words, 1);
    free(code.lines);
    (void)state;
}

/* A store to any word of the frame, where no way leads: the word at the frame's begin is always 1. */
static void test_what_no_way_leads_to_stores_nothing(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        LOAD_CONSTANT(STACK, 0x28),
        PLUS(STACK, STACK, -6000),
        SET(2, 1),
        STORE(STACK, 0, 2),
        LOAD(3, STACK, 0),
        {OF(OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(3), NUMBER(1), ALWAYS), .mode = WSDBG_COMPARE_EQ)},
        BRANCH_IF(0, 4),
        {OF(OP(LDG), UNGUARDED, TO(R(6)), FROM(PAIR_AT(30)), .width_bytes = 4)},
        {OF(OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(STACK), R(6), R(7)))},
        STORE(5, 0, 2),
        LOAD(4, STACK, 0),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_true(code.lines[9].is_dead);
    assert_int_equal(code.lines[10].words, 1);
    free(code.lines);
    (void)state;
}

/* A pointer to the frame in memory that others can write, or with a function that nobody knows. */
static void test_an_address_that_goes_elsewhere_leaves_words_in_memory(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,           PLUS(4, STACK, 8), {LEAD(OP(CALL), UNGUARDED, FROM(R(20)))},
        STORE(STACK, 4, 2), LOAD(3, STACK, 4), FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(code.lines[5].words, 0);
    free(code.lines);
    (void)state;
}

/* The high word of the address tells. */
static void test_the_memory_of_generic_addresses_is_found(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        {OF(OP(S2R), UNGUARDED, TO(R(7)), FROM(SPECIAL(SHARED_HIGH)))},
        SET(6, 0x400),
        LOAD_GENERIC(4, 6),
        LOAD_CONSTANT(8, PARAMETER),
        LOAD_CONSTANT(9, PARAMETER + 4),
        STORE_GENERIC(8, 4),
        {OF(OP(LDG), UNGUARDED, TO(OPERAND(REGISTER, .number = 12, .registers = 2)), FROM(PAIR_AT(30)),
            .width_bytes = 8)},
        LOAD_GENERIC(4, 12),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(instruction_at(&code, 4)->operation, WSDBG_OP_LDS);
    assert_int_equal(instruction_at(&code, 4)->sources[0].registers, 1);
    assert_int_equal(instruction_at(&code, 7)->operation, WSDBG_OP_STG);
    assert_int_equal(instruction_at(&code, 9)->operation, WSDBG_OP_LD); /* the host may have put any address there */
    free(code.lines);
    (void)state;
}

/* A pointer into an array, as a reference to one of its elements is: no walk takes the store for one to shared memory.
 */
static void test_a_generic_access_to_an_array_is_one_of_the_frame(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        LOAD_CONSTANT(8, WINDOW),
        LOAD_CONSTANT(13, WINDOW + 4),
        {OF(OP(LDG), UNGUARDED, TO(R(6)), FROM(PAIR_AT(30)), .width_bytes = 4)},
        {OF(OP(LOP3), UNGUARDED, TO(R(6)), FROM(R(6), NUMBER(4), ZERO), .table = 0xc0)},
        SUM(10, STACK, 8),
        SUM(12, 10, 6),
        STORE_GENERIC(12, 2),
        LOAD_GENERIC(3, 12),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(instruction_at(&code, 8)->operation, WSDBG_OP_STL);
    assert_int_equal(instruction_at(&code, 8)->sources[0].registers, 1); /* the low word */
    assert_int_equal(instruction_at(&code, 8)->local_words, 2);
    assert_int_equal(instruction_at(&code, 9)->operation, WSDBG_OP_LDL);
    free(code.lines);
    (void)state;
}

/* A structure among the parameters is passed by its address, and has a pointer 8 bytes behind its begin. */
static void test_what_is_loaded_from_a_parameter_s_address_is_a_parameter(void **state)
{
    enum { POINTER = 0x198 };
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        LOAD_CONSTANT(6, POINTER),
        LOAD_CONSTANT(7, POINTER + 4),
        {OF(OP(IADD3), UNGUARDED, TO(R(6), P(0)), FROM(R(6), NUMBER(8), ZERO))},
        {OF(OP(IADD3), UNGUARDED, TO(R(7)), FROM(R(7), ZERO, ZERO, P(0)), .has_carry_in = true)},
        {OF(OP(LD), UNGUARDED, TO(OPERAND(REGISTER, .number = 8, .registers = 2)), FROM(PAIR_AT(6)), .width_bytes = 8)},
        STORE_GENERIC(8, 4),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(instruction_at(&code, 6)->operation, WSDBG_OP_LD);
    assert_int_equal(instruction_at(&code, 7)->operation, WSDBG_OP_STG);
    free(code.lines);
    (void)state;
}

/* QSPC R6: the CTA's shared memory? */
static void test_questions_for_the_memory_are_answered(void **state)
{
    enum { ASKS_SHARED = 2, SPACE_SHIFT = 9 };
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        {OF(OP(S2R), UNGUARDED, TO(R(7)), FROM(SPECIAL(SHARED_HIGH)))},
        SET(6, 0x400),
        {.words = {UINT64_C(6) << 24, ASKS_SHARED << SPACE_SHIFT},
         .operation = WSDBG_OP_QSPC,
         .guard = WSDBG_PT,
         TO(P(0))},
        BRANCH_IF(0, 2),
        SET(2, 1),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(instruction_at(&code, 4)->operation, WSDBG_OP_ISETP);
    assert_int_equal(instruction_at(&code, 4)->mode, WSDBG_COMPARE_T);
    assert_int_equal(instruction_at(&code, 5)->guard, WSDBG_PT);
    assert_true(code.lines[6].is_dead);
    free(code.lines);
    (void)state;
}

/* A condition that was a constant in the source: if (0) ... */
static void test_conditions_of_numbers_are_decided(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        SET(2, 0),
        {OF(OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(2), NUMBER(1), ALWAYS), .mode = WSDBG_COMPARE_EQ)},
        BRANCH_IF(0, 2),
        BRANCH(2),
        SET(3, 1),
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_true(code.lines[4].is_left_out);
    assert_false(code.lines[4].is_dead);
    assert_true(code.lines[6].is_dead);
    free(code.lines);
    (void)state;
}

/* A pointer that is not followed: of the frame nothing is changed. */
#define IS_ZERO(n, reg)                                                                                           \
    {                                                                                                             \
        .words = {0x20c, 0}, OP(ISETP), UNGUARDED, .mode = WSDBG_COMPARE_EQ, TO(P(n)), FROM(R(reg), ZERO, ALWAYS) \
    }

/* A word is 0, some function is given its address, and a branch asks for the word. */
static bool is_decided_behind_call(bool calls_program)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        SET(2, 0),
        STORE(STACK, 4, 2),
        LOAD_CONSTANT(6, WINDOW),
        PLUS(8, STACK, 4),
        SUM(4, 8, 6),
        LOAD_CONSTANT(5, WINDOW + 4),
        {LEAD(OP(CALL), UNGUARDED, .has_target = true, .is_absolute = true, .target_offset_bytes = 0x7f0000000)},
        LOAD(4, STACK, 4),
        IS_ZERO(0, 4),
        BRANCH_IF(0, 2),
        SET(3, 1),
        FINISH,
    };
    struct joined_code code = lines_of(rows, sizeof rows / sizeof *rows);
    struct wsdbg_graph *graph = graph_of_lines(&code);
    code.calls_program = calls_program;
    assert_null(joined_follow_frame(&code, graph));
    const bool is_dead = code.lines[12].is_dead;
    wsdbg_graph_destroy(graph);
    free(code.lines);
    return is_dead;
}

static void test_a_function_of_the_program_may_store_where_it_is_told(void **state)
{
    assert_true(is_decided_behind_call(false)); /* the driver's functions do not */
    assert_false(is_decided_behind_call(true));
    (void)state;
}

/* A word is 0, a function within the function stores to it, and a branch asks for the word. */
static void test_a_function_within_the_function_may_store_to_the_frame(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        SET(2, 0),
        LOAD_CONSTANT(7, PARAMETER),
        STORE(STACK, 4, 2),
        {LEAD(OP(CALL), UNGUARDED, JUMP(7))},
        LOAD(4, STACK, 4),
        IS_ZERO(0, 4),
        BRANCH_IF(0, 2),
        SET(3, 1),
        FINISH,
        FINISH,
        STORE(STACK, 4, 7), /* the function */
        {LEAD(OP(RET), UNGUARDED, FROM({.kind = WSDBG_OPERAND_REGISTER, .number = 20, .registers = 2}))},
    };
    struct joined_code code = FOLLOWED(rows);
    assert_false(code.lines[9].is_dead);
    free(code.lines);
    (void)state;
}

static void test_an_access_that_begins_below_the_frame_stays(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        SET(2, 3),
        {OF(OP(STL), UNGUARDED, FROM(AT(STACK, -4), {.kind = WSDBG_OPERAND_REGISTER, .number = 2, .registers = 2}),
            .width_bytes = 8)},
        FINISH,
    };
    struct joined_code code = FOLLOWED(rows);
    assert_int_equal(code.lines[3].words, 0);
    free(code.lines);
    (void)state;
}

static void test_without_the_pointer_all_stays(void **state)
{
    static const struct wsdbg_instruction rows[] = {
        PROLOGUE,
        {OF(OP(IADD3), UNGUARDED, TO(R(STACK)), FROM(R(STACK), R(6), ZERO))},
        STORE(STACK, 4, 2),
        LOAD(4, STACK, 4),
        FINISH};
    struct joined_code code = FOLLOWED(rows);
    for (uint32_t line = 0; line < code.count; line++) {
        assert_int_equal(code.lines[line].words, 0);
        assert_int_equal(instruction_at(&code, line)->operation, rows[line].operation);
        assert_false(code.lines[line].is_left_out);
    }
    free(code.lines);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_at_constant_places_are_registers),
        cmocka_unit_test(test_a_frame_that_no_thread_can_have_is_not_followed),
        cmocka_unit_test(test_a_pointer_to_a_variable_is_followed),
        cmocka_unit_test(test_a_store_to_any_word_leaves_them_in_memory),
        cmocka_unit_test(test_an_array_stays_in_memory),
        cmocka_unit_test(test_an_index_of_an_index_has_a_range),
        cmocka_unit_test(test_what_no_way_leads_to_stores_nothing),
        cmocka_unit_test(test_an_address_that_goes_elsewhere_leaves_words_in_memory),
        cmocka_unit_test(test_the_memory_of_generic_addresses_is_found),
        cmocka_unit_test(test_a_generic_access_to_an_array_is_one_of_the_frame),
        cmocka_unit_test(test_what_is_loaded_from_a_parameter_s_address_is_a_parameter),
        cmocka_unit_test(test_questions_for_the_memory_are_answered),
        cmocka_unit_test(test_conditions_of_numbers_are_decided),
        cmocka_unit_test(test_a_function_of_the_program_may_store_where_it_is_told),
        cmocka_unit_test(test_a_function_within_the_function_may_store_to_the_frame),
        cmocka_unit_test(test_an_access_that_begins_below_the_frame_stays),
        cmocka_unit_test(test_without_the_pointer_all_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
