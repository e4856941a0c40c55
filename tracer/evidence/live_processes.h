/* live_processes.h - the processes at whose GPU wsdbg may look: which are followed, until when, and what inspectors
 * that stayed cost them.
 *
 * One that has ended, or executes another program by now, is followed no longer: its inspector is sent away.  What an
 * exception had stopped when it was looked at is shown until the end, of the newest few.
 */
#ifndef WSDBG_EVIDENCE_LIVE_PROCESSES_H
#define WSDBG_EVIDENCE_LIVE_PROCESSES_H

#include "evidence/evidence.h"
#include "evidence/live_looks.h"
#include "evidence/live_stay.h"

enum { WSDBG_LIVE_FAULTS_KEPT = 16 };

struct wsdbg_live_followed {
    struct wsdbg_live_process *looks;
    struct wsdbg_live_stay stay;
    uint64_t inode; /* of its segment: another one is another program */
    bool ended;     /* nothing is asked of it any more */
};

struct wsdbg_live_processes {
    struct wsdbg_evidence *ring; /* not owned */
    enum wsdbg_attach_use use;
    uint64_t opened_ns; /* when the run began */
    bool never_stays;   /* inspectors attach for a look only */
    const char *kept;   /* folder for looks, NULL = they are not kept; not owned */
    bool recorded;      /* each kept look is asked for, also of those that have ended */
    struct wsdbg_gpu_wishes wishes;
    bool was_taken; /* the last looks left out one whose GPU another wsdbg's inspector had */
    struct wsdbg_live_followed *list;
    size_t count, capacity;
    struct wsdbg_stay_account account;
    char said[256]; /* the last trouble that was told, "" = none */
};

/* It executes another program since, which has a segment of its own. */
bool wsdbg_live_processes_is_replaced(const struct wsdbg_live_processes *processes,
                                      const struct wsdbg_live_followed *process);
/* Keeps the looks of all processes from now on. */
struct wsdbg_error *wsdbg_live_processes_keep(struct wsdbg_live_processes *processes, const char *folder);
/* The one that runs, or is tried; *out is the list's. */
struct wsdbg_error *wsdbg_live_processes_ensure(struct wsdbg_live_processes *processes, uint32_t process_id,
                                                struct wsdbg_live_process **out);
bool wsdbg_live_processes_is_attended(const struct wsdbg_live_processes *processes, uint32_t process_id);
/* Looks at one; an inspector of this session that stays at another process on the same GPU makes way. */
struct wsdbg_error *wsdbg_live_processes_look_at(struct wsdbg_live_processes *processes,
                                                 struct wsdbg_live_process *process, uint64_t deadline_ns);
/* Waits until those that came for a look have left; rows of `snapshot`, NULL = none, get the time that took. */
void wsdbg_live_processes_await_leave(struct wsdbg_live_processes *processes, struct wsdbg_snapshot *snapshot);
/* Lets inspectors come and go, begins to follow new processes and forgets those that have ended.  Does not wait.
 * `line`: what people should be told, "" = nothing. */
void wsdbg_live_processes_attend(struct wsdbg_live_processes *processes, const struct wsdbg_snapshot *snapshot,
                                 uint64_t now_ns, char *line, size_t size);
/* The line about what inspectors that stayed have cost (once), "" = nothing. */
void wsdbg_live_processes_account(struct wsdbg_live_processes *processes, char *line, size_t size);
void wsdbg_live_processes_deinit(struct wsdbg_live_processes *processes);

#endif
