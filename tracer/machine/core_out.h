/* core_out.h - an ELF file of a core dump's sections while it is put together. */
#ifndef WSDBG_MACHINE_CORE_OUT_H
#define WSDBG_MACHINE_CORE_OUT_H

#include <stddef.h>

#include "base/error.h"
#include "machine/core_format.h"

struct core_out;

/* Makes the file; one of that name is not overwritten. */
struct wsdbg_error *core_out_open(const char *path, struct core_out **out);
/* Zeroed memory that lives as long as `out`; NULL = no memory. */
void *core_out_block(struct core_out *out, size_t byte_count);
/* The offset of a copy of `text` in .strtab. */
struct wsdbg_error *core_out_string(struct core_out *out, const char *text, uint64_t *offset);
struct core_section {
    enum core_section_kind kind;
    const char *name;
    struct core_place owner;
    uint64_t address; /* of its first byte or register, in what it belongs to */
    void *bytes;      /* must live as long as the file is put together */
    size_t byte_count, row_bytes;
};

/* Writes a section.  *number: its index, by which its child sections name it.  NULL: it has no children. */
struct wsdbg_error *core_out_section(struct core_out *out, const struct core_section *section, uint32_t *number);
/* A table that is being filled, and one row of it. */
struct core_rows {
    unsigned char *bytes;
    size_t row_bytes, row_count;
};
struct core_new_row {
    unsigned char *bytes;
    size_t byte_count;
};

/* Room for `most` rows, all 0. */
struct wsdbg_error *core_out_begin_rows(struct core_out *out, size_t row_bytes, size_t most, struct core_rows *rows);
struct core_new_row core_out_add_row(struct core_rows *rows);
/* A field beyond the row's end is left out. */
void core_put_u32(struct core_new_row row, size_t offset, uint32_t value);
void core_put_u64(struct core_new_row row, size_t offset, uint64_t value);
/* The rows become a section. */
struct wsdbg_error *core_out_end_rows(struct core_out *out, enum core_section_kind kind, const char *name,
                                      struct core_place owner, const struct core_rows *rows, uint32_t *number);
/* Writes the file and closes `out`, or, with an error given or met, removes the file. */
struct wsdbg_error *core_out_close(struct core_out *out, struct wsdbg_error *error);

#endif
