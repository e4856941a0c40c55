/* cubin_parts.h - an open cubin, for the files of cubin.h: cubin.c opens it, cubin_notes.c reads the notes of the
 * compiler (.nv.info), cubin_contents.c finds what else a cubin holds.
 */
#ifndef WSDBG_SASS_CUBIN_PARTS_H
#define WSDBG_SASS_CUBIN_PARTS_H

#include "sass/cubin.h"

#include <gelf.h>

#include "base/error.h"
#include "sass/cubin_addresses.h"

#define SYMBOL_BITS 0xffffffu /* of a code section's sh_info; before, the byte above counted registers */

struct cubin_function {
    struct wsdbg_cubin_function shown;
    size_t symbol;
};

struct wsdbg_cubin {
    Elf *elf;
    size_t section_names;             /* the number of the section that holds them */
    struct cubin_function *functions; /* ordered by symbol */
    size_t function_count;
    struct cubin_number *numbers; /* by section and offset */
    size_t number_count;
    struct wsdbg_image compatibility; /* notes; empty where there are none */
};

enum attribute_format { FORMAT_NONE = 1, FORMAT_BYTE = 2, FORMAT_HALF = 3, FORMAT_SIZED = 4 };
enum attribute_code {
    THREADS_MOST = 0x05,
    SPECIFIC = 0x09, /* of the compatibility notes: made for this architecture alone */
    THREADS_REQUIRED = 0x10,
    FRAME_BYTES = 0x11,
    REGISTERS_MOST = 0x1b,
    REGISTER_COUNT = 0x2f,
    BRANCH_TARGETS = 0x34,
    MBARRIER_COUNT = 0x38,
    MBARRIER_USES = 0x39,
    CLUSTER = 0x3d,
    NAMED_BARRIER_COUNT = 0x4c,
    RECONFIGURES = 0x54,
};
#define COUNT_IN_LOOP 0xffffu
#define USE_BYTES 16

struct cubin_attribute {
    enum attribute_format format;
    enum attribute_code code;
    uint16_t value; /* 0 where sized */
    struct wsdbg_image sized;
};

struct wsdbg_error *cubin_damaged(const char *reason);
/* What the file holds of a section; false where that is nothing or lies outside the file. */
bool cubin_contents(Elf_Scn *section, struct wsdbg_image *out);
/* For bsearch: compares a symbol's number with that of a function. */
int cubin_by_symbol(const void *key, const void *element);
/* Of bytes that need not be aligned. */
uint32_t cubin_u32_at(const unsigned char *bytes);
/* Takes one attribute off the front of `rest`; false where what is left is none. */
bool cubin_next_attribute(struct wsdbg_image *rest, struct cubin_attribute *out);
/* Reads all notes into the functions of the cubin. */
struct wsdbg_error *cubin_read_notes(struct wsdbg_cubin *cubin);
/* Reads the addresses that belong into instructions (cubin_addresses.h). */
struct wsdbg_error *cubin_read_relocations(struct wsdbg_cubin *cubin);

#endif
