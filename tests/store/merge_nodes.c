/* merge_nodes.c - see merge_nodes.h. */
#include "store/merge_nodes.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/example_machine.h"
#include "store/ranks.h"

enum { SECOND = 1000000000 };

static char *folder;

int merge_set_up(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

int merge_tear_down(void **state)
{
    (void)state;
    example_clean(folder);
    return 0;
}

const char *merge_path(const char *file)
{
    return example_path(folder, file);
}

void merge_make_node(const struct merge_node *node)
{
    struct example e;
    if (node->waiting)
        ranks_make_waiting(&e);
    else if (node->machine)
        example_machine(&e, 2);
    else
        example_hang(&e, 2, 3);
    e.info.hostname = node->host;
    e.info.started_unix_ns += (uint64_t)(node->booted_later_s * SECOND);
    if (e.snapshot.process_count == 0) {
        e.snapshot.processes = calloc(1, sizeof *e.snapshot.processes);
        e.snapshot.process_count = 1;
        e.snapshot.processes[0].process_id = e.snapshot.processes[0].pid = e.snapshot.contexts[0].process_id;
    }
    ranks_set(&e, node->rank, node->world_size, node->job);
    example_store(&e, example_path(folder, node->file));
    if (node->waiting)
        e.diagnosis = (struct wsdbg_diagnosis){0};
    example_free(&e);
}

struct wsdbg_error *merge_files(const char *const *files, size_t count, struct wsdbg_merge *out)
{
    char *paths[NODES_MOST];
    for (size_t i = 0; i < count; i++)
        paths[i] = strdup(example_path(folder, files[i]));
    struct wsdbg_error *error =
        wsdbg_store_merge((const char *const *)paths, count, example_path(folder, "all.db"), out);
    for (size_t i = 0; i < count; i++) {
        if (out->nodes)
            out->nodes[i].path = files[i];
        free(paths[i]);
    }
    return error;
}

struct wsdbg_store *merge_two(const struct merge_node *first, const struct merge_node *second)
{
    struct wsdbg_merge result;
    struct wsdbg_store *store;
    merge_make_node(first);
    merge_make_node(second);
    example_ok(merge_files((const char *const[]){first->file, second->file}, 2, &result));
    wsdbg_merge_deinit(&result);
    example_ok(wsdbg_store_open(example_path(folder, "all.db"), &store));
    return store;
}

char *merge_ask(const char *file, const char *sql)
{
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(example_path(folder, file), &store));
    char *text = example_query(store, sql, WSDBG_QUERY_CSV);
    wsdbg_store_close(store);
    return text;
}

void merge_execute(const char *file, const char *text)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(example_path(folder, file), &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(db);
}

void merge_says(struct wsdbg_store *store, const char *sql, const char *expected)
{
    char *text = example_query(store, sql, WSDBG_QUERY_CSV);
    const char *rows = strchr(text, '\n') + 1;
    if (strcmp(rows, expected) != 0)
        fail_msg("%s gives\n%s, not\n%s", sql, rows, expected);
    free(text);
}
