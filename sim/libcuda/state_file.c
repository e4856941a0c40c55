/* state_file.c - see state_file.h; state_rows.h makes the bytes.
 *
 * Reads: the gpu.  Writes: a file in the session's folder, whole or not at all.
 */
#include "libcuda/state_file.h"

#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcuda/state_rows.h"
#include "wsdbg/armed.h"
#include "wsdbg/device_state.h"
#include "wsdbg/session.h"

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct wsdbg_state_header *header_of(unsigned char *file)
{
    return (struct wsdbg_state_header *)(void *)file;
}

/* Whether both show the same; when that began is not compared. */
static bool shows_same(unsigned char *published, unsigned char *file)
{
    if (!published)
        return false;
    header_of(file)->time_ns = header_of(published)->time_ns;
    return header_of(published)->byte_count == header_of(file)->byte_count &&
           memcmp(published, file, header_of(file)->byte_count) == 0;
}

static struct wsdbg_error *write_whole(const char *path, const unsigned char *bytes, size_t count)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return wsdbg_error_os(errno, "%s", path);
    struct wsdbg_error *error = NULL;
    for (size_t done = 0; !error && done < count;) {
        const ssize_t written = write(fd, bytes + done, count - done);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || errno != EINTR)
            error = wsdbg_error_os(written ? errno : ENOSPC, "%s", path);
    }
    close(fd);
    return error;
}

/* The file's path in the session's folder, which the caller frees; NULL where there is no session, or no memory. */
static char *path_of(const struct context *context, const char *name, const char *suffix)
{
    char own[WSDBG_ARMED_FOLDER_BYTES];
    const char *folder = wsdbg_folder_of_environment(own);
    char *path = NULL;
    if (!folder || !*folder ||
        asprintf(&path, "%s/%s-%u-%016llx%s", folder, name, (unsigned)getpid(), (unsigned long long)(uintptr_t)context,
                 suffix) < 0)
        return NULL;
    return path;
}

static struct wsdbg_error *put_in_place(const struct context *context, const char *name, const unsigned char *file)
{
    const size_t byte_count = ((const struct wsdbg_state_header *)(const void *)file)->byte_count;
    char *path = path_of(context, name, ""), *new_path = path_of(context, name, ".new");
    struct wsdbg_error *error = path && new_path ? write_whole(new_path, file, byte_count) : &wsdbg_error_no_memory;
    if (!error && rename(new_path, path) != 0)
        error = wsdbg_error_os(errno, "%s", path);
    if (error && new_path)
        unlink(new_path);
    free(path);
    free(new_path);
    return error;
}

static bool is_watched(void)
{
    char own[WSDBG_ARMED_FOLDER_BYTES];
    const char *folder = wsdbg_folder_of_environment(own);
    return folder && *folder;
}

static void say_not_shown(struct context *context, struct wsdbg_error *error)
{
    driver_say_error("the device's state is not shown to wsdbg", error);
    context->state_failed = true;
}

void state_file_publish(struct context *context, enum wsdbg_gpu_outcome outcome)
{
    if (!is_watched() || context->state_failed)
        return;
    unsigned char *file = state_rows_take(context, outcome);
    if (!file || shows_same(context->state, file)) {
        free(file);
        return;
    }
    header_of(file)->time_ns = now_ns();
    struct wsdbg_error *error = put_in_place(context, WSDBG_STATE_FILE, file);
    if (error) {
        say_not_shown(context, error);
        free(file);
        state_file_withdraw(context);
        return;
    }
    free(context->state);
    context->state = file;
}

void state_file_publish_fault(struct context *context)
{
    unsigned char *file = is_watched() && !context->state_failed ? state_rows_take(context, WSDBG_GPU_FAULT) : NULL;
    if (!file)
        return;
    header_of(file)->time_ns = now_ns();
    struct wsdbg_error *error = put_in_place(context, WSDBG_STATE_FAULT_FILE, file);
    free(file);
    if (error)
        say_not_shown(context, error);
}

void state_file_withdraw(struct context *context)
{
    if (!context->state)
        return;
    char *path = path_of(context, WSDBG_STATE_FILE, "");
    if (path)
        unlink(path);
    free(path);
    free(context->state);
    context->state = NULL;
}

enum { WORKS_EVERY_NS = 200000000 };

void state_file_works(struct context *context)
{
    struct timespec now;
    char path[4096];
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (now_ns - context->works_said_ns < WORKS_EVERY_NS)
        return;
    context->works_said_ns = now_ns;
    char own[WSDBG_ARMED_FOLDER_BYTES];
    const char *folder = wsdbg_folder_of_environment(own);
    if (!folder || !*folder)
        return;
    const int length = snprintf(path, sizeof path, "%s/" WSDBG_STATE_WORKS_NAME, folder, (unsigned)getpid(),
                                (unsigned long long)(uintptr_t)context);
    const int fd = length > 0 && (size_t)length < sizeof path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return; /* then it is only looked at sooner */
    futimens(fd, NULL);
    close(fd);
}
