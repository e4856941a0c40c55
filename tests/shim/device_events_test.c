/* device_events_test.c - of what the driver's event thread is woken by, what counts as out of the ordinary. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "debug_state.h"
#include "device_events.h"

enum { DEVICES = 200, OTHERS = 300 }; /* the first descriptor of the GPU's files, and of another driver's */

_Atomic bool debug_attach_stays;

/* In place of the C library's. */
int fstat(int fd, struct stat *status)
{
    memset(status, 0, sizeof *status);
    status->st_mode = fd >= DEVICES ? S_IFCHR | 0600 : S_IFIFO | 0600;
    status->st_rdev = fd >= OTHERS ? makedev(10, 200) : fd >= DEVICES ? makedev(195, 0) : 0;
    return 0;
}

/* A file from `least` on; ready, or silent. */
static struct pollfd file(int least, bool is_ready)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const struct pollfd made = {.fd = fcntl(ends[0], F_DUPFD, least), .events = POLLIN};
    if (is_ready)
        assert_int_equal(write(ends[1], "", 1), 1);
    close(ends[0]);
    return made;
}

/* What it counts when the driver sleeps on these files: d a GPU's, o another device's, p a pipe; capitals are ready. */
static uint32_t counted(const char *files)
{
    struct pollfd polled[8];
    const size_t count = strlen(files);
    const uint32_t before = atomic_load(&device_events);
    for (size_t i = 0; i < count; i++)
        polled[i] = file(strchr("dD", files[i])   ? DEVICES
                         : strchr("oO", files[i]) ? OTHERS
                                                  : 3,
                         strchr("DOP", files[i]) != NULL);
    poll(polled, count, 0);
    for (size_t i = 0; i < count; i++)
        close(polled[i].fd);
    return atomic_load(&device_events) - before;
}

static void nothing_is_counted_while_nobody_stays(void **state)
{
    (void)state;
    atomic_store(&debug_attach_stays, false);
    assert_int_equal(counted("pdDD"), 0);
    assert_false(atomic_load(&device_events_are_seen));
}

static void who_sleeps_on_no_file_of_a_gpu_is_not_the_driver(void **state)
{
    (void)state;
    atomic_store(&debug_attach_stays, true);
    assert_int_equal(counted("pPOO"), 0);
    assert_false(atomic_load(&device_events_are_seen));
    assert_int_equal(counted("pd"), 0); /* it slept its time out */
    assert_true(atomic_load(&device_events_are_seen));
}

static void the_first_of_a_gpus_files_is_ready_when_work_ends(void **state)
{
    (void)state;
    atomic_store(&debug_attach_stays, true);
    assert_int_equal(counted("PDddd"), 0);
    assert_int_equal(counted("DOdd"), 0);
}

static void the_others_are_ready_when_a_kernel_has_failed(void **state)
{
    (void)state;
    atomic_store(&debug_attach_stays, true);
    assert_int_equal(counted("pddDdD"), 2);
    assert_int_equal(counted("PDDp"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_counted_while_nobody_stays),
        cmocka_unit_test(who_sleeps_on_no_file_of_a_gpu_is_not_the_driver),
        cmocka_unit_test(the_first_of_a_gpus_files_is_ready_when_work_ends),
        cmocka_unit_test(the_others_are_ready_when_a_kernel_has_failed),
    };
    return cmocka_run_group_tests_name("shim_device_events", tests, NULL, NULL);
}
