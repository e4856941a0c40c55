/* core_dump.c - see core_dump.h.  Reads: the file that the driver writes.  Writes: one byte into its pipe.
 *
 * A driver writes the section headers last, so a file that can be opened is whole. */
#include "evidence/core_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evidence/attach_link.h"

enum { LOOK_EVERY_NS = 5000000 };
/* A full chip's warps take the driver 5 s to collect before it writes a byte (measured on an H200). */
#define STILL_NS UINT64_C(15000000000)
/* Between two looks at the file; where it is longer wsdbg was stopped, and the program with it (Ctrl-Z): that counts
 * for nothing. */
#define APART_NS UINT64_C(1000000000)
/* Of one renewal: when wsdbg is killed the program leaves this much later. */
#define HOLD_NS UINT64_C(1000000000)

/* Opening without O_NONBLOCK would wait for a reader, writing without it for room. */
static struct wsdbg_error *trigger(const char *pipe, uint32_t process_id)
{
    struct stat status;
    const int fd = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                  "the driver of process %u does not offer GPU core dumps: not started by wsdbg run "
                                  "--evidence=core, or another tool has its place",
                                  process_id);
    if (fd < 0 && errno == ENXIO)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the driver of process %u does not listen for a GPU core dump",
                                  process_id);
    if (fd < 0)
        return wsdbg_error_os(errno, "open the pipe for GPU core dumps of process %u", process_id);
    struct wsdbg_error *error = NULL;
    if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode))
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: not a pipe", pipe);
    else if (write(fd, "1", 1) != 1)
        error = wsdbg_error_os(errno, "ask process %u for a GPU core dump", process_id);
    close(fd);
    return error;
}

/* A file that is still being written is no error, whatever it looks like. */
static bool is_whole(const char *path, struct wsdbg_machine **out)
{
    struct wsdbg_error *error = wsdbg_machine_open_core(path, out);
    wsdbg_error_destroy(error);
    return !error;
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

static bool has_ended(uint32_t process_id)
{
    return kill((pid_t)process_id, 0) != 0 && errno == ESRCH;
}

/* A file that does not grow for a moment may be whole: the opening of one that grows would be in vain. */
struct watched_file {
    const char *path;
    uint64_t size, began_ns, looked_ns;
    uint64_t still_ns;   /* for so long it has not grown */
    uint64_t stopped_ns; /* for so long nobody looked */
};

/* True when it grew. */
static bool look_at(struct watched_file *file)
{
    const uint64_t now_ns = wsdbg_attach_clock_ns(), size = size_of(file->path), passed_ns = now_ns - file->looked_ns;
    const uint64_t seen_ns = passed_ns < APART_NS ? passed_ns : APART_NS;
    const bool grew = size != file->size;
    file->still_ns = grew ? 0 : file->still_ns + seen_ns;
    file->stopped_ns += passed_ns - seen_ns;
    file->looked_ns = now_ns;
    file->size = size;
    return grew;
}

static struct wsdbg_error *why_no_more(const struct wsdbg_core_wait *wait, const struct watched_file *file, bool ended)
{
    const uint64_t still_ns = wait->still_ns ? wait->still_ns : STILL_NS;
    if (ended)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                  "process %u ended before its GPU core dump was whole (%" PRIu64 " bytes)",
                                  wait->process_id, file->size);
    if (wsdbg_cancel_is_wanted(wait->cancel, file->began_ns))
        return wsdbg_error_create(WSDBG_ERROR_BUSY,
                                  "a signal ended the wait for the GPU core dump of process %u (%" PRIu64 " bytes)",
                                  wait->process_id, file->size);
    if (file->still_ns >= still_ns)
        return wsdbg_error_create(WSDBG_ERROR_BUSY,
                                  "the GPU core dump of process %u does not come: the driver wrote nothing for %.1f s "
                                  "(%" PRIu64 " bytes so far)",
                                  wait->process_id, (double)still_ns / 1e9, file->size);
    if (file->looked_ns - file->stopped_ns >= wait->deadline_ns)
        return wsdbg_error_create(WSDBG_ERROR_BUSY,
                                  "the GPU core dump of process %u is not there in time (%" PRIu64 " bytes)",
                                  wait->process_id, file->size);
    return NULL;
}

static struct wsdbg_error *wait_for_file(const struct wsdbg_core_wait *wait, const char *path,
                                         struct wsdbg_machine **out)
{
    struct watched_file file = {.path = path, .began_ns = wsdbg_attach_clock_ns()};
    file.looked_ns = file.began_ns;
    for (;;) {
        const bool ended = has_ended(wait->process_id);
        const bool grew = look_at(&file);
        if (wait->map)
            wsdbg_segment_map_hold_exit(wait->map, wsdbg_attach_clock_ns() + HOLD_NS);
        wsdbg_progress_advance(wait->progress, file.size, WSDBG_TOTAL_UNKNOWN);
        if (file.size && (!grew || ended) && is_whole(path, out))
            return NULL;
        struct wsdbg_error *error = why_no_more(wait, &file, ended);
        if (error)
            return error;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NS}, NULL);
    }
}

static struct wsdbg_error *open_dump(const struct wsdbg_core_wait *wait, const char *file, struct wsdbg_machine **out)
{
    struct wsdbg_error *error = wait_for_file(wait, file, out);
    if (wait->map)
        wsdbg_segment_map_hold_exit(wait->map, 0);
    wsdbg_progress_advance(wait->progress, 1, 1);
    if (!error)
        unlink(file);
    return error;
}

/* From before the trigger on: the dump ends the program's contexts, and it may leave for it. */
static struct wsdbg_error *ask(const struct wsdbg_core_wait *wait)
{
    char *pipe;
    if (asprintf(&pipe, "%s/" WSDBG_CORE_PIPE_PREFIX "%u", wait->folder, wait->process_id) < 0)
        return &wsdbg_error_no_memory;
    if (wait->map)
        wsdbg_segment_map_hold_exit(wait->map, wsdbg_attach_clock_ns() + HOLD_NS);
    struct wsdbg_error *error = trigger(pipe, wait->process_id);
    if (error && wait->map)
        wsdbg_segment_map_hold_exit(wait->map, 0);
    free(pipe);
    return error;
}

static struct wsdbg_error *fetch(const struct wsdbg_core_wait *wait, bool may_ask, struct wsdbg_machine **out)
{
    char *file;
    if (asprintf(&file, "%s/" WSDBG_CORE_FILE_PREFIX "%u", wait->folder, wait->process_id) < 0)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = NULL;
    if (size_of(file) == 0)
        error = may_ask ? ask(wait)
                        : wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the driver of process %u left no GPU core dump",
                                             wait->process_id);
    if (!error)
        error = open_dump(wait, file, out);
    free(file);
    return error;
}

struct wsdbg_error *wsdbg_core_dump_take(const struct wsdbg_core_wait *wait, struct wsdbg_machine **out)
{
    return fetch(wait, true, out);
}

struct wsdbg_error *wsdbg_core_dump_collect(const struct wsdbg_core_wait *wait, struct wsdbg_machine **out)
{
    return fetch(wait, false, out);
}
