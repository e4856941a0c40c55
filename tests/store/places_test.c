/* places_test.c - a database opens wherever it lies: in a folder that cannot be written, with or without the WAL of a
 * killed run, under a name that means something in a URI.  Run as root, each test opens as nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    chmod(folder, 0755);
    example_clean(folder);
    return 0;
}

/* Leaves a database as SIGKILL does: in WAL mode, the picture still in the WAL. */
static void write_and_die(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        struct example e;
        struct wsdbg_store *store = NULL;
        example_hang(&e, 2, 2);
        if (!wsdbg_store_create(path, &e.info, &store) && !wsdbg_store_snapshot(store, &e.snapshot))
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static int count_names(const char *path)
{
    int names = 0;
    DIR *listing = opendir(path);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        names += entry->d_name[0] != '.';
    if (listing)
        closedir(listing);
    return names;
}

/* A database is its owner's alone until he gives it to others. */
static void share(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char file[256];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        chmod(file, 0644);
    }
}

/* Opens `path` while nobody may write in its folder. */
static struct wsdbg_error *open_read_only(const char *path, struct wsdbg_store **out)
{
    share(path);
    chmod(folder, 0555);
    if (geteuid() == 0)
        assert_int_equal(seteuid(NOBODY), 0);
    struct wsdbg_error *error = wsdbg_store_open(path, out);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    chmod(folder, 0755);
    return error;
}

static void opens_in_a_read_only_folder(const char *path, const char *warps)
{
    struct wsdbg_store *store = NULL;
    const int names = count_names(folder);
    example_ok(open_read_only(path, &store));
    char *text = example_query(store, "SELECT count(*) AS n FROM warp", WSDBG_QUERY_CSV);
    wsdbg_store_close(store);
    assert_string_equal(text, warps);
    assert_int_equal(count_names(folder), names);
    free(text);
}

static void a_finished_session_in_a_read_only_folder(void **state)
{
    (void)state;
    struct example e;
    const char *path = example_path(folder, "finished.db");
    example_hang(&e, 2, 2);
    example_store(&e, path);
    example_free(&e);
    opens_in_a_read_only_folder(path, "n\r\n24\r\n");
}

static void a_killed_session_in_a_read_only_folder(void **state)
{
    (void)state;
    char *temporary = example_folder();
    const char *path = example_path(folder, "killed.db");
    chmod(temporary, 0777);
    write_and_die(path);
    unlink(example_path(folder, "killed.db-shm"));
    setenv("TMPDIR", temporary, 1);
    opens_in_a_read_only_folder(path, "n\r\n24\r\n");
    unsetenv("TMPDIR");
    assert_int_equal(count_names(temporary), 0);
    example_clean(temporary);
}

/* What the WAL had is lost with it; the file holds what was folded in before: here the empty session. */
static void a_killed_session_whose_wal_was_left_behind(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    const char *path = example_path(folder, "a?b#c%41.db");
    example_quiet(&e, 1);
    example_ok(wsdbg_store_create(path, &e.info, &store));
    wsdbg_store_close(store);
    FILE *file = fopen(path, "r+"); /* bytes 18 and 19 of the header are 2 in WAL mode */
    fseek(file, 18, SEEK_SET);
    fputs("\2\2", file);
    fclose(file);
    opens_in_a_read_only_folder(path, "n\r\n0\r\n");
    example_free(&e);
}

static void a_killed_session_with_nowhere_to_copy_it_is_refused(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    const char *path = example_path(folder, "stuck.db");
    write_and_die(path);
    unlink(example_path(folder, "stuck.db-shm"));
    setenv("TMPDIR", "/nowhere", 1);
    struct wsdbg_error *error = open_read_only(path, &store);
    unsetenv("TMPDIR");
    example_refused(error, "stuck.db: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finished_session_in_a_read_only_folder),
        cmocka_unit_test(a_killed_session_in_a_read_only_folder),
        cmocka_unit_test(a_killed_session_whose_wal_was_left_behind),
        cmocka_unit_test(a_killed_session_with_nowhere_to_copy_it_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
