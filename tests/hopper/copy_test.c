/* copy_test.c - asynchronous copies: cp.async, bulk copies in all directions, reductions, tensors, groups, multicast.
 *
 * machine->in holds what is copied: byte i is 7 i mod 251; results go to machine->out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/kernel.h"
#include "base/tensor_map.h"

static unsigned char *in(const struct machine *machine)
{
    return (unsigned char *)(uintptr_t)machine->in;
}

static unsigned char *out(const struct machine *machine)
{
    return (unsigned char *)(uintptr_t)machine->out;
}

static void fill(const struct machine *machine)
{
    for (unsigned i = 0; i < MACHINE_BYTES; i++)
        in(machine)[i] = (unsigned char)(i * 7 % 251);
}

static void create(struct machine *machine, const char *body, const struct wsdbg_schedule_options *schedule)
{
    kernel_create(machine, body, schedule);
    fill(machine);
}

static enum wsdbg_gpu_outcome run(struct machine *machine, const char *body, struct kernel_launch launch)
{
    create(machine, body, NULL);
    return kernel_launch(machine, launch);
}

#define MUST_RUN(machine, body, ...)                                                                     \
    do {                                                                                                 \
        const enum wsdbg_gpu_outcome outcome_ = run(machine, body, (struct kernel_launch){__VA_ARGS__}); \
        if (outcome_ != WSDBG_GPU_IDLE)                                                                  \
            fail_msg("outcome %d: %s", outcome_,                                                         \
                     wsdbg_gpu_fault((machine)->run) ? wsdbg_gpu_fault((machine)->run)->text : "");      \
    } while (0)

#define SHARED \
    ".shared .align 1024 .b8 data[16384];\n.shared .align 8 .b64 bar;\nmov.u32 %r1, data;\nmov.u32 %r2, bar;\n"
#define TID "mov.u32 %r0, %tid.x;\n"
#define LANE_0 TID "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra done;\n"
#define INIT(count) "mbarrier.init.shared::cta.b64 [%r2], " #count ";\n"
#define WAIT(label, parity) \
    label ":\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], " #parity ";\n@!%p1 bra " label ";\n"
/* `bytes` of shared memory from %r1 on to out, by one thread. */
#define DUMP(label, bytes)                                                                  \
    "mov.u32 %r20, 0;\n" label ":\nadd.u32 %r21, %r1, %r20;\nld.shared.u32 %r22, [%r21];\n" \
    "cvt.u64.u32 %rd20, %r20;\nadd.u64 %rd21, %rd1, %rd20;\nst.global.u32 [%rd21], %r22;\n" \
    "add.u32 %r20, %r20, 4;\nsetp.lt.u32 %p7, %r20, " #bytes ";\n@%p7 bra " label ";\n"

/* ---- cp.async ---- */

static void cp_async_sizes_and_zero_fill(void **state)
{
    (void)state;
    struct machine machine;
    /* Lane l copies 16 bytes from in + 64 l, then 8 of which 3 are read, then 4 ignored. */
    MUST_RUN(&machine,
             SHARED TID "mul.wide.u32 %rd2, %r0, 64;\nadd.u64 %rd3, %rd0, %rd2;\nmad.lo.u32 %r3, %r0, 32, %r1;\n"
                        "cp.async.cg.shared.global [%r3], [%rd3], 16;\n"
                        "cp.async.ca.shared.global [%r3+16], [%rd3+16], 8, 3;\n"
                        "setp.eq.u32 %p2, %r0, %r0;\ncp.async.ca.shared.global [%r3+24], [%rd3+24], 4, %p2;\n"
                        "cp.async.ca.shared.global [%r3+28], [%rd3+28], 4;\n"
                        "cp.async.wait_all;\nbar.sync 0;\n" LANE_0 DUMP("dump", 1024) "done:\n");
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned char expected[32];
        memcpy(expected, in(&machine) + 64 * lane, 32);
        memset(expected + 19, 0, 9);
        assert_memory_equal(out(&machine) + 32 * lane, expected, 32);
    }
    machine_destroy(&machine);
}

static void cp_async_groups(void **state)
{
    (void)state;
    /* Three groups; at most one left means that the first two have landed. */
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct machine machine;
        create(&machine,
               SHARED LANE_0 "cp.async.ca.shared.global [%r1], [%rd0], 4;\ncp.async.commit_group;\n"
                             "cp.async.ca.shared.global [%r1+4], [%rd0+4], 4;\ncp.async.commit_group;\n"
                             "cp.async.ca.shared.global [%r1+8], [%rd0+8], 4;\ncp.async.commit_group;\n"
                             "cp.async.wait_group 1;\n" DUMP(
                                 "dump", 8) "cp.async.wait_group 0;\n"
                                            "ld.shared.u32 %r5, [%r1+8];\nst.global.u32 [%rd1+8], %r5;\ndone:\n",
               &(struct wsdbg_schedule_options){.kind = WSDBG_SCHEDULE_RANDOM, .seed = seed});
        assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_IDLE);
        assert_memory_equal(out(&machine), in(&machine), 12);
        machine_destroy(&machine);
    }
}

static void cp_async_arrives_at_an_mbarrier(void **state)
{
    (void)state;
    struct machine machine;
    /* .noinc: 32 arrivals of the count are the copies'; else the count is raised and only thread 0's own one remains.
     */
    MUST_RUN(&machine,
             SHARED TID "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n" INIT(
                 32) "ready:\nbar.sync 0;\nmul.wide.u32 %rd2, %r0, 16;\nadd.u64 %rd3, %rd0, %rd2;\nmad.lo.u32 %r3, "
                     "%r0, 16, %r1;\n"
                     "cp.async.cg.shared.global [%r3], [%rd3], 16;\n"
                     "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n" WAIT(
                         "first",
                         0) "cp.async.cg.shared.global [%r3], [%rd3+512], 16;\n"
                            "cp.async.mbarrier.arrive.shared.b64 [%r2];\nmbarrier.arrive.shared.b64 _, [%r2];\n" WAIT(
                                "second", 1) LANE_0 DUMP("dump", 512) "done:\n");
    assert_memory_equal(out(&machine), in(&machine) + 512, 512);
    machine_destroy(&machine);
}

/* ---- bulk copies ---- */

static void bulk_load(void **state)
{
    (void)state;
    struct machine machine;
    MUST_RUN(&machine, SHARED LANE_0 INIT(1) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 8192;\n"
                                             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                                             "[%rd0+160], 8192, [%r2];\n" WAIT("wait", 0) DUMP("dump", 8192) "done:\n");
    assert_memory_equal(out(&machine), in(&machine) + 160, 8192);
    machine_destroy(&machine);
}

static void bulk_store_and_its_groups(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct machine machine;
        /* Two stores from one buffer: it may be overwritten once the first has read it. */
        create(&machine,
               SHARED LANE_0
               "mov.u32 %r3, 17;\nst.shared.u32 [%r1], %r3;\nst.shared.u32 [%r1+12], %r3;\n"
               "fence.proxy.async.shared::cta;\n"
               "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;\ncp.async.bulk.commit_group;\n"
               "cp.async.bulk.wait_group.read 0;\nmov.u32 %r3, 34;\nst.shared.u32 [%r1], %r3;\n"
               "cp.async.bulk.global.shared::cta.bulk_group [%rd1+16], [%r1], 16;\ncp.async.bulk.commit_group;\n"
               "cp.async.bulk.wait_group 1;\nld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1+32], %r4;\n"
               "cp.async.bulk.wait_group 0;\nld.global.u32 %r4, [%rd1+16];\nst.global.u32 [%rd1+36], %r4;\ndone:\n",
               &(struct wsdbg_schedule_options){.kind = WSDBG_SCHEDULE_RANDOM, .seed = seed});
        assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_IDLE);
        static const uint32_t expected[] = {17, 0, 0, 17, 34, 0, 0, 17, 17, 34};
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            assert_int_equal(machine_word(&machine, i), expected[i]);
        machine_destroy(&machine);
    }
}

/* Nobody waits for the store: the grid is over when it is. */
static void copies_outlive_their_thread(void **state)
{
    (void)state;
    struct machine machine;
    MUST_RUN(&machine, SHARED LANE_0 "mov.u32 %r3, 17;\nst.shared.u32 [%r1], %r3;\n"
                                     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;\ndone:\n");
    assert_int_equal(machine_word(&machine, 0), 17);
    machine_destroy(&machine);
}

#define CLUSTER_SYNC "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

/* Rank 1 sends its bytes into rank 0's shared memory, whose barrier counts them. */
static void bulk_copy_between_ctas(void **state)
{
    (void)state;
    struct machine machine;
    MUST_RUN(&machine,
             SHARED TID "mov.u32 %r10, %cluster_ctarank;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n" INIT(
                 1) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 64;\n"
                    "add.u32 %r11, %r10, 5;\nst.shared.u32 [%r1], %r11;\nst.shared.u32 [%r1+60], "
                    "%r11;\nready:\n" CLUSTER_SYNC "@%p0 bra done;\nsetp.eq.u32 %p2, %r10, 0;\n@%p2 bra receiver;\n"
                    "mapa.shared::cluster.u32 %r3, %r1, 0;\nmapa.shared::cluster.u32 %r4, %r2, 0;\n"
                    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+128], [%r1], 64, "
                    "[%r4];\nbra done;\n"
                    "receiver:\n" WAIT(
                        "wait", 0) "ld.shared.u32 %r5, [%r1+128];\nst.global.u32 [%rd1], %r5;\n"
                                   "ld.shared.u32 %r5, [%r1+188];\nst.global.u32 [%rd1+4], %r5;\ndone:\n" CLUSTER_SYNC,
             .grid = 2, .cluster = 2);
    assert_int_equal(machine_word(&machine, 0), 6);
    assert_int_equal(machine_word(&machine, 1), 6);
    machine_destroy(&machine);
}

struct reduction {
    const char *suffix;         /* of cp.reduce.async.bulk.global.shared::cta.bulk_group */
    uint32_t before, by, after; /* the first word */
};

static void bulk_reductions(void **state)
{
    (void)state;
    static const struct reduction rows[] = {
        {"add.u32", 0xfffffff0, 0x20, 0x10},
        {"add.s32", 5, 0xfffffff0, 0xfffffff5},
        {"min.s32", 5, 0xfffffff0, 0xfffffff0},
        {"min.u32", 5, 0xfffffff0, 5},
        {"max.s32", 5, 0xfffffff0, 5},
        {"max.u32", 5, 0xfffffff0, 0xfffffff0},
        {"inc.u32", 7, 7, 0},
        {"inc.u32", 6, 7, 7},
        {"dec.u32", 0, 9, 9},
        {"dec.u32", 4, 9, 3},
        {"and.b32", 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
        {"or.b32", 0xff00ff00, 0x0ff00ff0, 0xfff0fff0},
        {"xor.b32", 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
        {"add.f32", 0x3f800000, 0x40000000, 0x40400000},
        {"add.noftz.f16", 0x3c004000, 0x40003c00, 0x42004200},
        {"add.noftz.bf16", 0x3f804000, 0x40003f80, 0x40404040},
        {"min.f16", 0x3c004000, 0x40003c00, 0x3c003c00},
        {"max.bf16", 0x3f804000, 0x40003f80, 0x40004000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[2048];
        struct machine machine;
        snprintf(body, sizeof body, "%s%s%s",
                 SHARED LANE_0 "ld.global.u32 %r3, [%rd0];\nst.shared.u32 [%r1], %r3;\n"
                               "cp.reduce.async.bulk.global.shared::cta.bulk_group.",
                 rows[i].suffix,
                 " [%rd1], [%r1], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\ndone:\n");
        create(&machine, body, NULL);
        memcpy(in(&machine), &rows[i].by, sizeof rows[i].by);
        memcpy(out(&machine), &rows[i].before, sizeof rows[i].before);
        assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_IDLE);
        if (machine_word(&machine, 0) != rows[i].after)
            fail_msg("%s: 0x%x, not 0x%x", rows[i].suffix, machine_word(&machine, 0), rows[i].after);
        machine_destroy(&machine);
    }
}

/* ---- tensors ---- */

/* 64 rows of 128 bytes in a pitch of 256, at machine->in + 4096; boxes of 8 rows; the map lies at machine->in. */
static struct wsdbg_tensor_map tensor_map(const struct machine *machine, uint64_t address)
{
    (void)machine;
    return (struct wsdbg_tensor_map){.magic = WSDBG_TENSOR_MAGIC,
                                     .data_type = 2, /* UINT32 */
                                     .rank = 2,
                                     .element_bytes = 4,
                                     .swizzle = 3,
                                     .address = address,
                                     .sizes_and_strides = {32, 64},
                                     .strides_bytes = {256},
                                     .box = {32, 8},
                                     .element_strides = {1, 1}};
}

static void run_tensor(struct machine *machine, const char *body, bool to_out, struct kernel_launch launch)
{
    create(machine, body, NULL);
    const struct wsdbg_tensor_map map = tensor_map(machine, to_out ? machine->out : machine->in + 4096);
    memcpy(in(machine), &map, sizeof map);
    if (kernel_launch(machine, launch) != WSDBG_GPU_IDLE)
        fail_msg("%s", wsdbg_gpu_fault(machine->run) ? wsdbg_gpu_fault(machine->run)->text : "it hangs");
}

static void check_box(const struct machine *machine, const unsigned char *got, int first_row)
{
    for (int row = 0; row < 8; row++)
        for (int chunk = 0; chunk < 8; chunk++) {
            static const unsigned char zeros[16];
            const int source = first_row + row;
            const unsigned char *const expected =
                source >= 0 && source < 64 ? in(machine) + 4096 + source * 256 + chunk * 16 : zeros;
            assert_memory_equal(got + row * 128 + (chunk ^ row) * 16, expected, 16);
        }
}

static void tensor_load(void **state)
{
    (void)state;
    struct machine machine;
    run_tensor(&machine,
               SHARED LANE_0 INIT(
                   1) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;\nmov.u32 %r3, 0;\nmov.u32 %r4, 60;\n"
                      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0, {%r3, "
                      "%r4}], [%r2];\n"
                      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1+1024], [%rd0, "
                      "{0, -3}], [%r2];\n" WAIT("wait", 0) DUMP("dump", 2048) "done:\n",
               false, (struct kernel_launch){0});
    check_box(&machine, out(&machine), 60);
    check_box(&machine, out(&machine) + 1024, -3);
    machine_destroy(&machine);
}

/* Rank 1 sends one box to ranks 0 and 2; each waits at its own barrier and dumps behind the others. */
static void tensor_multicast(void **state)
{
    (void)state;
    struct machine machine;
    run_tensor(
        &machine,
        SHARED TID "mov.u32 %r10, %cluster_ctarank;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n" INIT(
            1) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;\nready:\n" CLUSTER_SYNC
               "@%p0 bra done;\nsetp.ne.u32 %p2, %r10, 1;\n@%p2 bra receiver;\nmov.u16 %h1, 5;\n"
               "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
               "[%rd0, {0, 8}], [%r2], %h1;\nbra done;\nreceiver:\nsetp.eq.u32 %p3, %r10, 3;\n@%p3 bra done;\n" WAIT(
                   "wait",
                   0) "mul.wide.u32 %rd5, %r10, 1024;\nadd.u64 %rd1, %rd1, %rd5;\n" DUMP("dump",
                                                                                         1024) "done:\n" CLUSTER_SYNC,
        false, (struct kernel_launch){.grid = 4, .cluster = 4});
    check_box(&machine, out(&machine), 8);
    check_box(&machine, out(&machine) + 2048, 8);
    assert_int_equal(out(&machine)[1024], 0);
    machine_destroy(&machine);
}

/* What a load leaves in shared memory a store puts back, rows outside of the tensor left out. */
static void tensor_store_and_reduction(void **state)
{
    (void)state;
    struct machine machine;
    run_tensor(
        &machine,
        SHARED LANE_0
        "mov.u32 %r20, 0;\nfill:\nadd.u32 %r21, %r1, %r20;\nst.shared.u32 [%r21], %r20;\nadd.u32 %r20, %r20, 4;\n"
        "setp.lt.u32 %p7, %r20, 1024;\n@%p7 bra fill;\nfence.proxy.async.shared::cta;\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd0, {0, 59}], [%r1];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd0, {0, 62}], [%r1];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\ndone:\n",
        true, (struct kernel_launch){0});
    for (unsigned row = 0; row < 66; row++)
        for (unsigned column = 0; column < 32; column++) {
            uint32_t expected = 0;
            for (unsigned first = 59; first <= 62; first += 3) /* swizzled as it lies in shared memory */
                if (row >= first && row < 64)
                    expected += (row - first) * 128 + ((column / 4 ^ (row - first)) * 4 + column % 4) * 4;
            assert_int_equal(machine_word(&machine, row * 64 + column), expected);
        }
    machine_destroy(&machine);
}

/* ---- errors ---- */

static void fails(const char *body, int error)
{
    struct machine machine;
    create(&machine, body, NULL);
    struct wsdbg_tensor_map map = tensor_map(&machine, machine.in + MACHINE_BYTES - 256);
    memcpy(in(&machine), &map, sizeof map);
    memset(in(&machine) + 128, 0, 128);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_FAULT);
    if (kernel_error(&machine) != error)
        fail_msg("error %d (%s) of %s", kernel_error(&machine), wsdbg_gpu_fault(machine.run)->text, body);
    machine_destroy(&machine);
}

#define BULK(to, from, bytes)                                                                                          \
    SHARED LANE_0 INIT(1) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " to ", " from ", " bytes \
                          ", [%r2];\n" WAIT("w", 0) "done:\n"
#define TENSOR(to, map)                                                                                              \
    SHARED LANE_0 INIT(1) "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes " to ", " map \
                          ", [%r2];\n" WAIT("w", 0) "done:\n"

static void bad_copies(void **state)
{
    (void)state;
    fails(BULK("[%r1]", "[%rd0]", "24"), 716); /* sizes are multiples of 16 */
    fails(BULK("[%r1+8]", "[%rd0]", "32"), 716);
    fails(BULK("[%r1]", "[%rd0+8]", "32"), 716);
    fails(BULK("[%r1]", "[%rd0]", "65536"), 700);     /* more than the CTA's shared memory */
    fails(BULK("[%r1]", "[%rd0+65520]", "32"), 700);  /* one half behind the allocation */
    fails(TENSOR("[%r1+64]", "[%rd0, {0, 0}]"), 716); /* tensors begin at 128 */
    fails(TENSOR("[%r1]", "[%rd0+32, {0, 0}]"), 716);
    fails(TENSOR("[%r1]", "[%rd0+128, {0, 0}]"), 715); /* zeros are no tensor map */
    fails(TENSOR("[%r1]", "[%rd0, {0, 0}]"), 700);     /* the tensor leaves its allocation */
    /* More bytes than an mbarrier can count. */
    fails(SHARED LANE_0 INIT(
              1) "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 1048575;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 16, [%r2];\n" WAIT(
                     "w", 0) "done:\n",
          719);
}

static void prefetches_do_nothing(void **state)
{
    (void)state;
    struct machine machine;
    run_tensor(&machine,
               LANE_0 "prefetch.tensormap [%rd0];\ncp.async.bulk.prefetch.L2.global [%rd0], 64;\n"
                      "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd0, {0, 0}];\ndone:\n",
               false, (struct kernel_launch){0});
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cp_async_sizes_and_zero_fill),
        cmocka_unit_test(cp_async_groups),
        cmocka_unit_test(cp_async_arrives_at_an_mbarrier),
        cmocka_unit_test(bulk_load),
        cmocka_unit_test(bulk_store_and_its_groups),
        cmocka_unit_test(copies_outlive_their_thread),
        cmocka_unit_test(bulk_copy_between_ctas),
        cmocka_unit_test(bulk_reductions),
        cmocka_unit_test(tensor_load),
        cmocka_unit_test(tensor_multicast),
        cmocka_unit_test(tensor_store_and_reduction),
        cmocka_unit_test(bad_copies),
        cmocka_unit_test(prefetches_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
