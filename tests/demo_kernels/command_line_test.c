/* command_line_test.c - the demo programs' command lines, without a GPU: one clear line and status 2 for bad options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#define STATUS_BAD_OPTION 2

/* Runs `command` of PROGRAMS; stores what it prints on stderr and stdout, returns its exit status. */
static int run(const char *command, char *text, size_t size)
{
    char line[512];
    snprintf(line, sizeof line, PROGRAMS "/%s 2>&1", command);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    const size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    const int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void bad_options_get_one_line_that_names_them(void **state)
{
    static const struct {
        const char *command, *line;
    } cases[] = {
        {"gemm --m 3", "gemm: --m: '3' is not a number from 8 to 65536\n"},
        {"gemm --k 12",
         "gemm: --m, --n and --k must be multiples of 8 (a row of a tensor map is a multiple of 16 bytes)\n"},
        {"gemm --n 8x", "gemm: --n: '8x' is not a number from 8 to 65536\n"},
        {"gemm --m", "gemm: '--m' needs a value (see --help)\n"},
        {"gemm --fast", "gemm: '--fast' is no option (see --help)\n"},
        {"gemm 8192", "gemm: '8192' is no option (see --help)\n"},
        {"gemm --bug nonsense", "gemm: --bug: there is no 'nonsense' (see --list-bugs)\n"},
        {"gemm --schedule fast",
         "gemm: --schedule: 'fast' is not one of cooperative, pingpong, streamk, splitk, splitk-low, auto\n"},
        {"gemm --columns 100", "gemm: --columns: there is no such tile (see --help)\n"},
        {"gemm --cluster 3", "gemm: --schedule, --columns and --cluster: there is no such kernel (see --help)\n"},
        {"gemm --schedule streamk",
         "gemm: --schedule, --columns and --cluster: there is no such kernel (see --help)\n"},
        {"gemm --bug parity-wrong --schedule auto",
         "gemm: --bug: the bugs exist for --schedule cooperative --columns 256 --cluster 1 only\n"},
        {"gemm --bug parity-wrong --cluster 2",
         "gemm: --bug: the bugs exist for --schedule cooperative --columns 256 --cluster 1 only\n"},
        {"gemm --bug parity-wrong --variant off", "gemm: --bug: the bugs do not exist as --variant off\n"},
        {"gemm --bug wgmma-serialized --shapes shapes.txt", "gemm: --shapes: not with --bug\n"},
        {"gemm --shapes shapes.txt --m 64",
         "gemm: --shapes: sizes and plans come from the file; not with --m, --n, --k, --columns, --cluster, --band, "
         "--ctas, --transposed, --overlap, --bench, --checksum or --times\n"},
        {"gemm --schedule splitk --cluster 2 --columns 128 --ctas 4",
         "gemm: --ctas: split-K runs one cluster for each tile\n"},
        {"gemm --schedule splitk-low --cluster 2 --columns 128 --ctas 4",
         "gemm: --ctas: split-K runs one cluster for each tile\n"},
        {"gemm --schedule splitk --cluster 1",
         "gemm: --schedule, --columns and --cluster: there is no such kernel (see --help)\n"},
        {"gemm --candidates", "gemm: --candidates: only with --shapes\n"},
        {"gemm --schedule auto --ctas 4",
         "gemm: --schedule auto: not with --columns, --cluster, --band, --ctas, --transposed or --overlap, "
         "which it chooses\n"},
        {"gemm --ctas 1 --cluster 2", "gemm: --ctas: fewer CTAs than a cluster has\n"},
        {"waits --bug nonsense", "waits: --bug: there is no 'nonsense' (see --list-bugs)\n"},
        {"waits", "waits: '--bug' is missing (see --help)\n"},
        {"waits --bug long-work --seconds 0", "waits: --seconds: '0' is not a number from 1 to 3600\n"},
        {"zoo --case nonsense", "zoo: --case: there is no 'nonsense' (see --list)\n"},
        {"zoo --variant plain", "zoo: '--case' is missing (see --help)\n"},
        {"zoo --case ok-late-rank --fixed",
         "zoo: 'ok-late-rank' has no defect that --fixed could leave out (see --help)\n"},
        {"two_async_warps --defect nonsense",
         "two_async_warps: --defect: there is no 'nonsense' (see --list-defects)\n"},
        {"two_async_warps --columns 6",
         "two_async_warps: --columns must be a multiple of 4 (a bulk copy is a multiple of 16 bytes)\n"},
    };
    char text[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(cases[i].command, text, sizeof text), STATUS_BAD_OPTION);
        assert_string_equal(text, cases[i].line);
    }
}

static void every_bug_of_the_table_is_listed_with_its_cause(void **state)
{
    static const char *const rows[] = {
#define BUG(id, name, cause, role, barrier, ...) name "\t" #cause "\t" role "\t" barrier "\t",
#include "../../demo_kernels/gemm/bugs.def"
#undef BUG
    };
    char text[8192];
    (void)state;
    assert_int_equal(run("gemm --list-bugs", text, sizeof text), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_non_null(strstr(text, rows[i]));
}

static void every_defect_of_the_table_is_listed_with_its_cause(void **state)
{
    static const char *const rows[] = {
#define DEFECT(id, name, set, cause, role, barrier, ...) name "\t" cause "\t" role "\t" barrier "\t",
#include "../../demo_kernels/two_async_warps/defects.def"
#undef DEFECT
    };
    char text[8192];
    (void)state;
    assert_int_equal(run("two_async_warps --list-defects", text, sizeof text), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_non_null(strstr(text, rows[i]));
}

static void every_wait_of_the_table_is_listed_with_its_cause(void **state)
{
    static const char *const rows[] = {
#define WAIT(id, name, cause, role, barrier, ...) name "\t" cause "\t" role "\t" barrier "\t",
#include "../../demo_kernels/waits/waits.def"
#undef WAIT
    };
    char text[8192];
    (void)state;
    assert_int_equal(run("waits --list-bugs", text, sizeof text), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_non_null(strstr(text, rows[i]));
}

static void help_is_no_error(void **state)
{
    char text[8192];
    (void)state;
    assert_int_equal(run("gemm --help", text, sizeof text), 0);
    assert_non_null(strstr(text, "usage: gemm"));
    assert_int_equal(run("two_async_warps --help", text, sizeof text), 0);
    assert_non_null(strstr(text, "usage: two_async_warps"));
    assert_int_equal(run("waits --help", text, sizeof text), 0);
    assert_non_null(strstr(text, "usage: waits"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_options_get_one_line_that_names_them),
        cmocka_unit_test(every_bug_of_the_table_is_listed_with_its_cause),
        cmocka_unit_test(every_defect_of_the_table_is_listed_with_its_cause),
        cmocka_unit_test(every_wait_of_the_table_is_listed_with_its_cause),
        cmocka_unit_test(help_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
