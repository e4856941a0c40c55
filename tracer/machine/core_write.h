/* core_write.h - the writer behind wsdbg_machine_write_core, with the sizes of rows left open. */
#ifndef WSDBG_MACHINE_CORE_WRITE_H
#define WSDBG_MACHINE_CORE_WRITE_H

#include "machine/core_format.h"
#include "machine/reads.h"

/* Bytes of a row by kind of table; fields beyond are left out, bytes beyond the fields are 0. */
struct core_row_bytes {
    size_t device, context, module, grid, sm, cta, warp, lane;
};

/* As driver 580 writes them. */
extern const struct core_row_bytes core_row_bytes_580;

/* As wsdbg_machine_write_core. */
struct wsdbg_error *core_write(const struct wsdbg_machine *machine, const struct wsdbg_machine_reads *reads,
                               const struct core_row_bytes *row_bytes, const char *path);

#endif
