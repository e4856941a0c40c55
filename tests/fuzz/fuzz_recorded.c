/* fuzz_recorded.c - any bytes as a recording, to the snapshots of its first and last frame.
 *
 * Compression and its checksum would keep a fuzzer out of the frames, so an input that begins with the byte 1 is
 * the plain content of one frame: byte 1, process count, content.  Any other input is a file as it stands.
 */
#include "fuzz/fuzz_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "evidence/evidence.h"
#include "evidence/record.h"

static void look(struct wsdbg_evidence *source, uint64_t now_ns)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_error *error = source->ops->inspect(source, now_ns, 0, &snapshot);
    if (!error)
        wsdbg_snapshot_deinit(&snapshot);
    wsdbg_error_destroy(error);
}

static bool write_framed(int fd, const uint8_t *content, size_t count, uint32_t process_count)
{
    const struct wsdbg_record_head head = {.magic = WSDBG_RECORD_MAGIC, .version = WSDBG_RECORD_VERSION};
    const size_t bound = ZSTD_compressBound(count);
    void *compressed = malloc(bound);
    if (!compressed)
        return false;
    const struct wsdbg_record_frame frame = {.magic = WSDBG_RECORD_FRAME_MAGIC,
                                             .process_count = process_count,
                                             .plain_bytes = count,
                                             .compressed_bytes = ZSTD_compress(compressed, bound, content, count, 1)};
    const bool whole = write(fd, &head, sizeof head) == sizeof head &&
                       write(fd, &frame, sizeof frame) == sizeof frame &&
                       write(fd, compressed, frame.compressed_bytes) == (ssize_t)frame.compressed_bytes;
    free(compressed);
    return whole;
}

static bool write_input(int fd, const uint8_t *bytes, size_t count)
{
    if (count > 2 && bytes[0] == 1)
        return write_framed(fd, bytes + 2, count - 2, bytes[1]);
    return write(fd, bytes, count) == (ssize_t)count;
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    char path[64];
    const int fd = memfd_create("recording", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct wsdbg_evidence *source;
    uint64_t first_ns, last_ns;
    if (write_input(fd, bytes, count)) {
        struct wsdbg_error *error = wsdbg_evidence_open_recorded(path, &first_ns, &last_ns, &source);
        if (!error) {
            look(source, last_ns);
            look(source, first_ns);
            source->ops->close(source);
        }
        wsdbg_error_destroy(error);
    }
    close(fd);
    return 0;
}
