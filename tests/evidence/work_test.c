/* work_test.c - since when a context's work is unfinished, from marker rows and from threads that wait.
 *
 * The snapshot is taken at 5 s of the host's clock (segment_snapshot.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

#define S UINT64_C(1000000000)

struct work {
    struct wsdbg_marker_row marker;
    const char *call;  /* a thread is in it since 2 s; NULL = none is */
    bool older;        /* the observer did not know markers */
    bool destroyed;    /* the context */
    uint64_t given_ns; /* the context was given something last; 0 = at 1 s */
    bool all_done;     /* ... and a marker behind that has passed */
    /* Expected: */
    bool followed;
    uint64_t unfinished_ns; /* 0 = not known to be */
    bool is_guess;
    uint64_t hidden_ns; /* 0 = it is not */
};

static const struct wsdbg_marker_row in_flight = {
    .state = WSDBG_MARKER_WORKS, .recorded_ns = 3 * S, .checked_ns = 5 * S - S / 4};
static const struct wsdbg_marker_row passed = {.state = WSDBG_MARKER_WORKS, .done_ns = 4 * S, .checked_ns = 4 * S};

static void check(const struct work *work)
{
    struct segment_writer *writer = segment_writer_create(100);
    segment_writer_context(writer, 1, 4, 0);
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    segment->markers[0] = work->marker;
    segment->given[0].given_ns = work->given_ns ? work->given_ns : 1 * S;
    segment->given[0].done_given_ns = work->all_done ? segment->given[0].given_ns : 0;
    if (work->older)
        segment->fixed_bytes = WSDBG_SEGMENT_FIRST_BYTES;
    if (work->destroyed)
        segment->contexts[0].state = WSDBG_CONTEXT_DESTROYED;
    if (work->call)
        segment_writer_thread(writer, 7, 0, work->call, 2 * S);
    struct wsdbg_snapshot snapshot = segment_snapshot_light(writer);
    assert_int_equal(snapshot.context_count, 1);
    assert_int_equal(snapshot.contexts[0].work_followed, work->followed);
    assert_int_equal(snapshot.contexts[0].unfinished_ns.known, work->unfinished_ns != 0);
    assert_int_equal(snapshot.contexts[0].unfinished_ns.value, work->unfinished_ns);
    assert_int_equal(snapshot.contexts[0].unfinished_is_guess, work->is_guess);
    assert_int_equal(snapshot.contexts[0].hidden_ns.known, work->hidden_ns != 0);
    assert_int_equal(snapshot.contexts[0].hidden_ns.value, work->hidden_ns);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(writer);
}

static void a_marker_in_flight_says_since_when(void **state)
{
    (void)state;
    check(&(struct work){.marker = in_flight, .followed = true, .unfinished_ns = 3 * S});
    check(&(struct work){.marker = passed, .followed = true});
}

/* Then who waits tells. */
static void a_marker_nobody_looked_at_lately_says_nothing(void **state)
{
    (void)state;
    struct wsdbg_marker_row marker = in_flight;
    marker.checked_ns = 4 * S - 1;
    check(&(struct work){.marker = marker});
    check(&(struct work){.marker = marker, .call = "cuCtxSynchronize", .unfinished_ns = 2 * S});
    marker.checked_ns = 0;
    check(&(struct work){.marker = marker});
    marker.recorded_ns = 5 * S - S / 4; /* just put down: nobody had to ask yet */
    check(&(struct work){.marker = marker, .followed = true});
    check(&(struct work){.marker = marker, .call = "cuCtxSynchronize", .followed = true});
}

static void a_context_that_is_gone_has_no_work(void **state)
{
    (void)state;
    check(&(struct work){.marker = in_flight, .destroyed = true});
}

/* The GPU has done all it was given: what the thread waits for is something else. */
static void a_thread_that_waits_counts_only_without_markers(void **state)
{
    (void)state;
    check(&(struct work){.marker = passed, .call = "cuStreamSynchronize", .followed = true});
    check(&(struct work){
        .marker = {.state = WSDBG_MARKER_FAILED}, .call = "cuStreamSynchronize", .unfinished_ns = 2 * S});
}

static void a_launch_that_blocks_counts_always(void **state)
{
    (void)state;
    check(&(struct work){.marker = passed, .call = "cuLaunchKernelEx", .followed = true, .unfinished_ns = 2 * S});
    check(&(struct work){.marker = in_flight, .call = "cuGraphLaunch", .followed = true, .unfinished_ns = 2 * S});
}

/* What was in flight before counts as long as it was looked at lately; then only who waits. */
static void a_capture_hides_work_but_not_who_waits_for_it(void **state)
{
    (void)state;
    struct wsdbg_marker_row marker = in_flight;
    marker.state = WSDBG_MARKER_STARTED;
    marker.kept_out_ns = 4 * S;
    check(&(struct work){.marker = marker, .unfinished_ns = 3 * S, .hidden_ns = 4 * S});
    marker.checked_ns = 4 * S - 1;
    check(&(struct work){.marker = marker, .hidden_ns = 4 * S});
    check(&(struct work){.marker = marker, .call = "cuStreamSynchronize", .unfinished_ns = 2 * S, .hidden_ns = 4 * S});
}

/* The driver holds the observer's marker thread, for example while it loads a kernel's code behind a running kernel. No
 * new marker can be recorded then, and no call is known to wait. */
static void a_marker_that_the_driver_keeps_says_since_when(void **state)
{
    (void)state;
    struct wsdbg_marker_row marker = {.state = WSDBG_MARKER_STARTED, .inside_ns = 3 * S};
    check(&(struct work){.marker = marker, .unfinished_ns = 3 * S, .is_guess = true});
    check(&(struct work){.marker = marker, .call = "cuMemFree_v2", .unfinished_ns = 2 * S});
    marker.inside_ns = 5 * S - S / 8; /* a call may take a while */
    check(&(struct work){.marker = marker});
    marker = in_flight;
    marker.checked_ns = 4 * S - 1;
    marker.inside_ns = 4 * S;
    check(&(struct work){.marker = marker, .unfinished_ns = 3 * S, .is_guess = true});
    marker.checked_ns = 4 * S; /* just now it had not passed */
    check(&(struct work){.marker = marker, .unfinished_ns = 3 * S});
}

/* Whoever asks for the state of a stream without a pause goes on, and gives it more. */
static void what_was_given_last_is_what_may_not_be_done(void **state)
{
    (void)state;
    struct wsdbg_marker_row marker = {.state = WSDBG_MARKER_WORKS, .inside_ns = 3 * S};
    check(&(struct work){.marker = marker, .given_ns = 4 * S, .unfinished_ns = 4 * S, .is_guess = true});
    marker.recorded_ns = 2 * S;
    check(&(struct work){.marker = marker, .given_ns = 4 * S, .unfinished_ns = 4 * S, .is_guess = true});
    marker = in_flight; /* this is known, whatever came later */
    check(&(struct work){.marker = marker, .given_ns = 4 * S, .followed = true, .unfinished_ns = 3 * S});
}

/* The host asks an idle stream for its state, or pins memory, or its first launch compiles a kernel. */
static void a_call_that_lasts_when_all_is_done_waits_for_no_work(void **state)
{
    (void)state;
    const struct wsdbg_marker_row marker = {.state = WSDBG_MARKER_WORKS, .inside_ns = 3 * S};
    check(&(struct work){.marker = marker, .all_done = true});
    check(&(struct work){
        .marker = marker, .all_done = true, .call = "cuMemFree_v2", .unfinished_ns = 2 * S, .is_guess = true});
    check(&(struct work){.marker = passed,
                         .all_done = true,
                         .call = "cuLaunchKernel",
                         .followed = true,
                         .unfinished_ns = 2 * S,
                         .is_guess = true});
}

static void a_segment_of_an_older_observer_has_no_markers(void **state)
{
    (void)state;
    check(&(struct work){.marker = in_flight, .older = true});
    check(&(struct work){.marker = in_flight, .older = true, .call = "cuCtxSynchronize", .unfinished_ns = 2 * S});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_in_flight_says_since_when),
        cmocka_unit_test(a_marker_nobody_looked_at_lately_says_nothing),
        cmocka_unit_test(a_context_that_is_gone_has_no_work),
        cmocka_unit_test(a_thread_that_waits_counts_only_without_markers),
        cmocka_unit_test(a_launch_that_blocks_counts_always),
        cmocka_unit_test(a_capture_hides_work_but_not_who_waits_for_it),
        cmocka_unit_test(a_marker_that_the_driver_keeps_says_since_when),
        cmocka_unit_test(what_was_given_last_is_what_may_not_be_done),
        cmocka_unit_test(a_call_that_lasts_when_all_is_done_waits_for_no_work),
        cmocka_unit_test(a_segment_of_an_older_observer_has_no_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
