/* supervise.h - the traced program as a child process: start, signals, terminal, end.
 *
 * One supervisor a process, used from the main thread: it owns the signal mask, SIGCHLD and the subreaper bit.
 */
#ifndef WSDBG_CMD_SUPERVISE_H
#define WSDBG_CMD_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct wsdbg_child;

enum wsdbg_child_event {
    WSDBG_CHILD_TICK,    /* the deadline passed */
    WSDBG_CHILD_RESUMED, /* it had been stopped and goes on: time did not count meanwhile */
    WSDBG_CHILD_ENDED
};

/* Forks; the child waits before its exec so that its pid can name things first.  die_with_parent: the program
 * gets SIGTERM when wsdbg dies without having ended it. */
struct wsdbg_error *wsdbg_child_create(bool die_with_parent, char **arguments, char **environment,
                                       struct wsdbg_child **out);
pid_t wsdbg_child_pid(const struct wsdbg_child *child);
/* Lets the child execute the program.  Returns 0, or the errno of exec (the child is gone then). */
int wsdbg_child_execute(struct wsdbg_child *child);

/* Forwards signals and follows the child until something happens or CLOCK_MONOTONIC is deadline_ns. */
enum wsdbg_child_event wsdbg_child_wait(struct wsdbg_child *child, uint64_t deadline_ns);

/* Ends the program and whatever it started: SIGTERM, a second later SIGKILL (a process hung in the driver may
 * not react to the first).  Returns the number of processes that would not die within five more seconds. */
size_t wsdbg_child_kill(struct wsdbg_child *child);

/* The signal it died of, 0 = none; valid after ENDED or kill. */
int wsdbg_child_signal(const struct wsdbg_child *child);
/* Its exit status as a shell has it: its own, or 128 + signal. */
int wsdbg_child_status(const struct wsdbg_child *child);

/* Puts terminal modes back if the program died of a signal and left others.  A child that still runs goes on. */
void wsdbg_child_destroy(struct wsdbg_child *child);

#endif
