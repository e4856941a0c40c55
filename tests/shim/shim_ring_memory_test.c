/* shim_ring_memory_test.c - the ring's memory that outlives its context: who gets it, and that the app notices nothing.
 *
 * The tests play wsdbg: a spool folder with the socket that the observer sends descriptors to (wsdbg/session.h).
 */
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"

struct spool {
    char folder[64], setting[96];
    struct sockaddr_un address;
    int wire;
};

static struct spool spool_create(void)
{
    struct spool spool = {.folder = "/tmp/wsdbg-spool-XXXXXX", .address = {.sun_family = AF_UNIX}};
    assert_non_null(mkdtemp(spool.folder));
    snprintf(spool.setting, sizeof spool.setting, "WSDBG_SPOOL=%s", spool.folder);
    snprintf(spool.address.sun_path, sizeof spool.address.sun_path, "%s/%s", spool.folder, WSDBG_MEMORY_SOCKET);
    spool.wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(spool.wire, (struct sockaddr *)&spool.address, sizeof spool.address), 0);
    return spool;
}

/* With the socket and the module images in it. */
static void spool_remove(struct spool *spool)
{
    DIR *folder = opendir(spool->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    if (spool->wire >= 0)
        close(spool->wire);
    assert_int_equal(rmdir(spool->folder), 0);
}

struct sent {
    struct wsdbg_memory_message message;
    void *bytes; /* the memory, mapped; NULL = nothing was sent */
};

static struct sent spool_receive(const struct spool *spool)
{
    struct sent sent = {0};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&sent.message, sizeof sent.message};
    struct msghdr envelope = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(spool->wire, &envelope, MSG_CMSG_CLOEXEC) < 0)
        return sent;
    int fd;
    assert_int_equal(CMSG_FIRSTHDR(&envelope)->cmsg_len, CMSG_LEN(sizeof fd));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&envelope)), sizeof fd);
    sent.bytes = mmap(NULL, sent.message.allocated_bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(sent.bytes, MAP_FAILED);
    return sent;
}

static void sent_free(struct sent *sent)
{
    munmap(sent->bytes, sent->message.allocated_bytes);
}

static void assert_nothing_sent(const struct spool *spool)
{
    assert_null(spool_receive(spool).bytes);
}

static void assert_describes(const struct sent *sent, const struct run *run, enum wsdbg_memory_kind kind,
                             uint64_t address, uint64_t used_bytes)
{
    assert_non_null(sent->bytes);
    assert_int_equal(sent->message.version, WSDBG_SEGMENT_VERSION);
    assert_int_equal(sent->message.process_id, run->pid);
    assert_int_equal(sent->message.context, 0);
    assert_int_equal(sent->message.kind, kind);
    assert_int_equal(sent->message.device_address, address);
    assert_int_equal(sent->message.used_bytes, used_bytes);
    assert_true(sent->message.allocated_bytes >= used_bytes);
    assert_int_equal(sent->message.device_uuid[0], 0x60);
}

/* Scenario "history": five launches, an event each. */
static void assert_five_events(const struct sent *slots, const struct sent *history)
{
    const struct wsdbg_slot *slot = slots->bytes;
    const struct wsdbg_event *events = history->bytes;
    assert_int_equal(slot->state.value, 4);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(events[i].kind, WSDBG_EVENT_TILE_BEGIN);
        assert_int_equal(events[i].value, i);
    }
    assert_int_equal(events[5].kind, WSDBG_EVENT_NONE);
}

static void slots_and_history_are_sent_and_outlive_the_process(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "history", .environment = {spool.setting}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    const struct wsdbg_context_row *row = &segment_of(run.pid)->contexts[0];
    struct sent slots = spool_receive(&spool), history = spool_receive(&spool);
    assert_describes(&slots, &run, WSDBG_MEMORY_SLOTS, row->slots_device_address,
                     row->slot_count * sizeof(struct wsdbg_slot));
    assert_describes(&history, &run, WSDBG_MEMORY_HISTORY, row->history_device_address,
                     (uint64_t)row->slot_count * row->history_depth * sizeof(struct wsdbg_event));
    assert_five_events(&slots, &history);
    assert_nothing_sent(&spool);
    sent_free(&slots);
    sent_free(&history);
    spool_remove(&spool);
    segment_remove(run.pid);
}

static void the_kernels_last_events_survive_a_fault_and_a_kill(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "fault-and-die", .environment = {spool.setting}};
    run_program(&run);
    assert_true(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGKILL);
    struct sent slots = spool_receive(&spool), history = spool_receive(&spool);
    const struct wsdbg_event *events = history.bytes;
    assert_int_equal(events[3].kind, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX);
    sent_free(&slots);
    sent_free(&history);
    spool_remove(&spool);
    segment_remove(run.pid);
}

/* The ring as it is without anybody to send to: slots and histories are copied when asked for. */
static void assert_ring_works(const char *setting)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "history", .environment = {setting}};
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(slot_zero(segment, 0)->state.value, 4);
    assert_int_equal(segment->contexts[0].history_depth, WSDBG_HISTORY_DEPTH_MAX);
    run_finish(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    segment_remove(run.pid);
}

static int calls_of(const char *setting, const char *name)
{
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "history", .environment = {setting}};
    char *log = run_logged(&run);
    segment_remove(run.pid);
    return line_count(only_calls_of(log, name, true));
}

static void without_a_socket_it_is_ordinary_memory(void **state)
{
    (void)state;
    assert_ring_works(NULL);
    assert_int_equal(calls_of(NULL, "cuMemAlloc_v2\n"), 2);
    assert_int_equal(calls_of(NULL, "cuMemCreate\n"), 0);
    assert_ring_works("WSDBG_SPOOL=");
    assert_ring_works("WSDBG_SPOOL=/proc"); /* there is a folder, but nothing can be made in it */
}

static void a_spool_path_too_long_for_a_socket_is_ordinary_memory(void **state)
{
    (void)state;
    char folder[] = "/tmp/wsdbg-test.XXXXXX", setting[256], remove[64];
    assert_non_null(mkdtemp(folder));
    snprintf(setting, sizeof setting, "WSDBG_SPOOL=%s/%0150d", folder, 0);
    assert_int_equal(mkdir(setting + strlen("WSDBG_SPOOL="), 0700), 0);
    assert_int_equal(calls_of(setting, "cuMemAlloc_v2\n"), 2);
    assert_int_equal(calls_of(setting, "cuMemCreate\n"), 0);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    assert_int_equal(system(remove), 0);
}

static void with_the_socket_nothing_is_allocated_twice(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "history", .environment = {spool.setting}};
    char *log = run_logged(&run);
    assert_int_equal(line_count(only_calls_of(log, "cuMemCreate\n", true)), 2);
    assert_int_equal(line_count(only_calls_of(log, "cuMemRelease\n", true)), 2);
    assert_int_equal(line_count(only_calls_of(log, "cuMemAlloc_v2\n", true)), 0);
    spool_remove(&spool);
    segment_remove(run.pid);
}

static void fill_queue(const struct spool *spool)
{
    int wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    while (sendto(wire, "x", 1, 0, (const struct sockaddr *)&spool->address, sizeof spool->address) == 1)
        ;
    close(wire);
}

static void a_full_queue_neither_blocks_nor_breaks_the_ring(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    fill_queue(&spool);
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "history", .environment = {spool.setting}};
    const struct wsdbg_segment *segment = run_and_look(&run);
    assert_int_equal(slot_zero(segment, 0)->state.value, 4);
    assert_non_null(strstr(segment->notes[0], "after a GPU fault the histories of context 0 are lost"));
    run_finish(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    spool_remove(&spool);
    segment_remove(run.pid);
}

/* wsdbg was killed: its socket is still in the folder. */
static void a_socket_that_nobody_reads_is_no_trouble(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    close(spool.wire);
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "basic", .environment = {spool.setting}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_string_equal(run.errors, "");
    assert_non_null(strstr(run.output, "errno 0"));
    spool.wire = -1;
    spool_remove(&spool);
    segment_remove(run.pid);
}

static void any_driver_call_may_fail(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    assert_any_call_may_fail("basic", spool.setting);
    assert_any_call_may_fail("contexts", spool.setting);
    for (struct sent sent; (sent = spool_receive(&spool)).bytes;)
        sent_free(&sent);
    spool_remove(&spool);
}

static void the_program_sees_no_difference(void **state)
{
    (void)state;
    static const char *const scenarios[] = {"basic", "plain", "capture", "contexts", "library", "fault"};
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct spool spool = spool_create();
        struct run bare = {.program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = scenarios[i], .without_shim = true};
        struct run watched = {
            .program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = scenarios[i], .environment = {spool.setting}};
        run_program(&bare);
        run_program(&watched);
        assert_int_equal(bare.status, watched.status);
        assert_string_equal(bare.output, watched.output);
        assert_string_equal(watched.errors, "");
        spool_remove(&spool);
        segment_remove(watched.pid);
    }
}

/* The ring is set up by the first launch, and that is inside the capture. */
static void a_capture_in_progress_is_not_spoiled(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "proc", .scenario = "capture", .environment = {spool.setting}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.output, "cuStreamEndCapture 0"));
    struct sent slots = spool_receive(&spool), history = spool_receive(&spool);
    assert_int_equal(((const struct wsdbg_slot *)slots.bytes)->state.value, 5);
    sent_free(&slots);
    sent_free(&history);
    spool_remove(&spool);
    segment_remove(run.pid);
}

static void contexts_that_are_gone_leave_nothing_in_the_program(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {
        .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "many-contexts", .environment = {spool.setting}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.output, "descriptors left 0\n"));
    assert_non_null(strstr(run.output, "mappings left 0\n"));
    int sent_count = 0;
    for (struct sent sent; (sent = spool_receive(&spool)).bytes; sent_count++)
        sent_free(&sent);
    assert_true(sent_count > 2);
    spool_remove(&spool);
    segment_remove(run.pid);
}

/* The child has neither the parent's descriptors nor its mappings, and sends nothing for its own launches. */
static void a_forked_child_sends_nothing(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = "fork", .environment = {spool.setting}};
    run_program(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.output, "status 0\n"));
    for (int i = 0; i < 2; i++) {
        struct sent sent = spool_receive(&spool);
        assert_int_equal(sent.message.process_id, run.pid);
        sent_free(&sent);
    }
    assert_nothing_sent(&spool);
    spool_remove(&spool);
    segment_remove(run.pid);
}

/* It starts while a descriptor of the memory is being sent, which takes 0.4 s. */
static void a_program_that_is_started_meanwhile_has_no_descriptor_of_it(void **state)
{
    (void)state;
    struct spool spool = spool_create();
    struct run run = {.program = SHIM_APP_DYNAMIC,
                      .mode = "dlsym",
                      .scenario = "spawn-beside",
                      .environment = {spool.setting, "SLOW_LIBC=sendmsg,400"},
                      .preload_after = SHIM_SLOW_LIBC};
    run_program(&run);
    assert_exit(&run, 0);
    assert_non_null(strstr(run.output, " 0 -> ")); /* it did list them */
    assert_null(strstr(run.output, FAKE_GPU_MEMORY));
    for (struct sent sent; (sent = spool_receive(&spool)).bytes;)
        sent_free(&sent);
    spool_remove(&spool);
    segment_remove(run.pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_and_history_are_sent_and_outlive_the_process),
        cmocka_unit_test(the_kernels_last_events_survive_a_fault_and_a_kill),
        cmocka_unit_test(without_a_socket_it_is_ordinary_memory),
        cmocka_unit_test(a_spool_path_too_long_for_a_socket_is_ordinary_memory),
        cmocka_unit_test(with_the_socket_nothing_is_allocated_twice),
        cmocka_unit_test(a_full_queue_neither_blocks_nor_breaks_the_ring),
        cmocka_unit_test(a_socket_that_nobody_reads_is_no_trouble),
        cmocka_unit_test(any_driver_call_may_fail),
        cmocka_unit_test(the_program_sees_no_difference),
        cmocka_unit_test(a_capture_in_progress_is_not_spoiled),
        cmocka_unit_test(contexts_that_are_gone_leave_nothing_in_the_program),
        cmocka_unit_test(a_forked_child_sends_nothing),
        cmocka_unit_test(a_program_that_is_started_meanwhile_has_no_descriptor_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
