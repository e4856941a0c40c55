/* matrix_test.c - wgmma of every kind against three loops.
 *
 * Operands lie in machine->in as floats that every format holds exactly; kernels are written by the test, thread t
 * stores its accumulators one after the other at machine->out.
 */
#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"
#include "hopper/matrix_values.h"
#include "hopper/number.h"

enum { ROWS = 64, TILE_BYTES = 64 * 1024, TEXT_BYTES = 1 << 16 };

/* One form of wgmma: what its text says, and how its operands lie. */
struct form {
    const char *types; /* D, A, B */
    unsigned n, k;
    unsigned swizzle; /* bytes, of both matrices */
    bool a_in_registers, a_is_mn, b_is_mn;
    int scale_a, scale_b;
    bool adds; /* scale-d */
};

/* The same in integers. */
static float value_in(const char *type, unsigned matrix, unsigned row, unsigned k)
{
    const float value = matrix_value(matrix, row, k);
    if (strcmp(type, "s8") == 0)
        return value * 62;
    return strcmp(type, "u8") == 0 ? value * 62 + 129 : value;
}

/* ---- formats ---- */

/* The word `index` of "f32.bf16.bf16". */
static void type_of(const char *types, unsigned index, char out[8])
{
    while (index--)
        types = strchr(types, '.') + 1;
    const size_t length = strcspn(types, ".");
    memcpy(out, types, length);
    out[length] = 0;
}

/* Where element (row, k) of a matrix lies, in bytes from its tile; the layouts that descriptors() describes. */
static unsigned offset_of(unsigned swizzle, bool is_mn, unsigned size, unsigned row, unsigned k)
{
    unsigned offset;
    if (!is_mn && swizzle) /* rows of one swizzle width */
        offset = row * swizzle + k * size;
    else if (!is_mn) /* 8 x 16 bytes; K 128 bytes apart, rows 256 */
        offset = row / 8 * 256 + k * size / 16 * 128 + row % 8 * 16 + k * size % 16;
    else if (swizzle) /* blocks of 8 k by one width of rows; rows' blocks 2048 bytes apart, K's 1024 */
        offset = row * size / swizzle * 2048 + k / 8 * 1024 + k % 8 * swizzle + row * size % swizzle;
    else /* 8 rows 128 bytes apart, 8 k 8192 */
        offset = row / 8 * 128 + k / 8 * 8192 + k % 8 * 16 + row % 8 * 2;
    return swizzle ? offset ^ offset / 128 % (swizzle / 16) * 16 : offset;
}

static uint64_t descriptor(unsigned swizzle, bool is_mn)
{
    const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    uint64_t leading = 1 << 4, stride = 8 * swizzle;
    if (!is_mn && !swizzle) {
        leading = 128;
        stride = 256;
    } else if (is_mn && swizzle) {
        leading = 2048;
        stride = 1024;
    } else if (is_mn) {
        leading = 8192;
        stride = 128;
    }
    return leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
}

static void lay_out(unsigned char *tile, const char *type, unsigned matrix, unsigned rows, unsigned columns,
                    unsigned swizzle, bool is_mn)
{
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < columns; k++) {
            unsigned char bytes[4];
            const unsigned size = matrix_encode(type, value_in(type, matrix, row, k), bytes);
            memcpy(tile + offset_of(swizzle, is_mn, size, row, k), bytes, size);
        }
}

/* A's registers of every thread, as the ISA lays fragments out: 4 bytes of a row, 8 rows down, half of K on. */
static void lay_out_registers(unsigned char *to, const char *type, unsigned columns)
{
    for (unsigned thread = 0; thread < 128; thread++)
        for (unsigned i = 0; i < 4; i++) {
            unsigned char bytes[4];
            const unsigned size = matrix_encode(type, 0, bytes), row = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
            for (unsigned e = 0; e < 4 / size; e++)
                matrix_encode(type, value_in(type, 0, row, thread % 4 * (4 / size) + e + i / 2 * columns / 2),
                              to + (thread * 4 + i) * 4 + e * size);
        }
}

/* ---- the kernel ---- */

static bool is_whole(const struct form *form)
{
    return strncmp(form->types, "s32.", 4) == 0;
}

/* Both tiles are copied to shared memory by a bulk copy; `in` + 65536 / 2 is B. */
static void write_kernel(const struct form *form, char *text)
{
    const bool is_half = strncmp(form->types, "f16.", 4) == 0;
    const unsigned registers = is_half ? form->n / 4 : form->n / 2;
    char *at = text;
    at += sprintf(
        at, "%s%s", PTX_HEAD,
        ".visible .entry main(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
        ".reg .pred %p<4>;\n.reg .b32 %d<128>;\n.extern .shared .align 1024 .b8 tiles[];\n.shared .align 8 .b64 bar;\n"
        "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, tiles;\n"
        "mov.u32 %r2, bar;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra ready;\n"
        "mbarrier.init.shared.b64 [%r2], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r2], 65536;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 65536, [%r2];\n"
        "ready:\nbar.sync 0;\nwait:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;\n@!%p1 bra wait;\n");
    for (unsigned i = 0; i < registers; i++) /* what is added to: 1 */
        at += sprintf(at, "mov.b32 %%d%u, 0x%x;\n", i, is_half ? 0x3c003c00u : 0x3f800000u);
    at += sprintf(at,
                  "and.b32 %%r3, %%r1, 0x3ffff;\nshr.u32 %%r3, %%r3, 4;\ncvt.u64.u32 %%rd2, %%r3;\n"
                  "or.b64 %%rd3, %%rd2, 0x%llx;\nadd.u64 %%rd4, %%rd2, 2048;\nor.b64 %%rd4, %%rd4, 0x%llx;\n",
                  (unsigned long long)descriptor(form->swizzle, form->a_is_mn),
                  (unsigned long long)descriptor(form->swizzle, form->b_is_mn));
    at += sprintf(at, "%s",
                  "mul.lo.u32 %r4, %r0, 16;\nadd.u32 %r4, %r4, %r1;\n"
                  "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];\n");
    at += sprintf(at,
                  "setp.eq.u32 %%p2, %%r1, %s;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n%uk%u.%s {",
                  form->adds ? "%r1" : "0", form->n, form->k, form->types);
    for (unsigned i = 0; i < registers; i++)
        at += sprintf(at, "%s%%d%u", i ? ", " : "", i);
    at += sprintf(at, "}, %s, %%rd4, %%p2", form->a_in_registers ? "{%r5, %r6, %r7, %r8}" : "%rd3");
    if (!is_whole(form))
        at += sprintf(at, ", %d, %d", form->scale_a, form->scale_b);
    if (form->k == 16)
        at += form->a_in_registers ? sprintf(at, ", %d", form->b_is_mn)
                                   : sprintf(at, ", %d, %d", form->a_is_mn, form->b_is_mn);
    at += sprintf(at,
                  ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
                  "mul.wide.u32 %%rd5, %%r0, %u;\nadd.u64 %%rd1, %%rd1, %%rd5;\n",
                  registers * 4);
    for (unsigned i = 0; i < registers; i++)
        at += sprintf(at, "st.global.u32 [%%rd1+%u], %%d%u;\n", i * 4, i);
    sprintf(at, "ret;\n}\n");
}

static void check_whole_results(const struct form *form, const struct machine *machine)
{
    char a_type[8], b_type[8];
    type_of(form->types, 1, a_type);
    type_of(form->types, 2, b_type);
    for (unsigned thread = 0; thread < 128; thread++)
        for (unsigned i = 0; i < form->n / 2; i++) {
            const unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
            const unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
            int32_t expected = form->adds ? 0x3f800000 : 0;
            for (unsigned k = 0; k < form->k; k++)
                expected += (int)value_in(a_type, 0, row, k) * (int)value_in(b_type, 1, column, k);
            const int32_t got = (int32_t)machine_word(machine, thread * (form->n / 2) + i);
            if (got != expected)
                fail_msg("%s n %u: row %u column %u is %d, not %d", form->types, form->n, row, column, got, expected);
        }
}

static void check_results(const struct form *form, const struct machine *machine)
{
    const bool is_half = strncmp(form->types, "f16.", 4) == 0;
    const unsigned registers = is_half ? form->n / 4 : form->n / 2;
    for (unsigned thread = 0; thread < 128; thread++)
        for (unsigned i = 0; i < form->n / 2; i++) {
            const unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
            const unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
            float expected = form->adds ? 1 : 0, got;
            for (unsigned k = 0; k < form->k; k++)
                expected +=
                    (float)(form->scale_a * form->scale_b) * matrix_value(0, row, k) * matrix_value(1, column, k);
            const uint32_t bits = machine_word(machine, thread * registers + (is_half ? i / 2 : i));
            got = is_half ? hopper_f16_to_float((uint16_t)(bits >> i % 2 * 16)) : hopper_float_of_bits(bits);
            if (got != expected)
                fail_msg("%s n %u: row %u column %u is %g, not %g", form->types, form->n, row, column, (double)got,
                         (double)expected);
        }
}

static void check_form(const struct form *form)
{
    static char text[TEXT_BYTES];
    struct machine machine;
    char a_type[8], b_type[8];
    type_of(form->types, 1, a_type);
    type_of(form->types, 2, b_type);
    write_kernel(form, text);
    machine_create(&machine, text, NULL);
    unsigned char *const tiles = (unsigned char *)(uintptr_t)machine.in;
    if (form->a_in_registers)
        lay_out_registers(tiles, a_type, form->k);
    else
        lay_out(tiles, a_type, 0, ROWS, form->k, form->swizzle, form->a_is_mn);
    lay_out(tiles + TILE_BYTES / 2, b_type, 1, form->n, form->k, form->swizzle, form->b_is_mn);
    const enum wsdbg_gpu_outcome outcome =
        kernel_launch(&machine, (struct kernel_launch){.block = 128, .shared_bytes = TILE_BYTES + 1024});
    if (outcome != WSDBG_GPU_IDLE)
        fail_msg("%s: outcome %d: %s", form->types, outcome,
                 wsdbg_gpu_fault(machine.run) ? wsdbg_gpu_fault(machine.run)->text : "");
    if (is_whole(form))
        check_whole_results(form, &machine);
    else
        check_results(form, &machine);
    machine_destroy(&machine);
}

static void wgmma_types(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"f32.bf16.bf16", 64, 16, 128, .scale_a = 1, .scale_b = 1},
        {"f32.f16.f16", 64, 16, 128, .scale_a = 1, .scale_b = 1, .adds = true},
        {"f16.f16.f16", 64, 16, 128, .scale_a = 1, .scale_b = 1, .adds = true},
        {"f32.tf32.tf32", 64, 8, 128, .scale_a = 1, .scale_b = 1, .adds = true},
        {"f32.e4m3.e4m3", 64, 32, 128, .scale_a = 1, .scale_b = 1},
        {"f32.e4m3.e5m2", 64, 32, 128, .scale_a = 1, .scale_b = 1},
        {"f32.e5m2.e4m3", 64, 32, 128, .scale_a = 1, .scale_b = 1, .adds = true},
        {"f16.e5m2.e5m2", 64, 32, 128, .scale_a = 1, .scale_b = 1},
        {"f32.bf16.bf16", 64, 16, 128, .a_in_registers = true, .scale_a = 1, .scale_b = 1},
        {"f32.tf32.tf32", 64, 8, 128, .a_in_registers = true, .scale_a = 1, .scale_b = 1},
        {"f32.e4m3.e5m2", 64, 32, 128, .a_in_registers = true, .scale_a = 1, .scale_b = 1, .adds = true},
        {"f16.f16.f16", 64, 16, 128, .a_in_registers = true, .scale_a = -1, .scale_b = 1, .b_is_mn = true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check_form(&forms[i]);
}

static void wgmma_integers(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"s32.s8.s8", 64, 32, 128, .adds = true},
        {"s32.s8.u8", 24, 32, 128, .adds = false},
        {"s32.u8.s8", 8, 32, 0, .adds = true},
        {"s32.u8.u8", 256, 32, 32, .adds = true},
        {"s32.u8.s8.satfinite", 16, 32, 64, .a_in_registers = true, .adds = true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check_form(&forms[i]);
}

/* 32 products of -128 and -128 or 127, added to the largest and the smallest number. */
static void check_overflow(const char *suffix, uint32_t above, uint32_t below)
{
    char body[2048];
    struct machine machine;
    snprintf(
        body, sizeof body,
        ".shared .align 128 .b8 b[512];\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, b;\nmad.lo.u32 %%r2, %%r0, 4, "
        "%%r1;\nsetp.lt.u32 %%p1, %%r0, 64;\nselp.b32 %%r3, 0x80808080, 0x7f7f7f7f, %%p1;\n"
        "st.shared.b32 [%%r2], %%r3;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nmov.b32 %%r4, 0x80808080;\n"
        "mov.b32 %%r10, 0x7fffffff;\nmov.b32 %%r11, %%r10;\nmov.b32 %%r12, %%r10;\nmov.b32 %%r13, %%r10;\n"
        "mov.b32 %%r14, 0x80000000;\nmov.b32 %%r15, %%r14;\nmov.b32 %%r16, %%r14;\nmov.b32 %%r17, %%r14;\n"
        "setp.eq.u32 %%p2, %%r0, %%r0;\nshr.u32 %%r5, %%r1, 4;\ncvt.u64.u32 %%rd2, %%r5;\n"
        "or.b64 %%rd2, %%rd2, 0x80000;\nadd.u64 %%rd3, %%rd2, 16;\nwgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8%s {%%r10, %%r11, %%r12, %%r13}, {%%r4, %%r4, %%r4, %%r4}, "
        "%%rd2, %%p2;\n"
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8%s {%%r14, %%r15, %%r16, %%r17}, {%%r4, %%r4, %%r4, %%r4}, "
        "%%rd3, %%p2;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        "mul.wide.u32 %%rd4, %%r0, 8;\nadd.u64 %%rd4, %%rd1, %%rd4;\nst.global.v2.b32 [%%rd4], {%%r13, %%r17};\n",
        suffix, suffix);
    assert_int_equal(kernel_run(&machine, body, (struct kernel_launch){.block = 128}, NULL), WSDBG_GPU_IDLE);
    for (unsigned thread = 0; thread < 128; thread++) {
        assert_int_equal(machine_word(&machine, 2 * thread), above);
        assert_int_equal(machine_word(&machine, 2 * thread + 1), below);
    }
    machine_destroy(&machine);
}

static void wgmma_of_integers_wraps_or_is_clamped(void **state)
{
    (void)state;
    check_overflow("", 0x7fffffffu + 32 * 128 * 128, 0x80000000u - 32 * 128 * 127);
    check_overflow(".satfinite", 0x7fffffff, 0x80000000);
}

static void wgmma_sizes(void **state)
{
    (void)state;
    for (unsigned n = 8; n <= 256; n += n < 32 ? 8 : 56)
        check_form(&(struct form){"f32.bf16.bf16", n, 16, 64, .scale_a = 1, .scale_b = 1, .adds = true});
    check_form(&(struct form){"f32.bf16.bf16", 256, 16, 64, .scale_a = 1, .scale_b = 1});
}

static void wgmma_scales(void **state)
{
    (void)state;
    for (int scale_a = -1; scale_a <= 1; scale_a += 2)
        for (int scale_b = -1; scale_b <= 1; scale_b += 2)
            check_form(&(struct form){"f32.f16.f16", 16, 16, 32, .scale_a = scale_a, .scale_b = scale_b, .adds = true});
}

static void wgmma_layouts(void **state)
{
    (void)state;
    static const unsigned swizzles[] = {0, 32, 64, 128};
    for (size_t i = 0; i < 4; i++)
        for (unsigned majors = 0; majors < 4; majors++)
            check_form(&(struct form){"f32.bf16.bf16", 128, 16, swizzles[i], .a_is_mn = majors & 1,
                                      .b_is_mn = majors & 2, .scale_a = 1, .scale_b = 1});
}

/* ---- groups ---- */

/* Four products of the same operands in four groups: D = 4 A B; after wait_group 2 at least two are done. */
static void wgmma_groups(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    for (uint64_t seed = 0; seed < 10; seed++) {
        const struct wsdbg_gpu_options options = {.multiprocessors = MACHINE_SMS,
                                                  .schedule = {.kind = WSDBG_SCHEDULE_RANDOM, .seed = seed}};
        const struct form form = {"f32.bf16.bf16", 8, 16, 128, .scale_a = 1, .scale_b = 1, .adds = true};
        struct machine machine;
        write_kernel(&form, text);
        char *const begin = strstr(text, "wgmma.mma_async"), *const end = strstr(text, "wgmma.wait_group");
        char group[1024], rest[4096];
        snprintf(group, sizeof group, "%.*s", (int)(end - begin), begin);
        snprintf(rest, sizeof rest, "%s", end);
        sprintf(begin, "%s%s%s%swgmma.wait_group.sync.aligned 2;\n%s", group, group, group, group, rest);
        machine_create(&machine, text, &options);
        unsigned char *const tiles = (unsigned char *)(uintptr_t)machine.in;
        lay_out(tiles, "bf16", 0, ROWS, 16, 128, false);
        lay_out(tiles + TILE_BYTES / 2, "bf16", 1, 8, 16, 128, false);
        assert_int_equal(
            kernel_launch(&machine, (struct kernel_launch){.block = 128, .shared_bytes = TILE_BYTES + 1024}),
            WSDBG_GPU_IDLE);
        float expected = 1;
        for (unsigned k = 0; k < 16; k++)
            expected += 4 * matrix_value(0, 0, k) * matrix_value(1, 0, k);
        assert_true(hopper_float_of_bits(machine_word(&machine, 0)) == expected);
        machine_destroy(&machine);
    }
}

/* Without the wait: the machine code's compiler waits in its stead, and it is reported. */
static void accumulators_used_too_early(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    const struct form form = {"f32.bf16.bf16", 8, 16, 128, .scale_a = 1, .scale_b = 1, .adds = true};
    const struct wsdbg_gpu_report *reports;
    struct machine machine;
    write_kernel(&form, text);
    memset(strstr(text, "wgmma.wait_group"), ' ', strlen("wgmma.wait_group.sync.aligned 0;"));
    machine_create(&machine, text, NULL);
    unsigned char *const tiles = (unsigned char *)(uintptr_t)machine.in;
    lay_out(tiles, "bf16", 0, ROWS, 16, 128, false);
    lay_out(tiles + TILE_BYTES / 2, "bf16", 1, 8, 16, 128, false);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 128, .shared_bytes = TILE_BYTES + 1024}),
                     WSDBG_GPU_IDLE);
    check_results(&form, &machine);
    assert_int_equal(wsdbg_gpu_reports(machine.gpu, &reports), 1);
    assert_int_equal(reports[0].kind, WSDBG_GPU_ACCUMULATOR_READ);
    machine_destroy(&machine);
}

static void wgmma_outside_of_shared_memory(void **state)
{
    (void)state;
    struct machine machine;
    assert_int_equal(
        kernel_run(
            &machine,
            ".reg .b32 %d<4>;\nmov.u64 %rd2, 0x4000000100013fff;\nsetp.eq.u32 %p2, 0, 1;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd2, %rd2, %p2, 1, 1, 0, 0;\n"
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
            (struct kernel_launch){.block = 128}, NULL),
        WSDBG_GPU_FAULT);
    assert_int_equal(kernel_error(&machine), 700);
    machine_destroy(&machine);
}

/* A wgmma begins when all four warps have issued it.  Warp 3 issues it after warp 0 arrived on an mbarrier.  If warp 0
 * arrives only behind its wait for the wgmma, that is a deadlock. */
static void a_wgmma_needs_all_warps_of_the_warpgroup(void **state)
{
    static const char kernel[] =
        ".shared .align 128 .b8 data[4096];\n.shared .align 8 .b64 bar;\n"
        "mov.u32 %%r0, %%tid.x;\nsetp.eq.u32 %%p0, %%r0, 0;\nsetp.lt.u32 %%p1, %%r0, 96;\nmov.u32 %%r2, bar;\n"
        "mov.u32 %%r1, data;\nshr.u32 %%r6, %%r1, 4;\ncvt.u64.u32 %%rd10, %%r6;\n"
        "or.b64 %%rd10, %%rd10, 0x0000001000080000;\nadd.u64 %%rd11, %%rd10, 128;\nsetp.eq.u32 %%p4, %%r0, %%r0;\n"
        "@%%p0 mbarrier.init.shared::cta.b64 [%%r2], 1;\nbar.sync 0;\n@%%p1 bra ISSUE;\n"
        "W: mbarrier.try_wait.parity.shared::cta.b64 %%p2, [%%r2], 0;\n@!%%p2 bra W;\n"
        "ISSUE: wgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f0, %%f1, %%f2, %%f3}, %%rd10, %%rd11, %%p4, 1, 1, 0, "
        "0;\n"
        "wgmma.commit_group.sync.aligned;\n%swgmma.wait_group.sync.aligned 0;\n%s";
    static const char arrive[] = "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r2];\n";
    (void)state;
    for (unsigned behind = 0; behind < 2; behind++) {
        char body[4096];
        struct machine machine;
        snprintf(body, sizeof body, kernel, behind ? "" : arrive, behind ? arrive : "");
        assert_int_equal(kernel_run(&machine, body, (struct kernel_launch){.block = 128}, NULL),
                         behind ? WSDBG_GPU_DEADLOCK : WSDBG_GPU_IDLE);
        machine_destroy(&machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wgmma_types),
        cmocka_unit_test(wgmma_integers),
        cmocka_unit_test(wgmma_of_integers_wraps_or_is_clamped),
        cmocka_unit_test(wgmma_sizes),
        cmocka_unit_test(wgmma_scales),
        cmocka_unit_test(wgmma_layouts),
        cmocka_unit_test(wgmma_groups),
        cmocka_unit_test(a_wgmma_needs_all_warps_of_the_warpgroup),
        cmocka_unit_test(wgmma_outside_of_shared_memory),
        cmocka_unit_test(accumulators_used_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
