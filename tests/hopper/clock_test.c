/* clock_test.c - waits that look at a clock: dead at once where the clock only says how long to sleep, not dead where
 * it ends the wait or decides anything else. */
#include "hopper/kernel.h"

#include <stdio.h>
#include <string.h>

static struct machine machine;

static int close_machine(void **state)
{
    (void)state;
    machine_destroy(&machine);
    return 0;
}

static enum wsdbg_gpu_outcome outcome_of(const char *body, uint32_t block)
{
    return kernel_run(&machine, body, (struct kernel_launch){.block = block}, NULL);
}

#define BARRIER ".shared .align 8 .b64 bar; mov.u32 %r1, bar; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;\n"
#define INIT_1 "@%p1 bra ready; mbarrier.init.shared::cta.b64 [%r1], 1; ready: bar.sync 0;\n"
#define START BARRIER INIT_1 "mov.u64 %rd2, %globaltimer;\n"
#define TRY "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @%p2 bra fin;\n"
#define TEST "wait: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 0; @%p2 bra fin;\n"
#define ELAPSED "mov.u64 %rd3, %globaltimer; sub.u64 %rd4, %rd3, %rd2;\n"
/* It sleeps for a quarter of the time that it has waited, 1 ms at most. */
#define BACK_OFF                                                                                   \
    ELAPSED "setp.lt.u64 %p3, %rd4, 4000000; @%p3 bra shorter; nanosleep.u32 1000000; bra wait;\n" \
            "shorter: setp.lt.u64 %p4, %rd4, 40000; @%p4 bra wait; shr.u64 %rd5, %rd4, 2;\n"       \
            "cvt.u32.u64 %r4, %rd5; nanosleep.u32 %r4; bra wait;\n"
#define FIN "fin: st.global.u32 [%rd1], 7;"

static void back_off_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(START TRY BACK_OFF FIN, 256), WSDBG_GPU_DEADLOCK);
    assert_true(wsdbg_gpu_time_ns(machine.gpu) < 100000000);
}

static void back_off_that_polls_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(START TEST BACK_OFF FIN, 256), WSDBG_GPU_DEADLOCK);
}

/* The difference to the last look, in a register of its own; %clock64. */
static void clock_carried_round_the_loop_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(START TRY "mov.u64 %rd3, %clock64; sub.u64 %rd4, %rd3, %rd2; mov.u64 %rd2, %rd3;\n"
                                          "cvt.u32.u64 %r4, %rd4; min.u32 %r4, %r4, 500; nanosleep.u32 %r4;\n"
                                          "bra wait; " FIN,
                                64),
                     WSDBG_GPU_DEADLOCK);
}

/* A delay made of looks at the clock ends, and the wait around it does not. */
static void delay_in_a_dead_wait(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(START TRY "mov.u64 %rd2, %globaltimer; delay: " ELAPSED
                                          "setp.lt.u64 %p3, %rd4, 3000; @%p3 bra delay; bra wait; " FIN,
                                32),
                     WSDBG_GPU_DEADLOCK);
}

/* The same delay alone: it comes round in the same state, and it ends. */
static void delay_alone_ends(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("mov.u64 %rd2, %globaltimer; delay: " ELAPSED
                                "setp.lt.u64 %p3, %rd4, 3000000; @%p3 bra delay; " FIN,
                                32),
                     WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 7);
}

/* Late, but it comes: nothing that sleeps is dead before. */
static void back_off_ends_when_the_arrival_comes(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(START "@%p1 bra wait; delay: " ELAPSED
                                      "nanosleep.u32 1000000; setp.lt.u64 %p3, %rd4, 50000000; @%p3 bra delay;\n"
                                      "mbarrier.arrive.shared.b64 _, [%r1];\n" TRY BACK_OFF FIN,
                                64),
                     WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 7);
}

/* What the kernel does beside the wait; %p3 is true after 3 ms. */
#define LATE ELAPSED "setp.ge.u64 %p3, %rd4, 3000000;\n"
static const char *const timeouts[] = {
    /* A branch out of the loop. */
    LATE "@%p3 bra fin; bra wait;",
    /* Not taken until then. */
    LATE "@!%p3 bra wait; bra fin;",
    /* A thread that exits. */
    LATE "@!%p3 bra wait; st.global.u32 [%rd1], 7; exit;", LATE "@%p3 st.global.u32 [%rd1], 7; @%p3 exit; bra wait;",
    /* By way of a number, and of another branch. */
    LATE "selp.u32 %r5, 1, 0, %p3; setp.ne.u32 %p4, %r5, 0; @%p4 bra fin; bra wait;",
    /* By what a path of its own writes. */
    LATE "mov.u32 %r5, 0; @!%p3 bra early; mov.u32 %r5, 1; early: setp.ne.u32 %p4, %r5, 0; @%p4 bra fin; bra wait;",
    /* By another lane's clock. */
    LATE "vote.sync.any.pred %p4, %p3, -1; @%p4 bra fin; bra wait;",
    /* By local and by shared memory. */
    LATE "selp.u32 %r5, 1, 0, %p3; st.local.u32 [n], %r5; ld.local.u32 %r6, [n]; setp.ne.u32 %p4, %r6, 0;\n"
         "mov.u32 %r6, 0; mov.u32 %r5, 0; st.local.u32 [n], %r5; @%p4 bra fin; bra wait;",
    LATE "selp.u32 %r5, 1, 0, %p3; st.shared.u32 [m], %r5; ld.shared.u32 %r6, [m]; setp.ne.u32 %p4, %r6, 0;\n"
         "mov.u32 %r6, 0; @%p4 bra fin; bra wait;",
    /* By an address, and by an arrival of its own. */
    LATE "selp.u64 %rd6, 4, 0, %p3; add.u64 %rd6, %rd6, %rd0; ld.global.u32 %r5, [%rd6]; setp.ne.u32 %p4, %r5, 0;\n"
         "@%p4 bra fin; bra wait;",
    LATE "@!%p3 bra wait; @!%p1 mbarrier.arrive.shared.b64 _, [%r1]; bra wait;",
    /* By a carry. */
    LATE "selp.u32 %r5, -1, 0, %p3; add.cc.u32 %r5, %r5, 1; addc.u32 %r6, 0, 0; setp.ne.u32 %p4, %r6, 0;\n"
         "@%p4 bra fin; bra wait;",
    /* By the table of a branch. */
    LATE "selp.u32 %r5, 1, 0, %p3; ways: .branchtargets wait, fin; brx.idx %r5, ways;"};

static void a_clock_that_ends_a_wait_is_no_deadlock(void **state)
{
    (void)state;
    static const char words[] = ".local .align 4 .b32 n; .shared .align 4 .b32 m;\n" START "st.shared.u32 [m], 0;\n";
    static const char *const waits[] = {TRY, TEST};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++)
        for (size_t k = 0; k < sizeof waits / sizeof *waits; k++) {
            char body[2048];
            snprintf(body, sizeof body, "%s%s%s\n%s", words, waits[k], timeouts[i], FIN);
            kernel_create(&machine, body, NULL);
            ((uint32_t *)(uintptr_t)machine.in)[1] = 1;
            const enum wsdbg_gpu_outcome outcome = kernel_launch(&machine, (struct kernel_launch){.block = 32});
            if (outcome != WSDBG_GPU_IDLE || machine_word(&machine, 0) != 7)
                fail_msg("%s: outcome %d, word %u", body, (int)outcome, machine_word(&machine, 0));
            assert_true(wsdbg_gpu_time_ns(machine.gpu) >= 3000000);
            machine_destroy(&machine);
        }
    kernel_create(&machine, "", NULL);
}

/* The host may end it: the flag is looked at before or behind the sleep. */
static void back_off_beside_a_flag_of_the_host(void **state)
{
    (void)state;
    static const char *const loops[] = {
        START TRY "ld.relaxed.sys.global.u32 %r3, [%rd0]; setp.ne.u32 %p3, %r3, 0; @%p3 bra fin;\n" ELAPSED
                  "cvt.u32.u64 %r4, %rd4; min.u32 %r4, %r4, 1000000; nanosleep.u32 %r4; bra wait; " FIN,
        START TRY ELAPSED "cvt.u32.u64 %r4, %rd4; min.u32 %r4, %r4, 1000000; nanosleep.u32 %r4;\n"
                          "ld.relaxed.sys.global.u32 %r3, [%rd0]; setp.eq.u32 %p3, %r3, 0; @%p3 bra wait; " FIN};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        if (i)
            machine_destroy(&machine);
        assert_int_equal(outcome_of(loops[i], 96), WSDBG_GPU_STALLED);
        memset((void *)(uintptr_t)machine.in, 1, sizeof(uint32_t));
        assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000000), WSDBG_GPU_IDLE);
        assert_int_equal(machine_word(&machine, 0), 7);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, close_machine)
    const struct CMUnitTest tests[] = {
        CASE(back_off_is_a_deadlock),
        CASE(back_off_that_polls_is_a_deadlock),
        CASE(clock_carried_round_the_loop_is_a_deadlock),
        CASE(delay_in_a_dead_wait),
        CASE(delay_alone_ends),
        CASE(back_off_ends_when_the_arrival_comes),
        CASE(a_clock_that_ends_a_wait_is_no_deadlock),
        CASE(back_off_beside_a_flag_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
