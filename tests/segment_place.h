/* segment_place.h - where a test's segments lie: in the session's folder in /dev/shm, as the shim's do. */
#ifndef WSDBG_TESTS_SEGMENT_PLACE_H
#define WSDBG_TESTS_SEGMENT_PLACE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wsdbg/session.h"

enum { SEGMENT_PATH_BYTES = 256 };

static inline const char *segment_place(const char *name, int process, char path[SEGMENT_PATH_BYTES])
{
    snprintf(path, SEGMENT_PATH_BYTES, WSDBG_SEGMENT_PATH_FORMAT, name, name, process);
    return path;
}

/* `name` is the session's; its folder is made where it lacks. */
static inline int segment_place_create(const char *name, int process)
{
    char path[SEGMENT_PATH_BYTES];
    snprintf(path, sizeof path, WSDBG_SEGMENT_OWN_FORMAT, name);
    mkdir(path, 0700);
    return open(segment_place(name, process, path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* The session's folder goes with the last file. */
static inline int segment_place_remove(const char *name, int process)
{
    char path[SEGMENT_PATH_BYTES];
    const int result = unlink(segment_place(name, process, path));
    snprintf(path, sizeof path, WSDBG_SEGMENT_OWN_FORMAT, name);
    rmdir(path);
    return result;
}

#endif
