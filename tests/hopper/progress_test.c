/* progress_test.c - how a kernel that does not end is told: a deadlock proven, one that the host could end, or still at
 * work. */
#include "hopper/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct machine machine;

static enum wsdbg_gpu_outcome outcome_of(const char *body, struct kernel_launch launch)
{
    return kernel_run(&machine, body, launch, NULL);
}

static int close_machine(void **state)
{
    (void)state;
    machine_destroy(&machine);
    return 0;
}

#define BARRIER ".shared .align 8 .b64 bar; mov.u32 %r1, bar; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;\n"
#define INIT_1 "@%p1 bra ready; mbarrier.init.shared::cta.b64 [%r1], 1; ready: bar.sync 0;\n"

/* Nobody arrives: the wait's time limits run out for ever. */
static void missing_arrival_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(BARRIER INIT_1
                                "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra wait;",
                                (struct kernel_launch){.block = 64}),
                     WSDBG_GPU_DEADLOCK);
    assert_int_equal(wsdbg_gpu_state(machine.run), WSDBG_GRID_RUNNING);
}

/* The same asked by test_wait, which never blocks: it is a spin. */
static void polling_a_barrier_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(BARRIER INIT_1
                                "wait: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra wait;",
                                (struct kernel_launch){.block = 64}),
                     WSDBG_GPU_DEADLOCK);
}

/* Every warp gives up at once, so that at any time some of them look. */
static void tries_without_time_are_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(BARRIER INIT_1
                                "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0, 0; @!%p2 bra wait;",
                                (struct kernel_launch){.grid = 4, .block = 1024}),
                     WSDBG_GPU_DEADLOCK);
}

/* One loop tries several waits in turn, in vain; that some of its tries look the same as the last one shows nothing.
 * The host could end a loop that also looks at its memory, wherever on the way it does so. */
#define LOOK "ld.acquire.sys.global.u32 %r3, [%rd0]; setp.ne.u32 %p2, %r3, 0; @%p2 bra done;\n"
#define TRY "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @%p2 bra done;\n"
static void tries_in_turn_are_a_deadlock(void **state)
{
    static const struct {
        const char *body;
        enum wsdbg_gpu_outcome outcome;
    } rows[] = {
        {BARRIER INIT_1 "again: " TRY TRY TRY "bra again; done:", WSDBG_GPU_DEADLOCK},
        {BARRIER INIT_1 "again: " TRY LOOK TRY TRY "bra again; done:", WSDBG_GPU_STALLED},
        {BARRIER INIT_1 "again: " TRY TRY TRY LOOK "bra again; done:", WSDBG_GPU_STALLED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(outcome_of(rows[i].body, (struct kernel_launch){.block = 64}), rows[i].outcome);
        machine_destroy(&machine);
    }
    (void)state;
}

/* A function that tries a wait is called from several places.  They look alike inside of it, but behind the last one
 * the barrier's arrival is made. */
#define CALL "call.uni try_once, ();\n"
static void tries_in_a_function_end(void **state)
{
    (void)state;
    machine_create(&machine,
                   PTX_HEAD
                   ".shared .align 8 .b64 bar;\n.func try_once()\n{\n.reg .b32 %r<2>;\n.reg .pred %p<2>;\n"
                   "mov.u32 %r1, bar;\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0, 1000;\nret;\n}\n"
                   ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"
                   "mov.u32 %r1, bar;\nmov.u32 %r2, %tid.x;\nsetp.ne.u32 %p1, %r2, 0;\n" INIT_1
                   "setp.ge.u32 %p3, %r2, 32;\n@%p3 bra wait;\n" CALL CALL CALL CALL CALL CALL
                   "@%p1 bra wait;\nmbarrier.arrive.shared::cta.b64 _, [%r1];\n"
                   "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0, 300;\n@!%p2 bra wait;\nret;\n}\n",
                   &(struct wsdbg_gpu_options){.multiprocessors = MACHINE_SMS});
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 64}), WSDBG_GPU_IDLE);
}

static void named_barrier_short_of_a_warp_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("bar.sync 1, 96;", (struct kernel_launch){.block = 64}), WSDBG_GPU_DEADLOCK);
}

static void lane_missing_at_a_warp_barrier_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(
        outcome_of(BARRIER INIT_1
                   "@%p1 bra behind; wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra wait;\n"
                   "behind: bar.warp.sync -1;",
                   (struct kernel_launch){.block = 32}),
        WSDBG_GPU_DEADLOCK);
}

static void spin_on_shared_memory_is_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(".shared .b32 flag; mov.u32 %r1, flag; again: ld.volatile.shared.u32 %r2, [%r1]; "
                                "setp.eq.u32 %p1, %r2, 0; @%p1 bra again;",
                                (struct kernel_launch){.block = 32}),
                     WSDBG_GPU_DEADLOCK);
}

/* Global memory could be written by the host: it is, and the kernel goes on. */
static void spin_on_global_memory_waits_for_the_host(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("again: ld.acquire.sys.global.u32 %r2, [%rd0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra "
                                "again; st.global.u32 [%rd1], %r2;",
                                (struct kernel_launch){.block = 64}),
                     WSDBG_GPU_STALLED);
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000000), WSDBG_GPU_STALLED);
    const uint32_t flag = 9;
    memcpy((void *)(uintptr_t)machine.in, &flag, sizeof flag);
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000000), WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 9);
}

/* A lock that nobody gives back: the compare-and-swap fails and writes nothing. */
static void lost_lock_waits_for_the_host(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("atom.global.exch.b32 %r1, [%rd1], 1; again: atom.global.cas.b32 %r2, [%rd1], 0, 1; "
                                "nanosleep.u32 100; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;",
                                (struct kernel_launch){.block = 32}),
                     WSDBG_GPU_STALLED);
}

/* Another CTA's store ends the spin; it comes after a long time. */
static void spin_ends_when_its_word_is_written(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra writer;\n"
                                "again: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again; "
                                "st.global.u32 [%rd1+4], 5; ret;\n"
                                "writer: mov.u32 %r3, 0; work: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 100000; @%p3 "
                                "bra work; st.volatile.global.u32 [%rd1], 1;",
                                (struct kernel_launch){.grid = 2, .block = 32}),
                     WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 1), 5);
}

/* A loop polls the words 0 and 1 in turn, as workers with several queues do, and stores what it saw, the same each
 * time.  It comes back to the same registers in every second round. */
#define POLL_IN_TURN                                                                        \
    "mov.u32 %r4, 0; again: cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd1, %rd2;\n"             \
    "ld.volatile.global.u32 %r2, [%rd2]; st.shared.u32 [seen], %r2; xor.b32 %r4, %r4, 4;\n" \
    "nanosleep.u32 20; setp.eq.u32 %p2, %r2, 0; @%p2 bra again; st.global.u32 [%rd1+8], %r2;\n"

static void polls_in_turn_wait_for_the_host(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(".shared .b32 seen;\n" POLL_IN_TURN, (struct kernel_launch){.block = 32}),
                     WSDBG_GPU_STALLED);
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000000), WSDBG_GPU_STALLED);
}

/* Either of them ends the loop. */
static void polls_in_turn_end_when_a_word_is_written(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 2; word++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            ".shared .b32 seen;\nmov.u32 %%r1, %%ctaid.x; setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra writer;\n%s ret;\n"
            "writer: mov.u32 %%r3, 0; work: add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p3, %%r3, 100000; @%%p3 bra work;\n"
            "st.volatile.global.u32 [%%rd1+%u], %u;",
            POLL_IN_TURN, word * 4, 7 + word);
        assert_int_equal(outcome_of(body, (struct kernel_launch){.grid = 2, .block = 32}), WSDBG_GPU_IDLE);
        assert_int_equal(machine_word(&machine, 2), 7 + word);
        machine_destroy(&machine);
    }
}

/* It counts its rounds in shared memory: each store is another one. */
static void a_loop_that_stores_is_no_deadlock(void **state)
{
    (void)state;
    assert_int_equal(
        outcome_of(".shared .b32 rounds; again: ld.volatile.shared.u32 %r2, [rounds]; add.u32 %r2, %r2, 1;\n"
                   "st.volatile.shared.u32 [rounds], %r2; mov.u32 %r3, %r2; mov.u32 %r2, 0;\n"
                   "setp.lt.u32 %p1, %r3, 5000; mov.u32 %r3, 0; @%p1 bra again; st.global.u32 [%rd1], 3;",
                   (struct kernel_launch){.block = 1}),
        WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 3);
}

/* CTA 0 stores 0 in word 0 again and again while it polls word 16.  CTA 1 makes it 1 once, and waits until it is 0. */
#define SET_AND_AWAIT_RESET                                                                                  \
    "other: mov.u32 %r3, 0; work: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 5000; @%p3 bra work;\n"         \
    "st.volatile.global.u32 [%rd1], 1; poll: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p2, %r2, 0;\n" \
    "@%p2 bra poll; st.volatile.global.u32 [%rd1+64], 1;\n"

static void a_loop_that_resets_a_word_is_no_hang(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra other;\n"
                                "again: st.volatile.global.u32 [%rd1], 0; ld.volatile.global.u32 %r2, [%rd1+64];\n"
                                "setp.eq.u32 %p2, %r2, 0; @%p2 bra again; ret;\n" SET_AND_AWAIT_RESET,
                                (struct kernel_launch){.grid = 2, .block = 32}),
                     WSDBG_GPU_IDLE);
    machine_destroy(&machine);
    /* It polls shared memory, which warp 1 writes once word 16 is: no write of global memory wakes it. */
    assert_int_equal(outcome_of(".shared .b32 s; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r5, %tid.x;\n"
                                "setp.ge.u32 %p4, %r5, 32; mov.u32 %r7, 0; st.shared.u32 [s], %r7; bar.sync 0;\n"
                                "@%p1 bra second; @%p4 bra pass;\n"
                                "again: st.volatile.global.u32 [%rd1], 0; ld.volatile.shared.u32 %r2, [s];\n"
                                "setp.eq.u32 %p2, %r2, 0; @%p2 bra again; ret;\n"
                                "pass: ld.volatile.global.u32 %r2, [%rd1+64]; setp.eq.u32 %p2, %r2, 0; @%p2 bra pass;\n"
                                "st.volatile.shared.u32 [s], 1; ret;\nsecond: @%p4 ret;\n" SET_AND_AWAIT_RESET,
                                (struct kernel_launch){.grid = 2, .block = 64}),
                     WSDBG_GPU_IDLE);
}

/* What another warp changes between the loop's first access and its first read must not be missed, whenever it comes.
 */
static void assert_never_missed(const char *head, const char *first, const char *leaves, const char *change)
{
    char nops[8192] = "", body[12288];
    for (unsigned i = 0; i < 200; i++)
        strcat(nops, "add.u32 %r9, %r1, 3;\n");
    for (unsigned delay = 1; delay < 4000; delay += 7) {
        snprintf(body, sizeof body,
                 ".shared .b32 s; mov.u32 %%r5, %%tid.x; setp.ge.u32 %%p4, %%r5, 32; mov.u32 %%r7, 0;\n"
                 "st.shared.u32 [s], %%r7;\n%s bar.sync 0; @%%p4 bra other;\nagain: %s\n%s"
                 "ld.volatile.shared.u32 %%r2, [s]; %s @!%%p2 bra again; ret;\nother: mov.u32 %%r3, 0;\n"
                 "work: add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p3, %%r3, %u; @%%p3 bra work;\n%s",
                 head, first, nops, leaves, delay, change);
        assert_int_equal(outcome_of(body, (struct kernel_launch){.block = 64}), WSDBG_GPU_IDLE);
        machine_destroy(&machine);
    }
}

static void a_change_behind_a_quiet_store_is_seen(void **state)
{
    (void)state;
    assert_never_missed(".shared .b32 x; st.shared.u32 [x], %r7;", "st.volatile.shared.u32 [x], 0;",
                        "setp.ne.u32 %p2, %r2, 0;",
                        "st.volatile.shared.u32 [x], 1; poll: ld.volatile.shared.u32 %r2, [x];\n"
                        "setp.ne.u32 %p2, %r2, 0; @%p2 bra poll; st.volatile.shared.u32 [s], 1;\n");
}

static void a_phase_that_ends_behind_its_test_is_seen(void **state)
{
    (void)state;
    assert_never_missed(".shared .align 8 .b64 bar; mov.u32 %r10, bar; setp.eq.u32 %p5, %r5, 0;\n"
                        "@%p5 mbarrier.init.shared::cta.b64 [%r10], 1;",
                        "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r10], 0;", "",
                        "setp.eq.u32 %p5, %r5, 32; @%p5 mbarrier.arrive.shared::cta.b64 %rd5, [%r10];\n");
}

/* Loops that leave by themselves: after a count of tries, or by a clock. */
static void loops_with_an_end_are_no_deadlock(void **state)
{
    (void)state;
    assert_int_equal(
        outcome_of(
            BARRIER INIT_1
            "mov.u32 %r3, 0; wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; add.u32 %r3, %r3, 1;\n"
            "setp.ge.u32 %p3, %r3, 50; @%p3 bra done; @!%p2 bra wait; done: st.global.u32 [%rd1], %r3;",
            (struct kernel_launch){.block = 32}),
        WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 50);
}

static void clock_ends_a_loop(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("mov.u64 %rd2, %globaltimer; again: nanosleep.u32 1000; mov.u64 %rd3, %globaltimer; "
                                "sub.u64 %rd4, %rd3, %rd2;\n"
                                "setp.lt.u64 %p1, %rd4, 1000000000; @%p1 bra again; st.global.u64 [%rd1], %rd4;",
                                (struct kernel_launch){.block = 32}),
                     WSDBG_GPU_IDLE);
    assert_true(machine_word64(&machine, 0) >= 1000000000);
    assert_true(wsdbg_gpu_time_ns(machine.gpu) >= 1000000000);
}

#define TRY_WAIT BARRIER INIT_1 "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @%p2 bra fin;\n"
#define FIN "fin: st.global.u32 [%rd1], 7;"

/* Between two tries the kernel looks whether the host gave it up. */
static void flag_of_the_host_beside_a_barrier(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(TRY_WAIT "ld.relaxed.sys.global.u32 %r3, [%rd0]; setp.eq.u32 %p3, %r3, 0;\n"
                                         "@%p3 bra wait; " FIN,
                                (struct kernel_launch){.block = 32}),
                     WSDBG_GPU_STALLED);
    memset((void *)(uintptr_t)machine.in, 1, sizeof(uint32_t));
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000000), WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 7);
}

/* Nothing of the clock is left in registers when the loop comes round, as when their places are shared. */
static void forgotten_clock_ends_a_loop(void **state)
{
    (void)state;
    static const char after_5_ms[] = "mov.u64 %rd3, %globaltimer; sub.u64 %rd3, %rd3, %rd2;\n"
                                     "setp.lt.u64 %p3, %rd3, 5000000; mov.u64 %rd3, 0; @%p3 bra wait; " FIN;
    static const char *const waits[] = {
        TRY_WAIT,
        ".shared .b32 flag; wait: ld.volatile.shared.u32 %r2, [flag]; setp.ne.u32 %p1, %r2, 0; @%p1 bra fin;"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        char body[1024];
        snprintf(body, sizeof body, "mov.u64 %%rd2, %%globaltimer; %s%s", waits[i], after_5_ms);
        if (i)
            machine_destroy(&machine);
        assert_int_equal(outcome_of(body, (struct kernel_launch){.block = 32}), WSDBG_GPU_IDLE);
        assert_int_equal(machine_word(&machine, 0), 7);
    }
}

/* As code that was not optimised counts. */
static void tries_counted_in_local_memory_end(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(".local .align 4 .b32 n; st.local.u32 [n], 0;\n" TRY_WAIT
                                "ld.local.u32 %r3, [n]; add.u32 %r3, %r3, 1; st.local.u32 [n], %r3;\n"
                                "setp.lt.u32 %p3, %r3, 20; mov.u32 %r3, 0; @%p3 bra wait; " FIN,
                                (struct kernel_launch){.block = 32}),
                     WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 7);
}

/* Rounds that take longer than a try: at each moment some warp can run. */
static void tries_in_long_rounds_are_a_deadlock(void **state)
{
    enum { MOVES = 400 };
    static const char move[] = "mov.b32 %r4, %r3;\n";
    char body[MOVES * sizeof move + 512], *at = stpcpy(body, BARRIER INIT_1 "again: ");
    (void)state;
    for (unsigned i = 0; i < MOVES; i++)
        at = stpcpy(at, move);
    strcpy(at, "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0, 0; @!%p2 bra again;");
    assert_int_equal(outcome_of(body, (struct kernel_launch){.block = 96}), WSDBG_GPU_DEADLOCK);
}

/* A build without optimisation keeps variables in local memory: rounds store there, and load it again.  Nobody else
 * sees that: it neither is what the loop waits for, nor does it change what the loop does. */
static void spin_with_variables_in_local_memory_is_a_deadlock(void **state)
{
    static const char body[] =
        ".local .align 4 .b8 own[8]; .shared .align 4 .b32 word;\n"
        "again: st.local.u32 [own], 20; ld.local.u32 %r1, [own];\n"
        "st.local.u32 [own], 40; ld.volatile.shared.u32 %r2, [word]; ld.local.u32 %r3, [own+4];\n"
        "setp.ne.u32 %p1, %r2, 5; @%p1 bra again;";
    (void)state;
    assert_int_equal(outcome_of(body, (struct kernel_launch){.block = 32}), WSDBG_GPU_DEADLOCK);
}

/* The same loop counts its rounds there. */
static void rounds_counted_in_local_memory_end(void **state)
{
    static const char body[] = ".local .align 4 .b8 own[8]; .shared .align 4 .b32 word;\n"
                               "st.local.u32 [own], 0;\n"
                               "again: ld.volatile.shared.u32 %r2, [word]; setp.eq.u32 %p1, %r2, 5; @%p1 bra done;\n"
                               "ld.local.u32 %r1, [own]; add.u32 %r1, %r1, 1; st.local.u32 [own], %r1;\n"
                               "setp.lt.u32 %p1, %r1, 100000; mov.u32 %r1, 0; @%p1 bra again; done: ret;";
    (void)state;
    assert_int_equal(outcome_of(body, (struct kernel_launch){.block = 32}), WSDBG_GPU_IDLE);
}

/* 10240 loads under way, more than an engine takes, and no phase ends while the warp waits for room. */
static void full_engine_has_room_again(void **state)
{
    (void)state;
    assert_int_equal(
        outcome_of(BARRIER INIT_1
                   ".shared .align 16 .b8 buffer[16]; mov.u32 %r4, 0; @%p1 bra load;\n"
                   "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 163840; load:\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%rd0], 16, [%r1];\n"
                   "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 320; @%p3 bra load;\n"
                   "wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra wait; " FIN,
                   (struct kernel_launch){.block = 32}),
        WSDBG_GPU_IDLE);
    assert_int_equal(machine_word(&machine, 0), 7);
}

static void budget_ends_a_run(void **state)
{
    (void)state;
    char *text = kernel_text("again: add.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;");
    machine_create(&machine, text, NULL);
    free(text);
    machine_launch(&machine, 1, 32);
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000), WSDBG_GPU_BUDGET);
    assert_int_equal(wsdbg_gpu_instructions(machine.gpu), 1000);
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 500), WSDBG_GPU_BUDGET);
    assert_int_equal(wsdbg_gpu_instructions(machine.gpu), 1500);
}

/* A warp that waits for registers nobody gives back; the others have exited. */
static void registers_never_released_are_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(outcome_of("setmaxnreg.inc.sync.aligned.u32 240;", (struct kernel_launch){.block = 384}),
                     WSDBG_GPU_DEADLOCK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_machine)
    const struct CMUnitTest tests[] = {
        TEST(missing_arrival_is_a_deadlock),
        TEST(polling_a_barrier_is_a_deadlock),
        TEST(tries_without_time_are_a_deadlock),
        cmocka_unit_test(tries_in_turn_are_a_deadlock),
        TEST(tries_in_a_function_end),
        TEST(named_barrier_short_of_a_warp_is_a_deadlock),
        TEST(lane_missing_at_a_warp_barrier_is_a_deadlock),
        TEST(spin_on_shared_memory_is_a_deadlock),
        TEST(spin_on_global_memory_waits_for_the_host),
        TEST(lost_lock_waits_for_the_host),
        TEST(spin_ends_when_its_word_is_written),
        TEST(polls_in_turn_wait_for_the_host),
        cmocka_unit_test(polls_in_turn_end_when_a_word_is_written),
        TEST(a_loop_that_stores_is_no_deadlock),
        TEST(a_loop_that_resets_a_word_is_no_hang),
        cmocka_unit_test(a_change_behind_a_quiet_store_is_seen),
        cmocka_unit_test(a_phase_that_ends_behind_its_test_is_seen),
        TEST(loops_with_an_end_are_no_deadlock),
        TEST(clock_ends_a_loop),
        TEST(flag_of_the_host_beside_a_barrier),
        TEST(forgotten_clock_ends_a_loop),
        TEST(tries_counted_in_local_memory_end),
        TEST(tries_in_long_rounds_are_a_deadlock),
        TEST(spin_with_variables_in_local_memory_is_a_deadlock),
        TEST(rounds_counted_in_local_memory_end),
        TEST(full_engine_has_room_again),
        TEST(budget_ends_a_run),
        TEST(registers_never_released_are_a_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
