/* core_unpack.c - see core_unpack.h.  Reads one file; writes at most one temporary file in TMPDIR, which loses its name
 * at once and goes with its descriptor. */
#include "machine/core_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/limits.h"
#include "machine/machine.h"

#define UNPACKED_BYTES_MAX ((uint64_t)16 << 30)
enum { PIECE_BYTES = 1 << 18 };

static struct wsdbg_error *open_regular(const char *path, int *fd, uint64_t *byte_count)
{
    struct stat status;
    /* Without O_NONBLOCK a named pipe would wait for somebody who writes. */
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0)
        return wsdbg_error_os(errno, "open %s", path);
    if (fstat(opened, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(opened);
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: not a regular file", path);
    }
    *fd = opened;
    *byte_count = (uint64_t)status.st_size;
    return NULL;
}

/* Not O_TMPFILE: not every file system of a container has that. */
static struct wsdbg_error *open_temporary(int *fd)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    if (!folder || !*folder)
        folder = P_tmpdir;
    if (asprintf(&path, "%s/wsdbg-core.XXXXXX", folder) < 0)
        return &wsdbg_error_no_memory;
    *fd = mkostemp(path, O_CLOEXEC);
    struct wsdbg_error *error = *fd < 0 ? wsdbg_error_os(errno, "make a temporary file in %s", folder) : NULL;
    if (!error)
        unlink(path);
    free(path);
    return error;
}

static struct wsdbg_error *write_all(int fd, const char *bytes, size_t count)
{
    while (count) {
        const ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return wsdbg_error_os(errno, "write the unpacked core dump to a temporary file");
        bytes += written;
        count -= (size_t)written;
    }
    return NULL;
}

static struct wsdbg_error *inflate_pieces(const char *path, gzFile packed, char *piece, int to, uint64_t packed_bytes,
                                          uint64_t *total)
{
    const uint64_t most = wsdbg_limits_unpacked(packed_bytes, UNPACKED_BYTES_MAX);
    const uint64_t began_ns = wsdbg_limits_clock_ns();
    for (;;) {
        if (wsdbg_limits_is_late(began_ns))
            return wsdbg_limits_late(path);
        const int got = gzread(packed, piece, PIECE_BYTES);
        int reason = Z_OK;
        const char *words = gzerror(packed, &reason);
        if (got < 0 || reason != Z_OK) /* a stream that ends early gives what it has, and this */
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: offset %lld: cannot be unpacked: %s", path,
                                      (long long)gzoffset(packed), reason == Z_BUF_ERROR ? "it ends early" : words);
        if (got == 0)
            return NULL;
        *total += (uint64_t)got;
        if (*total > most)
            return wsdbg_error_prefix(wsdbg_limits_unpacks_to_more(packed_bytes, most, UNPACKED_BYTES_MAX), "%s", path);
        struct wsdbg_error *error = write_all(to, piece, (size_t)got);
        if (error)
            return error;
    }
}

/* Takes `from`. */
static struct wsdbg_error *inflate_file(const char *path, int from, int to, uint64_t packed_bytes, uint64_t *total)
{
    char *piece = malloc(PIECE_BYTES);
    gzFile packed = piece ? gzdopen(from, "rb") : NULL;
    if (!packed) {
        free(piece);
        close(from);
        return &wsdbg_error_no_memory;
    }
    gzbuffer(packed, PIECE_BYTES);
    struct wsdbg_error *error = inflate_pieces(path, packed, piece, to, packed_bytes, total);
    gzclose_r(packed);
    free(piece);
    return error;
}

struct wsdbg_error *core_unpack(const char *path, int *fd, uint64_t *byte_count)
{
    int plain = -1, unpacked = -1;
    uint64_t count = 0;
    struct wsdbg_error *error = open_regular(path, &plain, &count);
    if (error)
        return error;
    unsigned char magic[2] = {0};
    if (pread(plain, magic, sizeof magic, 0) != sizeof magic || magic[0] != 0x1f || magic[1] != 0x8b) {
        *fd = plain;
        *byte_count = count;
        return NULL;
    }
    error = open_temporary(&unpacked);
    if (error) {
        close(plain);
        return error;
    }
    const uint64_t packed_bytes = count;
    count = 0;
    error = inflate_file(path, plain, unpacked, packed_bytes, &count);
    if (error) {
        close(unpacked);
        return error;
    }
    *fd = unpacked;
    *byte_count = count;
    return NULL;
}

struct wsdbg_error *wsdbg_machine_same_core(const char *one_path, const char *other_path, bool *same)
{
    enum { BYTES = 1 << 16 };
    gzFile one = gzopen(one_path, "rb"), other = gzopen(other_path, "rb");
    char *bytes = malloc(2 * BYTES);
    struct wsdbg_error *error = one && other && bytes ? NULL : &wsdbg_error_no_memory;
    *same = !error;
    for (int count = BYTES; *same && count == BYTES;) {
        count = gzread(one, bytes, BYTES);
        *same = count >= 0 && gzread(other, bytes + BYTES, BYTES) == count &&
                memcmp(bytes, bytes + BYTES, (size_t)count) == 0;
    }
    free(bytes);
    if (one)
        gzclose(one);
    if (other)
        gzclose(other);
    return error;
}
