/* barrier_test.c - named barriers, the cluster's barrier, cluster addresses, register pool, dependent grids.
 *
 * Kernels write to [%rd1]; every thread's number is in %r0 where it is used.
 */
#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"

#define TID "mov.u32 %r0, %tid.x;\n"
/* 32-bit `value` at [out + 4 tid] */
#define OUT(value) "mul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], " value ";\n"

struct ended {
    enum wsdbg_gpu_outcome outcome;
    int error;
    uint32_t out[1024];
};

static struct ended run(const char *body, struct kernel_launch launch)
{
    struct ended ended;
    struct machine machine;
    ended.outcome = kernel_run(&machine, body, launch, NULL);
    ended.error = kernel_error(&machine);
    memcpy(ended.out, (const void *)(uintptr_t)machine.out, sizeof ended.out);
    machine_destroy(&machine);
    return ended;
}

/* ---- named barriers ---- */

/* Every thread writes its number, and after the barrier reads its neighbour's of another warp. */
#define EXCHANGE(barrier)                                                                           \
    ".shared .align 4 .b32 slots[128];\n" TID "mov.u32 %r1, slots;\nmad.lo.u32 %r2, %r0, 4, %r1;\n" \
    "st.shared.u32 [%r2], %r0;\n" barrier "xor.b32 %r3, %r0, 96;\nmad.lo.u32 %r4, %r3, 4, %r1;\n"   \
    "ld.shared.u32 %r5, [%r4];\n" OUT("%r5")

static void all_threads_of_the_cta(void **state)
{
    (void)state;
    static const char *const kernels[] = {EXCHANGE("bar.sync 0;\n"), EXCHANGE("bar.sync 3, 128;\n"),
                                          EXCHANGE("mov.u32 %r6, 15;\nmov.u32 %r7, 128;\nbarrier.sync %r6, %r7;\n"),
                                          EXCHANGE("barrier.cta.sync.aligned 1;\n")};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct ended ended = run(kernels[i], (struct kernel_launch){.block = 128});
        assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
        for (uint32_t thread = 0; thread < 128; thread++)
            assert_int_equal(ended.out[thread], thread ^ 96);
    }
}

/* Warp 0 only arrives; it may be far ahead, warps 1 to 3 wait for it. */
static void who_arrives_does_not_wait(void **state)
{
    (void)state;
    const struct ended ended = run(".shared .align 4 .b32 slot;\n" TID "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra waits;\n"
                                   "mov.u32 %r1, 77;\nst.shared.u32 [slot], %r1;\nbar.arrive 2, 128;\nbra done;\n"
                                   "waits:\nbar.sync 2, 128;\nld.shared.u32 %r2, [slot];\n" OUT("%r2") "done:\n",
                                   (struct kernel_launch){.block = 128});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    for (uint32_t thread = 32; thread < 128; thread++)
        assert_int_equal(ended.out[thread], 77);
}

static void reductions(void **state)
{
    (void)state;
    /* Threads with a number below 40 say yes. */
    struct ended ended = run(TID "setp.lt.u32 %p1, %r0, 40;\nbar.red.popc.u32 %r1, 0, %p1;\n" OUT("%r1"),
                             (struct kernel_launch){.block = 96});
    assert_int_equal(ended.out[0], 40);
    assert_int_equal(ended.out[95], 40);
    ended = run(
        TID "setp.lt.u32 %p1, %r0, 40;\nbar.red.and.pred %p2, 1, 96, %p1;\nbar.red.or.pred %p3, 1, 96, %p1;\n"
            "bar.red.and.pred %p4, 0, !%p2;\nbar.red.or.pred %p5, 0, %p2;\n"
            "selp.u32 %r1, 1, 0, %p2;\nselp.u32 %r2, 2, 0, %p3;\nselp.u32 %r3, 4, 0, %p4;\nselp.u32 %r4, 8, 0, %p5;\n"
            "or.b32 %r1, %r1, %r2;\nor.b32 %r1, %r1, %r3;\nor.b32 %r1, %r1, %r4;\n" OUT("%r1"),
        (struct kernel_launch){.block = 96});
    for (uint32_t thread = 0; thread < 96; thread++)
        assert_int_equal(ended.out[thread], 6);
}

/* A last warp of 8 threads counts as 32; lanes that exited are not waited for. */
static void incomplete_and_exited_warps(void **state)
{
    (void)state;
    struct ended ended = run(TID "bar.sync 0;\nbar.sync 1, 64;\n" OUT("7"), (struct kernel_launch){.block = 40});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    assert_int_equal(ended.out[39], 7);
    ended =
        run(TID "setp.eq.u32 %p0, %r0, 5;\n@%p0 exit;\nsetp.ge.u32 %p1, %r0, 64;\n@%p1 exit;\nbar.sync 0;\n" OUT("9"),
            (struct kernel_launch){.block = 96});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    assert_int_equal(ended.out[0], 9);
    assert_int_equal(ended.out[5], 0);
    ended = run(TID "bar.red.and.pred %p2, 0, 1;\nselp.u32 %r1, 1, 0, %p2;\n" OUT("%r1"),
                (struct kernel_launch){.block = 40});
    assert_int_equal(ended.out[39], 1);
}

/* Lanes of a warp that reach the barrier at different instructions count as one arrival. */
static void lanes_meet_at_different_instructions(void **state)
{
    (void)state;
    const struct ended ended =
        run(TID "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra even;\nbarrier.sync 1;\nbra done;\n"
                "even:\nbarrier.sync 1;\ndone:\n" OUT("3"),
            (struct kernel_launch){.block = 64});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    assert_int_equal(ended.out[63], 3);
}

static void hangs_and_errors(void **state)
{
    (void)state;
    assert_int_equal(run("bar.sync 1, 96;\n", (struct kernel_launch){.block = 64}).outcome, WSDBG_GPU_DEADLOCK);
    /* Lane 0 stays away. */
    assert_int_equal(
        run(TID "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra on;\nbarrier.sync 1;\nbra done;\non:\nbarrier.sync 2;\ndone:\n",
            (struct kernel_launch){.block = 64})
            .outcome,
        WSDBG_GPU_DEADLOCK);
    assert_int_equal(run("mov.u32 %r1, 16;\nbar.sync %r1;\n", (struct kernel_launch){0}).error, 719);
    assert_int_equal(run("mov.u32 %r1, 33;\nbar.sync 0, %r1;\n", (struct kernel_launch){0}).error, 719);
}

static void different_counts_are_reported(void **state)
{
    (void)state;
    const struct wsdbg_gpu_report *reports;
    struct machine machine;
    assert_int_equal(kernel_run(&machine,
                                TID "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra other;\nbar.arrive 4, 64;\nbra done;\n"
                                    "other:\nbar.sync 4, 96;\ndone:\n",
                                (struct kernel_launch){.block = 64}, NULL),
                     WSDBG_GPU_DEADLOCK);
    assert_int_equal(wsdbg_gpu_reports(machine.gpu, &reports), 1);
    assert_int_equal(reports[0].kind, WSDBG_GPU_NAMED_COUNTS);
    assert_int_equal(reports[0].offset, 4);
    machine_destroy(&machine);
}

/* 50 rounds of three warps that pass each other at three barriers, under many schedules. */
static void generations(void **state)
{
    (void)state;
    static const char body[] =
        ".shared .align 4 .b32 sum;\n" TID "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\nmov.u32 %r9, 0;\n"
        "st.shared.u32 [sum], %r9;\nready:\nbar.sync 0;\nmov.u32 %r3, 0;\nand.b32 %r8, %r0, 31;\nshr.u32 %r7, %r0, 5;\n"
        "again:\nrem.u32 %r1, %r3, 3;\nsetp.eq.u32 %p1, %r1, %r7;\nsetp.eq.and.u32 %p2, %r8, 0, %p1;\n"
        "@%p2 ld.shared.u32 %r5, [sum];\n@%p2 add.u32 %r5, %r5, %r3;\n@%p2 st.shared.u32 [sum], %r5;\n"
        "bar.sync %r1, 96;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 50;\n@%p3 bra again;\n"
        "ld.shared.u32 %r5, [sum];\n" OUT("%r5");
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct machine machine;
        const struct wsdbg_schedule_options schedule = {.kind =
                                                            seed % 2 ? WSDBG_SCHEDULE_RANDOM : WSDBG_SCHEDULE_PRIORITY,
                                                        .seed = seed,
                                                        .change_points = 4,
                                                        .length = 4000};
        assert_int_equal(kernel_run(&machine, body, (struct kernel_launch){.block = 96}, &schedule), WSDBG_GPU_IDLE);
        assert_int_equal(machine_word(&machine, 95), 49 * 50 / 2);
        machine_destroy(&machine);
    }
}

/* ---- clusters ---- */

#define CLUSTER_SYNC "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
#define RANK "mov.u32 %r10, %cluster_ctarank;\n"

/* Each CTA writes into the next one's shared memory; addresses by mapa of both kinds. */
static void shared_memory_of_the_cluster(void **state)
{
    (void)state;
    const struct ended ended =
        run(".shared .align 8 .b32 slots[2];\n" TID RANK "add.u32 %r11, %r10, 1;\nand.b32 %r11, %r11, 3;\n"
            "mov.u32 %r1, slots;\nmapa.shared::cluster.u32 %r2, %r1, %r11;\n"
            "cvt.u64.u32 %rd4, %r1;\ncvta.shared.u64 %rd5, %rd4;\nmapa.u64 %rd6, %rd5, %r11;\n" CLUSTER_SYNC
            "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra written;\nadd.u32 %r3, %r10, 100;\nst.shared::cluster.u32 [%r2], %r3;\n"
            "getctarank.shared::cluster.u32 %r4, %r2;\ngetctarank.u64 %r5, %rd6;\nshl.b32 %r4, %r4, 8;\nor.b32 %r4, "
            "%r4, %r5;\n"
            "st.u32 [%rd6+4], %r4;\nwritten:\n" CLUSTER_SYNC
            "ld.shared.u32 %r6, [slots];\nld.shared.u32 %r7, [slots+4];\nshl.b32 %r7, %r7, 16;\nor.b32 %r6, %r6, %r7;\n"
            "mad.lo.u32 %r0, %r10, 32, %r0;\n" OUT("%r6"),
            (struct kernel_launch){.grid = 4, .cluster = 4});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    for (uint32_t rank = 0; rank < 4; rank++)
        assert_int_equal(ended.out[rank * 32 + 31], (100 + (rank + 3) % 4) | rank << 16 | rank << 24);
}

static void remote_arrivals(void **state)
{
    (void)state;
    /* 3 CTAs x 32 threads arrive at rank 0's barrier; it counts to 96. */
    const struct ended ended =
        run(".shared .align 8 .b64 bar;\n" TID RANK "mov.u32 %r1, bar;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n"
            "mbarrier.init.shared::cta.b64 [%r1], 96;\nready:\n" CLUSTER_SYNC
            "setp.eq.u32 %p1, %r10, 0;\n@%p1 bra waits;\nmapa.shared::cluster.u32 %r2, %r1, 0;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\nbra done;\n"
            "waits:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;\n@!%p2 bra waits;\n" OUT(
                "5") "done:\n" CLUSTER_SYNC,
            (struct kernel_launch){.grid = 4, .cluster = 4});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    assert_int_equal(ended.out[31], 5);
}

static void exited_threads_count_as_arrived(void **state)
{
    (void)state;
    const struct ended ended =
        run(TID RANK "setp.eq.u32 %p0, %r10, 1;\n@%p0 bra gone;\nsetp.eq.u32 %p1, %r0, 3;\n@%p1 bra gone;\n"
                     "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n" CLUSTER_SYNC OUT("8") "gone:\n",
            (struct kernel_launch){.grid = 2, .cluster = 2, .block = 64});
    assert_int_equal(ended.outcome, WSDBG_GPU_IDLE);
    assert_int_equal(ended.out[63], 8);
}

static void a_cluster_barrier_without_its_peer(void **state)
{
    (void)state;
    const struct ended ended =
        run(".shared .align 8 .b64 bar;\n" TID RANK "mov.u32 %r1, bar;\nmbarrier.init.shared::cta.b64 [%r1], 1;\n"
            "setp.eq.u32 %p0, %r10, 0;\n@%p0 bra sync;\n"
            "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n@!%p1 bra again;\nsync:\n" CLUSTER_SYNC,
            (struct kernel_launch){.grid = 2, .cluster = 2});
    assert_int_equal(ended.outcome, WSDBG_GPU_DEADLOCK);
}

static void addresses_outside_of_the_cluster(void **state)
{
    (void)state;
    assert_int_equal(run(".shared .align 4 .b32 slot;\nmov.u32 %r1, slot;\nmapa.shared::cluster.u32 %r2, %r1, 2;\n"
                         "st.shared::cluster.u32 [%r2], %r1;\n",
                         (struct kernel_launch){.grid = 2, .cluster = 2})
                         .error,
                     700);
}

/* On a GPU an error, too: the block of the cluster is not present. */
static void a_cta_that_has_exited_has_no_shared_memory(void **state)
{
    (void)state;
    assert_int_equal(run(".shared .align 4 .b32 slot;\n" RANK "setp.ne.u32 %p0, %r10, 0;\n@%p0 bra gone;\n"
                         "nanosleep.u32 100000;\nmov.u32 %r1, slot;\nmapa.shared::cluster.u32 %r2, %r1, 1;\n"
                         "st.shared::cluster.u32 [%r2], %r1;\ngone:\n",
                         (struct kernel_launch){.grid = 2, .cluster = 2})
                         .error,
                     700);
}

/* ---- registers ---- */

/* 12 warps compiled for 168 registers: 4 give back down to `given`, 8 ask for `asked`. */
static enum wsdbg_gpu_outcome register_hand_over(const char *given, const char *asked)
{
    char body[1024];
    struct machine machine;
    snprintf(
        body, sizeof body,
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry main(.param .u64 in, .param .u64 "
        "out)\n.maxntid 384\n.minnctapersm 1\n{\n"
        ".reg .b32 %%r<4>;\n.reg .pred %%p<2>;\n"
        "mov.u32 %%r0, %%tid.x;\nsetp.ge.u32 %%p0, %%r0, 128;\n@%%p0 bra asks;\n"
        "setmaxnreg.dec.sync.aligned.u32 %s;\nbra done;\nasks:\nsetmaxnreg.inc.sync.aligned.u32 %s;\ndone:\nret;\n}\n",
        given, asked);
    machine_create(&machine, body, NULL);
    const enum wsdbg_gpu_outcome outcome = kernel_launch(&machine, (struct kernel_launch){.block = 384});
    machine_destroy(&machine);
    return outcome;
}

static void the_pool_is_what_the_cta_got(void **state)
{
    (void)state;
    assert_int_equal(register_hand_over("40", "232"), WSDBG_GPU_IDLE);
    assert_int_equal(register_hand_over("40", "240"), WSDBG_GPU_DEADLOCK);
    assert_int_equal(register_hand_over("168", "176"), WSDBG_GPU_DEADLOCK);
}

/* Two warpgroups compiled for 255 registers a thread get 256, so asking for 256 asks for nothing. */
static void registers_come_in_eights(void **state)
{
    (void)state;
    static const char text[] = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry main(.param .u64 in, "
                               ".param .u64 out)\n.maxntid 256\n.minnctapersm 1\n{\n"
                               "setmaxnreg.inc.sync.aligned.u32 256;\nret;\n}\n";
    struct machine machine;
    machine_create(&machine, text, NULL);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 256}), WSDBG_GPU_IDLE);
    machine_destroy(&machine);
}

/* One warp of file 0 gives back 128 a thread: two askers of file 0 get 64 each, the others wait for ever. */
static void four_register_files(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry main(.param .u64 in, .param .u64 "
        "out)\n.maxntid 384\n"
        ".minnctapersm 1\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [out];\n"
        "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 bra gives;\nsetp.lt.u32 %p0, %r0, 128;\n@%p0 bra done;\n"
        "setmaxnreg.inc.sync.aligned.u32 232;\nmul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
        "mov.u32 %r1, 1;\nst.global.u32 [%rd3], %r1;\nbra done;\n"
        "gives:\nsetmaxnreg.dec.sync.aligned.u32 40;\ndone:\nret;\n}\n";
    struct machine machine;
    machine_create(&machine, text, NULL);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 384}), WSDBG_GPU_DEADLOCK);
    for (uint32_t warp = 4; warp < 12; warp++)
        assert_int_equal(machine_word(&machine, warp * 32), warp % 4 == 0);
    machine_destroy(&machine);
}

/* ---- dependent grids ---- */

/* The second grid begins as soon as every CTA of the first one has said so; its wait is for the first one's end. */
static void dependent_grids(void **state)
{
    (void)state;
    static const char *const body =
        "ld.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra second;\n"
        "mov.u32 %r2, 1;\nst.global.u32 [%rd1], %r2;\ngriddepcontrol.launch_dependents;\n"
        "again:\nld.acquire.gpu.u32 %r3, [%rd1+4];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra again;\n"
        "mov.u32 %r4, 5;\nst.global.u32 [%rd1+8], %r4;\nbra done;\n"
        "second:\nmov.u32 %r2, 1;\nst.global.u32 [%rd1+4], %r2;\ngriddepcontrol.wait;\n"
        "ld.global.u32 %r5, [%rd1+8];\nst.global.u32 [%rd1+12], %r5;\ndone:\n";
    struct machine machine;
    kernel_create(&machine, body, NULL);
    machine_launch(&machine, 1, 32);
    struct wsdbg_grid_run *const first = machine.run;
    machine_launch_as(&machine, (struct wsdbg_gpu_launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .after = first});
    machine_finish(&machine);
    assert_int_equal(machine_word(&machine, 3), 5);
    wsdbg_gpu_forget(machine.gpu, first);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_of_the_cta),
        cmocka_unit_test(who_arrives_does_not_wait),
        cmocka_unit_test(reductions),
        cmocka_unit_test(incomplete_and_exited_warps),
        cmocka_unit_test(lanes_meet_at_different_instructions),
        cmocka_unit_test(hangs_and_errors),
        cmocka_unit_test(different_counts_are_reported),
        cmocka_unit_test(generations),
        cmocka_unit_test(shared_memory_of_the_cluster),
        cmocka_unit_test(remote_arrivals),
        cmocka_unit_test(exited_threads_count_as_arrived),
        cmocka_unit_test(a_cluster_barrier_without_its_peer),
        cmocka_unit_test(addresses_outside_of_the_cluster),
        cmocka_unit_test(a_cta_that_has_exited_has_no_shared_memory),
        cmocka_unit_test(the_pool_is_what_the_cta_got),
        cmocka_unit_test(registers_come_in_eights),
        cmocka_unit_test(four_register_files),
        cmocka_unit_test(dependent_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
