/* process_test.c - native stacks of a living program, and processes that cannot be read: another user's, one that dies,
 * one that is not the program's. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/console.h"
#include "host/host_stacks.h"
#include "host/native_unwind.h"

#define LIMIT_NS UINT64_C(2000000000)

struct program {
    pid_t id;
    uint32_t reader, spinner, resized;
};

/* The program's main thread has printed, and sleeps. */
static void wait_until_it_sleeps(pid_t id)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", id);
    for (int i = 0; i < 10000 && state != 'S'; i++) {
        FILE *stat = fopen(path, "r");
        assert_non_null(stat);
        assert_int_equal(fscanf(stat, "%*d (%*[^)]) %c", &state), 1);
        fclose(stat);
        usleep(1000);
    }
    assert_int_equal(state, 'S');
}

static struct program start(const char *path)
{
    struct program program = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    program.id = fork();
    if (program.id == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing */
        dup2(ends[1], 1);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *words = fdopen(ends[0], "r");
    assert_int_equal(fscanf(words, "%u %u %u", &program.reader, &program.spinner, &program.resized), 3);
    fclose(words);
    wait_until_it_sleeps(program.id);
    return program;
}

static void stop(struct program program)
{
    kill(program.id, SIGKILL);
    waitpid(program.id, NULL, 0);
}

static struct wsdbg_snapshot read_process(uint32_t process_id, const uint32_t *waiting, size_t count)
{
    struct wsdbg_snapshot s = {0};
    const struct wsdbg_host_request request = {.process_id = process_id, .waiting = waiting, .waiting_count = count};
    assert_null(wsdbg_host_stacks_read(&request, 1, LIMIT_NS, &s));
    assert_int_equal(s.host_process_count, 1);
    return s;
}

static const struct wsdbg_host_stack *stack_of(const struct wsdbg_snapshot *s, uint32_t thread)
{
    for (size_t i = 0; i < s->host_stack_count; i++)
        if (s->host_stacks[i].thread_id == thread)
            return &s->host_stacks[i];
    fail_msg("thread %u has no stack", thread);
    return NULL;
}

/* The functions stand in this order, innermost first; others may lie between them.  Lines are known. */
static void check_functions(const struct wsdbg_snapshot *s, uint32_t thread, const char *const *functions)
{
    const struct wsdbg_host_stack *stack = stack_of(s, thread);
    assert_int_equal(stack->motion, WSDBG_HOST_SLEEPS);
    for (uint32_t i = 0; i < stack->frame_count && *functions; i++) {
        const struct wsdbg_host_frame *f = &s->host_frames[stack->frame_first + i];
        if (strcmp(f->function, *functions) != 0)
            continue;
        assert_true(f->line.known);
        assert_non_null(strstr(f->file, "threads_app.c"));
        assert_non_null(strstr(f->module, "threads_app"));
        functions++;
    }
    if (*functions)
        fail_msg("thread %u has no %s", thread, *functions);
}

static void check_program(const char *path)
{
    static const char *const reading[] = {"inner", "middle", "outer", "read_thread", NULL}, *const main_[] = {"main",
                                                                                                              NULL};
    const struct program program = start(path);
    const uint32_t waiting[] = {program.reader, program.spinner};
    struct wsdbg_snapshot s = read_process((uint32_t)program.id, waiting, 2);
    assert_string_equal(s.host_processes[0].obstacle, "");
    assert_string_equal(s.host_processes[0].python, "");
    assert_int_equal(s.host_processes[0].threads.value, 24);
    assert_int_equal(s.host_stack_count, 3); /* not those that wait for a condition */
    assert_int_equal(s.host_stacks[0].thread_id, program.id);
    check_functions(&s, program.reader, reading);
    check_functions(&s, (uint32_t)program.id, main_);
    assert_string_equal(stack_of(&s, program.reader)->system_call, "read");
    assert_string_equal(stack_of(&s, program.reader)->end, "");
    assert_int_equal(stack_of(&s, program.spinner)->motion, WSDBG_HOST_RUNS);
    assert_int_equal(stack_of(&s, program.spinner)->frame_count, 0);
    wsdbg_snapshot_deinit(&s);
    stop(program);
}

static void a_native_stack_is_read_without_frame_pointers(void **state)
{
    (void)state;
    check_program(THREADS_APP "_plain");
}

/* read() saves no register, and inner() finds its frame by one.  The size that its first instructions give the frame
 * and the call of its caller tell it. */
static void a_native_stack_is_read_with_frame_pointers(void **state)
{
    (void)state;
    check_program(THREADS_APP "_pointers");
}

/* Where the size of the frame is not fixed, nothing is guessed. */
static void a_register_that_is_not_known_ends_the_stack(void **state)
{
    static const char *const programs[] = {THREADS_APP "_plain", THREADS_APP "_pointers"};
    static const char *const reading[] = {"read_resized", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program program = start(programs[i]);
        struct wsdbg_snapshot s = read_process((uint32_t)program.id, &program.resized, 1);
        const struct wsdbg_host_stack *stack = stack_of(&s, program.resized);
        check_functions(&s, program.resized, reading);
        assert_string_equal(stack->end, "a register that a frame needs is not known");
        assert_string_equal(s.host_frames[stack->frame_first + stack->frame_count - 1].function, "read_resized");
        wsdbg_snapshot_deinit(&s);
        stop(program);
    }
}

static void a_program_without_symbols_has_offsets(void **state)
{
    (void)state;
    const struct program program = start(THREADS_APP "_stripped");
    struct wsdbg_snapshot s = read_process((uint32_t)program.id, &program.reader, 1);
    const struct wsdbg_host_stack *stack = stack_of(&s, program.reader);
    unsigned inside = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct wsdbg_host_frame *f = &s.host_frames[stack->frame_first + i];
        if (!strstr(f->module, "threads_app"))
            continue;
        inside++;
        assert_string_equal(f->function, "");
        assert_false(f->line.known);
        assert_true(f->offset_bytes.known);
    }
    assert_int_equal(inside, 4); /* inner, middle, outer, read_thread */
    wsdbg_snapshot_deinit(&s);
    stop(program);
}

/* ---- what cannot be read ---- */

static void a_process_that_is_no_more_is_said(void **state)
{
    (void)state;
    const struct program program = start(THREADS_APP "_plain");
    stop(program);
    struct wsdbg_snapshot s = read_process((uint32_t)program.id, NULL, 0);
    assert_string_equal(s.host_processes[0].obstacle, "the process has ended");
    assert_false(s.host_processes[0].threads.known);
    assert_int_equal(s.host_stack_count, 0);
    wsdbg_snapshot_deinit(&s);
}

/* More than are read at a time; one of them has ended. */
static void several_processes_are_read_in_order(void **state)
{
    enum { COUNT = WSDBG_HOST_TOGETHER + 2, ENDED = 3 };
    struct program programs[COUNT];
    struct wsdbg_host_request requests[COUNT] = {0};
    struct wsdbg_snapshot s = {0};
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        programs[i] = start(THREADS_APP "_plain");
        requests[i] = (struct wsdbg_host_request){
            .process_id = (uint32_t)programs[i].id, .waiting = &programs[i].reader, .waiting_count = 1};
    }
    stop(programs[ENDED]);
    assert_null(wsdbg_host_stacks_read(requests, COUNT, LIMIT_NS, &s));
    assert_int_equal(s.host_process_count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(s.host_processes[i].process_id, programs[i].id);
        assert_int_equal(s.host_processes[i].obstacle[0] != '\0', i == ENDED);
        if (i == ENDED)
            continue;
        assert_int_equal(stack_of(&s, programs[i].reader)->process, i);
        stop(programs[i]);
    }
    wsdbg_snapshot_deinit(&s);
}

static void a_process_of_another_program_is_not_read(void **state)
{
    (void)state;
    const struct program program = start(THREADS_APP "_plain");
    struct wsdbg_snapshot s = {0};
    const struct wsdbg_host_request request = {.process_id = (uint32_t)program.id, .is_traced = true};
    assert_null(wsdbg_host_stacks_read(&request, 1, LIMIT_NS, &s));
    assert_non_null(strstr(s.host_processes[0].obstacle, "is not the program's"));
    assert_int_equal(s.host_stack_count, 0);
    wsdbg_snapshot_deinit(&s);
    stop(program);
}

/* Another user reads this process. */
static void what_the_kernel_does_not_allow_is_said(void **state)
{
    int status = 0;
    (void)state;
    if (geteuid() != 0)
        skip();
    const pid_t child = fork();
    if (child == 0) {
        struct wsdbg_snapshot s = {0};
        const struct wsdbg_host_request request = {.process_id = (uint32_t)getppid()};
        const bool became = setgid(65534) == 0 && setuid(65534) == 0;
        struct wsdbg_error *error = wsdbg_host_stacks_read(&request, 1, LIMIT_NS, &s);
        const bool said = s.host_process_count == 1 && strlen(s.host_processes[0].obstacle) > 0 &&
                          (strstr(s.host_processes[0].obstacle, "does not allow") ||
                           strstr(s.host_processes[0].obstacle, "Permission denied"));
        _exit(became && !error && said && s.host_stack_count == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* It is killed at any moment of the reading. */
static void a_process_may_die_while_it_is_read(void **state)
{
    (void)state;
    srandom(3);
    for (int i = 0; i < 40; i++) {
        const struct program program = start(THREADS_APP "_plain");
        const long delay_us = random() % 3000;
        const pid_t killer = fork();
        if (killer == 0) {
            usleep((useconds_t)delay_us);
            kill(program.id, SIGKILL);
            _exit(0);
        }
        for (bool ended = false; !ended;) {
            struct wsdbg_snapshot s = read_process((uint32_t)program.id, &program.reader, 1);
            ended = s.host_processes[0].obstacle[0] != '\0';
            wsdbg_snapshot_deinit(&s);
        }
        waitpid(killer, NULL, 0);
        waitpid(program.id, NULL, 0);
    }
}

/* ---- stacks of any content ---- */

static ssize_t read_noise(void *context, uint64_t address, void *out, size_t bytes)
{
    const uint64_t *code = context;
    uint64_t *words = out;
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] =
            random() % 2 ? address + (uint64_t)(random() % 4096) : code[random() % 64] + (uint64_t)(random() % 64);
    return (ssize_t)bytes;
}

static void a_stack_of_noise_ends(void **state)
{
    static struct wsdbg_native_stack stack;
    struct wsdbg_host_maps maps;
    struct wsdbg_host_memory *own = NULL, *noise = NULL;
    struct wsdbg_host_modules *modules = NULL;
    uint64_t code[64];
    (void)state;
    assert_null(wsdbg_host_maps_read(getpid(), &maps));
    assert_null(wsdbg_host_memory_open(getpid(), UINT64_MAX, &own));
    assert_null(wsdbg_host_modules_create(getpid(), &maps, own, &modules));
    for (int i = 0; i < 64; i++)
        code[i] = (i % 2 ? (uint64_t)(uintptr_t)&qsort : (uint64_t)(uintptr_t)&check_program) + (uint64_t)i * 256;
    assert_null(wsdbg_host_memory_of(read_noise, code, UINT64_MAX, &noise));
    srandom(4);
    for (int i = 0; i < 3000; i++) {
        wsdbg_host_memory_forget(noise);
        wsdbg_native_unwind(
            modules, noise,
            &(struct wsdbg_native_start){.pc = code[random() % 64], .sp = 0x7ff000000000 + (uint64_t)(random() % 4096)},
            &stack);
        assert_true(stack.count <= WSDBG_NATIVE_FRAMES_MAX);
    }
    wsdbg_host_modules_destroy(modules);
    wsdbg_host_maps_free(&maps);
    wsdbg_host_memory_close(noise);
    wsdbg_host_memory_close(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_native_stack_is_read_without_frame_pointers),
        cmocka_unit_test(a_native_stack_is_read_with_frame_pointers),
        cmocka_unit_test(a_register_that_is_not_known_ends_the_stack),
        cmocka_unit_test(a_program_without_symbols_has_offsets),
        cmocka_unit_test(a_process_that_is_no_more_is_said),
        cmocka_unit_test(several_processes_are_read_in_order),
        cmocka_unit_test(a_process_of_another_program_is_not_read),
        cmocka_unit_test(what_the_kernel_does_not_allow_is_said),
        cmocka_unit_test(a_process_may_die_while_it_is_read),
        cmocka_unit_test(a_stack_of_noise_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
