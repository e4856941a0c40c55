/* input.c - see input.h.  Reads a file through spans; calls the visitor. */
#include "lint/input.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lint/elf_sections.h"
#include "lint/embedded.h"

#define FATBIN_MAGIC 0xba55ed50u
#define ARCHIVE_MAGIC "!<arch>\n"
#define PART_MOST (UINT64_C(1) << 30) /* bytes of a cubin or PTX text */
#define LOOK_BYTES 4096               /* of a file, to tell what it is */
enum { ALIGNMENT = 8, CHUNK_BYTES = 1 << 16, NAME_BYTES = 320 };

struct walk {
    const struct wsdbg_lint_input_visitor *visitor;
    uint64_t file_bytes;
    size_t parts;
};

/* A fatbin's header, as it lies in the file. */
struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
};

static void leave_out(struct walk *walk, const char *name, struct wsdbg_error *error)
{
    walk->parts++;
    walk->visitor->left_out(walk->visitor->context, name, error);
}

static struct wsdbg_error *visit(struct walk *walk, enum wsdbg_lint_form form, const struct wsdbg_file_span *span,
                                 const char *name)
{
    unsigned char *bytes = NULL;
    struct wsdbg_error *error = form == WSDBG_LINT_FATBIN ? NULL : wsdbg_file_span_read_all(span, PART_MOST, &bytes);
    if (error) {
        leave_out(walk, name, error);
        return NULL;
    }
    const struct wsdbg_lint_part part = {form, *span, {bytes, bytes ? (size_t)span->byte_count : 0}, name};
    walk->parts++;
    error = walk->visitor->part(walk->visitor->context, &part, walk->file_bytes);
    free(bytes);
    wsdbg_progress_advance(walk->visitor->progress, span->first + span->byte_count, walk->file_bytes);
    return error;
}

/* ---- fatbins, one behind another ---- */

/* The next place from `offset` on where a fatbin may begin, aligned as they are; the end where there is none.
 * *is_padding: all that was skipped is zero. */
static struct wsdbg_error *find_fatbin(const struct wsdbg_file_span *span, uint64_t offset, bool *is_padding,
                                       uint64_t *out)
{
    unsigned char chunk[CHUNK_BYTES];
    *is_padding = true;
    for (; offset < span->byte_count; offset += CHUNK_BYTES) {
        const uint64_t rest = span->byte_count - offset;
        const size_t count = rest < CHUNK_BYTES ? (size_t)rest : CHUNK_BYTES;
        struct wsdbg_error *error = wsdbg_file_span_read(span, offset, chunk, count);
        if (error)
            return error;
        for (size_t at = 0; at + sizeof(uint32_t) <= count; at += ALIGNMENT) {
            uint32_t magic;
            memcpy(&magic, chunk + at, sizeof magic);
            *out = offset + at;
            if (magic == FATBIN_MAGIC)
                return NULL;
            *is_padding = *is_padding && magic == 0;
        }
    }
    *out = span->byte_count;
    return NULL;
}

/* The fatbin at `offset`; *next is where to go on. */
static struct wsdbg_error *visit_fatbin(struct walk *walk, const struct wsdbg_file_span *span, uint64_t offset,
                                        const char *name, uint64_t *next)
{
    struct fatbin_header header;
    struct wsdbg_file_span part;
    *next = offset + ALIGNMENT;
    struct wsdbg_error *error = wsdbg_file_span_read(span, offset, &header, sizeof header);
    if (!error && header.header_bytes < sizeof header)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "damaged: its header has %u bytes", header.header_bytes);
    if (!error && header.entries_bytes > span->byte_count)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                   "cut short or damaged: %" PRIu64 " bytes of code, more than "
                                   "the %" PRIu64 " there are",
                                   header.entries_bytes, span->byte_count);
    if (!error)
        error = wsdbg_file_span_part(span, offset, header.header_bytes + header.entries_bytes, "it", &part);
    if (error) {
        leave_out(walk, name, error);
        return NULL;
    }
    *next = offset + part.byte_count;
    return visit(walk, WSDBG_LINT_FATBIN, &part, name);
}

/* `prefix` comes before the number of each; one that is all of the span has no number. */
static struct wsdbg_error *visit_fatbins(struct walk *walk, const struct wsdbg_file_span *span, const char *prefix)
{
    char name[NAME_BYTES];
    unsigned number = 0;
    uint64_t offset = 0;
    for (;;) {
        bool is_padding;
        uint64_t at;
        struct wsdbg_error *error = find_fatbin(span, offset, &is_padding, &at);
        snprintf(name, sizeof name, "%s%sfatbin %u", prefix, *prefix ? " " : "", number + (at < span->byte_count));
        if (!error && !is_padding)
            leave_out(walk, name,
                      wsdbg_error_create(
                          WSDBG_ERROR_BAD_INPUT, "damaged: bytes %" PRIu64 " to %" PRIu64 " %s are no fatbin",
                          span->first + offset, span->first + at, at < span->byte_count ? "before it" : "behind it"));
        if (error || at >= span->byte_count)
            return error;
        number++;
        error = visit_fatbin(walk, span, at, name, &offset);
        if (error)
            return error;
    }
}

/* ---- files of each kind ---- */

/* Images among other data, each with its section's name and a number. */
static struct wsdbg_error *visit_data(struct walk *walk, const struct wsdbg_file_span *span, const char *prefix)
{
    char name[NAME_BYTES + 32];
    unsigned number = 0;
    struct wsdbg_embedded_image image;
    bool found = true;
    struct wsdbg_embedded_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return &wsdbg_error_no_memory;
    scan->span = *span;
    struct wsdbg_error *error = NULL;
    while (!error && !(error = wsdbg_embedded_next(scan, &image, &found)) && found) {
        const bool is_cubin = image.kind == WSDBG_EMBEDDED_CUBIN;
        snprintf(name, sizeof name, "%s%s%s %u", prefix, *prefix ? " " : "", is_cubin ? "cubin" : "fatbin", ++number);
        if (image.damage)
            leave_out(walk, name, image.damage);
        else
            error = visit(walk, is_cubin ? WSDBG_LINT_CUBIN : WSDBG_LINT_FATBIN, &image.bytes, name);
    }
    free(scan);
    wsdbg_progress_advance(walk->visitor->progress, span->first + span->byte_count, walk->file_bytes);
    return error;
}

static struct wsdbg_error *visit_sections(struct walk *walk, const struct wsdbg_elf_sections *sections,
                                          const char *name)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < sections->count; i++) {
        const struct wsdbg_elf_section *section = &sections->rows[i];
        char prefix[NAME_BYTES];
        const char *of = section->is_of_nvcc && sections->of_nvcc == 1 ? "" : section->name;
        snprintf(prefix, sizeof prefix, "%s%s%s", name, *name && *of ? " " : "", of);
        error = section->is_of_nvcc ? visit_fatbins(walk, &section->bytes, prefix)
                                    : visit_data(walk, &section->bytes, prefix);
    }
    return error;
}

static struct wsdbg_error *visit_elf(struct walk *walk, const struct wsdbg_file_span *span, const char *name)
{
    struct wsdbg_elf_sections sections;
    struct wsdbg_error *error = wsdbg_elf_sections_find(span, &sections);
    if (error)
        return error;
    error = sections.is_cubin ? visit(walk, WSDBG_LINT_CUBIN, span, name) : visit_sections(walk, &sections, name);
    wsdbg_elf_sections_deinit(&sections);
    return error;
}

/* A member's header: its size is decimal, its name ends with a slash. */
struct member_header {
    char name[16], date[12], owner[6], group[6], mode[8], size[10], end[2];
};

static struct wsdbg_error *read_member(const struct wsdbg_file_span *archive, uint64_t offset,
                                       struct wsdbg_file_span *out, char name[NAME_BYTES])
{
    struct member_header header;
    struct wsdbg_error *error = wsdbg_file_span_read(archive, offset, &header, sizeof header);
    if (error)
        return error;
    char digits[sizeof header.size + 1] = "", *end;
    memcpy(digits, header.size, sizeof header.size);
    const unsigned long long count = strtoull(digits, &end, 10);
    if (memcmp(header.end, "`\n", sizeof header.end) != 0 || end == digits || !isdigit((unsigned char)digits[0]))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the archive is damaged at byte %" PRIu64, offset);
    size_t length = 0;
    while (length < sizeof header.name && header.name[length] != '/' && header.name[length] != ' ')
        length++;
    if (length)
        snprintf(name, NAME_BYTES, "%.*s", (int)length, header.name);
    else
        snprintf(name, NAME_BYTES, "member at byte %" PRIu64, offset);
    return wsdbg_file_span_part(archive, offset + sizeof header, count, "a member of the archive", out);
}

static struct wsdbg_error *visit_archive(struct walk *walk, const struct wsdbg_file_span *span)
{
    uint64_t offset = sizeof ARCHIVE_MAGIC - 1;
    while (offset < span->byte_count) {
        struct wsdbg_file_span member;
        char name[NAME_BYTES], magic[SELFMAG] = "";
        struct wsdbg_error *error = read_member(span, offset, &member, name);
        if (error)
            return error;
        if (member.byte_count > sizeof magic)
            error = wsdbg_file_span_read(&member, 0, magic, sizeof magic);
        if (!error && memcmp(magic, ELFMAG, SELFMAG) == 0)
            error = visit_elf(walk, &member, name);
        if (error && wsdbg_error_code(error) != WSDBG_ERROR_BAD_INPUT)
            return error;
        if (error)
            leave_out(walk, name, error);
        offset = member.first - span->first + member.byte_count;
        offset += offset % 2;
    }
    return NULL;
}

/* PTX names its version before anything else but comments. */
static bool is_ptx(const char *text, size_t byte_count)
{
    const char *found = memmem(text, byte_count, ".version", strlen(".version"));
    for (size_t i = 0; found && i < byte_count && text + i < found; i++)
        if (!isprint((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
            return false;
    return found != NULL;
}

static bool is_text(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (iscntrl((unsigned char)bytes[i]) && !isspace((unsigned char)bytes[i]))
            return false;
    return true;
}

static struct wsdbg_error *visit_object(struct walk *walk, const struct wsdbg_file_span *span, const char *name)
{
    char begin[LOOK_BYTES];
    const size_t count = span->byte_count < sizeof begin ? (size_t)span->byte_count : sizeof begin;
    struct wsdbg_error *error = wsdbg_file_span_read(span, 0, begin, count);
    if (error)
        return error;
    const struct wsdbg_image image = {(const unsigned char *)begin, count};
    if (count >= SELFMAG && memcmp(begin, ELFMAG, SELFMAG) == 0)
        return visit_elf(walk, span, name);
    if (count >= sizeof ARCHIVE_MAGIC - 1 && memcmp(begin, ARCHIVE_MAGIC, sizeof ARCHIVE_MAGIC - 1) == 0)
        return visit_archive(walk, span);
    if (wsdbg_fatbin_is(&image))
        return visit_fatbins(walk, span, name);
    if (is_ptx(begin, count))
        return visit(walk, WSDBG_LINT_PTX, span, name);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                              "not an object that holds GPU code: neither ELF, fatbin, archive nor PTX%s",
                              is_text(begin, count) ? "; source is compiled first: nvcc -arch=sm_90a -cubin" : "");
}

struct wsdbg_error *wsdbg_lint_input_walk(const char *path, const struct wsdbg_lint_input_visitor *visitor,
                                          size_t *parts)
{
    struct wsdbg_file_span file;
    struct wsdbg_error *error = wsdbg_file_span_open(path, &file);
    if (error)
        return error;
    struct walk walk = {visitor, file.byte_count, 0};
    error = visit_object(&walk, &file, "");
    if (!error)
        wsdbg_progress_advance(visitor->progress, file.byte_count, file.byte_count);
    close(file.descriptor);
    *parts = walk.parts;
    return error;
}
