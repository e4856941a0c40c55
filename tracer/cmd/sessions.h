/* sessions.h - the sessions that run on this machine: `run` publishes its own, `top` finds them.
 *
 * A session is published as /dev/shm/wsdbg.NAME.session, a small JSON file that only its user can read.  The run
 * holds a lock on it for as long as it lives, so a file without a lock is what a killed run left behind.
 */
#ifndef WSDBG_CMD_SESSIONS_H
#define WSDBG_CMD_SESSIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct wsdbg_join;
struct wsdbg_running {
    char *name;     /* of its shared segments */
    char *database; /* absolute path */
    char *command;  /* the program's command line */
    char *spool;    /* the session's folder, absolute; NULL = not known */
    pid_t wsdbg_pid, program_pid;
    bool looks;                    /* it looks at the GPU when it is sent WSDBG_LOOK_SIGNAL */
    uint64_t started_ns;           /* CLOCK_MONOTONIC */
    const struct wsdbg_join *join; /* not published: only these processes are shown, NULL = all */
};

/* Sent to a wsdbg that looks: refresh the picture of kernels without probes. */
#define WSDBG_LOOK_SIGNAL (SIGRTMIN + 5)

struct wsdbg_publication;

/* Makes the session known; `running` is not kept.  What killed runs of this user left in
 * /dev/shm is removed. */
struct wsdbg_error *wsdbg_session_publish(const struct wsdbg_running *running, struct wsdbg_publication **out);
/* Takes the file away.  NULL is fine. */
void wsdbg_session_withdraw(struct wsdbg_publication *publication);

/* The running sessions of this user, oldest first.  What is no session file of ours is left out. */
struct wsdbg_error *wsdbg_sessions_list(struct wsdbg_running **out, size_t *count);
void wsdbg_sessions_free(struct wsdbg_running *sessions, size_t count);

/* Whether `word` means this session: its name, the start of its name, a process of it, or its database. */
bool wsdbg_session_matches(const struct wsdbg_running *session, const char *word);

#endif
