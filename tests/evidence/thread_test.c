/* thread_test.c - a device that writes while it is read.  Built with -fsanitize=thread by the tsan preset.
 *
 * The writer's 16-byte stores are two 8-byte stores, so a reader may meet half an event.  Each event's
 * iteration and value agree (value = iteration * 3): a snapshot must never show a pair that does not.  Only
 * a half that stays for the whole double read cannot be told apart (no store of a device does that), so the
 * writer's even/odd counter says which looks to judge.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

enum { LOOKS = 300, JUDGED_AT_LEAST = 20 };

struct device {
    struct segment_writer *writer;
    struct segment_warp warp;
    uint32_t ticket; /* odd while an event is half written */
    int stop;
};

static void *write_events(void *argument)
{
    struct device *device = argument;
    for (uint32_t i = 1; !__atomic_load_n(&device->stop, __ATOMIC_RELAXED); i++) {
        __atomic_add_fetch(&device->ticket, 1, __ATOMIC_ACQ_REL);
        segment_writer_event(device->writer, &device->warp,
                             (struct segment_event){.kind = WSDBG_EVENT_USER_MARK, .iteration = i, .value = i * 3});
        __atomic_add_fetch(&device->ticket, 1, __ATOMIC_ACQ_REL);
        if (i % 8 == 0)
            segment_writer_copy_history(device->writer);
        if (i % 64 == 0)
            segment_writer_launch(device->writer, &(struct segment_launch){.ctas = 1, .threads = 32});
    }
    return NULL;
}

static void events_read_while_they_are_written_agree_with_themselves(void **state)
{
    (void)state;
    struct device device = {.writer = segment_writer_create(100), .warp = {.grid_id = 1, .ctas = 1, .warps = 1}};
    segment_writer_context(device.writer, 1, 4, 8);
    segment_writer_module(device.writer, 0, NULL, 0);
    segment_writer_function(device.writer, 0, "kernel", 168);
    segment_writer_begin(device.writer, &device.warp);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_events, &device), 0);
    int judged = 0;
    for (int i = 0; i < LOOKS || (judged < JUDGED_AT_LEAST && i < 100 * LOOKS); i++) {
        const uint32_t before = __atomic_load_n(&device.ticket, __ATOMIC_ACQUIRE);
        struct wsdbg_snapshot snapshot = segment_snapshot(device.writer);
        const uint32_t after = __atomic_load_n(&device.ticket, __ATOMIC_ACQUIRE);
        const bool half_all_along = before == after && before % 2 == 1;
        if (!half_all_along && snapshot.warp_count == 1 && snapshot.warps[0].last.kind == WSDBG_EVENT_USER_MARK) {
            judged++;
            assert_int_equal(snapshot.warps[0].last.value, snapshot.warps[0].last.iteration * 3);
        }
        wsdbg_snapshot_deinit(&snapshot);
    }
    __atomic_store_n(&device.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(judged >= JUDGED_AT_LEAST);
    segment_writer_destroy(device.writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_read_while_they_are_written_agree_with_themselves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
