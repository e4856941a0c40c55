/* spool.c - see spool.h.  Reads: TMPDIR.  Writes: one folder; what the observer put there is removed with it. */
#include "cmd/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct wsdbg_error *wsdbg_spool_create(char **out)
{
    const char *temporary = getenv("TMPDIR");
    char *folder = NULL;
    if (asprintf(&folder, "%s/wsdbg-spool.XXXXXX", temporary && temporary[0] ? temporary : "/tmp") < 0)
        return &wsdbg_error_no_memory;
    if (!mkdtemp(folder)) {
        struct wsdbg_error *error = wsdbg_error_os(errno, "cannot create the folder %s", folder);
        free(folder);
        return error;
    }
    *out = folder;
    return NULL;
}

void wsdbg_spool_destroy(char *folder)
{
    DIR *listing = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlinkat(dirfd(listing), entry->d_name, 0);
    if (listing)
        closedir(listing);
    if (folder)
        rmdir(folder);
    free(folder);
}
