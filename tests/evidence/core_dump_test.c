/* core_dump_test.c - a GPU core dump is asked for, waited for and opened; a thread stands in for the driver's, which
 * listens to the pipe and writes the file piece by piece.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/core_dump.h"
#include "evidence/dump_driver.h"
#include "machine/synthetic.h"

static uint64_t in_ms(uint64_t count)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + count * 1000000;
}

struct told {
    struct wsdbg_progress progress;
    uint64_t most;
    bool over;
};

static void keep_most(struct wsdbg_progress *progress, uint64_t done, uint64_t total)
{
    struct told *told = (struct told *)progress;
    told->over = total == done;
    assert_true(told->over || total == WSDBG_TOTAL_UNKNOWN); /* nobody knows how large the file gets */
    told->most = done > told->most ? done : told->most;
}

static void a_dump_is_asked_for_and_opened_when_it_is_whole(void **state)
{
    (void)state;
    struct dump_driver driver;
    struct wsdbg_machine *machine = NULL;
    struct told told = {.progress = {.advance = keep_most}};
    const uint32_t self = (uint32_t)getpid();
    dump_driver_start(&driver, self, SIZE_MAX);
    const struct wsdbg_core_wait wait = {
        .folder = ".", .process_id = self, .deadline_ns = in_ms(20000), .progress = &told.progress};
    struct wsdbg_error *error = wsdbg_core_dump_take(&wait, &machine);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    struct stat whole;
    assert_int_equal(stat("whole", &whole), 0);
    assert_int_equal(told.most, (uint64_t)whole.st_size);
    assert_true(told.over);
    assert_int_equal(machine->warp_count, 8);
    assert_int_equal(access(driver.file, F_OK), -1); /* it may be large */
    uint32_t value, known_count;
    assert_null(machine->ops->registers(machine, 7, 30, 3, 1, &value, &known_count));
    assert_int_equal(value, synthetic_register(7, 30, 3));
    machine->ops->close(machine);
    dump_driver_stop(&driver);
}

static void assert_no_dump(uint32_t process_id, const char *words)
{
    struct wsdbg_machine *machine = NULL;
    const struct wsdbg_core_wait wait = {.folder = ".", .process_id = process_id, .deadline_ns = in_ms(100)};
    struct wsdbg_error *error = wsdbg_core_dump_take(&wait, &machine);
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), words);
    assert_null(machine);
    wsdbg_error_destroy(error);
}

static void why_there_is_no_dump_is_said(void **state)
{
    (void)state;
    char path[64];
    assert_no_dump(1, "the driver of process 1 does not offer GPU core dumps: not started by wsdbg run "
                      "--evidence=core, or another tool has its place");
    dump_driver_make_pipe(1, path);
    assert_no_dump(1, "the driver of process 1 does not listen for a GPU core dump");
    unlink(path);
    fclose(fopen(path, "w"));
    assert_no_dump(1, "./gpu-core-pipe.1: not a pipe");
    unlink(path);
}

static void a_dump_that_does_not_come_is_waited_for_until_the_deadline(void **state)
{
    (void)state;
    struct dump_driver driver;
    const uint32_t self = (uint32_t)getpid();
    char words[128];
    dump_driver_start(&driver, self, 5000);
    snprintf(words, sizeof words, "the GPU core dump of process %u is not there in time (5000 bytes)", self);
    assert_no_dump(self, words);
    dump_driver_stop(&driver);
}

static void a_dump_that_stands_still_is_given_up(void **state)
{
    (void)state;
    struct dump_driver driver;
    struct wsdbg_machine *machine = NULL;
    const uint32_t self = (uint32_t)getpid();
    char words[160];
    dump_driver_start(&driver, self, 5000);
    const struct wsdbg_core_wait wait = {
        .folder = ".", .process_id = self, .deadline_ns = UINT64_MAX, .still_ns = 200000000};
    struct wsdbg_error *error = wsdbg_core_dump_take(&wait, &machine);
    assert_non_null(error);
    snprintf(words, sizeof words,
             "the GPU core dump of process %u does not come: the driver wrote nothing for 0.2 s (5000 bytes so far)",
             self);
    assert_string_equal(wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
    dump_driver_stop(&driver);
}

/* A signal that came before the wait was meant for something else. */
static bool is_wanted_soon(struct wsdbg_cancel *cancel, uint64_t since_ns)
{
    (void)cancel;
    return in_ms(0) > since_ns + 50000000;
}

static void a_wait_can_be_cancelled(void **state)
{
    (void)state;
    struct dump_driver driver;
    struct wsdbg_machine *machine = NULL;
    struct wsdbg_cancel cancel = {.is_wanted = is_wanted_soon};
    const uint32_t self = (uint32_t)getpid();
    char words[160];
    dump_driver_start(&driver, self, 0);
    const struct wsdbg_core_wait wait = {
        .folder = ".", .process_id = self, .deadline_ns = UINT64_MAX, .cancel = &cancel};
    struct wsdbg_error *error = wsdbg_core_dump_take(&wait, &machine);
    assert_non_null(error);
    snprintf(words, sizeof words, "a signal ended the wait for the GPU core dump of process %u (0 bytes)", self);
    assert_string_equal(wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
    dump_driver_stop(&driver);
}

struct stop {
    struct wsdbg_cancel cancel;
    const char *file;
    bool over;
};

/* Signals are taken here, so here wsdbg stops with its program; the driver writes when that goes on. */
static bool stop_for_a_while(struct wsdbg_cancel *cancel, uint64_t since_ns)
{
    struct stop *stop = (struct stop *)cancel;
    (void)since_ns;
    if (stop->over) {
        link("whole", "written");
        rename("written", stop->file);
    } else {
        nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 600000000}, NULL);
    }
    stop->over = true;
    return false;
}

static void the_time_for_which_wsdbg_is_stopped_does_not_count(void **state)
{
    (void)state;
    struct dump_driver driver;
    struct wsdbg_machine *machine = NULL;
    const uint32_t self = (uint32_t)getpid();
    dump_driver_start(&driver, self, 0);
    struct stop stop = {.cancel = {.is_wanted = stop_for_a_while}, .file = driver.file};
    const struct wsdbg_core_wait wait = {
        .folder = ".", .process_id = self, .deadline_ns = in_ms(1500), .still_ns = 1500000000, .cancel = &stop.cancel};
    struct wsdbg_error *error = wsdbg_core_dump_take(&wait, &machine);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    assert_int_equal(machine->warp_count, 8);
    machine->ops->close(machine);
    dump_driver_stop(&driver);
}

/* Nobody listens to a pipe: it is not needed. */
static void a_dump_that_the_driver_makes_by_itself_is_opened(void **state)
{
    (void)state;
    struct wsdbg_machine *machine = NULL;
    const uint32_t self = (uint32_t)getpid();
    const struct wsdbg_core_wait wait = {.folder = ".", .process_id = self, .deadline_ns = in_ms(20000)};
    char file[64], words[128];
    snprintf(words, sizeof words, "the driver of process %u left no GPU core dump", self);
    struct wsdbg_error *error = wsdbg_core_dump_collect(&wait, &machine);
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
    snprintf(file, sizeof file, WSDBG_CORE_FILE_PREFIX "%u", self);
    for (int taken = 0; taken < 2; taken++) { /* a dump that is there is not asked for */
        assert_int_equal(link("whole", file), 0);
        assert_null(taken ? wsdbg_core_dump_take(&wait, &machine) : wsdbg_core_dump_collect(&wait, &machine));
        assert_int_equal(machine->warp_count, 8);
        machine->ops->close(machine);
        assert_int_equal(access(file, F_OK), -1);
    }
}

static void a_process_that_ends_is_not_waited_for(void **state)
{
    (void)state;
    struct dump_driver driver;
    char words[128];
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    dump_driver_start(&driver, (uint32_t)child, 0);
    struct wsdbg_machine *machine = NULL;
    const struct wsdbg_core_wait wait = {.folder = ".", .process_id = (uint32_t)child, .deadline_ns = UINT64_MAX};
    struct wsdbg_error *error = wsdbg_core_dump_take(&wait, &machine);
    assert_non_null(error);
    snprintf(words, sizeof words, "process %d ended before its GPU core dump was whole (0 bytes)", (int)child);
    assert_string_equal(wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
    dump_driver_stop(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_is_asked_for_and_opened_when_it_is_whole),
        cmocka_unit_test(why_there_is_no_dump_is_said),
        cmocka_unit_test(a_dump_that_does_not_come_is_waited_for_until_the_deadline),
        cmocka_unit_test(a_process_that_ends_is_not_waited_for),
        cmocka_unit_test(a_dump_that_stands_still_is_given_up),
        cmocka_unit_test(a_wait_can_be_cancelled),
        cmocka_unit_test(the_time_for_which_wsdbg_is_stopped_does_not_count),
        cmocka_unit_test(a_dump_that_the_driver_makes_by_itself_is_opened),
    };
    return cmocka_run_group_tests(tests, dump_driver_enter_folder, dump_driver_leave_folder);
}
