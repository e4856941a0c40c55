/* output.c - see output.h. */
#include "cmd/output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/file_limit.h"

struct wsdbg_error *wsdbg_output_open(const char *path, struct wsdbg_output *out)
{
    if (!path || strcmp(path, "-") == 0) {
        *out = (struct wsdbg_output){.file = stdout};
        return NULL;
    }
    wsdbg_file_limit_is_an_error();
    FILE *file = fopen(path, "wxe");
    if (!file && errno == EEXIST)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already, not overwritten", path);
    if (!file)
        return wsdbg_error_os(errno, "%s", path);
    *out = (struct wsdbg_output){.file = file, .path = path};
    return NULL;
}

struct wsdbg_error *wsdbg_output_close(struct wsdbg_output *output, struct wsdbg_error *error)
{
    errno = 0;
    const bool failed = fflush(output->file) != 0 || ferror(output->file);
    const int flush_errno = errno;
    if (output->path && fclose(output->file) != 0 && !failed && !error)
        error = wsdbg_error_os(errno, "%s", output->path);
    if (failed && !error)
        error = wsdbg_error_os(flush_errno ? flush_errno : EIO, "%s", output->path ? output->path : "stdout");
    if (error && output->path)
        unlink(output->path);
    return error;
}
