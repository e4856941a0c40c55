/* follow_test.c - which instructions a thread reaches, and with which registers.  Random code is also executed: every
 * register value that is said to be known must be right.
 */
#include "step_world.h"

#include <stdlib.h>
#include <string.h>

#include "sass/follow.h"

static struct wsdbg_instruction branch(int rows, uint8_t guard)
{
    struct wsdbg_instruction out = {DO(BRA)};
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
        DO(EXIT) \
    }
#define MOVES(to, number)                        \
    {                                            \
        DO(MOV), TO(R(to)), FROM(NUMBER(number)) \
    }

static void ways_that_meet_keep_what_they_share(void **unused)
{
    (void)unused;
    const struct wsdbg_instruction code[] = {
        branch(3, 2),                     /* 0: P2 is not known */
        MOVES(10, 4),                     /* 1 */
        branch(2, WSDBG_PT),              /* 2 */
        MOVES(10, 5),                     /* 3 */
        {DO(MOV), TO(R(11)), FROM(R(7))}, /* 4 */
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
        {DO(MOV), TO(R(10)), FROM(R(1))},             /* 0 */
        {DO(VIADD), TO(R(1)), FROM(R(1), NUMBER(1))}, /* 1 */
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
        {DO(CALL)},   /* 0 */
        MOVES(10, 4), /* 1 */
        EXITS,        /* 2 */
        MOVES(10, 5), /* 3: called */
        {DO(RET)},
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
    const struct wsdbg_instruction code[] = {MOVES(10, 4), {DO(BRX), FROM(PAIR(2))}, MOVES(10, 5), EXITS};
    struct scene scene = follow_from(code, COUNT(code), 0, NULL);
    assert_false(wsdbg_follow_is_whole(scene.follow));
    assert_false(wsdbg_follow_must_execute(scene.follow, 0));
    leave(&scene);
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
    const struct wsdbg_instruction add = {DO(VIADD), TO(R(to)), FROM(R(from), NUMBER(number))};
    const struct wsdbg_instruction move = {DO(MOV), TO(R(to)), FROM(NUMBER(number))};
    const struct wsdbg_instruction load = {DO(LDG), TO(R(to)), FROM(R(from)), .width_bytes = 4};
    const struct wsdbg_instruction compare = {DO(ISETP), TO(P(predicate)), FROM(R(from), NUMBER(number), P(WSDBG_PT)),
                                              .mode = WSDBG_COMPARE_EQ};
    const struct wsdbg_instruction leaving = {DO(EXIT)};
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
        cmocka_unit_test(ways_that_meet_keep_what_they_share), cmocka_unit_test(a_known_condition_leads_one_way),
        cmocka_unit_test(a_loop_forgets_what_it_changes),      cmocka_unit_test(behind_a_call_nothing_is_known),
        cmocka_unit_test(a_branch_through_a_register_is_told), cmocka_unit_test(random_code_is_never_belied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
