/* own_file.c - see own_file.h. */
#include "base/own_file.h"

#include <errno.h>
#include <unistd.h>

struct wsdbg_error *wsdbg_own_file_check(int fd, const char *name, struct stat *out)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return wsdbg_error_os(errno, "%s", name);
    if (status.st_uid != geteuid())
        return wsdbg_error_create(WSDBG_ERROR_FOREIGN, "%s: belongs to user %u, not to %u, who runs wsdbg: not read",
                                  name, (unsigned)status.st_uid, (unsigned)geteuid());
    if (!S_ISREG(status.st_mode))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: no regular file", name);
    if (status.st_nlink > 1)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: has %lu names, may be another file: not read", name,
                                  (unsigned long)status.st_nlink);
    if (out)
        *out = status;
    return NULL;
}
