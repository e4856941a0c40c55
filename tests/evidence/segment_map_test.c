/* segment_map_test.c - objects in /dev/shm that somebody else put there, or that their process cuts short: nothing of
 * another user's is read, and wsdbg lives. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "evidence/segment_map.h"
#include "evidence/source_rig.h"
#include "segment_place.h"

enum { PROCESS = 4711, NOBODY = 65534 };

/* The folder is there. */
static const char *object_path(void)
{
    static char path[SEGMENT_PATH_BYTES];
    snprintf(path, sizeof path, WSDBG_SEGMENT_OWN_FORMAT, session);
    mkdir(path, 0700);
    return segment_place(session, PROCESS, path);
}

static void assert_says(struct wsdbg_error *error, enum wsdbg_error_code code, const char *words)
{
    assert_non_null(error);
    assert_non_null(strstr(wsdbg_error_message(error), words));
    assert_int_equal(wsdbg_error_code(error), code);
    wsdbg_error_destroy(error);
}

static void assert_refused(enum wsdbg_segment_use use, enum wsdbg_error_code code, const char *words)
{
    struct wsdbg_segment_map *map = NULL;
    assert_says(wsdbg_segment_map_open(object_path(), PROCESS, use, &map), code, words);
    assert_null(map);
}

static void assert_refused_both_ways(enum wsdbg_error_code code, const char *words)
{
    assert_refused(WSDBG_SEGMENT_WATCH, code, words);
    assert_refused(WSDBG_SEGMENT_READ, code, words);
}

/* ---- what is no segment of one's own ---- */

static void a_link_to_a_file_is_not_followed(void **state)
{
    (void)state;
    assert_int_equal(symlink("/etc/passwd", object_path()), 0);
    assert_refused_both_ways(WSDBG_ERROR_BAD_INPUT, "no regular file");
}

static void a_file_with_a_second_name_is_not_read(void **state)
{
    struct segment_warp warp;
    char other[SEGMENT_PATH_BYTES + 8];
    (void)state;
    struct segment_writer *writer = one_warp(PROCESS, &warp);
    snprintf(other, sizeof other, "%s.other", object_path());
    assert_int_equal(link(object_path(), other), 0);
    assert_refused_both_ways(WSDBG_ERROR_BAD_INPUT, "has 2 names");
    unlink(other);
    segment_writer_destroy(writer);
}

static void a_pipe_and_a_folder_are_not_read_and_nobody_waits(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(object_path(), 0600), 0);
    alarm(10);
    assert_refused_both_ways(WSDBG_ERROR_BAD_INPUT, "no regular file");
    alarm(0);
    unlink(object_path());
    assert_int_equal(mkdir(object_path(), 0700), 0);
    assert_refused_both_ways(WSDBG_ERROR_BAD_INPUT, "no regular file");
    rmdir(object_path());
}

static void an_empty_object_is_one_that_is_not_filled_yet(void **state)
{
    struct wsdbg_segment_map *map = (void *)1;
    (void)state;
    close(segment_place_create(session, PROCESS));
    assert_null(wsdbg_segment_map_open(object_path(), PROCESS, WSDBG_SEGMENT_WATCH, &map));
    assert_null(map);
}

/* ---- another user's ---- */

static void need_root(void)
{
    if (geteuid() != 0)
        skip(); /* nobody else may make a file of another user's */
}

static void give_away(uid_t user, mode_t mode)
{
    assert_int_equal(chmod(object_path(), mode), 0);
    assert_int_equal(chown(object_path(), user, (gid_t)-1), 0);
}

static void a_good_segment_of_another_user_is_not_read(void **state)
{
    struct segment_warp warp;
    (void)state;
    need_root();
    struct segment_writer *writer = one_warp(PROCESS, &warp);
    give_away(NOBODY, 0666);
    assert_refused_both_ways(WSDBG_ERROR_FOREIGN, "belongs to user 65534: not read");
    segment_writer_destroy(writer);
}

/* In a child that has given up its rights: status 0 = refused as foreign. */
static int opened_by_nobody(void)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        struct wsdbg_segment_map *map = NULL;
        if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(9);
        struct wsdbg_error *error = wsdbg_segment_map_open(object_path(), PROCESS, WSDBG_SEGMENT_READ, &map);
        _exit(!error || wsdbg_error_code(error) != WSDBG_ERROR_FOREIGN);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void another_user_cannot_read_ones_own(void **state)
{
    struct segment_warp warp;
    char folder[SEGMENT_PATH_BYTES];
    (void)state;
    need_root();
    struct segment_writer *writer = one_warp(PROCESS, &warp);
    snprintf(folder, sizeof folder, WSDBG_SEGMENT_OWN_FORMAT, session);
    assert_int_equal(chmod(folder, 0755), 0); /* else already that keeps everybody out */
    assert_int_equal(opened_by_nobody(), 0);
    give_away(0, 0666); /* however readable it is */
    assert_int_equal(opened_by_nobody(), 0);
    segment_writer_destroy(writer);
}

static void a_session_reads_its_own_and_says_how_many_are_not(void **state)
{
    struct segment_warp warp;
    bool is_said = false;
    (void)state;
    need_root();
    struct segment_writer *own = one_warp((uint32_t)getpid(), &warp);
    for (int process = 1; process <= 3; process++) {
        const int fd = segment_place_create(session, process);
        assert_true(fd >= 0);
        assert_int_equal(fchown(fd, NOBODY, (gid_t)-1) | ftruncate(fd, 1 << 20), 0);
        close(fd);
    }
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, MS);
    assert_int_equal(snapshot.context_count, 1);
    for (size_t i = 0; i < snapshot.note_count; i++)
        is_said |= strncmp(snapshot.notes[i], "3 of the files in this session", 30) == 0;
    assert_true(is_said);
    assert_int_equal(snapshot.unread_segments, 3);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(own);
}

/* ---- cut short ---- */

static struct wsdbg_segment_map *open_own(void)
{
    struct wsdbg_segment_map *map = NULL;
    assert_null(wsdbg_segment_map_open(object_path(), PROCESS, WSDBG_SEGMENT_WATCH, &map));
    assert_non_null(map);
    return map;
}

static void what_was_cut_off_reads_as_zeros_and_is_said(void **state)
{
    struct segment_warp warp;
    struct wsdbg_segment_view view;
    struct wsdbg_attach_link attach;
    unsigned sum = 0;
    (void)state;
    struct segment_writer *writer = one_warp(PROCESS, &warp);
    struct wsdbg_segment_map *map = open_own();
    assert_null(wsdbg_segment_map_refresh(map, &view));
    assert_null(wsdbg_segment_map_attach_link(map, &attach));
    assert_int_equal(truncate(object_path(), 0), 0);
    for (size_t i = 0; i < view.byte_count; i++)
        sum += view.bytes[i];
    assert_int_equal(sum, 0);
    wsdbg_segment_map_look(map); /* writes find a page as well */
    wsdbg_attach_hold(&attach, 1000);
    assert_int_equal(attach.row->state, WSDBG_ATTACH_UNSERVED);
    assert_says(wsdbg_segment_map_refresh(map, &view), WSDBG_ERROR_BAD_INPUT, "was shorter for a while");
    assert_int_equal(truncate(object_path(), (off_t)view.byte_count), 0); /* as long as before is not as before */
    assert_says(wsdbg_segment_map_refresh(map, &view), WSDBG_ERROR_BAD_INPUT, "was shorter for a while");
    wsdbg_attach_close(&attach);
    wsdbg_segment_map_close(map);
    segment_writer_destroy(writer);
}

static void a_session_survives_it(void **state)
{
    struct segment_warp warp;
    char own_path[SEGMENT_PATH_BYTES];
    bool is_said = false;
    (void)state;
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    segment_place(session, (int)getpid(), own_path);
    struct wsdbg_evidence *source = open_ring();
    struct wsdbg_snapshot snapshot = poll_at(source, MS);
    assert_int_equal(snapshot.context_count, 1);
    wsdbg_snapshot_deinit(&snapshot);
    assert_int_equal(truncate(own_path, 5000), 0);
    snapshot = poll_at(source, 2 * MS);
    assert_int_equal(snapshot.context_count, 0);
    assert_int_equal(snapshot.launches_total, 1); /* what was seen before stays seen */
    assert_int_equal(snapshot.unread_segments, 1);
    for (size_t i = 0; i < snapshot.note_count; i++)
        is_said |= strstr(snapshot.notes[i], "shrank") != NULL;
    assert_true(is_said);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

/* ---- what passes ---- */

/* Of descriptors. */
static void allow_more(int count)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const int next = dup(0);
    close(next);
    if (count >= 0)
        limit.rlim_cur = (rlim_t)next + (rlim_t)count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void what_could_not_be_opened_is_tried_again(void **state)
{
    struct segment_warp warp;
    struct wsdbg_snapshot snapshot;
    (void)state;
    struct wsdbg_evidence *source = open_ring();
    struct segment_writer *writer = one_warp((uint32_t)getpid(), &warp);
    allow_more(0);
    assert_says(source->ops->poll(source, MS, &snapshot), WSDBG_ERROR_OS, "Too many open files");
    allow_more(1); /* for the segment, and none to follow its process by */
    snapshot = poll_at(source, 2 * MS);
    assert_int_equal(snapshot.context_count, 0);
    assert_int_equal(snapshot.note_count, 1);
    assert_non_null(strstr(snapshot.notes[0], "Too many open files"));
    wsdbg_snapshot_deinit(&snapshot);
    allow_more(-1);
    snapshot = poll_at(source, 3 * MS);
    assert_int_equal(snapshot.context_count, 1);
    assert_true(snapshot.contexts[0].alive);
    assert_int_equal(snapshot.note_count, 0);
    wsdbg_snapshot_deinit(&snapshot);
    source->ops->close(source);
    segment_writer_destroy(writer);
}

/* The handler is for guarded mappings alone. */
static void any_other_bus_error_ends_the_process_as_ever(void **state)
{
    int status;
    struct segment_warp warp;
    (void)state;
    struct segment_writer *writer = one_warp(PROCESS, &warp);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL); /* the test library's own is no concern of ours */
        wsdbg_segment_map_close(open_own());
        const int fd = open(object_path(), O_RDWR);
        volatile unsigned char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        _exit(ftruncate(fd, 0) != 0 || bytes[0] == 0 ? 3 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    segment_writer_destroy(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_link_to_a_file_is_not_followed),
        CASE(a_file_with_a_second_name_is_not_read),
        CASE(a_pipe_and_a_folder_are_not_read_and_nobody_waits),
        CASE(an_empty_object_is_one_that_is_not_filled_yet),
        CASE(a_good_segment_of_another_user_is_not_read),
        CASE(another_user_cannot_read_ones_own),
        CASE(a_session_reads_its_own_and_says_how_many_are_not),
        CASE(what_was_cut_off_reads_as_zeros_and_is_said),
        CASE(a_session_survives_it),
        CASE(what_could_not_be_opened_is_tried_again),
        CASE(any_other_bus_error_ends_the_process_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
