/* live_calls_test.c - any call of a look may fail, hang or crash its process, on the fake driver: the program goes on
 * as before, and the next look works.  Mostly waits, so it runs as several processes, each with a part of the calls. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/live_rig.h"

#define MS UINT64_C(1000000)

enum { PARTS = 3 };
static int part;

/* All steps, whatever each says. */
static void try_all(struct rig *rig)
{
    for (int step = 0; step < RIG_STEPS; step++)
        wsdbg_error_destroy(rig_step(rig, step));
}

static void any_call_may_fail(void **state)
{
    (void)state;
    for (int at = 1 + part; at <= 60; at += PARTS) {
        char text[16];
        struct rig rig = rig_start(NULL);
        snprintf(text, sizeof text, "%d", at);
        setenv("FAKE_CUDA_FAIL_AT", text, 1);
        try_all(&rig);
        unsetenv("FAKE_CUDA_FAIL_AT");
        rig_assert_left_alone(&rig);
        rig_finish(&rig);
    }
}

/* A call that never returns, or kills its process, in the inspector; not once more in its attach watchdog. */
static void assert_survives(const char *how, const char *call)
{
    char once[] = "/tmp/wsdbg-once-XXXXXX";
    struct rig rig = rig_start(NULL);
    close(mkstemp(once));
    setenv("FAKE_CUDA_ONCE", once, 1);
    setenv(how, call, 1);
    /* On a busy machine the inspector may not come as far as the call in a short time. */
    for (rig.limit_ns = 400 * MS; rig.limit_ns <= 6400 * MS && !access(once, F_OK); rig.limit_ns *= 4)
        try_all(&rig);
    unsetenv(how);
    unsetenv("FAKE_CUDA_ONCE");
    assert_int_equal(access(once, F_OK), -1);
    rig_assert_left_alone(&rig);
    rig.limit_ns = LIMIT_NS;
    for (int step = RIG_ATTACH; step <= RIG_WARPS; step++)
        rig_ok(rig_step(&rig, step));
    rig_ok(rig_step(&rig, RIG_RESUME));
    rig_ok(rig_step(&rig, RIG_DETACH));
    rig_finish(&rig);
}

static void any_call_may_hang_or_crash(void **state)
{
    (void)state;
    static const char *const calls[] = {"cudbgGetAPIVersion",
                                        "cudbgGetAPI",
                                        "initialize",
                                        "getNextEvent",
                                        "getElfImageByHandle",
                                        "acknowledgeSyncEvents",
                                        "suspendDevice",
                                        "readWarpState",
                                        "getGridInfo",
                                        "readRegisterRange",
                                        "readSharedMemory",
                                        "resumeDevice",
                                        "requestCleanupOnDetach",
                                        "finalize"};
    for (size_t i = (size_t)part; i < sizeof calls / sizeof *calls; i += PARTS) {
        assert_survives("FAKE_CUDA_HANG", calls[i]);
        assert_survives("FAKE_CUDA_CRASH", calls[i]);
    }
}

static int run_parts(char *program)
{
    pid_t parts[PARTS];
    int failed = 0;
    for (int i = 0; i < PARTS; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        char *arguments[] = {program, number, NULL};
        failed |= posix_spawn(&parts[i], program, NULL, NULL, arguments, environ);
    }
    for (int i = 0; i < PARTS; i++) {
        int status = 0;
        failed |= waitpid(parts[i], &status, 0) != parts[i] || status != 0;
    }
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(any_call_may_hang_or_crash),
    };
    if (argc < 2)
        return run_parts(argv[0]);
    part = atoi(argv[1]);
    return cmocka_run_group_tests_name("live_calls", tests, NULL, free_texts);
}
