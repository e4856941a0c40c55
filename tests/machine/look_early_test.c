/* look_early_test.c - when the barriers on the ways of two instructions put neither before the other: what an arrival
 * needs to have come before an initialisation by a race, and not on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/look.h"

/* clang-format off */
static const struct {
    const char *code;
    struct wsdbg_look_passes arrival, init;
    bool unordered;
} table[] = {
    {"init; sync; arrive",                    {1, 1},   {0, 0},   false},
    {"init | arrive, no sync",                {0, 0},   {0, 0},   true},
    {"sync; (init; sync 1 | arrive)",         {1, 1},   {1, 1},   true},
    {"init; sync; arrive; sync; init again",  {1, 1},   {2, 2},   false},
    {"(sync or not); arrive | sync; init",    {0, 1},   {1, 1},   true},
    {"a loop of syncs with arrivals | init",  {0, 255}, {0, 0},   true},
    {"an indirect branch before both",        {0, 255}, {0, 255}, true},
};
/* clang-format on */

static void arrivals_race_with_an_initialisation_that_no_barrier_puts_before_or_behind_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (wsdbg_look_is_unordered(&table[i].arrival, &table[i].init) != table[i].unordered)
            fail_msg("%s", table[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_race_with_an_initialisation_that_no_barrier_puts_before_or_behind_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
