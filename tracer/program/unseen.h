/* unseen.h - processes of the program that use the GPU, and of whose calls the observer sees none. */
#ifndef WSDBG_PROGRAM_UNSEEN_H
#define WSDBG_PROGRAM_UNSEEN_H

#include <stdint.h>

#include "program/unwatched.h"

enum { WSDBG_UNSEEN_PROCESSES = 64 };

/* Zeros before the first look. */
struct wsdbg_unseen {
    uint64_t first_ns, next_ns; /* of looks */
    size_t count;
    struct wsdbg_unseen_process {
        pid_t process;
        const char *reason;
    } processes[WSDBG_UNSEEN_PROCESSES];
};

/* Looks at the processes below this one, now and then: a program that is older is looked at less often. */
void wsdbg_unseen_look(struct wsdbg_unseen *unseen, const char *session, const char *spool, uint64_t now_ns);
/* Adds those that were unseen to the last, but for those whose observer has said so itself. */
void wsdbg_unseen_add(const struct wsdbg_unseen *unseen, const char *spool, struct wsdbg_unwatched *out);
/* Filters of system calls (seccomp) of a process, 0 = itself; -1 = not known. */
long wsdbg_filters_of(pid_t process);

#endif
