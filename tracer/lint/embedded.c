/* embedded.c - see embedded.h.  Looks for the first bytes of each kind chunk by chunk, then reads the header there. */
#include "lint/embedded.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define TABLE_MOST (64u << 20) /* bytes of a cubin's table of sections */

/* What each kind begins with: long enough that chance does not write it, and to be found fast. */
static const struct {
    unsigned char bytes[8];
    size_t count;
} begins[WSDBG_EMBEDDED_KINDS] = {
    [WSDBG_EMBEDDED_FATBIN] = {{0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0}, 8}, /* magic, version, length of the header */
    [WSDBG_EMBEDDED_CUBIN] = {{0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, 7},
};
enum { BEGIN_MOST = 8, ENTRY_HEADER_LEAST = 64, ENTRY_HEADER_MOST = 1 << 16, KIND_MOST = 0xff };

/* ---- places where one may begin ---- */

static struct wsdbg_error *load(struct wsdbg_embedded_scan *scan)
{
    const uint64_t rest = scan->span.byte_count - scan->at;
    const size_t count = rest < sizeof scan->chunk ? (size_t)rest : sizeof scan->chunk;
    struct wsdbg_error *error = wsdbg_file_span_read(&scan->span, scan->at, scan->chunk, count);
    if (error)
        return error;
    scan->first = scan->at;
    scan->end = scan->at + count;
    memset(scan->hits, 0, sizeof scan->hits);
    return NULL;
}

/* The first hit of all kinds from `at` on.  A kind is looked for again only once its last hit was passed, so a chunk is
 * gone through once for each, whatever lies in it. */
static uint64_t first_hit(struct wsdbg_embedded_scan *scan, enum wsdbg_embedded_kind *kind)
{
    uint64_t first = scan->end;
    for (unsigned i = 0; i < WSDBG_EMBEDDED_KINDS; i++) {
        const bool is_stale = scan->hits[i] < scan->at || scan->at == scan->first;
        const unsigned char *from = scan->chunk + (scan->at - scan->first), *hit = NULL;
        if (is_stale) {
            hit = memmem(from, (size_t)(scan->end - scan->at), begins[i].bytes, begins[i].count);
            scan->hits[i] = hit ? scan->first + (uint64_t)(hit - scan->chunk) : scan->end;
        }
        if (scan->hits[i] < first) {
            first = scan->hits[i];
            *kind = (enum wsdbg_embedded_kind)i;
        }
    }
    return first;
}

/* Moves to the next place; *found is false at the end. */
static struct wsdbg_error *seek(struct wsdbg_embedded_scan *scan, enum wsdbg_embedded_kind *kind, bool *found)
{
    const uint64_t all = scan->span.byte_count;
    *found = false;
    while (all - scan->at >= BEGIN_MOST) {
        struct wsdbg_error *error = scan->at < scan->first || scan->end < scan->at + BEGIN_MOST ? load(scan) : NULL;
        if (error)
            return error;
        const uint64_t hit = first_hit(scan, kind);
        *found = hit < scan->end;
        if (*found || scan->end == all) {
            scan->at = hit;
            return NULL;
        }
        scan->at = scan->end - (BEGIN_MOST - 1); /* one may begin here that the next chunk ends */
    }
    return NULL;
}

/* ---- what is there ---- */

/* The two headers that a fatbin begins with: its own and its first entry's. */
struct fatbin_begin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
    uint16_t kind, entry_version;
    uint32_t entry_header_bytes;
};
_Static_assert(sizeof(struct fatbin_begin) == 24, "as they lie in the file");

/* Programs that make or read fatbins have the header's first bytes as a constant. */
static bool is_fatbin(const struct fatbin_begin *begin)
{
    return begin->entries_bytes >= ENTRY_HEADER_LEAST && begin->kind && begin->kind <= KIND_MOST &&
           begin->entry_header_bytes >= ENTRY_HEADER_LEAST && begin->entry_header_bytes <= ENTRY_HEADER_MOST;
}

/* *skip is how far to go on in any case.  Not an image: out->bytes stays empty and out->damage NULL. */
static struct wsdbg_error *read_fatbin(const struct wsdbg_file_span *rest, struct wsdbg_embedded_image *out,
                                       uint64_t *skip)
{
    struct fatbin_begin begin;
    *skip = 1;
    if (rest->byte_count < sizeof begin)
        return NULL;
    struct wsdbg_error *error = wsdbg_file_span_read(rest, 0, &begin, sizeof begin);
    if (error || !is_fatbin(&begin))
        return error;
    *skip = sizeof begin;
    const uint64_t room = rest->byte_count - begin.header_bytes;
    if (begin.entries_bytes > room)
        out->damage =
            wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "cut short: %" PRIu64 " bytes of code, and %" PRIu64 " are left",
                               begin.entries_bytes, room);
    else
        out->bytes = (struct wsdbg_file_span){rest->descriptor, rest->first, begin.header_bytes + begin.entries_bytes};
    return NULL;
}

static bool is_cubin(const Elf64_Ehdr *header)
{
    return header->e_machine == MACHINE_CUDA && header->e_version == EV_CURRENT &&
           header->e_ehsize == sizeof(Elf64_Ehdr) && header->e_shoff && header->e_shentsize == sizeof(Elf64_Shdr);
}

/* Where a cubin ends that begins the span: behind its tables and its last section.  *table_end is known by itself. */
static struct wsdbg_error *find_end(const struct wsdbg_file_span *rest, const Elf64_Ehdr *header, uint64_t *table_end,
                                    uint64_t *end)
{
    Elf64_Shdr first, *rows = NULL;
    struct wsdbg_file_span table;
    struct wsdbg_error *error = wsdbg_file_span_read(rest, header->e_shoff, &first, sizeof first);
    if (error)
        return error;
    const uint64_t count = header->e_shnum ? header->e_shnum : first.sh_size;
    if (count > TABLE_MOST / sizeof *rows)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "damaged: %" PRIu64 " sections", count);
    error = wsdbg_file_span_part(rest, header->e_shoff, count * sizeof *rows, "its table of sections", &table);
    if (!error)
        error = wsdbg_file_span_read_all(&table, TABLE_MOST, (unsigned char **)(void *)&rows);
    if (error)
        return error;
    *table_end = header->e_shoff + table.byte_count;
    *end = *table_end;
    const uint64_t headers_bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
    if (header->e_phoff < rest->byte_count && header->e_phoff + headers_bytes > *end)
        *end = header->e_phoff + headers_bytes;
    for (uint64_t i = 0; !error && i < count; i++) {
        struct wsdbg_file_span section;
        if (rows[i].sh_type == SHT_NOBITS || rows[i].sh_type == SHT_NULL)
            continue;
        error = wsdbg_file_span_part(rest, rows[i].sh_offset, rows[i].sh_size, "a section", &section);
        if (!error && rows[i].sh_offset + rows[i].sh_size > *end)
            *end = rows[i].sh_offset + rows[i].sh_size;
    }
    free(rows);
    return error;
}

static struct wsdbg_error *read_cubin(const struct wsdbg_file_span *rest, struct wsdbg_embedded_image *out,
                                      uint64_t *skip)
{
    Elf64_Ehdr header;
    uint64_t end = 0;
    *skip = 1;
    if (rest->byte_count < sizeof header)
        return NULL;
    struct wsdbg_error *error = wsdbg_file_span_read(rest, 0, &header, sizeof header);
    if (error || !is_cubin(&header))
        return error;
    *skip = sizeof header;
    error = find_end(rest, &header, skip, &end);
    if (!error)
        error = wsdbg_file_span_part(rest, 0, end, "it", &out->bytes);
    if (error && wsdbg_error_code(error) != WSDBG_ERROR_BAD_INPUT)
        return error;
    out->damage = error;
    return NULL;
}

struct wsdbg_error *wsdbg_embedded_next(struct wsdbg_embedded_scan *scan, struct wsdbg_embedded_image *out, bool *found)
{
    for (;;) {
        struct wsdbg_file_span rest;
        uint64_t skip = 1;
        *out = (struct wsdbg_embedded_image){0};
        struct wsdbg_error *error = seek(scan, &out->kind, found);
        if (error || !*found)
            return error;
        error = wsdbg_file_span_part(&scan->span, scan->at, scan->span.byte_count - scan->at, "an image", &rest);
        if (!error)
            error = out->kind == WSDBG_EMBEDDED_FATBIN ? read_fatbin(&rest, out, &skip) : read_cubin(&rest, out, &skip);
        if (error)
            return error;
        scan->at += out->bytes.byte_count ? out->bytes.byte_count : skip;
        if (out->bytes.byte_count || out->damage)
            return NULL;
    }
}
