/* python_code.c - see python_code.h.
 *
 * Reads: objects of the process, whose memory may change and may hold anything.  Writes: nothing.
 * An object counts only if its type is the right one.  Lengths are bounded before anything is read.
 */
#include "host/python_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "host/name_text.h"

enum { CODES_MOST = 16384, BUCKETS = 1024, TEXT_BYTES = 1024 };
#define LINES_BYTES_MOST (1u << 20)

struct wsdbg_python_codes {
    const struct wsdbg_python *python;
    struct wsdbg_host_memory *memory;
    struct wsdbg_python_code *rows;
    uint32_t *next; /* in the bucket, 0 = none, else the row's number from 1 */
    size_t count, capacity, next_capacity;
    uint32_t buckets[BUCKETS];
};

struct wsdbg_error *wsdbg_python_codes_create(const struct wsdbg_python *python, struct wsdbg_host_memory *memory,
                                              struct wsdbg_python_codes **out)
{
    struct wsdbg_python_codes *codes = calloc(1, sizeof *codes);
    if (!codes)
        return &wsdbg_error_no_memory;
    codes->python = python;
    codes->memory = memory;
    *out = codes;
    return NULL;
}

void wsdbg_python_codes_destroy(struct wsdbg_python_codes *codes)
{
    if (!codes)
        return;
    for (size_t i = 0; i < codes->count; i++)
        free(codes->rows[i].lines);
    free(codes->rows);
    free(codes->next);
    free(codes);
}

/* ---- texts ---- */

static size_t put_utf8(uint32_t character, char out[4])
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (char)(0xc0 | character >> 6);
        out[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        out[0] = (char)(0xe0 | character >> 12);
        out[1] = (char)(0x80 | (character >> 6 & 0x3f));
        out[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | (character >> 18 & 7));
    out[1] = (char)(0x80 | (character >> 12 & 0x3f));
    out[2] = (char)(0x80 | (character >> 6 & 0x3f));
    out[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

/* The last characters that there is room for: of a path they tell most. */
static bool read_characters(struct wsdbg_host_memory *memory, uint64_t address, uint64_t length, uint32_t width,
                            char out[TEXT_BYTES])
{
    unsigned char raw[TEXT_BYTES];
    const uint64_t most = (TEXT_BYTES - 1) / 4, left_out = length > most ? length - most : 0;
    const size_t count = (size_t)(length - left_out);
    size_t used = 0;
    if (left_out > UINT32_MAX || !wsdbg_host_read(memory, address + left_out * width, raw, count * width))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t character = 0;
        memcpy(&character, raw + i * width, width);
        used += put_utf8(character ? character : '?', out + used);
    }
    out[used] = '\0';
    return true;
}

static bool read_text(const struct wsdbg_python_codes *codes, uint64_t address, char out[TEXT_BYTES])
{
    const struct wsdbg_python_layout *l = &codes->python->layout;
    uint64_t type, length;
    uint32_t state;
    if (!wsdbg_host_read_word(codes->memory, address + l->object_type, &type) || type != codes->python->text_type ||
        !wsdbg_host_read_word(codes->memory, address + l->text_length, &length) ||
        !wsdbg_host_read(codes->memory, address + l->text_state, &state, sizeof state))
        return false;
    const uint32_t bits = state >> l->text_kind_shift;
    const uint32_t width = bits & 7;
    const bool is_compact = bits >> 3 & 1, is_ascii = bits >> 4 & 1;
    if (!is_compact || (width != 1 && width != 2 && width != 4) || length == 0)
        return false;
    return read_characters(codes->memory, address + (is_ascii ? l->text_ascii_data : l->text_other_data), length, width,
                           out);
}

static bool read_name(const struct wsdbg_python_codes *codes, uint64_t address, char *out, size_t bytes)
{
    char text[TEXT_BYTES];
    out[0] = '\0';
    if (!read_text(codes, address, text))
        return false;
    wsdbg_host_name_put(text, out, bytes);
    return true;
}

/* ---- code objects ---- */

static bool read_lines(const struct wsdbg_python_codes *codes, uint64_t address, struct wsdbg_python_code *out)
{
    const struct wsdbg_python_layout *l = &codes->python->layout;
    uint64_t type, size;
    if (!wsdbg_host_read_word(codes->memory, address + l->object_type, &type) || type != codes->python->bytes_type ||
        !wsdbg_host_read_word(codes->memory, address + l->bytes_size, &size) || size > LINES_BYTES_MOST)
        return false;
    out->lines = malloc(size ? size : 1);
    if (!out->lines || !wsdbg_host_read(codes->memory, address + l->bytes_data, out->lines, size)) {
        free(out->lines);
        out->lines = NULL;
        return false;
    }
    out->lines_bytes = size;
    return true;
}

bool wsdbg_python_is_code(const struct wsdbg_python *python, struct wsdbg_host_memory *memory, uint64_t address)
{
    uint64_t type;
    return address && wsdbg_host_read_word(memory, address + python->layout.object_type, &type) &&
           type == python->code_type;
}

/* False: its members could not be read. */
static bool read_members(const struct wsdbg_python_codes *codes, uint64_t address, struct wsdbg_python_code *out)
{
    const struct wsdbg_python_layout *l = &codes->python->layout;
    *out = (struct wsdbg_python_code){.address = address};
    return wsdbg_python_is_code(codes->python, codes->memory, address) &&
           wsdbg_host_read_word(codes->memory, address + l->code_filename, &out->file_text) &&
           wsdbg_host_read_word(codes->memory, address + l->code_name, &out->function_text) &&
           wsdbg_host_read_word(codes->memory, address + l->code_lines, &out->lines_object) &&
           wsdbg_host_read(codes->memory, address + l->code_first_line, &out->first_line, sizeof out->first_line);
}

static void read_objects(const struct wsdbg_python_codes *codes, struct wsdbg_python_code *code)
{
    code->whole = read_name(codes, code->file_text, code->file, sizeof code->file);
    code->whole &= read_name(codes, code->function_text, code->function, sizeof code->function);
    code->whole &= read_lines(codes, code->lines_object, code);
}

static struct wsdbg_python_code *add_row(struct wsdbg_python_codes *codes, size_t bucket)
{
    if (codes->count >= CODES_MOST ||
        !wsdbg_grow((void **)&codes->rows, &codes->capacity, codes->count + 1, sizeof *codes->rows) ||
        !wsdbg_grow((void **)&codes->next, &codes->next_capacity, codes->count + 1, sizeof *codes->next))
        return NULL;
    codes->next[codes->count] = codes->buckets[bucket];
    codes->buckets[bucket] = (uint32_t)++codes->count;
    codes->rows[codes->count - 1] = (struct wsdbg_python_code){0};
    return &codes->rows[codes->count - 1];
}

static struct wsdbg_python_code *row_of(struct wsdbg_python_codes *codes, uint64_t address)
{
    const size_t bucket = (address >> 4) % BUCKETS;
    for (uint32_t i = codes->buckets[bucket]; i != 0; i = codes->next[i - 1])
        if (codes->rows[i - 1].address == address)
            return &codes->rows[i - 1];
    return add_row(codes, bucket);
}

/* Code may be freed, and another one be made in its place: what was read before holds while the object has the same
 * members. */
static bool is_still(const struct wsdbg_python_code *row, const struct wsdbg_python_code *now)
{
    return row->whole && row->file_text == now->file_text && row->function_text == now->function_text &&
           row->lines_object == now->lines_object && row->first_line == now->first_line;
}

const struct wsdbg_python_code *wsdbg_python_code_at(struct wsdbg_python_codes *codes, uint64_t address)
{
    struct wsdbg_python_code now;
    if (!read_members(codes, address, &now))
        return NULL;
    struct wsdbg_python_code *row = row_of(codes, address);
    if (!row || is_still(row, &now))
        return row;
    free(row->lines);
    *row = now;
    read_objects(codes, row);
    return row;
}
