/* processes.h - the process tree below wsdbg, as /proc shows it. */
#ifndef WSDBG_PROGRAM_PROCESSES_H
#define WSDBG_PROGRAM_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WSDBG_PROCESSES_MAX 4096

/* Living descendants of this process (zombies left out), children before their own children. Returns how many. */
size_t wsdbg_processes_below(pid_t out[WSDBG_PROCESSES_MAX]);
/* True when `process` is this process's descendant. */
bool wsdbg_process_is_below(pid_t process);

/* A process that is found stopped; two that are equal are one stop, in which nothing of it ran. */
struct wsdbg_process_stop {
    pid_t process;
    uint64_t switches;  /* how often its first thread has left a processor */
    uint64_t cpu_ticks; /* of all its threads */
    bool is_traced;     /* by a debugger, or that is not known */
};
/* True while a signal or a debugger has stopped the process, or its first thread; tells which stop it is. */
bool wsdbg_process_is_stopped(pid_t process, struct wsdbg_process_stop *stop);

#endif
