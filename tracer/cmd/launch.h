/* launch.h - running a program under wsdbg, as `run` and `demo` do it. */
#ifndef WSDBG_CMD_LAUNCH_H
#define WSDBG_CMD_LAUNCH_H

#include "cmd/command.h"

#include <stdint.h>

enum wsdbg_run_evidence { WSDBG_RUN_AUTO, WSDBG_RUN_RING, WSDBG_RUN_LIVE, WSDBG_RUN_CORE };
enum wsdbg_run_device {
    WSDBG_RUN_ON_GPU_IF_ANY, /* else on the simulator */
    WSDBG_RUN_ON_EITHER,     /* the same, and the choice is printed */
    WSDBG_RUN_ON_GPU,
    WSDBG_RUN_ON_SIMULATOR
};
enum wsdbg_on_stall { WSDBG_ON_STALL_KILL, WSDBG_ON_STALL_WAIT, WSDBG_ON_STALL_DETACH };

/* Somebody who looks on beside the watch. */
enum wsdbg_followed {
    WSDBG_FOLLOWED_GOES_ON,
    WSDBG_FOLLOWED_STANDS, /* what runs is known never to go on by itself; said once */
    WSDBG_FOLLOWED_ENDS    /* the program is to be ended */
};
struct wsdbg_listener;
struct wsdbg_store;
struct wsdbg_follower {
    /* Called between two looks; what it says goes to the listener, NULL = stderr. */
    enum wsdbg_followed (*look)(struct wsdbg_follower *follower, struct wsdbg_listener *listener);
    /* Set while `look` is called: takes lines for the session's log. */
    struct wsdbg_store *store;
};

/* The result of a run, for callers that need more than the status. */
struct wsdbg_run_result {
    char cause[32]; /* code of the verdict, "" = none */
    char *database; /* the session's; the caller frees; NULL = there is none */
};

struct wsdbg_run_options {
    char **program;       /* NULL-terminated */
    const char *output;   /* NULL = wsdbg-PROGRAM-PID.db in the current directory */
    const char *observer; /* "driver" or "cupti" */
    const char *history;  /* events a warp, NULL = the shim's default */
    const char *ring;     /* "device", "mapped"; NULL = device */
    const char *record_path;
    const char *explore;             /* told to the simulator, NULL = nothing is */
    const char *races;               /* the simulator adds races to this file; NULL = they are not looked for */
    struct wsdbg_follower *follower; /* NULL = none */
    struct wsdbg_run_result *result; /* filled when the program was executed; NULL = nobody wants it */
    const char *mark_folder;         /* shared with other wsdbg of the same run, NULL = none */
    const char *launch_sites;        /* "on", "off"; NULL = on */
    const char *rank_from;           /* variable with each process's rank, NULL = that of a known launcher */
    const char *looks_folder;        /* where looks at the GPU are kept, NULL = nowhere */
    enum wsdbg_run_device device;
    enum wsdbg_run_evidence evidence;
    uint64_t stall_ns, work_stall_ns; /* of kernels with probes; of those without */
    uint64_t give_up_ns;              /* nothing has moved for so long: end the run; 0 = never */
    uint64_t look_every_ns;           /* with tui: kernels without probes are looked at so often, 0 = never */
    enum wsdbg_on_stall on_stall;
    bool json, quiet, tui, keep_history;
    bool require_watch; /* what could not be watched is an error */
};

/* What the rows of commands that run a program have in common: how they are called, and two of their options. */
#define WSDBG_RUNS_PROGRAM                                                                                    \
    .usage = "[options] [--] PROGRAM [ARGS...]", .operands_min = 1, .operands_max = -1, .runs_program = true, \
    .exits = WSDBG_EXITS_PROGRAM
#define WSDBG_OUTPUT_OPTION                                                                       \
    {                                                                                             \
        'o', "output", "FILE", "session database (default wsdbg-PROGRAM-PID.db here)", NULL, NULL \
    }
#define WSDBG_TUI_OPTION                                                                          \
    {                                                                                             \
        0, "tui", NULL, "live view in this terminal, the program's output in its log", NULL, NULL \
    }

/* Runs the program to its end, or to the end of the watch; *status as `wsdbg run` exits. */
struct wsdbg_error *wsdbg_run_program(const struct wsdbg_run_options *options, int *status);

#endif
