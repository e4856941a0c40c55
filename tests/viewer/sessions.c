/* sessions.c - see sessions.h. */
#include "viewer/sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "cmd/harness.h"
#include "store/example_machine.h"
#include "store/ranks.h"

static const char *file_of(const char *name, char path[128])
{
    snprintf(path, 128, "%s.db", name);
    return path;
}

void session_change(const char *name, const char *sql)
{
    char path[128];
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(file_of(name, path), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

void session_replayed(const char *name)
{
    char path[128], recording[512];
    if (access(file_of(name, path), R_OK) == 0)
        return;
    snprintf(recording, sizeof recording, "%s/%s.wsrec", WSDBG_RECORDED_DIR, name);
    struct outcome replay = WSDBG("replay", recording, "-o", path);
    assert_true(replay.status == 124 || replay.status == 0);
    outcome_free(&replay);
    session_change(name, "UPDATE session SET hostname = 'gpu-box', command = 'build/bin/gemm --case x'");
}

void session_example(const char *name, const char *kernel)
{
    char path[128];
    struct example example;
    example_hang(&example, 4, 8);
    if (kernel)
        for (size_t i = 0; i < example.snapshot.function_count; i++)
            snprintf(example.snapshot.functions[i].name, sizeof example.snapshot.functions[i].name, "%s", kernel);
    unlink(file_of(name, path));
    example_store(&example, path);
    example_free(&example);
}

void session_machine(const char *name)
{
    char path[128];
    struct example example;
    example_machine(&example, 4);
    unlink(file_of(name, path));
    example_store(&example, path);
    example_free(&example);
}

static void store_node(struct example *example, const char *path, const char *host, uint32_t rank)
{
    example->info.hostname = host;
    ranks_set(example, rank, 2, "SLURM_JOB_ID=7\n");
    unlink(path);
    example_store(example, path);
    example_free(example);
}

void session_merged(const char *name)
{
    char path[128];
    struct example example;
    example_hang(&example, 4, 8);
    store_node(&example, "node-a.db", "node-a", 1);
    ranks_make_waiting(&example);
    store_node(&example, "node-b.db", "node-b", 0);
    struct outcome merge = WSDBG("merge", "node-a.db", "node-b.db", "-o", file_of(name, path));
    assert_int_equal(merge.status, 0);
    outcome_free(&merge);
}

void session_ranks(const char *name, uint32_t count)
{
    char path[128];
    struct example example;
    ranks_make(&example);
    ranks_add_idle(&example, count);
    unlink(file_of(name, path));
    example_store(&example, path);
    example_free(&example);
}

struct screen *view_start(const char *name, int columns, int rows, const char *const *settings)
{
    char path[128];
    return screen_start(columns, rows, settings,
                        (const char *const[]){WSDBG_BINARY, "view", file_of(name, path), NULL});
}

struct screen *view_open(const char *name)
{
    return view_start(name, 80, 24, NULL);
}

void view_leave(struct screen *screen)
{
    screen_press(screen, "q");
    screen_expect_restored(screen);
    assert_int_equal(screen_finish(screen), 0);
}

void view_screen(const char *name, const char *session, const char *keys, int columns, int rows)
{
    char golden[128];
    session_replayed(session);
    struct screen *screen = view_start(session, columns, rows, NULL);
    screen_press(screen, keys);
    snprintf(golden, sizeof golden, "%s-%dx%d", name, columns, rows);
    screen_expect_golden(screen, golden);
    view_leave(screen);
}

void view_screens(const char *name, const char *session, const char *keys)
{
    view_screen(name, session, keys, 80, 24);
    view_screen(name, session, keys, 200, 60);
}
