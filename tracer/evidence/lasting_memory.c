/* lasting_memory.c - see lasting_memory.h: the socket, and the descriptors that came. */
#include "evidence/lasting_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/grow.h"

/* No ring is larger than its mirror in a segment may be. */
#define PART_BYTES_MAX (UINT64_C(1) << 32)
/* The driver's start takes 0.2 s, on a machine that is busy several times that. */
#define ANSWER_MS 10000

struct wsdbg_lasting_memory {
    int wire;
    struct wsdbg_lasting_part *parts;
    size_t count, capacity;
};

struct wsdbg_error *wsdbg_lasting_memory_open(const char *spool, struct wsdbg_lasting_memory **out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", spool, WSDBG_MEMORY_SOCKET);
    if (length < 0 || (size_t)length >= sizeof address.sun_path)
        return wsdbg_error_create(WSDBG_ERROR_OS, "%s: the path is too long for a socket", spool);
    struct wsdbg_lasting_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return &wsdbg_error_no_memory;
    memory->wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (memory->wire < 0 || bind(memory->wire, (struct sockaddr *)&address, sizeof address) != 0) {
        struct wsdbg_error *error = wsdbg_error_os(errno, "listen on %s", address.sun_path);
        wsdbg_lasting_memory_close(memory);
        return error;
    }
    *out = memory;
    return NULL;
}

static bool believable(const struct wsdbg_memory_message *message)
{
    return message->version == WSDBG_SEGMENT_VERSION && message->context < WSDBG_CONTEXT_ROWS &&
           (message->kind == WSDBG_MEMORY_SLOTS || message->kind == WSDBG_MEMORY_HISTORY) &&
           message->used_bytes <= message->allocated_bytes && message->allocated_bytes <= PART_BYTES_MAX;
}

/* The next message and its descriptor; false when there is none.  *fd = -1: it did not bring just one. */
static bool next_message(int wire, struct wsdbg_memory_message *message, ssize_t *bytes, int *fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control;
    struct iovec data = {.iov_base = message, .iov_len = sizeof *message};
    /* Not CMSG_SPACE: its padding is room for a second descriptor. */
    struct msghdr envelope = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_LEN(sizeof(int))};
    *bytes = recvmsg(wire, &envelope, MSG_CMSG_CLOEXEC);
    *fd = -1;
    if (*bytes < 0)
        return false;
    struct cmsghdr *header = CMSG_FIRSTHDR(&envelope);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(header), sizeof *fd);
    if (*fd >= 0 && envelope.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        close(*fd);
        *fd = -1;
    }
    return true;
}

void wsdbg_lasting_memory_receive(struct wsdbg_lasting_memory *memory)
{
    struct wsdbg_memory_message message;
    ssize_t bytes;
    int fd;
    while (next_message(memory->wire, &message, &bytes, &fd)) {
        bool wanted = bytes == (ssize_t)sizeof message && fd >= 0 && believable(&message) &&
                      wsdbg_grow((void **)&memory->parts, &memory->capacity, memory->count + 1, sizeof *memory->parts);
        if (wanted)
            memory->parts[memory->count++] = (struct wsdbg_lasting_part){.message = message, .fd = fd};
        else if (fd >= 0)
            close(fd);
    }
}

void wsdbg_lasting_memory_drop(struct wsdbg_lasting_memory *memory, uint32_t process_id, uint32_t context)
{
    size_t kept = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const struct wsdbg_lasting_part *part = &memory->parts[i];
        if (part->message.process_id == process_id && part->message.context == context)
            close(part->fd);
        else
            memory->parts[kept++] = *part;
    }
    memory->count = kept;
}

void wsdbg_lasting_memory_close(struct wsdbg_lasting_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->count; i++)
        close(memory->parts[i].fd);
    if (memory->wire >= 0)
        close(memory->wire);
    free(memory->parts);
    free(memory);
}

static bool find_part(const struct wsdbg_lasting_memory *memory, uint32_t process_id, uint32_t context, uint32_t kind,
                      uint64_t address, struct wsdbg_lasting_part *out)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct wsdbg_memory_message *message = &memory->parts[i].message;
        if (message->process_id != process_id || message->context != context || message->kind != kind ||
            message->device_address != address)
            continue;
        *out = memory->parts[i];
        return true;
    }
    return false;
}

static void *copy_of(const void *bytes, uint64_t count)
{
    void *copy = malloc(count + 1);
    return copy ? memcpy(copy, bytes, count) : NULL;
}

static struct wsdbg_error *take_copies(const struct wsdbg_lasting_part *parts, size_t count, const char *read,
                                       struct wsdbg_lasting_copy *out)
{
    struct wsdbg_lasting_copy copy = {.slots_bytes = parts[0].message.used_bytes};
    copy.slots = copy_of(read, copy.slots_bytes);
    if (count > 1) {
        copy.history_bytes = parts[1].message.used_bytes;
        copy.history = copy_of(read + copy.slots_bytes, copy.history_bytes);
    }
    if (copy.slots && (count == 1 || copy.history)) {
        *out = copy;
        return NULL;
    }
    free(copy.slots);
    free(copy.history);
    return &wsdbg_error_no_memory;
}

/* The simulator's device memory is a file, which needs no driver. */
static bool is_simulated(const struct wsdbg_lasting_part *part)
{
    static const uint8_t simulated[16] = WSDBG_SIM_UUID;
    struct stat status;
    return memcmp(part->message.device_uuid, simulated, sizeof simulated) == 0 && fstat(part->fd, &status) == 0 &&
           S_ISREG(status.st_mode);
}

static struct wsdbg_error *read_files(const struct wsdbg_lasting_part *parts, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t have = 0;
        while (have < parts[i].message.used_bytes) {
            ssize_t bytes = pread(parts[i].fd, out + have, parts[i].message.used_bytes - have, (off_t)have);
            if (bytes < 0 && errno == EINTR)
                continue;
            if (bytes <= 0)
                return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the memory that was handed over is cut");
            have += (uint64_t)bytes;
        }
        out += parts[i].message.used_bytes;
    }
    return NULL;
}

struct wsdbg_error *wsdbg_lasting_memory_read(struct wsdbg_lasting_memory *memory, uint32_t process_id,
                                              uint32_t context, const struct wsdbg_context_row *row, bool *found,
                                              struct wsdbg_lasting_copy *out)
{
    struct wsdbg_lasting_part parts[2];
    *found = find_part(memory, process_id, context, WSDBG_MEMORY_SLOTS, row->slots_device_address, &parts[0]);
    if (!*found)
        return NULL;
    size_t count = 1;
    if (row->history_depth &&
        find_part(memory, process_id, context, WSDBG_MEMORY_HISTORY, row->history_device_address, &parts[1]))
        count = 2;
    size_t bytes = parts[0].message.used_bytes + (count > 1 ? parts[1].message.used_bytes : 0);
    void *read = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (read == MAP_FAILED)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error =
        is_simulated(&parts[0]) ? read_files(parts, count, read) : wsdbg_lasting_read_parts(parts, count, ANSWER_MS, read);
    if (!error)
        error = take_copies(parts, count, read, out);
    munmap(read, bytes + 1);
    return error;
}
