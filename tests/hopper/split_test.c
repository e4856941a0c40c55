/* split_test.c - lanes that went different ways: the same execution whether the device runs on or stops after each
 * instruction. */
#include "hopper/device.h"
#include "hopper/kernel.h"

#include <string.h>

static struct machine machine;

static int close_machine(void **state)
{
    (void)state;
    machine_destroy(&machine);
    return 0;
}

/* Each lane takes its own ways, by the bits of a number that it computes; lanes wait for one another at times, and
 * store what they got. */
static const char ways[] = "mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, 0x9e3779b1, 77; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
                           "again: and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra even;\n"
                           "mad.lo.u32 %r3, %r3, 5, %r1; xor.b32 %r3, %r3, %r2; add.u32 %r3, %r3, 1;\n"
                           "and.b32 %r5, %r2, 2; setp.eq.u32 %p2, %r5, 0; @%p2 bra inner; shl.b32 %r6, %r3, 1;\n"
                           "sub.u32 %r3, %r6, %r2; inner: add.u32 %r3, %r3, 3; bra next;\n"
                           "even: shr.u32 %r6, %r3, 3; xor.b32 %r3, %r3, %r6; @%p3 add.u32 %r3, %r3, 9;\n"
                           "next: shr.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r3, %r2; add.u32 %r4, %r4, 1;\n"
                           "setp.ne.u32 %p4, %r2, 0; @%p4 bra again;\n"
                           "mov.u32 %r7, %r2; bar.warp.sync -1; shfl.sync.bfly.b32 %r8, %r3, 1, 31, -1;\n"
                           "mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2;\n"
                           "st.global.v4.u32 [%rd3], {%r3, %r4, %r7, %r8};\n";

enum { WORDS = 4 * 32 };

/* What the lanes stored when the device runs `most` instructions at a time; how many they were. */
static uint64_t words_of(uint64_t most, uint32_t words[WORDS])
{
    kernel_create(&machine, ways, NULL);
    machine_launch(&machine, 1, 32);
    while (wsdbg_gpu_run(machine.gpu, most) == WSDBG_GPU_BUDGET)
        continue;
    assert_int_equal(kernel_error(&machine), 0);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = machine_word(&machine, i);
    return machine.gpu->instructions;
}

static void lanes_take_the_same_turns_in_one_go(void **state)
{
    (void)state;
    uint32_t single[WORDS], all[WORDS];
    const uint64_t instructions = words_of(1, single);
    machine_destroy(&machine);
    assert_int_equal(words_of(UINT64_MAX, all), instructions);
    assert_memory_equal(single, all, sizeof all);
    uint32_t rounds = 0;
    for (size_t lane = 0; lane < 32; lane++)
        rounds += all[4 * lane + 1];
    assert_true(rounds > 32 * 20); /* they did go round, each as often as its number has bits */
    assert_int_equal(all[4 * 6 + 3], all[4 * 7]);
}

/* 288 bytes that cooperative groups use, where a kernel asks for them. */
static void groups_have_shared_memory_of_their_own(void **state)
{
    (void)state;
    kernel_create(&machine,
                  "mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, 41; st.shared.u32 [%r1+284], %r2;\n"
                  "ld.shared.u32 %r3, [%r1+284]; add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;",
                  NULL);
    machine_launch(&machine, 1, 32);
    machine_finish(&machine);
    assert_int_equal(machine_word(&machine, 0), 42);
}

static void others_have_not(void **state)
{
    (void)state;
    kernel_run(&machine, "mov.u32 %r1, 512; st.shared.u32 [%r1], %r1;", (struct kernel_launch){.block = 32}, NULL);
    assert_int_equal(kernel_error(&machine), 700);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_machine)
    const struct CMUnitTest tests[] = {
        TEST(lanes_take_the_same_turns_in_one_go),
        TEST(groups_have_shared_memory_of_their_own),
        TEST(others_have_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
