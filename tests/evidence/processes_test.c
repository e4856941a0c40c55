/* processes_test.c - processes that come, go, or become other programs: what is shown of them, and what stays behind.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/ring_processes.h"
#include "evidence/source_rig.h"
#include "segment_place.h"

/* Above any number that the kernel gives. */
enum { NOBODYS = 2000000000 };

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static bool has_file(uint32_t process_id)
{
    char path[SEGMENT_PATH_BYTES];
    segment_place(session, (int)process_id, path);
    return access(path, F_OK) == 0;
}

static bool has_note(const struct wsdbg_snapshot *snapshot, const char *words)
{
    for (size_t i = 0; i < snapshot->note_count; i++)
        if (strstr(snapshot->notes[i], words))
            return true;
    return false;
}

static bool shows_process(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->context_count; i++)
        if (snapshot->contexts[i].process_id == process_id)
            return true;
    return false;
}

static void what_an_ended_process_left_is_kept_and_its_file_is_not(void **state)
{
    struct segment_warp warp;
    (void)state;
    struct wsdbg_evidence *source = open_ring();
    struct segment_writer *writer = one_warp(NOBODYS, &warp);
    const int before = open_descriptors();
    for (uint64_t look = 1; look <= 3; look++) {
        struct wsdbg_snapshot snapshot = poll_at(source, look * MS);
        assert_int_equal(snapshot.context_count, 1);
        assert_string_equal(snapshot.functions[0].name, "kernel");
        assert_int_equal(snapshot.launches_total, 1);
        assert_false(snapshot.contexts[0].alive);
        wsdbg_snapshot_deinit(&snapshot);
        assert_int_equal(open_descriptors(), before);
        assert_false(has_file(NOBODYS));
    }
    source->ops->close(source);
    segment_writer_destroy(writer);
}

static void of_many_only_the_newest_are_shown_and_all_are_counted(void **state)
{
    enum { MANY = WSDBG_RING_ENDED_KEPT + 50 };
    struct segment_warp warp;
    (void)state;
    struct wsdbg_evidence *source = open_ring();
    const int before = open_descriptors();
    for (uint32_t i = 1; i <= MANY; i++) {
        struct segment_writer *writer = one_warp(NOBODYS + i, &warp);
        segment_writer_segment(writer)->created_ns = i * MS;
        struct wsdbg_snapshot snapshot = poll_at(source, i * MS);
        assert_int_equal(snapshot.launches_total, i);
        assert_true(shows_process(&snapshot, NOBODYS + i));
        assert_int_equal(snapshot.context_count, i < WSDBG_RING_ENDED_KEPT ? i : WSDBG_RING_ENDED_KEPT);
        wsdbg_snapshot_deinit(&snapshot);
        segment_writer_destroy(writer);
    }
    struct wsdbg_snapshot snapshot = poll_at(source, MANY * MS);
    assert_true(has_note(&snapshot, "50 processes that ended are counted only, with 50 launches"));
    assert_int_equal(snapshot.unread_segments, 0);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(open_descriptors(), before);
    source->ops->close(source);
}

static void a_recording_of_many_can_be_read(void **state)
{
    enum { MANY = WSDBG_RING_ENDED_KEPT + 10 };
    struct segment_warp warp;
    uint64_t first_ns, last_ns;
    (void)state;
    struct wsdbg_evidence *source = open_ring(), *again;
    for (uint32_t i = 1; i <= MANY; i++) {
        struct segment_writer *writer = one_warp(NOBODYS + i, &warp);
        segment_writer_segment(writer)->created_ns = i * MS;
        struct wsdbg_snapshot snapshot = poll_at(source, i * MS);
        wsdbg_snapshot_deinit(&snapshot);
        assert_null(wsdbg_evidence_record(source, recording, i * MS));
        segment_writer_destroy(writer);
    }
    source->ops->close(source);
    assert_null(wsdbg_evidence_open_recorded(recording, &first_ns, &last_ns, &again));
    struct wsdbg_snapshot snapshot = poll_at(again, last_ns);
    assert_int_equal(snapshot.context_count, WSDBG_RING_ENDED_KEPT);
    assert_true(shows_process(&snapshot, NOBODYS + MANY));
    wsdbg_snapshot_deinit(&snapshot);
    again->ops->close(again);
}

static void a_number_that_comes_again_is_another_process(void **state)
{
    struct segment_warp warp;
    (void)state;
    struct wsdbg_evidence *source = open_ring();
    struct segment_writer *first = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_snapshot snapshot = poll_at(source, MS);
    assert_int_equal(snapshot.function_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_destroy(first);
    struct segment_writer *second = one_warp((uint32_t)getpid(), &warp);
    segment_writer_function(second, 0, "second", 32);
    snapshot = poll_at(source, 2 * MS);
    assert_int_equal(snapshot.context_count, 1);
    assert_int_equal(snapshot.function_count, 2);
    assert_int_equal(snapshot.launches_total, 2);
    assert_true(snapshot.contexts[0].alive);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(second);
}

static void what_a_program_did_before_it_became_another_counts_once(void **state)
{
    static const bool was_watched[] = {false, true};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct segment_warp warp;
        char path[SEGMENT_PATH_BYTES], left[SEGMENT_PATH_BYTES + 16];
        fresh_names(NULL);
        struct wsdbg_evidence *source = open_ring();
        struct segment_writer *first = one_warp((uint32_t)getpid(), &warp);
        if (was_watched[i]) {
            struct wsdbg_snapshot snapshot = poll_at(source, MS);
            assert_int_equal(snapshot.launches_total, 1);
            wsdbg_snapshot_deinit(&snapshot);
        }
        segment_place(session, (int)getpid(), path);
        snprintf(left, sizeof left, "%s" WSDBG_SEGMENT_LEFT "1", path);
        assert_int_equal(rename(path, left), 0);
        struct segment_writer *second = one_warp((uint32_t)getpid(), &warp);
        for (uint64_t look = 2; look <= 4; look++) {
            struct wsdbg_snapshot snapshot = poll_at(source, look * MS);
            assert_int_equal(snapshot.context_count, 1);
            assert_int_equal(snapshot.launches_total, 2);
            wsdbg_snapshot_deinit(&snapshot);
        }
        assert_int_not_equal(access(left, F_OK), 0);
        source->ops->close(source);
        segment_writer_destroy(first);
        segment_writer_destroy(second);
    }
}

/* wsdbg may look late. */
static void what_it_launched_after_the_last_look_counts_too(void **state)
{
    struct segment_warp warp;
    char path[SEGMENT_PATH_BYTES], left[SEGMENT_PATH_BYTES + 16];
    (void)state;
    fresh_names(NULL);
    struct wsdbg_evidence *source = open_ring();
    struct segment_writer *first = one_warp((uint32_t)getpid(), &warp);
    struct wsdbg_snapshot snapshot = poll_at(source, MS);
    assert_int_equal(snapshot.launches_total, 1);
    wsdbg_snapshot_deinit(&snapshot);
    segment_writer_segment(first)->launch_count += 4;
    segment_place(session, (int)getpid(), path);
    snprintf(left, sizeof left, "%s" WSDBG_SEGMENT_LEFT "1", path);
    assert_int_equal(rename(path, left), 0);
    struct segment_writer *second = one_warp((uint32_t)getpid(), &warp);
    snapshot = poll_at(source, 2 * MS);
    assert_int_equal(snapshot.launches_total, 6);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(first);
    segment_writer_destroy(second);
}

static void a_process_that_is_another_program_by_now_runs_nothing(void **state)
{
    struct stat own;
    (void)state;
    assert_int_equal(stat("/proc/self/exe", &own), 0);
    const struct {
        uint64_t device, inode, left_ns;
        bool alive;
    } identities[] = {
        {0, 0, 0, true},                         /* of an older observer */
        {own.st_dev, own.st_ino, 0, true},       /* the same, whatever its file is called by now */
        {own.st_dev, own.st_ino + 1, 0, false},  /* it executed another one, without an observer */
        {own.st_dev, own.st_ino, 5 * MS, false}, /* it did, and that one's observer said so */
    };
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        struct segment_warp warp;
        fresh_names(NULL);
        struct wsdbg_evidence *source = open_ring();
        struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
        struct wsdbg_segment *segment = segment_writer_segment(writer);
        segment->program_device = identities[i].device;
        segment->program_inode = identities[i].inode;
        segment->left_ns = identities[i].left_ns;
        struct wsdbg_snapshot snapshot = poll_at(source, 10 * MS);
        assert_int_equal(snapshot.context_count, 1);
        assert_int_equal(snapshot.contexts[0].alive, identities[i].alive);
        wsdbg_snapshot_deinit(&snapshot);
        source->ops->close(source);
        segment_writer_destroy(writer);
    }
}

static void a_segment_in_the_sessions_folder_is_found(void **state)
{
    char folder[] = "/tmp/wsdbg-test.XXXXXX", segments[64], from[SEGMENT_PATH_BYTES], to[160];
    struct segment_warp warp;
    struct wsdbg_evidence *source;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(segments, sizeof segments, "%s/" WSDBG_SEGMENT_SPOOLED, folder);
    assert_int_equal(mkdir(segments, 0700), 0);
    struct segment_writer *writer = one_warp(NOBODYS, &warp);
    segment_place(session, NOBODYS, from);
    snprintf(to, sizeof to, "%s" WSDBG_SEGMENT_NAME_FORMAT, segments, session, NOBODYS);
    struct wsdbg_segment *segment = segment_writer_segment(writer);
    FILE *file = fopen(to, "w");
    assert_int_equal(fwrite(segment, 1, segment_writer_bytes(writer), file), segment_writer_bytes(writer));
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    fclose(file);
    unlink(from);
    assert_null(wsdbg_evidence_open_ring(session, folder, &source));
    struct wsdbg_snapshot snapshot = poll_at(source, MS);
    assert_int_equal(snapshot.context_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_not_equal(access(to, F_OK), 0);
    source->ops->close(source);
    segment_writer_destroy(writer);
    wsdbg_ring_unlink(session, folder);
    rmdir(segments);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_an_ended_process_left_is_kept_and_its_file_is_not),
        CASE(of_many_only_the_newest_are_shown_and_all_are_counted),
        CASE(a_recording_of_many_can_be_read),
        CASE(a_number_that_comes_again_is_another_process),
        CASE(what_a_program_did_before_it_became_another_counts_once),
        CASE(what_it_launched_after_the_last_look_counts_too),
        CASE(a_process_that_is_another_program_by_now_runs_nothing),
        CASE(a_segment_in_the_sessions_folder_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
