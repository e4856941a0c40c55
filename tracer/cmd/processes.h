/* processes.h - the process tree below wsdbg, as /proc shows it. */
#ifndef WSDBG_CMD_PROCESSES_H
#define WSDBG_CMD_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define WSDBG_PROCESSES_MAX 4096

/* Living descendants of this process (zombies left out), children before their own children. Returns how many. */
size_t wsdbg_processes_below(pid_t out[WSDBG_PROCESSES_MAX]);
/* True when `process` is this process's descendant. */
bool wsdbg_process_is_below(pid_t process);
/* True while a signal or a debugger has stopped the process as a whole. */
bool wsdbg_process_is_stopped(pid_t process);

#endif
