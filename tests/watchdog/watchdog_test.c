/* watchdog_test.c - the watchdog as a function of (snapshot, clock). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diagnose/watchdog.h"

#define S UINT64_C(1000000000)
#define STALL (2 * S)

struct tick {
    uint64_t now_ns, progress_ns;
    bool running;
    enum wsdbg_watchdog_verdict expected;
};

static void play(const struct tick *ticks, size_t count)
{
    struct wsdbg_watchdog watchdog;
    wsdbg_watchdog_init(&watchdog, STALL);
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_grid grids[] = {{.running = false}, {.running = ticks[i].running}};
        const struct wsdbg_snapshot snapshot = {.grids = grids, .grid_count = 2, .progress_ns = ticks[i].progress_ns};
        const enum wsdbg_watchdog_verdict verdict =
            wsdbg_watchdog_tick(&watchdog, wsdbg_watched_slots(&snapshot), ticks[i].now_ns);
        if (verdict != ticks[i].expected)
            fail_msg("tick %zu: verdict %d, expected %d", i, (int)verdict, (int)ticks[i].expected);
    }
}
#define PLAY(...) \
    play((const struct tick[]){__VA_ARGS__}, sizeof((const struct tick[]){__VA_ARGS__}) / sizeof(struct tick))

static void nothing_running_is_idle_for_ever(void **state)
{
    (void)state;
    PLAY({10 * S, 0, false, WSDBG_WATCHDOG_IDLE}, {1000 * S, 0, false, WSDBG_WATCHDOG_IDLE});
}

static void a_stall_is_reported_once(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {11 * S, 10 * S, true, WSDBG_WATCHDOG_QUIET},
         {12 * S, 10 * S, true, WSDBG_WATCHDOG_STALLED}, {13 * S, 10 * S, true, WSDBG_WATCHDOG_STILL_STALLED},
         {100 * S, 10 * S, true, WSDBG_WATCHDOG_STILL_STALLED});
}

static void the_threshold_counts_to_the_nanosecond(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {12 * S - 1, 10 * S, true, WSDBG_WATCHDOG_QUIET},
         {12 * S, 10 * S, true, WSDBG_WATCHDOG_STALLED});
}

static void progress_at_the_threshold_prevents_the_report(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {12 * S, 12 * S, true, WSDBG_WATCHDOG_PROGRESS},
         {14 * S - 1, 12 * S, true, WSDBG_WATCHDOG_QUIET}, {14 * S, 12 * S, true, WSDBG_WATCHDOG_STALLED});
}

static void a_slow_kernel_backs_the_threshold_off(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {12 * S, 10 * S, true, WSDBG_WATCHDOG_STALLED},
         {13 * S, 13 * S, true, WSDBG_WATCHDOG_PROGRESS}, {16 * S, 13 * S, true, WSDBG_WATCHDOG_QUIET},
         {17 * S, 13 * S, true, WSDBG_WATCHDOG_STALLED}, {18 * S, 18 * S, true, WSDBG_WATCHDOG_PROGRESS},
         {25 * S, 18 * S, true, WSDBG_WATCHDOG_QUIET}, {26 * S, 18 * S, true, WSDBG_WATCHDOG_STALLED});
}

static void idling_ends_the_back_off(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {12 * S, 10 * S, true, WSDBG_WATCHDOG_STALLED},
         {13 * S, 10 * S, false, WSDBG_WATCHDOG_IDLE}, {20 * S, 20 * S, true, WSDBG_WATCHDOG_PROGRESS},
         {22 * S, 20 * S, true, WSDBG_WATCHDOG_STALLED});
}

static void a_clock_that_stands_still_or_steps_back_ages_nothing(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {10 * S, 10 * S, true, WSDBG_WATCHDOG_QUIET},
         {1 * S, 10 * S, true, WSDBG_WATCHDOG_QUIET}, {10 * S, 10 * S, true, WSDBG_WATCHDOG_QUIET},
         {12 * S, 10 * S, true, WSDBG_WATCHDOG_STALLED});
}

static void a_tick_that_comes_late_still_sees_the_stall(void **state)
{
    (void)state;
    PLAY({90 * S, 10 * S, true, WSDBG_WATCHDOG_STALLED}, {91 * S, 10 * S, true, WSDBG_WATCHDOG_STILL_STALLED});
}

static void progress_never_goes_back(void **state)
{
    (void)state;
    PLAY({10 * S, 10 * S, true, WSDBG_WATCHDOG_PROGRESS}, {11 * S, 3 * S, true, WSDBG_WATCHDOG_QUIET},
         {12 * S, 3 * S, true, WSDBG_WATCHDOG_STALLED});
}

/* ---- the work of contexts ---- */

static struct wsdbg_context unfinished(uint64_t since_ns)
{
    return (struct wsdbg_context){.alive = true, .work_followed = true, .unfinished_ns = wsdbg_known_u64(since_ns)};
}

static void assert_watched(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns, bool running, uint64_t progress_ns)
{
    const struct wsdbg_watched watched = wsdbg_watched_work(snapshot, moved_ns);
    assert_int_equal(watched.running, running);
    assert_int_equal(watched.progress_ns, progress_ns);
}

static void finished_work_and_dead_contexts_are_not_watched(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {{.alive = true, .work_followed = true}, unfinished(3 * S)};
    contexts[1].alive = false;
    const struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 2};
    assert_watched(&snapshot, 0, false, 0);
}

static void work_is_as_old_as_what_is_oldest_in_it(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {unfinished(9 * S), unfinished(5 * S), {.alive = true}};
    const struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 3};
    assert_watched(&snapshot, 0, true, 5 * S);
}

/* A guess may be older than what is known. */
static void what_is_only_guessed_to_be_unfinished_is_not_known_work(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {unfinished(3 * S), unfinished(5 * S)};
    const struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 2};
    contexts[0].unfinished_is_guess = true;
    assert_watched(&snapshot, 0, true, 3 * S);
    assert_int_equal(wsdbg_watched_known_work(&snapshot, 0).progress_ns, 5 * S);
    contexts[1].unfinished_is_guess = true;
    assert_false(wsdbg_watched_known_work(&snapshot, 0).running);
}

static void a_look_that_saw_movement_starts_the_clock_again(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {unfinished(5 * S)};
    const struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 1};
    assert_watched(&snapshot, 15 * S, true, 15 * S);
    assert_watched(&snapshot, 4 * S, true, 5 * S);
}

/* A kernel with probes that moves explains why the work of its context takes long, and of no other context. */
static void slots_that_move_count_for_their_own_context(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {unfinished(5 * S), unfinished(6 * S)};
    struct wsdbg_grid grids[] = {{.context = 0, .running = true, .progress_ns = 14 * S},
                                 {.context = 1, .running = false, .progress_ns = 15 * S}};
    const struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 2, .grids = grids, .grid_count = 2};
    assert_watched(&snapshot, 0, true, 6 * S);
}

/* One of two kernels hangs: that the other moves does not hide it. */
static void a_grid_that_stands_beside_one_that_moves_stands(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {unfinished(5 * S)};
    struct wsdbg_grid grids[] = {{.context = 0, .running = true, .progress_ns = 14 * S},
                                 {.context = 0, .running = true, .progress_ns = 6 * S}};
    const struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 1, .grids = grids, .grid_count = 2};
    assert_watched(&snapshot, 0, true, 6 * S);
}

/* A debugger that stays attached can keep the slots from being copied for as long as a thread waits for the GPU. */
static void slots_that_nobody_copies_do_not_hide_that_work_stands(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {unfinished(5 * S)};
    struct wsdbg_grid grids[] = {{.context = 0, .running = true, .progress_ns = 14 * S}};
    struct wsdbg_snapshot snapshot = {
        .contexts = contexts, .context_count = 1, .grids = grids, .grid_count = 1, .time_ns = 14 * S};
    contexts[0].slots_silent = true;
    assert_watched(&snapshot, 0, true, 5 * S);
    wsdbg_watchdog_mark_moving(&snapshot, 2 * S);
    assert_false(grids[0].moves);
    contexts[0].slots_silent = false;
    assert_watched(&snapshot, 0, true, 14 * S);
    wsdbg_watchdog_mark_moving(&snapshot, 2 * S);
    assert_true(grids[0].moves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_running_is_idle_for_ever),
        cmocka_unit_test(a_stall_is_reported_once),
        cmocka_unit_test(the_threshold_counts_to_the_nanosecond),
        cmocka_unit_test(progress_at_the_threshold_prevents_the_report),
        cmocka_unit_test(a_slow_kernel_backs_the_threshold_off),
        cmocka_unit_test(idling_ends_the_back_off),
        cmocka_unit_test(a_clock_that_stands_still_or_steps_back_ages_nothing),
        cmocka_unit_test(a_tick_that_comes_late_still_sees_the_stall),
        cmocka_unit_test(progress_never_goes_back),
        cmocka_unit_test(finished_work_and_dead_contexts_are_not_watched),
        cmocka_unit_test(work_is_as_old_as_what_is_oldest_in_it),
        cmocka_unit_test(what_is_only_guessed_to_be_unfinished_is_not_known_work),
        cmocka_unit_test(a_look_that_saw_movement_starts_the_clock_again),
        cmocka_unit_test(slots_that_move_count_for_their_own_context),
        cmocka_unit_test(a_grid_that_stands_beside_one_that_moves_stands),
        cmocka_unit_test(slots_that_nobody_copies_do_not_hide_that_work_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
