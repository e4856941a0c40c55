/* module_image.c - how big a module image is, its hash, and its copy in the spool.
 *
 * Reads:  the image the app just loaded (the driver has accepted it, so its headers are sound), or could not load or is
 *         about to load (they may say anything, and lead anywhere),
 *         WSDBG_SPOOL.
 * Writes: image_* of the module row; <spool>/<pid>-<row>.image and <spool>/<pid>-refused-<n>.image for images up to
 *         8 MiB, 64 MiB a process.
 */
#include "module_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "armed.h"
#include "hash.h"
#include "messages.h"
#include "own_files.h"
#include "segment.h"

#define IMAGE_LIMIT_BYTES (8u << 20)
#define TOTAL_LIMIT_BYTES (64u << 20)

static _Atomic uint64_t kept_bytes; /* of images, in the spool */

#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u

struct fatbin_wrapper {
    uint32_t magic;
    uint32_t version;
    const void *data;
    const void *more;
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t body_bytes;
};

static uint64_t elf_bytes(const Elf64_Ehdr *header)
{
    uint64_t end = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
    uint64_t programs_end = header->e_phoff + (uint64_t)header->e_phnum * header->e_phentsize;
    const Elf64_Shdr *sections = (const void *)((const char *)header + header->e_shoff);
    if (programs_end > end)
        end = programs_end;
    if (header->e_shentsize != sizeof *sections)
        return 0;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    return end;
}

static uint64_t text_bytes(const char *text)
{
    for (size_t i = 0; i < 16 && text[i]; i++)
        if ((unsigned char)text[i] >= 0x80 || ((unsigned char)text[i] < 0x20 && !strchr("\t\r\n", text[i])))
            return 0;
    return strnlen(text, TOTAL_LIMIT_BYTES);
}

uint64_t image_bytes(const void *image, const void **start)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == FATBIN_WRAPPER_MAGIC) {
        image = ((const struct fatbin_wrapper *)image)->data;
        if (!image)
            return 0;
        memcpy(&magic, image, sizeof magic);
    }
    *start = image;
    if (magic == FATBIN_MAGIC) {
        const struct fatbin_header *header = image;
        return header->header_bytes + header->body_bytes;
    }
    if (memcmp(image, ELFMAG, SELFMAG) == 0)
        return elf_bytes(image);
    return text_bytes(image);
}

/* kind: "" for that of a module row. */
static bool spool_path(char *path, const char *kind, uint32_t index)
{
    const char *folder = armed_or_session_folder();
    int length =
        folder && *folder ? snprintf(path, PATH_MAX, "%s/%d-%s%u.image", folder, (int)getpid(), kind, index) : 0;
    return length > 0 && length < PATH_MAX;
}

static int spool_create(const char *path)
{
    return shim_above_streams(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

static bool write_all(int fd, const char *bytes, uint64_t count)
{
    while (count) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (uint64_t)written;
    }
    return true;
}

/* Of what a process may keep; false: there is not so much left. */
static bool take_room(uint64_t bytes)
{
    if (atomic_fetch_add(&kept_bytes, bytes) + bytes <= TOTAL_LIMIT_BYTES)
        return true;
    atomic_fetch_sub(&kept_bytes, bytes);
    shim_note("module images were not kept: over %u MiB each or %u MiB in all", IMAGE_LIMIT_BYTES >> 20,
              TOTAL_LIMIT_BYTES >> 20);
    return false;
}

static bool keep(const void *image, uint64_t bytes, uint32_t index)
{
    char path[PATH_MAX];
    if (!spool_path(path, "", index))
        return false;
    int fd = spool_create(path);
    if (fd < 0) {
        shim_note("module images are not kept: %s", strerror(errno));
        return false;
    }
    struct shim_signals signals;
    shim_signals_off(&signals);
    bool written = write_all(fd, image, bytes);
    int error = errno;
    shim_signals_on(&signals);
    if (!written)
        shim_note("a module image was not kept: %s", strerror(error));
    close(fd);
    if (!written)
        unlink(path);
    return written;
}

void image_record(const void *image, uint32_t index)
{
    struct wsdbg_module_row *row = &atomic_load(&shim_segment)->modules[index];
    const void *start = image;
    uint64_t bytes = image_bytes(image, &start);
    __atomic_store_n(&row->image_bytes, bytes, __ATOMIC_RELEASE);
    if (!bytes)
        return;
    if (!take_room(bytes > IMAGE_LIMIT_BYTES ? TOTAL_LIMIT_BYTES + 1ull : bytes))
        return;
    __atomic_store_n(&row->image_hash, hash_add(HASH_BEGIN, start, bytes), __ATOMIC_RELEASE);
    if (keep(start, bytes, index))
        __atomic_store_n(&row->image_kept, 1, __ATOMIC_RELEASE);
}

/* ---- images that the driver refused: what they say of their length may lead anywhere ---- */

#define CHUNK_BYTES 4096u

/* Reads as much as there is, at most `bytes` and to the end of a page, without a fault where nothing is.  0 = nothing.
 */
static size_t read_own(const void *from, void *to, size_t bytes)
{
    const size_t page_left = CHUNK_BYTES - (size_t)((uintptr_t)from % CHUNK_BYTES);
    const struct iovec here = {to, bytes < page_left ? bytes : page_left},
                       there = {(void *)(uintptr_t)from, here.iov_len};
    const ssize_t count = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return count > 0 ? (size_t)count : 0;
}

static bool read_whole(const void *from, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const size_t count = read_own((const char *)from + done, (char *)to + done, bytes - done);
        if (!count)
            return false;
        done += count;
    }
    return true;
}

/* Bytes of the image by its own header; 0 = a text, which ends with a zero. */
static bool bytes_by_header(const void **start, uint64_t *bytes)
{
    union {
        uint32_t magic;
        struct fatbin_wrapper wrapper;
        struct fatbin_header fatbin;
        Elf64_Ehdr elf;
    } head;
    if (!read_whole(*start, &head.wrapper, sizeof head.wrapper))
        return false;
    if (head.magic == FATBIN_WRAPPER_MAGIC)
        *start = head.wrapper.data;
    if (!read_whole(*start, &head.fatbin, sizeof head.fatbin))
        return false;
    *bytes = 0;
    if (head.magic == FATBIN_MAGIC) {
        *bytes = head.fatbin.header_bytes + head.fatbin.body_bytes;
    } else if (memcmp(&head, ELFMAG, SELFMAG) == 0) {
        if (!read_whole(*start, &head.elf, sizeof head.elf))
            return false;
        const uint64_t sections_end = head.elf.e_shoff + (uint64_t)head.elf.e_shnum * head.elf.e_shentsize;
        const uint64_t programs_end = head.elf.e_phoff + (uint64_t)head.elf.e_phnum * head.elf.e_phentsize;
        *bytes = sections_end > programs_end ? sections_end : programs_end;
    }
    return true;
}

uint64_t image_bytes_told(const void *image)
{
    uint64_t bytes;
    return bytes_by_header(&image, &bytes) ? bytes : 0;
}

/* bytes 0 = up to a zero.  How many were written, 0 = not all. */
static uint64_t copy_refused(int fd, const char *start, uint64_t bytes)
{
    char chunk[CHUNK_BYTES];
    for (uint64_t done = 0; done < (bytes ? bytes : IMAGE_LIMIT_BYTES);) {
        const uint64_t left = bytes ? bytes - done : sizeof chunk;
        size_t count = read_own(start + done, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk);
        const char *end = bytes ? NULL : memchr(chunk, 0, count);
        if (end)
            count = (size_t)(end - chunk);
        if (!write_all(fd, chunk, count))
            return 0;
        done += count;
        if (end)
            return done;
        if (!count)
            return 0;
    }
    return bytes;
}

bool image_keep_refused(const void *image, uint32_t number)
{
    char path[PATH_MAX];
    uint64_t bytes, kept_of_it = 0;
    if (!bytes_by_header(&image, &bytes) || bytes > IMAGE_LIMIT_BYTES || !spool_path(path, "refused-", number))
        return false;
    const uint64_t most = bytes ? bytes : IMAGE_LIMIT_BYTES;
    if (!take_room(most))
        return false;
    const int fd = spool_create(path);
    if (fd >= 0) {
        struct shim_signals signals;
        shim_signals_off(&signals);
        kept_of_it = copy_refused(fd, image, bytes);
        shim_signals_on(&signals);
        close(fd);
        if (!kept_of_it)
            unlink(path);
    }
    atomic_fetch_sub(&kept_bytes, most - kept_of_it);
    return kept_of_it > 0;
}

void image_share(uint32_t from, uint32_t to)
{
    struct wsdbg_module_row *rows = atomic_load(&shim_segment)->modules;
    char source[PATH_MAX], target[PATH_MAX];
    rows[to].image_bytes = rows[from].image_bytes;
    rows[to].image_hash = rows[from].image_hash;
    if (rows[from].image_kept && spool_path(source, "", from) && spool_path(target, "", to) &&
        link(source, target) == 0)
        __atomic_store_n(&rows[to].image_kept, 1, __ATOMIC_RELEASE);
}
