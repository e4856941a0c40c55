/* line_program.h - the bytes of .debug_line as rows: DWARF 2 with the extended opcode of ptxas for inlined calls.
 *
 * Private to lines.c.  Reads bytes of unknown origin; there is at most one row for each of them.
 */
#ifndef WSDBG_SASS_LINE_PROGRAM_H
#define WSDBG_SASS_LINE_PROGRAM_H

#include "sass/fatbin.h"

struct wsdbg_line_row {
    uint64_t offset_bytes; /* from the address its sequence begins with */
    uint32_t file;         /* of its unit, from 1 on */
    uint32_t line;
    uint32_t context; /* the row, from 1 on in its sequence, of the call that this is inlined at; 0 = none */
    uint32_t name;    /* offset in .debug_str of the inlined function's name, where there is a context */
};

struct wsdbg_line_sequence {
    uint64_t address;    /* that it begins with, as it is in the file */
    uint64_t address_at; /* where in the section that address stands, for its relocation */
    uint64_t end_bytes;  /* one past the last byte it is about, from its address */
    size_t first, count; /* rows; their offsets do not decrease */
    size_t unit;
};

struct wsdbg_line_unit {
    char **files; /* paths; the first is number 1 */
    size_t file_count, file_room;
};

struct wsdbg_line_program {
    struct wsdbg_line_row *rows;
    size_t row_count, row_room;
    struct wsdbg_line_sequence *sequences;
    size_t sequence_count, sequence_room;
    struct wsdbg_line_unit *units;
    size_t unit_count, unit_room;
};

/* Fills *out, which begins as zeros; wsdbg_line_program_deinit frees what it holds, also after an error. */
struct wsdbg_error *wsdbg_line_program_read(const struct wsdbg_image *section, struct wsdbg_line_program *out);
void wsdbg_line_program_deinit(struct wsdbg_line_program *program);

#endif
