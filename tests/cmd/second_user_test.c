/* second_user_test.c - another user on the same machine while `wsdbg run` watches: reads nothing of it, changes
 * nothing, and what he puts where wsdbg looks is neither believed nor harmful.  Needs root, who alone can be somebody
 * else. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "cmd/sessions.h"

enum { NOBODY = 65534 };

/* A run of a program that hangs, and what it uses. */
struct watched {
    struct running run;
    char session[64], segments[160], segment[512], session_file[160], spool[512], folder[128];
};

/* ---- the other user ---- */

/* One line an attempt goes to $SECOND_USER_LOG, for the page of results (tests/trust/second_user.py). */
static void log_attempt(const char *name, const char *path, bool worked)
{
    const char *log = getenv("SECOND_USER_LOG"), *slash = strrchr(path, '/');
    FILE *file = log ? fopen(log, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s\t%s\t%s\n", name, slash ? slash + 1 : path, worked ? "worked" : "refused");
    fclose(file);
}

/* Whether the attempt works for one who has no rights. */
#define nobody_can(attempt, path) nobody_tries(#attempt, attempt, path)
static bool nobody_tries(const char *name, bool (*attempt)(const char *path), const char *path)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(9);
        alarm(5);
        _exit(attempt(path) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    log_attempt(name, path, WEXITSTATUS(status) == 0);
    return WEXITSTATUS(status) == 0;
}

static bool reads(const char *path)
{
    return open(path, O_RDONLY) >= 0;
}

static bool writes(const char *path)
{
    return open(path, O_WRONLY) >= 0;
}

static bool lists(const char *path)
{
    return opendir(path) != NULL;
}

static bool removes(const char *path)
{
    return unlink(path) == 0;
}

static bool renames(const char *path)
{
    return rename(path, "/dev/shm/wsdbg-second-user-test") == 0;
}

static bool makes_file_in(const char *path)
{
    char file[1024];
    snprintf(file, sizeof file, "%s/1-1.image", path);
    return open(file, O_WRONLY | O_CREAT, 0666) >= 0;
}

static bool connects(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s/memory", path);
    return connect(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&address, sizeof address) == 0;
}

static bool signals(const char *pid)
{
    return kill(atoi(pid), SIGTERM) == 0;
}

static bool finds_a_session(const char *unused)
{
    struct wsdbg_running *sessions;
    size_t count = 0;
    (void)unused;
    wsdbg_sessions_list(&sessions, &count);
    return count > 0;
}

static bool reports(const char *database)
{
    char command[512];
    snprintf(command, sizeof command, "'%s' report '%s' >/dev/null 2>&1", WSDBG_BINARY, database);
    return system(command) == 0;
}

static bool makes_fifo(const char *path)
{
    umask(0);
    return mkfifo(path, 0666) == 0;
}

static bool makes_link_to_shadow(const char *path)
{
    return symlink("/etc/shadow", path) == 0;
}

static bool make_file_of(const char *path, size_t byte_count, int first)
{
    umask(0);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    const unsigned char byte = (unsigned char)first;
    return fd >= 0 && ftruncate(fd, (off_t)byte_count) == 0 && pwrite(fd, &byte, byte_count > 0, 0) >= 0;
}

static bool makes_empty_file(const char *path)
{
    return make_file_of(path, 0, 0);
}

static bool makes_large_file(const char *path)
{
    return make_file_of(path, (size_t)64 << 20, 'W');
}

/* ---- the run ---- */

static void find_session(struct watched *watched)
{
    struct wsdbg_running *sessions;
    size_t count;
    for (int i = 0; i < 500 && !watched->session[0]; i++, usleep(10000)) {
        assert_null(wsdbg_sessions_list(&sessions, &count));
        for (size_t k = 0; k < count; k++)
            if (sessions[k].wsdbg_pid == watched->run.pid)
                snprintf(watched->session, sizeof watched->session, "%s", sessions[k].name);
        wsdbg_sessions_free(sessions, count);
    }
    assert_true(watched->session[0] != '\0');
    snprintf(watched->session_file, sizeof watched->session_file, "/dev/shm/wsdbg.%s.session", watched->session);
}

/* Waits for an entry of `folder` whose name begins with `prefix` and does not hold `not`; gives its path. */
static void find_entry(const char *folder, const char *prefix, const char * not, char *out, size_t size)
{
    for (int i = 0; i < 500 && !out[0]; i++, usleep(10000)) {
        DIR *entries = opendir(folder);
        assert_non_null(entries);
        for (struct dirent *entry; (entry = readdir(entries));)
            if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && !strstr(entry->d_name, not ))
                snprintf(out, size, "%s/%s", folder, entry->d_name);
        closedir(entries);
    }
    assert_true(out[0] != '\0');
}

/* In a folder that everybody may enter; temporary files go there as well. */
static struct watched start_watched(void)
{
    struct watched watched = {0};
    char prefix[96];
    assert_non_null(getcwd(watched.folder, sizeof watched.folder));
    assert_int_equal(chmod(".", 0755), 0);
    umask(0); /* the most careless user */
    setenv("TMPDIR", watched.folder, 1);
    watched.run = WSDBG_START("run", "--stall", "2.5", "-o", "x.db", "--record", "x.wsrec", "--", FAKE_HANG, "hang");
    find_session(&watched);
    snprintf(prefix, sizeof prefix, "wsdbg.%s.", watched.session);
    snprintf(watched.segments, sizeof watched.segments, "/dev/shm/wsdbg.%s", watched.session);
    find_entry(watched.segments, prefix, "/", watched.segment, sizeof watched.segment);
    find_entry(watched.folder, "wsdbg-spool.", "/", watched.spool, sizeof watched.spool);
    wait_for_file("x.wsrec");
    return watched;
}

static struct outcome finish_watched(const struct watched *watched)
{
    struct outcome run = finish(watched->run);
    unsetenv("TMPDIR");
    umask(022);
    assert_int_equal(run.status, 124);
    assert_non_null(strstr(run.err, "HANG: WAKER_EXITED"));
    return run;
}

static void need_root(void)
{
    if (geteuid() != 0)
        skip();
}

static const char *in_folder(const struct watched *watched, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", watched->folder, name);
    return path;
}

static void assert_private(const char *path)
{
    assert_int_equal(access(path, F_OK), 0); /* it is there, or the rest says nothing */
    assert_false(nobody_can(reads, path));
    assert_false(nobody_can(writes, path));
}

static void nothing_of_a_run_can_be_read_or_changed(void **state)
{
    char pid[16];
    (void)state;
    need_root();
    struct watched watched = start_watched();
    assert_private(in_folder(&watched, "x.db"));
    assert_private(in_folder(&watched, "x.db-wal"));
    assert_private(in_folder(&watched, "x.wsrec"));
    assert_private(watched.segment);
    assert_private(watched.session_file);
    assert_false(nobody_can(removes, watched.segment));
    assert_false(nobody_can(removes, watched.session_file));
    assert_false(nobody_can(renames, watched.segment));
    assert_false(nobody_can(lists, watched.segments));
    assert_false(nobody_can(makes_file_in, watched.segments));
    assert_false(nobody_can(lists, watched.spool));
    assert_false(nobody_can(makes_file_in, watched.spool));
    assert_false(nobody_can(connects, watched.spool));
    snprintf(pid, sizeof pid, "%d", (int)watched.run.pid);
    assert_false(nobody_can(signals, pid));
    assert_false(nobody_can(finds_a_session, ""));
    struct outcome run = finish_watched(&watched);
    outcome_free(&run);
    assert_private(in_folder(&watched, "x.db"));
    assert_private(in_folder(&watched, "x.wsrec"));
    assert_false(nobody_can(reports, in_folder(&watched, "x.db")));
}

static void what_is_planted_is_not_believed(void **state)
{
    static const struct {
        const char *name;
        bool (*attempt)(const char *path);
    } plants[] = {{"plants an empty file", makes_empty_file},
                  {"plants a large file", makes_large_file},
                  {"plants a pipe", makes_fifo},
                  {"plants a link to /etc/shadow", makes_link_to_shadow}};
    char path[384];
    (void)state;
    need_root();
    struct watched watched = start_watched();
    for (int i = 0; i < 4; i++) { /* segments: not even there */
        snprintf(path, sizeof path, "%s/wsdbg.%s.%d", watched.segments, watched.session, i + 1);
        assert_false(nobody_tries(plants[i].name, plants[i].attempt, path));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    for (int i = 0; i < 4; i++) { /* sessions */
        snprintf(path, sizeof path, "/dev/shm/wsdbg.%s-%d.session", watched.session, i + 1);
        assert_true(nobody_tries(plants[i].name, plants[i].attempt, path));
    }
    struct outcome top = WSDBG("top", "--list");
    assert_int_equal(top.status, 0);
    assert_non_null(strstr(top.out, watched.session));

    struct outcome run = finish_watched(&watched);
    assert_null(strstr(run.err, "/etc/shadow"));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/dev/shm/wsdbg.%s-%d.session", watched.session, i + 1);
        unlink(path);
    }
    outcome_free(&top);
    outcome_free(&run);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        CASE(nothing_of_a_run_can_be_read_or_changed),
        CASE(what_is_planted_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
