/* explore_test.c - WSDBG_EXPLORE: launches under many schedules before they run; what the log says of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcuda/kernels.h"

static char path[] = "/tmp/wsdbg-explore-test.XXXXXX";

/* Launches each of the words in a process of its own and returns its exit status: 0 when all launches end well, 2 when
 * one does not.  The log is the test's to free. */
static int explored(const char *options, const char *const *names, char **log)
{
    int status;
    char value[256];
    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    snprintf(value, sizeof value, "%slog=%s", options, path);
    const pid_t child = fork();
    if (child == 0) {
        CUcontext context;
        CUmodule module;
        CUfunction function;
        alarm(20);
        setenv("WSDBG_EXPLORE", value, 1);
        if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0) || cu.cuModuleLoadData(&module, kernels))
            _exit(1);
        for (; *names; names++) {
            if (cu.cuModuleGetFunction(&function, module, *names) || launch(function, 1, 64, NULL, NULL))
                _exit(1);
            for (int wait = 0; cu.cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY; wait++)
                if (usleep(2000), wait > 500)
                    _exit(2);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    FILE *file = fopen(path, "r");
    size_t capacity = 0;
    *log = NULL;
    assert_non_null(file);
    if (getdelim(log, &capacity, '\0', file) < 0) {
        free(*log);
        *log = strdup("");
    }
    fclose(file);
    unlink(path);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
#define EXPLORED(log, options, ...) explored(options, (const char *const[]){__VA_ARGS__, NULL}, log)

/* The text behind the first line that begins with the word; NULL = there is none. */
static const char *line(const char *log, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = log; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && at[length] == ' ')
            return at + length + 1;
    return NULL;
}

static size_t count(const char *log, const char *word)
{
    size_t sum = 0;
    for (const char *at = line(log, word); at; at = line(strchr(at, '\n'), word))
        sum++;
    return sum;
}

static unsigned long long found_seed(const char *log)
{
    const char *found = line(log, "found");
    assert_non_null(found);
    return strtoull(found, NULL, 10);
}

static unsigned long long found_lowest(const char *log)
{
    unsigned long long lowest = -1ull;
    for (const char *at = line(log, "found"); at; at = line(strchr(at, '\n'), "found"))
        if (strtoull(at, NULL, 10) < lowest)
            lowest = strtoull(at, NULL, 10);
    return lowest;
}

static void a_lost_wake_up_is_found(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=2000,jobs=2,", "lost"), 2);
    assert_non_null(strstr(line(log, "found"), " deadlock "));
    assert_non_null(strstr(line(log, "wait"), "1 waiting at PTX line "));
    assert_non_null(strstr(line(log, "wait"), "mbarrier.try_wait"));
    /* The launch then runs under that schedule. */
    assert_non_null(strstr(line(log, "stands"), "deadlock"));
    free(log);
}

/* One switch does it: warp 1 gives way after it looked at the flag, before it says that it sleeps. */
static void it_is_reduced_to_its_one_switch(void **state)
{
    char *log;
    (void)state;
    EXPLORED(&log, "schedules=2000,jobs=2,", "lost");
    assert_int_equal(strtoull(line(log, "turns"), NULL, 10), 1);
    const char *turn = line(log, "switch");
    assert_non_null(strstr(turn, "warp 1 of CTA (0,0,0), after "));
    assert_non_null(strstr(turn, "is preempted before "));
    assert_non_null(strstr(turn, "warp 0 of CTA (0,0,0) goes on"));
    free(log);
}

static void what_waits_in_the_right_order_never_hangs(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=1000,jobs=2,", "kept"), 0);
    assert_null(line(log, "found"));
    assert_null(line(log, "report"));
    assert_int_equal(strtoull(line(log, "end"), NULL, 10), 1000);
    free(log);
}

static void a_seed_gives_the_same_again(void **state)
{
    char *log, *again, options[64];
    (void)state;
    EXPLORED(&log, "schedules=2000,jobs=2,", "lost");
    snprintf(options, sizeof options, "seed=%llu,replays,", found_seed(log));
    assert_int_equal(EXPLORED(&again, options, "lost"), 2);
    assert_int_equal(found_seed(again), found_seed(log));
    /* Decisions, of the schedule that was tried and of the launch itself. */
    assert_string_equal(line(again, "stands"), line(log, "stands"));
    free(log);
    free(again);
}

static void how_many_at_a_time_changes_nothing(void **state)
{
    char *one, *four;
    (void)state;
    EXPLORED(&one, "schedules=2000,jobs=1,", "lost");
    EXPLORED(&four, "schedules=2000,jobs=4,", "lost");
    assert_int_equal(found_seed(one), found_seed(four));
    const char *turn = line(one, "switch");
    assert_memory_equal(turn, line(four, "switch"), strcspn(turn, "\n"));
    free(one);
    free(four);
}

static void priorities_find_it_too(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=2000,jobs=2,schedule=priority,depth=2,", "lost"), 2);
    assert_non_null(line(log, "found"));
    free(log);
}

static void all_goes_on_behind_the_first_hang(void **state)
{
    char *log;
    unsigned long long tried, decisions, ns, hangs;
    (void)state;
    EXPLORED(&log, "schedules=500,jobs=2,all,", "lost");
    assert_int_equal(sscanf(line(log, "end"), "%llu %llu %llu %llu", &tried, &decisions, &ns, &hangs), 4);
    assert_int_equal(tried, 500);
    assert_true(hangs > 1);
    assert_int_equal(count(log, "found"), hangs);
    assert_int_equal(count(log, "turns"), 1);
    assert_int_equal(strtoull(line(log, "again"), NULL, 10), found_lowest(log));
    free(log);
}

/* Nobody looks at the barrier whose phase is over three times: every schedule says so. */
static void what_is_never_meant_is_told(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=10,", "overrun"), 0);
    assert_non_null(strstr(log, "\nreport 10 usual a phase of an mbarrier completes although nobody waited for the one "
                                "before (at shared address 0x"));
    free(log);
}

/* The usual schedule is the first. */
static void what_always_hangs_hangs_at_once(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=100,", "hang"), 2);
    assert_memory_equal(line(log, "found"), "usual deadlock 1 ", 17);
    assert_memory_equal(line(log, "turns"), "0 ", 2);
    free(log);
}

static void the_first_launch_of_each_kernel_is_explored(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=20,", "kept", "big", "kept"), 0);
    assert_int_equal(count(log, "launch"), 2);
    assert_non_null(strstr(log, "launch 0 20 kept\n"));
    assert_non_null(strstr(log, "launch 1 20 big\n"));
    free(log);
}

static void one_launch_can_be_asked_for(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=20,launch=2,", "kept", "big", "kept"), 0);
    assert_int_equal(count(log, "launch"), 1);
    assert_non_null(strstr(log, "launch 2 20 kept\n"));
    free(log);
}

static void bad_words_are_refused(void **state)
{
    static const char *const rows[] = {"schedules=,", "schedules=x,",   "jobs=0,",
                                       "jobs=257,",   "schedule=fast,", "what,"};
    char *log;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(EXPLORED(&log, rows[i], "kept"), 1);
        assert_string_equal(log, "");
        free(log);
    }
}

static int open_only(void **state)
{
    (void)state;
    api_open();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_wake_up_is_found),
        cmocka_unit_test(it_is_reduced_to_its_one_switch),
        cmocka_unit_test(what_waits_in_the_right_order_never_hangs),
        cmocka_unit_test(a_seed_gives_the_same_again),
        cmocka_unit_test(how_many_at_a_time_changes_nothing),
        cmocka_unit_test(priorities_find_it_too),
        cmocka_unit_test(all_goes_on_behind_the_first_hang),
        cmocka_unit_test(what_is_never_meant_is_told),
        cmocka_unit_test(what_always_hangs_hangs_at_once),
        cmocka_unit_test(the_first_launch_of_each_kernel_is_explored),
        cmocka_unit_test(one_launch_can_be_asked_for),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, open_only, NULL);
}
