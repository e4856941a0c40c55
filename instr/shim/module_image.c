/* module_image.c - how big a module image is, its hash, and its copy in the spool.
 *
 * Reads:  the image the app just loaded (the driver has accepted it, so its headers are sound), WSDBG_SPOOL.
 * Writes: image_* of the module row; <spool>/<pid>-<row>.image for images up to 8 MiB, 64 MiB a process.
 */
#include "shim.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE_LIMIT_BYTES (8u << 20)
#define TOTAL_LIMIT_BYTES (64u << 20)

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

static uint64_t fnv1a(const unsigned char *bytes, uint64_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static bool spool_path(char *path, uint32_t index)
{
    const char *folder = getenv(WSDBG_ENV_SPOOL);
    int length = folder && *folder ? snprintf(path, PATH_MAX, "%s/%d-%u.image", folder, (int)getpid(), index) : 0;
    return length > 0 && length < PATH_MAX;
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

static bool keep(const void *image, uint64_t bytes, uint32_t index)
{
    char path[PATH_MAX];
    if (!spool_path(path, index))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
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
    static _Atomic uint64_t total_bytes;
    struct wsdbg_module_row *row = &atomic_load(&shim_segment)->modules[index];
    const void *start = image;
    uint64_t bytes = image_bytes(image, &start);
    __atomic_store_n(&row->image_bytes, bytes, __ATOMIC_RELEASE);
    if (!bytes)
        return;
    if (bytes > IMAGE_LIMIT_BYTES || atomic_fetch_add(&total_bytes, bytes) + bytes > TOTAL_LIMIT_BYTES) {
        shim_note("module images were not kept: over %u MiB each or %u MiB in all", IMAGE_LIMIT_BYTES >> 20,
                  TOTAL_LIMIT_BYTES >> 20);
        return;
    }
    __atomic_store_n(&row->image_hash, fnv1a(start, bytes), __ATOMIC_RELEASE);
    if (keep(start, bytes, index))
        __atomic_store_n(&row->image_kept, 1, __ATOMIC_RELEASE);
}

void image_share(uint32_t from, uint32_t to)
{
    struct wsdbg_module_row *rows = atomic_load(&shim_segment)->modules;
    char source[PATH_MAX], target[PATH_MAX];
    rows[to].image_bytes = rows[from].image_bytes;
    rows[to].image_hash = rows[from].image_hash;
    if (rows[from].image_kept && spool_path(source, from) && spool_path(target, to) && link(source, target) == 0)
        __atomic_store_n(&rows[to].image_kept, 1, __ATOMIC_RELEASE);
}
