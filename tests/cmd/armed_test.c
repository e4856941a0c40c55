/* armed_test.c - which files in the folder of armed processes are theirs, and which of them are removed. */
#include "program/armed.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64]; /* of armed processes, 0700 */
static struct wsdbg_armed_place place;
static unsigned ended, living; /* processes */

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void put(const char *name)
{
    const int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static const char *segment_name(unsigned process)
{
    static char name[128];
    snprintf(name, sizeof name, "segments/wsdbg.%s.%u", place.session, process);
    return name;
}

/* Tables of a process that began at that time, in the namespace `namespace`. */
static void put_segment(unsigned process, uint64_t start_ticks, uint64_t namespace)
{
    struct wsdbg_segment *segment = calloc(1, sizeof *segment);
    assert_non_null(segment);
    segment->fixed_bytes = sizeof *segment;
    segment->pid_namespace = namespace;
    segment->start_ticks = start_ticks;
    const int fd = open(in_folder(segment_name(process)), O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, segment, sizeof *segment), sizeof *segment);
    close(fd);
    free(segment);
}

/* Field 22 of its stat; no name of these processes has a space. */
static uint64_t start_ticks_of(pid_t process)
{
    char path[64];
    unsigned long long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int field = 1; field < 22; field++)
        assert_int_equal(fscanf(file, "%*s"), 0);
    assert_int_equal(fscanf(file, "%llu", &ticks), 1);
    fclose(file);
    return ticks;
}

static uint64_t own_namespace(void)
{
    struct stat status;
    assert_int_equal(stat("/proc/self/ns/pid", &status), 0);
    return status.st_ino;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/wsdbg-armed-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(in_folder("segments"), 0700), 0);
    assert_null(wsdbg_armed_place(folder, &place));
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    ended = (unsigned)child;
    living = (unsigned)getpid();
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void knows_the_files_of_a_process_by_their_names(void **state)
{
    static const struct {
        const char *name;
        unsigned long process;
    } files[] = {
        {"4711-3.image", 4711},
        {"4711-refused-0.image", 4711},
        {"4711.off", 4711},
        {"4711.attach", 4711},
        {"state-4711-00007f0012345678", 4711},
        {"works-4711-00007f0012345678", 4711},
        {"state-4711-00007f0012345678.new", 4711},
        {"state-4711-00007f00", 0},
        {"state-4711-00007f0012345678.txt", 0},
        {"4711-notes.txt", 0},
        {"4711.log", 0},
        {"4711-.image", 0},
        {"4711-a.image", 0},
        {"4711.image", 0},
        {"4711-3.image.gz", 0},
        {"2024-05-01.csv", 0},
        {"state-4711.txt", 0},
        {"0-3.image", 0},
        {"99999999999-3.image", 0},
        {"segments", 0},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (wsdbg_armed_file_process(files[i].name) != files[i].process)
            fail_msg("%s is taken for process %lu's", files[i].name, wsdbg_armed_file_process(files[i].name));
}

static void removes_what_a_process_left_that_has_ended(void **state)
{
    char image[64], notes[64];
    (void)state;
    snprintf(image, sizeof image, "%u-0.image", ended);
    snprintf(notes, sizeof notes, "%u-notes.txt", ended);
    put(image);
    put(notes);
    put_segment(ended, 1, own_namespace());
    wsdbg_armed_clean(&place);
    assert_false(is_there(in_folder(segment_name(ended))));
    assert_false(is_there(in_folder(image)));
    assert_true(is_there(in_folder(notes)));
}

/* The parent of the process has not yet asked how it ended. */
static void a_process_that_has_ended_is_not_listed_before_its_parent_knows(void **state)
{
    uint32_t *list = NULL;
    size_t count;
    siginfo_t info;
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    put_segment((unsigned)child, start_ticks_of(child), own_namespace());
    put_segment(living, start_ticks_of(getpid()), own_namespace());
    assert_null(wsdbg_armed_list(&place, &list, &count));
    assert_int_equal(count, 1);
    assert_int_equal(list[0], living);
    free(list);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Another process got the number, and may be armed itself. */
static void removes_the_tables_alone_where_the_number_came_again(void **state)
{
    char image[64];
    (void)state;
    snprintf(image, sizeof image, "%u-0.image", living);
    put(image);
    put_segment(living, 1, own_namespace());
    wsdbg_armed_clean(&place);
    assert_false(is_there(in_folder(segment_name(living))));
    assert_true(is_there(in_folder(image)));
}

static void leaves_what_belongs_to_another_namespace(void **state)
{
    (void)state;
    put_segment(ended, 1, own_namespace() + 1);
    wsdbg_armed_clean(&place);
    assert_true(is_there(in_folder(segment_name(ended))));
}

static void leaves_what_is_not_known(void **state)
{
    (void)state;
    put_segment(living, 0, own_namespace()); /* its start is not known */
    put(segment_name(ended));                /* nothing in it */
    wsdbg_armed_clean(&place);
    assert_true(is_there(in_folder(segment_name(ended))));
    assert_true(is_there(in_folder(segment_name(living))));
}

/* In /tmp another user may make the folder first, or a link to a folder of this user. */
static void touches_nothing_in_a_folder_that_others_can_write_to_or_behind_a_link(void **state)
{
    char link[80];
    struct wsdbg_armed_place linked;
    uint32_t *list = NULL;
    size_t count = 7;
    int lock;
    (void)state;
    put_segment(ended, 1, own_namespace());
    put("1999999999.off");
    assert_int_equal(chmod(folder, 0770), 0);
    assert_int_equal(chmod(in_folder("segments"), 0770), 0);
    wsdbg_armed_clean(&place);
    struct wsdbg_error *error = wsdbg_armed_lock(&place, living, &lock);
    assert_non_null(error);
    wsdbg_error_destroy(error);
    assert_null(wsdbg_armed_list(&place, &list, &count));
    assert_int_equal(count, 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(chmod(in_folder("segments"), 0700), 0);
    snprintf(link, sizeof link, "%s-link", folder);
    assert_int_equal(symlink(folder, link), 0);
    assert_null(wsdbg_armed_place(link, &linked));
    wsdbg_armed_clean(&linked);
    unlink(link);
    assert_true(is_there(in_folder(segment_name(ended))));
    assert_true(is_there(in_folder("1999999999.off")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(knows_the_files_of_a_process_by_their_names),
        TEST(removes_what_a_process_left_that_has_ended),
        TEST(a_process_that_has_ended_is_not_listed_before_its_parent_knows),
        TEST(removes_the_tables_alone_where_the_number_came_again),
        TEST(leaves_what_belongs_to_another_namespace),
        TEST(leaves_what_is_not_known),
        TEST(touches_nothing_in_a_folder_that_others_can_write_to_or_behind_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
