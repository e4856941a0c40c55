/* ring_processes.c - see ring_processes.h. */
#include "evidence/ring_processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "evidence/process_end.h"

/* An armed process counts as watched for so long after it was told.  wsdbg cannot tell it during a look at the GPU.  So
 * the time must be longer than a look, or its observer would forget what it saw. */
#define WATCH_NS UINT64_C(12000000000)
/* Changes within one tick of the file system's clock leave the folder's time as it was. */
#define SETTLED_NS 1000000000ll

/* The process id of a segment's file name, 0 if it is not a segment of this session.  *is_left: its process is past
 * it. */
static uint32_t process_of(const char *prefix, const char *name, bool *is_left)
{
    const size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] < '1' || name[length] > '9')
        return 0;
    char *end;
    const unsigned long id = strtoul(name + length, &end, 10);
    *is_left = strncmp(end, WSDBG_SEGMENT_LEFT, sizeof WSDBG_SEGMENT_LEFT - 1) == 0;
    return (*end == '\0' || *is_left) && id <= INT32_MAX ? (uint32_t)id : 0;
}

struct wsdbg_ring_process *wsdbg_ring_processes_find(const struct wsdbg_ring_processes *processes, uint32_t process_id)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->process_id == process_id)
            return processes->list[i];
    return NULL;
}

static void free_process(struct wsdbg_ring_process *process, enum wsdbg_segment_use use)
{
    wsdbg_tracker_deinit(&process->tracker);
    if (process->map && use == WSDBG_SEGMENT_WATCH)
        wsdbg_segment_map_watch(process->map, 0);
    if (process->map)
        wsdbg_segment_map_close(process->map);
    free(process->path);
    free(process);
}

/* What it did stays counted. */
static void forget(struct wsdbg_ring_processes *processes, size_t at)
{
    struct wsdbg_ring_process *process = processes->list[at];
    processes->forgotten++;
    processes->forgotten_launches += process->tracker.head.launch_count;
    if (processes->on_forget)
        processes->on_forget(processes->state, process->process_id);
    free_process(process, processes->use);
    processes->count--;
    memmove(&processes->list[at], &processes->list[at + 1], (processes->count - at) * sizeof *processes->list);
}

/* ---- coming ---- */

/* Takes the error, NULL = none. */
static void note_trouble(struct wsdbg_ring_process *process, struct wsdbg_error *error)
{
    const enum wsdbg_error_code code = error ? wsdbg_error_code(error) : 0;
    process->again = code == WSDBG_ERROR_OS || code == WSDBG_ERROR_NO_MEMORY;
    snprintf(process->trouble, sizeof process->trouble, "%s", error ? wsdbg_error_message(error) : "");
    wsdbg_error_destroy(error);
}

static struct wsdbg_error *add_process(struct wsdbg_ring_processes *processes, const char *path, uint32_t process_id,
                                       uint64_t inode)
{
    struct wsdbg_segment_map *map = NULL;
    struct wsdbg_error *error = wsdbg_segment_map_open(path, process_id, processes->use, &map);
    const enum wsdbg_error_code code = error ? wsdbg_error_code(error) : 0;
    if (code == WSDBG_ERROR_FOREIGN || code == WSDBG_ERROR_NOT_FOUND) {
        processes->foreign += code == WSDBG_ERROR_FOREIGN;
        wsdbg_error_destroy(error);
        return NULL;
    }
    if (!error && !map) {
        processes->scan_again = true;
        return NULL;
    }
    struct wsdbg_ring_process *process = calloc(1, sizeof *process);
    char *own_path = strdup(path);
    if (!process || !own_path ||
        !wsdbg_grow((void **)&processes->list, &processes->capacity, processes->count + 1, sizeof *processes->list)) {
        free(process);
        free(own_path);
        if (map)
            wsdbg_segment_map_close(map);
        wsdbg_error_destroy(error);
        return &wsdbg_error_no_memory;
    }
    *process = (struct wsdbg_ring_process){.process_id = process_id, .path = own_path, .inode = inode, .map = map};
    processes->unreadable += error != NULL;
    note_trouble(process, error);
    if (process->trouble[0])
        memcpy(processes->reason, process->trouble, sizeof processes->reason);
    processes->list[processes->count++] = process;
    return NULL;
}

static void open_again(struct wsdbg_ring_processes *processes, struct wsdbg_ring_process *process)
{
    struct wsdbg_error *error =
        wsdbg_segment_map_open(process->path, process->process_id, processes->use, &process->map);
    note_trouble(process, error);
    process->again = process->again || (!error && !process->map); /* not filled yet */
    if (!process->map)
        return;
    processes->unreadable--;
    processes->forgotten_launches -= process->launches_before;
    process->launches_before = 0;
}

/* Also those since the last look. */
static void count_last_launches(struct wsdbg_ring_process *process)
{
    struct wsdbg_segment_view view;
    if (!process->map || process->ended)
        return;
    struct wsdbg_error *error = wsdbg_segment_map_refresh(process->map, &view);
    if (!error)
        process->tracker.head.launch_count = wsdbg_segment_read_head(&view).launch_count;
    wsdbg_error_destroy(error);
}

/* A file that another one replaced: the process executed another program, or its number came again. */
static void forget_replaced(struct wsdbg_ring_processes *processes, uint32_t process_id, uint64_t inode)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->process_id == process_id && processes->list[i]->inode != inode) {
            processes->replaced[processes->replaced_count++ % WSDBG_RING_REPLACED] = processes->list[i]->inode;
            count_last_launches(processes->list[i]);
            forget(processes, i);
            return;
        }
}

static bool is_counted(const struct wsdbg_ring_processes *processes, uint32_t process_id, uint64_t inode)
{
    const struct wsdbg_ring_process *process = wsdbg_ring_processes_find(processes, process_id);
    bool found = process && process->inode == inode;
    for (size_t i = 0; i < WSDBG_RING_REPLACED; i++)
        found |= processes->replaced[i] == inode;
    return found;
}

/* What another program did in a process that is in the list by now for what it does today, or will be: it is counted,
 * unless it was watched and counts already. */
static void take_left(struct wsdbg_ring_processes *processes, const char *path, uint32_t process_id, uint64_t inode)
{
    struct wsdbg_segment_map *map = NULL;
    struct wsdbg_segment_view view;
    if (processes->use != WSDBG_SEGMENT_WATCH)
        return;
    if (is_counted(processes, process_id, inode)) {
        unlink(path);
        return;
    }
    struct wsdbg_error *error = wsdbg_segment_map_open(path, process_id, WSDBG_SEGMENT_READ, &map);
    if (!error && map)
        error = wsdbg_segment_map_refresh(map, &view);
    if (!error && map) {
        processes->forgotten++;
        processes->forgotten_launches += wsdbg_segment_read_head(&view).launch_count;
        unlink(path);
    }
    wsdbg_error_destroy(error);
    if (map)
        wsdbg_segment_map_close(map);
}

static bool is_looked_at(const struct wsdbg_ring_processes *processes, uint32_t process_id)
{
    const struct wsdbg_join *join = processes->join;
    bool found = !join;
    for (size_t i = 0; join && i < join->process_count; i++)
        found |= join->process_ids[i] == process_id;
    return found;
}

/* Containers that share a folder may give the same number to different processes. */
static bool is_of_other_namespace(const char *path)
{
    struct stat own;
    uint64_t namespace = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_known =
        fd >= 0 && stat("/proc/self/ns/pid", &own) == 0 &&
        pread(fd, &namespace, sizeof namespace, offsetof(struct wsdbg_segment, pid_namespace)) == sizeof namespace;
    if (fd >= 0)
        close(fd);
    return is_known && namespace && namespace != (uint64_t)own.st_ino;
}

static int compare_processes(const void *left, const void *right)
{
    const struct wsdbg_ring_process *a = *(struct wsdbg_ring_process *const *)left,
                                    *b = *(struct wsdbg_ring_process *const *)right;
    return (a->process_id > b->process_id) - (a->process_id < b->process_id);
}

static struct wsdbg_error *scan_place(struct wsdbg_ring_processes *processes, const struct wsdbg_ring_place *place)
{
    DIR *folder = opendir(place->folder);
    if (!folder)
        return errno == ENOENT ? NULL : wsdbg_error_os(errno, "open %s", place->folder);
    struct wsdbg_error *error = NULL;
    for (struct dirent *entry; !error && (entry = readdir(folder));) {
        char path[PATH_MAX];
        bool is_left;
        const uint32_t process_id = process_of(processes->prefix, entry->d_name, &is_left);
        if (!process_id || !is_looked_at(processes, process_id) ||
            snprintf(path, sizeof path, "%s/%s", place->folder, entry->d_name) >= (int)sizeof path ||
            (processes->join && is_of_other_namespace(path)))
            continue;
        if (is_left) {
            take_left(processes, path, process_id, entry->d_ino);
            continue;
        }
        forget_replaced(processes, process_id, entry->d_ino);
        if (!wsdbg_ring_processes_find(processes, process_id))
            error = add_process(processes, path, process_id, entry->d_ino);
    }
    closedir(folder);
    return error;
}

/* True where the folder may have changed since it was read.  `age_ns` is how long ago it last did. */
static bool is_news(const struct wsdbg_ring_place *place, const struct stat *status, long long *age_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *age_ns = (now.tv_sec - status->st_mtim.tv_sec) * 1000000000ll + (now.tv_nsec - status->st_mtim.tv_nsec);
    return *age_ns <= SETTLED_NS || status->st_mtim.tv_sec != place->scanned.tv_sec ||
           status->st_mtim.tv_nsec != place->scanned.tv_nsec;
}

struct wsdbg_error *wsdbg_ring_processes_discover(struct wsdbg_ring_processes *processes)
{
    bool news[2] = {false, false}, any = processes->scan_again;
    long long age_ns[2] = {0};
    struct stat status[2];
    for (size_t i = 0; i < processes->place_count; i++) {
        const struct wsdbg_ring_place *place = &processes->places[i];
        if (stat(place->folder, &status[i]) == 0)
            news[i] = is_news(place, &status[i], &age_ns[i]);
        else if (errno != ENOENT)
            return wsdbg_error_os(errno, "look at %s", place->folder);
        any |= news[i];
    }
    if (!any)
        return NULL;
    struct wsdbg_error *error = NULL;
    processes->scan_again = false;
    processes->foreign = 0;
    for (size_t i = 0; i < processes->place_count && !error; i++) {
        error = scan_place(processes, &processes->places[i]);
        if (!error && news[i] && age_ns[i] > SETTLED_NS)
            processes->places[i].scanned = status[i].st_mtim;
    }
    processes->scan_again |= error != NULL;
    if (processes->count)
        qsort(processes->list, processes->count, sizeof *processes->list, compare_processes);
    return error;
}

/* ---- being there ---- */

static void give_up(struct wsdbg_ring_processes *processes, struct wsdbg_ring_process *process,
                    struct wsdbg_error *error)
{
    note_trouble(process, error);
    memcpy(processes->reason, process->trouble, sizeof processes->reason);
    processes->unreadable++;
    process->launches_before = process->tracker.head.launch_count;
    processes->forgotten_launches += process->launches_before;
    wsdbg_tracker_deinit(&process->tracker);
    process->tracker = (struct wsdbg_tracker){0};
    wsdbg_segment_map_close(process->map);
    process->map = NULL;
}

static struct wsdbg_error *look_at(struct wsdbg_ring_processes *processes, struct wsdbg_ring_process *process,
                                   uint64_t now_ns)
{
    struct wsdbg_segment_view view;
    struct wsdbg_error *error = wsdbg_segment_map_refresh(process->map, &view);
    if (error) {
        give_up(processes, process, error);
        return NULL;
    }
    const bool alive = wsdbg_segment_map_alive(process->map);
    error = wsdbg_tracker_look(&process->tracker, &view, alive, now_ns);
    if (error)
        return error;
    if (!alive && process->tracker.end.kind == WSDBG_END_NONE)
        process->tracker.end = wsdbg_process_end_read(process->process_id);
    wsdbg_tracker_forgive_silence(&process->tracker, now_ns);
    if (processes->use == WSDBG_SEGMENT_WATCH) {
        wsdbg_segment_map_watch(process->map, WATCH_NS);
        wsdbg_segment_map_look(process->map);
    }
    return NULL;
}

/* They answer later requests too. */
static bool keeps_histories(const struct wsdbg_ring_process *process)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (process->kept[i])
            return true;
    return false;
}

struct wsdbg_error *wsdbg_ring_processes_look(struct wsdbg_ring_processes *processes, uint64_t now_ns)
{
    for (size_t i = 0; i < processes->count; i++) {
        struct wsdbg_ring_process *process = processes->list[i];
        if (!process->map && process->again)
            open_again(processes, process);
        if (!process->map || (process->ended && !keeps_histories(process)))
            continue;
        struct wsdbg_error *error = look_at(processes, process, now_ns);
        if (error)
            return error;
    }
    return NULL;
}

/* ---- going ---- */

static bool has_fault(const struct wsdbg_ring_process *process)
{
    for (uint32_t i = 0; i < process->tracker.head.context_count; i++)
        if (process->tracker.contexts[i].row.error != 0)
            return true;
    return false;
}

/* A process that can be read no more, and has ended, is no use either. */
static bool is_lost(const struct wsdbg_ring_process *process)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%u", process->process_id);
    return !process->map && !process->again && access(path, F_OK) != 0;
}

/* Forgets the oldest of a kind until `most` are left: those that ended well, or the others. */
static void thin(struct wsdbg_ring_processes *processes, bool faulted, size_t most)
{
    size_t left = 0;
    for (size_t i = 0; i < processes->count; i++)
        left += (processes->list[i]->ended || is_lost(processes->list[i])) && has_fault(processes->list[i]) == faulted;
    while (left > most) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < processes->count; i++) {
            const struct wsdbg_ring_process *process = processes->list[i];
            if ((process->ended || is_lost(process)) && has_fault(process) == faulted &&
                (oldest == SIZE_MAX ||
                 process->tracker.head.created_ns < processes->list[oldest]->tracker.head.created_ns))
                oldest = i;
        }
        forget(processes, oldest);
        left--;
    }
}

size_t wsdbg_ring_processes_let_go(struct wsdbg_ring_processes *processes,
                                   bool (*is_done)(const void *state, const struct wsdbg_ring_process *process),
                                   const void *state, uint64_t now_ns)
{
    size_t gone = 0;
    for (size_t i = 0; i < processes->count; i++) {
        struct wsdbg_ring_process *process = processes->list[i];
        struct wsdbg_segment_view view;
        if (!process->map || process->ended || process->tracker.alive || !is_done(state, process))
            continue;
        struct wsdbg_error *error = wsdbg_segment_map_keep(process->map);
        if (!error)
            error = wsdbg_segment_map_refresh(process->map, &view);
        if (!error)
            error = wsdbg_tracker_look(&process->tracker, &view, false, now_ns);
        process->ended = !error;
        gone += process->ended;
        wsdbg_error_destroy(error); /* tried again at the next look */
    }
    thin(processes, false, WSDBG_RING_ENDED_KEPT);
    thin(processes, true, WSDBG_RING_FAULTED_KEPT);
    return gone;
}

bool wsdbg_ring_processes_some_wait(const struct wsdbg_ring_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        if (!processes->list[i]->map && processes->list[i]->again)
            return true;
    return false;
}

/* ---- the whole ---- */

struct wsdbg_error *wsdbg_ring_processes_init(const char *session, const char *spool, enum wsdbg_segment_use use,
                                              struct wsdbg_ring_processes *out)
{
    *out = (struct wsdbg_ring_processes){.use = use, .place_count = 1};
    if (asprintf(&out->places[0].folder, WSDBG_SEGMENT_OWN_FORMAT, session) < 0)
        out->places[0].folder = NULL;
    if (asprintf(&out->prefix, "wsdbg.%s.", session) < 0)
        out->prefix = NULL;
    if (spool && asprintf(&out->places[1].folder, "%s/" WSDBG_SEGMENT_SPOOLED, spool) < 0)
        return &wsdbg_error_no_memory;
    out->place_count += spool != NULL;
    if (!out->prefix || !out->places[0].folder)
        return &wsdbg_error_no_memory;
    /* Made before the program begins.  Armed processes make it themselves.  If it cannot be made, or belongs to another
     * user, segments are in the other place. */
    if (use == WSDBG_SEGMENT_WATCH && strncmp(session, "armed-", 6) != 0)
        (void)!mkdir(out->places[0].folder, 0700);
    return NULL;
}

struct wsdbg_error *wsdbg_ring_processes_join(struct wsdbg_ring_processes *processes, const struct wsdbg_join *join)
{
    char *folder = NULL;
    if (asprintf(&folder, "%s%s", join->root, processes->places[0].folder) < 0)
        return &wsdbg_error_no_memory;
    free(processes->places[0].folder);
    processes->places[0].folder = folder;
    processes->join = join;
    return NULL;
}

void wsdbg_ring_processes_deinit(struct wsdbg_ring_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        free_process(processes->list[i], processes->use);
    for (size_t i = 0; i < processes->place_count; i++)
        free(processes->places[i].folder);
    free(processes->list);
    free(processes->prefix);
    *processes = (struct wsdbg_ring_processes){0};
}

void wsdbg_ring_processes_unlink(const char *session, const char *spool)
{
    struct wsdbg_ring_processes processes;
    struct wsdbg_error *error = wsdbg_ring_processes_init(session, spool, WSDBG_SEGMENT_READ, &processes);
    for (size_t i = 0; i < processes.place_count && !error; i++) {
        DIR *folder = opendir(processes.places[i].folder);
        bool is_left;
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            if (process_of(processes.prefix, entry->d_name, &is_left))
                unlinkat(dirfd(folder), entry->d_name, 0);
        if (folder)
            closedir(folder);
        if (i == 0)
            rmdir(processes.places[0].folder);
    }
    wsdbg_error_destroy(error);
    wsdbg_ring_processes_deinit(&processes);
}
