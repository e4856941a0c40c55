/* host_threads_test.c - whether the program's other threads go on while one waits for the GPU, as the shim tells it. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host_threads.h"
#include "network_cards.h"

#define ENDLESS 0, 128, 2, 0        /* address, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, no time limit */
#define FOR_A_TIME 0, 137, 2, 0x7f0 /* FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, until then */
#define WAKES 0, 129, 2, 0
#define NOBODY 0x7fffffff      /* no thread has this number */
#define SHARED 0, 0, NOBODY, 0 /* without FUTEX_PRIVATE_FLAG */
#define UNTIL_ENDS(thread)                                                                     \
    0, 265, (unsigned)(thread), 0 /* FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, as pthread_join \
                                   */

static const struct text_row {
    const char *what, *name;
    long call;
    unsigned long argument[4];
    bool is_blocked;
} texts[] = {
    {"a mutex", "worker", SYS_futex, {ENDLESS}, true},
    {"a condition, for a time", "worker", SYS_futex, {FOR_A_TIME}, false},
    {"a mutex that processes share", "worker", SYS_futex, {SHARED}, false},
    {"the end of what is no thread of the program", "worker", SYS_futex, {UNTIL_ENDS(NOBODY)}, false},
    {"another futex call", "worker", SYS_futex, {WAKES}, false},
    {"a sleep", "worker", SYS_clock_nanosleep, {0, 0, 0, 0}, false},
    {"outside of the kernel", "worker", -1, {ENDLESS}, false},
    {"a poll", "worker", SYS_ppoll, {0, 0, 0, 0}, false},
    {"the driver's poll", "cuda-EvtHandlr", SYS_ppoll, {0, 0, 0, 0}, true},
    {"the driver's poll of an older kind", "cuda00006000019", SYS_ppoll, {0, 0, 0, 0}, true},
    {"a poll of a program named so", "cudasample", SYS_ppoll, {0, 0, 0, 0}, false},
    {"a poll of a program of that length", "cuda_attention_", SYS_ppoll, {0, 0, 0, 0}, false},
    {"the program's function on the driver's thread", "cuda-EvtHandlr", SYS_clock_nanosleep, {0, 0, 0, 0}, false},
    {"one that watches NCCL, for a time", "pt_nccl_watchdg", SYS_futex, {FOR_A_TIME}, true},
    {"the other one", "pt_nccl_heartbt", SYS_futex, {FOR_A_TIME}, true},
    {"one of a name that is like it", "pt_nccl_watch", SYS_futex, {FOR_A_TIME}, false},
    {"one that watches, asleep", "pt_nccl_heartbt", SYS_clock_nanosleep, {0, 0, 0, 0}, false},
    {"one that watches, for another process", "pt_nccl_watchdg", SYS_futex, {SHARED}, false},
    {"PyTorch's store", "pt_tcpstore_uv", SYS_epoll_pwait, {0, 0, 0, 0}, true},
    {"PyTorch's store of an older kind", "pt_tcpstore", SYS_ppoll, {0, 0, 0, 0}, true},
    {"PyTorch's store, asleep", "pt_tcpstore_uv", SYS_clock_nanosleep, {0, 0, 0, 0}, false},
    {"one that waits for events", "worker", SYS_epoll_pwait, {0, 0, 0, 0}, false},
    {"one of a name that is like the store's", "pt_tcpstore_cl", SYS_epoll_pwait, {0, 0, 0, 0}, false},
    {"a thread of wsdbg", WSDBG_THREAD_OBSERVER, SYS_clock_nanosleep, {0, 0, 0, 0}, true},
    {"the simulator", WSDBG_THREAD_SIMULATOR, SYS_clock_nanosleep, {0, 0, 0, 0}, true},
    {"the simulator's thread for the program's functions", "wsdbg-callbacks", SYS_clock_nanosleep, {0, 0, 0, 0}, false},
};

static bool is_blocked(const struct text_row *row)
{
    char text[160];
    const unsigned long *a = row->argument;
    snprintf(text, sizeof text, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x0 0x0 0x7ffc 0x7f3a\n", row->call, a[0], a[1], a[2],
             a[3]);
    return host_thread_is_blocked(row->name, text);
}

static void a_thread_rests_that_only_another_one_wakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (is_blocked(&texts[i]) != texts[i].is_blocked)
            fail_msg("%s: %s", texts[i].what, texts[i].is_blocked ? "is not blocked" : "is blocked");
    const struct text_row join = {"a join", "worker", SYS_futex, {UNTIL_ENDS(getpid())}, true};
    assert_true(is_blocked(&join));
    assert_false(host_thread_is_blocked("worker", "running\n"));
    assert_true(host_thread_is_blocked(WSDBG_THREAD_OBSERVER, "running\n"));
}

static const struct program_row {
    const char *other;
    enum wsdbg_host_state state;
} programs[] = {
    {"none", WSDBG_HOST_ALL_BLOCKED},
    {"waits-for-another", WSDBG_HOST_ALL_BLOCKED},
    {"joins", WSDBG_HOST_ALL_BLOCKED},
    {"wakes-often", WSDBG_HOST_STRANGER_GOES_ON},
    {"waits-for-a-process", WSDBG_HOST_STRANGER_GOES_ON},
    {"polls-as-driver", WSDBG_HOST_ALL_BLOCKED},
    {"named-as-driver", WSDBG_HOST_STRANGER_GOES_ON},
    {"sleeps", WSDBG_HOST_STRANGER_GOES_ON},
    {"reads", WSDBG_HOST_STRANGER_GOES_ON},
    {"used-and-sleeps", WSDBG_HOST_GOES_ON},
    {"serves-in-nccl", WSDBG_HOST_ALL_BLOCKED},
    {"serves-elsewhere", WSDBG_HOST_STRANGER_GOES_ON},
    {"called-by-nccl", WSDBG_HOST_STRANGER_GOES_ON},
    {"was-in-nccl", WSDBG_HOST_STRANGER_GOES_ON},
    {"watches", WSDBG_HOST_ALL_BLOCKED},
    {"serves-store", WSDBG_HOST_ALL_BLOCKED},
    {"waits-for-events", WSDBG_HOST_STRANGER_GOES_ON},
    {"watches-asleep", WSDBG_HOST_STRANGER_GOES_ON},
};

static uint32_t state_of(const struct wsdbg_segment *segment)
{
    return __atomic_load_n(&segment->host_state, __ATOMIC_ACQUIRE);
}

static void check(const struct program_row *row)
{
    struct run run = {.program = SHIM_APP_THREADS, .mode = "-", .scenario = row->other};
    run_start(&run);
    run_wait_line(&run, "waits");
    const struct wsdbg_segment *segment = segment_of(run.pid);
    assert_non_null(segment);
    for (int i = 0; i < 1000 && state_of(segment) != row->state; i++)
        usleep(10000);
    if (state_of(segment) != row->state)
        print_error("%s: %u\n", row->other, state_of(segment));
    assert_int_equal(state_of(segment), row->state);
    for (int i = 0; i < 10; i++, usleep(20000)) /* some looks on */
        assert_int_equal(state_of(segment), row->state);
    assert_int_equal(__atomic_load_n(&segment->network_cards, __ATOMIC_ACQUIRE), WSDBG_NETWORK_CARDS_NONE);
    kill(run.pid, SIGKILL);
    run_finish(&run);
    segment_remove(run.pid);
}

static void while_one_thread_waits_the_others_are_looked_at(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        check(&programs[i]);
}

/* A device that no program needs, by whatever file there is of such. */
static int open_device(void)
{
    static const char *const paths[] = {"/dev/kmsg", "/dev/loop-control", "/dev/mem", "/dev/net/tun", "/dev/hwrng"};
    int device = -1;
    for (size_t i = 0; device < 0 && i < sizeof paths / sizeof *paths; i++)
        device = open(paths[i], O_PATH | O_CLOEXEC);
    return device;
}

static void a_device_that_is_not_known_may_be_a_network_card(void **state)
{
    const int harmless = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)state;
    assert_int_equal(network_cards_look(), WSDBG_NETWORK_CARDS_NONE);
    const int device = open_device();
    if (device >= 0)
        assert_int_equal(network_cards_look(), WSDBG_NETWORK_CARDS_OPEN);
    close(device);
    assert_int_equal(network_cards_look(), WSDBG_NETWORK_CARDS_NONE);
    close(harmless);
}

static void nobody_is_looked_at_while_none_waits(void **state)
{
    (void)state;
    struct run run = {.program = SHIM_APP_LINKED, .mode = "linked", .scenario = "hang", .environment = {"APP_WAITS=1"}};
    run_start(&run);
    run_wait_line(&run, "ready");
    for (int i = 0; i < 20; i++, usleep(20000))
        assert_int_equal(state_of(segment_of(run.pid)), WSDBG_HOST_NOT_KNOWN);
    run_finish(&run);
    segment_remove(run.pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_rests_that_only_another_one_wakes),
        cmocka_unit_test(while_one_thread_waits_the_others_are_looked_at),
        cmocka_unit_test(nobody_is_looked_at_while_none_waits),
        cmocka_unit_test(a_device_that_is_not_known_may_be_a_network_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
