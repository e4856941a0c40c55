/* shim_files_test.c - the files that the observer makes: whole, its user's alone, never in the place of another one,
 * and none stays open; on the fake libcuda. */
#include "harness.h"
#include "segment_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

static void segment_path(pid_t pid, char path[SEGMENT_PATH_BYTES])
{
    char session[64];
    session_name(session, sizeof session);
    segment_place(session, (int)pid, path);
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count || close(fd) != 0)
        _exit(96);
}

static struct run plain_run(const char *scenario, const char *setting)
{
    return (struct run){.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario, .environment = {setting}};
}

/* ---- the segment ---- */

static void every_byte_of_the_segment_has_its_place(void **state)
{
    char path[SEGMENT_PATH_BYTES];
    struct stat status;
    (void)state;
    struct run run = plain_run("basic", NULL);
    run_program(&run);
    segment_path(run.pid, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(status.st_size > (off_t)sizeof(struct wsdbg_segment)); /* slots and histories are there, too */
    assert_true(status.st_blocks * 512 >= status.st_size);
    segment_remove(run.pid);
}

static void write_own_place(const void *bytes, size_t count)
{
    char session[64];
    session_name(session, sizeof session);
    const int fd = segment_place_create(session, (int)getpid());
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count || close(fd) != 0)
        _exit(96);
}

static void make_text(const struct run *run)
{
    (void)run;
    write_own_place("not ours", 8);
}

/* As of a process of that number in another container. */
static void make_neighbours(const struct run *run)
{
    static char header[sizeof(struct wsdbg_segment)];
    (void)run;
    ((struct wsdbg_segment *)(void *)header)->pid_namespace = 1;
    write_own_place(header, sizeof header);
}

static void a_file_that_has_the_segments_name_stays_as_it_is(void **state)
{
    static const struct {
        void (*make)(const struct run *run);
        uint64_t bytes;
    } rows[] = {{make_text, 8}, {make_neighbours, sizeof(struct wsdbg_segment)}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[SEGMENT_PATH_BYTES];
        struct stat status;
        struct wsdbg_segment there = {0};
        struct run run = plain_run("plain", NULL);
        run.before = rows[i].make;
        run_program(&run);
        assert_exit(&run, 0);
        assert_non_null(strstr(run.errors, "File exists\n"));
        segment_path(run.pid, path);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, rows[i].bytes);
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_int_equal(pread(fd, &there, sizeof there, 0), rows[i].bytes);
        close(fd);
        assert_memory_equal(&there, i == 0 ? "not ours" : "\0\0\0\0\0\0\0", 8);
        assert_int_equal(there.left_ns, 0);
        unlink(path);
    }
}

static void open_own_folder(const struct run *run)
{
    char session[64], folder[128];
    (void)run;
    session_name(session, sizeof session);
    snprintf(folder, sizeof folder, WSDBG_SEGMENT_OWN_FORMAT, session);
    mkdir(folder, 0700);
    if (chmod(folder, 0777) != 0)
        _exit(96);
}

static void a_folder_in_which_others_can_take_names_is_not_used(void **state)
{
    (void)state;
    struct run run = plain_run("plain", NULL);
    run.before = open_own_folder;
    run_program(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.errors, "is not this user's alone\n"));
    assert_null(segment_of(run.pid));
    segment_remove(run.pid); /* with the folder */
}

/* A program that closes all descriptors and opens its own must not get the observer's writes into its files. */
static void no_file_of_the_observers_stays_open(void **state)
{
    char folder[64];
    (void)state;
    struct run run = plain_run("basic", NULL);
    run_and_look(&run);
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)run.pid);
    DIR *open_files = opendir(folder);
    assert_non_null(open_files);
    for (struct dirent *entry; (entry = readdir(open_files));) {
        char path[256] = "";
        if (readlinkat(dirfd(open_files), entry->d_name, path, sizeof path - 1) > 0)
            assert_null(strstr(path, "/dev/shm/wsdbg"));
    }
    closedir(open_files);
    run_finish(&run);
    segment_remove(run.pid);
}

static void a_session_that_is_over_gets_no_segment(void **state)
{
    (void)state;
    struct run run = plain_run("plain", "WSDBG_SPOOL=/tmp/wsdbg-no-such-folder"), bare = run;
    bare.without_shim = true;
    run_program(&run);
    run_program(&bare);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    assert_string_equal(run.output, bare.output);
    assert_null(segment_of(run.pid));
}

/* ---- images ---- */

struct spool {
    char folder[32], setting[48], image[80], bytes[48];
};

static struct spool make_spool(uint64_t image_bytes)
{
    struct spool spool = {.folder = "/tmp/wsdbg-spool-XXXXXX"};
    assert_non_null(mkdtemp(spool.folder));
    snprintf(spool.setting, sizeof spool.setting, "WSDBG_SPOOL=%s", spool.folder);
    snprintf(spool.bytes, sizeof spool.bytes, "APP_IMAGE_BYTES=%llu", (unsigned long long)image_bytes);
    return spool;
}

static const struct wsdbg_module_row *load_image(struct spool *spool, struct run *run)
{
    *run = (struct run){.program = SHIM_APP_DYNAMIC,
                        .mode = "dlsym",
                        .scenario = "large-image",
                        .environment = {spool->setting, spool->bytes},
                        .file_size_limit_bytes = run->file_size_limit_bytes,
                        .before = run->before};
    run_program(run);
    assert_exit(run, 0);
    snprintf(spool->image, sizeof spool->image, "%s/%d-0.image", spool->folder, (int)run->pid);
    const struct wsdbg_segment *segment = segment_of(run->pid);
    assert_non_null(segment);
    assert_int_equal(segment->launch_count, 1);
    segment_remove(run->pid);
    return &segment->modules[0];
}

static void images_are_kept_up_to_a_size(void **state)
{
    static const struct {
        uint64_t bytes;
        bool kept;
    } rows[] = {{8 * MIB, true}, {8 * MIB + 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stat status;
        struct run run = {0};
        struct spool spool = make_spool(rows[i].bytes);
        const struct wsdbg_module_row *row = load_image(&spool, &run);
        assert_int_equal(row->image_bytes, rows[i].bytes);
        assert_int_equal(row->image_kept, rows[i].kept);
        assert_int_equal(stat(spool.image, &status) == 0, rows[i].kept);
        assert_true(!rows[i].kept || (uint64_t)status.st_size == rows[i].bytes);
        unlink(spool.image);
        assert_int_equal(rmdir(spool.folder), 0);
    }
}

/* The segment fits, the image does not: SIGXFSZ would end the program. */
static void an_image_beyond_the_limit_of_file_sizes_is_not_kept(void **state)
{
    struct run run = {.file_size_limit_bytes = 5 * MIB};
    struct spool spool = make_spool(6 * MIB);
    (void)state;
    assert_int_equal(load_image(&spool, &run)->image_kept, 0);
    assert_int_equal(rmdir(spool.folder), 0); /* nothing is left of it */
}

static void make_image(const struct run *run)
{
    char path[128], victim[128];
    const char *folder = run->environment[0] + strlen("WSDBG_SPOOL=");
    snprintf(path, sizeof path, "%s/%d-0.image", folder, (int)getpid());
    snprintf(victim, sizeof victim, "%s/victim", folder);
    write_file(victim, "not ours", 8);
    if (symlink(victim, path) != 0)
        _exit(96);
}

static void a_file_that_has_an_images_name_stays_as_it_is(void **state)
{
    char victim[64];
    struct run run = {.before = make_image};
    struct spool spool = make_spool(100);
    (void)state;
    assert_int_equal(load_image(&spool, &run)->image_kept, 0);
    snprintf(victim, sizeof victim, "%s/victim", spool.folder);
    assert_string_equal(file_text(victim), "not ours");
    unlink(victim);
    unlink(spool.image);
    assert_int_equal(rmdir(spool.folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_the_segment_has_its_place),
        cmocka_unit_test(a_file_that_has_the_segments_name_stays_as_it_is),
        cmocka_unit_test(a_folder_in_which_others_can_take_names_is_not_used),
        cmocka_unit_test(no_file_of_the_observers_stays_open),
        cmocka_unit_test(a_session_that_is_over_gets_no_segment),
        cmocka_unit_test(images_are_kept_up_to_a_size),
        cmocka_unit_test(an_image_beyond_the_limit_of_file_sizes_is_not_kept),
        cmocka_unit_test(a_file_that_has_an_images_name_stays_as_it_is),
    };
    return cmocka_run_group_tests_name("shim_files", tests, NULL, free_texts);
}
