/* recorded_looks.c - see recorded_looks.h.
 *
 * Reads: a recording's bytes.  Writes: rows of a snapshot.  What is inside of a look is a file, and those who read such
 * files want one: it becomes one without a name.
 */
#include "evidence/recorded_looks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/grow.h"
#include "base/limits.h"
#include "evidence/completion.h"

enum { LOOKS_MAX = 16 };
#define READ_NS UINT64_C(60000000000) /* nothing stands still for it */

const char *wsdbg_recorded_looks_add(struct wsdbg_recorded_looks *looks, const unsigned char *file, size_t file_bytes,
                                     size_t offset, uint64_t least_ns, size_t *next)
{
    struct wsdbg_recorded_look row = {.offset = offset + sizeof row.head};
    if (file_bytes - offset < sizeof row.head)
        return "truncated in a look's head";
    memcpy(&row.head, file + offset, sizeof row.head);
    if (row.head.compressed_bytes > file_bytes - row.offset)
        return "truncated in a look";
    if (row.head.plain_bytes > WSDBG_RECORD_LOOK_BYTES_MAX)
        return "a look larger than any wsdbg writes";
    if (row.head.plain_bytes > wsdbg_limits_unpacked(row.head.compressed_bytes, WSDBG_RECORD_LOOK_BYTES_MAX))
        return "a look that unpacks to more than it may; --unpack-limit allows more";
    if (row.head.now_ns > WSDBG_RECORD_TIME_MAX_NS)
        return "a look of a time that no clock shows";
    if (row.head.kind == 0 || row.head.kind >= WSDBG_RECORD_LOOK_KINDS)
        return "a look of a kind that this wsdbg does not know";
    if (row.head.now_ns < least_ns)
        return "a look earlier than the frame before it";
    if (!wsdbg_grow((void **)&looks->rows, &looks->capacity, looks->count + 1, sizeof *looks->rows))
        return "out of memory";
    looks->rows[looks->count++] = row;
    *next = row.offset + row.head.compressed_bytes;
    return NULL;
}

static struct wsdbg_error *write_all(int fd, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR)
            return wsdbg_error_os(errno, "write a look");
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return NULL;
}

/* A file without a name that holds the look; the caller closes. */
static struct wsdbg_error *unpack(const struct wsdbg_recorded_look *look, const unsigned char *file, const char *path,
                                  int *out)
{
    unsigned char *plain = malloc(look->head.plain_bytes + 1);
    struct wsdbg_error *error = NULL;
    *out = -1;
    if (!plain)
        return &wsdbg_error_no_memory;
    const size_t got = ZSTD_decompress(plain, look->head.plain_bytes, file + look->offset, look->head.compressed_bytes);
    if (ZSTD_isError(got) || got != look->head.plain_bytes)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: offset %zu: the look's content is damaged", path,
                                   look->offset);
    if (!error && (*out = memfd_create("look", MFD_CLOEXEC)) < 0)
        error = wsdbg_error_os(errno, "%s: a look needs a file", path);
    if (!error)
        error = write_all(*out, plain, got);
    free(plain);
    return error;
}

static struct wsdbg_error *open_machine(enum wsdbg_record_look_kind kind, const char *name, struct wsdbg_machine **out)
{
    if (kind == WSDBG_RECORD_LOOK_CORE)
        return wsdbg_machine_open_core(name, out);
    return wsdbg_machine_open_state(
        name, kind == WSDBG_RECORD_LOOK_STATE ? WSDBG_STATE_ALL_GRIDS : WSDBG_STATE_WITHOUT_PROBES,
        WSDBG_STATE_MEMORY_GONE, out);
}

/* time_ns: when it was had, 0 = as it says itself. */
static struct wsdbg_error *take(struct wsdbg_recorded_looks *looks, enum wsdbg_record_look_kind kind, int fd,
                                uint64_t time_ns, struct wsdbg_look **out)
{
    char name[64];
    struct wsdbg_machine *machine;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    struct wsdbg_error *error = open_machine(kind, name, &machine);
    if (error)
        return error;
    if (time_ns)
        machine->time_ns = time_ns;
    error = wsdbg_code_prepare(looks->code, machine);
    if (!error)
        error = wsdbg_look_take_within(machine, looks->code,
                                       (struct wsdbg_look_budget){READ_NS / 2, READ_NS / 2, WSDBG_WALKS_COUNTED}, out);
    machine->ops->close(machine);
    return error;
}

/* A simulated device's state is one standstill: as of the moment when it came, and of now. */
static struct wsdbg_error *take_row(struct wsdbg_recorded_looks *looks, const struct wsdbg_recorded_look *row,
                                    const unsigned char *file, const char *path, uint64_t now_ns,
                                    struct wsdbg_look *taken[LOOKS_MAX], size_t *count)
{
    int fd;
    struct wsdbg_error *error = unpack(row, file, path, &fd);
    const size_t wanted = row->head.kind == WSDBG_RECORD_LOOK_CORE ? 1 : 2;
    for (size_t i = 0; !error && i < wanted && *count < LOOKS_MAX; i++) {
        error = wsdbg_error_prefix(
            take(looks, (enum wsdbg_record_look_kind)row->head.kind, fd, i ? now_ns : 0, &taken[*count]),
            "%s: offset %zu", path, row->offset);
        *count += !error;
    }
    if (fd >= 0)
        close(fd);
    return error;
}

static struct wsdbg_error *complete(struct wsdbg_recorded_looks *looks, const unsigned char *file, const char *path,
                                    size_t first, size_t end, uint64_t now_ns, struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_look *taken[LOOKS_MAX];
    const uint32_t process_id = looks->rows[first].head.process_id;
    struct wsdbg_error *error = NULL;
    size_t count = 0;
    for (size_t i = first; !error && i < end; i++)
        if (looks->rows[i].head.process_id == process_id)
            error = take_row(looks, &looks->rows[i], file, path, now_ns, taken, &count);
    if (!error && count)
        error = wsdbg_complete_process(taken, count, process_id, snapshot);
    while (count)
        wsdbg_look_destroy(taken[--count]);
    return error;
}

/* What the process was given since is not what was looked at. */
static bool is_past(const struct wsdbg_snapshot *snapshot, uint64_t progress_ns, uint32_t process_id, uint64_t time_ns)
{
    bool past = progress_ns > time_ns;
    for (size_t i = 0; i < snapshot->context_count; i++)
        past = past || (snapshot->contexts[i].process_id == process_id && snapshot->contexts[i].unfinished_ns.known &&
                        snapshot->contexts[i].unfinished_ns.value > time_ns);
    return past;
}

static bool is_first_of_process(const struct wsdbg_recorded_looks *looks, size_t first, size_t row)
{
    for (size_t i = first; i < row; i++)
        if (looks->rows[i].head.process_id == looks->rows[row].head.process_id)
            return false;
    return true;
}

struct wsdbg_error *wsdbg_recorded_looks_show(struct wsdbg_recorded_looks *looks, const unsigned char *file,
                                              const char *path, uint64_t now_ns, struct wsdbg_snapshot *snapshot)
{
    size_t end = looks->count, first;
    while (end > 0 && looks->rows[end - 1].head.now_ns > now_ns)
        end--;
    for (first = end; first > 0 && looks->rows[first - 1].head.now_ns == looks->rows[end - 1].head.now_ns;)
        first--;
    struct wsdbg_error *error = first < end && !looks->code ? wsdbg_code_create(&looks->code) : NULL;
    const uint64_t progress_ns = snapshot->progress_ns;
    for (size_t i = first; !error && i < end; i++) {
        const struct wsdbg_record_look *head = &looks->rows[i].head;
        if (is_first_of_process(looks, first, i) && !is_past(snapshot, progress_ns, head->process_id, head->now_ns))
            error = complete(looks, file, path, i, end, now_ns, snapshot);
    }
    if (!error && snapshot->progress_ns > now_ns) /* something moved between two looks, which came after their frame */
        snapshot->progress_ns = now_ns;
    return error;
}

void wsdbg_recorded_looks_deinit(struct wsdbg_recorded_looks *looks)
{
    free(looks->rows);
    if (looks->code)
        wsdbg_code_destroy(looks->code);
    *looks = (struct wsdbg_recorded_looks){0};
}
