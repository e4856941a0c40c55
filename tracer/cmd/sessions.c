/* sessions.c - see sessions.h.  Reads and writes: /dev/shm/wsdbg.*.session; reads which segments lie beside it. */
#include "cmd/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/own_file.h"
#include "evidence/evidence.h"
#include "wsdbg/session.h"

static const char folder_path[] = "/dev/shm";
static const char prefix[] = "wsdbg.";
static const char suffix[] = ".session";

enum { FORMAT = 1, FILE_BYTES_MAX = 1 << 20 };

struct wsdbg_publication {
    char *path;
    int fd; /* holds the lock */
};

static bool is_session_file(const char *name)
{
    size_t length = strlen(name), tail = sizeof suffix - 1;
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && length > tail + sizeof prefix - 1 &&
           strcmp(name + length - tail, suffix) == 0;
}

/* Opens a session file of this user's. -1 = it is none. */
static int open_own(int folder, const char *name)
{
    struct stat status;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    struct wsdbg_error *error = wsdbg_own_file_check(fd, name, &status);
    if (!error && status.st_size <= FILE_BYTES_MAX)
        return fd;
    wsdbg_error_destroy(error);
    close(fd);
    return -1;
}

/* The lock is gone with the process that held it. */
static bool is_stale(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return false;
    flock(fd, LOCK_UN);
    return true;
}

static bool parse(json_t *root, struct wsdbg_running *out)
{
    const char *name, *database, *command, *spool = NULL;
    int format, looks = 0;
    json_int_t wsdbg_pid, program_pid, started_ns;
    if (json_unpack(root, "{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s?b, s?s}", "format", &format, "name", &name,
                    "database", &database, "command", &command, "wsdbg_pid", &wsdbg_pid, "program_pid", &program_pid,
                    "started_ns", &started_ns, "looks", &looks, "folder", &spool) < 0 ||
        format != FORMAT)
        return false;
    *out = (struct wsdbg_running){.name = strdup(name),
                                  .database = strdup(database),
                                  .command = strdup(command),
                                  .spool = spool ? strdup(spool) : NULL,
                                  .wsdbg_pid = (pid_t)wsdbg_pid,
                                  .program_pid = (pid_t)program_pid,
                                  .looks = looks != 0,
                                  .started_ns = (uint64_t)started_ns};
    return out->name && out->database && out->command && (!spool || out->spool);
}

static void running_deinit(struct wsdbg_running *running)
{
    free(running->name);
    free(running->database);
    free(running->command);
    free(running->spool);
}

static bool read_session(int fd, struct wsdbg_running *out)
{
    json_t *root = json_loadfd(fd, 0, NULL);
    struct wsdbg_running read = {0};
    bool good = root && parse(root, &read);
    json_decref(root);
    if (good)
        *out = read;
    else
        running_deinit(&read);
    return good;
}

/* Calls with every session file of this user's. */
static struct wsdbg_error *each_file(struct wsdbg_error *(*visit)(void *state, int folder, const char *name, int fd),
                                     void *state)
{
    DIR *folder = opendir(folder_path);
    struct wsdbg_error *error = NULL;
    if (!folder)
        return wsdbg_error_os(errno, "open %s", folder_path);
    for (struct dirent *entry; !error && (entry = readdir(folder));) {
        int fd = is_session_file(entry->d_name) ? open_own(dirfd(folder), entry->d_name) : -1;
        if (fd < 0)
            continue;
        error = visit(state, dirfd(folder), entry->d_name, fd);
        close(fd);
    }
    closedir(folder);
    return error;
}

/* With the segments that the killed run would have removed.  Those in its folder go with that (spool.h). */
static struct wsdbg_error *remove_if_stale(void *state, int folder, const char *name, int fd)
{
    char session[NAME_MAX + 1];
    (void)state;
    if (!is_stale(fd))
        return NULL;
    snprintf(session, sizeof session, "%s", name + sizeof prefix - 1);
    session[strlen(session) - (sizeof suffix - 1)] = '\0';
    wsdbg_ring_unlink(session, NULL);
    unlinkat(folder, name, 0);
    return NULL;
}

/* Written and locked under another name first: nobody ever sees it without its lock or in part. */
static struct wsdbg_error *write_file(int fd, const char *draft, const struct wsdbg_running *running, const char *path)
{
    json_t *root = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:s*}", "format", FORMAT, "name", running->name,
                             "database", running->database, "command", running->command, "wsdbg_pid",
                             (json_int_t)running->wsdbg_pid, "program_pid", (json_int_t)running->program_pid,
                             "started_ns", (json_int_t)running->started_ns, "looks", running->looks, "folder", running->spool);
    bool good = root && json_dumpfd(root, fd, JSON_INDENT(1)) == 0;
    json_decref(root);
    if (good && flock(fd, LOCK_EX | LOCK_NB) == 0 && rename(draft, path) == 0)
        return NULL;
    struct wsdbg_error *error = wsdbg_error_os(good ? errno : EIO, "write %s", path);
    unlink(draft);
    return error;
}

struct wsdbg_error *wsdbg_session_publish(const struct wsdbg_running *running, struct wsdbg_publication **out)
{
    struct wsdbg_publication *publication = calloc(1, sizeof *publication);
    char draft[PATH_MAX];
    struct wsdbg_error *error = each_file(remove_if_stale, NULL);
    if (error || !publication ||
        asprintf(&publication->path, "%s/%s%s%s", folder_path, prefix, running->name, suffix) < 0) {
        free(publication);
        return error ? error : &wsdbg_error_no_memory;
    }
    snprintf(draft, sizeof draft, "%s.draft", publication->path);
    publication->fd = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    error = publication->fd < 0 ? wsdbg_error_os(errno, "create %s", draft)
                                : write_file(publication->fd, draft, running, publication->path);
    if (!error) {
        *out = publication;
        return NULL;
    }
    if (publication->fd >= 0)
        close(publication->fd);
    free(publication->path);
    free(publication);
    return error;
}

void wsdbg_session_withdraw(struct wsdbg_publication *publication)
{
    if (!publication)
        return;
    unlink(publication->path);
    close(publication->fd);
    free(publication->path);
    free(publication);
}

struct list {
    struct wsdbg_running *sessions;
    size_t count;
};

static struct wsdbg_error *add_if_running(void *state, int folder, const char *name, int fd)
{
    struct list *list = state;
    struct wsdbg_running running;
    (void)folder, (void)name;
    if (is_stale(fd) || !read_session(fd, &running))
        return NULL;
    struct wsdbg_running *longer = reallocarray(list->sessions, list->count + 1, sizeof *longer);
    if (!longer) {
        running_deinit(&running);
        return &wsdbg_error_no_memory;
    }
    list->sessions = longer;
    list->sessions[list->count++] = running;
    return NULL;
}

static int compare_start(const void *left, const void *right)
{
    const struct wsdbg_running *a = left, *b = right;
    return (a->started_ns > b->started_ns) - (a->started_ns < b->started_ns);
}

struct wsdbg_error *wsdbg_sessions_list(struct wsdbg_running **out, size_t *count)
{
    struct list list = {0};
    struct wsdbg_error *error = each_file(add_if_running, &list);
    if (error) {
        wsdbg_sessions_free(list.sessions, list.count);
        return error;
    }
    if (list.count > 0)
        qsort(list.sessions, list.count, sizeof *list.sessions, compare_start);
    *out = list.sessions;
    *count = list.count;
    return NULL;
}

void wsdbg_sessions_free(struct wsdbg_running *sessions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        running_deinit(&sessions[i]);
    free(sessions);
}

/* A process that the program started has a segment of its own. */
static bool has_segment(const struct wsdbg_running *session, const char *process)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, WSDBG_SEGMENT_PATH_FORMAT, session->name, session->name, atoi(process));
    return length < (int)sizeof path && access(path, F_OK) == 0;
}

bool wsdbg_session_matches(const struct wsdbg_running *session, const char *word)
{
    char real[PATH_MAX];
    if (word[0] && word[strspn(word, "0123456789")] == '\0')
        return atoll(word) == session->wsdbg_pid || atoll(word) == session->program_pid || has_segment(session, word);
    if (realpath(word, real) && strcmp(real, session->database) == 0)
        return true;
    return word[0] && strncmp(session->name, word, strlen(word)) == 0;
}
