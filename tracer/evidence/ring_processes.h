/* ring_processes.h - the processes of a session, as their segments show them.
 *
 * Reads: the folders in which segments lie, the segments.  Writes: nothing but requests; the file of an ended process
 * is removed once it was read.
 *
 * Processes come and go.  What an ended one left is kept as a copy; of many that ended well only the newest are, and
 * the others are counted.
 */
#ifndef WSDBG_EVIDENCE_RING_PROCESSES_H
#define WSDBG_EVIDENCE_RING_PROCESSES_H

#include <time.h>

#include "evidence/evidence.h"
#include "evidence/segment_map.h"
#include "evidence/tracker.h"

enum {
    WSDBG_RING_ENDED_KEPT = 32,    /* processes that ended well, and are still shown */
    WSDBG_RING_FAULTED_KEPT = 128, /* ... with an error of the GPU */
    WSDBG_RING_REPLACED = 16       /* newest files whose process is past them that are known to be counted */
};

struct wsdbg_ring_process {
    uint32_t process_id;
    char *path; /* of its file */
    uint64_t inode;
    struct wsdbg_segment_map *map; /* NULL = cannot be read, `trouble` says why */
    char trouble[256];
    bool again;               /* ... which may pass: too many files are open, no memory */
    uint64_t launches_before; /* ... it could be read no more */
    bool ended;               /* its file was let go of: nothing changes any more */
    struct wsdbg_tracker tracker;
    bool asked, awaited; /* for histories; the observer's answer is waited for */
    uint32_t request;
    bool restored[WSDBG_CONTEXT_ROWS]; /* what a GPU fault or the process's end left was read, or cannot be */
    bool kept[WSDBG_CONTEXT_ROWS];     /* ... and its histories lie in the segment */
};

/* A folder, and its time when it was last read. */
struct wsdbg_ring_place {
    char *folder;
    struct timespec scanned;
};

struct wsdbg_ring_processes {
    enum wsdbg_segment_use use;
    char *prefix; /* "wsdbg.<session>." */
    struct wsdbg_ring_place places[2];
    size_t place_count;
    bool scan_again;
    struct wsdbg_ring_process **list; /* ids in order, so that snapshots list processes the same way every time */
    size_t count, capacity;
    size_t foreign;      /* files with the session's name that are another user's, at the last scan */
    char reason[256];    /* why the newest one could not be read */
    uint64_t unreadable; /* processes whose segment was never read, or no more; those that are forgotten too */
    uint64_t replaced[WSDBG_RING_REPLACED]; /* their inodes */
    uint64_t replaced_count;
    uint64_t forgotten; /* processes that ended and are not in the list any more */
    uint64_t forgotten_launches;
    void (*on_forget)(void *state, uint32_t process_id); /* NULL = nobody is told */
    void *state;
    const struct wsdbg_join *join; /* NULL = everything is looked at */
};

/* `spool` is the session's folder, NULL = only /dev/shm has segments.  *out is the caller's to deinit, also after an
 * error. */
struct wsdbg_error *wsdbg_ring_processes_init(const char *session, const char *spool, enum wsdbg_segment_use use,
                                              struct wsdbg_ring_processes *out);
/* Finds new segments. */
struct wsdbg_error *wsdbg_ring_processes_discover(struct wsdbg_ring_processes *processes);
/* One look at each. */
struct wsdbg_error *wsdbg_ring_processes_look(struct wsdbg_ring_processes *processes, uint64_t now_ns);
/* Lets go of what is left of ended processes for which is_done() says that nothing more is wanted from them.  Returns
 * of how many; each had a file and up to two descriptors. */
size_t wsdbg_ring_processes_let_go(struct wsdbg_ring_processes *processes,
                                   bool (*is_done)(const void *state, const struct wsdbg_ring_process *process),
                                   const void *state, uint64_t now_ns);
/* Some could not be opened for want of descriptors or memory: the next look tries again. */
bool wsdbg_ring_processes_some_wait(const struct wsdbg_ring_processes *processes);
/* NULL = it is not there. */
struct wsdbg_ring_process *wsdbg_ring_processes_find(const struct wsdbg_ring_processes *processes, uint32_t process_id);
/* See evidence.h. */
struct wsdbg_error *wsdbg_ring_processes_join(struct wsdbg_ring_processes *processes, const struct wsdbg_join *join);
void wsdbg_ring_processes_deinit(struct wsdbg_ring_processes *processes);

/* Removes the session's segments from the places. */
void wsdbg_ring_processes_unlink(const char *session, const char *spool);

#endif
