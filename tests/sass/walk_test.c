/* walk_test.c - the walk of one thread through a kernel: which accesses it executes, how often and with which operands;
 * what happens at a branch whose condition is unknown; what it loads from global memory, and what not.
 *
 * Code is written as instructions, their operands in nvdisasm's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/flow.h"
#include "sass/thread_load.h"
#include "sass/walk.h"

/* clang-format off */
#define OPERAND(k, ...) {.kind = WSDBG_OPERAND_##k, __VA_ARGS__}
#define R(n) OPERAND(REGISTER, .number = (n), .registers = 1)
#define ZERO R(WSDBG_RZ)
#define P(n) OPERAND(PREDICATE, .number = (n), .registers = 1)
#define ALWAYS P(WSDBG_PT)
#define NUMBER(n) OPERAND(IMMEDIATE, .value = (n), .registers = 1)
#define SPECIAL(n) OPERAND(SPECIAL, .value = (n), .registers = 1)
#define CONSTANT(offset) OPERAND(CONSTANT, .number = WSDBG_RZ, .value = (offset), .registers = 1)
#define U(n) OPERAND(UNIFORM, .number = (n), .registers = 1)
#define AT_UNIFORM(n) OPERAND(MEMORY, .number = WSDBG_RZ, .uniform = (n), .registers = 1)
#define AT(reg, offset) OPERAND(MEMORY, .number = (reg), .uniform = WSDBG_URZ, .value = (offset), .registers = 1)
#define PAIR_AT(reg) OPERAND(MEMORY, .number = (reg), .uniform = WSDBG_URZ, .registers = 2)
#define OP(name) .operation = WSDBG_OP_##name, .is_whole = true
#define TO(...) .destinations = {__VA_ARGS__}, \
    .destination_count = sizeof (struct wsdbg_operand[]){__VA_ARGS__} / sizeof(struct wsdbg_operand)
#define FROM(...) .sources = {__VA_ARGS__}, \
    .source_count = sizeof (struct wsdbg_operand[]){__VA_ARGS__} / sizeof(struct wsdbg_operand)
#define UNGUARDED .guard = WSDBG_PT
#define IF(n) .guard = (n)
#define JUMP(rows) .has_target = true, .target_offset_bytes = (rows) * WSDBG_INSTRUCTION_BYTES
#define SET(reg, n) OP(MOV), UNGUARDED, TO(R(reg)), FROM(NUMBER(n))
#define LOAD_GLOBAL(reg, pair) OP(LDG), UNGUARDED, TO(R(reg)), FROM(PAIR_AT(pair)), .width_bytes = 4, .words = {1, 0}
#define SEND(op, pair, reg) OP(op), UNGUARDED, FROM(PAIR_AT(pair), R(reg)), .width_bytes = 4, .words = {1, 0}
/* clang-format on */

enum { LANE = 0, TID_X = 33, ROUNDS = 7, LONG = 1 << 20 };
#define SHFL_UP UINT64_C(1)
#define VOTE_ANY UINT64_C(1)

static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    *value = *(const uint32_t *)context;
    return bank == 0 && offset_bytes == 0x210;
}

static bool special(void *context, uint32_t number, uint32_t *value)
{
    (void)context;
    *value = 0;
    return number == TID_X;
}

static bool shared(void *context, uint32_t address, uint32_t *value)
{
    (void)context;
    *value = 3;
    return address == 0x800;
}

enum { TABLE = 0x5000, DATA = 0x8000, GLOBAL_WORD = 2 };

/* How often words of global memory were read: those from DATA on, and those below. */
struct reads {
    uint32_t of_data, of_table;
};

static bool global(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    struct reads *reads = context;
    *(address < DATA ? &reads->of_table : &reads->of_data) += 1;
    *value = GLOBAL_WORD;
    return !is_generic;
}

static struct wsdbg_walk walk_in(const struct wsdbg_instruction *code, size_t count,
                                 const struct wsdbg_thread_world *world, struct wsdbg_walk_limits limits)
{
    uint32_t together;
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    assert_null(wsdbg_walk_lanes(plan, world, 1, limits, &walk, &together));
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

static struct wsdbg_walk walk_of(const struct wsdbg_instruction *code, size_t count, uint32_t parameter,
                                 struct wsdbg_walk_limits limits)
{
    const struct wsdbg_thread_world world = {&parameter, constant, special, shared, NULL, 0};
    return walk_in(code, count, &world, limits);
}

#define WITHOUT_LIMITS ((struct wsdbg_walk_limits){LONG, LONG, NULL, NULL})
#define WALK(code, parameter) walk_of(code, sizeof(code) / sizeof *(code), parameter, WITHOUT_LIMITS)

/* for (i = 0; i < parameter; i++) { wait(barrier at 0x400 + i % 2 * 8, parity i / 2 & 1); arrive(0x40 behind it); } */
static const struct wsdbg_instruction ring[] = {
    {OP(MOV), UNGUARDED, TO(R(0)), FROM(NUMBER(0))},
    {OP(LOP3), UNGUARDED, TO(R(1)), FROM(R(0), NUMBER(1), ZERO), .table = 0xc0},
    {OP(SHF), UNGUARDED, TO(R(2)), FROM(ZERO, NUMBER(1), R(0)), .is_right_shift = true, .is_high = true},
    {OP(IMAD), UNGUARDED, TO(R(3)), FROM(R(1), NUMBER(8), NUMBER(0x400))},
    {OP(SYNCS_PHASECHK), UNGUARDED, TO(P(1)), FROM(AT(3, 0), R(2))},
    {OP(BRA), IF(1), .guard_is_negated = true, JUMP(-1)},
    {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(3, 0x40)), .mode = WSDBG_ARRIVE_A1T0},
    {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(1), ZERO)},
    {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), CONSTANT(0x210), ALWAYS), .mode = WSDBG_COMPARE_LT},
    {OP(BRA), IF(0), JUMP(-8)},
    {OP(EXIT), UNGUARDED},
};

static void test_every_round_has_its_barrier_and_its_parity(void **state)
{
    struct wsdbg_walk walk = WALK(ring, ROUNDS);
    assert_true(walk.is_whole);
    assert_int_equal(walk.count, 2 * ROUNDS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct wsdbg_walk_step *wait = &walk.steps[2 * i], *arrive = wait + 1;
        assert_int_equal(wait->kind, WSDBG_ACCESS_WAIT);
        assert_int_equal(wait->address, 0x400 + i % 2 * 8);
        assert_int_equal(wait->number & 1, i / 2 % 2);
        assert_int_equal(arrive->kind, WSDBG_ACCESS_ARRIVE);
        assert_int_equal(arrive->address, wait->address + 0x40);
        assert_int_equal(arrive->number, 1);
    }
    free(walk.steps);
    (void)state;
}

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
        const struct wsdbg_thread_world world = {&reads, NULL, NULL, NULL, global, 0};
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

static void test_a_limit_ends_a_walk_that_is_not_whole(void **state)
{
    struct wsdbg_walk walk =
        walk_of(ring, sizeof ring / sizeof *ring, 1u << 30, (struct wsdbg_walk_limits){LONG, 10, NULL, NULL});
    assert_false(walk.is_whole);
    assert_int_equal(walk.count, 10);
    free(walk.steps);
    (void)state;
}

/* Two branches depend on a value from memory.  The first one skips no access: the walk goes on behind it.  The second
 * one may skip an arrival: the walk ends there. */
static void test_what_nobody_can_decide_is_passed_or_ends_the_walk(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(AT(8, 0)), .width_bytes = 4},
        {OP(MOV), UNGUARDED, TO(R(1)), FROM(NUMBER(0x400))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(MOV), UNGUARDED, TO(R(5)), FROM(NUMBER(1))},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 0)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(1, 8)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(code, 0);
    assert_false(walk.is_whole);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.steps[0].address, 0x400);
    assert_int_equal(walk.lost_at, 6);
    free(walk.steps);
    (void)state;
}

/* The side that may be skipped calls a function that lies behind the kernel.  It counts as a part of the side. */
static void test_a_side_that_calls_a_function_is_passed_as_its_code_allows(void **state)
{
    enum { COUNT = 5, CALLED = 7, CALLED_LAST = 9, WORD = 3 };
    static const struct wsdbg_instruction kernel[] = {
        {OP(LDG), UNGUARDED, TO(R(0)), FROM(AT(8, 0)), .width_bytes = 4},
        {SET(COUNT, WORD)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(5), ALWAYS), .mode = WSDBG_COMPARE_LT},
        {OP(BRA), IF(0), JUMP(2)},
        {OP(CALL), UNGUARDED, JUMP(3)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(COUNT)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
        /* CALLED */ {OP(NOP), UNGUARDED},
        {OP(RET), UNGUARDED},
        /* CALLED_LAST */ {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x480)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(RET), UNGUARDED},
    };
    static const struct {
        const char *name; /* what the function does */
        struct wsdbg_instruction does;
        uint32_t lost_at; /* 0 = the walk is whole, with its one arrival */
    } functions[] = {
        {"writes what nobody needs", {SET(7, 1)}, 0},
        {"writes the count of the arrival", {SET(COUNT, 1)}, 5},
        {"arrives", {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x480)), .mode = WSDBG_ARRIVE_A1T0}, 3},
        {"calls another function, which arrives", {OP(CALL), UNGUARDED, JUMP(CALLED_LAST - CALLED)}, 3},
        {"calls nobody knows what", {OP(CALL), UNGUARDED}, 3},
        {"may leave the kernel", {OP(EXIT), IF(1)}, 3},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct wsdbg_instruction code[sizeof kernel / sizeof *kernel];
        print_message("it %s\n", functions[i].name);
        memcpy(code, kernel, sizeof kernel);
        code[CALLED] = functions[i].does;
        struct wsdbg_walk walk = WALK(code, 0);
        assert_int_equal(walk.is_whole, !functions[i].lost_at);
        if (functions[i].lost_at) {
            assert_int_equal(walk.count, 0);
            assert_int_equal(walk.lost_at, functions[i].lost_at);
        } else {
            assert_int_equal(walk.count, 1);
            assert_int_equal(walk.steps[0].number, WORD);
        }
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
        /* Stores the data in shared memory, word by word. */
        {SET(8, DATA)},
        {SET(9, 0)},
        {SET(0, FIRST)},
        {LOAD_GLOBAL(4, 8)},
        {OP(STS), UNGUARDED, FROM(AT(0, 0), R(4)), .width_bytes = 4, .words = {1, 0}},
        {OP(IADD3), UNGUARDED, TO(R(8)), FROM(R(8), NUMBER(4), ZERO)},
        {OP(IADD3), UNGUARDED, TO(R(0)), FROM(R(0), NUMBER(4), ZERO)},
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
    const struct wsdbg_thread_world world = {&reads, NULL, NULL, NULL, global, 0};
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
            wsdbg_walk_plan_begin_cta(plan, true);
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

/* ---- a whole warp ---- */

static bool lane_of(void *context, uint32_t number, uint32_t *value)
{
    *value = *(const uint32_t *)context;
    return number == LANE;
}

/* Of the group with lane 0; *together: its lanes. */
static struct wsdbg_walk walk_of_warp(const struct wsdbg_instruction *code, size_t count, uint32_t *together)
{
    uint32_t lanes[WSDBG_WALK_LANES];
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        lanes[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){&lanes[lane], constant, lane_of, NULL, NULL, 0};
    }
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    assert_null(wsdbg_walk_lanes(plan, worlds, UINT32_MAX, (struct wsdbg_walk_limits){LONG, LONG, NULL, NULL}, &walk,
                                 together));
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

/* Each lane adds the number of the one before; lane 0 adds its own.  A ballot shows the lanes with more than 40. */
static void test_machine_code_says_in_its_words_what_lanes_exchange(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(SHFL), UNGUARDED, TO(R(1)), FROM(R(0), NUMBER(1), NUMBER(0)), .words = {SHFL_UP << 58, 1}},
        {OP(IADD3), UNGUARDED, TO(R(2)), FROM(R(0), R(1), ZERO)},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(2), NUMBER(40), ALWAYS), .mode = WSDBG_COMPARE_GT},
        {OP(VOTE), UNGUARDED, TO(R(3), P(1)), FROM(P(0)), .words = {0, VOTE_ANY << (72 - 64)}},
        {OP(POPC), UNGUARDED, TO(R(4)), FROM(R(3)), .words = {1, 0}},
        {OP(FLO), UNGUARDED, TO(R(5)), FROM(R(3)), .words = {1, 0}},
        {OP(FLO), UNGUARDED, TO(R(6)), FROM(R(3)), .words = {1, 1 << (74 - 64)}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(5)), .mode = WSDBG_ARRIVE_ART0},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(6)), .mode = WSDBG_ARRIVE_ART0},
        {OP(BRA), IF(1), JUMP(2)},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    uint32_t together;
    struct wsdbg_walk walk = walk_of_warp(code, sizeof code / sizeof *code, &together);
    assert_true(walk.is_whole);
    assert_int_equal(together, UINT32_MAX);
    assert_int_equal(walk.count, 3);
    assert_int_equal(walk.steps[0].number, 11); /* 2 * lane - 1 > 40: lanes 21 to 31 */
    assert_int_equal(walk.steps[1].number, 31);
    assert_int_equal(walk.steps[2].number, 0);
    free(walk.steps);
    (void)state;
}

/* One plan: the group with lane 0, then the lanes that left it. */
static void walk_both(const struct wsdbg_instruction *code, size_t count, struct wsdbg_walk walks[2], uint32_t lanes[2])
{
    uint32_t numbers[WSDBG_WALK_LANES];
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    uint32_t left = UINT32_MAX;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        numbers[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){&numbers[lane], constant, lane_of, NULL, NULL, 0};
    }
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    for (unsigned i = 0; i < 2; i++) {
        assert_null(wsdbg_walk_lanes(plan, worlds, left, (struct wsdbg_walk_limits){LONG, LONG, NULL, NULL}, &walks[i],
                                     &lanes[i]));
        assert_true(walks[i].is_whole);
        left &= ~lanes[i];
    }
    assert_int_equal(left, 0);
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
}
#define WALK_BOTH(code, walks, lanes) walk_both(code, sizeof(code) / sizeof *(code), walks, lanes)

static void free_both(struct wsdbg_walk walks[2])
{
    free(walks[0].steps);
    free(walks[1].steps);
}

/* Lane 0 alone copies an address to a uniform register, and all lanes arrive there; so do those that have left it. */
static void test_a_uniform_register_is_that_of_all_lanes(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(MOV), UNGUARDED, TO(R(5)), FROM(NUMBER(0x400))},
        {OP(R2UR), IF(0), TO(U(10)), FROM(R(5))},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT_UNIFORM(10)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(SYNCS_ARRIVE), IF(0), FROM(AT(WSDBG_RZ, 0x500)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 2);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_int_equal(walks[1].steps[0].address, 0x400);
    free_both(walks);
    (void)state;
}

/* while (some lane is left) { R2UR takes the value of one of those that are left; those with this value arrive } */
static void test_a_loop_over_different_values_serves_each_lane_once(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(S2R), UNGUARDED, TO(R(0)), FROM(SPECIAL(LANE))},
        {OP(ISETP), UNGUARDED, TO(P(0)), FROM(R(0), NUMBER(0), ALWAYS), .mode = WSDBG_COMPARE_EQ},
        {OP(SEL), UNGUARDED, TO(R(1)), FROM(NUMBER(0x400), NUMBER(0x500), P(0))},
        {OP(R2UR), UNGUARDED, TO(P(1), U(4)), FROM(R(1))},
        {OP(SYNCS_ARRIVE), IF(1), .guard_is_negated = true, FROM(AT_UNIFORM(4)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(BRA), IF(1), JUMP(-2)},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 1);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[1].steps[0].address, 0x500);
    free_both(walks);
    (void)state;
}

static void test_a_bulk_copy_is_issued_once_for_the_warp(void **state)
{
    static const struct wsdbg_instruction code[] = {
        {OP(UMOV), UNGUARDED, TO(U(8)), FROM(NUMBER(0x1000))},
        {OP(UMOV), UNGUARDED, TO(U(9)), FROM(NUMBER(0x400))},
        {OP(UTMALDG), UNGUARDED, FROM(OPERAND(UNIFORM, .number = 8, .registers = 4)), .words = {1, 0}},
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400)), .mode = WSDBG_ARRIVE_A1T0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walks[2];
    uint32_t lanes[2];
    WALK_BOTH(code, walks, lanes);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(walks[0].count, 2);
    assert_int_equal(walks[0].steps[0].kind, WSDBG_ACCESS_COPY);
    assert_int_equal(walks[0].steps[0].address, 0x400);
    assert_int_equal(walks[1].count, 1);
    assert_int_equal(walks[1].steps[0].kind, WSDBG_ACCESS_ARRIVE);
    free_both(walks);
    (void)state;
}

/* ---- values ---- */

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

#define FRAME(offset) OPERAND(MEMORY, .number = 1, .uniform = WSDBG_URZ, .value = (offset), .registers = 1)
#define STORE_IN_FRAME(offset, reg)                                                          \
    {                                                                                        \
        OP(STL), UNGUARDED, FROM(FRAME(offset), R(reg)), .width_bytes = 4, .words = { 1, 0 } \
    }
#define LOAD_FROM_FRAME(offset, reg)                                                             \
    {                                                                                            \
        OP(LDL), UNGUARDED, TO(R(reg)), FROM(FRAME(offset)), .width_bytes = 4, .words = { 1, 0 } \
    }

/* A register that was put into the stack frame for a while; unless code may change the frame in another way. */
static void test_a_word_of_the_stack_frame_is_followed(void **state)
{
    static const struct wsdbg_instruction kept[] = {
        {OP(LDC), UNGUARDED, TO(R(1)), FROM(CONSTANT(0x28)), .width_bytes = 4},
        {OP(MOV), UNGUARDED, TO(R(2)), FROM(NUMBER(3))},
        STORE_IN_FRAME(8, 2),
        {OP(MOV), UNGUARDED, TO(R(2)), FROM(NUMBER(7))},
        STORE_IN_FRAME(12, 2),
        LOAD_FROM_FRAME(8, 4),
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    static const struct wsdbg_instruction shared[] = {
        {OP(MOV), UNGUARDED, TO(R(2)), FROM(NUMBER(3))},
        STORE_IN_FRAME(8, 2),
        {OP(IADD3), UNGUARDED, TO(R(6)), FROM(R(1), NUMBER(8), ZERO)},
        {OP(MOV), UNGUARDED, TO(R(9)), FROM(R(6))},
        LOAD_FROM_FRAME(8, 4),
        {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0},
        {OP(EXIT), UNGUARDED},
    };
    struct wsdbg_walk walk = WALK(kept, 0), lost = WALK(shared, 0);
    assert_true(walk.is_whole);
    assert_int_equal(walk.steps[0].number, 3);
    assert_false(lost.is_whole);
    free(walk.steps);
    free(lost.steps);
    (void)state;
}

#define LOAD_AT(address, reg)                                                                                   \
    {                                                                                                           \
        OP(LDL), UNGUARDED, TO(R(reg)),                                                                         \
            FROM(OPERAND(MEMORY, .number = (address), .uniform = WSDBG_URZ, .registers = 1)), .width_bytes = 4, \
                                                                                              .words = {        \
                                                                                                  1,            \
                                                                                                  0             \
                                                                                              }                 \
    }
#define CODE_WITH_INDEX(index, other)                                                                            \
    {                                                                                                            \
        {OP(LDC), UNGUARDED, TO(R(1)), FROM(CONSTANT(0x28)), .width_bytes = 4, .words = {1, 0}},                 \
            {OP(VIADD), UNGUARDED, TO(R(1)), FROM(R(1), NUMBER(-64)), .words = {1, 0}},                          \
            {OP(MOV), UNGUARDED, TO(R(2)), FROM(NUMBER(3)), .words = {1, 0}}, STORE_IN_FRAME(8, 2),              \
            {OP(MOV), UNGUARDED, TO(R(2)), FROM(NUMBER(7)), .words = {1, 0}}, STORE_IN_FRAME(12, 2),             \
            {OP(MOV), UNGUARDED, TO(R(3)), FROM(NUMBER(index)), .words = {1, 0}},                                \
            {OP(IMAD), UNGUARDED, TO(R(5)), FROM(R(3), NUMBER(4), R(1)), .words = {1, 0}}, other, LOAD_AT(5, 4), \
            {OP(SYNCS_ARRIVE), UNGUARDED, FROM(AT(WSDBG_RZ, 0x400), R(4)), .mode = WSDBG_ARRIVE_ART0,            \
             .words = {1, 0}},                                                                                   \
            {OP(EXIT), UNGUARDED},                                                                               \
    }

/* An array in the stack frame: the place of an element is computed from the stack pointer.  Where that place is used
 * for more than loads, somebody may store there. */
static void test_an_element_of_an_array_in_the_stack_frame_is_followed(void **state)
{
#define NOTHING            \
    {                      \
        OP(NOP), UNGUARDED \
    }
#define STORE_AT_INDEX                                                                                      \
    {                                                                                                       \
        OP(STL), UNGUARDED, FROM(OPERAND(MEMORY, .number = 5, .uniform = WSDBG_URZ, .registers = 1), R(2)), \
            .width_bytes = 4, .words = {                                                                    \
                1,                                                                                          \
                0                                                                                           \
            }                                                                                               \
    }
#define COPY_OF_INDEX                                               \
    {                                                               \
        OP(MOV), UNGUARDED, TO(R(9)), FROM(R(5)), .words = { 1, 0 } \
    }
    static const struct wsdbg_instruction third[] = CODE_WITH_INDEX(2, NOTHING), last[] = CODE_WITH_INDEX(3, NOTHING),
                                          outside[] = CODE_WITH_INDEX(9, NOTHING),
                                          stored[] = CODE_WITH_INDEX(2, STORE_AT_INDEX),
                                          copied[] = CODE_WITH_INDEX(2, COPY_OF_INDEX);
    struct wsdbg_walk walks[] = {WALK(third, 0), WALK(last, 0), WALK(outside, 0), WALK(stored, 0), WALK(copied, 0)};
    assert_true(walks[0].is_whole);
    assert_int_equal(walks[0].steps[0].number, 3);
    assert_true(walks[1].is_whole);
    assert_int_equal(walks[1].steps[0].number, 7);
    for (unsigned i = 2; i < 5; i++)
        assert_false(walks[i].is_whole);
    for (unsigned i = 0; i < 5; i++)
        free(walks[i].steps);
    (void)state;
}

/* The low word of a generic address of shared memory has the CTA's rank in its highest byte.  So the window is 4 GiB
 * where it begins at a multiple of that. */
static void test_a_generic_load_may_read_shared_memory_of_any_rank(void **state)
{
    static const struct {
        uint64_t window, address;
        bool is_shared;
    } cases[] = {
        {0x7e0000000000, 0x7e0000000400, true},
        {0x7e0000000000, 0x7e0001000400, true},
        {0x7e0000000000, 0x7e0100000400, false},
        {0x7e0000000000, 0x7dff00000400, false},
        {0x7e0002000000, 0x7e0002000400, true},
        {0x7e0002000000, 0x7e0003000400, false},
        {0, 0x7e0000000400, false},
    };
    static const struct wsdbg_instruction load = {
        OP(LD),           UNGUARDED,
        TO(R(2)),         FROM(OPERAND(MEMORY, .number = 4, .uniform = WSDBG_URZ, .registers = 2)),
        .width_bytes = 4, .words = {1, 0}};
    struct wsdbg_thread_state *thread = calloc(1, sizeof *thread);
    assert_non_null(thread);
    thread->known[4] = thread->known[5] = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wsdbg_thread_world world = {.shared_window = cases[i].window};
        thread->value[4] = (uint32_t)cases[i].address;
        thread->value[5] = (uint32_t)(cases[i].address >> 32);
        assert_int_equal(wsdbg_thread_loads_shared(&load, &world, thread), cases[i].is_shared);
    }
    free(thread);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_round_has_its_barrier_and_its_parity),
        cmocka_unit_test(test_an_asynchronous_store_completes_its_bytes),
        cmocka_unit_test(test_what_an_asynchronous_store_sends_is_not_loaded),
        cmocka_unit_test(test_a_limit_ends_a_walk_that_is_not_whole),
        cmocka_unit_test(test_what_nobody_can_decide_is_passed_or_ends_the_walk),
        cmocka_unit_test(test_a_side_that_calls_a_function_is_passed_as_its_code_allows),
        cmocka_unit_test(test_shared_memory_is_read_outside_of_loops_only),
        cmocka_unit_test(test_data_for_shared_memory_is_loaded_up_to_a_limit),
        cmocka_unit_test(test_a_trip_count_may_be_a_quotient),
        cmocka_unit_test(test_machine_code_says_in_its_words_what_lanes_exchange),
        cmocka_unit_test(test_a_uniform_register_is_that_of_all_lanes),
        cmocka_unit_test(test_a_loop_over_different_values_serves_each_lane_once),
        cmocka_unit_test(test_a_bulk_copy_is_issued_once_for_the_warp),
        cmocka_unit_test(test_a_sum_is_known_as_far_as_its_addends_are),
        cmocka_unit_test(test_a_word_of_the_stack_frame_is_followed),
        cmocka_unit_test(test_an_element_of_an_array_in_the_stack_frame_is_followed),
        cmocka_unit_test(test_a_generic_load_may_read_shared_memory_of_any_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
