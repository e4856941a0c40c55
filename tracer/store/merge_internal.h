/* merge_internal.h - private to the room: what the files of a merge share. */
#ifndef WSDBG_STORE_MERGE_INTERNAL_H
#define WSDBG_STORE_MERGE_INTERNAL_H

#include "store/database.h"
#include "store/load.h"
#include "store/merge.h"

/* Pictures of the merged database. */
enum { WSDBG_MERGED_BEFORE = 1, WSDBG_MERGED_SHOWN = 2 };

/* A variable that names the run, "NAME=value", as a process of the node has it. */
struct wsdbg_merge_variable {
    char *text;
    size_t name_length;
};

/* What is found out about an input before anything is written. */
struct wsdbg_merge_input {
    struct wsdbg_store *store;
    struct wsdbg_merge_node *node; /* of the result */
    int64_t number;                /* id of its row in `node` */
    char *hostname;                /* "" = not known */
    uint64_t started_unix_ns, started_ns,
        ended_ns;     /* on its own clock; the end is that of its newest picture at least */
    int64_t shift_ns; /* from its clock to the common one */
    bool hang;
    int64_t shown, before;       /* ids of its pictures, 0 = none */
    uint64_t shown_ns, still_ns; /* when that picture was taken, and for how long nothing had moved then */
    uint32_t *world_sizes;
    size_t world_size_count;
    struct wsdbg_merge_variable *variables;
    size_t variable_count;
    /* What its rows become. */
    int64_t *processes, *new_processes; /* numbers, in ascending order, and what they become */
    size_t process_count;
    int64_t *findings, *new_findings; /* likewise, of the shown picture */
    size_t finding_count;
};

/* Opens each, and refuses what is not to be merged. */
struct wsdbg_error *wsdbg_merge_open(const char *const *paths, size_t count, struct wsdbg_merge *merge,
                                     struct wsdbg_merge_input *inputs);
void wsdbg_merge_close(struct wsdbg_merge_input *inputs, size_t count);
/* By what they are of one run, whose ranks they have, on what clock they are: error where they do not belong together.
 */
struct wsdbg_error *wsdbg_merge_check(struct wsdbg_merge *merge, struct wsdbg_merge_input *inputs);

/* Adds the rows of each table that hang on the two pictures, or on none, with new ids; but for those of session, node,
 * snapshot and event_kind.  The process rows come first. */
struct wsdbg_error *wsdbg_merge_copy(struct wsdbg_store *output, const struct wsdbg_merge_input *input);

/* Adds what only shows in the calls of NCCL of all nodes together, also to the loaded picture. */
struct wsdbg_error *wsdbg_merge_judge_ranks(struct wsdbg_store *output, struct wsdbg_loaded *loaded);

#endif
