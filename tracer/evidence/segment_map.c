/* segment_map.c - see segment_map.h. */
#include "evidence/segment_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mapping_guard.h"
#include "base/own_file.h"
#include "evidence/segment_reader.h"

struct wsdbg_segment_map {
    char *name; /* the file's */
    enum wsdbg_segment_use use;
    int fd;
    ino_t inode;
    uint32_t process_id;
    bool filled;
    bool is_copy; /* `bytes` is memory of our own */
    int pidfd;    /* -1 = the process was gone when the segment was opened */
    unsigned char *bytes;
    size_t byte_count;
    unsigned char *request_page;
    size_t request_page_bytes;
    uint32_t *request; /* inside request_page */
    uint32_t *look;    /* slots_request, next to it */
};

static struct wsdbg_error *too_many(const struct wsdbg_segment_map *map)
{
    return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: too many segments are open already", map->name);
}

/* The pages of [offset, offset + byte_count), writable; *place is the offset's. */
static struct wsdbg_error *map_writable(const struct wsdbg_segment_map *map, size_t offset, size_t byte_count,
                                        unsigned char **pages, size_t *pages_bytes, void **place)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t start = offset / page * page;
    void *mapped = mmap(NULL, offset + byte_count - start, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, (off_t)start);
    if (mapped == MAP_FAILED)
        return wsdbg_error_os(errno, "%s: map the words for requests", map->name);
    if (!wsdbg_mapping_guard(mapped, offset + byte_count - start)) {
        munmap(mapped, offset + byte_count - start);
        return too_many(map);
    }
    *pages = mapped;
    *pages_bytes = offset + byte_count - start;
    *place = *pages + (offset - start);
    return NULL;
}

static struct wsdbg_error *map_request_word(struct wsdbg_segment_map *map)
{
    void *words = NULL;
    struct wsdbg_error *error = map_writable(map, offsetof(struct wsdbg_segment, history_request), 2 * sizeof(uint32_t),
                                             &map->request_page, &map->request_page_bytes, &words);
    if (error)
        return error;
    map->request = words;
    _Static_assert(offsetof(struct wsdbg_segment, slots_request) == offsetof(struct wsdbg_segment, history_request) + 4,
                   "both words are mapped writable together");
    map->look = map->request + 1;
    return NULL;
}

static void unmap(unsigned char *pages, size_t byte_count)
{
    if (!pages)
        return;
    wsdbg_mapping_release(pages);
    munmap(pages, byte_count);
}

static struct wsdbg_error *map_bytes(struct wsdbg_segment_map *map)
{
    struct stat status;
    if (map->is_copy)
        return NULL;
    if (fstat(map->fd, &status) != 0)
        return wsdbg_error_os(errno, "%s", map->name);
    if (wsdbg_mapping_was_cut(map->bytes) || wsdbg_mapping_was_cut(map->request_page))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: was shorter for a while: not read any more", map->name);
    const size_t byte_count = (size_t)status.st_size;
    if (byte_count == map->byte_count)
        return NULL;
    if (byte_count < map->byte_count)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: shrank from %zu to %zu bytes", map->name, map->byte_count,
                                  byte_count);
    void *mapped = mmap(NULL, byte_count, PROT_READ, MAP_SHARED, map->fd, 0);
    if (mapped == MAP_FAILED)
        return wsdbg_error_os(errno, "%s: map %zu bytes", map->name, byte_count);
    if (!wsdbg_mapping_guard(mapped, byte_count)) {
        munmap(mapped, byte_count);
        return too_many(map);
    }
    unmap(map->bytes, map->byte_count);
    map->bytes = mapped;
    map->byte_count = byte_count;
    return NULL;
}

/* The producer sizes the object, fills it and writes the magic last. */
static bool is_filled(const struct wsdbg_segment_map *map)
{
    return map->byte_count >= sizeof(uint64_t) && __atomic_load_n((const uint64_t *)map->bytes, __ATOMIC_ACQUIRE) != 0;
}

static struct wsdbg_error *cannot_open(const struct wsdbg_segment_map *map)
{
    if (errno == ENOENT)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: is gone", map->name);
    return wsdbg_error_os(errno, "open %s", map->name);
}

/* What others put there is told by its name alone: a link leads nowhere, a pipe keeps nobody. */
static struct wsdbg_error *open_file(struct wsdbg_segment_map *map)
{
    struct stat status;
    if (lstat(map->name, &status) != 0)
        return cannot_open(map);
    if (status.st_uid != geteuid())
        return wsdbg_error_create(WSDBG_ERROR_FOREIGN, "%s: belongs to user %u: not read", map->name,
                                  (unsigned)status.st_uid);
    if (!S_ISREG(status.st_mode))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: no regular file", map->name);
    map->fd =
        open(map->name, (map->use == WSDBG_SEGMENT_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (map->fd < 0)
        return cannot_open(map);
    struct wsdbg_error *error = wsdbg_own_file_check(map->fd, map->name, &status);
    map->inode = error ? 0 : status.st_ino;
    return error;
}

static struct wsdbg_error *open_map(struct wsdbg_segment_map *map)
{
    struct wsdbg_error *error = open_file(map);
    if (!error)
        error = map_bytes(map);
    if (error || !is_filled(map))
        return error;
    const struct wsdbg_segment_view view = {map->bytes, map->byte_count};
    error = wsdbg_segment_check(&view, map->name);
    if (error)
        return error;
    map->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)map->process_id, 0);
    if (map->pidfd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) /* it lives all the same */
        return wsdbg_error_os(errno, "%s: follow process %u", map->name, map->process_id);
    map->filled = true;
    return map->use == WSDBG_SEGMENT_READ ? NULL : map_request_word(map);
}

struct wsdbg_error *wsdbg_segment_map_open(const char *path, uint32_t process_id, enum wsdbg_segment_use use,
                                           struct wsdbg_segment_map **out)
{
    struct wsdbg_segment_map *map = calloc(1, sizeof *map);
    if (!map)
        return &wsdbg_error_no_memory;
    map->fd = map->pidfd = -1;
    map->name = strdup(path);
    map->process_id = process_id;
    map->use = use;
    struct wsdbg_error *error = map->name ? open_map(map) : &wsdbg_error_no_memory;
    if (error || !map->filled) {
        wsdbg_segment_map_close(map);
        map = NULL;
    }
    if (!error)
        *out = map;
    return error;
}

struct wsdbg_error *wsdbg_segment_map_refresh(struct wsdbg_segment_map *map, struct wsdbg_segment_view *view)
{
    struct wsdbg_error *error = map_bytes(map);
    if (error)
        return error;
    const struct wsdbg_segment_view now = {map->bytes, map->byte_count};
    error = wsdbg_segment_check(&now, map->name);
    if (!error)
        *view = now;
    return error;
}

struct wsdbg_error *wsdbg_segment_map_attach_link(struct wsdbg_segment_map *map, struct wsdbg_attach_link *out)
{
    const struct wsdbg_segment *segment = (const struct wsdbg_segment *)map->bytes;
    const uint64_t fixed_bytes = __atomic_load_n(&segment->fixed_bytes, __ATOMIC_ACQUIRE);
    struct wsdbg_attach_link attach = {.process = -1};
    void *row = NULL;
    if (map->is_copy)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: its process has ended", map->name);
    if (!WSDBG_SEGMENT_HAS(fixed_bytes, attach) || map->byte_count < fixed_bytes)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s: its observer is of a version that lets no inspector in",
                                  map->name);
    struct wsdbg_error *error = map_writable(map, offsetof(struct wsdbg_segment, attach), sizeof segment->attach,
                                             &attach.pages, &attach.pages_bytes, &row);
    if (error)
        return error;
    attach.row = row;
    attach.process = map->pidfd >= 0 ? fcntl(map->pidfd, F_DUPFD_CLOEXEC, 0) : -1;
    *out = attach;
    return NULL;
}

/* The same file is the same program, whatever its name is by now.  What may not be asked is taken for the same. */
static bool executes_the_same(const struct wsdbg_segment_map *map)
{
    const struct wsdbg_segment_view view = {map->bytes, map->byte_count};
    const struct wsdbg_segment_head head = wsdbg_segment_read_head(&view);
    char path[32];
    struct stat status;
    if (head.left_ns)
        return false;
    snprintf(path, sizeof path, "/proc/%u/exe", map->process_id);
    return !head.program_inode || stat(path, &status) != 0 ||
           (status.st_ino == head.program_inode && status.st_dev == head.program_device);
}

bool wsdbg_segment_map_alive(struct wsdbg_segment_map *map)
{
    struct pollfd poller = {.fd = map->pidfd, .events = POLLIN};
    return map->pidfd >= 0 && poll(&poller, 1, 0) == 0 && executes_the_same(map);
}

uint64_t wsdbg_segment_map_inode(const struct wsdbg_segment_map *map)
{
    return map->inode;
}

/* Pages that were never written stay untouched memory of nobody.  Launch sites are of no use without their process. */
static void copy_pages(unsigned char *to, const unsigned char *from, size_t byte_count)
{
    const struct wsdbg_segment_view view = {from, byte_count};
    size_t sites = 0, sites_end = 0;
    const bool has_sites = byte_count >= sizeof(struct wsdbg_segment) && wsdbg_segment_sites(&view, &sites, &sites_end);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static const unsigned char zeros[64];
    for (size_t at = 0; at < byte_count; at += page) {
        const size_t count = byte_count - at < page ? byte_count - at : page;
        size_t same = has_sites && at >= sites && at + page <= sites_end ? count : 0;
        while (same < count &&
               memcmp(from + at + same, zeros, count - same < sizeof zeros ? count - same : sizeof zeros) == 0)
            same += sizeof zeros;
        if (same < count)
            memcpy(to + at, from + at, count);
    }
}

static void let_go_of_file(struct wsdbg_segment_map *map)
{
    struct stat status;
    unmap(map->request_page, map->request_page_bytes);
    map->request_page = NULL;
    if (map->use == WSDBG_SEGMENT_WATCH && lstat(map->name, &status) == 0 && status.st_ino == map->inode)
        unlink(map->name);
    if (map->pidfd >= 0)
        close(map->pidfd);
    close(map->fd);
    map->fd = map->pidfd = -1;
}

struct wsdbg_error *wsdbg_segment_map_keep(struct wsdbg_segment_map *map)
{
    if (map->is_copy)
        return NULL;
    void *copy =
        mmap(NULL, map->byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return wsdbg_error_os(errno, "%s: keep %zu bytes", map->name, map->byte_count);
    copy_pages(copy, map->bytes, map->byte_count);
    let_go_of_file(map);
    unmap(map->bytes, map->byte_count);
    map->bytes = copy;
    map->is_copy = true;
    map->request = (uint32_t *)(map->bytes + offsetof(struct wsdbg_segment, history_request));
    map->look = map->request + 1;
    return NULL;
}

void wsdbg_segment_map_look(struct wsdbg_segment_map *map)
{
    __atomic_add_fetch(map->look, 1, __ATOMIC_RELEASE);
}

uint32_t wsdbg_segment_map_request(struct wsdbg_segment_map *map)
{
    const uint32_t request = __atomic_add_fetch(map->request, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, map->request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return request;
}

bool wsdbg_segment_map_answered(const struct wsdbg_segment_map *map, uint32_t request)
{
    const struct wsdbg_segment *segment = (const struct wsdbg_segment *)map->bytes;
    return __atomic_load_n(&segment->history_done, __ATOMIC_ACQUIRE) == request;
}

static struct wsdbg_error *put(struct wsdbg_segment_map *map, uint64_t offset, const void *bytes, size_t count)
{
    if (map->is_copy)
        memcpy(map->bytes + offset, bytes, count);
    for (size_t done = map->is_copy ? count : 0; done < count;) {
        ssize_t written = pwrite(map->fd, (const char *)bytes + done, count - done, (off_t)(offset + done));
        if (written <= 0 && errno != EINTR)
            return wsdbg_error_os(errno, "%s: write", map->name);
        done += written > 0 ? (size_t)written : 0;
    }
    return NULL;
}

void wsdbg_segment_map_hold_exit(struct wsdbg_segment_map *map, uint64_t until_ns)
{
    wsdbg_error_destroy(put(map, offsetof(struct wsdbg_segment, hold_exit_until_ns), &until_ns, sizeof until_ns));
}

void wsdbg_segment_map_watch(struct wsdbg_segment_map *map, uint64_t for_ns)
{
    const struct wsdbg_segment *segment = (const struct wsdbg_segment *)map->bytes;
    const uint64_t fixed_bytes = __atomic_load_n(&segment->fixed_bytes, __ATOMIC_ACQUIRE);
    if (map->is_copy || !WSDBG_SEGMENT_HAS(fixed_bytes, armed) || map->byte_count < fixed_bytes || !segment->armed)
        return;
    const uint64_t now_ns = wsdbg_attach_clock_ns(), known_ns = segment->watched_until_ns;
    if (for_ns && known_ns > now_ns + for_ns / 2 && segment->watcher_pid == (uint32_t)getpid())
        return;
    const uint64_t until_ns = for_ns ? now_ns + for_ns : 0;
    const uint32_t pid = for_ns ? (uint32_t)getpid() : 0, begun = segment->watch_begun + 1;
    wsdbg_error_destroy(put(map, offsetof(struct wsdbg_segment, watcher_pid), &pid, sizeof pid));
    wsdbg_error_destroy(put(map, offsetof(struct wsdbg_segment, watched_until_ns), &until_ns, sizeof until_ns));
    wsdbg_error_destroy(put(map, offsetof(struct wsdbg_segment, watch_begun), &begun, sizeof begun));
    syscall(SYS_futex, &segment->watch_begun, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static size_t context_offset(uint32_t context)
{
    return offsetof(struct wsdbg_segment, contexts) + context * sizeof(struct wsdbg_context_row);
}

/* Where the mirrors really lie is checked as for reading: the row is the producer's word. */
struct wsdbg_error *wsdbg_segment_map_restore(struct wsdbg_segment_map *map, uint32_t context,
                                              const struct wsdbg_lasting_copy *copy, uint64_t seen_ns)
{
    const struct wsdbg_segment_view view = {map->bytes, map->byte_count};
    struct wsdbg_context_row row;
    wsdbg_segment_read_context(&view, context, &row);
    if (!wsdbg_segment_slots(&view, &row) || copy->slots_bytes != row.slot_count * sizeof(struct wsdbg_slot))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: context %u: the slots do not fit their place", map->name,
                                  context);
    if (copy->history &&
        (!wsdbg_segment_mirror(&view, &row) ||
         copy->history_bytes != (uint64_t)row.slot_count * row.history_depth * sizeof(struct wsdbg_event)))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: context %u: the histories do not fit their place",
                                  map->name, context);
    struct wsdbg_error *error = put(map, row.slots_offset, copy->slots, copy->slots_bytes);
    if (!error && copy->history)
        error = put(map, row.history_offset, copy->history, copy->history_bytes);
    if (!error)
        error = put(map, context_offset(context) + offsetof(struct wsdbg_context_row, slots_copied_ns), &seen_ns,
                    sizeof seen_ns);
    return error;
}

struct wsdbg_error *wsdbg_segment_map_answer(struct wsdbg_segment_map *map, uint32_t context, uint32_t request)
{
    const uint64_t number = request;
    struct wsdbg_error *error =
        put(map, context_offset(context) + offsetof(struct wsdbg_context_row, history_copied), &number, sizeof number);
    return error ? error : put(map, offsetof(struct wsdbg_segment, history_done), &request, sizeof request);
}

void wsdbg_segment_map_close(struct wsdbg_segment_map *map)
{
    unmap(map->request_page, map->request_page_bytes);
    unmap(map->bytes, map->byte_count);
    if (map->pidfd >= 0)
        close(map->pidfd);
    if (map->fd >= 0)
        close(map->fd);
    free(map->name);
    free(map);
}
