/* marks.c - see marks.h.  Reads and writes files of a folder that other machines may share. */
#include "program/marks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_BYTES = 128,
    LOOK_EVERY_NS = 250000000,
    TELL_EVERY_NS = 2000000000,
    TOLD_MOST = 256 /* marks of others that are remembered */
};
#define WATCHES_FOR_NS INT64_C(10000000000) /* after it was last touched */

static const char watches[] = ".watches", hang[] = ".hang", looked[] = ".looked";

struct wsdbg_marks {
    int folder;
    char name[NAME_BYTES]; /* of its own files, without the ending */
    char words[256];
    bool can_write, is_set;
    int64_t began_ns;            /* by the folder's clock: older marks are of earlier runs */
    int64_t set_ns;              /* when its own hang was marked */
    uint64_t looked_ns, told_ns; /* CLOCK_MONOTONIC */
    char told[TOLD_MOST][NAME_BYTES];
    size_t told_count;
};

static int64_t time_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- its own files ---- */

static void file_name(const struct wsdbg_marks *marks, const char *ending, char out[NAME_BYTES + 16])
{
    snprintf(out, NAME_BYTES + 16, "%s%s", marks->name, ending);
}

/* As a whole or not at all: under another name first.  *out is when, by the folder's clock. */
static bool write_file(struct wsdbg_marks *marks, const char *ending, const char *text, int64_t *out)
{
    char name[NAME_BYTES + 16], draft[NAME_BYTES + 16];
    struct stat status;
    file_name(marks, ending, name);
    file_name(marks, ".draft", draft);
    unlinkat(marks->folder, draft, 0);
    const int fd = openat(marks->folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    const size_t length = strlen(text);
    bool whole = write(fd, text, length) == (ssize_t)length;
    whole = close(fd) == 0 && whole;
    whole = whole && renameat(marks->folder, draft, marks->folder, name) == 0;
    const int reason = errno;
    if (whole && fstatat(marks->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        *out = time_ns(status.st_mtim);
    if (!whole)
        unlinkat(marks->folder, draft, 0);
    errno = reason;
    return whole;
}

/* Says that it still watches, now and then. */
static void tell(struct wsdbg_marks *marks, uint64_t now_ns)
{
    int64_t unused;
    if (!marks->can_write || (marks->told_ns && now_ns - marks->told_ns < TELL_EVERY_NS))
        return;
    marks->told_ns = now_ns;
    write_file(marks, watches, "", &unused);
}

/* ---- files of others ---- */

static bool has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

/* A mark that one of this user's wsdbg has put there. */
static bool is_mark(const struct wsdbg_marks *marks, const char *name, const char *ending, int64_t *changed_ns)
{
    struct stat status;
    char own[NAME_BYTES + 16];
    file_name(marks, ending, own);
    if (strncmp(name, "wsdbg-", 6) != 0 || !has_ending(name, ending) || strlen(name) >= NAME_BYTES ||
        strcmp(name, own) == 0)
        return false;
    if (fstatat(marks->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid())
        return false;
    *changed_ns = time_ns(status.st_mtim);
    return true;
}

/* The folder, to be read from its start; NULL = it cannot be read now. */
static DIR *read_folder(const struct wsdbg_marks *marks)
{
    const int fd = openat(marks->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries && fd >= 0)
        close(fd);
    return entries;
}

static bool was_told(struct wsdbg_marks *marks, const char *name)
{
    for (size_t i = 0; i < marks->told_count; i++)
        if (strcmp(marks->told[i], name) == 0)
            return true;
    if (marks->told_count < TOLD_MOST)
        strcpy(marks->told[marks->told_count++], name); /* is_mark() has seen that it fits */
    return marks->told_count == TOLD_MOST;
}

/* A value of the mark's lines "KEY VALUE", of such letters as it can have. */
static void read_value(const char *text, const char *key, const char *letters, char *out, size_t bytes)
{
    const char *at = strstr(text, key);
    const size_t length = at ? strspn(at + strlen(key), letters) : 0;
    snprintf(out, bytes, "%.*s", length ? (int)length : 1, length ? at + strlen(key) : "?");
}

static void read_mark(const struct wsdbg_marks *marks, const char *name, struct wsdbg_mark *out)
{
    static const char of_cause[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                      of_host[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    char text[512];
    const int fd = openat(marks->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    read_value(text, "\nhost ", of_host, out->host, sizeof out->host);
    read_value(text, "\ncause ", of_cause, out->cause, sizeof out->cause);
}

bool wsdbg_marks_look(struct wsdbg_marks *marks, uint64_t now_ns, struct wsdbg_mark *out)
{
    bool found = false;
    if (marks->looked_ns && now_ns - marks->looked_ns < LOOK_EVERY_NS)
        return false;
    marks->looked_ns = now_ns;
    tell(marks, now_ns);
    DIR *entries = read_folder(marks);
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        int64_t changed_ns;
        found = is_mark(marks, entry->d_name, hang, &changed_ns) && changed_ns >= marks->began_ns &&
                !was_told(marks, entry->d_name);
        if (found)
            read_mark(marks, entry->d_name, out);
    }
    if (entries)
        closedir(entries);
    return found;
}

void wsdbg_marks_answer(struct wsdbg_marks *marks)
{
    int64_t unused;
    if (marks->can_write)
        write_file(marks, looked, "", &unused);
}

bool wsdbg_marks_set(struct wsdbg_marks *marks, const char *cause)
{
    char text[256], host[64] = "?";
    if (marks->is_set)
        return marks->can_write;
    marks->is_set = true;
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "wsdbg mark 1\nhost %.63s\nprocess %d\ncause %.31s\n", host, (int)getpid(),
             cause[0] ? cause : "?");
    marks->can_write = marks->can_write && write_file(marks, hang, text, &marks->set_ns);
    return marks->can_write;
}

/* Whether the one whose .watches this is has a file with that ending that is not older than `least_ns`. */
static bool has_newer(const struct wsdbg_marks *marks, const char *name, const char *ending, int64_t least_ns)
{
    char other[NAME_BYTES + 16];
    int64_t changed_ns;
    snprintf(other, sizeof other, "%.*s%s", (int)(strlen(name) - strlen(watches)), name, ending);
    return is_mark(marks, other, ending, &changed_ns) && changed_ns >= least_ns;
}

size_t wsdbg_marks_unanswered(struct wsdbg_marks *marks, size_t *others)
{
    size_t unanswered = 0;
    DIR *entries = read_folder(marks);
    *others = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        int64_t changed_ns;
        if (!is_mark(marks, entry->d_name, watches, &changed_ns) || changed_ns < marks->set_ns - WATCHES_FOR_NS)
            continue;
        ++*others;
        /* A wsdbg that found a hang itself at about the same time has its picture. */
        unanswered += !has_newer(marks, entry->d_name, looked, marks->set_ns) &&
                      !has_newer(marks, entry->d_name, hang, marks->set_ns - WATCHES_FOR_NS);
    }
    if (entries)
        closedir(entries);
    return unanswered;
}

/* ---- begin and end ---- */

/* A host's name may hold anything. */
static void make_name(struct wsdbg_marks *marks)
{
    char host[64] = "host";
    gethostname(host, sizeof host - 1);
    for (char *at = host; *at; at++)
        if (*at == '/')
            *at = '_';
    snprintf(marks->name, sizeof marks->name, "wsdbg-%s-%d", host, (int)getpid());
}

static size_t count_old(const struct wsdbg_marks *marks)
{
    size_t count = 0;
    DIR *entries = read_folder(marks);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        int64_t changed_ns;
        count += is_mark(marks, entry->d_name, hang, &changed_ns) && changed_ns < marks->began_ns;
    }
    if (entries)
        closedir(entries);
    return count;
}

static void begin(struct wsdbg_marks *marks, const char *folder)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    marks->began_ns = time_ns(now);
    marks->can_write = write_file(marks, watches, "", &marks->began_ns);
    if (!marks->can_write) {
        snprintf(marks->words, sizeof marks->words,
                 "--mark %.128s: cannot write there (%s): hangs of others are seen, one found here is not told", folder,
                 strerror(errno));
        return;
    }
    const size_t old = count_old(marks);
    if (old > 0)
        snprintf(marks->words, sizeof marks->words, "--mark %.128s: %zu mark%s of before this run %s ignored", folder,
                 old, old == 1 ? "" : "s", old == 1 ? "is" : "are");
}

struct wsdbg_error *wsdbg_marks_open(const char *folder, struct wsdbg_marks **out)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--mark: %s: not a folder", folder);
    if (fd < 0)
        return wsdbg_error_os(errno, "--mark: %s", folder);
    struct wsdbg_marks *marks = calloc(1, sizeof *marks);
    if (!marks) {
        close(fd);
        return &wsdbg_error_no_memory;
    }
    marks->folder = fd;
    make_name(marks);
    begin(marks, folder);
    *out = marks;
    return NULL;
}

const char *wsdbg_marks_words(const struct wsdbg_marks *marks)
{
    return marks->words;
}

void wsdbg_marks_close(struct wsdbg_marks *marks)
{
    char name[NAME_BYTES + 16];
    if (!marks)
        return;
    file_name(marks, watches, name);
    unlinkat(marks->folder, name, 0);
    file_name(marks, looked, name);
    unlinkat(marks->folder, name, 0);
    close(marks->folder);
    free(marks);
}
