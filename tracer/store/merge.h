/* merge.h - joins the databases of several nodes of one run into one.
 *
 * Reads: session databases, as wsdbg_store_open reads them.  Writes: a new one.
 */
#ifndef WSDBG_STORE_MERGE_H
#define WSDBG_STORE_MERGE_H

#include "store/store.h"

/* How the host times of a node were put on the clock of the first one. */
enum wsdbg_clock_tie {
    WSDBG_CLOCK_OWN,     /* it is the first one */
    WSDBG_CLOCK_SHARED,  /* the same machine: it is the same clock */
    WSDBG_CLOCK_WALL,    /* by the Unix time at which each session started: as exact as the hosts' clocks are set */
    WSDBG_CLOCK_UNKNOWN, /* one of the two does not know its Unix time: both sessions are taken to start together */
};

struct wsdbg_merge_node {
    const char *path; /* the caller's */
    char *label;      /* the host, and the file where another node has the same host */
    enum wsdbg_clock_tie tie;
    bool apart; /* on the common clock its session does not overlap with any other one */
    uint32_t *ranks;
    size_t rank_count; /* each once, in order */
    size_t process_count;
};

struct wsdbg_merge {
    struct wsdbg_merge_node *nodes;
    size_t node_count;
    struct wsdbg_optional_u32 world_size;
    char *same;    /* "SLURM_JOB_ID=77, MASTER_PORT=29500": by what several of them are known to be of one run; "" =
                      nothing */
    size_t untied; /* nodes that nothing ties to another one */
};

/* Creates `output`, which must not exist; after an error it does not.  *out is the caller's to deinit. */
struct wsdbg_error *wsdbg_store_merge(const char *const *paths, size_t count, const char *output,
                                      struct wsdbg_merge *out);
void wsdbg_merge_deinit(struct wsdbg_merge *merge);

#endif
