/* follow_test.c - what one instruction does to a thread's registers, and which instructions a thread reaches with which
 * registers.  Random code is also executed: every register value that is said to be known must be right.
 *
 * Code is written as instructions, their operands in nvdisasm's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/follow.h"

/* clang-format off */
#define OPERAND(k, ...) {.kind = WSDBG_OPERAND_##k, __VA_ARGS__}
#define R(n) OPERAND(REGISTER, .number = (n), .registers = 1)
#define PAIR(n) OPERAND(REGISTER, .number = (n), .registers = 2)
#define MINUS(n) OPERAND(REGISTER, .number = (n), .registers = 1, .is_negated = true)
#define INVERTED(n) OPERAND(REGISTER, .number = (n), .registers = 1, .is_inverted = true)
#define ZERO R(WSDBG_RZ)
#define P(n) OPERAND(PREDICATE, .number = (n), .registers = 1)
#define NOT_P(n) OPERAND(PREDICATE, .number = (n), .registers = 1, .is_negated = true)
#define NUMBER(n) OPERAND(IMMEDIATE, .value = (n), .registers = 1)
#define SPECIAL(n) OPERAND(SPECIAL, .value = (n), .registers = 1)
#define CONSTANT(offset, count) OPERAND(CONSTANT, .number = WSDBG_RZ, .value = (offset), .registers = (count))
/* clang-format on */

enum { TID_X = 33, ANY = -1, CASES_REGISTERS = 8 };

/* ---- one instruction ---- */

static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context;
    *value = 0x1000 + offset_bytes;
    return bank == 0 && offset_bytes < 0x100;
}

static bool special(void *context, uint32_t number, uint32_t *value)
{
    (void)context;
    *value = 5;
    return number == TID_X;
}

static const struct wsdbg_thread_world world = {.constant = constant, .special = special};

/* R0 … R7 hold these, P0 is true, P1 false, P2 not known. */
static const uint32_t before[CASES_REGISTERS] = {0xffffffff, 2, 0x80000000, 7, 0, 0xfffffffe, 3, 0x12345678};

static struct wsdbg_thread_state state_before(void)
{
    struct wsdbg_thread_state state = {0};
    for (unsigned i = 0; i < CASES_REGISTERS; i++) {
        state.value[i] = before[i];
        state.known[i] = true;
    }
    state.value[WSDBG_REGISTER_PREDICATE] = 1;
    state.known[WSDBG_REGISTER_PREDICATE] = state.known[WSDBG_REGISTER_PREDICATE + 1] = true;
    return state;
}

/* `low` and `high` of R10 and R11, and P3, afterwards; ANY: it is not known. */
#define NO_CARRY ((uint64_t)WSDBG_PT << (81 - 64))
#define OP(name) .operation = WSDBG_OP_##name, .is_whole = true, .guard = WSDBG_PT
#define OP_HALF(name, low, high) .operation = WSDBG_OP_##name, .guard = WSDBG_PT, .words = {low, high}
#define TO(...)                    \
    .destinations = {__VA_ARGS__}, \
    .destination_count = sizeof((struct wsdbg_operand[]){__VA_ARGS__}) / sizeof(struct wsdbg_operand)
#define FROM(...)             \
    .sources = {__VA_ARGS__}, \
    .source_count = sizeof((struct wsdbg_operand[]){__VA_ARGS__}) / sizeof(struct wsdbg_operand)

/* clang-format off */
static const struct {
    struct wsdbg_instruction instruction;
    int64_t low, high, predicate;
} steps[] = {
    {{OP(MOV), TO(R(10)), FROM(R(7))}, 0x12345678, ANY, ANY},
    {{OP(MOV), TO(R(10)), FROM(R(9))}, ANY, ANY, ANY},
    {{OP(LDC), TO(PAIR(10)), FROM(CONSTANT(0x20, 2)), .width_bytes = 8}, 0x1020, 0x1024, ANY},
    {{OP(LDC), TO(R(10)), FROM(CONSTANT(0x22, 1)), .width_bytes = 2}, 0, ANY, ANY},
    {{OP(LDC), TO(R(10)), FROM(CONSTANT(0x20, 1)), .width_bytes = 1}, 0x20, ANY, ANY},
    {{OP(LDC), TO(R(10)), FROM(CONSTANT(0x80, 1)), .width_bytes = 1, .words = {1, 0}}, ANY, ANY, ANY},
    {{OP(LDC), TO(R(10)), FROM(CONSTANT(0x200, 1)), .width_bytes = 4}, ANY, ANY, ANY},
    {{OP(S2R), TO(R(10)), FROM(SPECIAL(TID_X))}, 5, ANY, ANY},
    {{OP(S2R), TO(R(10)), FROM(SPECIAL(1))}, ANY, ANY, ANY},
    {{OP(CS2R), TO(PAIR(10)), FROM(SPECIAL(255)), .width_bytes = 8}, 0, 0, ANY},
    {{OP(LDG), TO(R(10)), FROM(R(4)), .width_bytes = 4}, ANY, ANY, ANY},
    /* sums and their carries: -x is ~x + 1 */
    {{OP(IADD3), TO(R(10), P(3)), FROM(R(0), R(1), ZERO)}, 1, ANY, 1},
    {{OP(IADD3), TO(R(10), P(3)), FROM(R(1), R(3), ZERO)}, 9, ANY, 0},
    {{OP(IADD3), TO(R(10), P(3)), FROM(R(1), MINUS(1), ZERO)}, 0, ANY, 1},
    {{OP(IADD3), TO(R(10), P(3)), FROM(R(1), MINUS(3), ZERO)}, 0xfffffffb, ANY, 0},
    {{OP(IADD3), TO(R(10), P(3)), FROM(R(0), R(1), R(3))}, 8, ANY, ANY},
    {{OP(IADD3), TO(R(10), P(3), P(4)), FROM(R(0), R(1), R(3))}, 8, ANY, 1},
    {{OP(IADD3), TO(R(10), P(4), P(3)), FROM(R(0), R(1), R(3))}, 8, ANY, 0},
    {{OP(IADD3), TO(R(10), P(4), P(3)), FROM(R(0), R(0), R(3))}, 5, ANY, 1},
    {{OP(IADD3), TO(R(10), P(3)), FROM(R(0), R(1), ZERO), .words = {0, NO_CARRY}}, 1, ANY, ANY},
    {{OP(IADD3), TO(R(10)), FROM(R(1), R(3), ZERO, P(0), NOT_P(WSDBG_PT)), .has_carry_in = true}, 10, ANY, ANY},
    {{OP(IADD3), TO(R(10)), FROM(R(1), INVERTED(3), ZERO, P(1), NOT_P(WSDBG_PT)), .has_carry_in = true}, 0xfffffffa, ANY, ANY},
    {{OP(IADD3), TO(R(10)), FROM(R(1), R(3), ZERO, P(2), NOT_P(WSDBG_PT)), .has_carry_in = true}, ANY, ANY, ANY},
    {{OP(VIADD), TO(R(10)), FROM(R(1), NUMBER(-3))}, 0xffffffff, ANY, ANY},
    /* products */
    {{OP(IMAD), TO(R(10)), FROM(R(1), R(3), R(6))}, 17, ANY, ANY},
    {{OP(IMAD), TO(R(10)), FROM(ZERO, R(9), MINUS(6))}, 0xfffffffd, ANY, ANY},
    {{OP(IMAD), TO(R(10)), FROM(R(1), R(9), R(6))}, ANY, ANY, ANY},
    {{OP(IMAD), TO(PAIR(10)), FROM(R(0), R(1), PAIR(3)), .is_wide = true}, 5, 2, ANY},
    {{OP(IMAD), TO(PAIR(10)), FROM(R(0), R(1), PAIR(3)), .is_wide = true, .is_signed = true}, 5, 0, ANY},
    {{OP(IMAD), TO(R(10)), FROM(R(0), R(1), ZERO), .is_high = true}, 1, ANY, ANY},
    {{OP(IMAD), TO(R(10)), FROM(R(1), R(3), R(6), P(0)), .has_carry_in = true}, 18, ANY, ANY},
    {{OP(IMAD), TO(R(10)), FROM(R(1), R(3), R(6), P(2)), .has_carry_in = true}, ANY, ANY, ANY},
    /* shifts */
    {{OP(LEA), TO(R(10), P(3)), FROM(R(3), R(0), NUMBER(2))}, 27, ANY, 1},
    {{OP(LEA), TO(R(10)), FROM(R(2), R(3), R(6), NUMBER(2)), .is_high = true}, 7 + 14, ANY, ANY},
    {{OP(LEA), TO(R(10)), FROM(R(2), R(3), R(6), NUMBER(2), P(0)), .is_high = true, .has_carry_in = true}, 7 + 14 + 1, ANY, ANY},
    {{OP(LEA), TO(R(10)), FROM(R(2), R(3), NUMBER(2)), .is_high = true, .is_signed = true}, 7 - 2, ANY, ANY},
    {{OP(SHF), TO(R(10)), FROM(R(3), NUMBER(4), ZERO)}, 0x70, ANY, ANY},
    {{OP(SHF), TO(R(10)), FROM(ZERO, NUMBER(4), R(2)), .is_right_shift = true, .is_high = true}, 0x08000000, ANY, ANY},
    {{OP(SHF), TO(R(10)), FROM(ZERO, NUMBER(4), R(2)), .is_right_shift = true, .is_high = true, .is_signed = true}, 0xf8000000, ANY, ANY},
    {{OP(SHF), TO(R(10)), FROM(R(7), NUMBER(8), R(6)), .is_right_shift = true, .is_wide = true}, 0x03123456, ANY, ANY},
    {{OP(SHF), TO(R(10)), FROM(R(7), NUMBER(8), R(6)), .is_wide = true, .is_high = true}, 0x312, ANY, ANY},
    {{OP(SHF), TO(R(10)), FROM(R(7), NUMBER(40), R(6)), .is_wide = true, .is_high = true}, ANY, ANY, ANY},
    /* bits */
    {{OP(LOP3), TO(P(3), R(10)), FROM(R(7), NUMBER(0xff), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0}, 0x78, ANY, 1},
    {{OP(LOP3), TO(P(3), R(10)), FROM(R(1), NUMBER(1), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0}, 0, ANY, 0},
    {{OP(LOP3), TO(P(3), R(10)), FROM(R(1), NUMBER(1), ZERO, NUMBER(0xc0), P(2)), .table = 0xc0}, 0, ANY, ANY},
    {{OP(PRMT), TO(R(10)), FROM(R(7), NUMBER(0x9540), R(2))}, 0x00000078, ANY, ANY},
    {{OP(PRMT), TO(R(10)), FROM(R(7), NUMBER(0x7f10), R(2))}, 0x80ff5678, ANY, ANY},
    {{OP(SEL), TO(R(10)), FROM(R(1), R(3), P(0))}, 2, ANY, ANY},
    {{OP(P2R), TO(R(10)), FROM(P(0), ZERO, NUMBER(3))}, 1, ANY, ANY},
    {{OP(P2R), TO(R(10)), FROM(P(0), ZERO, NUMBER(4))}, ANY, ANY, ANY},
    {{OP(SEL), TO(R(10)), FROM(R(1), R(3), P(1))}, 7, ANY, ANY},
    {{OP(SEL), TO(R(10)), FROM(R(1), R(3), P(2))}, ANY, ANY, ANY},
    {{OP(IMNMX), TO(R(10)), FROM(R(0), R(1), P(WSDBG_PT))}, 2, ANY, ANY},
    {{OP(IMNMX), TO(R(10)), FROM(R(0), R(1), P(WSDBG_PT)), .is_signed = true}, 0xffffffff, ANY, ANY},
    {{OP(VIMNMX), TO(R(10)), FROM(R(0), R(1), NOT_P(WSDBG_PT))}, 0xffffffff, ANY, ANY},
    {{OP(VIMNMX), TO(R(10)), FROM(R(0), R(1), P(WSDBG_PT)), .words = {0, 1 << (73 - 64)}}, ANY, ANY, ANY},
    {{OP(VIADDMNMX), TO(R(10)), FROM(R(1), R(3), R(6), P(WSDBG_PT))}, 3, ANY, ANY},
    {{OP(VIADDMNMX), TO(R(10)), FROM(R(1), R(3), R(6), P(2))}, ANY, ANY, ANY},
    /* predicates */
    {{OP(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(0), R(1), P(WSDBG_PT)), .mode = WSDBG_COMPARE_GT}, ANY, ANY, 1},
    {{OP(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(0), R(1), P(WSDBG_PT)), .mode = WSDBG_COMPARE_GT, .is_signed = true}, ANY, ANY, 0},
    {{OP(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(0), R(9), P(1)), .mode = WSDBG_COMPARE_GT}, ANY, ANY, 0},
    {{OP(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(4), ZERO, P(WSDBG_PT), P(0)), .mode = WSDBG_COMPARE_NE}, ANY, ANY, 1},
    {{OP(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(4), ZERO, P(WSDBG_PT), P(1)), .mode = WSDBG_COMPARE_NE}, ANY, ANY, 0},
    {{OP(ISETP), TO(P(3), P(WSDBG_PT)), FROM(R(3), R(1), P(WSDBG_PT), P(1)), .mode = WSDBG_COMPARE_GE}, ANY, ANY, 1},
    {{OP(PLOP3), TO(P(3), P(WSDBG_PT)), FROM(P(0), P(1), P(WSDBG_PT)), .table = 0x80}, ANY, ANY, 0},
    {{OP(PLOP3), TO(P(3), P(WSDBG_PT)), FROM(P(2), P(1), P(WSDBG_PT)), .table = 0x80}, ANY, ANY, 0},
    {{OP(PLOP3), TO(P(3), P(WSDBG_PT)), FROM(P(2), P(0), P(WSDBG_PT)), .table = 0x80}, ANY, ANY, ANY},
    /* what is not decoded whole is not followed */
    {{.operation = WSDBG_OP_MOV, .guard = WSDBG_PT, TO(R(10)), FROM(R(7))}, ANY, ANY, ANY},
};
/* clang-format on */

static void assert_register(const struct wsdbg_thread_state *state, unsigned reg, int64_t expected, size_t row)
{
    const int64_t found = state->known[reg] ? (int64_t)state->value[reg] : ANY;
    if (found != expected)
        fail_msg("row %zu: register %u is 0x%llx, not 0x%llx", row, reg, (long long)found, (long long)expected);
}

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
    struct wsdbg_instruction move = {OP(MOV), TO(R(1)), FROM(NUMBER(9))};
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
    struct wsdbg_instruction all = {OP(R2P), TO(P(0)), FROM(R(1))};
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

/* ---- ways ---- */

static struct wsdbg_instruction branch(int rows, uint8_t guard)
{
    struct wsdbg_instruction out = {OP(BRA)};
    out.guard = guard;
    out.has_target = true;
    out.target_offset_bytes = rows * 16;
    return out;
}

struct scene {
    struct wsdbg_graph *graph;
    struct wsdbg_thread_state state;
    struct wsdbg_follow *follow;
};

static struct scene follow_from(const struct wsdbg_instruction *code, size_t count, uint32_t from,
                                wsdbg_instruction_set stops)
{
    static struct wsdbg_thread_state state;
    struct scene scene = {0};
    state = state_before();
    assert_null(wsdbg_graph_create_decoded(code, count, &scene.graph));
    const struct wsdbg_follow_start start = {scene.graph, from, &state, world, stops};
    assert_null(wsdbg_follow_create(&start, &scene.follow));
    return scene;
}

static void leave(struct scene *scene)
{
    wsdbg_follow_destroy(scene->follow);
    wsdbg_graph_destroy(scene->graph);
}

static void assert_at(const struct scene *scene, uint32_t instruction, unsigned reg, int64_t expected)
{
    struct wsdbg_thread_state state;
    assert_true(wsdbg_follow_at(scene->follow, instruction, &state));
    assert_register(&state, reg, expected, instruction);
}

static bool comes_to(const struct scene *scene, uint32_t instruction)
{
    struct wsdbg_thread_state state;
    return wsdbg_follow_at(scene->follow, instruction, &state);
}

#define COUNT(code) (sizeof(code) / sizeof *(code))
#define EXITS    \
    {            \
        OP(EXIT) \
    }
#define MOVES(to, number)                        \
    {                                            \
        OP(MOV), TO(R(to)), FROM(NUMBER(number)) \
    }

static void ways_that_meet_keep_what_they_share(void **unused)
{
    (void)unused;
    const struct wsdbg_instruction code[] = {
        branch(3, 2),                     /* 0: P2 is not known */
        MOVES(10, 4),                     /* 1 */
        branch(2, WSDBG_PT),              /* 2 */
        MOVES(10, 5),                     /* 3 */
        {OP(MOV), TO(R(11)), FROM(R(7))}, /* 4 */
        EXITS,
    };
    struct scene scene = follow_from(code, COUNT(code), 0, NULL);
    assert_at(&scene, 2, 10, 4);
    assert_at(&scene, 4, 10, ANY);
    assert_at(&scene, 5, 11, before[7]);
    assert_true(wsdbg_follow_must_execute(scene.follow, 4));
    assert_false(wsdbg_follow_must_execute(scene.follow, 3));
    assert_true(wsdbg_follow_is_whole(scene.follow));
    leave(&scene);
}

static void a_known_condition_leads_one_way(void **unused)
{
    (void)unused;
    const struct wsdbg_instruction code[] = {
        branch(3, 0), /* 0: P0 is true */
        MOVES(10, 4), /* 1 */
        EXITS,        /* 2 */
        MOVES(10, 5), /* 3 */
        EXITS,        /* 4: guarded below; P1 is false */
        MOVES(11, 6), /* 5 */
        EXITS,
    };
    struct wsdbg_instruction guarded[COUNT(code)];
    memcpy(guarded, code, sizeof code);
    guarded[4].guard = 1;
    struct scene scene = follow_from(guarded, COUNT(guarded), 0, NULL);
    assert_false(comes_to(&scene, 1));
    assert_at(&scene, 5, 10, 5);
    assert_true(wsdbg_follow_must_execute(scene.follow, 5));
    leave(&scene);
    guarded[4].guard = 2; /* it may leave there */
    scene = follow_from(guarded, COUNT(guarded), 0, NULL);
    assert_true(comes_to(&scene, 5));
    assert_false(wsdbg_follow_must_execute(scene.follow, 5));
    leave(&scene);
}

/* Behind the start of a block the registers are also those of later rounds. */
static void a_loop_forgets_what_it_changes(void **unused)
{
    (void)unused;
    const struct wsdbg_instruction code[] = {
        {OP(MOV), TO(R(10)), FROM(R(1))},             /* 0 */
        {OP(VIADD), TO(R(1)), FROM(R(1), NUMBER(1))}, /* 1 */
        branch(-2, 2),                                /* 2 */
        EXITS,
    };
    struct scene scene = follow_from(code, COUNT(code), 1, NULL);
    assert_at(&scene, 1, 1, ANY);
    assert_at(&scene, 3, 7, before[7]);
    leave(&scene);
    const uint64_t stop = 1;
    scene = follow_from(code, COUNT(code), 1, &stop);
    assert_at(&scene, 1, 1, before[1]);
    assert_at(&scene, 3, 1, before[1] + 1);
    assert_false(wsdbg_follow_must_execute(scene.follow, 3)); /* a way ends at 0 */
    leave(&scene);
}

static void behind_a_call_nothing_is_known(void **unused)
{
    (void)unused;
    struct wsdbg_instruction code[] = {
        {OP(CALL)},   /* 0 */
        MOVES(10, 4), /* 1 */
        EXITS,        /* 2 */
        MOVES(10, 5), /* 3: called */
        {OP(RET)},
    };
    code[0].has_target = true;
    code[0].target_offset_bytes = 3 * 16;
    struct scene scene = follow_from(code, COUNT(code), 0, NULL);
    assert_at(&scene, 1, 7, ANY);
    assert_at(&scene, 2, 10, 4);
    assert_false(comes_to(&scene, 3));
    assert_false(wsdbg_follow_must_execute(scene.follow, 1));
    leave(&scene);
}

static void a_branch_through_a_register_is_told(void **unused)
{
    (void)unused;
    const struct wsdbg_instruction code[] = {MOVES(10, 4), {OP(BRX), FROM(PAIR(2))}, MOVES(10, 5), EXITS};
    struct scene scene = follow_from(code, COUNT(code), 0, NULL);
    assert_false(wsdbg_follow_is_whole(scene.follow));
    assert_false(wsdbg_follow_must_execute(scene.follow, 0));
    leave(&scene);
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

/* A flag of 16 bits in a register whose other half nobody knows. */
static void bits_are_known_where_a_word_is_not(void **unused)
{
    static const struct wsdbg_instruction sets = {OP(PRMT), TO(R(9)), FROM(R(1), NUMBER(0x7610), R(9))};
    static const struct wsdbg_instruction asks = {
        OP(LOP3), TO(P(3), R(10)), FROM(R(9), NUMBER(0xff), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0};
    static const struct wsdbg_instruction asks_more = {
        OP(LOP3), TO(P(3), R(10)), FROM(R(9), NUMBER(0xfffff000), ZERO, NUMBER(0xc0), NOT_P(WSDBG_PT)), .table = 0xc0};
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

/* ---- random code ---- */

enum { LENGTH = 16, PROGRAMS = 4000, STEPS_MOST = 200, USED_REGISTERS = 4, USED_PREDICATES = 2 };

static uint32_t next_random(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

static struct wsdbg_instruction random_instruction(uint32_t *random, uint32_t at)
{
    const uint8_t to = (uint8_t)next_random(random, USED_REGISTERS),
                  from = (uint8_t)next_random(random, USED_REGISTERS);
    const uint8_t predicate = (uint8_t)next_random(random, USED_PREDICATES);
    const uint32_t number = next_random(random, 4), kind = next_random(random, 8);
    const struct wsdbg_instruction add = {OP(VIADD), TO(R(to)), FROM(R(from), NUMBER(number))};
    const struct wsdbg_instruction move = {OP(MOV), TO(R(to)), FROM(NUMBER(number))};
    const struct wsdbg_instruction load = {OP(LDG), TO(R(to)), FROM(R(from)), .width_bytes = 4};
    const struct wsdbg_instruction compare = {OP(ISETP), TO(P(predicate)), FROM(R(from), NUMBER(number), P(WSDBG_PT)),
                                              .mode = WSDBG_COMPARE_EQ};
    const struct wsdbg_instruction leaving = {OP(EXIT)};
    struct wsdbg_instruction out = kind < 2    ? add
                                   : kind == 2 ? move
                                   : kind == 3 ? load
                                   : kind < 6  ? compare
                                   : kind == 6 ? branch((int)next_random(random, LENGTH) - (int)at, WSDBG_PT)
                                               : leaving;
    if (next_random(random, 2)) {
        out.guard = (uint8_t)next_random(random, USED_PREDICATES);
        out.guard_is_negated = next_random(random, 2);
    }
    return out;
}

static void assert_true_of(const struct wsdbg_follow *follow, uint32_t at, const struct wsdbg_thread_state *is,
                           uint32_t program)
{
    struct wsdbg_thread_state said;
    if (!wsdbg_follow_at(follow, at, &said))
        fail_msg("program %u: %u is reached", program, at);
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (said.known[reg] && is->known[reg] && said.value[reg] != is->value[reg])
            fail_msg("program %u: at %u register %u is %u, not %u", program, at, reg, is->value[reg], said.value[reg]);
}

/* Executes with loads that bring random numbers, and notes where it was. */
static void execute(const struct wsdbg_follow *follow, const struct wsdbg_instruction *code,
                    struct wsdbg_thread_state state, uint32_t program, uint32_t *random, bool *done, bool *ends)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < STEPS_MOST && !*ends; i++) {
        const bool executes = wsdbg_thread_executes(&state, &code[at]) == WSDBG_TRUTH_YES;
        assert_true_of(follow, at, &state, program);
        done[at] |= executes;
        wsdbg_thread_step(&code[at], &world, &state);
        if (executes && code[at].operation == WSDBG_OP_LDG) {
            const unsigned reg = wsdbg_register_of(&code[at].destinations[0], 0);
            state.known[reg] = true;
            state.value[reg] = next_random(random, 4);
        }
        *ends = executes && code[at].operation == WSDBG_OP_EXIT;
        at = executes && code[at].operation == WSDBG_OP_BRA ? (uint32_t)(at + code[at].target_offset_bytes / 16)
                                                            : at + 1;
    }
}

static void random_code_is_never_belied(void **unused)
{
    uint32_t random = 1, must = 0;
    (void)unused;
    for (uint32_t program = 0; program < PROGRAMS; program++) {
        struct wsdbg_instruction code[LENGTH];
        struct wsdbg_thread_state known = {0};
        for (uint32_t i = 0; i < LENGTH; i++)
            code[i] = random_instruction(&random, i);
        code[LENGTH - 1] = (struct wsdbg_instruction)EXITS;
        for (unsigned i = 0; i < USED_REGISTERS; i++) {
            known.known[i] = true;
            known.value[i] = next_random(&random, 4);
        }
        for (unsigned i = 0; i < USED_PREDICATES; i++)
            known.known[WSDBG_REGISTER_PREDICATE + i] = true;
        struct wsdbg_graph *graph;
        struct wsdbg_follow *follow;
        assert_null(wsdbg_graph_create_decoded(code, LENGTH, &graph));
        const struct wsdbg_follow_start start = {graph, 0, &known, world, NULL};
        assert_null(wsdbg_follow_create(&start, &follow));
        for (unsigned run = 0; run < 4; run++) {
            bool done[LENGTH] = {0}, ends = false;
            execute(follow, code, known, program, &random, done, &ends);
            for (uint32_t i = 0; i < LENGTH && ends; i++)
                if (wsdbg_follow_must_execute(follow, i)) {
                    assert_true(done[i]);
                    must++;
                }
        }
        wsdbg_follow_destroy(follow);
        wsdbg_graph_destroy(graph);
    }
    assert_true(must > PROGRAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_gives_its_result),
        cmocka_unit_test(a_guard_decides_what_is_written),
        cmocka_unit_test(what_nobody_knows_may_write_anything),
        cmocka_unit_test(an_address_is_that_of_its_registers),
        cmocka_unit_test(ways_that_meet_keep_what_they_share),
        cmocka_unit_test(a_known_condition_leads_one_way),
        cmocka_unit_test(a_loop_forgets_what_it_changes),
        cmocka_unit_test(behind_a_call_nothing_is_known),
        cmocka_unit_test(a_branch_through_a_register_is_told),
        cmocka_unit_test(a_clusters_number_is_a_product_of_floats),
        cmocka_unit_test(a_comparison_of_floats_is_told),
        cmocka_unit_test(other_steps_with_floats_are_not_followed),
        cmocka_unit_test(bits_are_known_where_a_word_is_not),
        cmocka_unit_test(random_code_is_never_belied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
