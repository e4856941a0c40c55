/* explore_test.c - WSDBG_EXPLORE: launches under many schedules before they run; what the log says of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcuda/defects.h"
#include "libcuda/kernels.h"

static char path[] = "/tmp/wsdbg-explore-test.XXXXXX";

/* What a process does that explores; its exit status: 0 when all launches end well, 2 when one does not. */
struct program {
    const char *module; /* PTX */
    const char *const *names;
    unsigned threads;
    int (*run)(const struct program *program, CUmodule module); /* NULL = each of the names is launched */
};

static bool is_over(void)
{
    for (int wait = 0; wait < 500; wait++, usleep(2000))
        if (cu.cuStreamQuery(NULL) != CUDA_ERROR_NOT_READY)
            return true;
    return false;
}

static int launch_all(const struct program *program, CUmodule module)
{
    CUfunction function;
    for (const char *const *name = program->names; *name; name++) {
        if (cu.cuModuleGetFunction(&function, module, *name) || launch(function, 1, program->threads, NULL, NULL))
            return 1;
        if (!is_over())
            return 2;
    }
    return 0;
}

static void run_program(const struct program *program)
{
    CUcontext context;
    CUmodule module;
    alarm(20);
    if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0) || cu.cuModuleLoadData(&module, program->module))
        _exit(1);
    _exit(program->run ? program->run(program, module) : launch_all(program, module));
}

/* Runs the program in a process of its own and returns its exit status.  The log is the test's to free. */
static int explored(const char *options, const struct program *program, char **log)
{
    int status;
    char value[256];
    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    snprintf(value, sizeof value, "%slog=%s", options, path);
    const pid_t child = fork();
    if (child == 0) {
        setenv("WSDBG_EXPLORE", value, 1);
        run_program(program);
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
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXPLORED(log, options, ...) explored(options, &(struct program){kernels, NAMES(__VA_ARGS__), 64, NULL}, log)

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
    assert_memory_equal(line(log, "story"), "It takes 1 switch: stop warp 1 at PTX line ", 43);
    assert_non_null(strstr(line(log, "story"), ", let warp 0 run to "));
    free(log);
}

static void what_waits_in_the_right_order_never_hangs(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=300,jobs=2,", "kept"), 0);
    assert_null(line(log, "found"));
    assert_null(line(log, "report"));
    assert_memory_equal(line(log, "end"), "schedules 300 ", 14);
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
    /* seed, outcome, place, decisions, instructions; all but the time */
    const char *found = line(one, "found"), *last = strchr(found, '\n');
    while (*last != ' ')
        last--;
    assert_memory_equal(found, line(four, "found"), (size_t)(last - found));
    unsigned long long tried[2], decisions[2];
    assert_int_equal(sscanf(line(one, "end"), "found %llu %llu ", &tried[0], &decisions[0]), 2);
    assert_int_equal(sscanf(line(four, "end"), "found %llu %llu ", &tried[1], &decisions[1]), 2);
    assert_int_equal(tried[0], tried[1]);
    assert_int_equal(decisions[0], decisions[1]);
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
    EXPLORED(&log, "schedules=200,jobs=2,all,", "lost");
    assert_int_equal(sscanf(line(log, "end"), "schedules %llu %llu %llu %llu", &tried, &decisions, &ns, &hangs), 4);
    assert_int_equal(tried, 200);
    assert_true(hangs > 1);
    assert_int_equal(count(log, "found"), hangs);
    assert_int_equal(count(log, "turns"), 1);
    assert_int_equal(strtoull(line(log, "again"), NULL, 10), found_lowest(log));
    free(log);
}

/* ---- what is never meant ---- */

static char *reports_of(const char *name, unsigned threads)
{
    char *log;
    assert_int_equal(
        explored("schedules=40,jobs=2,compares,", &(struct program){defects, NAMES(name), threads, NULL}, &log), 0);
    assert_memory_equal(line(log, "end"), "schedules 40 ", 13);
    return log;
}

static void tells(const char *name, unsigned threads, const char *text)
{
    char *log = reports_of(name, threads);
    assert_int_equal(count(log, "report"), 1);
    assert_non_null(strstr(line(log, "report"), text));
    free(log);
}

static void tells_nothing(const char *name, unsigned threads)
{
    char *log = reports_of(name, threads);
    assert_null(line(log, "report"));
    free(log);
}

/* As usual warp 0 comes first: only other schedules show it, and the first of them is named. */
static void a_barrier_that_is_used_too_early(void **state)
{
    (void)state;
    tells("early_look", 64, " not-initialised an mbarrier is used that was not initialised (at shared address 0x");
    char *log = reports_of("early_look", 64);
    assert_null(strstr(log, " usual not-initialised"));
    assert_true(strtoull(line(log, "report"), NULL, 10) < 40);
    free(log);
    tells_nothing("ordered_look", 64);
}

static void phases_that_nobody_waits_for(void **state)
{
    (void)state;
    tells("overrun", 64,
          "40 usual phase-overrun a phase of an mbarrier completes although nobody waited for the one before (at "
          "shared address 0x");
    tells_nothing("paced", 64);
}

static void accumulators_that_are_read_too_early(void **state)
{
    (void)state;
    tells("early_read", 128, "40 usual accumulator-read an accumulator is used before its wgmma group is complete");
    tells_nothing("late_read", 128);
    tells_nothing("handed_on", 128);
}

/* As usual warp 1 is the last. */
static void results_that_depend_on_the_schedule(void **state)
{
    (void)state;
    tells("last_word", 64,
          " result-differs the result is another one than the usual schedule's: first 0x7, not 0x8, at 0x");
    tells("last_word", 64, ", 4 bytes into allocation 0x");
    tells_nothing("own_words", 64);
}

/* ---- what needs somebody else ---- */

/* Writes the flag that poll waits for when it has stood for a while. */
static int help_later(const struct program *program, CUmodule module)
{
    uint32_t *flag;
    CUdeviceptr out;
    CUfunction function;
    if (cu.cuMemHostAlloc((void **)&flag, 8, 0) || cu.cuMemAlloc_v2(&out, 4) ||
        cu.cuModuleGetFunction(&function, module, program->names[0]))
        return 1;
    *(volatile uint32_t *)flag = 0;
    if (launch(function, 1, 1, NULL, (void *[]){&flag, &out}))
        return 1;
    usleep(50000);
    *(volatile uint32_t *)flag = 1;
    return is_over() ? 0 : 2;
}

static void what_waits_for_the_host_is_no_hang(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(explored("schedules=100,", &(struct program){kernels, NAMES("poll"), 1, help_later}, &log), 0);
    assert_memory_equal(line(log, "found"), "usual stalled 1 ", 16);
    assert_memory_equal(line(log, "end"), "host 1 ", 7);
    assert_null(line(log, "runs"));
    free(log);
}

/* As usual it does not come to that; so it is told, and the launch runs so. */
static void what_only_the_host_could_help_is_no_proof(void **state)
{
    char *log;
    (void)state;
    const struct program program = {defects, NAMES("lost_word"), 64, NULL};
    assert_int_equal(explored("schedules=2000,jobs=2,", &program, &log), 2);
    assert_non_null(strstr(line(log, "found"), " stalled "));
    assert_true(found_seed(log) > 0);
    assert_memory_equal(line(log, "end"), "found ", 6);
    /* Warp 1 is the first, and gives way. */
    assert_memory_equal(line(log, "turns"), "2 ", 2);
    assert_memory_equal(line(log, "stands"), "stalled ", 8);
    free(log);
}

/* poll in one stream waits for what dependent writes in another one. */
static int two_streams(const struct program *program, CUmodule module)
{
    CUstream streams[2];
    CUdeviceptr flag, out;
    CUfunction functions[2];
    (void)program;
    if (cu.cuMemAlloc_v2(&flag, 8) || cu.cuMemAlloc_v2(&out, 4) || cu.cuMemsetD32_v2(flag, 0, 2) ||
        cu.cuCtxSynchronize())
        return 1;
    static const char *const names[] = {"poll", "dependent"};
    for (int i = 0; i < 2; i++)
        if (cu.cuStreamCreate(&streams[i], 1) || cu.cuModuleGetFunction(&functions[i], module, names[i]) ||
            launch(functions[i], 1, 1, streams[i], (void *[]){&flag, &out}))
            return 1;
    return cu.cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 2;
}

static void a_launch_that_another_one_waits_for_is_not_held(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(explored("schedules=100,", &(struct program){kernels, NULL, 1, two_streams}, &log), 0);
    assert_memory_equal(line(log, "end"), "host 1 ", 7);
    assert_memory_equal(line(log, "skipped"), "1 dependent\n", 12);
    free(log);
}

/* ---- the end of a search ---- */

static void time_ends_it(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "limit_ns=300000000,jobs=2,", "kept"), 0);
    assert_memory_equal(line(log, "end"), "time ", 5);
    assert_non_null(line(log, "tried"));
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
    assert_non_null(strstr(log, "launch 0 20 0 kept\n"));
    assert_non_null(strstr(log, "launch 1 20 0 big\n"));
    free(log);
}

/* `number` writes what it is given; `last_word` writes one word from two warps, which no warp goes by. */
static void a_kernel_whose_schedules_are_alike_runs_once(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(explored("schedules=50,", &(struct program){defects, NAMES("last_word"), 64, NULL}, &log), 0);
    assert_memory_equal(line(log, "end"), "alike 1 ", 8);
    free(log);
    assert_int_equal(EXPLORED(&log, "schedules=50,", "kept"), 0);
    assert_memory_equal(line(log, "end"), "schedules 50 ", 13);
    free(log);
}

/* It goes by a word that another warp writes, though it waits nowhere. */
static void a_kernel_that_goes_by_memory_is_explored(void **state)
{
    static const char goes_by[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 8 .u32 words[4];\n"
        ".visible .entry goes_by()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\n.reg .b64 %rd<1>;\n"
        "mov.u64 %rd0, words;\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.global.u32 [%rd0], 1;\n"
        "$again:\nld.global.u32 %r1, [%rd0];\nadd.u32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 bra $again;\nret;\n}\n";
    char *log;
    (void)state;
    assert_int_equal(explored("schedules=5,", &(struct program){goes_by, NAMES("goes_by"), 64, NULL}, &log), 0);
    assert_memory_equal(line(log, "end"), "schedules 5 ", 12);
    free(log);
}

static void one_launch_can_be_asked_for(void **state)
{
    char *log;
    (void)state;
    assert_int_equal(EXPLORED(&log, "schedules=20,launch=2,", "kept", "big", "kept"), 0);
    assert_int_equal(count(log, "launch"), 1);
    assert_non_null(strstr(log, "launch 2 20 0 kept\n"));
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
        cmocka_unit_test(a_barrier_that_is_used_too_early),
        cmocka_unit_test(phases_that_nobody_waits_for),
        cmocka_unit_test(accumulators_that_are_read_too_early),
        cmocka_unit_test(results_that_depend_on_the_schedule),
        cmocka_unit_test(what_waits_for_the_host_is_no_hang),
        cmocka_unit_test(what_only_the_host_could_help_is_no_proof),
        cmocka_unit_test(a_launch_that_another_one_waits_for_is_not_held),
        cmocka_unit_test(time_ends_it),
        cmocka_unit_test(what_always_hangs_hangs_at_once),
        cmocka_unit_test(the_first_launch_of_each_kernel_is_explored),
        cmocka_unit_test(a_kernel_whose_schedules_are_alike_runs_once),
        cmocka_unit_test(a_kernel_that_goes_by_memory_is_explored),
        cmocka_unit_test(one_launch_can_be_asked_for),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, open_only, NULL);
}
