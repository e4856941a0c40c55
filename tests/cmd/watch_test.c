/* watch_test.c - when a watch looks at the GPU, what it says and what it calls a hang: kernels without probes.
 *
 * One context whose work is unfinished since 1 s; a stall is 10 s of it (watch_world.h).
 */
#include "cmd/watch_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/harness.h"

static void work_that_gets_done_is_not_looked_at(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .done_ns = 10 * S, .end_ns = 100 * S};
    world_watch(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_string_equal(world.said, "");
}

/* Too many files open, no memory: what is wrong now may be right in a moment, and the hang is found. */
static void who_sees_nothing_for_a_while_watches_again(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){WGMMA},
                          .sight_count = 1,
                          .blind_from_ns = 5 * S,
                          .blind_until_ns = 20 * S,
                          .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_true(watch.hang);
    assert_false(watch.blind);
    assert_int_equal(watch.blind_ns / S, 15);
    assert_non_null(strstr(world.said, "not watching: open /dev/shm: Too many open files; trying again\n"
                                       "watching again, after 15.0 s\n"));
}

static void who_sees_nothing_to_the_end_says_so(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){WGMMA},
                          .sight_count = 1,
                          .blind_from_ns = 5 * S,
                          .blind_until_ns = 200 * S,
                          .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_true(watch.blind);
    assert_false(watch.hang);
    assert_string_equal(world.said, "not watching: open /dev/shm: Too many open files; trying again\n");
}

static void evidence_that_cannot_look_is_not_asked_to(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 100 * S};
    world_watch(&world, 0);
    assert_int_equal(world.look_count, 0);
}

/* Looked at again after twice the time, from the last movement on; said once. */
static void a_slow_kernel_is_looked_at_ever_more_rarely(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 200 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 31, 71, 151);
    assert_false(watch.hang || watch.not_looked);
    assert_int_equal(line_count(world.said), 1);
    assert_non_null(strstr(world.said, "the GPU has been busy for 10.0 s; it moves, the program goes on (SLOW"));
    assert_int_equal(world.judged, 4);
}

/* Whether its registers are the same was not seen: it may have come round. */
static void a_kernel_that_is_not_known_to_stand_is_looked_at_again_and_shown_once(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){STANDS}, .sight_count = 1, .end_ns = 200 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41, 81, 161);
    assert_false(watch.hang);
    assert_string_equal(world.said, "nothing has moved for 10.0 s; not known to be a hang: it is not known of every "
                                    "warp that it stands; the program goes on\n");
    assert_int_equal(world.reports, 1);
    assert_non_null(strstr(world.report, "STALL: cause not known (UNKNOWN; that it hangs is possible)"));
    assert_non_null(strstr(world.report, "warp 0"));
    assert_null(strstr(world.report, "running"));
}

/* Nobody knows the cause: it is a hang all the same, and the report shows where it stands. */
static void what_three_looks_find_standing_is_a_hang_when_nobody_outside_can_end_it(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){WGMMA}, .sight_count = 1, .end_ns = 200 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 31);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "UNKNOWN");
    assert_true(world.is_hang);
    assert_int_equal(watch.stalled_ns / S, 31);
    assert_non_null(strstr(world.said, "nothing has moved for 10.0 s; not yet known to be a hang: 2 more looks must "
                                       "see the same; the program goes on\nhang: UNKNOWN"));
    assert_non_null(strstr(world.said, "after the last of 3 looks in 20.0 s without movement"));
    assert_int_equal(world.reports, 2);
    assert_non_null(strstr(world.report, "HANG: cause not known (UNKNOWN; that it hangs is "));
    assert_non_null(strstr(world.report, "WAIT_WGMMA"));
    assert_non_null(strstr(world.report, "3 looks in 20.0 s found every warp at the same place"));
}

static void a_warp_that_waits_elsewhere_at_each_look_does_not_stand(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){WGMMA_ELSEWHERE}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_false(watch.hang);
    assert_false(world.is_hang);
    assert_true(world.look_count > 3);
}

static void movement_between_the_looks_begins_it_anew(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){WGMMA, WGMMA, MOVES, WGMMA}, .sight_count = 4, .end_ns = 200 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 31, 51, 61, 71); /* after movement a stall takes twice as long */
    assert_true(watch.hang);
    assert_non_null(strstr(world.said, "it moves, the program goes on (SLOW"));
}

/* A copy or a kernel that the host has not given to the GPU yet may end it. */
static void a_standstill_that_the_host_may_end_is_never_a_hang_and_is_said_once(void **state)
{
    (void)state;
    const enum sight sights[] = {POLLS, LOST};
    for (size_t i = 0; i < 2; i++) {
        struct world world = {.sights = &sights[i], .sight_count = 1, .end_ns = 400 * S};
        const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
        ASSERT_LOOKS(&world, 11, 21, 41, 81, 161, 321);
        assert_false(watch.hang || watch.given_up_ns);
        assert_int_equal(world.reports, 1);
        assert_string_equal(world.said, "nothing has moved for 10.0 s; not known to be a hang: the host may still "
                                        "write a word that a warp polls, or may poll; the program goes on\n");
        unlink("x.db");
    }
}

/* The place of the warp is not known, and it may poll; but nobody would write. */
static void a_place_that_nobody_can_explain_is_a_hang_when_the_host_waits_too(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){LOST}, .sight_count = 1, .waits_ns = 1 * S, .end_ns = 400 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 31);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "UNKNOWN");
}

/* From 15 s on the host waits for the kernel. */
static void that_somebody_else_could_end_it_now_is_said_in_a_line(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){LOST}, .sight_count = 1, .waits_ns = 15 * S, .end_ns = 400 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 31);
    assert_true(watch.hang);
    assert_int_equal(world.reports, 2);
    assert_non_null(strstr(world.said,
                           "the host may still write a word that a warp polls, or may poll; the program goes on\n"
                           "nothing has moved for 20.0 s, UNKNOWN (possible); not yet known to be a hang: "
                           "1 more look must see the same; the program goes on\n"));
}

static void what_only_may_be_a_hang_is_given_up_when_that_is_asked_for(void **state)
{
    (void)state;
    const enum sight sights[] = {POLLS, LOST, STANDS};
    for (size_t i = 0; i < 3; i++) {
        struct world world = {.sights = &sights[i], .sight_count = 1, .give_up_ns = 25 * S, .end_ns = 400 * S};
        const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
        ASSERT_LOOKS(&world, 11, 21, 26);
        assert_false(watch.hang || world.is_hang);
        assert_int_equal(watch.given_up_ns / S, 25);
        assert_non_null(strstr(world.said, "given up: nothing has moved for 25.0 s (--give-up 25); not known to be a "
                                           "hang: "));
        assert_non_null(strstr(world.said, "nothing happens to it\n"));
        assert_int_equal(world.reports, 2);
        assert_non_null(strstr(world.report, "STALL: "));
        unlink("x.db");
    }
}

static void a_kernel_that_moves_is_never_given_up(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .give_up_ns = 15 * S, .end_ns = 200 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_false(watch.hang || watch.given_up_ns);
    assert_true(world.look_count > 4); /* no later than that after the last movement */
}

static void what_cannot_be_looked_at_is_not_given_up(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){SHUT}, .sight_count = 1, .give_up_ns = 15 * S, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_false(watch.hang || watch.given_up_ns);
}

/* The host goes on: a look is spared until then. */
static void work_that_the_host_may_feed_is_looked_at_before_it_is_given_up(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){POLLS},
                          .sight_count = 1,
                          .look_spares_later_work = true,
                          .give_up_ns = 30 * S,
                          .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 31);
    assert_int_equal(watch.given_up_ns / S, 30);
}

/* The kernel may wait for a copy that would then wait for the kernel. */
static void work_that_the_host_may_feed_is_not_looked_at(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){HANGS}, .sight_count = 1, .look_spares_later_work = true, .end_ns = 60 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
    assert_int_equal(watch.not_looked, WSDBG_SPARED_LATER_WORK);
    assert_int_equal(line_count(world.said), 1);
    assert_non_null(strstr(world.said, "but it was not looked at: no thread of the program waits for it. "));
}

static void it_is_looked_at_when_the_host_has_waited_for_half_of_the_stall(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS},
                          .sight_count = 1,
                          .look_spares_later_work = true,
                          .waits_ns = 15 * S,
                          .end_ns = 60 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 29); /* unfinished since 1 s */
    assert_true(watch.hang);
}

/* One thread waits, another one used the driver and is blocked from 30 s on. */
static void it_is_not_looked_at_while_another_thread_may_feed_it(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS},
                          .sight_count = 1,
                          .look_spares_later_work = true,
                          .waits_ns = 1 * S,
                          .goes_on_until_ns = 30 * S,
                          .end_ns = 60 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 30);
    assert_true(watch.hang);
    assert_non_null(strstr(world.said, "for 10.0 s, but it was not looked at: a thread waits for it, but "
                                       "another one may still be running. "));
}

static void what_is_in_the_way_of_a_look_is_said(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){SHUT}, .sight_count = 1, .end_ns = 15 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11);
    assert_int_equal(watch.not_looked, WSDBG_COULD_NOT_LOOK);
    assert_non_null(strstr(world.said, "MPS is in the way\n"));
    assert_non_null(strstr(world.said, "the GPU has not completed its work for 10.0 s; no look at it succeeded"));
}

static void a_look_that_fails_is_said_and_tried_again(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){FAILS, MOVES}, .sight_count = 2, .end_ns = 25 * S};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21);
    assert_non_null(strstr(world.said, "the look at it failed: the inspector died"));
    assert_non_null(strstr(world.said, "it moves"));
}

static void a_hang_is_reported_with_the_threshold_of_kernels_without_probes(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES, HANGS}, .sight_count = 2, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 31);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "ARRIVE_MISSING");
    assert_int_equal(watch.stalled_ns / S, 21); /* ten seconds after the last movement */
    assert_non_null(strstr(world.said, "hang: ARRIVE_MISSING (proven)"));
    assert_non_null(strstr(world.said, "after the 10.0 s threshold; nothing happens to it"));
}

/* Nobody looks at it, and nothing is judged, before it could go on for as long as a stall lasts: it could not from 1 s
 * on, when its work began. */
static void a_program_that_a_debugger_holds_is_not_judged(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){HANGS}, .sight_count = 1, .held_until_ns = 30 * S, .end_ns = 100 * S};
    world.held = hold_a_process();
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    end_process(world.held);
    ASSERT_LOOKS(&world, 39); /* the last tick that found it stopped came before 30 s */
    assert_true(watch.hang);
}

/* Each tick finds it stopped, and each time it is another stop. */
static void a_program_that_a_debugger_follows_is_judged(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS}, .sight_count = 1, .is_followed = true, .end_ns = 60 * S};
    world.held = stop_a_process();
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    end_process(world.held);
    ASSERT_LOOKS(&world, 11);
    assert_true(watch.hang);
}

/* Three seconds in four it is stopped. */
static void a_program_that_is_held_now_and_then_is_judged_by_the_time_it_had(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS}, .sight_count = 1, .is_held_often = true, .end_ns = 100 * S};
    world.held = stop_a_process();
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    end_process(world.held);
    assert_int_equal(world.look_count, 1);
    assert_in_range(world.looks[0], 36, 41);
    assert_true(watch.hang);
}

/* Beside a grid that stands one may move: what its warps wait for at that moment is no hang. */
static void a_grid_that_moves_is_not_judged(void **state)
{
    (void)state;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis stands, moves;
    assert_null(look_at_recorded_hang(&snapshot));
    assert_null(wsdbg_diagnose(&snapshot, &stands));
    for (size_t i = 0; i < snapshot.grid_count; i++)
        snapshot.grids[i].moves = true;
    assert_null(wsdbg_diagnose(&snapshot, &moves));
    assert_true(stands.hang);
    assert_false(moves.hang);
    assert_int_equal(moves.finding_count, 0);
    wsdbg_diagnosis_deinit(&stands);
    wsdbg_diagnosis_deinit(&moves);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The pictures that are asked for are shown and stored; they say nothing, and judge nothing. */
static void who_looks_on_gets_new_pictures(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){SHUT, MOVES},
                          .sight_count = 2,
                          .every_ns = S,
                          .wanted_ns = 2 * S,
                          .end_ns = 4 * S + S / 2};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 2, 3, 4);
    assert_int_equal(world.pictures, 2);
    assert_int_equal(world.judged, 0);
    assert_string_equal(world.said, "the GPU cannot be looked at: MPS is in the way\n");
    struct outcome query = WSDBG("query", "x.db", "--csv", "SELECT count(*) FROM look");
    assert_string_equal(query.out, "count(*)\r\n2\r\n"); /* of the newest picture */
    outcome_free(&query);
}

static void a_look_that_is_asked_for_shows_where_warps_stand_and_judges_nothing(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){STANDS}, .sight_count = 1, .asked_ns = 4 * S, .end_ns = 6 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 4);
    assert_false(watch.hang);
    assert_string_equal(world.said, "where every warp stands now; no verdict\n");
    assert_int_equal(world.judged, 0);
}

/* Of kernels with probes a stall is 2 s; their record shows that a warp is outside of any wait, not whether it moves.
 */
static void a_warp_of_a_kernel_with_probes_that_a_look_sees_moving_is_slow(void **state)
{
    (void)state;
    struct world world = {.probed = true, .sights = (enum sight[]){MOVES}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_false(watch.hang);
    assert_true(world.look_count > 3);
    assert_int_equal(line_count(world.said), 1);
    assert_non_null(strstr(world.said, "it moves, the program goes on (SLOW: "));
    assert_null(strstr(world.said, "nothing has moved"));
    assert_int_equal(world.reports, 0);
}

static void one_that_stands_is_never_called_running_or_slow(void **state)
{
    (void)state;
    struct world world = {.probed = true, .sights = (enum sight[]){STANDS}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_false(watch.hang);
    assert_string_equal(world.said, "nothing has moved for 2.0 s; not known to be a hang: it is not known of every "
                                    "warp that it stands; the program goes on\n");
    assert_int_equal(world.reports, 1);
    assert_null(strstr(world.report, "SLOW"));
    assert_null(strstr(world.report, "running"));
    assert_null(strstr(world.report, "RUNNING"));
}

static void one_that_is_known_to_stand_is_a_hang(void **state)
{
    (void)state;
    struct world world = {.probed = true, .sights = (enum sight[]){WGMMA}, .sight_count = 1, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 3, 5, 7);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "UNKNOWN");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(work_that_gets_done_is_not_looked_at),
        TEST(evidence_that_cannot_look_is_not_asked_to),
        TEST(who_sees_nothing_for_a_while_watches_again),
        TEST(who_sees_nothing_to_the_end_says_so),
        TEST(a_slow_kernel_is_looked_at_ever_more_rarely),
        TEST(a_kernel_that_is_not_known_to_stand_is_looked_at_again_and_shown_once),
        TEST(what_three_looks_find_standing_is_a_hang_when_nobody_outside_can_end_it),
        TEST(a_warp_that_waits_elsewhere_at_each_look_does_not_stand),
        TEST(movement_between_the_looks_begins_it_anew),
        TEST(a_standstill_that_the_host_may_end_is_never_a_hang_and_is_said_once),
        TEST(a_place_that_nobody_can_explain_is_a_hang_when_the_host_waits_too),
        TEST(that_somebody_else_could_end_it_now_is_said_in_a_line),
        TEST(what_only_may_be_a_hang_is_given_up_when_that_is_asked_for),
        TEST(a_kernel_that_moves_is_never_given_up),
        TEST(what_cannot_be_looked_at_is_not_given_up),
        TEST(work_that_the_host_may_feed_is_looked_at_before_it_is_given_up),
        TEST(work_that_the_host_may_feed_is_not_looked_at),
        TEST(it_is_looked_at_when_the_host_has_waited_for_half_of_the_stall),
        TEST(it_is_not_looked_at_while_another_thread_may_feed_it),
        TEST(what_is_in_the_way_of_a_look_is_said),
        TEST(a_look_that_fails_is_said_and_tried_again),
        TEST(a_hang_is_reported_with_the_threshold_of_kernels_without_probes),
        TEST(a_program_that_a_debugger_holds_is_not_judged),
        TEST(a_program_that_a_debugger_follows_is_judged),
        TEST(a_program_that_is_held_now_and_then_is_judged_by_the_time_it_had),
        TEST(a_grid_that_moves_is_not_judged),
        TEST(a_warp_of_a_kernel_with_probes_that_a_look_sees_moving_is_slow),
        TEST(one_that_stands_is_never_called_running_or_slow),
        TEST(one_that_is_known_to_stand_is_a_hang),
        TEST(who_looks_on_gets_new_pictures),
        TEST(a_look_that_is_asked_for_shows_where_warps_stand_and_judges_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
