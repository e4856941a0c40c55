/* fatbin.c - see fatbin.h.  Reads the bytes given; writes memory that the caller frees. */
#include "sass/fatbin.h"

#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WRAPPER_MAGIC 0x466243b1u
#define HEADER_MAGIC 0xba55ed50u

#define NEWEST_ARCHITECTURE 90

#define FLAG_OLD_PACKING 0x1000u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_ARCHITECTURE_ONLY 0x100000u

struct header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t entries_bytes;
};

/* The part that every version of an entry's header has. */
struct entry_header {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t stored_bytes; /* with padding */
    uint32_t packed_bytes; /* 0 = not packed */
    uint32_t options_offset;
    uint16_t minor_version, major_version;
    uint32_t architecture;
    uint32_t name_offset, name_bytes;
    uint64_t flags;
    uint64_t unused;
    uint64_t plain_bytes; /* 0 = not packed */
};

_Static_assert(sizeof(struct header) == 16 && sizeof(struct entry_header) == 64, "as they lie in the file");

static struct wsdbg_error *bad(const char *reason, uint64_t offset)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the fatbin is damaged at byte %" PRIu64 ": %s", offset, reason);
}

bool wsdbg_fatbin_is(const struct wsdbg_image *image)
{
    uint32_t magic;
    if (image->byte_count < sizeof magic)
        return false;
    memcpy(&magic, image->bytes, sizeof magic);
    return magic == HEADER_MAGIC || magic == WRAPPER_MAGIC;
}

/* Where the entries begin and end. */
static struct wsdbg_error *read_header(const struct wsdbg_fatbin_source *source, uint64_t *first, uint64_t *end)
{
    struct header header = {0};
    const size_t count = source->byte_count < sizeof header ? (size_t)source->byte_count : sizeof header;
    struct wsdbg_error *error = source->read(source->context, 0, &header, count);
    if (error)
        return error;
    if (header.magic == WRAPPER_MAGIC)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "only the wrapper of a fatbin: it points into the memory of the program");
    if (header.magic != HEADER_MAGIC)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "not a fatbin");
    if (count < sizeof header)
        return bad("cut within its header", count);
    if (header.header_bytes < sizeof header || header.header_bytes > source->byte_count)
        return bad("a header longer than the fatbin", offsetof(struct header, header_bytes));
    if (header.entries_bytes > source->byte_count - header.header_bytes)
        return bad("entries longer than the fatbin", offsetof(struct header, entries_bytes));
    *first = header.header_bytes;
    *end = header.header_bytes + header.entries_bytes;
    return NULL;
}

static enum wsdbg_fatbin_packing packing_of(const struct entry_header *header)
{
    if (header->flags & FLAG_ZSTD)
        return WSDBG_FATBIN_ZSTD;
    if (header->flags & FLAG_LZ4)
        return WSDBG_FATBIN_LZ4;
    return header->flags & FLAG_OLD_PACKING ? WSDBG_FATBIN_OLD : WSDBG_FATBIN_PLAIN;
}

/* *next is where the entry ends. */
static struct wsdbg_error *read_entry(const struct wsdbg_fatbin_source *source, uint64_t offset, uint64_t end,
                                      struct wsdbg_fatbin_entry *out, uint64_t *stored_at, uint64_t *next)
{
    struct entry_header header;
    const uint64_t room = end - offset;
    if (room < sizeof header)
        return bad("cut within the header of an entry", end);
    struct wsdbg_error *error = source->read(source->context, offset, &header, sizeof header);
    if (error)
        return error;
    if (header.header_bytes < sizeof header || header.header_bytes > room)
        return bad("an entry whose header is longer than what is left", offset);
    if (header.stored_bytes > room - header.header_bytes)
        return bad("an entry longer than what is left", offset);
    const enum wsdbg_fatbin_packing packing = packing_of(&header);
    const bool packed = packing != WSDBG_FATBIN_PLAIN;
    if (packed && header.packed_bytes > header.stored_bytes)
        return bad("an entry that packs more bytes than it holds", offset);
    *out = (struct wsdbg_fatbin_entry){
        .kind = header.kind,
        .packing = packing,
        .architecture = header.architecture,
        .architecture_only = (header.flags & FLAG_ARCHITECTURE_ONLY) != 0,
        .stored = {NULL, packed ? header.packed_bytes : (size_t)header.stored_bytes},
        .plain_bytes = packed ? header.plain_bytes : header.stored_bytes,
    };
    *stored_at = offset + header.header_bytes;
    *next = *stored_at + header.stored_bytes;
    return NULL;
}

struct wsdbg_error *wsdbg_fatbin_next_of(const struct wsdbg_fatbin_source *source, uint64_t *offset,
                                         struct wsdbg_fatbin_entry *out, uint64_t *stored_at, bool *found)
{
    uint64_t first = 0, end = 0;
    struct wsdbg_error *error = read_header(source, &first, &end);
    if (error)
        return error;
    const uint64_t at = *offset > first ? *offset : first;
    if (at >= end) {
        *found = false;
        return NULL;
    }
    error = read_entry(source, at, end, out, stored_at, offset);
    *found = !error;
    return error;
}

/* Headers may lie at any address. */
static struct wsdbg_error *copy_from(void *context, uint64_t offset, void *out, size_t byte_count)
{
    const struct wsdbg_image *fatbin = context;
    memcpy(out, fatbin->bytes + offset, byte_count);
    return NULL;
}

struct wsdbg_error *wsdbg_fatbin_next(const struct wsdbg_image *fatbin, size_t *offset, struct wsdbg_fatbin_entry *out,
                                      bool *found)
{
    const struct wsdbg_fatbin_source source = {(void *)fatbin, fatbin->byte_count, copy_from};
    uint64_t at = *offset, stored_at = 0;
    struct wsdbg_error *error = wsdbg_fatbin_next_of(&source, &at, out, &stored_at, found);
    *offset = (size_t)at;
    if (!error && *found)
        out->stored.bytes = fatbin->bytes + stored_at;
    return error;
}

static uint64_t rank(const struct wsdbg_fatbin_entry *entry)
{
    return (uint64_t)entry->architecture * 2 + entry->architecture_only;
}

struct wsdbg_error *wsdbg_fatbin_pick(const struct wsdbg_image *fatbin, enum wsdbg_fatbin_kind kind, uint32_t oldest,
                                      struct wsdbg_fatbin_entry *out, bool *found)
{
    struct wsdbg_fatbin_entry entry = {0}, best = {0};
    size_t offset = 0;
    bool any = false;
    for (;;) {
        bool more;
        struct wsdbg_error *error = wsdbg_fatbin_next(fatbin, &offset, &entry, &more);
        if (error)
            return error;
        if (!more)
            break;
        if (entry.kind != kind || entry.architecture < oldest || entry.architecture > NEWEST_ARCHITECTURE)
            continue;
        if (!any || rank(&entry) > rank(&best))
            best = entry;
        any = true;
    }
    if (any)
        *out = best;
    *found = any;
    return NULL;
}

/* False where the bytes do not unpack to exactly as many as the entry says. */
static bool unpack_into(const struct wsdbg_fatbin_entry *entry, char *room, size_t count)
{
    const struct wsdbg_image *stored = &entry->stored;
    switch (entry->packing) {
    case WSDBG_FATBIN_PLAIN:
        memcpy(room, stored->bytes, count);
        return true;
    case WSDBG_FATBIN_ZSTD:
        return ZSTD_decompress(room, count, stored->bytes, stored->byte_count) == count;
    case WSDBG_FATBIN_LZ4:
        return stored->byte_count <= INT32_MAX &&
               LZ4_decompress_safe((const char *)stored->bytes, room, (int)stored->byte_count, (int)count) ==
                   (int)count;
    case WSDBG_FATBIN_OLD:
        break;
    }
    return false;
}

struct wsdbg_error *wsdbg_fatbin_unpack(const struct wsdbg_fatbin_entry *entry, size_t most, char **out,
                                        size_t *byte_count)
{
    if (entry->packing == WSDBG_FATBIN_OLD)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "packed the old way, which wsdbg cannot unpack");
    most = most < INT32_MAX ? most : INT32_MAX; /* LZ4's limit */
    if (entry->plain_bytes > most)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%llu bytes, at most %zu are read",
                                  (unsigned long long)entry->plain_bytes, most);
    const size_t count = (size_t)entry->plain_bytes;
    char *room = malloc(count + 1);
    if (!room)
        return &wsdbg_error_no_memory;
    if (!unpack_into(entry, room, count)) {
        free(room);
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "damaged: does not unpack to the %zu bytes it promises",
                                  count);
    }
    room[count] = '\0';
    *out = room;
    *byte_count = count;
    return NULL;
}
