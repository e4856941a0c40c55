/* live_rig.c - see live_rig.h. */
#include "evidence/live_rig.h"
#include "segment_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct fake_gpu *make_gpu(void)
{
    static char setting[128];
    char path[] = "/tmp/wsdbg-gpu-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FAKE_DEBUG_GPUS * sizeof(struct fake_gpu)), 0);
    struct fake_gpu *gpu = mmap(NULL, FAKE_DEBUG_GPUS * sizeof *gpu, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(gpu, MAP_FAILED);
    unlink(path);
    /* By descriptor: the name is gone, so that nothing is left behind. */
    snprintf(setting, sizeof setting, FAKE_DEBUG_STATE "=/proc/%d/fd/%d", (int)getpid(), fd);
    assert_int_equal(putenv(setting), 0);
    return gpu;
}

static struct wsdbg_attach_link open_attach(pid_t pid)
{
    char session[64], name[SEGMENT_PATH_BYTES];
    struct wsdbg_segment_map *map = NULL;
    struct wsdbg_attach_link attach;
    session_name(session, sizeof session);
    rig_ok(wsdbg_segment_map_open(segment_place(session, (int)pid, name), (uint32_t)pid, WSDBG_SEGMENT_WATCH, &map));
    assert_non_null(map);
    rig_ok(wsdbg_segment_map_attach_link(map, &attach));
    wsdbg_segment_map_close(map);
    return attach;
}

static void wait_served(const struct wsdbg_attach_link *attach)
{
    for (int i = 0; i < 5000 && attach->row->state == WSDBG_ATTACH_UNSERVED; i++)
        usleep(1000);
    assert_int_equal(attach->row->state, WSDBG_ATTACH_NOBODY);
}

static struct rig start_behind(const char *preload, const char *setting, struct fake_gpu *gpu, const char *scenario,
                               const char *last)
{
    struct rig rig = {.gpu = gpu, .limit_ns = LIMIT_NS, .last = last};
    rig.run =
        (struct run){.program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario, .preload_after = preload};
    rig.run.environment[0] = "APP_WAITS=1";
    rig.run.environment[1] = setting;
    run_start(&rig.run);
    run_wait_line(&rig.run, "ready");
    rig.attach = open_attach(rig.run.pid);
    wait_served(&rig.attach);
    rig_ok(wsdbg_live_machine_open(&rig.attach, &rig.machine));
    return rig;
}

static struct rig start(const char *setting, struct fake_gpu *gpu, const char *scenario, const char *last)
{
    return start_behind(NULL, setting, gpu, scenario, last);
}

static const char plain_is_ready[] = "cuModuleUnload 0\nready\n";

struct rig rig_start(const char *setting)
{
    return start(setting, make_gpu(), "plain", plain_is_ready);
}

struct rig rig_start_with_device_files(void)
{
    return start_behind(SHIM_DEVICE_FILES, "FAKE_DEVICE_FILES=1", make_gpu(), "plain", plain_is_ready);
}

struct rig rig_start_with_sanitizer(bool linked_in)
{
    return start_behind(linked_in ? LINKED_SANITIZER_STUB : SANITIZER_STUB, NULL, make_gpu(), "plain", plain_is_ready);
}

struct rig rig_start_before_launch(const char *setting)
{
    return start(setting, make_gpu(), "context", "cuCtxCreate_v4 0\nready\n");
}

struct rig rig_start_beside(const struct rig *first)
{
    struct rig rig = start(NULL, first->gpu, first->run.scenario, first->last);
    rig.is_beside = true;
    return rig;
}

struct rig rig_start_on_another_gpu(const struct rig *first)
{
    struct rig rig = start(FAKE_DEBUG_GPU "=1", first->gpu + 1, first->run.scenario, first->last);
    rig.is_beside = true;
    return rig;
}

void rig_finish(struct rig *rig)
{
    run_finish(&rig->run);
    assert_int_equal(rig->gpu->left_at_once, 0);
    assert_int_equal(rig->gpu->ended_beside_one, rig->ends_beside_one);
    assert_exit(&rig->run, 0);
    assert_string_equal(rig->run.errors, "");
    assert_non_null(strstr(rig->run.output, rig->last));
    rig->machine->ops->close(rig->machine);
    segment_remove(rig->run.pid);
    wsdbg_attach_close(&rig->attach);
    if (!rig->is_beside)
        munmap(rig->gpu, FAKE_DEBUG_GPUS * sizeof *rig->gpu);
}

void rig_assert_left_alone(struct rig *rig)
{
    for (int i = 0; i < 15000; i++, usleep(1000))
        if (!rig->gpu->attached && !rig->gpu->suspended && rig->attach.row->state == WSDBG_ATTACH_NOBODY &&
            !rig->attach.row->stopped_devices)
            return;
    fail_msg("attached %u, suspended %u, debug attach %u, stopped %#x", rig->gpu->attached, rig->gpu->suspended,
             rig->attach.row->state, rig->attach.row->stopped_devices);
}

void rig_order(struct rig *rig, char order)
{
    rig->orders++;
    assert_int_equal(write(rig->run.in, &order, 1), 1);
}

bool rig_has_obeyed(struct rig *rig)
{
    char line[32];
    snprintf(line, sizeof line, "done %d\n", rig->orders);
    const ssize_t count = pread(rig->run.out, rig->run.output, sizeof rig->run.output - 1, 0);
    rig->run.output[count > 0 ? count : 0] = '\0';
    return strstr(rig->run.output, line) != NULL;
}

void rig_await_obeyed(struct rig *rig)
{
    for (int i = 0; i < 10000 && !rig_has_obeyed(rig); i++)
        usleep(1000);
    assert_true(rig_has_obeyed(rig));
}

struct wsdbg_error *rig_stay(struct rig *rig)
{
    struct wsdbg_error *error = wsdbg_live_machine_stay(rig->machine, rig->limit_ns);
    while (!error && !wsdbg_live_machine_collect(rig->machine, &error))
        usleep(1000);
    return error;
}

static struct wsdbg_error *read_something(struct wsdbg_machine *machine)
{
    uint32_t value, count;
    unsigned char bytes[16];
    bool known;
    struct wsdbg_error *error = machine->ops->registers(machine, 0, 0, 0, 1, &value, &count);
    return error ? error : machine->ops->shared(machine, 0, 0x400, bytes, sizeof bytes, &known);
}

struct wsdbg_error *rig_step(struct rig *rig, int step)
{
    switch (step) {
    case RIG_ATTACH:
        return wsdbg_live_machine_attach(rig->machine, rig->limit_ns);
    case RIG_SUSPEND:
        return wsdbg_live_machine_suspend(rig->machine, LIMIT_NS, rig->limit_ns);
    case RIG_WARPS:
        return wsdbg_live_machine_read_warps(rig->machine, rig->limit_ns);
    case RIG_READ:
        return read_something(rig->machine);
    case RIG_RESUME:
        return wsdbg_live_machine_resume(rig->machine, rig->limit_ns);
    default:
        return wsdbg_live_machine_detach(rig->machine);
    }
}

void rig_ok(struct wsdbg_error *error)
{
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
}

void rig_says(struct wsdbg_error *error, const char *words)
{
    assert_non_null(error);
    if (!strstr(wsdbg_error_message(error), words))
        fail_msg("'%s' lacks '%s'", wsdbg_error_message(error), words);
    wsdbg_error_destroy(error);
}
