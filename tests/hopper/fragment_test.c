/* fragment_test.c - ldmatrix, stmatrix, movmatrix and mma: which lane holds which element. */
#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"
#include "hopper/matrix_values.h"
#include "hopper/number.h"

/* ---- ldmatrix, stmatrix ---- */

/* 16-bit elements 0, 1, 2 ... of shared memory: matrix m, row r, column c is 64 m + 8 r + c. */
#define ELEMENTS                                                                                                     \
    ".shared .align 16 .b16 elements[256];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, elements;\nmad.lo.u32 %r2, %r0, 16, " \
    "%r1;\n"                                                                                                         \
    "mul.lo.u32 %r3, %r0, 0x80008;\nadd.u32 %r4, %r3, 0x10000;\nadd.u32 %r5, %r4, 0x20002;\nadd.u32 %r6, %r4, "      \
    "0x40004;\n"                                                                                                     \
    "add.u32 %r7, %r4, 0x60006;\nst.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7};\nbar.warp.sync -1;\n"
#define STORE_4 \
    "mul.wide.u32 %rd2, %r0, 16;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.v4.u32 [%rd3], {%r10, %r11, %r12, %r13};\n"

static void check_fragments(const char *body, unsigned matrices, bool transposed)
{
    struct machine machine;
    assert_int_equal(kernel_run(&machine, body, (struct kernel_launch){0}, NULL), WSDBG_GPU_IDLE);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned m = 0; m < matrices; m++) {
            const unsigned row = lane / 4, column = lane % 4 * 2;
            const uint32_t first = transposed ? m * 64 + column * 8 + row : m * 64 + row * 8 + column;
            const uint32_t second = first + (transposed ? 8 : 1);
            assert_int_equal(machine_word(&machine, lane * 4 + m), first | second << 16);
        }
    machine_destroy(&machine);
}

static void ldmatrix_forms(void **state)
{
    (void)state;
    check_fragments(ELEMENTS "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];\n" STORE_4, 4,
                    false);
    check_fragments(ELEMENTS
                    "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%r10, %r11, %r12, %r13}, [%r2];\n" STORE_4,
                    4, true);
    check_fragments(ELEMENTS "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r2];\n" STORE_4, 2, false);
    check_fragments(ELEMENTS "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r2];\n" STORE_4, 1, true);
}

/* What ldmatrix reads stmatrix writes back, to another place. */
static void stmatrix_forms(void **state)
{
    (void)state;
#define ROUND_TRIP(load, store)                                                                              \
    ELEMENTS ".shared .align 16 .b16 others[256];\nmov.u32 %r20, others;\nmad.lo.u32 %r21, %r0, 16, %r20;\n" \
             "ldmatrix.sync.aligned.m8n8.x4" load ".shared.b16 {%r10, %r11, %r12, %r13}, [%r2];\n"           \
             "stmatrix.sync.aligned.m8n8.x4" store                                                           \
             ".shared.b16 [%r21], {%r10, %r11, %r12, %r13};\nbar.warp.sync -1;\n"                            \
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r21];\n" STORE_4
    check_fragments(ROUND_TRIP("", ""), 4, false);
    check_fragments(ROUND_TRIP(".trans", ".trans"), 4, false);
    check_fragments(ROUND_TRIP("", ".trans"), 4, true);
    check_fragments(ELEMENTS
                    ".shared .align 16 .b16 others[64];\nmov.u32 %r20, others;\nand.b32 %r22, %r0, 7;\n"
                    "mad.lo.u32 %r21, %r22, 16, %r20;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r2];\n"
                    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r21], {%r10};\nbar.warp.sync -1;\n"
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r21];\n" STORE_4,
                    1, false);
}

static void movmatrix_turns_rows_into_columns(void **state)
{
    (void)state;
    check_fragments(ELEMENTS "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r2];\n"
                             "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n" STORE_4,
                    1, true);
}

static void misaligned_rows(void **state)
{
    (void)state;
    struct machine machine;
    assert_int_equal(kernel_run(&machine, ELEMENTS "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r2+8];\n",
                                (struct kernel_launch){0}, NULL),
                     WSDBG_GPU_FAULT);
    assert_int_equal(kernel_error(&machine), 716);
    machine_destroy(&machine);
}

/* ---- mma ---- */

/* A's and B's registers come from in: 4 words of A, 2 of B and 4 of C for each lane, then D goes out. */
static void check_mma(const char *shape_and_types, unsigned columns, unsigned a_registers, const char *a_type,
                      const char *b_type, bool is_half)
{
    static const char *const vectors[] = {NULL, "{%r10}", "{%r10, %r11}", NULL, "{%r10, %r11, %r12, %r13}"};
    char body[2048];
    struct machine machine;
    snprintf(
        body, sizeof body, "%s%s %s, %s, %s, %s;\n%s",
        "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd2, %r0, 48;\nadd.u64 %rd3, %rd0, %rd2;\n"
        "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd3];\nld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%rd3+16];\n"
        "ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%rd3+32];\nmma.sync.aligned.",
        shape_and_types, is_half ? "{%r22, %r23}" : "{%r22, %r23, %r24, %r25}", vectors[a_registers],
        a_registers == 2 ? "{%r14}" : "{%r14, %r15}", is_half ? "{%r18, %r19}" : "{%r18, %r19, %r20, %r21}",
        "mul.wide.u32 %rd4, %r0, 16;\nadd.u64 %rd5, %rd1, %rd4;\nst.global.v4.u32 [%rd5], {%r22, %r23, %r24, %r25};\n");
    kernel_create(&machine, body, NULL);
    unsigned char bytes[4];
    const unsigned size = matrix_encode(a_type, 0, bytes), each = 4 / size;
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned char *const words = (unsigned char *)(uintptr_t)machine.in + lane * 48;
        for (unsigned i = 0; i < a_registers; i++)
            for (unsigned e = 0; e < each; e++) {
                const unsigned k = (lane % 4 + i / 2 * 4) * each + e;
                matrix_encode(a_type, matrix_value(0, lane / 4 + i % 2 * 8, k), words + i * 4 + e * size);
                if (i % 2 == 0)
                    matrix_encode(b_type, matrix_value(1, lane / 4, k), words + 16 + i / 2 * 4 + e * size);
            }
        for (unsigned i = 0; i < 4; i++) { /* C is 2 everywhere */
            const uint32_t two = is_half ? 0x40004000 : 0x40000000;
            memcpy(words + 32 + i * 4, &two, 4);
        }
    }
    if (kernel_launch(&machine, (struct kernel_launch){0}) != WSDBG_GPU_IDLE)
        fail_msg("%s: %s", shape_and_types, wsdbg_gpu_fault(machine.run) ? wsdbg_gpu_fault(machine.run)->text : "");
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < 4; i++) {
            float expected = 2;
            for (unsigned k = 0; k < columns; k++)
                expected += matrix_value(0, lane / 4 + i / 2 * 8, k) * matrix_value(1, lane % 4 * 2 + i % 2, k);
            const uint32_t bits = machine_word(&machine, lane * 4 + (is_half ? i / 2 : i));
            const float got =
                is_half ? hopper_f16_to_float((uint16_t)(bits >> i % 2 * 16)) : hopper_float_of_bits(bits);
            if (got != expected)
                fail_msg("%s: %g, not %g", shape_and_types, (double)got, (double)expected);
        }
    machine_destroy(&machine);
}

static void mma_forms(void **state)
{
    (void)state;
    check_mma("m16n8k16.row.col.f32.bf16.bf16.f32", 16, 4, "bf16", "bf16", false);
    check_mma("m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, "bf16", "bf16", false);
    check_mma("m16n8k16.row.col.f32.f16.f16.f32", 16, 4, "f16", "f16", false);
    check_mma("m16n8k8.row.col.f32.f16.f16.f32", 8, 2, "f16", "f16", false);
    check_mma("m16n8k16.row.col.f16.f16.f16.f16", 16, 4, "f16", "f16", true);
    check_mma("m16n8k8.row.col.f32.tf32.tf32.f32", 8, 4, "tf32", "tf32", false);
    check_mma("m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, "tf32", "tf32", false);
    check_mma("m16n8k32.row.col.f32.e4m3.e5m2.f32", 32, 4, "e4m3", "e5m2", false);
    check_mma("m16n8k32.row.col.f32.e5m2.e4m3.f32", 32, 4, "e5m2", "e4m3", false);
    check_mma("m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, 2, "e4m3", "e4m3", false);
    check_mma("m16n8k32.row.col.f16.e4m3.e5m2.f16", 32, 4, "e4m3", "e5m2", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ldmatrix_forms),
        cmocka_unit_test(stmatrix_forms),
        cmocka_unit_test(movmatrix_turns_rows_into_columns),
        cmocka_unit_test(misaligned_rows),
        cmocka_unit_test(mma_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
