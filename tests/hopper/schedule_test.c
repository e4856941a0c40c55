/* schedule_test.c - schedules: the same from the same seed, different from another one, repeated from their decisions.
 */
#include "hopper/kernel.h"

#include <stdlib.h>
#include <string.h>

/* Warps write their numbers in the order in which they come: the order is the schedule's. */
static const char order[] = "mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; mov.u32 %r5, 0;\n"
                            "again: mov.u32 %r6, %laneid; setp.ne.u32 %p1, %r6, 0; @%p1 bra behind;\n"
                            "atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2; "
                            "st.global.u32 [%rd2+4], %r1;\n"
                            "behind: bar.warp.sync -1; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 20; @%p2 bra again;";
enum { WARPS = 8, WORDS = 20 * WARPS };

struct trace {
    uint32_t words[WORDS];
    uint64_t instructions, time_ns;
    size_t decision_count;
    uint32_t *decisions;
};

static void run(const struct wsdbg_schedule_options *schedule, struct trace *trace)
{
    struct machine machine;
    assert_int_equal(kernel_run(&machine, order, (struct kernel_launch){.block = 32 * WARPS}, schedule),
                     WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), WORDS);
    for (size_t i = 0; i < WORDS; i++)
        trace->words[i] = machine_word(&machine, 1 + i);
    trace->instructions = wsdbg_gpu_instructions(machine.gpu);
    trace->time_ns = wsdbg_gpu_time_ns(machine.gpu);
    const uint32_t *decisions = wsdbg_gpu_decisions(machine.gpu, &trace->decision_count);
    trace->decisions = malloc((trace->decision_count + 1) * sizeof *decisions);
    if (trace->decision_count)
        memcpy(trace->decisions, decisions, trace->decision_count * sizeof *decisions);
    machine_destroy(&machine);
}

static void free_trace(struct trace *trace)
{
    free(trace->decisions);
}

static void expect_same(const struct trace *a, const struct trace *b)
{
    assert_memory_equal(a->words, b->words, sizeof a->words);
    assert_int_equal(a->instructions, b->instructions);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->decision_count, b->decision_count);
    if (a->decision_count)
        assert_memory_equal(a->decisions, b->decisions, a->decision_count * sizeof *a->decisions);
}

static const struct wsdbg_schedule_options kinds[] = {
    {.kind = WSDBG_SCHEDULE_ROUND_ROBIN, .seed = 1},
    {.kind = WSDBG_SCHEDULE_RANDOM, .seed = 1},
    {.kind = WSDBG_SCHEDULE_PRIORITY, .seed = 1, .change_points = 5, .length = 1500},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void same_seed_gives_the_same_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct trace first, second;
        run(&kinds[i], &first);
        run(&kinds[i], &second);
        expect_same(&first, &second);
        free_trace(&first);
        free_trace(&second);
    }
}

static void another_seed_gives_another_run(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        struct wsdbg_schedule_options other = kinds[i];
        other.seed = 2;
        struct trace first, second;
        run(&kinds[i], &first);
        run(&other, &second);
        assert_memory_not_equal(first.words, second.words, sizeof first.words);
        free_trace(&first);
        free_trace(&second);
    }
}

static void round_robin_decides_nothing(void **state)
{
    (void)state;
    struct trace trace;
    run(&kinds[0], &trace);
    assert_int_equal(trace.decision_count, 0);
    free_trace(&trace);
}

/* All decisions repeat the run whatever the seed; half of them repeat its beginning. */
static void decisions_repeat_a_run(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        struct trace first, again, half;
        run(&kinds[i], &first);
        assert_true(first.decision_count > 4);
        struct wsdbg_schedule_options replay = kinds[i];
        replay.seed = 99;
        replay.replay = first.decisions;
        replay.replay_count = first.decision_count;
        run(&replay, &again);
        expect_same(&first, &again);
        replay.replay_count = first.decision_count / 2;
        run(&replay, &half);
        assert_true(half.decision_count >= replay.replay_count);
        assert_memory_equal(first.decisions, half.decisions, replay.replay_count * sizeof *first.decisions);
        free_trace(&first);
        free_trace(&again);
        free_trace(&half);
    }
}

/* Decisions of another program, or of an enemy, are taken modulo the choices there are. */
static void wild_decisions_do_no_harm(void **state)
{
    (void)state;
    uint32_t wild[64];
    memset(wild, 0xff, sizeof wild);
    for (size_t i = 1; i < KINDS; i++) {
        struct wsdbg_schedule_options replay = kinds[i];
        replay.replay = wild;
        replay.replay_count = sizeof wild / sizeof *wild;
        struct trace trace;
        run(&replay, &trace);
        free_trace(&trace);
    }
}

/* The warp with the highest priority runs until it is done: without change points a warp's numbers stand together. */
static void priorities_run_one_warp_at_a_time(void **state)
{
    (void)state;
    const struct wsdbg_schedule_options options = {.kind = WSDBG_SCHEDULE_PRIORITY, .seed = 3};
    struct trace trace;
    run(&options, &trace);
    unsigned switches = 0;
    for (size_t i = 1; i < WORDS; i++)
        switches += trace.words[i] != trace.words[i - 1];
    assert_int_equal(switches, WARPS - 1);
    free_trace(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_gives_the_same_run), cmocka_unit_test(another_seed_gives_another_run),
        cmocka_unit_test(round_robin_decides_nothing),  cmocka_unit_test(decisions_repeat_a_run),
        cmocka_unit_test(wild_decisions_do_no_harm),    cmocka_unit_test(priorities_run_one_warp_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
