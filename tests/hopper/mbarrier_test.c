/* mbarrier_test.c - the mbarrier instructions, each in a small kernel: words, waits, errors, reports.
 *
 * Kernels write 8-byte values to [%rd1]; `bar` is a barrier in shared memory.
 */
#include "hopper/kernel.h"

#define BAR ".shared .align 8 .b64 bar;\n"
#define BAR2 ".shared .align 8 .b64 bar[2];\n"
#define INIT(count) BAR "mov.u32 %r1, bar;\nmbarrier.init.shared::cta.b64 [%r1], " #count ";\n"
#define STORE(register, index) "st.global.u64 [%rd1+8*" #index "], " register ";\n"
/* The word itself, as any load sees it. */
#define STORE_WORD(index) "ld.shared.u64 %rd9, [%r1];\n" STORE("%rd9", index)
#define LANE_0 "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra done;\n"

static void expect(const char *body, const uint64_t *expected, size_t count)
{
    struct machine machine;
    if (kernel_run(&machine, body, (struct kernel_launch){0}, NULL) != WSDBG_GPU_IDLE)
        fail_msg("error %d", kernel_error(&machine));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(machine_word64(&machine, i), expected[i]);
    machine_destroy(&machine);
}
#define EXPECT(body, ...) \
    expect(body, (const uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static void words_are_the_hardwares(void **state)
{
    (void)state;
    EXPECT(LANE_0 INIT(4) STORE_WORD(0) "mbarrier.arrive.shared::cta.b64 %rd2, [%r1];\n" STORE_WORD(1)
               STORE("%rd2", 2) "mbarrier.arrive.shared::cta.b64 _, [%r1], 3;\n" STORE_WORD(
                   3) "mbarrier.arrive_drop.shared::cta.b64 _, [%r1];\n" STORE_WORD(4) "done:\n",
           0x7fffe000001ffff8, 0x7fffe800001ffff8, 0x7fffe000001ffff8, 0xffffe000001ffff8, 0xffffe800001ffffa);
}

static void bytes_in_the_word(void **state)
{
    (void)state;
    EXPECT(LANE_0 INIT(2) "mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r1], 100;\n"
                          "mbarrier.arrive.shared.b64 _, [%r1];\n" STORE_WORD(
                              0) "mbarrier.complete_tx.relaxed.cta.shared:"
                                 ":cta.b64 [%r1], 100;\n" STORE_WORD(1) "mbarrier.expect_tx.relaxed.cta."
                                                                        "shared::cta.b64 [%r1], "
                                                                        "16384;\n" STORE_WORD(2) "done:\n",
           0x000003fff39ffffc, 0xfffff000001ffffc, 0xfffff3f8001ffffc);
}

static void a_warp_arrives_lane_by_lane(void **state)
{
    (void)state;
    /* Lane 31 is the last one: its state says that one arrival was pending. */
    EXPECT(INIT(32) "mbarrier.arrive.shared::cta.b64 %rd2, [%r1];\nmbarrier.pending_count.b64 %r2, %rd2;\n"
                    "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 31;\n@%p0 bra done;\n"
                    "cvt.u64.u32 %rd3, %r2;\n" STORE_WORD(0) STORE("%rd3", 1) "done:\n",
           0xffff0000001fffc0, 1);
}

static void generic_addresses_and_no_complete(void **state)
{
    (void)state;
    EXPECT(LANE_0 INIT(5) "cvt.u64.u32 %rd5, %r1;\ncvta.shared.u64 %rd6, %rd5;\n"
                          "mbarrier.arrive.b64 _, [%rd6], 2;\n"
                          "mbarrier.arrive.noComplete.shared.b64 %rd2, [%r1], 2;\n" STORE_WORD(0) "done:\n",
           0x7ffff800001ffff6);
}

static void tests_and_tries(void **state)
{
    (void)state;
#define ANSWER(index) "selp.u64 %rd3, 1, 0, %p1;\n" STORE("%rd3", index)
    EXPECT(LANE_0 INIT(1) "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n" ANSWER(
               0) "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 1;\n" ANSWER(1) "mbarrier.arrive.shared::cta."
                                                                                         "b64 %rd2, [%r1];\n"
                                                                                         "mbarrier.test_wait.shared::"
                                                                                         "cta.b64 %p1, [%r1], "
                                                                                         "%rd2;\n" ANSWER(
                                                                                             2) "mbarrier.try_wait."
                                                                                                "parity.shared::cta."
                                                                                                "b64 %p1, [%r1], "
                                                                                                "0;\n" ANSWER(
                                                                                                    3) "mbarr"
                                                                                                       "ier."
                                                                                                       "try_"
                                                                                                       "wait."
                                                                                                       "share"
                                                                                                       "d::"
                                                                                                       "cta."
                                                                                                       "b64 "
                                                                                                       "%p1, "
                                                                                                       "[%r1]"
                                                                                                       ", "
                                                                                                       "%rd2,"
                                                                                                       " 100;"
                                                                                                       "\n" ANSWER(4)
           /* Gives up: nobody arrives in phase 1. */
           "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 1, 100;\n" ANSWER(5) "done:\n",
           0, 1, 1, 1, 1, 0);
}

/* A producer and a consumer hand 100 numbers over through two barriers: every phase is waited for, both parities. */
static const char *const hand_over =
    BAR2 ".shared .align 4 .b32 slot;\n"
         "mov.u32 %r1, bar;\nadd.u32 %r2, %r1, 8;\nmov.u32 %r0, %tid.x;\n"
         "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n"
         "mbarrier.init.shared::cta.b64 [%r1], 32;\nmbarrier.init.shared::cta.b64 [%r2], 32;\nready:\nbar.sync 0;\n"
         "mov.u32 %r3, 0;\nmov.u32 %r9, 0;\nsetp.ge.u32 %p2, %r0, 32;\n@%p2 bra consumer;\n"
         "producer:\nand.b32 %r4, %r3, 1;\nxor.b32 %r5, %r4, 1;\n"
         "empty:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r5;\n@!%p1 bra empty;\n"
         "mul.lo.u32 %r6, %r3, %r3;\nst.shared.u32 [slot], %r6;\n"
         "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
         "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 100;\n@%p3 bra producer;\nbra done;\n"
         "consumer:\nand.b32 %r4, %r3, 1;\n"
         "full:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r4;\n@!%p1 bra full;\n"
         "ld.shared.u32 %r6, [slot];\nadd.u32 %r9, %r9, %r6;\n"
         "mbarrier.arrive.shared::cta.b64 _, [%r2];\n"
         "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 100;\n@%p3 bra consumer;\n"
         "cvt.u64.u32 %rd3, %r9;\nst.global.u64 [%rd1], %rd3;\ndone:\n";

static void phases_under_every_schedule(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct wsdbg_schedule_options schedule = {
            .kind = (enum wsdbg_schedule_kind)(seed % 3), .seed = seed, .change_points = 3, .length = 20000};
        struct machine machine;
        const struct wsdbg_gpu_report *reports;
        assert_int_equal(kernel_run(&machine, hand_over, (struct kernel_launch){.block = 64}, &schedule),
                         WSDBG_GPU_IDLE);
        assert_int_equal(machine_word64(&machine, 0), 328350); /* the sum of the squares below 100 */
        assert_int_equal(wsdbg_gpu_reports(machine.gpu, &reports), 0);
        machine_destroy(&machine);
    }
}

/* Runs one warp, expects the outcome and the error (0: none) and the first report (-1: none). */
static void ends(const char *body, enum wsdbg_gpu_outcome outcome, int error, int report)
{
    struct machine machine;
    const struct wsdbg_gpu_report *reports;
    assert_int_equal(kernel_run(&machine, body, (struct kernel_launch){0}, NULL), outcome);
    assert_int_equal(kernel_error(&machine), error);
    const size_t count = wsdbg_gpu_reports(machine.gpu, &reports);
    assert_int_equal(count != 0, report >= 0);
    if (count)
        assert_int_equal(reports[0].kind, report);
    machine_destroy(&machine);
}

static void a_spent_phase_is_a_fault(void **state)
{
    (void)state;
    ends(LANE_0 INIT(1) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;\n"
                        "mbarrier.arrive.shared::cta.b64 _, [%r1];\ndone:\n",
         WSDBG_GPU_FAULT, 719, -1);
    ends(LANE_0 INIT(3) "mbarrier.arrive.shared::cta.b64 _, [%r1], 4;\ndone:\n", WSDBG_GPU_FAULT, 719, -1);
    ends(LANE_0 INIT(1) "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 1048575;\n"
                        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 1;\ndone:\n",
         WSDBG_GPU_FAULT, 719, -1);
}

static void bad_addresses(void **state)
{
    (void)state;
    ends(LANE_0 INIT(1) "mbarrier.arrive.shared::cta.b64 _, [%r1+4];\ndone:\n", WSDBG_GPU_FAULT, 716, -1);
    ends(LANE_0 INIT(1) "mbarrier.arrive.shared::cta.b64 _, [%r1+4096];\ndone:\n", WSDBG_GPU_FAULT, 700, -1);
    ends(LANE_0 INIT(1) "mbarrier.arrive.b64 _, [%rd1];\ndone:\n", WSDBG_GPU_FAULT, 717, -1);
}

static void a_barrier_that_was_not_initialised_hangs_and_is_reported(void **state)
{
    (void)state;
    ends(LANE_0 BAR "mov.u32 %r1, bar;\n"
                    "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n@!%p1 bra again;\ndone:\n",
         WSDBG_GPU_DEADLOCK, 0, WSDBG_GPU_BARRIER_NOT_INITIALISED);
    ends(LANE_0 INIT(1) "mbarrier.inval.shared::cta.b64 [%r1];\n"
                        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 8;\ndone:\n",
         WSDBG_GPU_IDLE, 0, WSDBG_GPU_BARRIER_NOT_INITIALISED);
}

static void two_phases_nobody_waited_for_are_reported(void **state)
{
    (void)state;
    ends(LANE_0 INIT(1) "mbarrier.arrive.shared::cta.b64 _, [%r1];\ndone:\n", WSDBG_GPU_IDLE, 0, -1);
    ends(LANE_0 INIT(1) "mbarrier.arrive.shared::cta.b64 _, [%r1];\nmbarrier.arrive.shared::cta.b64 _, [%r1];\ndone:\n",
         WSDBG_GPU_IDLE, 0, WSDBG_GPU_PHASE_OVERRUN);
    ends(LANE_0 INIT(1) "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
                        "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n"
                        "mbarrier.arrive.shared::cta.b64 _, [%r1];\ndone:\n",
         WSDBG_GPU_IDLE, 0, -1);
}

static void a_wait_without_arrivals_is_a_proven_deadlock(void **state)
{
    (void)state;
    ends(INIT(33) "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
                  "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n@!%p1 bra again;\n",
         WSDBG_GPU_DEADLOCK, 0, -1);
    ends(INIT(33) "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
                  "again:\nmbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n@!%p1 bra again;\n",
         WSDBG_GPU_DEADLOCK, 0, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_hardwares),
        cmocka_unit_test(bytes_in_the_word),
        cmocka_unit_test(a_warp_arrives_lane_by_lane),
        cmocka_unit_test(generic_addresses_and_no_complete),
        cmocka_unit_test(tests_and_tries),
        cmocka_unit_test(phases_under_every_schedule),
        cmocka_unit_test(a_spent_phase_is_a_fault),
        cmocka_unit_test(bad_addresses),
        cmocka_unit_test(a_barrier_that_was_not_initialised_hangs_and_is_reported),
        cmocka_unit_test(two_phases_nobody_waited_for_are_reported),
        cmocka_unit_test(a_wait_without_arrivals_is_a_proven_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
