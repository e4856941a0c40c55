/* mma_exact_test.c - mma.sync of integers, bits and doubles against three loops over matrices.
 *
 * Registers are laid out as the PTX ISA's figures for each shape say; in holds each lane's registers of A, B and C.
 */
#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"

enum { A_AT = 0, B_AT = 64, C_AT = 96, LANE_BYTES = 128 };

struct form {
    const char *name;        /* behind mma.sync.aligned. */
    unsigned m, k;           /* n is 8 */
    unsigned a_bits, b_bits; /* of one element */
    bool a_is_signed, b_is_signed;
    int64_t c; /* all of C */
    bool is_clamped, is_xor;
};

/* Elements of A (0) and B (1) are different in neighbouring places; B's row is its column. */
static int64_t value_of(unsigned matrix, unsigned row, unsigned k, unsigned bits, bool is_signed)
{
    const uint64_t noise = (row * 2654435761u + k * 40503u + matrix * 977u) >> 7;
    const uint64_t value = noise & ((UINT64_C(1) << bits) - 1);
    return is_signed && value >> (bits - 1) ? (int64_t)value - (INT64_C(1) << bits) : (int64_t)value;
}

/* Registers of 32 bits: `halves` of 8 rows lie side by side, then the next 16 bytes of K. */
static void lay_out(const struct form *form, unsigned char *lanes, unsigned matrix)
{
    const unsigned bits = matrix ? form->b_bits : form->a_bits, each = 32 / bits;
    const unsigned halves = matrix ? 1 : form->m / 8, registers = halves * form->k / (4 * each);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < registers; i++) {
            uint32_t word = 0;
            for (unsigned e = 0; e < each; e++) {
                const unsigned row = lane / 4 + i % halves * 8, k = (lane % 4 + i / halves * 4) * each + e;
                const uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
                const bool is_signed = matrix ? form->b_is_signed : form->a_is_signed;
                word |= ((uint32_t)value_of(matrix, row, k, bits, is_signed) & mask) << (e * bits);
            }
            memcpy(lanes + lane * LANE_BYTES + (matrix ? B_AT : A_AT) + 4 * i, &word, 4);
        }
}

static int32_t expected_of(const struct form *form, unsigned row, unsigned column)
{
    int64_t sum = form->c;
    for (unsigned k = 0; k < form->k; k++) {
        const int64_t a = value_of(0, row, k, form->a_bits, form->a_is_signed);
        const int64_t b = value_of(1, column, k, form->b_bits, form->b_is_signed);
        sum += form->is_xor ? a ^ b : a * b;
    }
    if (form->is_clamped)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (int32_t)(uint32_t)sum;
}

static const char *const vectors[] = {NULL, "{%r10}", "{%r10, %r11}", NULL, "{%r10, %r11, %r12, %r13}"};

static void check(const struct form *form)
{
    char body[2048];
    struct machine machine;
    const unsigned a_registers = form->m * form->k * form->a_bits / 1024, sums = form->m / 4;
    snprintf(body, sizeof body,
             "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd2, %%r0, %u;\nadd.u64 %%rd3, %%rd0, %%rd2;\n"
             "ld.global.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%rd3];\nld.global.v2.u32 {%%r14, %%r15}, [%%rd3+%d];\n"
             "ld.global.v4.u32 {%%r18, %%r19, %%r20, %%r21}, [%%rd3+%d];\nmma.sync.aligned.%s %s, %s, %s, %s;\n"
             "mul.wide.u32 %%rd4, %%r0, 16;\nadd.u64 %%rd5, %%rd1, %%rd4;\n"
             "st.global.v4.u32 [%%rd5], {%%r22, %%r23, %%r24, %%r25};\n",
             LANE_BYTES, B_AT, C_AT, form->name, sums == 4 ? "{%r22, %r23, %r24, %r25}" : "{%r22, %r23}",
             vectors[a_registers], 8 * form->k * form->b_bits / 1024 == 1 ? "{%r14}" : "{%r14, %r15}",
             sums == 4 ? "{%r18, %r19, %r20, %r21}" : "{%r18, %r19}");
    kernel_create(&machine, body, NULL);
    unsigned char *const in = (unsigned char *)(uintptr_t)machine.in;
    lay_out(form, in, 0);
    lay_out(form, in, 1);
    const int32_t c = (int32_t)form->c;
    for (unsigned i = 0; i < 32 * 4; i++)
        memcpy(in + i / 4 * LANE_BYTES + C_AT + i % 4 * 4, &c, 4);
    if (kernel_launch(&machine, (struct kernel_launch){0}) != WSDBG_GPU_IDLE)
        fail_msg("%s: %s", form->name, wsdbg_gpu_fault(machine.run) ? wsdbg_gpu_fault(machine.run)->text : "");
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < sums; i++) {
            const int32_t expected = expected_of(form, lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
            if ((int32_t)machine_word(&machine, lane * 4 + i) != expected)
                fail_msg("%s: %d, not %d", form->name, (int32_t)machine_word(&machine, lane * 4 + i), expected);
        }
    machine_destroy(&machine);
}

static void integers_of_8_bits(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"m8n8k16.row.col.s32.s8.u8.s32", 8, 16, 8, 8, .a_is_signed = true, .c = -5},
        {"m8n8k16.row.col.satfinite.s32.u8.u8.s32", 8, 16, 8, 8, .a_is_signed = false, .c = INT32_MAX - 7, .is_clamped = true},
        {"m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, 8, .a_is_signed = true, .b_is_signed = true},
        {"m16n8k16.row.col.s32.u8.u8.s32", 16, 16, 8, 8, .a_is_signed = false, .c = INT32_MAX},
        {"m16n8k32.row.col.s32.u8.s8.s32", 16, 32, 8, 8, .b_is_signed = true, .c = 1000000},
        {"m16n8k32.row.col.s32.s8.s8.s32.satfinite", 16, 32, 8, 8, .a_is_signed = true, .b_is_signed = true,
         .c = INT32_MIN + 3, .is_clamped = true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check(&forms[i]);
}

static void integers_of_4_bits(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"m8n8k32.row.col.s32.s4.u4.s32", 8, 32, 4, 4, .a_is_signed = true, .c = 9},
        {"m16n8k32.row.col.s32.s4.s4.s32", 16, 32, 4, 4, .a_is_signed = true, .b_is_signed = true},
        {"m16n8k64.row.col.s32.u4.s4.s32", 16, 64, 4, 4, .b_is_signed = true, .c = -3},
        {"m16n8k64.row.col.satfinite.s32.u4.u4.s32", 16, 64, 4, 4, .c = INT32_MAX - 100, .is_clamped = true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check(&forms[i]);
}

static void bits(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 128, 1, 1, .c = 4, .is_xor = true},
        {"m8n8k128.row.col.s32.b1.b1.s32.and.popc", 8, 128, 1, 1, .c = 0},
        {"m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 128, 1, 1, .c = -70},
        {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 256, 1, 1, .is_xor = true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check(&forms[i]);
}

/* ---- doubles ---- */

static double double_of(unsigned matrix, unsigned row, unsigned k)
{
    return (double)value_of(matrix, row, k, 12, true) / 64;
}

/* Each lane's register i is one element: of A row i % halves, of B the column; then 4 places further in K. */
static void check_doubles(const char *name, unsigned m, unsigned k, const char *d, const char *a, const char *b)
{
    char body[4096];
    struct machine machine;
    const unsigned halves = m / 8;
    char loads[1024] = "";
    for (unsigned i = 0; i < 8; i++)
        snprintf(loads + strlen(loads), sizeof loads - strlen(loads),
                 "ld.global.f64 %%e%u, [%%rd3+%u];\nld.global.f64 %%b%u, [%%rd3+%u];\n", i, 8 * i, i, 64 + 8 * i);
    snprintf(body, sizeof body,
             ".reg .f64 %%e<8>, %%b<8>, %%c<4>;\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd2, %%r0, %u;\n"
             "add.u64 %%rd3, %%rd0, %%rd2;\n%smov.f64 %%c0, 0d3fe0000000000000;\nmov.f64 %%c1, %%c0;\n"
             "mov.f64 %%c2, %%c0;\nmov.f64 %%c3, %%c0;\nmma.sync.aligned.%s %s, %s, %s, %s;\n"
             "mul.wide.u32 %%rd4, %%r0, 32;\nadd.u64 %%rd5, %%rd1, %%rd4;\n"
             "st.global.v2.f64 [%%rd5], {%%c0, %%c1};\nst.global.v2.f64 [%%rd5+16], {%%c2, %%c3};\n",
             LANE_BYTES, loads, name, d, a, b, d);
    kernel_create(&machine, body, NULL);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < 8; i++) {
            const double pair[] = {double_of(0, lane / 4 + i % halves * 8, lane % 4 + i / halves * 4),
                                   double_of(1, lane / 4, lane % 4 + i * 4)};
            unsigned char *const to = (unsigned char *)(uintptr_t)machine.in + lane * LANE_BYTES + 8 * i;
            memcpy(to, &pair[0], 8);
            memcpy(to + 64, &pair[1], 8);
        }
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_IDLE);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < m / 4; i++) {
            double expected = 0.5, got;
            for (unsigned at = 0; at < k; at++)
                expected += double_of(0, lane / 4 + i / 2 * 8, at) * double_of(1, lane % 4 * 2 + i % 2, at);
            memcpy(&got, (const unsigned char *)(uintptr_t)machine.out + lane * 32 + 8 * i, 8);
            if (got != expected)
                fail_msg("%s: %g, not %g", name, got, expected);
        }
    machine_destroy(&machine);
}

static void doubles(void **state)
{
    (void)state;
#define FOUR "{%c0, %c1, %c2, %c3}"
    check_doubles("m8n8k4.row.col.f64.f64.f64.f64", 8, 4, "{%c0, %c1}", "{%e0}", "{%b0}");
    check_doubles("m16n8k4.row.col.f64.f64.f64.f64", 16, 4, FOUR, "{%e0, %e1}", "{%b0}");
    check_doubles("m16n8k8.row.col.f64.f64.f64.f64", 16, 8, FOUR, "{%e0, %e1, %e2, %e3}", "{%b0, %b1}");
    check_doubles("m16n8k16.row.col.f64.f64.f64.f64", 16, 16, FOUR, "{%e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7}",
                  "{%b0, %b1, %b2, %b3}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_8_bits),
        cmocka_unit_test(integers_of_4_bits),
        cmocka_unit_test(bits),
        cmocka_unit_test(doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
