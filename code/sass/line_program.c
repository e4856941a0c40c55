/* line_program.c - see line_program.h.  Encodings: DWARF 2, section 6.2; 0x90 as seen in ptxas's output, whose operands
 * are the number of a row and an offset into .debug_str.
 */
#include "sass/line_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum standard_opcode {
    EXTENDED = 0,
    COPY,
    ADVANCE_PC,
    ADVANCE_LINE,
    SET_FILE,
    SET_COLUMN,
    NEGATE_STATEMENT,
    SET_BASIC_BLOCK,
    CONST_ADD_PC,
    FIXED_ADVANCE_PC,
};
enum extended_opcode { END_SEQUENCE = 1, SET_ADDRESS = 2, INLINED_CALL = 0x90 };
enum { VERSION_OLDEST = 2, VERSION_NEWEST = 4, ADDRESS_BYTES = 8, LENGTH_64_BIT = 0xfffffff0 };
#define PATHS_MOST_BYTES ((size_t)16 << 20)

struct cursor {
    const unsigned char *at, *end;
    bool failed;
};

struct header {
    uint8_t step_bytes, line_range, opcode_base;
    int8_t line_base;
    const unsigned char *opcode_lengths;
};

struct registers {
    uint64_t offset_bytes;
    uint32_t file, line, context, name;
};

struct reader {
    const struct wsdbg_image *section;
    struct wsdbg_line_program *program;
    struct wsdbg_line_unit *unit;
    struct wsdbg_line_sequence sequence;
    struct registers registers;
};

static struct wsdbg_error *damaged(const char *reason)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the table of source lines is damaged: %s", reason);
}

/* --- bytes --- */

static uint64_t take(struct cursor *cursor, size_t byte_count)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < byte_count) {
        cursor->failed = true;
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, byte_count);
    cursor->at += byte_count;
    return value;
}

static uint64_t take_unsigned(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint64_t byte = take(cursor, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    cursor->failed = true;
    return 0;
}

static int64_t take_signed(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        const uint64_t byte = take(cursor, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            return (int64_t)(byte & 0x40 && shift < 64 ? value | ~UINT64_C(0) << shift : value);
    }
    cursor->failed = true;
    return 0;
}

/* NULL and failed where the text does not end. */
static const char *take_text(struct cursor *cursor)
{
    const char *text = (const char *)cursor->at;
    const unsigned char *zero = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));
    cursor->failed = cursor->failed || !zero;
    cursor->at = zero ? zero + 1 : cursor->end;
    return zero ? text : NULL;
}

/* --- the header of a unit --- */

struct folders {
    const char **names;
    size_t count, room;
};

static struct wsdbg_error *read_folders(struct cursor *cursor, struct folders *out)
{
    const char *text;
    while ((text = take_text(cursor)) && *text) {
        if (!wsdbg_grow((void **)&out->names, &out->room, out->count + 1, sizeof *out->names))
            return &wsdbg_error_no_memory;
        out->names[out->count++] = text;
    }
    return NULL;
}

static struct wsdbg_error *add_file(struct wsdbg_line_unit *unit, const char *folder_name, const char *name)
{
    if (!wsdbg_grow((void **)&unit->files, &unit->file_room, unit->file_count + 1, sizeof *unit->files))
        return &wsdbg_error_no_memory;
    char *path;
    if (asprintf(&path, "%s%s%s", *name == '/' ? "" : folder_name, *folder_name && *name != '/' ? "/" : "", name) < 0)
        return &wsdbg_error_no_memory;
    unit->files[unit->file_count++] = path;
    return NULL;
}

static struct wsdbg_error *read_names(struct cursor *cursor, const struct folders *folders,
                                      struct wsdbg_line_unit *unit)
{
    size_t path_bytes = 0;
    const char *text;
    while ((text = take_text(cursor)) && *text) {
        const uint64_t number = take_unsigned(cursor);
        take_unsigned(cursor); /* when it was changed */
        take_unsigned(cursor); /* how long it is */
        const char *folder = number && number <= folders->count ? folders->names[number - 1] : "";
        /* One long folder and many short names would be quadratic. */
        path_bytes += strlen(folder);
        if (path_bytes > PATHS_MOST_BYTES)
            return damaged("the names of its files are too long");
        struct wsdbg_error *error = add_file(unit, folder, text);
        if (error)
            return error;
    }
    return cursor->failed ? damaged("a header that does not end") : NULL;
}

static struct wsdbg_error *read_files(struct cursor *cursor, struct wsdbg_line_unit *unit)
{
    struct folders folders = {0};
    struct wsdbg_error *error = read_folders(cursor, &folders);
    if (!error)
        error = read_names(cursor, &folders, unit);
    free(folders.names);
    return error;
}

static struct wsdbg_error *read_header(struct cursor *unit, struct wsdbg_line_unit *out, struct header *header)
{
    const uint64_t version = take(unit, 2), header_bytes = take(unit, 4);
    if (unit->failed || header_bytes > (size_t)(unit->end - unit->at))
        return damaged("a header that does not end");
    if (version < VERSION_OLDEST || version > VERSION_NEWEST)
        return damaged("a version that is not known");
    struct cursor cursor = {.at = unit->at, .end = unit->at + header_bytes};
    unit->at = cursor.end;
    header->step_bytes = (uint8_t)take(&cursor, 1);
    if (version >= 4)
        take(&cursor, 1); /* operations of an instruction */
    take(&cursor, 1);     /* whether rows begin statements */
    header->line_base = (int8_t)take(&cursor, 1);
    header->line_range = (uint8_t)take(&cursor, 1);
    header->opcode_base = (uint8_t)take(&cursor, 1);
    header->opcode_lengths = cursor.at;
    if (cursor.failed || header->line_range == 0 || header->opcode_base == 0 ||
        (size_t)(cursor.end - cursor.at) < header->opcode_base - 1u)
        return damaged("a header that makes no sense");
    cursor.at += header->opcode_base - 1u;
    return read_files(&cursor, out);
}

/* --- rows --- */

static void begin_sequence(struct reader *reader, uint64_t address, uint64_t address_at)
{
    reader->registers = (struct registers){.file = 1, .line = 1};
    reader->sequence = (struct wsdbg_line_sequence){
        .address = address,
        .address_at = address_at,
        .first = reader->program->row_count,
        .unit = (size_t)(reader->unit - reader->program->units),
    };
}

static struct wsdbg_error *add_row(struct reader *reader)
{
    struct wsdbg_line_program *program = reader->program;
    const struct registers *now = &reader->registers;
    if (!wsdbg_grow((void **)&program->rows, &program->row_room, program->row_count + 1, sizeof *program->rows))
        return &wsdbg_error_no_memory;
    if (program->row_count > reader->sequence.first &&
        program->rows[program->row_count - 1].offset_bytes > now->offset_bytes)
        return damaged("rows whose addresses decrease");
    program->rows[program->row_count++] = (struct wsdbg_line_row){
        .offset_bytes = now->offset_bytes,
        .file = now->file,
        .line = now->line,
        .context = now->context,
        .name = now->name,
    };
    return NULL;
}

static struct wsdbg_error *end_sequence(struct reader *reader)
{
    struct wsdbg_line_program *program = reader->program;
    reader->sequence.count = program->row_count - reader->sequence.first;
    reader->sequence.end_bytes = reader->registers.offset_bytes;
    if (reader->sequence.count && !wsdbg_grow((void **)&program->sequences, &program->sequence_room,
                                              program->sequence_count + 1, sizeof *program->sequences))
        return &wsdbg_error_no_memory;
    if (reader->sequence.count)
        program->sequences[program->sequence_count++] = reader->sequence;
    return NULL;
}

static struct wsdbg_error *extended(struct reader *reader, struct cursor *cursor)
{
    const uint64_t byte_count = take_unsigned(cursor);
    if (cursor->failed || byte_count == 0 || byte_count > (size_t)(cursor->end - cursor->at))
        return damaged("an opcode that does not end");
    struct cursor operands = {.at = cursor->at, .end = cursor->at + byte_count};
    cursor->at = operands.end;
    const uint64_t opcode = take(&operands, 1);
    struct wsdbg_error *error = NULL;
    if (opcode == END_SEQUENCE || opcode == SET_ADDRESS) {
        const uint64_t address_at = (uint64_t)(operands.at - reader->section->bytes);
        const struct registers before = reader->registers;
        error = end_sequence(reader);
        begin_sequence(reader, opcode == SET_ADDRESS ? take(&operands, ADDRESS_BYTES) : 0, address_at);
        if (opcode == SET_ADDRESS) {
            reader->registers = before;
            reader->registers.offset_bytes = 0;
        }
    } else if (opcode == INLINED_CALL) {
        reader->registers.context = (uint32_t)take_unsigned(&operands);
        reader->registers.name = (uint32_t)take_unsigned(&operands);
    }
    return error ? error : operands.failed ? damaged("an opcode that does not end") : NULL;
}

static struct wsdbg_error *special(struct reader *reader, const struct header *header, unsigned opcode)
{
    const unsigned adjusted = opcode - header->opcode_base;
    reader->registers.line += (uint32_t)(header->line_base + (int)(adjusted % header->line_range));
    reader->registers.offset_bytes += (uint64_t)(adjusted / header->line_range) * header->step_bytes;
    return add_row(reader);
}

static struct wsdbg_error *standard(struct reader *reader, struct cursor *cursor, const struct header *header,
                                    unsigned opcode)
{
    struct registers *now = &reader->registers;
    switch ((enum standard_opcode)opcode) {
    case COPY:
        return add_row(reader);
    case ADVANCE_PC:
        now->offset_bytes += take_unsigned(cursor) * header->step_bytes;
        break;
    case ADVANCE_LINE:
        now->line += (uint32_t)take_signed(cursor);
        break;
    case SET_FILE:
        now->file = (uint32_t)take_unsigned(cursor);
        break;
    case CONST_ADD_PC:
        now->offset_bytes += (uint64_t)((255u - header->opcode_base) / header->line_range) * header->step_bytes;
        break;
    case FIXED_ADVANCE_PC:
        now->offset_bytes += take(cursor, 2);
        break;
    default:
        for (unsigned left = header->opcode_lengths[opcode - 1]; left; left--)
            take_unsigned(cursor);
        break;
    }
    return NULL;
}

static struct wsdbg_error *read_rows(struct reader *reader, struct cursor *cursor, const struct header *header)
{
    struct wsdbg_error *error = NULL;
    begin_sequence(reader, 0, (uint64_t)(cursor->at - reader->section->bytes));
    while (!error && cursor->at < cursor->end) {
        const unsigned opcode = (unsigned)take(cursor, 1);
        if (opcode >= header->opcode_base)
            error = special(reader, header, opcode);
        else if (opcode == EXTENDED)
            error = extended(reader, cursor);
        else
            error = standard(reader, cursor, header, opcode);
        if (!error && cursor->failed)
            error = damaged("an opcode that does not end");
    }
    return error;
}

static struct wsdbg_error *read_unit(struct reader *reader, struct cursor cursor)
{
    struct wsdbg_line_program *program = reader->program;
    if (!wsdbg_grow((void **)&program->units, &program->unit_room, program->unit_count + 1, sizeof *program->units))
        return &wsdbg_error_no_memory;
    reader->unit = &program->units[program->unit_count++];
    *reader->unit = (struct wsdbg_line_unit){0};
    struct header header = {0};
    struct wsdbg_error *error = read_header(&cursor, reader->unit, &header);
    return error ? error : read_rows(reader, &cursor, &header);
}

struct wsdbg_error *wsdbg_line_program_read(const struct wsdbg_image *section, struct wsdbg_line_program *out)
{
    struct reader reader = {.section = section, .program = out};
    struct cursor rest = {.at = section->bytes, .end = section->bytes + section->byte_count};
    while (rest.at < rest.end) {
        const uint64_t byte_count = take(&rest, 4);
        if (rest.failed || byte_count >= LENGTH_64_BIT || byte_count > (size_t)(rest.end - rest.at))
            return damaged("a unit that reaches beyond it");
        struct wsdbg_error *error = read_unit(&reader, (struct cursor){.at = rest.at, .end = rest.at + byte_count});
        if (error)
            return error;
        rest.at += byte_count;
    }
    return NULL;
}

void wsdbg_line_program_deinit(struct wsdbg_line_program *program)
{
    for (size_t i = 0; i < program->unit_count; i++) {
        for (size_t j = 0; j < program->units[i].file_count; j++)
            free(program->units[i].files[j]);
        free(program->units[i].files);
    }
    free(program->units);
    free(program->sequences);
    free(program->rows);
}
