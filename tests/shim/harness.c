/* harness.c - see harness.h. */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"
#include "segment_place.h"

static int id; /* of the test program, also in its forked children */

/* A program that was killed leaves its segment. */
static void remove_segments(void)
{
    char session[64], folder[128];
    if ((int)getpid() != id)
        return;
    session_name(session, sizeof session);
    snprintf(folder, sizeof folder, WSDBG_SEGMENT_OWN_FORMAT, session);
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlinkat(dirfd(listing), entry->d_name, 0);
    if (listing)
        closedir(listing);
    rmdir(folder);
}

void session_name(char *name, size_t size)
{
    if (!id) {
        id = (int)getpid();
        atexit(remove_segments);
    }
    snprintf(name, size, "shimtest%d", id);
}

static int temporary_file(void)
{
    char path[] = "/tmp/wsdbg-shim-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static void set_environment(const struct run *run)
{
    char preload[1024], session[64];
    session_name(session, sizeof session);
    unsetenv("WSDBG_SESSION");
    if (!run->asleep)
        setenv("WSDBG_SESSION", session, 1);
    snprintf(preload, sizeof preload, "%s%s%s", run->without_shim ? "" : SHIM_LIBRARY, run->preload_after ? ":" : "",
             run->preload_after ? run->preload_after : "");
    setenv("LD_PRELOAD", preload, 1);
    for (int i = 0; run->environment[i]; i++)
        putenv((char *)(uintptr_t)run->environment[i]);
}

void run_start(struct run *run)
{
    int in[2];
    char session[64];
    session_name(session, sizeof session);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    run->in = in[1];
    run->out = temporary_file();
    run->err = temporary_file();
    run->pid = fork();
    assert_true(run->pid >= 0);
    if (run->pid == 0) {
        dup2(in[0], 0);
        dup2(run->out, 1);
        dup2(run->err, 2);
        set_environment(run);
        if (run->file_size_limit_bytes) {
            struct rlimit limit = {run->file_size_limit_bytes, run->file_size_limit_bytes};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        if (run->before)
            run->before(run);
        execl(run->program, run->program, run->mode, run->scenario, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
}

static void read_all(int fd, char *text, size_t size)
{
    ssize_t count = pread(fd, text, size - 1, 0);
    text[count > 0 ? count : 0] = '\0';
}

void run_finish(struct run *run)
{
    close(run->in);
    assert_int_equal(waitpid(run->pid, &run->status, 0), run->pid);
    read_all(run->out, run->output, sizeof run->output);
    read_all(run->err, run->errors, sizeof run->errors);
    close(run->out);
    close(run->err);
}

void run_program(struct run *run)
{
    run_start(run);
    run_finish(run);
}

void run_wait_line(struct run *run, const char *line)
{
    for (int i = 0; i < 1000; i++) {
        read_all(run->out, run->output, sizeof run->output);
        if (strstr(run->output, line))
            return;
        usleep(10000);
    }
    fail_msg("no line '%s' in: %s", line, run->output);
}

const struct wsdbg_segment *segment_of(pid_t pid)
{
    char path[SEGMENT_PATH_BYTES], session[64];
    struct stat status;
    session_name(session, sizeof session);
    int fd = open(segment_place(session, (int)pid, path), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(memory != MAP_FAILED);
    const struct wsdbg_segment *segment = memory;
    assert_true(segment->magic == WSDBG_SEGMENT_MAGIC);
    assert_true(segment->used_bytes == (uint64_t)status.st_size);
    return segment;
}

void segment_remove(pid_t pid)
{
    char session[64];
    session_name(session, sizeof session);
    segment_place_remove(session, (int)pid);
}

struct wsdbg_launch_row launch_at(const struct wsdbg_segment *segment, uint64_t index)
{
    assert_true(index < segment->launch_count);
    struct wsdbg_launch_row row = segment->launches[index % WSDBG_LAUNCH_ROWS];
    assert_int_equal(row.sequence, index + 1);
    return row;
}

static char *texts[1024];
static size_t text_count;

static char *new_text(size_t size)
{
    char *text = calloc(1, size);
    assert_non_null(text);
    assert_true(text_count < sizeof texts / sizeof *texts);
    return texts[text_count++] = text;
}

int free_texts(void **state)
{
    (void)state;
    while (text_count)
        free(texts[--text_count]);
    return 0;
}

char *file_text(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    assert_int_equal(fstat(fd, &status), 0);
    char *text = new_text((size_t)status.st_size + 1);
    read_all(fd, text, (size_t)status.st_size + 1);
    close(fd);
    return text;
}

/* True when `text` has a line that begins with the first word of `line`. */
static bool has_call(const char *text, const char *line)
{
    size_t length = strcspn(line, " \n");
    for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, line, length) == 0 && (at[length] == ' ' || at[length] == '\n'))
            return true;
    return false;
}

char *only_calls_of(const char *log, const char *names, bool keep)
{
    char *kept = new_text(strlen(log) + 1);
    for (const char *at = log; *at; at += strcspn(at, "\n") + 1)
        if (has_call(names, at) == keep)
            strncat(kept, at, strcspn(at, "\n") + 1);
    return kept;
}

void assert_exit(const struct run *run, int code)
{
    if (!WIFEXITED(run->status) || WEXITSTATUS(run->status) != code)
        fail_msg("%s %s %s ended with status %#x: %s", run->program, run->mode, run->scenario, run->status,
                 run->errors);
}

struct wsdbg_segment *run_and_look(struct run *run)
{
    int i = 0;
    while (run->environment[i])
        i++;
    run->environment[i] = "APP_WAITS=1";
    run_start(run);
    run_wait_line(run, "ready");
    struct wsdbg_segment *segment = (struct wsdbg_segment *)(uintptr_t)segment_of(run->pid);
    assert_non_null(segment);
    uint32_t request = __atomic_add_fetch(&segment->slots_request, 1, __ATOMIC_RELEASE);
    for (int k = 0; k < 500 && __atomic_load_n(&segment->slots_done, __ATOMIC_ACQUIRE) != request; k++)
        usleep(1000);
    assert_int_equal(segment->slots_done, request);
    assert_true(segment->contexts[0].slots_copied_ns > segment->created_ns);
    return segment;
}

const struct wsdbg_slot *slot_zero(const struct wsdbg_segment *segment, uint32_t context)
{
    const struct wsdbg_context_row *row = &segment->contexts[context];
    assert_int_equal(row->slot_count, FAKE_SM_COUNT * FAKE_WARPS_PER_SM);
    assert_true(row->slots_offset + row->slot_count * sizeof(struct wsdbg_slot) <= segment->used_bytes);
    return (const void *)((const char *)segment + row->slots_offset);
}

/* The driver functions that the shim calls for itself. */
static const char own_calls[] =
    "cuDriverGetVersion\ncuCtxGetCurrent\ncuCtxPushCurrent_v2\ncuCtxPopCurrent_v2\ncuCtxGetDevice\n"
    "cuDeviceGetAttribute\ncuDeviceGetName\ncuDevicePrimaryCtxGetState\ncuFuncGetAttribute\ncuFuncGetModule\n"
    "cuFuncGetName\ncuKernelGetFunction\ncuModuleGetGlobal_v2\ncuMemAlloc_v2\ncuMemHostRegister_v2\n"
    "cuMemHostGetDevicePointer_v2\n"
    "cuMemsetD8Async\ncuMemcpyDtoHAsync_v2\ncuMemcpyHtoDAsync_v2\ncuStreamCreate\n"
    "cuDeviceGetUuid_"
    "v2\ncuDeviceGetPCIBusId\ncuMemGetAllocationGranularity\ncuMemCreate\ncuMemExportToShareableHandle\ncuMemAddressReserve\ncuMemMap\n"
    "cuMemSetAccess\ncuMemRelease\ncuMemUnmap\ncuMemAddressFree\n"
    "cuStreamQuery\ncuStreamIsCapturing\ncuThreadExchangeStreamCaptureMode\ncuEventCreate\ncuEventQuery\n"
    "cuCtxRecordEvent\ncuGraphGetNodes\ncuGraphNodeGetType\ncuGraphKernelNodeGetParams_v2\n"
    "cuGraphKernelNodeGetAttribute\ncuGraphChildGraphNodeGetGraph\ncuMemGetAddressRange_v2\n";

char *run_logged(struct run *run)
{
    static char path[64], setting[96];
    snprintf(path, sizeof path, "/tmp/wsdbg-shim-log-%d", (int)getpid());
    snprintf(setting, sizeof setting, "FAKE_CUDA_LOG=%s", path);
    unlink(path);
    int i = 0;
    while (run->environment[i])
        i++;
    run->environment[i] = setting;
    run_program(run);
    char *log = file_text(path);
    unlink(path);
    return log;
}

int line_count(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* The app was told what the driver said, and nothing of the observer's own calls. */
static void assert_same_answers(const struct run *run, const char *log)
{
    char *said = only_calls_of(only_calls_of(run->output, "errno\n", false), own_calls, false);
    assert_string_equal(said, only_calls_of(log, own_calls, false));
}

/* Calls of the shim's threads that the end of the process may cut off: counted, never written to the log. */
#define CUT_OFF_AT_EXIT 2

void assert_any_call_may_fail(const char *scenario, const char *setting)
{
    int fail_at = 0, length = 0;
    do {
        char failure[64];
        snprintf(failure, sizeof failure, "FAKE_CUDA_FAIL_AT=%d", ++fail_at);
        struct run run = {
            .program = SHIM_APP_DYNAMIC, .mode = "dlsym", .scenario = scenario, .environment = {failure, setting}};
        char *log = run_logged(&run);
        assert_exit(&run, 0);
        length = line_count(log);
        assert_same_answers(&run, log);
        assert_true(line_count(run.errors) <= 1);
        const char *kept = strstr(run.output, "errno "); /* not every scenario looks */
        assert_true(!kept || strncmp(kept, "errno 0\n", 8) == 0);
        segment_remove(run.pid);
        free_texts(NULL);
    } while (fail_at <= length + CUT_OFF_AT_EXIT);
    assert_true(fail_at > 20);
}
