/* unwatched.h - processes of the program that used CUDA and could not be watched. */
#ifndef WSDBG_PROGRAM_UNWATCHED_H
#define WSDBG_PROGRAM_UNWATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct wsdbg_unwatched {
    size_t count;
    pid_t process;    /* the first of them */
    char reason[256]; /* its observer's words */
};

/* What observers left in the spool folder: <pid>.off, the reason.  What cannot be read is a process with none; zeros are
 * a process that has not used CUDA. */
void wsdbg_unwatched_read(const char *spool, struct wsdbg_unwatched *out);
/* Whether the process's observer is among them. */
bool wsdbg_unwatched_says(const char *spool, pid_t process);

#endif
