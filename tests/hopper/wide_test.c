/* wide_test.c - registers of 128 bits: moved, loaded, stored, exchanged, compared. */
#include <stdio.h>
#include <string.h>

#include "hopper/kernel.h"

/* in: lane l has the words 100 l, 100 l + 1, 100 l + 2, 100 l + 3; %rd2, %rd3: its 16 bytes of in and out. */
#define BEGIN                                                                                            \
    ".reg .b128 %q<70>;\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd4, %r0, 16;\nadd.u64 %rd2, %rd0, %rd4;\n" \
    "add.u64 %rd3, %rd1, %rd4;\n"

static void run(struct machine *machine, const char *body)
{
    kernel_create(machine, body, NULL);
    for (uint32_t i = 0; i < 128; i++) {
        const uint32_t word = i / 4 * 100 + i % 4;
        memcpy((unsigned char *)(uintptr_t)machine->in + 4 * i, &word, sizeof word);
    }
    const enum wsdbg_gpu_outcome outcome = kernel_launch(machine, (struct kernel_launch){0});
    if (outcome != WSDBG_GPU_IDLE)
        fail_msg("outcome %d: %s", outcome, wsdbg_gpu_fault(machine->run) ? wsdbg_gpu_fault(machine->run)->text : "");
}

/* Which word of in each of a lane's four words of out is. */
static void check(const char *body, unsigned first, unsigned second, unsigned third, unsigned fourth)
{
    const unsigned words[] = {first, second, third, fourth};
    struct machine machine;
    run(&machine, body);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(machine_word(&machine, i), i / 4 * 100 + words[i % 4]);
    machine_destroy(&machine);
}

static void loads_and_stores(void **state)
{
    (void)state;
    check(BEGIN "ld.global.b128 %q1, [%rd2];\nst.global.b128 [%rd3], %q1;\n", 0, 1, 2, 3);
    check(BEGIN ".shared .align 16 .b8 data[512];\nmov.u32 %r1, data;\nmad.lo.u32 %r1, %r0, 16, %r1;\n"
                "ld.global.nc.b128 %q1, [%rd2];\nst.shared.b128 [%r1], %q1;\nld.shared.b128 %q2, [%r1];\n"
                "st.relaxed.gpu.global.b128 [%rd3], %q2;\n",
          0, 1, 2, 3);
}

static void moves(void **state)
{
    (void)state;
    check(BEGIN "ld.global.b128 %q1, [%rd2];\nmov.b128 %q2, %q1;\nst.global.b128 [%rd3], %q2;\n", 0, 1, 2, 3);
    check(BEGIN "ld.global.b128 %q1, [%rd2];\nmov.b128 {%rd5, %rd6}, %q1;\nmov.b128 %q2, {%rd6, %rd5};\n"
                "st.global.b128 [%rd3], %q2;\n",
          2, 3, 0, 1);
    check(BEGIN
          "ld.global.b128 %q1, [%rd2];\nmov.b128 {%r5, %r6, %r7, %r8}, %q1;\nmov.b128 %q2, {%r8, %r7, %r6, %r5};\n"
          "st.global.b128 [%rd3], %q2;\n",
          3, 2, 1, 0);
}

/* More registers than are kept apart: those of 128 bits share numbers among themselves only. */
static void many_registers_share_numbers(void **state)
{
    (void)state;
    static char body[8192];
    strcpy(body, BEGIN "ld.global.b128 %q0, [%rd2];\n");
    for (unsigned i = 1; i < 70; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "mov.b128 {%%rd5, %%rd6}, %%q%u;\nmov.b128 %%q%u, {%%rd5, %%rd6};\n", i - 1, i);
    strcat(body, "st.global.b128 [%rd3], %q69;\n");
    check(body, 0, 1, 2, 3);
}

static uint64_t half(const struct machine *machine, unsigned lane, unsigned i)
{
    return machine_word64(machine, 2 * lane + i);
}

static void exchanges(void **state)
{
    (void)state;
    struct machine machine;
    /* 32 lanes exchange one place: each gets what the one before it put there. */
    run(&machine, BEGIN "cvt.u64.u32 %rd5, %r0;\nadd.u64 %rd6, %rd5, 1000;\nmov.b128 %q1, {%rd5, %rd6};\n"
                        "atom.global.exch.b128 %q2, [%rd0], %q1;\nst.global.b128 [%rd3], %q2;\n");
    assert_true(half(&machine, 0, 0) == 0x100000000 && half(&machine, 0, 1) == 0x300000002);
    for (unsigned lane = 1; lane < 32; lane++)
        assert_true(half(&machine, lane, 0) == lane - 1 && half(&machine, lane, 1) == 999 + lane);
    machine_destroy(&machine);
}

static void compares_both_halves(void **state)
{
    (void)state;
    struct machine machine;
    /* Lane 0's first comparison has the wrong high half; its second one is right. */
    run(&machine, BEGIN "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra done;\nmov.u64 %rd5, 0x100000000;\nmov.u64 %rd6, 7;\n"
                        "mov.u64 %rd7, 0x300000002;\nmov.b128 %q1, {%rd5, %rd6};\nmov.b128 %q2, {%rd6, %rd6};\n"
                        "mov.b128 %q5, {%rd5, %rd7};\natom.global.cas.b128 %q3, [%rd0], %q1, %q2;\n"
                        "st.global.b128 [%rd1], %q3;\natom.acq_rel.gpu.global.cas.b128 %q3, [%rd0], %q5, %q2;\n"
                        "ld.global.b128 %q4, [%rd0];\nst.global.b128 [%rd1+16], %q3;\nst.global.b128 [%rd1+32], %q4;\n"
                        "done:\n");
    for (unsigned i = 0; i < 2; i++)
        assert_true(half(&machine, i, 0) == 0x100000000 && half(&machine, i, 1) == 0x300000002);
    assert_true(half(&machine, 2, 0) == 7 && half(&machine, 2, 1) == 7);
    machine_destroy(&machine);
}

static void misaligned(void **state)
{
    (void)state;
    struct machine machine;
    assert_int_equal(kernel_run(&machine, BEGIN "ld.global.b128 %q1, [%rd2+8];\n", (struct kernel_launch){0}, NULL),
                     WSDBG_GPU_FAULT);
    assert_int_equal(kernel_error(&machine), 716);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores),
        cmocka_unit_test(moves),
        cmocka_unit_test(many_registers_share_numbers),
        cmocka_unit_test(exchanges),
        cmocka_unit_test(compares_both_halves),
        cmocka_unit_test(misaligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
