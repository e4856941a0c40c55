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

#include "evidence/door.h"

enum { LOOK_EVERY_NS = 5000000 };

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

/* Looks whenever the file stands still for a moment: the opening of one that grows would be in vain. */
static struct wsdbg_error *wait_for_file(const char *path, uint32_t process_id, uint64_t deadline_ns,
                                         struct wsdbg_progress *progress, struct wsdbg_machine **out)
{
    uint64_t before = 0;
    for (;;) {
        const bool ended = has_ended(process_id), late = wsdbg_door_now_ns() >= deadline_ns;
        const uint64_t size = size_of(path);
        wsdbg_progress_advance(progress, size, WSDBG_TOTAL_UNKNOWN);
        if (size && size == before && is_whole(path, out))
            return NULL;
        if (ended)
            return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND,
                                      "process %u ended before its GPU core dump was whole (%" PRIu64 " bytes)",
                                      process_id, size);
        if (late)
            return wsdbg_error_create(WSDBG_ERROR_BUSY,
                                      "the GPU core dump of process %u is not there in time (%" PRIu64 " bytes)",
                                      process_id, size);
        before = size;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NS}, NULL);
    }
}

struct wsdbg_error *wsdbg_core_dump_take(const char *folder, uint32_t process_id, uint64_t deadline_ns,
                                         struct wsdbg_progress *progress, struct wsdbg_machine **out)
{
    char *pipe = NULL, *file = NULL;
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (asprintf(&pipe, "%s/" WSDBG_CORE_PIPE_PREFIX "%u", folder, process_id) < 0)
        pipe = NULL;
    if (asprintf(&file, "%s/" WSDBG_CORE_FILE_PREFIX "%u", folder, process_id) < 0)
        file = NULL;
    if (pipe && file)
        error = trigger(pipe, process_id);
    if (!error) {
        error = wait_for_file(file, process_id, deadline_ns, progress, out);
        wsdbg_progress_advance(progress, 1, 1);
    }
    if (!error)
        unlink(file);
    free(pipe);
    free(file);
    return error;
}
