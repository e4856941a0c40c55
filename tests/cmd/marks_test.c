/* marks_test.c - files by which wsdbg on several nodes tell each other of a hang: what is told, once, to whom; old
 * marks, strangers' marks, folders that cannot be written.  The other nodes are child processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program/marks.h"

#define SECOND UINT64_C(1000000000)

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/wsdbg-marks.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    DIR *entries = opendir(folder);
    chmod(folder, 0700);
    for (struct dirent *entry; (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* Another wsdbg with the number `id`, as its files would look; seconds from now. */
static void put(const char *id, const char *ending, const char *text, int seconds)
{
    char name[128];
    snprintf(name, sizeof name, "wsdbg-node-%s.%s", id, ending);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += seconds;
    assert_int_equal(utimensat(AT_FDCWD, name, (const struct timespec[]){now, now}, 0), 0);
}

static const char a_hang[] = "wsdbg mark 1\nhost node-b\nprocess 7\ncause ARRIVE_MISSING\n";

static struct wsdbg_marks *opened(const char *words)
{
    struct wsdbg_marks *marks;
    assert_null(wsdbg_marks_open(folder, &marks));
    if (strstr(wsdbg_marks_words(marks), words) == NULL || (!*words && *wsdbg_marks_words(marks)))
        fail_msg("says \"%s\"", wsdbg_marks_words(marks));
    return marks;
}

static size_t files_with(const char *ending)
{
    size_t count = 0;
    DIR *entries = opendir(".");
    for (struct dirent *entry; (entry = readdir(entries));)
        count += strlen(entry->d_name) > strlen(ending) &&
                 strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending) == 0;
    closedir(entries);
    return count;
}

static void a_hang_of_another_one_is_told_once(void **state)
{
    (void)state;
    struct wsdbg_mark mark;
    struct wsdbg_marks *marks = opened("");
    assert_false(wsdbg_marks_look(marks, 1 * SECOND, &mark));
    put("7", "hang", a_hang, 1);
    assert_false(wsdbg_marks_look(marks, 1 * SECOND + 1, &mark)); /* not so soon again */
    assert_true(wsdbg_marks_look(marks, 2 * SECOND, &mark));
    assert_string_equal(mark.host, "node-b");
    assert_string_equal(mark.cause, "ARRIVE_MISSING");
    assert_false(wsdbg_marks_look(marks, 3 * SECOND, &mark));
    put("8", "hang", "nonsense", 1);
    assert_true(wsdbg_marks_look(marks, 4 * SECOND, &mark));
    assert_string_equal(mark.host, "?");
    assert_string_equal(mark.cause, "?");
    wsdbg_marks_close(marks);
}

static void text_of_a_mark_is_cut_to_what_names_can_be(void **state)
{
    (void)state;
    struct wsdbg_mark mark;
    struct wsdbg_marks *marks = opened("");
    put("7", "hang", "wsdbg mark 1\nhost a\033[2Jb\ncause HOST WAIT; x\n", 1);
    assert_true(wsdbg_marks_look(marks, SECOND, &mark));
    assert_string_equal(mark.host, "a");
    assert_string_equal(mark.cause, "HOST");
    wsdbg_marks_close(marks);
}

static void marks_of_earlier_runs_and_of_nobody_are_no_news(void **state)
{
    (void)state;
    struct wsdbg_mark mark;
    put("7", "hang", a_hang, -60);
    put("8", "hang", a_hang, -60);
    struct wsdbg_marks *marks = opened("2 marks of before this run are ignored");
    assert_int_equal(symlink("wsdbg-node-7.hang", "wsdbg-node-9.hang"), 0);
    assert_int_equal(mkdir("wsdbg-node-10.hang", 0700), 0);
    put("11", "watches", "", 1);
    put("12", "hang.draft", a_hang, 1);
    assert_false(wsdbg_marks_look(marks, SECOND, &mark));
    rmdir("wsdbg-node-10.hang");
    wsdbg_marks_close(marks);
}

static void who_watches_is_waited_for_until_it_answers(void **state)
{
    (void)state;
    size_t others;
    struct wsdbg_marks *marks = opened("");
    put("7", "watches", "", 0);
    put("8", "watches", "", 0);
    put("9", "watches", "", -60); /* killed long ago */
    put("7", "looked", "", -1);   /* for an earlier hang */
    assert_true(wsdbg_marks_set(marks, "ARRIVE_MISSING"));
    assert_int_equal(wsdbg_marks_unanswered(marks, &others), 2);
    assert_int_equal(others, 2);
    put("7", "looked", "", 1);
    assert_int_equal(wsdbg_marks_unanswered(marks, &others), 1);
    put("8", "hang", a_hang, -5); /* it found the same hang some seconds before */
    assert_int_equal(wsdbg_marks_unanswered(marks, &others), 0);
    assert_int_equal(others, 2);
    wsdbg_marks_close(marks);
}

/* The mark stays for those that look late; what says that it watches goes. */
static void its_own_files_are_whole_and_go_with_it(void **state)
{
    (void)state;
    struct wsdbg_marks *marks = opened("");
    assert_int_equal(files_with(".watches"), 1);
    assert_true(wsdbg_marks_set(marks, "ARRIVE_MISSING"));
    assert_true(wsdbg_marks_set(marks, "UNKNOWN"));
    wsdbg_marks_answer(marks);
    assert_int_equal(files_with(".hang"), 1);
    assert_int_equal(files_with(".looked"), 1);
    assert_int_equal(files_with(".draft"), 0);
    wsdbg_marks_close(marks);
    assert_int_equal(files_with(".watches") + files_with(".looked"), 0);
    assert_int_equal(files_with(".hang"), 1);
}

/* Two processes, for real: the one marks, the other one sees it, answers, and the first one hears that. */
static void one_process_tells_another_one(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct wsdbg_marks *marks;
        struct wsdbg_mark mark;
        if (wsdbg_marks_open(folder, &marks))
            _exit(1);
        for (uint64_t i = 1; i < 500; i++) {
            if (wsdbg_marks_look(marks, i * SECOND, &mark)) {
                wsdbg_marks_answer(marks);
                usleep(500000); /* its answer is read before it goes */
                _exit(strcmp(mark.cause, "TX_MISMATCH") != 0);
            }
            usleep(10000);
        }
        _exit(2);
    }
    struct wsdbg_marks *marks = opened("");
    size_t others = 0;
    for (int i = 0; i < 500 && others == 0; i++, usleep(10000))
        wsdbg_marks_unanswered(marks, &others);
    assert_int_equal(others, 1);
    assert_true(wsdbg_marks_set(marks, "TX_MISMATCH"));
    size_t unanswered = 1;
    for (int i = 0; i < 500 && unanswered > 0; i++, usleep(10000))
        unanswered = wsdbg_marks_unanswered(marks, &others);
    assert_int_equal(unanswered, 0);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    wsdbg_marks_close(marks);
}

static void a_folder_that_is_none_is_refused_and_one_without_leave_to_write_is_said(void **state)
{
    (void)state;
    struct wsdbg_marks *marks;
    struct wsdbg_mark mark;
    struct wsdbg_error *error = wsdbg_marks_open("/dev/null", &marks);
    assert_string_equal(wsdbg_error_message(error), "--mark: /dev/null: not a folder");
    wsdbg_error_destroy(error);
    error = wsdbg_marks_open("/nowhere/at/all", &marks);
    assert_non_null(strstr(wsdbg_error_message(error), "--mark: /nowhere/at/all: No such file"));
    wsdbg_error_destroy(error);
    chmod(folder, 0500);
    if (access(folder, W_OK) == 0) /* root may */
        return;
    marks = opened("cannot write there (Permission denied): hangs of others are seen, one found here is not told");
    assert_false(wsdbg_marks_set(marks, "UNKNOWN"));
    chmod(folder, 0700);
    put("7", "hang", a_hang, 1);
    assert_true(wsdbg_marks_look(marks, SECOND, &mark));
    wsdbg_marks_close(marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
        TEST(a_hang_of_another_one_is_told_once),
        TEST(text_of_a_mark_is_cut_to_what_names_can_be),
        TEST(marks_of_earlier_runs_and_of_nobody_are_no_news),
        TEST(who_watches_is_waited_for_until_it_answers),
        TEST(its_own_files_are_whole_and_go_with_it),
        TEST(one_process_tells_another_one),
        TEST(a_folder_that_is_none_is_refused_and_one_without_leave_to_write_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
