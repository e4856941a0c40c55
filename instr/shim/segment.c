/* segment.c - creates and grows the shared segment that wsdbg/session.h describes.
 *
 * Writes: the file that segment_file.c names, mode 0600.  Every byte is allocated before it is mapped, so a full
 * file system is an error here and never a SIGBUS in the app.  Nothing is ever unmapped, and no descriptor is
 * kept: an app that closes all descriptors and opens its own must not get our writes into its files.
 */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "segment_file.h"

struct wsdbg_segment *_Atomic shim_segment;

static uint64_t page_round(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void describe_no_space(int fd, uint64_t bytes, int error, char *why)
{
    const unsigned long long needed_mib = (bytes + 0xfffff) >> 20;
    struct statfs space;
    unsigned long long free_bytes = 0;
    if (error == EFBIG) {
        snprintf(why, WSDBG_TEXT_BYTES,
                 "%.120s: the program's limit of file sizes (ulimit -f) leaves no %llu MiB for it", segment_file_name(),
                 needed_mib);
        return;
    }
    if (fstatfs(fd, &space) == 0)
        free_bytes = (unsigned long long)space.f_bavail * (unsigned long long)space.f_bsize;
    snprintf(why, WSDBG_TEXT_BYTES, "%.120s: %llu MiB free there, %llu needed: %s", segment_file_name(),
             free_bytes >> 20, needed_mib, strerror(error));
}

/* A file size limit is checked first, since going over it raises SIGXFSZ in the app. */
static bool allocate(int fd, uint64_t offset, uint64_t bytes, char *why)
{
    struct rlimit limit;
    int error = 0;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur)
        error = EFBIG;
    else
        do
            error = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
        while (error == EINTR);
    if (error)
        describe_no_space(fd, bytes, error, why);
    return error == 0;
}

static void *map(int fd, uint64_t offset, uint64_t bytes, char *why)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (memory == MAP_FAILED)
        snprintf(why, WSDBG_TEXT_BYTES, "cannot map %.150s: %s", segment_file_name(), strerror(errno));
    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t unix_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* By which wsdbg knows that the process still executes the same program. */
static void fill_identity(struct wsdbg_segment *segment)
{
    struct stat status;
    if (stat("/proc/self/exe", &status) == 0) {
        segment->program_device = (uint64_t)status.st_dev;
        segment->program_inode = (uint64_t)status.st_ino;
    }
    segment->pid_namespace = segment_file_pid_namespace();
}

static void fill_header(struct wsdbg_segment *segment, uint64_t used_bytes, uint64_t limit_bytes)
{
    segment->version = WSDBG_SEGMENT_VERSION;
    segment->ring_version = WSDBG_ABI_VERSION;
    segment->fixed_bytes = sizeof *segment;
    segment->used_bytes = used_bytes;
    segment->limit_bytes = limit_bytes;
    segment->process_id = (uint32_t)getpid();
    segment->parent_process_id = (uint32_t)getppid();
    segment->created_ns = shim_now_ns();
    segment->created_unix_ns = unix_now_ns();
    fill_identity(segment);
    ssize_t length = readlink("/proc/self/exe", segment->program, sizeof segment->program - 1);
    if (length < 0)
        segment->program[0] = '\0';
    __atomic_store_n(&segment->magic, WSDBG_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

static struct wsdbg_segment *create_in(enum segment_place place, const char *session, uint64_t bytes, char *why)
{
    struct wsdbg_segment *segment = NULL;
    const int fd = segment_file_create(place, session, why);
    if (fd < 0)
        return NULL;
    if (allocate(fd, 0, bytes, why))
        segment = map(fd, 0, bytes, why);
    close(fd);
    if (!segment)
        segment_file_remove();
    return segment;
}

/* wsdbg knows processes by their numbers.  In another namespace they are others. */
static bool has_other_numbers(void)
{
    const char *of_wsdbg = getenv(WSDBG_ENV_PID_NAMESPACE);
    const uint64_t known = of_wsdbg ? strtoull(of_wsdbg, NULL, 10) : 0, own = segment_file_pid_namespace();
    return known && own && known != own;
}

bool segment_create(const char *session, uint64_t limit_bytes, char *why)
{
    uint64_t bytes = page_round(sizeof(struct wsdbg_segment));
    if (has_other_numbers()) {
        snprintf(why, WSDBG_TEXT_BYTES, "it runs in a PID namespace of its own; start wsdbg inside of that");
        return false;
    }
    if (limit_bytes < bytes) {
        snprintf(why, WSDBG_TEXT_BYTES, "%s is %llu bytes, the fixed tables alone need %llu", WSDBG_ENV_SEGMENT_BYTES,
                 (unsigned long long)limit_bytes, (unsigned long long)bytes);
        return false;
    }
    const enum segment_place first = segment_file_first_place();
    struct wsdbg_segment *segment = create_in(first, session, bytes, why);
    if (!segment)
        segment = create_in(first == SEGMENT_IN_MEMORY ? SEGMENT_IN_SPOOL : SEGMENT_IN_MEMORY, session, bytes, why);
    if (!segment)
        return false;
    why[0] = '\0';
    fill_header(segment, bytes, limit_bytes);
    atomic_store(&shim_segment, segment);
    return true;
}

uint64_t segment_room_bytes(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    return segment->limit_bytes > segment->used_bytes ? segment->limit_bytes - segment->used_bytes : 0;
}

static bool grow(uint64_t bytes, uint64_t *offset, void **memory, char *why)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    uint64_t at = segment->used_bytes;
    int fd = segment_file_open();
    if (fd < 0) {
        snprintf(why, WSDBG_TEXT_BYTES, "cannot open %.150s again: %s", segment_file_name(), strerror(errno));
        return false;
    }
    void *mapped = NULL;
    if (allocate(fd, at, bytes, why))
        mapped = map(fd, at, bytes, why);
    close(fd);
    if (!mapped)
        return false;
    *offset = at;
    *memory = mapped;
    __atomic_store_n(&segment->used_bytes, at + bytes, __ATOMIC_RELEASE);
    return true;
}

bool segment_grow(uint64_t bytes, uint64_t *offset, void **memory, char *why)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    bytes = page_round(bytes);
    if (bytes > segment_room_bytes()) {
        snprintf(why, WSDBG_TEXT_BYTES, "the segment would be %llu MiB, more than its limit of %llu MiB",
                 (unsigned long long)((segment->used_bytes + bytes + 0xfffff) >> 20),
                 (unsigned long long)(segment->limit_bytes >> 20));
        return false;
    }
    return grow(bytes, offset, memory, why);
}

bool segment_grow_beyond(uint64_t bytes, uint64_t *offset, void **memory, char *why)
{
    bytes = page_round(bytes);
    if (!grow(bytes, offset, memory, why))
        return false;
    atomic_load(&shim_segment)->limit_bytes += bytes;
    return true;
}
