/* stands_test.c - when the file of a simulated device proves that what runs on it never goes on. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/sim_stands.h"
#include "wsdbg/device_state.h"

enum { NOW_NS = 1000, LEAST_NS = 100 };

#define PROOF                                                                                    \
    {                                                                                            \
        .magic = WSDBG_STATE_MAGIC, .version = WSDBG_STATE_VERSION, .time_ns = NOW_NS - LEAST_NS \
    }

static const struct {
    const char *says, *name;
    struct wsdbg_state_header header;
    size_t byte_count;
    bool stands;
} cases[] = {
    {"a proof", "state-7-0000000000000001", PROOF, sizeof(struct wsdbg_state_header), true},
    {"a file of something else", "images-7", PROOF, sizeof(struct wsdbg_state_header), false},
    {"half a file", "state-7-0000000000000001", PROOF, sizeof(struct wsdbg_state_header) / 2, false},
    {"no proof: the host may help",
     "state-7-0000000000000001",
     {WSDBG_STATE_MAGIC, WSDBG_STATE_VERSION, .time_ns = 0, .host_may_help = 1},
     sizeof(struct wsdbg_state_header),
     false},
    {"not yet long enough",
     "state-7-0000000000000001",
     {WSDBG_STATE_MAGIC, WSDBG_STATE_VERSION, .time_ns = NOW_NS - LEAST_NS + 1},
     sizeof(struct wsdbg_state_header),
     false},
    {"of a time to come",
     "state-7-0000000000000001",
     {WSDBG_STATE_MAGIC, WSDBG_STATE_VERSION, .time_ns = NOW_NS + 1},
     sizeof(struct wsdbg_state_header),
     false},
    {"of another version",
     "state-7-0000000000000001",
     {WSDBG_STATE_MAGIC, WSDBG_STATE_VERSION + 1, .time_ns = 0},
     sizeof(struct wsdbg_state_header),
     false},
};

static void a_proof_is_a_whole_file_that_has_stood_for_a_while(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[] = "stands-XXXXXX", path[64];
        print_message("%s\n", cases[i].says);
        assert_non_null(mkdtemp(folder));
        assert_false(wsdbg_sim_stands(folder, NOW_NS, LEAST_NS));
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(&cases[i].header, 1, cases[i].byte_count, file), cases[i].byte_count);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(wsdbg_sim_stands(folder, NOW_NS, LEAST_NS), cases[i].stands);
        unlink(path);
        rmdir(folder);
    }
}

static void no_folder_is_no_proof(void **state)
{
    (void)state;
    assert_false(wsdbg_sim_stands("there-is-no-such-folder", NOW_NS, LEAST_NS));
}

/* Its file says so by its time alone; another file's time says nothing. */
static void what_executed_a_moment_ago_works(void **state)
{
    char folder[] = "/tmp/wsdbg-works-test.XXXXXX", path[128];
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_false(wsdbg_sim_works(folder, 1000000000));
    snprintf(path, sizeof path, "%s/state-7-0000000000000001", folder);
    fclose(fopen(path, "w"));
    assert_false(wsdbg_sim_works(folder, 1000000000));
    unlink(path);
    snprintf(path, sizeof path, "%s/works-7-0000000000000001", folder);
    fclose(fopen(path, "w"));
    assert_true(wsdbg_sim_works(folder, 60000000000));
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_false(wsdbg_sim_works(folder, 60000000000));
    unlink(path);
    rmdir(folder);
    assert_false(wsdbg_sim_works(folder, 60000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proof_is_a_whole_file_that_has_stood_for_a_while),
        cmocka_unit_test(no_folder_is_no_proof),
        cmocka_unit_test(what_executed_a_moment_ago_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
