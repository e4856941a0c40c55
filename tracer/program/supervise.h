/* supervise.h - the traced program as a child process: start, signals, terminal, end.
 *
 * One supervisor a process, used from the main thread: it owns the signal mask, SIGCHLD and the subreaper bit.
 */
#ifndef WSDBG_PROGRAM_SUPERVISE_H
#define WSDBG_PROGRAM_SUPERVISE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct wsdbg_child;

enum wsdbg_child_event {
    WSDBG_CHILD_TICK,    /* the deadline passed */
    WSDBG_CHILD_RESUMED, /* it had been stopped and goes on: time did not count meanwhile */
    WSDBG_CHILD_LOOK,    /* SIGQUIT came, with quit_looks */
    WSDBG_CHILD_REFRESH, /* look_signal came */
    WSDBG_CHILD_ENDED
};

/* What else is served while the child is waited for, on the same thread: it must not block. */
struct wsdbg_companion {
    /* Fills at most `capacity` descriptors to poll and says how many.  *due_ns may be lowered: serve me by then. */
    size_t (*watch)(struct wsdbg_companion *companion, struct pollfd *descriptors, size_t capacity, uint64_t *due_ns);
    /* Called after every poll. */
    void (*serve)(struct wsdbg_companion *companion);
    /* A signal came that wants wsdbg to end (SIGTERM, SIGHUP, SIGINT, SIGQUIT); the child has been sent it too. */
    void (*end)(struct wsdbg_companion *companion);
};

struct wsdbg_child_options {
    bool die_with_parent; /* the program gets SIGTERM when wsdbg dies without having ended it */
    bool ignore_hangup;   /* it outlives its terminal, as with nohup(1) */
    bool is_seen_stopped; /* there is something to look at while the program is stopped, too */
    int look_signal;      /* a signal for wsdbg alone, 0 = none */
    bool quit_looks;      /* SIGQUIT is for wsdbg alone: the program ignores it where it shares wsdbg's terminal */
    /* A terminal of its own, in a session of its own: keys of wsdbg's terminal are not sent to it.  -1 = it shares
     * wsdbg's. */
    int terminal;
    bool on_terminal[3];               /* which of stdin, stdout, stderr become that terminal */
    struct wsdbg_companion *companion; /* NULL = none */
};

/* Forks; the child waits before its exec so that its pid can name things first. */
struct wsdbg_error *wsdbg_child_create(const struct wsdbg_child_options *options, char **arguments, char **environment,
                                       struct wsdbg_child **out);
pid_t wsdbg_child_pid(const struct wsdbg_child *child);
/* Lets the child execute the program.  Returns 0, or the errno of what failed (the child is gone then). */
int wsdbg_child_execute(struct wsdbg_child *child);

/* Forwards signals and follows the child until something happens or CLOCK_MONOTONIC is deadline_ns. */
enum wsdbg_child_event wsdbg_child_wait(struct wsdbg_child *child, uint64_t deadline_ns);

/* Stops wsdbg, and before it a child that is apart; both go on when wsdbg is continued. */
void wsdbg_child_stop_both(struct wsdbg_child *child);
/* Follows signals and serves the companion, with or without a child that runs, until deadline_ns at most. */
void wsdbg_child_pause(struct wsdbg_child *child, uint64_t deadline_ns);

/* Whether a signal that wants wsdbg to end came after since_ns (CLOCK_MONOTONIC); takes what has come meanwhile, and
 * does not wait. */
bool wsdbg_child_end_was_asked(struct wsdbg_child *child, uint64_t since_ns);

/* Ends the program and whatever it started: SIGTERM, a second later SIGKILL (a process hung in the driver may
 * not react to the first).  Returns the number of processes that would not die within five more seconds, half a second
 * where somebody wants wsdbg itself to end. */
size_t wsdbg_child_kill(struct wsdbg_child *child);

/* The signal it died of, 0 = none; valid after ENDED or kill. */
int wsdbg_child_signal(const struct wsdbg_child *child);
/* Its exit status as a shell has it: its own, or 128 + signal. */
int wsdbg_child_status(const struct wsdbg_child *child);

/* Puts terminal modes back if the program died of a signal and left others.  A child that still runs goes on. */
void wsdbg_child_destroy(struct wsdbg_child *child);

#endif
