/* mbarrier_word_test.c - the barrier word, bit for bit as read from an H200's shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "hopper/mbarrier.h"

static uint64_t after(uint64_t word, enum hopper_mbarrier_operation operation, uint32_t amount)
{
    assert_true(hopper_mbarrier_step(&word, operation, amount) < HOPPER_MBARRIER_SPENT);
    return word;
}

static uint64_t after_arrivals(uint32_t count, uint32_t arrivals)
{
    uint64_t word = hopper_mbarrier_initial(count);
    for (uint32_t i = 0; i < arrivals; i++)
        word = after(word, HOPPER_MBARRIER_ARRIVE, 1);
    return word;
}

static void init_writes_the_hardwares_word(void **state)
{
    (void)state;
    assert_int_equal(hopper_mbarrier_initial(1), 0x7ffff800001ffffe);
    assert_int_equal(hopper_mbarrier_initial(2), 0x7ffff000001ffffc);
    assert_int_equal(hopper_mbarrier_initial(256), 0x7ff80000001ffe00);
}

static void arrivals_flip_the_phase_at_the_count(void **state)
{
    (void)state;
    assert_int_equal(after_arrivals(4, 1), 0x7fffe800001ffff8);
    assert_int_equal(after_arrivals(4, 3), 0x7ffff800001ffff8);
    assert_int_equal(after_arrivals(4, 4), 0xffffe000001ffff8);
    assert_int_equal(after_arrivals(4, 5), 0xffffe800001ffff8);
    assert_int_equal(after_arrivals(4, 8), 0x7fffe000001ffff8);
}

static void bytes_are_counted_down_and_up(void **state)
{
    (void)state;
    const uint64_t two = hopper_mbarrier_initial(2);
    assert_int_equal(after(two, HOPPER_MBARRIER_EXPECT, 16384), 0x7ffff3f8001ffffc);
    assert_int_equal(after(two, HOPPER_MBARRIER_COMPLETE, 100), 0x7ffff0000c9ffffc);
    uint64_t word = after(two, HOPPER_MBARRIER_EXPECT, 100);
    word = after(word, HOPPER_MBARRIER_ARRIVE, 2);
    assert_int_equal(word, 0x000003fff39ffffc);
    assert_int_equal(after(word, HOPPER_MBARRIER_COMPLETE, 100), 0xfffff000001ffffc);
}

static void a_drop_lowers_later_phases(void **state)
{
    (void)state;
    uint64_t word = after(hopper_mbarrier_initial(4), HOPPER_MBARRIER_DROP, 1);
    assert_int_equal(word, 0x7fffe800001ffffa);
    word = after(word, HOPPER_MBARRIER_ARRIVE, 3);
    assert_int_equal(hopper_mbarrier_phase(word), 1);
    assert_int_equal(hopper_mbarrier_pending(word), 3);
}

static void phases_wrap_for_ever(void **state)
{
    (void)state;
    uint64_t word = hopper_mbarrier_initial(3);
    for (uint32_t phase = 0; phase < 1000; phase++) {
        assert_int_equal(hopper_mbarrier_phase(word), phase % 2);
        word = after(word, HOPPER_MBARRIER_EXPECT, 0xfffff);
        word = after(word, HOPPER_MBARRIER_ARRIVE, 3);
        assert_int_equal(hopper_mbarrier_phase(word), phase % 2);
        word = after(word, HOPPER_MBARRIER_COMPLETE, 0xfffff);
    }
    assert_int_equal(word, hopper_mbarrier_initial(3));
}

static void a_spent_phase_takes_no_arrival(void **state)
{
    (void)state;
    uint64_t word = after(hopper_mbarrier_initial(1), HOPPER_MBARRIER_EXPECT, 16);
    word = after(word, HOPPER_MBARRIER_ARRIVE, 1);
    const uint64_t before = word;
    assert_int_equal(hopper_mbarrier_step(&word, HOPPER_MBARRIER_ARRIVE, 1), HOPPER_MBARRIER_SPENT);
    assert_int_equal(hopper_mbarrier_step(&word, HOPPER_MBARRIER_DROP, 1), HOPPER_MBARRIER_SPENT);
    assert_int_equal(word, before);
    uint64_t three = hopper_mbarrier_initial(3);
    assert_int_equal(hopper_mbarrier_step(&three, HOPPER_MBARRIER_ARRIVE, 4), HOPPER_MBARRIER_SPENT);
}

static void the_byte_count_has_21_bits(void **state)
{
    (void)state;
    uint64_t word = after(hopper_mbarrier_initial(1), HOPPER_MBARRIER_EXPECT, 0xfffff);
    assert_int_equal(hopper_mbarrier_step(&word, HOPPER_MBARRIER_EXPECT, 1), HOPPER_MBARRIER_TOO_BYTES);
    word = after(hopper_mbarrier_initial(1), HOPPER_MBARRIER_COMPLETE, 0xfffff);
    assert_int_equal(hopper_mbarrier_step(&word, HOPPER_MBARRIER_COMPLETE, 1), HOPPER_MBARRIER_TOO_BYTES);
    assert_int_equal(hopper_mbarrier_step(&word, HOPPER_MBARRIER_EXPECT, UINT32_MAX), HOPPER_MBARRIER_TOO_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_writes_the_hardwares_word), cmocka_unit_test(arrivals_flip_the_phase_at_the_count),
        cmocka_unit_test(bytes_are_counted_down_and_up),  cmocka_unit_test(a_drop_lowers_later_phases),
        cmocka_unit_test(phases_wrap_for_ever),           cmocka_unit_test(a_spent_phase_takes_no_arrival),
        cmocka_unit_test(the_byte_count_has_21_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
