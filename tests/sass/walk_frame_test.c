/* walk_frame_test.c - what a walk knows of the stack frame of machine code: words and bytes, at constant and at
 * computed places; and where nothing of it is known.
 */
#include "walk_code.h"

#include "sass/walk_stack.h"

/* clang-format off */
#define OF(...) .words = {1, 0}, __VA_ARGS__ /* machine code */
#define STORE(bytes, address, offset, reg) \
    {OF(OP(STL), UNGUARDED, FROM(AT(address, offset), R(reg)), .width_bytes = (bytes))}
#define STORE_IF(guard, bytes, address, offset, reg) \
    {OF(OP(STL), IF(guard), FROM(AT(address, offset), R(reg)), .width_bytes = (bytes))}
#define LOAD(bytes, reg, address, offset) \
    {OF(OP(LDL), UNGUARDED, TO(R(reg)), FROM(AT(address, offset)), .width_bytes = (bytes))}
#define PLUS(to, from, n) {OF(OP(VIADD), UNGUARDED, TO(R(to)), FROM(R(from), NUMBER(n)))}
/* R5 is the place of byte R3 of the frame. */
#define INDEX(n) {SET(3, n)}, {OF(OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(3), R(STACK), ZERO))}
#define COPY(to, from) {OF(OP(MOV), UNGUARDED, TO(R(to)), FROM(R(from)))}
#define UNKNOWN_INDEX {LOAD_GLOBAL(3, 30)}, {OF(OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(3), R(STACK), ZERO))}
#define PROLOGUE {OF(OP(LDC), UNGUARDED, TO(R(STACK)), FROM(CONSTANT(0x28)), .width_bytes = 4)}, PLUS(STACK, STACK, -64)
/* The walk ends with as many arrivals as R4 has; nobody knows how it goes on where that is not known. */
#define ARRIVE_R4 {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0}, \
    {OP(EXIT), UNGUARDED}
/* clang-format on */

enum { STACK = 1, MOST = 24, UNKNOWN = -1 };

struct row {
    const char *name;
    struct wsdbg_instruction code[MOST]; /* up to the EXIT */
    int64_t arrivals;
};

static size_t length_of(const struct wsdbg_instruction *code)
{
    size_t length = 0;
    while (code[length].operation != WSDBG_OP_EXIT)
        length++;
    return length + 1;
}

static void expect(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = walk_of(rows[i].code, length_of(rows[i].code), 0, WITHOUT_LIMITS);
        assert_int_equal(walk.is_whole, rows[i].arrivals != UNKNOWN);
        if (rows[i].arrivals != UNKNOWN)
            assert_int_equal(walk.steps[0].number, rows[i].arrivals);
        free(walk.steps);
    }
}

#define EXPECT(rows) expect(rows, sizeof(rows) / sizeof *(rows))

/* A register that was put into the stack frame for a while. */
static void test_a_word_of_the_stack_frame_is_followed(void **state)
{
    static const struct row rows[] = {
        {"a word",
         {PROLOGUE,
          {SET(2, 3)},
          STORE(4, STACK, 8, 2),
          {SET(2, 7)},
          STORE(4, STACK, 12, 2),
          LOAD(4, 4, STACK, 8),
          ARRIVE_R4},
         3},
        {"no word was stored there",
         {PROLOGUE, {SET(2, 3)}, STORE(4, STACK, 8, 2), LOAD(4, 4, STACK, 12), ARRIVE_R4},
         UNKNOWN},
    };
    EXPECT(rows);
    (void)state;
}

#define ARRAY PROLOGUE, {SET(2, 3)}, STORE(4, STACK, 8, 2), {SET(2, 7)}, STORE(4, STACK, 12, 2)

/* An array in the stack frame: the place of an element is computed from the stack pointer. */
static void test_an_element_of_an_array_is_followed(void **state)
{
    static const struct row rows[] = {
        {"one element", {ARRAY, INDEX(8), LOAD(4, 4, 5, 0), ARRIVE_R4}, 3},
        {"the last one", {ARRAY, INDEX(8), LOAD(4, 4, 5, 4), ARRIVE_R4}, 7},
        {"nothing was stored there", {ARRAY, INDEX(40), LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"stored at a computed place", {ARRAY, INDEX(8), STORE(4, 5, 4, 3), LOAD(4, 4, STACK, 12), ARRIVE_R4}, 8},
        {"where no instruction names a word",
         {PROLOGUE, INDEX(40), STORE(4, 5, 0, 3), LOAD(4, 4, 5, 0), ARRIVE_R4},
         40},
        {"copied", {ARRAY, INDEX(8), COPY(9, 5), LOAD(4, 4, 9, 0), ARRIVE_R4}, 3},
        {"computed in two steps", {ARRAY, INDEX(8), PLUS(9, 5, 4), LOAD(4, 4, 9, 0), ARRIVE_R4}, 7},
        {"stored at a place computed in two steps",
         {ARRAY, INDEX(8), PLUS(9, 5, 4), STORE(4, 9, 0, 3), LOAD(4, 4, STACK, 12), ARRIVE_R4},
         8},
        {"another element was stored", {ARRAY, INDEX(8), STORE(4, 5, 4, 3), LOAD(4, 4, 5, 0), ARRIVE_R4}, 3},
        {"behind the frame", {ARRAY, INDEX(0x2000), STORE(4, 5, 0, 3), LOAD(4, 4, STACK, 8), ARRIVE_R4}, 3},
    };
    EXPECT(rows);
    (void)state;
}

/* In joined code it is known which array a store is to (wsdbg_instruction.local_first): words 4 and 5 of the frame. */
static void test_a_store_to_an_array_leaves_other_words_alone(void **state)
{
#define STORE_ELEMENT(reg)                                                                                   \
    {                                                                                                        \
        OF(OP(STL), UNGUARDED, FROM(AT(5, 0), R(reg)), .width_bytes = 4, .local_first = 4, .local_words = 2) \
    }
    static const struct row rows[] = {
        {"a word beside the array", {ARRAY, UNKNOWN_INDEX, STORE_ELEMENT(2), LOAD(4, 4, STACK, 8), ARRIVE_R4}, 3},
        {"an element of it",
         {ARRAY,
          {SET(9, 5)},
          STORE(4, STACK, 16, 9),
          UNKNOWN_INDEX,
          STORE_ELEMENT(2),
          LOAD(4, 4, STACK, 16),
          ARRIVE_R4},
         UNKNOWN},
        {"the element that was stored", {ARRAY, INDEX(20), STORE_ELEMENT(2), LOAD(4, 4, STACK, 20), ARRIVE_R4}, 7},
    };
    EXPECT(rows);
    (void)state;
}

/* The loop stores to an array from which nobody loads: a walk only counts its rounds. */
static void test_a_store_that_nobody_loads_is_not_executed(void **state)
{
#define FILL(span_first, span_words)                                                                  \
    PROLOGUE, {SET(9, 5)}, STORE(4, STACK, 8, 9), {SET(6, 0)},                                        \
        {OF(OP(SHF), UNGUARDED, TO(R(3)), FROM(R(6), NUMBER(0), ZERO))},                              \
        {OF(OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(3), R(STACK), ZERO))},                             \
        {OF(OP(STL), UNGUARDED, FROM(AT(5, 16), R(6)), .width_bytes = 4, .local_first = (span_first), \
            .local_words = (span_words))},                                                            \
        PLUS(6, 6, 4), IS(0, 6, LT, 32), {OP(BRA), IF(0), JUMP(-5)}, LOAD(4, 4, STACK, 8), ARRIVE_R4
    static const struct wsdbg_instruction array[] = {FILL(4, 8)}, any[] = {FILL(0, 16)};
    struct wsdbg_walk walk = WALK(array, 0), longer = WALK(any, 0);
    assert_true(walk.is_whole);
    assert_true(longer.is_whole);
    assert_int_equal(walk.steps[0].number, 5);
    assert_int_equal(longer.steps[0].number, 5);
    assert_true(walk.work + 8 * 3 <= longer.work); /* in each of 8 rounds it leaves out the store and its address */
    free(walk.steps);
    free(longer.steps);
    (void)state;
}

/* R8: 0x01020384.  Bytes keep what they hold beside others that are stored or not known. */
static void test_bytes_of_the_stack_frame_are_followed(void **state)
{
#define WORD                        \
    PROLOGUE, {SET(8, 0x01020384)}, \
    {                               \
        SET(9, 5)                   \
    }
    static const struct row rows[] = {
        {"both bytes of a half",
         {WORD, STORE(2, STACK, 0, WSDBG_RZ), INDEX(1), STORE(1, 5, 0, 9), LOAD(2, 4, STACK, 0), ARRIVE_R4},
         0x500},
        {"a byte of a word", {WORD, STORE(4, STACK, 4, 8), INDEX(6), LOAD(1, 4, 5, 0), ARRIVE_R4}, 2},
        {"a byte at a constant place", {WORD, STORE(4, STACK, 4, 8), LOAD(1, 4, STACK, 7), ARRIVE_R4}, 1},
        {"half a word", {WORD, STORE(4, STACK, 4, 8), INDEX(6), LOAD(2, 4, 5, 0), ARRIVE_R4}, 0x102},
        {"a word of which a byte was stored",
         {WORD, STORE(4, STACK, 4, 8), INDEX(4), STORE(1, 5, 3, 9), LOAD(4, 4, STACK, 4), ARRIVE_R4},
         0x05020384},
        {"the third word of a row of four",
         {WORD,
          {OF(OP(STL), UNGUARDED, FROM(AT(STACK, 16), OPERAND(REGISTER, .number = 6, .registers = 4)),
              .width_bytes = 16)},
          INDEX(25),
          LOAD(1, 4, 5, 0),
          ARRIVE_R4},
         3},
        /* Of machine code it is not known whether a number is signed. */
        {"a byte that may be negative", {WORD, STORE(4, STACK, 4, 8), LOAD(1, 4, STACK, 4), ARRIVE_R4}, UNKNOWN},
        {"... of which only the low bits matter",
         {WORD,
          STORE(4, STACK, 4, 8),
          LOAD(1, 4, STACK, 4),
          {OF(OP(LOP3), UNGUARDED, TO(R(4)), FROM(R(4), NUMBER(0xf), ZERO), .table = 0xc0)},
          ARRIVE_R4},
         4},
        {"of two bytes one is not known", {WORD, STORE(1, STACK, 4, 9), LOAD(2, 4, STACK, 4), ARRIVE_R4}, UNKNOWN},
        {"the other one is not asked for", {WORD, STORE(1, STACK, 4, 9), LOAD(1, 4, STACK, 4), ARRIVE_R4}, 5},
    };
    EXPECT(rows);
    (void)state;
}

/* R3 and P0 come from global memory that the walk does not know. */
static void test_what_a_store_may_have_changed_is_not_known(void **state)
{
#define GUARD                                                                                       \
    {LOAD_GLOBAL(3, 30)},                                                                           \
    {                                                                                               \
        OF(OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(3), NUMBER(3), ALWAYS), .mode = WSDBG_COMPARE_EQ) \
    }
    static const struct row rows[] = {
        {"a byte at a place that is not known",
         {ARRAY, UNKNOWN_INDEX, STORE(1, 5, 0, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4},
         UNKNOWN},
        {"a load from a place that is not known", {ARRAY, UNKNOWN_INDEX, LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"stored anew since",
         {ARRAY, UNKNOWN_INDEX, STORE(1, 5, 0, 2), STORE(4, STACK, 8, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4},
         7},
        {"a store that may not execute, at a constant place",
         {ARRAY, GUARD, STORE_IF(0, 1, STACK, 8, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4},
         UNKNOWN},
        {"... into another word", {ARRAY, GUARD, STORE_IF(0, 1, STACK, 12, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4}, 3},
        {"a store that may not execute, at a computed place",
         {ARRAY, INDEX(8), GUARD, STORE_IF(0, 4, 5, 0, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4},
         UNKNOWN},
        {"across the end of the frame",
         {ARRAY,
          INDEX(60),
          {OF(OP(STL), UNGUARDED, FROM(AT(5, 0), OPERAND(REGISTER, .number = 6, .registers = 4)), .width_bytes = 16)},
          LOAD(4, 4, STACK, 8),
          ARRIVE_R4},
         UNKNOWN},
        {"across its begin",
         {ARRAY,
          INDEX(-8),
          {OF(OP(STL), UNGUARDED, FROM(AT(5, 0), OPERAND(REGISTER, .number = 6, .registers = 4)), .width_bytes = 16)},
          LOAD(4, 4, STACK, 8),
          ARRIVE_R4},
         UNKNOWN},
        {"at an address that the hardware refuses",
         {ARRAY, INDEX(10), STORE(4, 5, 0, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4},
         UNKNOWN},
    };
    EXPECT(rows);
    (void)state;
}

/* Where an address of the frame may go anywhere, somebody may store there. */
static void test_a_frame_whose_address_goes_elsewhere_is_not_followed(void **state)
{
#define HALF(name, a)                                                                                                 \
    {                                                                                                                 \
        .words = {(uint64_t)(a) << 24 | (uint64_t)WSDBG_RZ << 32, WSDBG_RZ}, .operation = WSDBG_OP_##name, UNGUARDED, \
        TO(R(20))                                                                                                     \
    }
#define FIELD_C(name, c)                                                                                            \
    {                                                                                                               \
        .words = {(uint64_t)WSDBG_RZ << 24 | (uint64_t)WSDBG_RZ << 32, c}, .operation = WSDBG_OP_##name, UNGUARDED, \
        TO(R(20))                                                                                                   \
    }
    static const struct row rows[] = {
        {"copied, and the copy is stored elsewhere",
         {ARRAY, INDEX(8), COPY(9, 5), {SEND(STG, 30, 9)}, LOAD(4, 4, 5, 0), ARRIVE_R4},
         UNKNOWN},
        {"a place computed from it is stored elsewhere",
         {ARRAY, INDEX(8), PLUS(9, 5, 4), {SEND(STG, 30, 9)}, LOAD(4, 4, 5, 0), ARRIVE_R4},
         UNKNOWN},
        {"stored in the frame", {ARRAY, INDEX(8), STORE(4, STACK, 16, 5), LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"stored at the place that it tells",
         {ARRAY, INDEX(8), STORE(4, 5, 8, 5), LOAD(4, 4, 5, 0), ARRIVE_R4},
         UNKNOWN},
        {"the pointer itself is stored", {ARRAY, STORE(4, STACK, 16, STACK), LOAD(4, 4, STACK, 8), ARRIVE_R4}, UNKNOWN},
        {"stored elsewhere", {ARRAY, INDEX(8), {SEND(STG, 30, 5)}, LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"a store to a fixed address", {ARRAY, STORE(1, WSDBG_RZ, 0x100, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4}, UNKNOWN},
        {"a calculation that is not decoded may read it",
         {ARRAY, INDEX(8), HALF(IDP, 5), LOAD(4, 4, 5, 0), ARRIVE_R4},
         UNKNOWN},
        {"... as the second of a pair", {ARRAY, INDEX(8), HALF(DADD, 4), LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"... or reads others", {ARRAY, INDEX(8), HALF(DADD, 6), LOAD(4, 4, 5, 0), ARRIVE_R4}, 3},
        {"field C does not name a source of FSEL", {ARRAY, INDEX(8), FIELD_C(FSEL, 5), LOAD(4, 4, 5, 0), ARRIVE_R4}, 3},
        {"... but one of FADD", {ARRAY, INDEX(8), FIELD_C(FADD, 5), LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"FSEL reads one register", {ARRAY, INDEX(8), HALF(FSEL, 4), LOAD(4, 4, 5, 0), ARRIVE_R4}, 3},
        {"... which may be this one", {ARRAY, INDEX(8), HALF(FSEL, 5), LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"a tile of a matrix may have it", {ARRAY, INDEX(8), HALF(HMMA, 2), LOAD(4, 4, 5, 0), ARRIVE_R4}, UNKNOWN},
        {"it has another value by then",
         {ARRAY, INDEX(8), LOAD(4, 4, 5, 0), {SET(5, 2)}, {SEND(STG, 30, 5)}, ARRIVE_R4},
         3},
    };
    EXPECT(rows);
    (void)state;
}

/* In joined code a load or store by a generic address may be to the frame, here of 4 words. */
static void test_a_generic_address_may_be_of_the_frame(void **state)
{
#define GENERIC(name, ...)                                                       \
    {                                                                            \
        OF(OP(name), UNGUARDED, __VA_ARGS__, .width_bytes = 4, .local_words = 4) \
    }
#define GENERIC_STORE(pair, reg) GENERIC(ST, FROM(PAIR_AT(pair), R(reg)))
#define GENERIC_LOAD(reg, pair) GENERIC(LD, TO(R(reg)), FROM(PAIR_AT(pair)))
/* R6, R7: the address of byte n of the frame, or one of other memory. */
#define OF_FRAME(n)                              \
    {SET(6, WALK_STACK_POINTER_AT_START + (n))}, \
    {                                            \
        SET(7, WALK_STACK_WINDOW_HIGH)           \
    }
#define ELSEWHERE                          \
    {SET(6, WALK_STACK_POINTER_AT_START)}, \
    {                                      \
        SET(7, 0x7f12)                     \
    }
#define BEGIN                                                                                    \
    {OF(OP(LDC), UNGUARDED, TO(R(STACK)), FROM(CONSTANT(0x28)), .width_bytes = 4)}, {SET(2, 3)}, \
        STORE(4, STACK, 8, 2),                                                                   \
    {                                                                                            \
        SET(2, 7)                                                                                \
    }
    static const struct row rows[] = {
        {"a load", {BEGIN, OF_FRAME(8), GENERIC_LOAD(4, 6), ARRIVE_R4}, 3},
        {"a store", {BEGIN, OF_FRAME(8), GENERIC_STORE(6, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4}, 7},
        {"a store to other memory", {BEGIN, ELSEWHERE, GENERIC_STORE(6, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4}, 3},
        {"a load from other memory", {BEGIN, ELSEWHERE, GENERIC_LOAD(4, 6), ARRIVE_R4}, UNKNOWN},
        {"a store that goes nobody knows where",
         {BEGIN, {LOAD_GLOBAL(6, 30)}, GENERIC_STORE(6, 2), LOAD(4, 4, STACK, 8), ARRIVE_R4},
         UNKNOWN},
    };
    EXPECT(rows);
    (void)state;
}

/* The kernel keeps the parity of each stage in a byte, and flips it: bool phase[2], the stage is the round modulo 2. */
static void test_parities_in_an_array_of_bytes_are_known(void **state)
{
    static const struct wsdbg_instruction code[] = {
        PROLOGUE,
        STORE(2, STACK, 0, WSDBG_RZ),
        {SET(15, 0)},
        {OF(OP(LOP3), UNGUARDED, TO(R(2)), FROM(R(15), NUMBER(1), ZERO), .table = 0xc0)},
        {OF(OP(IMAD), UNGUARDED, TO(R(11)), FROM(R(STACK), NUMBER(1), R(2)))},
        LOAD(1, 6, 11, 0),
        {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(1)), FROM(AT(WSDBG_RZ, 0x400), R(6))},
        {OF(OP(LOP3), UNGUARDED, TO(R(6)), FROM(R(6), NUMBER(1), ZERO), .table = 0x3c)},
        STORE(1, 11, 0, 6),
        PLUS(15, 15, 1),
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(15), NUMBER(6), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-8)},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(walk.steps[i].kind, WSDBG_ACCESS_WAIT);
        assert_true(walk.steps[i].is_number_known);
        assert_int_equal(walk.steps[i].number, i / 2 % 2);
    }
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_word_of_the_stack_frame_is_followed),
        cmocka_unit_test(test_an_element_of_an_array_is_followed),
        cmocka_unit_test(test_a_store_to_an_array_leaves_other_words_alone),
        cmocka_unit_test(test_a_store_that_nobody_loads_is_not_executed),
        cmocka_unit_test(test_bytes_of_the_stack_frame_are_followed),
        cmocka_unit_test(test_what_a_store_may_have_changed_is_not_known),
        cmocka_unit_test(test_a_frame_whose_address_goes_elsewhere_is_not_followed),
        cmocka_unit_test(test_a_generic_address_may_be_of_the_frame),
        cmocka_unit_test(test_parities_in_an_array_of_bytes_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
