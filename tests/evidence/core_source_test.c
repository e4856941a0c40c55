/* core_source_test.c - the ring's evidence and, at a stall that is inspected with time for it, one GPU core dump.  The
 * segment is one that segment_writer.c wrote for this process; dump_driver.c stands in for the driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/attach_link.h"
#include "evidence/dump_driver.h"
#include "evidence/evidence.h"
#include "evidence/segment_writer.h"
#include "machine/synthetic.h"

static const uint64_t ample_ns = 20 * WSDBG_ATTACH_NS, short_ns = WSDBG_ATTACH_NS - 1;

struct scene {
    char session[64];
    struct segment_writer *writer;
    struct dump_driver driver;
    struct wsdbg_evidence *source;
};

/* The context is given work; done: the GPU has got it done. */
static void begin(struct scene *scene, size_t most_bytes, bool done)
{
    const uint32_t self = (uint32_t)getpid();
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    snprintf(scene->session, sizeof scene->session, "core-source-%u", self);
    scene->writer = segment_writer_create_shm(scene->session, self);
    segment_writer_context(scene->writer, 132, 64, 0);
    segment_writer_segment(scene->writer)->markers[0] =
        done ? (struct wsdbg_marker_row){.state = WSDBG_MARKER_WORKS, .done_ns = now_ns, .checked_ns = now_ns}
             : (struct wsdbg_marker_row){
                   .state = WSDBG_MARKER_WORKS, .recorded_ns = now_ns - ample_ns, .checked_ns = now_ns};
    dump_driver_start(&scene->driver, self, most_bytes);
    assert_null(
        wsdbg_evidence_open_core(scene->session, NULL, ".", WSDBG_ATTACH_WHERE_NEEDED, NULL, NULL, &scene->source));
}

static void end(struct scene *scene, unsigned asked)
{
    scene->source->ops->close(scene->source);
    dump_driver_stop(&scene->driver);
    assert_int_equal(scene->driver.asked, asked);
    segment_writer_destroy(scene->writer);
}

static struct wsdbg_snapshot inspect(struct scene *scene, uint64_t time_ns)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = scene->source->ops->inspect(scene->source, wsdbg_attach_clock_ns(), time_ns, &snapshot);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    return snapshot;
}

static bool has_note(const struct wsdbg_snapshot *snapshot, const char *words)
{
    for (size_t i = 0; i < snapshot->note_count; i++)
        if (strstr(snapshot->notes[i], words))
            return true;
    return false;
}

static void one_dump_is_taken_and_shown_again(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, SIZE_MAX, false);
    for (int i = 0; i < 2; i++) {
        struct wsdbg_snapshot snapshot = inspect(&scene, ample_ns);
        assert_string_equal(snapshot.source, "core");
        assert_int_equal(snapshot.grid_count, 1);
        assert_int_equal(snapshot.cta_count, 2);
        assert_int_equal(snapshot.look_count, 1);
        wsdbg_snapshot_deinit(&snapshot);
    }
    end(&scene, 1);
}

static void a_look_is_kept_where_it_is_asked_for(void **state)
{
    (void)state;
    struct scene scene;
    struct wsdbg_machine *machine;
    begin(&scene, SIZE_MAX, false);
    scene.source->ops->keep(scene.source, ".");
    struct wsdbg_snapshot snapshot = inspect(&scene, ample_ns);
    assert_false(has_note(&snapshot, "could not be kept"));
    wsdbg_snapshot_deinit(&snapshot);
    char path[64];
    snprintf(path, sizeof path, "look-%d-1.core", (int)getpid());
    assert_null(wsdbg_machine_open_core(path, &machine));
    assert_int_equal(machine->warp_count, 8);
    machine->ops->close(machine);
    end(&scene, 1);

    begin(&scene, SIZE_MAX, false); /* the file is there now, and not overwritten */
    scene.source->ops->keep(scene.source, ".");
    snapshot = inspect(&scene, ample_ns);
    assert_int_equal(snapshot.look_count, 1);
    assert_true(has_note(&snapshot, "a look could not be kept: write ./look-"));
    wsdbg_snapshot_deinit(&snapshot);
    end(&scene, 1);
}

static void without_time_there_is_no_dump(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, SIZE_MAX, false);
    struct wsdbg_snapshot snapshot = inspect(&scene, short_ns);
    assert_int_equal(snapshot.grid_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    assert_null(scene.source->ops->poll(scene.source, wsdbg_attach_clock_ns(), &snapshot));
    wsdbg_snapshot_deinit(&snapshot);
    end(&scene, 0);
}

static void a_program_whose_work_gets_done_is_left_alone(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, SIZE_MAX, true);
    struct wsdbg_snapshot snapshot = inspect(&scene, ample_ns);
    assert_int_equal(snapshot.grid_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    end(&scene, 0);
}

static void a_dump_that_does_not_come_is_a_note(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, 5000, false);
    for (int i = 0; i < 2; i++) { /* and is asked for once */
        struct wsdbg_snapshot snapshot = inspect(&scene, WSDBG_ATTACH_NS);
        assert_int_equal(snapshot.grid_count, 0);
        assert_true(has_note(&snapshot, "is not there in time (5000 bytes)"));
        wsdbg_snapshot_deinit(&snapshot);
    }
    end(&scene, 1);
}

/* The exit of the process is held while its dump is waited for, and not longer. */
static void what_the_driver_left_of_an_error_is_shown(void **state)
{
    (void)state;
    struct scene scene;
    char file[64];
    begin(&scene, SIZE_MAX, true);
    struct wsdbg_segment *segment = segment_writer_segment(scene.writer);
    segment->contexts[0].error = 719;
    segment->contexts[0].state = WSDBG_CONTEXT_FAULTED;
    snprintf(file, sizeof file, "gpu-core.%d", (int)getpid());
    assert_int_equal(link("whole", file), 0);
    struct wsdbg_snapshot before = inspect(&scene, short_ns);
    assert_int_equal(before.contexts[0].error, 719);
    assert_int_equal(before.cta_count, 0);
    segment->hold_exit_until_ns = 1;
    scene.source->ops->fetch(scene.source, &before, ample_ns);
    assert_int_equal(segment->hold_exit_until_ns, 0);
    wsdbg_snapshot_deinit(&before);
    struct wsdbg_snapshot snapshot = inspect(&scene, short_ns);
    assert_string_equal(snapshot.source, "core");
    assert_int_equal(snapshot.cta_count, 2);
    assert_true(snapshot.exception_count > 0);
    assert_int_equal(snapshot.contexts[0].error, 719);
    wsdbg_snapshot_deinit(&snapshot);
    end(&scene, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dump_is_taken_and_shown_again),
        cmocka_unit_test(a_look_is_kept_where_it_is_asked_for),
        cmocka_unit_test(without_time_there_is_no_dump),
        cmocka_unit_test(a_program_whose_work_gets_done_is_left_alone),
        cmocka_unit_test(a_dump_that_does_not_come_is_a_note),
        cmocka_unit_test(what_the_driver_left_of_an_error_is_shown),
    };
    return cmocka_run_group_tests(tests, dump_driver_enter_folder, dump_driver_leave_folder);
}
