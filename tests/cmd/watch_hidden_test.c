/* watch_hidden_test.c - what a watch calls a hang where it is not known whether the GPU has done its work: stream
 * captures hide it, or the driver only keeps a thread of the program.
 *
 * One context whose work is unfinished since 1 s; a stall is 10 s of it (watch_world.h).
 */
#include "cmd/watch_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/harness.h"

#define HIDDEN_WORDS "stream captures have hidden for 10.0 s whether the GPU does its work"

static void what_captures_hide_is_a_hang_when_two_looks_see_it(void **state)
{
    (void)state;
    struct world world = {.hidden = true, .sights = (enum sight[]){HANGS}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21);
    assert_true(watch.hang);
    assert_non_null(strstr(world.said, HIDDEN_WORDS "; it looks at the GPU itself"));
    assert_non_null(strstr(world.said, "hang: ARRIVE_MISSING (proven)"));
}

static void a_slow_kernel_that_captures_hide_is_not_blamed(void **state)
{
    (void)state;
    struct world world = {.hidden = true, .sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41, 81);
    assert_false(watch.hang || watch.not_looked);
    assert_int_equal(line_count(world.said), 2);
    assert_non_null(strstr(world.said, "the GPU has been busy for 10.0 s; it moves"));
}

/* Each look sees another grid: they get done. */
static void grids_that_come_and_go_behind_captures_are_not_judged(void **state)
{
    (void)state;
    struct world world = {.hidden = true, .sights = (enum sight[]){NEXT}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41, 81);
    assert_false(watch.hang);
    assert_int_equal(line_count(world.said), 1);
    assert_int_equal(world.judged, 0);
}

/* Another context's work takes long, or is hidden; what has slots goes on. */
static void slots_that_change_beside_a_look_are_not_judged(void **state)
{
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        struct world world = {.hidden = hidden, .sights = (enum sight[]){BUSY}, .sight_count = 1, .end_ns = 100 * S};
        const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
        ASSERT_LOOKS(&world, 11, 21, 41, 81);
        assert_false(watch.hang);
        assert_null(strstr(world.said, "ARRIVE_MISSING"));
        unlink("x.db");
    }
}

static void what_captures_hide_is_not_worth_a_look_that_ends_work(void **state)
{
    (void)state;
    struct world world = {
        .hidden = true, .look_ends_work = true, .sights = (enum sight[]){HANGS}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_int_equal(watch.not_looked, WSDBG_SPARED_WORK);
    assert_string_equal(world.said, HIDDEN_WORDS "; a hang would not be noticed meanwhile\n");
}

#define NOT_KNOWN_WORDS "it has not been known for 10.0 s whether the GPU has done its work"

/* The host may be in a long call, or ask for the state of a stream that is idle. */
static void a_guess_that_no_look_confirms_is_neither_called_nor_given_up(void **state)
{
    (void)state;
    struct world world = {
        .guessed = true, .sights = (enum sight[]){NO_GRID}, .sight_count = 1, .give_up_ns = 25 * S, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 26, 51);
    assert_false(watch.hang || watch.given_up_ns || watch.not_looked);
    assert_string_equal(world.said, NOT_KNOWN_WORDS "; a look saw no kernel of that work, the program goes on\n");
    assert_int_equal(world.judged + world.reports, 0);
}

/* Another context has a kernel that runs only since 8 s. */
static void a_guess_is_not_confirmed_by_later_work_of_another_context(void **state)
{
    (void)state;
    struct world world = {
        .guessed = true, .other_since_ns = 8 * S, .sights = (enum sight[]){WGMMA}, .sight_count = 1, .end_ns = 15 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11);
    assert_false(watch.hang);
    assert_string_equal(world.said, NOT_KNOWN_WORDS "; a look saw no kernel of that work, the program goes on\n");
    assert_int_equal(world.judged + world.reports, 0);
}

/* The driver keeps the observer's thread because a call of the program waits for a kernel. */
static void a_guess_that_a_look_confirms_is_judged(void **state)
{
    (void)state;
    struct world world = {.guessed = true, .sights = (enum sight[]){WGMMA}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 31);
    assert_true(watch.hang);
}

static void a_guess_is_not_worth_a_look_that_ends_work(void **state)
{
    (void)state;
    struct world world = {.guessed = true,
                          .look_ends_work = true,
                          .sights = (enum sight[]){HANGS},
                          .sight_count = 1,
                          .give_up_ns = 25 * S,
                          .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_int_equal(watch.not_looked, WSDBG_SPARED_WORK);
    assert_false(watch.given_up_ns);
    assert_string_equal(world.said, NOT_KNOWN_WORDS "; a hang would not be noticed meanwhile\n");
}

static void no_more_is_said_of_a_guess_than_is_known(void **state)
{
    (void)state;
    struct world world = {.guessed = true, .sights = (enum sight[]){SHUT}, .sight_count = 1, .end_ns = 15 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_int_equal(watch.not_looked, WSDBG_COULD_NOT_LOOK);
    assert_string_equal(world.said, "the GPU cannot be looked at: MPS is in the way\n" NOT_KNOWN_WORDS
                                    "; no look at it succeeded, the program goes on\n");
    unlink("x.db");
    world = (struct world){.guessed = true, .sights = (enum sight[]){FAILS}, .sight_count = 1, .end_ns = 15 * S};
    world_watch(&world, LOOK_NS);
    assert_string_equal(world.said, NOT_KNOWN_WORDS ", but the look at it failed: the inspector died\n");
    unlink("x.db");
    world = (struct world){.guessed = true, .look_spares_later_work = true, .end_ns = 15 * S};
    world_watch(&world, LOOK_NS);
    assert_non_null(strstr(world.said, NOT_KNOWN_WORDS ", but it was not looked at: no thread"));
}

static void a_look_that_is_asked_for_during_a_capture_is_had(void **state)
{
    (void)state;
    struct world world = {
        .hidden = true, .sights = (enum sight[]){STANDS}, .sight_count = 1, .asked_ns = 4 * S, .end_ns = 6 * S};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 4);
    assert_string_equal(world.said, "where every warp stands now; no verdict\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_captures_hide_is_a_hang_when_two_looks_see_it),
        TEST(a_slow_kernel_that_captures_hide_is_not_blamed),
        TEST(grids_that_come_and_go_behind_captures_are_not_judged),
        TEST(slots_that_change_beside_a_look_are_not_judged),
        TEST(what_captures_hide_is_not_worth_a_look_that_ends_work),
        TEST(a_guess_that_no_look_confirms_is_neither_called_nor_given_up),
        TEST(a_guess_is_not_confirmed_by_later_work_of_another_context),
        TEST(a_guess_that_a_look_confirms_is_judged),
        TEST(a_guess_is_not_worth_a_look_that_ends_work),
        TEST(no_more_is_said_of_a_guess_than_is_known),
        TEST(a_look_that_is_asked_for_during_a_capture_is_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
