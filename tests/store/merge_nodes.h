/* merge_nodes.h - sessions of several nodes, for tests of merging them.  Each test has a folder of its own. */
#ifndef WSDBG_TESTS_STORE_MERGE_NODES_H
#define WSDBG_TESTS_STORE_MERGE_NODES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"
#include "store/merge.h"

enum { NODES_MOST = 64 };

/* Of every test: its folder, which is removed behind it. */
int merge_set_up(void **state);
int merge_tear_down(void **state);
/* A file in that folder. */
const char *merge_path(const char *file);

/* A node's session, before it is stored. */
struct merge_node {
    const char *file, *host;
    uint32_t rank, world_size; /* of its process; world_size 0 = not known */
    const char *job;
    int64_t booted_later_s; /* than the example's host: its clock shows so much less */
    bool machine, waiting;
};

/* Stores the session of a node. */
void merge_make_node(const struct merge_node *node);
/* Merges files of the folder into all.db; the nodes of *out have the names of the files. */
struct wsdbg_error *merge_files(const char *const *files, size_t count, struct wsdbg_merge *out);
/* Stores two nodes, merges them and opens all.db; the caller closes. */
struct wsdbg_store *merge_two(const struct merge_node *first, const struct merge_node *second);
/* What a query of a file gives, as CSV; the caller frees. */
char *merge_ask(const char *file, const char *sql);
/* Executes statements in a file. */
void merge_execute(const char *file, const char *text);
/* Fails where the query gives other rows, as CSV. */
void merge_says(struct wsdbg_store *store, const char *sql, const char *expected);

/* Two nodes of one run. */
static const struct merge_node merge_node_a = {"a.db", "node-a", 1, 2, "SLURM_JOB_ID=7\n", 0, false, false};
static const struct merge_node merge_node_b = {"b.db", "node-b", 0, 2, "SLURM_JOB_ID=7\n", 100, true, false};

#endif
