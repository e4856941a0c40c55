/* ptx_screens_test.c - the source view where the source is not at hand: the PTX in its place, marked or not, or
 * neither; from a database, and while the program runs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/sessions.h"

/* What nvcc -lineinfo makes of the producer's wait in the reference GEMM, and no more of it. */
#define LINE_132                                                              \
    "\t.loc\t1 132 13, function_name $L__info_string38, inlined_at 1 359 9\n" \
    "\t.loc\t2 78 24, function_name $L__info_string19, inlined_at 1 132 13\n" \
    "\tadd.s32 \t%r75, %r872, 229408;\n"                                      \
    "\t// begin inline asm\n"                                                 \
    "\tmbarrier.try_wait.parity.shared::cta.b64 done, [%r75], %r73;\n"        \
    "\t// end inline asm\n"
#define FILES ".file\t1 \"/src/gemm/gemm.cu\"\n.file\t2 \"/src/gemm/sync.cuh\"\n"
#define HEAD ".version 9.0\n.target sm_90a\n.visible .entry gemm_cooperative()\n{\n"

/* Gives the one probed module of a replayed session something to read. */
static void keep(const char *session, const char *values)
{
    char sql[4096];
    session_replayed(session);
    snprintf(sql, sizeof sql,
             "INSERT INTO source_file (module_id, path, text_missing, ptx, ptx_missing) SELECT id, %s FROM module "
             "WHERE probed",
             values);
    session_change(session, sql);
}

static void ptx_is_marked_where_it_comes_from_a_line_that_somebody_waits_at(void **state)
{
    (void)state;
    keep("double-arrive", "'/src/gemm/gemm.cu', 'not found', '" HEAD LINE_132 "}\n" FILES "', NULL");
    view_screens("source-ptx", "double-arrive", "o");
}

static void ptx_without_lines_is_not_marked(void **state)
{
    (void)state;
    keep("arrive-missing", "'/src/gemm/gemm.cu', 'larger than 4 MiB', '" HEAD "\tret;\n}\n', NULL");
    view_screen("source-ptx-no-lines", "arrive-missing", "o", 80, 24);
}

static void ptx_of_a_source_without_a_name_is_not_marked(void **state)
{
    (void)state;
    keep("tx-mismatch", "NULL, NULL, '" HEAD LINE_132 "}\n" FILES "', NULL");
    view_screen("source-ptx-no-name", "tx-mismatch", "o", 80, 24);
}

static void a_module_with_neither_says_why(void **state)
{
    (void)state;
    keep("parity-wrong", "'/src/gemm/gemm.cu', 'not found', NULL, 'the module is a cubin, which holds no PTX'");
    view_screen("source-neither", "parity-wrong", "o", 80, 24);
}

static void expect_ptx(struct screen *screen)
{
    screen_press(screen, "o");
    screen_expect(screen, "pipeline.cu  not found; this is the module's PTX");
    screen_expect(screen, ".loc 1 77 5");
    screen_expect(screen, "consumer: full[0] parity 0");
}

static void a_run_that_is_looked_at_shows_ptx_from_the_images_it_keeps(void **state)
{
    (void)state;
    struct screen *screen =
        SCREEN(80, 24, WSDBG_BINARY, "run", "--tui", "--stall", "0.3", "-o", "x.db", "--", FAKE_HANG, "ptx");
    screen_expect(screen, "HANG: WAKER_EXITED (proven)");
    expect_ptx(screen);
    screen_expect(screen, "finished");
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 124);

    struct screen *afterwards = view_open("x");
    expect_ptx(afterwards);
    view_leave(afterwards);
}

static void another_terminal_shows_ptx_from_the_database(void **state)
{
    (void)state;
    struct running run = WSDBG_START("run", "--on-stall=wait", "--stall", "0.3", "-o", "x.db", "--", FAKE_HANG, "ptx");
    wait_for_file("pid");
    struct screen *screen = SCREEN(80, 24, WSDBG_BINARY, "top", "x.db");
    screen_expect(screen, "HANG: WAKER_EXITED (proven)");
    expect_ptx(screen);
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 0);
    kill(run.pid, SIGTERM);
    struct outcome end = finish(run);
    outcome_free(&end);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(ptx_is_marked_where_it_comes_from_a_line_that_somebody_waits_at),
        TEST(ptx_without_lines_is_not_marked),
        TEST(ptx_of_a_source_without_a_name_is_not_marked),
        TEST(a_module_with_neither_says_why),
        TEST(a_run_that_is_looked_at_shows_ptx_from_the_images_it_keeps),
        TEST(another_terminal_shows_ptx_from_the_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
