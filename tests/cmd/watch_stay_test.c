/* watch_stay_test.c - a watch beside evidence that may stay at the GPU between looks: what it tells that evidence, when
 * it looks ahead, and which looks it spares because they could hold work back.
 *
 * One context whose work is unfinished since 1 s; a stall is 10 s of it (watch_world.h).
 */
#include "cmd/watch_world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/harness.h"

#define MS UINT64_C(1000000)

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;
    for (; (text = strstr(text, words)); text++)
        count++;
    return count;
}

static void what_evidence_has_to_say_of_staying_is_said_once(void **state)
{
    (void)state;
    struct world world = {.done_ns = 2 * S,
                          .trouble_ns = 3 * S,
                          .accounts = {"it cost 2 ms", "it cost 3 ms"},
                          .account_count = 2,
                          .end_ns = 6 * S};
    world_watch(&world, LOOK_NS);
    assert_true(world.attend_count > 10);
    assert_int_equal(world.over_count, 3);
    assert_string_equal(world.said, "nobody can stay\nit cost 2 ms\nit cost 3 ms\n");
}

static void evidence_that_says_nothing_is_quiet(void **state)
{
    (void)state;
    struct world world = {.done_ns = 2 * S, .end_ns = 6 * S};
    world_watch(&world, LOOK_NS);
    assert_true(world.attend_count > 10);
    assert_string_equal(world.said, "");
}

static void the_first_of_two_looks_comes_once_and_just_before_the_threshold(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){MOVES}, .sight_count = 1, .attended = true, .end_ns = 40 * S};
    world_watch(&world, LOOK_NS);
    assert_true(world.look_count >= 2);
    assert_int_equal(world.looks[0], 11);
    assert_int_equal(world.ahead_count, world.look_count);
    for (size_t i = 0; i < world.look_count; i++) {
        assert_true(world.aheads_ns[i] + 80 * MS >= world.looks[i] * S);
        assert_true(world.aheads_ns[i] < world.looks[i] * S + S);
    }
    assert_true(world.aheads_ns[0] < 11 * S);
}

static void work_that_gets_done_is_not_looked_at_ahead(void **state)
{
    (void)state;
    struct world world = {.done_ns = 9 * S, .attended = true, .end_ns = 40 * S};
    world_watch(&world, LOOK_NS);
    assert_int_equal(world.ahead_count, 0);
}

/* Nobody comes in at a look, so that it holds nothing back. */
static void a_context_that_is_attended_is_looked_at_though_the_host_may_feed_it(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){HANGS},
                          .sight_count = 1,
                          .look_spares_later_work = true,
                          .attended = true,
                          .end_ns = 60 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11);
    assert_true(watch.hang);
    assert_int_equal(unlink("x.db"), 0);
    world = (struct world){
        .sights = (enum sight[]){HANGS}, .sight_count = 1, .look_spares_later_work = true, .end_ns = 60 * S};
    world_watch(&world, LOOK_NS);
    assert_int_equal(world.look_count, 0);
}

/* One that never used the driver may write what the kernel waits for. */
static void a_thread_that_is_not_known_to_rest_spares_the_look(void **state)
{
    static const enum wsdbg_host_state states[] = {WSDBG_HOST_NOT_KNOWN, WSDBG_HOST_STRANGER_GOES_ON,
                                                   WSDBG_HOST_GOES_ON};
    (void)state;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct world world = {.sights = (enum sight[]){HANGS},
                              .sight_count = 1,
                              .look_spares_later_work = true,
                              .waits_ns = 1 * S,
                              .goes_on_until_ns = 30 * S,
                              .goes_on_as = &states[i],
                              .end_ns = 60 * S};
        world_watch(&world, LOOK_NS);
        ASSERT_LOOKS(&world, 30);
        assert_int_equal(count_of(world.said, "not looked at"), 1);
        assert_int_equal(unlink("x.db"), 0);
    }
}

/* Who comes when a thread has waited for as long as a stall lasts looks at once; else when it has watched for so long.
 */
static void waits_of_before_count_where_all_are_blocked(void **state)
{
    static const struct {
        uint64_t waits_ns, goes_on_until_ns;
        uint64_t look_s;
    } examples[] = {
        {2 * S, 0, 30},
        {25 * S, 0, 35},
        {2 * S, 33 * S, 33},
        {2 * S, 39 * S, 39},
    };
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct world world = {.sights = (enum sight[]){HANGS},
                              .sight_count = 1,
                              .came_ns = 30 * S,
                              .waits_ns = examples[i].waits_ns,
                              .goes_on_until_ns = examples[i].goes_on_until_ns,
                              .look_spares_later_work = true,
                              .end_ns = 60 * S};
        const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
        ASSERT_LOOKS(&world, examples[i].look_s);
        assert_true(watch.hang);
        assert_int_equal(unlink("x.db"), 0);
    }
}

/* What the first look leaves open is looked at again as ever. */
static void a_look_at_once_is_the_first_of_three(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){LOST}, .sight_count = 1, .came_ns = 30 * S, .waits_ns = 2 * S, .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 30, 40, 50);
    assert_true(watch.hang);
}

static void what_moves_at_the_first_look_is_no_hang(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){MOVES}, .sight_count = 1, .came_ns = 30 * S, .waits_ns = 2 * S, .end_ns = 80 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 30, 50);
    assert_false(watch.hang);
}

/* Who was refused tries again after 0.2 s, 0.4 s, 0.8 s, and then each second; it says so once. */
static void a_gpu_that_another_wsdbg_has_is_looked_at_soon(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){TAKEN, TAKEN, TAKEN, TAKEN, TAKEN, HANGS}, .sight_count = 6, .end_ns = 60 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 11, 11, 12, 13, 14);
    assert_true(watch.hang);
    assert_int_equal(count_of(world.said, "no look at it succeeded"), 1);
}

/* What is in the way of every look is asked for after twice the time as ever. */
static void who_cannot_look_at_all_does_not_hurry(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){SHUT}, .sight_count = 1, .end_ns = 60 * S};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 41);
}

static void a_picture_is_kept_while_another_wsdbg_has_the_gpu(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){POLLS, TAKEN}, .sight_count = 2, .end_ns = 25 * S};
    world_watch(&world, LOOK_NS);
    assert_true(world.look_count > 3);
    assert_int_equal(world.judged, 1);
}

/* A kernel may end while the inspector comes.  Only if the work stays unfinished is that it is gone judged. */
static void a_picture_is_kept_when_its_kernel_has_just_ended(void **state)
{
    (void)state;
    struct world world = {
        .sights = (enum sight[]){POLLS, NO_GRID}, .sight_count = 2, .done_ns = 25 * S, .end_ns = 60 * S};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21);
    assert_int_equal(world.judged, 1);
    assert_int_equal(world.cause, WSDBG_CAUSE_GLOBAL_SPIN);
    assert_int_equal(unlink("x.db"), 0);
    world = (struct world){.sights = (enum sight[]){POLLS, NO_GRID}, .sight_count = 2, .end_ns = 35 * S};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 31);
    assert_int_equal(world.judged, 2);
}

/* The run is not given up by a picture that lacks a process: a few more looks come first, a stall time apart. */
static void who_gives_up_waits_for_its_turn(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){TAKEN_PARTLY, TAKEN_PARTLY, TAKEN_PARTLY, POLLS},
                          .sight_count = 4,
                          .give_up_ns = 25 * S,
                          .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 11, 21, 26, 36);
    assert_true(watch.given_up_ns >= 35 * S);
    assert_int_equal(unlink("x.db"), 0);
    world = (struct world){
        .sights = (enum sight[]){TAKEN_PARTLY}, .sight_count = 1, .give_up_ns = 25 * S, .end_ns = 100 * S};
    assert_true(world_watch(&world, LOOK_NS).given_up_ns >= 35 * S);
    ASSERT_LOOKS(&world, 11, 21, 26, 36);
}

/* A process that was looked at before is not left out of the picture by which the run is given up. */
static void the_whole_picture_is_kept_while_another_wsdbg_has_one_gpu(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){POLLS_IN_TWO, TAKEN_PARTLY},
                          .sight_count = 2,
                          .give_up_ns = 25 * S,
                          .end_ns = 100 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    assert_true(watch.given_up_ns > 0);
    assert_true(world.look_count > 2);
    assert_int_equal(world.judged, 2);
    assert_int_equal(world.looks_judged, 4);
    assert_int_equal(world.cause, WSDBG_CAUSE_GLOBAL_SPIN);
    assert_int_equal(unlink("x.db"), 0);
    world = (struct world){
        .sights = (enum sight[]){POLLS_IN_TWO, POLLS}, .sight_count = 2, .give_up_ns = 25 * S, .end_ns = 100 * S};
    world_watch(&world, LOOK_NS);
    assert_int_equal(world.looks_judged, 2); /* nobody was refused */
}

/* The calls of NCCL tell which rank is missing.  A look that succeeds later tells more, and is the one that is kept. */
static void a_missing_rank_is_told_where_no_look_succeeds(void **state)
{
    static const enum sight never[] = {TAKEN, SHUT, FAILS};
    (void)state;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        struct world world = {.sights = &never[i],
                              .sight_count = 1,
                              .lacks_rank = true,
                              .waits_ns = 1 * S,
                              .give_up_ns = 15 * S,
                              .end_ns = 60 * S};
        const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
        assert_int_equal(world.cause, WSDBG_CAUSE_RANK_MISSING);
        assert_int_equal(watch.given_up_ns / S, 15);
        assert_false(world.is_hang);
        assert_non_null(strstr(world.report, "no look shows what it has on its GPU"));
        assert_int_equal(unlink("x.db"), 0);
    }
    struct world world = {.sights = (enum sight[]){TAKEN, POLLS, TAKEN},
                          .sight_count = 3,
                          .lacks_rank = true,
                          .waits_ns = 1 * S,
                          .end_ns = 40 * S};
    world_watch(&world, LOOK_NS);
    assert_int_equal(world.judged, 2);
    assert_null(strstr(world.report, "no look shows what it has on its GPU"));
}

/* Upon another wsdbg's hang, before anything stalls here.  Only some processes can be seen at first, then none. */
static void the_picture_upon_a_mark_is_taken_again_until_it_is_whole(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){TAKEN_PARTLY, TAKEN, TAKEN, STANDS},
                          .sight_count = 4,
                          .marked_ns = 5 * S,
                          .end_ns = 10 * S};
    const struct wsdbg_watch watch = world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 5, 6, 7, 8);
    assert_int_equal(world.judged, 2);
    assert_int_equal(count_of(world.said, "and is taken again"), 1);
    assert_int_equal(count_of(world.said, "is in the session; no verdict"), 1);
    assert_false(watch.hang);
}

/* The first one is in the session nevertheless, and no later one saw more. */
static void the_picture_upon_a_mark_is_not_taken_for_ever(void **state)
{
    (void)state;
    struct world world = {.sights = (enum sight[]){TAKEN}, .sight_count = 1, .marked_ns = 2 * S, .end_ns = 11 * S};
    world_watch(&world, LOOK_NS);
    ASSERT_LOOKS(&world, 2, 3, 4, 5, 6, 7, 8, 9);
    assert_int_equal(world.judged, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_picture_upon_a_mark_is_taken_again_until_it_is_whole),
        TEST(the_picture_upon_a_mark_is_not_taken_for_ever),
        TEST(what_evidence_has_to_say_of_staying_is_said_once),
        TEST(evidence_that_says_nothing_is_quiet),
        TEST(the_first_of_two_looks_comes_once_and_just_before_the_threshold),
        TEST(work_that_gets_done_is_not_looked_at_ahead),
        TEST(a_context_that_is_attended_is_looked_at_though_the_host_may_feed_it),
        TEST(a_thread_that_is_not_known_to_rest_spares_the_look),
        TEST(waits_of_before_count_where_all_are_blocked),
        TEST(a_look_at_once_is_the_first_of_three),
        TEST(what_moves_at_the_first_look_is_no_hang),
        TEST(a_gpu_that_another_wsdbg_has_is_looked_at_soon),
        TEST(who_cannot_look_at_all_does_not_hurry),
        TEST(a_picture_is_kept_while_another_wsdbg_has_the_gpu),
        TEST(a_picture_is_kept_when_its_kernel_has_just_ended),
        TEST(who_gives_up_waits_for_its_turn),
        TEST(the_whole_picture_is_kept_while_another_wsdbg_has_one_gpu),
        TEST(a_missing_rank_is_told_where_no_look_succeeds),
    };
    return cmocka_run_group_tests_name("watch_stay", tests, NULL, NULL);
}
