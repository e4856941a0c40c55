/* core_meta.c - what a GPU core dump says of itself; see core_machine.h.  Reads: its section of meta data. */
#include <stdlib.h>
#include <string.h>

#include "machine/core_machine.h"

/* False where the dump has none. */
static bool read_meta(struct core_file *file, unsigned char bytes[CORE_META_BYTES])
{
    size_t count;
    const struct core_section *section = core_file_sections(file, CORE_META, &count);
    if (!count || section->byte_count < CORE_META_BYTES)
        return false;
    struct wsdbg_error *error = core_file_read(file, section, 0, bytes, CORE_META_BYTES);
    wsdbg_error_destroy(error);
    return !error;
}

struct wsdbg_optional_u32 core_meta_skipped(struct core_file *file)
{
    unsigned char bytes[CORE_META_BYTES];
    if (!read_meta(file, bytes))
        return (struct wsdbg_optional_u32){0};
    return core_u32((struct core_row){.bytes = bytes, .byte_count = sizeof bytes}, CORE_META_FLAGS);
}

uint64_t core_meta_time_ns(struct core_file *file)
{
    unsigned char bytes[CORE_META_BYTES];
    if (!read_meta(file, bytes))
        return 0;
    const struct core_row row = {.bytes = bytes, .byte_count = sizeof bytes};
    const char *name = core_file_string(file, core_u64(row, CORE_META_GENERATOR_STRING).value);
    if (!name || strncmp(name, CORE_LOOK_NAME, sizeof CORE_LOOK_NAME - 1) != 0)
        return 0;
    return strtoull(name + sizeof CORE_LOOK_NAME - 1, NULL, 10);
}
