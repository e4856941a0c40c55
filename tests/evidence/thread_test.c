/* thread_test.c - a device that writes while it is read.  Built with -fsanitize=thread by the tsan preset.
 *
 * The writer's 16-byte stores are two 8-byte stores, worse than any device's, so a reader may meet half an
 * event: iteration (first word) and value (second word) of two events.  Reading twice lets through only a half
 * that stands still for the whole read, and that mixes neighbours: value is of this event or the one before.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

enum { LOOKS = 300, MOVING_LOOKS = 50, VALUE_STEP = 3 };

struct device {
    struct segment_writer *writer;
    struct segment_warp warp;
    int stop;
};

static void *write_events(void *argument)
{
    struct device *device = argument;
    for (uint32_t i = 1; !__atomic_load_n(&device->stop, __ATOMIC_RELAXED); i++) {
        segment_writer_event(
            device->writer, &device->warp,
            (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .iteration = i, .value = i * VALUE_STEP});
        if (i % 8 == 0)
            segment_writer_copy_history(device->writer);
        if (i % 64 == 0)
            segment_writer_launch(device->writer, &(struct segment_launch){.ctas = 1, .threads = 32});
    }
    return NULL;
}

static uint32_t events_behind(const struct wsdbg_history_event *event)
{
    return event->iteration - event->value / VALUE_STEP;
}

static void a_device_that_writes_meanwhile_is_read_without_a_race(void **state)
{
    (void)state;
    struct device device = {.writer = segment_writer_create(100), .warp = {.grid_id = 1, .ctas = 1, .warps = 1}};
    segment_writer_context(device.writer, 1, 4, 8);
    segment_writer_module(device.writer, 0, NULL, 0);
    segment_writer_function(device.writer, 0, "kernel", 168);
    segment_writer_begin(device.writer, &device.warp);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_events, &device), 0);
    uint32_t worst = 0, foreign = 0, seen = 0;
    int moving = 0;
    for (int i = 0; i < LOOKS || moving < MOVING_LOOKS; i++) {
        struct wsdbg_snapshot snapshot = segment_snapshot(device.writer);
        if (snapshot.warp_count == 1 && snapshot.warps[0].last.kind == WSDBG_EVENT_USER_MARK) {
            const uint32_t behind = events_behind(&snapshot.warps[0].last);
            worst = behind > worst ? behind : worst;
            moving += snapshot.warps[0].last.iteration != seen;
            seen = snapshot.warps[0].last.iteration;
        }
        foreign += (uint32_t)snapshot.foreign_slots;
        wsdbg_snapshot_deinit(&snapshot);
    }
    __atomic_store_n(&device.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_in_range(worst, 0, 1);
    assert_int_equal(foreign, 0);

    /* At rest everything fits. */
    segment_writer_copy_history(device.writer);
    struct wsdbg_snapshot snapshot = segment_snapshot(device.writer);
    assert_int_equal(snapshot.torn_events, 0);
    assert_int_equal(snapshot.warps[0].last.iteration + 1, device.warp.count);
    for (size_t i = 0; i < snapshot.history_count; i++)
        if (snapshot.history[i].kind == WSDBG_EVENT_USER_MARK)
            assert_int_equal(events_behind(&snapshot.history[i]), 0);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(device.writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_device_that_writes_meanwhile_is_read_without_a_race)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
