/* limits_test.c - to how much packed bytes may unpack, and what is said of those that are more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"

#define MIB (UINT64_C(1) << 20)

static int back_to_the_default(void **state)
{
    (void)state;
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = UINT64_C(300000000000)});
    return 0;
}

static void little_may_unpack_to_128_mib(void **state)
{
    (void)state;
    assert_int_equal(wsdbg_limits_unpacked(0, UINT64_MAX), 128 * MIB);
    assert_int_equal(wsdbg_limits_unpacked(33000, UINT64_MAX), 128 * MIB);
}

static void more_may_unpack_to_256_times_as_much(void **state)
{
    (void)state;
    assert_int_equal(wsdbg_limits_unpacked(3 * MIB, UINT64_MAX), 768 * MIB);
    assert_int_equal(wsdbg_limits_unpacked(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

static void the_reader_sets_the_end(void **state)
{
    (void)state;
    assert_int_equal(wsdbg_limits_unpacked(33000, 64 * MIB), 64 * MIB);
    assert_int_equal(wsdbg_limits_unpacked(UINT64_MAX / 2, 1024 * MIB), 1024 * MIB);
}

static void an_option_sets_it_as_it_says(void **state)
{
    (void)state;
    wsdbg_limits_set((struct wsdbg_limits){.unpacked_bytes = 4096 * MIB});
    assert_int_equal(wsdbg_limits_unpacked(33000, UINT64_MAX), 4096 * MIB);
    assert_int_equal(wsdbg_limits_unpacked(33000, 1024 * MIB), 1024 * MIB);
    wsdbg_limits_set((struct wsdbg_limits){.unpacked_bytes = MIB});
    assert_int_equal(wsdbg_limits_unpacked(3 * MIB, UINT64_MAX), MIB);
}

static void says(struct wsdbg_error *error, const char *words)
{
    assert_string_equal(wsdbg_error_message(error), words);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
    wsdbg_error_destroy(error);
}

static void the_option_is_named_where_it_helps(void **state)
{
    (void)state;
    says(wsdbg_limits_unpacks_to_more(33000, 128 * MIB, 1024 * MIB),
         "33000 bytes that unpack to more than 128 MiB; --unpack-limit allows more");
    says(wsdbg_limits_unpacks_to_more(33000, 1024 * MIB, 1024 * MIB), "33000 bytes that unpack to more than 1024 MiB");
    says(wsdbg_limits_late("x.db"), "x.db: takes longer than 300 s; --time-limit allows more");
}

static void no_time_is_no_limit(void **state)
{
    (void)state;
    assert_true(wsdbg_limits_is_late(0) || wsdbg_limits_clock_ns() < UINT64_C(300000000000));
    assert_false(wsdbg_limits_is_late(wsdbg_limits_clock_ns()));
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = 0});
    assert_false(wsdbg_limits_is_late(0));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, back_to_the_default, back_to_the_default)
    const struct CMUnitTest tests[] = {
        TEST(little_may_unpack_to_128_mib), TEST(more_may_unpack_to_256_times_as_much), TEST(the_reader_sets_the_end),
        TEST(an_option_sets_it_as_it_says), TEST(the_option_is_named_where_it_helps),   TEST(no_time_is_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
