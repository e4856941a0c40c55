/* core_test.c - `wsdbg core`: what a dump shows decides the exit status; what is no dump is refused in one line.  And
 * `wsdbg run --evidence=core`, which asks for one. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "machine/synthetic.h"

#define HUNG WSDBG_DUMPS "/waits-cluster-missing.core.gz"
#define SPENT WSDBG_DUMPS "/waits-spent-phase.core.gz"

static const struct shape small = {
    .devices = 1, .ctas_per_device = 1, .warps_per_cta = 2, .cluster_size = 1, .capability = 90, .registers = 4};

static void write_dump(const char *path, const struct shape *shape, uint64_t context)
{
    struct synthetic *from = synthetic_create(shape);
    for (size_t i = 0; i < from->machine.context_count; i++)
        from->machine.contexts[i].handle = context + i;
    assert_null(wsdbg_machine_write_core(&from->machine, &from->reads, path));
    synthetic_destroy(from);
}

static void check_refused(struct outcome outcome, const char *line)
{
    assert_int_equal(outcome.status, 125);
    assert_string_equal(outcome.err, line);
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
}

static void check_says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("no '%s' in: %s", words, text);
}

static void what_is_no_dump_is_refused(void **state)
{
    (void)state;
    write_file("text", "not a dump", 10);
    check_refused(WSDBG("core", "missing"), "wsdbg core: open missing: No such file or directory\n");
    check_refused(WSDBG("core", "."), "wsdbg core: .: not a regular file\n");
    check_refused(WSDBG("core", "-o", "new.db", "text"),
                  "wsdbg core: text: offset 0: not an ELF file, so no GPU core dump\n");
    check_refused(WSDBG("core", WSDBG_BINARY),
                  "wsdbg core: " WSDBG_BINARY ": offset 16: an ELF file, but no core dump\n");
    assert_int_equal(count_files("*"), 1); /* no database came of it */
}

static void a_database_is_not_overwritten(void **state)
{
    (void)state;
    write_file("mine.db", "mine", 4);
    check_refused(WSDBG("core", "-o", "mine.db", HUNG), "wsdbg core: mine.db: exists already, not overwritten\n");
    char *content = read_file("mine.db");
    assert_string_equal(content, "mine");
    free(content);
}

static void dumps_of_two_processes_are_not_compared(void **state)
{
    (void)state;
    write_dump("one", &small, 0x1000);
    write_dump("other", &small, 0x2000);
    check_refused(WSDBG("core", "one", "other"), "wsdbg core: other: a dump of another process than one\n");
}

static void a_dump_without_a_running_kernel_is_no_hang(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.ctas_per_device = 0;
    write_dump("idle", &shape, 0x1000);
    struct outcome outcome = WSDBG("core", "idle");
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.err, "wsdbg: the core dump holds no running kernel\n");
    outcome_free(&outcome);
}

static void what_a_dump_lacks_is_in_the_report(void **state)
{
    (void)state;
    struct shape shape = small;
    shape.no_shared = true;
    shape.capability = 100;
    write_dump("poor", &shape, 0x1000);
    struct outcome outcome = WSDBG("core", "--json", "poor");
    assert_int_equal(outcome.status, 0);
    check_says(outcome.out, "the core dump holds no shared memory");
    check_says(outcome.out,
               "the GPU is an sm_100: only the code of sm_90 is understood, so what warps wait for is not known");
    outcome_free(&outcome);
}

/* An error of the first warp of what synthetic.c makes; that a lane tells of it does not make it that lane's. */
static void a_fault_is_no_hang(void **state)
{
    (void)state;
    write_dump("fault", &small, 0x1000);
    struct outcome outcome = WSDBG("core", "-o", "kept.db", "fault");
    assert_int_equal(outcome.status, 0);
    check_says(outcome.out, "GPU fault: CUDA_EXCEPTION_14 (illegal address) ended context 0 on");
    check_says(outcome.out,
               "FAULT: UNKNOWN (the GPU says where, nothing says why)\n"
               "  The GPU stopped warp 0 in CTA (0,0,0) with CUDA_EXCEPTION_14 (illegal address) at 0x7f1000000000.\n");
    check_says(outcome.err, "that ended the kernel, it did not hang\n");
    outcome_free(&outcome);
    outcome = WSDBG("report", "--json", "kept.db");
    check_says(outcome.out, "\"error\": null");
    check_says(outcome.out, "\"exception\": 14");
    outcome_free(&outcome);
}

static void a_hang_makes_the_status_124(void **state)
{
    (void)state;
    struct outcome outcome = WSDBG("core", "-o", "kept.db", HUNG);
    assert_int_equal(outcome.status, 124);
    check_says(outcome.out, "HANG: CLUSTER_MISSING");
    check_says(outcome.err,
               "wsdbg: session in kept.db\nwsdbg: show it: wsdbg view; explain it: wsdbg why; ask it: wsdbg query\n");
    outcome_free(&outcome);
    outcome = WSDBG("report", "kept.db");
    assert_int_equal(outcome.status, 0);
    check_says(outcome.out, "HANG: CLUSTER_MISSING");
    outcome_free(&outcome);
}

/* A dump says neither when it was made nor what it cost, and one look has nothing to be compared with. */
static void what_a_dump_cannot_tell_is_unknown_and_not_0(void **state)
{
    static const char *const unknown[] = {"time_ns",   "attach_ns", "suspend_ns", "read_ns",
                                          "resume_ns", "detach_ns", "warps_moved"};
    char text[64];
    (void)state;
    struct outcome outcome = WSDBG("core", "--json", "-o", "kept.db", HUNG);
    check_says(outcome.out, "\"stall_seconds\": null");
    check_says(outcome.out, "\"duration_ns\": null");
    const char *looks = strstr(outcome.out, "\"looks\": [");
    assert_non_null(looks);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        snprintf(text, sizeof text, "\"%s\": null", unknown[i]);
        check_says(looks, text);
    }
    outcome_free(&outcome);
    outcome = WSDBG("query", "kept.db",
                    "SELECT count(*) AS known FROM look WHERE coalesce(time_ns, attach_ns, suspend_ns, "
                    "read_ns, resume_ns, detach_ns, moved) IS NOT NULL",
                    "--csv");
    assert_string_equal(outcome.out, "known\r\n0\r\n");
    outcome_free(&outcome);
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (int byte; (byte = getc(in)) != EOF;)
        putc(byte, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* One moment seen twice would show that nothing moves. */
static void one_dump_is_not_two_looks(void **state)
{
    (void)state;
    copy_file(HUNG, "one.gz");
    assert_int_equal(link("one.gz", "again.gz"), 0);
    check_refused(WSDBG("core", "one.gz", "again.gz"), "wsdbg core: again.gz: the same dump as one.gz\n");
    copy_file(HUNG, "copy.gz");
    check_refused(WSDBG("core", "one.gz", "copy.gz"), "wsdbg core: copy.gz: the same dump as one.gz\n");
    assert_int_equal(system("zcat " HUNG " >unpacked"), 0);
    check_refused(WSDBG("core", "one.gz", "unpacked"), "wsdbg core: unpacked: the same dump as one.gz\n");
}

/* The second has one byte more, as a later one would have another time stamp. */
static void two_dumps_of_one_process_are_two_looks(void **state)
{
    (void)state;
    copy_file(HUNG, "first.gz");
    assert_int_equal(system("zcat " HUNG " >second"), 0);
    FILE *second = fopen("second", "ab");
    assert_non_null(second);
    putc(0, second);
    assert_int_equal(fclose(second), 0);
    struct outcome outcome = WSDBG("core", "-o", "kept.db", "first.gz", "second");
    assert_int_equal(outcome.status, 124);
    outcome_free(&outcome);
    outcome = WSDBG("query", "kept.db", "SELECT count(*) AS looks FROM look", "--csv");
    assert_string_equal(outcome.out, "looks\r\n2\r\n");
    outcome_free(&outcome);
}

/* The program makes the pipe as its driver would, and answers with a real dump.  Its own slots show another hang. */
static const char dumping_program[] = "pipe=$(echo $CUDA_COREDUMP_PIPE | sed s/%p/$$/);"
                                      "file=$(echo $CUDA_COREDUMP_FILE | sed s/%p/$$/); mkfifo $pipe;"
                                      "(head -c 1 $pipe > asked; cp " HUNG " $file) & exec " FAKE_HANG " hang";

static void a_run_takes_a_dump_at_a_stall(void **state)
{
    (void)state;
    struct outcome outcome =
        WSDBG("run", "--evidence=core", "--stall", "0.3", "-o", "kept.db", "--", "sh", "-c", dumping_program);
    assert_int_equal(outcome.status, 124);
    check_says(outcome.err, "HANG: CLUSTER_MISSING");
    check_says(outcome.err, "evidence core");
    outcome_free(&outcome);
    char *asked = read_file("asked");
    assert_int_equal(strlen(asked), 1); /* once: a dump ends the contexts */
    free(asked);
}

static void a_run_without_an_answer_says_so(void **state)
{
    (void)state;
    struct outcome outcome = WSDBG("run", "--evidence=core", "--stall", "0.3", "-o", "kept.db", FAKE_HANG, "hang");
    assert_int_equal(outcome.status, 124); /* the slots show a hang all the same */
    check_says(outcome.err, "does not offer GPU core dumps");
    outcome_free(&outcome);
}

/* The driver has written its dump before the program hears of the error. */
static const char faulting_program[] =
    "cp " SPENT " $(echo $CUDA_COREDUMP_FILE | sed s/%p/$$/); exec " FAKE_HANG " fault";

static void a_run_explains_an_error_with_the_drivers_dump(void **state)
{
    (void)state;
    struct outcome outcome = WSDBG("run", "--evidence=core", "-o", "kept.db", "--", "sh", "-c", faulting_program);
    assert_int_equal(outcome.status, 7); /* the program's own */
    check_says(outcome.err, "GPU fault: CUDA error 719 (unspecified launch failure)");
    check_says(outcome.err, "FAULT: DOUBLE_ARRIVE (likely)\n  Warp 1 arrived on \"full\" at waits.cu:212");
    check_says(outcome.err, "evidence core");
    check_says(outcome.err, "ended by a GPU fault; session in kept.db");
    assert_null(strstr(outcome.err, "--evidence core the driver tells"));
    outcome_free(&outcome);
    outcome = WSDBG("report", "kept.db");
    check_says(outcome.out, "FAULT: DOUBLE_ARRIVE (likely)");
    outcome_free(&outcome);
}

/* A dump of no error, as one that somebody asked for, tells less than what the slots held. */
static void a_run_whose_error_left_no_dump_says_so(void **state)
{
    (void)state;
    struct outcome outcome = WSDBG("run", "--evidence=core", "-o", "kept.db", FAKE_HANG, "fault");
    assert_int_equal(outcome.status, 7);
    check_says(outcome.err, "left no GPU core dump");
    check_says(outcome.err, "ended by a GPU fault");
    outcome_free(&outcome);
    outcome = WSDBG("run", "--evidence=core", "-o", "other.db", "--", "sh", "-c",
                    "cp " HUNG " $(echo $CUDA_COREDUMP_FILE | sed s/%p/$$/); exec " FAKE_HANG " fault");
    assert_int_equal(outcome.status, 7);
    check_says(outcome.err, "the GPU core dump names no thread with an error");
    outcome_free(&outcome);
}

/* The driver takes the question and never answers; the program lives through the signal. */
static const char silent_program[] = "pipe=$(echo $CUDA_COREDUMP_PIPE | sed s/%p/$$/); mkfifo $pipe;"
                                     "(head -c 1 $pipe > asked; echo >>asked) & exec " FAKE_HANG " stubborn";

static void a_signal_ends_the_wait_for_a_dump(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct running run = WSDBG_START("run", "--evidence=core", "--stall", "0.3", "--", "sh", "-c", silent_program);
        wait_for_file("asked");
        kill(run.pid, signals[i]);
        struct outcome outcome = finish(run); /* long before the dump is given up */
        assert_int_equal(outcome.status, 124);
        if (signals[i] == SIGTERM) {
            check_says(outcome.err, "a signal ended the wait for the GPU core dump of process ");
            check_says(outcome.err, "HANG: "); /* what the slots show */
        }
        outcome_free(&outcome);
        unlink("asked");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_no_dump_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_database_is_not_overwritten, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(dumps_of_two_processes_are_not_compared, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(one_dump_is_not_two_looks, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_dump_without_a_running_kernel_is_no_hang, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_a_dump_lacks_is_in_the_report, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_fault_is_no_hang, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_hang_makes_the_status_124, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_a_dump_cannot_tell_is_unknown_and_not_0, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_run_takes_a_dump_at_a_stall, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_run_without_an_answer_says_so, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_run_explains_an_error_with_the_drivers_dump, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_run_whose_error_left_no_dump_says_so, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_signal_ends_the_wait_for_a_dump, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(two_dumps_of_one_process_are_two_looks, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
