/* file_span.c - see file_span.h.  Reads a file; writes memory that the caller frees. */
#include "lint/file_span.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct wsdbg_error *wsdbg_file_span_open(const char *path, struct wsdbg_file_span *out)
{
    struct stat status;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return wsdbg_error_os(errno, "cannot open");
    struct wsdbg_error *error = NULL;
    if (fstat(descriptor, &status) < 0)
        error = wsdbg_error_os(errno, "cannot be examined");
    else if (!S_ISREG(status.st_mode))
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s, not a file",
                                   S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe");
    else if (status.st_size == 0)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the file is empty");
    if (error)
        close(descriptor);
    else
        *out = (struct wsdbg_file_span){descriptor, 0, (uint64_t)status.st_size};
    return error;
}

struct wsdbg_error *wsdbg_file_span_part(const struct wsdbg_file_span *span, uint64_t first, uint64_t byte_count,
                                         const char *what, struct wsdbg_file_span *out)
{
    if (first > span->byte_count || byte_count > span->byte_count - first)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "cut short or damaged: %s should be bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64,
                                  what, first, first + byte_count, span->byte_count);
    *out = (struct wsdbg_file_span){span->descriptor, span->first + first, byte_count};
    return NULL;
}

struct wsdbg_error *wsdbg_file_span_read(const struct wsdbg_file_span *span, uint64_t offset, void *out,
                                         size_t byte_count)
{
    if (offset > span->byte_count || byte_count > span->byte_count - offset)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "cut short or damaged: %zu bytes at byte %" PRIu64 " of %" PRIu64 " are not there",
                                  byte_count, offset, span->byte_count);
    size_t done = 0;
    while (done < byte_count) {
        const ssize_t count =
            pread(span->descriptor, (char *)out + done, byte_count - done, (off_t)(span->first + offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return wsdbg_error_os(errno, "cannot be read");
        if (count == 0)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "became shorter while it was read");
        done += (size_t)count;
    }
    return NULL;
}

struct wsdbg_error *wsdbg_file_span_read_all(const struct wsdbg_file_span *span, uint64_t most, unsigned char **out)
{
    if (span->byte_count > most)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%" PRIu64 " bytes in one piece, at most %" PRIu64 " are read",
                                  span->byte_count, most);
    unsigned char *bytes = malloc((size_t)span->byte_count + 1);
    if (!bytes)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_file_span_read(span, 0, bytes, (size_t)span->byte_count);
    if (error) {
        free(bytes);
        return error;
    }
    bytes[span->byte_count] = '\0';
    *out = bytes;
    return NULL;
}
