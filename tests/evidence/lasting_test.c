/* lasting_test.c - memory that outlives its context, as wsdbg gets it: what is taken in, let go and read, through the
 * fake libcuda (tests/shim).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "evidence/lasting_memory.h"
#include "evidence/lasting_sender.h"

enum { SECOND_MS = 1000 };

static struct wsdbg_lasting_memory *open_memory(void)
{
    struct wsdbg_lasting_memory *memory;
    assert_null(wsdbg_lasting_memory_open(spool, &memory));
    return memory;
}

static void send_memory(enum wsdbg_memory_kind kind, uint64_t used_bytes, uint8_t fill)
{
    const struct wsdbg_memory_message message = message_of(kind, used_bytes);
    send_message(&message, sizeof message, 1, fill);
}

static const struct wsdbg_context_row row_with_history = {
    .slots_device_address = SLOTS_AT, .history_device_address = HISTORY_AT, .history_depth = 8};

static struct wsdbg_error *read_memory(struct wsdbg_lasting_memory *memory, bool *found,
                                       struct wsdbg_lasting_copy *copy)
{
    return wsdbg_lasting_memory_read(memory, (uint32_t)getpid(), CONTEXT, &row_with_history, found, copy);
}

/* ---- taking in and letting go ---- */

static void what_is_no_message_is_ignored_and_leaks_nothing(void **state)
{
    (void)state;
    const struct wsdbg_memory_message good = message_of(WSDBG_MEMORY_SLOTS, 100);
    struct {
        const char *what;
        struct wsdbg_memory_message message;
        size_t bytes, descriptors;
    } cases[] = {
        {"nothing", good, 0, 1},
        {"a short one", good, sizeof good - 1, 1},
        {"a long one", good, sizeof good + 1, 1},
        {"no descriptor", good, sizeof good, 0},
        {"two descriptors", good, sizeof good, 2},
        {"three descriptors", good, sizeof good, 3},
        {"another version", good, sizeof good, 1},
        {"no such context", good, sizeof good, 1},
        {"no such kind", good, sizeof good, 1},
        {"more used than allocated", good, sizeof good, 1},
        {"a huge size", good, sizeof good, 1},
    };
    cases[6].message.version++;
    cases[7].message.context = 99;
    cases[8].message.kind = 7;
    cases[9].message.used_bytes = ALLOCATED + 1;
    cases[10].message.used_bytes = cases[10].message.allocated_bytes = UINT64_MAX;
    struct wsdbg_lasting_memory *memory = open_memory();
    const int before = count_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        send_message(&cases[i].message, cases[i].bytes, cases[i].descriptors, 1);
        wsdbg_lasting_memory_receive(memory);
        if (count_descriptors() != before)
            fail_msg("%s: %d descriptors are left", cases[i].what, count_descriptors() - before);
    }
    bool found = true;
    struct wsdbg_lasting_copy copy;
    assert_null(read_memory(memory, &found, &copy));
    assert_false(found);
    wsdbg_lasting_memory_close(memory);
}

static void memory_is_held_until_it_is_dropped(void **state)
{
    (void)state;
    struct wsdbg_lasting_memory *memory = open_memory();
    const int before = count_descriptors();
    const uint32_t process_id = (uint32_t)getpid();
    send_memory(WSDBG_MEMORY_SLOTS, 100, 1);
    send_memory(WSDBG_MEMORY_HISTORY, 100, 1);
    wsdbg_lasting_memory_receive(memory);
    assert_int_equal(count_descriptors(), before + 2);
    wsdbg_lasting_memory_drop(memory, process_id + 1, CONTEXT);
    wsdbg_lasting_memory_drop(memory, process_id, CONTEXT + 1);
    assert_int_equal(count_descriptors(), before + 2);
    wsdbg_lasting_memory_drop(memory, process_id, CONTEXT);
    assert_int_equal(count_descriptors(), before);
    wsdbg_lasting_memory_close(memory);
}

static void close_lets_go_of_all(void **state)
{
    (void)state;
    const int before = count_descriptors();
    struct wsdbg_lasting_memory *memory = open_memory();
    send_memory(WSDBG_MEMORY_SLOTS, 100, 1);
    wsdbg_lasting_memory_receive(memory);
    send_memory(WSDBG_MEMORY_HISTORY, 100, 1); /* never taken in */
    wsdbg_lasting_memory_close(memory);
    assert_int_equal(count_descriptors(), before);
    wsdbg_lasting_memory_close(NULL);
}

static void a_path_too_long_for_a_socket_is_an_error(void **state)
{
    (void)state;
    char path[200];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    struct wsdbg_lasting_memory *memory;
    struct wsdbg_error *error = wsdbg_lasting_memory_open(path, &memory);
    assert_non_null(strstr(wsdbg_error_message(error), "the path is too long for a socket"));
    wsdbg_error_destroy(error);
}

/* ---- reading ---- */

static void assert_filled(const void *bytes, size_t count, uint8_t fill)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(((const uint8_t *)bytes)[i], fill);
}

static void slots_and_history_are_read(void **state)
{
    (void)state;
    struct wsdbg_lasting_memory *memory = open_memory();
    struct wsdbg_lasting_copy copy;
    bool found = false;
    send_memory(WSDBG_MEMORY_SLOTS, 100, 0xaa);
    send_memory(WSDBG_MEMORY_HISTORY, 5000, 0xbb);
    wsdbg_lasting_memory_receive(memory);
    assert_null(read_memory(memory, &found, &copy));
    assert_true(found);
    assert_int_equal(copy.slots_bytes, 100);
    assert_int_equal(copy.history_bytes, 5000);
    assert_filled(copy.slots, 100, 0xaa);
    assert_filled(copy.history, 5000, 0xbb);
    free(copy.slots);
    free(copy.history);
    wsdbg_lasting_memory_close(memory);
}

static void slots_are_read_without_a_history(void **state)
{
    (void)state;
    struct wsdbg_lasting_memory *memory = open_memory();
    struct wsdbg_lasting_copy copy;
    bool found = false;
    send_memory(WSDBG_MEMORY_SLOTS, 100, 0xaa);
    wsdbg_lasting_memory_receive(memory);
    assert_null(read_memory(memory, &found, &copy));
    assert_true(found);
    assert_null(copy.history);
    assert_filled(copy.slots, 100, 0xaa);
    free(copy.slots);
    wsdbg_lasting_memory_close(memory);
}

/* The row names the address that its context really uses: memory that was sent for another is not taken for it. */
static void memory_at_another_address_is_not_it(void **state)
{
    (void)state;
    struct wsdbg_lasting_memory *memory = open_memory();
    struct wsdbg_lasting_copy copy;
    bool found = true;
    struct wsdbg_memory_message message = message_of(WSDBG_MEMORY_SLOTS, 100);
    message.device_address++;
    send_message(&message, sizeof message, 1, 0xaa);
    wsdbg_lasting_memory_receive(memory);
    assert_null(read_memory(memory, &found, &copy));
    assert_false(found);
    wsdbg_lasting_memory_close(memory);
}

/* Reads one part of 100 bytes. */
static struct wsdbg_error *read_part(const struct wsdbg_memory_message *message, int limit_ms)
{
    const struct wsdbg_lasting_part part = {.message = *message, .fd = memory_of(0xcc)};
    uint8_t *out = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int before = count_descriptors();
    struct wsdbg_error *error = wsdbg_lasting_read_parts(&part, 1, limit_ms, out);
    if (!error)
        assert_filled(out, 100, 0xcc);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    munmap(out, 100);
    close(part.fd);
    return error;
}

static void assert_error(struct wsdbg_error *error, const char *words)
{
    assert_non_null(error);
    assert_string_equal(wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
}

static void a_call_that_fails_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *call, *words;
    } calls[] = {
        {"cuInit", "cuInit gave error 999"},
        {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain gave error 999"},
        {"cuCtxSetCurrent", "cuCtxSetCurrent gave error 999"},
        {"cuMemImportFromShareableHandle", "cuMemImportFromShareableHandle gave error 999"},
        {"cuMemAddressReserve", "cuMemAddressReserve gave error 999"},
        {"cuMemMap", "cuMemMap gave error 999"},
        {"cuMemSetAccess", "cuMemSetAccess gave error 999"},
        {"cuMemcpyDtoH_v2", "cuMemcpyDtoH gave error 999"},
    };
    const struct wsdbg_memory_message message = message_of(WSDBG_MEMORY_SLOTS, 100);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        setenv("FAKE_CUDA_FAIL", calls[i].call, 1);
        assert_error(read_part(&message, 20 * SECOND_MS), calls[i].words);
    }
    unsetenv("FAKE_CUDA_FAIL");
}

static void a_driver_that_crashes_is_an_error(void **state)
{
    (void)state;
    const struct wsdbg_memory_message message = message_of(WSDBG_MEMORY_SLOTS, 100);
    setenv("FAKE_CUDA_CRASH", "cuMemMap", 1);
    assert_error(read_part(&message, 20 * SECOND_MS), "the driver crashed");
    unsetenv("FAKE_CUDA_CRASH");
}

static void a_driver_that_hangs_is_an_error(void **state)
{
    (void)state;
    const struct wsdbg_memory_message message = message_of(WSDBG_MEMORY_SLOTS, 100);
    setenv("FAKE_CUDA_HANG", "cuMemcpyDtoH_v2", 1);
    assert_error(read_part(&message, 200), "the driver did not answer in time");
    unsetenv("FAKE_CUDA_HANG");
}

static void ignore(int number)
{
    (void)number;
}

static void signals_do_not_end_the_wait(void **state)
{
    (void)state;
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    const struct wsdbg_memory_message message = message_of(WSDBG_MEMORY_SLOTS, 100);
    struct sigaction before;
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = ignore}, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    struct wsdbg_error *error = read_part(&message, 20 * SECOND_MS);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    assert_null(error);
}

/* The fake's GPUs are 0 and 1; a program with a CUDA_VISIBLE_DEVICES of its own numbers them as it likes. */
static void the_uuid_decides_which_gpu_it_is(void **state)
{
    (void)state;
    struct wsdbg_memory_message message = message_of(WSDBG_MEMORY_SLOTS, 100);
    message.device_ordinal = 7;
    assert_error(read_part(&message, 20 * SECOND_MS), "cuDevicePrimaryCtxRetain gave error 101");
    memset(message.device_uuid, 0x61, sizeof message.device_uuid);
    assert_null(read_part(&message, 20 * SECOND_MS));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_spool, remove_spool)
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_message_is_ignored_and_leaks_nothing),
        TEST(memory_is_held_until_it_is_dropped),
        TEST(close_lets_go_of_all),
        TEST(a_path_too_long_for_a_socket_is_an_error),
        TEST(slots_and_history_are_read),
        TEST(slots_are_read_without_a_history),
        TEST(memory_at_another_address_is_not_it),
        TEST(a_call_that_fails_is_named),
        TEST(a_driver_that_crashes_is_an_error),
        TEST(a_driver_that_hangs_is_an_error),
        TEST(signals_do_not_end_the_wait),
        TEST(the_uuid_decides_which_gpu_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
