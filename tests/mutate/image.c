/* image.c - see image.h.  Like the driver it trusts the sizes in the image's headers. */
#include "image.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sass/ptx.h"

enum { PTX_MOST_BYTES = 1 << 28, WRAPPER_MAGIC = 0x466243b1, ALIGNMENT = 8 };
#define FATBIN_MAGIC 0xba55ed50u

struct wrapper {
    uint32_t magic, version;
    const void *data, *linked;
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
};

/* The header of a fatbin's entry, as far as it is changed here; code/sass/fatbin.c has all of it. */
struct entry_header {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t stored_bytes;
    uint32_t packed_bytes, options_offset;
    uint16_t minor_version, major_version;
    uint32_t architecture, name_offset, name_bytes;
    uint64_t flags, unused, plain_bytes;
};

#define PACKED_FLAGS (0x1000u | 0x2000u | 0x8000u)

static const void *unwrapped(const void *image)
{
    uint32_t magic = 0;
    for (size_t i = 0; i < sizeof magic && ((const char *)image)[i]; i++)
        memcpy((char *)&magic + i, (const char *)image + i, 1);
    return magic == WRAPPER_MAGIC ? ((const struct wrapper *)image)->data : image;
}

static bool is_fatbin(const void *image)
{
    return strncmp(image, "\x50\xed\x55\xba", 4) == 0;
}

static uint64_t fatbin_bytes(const void *image)
{
    const struct fatbin_header *header = image;
    return header->header_bytes + header->entries_bytes;
}

bool image_ptx(const void *image, char **out)
{
    image = image ? unwrapped(image) : NULL;
    if (!image) {
        *out = strdup("there is no image");
        return false;
    }
    const bool is_elf = strncmp(image, ELFMAG, SELFMAG) == 0;
    const struct wsdbg_image bytes = {image, is_fatbin(image) ? fatbin_bytes(image) : is_elf ? SELFMAG : strlen(image)};
    struct wsdbg_error *error = wsdbg_ptx_of_image(&bytes, PTX_MOST_BYTES, out);
    if (error)
        *out = strdup(wsdbg_error_message(error));
    const bool is_found = !error;
    wsdbg_error_destroy(error);
    return is_found;
}

/* ---- a new fatbin ---- */

struct made {
    char *bytes;
    size_t byte_count;
};

static bool append(struct made *made, const void *bytes, size_t byte_count)
{
    char *longer = realloc(made->bytes, made->byte_count + byte_count);
    if (!longer)
        return false;
    memcpy(longer + made->byte_count, bytes, byte_count);
    made->bytes = longer;
    made->byte_count += byte_count;
    return true;
}

/* Appends an entry with the old entry's header and this PTX, which is not compressed. */
static bool append_ptx(struct made *made, const struct entry_header *old, const char *ptx)
{
    const size_t length = strlen(ptx) + 1, padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const size_t at = made->byte_count;
    static const char zeros[ALIGNMENT];
    if (!append(made, old, old->header_bytes) || !append(made, ptx, length) || !append(made, zeros, padded - length))
        return false;
    struct entry_header *header = (struct entry_header *)(void *)(made->bytes + at);
    header->stored_bytes = padded;
    header->packed_bytes = 0;
    header->plain_bytes = 0;
    header->flags &= ~(uint64_t)PACKED_FLAGS;
    return true;
}

static void *fatbin_with(const void *image, const char *ptx, bool keeps_cubin)
{
    const struct fatbin_header *header = image;
    const char *entry = (const char *)image + header->header_bytes, *end = (const char *)image + fatbin_bytes(image);
    const struct entry_header *newest = NULL;
    struct made made = {0};
    bool done = append(&made, image, header->header_bytes);
    while (done && entry + sizeof(struct entry_header) <= end) {
        const struct entry_header *at = (const void *)entry;
        if (at->kind == WSDBG_FATBIN_PTX && at->architecture <= 90 &&
            (!newest || at->architecture >= newest->architecture))
            newest = at;
        else if (at->kind == WSDBG_FATBIN_CUBIN && keeps_cubin)
            done = append(&made, entry, at->header_bytes + at->stored_bytes);
        entry += at->header_bytes + at->stored_bytes;
    }
    if (!done || !newest || !append_ptx(&made, newest, ptx)) {
        free(made.bytes);
        return NULL;
    }
    ((struct fatbin_header *)(void *)made.bytes)->entries_bytes = made.byte_count - header->header_bytes;
    return made.bytes;
}

void *image_with(const void *image, const char *ptx, bool keeps_cubin)
{
    image = unwrapped(image);
    return is_fatbin(image) ? fatbin_with(image, ptx, keeps_cubin) : strdup(ptx);
}
