/* trace_test.c - that a trace never misses a value: random code is executed thread by thread, and what a register held
 * must be in the set that the trace gives for these threads.  One trace is turned from warp to warp.
 *
 * Code is written as instructions, their operands in nvdisasm's order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sass/graph.h"
#include "sass/trace.h"

enum { TID_X = 0x21, WARP_THREADS = 32, WARPS = 3 };
enum { REGISTERS = 4, PREDICATES = 2, LENGTH = 14, STEPS_MOST = 200, PROGRAMS = 3000 };

#define REGISTER(n)                                                   \
    (struct wsdbg_operand)                                            \
    {                                                                 \
        .kind = WSDBG_OPERAND_REGISTER, .number = (n), .registers = 1 \
    }
#define PREDICATE(n)                                                   \
    (struct wsdbg_operand)                                             \
    {                                                                  \
        .kind = WSDBG_OPERAND_PREDICATE, .number = (n), .registers = 1 \
    }
#define NUMBER(n)                                                     \
    (struct wsdbg_operand)                                            \
    {                                                                 \
        .kind = WSDBG_OPERAND_IMMEDIATE, .value = (n), .registers = 1 \
    }

/* ---- random code ---- */

static uint32_t next_random(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

static struct wsdbg_instruction random_instruction(uint32_t *random, uint32_t at)
{
    struct wsdbg_instruction out = {.guard = WSDBG_PT, .is_whole = true, .destination_count = 1};
    const uint8_t to = (uint8_t)next_random(random, REGISTERS), from = (uint8_t)next_random(random, REGISTERS);
    const int64_t number = next_random(random, 8) * (next_random(random, 2) ? 8 : 1);
    if (next_random(random, 3) == 0) {
        out.guard = (uint8_t)next_random(random, PREDICATES);
        out.guard_is_negated = next_random(random, 2);
    }
    out.destinations[0] = REGISTER(to);
    out.sources[0] = REGISTER(from);
    switch (next_random(random, 7)) {
    case 0:
        out.operation = WSDBG_OP_S2R;
        out.sources[0] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_SPECIAL, .value = TID_X, .registers = 1};
        out.source_count = 1;
        break;
    case 1:
        out.operation = WSDBG_OP_MOV;
        out.sources[0] = NUMBER(number);
        out.source_count = 1;
        break;
    case 2:
    case 3:
        out.operation = WSDBG_OP_VIADD;
        out.sources[1] = NUMBER(number);
        out.source_count = 2;
        break;
    case 4:
    case 5:
        out.operation = WSDBG_OP_ISETP;
        out.mode = (uint8_t)(WSDBG_COMPARE_LT + next_random(random, 6));
        out.destination_count = 2;
        out.destinations[0] = PREDICATE((uint8_t)next_random(random, PREDICATES));
        out.destinations[1] = PREDICATE(WSDBG_PT);
        out.sources[1] = next_random(random, 2) ? NUMBER(number) : REGISTER(to);
        out.sources[2] = PREDICATE(WSDBG_PT);
        out.source_count = 3;
        break;
    default:
        out.operation = WSDBG_OP_BRA;
        out.destination_count = 0;
        out.has_target = true;
        out.target_offset_bytes = ((int64_t)next_random(random, LENGTH) - at) * WSDBG_INSTRUCTION_BYTES;
        break;
    }
    return out;
}

static void write_program(uint32_t *random, struct wsdbg_instruction code[LENGTH])
{
    for (uint32_t i = 0; i < LENGTH; i++)
        code[i] = random_instruction(random, i);
    for (uint32_t i = 0; i < REGISTERS; i++) { /* begins with known values: what the launch leaves is anything */
        code[i] = (struct wsdbg_instruction){.guard = WSDBG_PT, .is_whole = true, .operation = WSDBG_OP_MOV};
        code[i].destinations[0] = REGISTER((uint8_t)i);
        code[i].sources[0] = NUMBER(i);
        code[i].destination_count = code[i].source_count = 1;
    }
    code[LENGTH - 1] = (struct wsdbg_instruction){.guard = WSDBG_PT, .is_whole = true, .operation = WSDBG_OP_EXIT};
}

/* ---- executed ---- */

struct thread {
    uint32_t index;
    uint32_t registers[REGISTERS];
    bool predicates[PREDICATES];
};

static uint32_t value_of(const struct thread *thread, const struct wsdbg_operand *operand)
{
    if (operand->kind == WSDBG_OPERAND_SPECIAL)
        return thread->index;
    return operand->kind == WSDBG_OPERAND_REGISTER ? thread->registers[operand->number] : (uint32_t)operand->value;
}

static bool compare(unsigned mode, uint32_t a, uint32_t b)
{
    switch (mode) {
    case WSDBG_COMPARE_LT:
        return a < b;
    case WSDBG_COMPARE_EQ:
        return a == b;
    case WSDBG_COMPARE_LE:
        return a <= b;
    case WSDBG_COMPARE_GT:
        return a > b;
    case WSDBG_COMPARE_NE:
        return a != b;
    default:
        return a >= b;
    }
}

/* Executes an instruction other than EXIT; returns the one that follows. */
static uint32_t execute(struct thread *thread, const struct wsdbg_instruction *code, uint32_t at)
{
    const struct wsdbg_instruction *in = &code[at];
    if (in->guard != WSDBG_PT && thread->predicates[in->guard] == in->guard_is_negated)
        return at + 1;
    const uint32_t first = value_of(thread, &in->sources[0]), second = value_of(thread, &in->sources[1]);
    if (in->operation == WSDBG_OP_BRA)
        return (uint32_t)(at + in->target_offset_bytes / WSDBG_INSTRUCTION_BYTES);
    if (in->operation == WSDBG_OP_ISETP)
        thread->predicates[in->destinations[0].number] = compare(in->mode, first, second);
    else
        thread->registers[in->destinations[0].number] = in->operation == WSDBG_OP_VIADD ? first + second : first;
    return at + 1;
}

static bool contains(const struct wsdbg_values *set, uint32_t value)
{
    uint32_t base, stride, count;
    if (set->kind == WSDBG_VALUES_ANY)
        return true;
    for (uint32_t i = 0; i < set->count && set->kind == WSDBG_VALUES_LISTED; i++)
        if (set->number[i] == value)
            return true;
    if (set->kind != WSDBG_VALUES_STEPS || !wsdbg_values_range(set, &base, &stride, &count))
        return false;
    const uint32_t above = value - base;
    if (count == 0) /* any number of steps, modulo 2^32: what is left is the stride's power of two */
        return above % (stride & -stride) == 0;
    return above % stride == 0 && above / stride < count;
}

/* What each register holds whenever the thread reaches an instruction must be in its set there. */
static void check_thread(struct wsdbg_trace *trace, const struct wsdbg_instruction *code, uint32_t index)
{
    struct thread thread = {.index = index};
    uint32_t at = 0;
    for (unsigned step = 0; step < STEPS_MOST && code[at].operation != WSDBG_OP_EXIT; step++) {
        for (uint8_t reg = 0; reg < REGISTERS && at >= REGISTERS; reg++) {
            const bool is_executed =
                code[at].guard == WSDBG_PT || thread.predicates[code[at].guard] != code[at].guard_is_negated;
            const struct wsdbg_operand operand = REGISTER(reg);
            const struct wsdbg_values set = wsdbg_trace_operand(trace, at, &operand, 0);
            if (is_executed && !contains(&set, thread.registers[reg]))
                fail_msg("instruction %u, thread %u: R%u holds %u", at, index, reg, thread.registers[reg]);
        }
        at = execute(&thread, code, at);
    }
}

static void what_a_thread_holds_is_in_the_set_of_its_warp(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (int program = 0; program < PROGRAMS; program++) {
        struct wsdbg_instruction code[LENGTH];
        struct wsdbg_graph *graph;
        struct wsdbg_trace *trace;
        const struct wsdbg_launch_values launch = {.is_in_x = true};
        write_program(&random, code);
        assert_null(wsdbg_graph_create_decoded(code, LENGTH, &graph));
        assert_null(wsdbg_trace_create(graph, &launch, (struct wsdbg_thread_range){0, 0}, &trace));
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){warp * WARP_THREADS, WARP_THREADS});
            check_thread(trace, code, warp * WARP_THREADS + next_random(&random, WARP_THREADS));
        }
        wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){0, 0});
        check_thread(trace, code, next_random(&random, 1024));
        wsdbg_trace_destroy(trace);
        wsdbg_graph_destroy(graph);
    }
}

/* R1 = (the thread's index) + 5, R2 = 3: only R1 is another one in another warp. */
static void a_trace_that_is_turned_gives_the_values_of_the_other_threads(void **state)
{
    (void)state;
    struct wsdbg_instruction code[4];
    for (int i = 0; i < 4; i++)
        code[i] = (struct wsdbg_instruction){.guard = WSDBG_PT, .is_whole = true, .destination_count = 1};
    code[0].operation = WSDBG_OP_S2R;
    code[0].destinations[0] = REGISTER(0);
    code[0].sources[0] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_SPECIAL, .value = TID_X, .registers = 1};
    code[0].source_count = 1;
    code[1].operation = WSDBG_OP_VIADD;
    code[1].destinations[0] = REGISTER(1);
    code[1].sources[0] = REGISTER(0);
    code[1].sources[1] = NUMBER(5);
    code[1].source_count = 2;
    code[2].operation = WSDBG_OP_MOV;
    code[2].destinations[0] = REGISTER(2);
    code[2].sources[0] = NUMBER(3);
    code[2].source_count = 1;
    code[3].operation = WSDBG_OP_EXIT;
    code[3].destination_count = 0;
    struct wsdbg_graph *graph;
    struct wsdbg_trace *trace;
    const struct wsdbg_operand one = REGISTER(1), two = REGISTER(2);
    assert_null(wsdbg_graph_create_decoded(code, 4, &graph));
    assert_null(wsdbg_trace_create(graph, NULL, (struct wsdbg_thread_range){0, WARP_THREADS}, &trace));
    for (uint32_t turn = 0; turn < 4; turn++) { /* and back to the first */
        const uint32_t first = turn % 3 * WARP_THREADS;
        uint32_t base, stride, count;
        wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){first, WARP_THREADS});
        const struct wsdbg_values values[] = {wsdbg_trace_operand(trace, 3, &one, 0),
                                              wsdbg_trace_operand(trace, 3, &two, 0)};
        assert_true(wsdbg_values_range(&values[0], &base, &stride, &count));
        assert_int_equal(base, first + 5);
        assert_int_equal(stride, 1);
        assert_int_equal(count, WARP_THREADS);
        assert_true(wsdbg_values_is_one(&values[1], &base));
        assert_int_equal(base, 3);
    }
    wsdbg_trace_destroy(trace);
    wsdbg_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_that_is_turned_gives_the_values_of_the_other_threads),
        cmocka_unit_test(what_a_thread_holds_is_in_the_set_of_its_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
