/* store_async_test.c - st.async and red.async between the CTAs of a cluster; tensor maps that a kernel changes. */
#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"
#include "base/tensor_map.h"

static void run(struct machine *machine, const char *body, struct kernel_launch launch)
{
    const enum wsdbg_gpu_outcome outcome = kernel_launch(machine, launch);
    if (outcome != WSDBG_GPU_IDLE)
        fail_msg("outcome %d (%s) of %s", outcome,
                 wsdbg_gpu_fault(machine->run) ? wsdbg_gpu_fault(machine->run)->text : "", body);
}

/* Rank 1 fills `data` of both with 5 and waits for `bytes`; rank 0 sends to it: %r10, %r11 are rank 1's data and
 * barrier, %r3 is 100 + the lane.  Then rank 1 stores 512 bytes. */
#define BEGIN(bytes)                                                                                             \
    ".shared .align 16 .b8 data[512];\n.shared .align 8 .b64 bar;\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, data;\n"   \
    "mov.u32 %r2, bar;\nadd.u32 %r3, %r0, 100;\nmad.lo.u32 %r4, %r0, 16, %r1;\nmov.u32 %r5, 5;\n"                \
    "st.shared.v4.b32 [%r4], {%r5, %r5, %r5, %r5};\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra begun;\n"                 \
    "mbarrier.init.shared.b64 [%r2], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r2], " #bytes ";\nbegun:\n"   \
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 %r6, %cluster_ctarank;\nsetp.eq.u32 %p1, %r6, 1;\n" \
    "@%p1 bra receiver;\nmapa.shared::cluster.u32 %r10, %r4, 1;\nmapa.shared::cluster.u32 %r11, %r2, 1;\n"
#define END                                                                                                       \
    "bra done;\nreceiver:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra receiver;\n"             \
    "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r4];\nmul.wide.u32 %rd2, %r0, 16;\nadd.u64 %rd2, %rd1, %rd2;\n" \
    "st.global.v4.b32 [%rd2], {%r20, %r21, %r22, %r23};\ndone:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"

/* What the words of a lane of rank 1 are: `lane` times this, and this. */
struct word {
    uint32_t each, base;
};

static void check(const char *body, const struct word words[4])
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct machine machine;
        kernel_create(&machine, body, &(struct wsdbg_schedule_options){.kind = WSDBG_SCHEDULE_RANDOM, .seed = seed});
        run(&machine, body, (struct kernel_launch){.grid = 2, .cluster = 2});
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned i = 0; i < 4; i++)
                if (machine_word(&machine, 4 * lane + i) != lane * words[i].each + words[i].base)
                    fail_msg("word %u of lane %u is %u: %s", i, lane, machine_word(&machine, 4 * lane + i), body);
        machine_destroy(&machine);
    }
}

#define ST "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
static void stores(void **state)
{
    (void)state;
    static const struct word one[] = {{1, 100}, {0, 5}, {0, 5}, {0, 5}};
    check(BEGIN(128) ST ".b32 [%r10], %r3, [%r11];\n" END, one);
    check(BEGIN(128) "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %r3, [%r11];\n" END, one);
    check(BEGIN(256) "cvt.u64.u32 %rd5, %r3;\n" ST ".u64 [%r10], %rd5, [%r11];\n" END,
          (const struct word[]){{1, 100}, {0, 0}, {0, 5}, {0, 5}});
    check(BEGIN(256) ST ".v2.s32 [%r10+8], {%r3, %r0}, [%r11];\n" END,
          (const struct word[]){{0, 5}, {0, 5}, {1, 100}, {1, 0}});
    check(BEGIN(512) ST ".v4.b32 [%r10], {%r3, 7, %r0, 8}, [%r11];\n" END,
          (const struct word[]){{1, 100}, {0, 7}, {1, 0}, {0, 8}});
    check(BEGIN(512) "cvt.u64.u32 %rd5, %r3;\n" ST ".v2.b64 [%r10], {%rd5, %rd5}, [%r11];\n" END,
          (const struct word[]){{1, 100}, {0, 0}, {1, 100}, {0, 0}});
    /* A generic address is one of the cluster's windows. */
    check(BEGIN(128) "cvta.shared.u64 %rd5, data;\nmul.wide.u32 %rd6, %r0, 16;\nadd.u64 %rd5, %rd5, %rd6;\n"
                     "mapa.u64 %rd5, %rd5, 1;\ncvta.shared.u64 %rd7, bar;\nmapa.u64 %rd7, %rd7, 1;\n"
                     "st.async.mbarrier::complete_tx::bytes.b32 [%rd5], %r3, [%rd7];\n" END,
          one);
}

#define RED "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
static void reductions(void **state)
{
    (void)state;
    /* Before: 5. */
#define BECOMES(text, each, base) \
    check(BEGIN(128) text " [%r10], %r3, [%r11];\n" END, (const struct word[]){{each, base}, {0, 5}, {0, 5}, {0, 5}})
    BECOMES(RED ".add.u32", 1, 105);
    BECOMES(RED ".add.s32", 1, 105);
    BECOMES(RED ".inc.u32", 0, 6);
    BECOMES(RED ".dec.u32", 0, 4);
    BECOMES(RED ".min.s32", 0, 5);
    BECOMES(RED ".max.u32", 1, 100);
    check(BEGIN(128) RED ".and.b32 [%r10], 12, [%r11];\n" END, (const struct word[]){{0, 4}, {0, 5}, {0, 5}, {0, 5}});
    check(BEGIN(128) RED ".or.b32 [%r10], 12, [%r11];\n" END, (const struct word[]){{0, 13}, {0, 5}, {0, 5}, {0, 5}});
    check(BEGIN(128) RED ".xor.b32 [%r10], 12, [%r11];\n" END, (const struct word[]){{0, 9}, {0, 5}, {0, 5}, {0, 5}});
    check(BEGIN(256) "cvt.u64.u32 %rd5, %r3;\n" RED ".add.u64 [%r10], %rd5, [%r11];\n" END,
          (const struct word[]){{1, 105}, {0, 5}, {0, 5}, {0, 5}});
}

static void fails(const char *body, int error)
{
    struct machine machine;
    assert_int_equal(kernel_run(&machine, body, (struct kernel_launch){.grid = 2, .cluster = 2}, NULL),
                     WSDBG_GPU_FAULT);
    assert_int_equal(kernel_error(&machine), error);
    machine_destroy(&machine);
}

static void bad_stores(void **state)
{
    (void)state;
    fails(BEGIN(512) ST ".v4.b32 [%r10+8], {%r3, 7, %r0, 8}, [%r11];\n" END, 716); /* not aligned to the vector */
    fails(BEGIN(512) ST ".b32 [%r10], %r3, [%r11+4];\n" END, 716);
    fails(BEGIN(512) ST ".b32 [%r10+1048576], %r3, [%r11];\n" END, 700);
    /* Fewer bytes than the barrier waits for: nobody will ever come. */
    struct machine machine;
    assert_int_equal(kernel_run(&machine, BEGIN(132) ST ".b32 [%r10], %r3, [%r11];\n" END,
                                (struct kernel_launch){.grid = 2, .cluster = 2}, NULL),
                     WSDBG_GPU_DEADLOCK);
    machine_destroy(&machine);
}

/* ---- tensor maps ---- */

/* A map in shared memory, changed by thread 0 and copied to global memory: what it is then. */
static struct wsdbg_tensor_map changed(const char *replacements)
{
    char body[4096];
    struct machine machine;
    snprintf(body, sizeof body,
             ".shared .align 128 .b8 map[128];\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, map;\n"
             "mad.lo.u32 %%r2, %%r0, 4, %%r1;\nmul.wide.u32 %%rd2, %%r0, 4;\nadd.u64 %%rd2, %%rd0, %%rd2;\n"
             "ld.global.b32 %%r3, [%%rd2];\nst.shared.b32 [%%r2], %%r3;\nbar.warp.sync -1;\n"
             "setp.ne.u32 %%p0, %%r0, 0;\n@%%p0 bra ready;\n%sready:\nbar.warp.sync -1;\n"
             "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%%rd1], [%%r1], "
             "128;\n",
             replacements);
    kernel_create(&machine, body, NULL);
    struct wsdbg_tensor_map map = {
        .magic = WSDBG_TENSOR_MAGIC, .data_type = 2, .rank = 2, .element_bytes = 4, .address = 0x1000};
    memcpy((void *)(uintptr_t)machine.in, &map, sizeof map);
    run(&machine, body, (struct kernel_launch){0});
    memcpy(&map, (const void *)(uintptr_t)machine.out, sizeof map);
    machine_destroy(&machine);
    return map;
}

#define REPLACE(field, type, operands) \
    "tensormap.replace.tile." field ".shared::cta.b1024." type " [%r1], " operands ";\n"

static void every_field_of_a_map(void **state)
{
    (void)state;
    assert_int_equal(changed("").address, 0x1000);
    assert_true(changed("mov.u64 %rd5, 0x7f0000000010;\n" REPLACE("global_address", "b64", "%rd5")).address ==
                0x7f0000000010);
    assert_int_equal(changed(REPLACE("rank", "b32", "4")).rank, 5); /* counted from 0 */
    const struct wsdbg_tensor_map map =
        changed(REPLACE("box_dim", "b32", "0, 64") REPLACE("box_dim", "b32", "4, 7")
                    REPLACE("global_dim", "b32", "1, 4096") REPLACE("global_stride", "b64", "0, 256")
                        REPLACE("global_stride", "b64", "3, 1048576") REPLACE("element_stride", "b32", "2, 3"));
    assert_int_equal(map.box[0], 64);
    assert_int_equal(map.box[4], 7);
    assert_int_equal(map.sizes_and_strides[1], 4096);
    assert_int_equal(map.strides_bytes[0], 256);
    assert_int_equal(map.strides_bytes[3], 1048576);
    assert_int_equal(map.element_strides[2], 3);
    assert_int_equal(changed(REPLACE("interleave_layout", "b32", "1")).interleave, 1);
    assert_int_equal(changed(REPLACE("swizzle_mode", "b32", "3")).swizzle, 3);
    assert_int_equal(changed(REPLACE("fill_mode", "b32", "1")).out_of_bounds_fill, 1);
}

/* PTX counts the types otherwise than CUtensorMapDataType. */
static void types_of_a_map(void **state)
{
    (void)state;
#define TYPE(number, cuda_type, bytes)                                                     \
    do {                                                                                   \
        const struct wsdbg_tensor_map map_ = changed(REPLACE("elemtype", "b32", #number)); \
        assert_int_equal(map_.data_type, cuda_type);                                       \
        assert_int_equal(map_.element_bytes, bytes);                                       \
    } while (0)
    TYPE(0, 0, 1);   /* u8 */
    TYPE(5, 5, 8);   /* s64 */
    TYPE(6, 6, 2);   /* f16 */
    TYPE(7, 7, 4);   /* f32 */
    TYPE(8, 10, 4);  /* f32.ftz */
    TYPE(9, 8, 8);   /* f64 */
    TYPE(10, 9, 2);  /* bf16 */
    TYPE(12, 12, 4); /* tf32.ftz */
}

/* A kernel may begin with zeros. */
static void a_map_out_of_nothing(void **state)
{
    (void)state;
    struct machine machine;
    static const char body[] =
        ".shared .align 128 .b8 map[128];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, map;\n"
        "mad.lo.u32 %r2, %r0, 4, %r1;\nmov.b32 %r3, 0;\nst.shared.b32 [%r2], %r3;\n"
        "bar.warp.sync -1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n" REPLACE(
            "rank", "b32", "0") "ready:\nbar.warp.sync -1;\ntensormap.cp_fenceproxy.global."
                                "shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;\n";
    kernel_create(&machine, body, NULL);
    run(&machine, body, (struct kernel_launch){0});
    struct wsdbg_tensor_map map;
    memcpy(&map, (const void *)(uintptr_t)machine.out, sizeof map);
    assert_int_equal(map.magic, WSDBG_TENSOR_MAGIC);
    assert_int_equal(map.rank, 1);
    machine_destroy(&machine);
}

static void what_is_no_map_is_not_changed(void **state)
{
    (void)state;
    fails(".shared .align 128 .b8 map[128];\nmov.u32 %r1, map;\nmov.u64 %rd5, 7;\nst.shared.b64 [%r1], %rd5;\n" REPLACE(
              "rank", "b32", "1"),
          715);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(reductions),
        cmocka_unit_test(bad_stores),
        cmocka_unit_test(every_field_of_a_map),
        cmocka_unit_test(types_of_a_map),
        cmocka_unit_test(a_map_out_of_nothing),
        cmocka_unit_test(what_is_no_map_is_not_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
