/* live_source_test.c - the ring's evidence completed by looks through the debug attach, on the fake driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/evidence.h"
#include "evidence/live_rig.h"
#include "evidence/look_choice.h"

static struct wsdbg_evidence *open_live(enum wsdbg_attach_use use)
{
    char session[64];
    struct wsdbg_evidence *source;
    session_name(session, sizeof session);
    rig_ok(wsdbg_evidence_open_live(session, NULL, use, &source));
    return source;
}

static struct wsdbg_snapshot inspect(struct wsdbg_evidence *source, uint64_t deadline_ns)
{
    struct wsdbg_snapshot snapshot;
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), deadline_ns, &snapshot));
    source->ops->await_leave(source, &snapshot);
    return snapshot;
}

static struct wsdbg_snapshot inspect_at(struct wsdbg_evidence *recorded, uint64_t now_ns)
{
    struct wsdbg_snapshot snapshot;
    rig_ok(recorded->ops->inspect(recorded, now_ns, 0, &snapshot));
    return snapshot;
}

/* What the probes of the fake GPU's kernel could have recorded: the first warp of its first CTA began. */
static void add_recorded_grid(struct wsdbg_snapshot *snapshot)
{
    assert_int_equal(snapshot->grid_count + snapshot->cta_count + snapshot->warp_count + snapshot->history_count, 0);
    free(snapshot->grids);
    free(snapshot->ctas);
    free(snapshot->warps);
    free(snapshot->history);
    snapshot->grids = calloc(1, sizeof *snapshot->grids);
    snapshot->ctas = calloc(1, sizeof *snapshot->ctas);
    snapshot->warps = calloc(1, sizeof *snapshot->warps);
    snapshot->history = calloc(1, sizeof *snapshot->history);
    assert_true(snapshot->grids && snapshot->ctas && snapshot->warps && snapshot->history);
    snapshot->grids[0] = (struct wsdbg_grid){.grid_id = FAKE_DEBUG_GRID,
                                             .module = WSDBG_NONE,
                                             .launch = WSDBG_NONE,
                                             .function = WSDBG_NONE,
                                             .cta_total = FAKE_DEBUG_SMS,
                                             .cta_count = 1,
                                             .warps_live = 1,
                                             .running = true};
    snapshot->ctas[0] = (struct wsdbg_cta){.cluster_size = 1, .warp_count = 1};
    snapshot->history[0] = (struct wsdbg_history_event){.kind = WSDBG_EVENT_BEGIN};
    snapshot->warps[0] = (struct wsdbg_warp_row){.state = WSDBG_WARP_RUNNING,
                                                 .last = snapshot->history[0],
                                                 .barrier = WSDBG_NONE,
                                                 .site = WSDBG_NONE,
                                                 .history_count = 1,
                                                 .history_whole = true};
    snapshot->contexts[0].handle = FAKE_DEBUG_CONTEXT; /* a real driver has one handle for both */
    snapshot->grid_count = snapshot->cta_count = snapshot->warp_count = snapshot->history_count = 1;
}

static bool has_note(const struct wsdbg_snapshot *snapshot, const char *words)
{
    for (size_t i = 0; i < snapshot->note_count; i++)
        if (strstr(snapshot->notes[i], words))
            return true;
    return false;
}

static void the_gpus_own_warps_come_into_the_snapshot(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
    for (int i = 0; i < 2; i++) {
        struct wsdbg_snapshot snapshot = inspect(source, 3000000000ull);
        assert_string_equal(snapshot.source, "live");
        assert_int_equal(snapshot.grid_count, 1);
        assert_int_equal(snapshot.grids[0].grid_id, FAKE_DEBUG_GRID);
        assert_int_equal(snapshot.cta_count, FAKE_DEBUG_SMS);
        assert_int_equal(snapshot.look_count, 2);
        assert_true(snapshot.looks[0].attach_ns > 0 && snapshot.looks[1].detach_ns > 0);
        assert_true(snapshot.looks[0].suspend_ns > 0 && snapshot.looks[1].resume_ns > 0);
        /* beside other programs, too, its kernels ran in between */
        assert_true(snapshot.looks[1].time_ns - snapshot.looks[0].time_ns >= FAKE_DEBUG_TURN_NS);
        wsdbg_snapshot_deinit(&snapshot);
        rig_assert_left_alone(&rig);
    }
    assert_int_equal(rig.gpu->suspensions, 4);
    source->ops->close(source);
    rig_finish(&rig);
}

/* It is judged meanwhile: nothing is stopped any more, and the inspector leaves by itself. */
static void a_look_returns_before_its_inspector_has_left(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
    struct wsdbg_snapshot snapshot;
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), 3000000000ull, &snapshot));
    assert_int_equal(snapshot.look_count, 2);
    assert_int_equal(snapshot.looks[1].detach_ns, 0);
    assert_true(rig.gpu->attached);
    assert_false(rig.gpu->suspended);
    source->ops->await_leave(source, &snapshot);
    assert_true(snapshot.looks[1].detach_ns >= FAKE_DEBUG_TURN_NS);
    rig_assert_left_alone(&rig);
    source->ops->await_leave(source, &snapshot);
    wsdbg_snapshot_deinit(&snapshot);
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), 3000000000ull, &snapshot));
    source->ops->close(source); /* it leaves all the same */
    rig_assert_left_alone(&rig);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(rig.gpu->attaches, 2);
    rig_finish(&rig);
}

/* Slots tell of a grid of the process: that is enough until somebody wants more. */
static void kernels_with_probes_are_looked_at_when_that_is_asked_for(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_WHERE_NEEDED);
    struct wsdbg_snapshot snapshot = inspect(source, WSDBG_ATTACH_NS - 1);
    add_recorded_grid(&snapshot);
    rig_ok(source->ops->complete(source, 3000000000ull, &snapshot));
    source->ops->await_leave(source, &snapshot);
    assert_string_equal(snapshot.source, "live");
    assert_int_equal(snapshot.look_count, 2);
    assert_int_equal(snapshot.grid_count, 1); /* the looks' */
    assert_int_equal(snapshot.cta_count, FAKE_DEBUG_SMS);
    assert_non_null(snapshot.record);
    assert_int_equal(snapshot.record->cta_count, 1);
    const struct wsdbg_warp_row *warp = &snapshot.warps[snapshot.ctas[0].warp_first];
    assert_int_equal(warp->history_count, 1);
    assert_true(warp->history_whole && warp->part_count > 0);
    assert_int_equal(snapshot.warps[snapshot.ctas[1].warp_first].history_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    rig_assert_left_alone(&rig);
    source->ops->close(source);
    rig_finish(&rig);
}

static void clear_folder(const char *folder)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* What was looked at is in the recording, and shown from the same moment on. */
static void a_recording_keeps_looks(void **state)
{
    (void)state;
    char folder[] = "/dev/shm/wsdbg-looks-XXXXXX", path[64], session[64];
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source, *recorded;
    uint64_t first_ns, last_ns;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.wsrec", folder);
    session_name(session, sizeof session);
    rig_ok(wsdbg_evidence_open_live(session, folder, WSDBG_ATTACH_ALWAYS, &source));
    const uint64_t begun_ns = wsdbg_attach_clock_ns();
    struct wsdbg_snapshot seen = inspect(source, WSDBG_ATTACH_NS - 1);
    wsdbg_snapshot_deinit(&seen);
    rig_ok(wsdbg_evidence_record(source, path, begun_ns));
    seen = inspect(source, 3000000000ull);
    rig_ok(wsdbg_evidence_record(source, path, begun_ns + 1000000000ull));
    source->ops->close(source);
    rig_ok(wsdbg_evidence_open_recorded(path, &first_ns, &last_ns, &recorded));
    assert_int_equal(last_ns, begun_ns + 1000000000ull);
    struct wsdbg_snapshot snapshot = inspect_at(recorded, begun_ns);
    assert_int_equal(snapshot.look_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    snapshot = inspect_at(recorded, last_ns);
    assert_int_equal(snapshot.look_count, 2);
    assert_int_equal(snapshot.warp_count, seen.warp_count);
    for (size_t i = 0; i < seen.warp_count; i++)
        assert_int_equal(snapshot.warps[i].state, seen.warps[i].state);
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_snapshot_deinit(&seen);
    recorded->ops->close(recorded);
    unlink(path);
    char left[64];
    snprintf(left, sizeof left, "%s/look-%d-1.core", folder, (int)rig.run.pid);
    assert_int_not_equal(access(left, F_OK), 0); /* it is in the recording alone */
    clear_folder(folder);
    rig_finish(&rig);
}

static void assert_is_of(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    size_t grids = 0, looks = 0;
    for (size_t i = 0; i < snapshot->grid_count; i++)
        grids += snapshot->contexts[snapshot->grids[i].context].process_id == process_id;
    for (size_t i = 0; i < snapshot->look_count; i++)
        looks += snapshot->looks[i].process_id == process_id;
    assert_int_equal(grids, 1);
    assert_int_equal(looks, 2);
}

/* Slots of either are dropped before the rows of the first are there. */
static void two_processes_are_looked_at_and_kept_apart(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct rig second = rig_start_beside(&rig);
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
    struct wsdbg_snapshot snapshot = inspect(source, 6000000000ull);
    assert_false(has_note(&snapshot, "could not be read"));
    assert_int_equal(snapshot.grid_count, 2);
    assert_int_equal(snapshot.cta_count, 2 * FAKE_DEBUG_SMS);
    assert_is_of(&snapshot, (uint32_t)rig.run.pid);
    assert_is_of(&snapshot, (uint32_t)second.run.pid);
    for (uint32_t w = 0; w < snapshot.warp_count; w++)
        for (uint32_t p = 0; p < snapshot.warps[w].part_count; p++)
            assert_int_equal(snapshot.parts[snapshot.warps[w].part_first + p].warp, w);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_finish(&second);
    rig_finish(&rig);
}

static void without_time_nothing_is_stopped(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
    struct wsdbg_snapshot snapshot = inspect(source, WSDBG_ATTACH_NS - 1);
    assert_string_equal(snapshot.source, "ring");
    assert_int_equal(snapshot.look_count, 0);
    assert_int_equal(rig.gpu->attaches, 0);
    wsdbg_snapshot_deinit(&snapshot);
    rig_ok(source->ops->poll(source, wsdbg_attach_clock_ns(), &snapshot));
    assert_int_equal(rig.gpu->attaches, 0);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_finish(&rig);
}

static void a_closed_door_is_a_note_and_the_rings_snapshot(void **state)
{
    (void)state;
    struct rig rig = rig_start("CUDA_INJECTION64_PATH=/opt/tool.so");
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
    struct wsdbg_snapshot snapshot = inspect(source, 3000000000ull);
    assert_true(has_note(&snapshot, "CUDA_INJECTION64_PATH is set to /opt/tool.so"));
    assert_int_equal(snapshot.context_count, 1);
    assert_int_equal(snapshot.look_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_finish(&rig);
}

static void a_look_that_breaks_leaves_the_program_alone(void **state)
{
    (void)state;
    static const char *const calls[] = {"suspendDevice", "readWarpState", "resumeDevice", "requestCleanupOnDetach"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char once[] = "/tmp/wsdbg-once-XXXXXX";
        struct rig rig = rig_start(NULL);
        struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
        close(mkstemp(once));
        setenv("FAKE_CUDA_ONCE", once, 1); /* not in the attach watchdog as well */
        setenv("FAKE_CUDA_CRASH", calls[i], 1);
        struct wsdbg_snapshot snapshot = inspect(source, 3000000000ull);
        unsetenv("FAKE_CUDA_CRASH");
        unsetenv("FAKE_CUDA_ONCE");
        assert_int_equal(access(once, F_OK), -1);
        rig_assert_left_alone(&rig);
        wsdbg_snapshot_deinit(&snapshot);
        source->ops->close(source);
        rig_finish(&rig);
    }
}

static void an_ended_program_is_not_looked_at(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source = open_live(WSDBG_ATTACH_ALWAYS);
    struct wsdbg_snapshot snapshot = inspect(source, 3000000000ull);
    assert_int_equal(snapshot.look_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    close(rig.run.in);
    rig.run.in = -1;
    siginfo_t end;
    assert_int_equal(waitid(P_PID, (id_t)rig.run.pid, &end, WEXITED | WNOWAIT), 0);
    snapshot = inspect(source, 3000000000ull);
    assert_int_equal(snapshot.look_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_finish(&rig);
}

static void a_look_that_saw_no_warp_says_why_that_may_be(void **state)
{
    (void)state;
    struct wsdbg_context contexts[] = {
        {.process_id = 7, .alive = true},  {.process_id = 7, .alive = true, .device_ordinal = 1},
        {.process_id = 8, .alive = true},  {.process_id = 8, .alive = true},
        {.process_id = 8, .alive = false},
    };
    struct wsdbg_snapshot snapshot = {.contexts = contexts, .context_count = 5};
    wsdbg_look_note_no_warps(&snapshot, 7);
    wsdbg_look_note_no_warps(&snapshot, 8);
    assert_int_equal(snapshot.note_count, 2);
    assert_string_equal(
        snapshot.notes[0],
        "no warp of process 7 was seen: its kernels had ended, what it waits for is no kernel, or the driver "
        "did not show it");
    assert_string_equal(
        snapshot.notes[1],
        "no warp was seen: process 8 has 2 contexts on one GPU, and then the driver (580) shows none of "
        "their kernels to a debugger that comes later");
    free(snapshot.notes);
}

static void a_launch_newer_than_what_has_passed_may_still_run(void **state)
{
    (void)state;
    struct wsdbg_context context = {
        .process_id = 7, .alive = true, .work_followed = true, .done_launches = wsdbg_known_u64(3)};
    struct wsdbg_launch launches[] = {{.process_id = 7, .sequence = 2}, {.process_id = 7, .sequence = 3}};
    struct wsdbg_snapshot snapshot = {
        .contexts = &context, .context_count = 1, .launches = launches, .launch_count = 2};
    assert_true(wsdbg_look_is_wanted(&snapshot, 7, WSDBG_ATTACH_ALWAYS, false));
    assert_false(wsdbg_look_is_wanted(&snapshot, 7, WSDBG_ATTACH_ALWAYS, true)); /* a dump would end it */
    launches[1].result = 1;                                                      /* refused: it never ran */
    assert_false(wsdbg_look_is_wanted(&snapshot, 7, WSDBG_ATTACH_ALWAYS, false));
    context.unfinished_ns = wsdbg_known_u64(1);
    assert_true(wsdbg_look_is_wanted(&snapshot, 7, WSDBG_ATTACH_ALWAYS, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gpus_own_warps_come_into_the_snapshot),
        cmocka_unit_test(a_look_returns_before_its_inspector_has_left),
        cmocka_unit_test(kernels_with_probes_are_looked_at_when_that_is_asked_for),
        cmocka_unit_test(a_recording_keeps_looks),
        cmocka_unit_test(two_processes_are_looked_at_and_kept_apart),
        cmocka_unit_test(without_time_nothing_is_stopped),
        cmocka_unit_test(a_closed_door_is_a_note_and_the_rings_snapshot),
        cmocka_unit_test(a_look_that_breaks_leaves_the_program_alone),
        cmocka_unit_test(an_ended_program_is_not_looked_at),
        cmocka_unit_test(a_look_that_saw_no_warp_says_why_that_may_be),
        cmocka_unit_test(a_launch_newer_than_what_has_passed_may_still_run),
    };
    return cmocka_run_group_tests_name("live_source", tests, NULL, free_texts);
}
