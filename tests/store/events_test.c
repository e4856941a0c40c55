/* events_test.c - histories come back from the database, all at once or a few events of one warp, and a picture that
 * was replaced leaves none behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <stdlib.h>
#include <string.h>

enum { CTAS = 3, DEPTH = 16 };

static char *folder;
static struct example hang;
static struct wsdbg_store *store;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    example_hang(&hang, CTAS, DEPTH);
    example_store(&hang, example_path(folder, "a.db"));
    example_ok(wsdbg_store_open(example_path(folder, "a.db"), &store));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wsdbg_store_close(store);
    example_free(&hang);
    example_clean(folder);
    return 0;
}

/* Fields that the kind of event has none of are not stored. */
static void check_event(const struct wsdbg_history_event *got, const struct wsdbg_history_event *expected)
{
    assert_int_equal(got->kind, expected->kind);
    assert_int_equal(got->gpu_time_ns, expected->gpu_time_ns);
    assert_int_equal(got->iteration, expected->iteration);
    assert_int_equal(got->value, expected->kind == WSDBG_EVENT_BEGIN ? 0 : expected->value);
    assert_int_equal(got->barrier, expected->barrier);
}

static void whole_histories_are_those_that_were_stored(void **state)
{
    (void)state;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_load(store, true, &loaded));
    assert_int_equal(loaded.snapshot.history_count, CTAS * 12 * DEPTH);
    for (size_t i = 0; i < loaded.snapshot.warp_count; i++) {
        const struct wsdbg_warp_row *w = &loaded.snapshot.warps[i], *original = &hang.snapshot.warps[i];
        assert_int_equal(w->history_count, DEPTH);
        assert_int_equal(loaded.events[i].count, DEPTH);
        for (uint32_t j = 0; j < DEPTH; j++)
            check_event(&loaded.snapshot.history[w->history_first + j],
                        &hang.snapshot.history[original->history_first + j]);
    }
    assert_int_equal(loaded.diagnosis.findings[0].evidence[0].event, 0);
    wsdbg_loaded_deinit(&loaded);
}

static void histories_are_left_out_unless_asked_for(void **state)
{
    (void)state;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.history_count, 0);
    assert_int_equal(loaded.snapshot.warps[7].history_count, 0);
    assert_int_equal(loaded.events[7].count, DEPTH);
    assert_int_equal(loaded.diagnosis.findings[0].evidence[0].event, WSDBG_NONE);
    wsdbg_loaded_deinit(&loaded);
}

static void a_part_of_a_warps_history_can_be_read(void **state)
{
    (void)state;
    struct wsdbg_loaded loaded;
    struct wsdbg_history_event events[DEPTH + 1];
    uint32_t got = 99;
    example_ok(wsdbg_store_load(store, false, &loaded));
    const struct wsdbg_history_event *history = &hang.snapshot.history[hang.snapshot.warps[13].history_first];
    example_ok(wsdbg_store_events(store, &loaded, 13, 14, DEPTH, events, &got));
    assert_int_equal(got, 2);
    check_event(&events[0], &history[14]);
    check_event(&events[1], &history[15]);
    example_ok(wsdbg_store_events(store, &loaded, 13, 0, DEPTH + 1, events, &got));
    assert_int_equal(got, DEPTH);
    example_ok(wsdbg_store_events(store, &loaded, 13, DEPTH, 1, events, &got));
    assert_int_equal(got, 0);
    example_ok(wsdbg_store_events(store, &loaded, 13, UINT32_MAX, UINT32_MAX, events, &got));
    assert_int_equal(got, 0);
    example_refused(wsdbg_store_events(store, &loaded, CTAS * 12, 0, 1, events, &got), "no warp 36");
    wsdbg_loaded_deinit(&loaded);
}

/* A reader that still holds the old picture gets no events: never those of another warp. */
static void events_of_a_replaced_picture_are_gone(void **state)
{
    (void)state;
    struct wsdbg_store *writer = NULL, *reader = NULL;
    struct wsdbg_loaded old;
    struct wsdbg_history_event events[DEPTH];
    uint32_t got = 99;
    const char *path = example_path(folder, "live.db");
    example_ok(wsdbg_store_create(path, &hang.info, &writer));
    example_ok(wsdbg_store_snapshot(writer, &hang.snapshot));
    example_ok(wsdbg_store_open(path, &reader));
    example_ok(wsdbg_store_load(reader, false, &old));
    example_ok(wsdbg_store_snapshot(writer, &hang.snapshot));
    example_ok(wsdbg_store_events(reader, &old, 0, 0, DEPTH, events, &got));
    assert_int_equal(got, 0);
    char *count = example_query(reader, "SELECT count(*) AS n FROM event", WSDBG_QUERY_CSV);
    assert_string_equal(count, "n\r\n576\r\n");
    free(count);
    wsdbg_loaded_deinit(&old);
    wsdbg_store_close(reader);
    wsdbg_store_close(writer);
}

static void an_event_of_an_unknown_kind_is_null(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *opened = NULL;
    const char *path = example_path(folder, "kind.db");
    example_hang(&e, 1, 2);
    e.snapshot.history[0].kind = WSDBG_EVENT_KIND_COUNT;
    example_store(&e, path);
    example_ok(wsdbg_store_open(path, &opened));
    char *text = example_query(opened, "SELECT kind, barrier FROM event WHERE id = 1", WSDBG_QUERY_CSV);
    assert_string_equal(text, "kind,barrier\r\n,\r\n");
    free(text);
    text = example_query(opened, "SELECT count(*) AS n FROM timeline WHERE event IS NULL", WSDBG_QUERY_CSV);
    assert_string_equal(text, "n\r\n1\r\n");
    free(text);
    wsdbg_store_close(opened);
    example_free(&e);
}

/* Counts how often it was called; fails the test where it goes backwards. */
struct counted_progress {
    struct wsdbg_progress progress; /* first: a wsdbg_progress is one of these */
    uint64_t calls, done, total;
};

static void count_progress(struct wsdbg_progress *progress, uint64_t done, uint64_t total)
{
    struct counted_progress *counted = (struct counted_progress *)progress;
    assert_true(done > counted->done && done <= total);
    counted->calls++;
    counted->done = done;
    counted->total = total;
}

static void storing_says_how_far_it_is(void **state)
{
    (void)state;
    struct example e;
    struct counted_progress counted = {.progress = {.advance = count_progress}};
    struct wsdbg_store *own;
    example_hang(&e, 4, 8);
    example_ok(wsdbg_store_create(example_path(folder, "progress.db"), &e.info, &own));
    wsdbg_store_show_progress(own, &counted.progress);
    example_ok(wsdbg_store_snapshot(own, &e.snapshot));
    wsdbg_store_close(own);
    assert_int_equal(counted.calls, e.snapshot.warp_count);
    assert_int_equal(counted.done, counted.total);
    example_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_histories_are_those_that_were_stored),
        cmocka_unit_test(histories_are_left_out_unless_asked_for),
        cmocka_unit_test(a_part_of_a_warps_history_can_be_read),
        cmocka_unit_test(events_of_a_replaced_picture_are_gone),
        cmocka_unit_test(an_event_of_an_unknown_kind_is_null),
        cmocka_unit_test(storing_says_how_far_it_is),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
