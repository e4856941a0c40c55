/* print_test.c - what kernels print: on stdout when they print it, also when the kernel never ends. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libcuda/kernels.h"

/* `talk` prints its thread's number and then waits at a barrier for as many threads as it is told. */
static const char text[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n"
    ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".global .align 1 .b8 form[11] = {116, 104, 114, 101, 97, 100, 32, 37, 100, 10, 0};\n" /* thread %d\n */
    ".visible .entry talk(.param .u32 expected)\n{\n.local .align 8 .b8 depot[8];\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
    "mov.u64 %d0, depot;\nmov.u32 %r0, %tid.x;\nst.local.u32 [%d0], %r0;\ncvta.local.u64 %d0, %d0;\nmov.u64 %d1, "
    "form;\n"
    "cvta.global.u64 %d1, %d1;\n{\n.param .b64 a;\nst.param.b64 [a], %d1;\n.param .b64 b;\nst.param.b64 [b], %d0;\n"
    ".param .b32 c;\ncall.uni (c), vprintf, (a, b);\n}\nld.param.u32 %r1, [expected];\nbar.sync 0, %r1;\nret;\n}\n";

static int printed[2], kept;

static void catch_stdout(void)
{
    fflush(stdout);
    assert_int_equal(pipe(printed), 0);
    kept = dup(STDOUT_FILENO);
    dup2(printed[1], STDOUT_FILENO);
}

/* The next `count` bytes, which come in the end. */
static void expect_bytes(const char *expected)
{
    char got[256] = "";
    size_t count = 0;
    while (count < strlen(expected)) {
        const ssize_t more = read(printed[0], got + count, strlen(expected) - count);
        assert_true(more > 0);
        count += (size_t)more;
    }
    assert_string_equal(got, expected);
}

static void give_stdout_back(void)
{
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(printed[0]);
    close(printed[1]);
}

static void say(uint32_t threads, uint32_t expected)
{
    CUmodule module;
    void *parameters[] = {&expected};
    OK(cu.cuModuleLoadData(&module, text));
    OK(launch(find_kernel(module, "talk"), 1, threads, NULL, parameters));
}

static void threads_print_in_their_order(void **state)
{
    (void)state;
    catch_stdout();
    say(3, 32);
    const CUresult result = cu.cuCtxSynchronize();
    expect_bytes("thread 0\nthread 1\nthread 2\n");
    give_stdout_back();
    OK(result);
}

/* Nothing has to be synchronised for it. */
static void a_kernel_that_hangs_has_printed(void **state)
{
    (void)state;
    catch_stdout();
    say(1, 64);
    expect_bytes("thread 0\n");
    give_stdout_back();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_print_in_their_order, api_begin, api_end),
        cmocka_unit_test_setup_teardown(a_kernel_that_hangs_has_printed, api_begin, api_end),
    };
    api_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
