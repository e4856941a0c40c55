/* record.c - writes recordings; the format is in record.h.
 *
 * Reads: live segments.  Writes: one file, a whole frame per write, so a killed run leaves whole frames.
 */
#include "evidence/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file_limit.h"
#include "base/grow.h"

#define COMPRESSION_LEVEL 1
WSDBG_STATIC_ASSERT(offsetof(struct wsdbg_segment, program) + WSDBG_NAME_BYTES <= WSDBG_RECORD_PAGE_BYTES,
                    "the program's name lies in the first page");

/* A process's bytes as the last frame left them. */
struct shadow {
    uint32_t process_id;
    unsigned char *bytes;
    size_t byte_count; /* whole pages */
};

struct wsdbg_recorder {
    int fd;
    char *path;
    struct shadow *shadows;
    size_t shadow_count, shadow_capacity;
    unsigned char *plain;
    size_t plain_count, plain_capacity;
};

static struct wsdbg_error *write_all(struct wsdbg_recorder *recorder, const void *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(recorder->fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return wsdbg_error_os(errno, "write %s", recorder->path);
        bytes = (const unsigned char *)bytes + written;
        count -= (size_t)written;
    }
    return NULL;
}

static struct wsdbg_error *create_file(struct wsdbg_recorder *recorder)
{
    wsdbg_file_limit_is_an_error();
    recorder->fd = open(recorder->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (recorder->fd < 0)
        return wsdbg_error_os(errno, "create %s", recorder->path);
    const struct wsdbg_record_head head = {.magic = WSDBG_RECORD_MAGIC, .version = WSDBG_RECORD_VERSION};
    return write_all(recorder, &head, sizeof head);
}

struct wsdbg_error *wsdbg_recorder_create(const char *path, struct wsdbg_recorder **out)
{
    struct wsdbg_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return &wsdbg_error_no_memory;
    recorder->fd = -1;
    recorder->path = strdup(path);
    struct wsdbg_error *error = recorder->path ? create_file(recorder) : &wsdbg_error_no_memory;
    if (error)
        wsdbg_recorder_close(recorder);
    else
        *out = recorder;
    return error;
}

static bool append(struct wsdbg_recorder *recorder, const void *bytes, size_t count)
{
    const size_t total = recorder->plain_count + count;
    if (!wsdbg_grow((void **)&recorder->plain, &recorder->plain_capacity, total, 1))
        return false;
    memcpy(recorder->plain + recorder->plain_count, bytes, count);
    recorder->plain_count = total;
    return true;
}

/* The process's shadow, with room for `byte_count`; NULL = out of memory. */
static struct shadow *shadow_of(struct wsdbg_recorder *recorder, uint32_t process_id, size_t byte_count)
{
    struct shadow *shadow = NULL;
    for (size_t i = 0; i < recorder->shadow_count; i++)
        if (recorder->shadows[i].process_id == process_id)
            shadow = &recorder->shadows[i];
    if (!shadow) {
        if (!wsdbg_grow((void **)&recorder->shadows, &recorder->shadow_capacity, recorder->shadow_count + 1,
                        sizeof *recorder->shadows))
            return NULL;
        shadow = &recorder->shadows[recorder->shadow_count++];
        *shadow = (struct shadow){.process_id = process_id};
    }
    if (byte_count > shadow->byte_count) {
        unsigned char *larger = realloc(shadow->bytes, byte_count);
        if (!larger)
            return NULL;
        memset(larger + shadow->byte_count, 0, byte_count - shadow->byte_count);
        shadow->bytes = larger;
        shadow->byte_count = byte_count;
    }
    return shadow;
}

/* A recording may leave the machine: where the program's file lies there is nobody's business. */
static void forget_folder(unsigned char *page)
{
    char *program = (char *)page + offsetof(struct wsdbg_segment, program);
    program[WSDBG_NAME_BYTES - 1] = '\0';
    const char *slash = strrchr(program, '/');
    if (!slash)
        return;
    const size_t length = strlen(slash + 1);
    memmove(program, slash + 1, length);
    memset(program + length, 0, WSDBG_NAME_BYTES - length);
}

/* The program's stacks hold anything; a recording keeps none of it. */
static bool append_changed_pages(struct wsdbg_recorder *recorder, struct shadow *shadow,
                                 const struct wsdbg_segment_view *view, size_t segment_bytes, uint32_t *page_count)
{
    unsigned char page[WSDBG_RECORD_PAGE_BYTES];
    size_t sites = 0, sites_end = 0;
    const bool has_sites = wsdbg_segment_sites(view, &sites, &sites_end);
    for (size_t at = 0; at < segment_bytes; at += sizeof page) {
        if (has_sites && at + sizeof page > sites && at < sites_end)
            continue;
        const size_t count = segment_bytes - at < sizeof page ? segment_bytes - at : sizeof page;
        memset(page, 0, sizeof page);
        wsdbg_segment_copy(page, view->bytes + at, count);
        if (at == 0)
            forget_folder(page);
        if (memcmp(page, shadow->bytes + at, sizeof page) == 0)
            continue;
        memcpy(shadow->bytes + at, page, sizeof page);
        const uint32_t number = (uint32_t)(at / sizeof page);
        if (!append(recorder, &number, sizeof number) || !append(recorder, page, sizeof page))
            return false;
        ++*page_count;
    }
    return true;
}

static struct wsdbg_error *append_process(struct wsdbg_recorder *recorder, const struct wsdbg_record_input *input)
{
    const uint64_t used_bytes = wsdbg_segment_read_head(&input->view).used_bytes;
    uint64_t segment_bytes = used_bytes < input->view.byte_count ? used_bytes : input->view.byte_count;
    segment_bytes = segment_bytes / 8 * 8;
    if (segment_bytes > WSDBG_RECORD_SEGMENT_BYTES_MAX)
        return wsdbg_error_create(
            WSDBG_ERROR_BAD_INPUT, "%s: the segment of process %u has %llu bytes, at most %u can be recorded",
            recorder->path, input->process_id, (unsigned long long)segment_bytes, WSDBG_RECORD_SEGMENT_BYTES_MAX);
    const size_t pages = (segment_bytes + WSDBG_RECORD_PAGE_BYTES - 1) / WSDBG_RECORD_PAGE_BYTES;
    struct shadow *shadow = shadow_of(recorder, input->process_id, pages * WSDBG_RECORD_PAGE_BYTES);
    struct wsdbg_record_process head = {
        .process_id = input->process_id, .alive = input->alive, .segment_bytes = segment_bytes};
    const size_t head_at = recorder->plain_count;
    if (!shadow || !append(recorder, &head, sizeof head) ||
        !append_changed_pages(recorder, shadow, &input->view, segment_bytes, &head.page_count))
        return &wsdbg_error_no_memory;
    memcpy(recorder->plain + head_at, &head, sizeof head);
    return NULL;
}

/* Writes a head of head_bytes, whose compressed_bytes lies at `at`, and the plain bytes compressed, at once. */
static struct wsdbg_error *write_compressed(struct wsdbg_recorder *recorder, void *head, size_t head_bytes, size_t at)
{
    const size_t bound = ZSTD_compressBound(recorder->plain_count);
    unsigned char *file = malloc(head_bytes + bound);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (file && context) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        const size_t compressed =
            ZSTD_compress2(context, file + head_bytes, bound, recorder->plain, recorder->plain_count);
        const uint64_t compressed_bytes = compressed;
        memcpy((char *)head + at, &compressed_bytes, sizeof compressed_bytes);
        memcpy(file, head, head_bytes);
        error = ZSTD_isError(compressed) ? wsdbg_error_create(WSDBG_ERROR_OTHER, "compress a frame of %s: %s",
                                                              recorder->path, ZSTD_getErrorName(compressed))
                                         : write_all(recorder, file, head_bytes + compressed);
    }
    ZSTD_freeCCtx(context);
    free(file);
    return error;
}

/* A process that is not in a frame begins anew should it come again. */
static void drop_absent(struct wsdbg_recorder *recorder, const struct wsdbg_record_input *inputs, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < recorder->shadow_count; i++) {
        bool present = false;
        for (size_t k = 0; k < count && !present; k++)
            present = inputs[k].process_id == recorder->shadows[i].process_id;
        if (present)
            recorder->shadows[left++] = recorder->shadows[i];
        else
            free(recorder->shadows[i].bytes);
    }
    recorder->shadow_count = left;
}

struct wsdbg_error *wsdbg_recorder_frame(struct wsdbg_recorder *recorder, uint64_t now_ns,
                                         const struct wsdbg_record_input *inputs, size_t count)
{
    recorder->plain_count = 0;
    if (count > WSDBG_RECORD_PROCESSES_MAX)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: %zu processes, at most %u can be recorded",
                                  recorder->path, count, WSDBG_RECORD_PROCESSES_MAX);
    drop_absent(recorder, inputs, count);
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_error *error = append_process(recorder, &inputs[i]);
        if (error)
            return error;
    }
    struct wsdbg_record_frame frame = {.magic = WSDBG_RECORD_FRAME_MAGIC,
                                       .process_count = (uint32_t)count,
                                       .now_ns = now_ns,
                                       .plain_bytes = recorder->plain_count};
    return write_compressed(recorder, &frame, sizeof frame, offsetof(struct wsdbg_record_frame, compressed_bytes));
}

static struct wsdbg_error *append_file(struct wsdbg_recorder *recorder, const char *path)
{
    unsigned char bytes[65536];
    ssize_t got;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "%s: there is none", path);
    if (fd < 0)
        return wsdbg_error_os(errno, "open %s", path);
    struct wsdbg_error *error = NULL;
    while (!error && (got = read(fd, bytes, sizeof bytes)) != 0) {
        if (got < 0 && errno != EINTR)
            error = wsdbg_error_os(errno, "read %s", path);
        else if (got > 0 && recorder->plain_count + (size_t)got > WSDBG_RECORD_LOOK_BYTES_MAX)
            error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: more than %u bytes of a look", path,
                                       WSDBG_RECORD_LOOK_BYTES_MAX);
        else if (got > 0 && !append(recorder, bytes, (size_t)got))
            error = &wsdbg_error_no_memory;
    }
    close(fd);
    return error;
}

struct wsdbg_error *wsdbg_recorder_look(struct wsdbg_recorder *recorder, uint64_t now_ns, uint32_t process_id,
                                        enum wsdbg_record_look_kind kind, const char *path)
{
    recorder->plain_count = 0;
    struct wsdbg_error *error = append_file(recorder, path);
    if (error)
        return error;
    struct wsdbg_record_look look = {.magic = WSDBG_RECORD_LOOK_MAGIC,
                                     .kind = kind,
                                     .now_ns = now_ns,
                                     .plain_bytes = recorder->plain_count,
                                     .process_id = process_id};
    return write_compressed(recorder, &look, sizeof look, offsetof(struct wsdbg_record_look, compressed_bytes));
}

const char *wsdbg_recorder_path(const struct wsdbg_recorder *recorder)
{
    return recorder->path;
}

void wsdbg_recorder_close(struct wsdbg_recorder *recorder)
{
    if (!recorder)
        return;
    for (size_t i = 0; i < recorder->shadow_count; i++)
        free(recorder->shadows[i].bytes);
    free(recorder->shadows);
    free(recorder->plain);
    free(recorder->path);
    if (recorder->fd >= 0)
        close(recorder->fd);
    free(recorder);
}
