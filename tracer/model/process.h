/* process.h - a process of the program, in words, and what it does. */
#ifndef WSDBG_MODEL_PROCESS_H
#define WSDBG_MODEL_PROCESS_H

#include "model/snapshot.h"

#define WSDBG_PROCESS_BYTES 192

/* What a process does, as far as a snapshot shows: the first of these that holds. */
enum wsdbg_process_state {
    WSDBG_PROCESS_GONE,    /* it has ended */
    WSDBG_PROCESS_FAULT,   /* an error of the GPU ended one of its contexts */
    WSDBG_PROCESS_KERNEL,  /* a kernel of it runs */
    WSDBG_PROCESS_CALL,    /* a thread of it waits in a call of the driver */
    WSDBG_PROCESS_NO_WORK, /* all that the GPU was given is done, or nothing was */
    WSDBG_PROCESS_UNKNOWN,
    WSDBG_PROCESS_STATE_COUNT
};
/* "gone", "fault", … stable; for JSON and SQL. */
const char *wsdbg_process_state_name(enum wsdbg_process_state state);

struct wsdbg_process_work {
    enum wsdbg_process_state state;
    uint32_t grid;    /* that runs, the first one; WSDBG_NONE */
    uint32_t thread;  /* that has waited longest; WSDBG_NONE */
    bool polls_peers; /* a warp of it polls memory that was exported to, or imported from, another process */
};

/* Index in snapshot.processes, WSDBG_NONE. */
uint32_t wsdbg_snapshot_process(const struct wsdbg_snapshot *snapshot, uint32_t process_id);
/* The same of a grid's process. */
uint32_t wsdbg_snapshot_grid_process(const struct wsdbg_snapshot *snapshot, uint32_t grid);
/* There are several processes, and more is known of one of them than its number: its rank, or its host. */
bool wsdbg_snapshot_has_ranks(const struct wsdbg_snapshot *snapshot);
/* What the process of this index does. */
struct wsdbg_process_work wsdbg_process_work(const struct wsdbg_snapshot *snapshot, uint32_t process);

/* "rank 1 of 2 (local 1, host a, process 17)", "process 17".  `host` is the session's, for a process that has none of
 * its own; NULL = not known. */
void wsdbg_process_text(const struct wsdbg_process *process, const char *host, char out[WSDBG_PROCESS_BYTES]);
/* "rank 1", "process 17", "process 17 on a"; `process` may be WSDBG_NONE. */
void wsdbg_process_short_text(const struct wsdbg_snapshot *snapshot, uint32_t process_id,
                              char out[WSDBG_PROCESS_BYTES]);
/* The same at the start of a sentence: "Rank 1". */
void wsdbg_process_first_text(const struct wsdbg_snapshot *snapshot, uint32_t process_id,
                              char out[WSDBG_PROCESS_BYTES]);
/* Whether the thread is its process's first one. */
bool wsdbg_process_is_main(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint32_t thread_id);
/* "killed by SIGKILL", "exited 1", "ended"; "" while it lives. */
void wsdbg_process_end_text(struct wsdbg_process_end end, char out[WSDBG_PROCESS_BYTES]);

#endif
