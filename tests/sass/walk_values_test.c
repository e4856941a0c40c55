/* walk_values_test.c - the values that a walk knows: sums, quotients, shared memory; and what it loads from global
 * memory, and what not.
 */
#include "walk_code.h"

/* clang-format off */
/* The beginning of a loop that stores data in shared memory, word by word: R8 is where it comes from, R0 where it
 * goes. */
#define STORE_DATA(first) {SET(8, DATA)}, {SET(9, 0)}, {SET(0, first)}, {LOAD_GLOBAL(4, 8)}, \
    {OP(STS), UNGUARDED, FROM(AT(0, 0), R(4)), .width_bytes = 4, .words = {1, 0}}, \
    {OP(IADD3), UNGUARDED, TO(R(8)), FROM(R(8), NUMBER(4), ZERO)}, \
    {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(4), ZERO)}
/* clang-format on */

/* st.async and red.async: the register pair of the address names the data and the mbarrier.  The bytes complete on the
 * mbarrier. */
static void test_an_asynchronous_store_completes_its_bytes(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(MOV), UNGUARDED, TO(R(14)), FROM(NUMBER(0x1000))},
        {OP(MOV), UNGUARDED, TO(R(15)), FROM(NUMBER(0x480))},
        {OP(STAS), UNGUARDED, FROM(PAIR_AT(14), R(4)), .width_bytes = 16},
        {OP(REDAS), UNGUARDED, FROM(PAIR_AT(14), R(4)), .width_bytes = 4},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(walk.steps[i].kind, WSDBG_ACCESS_COMPLETE);
        assert_int_equal(walk.steps[i].address, 0x480);
        assert_true(walk.steps[i].is_number_known);
        assert_int_equal(walk.steps[i].number, i ? 4 : 16);
    }
    free(walk.steps);
    (void)state;
}

/* A copy from shared memory goes to another CTA.  Then an address without a rank is in the CTA of rank 0. */
static void test_a_copy_out_of_shared_memory_may_go_to_rank_0(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(UMOV), UNGUARDED, TO(U(4)), FROM(NUMBER(0x480))},
        {OP(UBLKCP), UNGUARDED, FROM(U(4), NUMBER(64)), .writes_shared = true},
        {OP(UBLKCP), UNGUARDED, FROM(U(4), NUMBER(64)), .writes_shared = true, .reads_shared = true},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(walk.steps[i].kind, WSDBG_ACCESS_COPY);
        assert_int_equal(walk.steps[i].address, 0x480);
        assert_int_equal(walk.steps[i].may_be_remote, i == 1);
    }
    free(walk.steps);
    (void)state;
}

/* Of machine code it is known which source is the address.  Both of its registers must be known, the data not. */
static void test_what_an_asynchronous_store_sends_is_not_loaded(void **state)
{
    static const struct wsdbg_instruction sent[] = {
        {SET(8, TABLE)},        {SET(9, 0)},         {LOAD_GLOBAL(4, 8)},  {SET(14, 0x1000)},
        {SET(15, GLOBAL_WORD)}, {SEND(STAS, 14, 4)}, {SEND(REDAS, 14, 4)}, {OP(EXIT), UNGUARDED},
    };
    static const struct wsdbg_instruction names_barrier[] = {
        {SET(8, TABLE)},     {SET(9, 0)},         {LOAD_GLOBAL(15, 8)},  {SET(14, 0x1000)},
        {SEND(STAS, 14, 4)}, {SEND(STAS, 14, 4)}, {OP(EXIT), UNGUARDED},
    };
    static const struct wsdbg_instruction decides[] = {
        {SET(8, TABLE)},
        {SET(9, 0)},
        {LOAD_GLOBAL(4, 8)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(4), NUMBER(GLOBAL_WORD), ALWAYS), .mode = WSDBG_COMPARE_NE},
        {SET(14, 0x1000)},
        {SET(15, GLOBAL_WORD)},
        {SEND(STAS, 14, 4)},
        {OP(BRA), IF(0), JUMP(2)},
        {SEND(STAS, 14, 4)},
        {OP(EXIT), UNGUARDED},
    };
    static const struct {
        const char *loaded;
        const struct wsdbg_instruction *code;
        size_t count;
        uint32_t reads;
    } rows[] = {
        {"the data", sent, sizeof sent / sizeof *sent, 0},
        {"the address of the mbarrier", names_barrier, sizeof names_barrier / sizeof *names_barrier, 1},
        {"the data, on which a branch depends, too", decides, sizeof decides / sizeof *decides, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reads reads = {0, 0};
        const struct wsdbg_thread_world world = {.context = &reads, .global = global};
        print_message("%s\n", rows[i].loaded);
        struct wsdbg_walk walk = walk_in(rows[i].code, rows[i].count, &world, WITHOUT_LIMITS);
        assert_true(walk.is_whole);
        assert_int_equal(walk.count, 2);
        for (size_t k = 0; k < walk.count; k++) {
            assert_int_equal(walk.steps[k].kind, WSDBG_ACCESS_COMPLETE);
            assert_int_equal(walk.steps[k].address, GLOBAL_WORD);
        }
        assert_int_equal(reads.of_table, rows[i].reads);
        free(walk.steps);
    }
    (void)state;
}

/* A load before the loop gives the value that shared memory has now.  A load in the loop makes the loop a poll. */
static void test_shared_memory_is_read_outside_of_loops_only(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(LDS), UNGUARDED, TO(R(0)), FROM(AT(WSDBG_RZ, 0x800)), .width_bytes = 4},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(0)), .mode = WSDBG_ARRIVE_ART0},
        {OP(LDS), UNGUARDED, TO(R(1)), FROM(AT(WSDBG_RZ, 0x800)), .width_bytes = 4},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(1), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-2)},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2);
    assert_int_equal(walk.steps[0].number, 3);
    assert_int_equal(walk.steps[1].kind, WSDBG_WALK_POLL);
    free(walk.steps);
    (void)state;
}

/* In code that hands values over through shared memory a walk also loads what is stored there, but only so much of it
 * for each warp.  What a branch depends on is loaded in any case. */
static void test_data_for_shared_memory_is_loaded_up_to_a_limit(void **state)
{
    enum { STORED = 300, LOADED_MOST = 128, FIRST = 0x1000, LAST = FIRST + (STORED - 1) * 4 };
    static const struct wsdbg_instruction code[] = {
        STORE_DATA(FIRST),
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(FIRST + 4 * STORED), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-5)},
        /* Loads the first and the last of these words, and waits for a phase with each of these parities. */
        {SET(0, FIRST)},
        {OP(LDS), UNGUARDED, TO(R(5)), FROM(AT(0, 0)), .width_bytes = 4, .words = {1, 0}},
        {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(1)), FROM(AT(WSDBG_RZ, 0x400), R(5))},
        {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(LAST - FIRST), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(LAST), ALWAYS), .mode = WSDBG_COMPARE_LE},
        {OP(BRA), IF(0), JUMP(-4)},
        /* What the branch depends on is loaded last. */
        {SET(8, TABLE)},
        {SET(9, 0)},
        {LOAD_GLOBAL(6, 8)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(6), NUMBER(GLOBAL_WORD), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x600)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    static const struct {
        const char *name;
        uint32_t warp;
        bool begins_cta, begins_pass;
    } walks[] = {
        {"a warp of a CTA", .begins_cta = true},
        {"another warp of it", .warp = 1},
        {"the next pass over the CTA", .begins_pass = true},
        {"... and the other warp in it", .warp = 1},
        {"a warp of the next CTA", .begins_cta = true},
    };
    struct reads reads = {0, 0};
    const struct wsdbg_thread_world world = {.context = &reads, .global = global};
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    assert_null(wsdbg_graph_create_decoded(code, sizeof code / sizeof *code, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    for (uint32_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        struct wsdbg_walk walk;
        uint32_t together;
        print_message("%s\n", walks[i].name);
        if (walks[i].begins_pass)
            wsdbg_walk_plan_end_pass(plan);
        if (walks[i].begins_cta)
            wsdbg_walk_plan_begin_cta(plan, WSDBG_BELIEVE_BOTH);
        wsdbg_walk_plan_begin_warp(plan, walks[i].warp);
        assert_null(wsdbg_walk_lanes(plan, &world, 1, WITHOUT_LIMITS, &walk, &together));
        assert_true(walk.is_whole);
        assert_int_equal(walk.count, 3);
        assert_int_equal(walk.steps[0].is_number_known, walks[i].warp == 0); /* warp 1 finds there what warp 0 stored */
        assert_false(walk.steps[1].is_number_known);
        assert_int_equal(walk.steps[2].address, 0x600);
        assert_int_equal(reads.of_data, (i + 1) * LOADED_MOST);
        assert_int_equal(reads.of_table, i + 1);
        free(walk.steps);
    }
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    (void)state;
}

enum { POINTER = 0x198, PARAMETERS_LOW = 0x40, PARAMETERS_HIGH = 1, FIRST_PARAMETER = 7 };

/* Bank 0: the generic address of the parameters, and the first one. */
static bool with_pointer(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context;
    *value = offset_bytes == POINTER ? PARAMETERS_LOW : offset_bytes == POINTER + 4 ? PARAMETERS_HIGH : FIRST_PARAMETER;
    return bank == 0 && (offset_bytes == POINTER || offset_bytes == POINTER + 4 || offset_bytes == 0x210);
}

/* Parameters are constants, also where the code loads them by their generic addresses: they do not count. */
static void test_parameters_for_shared_memory_are_loaded_without_a_limit(void **state)
{
    enum { STORED = 300, FIRST = 0x1000, LAST = FIRST + (STORED - 1) * 4 };
    static const struct wsdbg_instruction code[] = {
        {SET(8, PARAMETERS_LOW)},
        {SET(9, PARAMETERS_HIGH)},
        {SET(0, FIRST)},
        {OP(LD), UNGUARDED, TO(R(6)), FROM(PAIR_AT(8)), .width_bytes = 4, .words = {1, 0}},
        {OP(STS), UNGUARDED, FROM(AT(0, 0), R(6)), .width_bytes = 4, .words = {1, 0}},
        {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(4), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(LAST), ALWAYS), .mode = WSDBG_COMPARE_LE},
        {OP(BRA), IF(0), JUMP(-4)},
        /* Loads the last of these words, and waits for a phase with this parity, twice. */
        {SET(2, 0)},
        {OP(LDS), UNGUARDED, TO(R(5)), FROM(AT(WSDBG_RZ, LAST)), .width_bytes = 4, .words = {1, 0}},
        {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(1)), FROM(AT(WSDBG_RZ, 0x400), R(5))},
        {OP(IADD3), UNGUARDED, TO(R(2)), FROM(R(2), NUMBER(1), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(2), NUMBER(2), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-4)},
        {OP(EXIT), UNGUARDED},
    };
    struct reads reads = {0, 0};
    const struct wsdbg_thread_world world = {
        .context = &reads, .constant = with_pointer, .global = global, .shared_window = UINT64_C(5) << 32};
    struct wsdbg_walk walk = walk_in(code, sizeof code / sizeof *code, &world, WITHOUT_LIMITS);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2);
    assert_true(walk.steps[0].is_number_known);
    assert_int_equal(walk.steps[0].number, FIRST_PARAMETER);
    free(walk.steps);
    (void)state;
}

static bool shared_now(void *context, uint32_t address, uint32_t *value)
{
    (void)context;
    (void)address;
    *value = 7;
    return true;
}

/* A trip count goes through shared memory, where by now something else is.  Data is stored there before.  Where the
 * load of the count was one too many, nobody knows the word that was stored. */
static void test_a_word_whose_load_was_left_out_is_not_what_is_there_now(void **state)
{
    enum { FIRST = 0x1000, COUNT = 0x800, DATA_END = 7 };
    static const struct wsdbg_instruction kernel[] = {
        STORE_DATA(FIRST),
        /* DATA_END */ {OP(NOP), UNGUARDED}, /* whether this was the last word: each row has its own number of them */
        {OP(BRA), IF(0), JUMP(-5)},
        /* The trip count. */
        {SET(8, TABLE)},
        {SET(9, 0)},
        {LOAD_GLOBAL(6, 8)},
        {SET(0, COUNT)},
        {OP(STS), UNGUARDED, FROM(AT(0, 0), R(6)), .width_bytes = 4, .words = {1, 0}},
        {OP(LDS), UNGUARDED, TO(R(5)), FROM(AT(0, 0)), .width_bytes = 4, .words = {1, 0}},
        /* Each wait has its parity from shared memory: the walk then follows what is stored there. */
        {SET(1, FIRST)},
        {OP(LDS), UNGUARDED, TO(R(3)), FROM(AT(1, 0)), .width_bytes = 4, .words = {1, 0}},
        {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(1)), FROM(AT(WSDBG_RZ, 0x400), R(3))},
        {OP(IADD3), UNGUARDED, TO(R(5)), FROM(R(5), NUMBER(-1), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(5), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_NE},
        {OP(BRA), IF(0), JUMP(-4)},
        {OP(EXIT), UNGUARDED},
    };
    static const struct {
        const char *name;
        uint32_t stored; /* words of data */
        bool is_known;   /* the trip count */
    } rows[] = {
        {"all is loaded", 127, true},
        {"the count is one too many", 128, false},
        {"so is data before it", 300, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction ends = {OP(ISETP), UNGUARDED, TO(P(0)),
                                               FROM(R(0), NUMBER(FIRST + 4 * rows[i].stored), ALWAYS),
                                               .mode = WSDBG_COMPARE_LT};
        struct wsdbg_instruction code[sizeof kernel / sizeof *kernel];
        struct reads reads = {0, 0};
        const struct wsdbg_thread_world world = {.context = &reads, .shared = shared_now, .global = global};
        print_message("%s\n", rows[i].name);
        memcpy(code, kernel, sizeof kernel);
        code[DATA_END] = ends;
        struct wsdbg_walk walk = walk_in(code, sizeof code / sizeof *code, &world, WITHOUT_LIMITS);
        assert_int_equal(walk.is_whole, rows[i].is_known);
        if (rows[i].is_known)
            assert_int_equal(walk.count, GLOBAL_WORD);
        free(walk.steps);
    }
    (void)state;
}

/* What an atomic returned each time: a list that ends with 0.  A thread that executed it no more finds what is there.
 */
static enum wsdbg_thread_found found(void *context, uint32_t instruction, uint32_t times, uint32_t *value)
{
    enum { ATOMIC = 2 };
    const uint32_t *results = context;
    assert_int_equal(instruction, ATOMIC);
    for (uint32_t i = 0; i <= times; i++)
        if (!results[i])
            return i == times ? WSDBG_THREAD_FOUND_NOT_YET : WSDBG_THREAD_FOUND_UNKNOWN;
    *value = results[times];
    return WSDBG_THREAD_FOUND;
}

static bool global_now(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    (void)context;
    *value = 6;
    return address == DATA && !is_generic;
}

/* A scheduler takes numbers below 9 from a counter, and arrives with each. */
static void test_an_atomic_has_the_results_that_were_kept(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {SET(8, DATA)},
        {SET(9, 0)},
        {OP(ATOMG), UNGUARDED, TO(R(2)), FROM(PAIR_AT(8), R(3)), .width_bytes = 4, .words = {1, 0}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(2)), .mode = WSDBG_ARRIVE_ART0},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(2), NUMBER(9), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-4)},
        {OP(EXIT), UNGUARDED},
    };
    static const struct {
        const char *name;
        uint32_t results[4], steps[4];
        bool is_whole, is_guessed;
    } rows[] = {
        {"all of them", {4, 7, 9}, {4, 7, 9}, true, false},
        {"not the last one, which the thread has not executed: then it finds what is there",
         {4, 7},
         {4, 7, 6},
         false,
         true},
        {"none", {0}, {6}, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_thread_world world = {
            .context = (void *)(uintptr_t)rows[i].results, .global = global_now, .found = found};
        size_t count = 0;
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = walk_in(code, sizeof code / sizeof *code, &world, WITHOUT_LIMITS);
        for (; rows[i].steps[count]; count++)
            assert_int_equal(walk.steps[count].number, rows[i].steps[count]);
        assert_int_equal(walk.count, count);
        assert_int_equal(walk.is_whole, rows[i].is_whole);
        assert_int_equal(walk.is_guessed, rows[i].is_guessed);
        free(walk.steps);
    }
    (void)state;
}

/* A thread counts itself in memory, at the end of a block, and may not ask how many came before it. */
static void test_an_atomic_whose_result_is_not_kept_is_no_guess(void **state)
{
    static const struct {
        const char *name;
        unsigned result; /* the register that gets it */
        bool is_guessed;
    } rows[] = {{"it is kept", 2, true}, {"it is not", WSDBG_RZ, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_instruction code[] = {
            {SET(8, DATA)},
            {SET(9, 0)},
            {SET(2, 1)},
            {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(9), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_LT},
            {OP(ATOMG), UNGUARDED, TO(P(WSDBG_PT), R(rows[i].result)), FROM(PAIR_AT(8), R(3)), .width_bytes = 4,
             .words = {1, 0}},
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(2)), .mode = WSDBG_ARRIVE_ART0},
            {OP(BRA), IF(0), JUMP(-1)},
            {OP(EXIT), UNGUARDED},
        };
        const struct wsdbg_thread_world world = {.global = global_now};
        print_message("%s\n", rows[i].name);
        struct wsdbg_walk walk = walk_in(code, sizeof code / sizeof *code, &world, WITHOUT_LIMITS);
        assert_int_equal(walk.count, 1);
        assert_int_equal(walk.is_guessed, rows[i].is_guessed);
        free(walk.steps);
    }
    (void)state;
}

/* A thread tries until it gets a lock, in a loop that does nothing else. */
static void test_a_poll_by_an_atomic_has_each_result_in_turn(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {SET(8, DATA)},
        {SET(9, 0)},
        {OP(ATOMG), UNGUARDED, TO(R(2)), FROM(PAIR_AT(8), R(3)), .width_bytes = 4, .words = {1, 0}},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(2), NUMBER(9), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-3)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(2)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    const uint32_t results[4] = {4, 7, 9};
    const struct wsdbg_thread_world world = {
        .context = (void *)(uintptr_t)results, .global = global_now, .found = found};
    struct wsdbg_walk walk = walk_in(code, sizeof code / sizeof *code, &world, WITHOUT_LIMITS);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.steps[0].number, 9);
    assert_false(walk.is_guessed);
    free(walk.steps);
    (void)state;
}

/* The loop count is a quotient.  Code that comes from PTX has a division as MUFU with two sources. */
static void test_a_trip_count_may_be_a_quotient(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(MUFU), UNGUARDED, TO(R(4)), FROM(CONSTANT(0x210), NUMBER(3)), .is_signed = true},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(IADD3), UNGUARDED, TO(R(4)), FROM(R(4), NUMBER(-1), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(4), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_NE},
        {OP(BRA), IF(0), JUMP(-3)},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 17);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 5);
    free(walk.steps);
    (void)state;
}

/* PRMT keeps the high half of a register that nobody knows: of the sum the low half is known. */
static void test_a_sum_is_known_as_far_as_its_addends_are(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(PRMT), UNGUARDED, TO(R(1)), FROM(ZERO, NUMBER(0x7610), R(2))},
        {OP(VIADD), UNGUARDED, TO(R(1)), FROM(R(1), NUMBER(5))},
        {OP(IADD3), UNGUARDED, TO(R(1)), FROM(R(1), NUMBER(-2), ZERO)},
        {OP(LOP3), UNGUARDED, TO(R(3)), FROM(R(1), NUMBER(0xff), ZERO), .table = 0xc0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(3)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_true(walk.is_whole);
    assert_int_equal(walk.steps[0].number, 3);
    free(walk.steps);
    (void)state;
}

/* The low word of a generic address of shared memory has the CTA's rank in its highest byte.  So the window is 4 GiB
 * where it begins at a multiple of that. */
static void test_a_generic_access_may_be_to_shared_memory_of_any_rank(void **state)
{
    static const struct {
        uint64_t window, address;
        enum wsdbg_truth is_shared;
    } cases[] = {
        {0x7e0000000000, 0x7e0000000400, WSDBG_TRUTH_YES}, {0x7e0000000000, 0x7e0001000400, WSDBG_TRUTH_YES},
        {0x7e0000000000, 0x7e0100000400, WSDBG_TRUTH_NO},  {0x7e0000000000, 0x7dff00000400, WSDBG_TRUTH_NO},
        {0x7e0002000000, 0x7e0002000400, WSDBG_TRUTH_YES}, {0x7e0002000000, 0x7e0003000400, WSDBG_TRUTH_NO},
        {0, 0x7e0000000400, WSDBG_TRUTH_UNKNOWN},
    };
    static const struct wsdbg_instruction load = {OP(LD),           UNGUARDED,        TO(R(2)),
                                                  FROM(PAIR_AT(4)), .width_bytes = 4, .words = {1, 0}},
                                          store = {OP(ST), UNGUARDED, FROM(PAIR_AT(4), R(2)), .width_bytes = 4,
                                                   .words = {1, 0}},
                                          global_store = {OP(STG), UNGUARDED, FROM(PAIR_AT(4), R(2)), .width_bytes = 4,
                                                          .words = {1, 0}};
    struct wsdbg_thread_state *thread = calloc(1, sizeof *thread);
    assert_non_null(thread);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wsdbg_thread_world world = {.shared_window = cases[i].window};
        thread->known[4] = thread->known[5] = true;
        thread->value[4] = (uint32_t)cases[i].address;
        thread->value[5] = (uint32_t)(cases[i].address >> 32);
        assert_int_equal(wsdbg_thread_names_shared(&load, &world, thread), cases[i].is_shared);
        assert_int_equal(wsdbg_thread_names_shared(&store, &world, thread), cases[i].is_shared);
        assert_int_equal(wsdbg_thread_names_shared(&global_store, &world, thread), WSDBG_TRUTH_NO);
        thread->known[5] = false;
        assert_int_equal(wsdbg_thread_names_shared(&store, &world, thread), WSDBG_TRUTH_UNKNOWN);
    }
    free(thread);
    (void)state;
}

/* Code that was not optimised takes the address of a structure among the parameters.  Bank 0 has the generic address of
 * all of them, here with the parameter that `constant` knows as the first one. */
#define PARAMETERS_AT UINT64_C(0x7f6b00000210)

static bool constant_of_parameters(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    *value = offset_bytes == 0x198 ? (uint32_t)PARAMETERS_AT : (uint32_t)(PARAMETERS_AT >> 32);
    return (bank == 0 && (offset_bytes == 0x198 || offset_bytes == 0x19c)) ||
           constant(context, bank, offset_bytes, value);
}

static struct wsdbg_walk walk_of_parameters(const struct wsdbg_instruction *code, size_t count, uint32_t parameter)
{
    const struct wsdbg_thread_world world = {.context = &parameter, .constant = constant_of_parameters};
    return walk_in(code, count, &world, WITHOUT_LIMITS);
}

#define ADDRESS_OF_PARAMETERS(pair, offset)                                                       \
    {OP(LDC),                                                                                     \
     UNGUARDED,                                                                                   \
     TO(OPERAND(REGISTER, .number = (pair), .registers = 2)),                                     \
     FROM(OPERAND(CONSTANT, .number = WSDBG_RZ, .value = 0x198, .registers = 2)),                 \
     .width_bytes = 8,                                                                            \
     .words = {1, 0}},                                                                            \
    {                                                                                             \
        OP(IADD3), UNGUARDED, TO(R(pair)), FROM(R(pair), NUMBER(offset), ZERO), .words = { 1, 0 } \
    }
#define LOAD_GENERIC(reg, pair)                                                                 \
    {                                                                                           \
        OP(LD), UNGUARDED, TO(R(reg)), FROM(PAIR_AT(pair)), .width_bytes = 4, .words = { 1, 0 } \
    }

static void test_a_parameter_has_a_generic_address(void **state)
{
    static const struct wsdbg_instruction code[] = {
        ADDRESS_OF_PARAMETERS(4, 0),
        LOAD_GENERIC(3, 4),
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(3)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    static const struct wsdbg_instruction below[] = {
        ADDRESS_OF_PARAMETERS(4, -4),
        LOAD_GENERIC(3, 4),
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(3)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = walk_of_parameters(code, sizeof code / sizeof *code, 5);
    assert_true(walk.is_whole);
    assert_int_equal(walk.steps[0].number, 5);
    free(walk.steps);
    walk = walk_of_parameters(below, sizeof below / sizeof *below, 5);
    assert_false(walk.is_whole);
    free(walk.steps);
    (void)state;
}

/* A loop that reads a parameter again waits for nothing: nobody writes it. */
static void test_a_loop_may_read_a_parameter_again(void **state)
{
    static const struct wsdbg_instruction code[] = {
        ADDRESS_OF_PARAMETERS(4, 0),
        {SET(6, 0)},
        LOAD_GENERIC(3, 4),
        {OP(VIADD), UNGUARDED, TO(R(6)), FROM(R(6), NUMBER(1))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(6), R(3), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(-3)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(6)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = walk_of_parameters(code, sizeof code / sizeof *code, 5);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.steps[0].number, 5);
    free(walk.steps);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_asynchronous_store_completes_its_bytes),
        cmocka_unit_test(test_a_copy_out_of_shared_memory_may_go_to_rank_0),
        cmocka_unit_test(test_what_an_asynchronous_store_sends_is_not_loaded),
        cmocka_unit_test(test_shared_memory_is_read_outside_of_loops_only),
        cmocka_unit_test(test_data_for_shared_memory_is_loaded_up_to_a_limit),
        cmocka_unit_test(test_parameters_for_shared_memory_are_loaded_without_a_limit),
        cmocka_unit_test(test_a_word_whose_load_was_left_out_is_not_what_is_there_now),
        cmocka_unit_test(test_an_atomic_has_the_results_that_were_kept),
        cmocka_unit_test(test_an_atomic_whose_result_is_not_kept_is_no_guess),
        cmocka_unit_test(test_a_poll_by_an_atomic_has_each_result_in_turn),
        cmocka_unit_test(test_a_trip_count_may_be_a_quotient),
        cmocka_unit_test(test_a_sum_is_known_as_far_as_its_addends_are),
        cmocka_unit_test(test_a_generic_access_may_be_to_shared_memory_of_any_rank),
        cmocka_unit_test(test_a_parameter_has_a_generic_address),
        cmocka_unit_test(test_a_loop_may_read_a_parameter_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
