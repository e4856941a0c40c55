/* running.h - one run of a program under wsdbg, for the files that it is made of.  Private to `wsdbg run`.
 *
 * run.c opens the session and runs the program.  run_prepare.c chooses device and evidence before anything is started,
 * run_wait.c is called between two looks of the watch, run_finish.c ends the program and says how the run ended.
 */
#ifndef WSDBG_CMD_RUNNING_H
#define WSDBG_CMD_RUNNING_H

#include "base/progress_line.h"
#include "cmd/device.h"
#include "cmd/launch.h"
#include "cmd/run_marks.h"
#include "cmd/run_tui.h"
#include "cmd/sessions.h"
#include "program/spool.h"
#include "program/supervise.h"
#include "program/unseen.h"
#include "watch/session.h"

/* Everything a run holds; freed in one place. */
struct wsdbg_run {
    const struct wsdbg_run_options *options;
    struct wsdbg_clock clock;
    struct wsdbg_device device;
    struct wsdbg_cancel cancel;
    char *shim, *command, *output;
    struct wsdbg_spool spool;
    char name[64]; /* of the session */
    enum wsdbg_run_evidence evidence;
    uint64_t look_ns; /* most that a look at the GPU itself may take, 0 = it cannot be looked at */
    char **environment;
    struct wsdbg_child *child;
    struct wsdbg_session *session;
    struct wsdbg_publication *publication;
    struct wsdbg_tui *tui; /* NULL = without --tui */
    struct wsdbg_progress_line dump;
    struct wsdbg_unseen unseen;
    struct wsdbg_run_marks marks;
    bool executed, ended_by_follower, stands_said, outlived_said, end_looked_at;
    bool discard; /* the database is not kept */
};

/* Chooses device and evidence, checks the files that options name, and makes the program's environment.  Nothing is
 * started. */
struct wsdbg_error *wsdbg_run_prepare(struct wsdbg_run *run);
/* The clock of the watch: its waits serve the child, the terminal, the follower and the marks of other nodes. */
struct wsdbg_clock wsdbg_run_clock(void);
/* The watch is over: ends the program if that is asked for, closes the session and says how the run ended.  *status: as
 * `wsdbg run` exits. */
struct wsdbg_error *wsdbg_run_finish(struct wsdbg_run *run, const struct wsdbg_watch *watch, int *status);

#endif
