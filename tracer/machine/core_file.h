/* core_file.h - the file of a GPU core dump: its sections by what they belong to, its tables, and blocks of bytes.
 *
 * Nothing in the file is believed before it was compared with the file's length; tables and images together may take
 * 512 MiB of memory, blocks are read only where they are asked for.  One thread at a time.
 */
#ifndef WSDBG_MACHINE_CORE_FILE_H
#define WSDBG_MACHINE_CORE_FILE_H

#include "base/error.h"
#include "machine/core_format.h"
#include "sass/fatbin.h"

struct core_file;

struct core_section {
    uint32_t kind;       /* enum core_section_kind */
    uint32_t table, row; /* what it belongs to: a section's number and a row of it */
    uint32_t number;
    uint64_t address; /* sh_addr */
    uint64_t offset, byte_count;
    uint64_t row_bytes;
};

/* Rows of one table; the bytes live as long as the file. */
struct core_table {
    const unsigned char *bytes;
    size_t row_bytes, row_count;
    uint32_t number;
};

/* Opens, unpacks (gzip, into a temporary file without a name) and indexes.  BAD_INPUT names file, place and reason. */
struct wsdbg_error *core_file_open(const char *path, struct core_file **out);
void core_file_close(struct core_file *file); /* NULL is fine */
/* An error that names the file and the section. */
struct wsdbg_error *core_file_damaged(const struct core_file *file, const struct core_section *section,
                                      const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *core_file_path(const struct core_file *file);

/* The sections of a kind, ordered by owner and address. */
const struct core_section *core_file_sections(const struct core_file *file, enum core_section_kind kind, size_t *count);
/* Those of one row of a table. */
const struct core_section *core_file_sections_of(const struct core_file *file, enum core_section_kind kind,
                                                 uint32_t table, uint32_t row, size_t *count);
/* The rows; an error where they are shorter than least_row_bytes. */
struct wsdbg_error *core_file_table(struct core_file *file, const struct core_section *section, size_t least_row_bytes,
                                    struct core_table *out);
/* All of a section in memory that lives as long as the file. */
struct wsdbg_error *core_file_contents(struct core_file *file, const struct core_section *section,
                                       struct wsdbg_image *out);
/* `count` bytes from `start` on, which the caller knows to lie within the section. */
struct wsdbg_error *core_file_read(const struct core_file *file, const struct core_section *section, uint64_t start,
                                   void *out, size_t count);
/* A string of .strtab; NULL where there is none. */
const char *core_file_string(const struct core_file *file, uint64_t offset);

static inline struct core_row core_table_row(const struct core_table *table, size_t row)
{
    return (struct core_row){table->bytes + row * table->row_bytes, table->row_bytes};
}

#endif
