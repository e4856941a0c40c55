/* live_turn_test.c - at most one inspector is attached on each GPU (on the fake driver).  The others are refused, the
 * user is told why, and no program waits. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/evidence.h"
#include "evidence/gpu_wishes.h"
#include "evidence/live_helpers.h"
#include "evidence/live_rig.h"

#define LOOK_NS 6000000000ull
static const char taken[] = "an inspector of wsdbg's is attached to another program on the same GPU (/dev/nvidia3)";
static char device_file[96], other_device_file[96]; /* /dev/nvidia3 and /dev/nvidia4 */
static char root[] = "/tmp/wsdbg-devices-XXXXXX", other_root[] = "/tmp/wsdbg-devices-XXXXXX";

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Device files such as the driver's, of one GPU with that number. */
static bool make_gpu(char *folder, int minor, char *device, size_t size)
{
    static const char *const folders[] = {
        "proc", "proc/driver", "proc/driver/nvidia", "proc/driver/nvidia/gpus", "proc/driver/nvidia/gpus/0000:f0:00.0",
        "dev"};
    char path[128], text[128];
    bool good = mkdtemp(folder) != NULL;
    for (size_t i = 0; good && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        good = mkdir(path, 0700) == 0;
    }
    snprintf(device, size, "%s/dev/nvidia%d", folder, minor);
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/0000:f0:00.0/information", folder);
    snprintf(text, sizeof text, "Model: \t\t Fake GPU\nBus Location: \t 0000:f0:00.0\nDevice Minor: \t %d\n", minor);
    return good && write_text(device, "") && write_text(path, text);
}

/* For every program of this test. */
static int make_device_files(void **state)
{
    (void)state;
    return make_gpu(root, 3, device_file, sizeof device_file) &&
                   make_gpu(other_root, 4, other_device_file, sizeof other_device_file) &&
                   setenv(WSDBG_ENV_DEVICE_FILES, root, 1) == 0
               ? 0
               : -1;
}

static int remove_device_files(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s' '%s'", root, other_root);
    return system(command);
}

/* Somebody's of whom nothing is known but that they have the GPU; -1 = they do not get it. */
static int take(const char *device)
{
    int fd = open(device, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

static int take_device_file(void)
{
    return take(device_file);
}

/* A child that was made a moment ago may not have run yet; what it does not let go of it keeps for 5 s. */
static void assert_free(void)
{
    int fd = -1;
    for (int tries = 0; tries < 300 && (fd = take_device_file()) < 0; tries++)
        usleep(10000);
    assert_true(fd >= 0);
    close(fd);
}

static void finish(struct rig *rig)
{
    rig_finish(rig);
    helpers_assert(rig, 0);
}

static void a_second_program_is_refused_until_the_first_is_left(void **state)
{
    (void)state;
    struct rig first = rig_start(NULL);
    struct rig second = rig_start_beside(&first);
    rig_ok(rig_stay(&first));
    rig_says(rig_stay(&second), taken);
    rig_says(rig_step(&second, RIG_ATTACH), taken);
    assert_int_equal(second.attach.row->obstacle, WSDBG_OBSTACLE_TAKEN);
    assert_int_equal(first.gpu->attaches, 1);
    helpers_assert_obeys(&second, "ls");
    assert_int_equal(second.attach.row->waited_ns, 0);
    helpers_assert_obeys(&first, "ls");
    rig_ok(wsdbg_live_machine_detach(first.machine));
    rig_ok(rig_stay(&second));
    assert_int_equal(take_device_file(), -1);
    rig_ok(wsdbg_live_machine_detach(second.machine));
    assert_free();
    rig_finish(&second);
    finish(&first);
}

static void somebody_elses_lock_refuses_and_the_end_of_a_program_gives_its_own_back(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    int fd = take_device_file();
    rig_says(rig_stay(&rig), taken);
    close(fd);
    rig_ok(rig_stay(&rig));
    assert_int_equal(take_device_file(), -1);
    finish(&rig);
    assert_free();
}

/* ... also where its parent had no time to give it back; made by fork() and not. */
static void a_child_does_not_keep_it(void **state)
{
    static const char *const ways[] = {"k", "x"};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rig rig = rig_start(NULL);
        rig_ok(rig_stay(&rig));
        helpers_assert_obeys(&rig, ways[i]);
        assert_int_equal(take_device_file(), -1);
        kill(rig.run.pid, SIGKILL);
        waitpid(rig.run.pid, NULL, 0);
        assert_free();
        rig.machine->ops->close(rig.machine);
        segment_remove(rig.run.pid);
        wsdbg_attach_close(&rig.attach);
    }
}

/* The program's stderr is closed before the device file is opened. */
static void it_takes_no_stream_that_the_program_has_closed(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    helpers_assert_obeys(&rig, "z");
    rig_ok(rig_stay(&rig));
    assert_int_equal(take_device_file(), -1);
    helpers_assert_obeys(&rig, "z");
    assert_non_null(strstr(rig.run.output, "stderr was closed\n"));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    assert_free();
    finish(&rig);
}

/* Between the death of an inspector over a stopped GPU and its attach watchdog's coming nobody else gets in. */
static void it_is_kept_for_the_attach_watchdog(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig_ok(rig_stay(&rig));
    rig_ok(rig_step(&rig, RIG_SUSPEND));
    kill(helpers_inspector(&rig), SIGKILL);
    while (rig.gpu->suspended || rig.gpu->attached) {
        assert_int_equal(take_device_file(), -1);
        usleep(1000);
    }
    rig_assert_left_alone(&rig);
    helpers_assert(&rig, 0);
    assert_int_equal(rig.gpu->attaches, 2);
    assert_free();
    finish(&rig);
}

static void without_its_file_a_gpu_is_looked_at_without_a_lock(void **state)
{
    char other[128];
    (void)state;
    snprintf(other, sizeof other, "%s.other", device_file);
    assert_int_equal(rename(device_file, other), 0);
    struct rig rig = rig_start(NULL);
    rig_ok(rig_stay(&rig));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    finish(&rig);
    assert_int_equal(rename(other, device_file), 0);
}

/* ---- a whole session ---- */

static void attend(struct wsdbg_evidence *source, char *line, size_t size)
{
    struct wsdbg_snapshot snapshot;
    const uint64_t now_ns = wsdbg_attach_clock_ns();
    rig_ok(source->ops->poll(source, now_ns, &snapshot));
    source->ops->attend(source, &snapshot, now_ns, false, line, size);
    wsdbg_snapshot_deinit(&snapshot);
}

static struct wsdbg_evidence *open_source(void)
{
    char session[64];
    struct wsdbg_evidence *source;
    session_name(session, sizeof session);
    rig_ok(wsdbg_evidence_open_live(session, NULL, WSDBG_ATTACH_ALWAYS, &source));
    return source;
}

/* The one that an inspector stays at is left for as long as the other one is looked at. */
static void two_programs_of_a_session_are_both_looked_at(void **state)
{
    struct wsdbg_snapshot snapshot;
    char line[256] = "";
    bool is_told = false;
    (void)state;
    struct rig first = rig_start(NULL);
    struct rig second = rig_start_beside(&first);
    struct wsdbg_evidence *source = open_source();
    for (int i = 0; i < 100; i++, usleep(20000)) {
        attend(source, line, sizeof line);
        is_told |= strstr(line, taken) != NULL;
    }
    assert_int_equal(first.attach.row->stays + second.attach.row->stays, 1);
    assert_true(is_told);
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    assert_int_equal(snapshot.look_count, 4);
    assert_int_equal(snapshot.grid_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_finish(&second);
    finish(&first);
}

/* ... of two programs, and two looks at each. */
static void look_at_both(struct rig *first, struct rig *second)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_evidence *source = open_source();
    usleep(300000); /* who comes in waits for a context that was just made */
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    assert_int_equal(snapshot.look_count, 4);
    assert_int_equal(snapshot.grid_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_assert_left_alone(first);
    rig_assert_left_alone(second);
    assert_int_equal(first->gpu->attaches, 1);
    assert_int_equal(second->gpu->attaches, 1);
}

static bool were_attached_together(const struct rig *first, const struct rig *second)
{
    return first->gpu->attached_ns < second->gpu->left_ns && second->gpu->attached_ns < first->gpu->left_ns;
}

/* On a busy machine one look may be over before the other begins: it is enough that they once were together. */
static void programs_on_their_own_gpus_are_looked_at_together(void **state)
{
    bool together = false;
    (void)state;
    for (int i = 0; i < 10 && !together; i++) {
        struct rig first = rig_start(NULL);
        setenv(WSDBG_ENV_DEVICE_FILES, other_root, 1);
        struct rig second = rig_start_on_another_gpu(&first);
        setenv(WSDBG_ENV_DEVICE_FILES, root, 1);
        look_at_both(&first, &second);
        together = were_attached_together(&first, &second);
        rig_finish(&second);
        finish(&first);
    }
    assert_true(together);
}

static void programs_on_one_gpu_are_looked_at_one_after_the_other(void **state)
{
    (void)state;
    struct rig first = rig_start(NULL);
    struct rig second = rig_start_on_another_gpu(&first); /* by its device file it is the same */
    look_at_both(&first, &second);
    assert_false(were_attached_together(&first, &second));
    rig_finish(&second);
    finish(&first);
}

static void programs_whose_gpus_cannot_be_locked_are_looked_at_one_after_the_other(void **state)
{
    (void)state;
    setenv(WSDBG_ENV_DEVICE_FILES, "/nonexistent", 1);
    struct rig first = rig_start(NULL);
    struct rig second = rig_start_on_another_gpu(&first);
    setenv(WSDBG_ENV_DEVICE_FILES, root, 1);
    look_at_both(&first, &second);
    assert_false(were_attached_together(&first, &second));
    rig_finish(&second);
    finish(&first);
}

/* What is in the way at one is said, and the other one is looked at all the same. */
static void one_that_refuses_keeps_nobody_from_the_other(void **state)
{
    struct wsdbg_snapshot snapshot;
    bool is_said = false;
    (void)state;
    struct rig first = rig_start("FAKE_DEBUG_REFUSES=1");
    setenv(WSDBG_ENV_DEVICE_FILES, other_root, 1);
    struct rig second = rig_start_on_another_gpu(&first);
    setenv(WSDBG_ENV_DEVICE_FILES, root, 1);
    struct wsdbg_evidence *source = open_source();
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    for (size_t i = 0; i < snapshot.note_count; i++)
        is_said |= strstr(snapshot.notes[i], "the driver refuses to let a debugger in") != NULL;
    assert_true(is_said);
    assert_int_equal(snapshot.look_count, 2);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    rig_assert_left_alone(&first);
    rig_assert_left_alone(&second);
    rig_finish(&second);
    finish(&first);
}

/* Another program holds that GPU, and this session cannot make it leave. */
static void one_on_another_gpu_stays(void **state)
{
    struct wsdbg_snapshot snapshot;
    char line[256];
    (void)state;
    struct rig first = rig_start(NULL);
    struct wsdbg_evidence *source = open_source();
    for (int i = 0; i < 100 && !first.attach.row->stays; i++, usleep(20000))
        attend(source, line, sizeof line);
    setenv(WSDBG_ENV_DEVICE_FILES, other_root, 1);
    struct rig second = rig_start_beside(&first);
    setenv(WSDBG_ENV_DEVICE_FILES, root, 1);
    int fd = take(other_device_file);
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    assert_int_equal(first.attach.row->held_gpus, 1u << 3);
    assert_int_equal(second.attach.row->taken_gpu, 1 + 4);
    assert_int_equal(first.attach.row->stays, 1);
    assert_int_equal(snapshot.look_count, 2);
    assert_true(snapshot.looks[0].held_nothing_back);
    wsdbg_snapshot_deinit(&snapshot);
    close(fd);
    source->ops->close(source);
    rig_finish(&second);
    finish(&first);
}

/* Whether some wsdbg waits for the GPU. */
static bool is_wished(void)
{
    struct wsdbg_gpu_wishes others = {0};
    const bool is_wished = wsdbg_gpu_is_wished(&others, 1u << 3);
    wsdbg_gpu_wishes_deinit(&others);
    return is_wished;
}

/* A wsdbg that waits holds its lock for so long after each look that was refused. */
static void a_wish_is_over_after_15_seconds(void **state)
{
    const uint64_t began_ns = wsdbg_attach_clock_ns(), second_ns = 1000000000;
    struct wsdbg_gpu_wishes wishes = {0};
    (void)state;
    assert_false(is_wished());
    wsdbg_gpu_wish(&wishes, 3, began_ns);
    wsdbg_gpu_wishes_drop_old(&wishes, began_ns + 14 * second_ns);
    assert_true(is_wished());
    wsdbg_gpu_wishes_drop_old(&wishes, began_ns + 16 * second_ns);
    assert_false(is_wished());
    wsdbg_gpu_wishes_deinit(&wishes);
}

/* Another wsdbg waits for the GPU of an idle program: its inspector leaves, and none comes meanwhile. */
static void an_idle_program_is_left_for_another_wsdbg(void **state)
{
    struct wsdbg_gpu_wishes others = {0};
    char line[256], session[64];
    struct wsdbg_evidence *source;
    (void)state;
    struct rig rig = rig_start_before_launch(NULL);
    session_name(session, sizeof session);
    rig_ok(wsdbg_evidence_open_live(session, NULL, WSDBG_ATTACH_WHERE_NEEDED, &source));
    for (int i = 0; i < 200 && !rig.attach.row->stays; i++, usleep(20000))
        attend(source, line, sizeof line);
    assert_int_equal(rig.attach.row->stays, 1);
    wsdbg_gpu_wish(&others, 3, wsdbg_attach_clock_ns());
    for (int i = 0; i < 200 && rig.attach.row->held_gpus; i++, usleep(20000))
        attend(source, line, sizeof line);
    assert_int_equal(rig.attach.row->held_gpus, 0);
    for (int i = 0; i < 50; i++, usleep(20000))
        attend(source, line, sizeof line);
    assert_int_equal(rig.attach.row->stays, 0);
    assert_int_equal(rig.gpu->attaches, 1);
    wsdbg_gpu_wishes_deinit(&others);
    rig_assert_left_alone(&rig);
    source->ops->close(source);
    finish(&rig);
}

static void a_look_that_must_not_be_is_a_note(void **state)
{
    struct wsdbg_snapshot snapshot;
    bool is_said = false;
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_evidence *source = open_source();
    int fd = take_device_file();
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    for (size_t i = 0; i < snapshot.note_count; i++)
        is_said |= strstr(snapshot.notes[i], taken) != NULL;
    assert_true(is_said);
    assert_true(source->ops->was_taken(source));
    assert_true(is_wished());
    assert_int_equal(snapshot.look_count, 0);
    assert_int_equal(rig.gpu->attaches, 0);
    wsdbg_snapshot_deinit(&snapshot);
    close(fd);
    rig_ok(source->ops->inspect(source, wsdbg_attach_clock_ns(), LOOK_NS, &snapshot));
    assert_int_equal(snapshot.look_count, 2);
    assert_false(source->ops->was_taken(source));
    assert_false(is_wished());
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_program_is_refused_until_the_first_is_left),
        cmocka_unit_test(somebody_elses_lock_refuses_and_the_end_of_a_program_gives_its_own_back),
        cmocka_unit_test(a_child_does_not_keep_it),
        cmocka_unit_test(it_takes_no_stream_that_the_program_has_closed),
        cmocka_unit_test(it_is_kept_for_the_attach_watchdog),
        cmocka_unit_test(without_its_file_a_gpu_is_looked_at_without_a_lock),
        cmocka_unit_test(two_programs_of_a_session_are_both_looked_at),
        cmocka_unit_test(programs_on_their_own_gpus_are_looked_at_together),
        cmocka_unit_test(programs_on_one_gpu_are_looked_at_one_after_the_other),
        cmocka_unit_test(programs_whose_gpus_cannot_be_locked_are_looked_at_one_after_the_other),
        cmocka_unit_test(one_that_refuses_keeps_nobody_from_the_other),
        cmocka_unit_test(one_on_another_gpu_stays),
        cmocka_unit_test(a_look_that_must_not_be_is_a_note),
        cmocka_unit_test(a_wish_is_over_after_15_seconds),
        cmocka_unit_test(an_idle_program_is_left_for_another_wsdbg),
    };
    return cmocka_run_group_tests(tests, make_device_files, remove_device_files);
}
