/* core_writer.h - what the two halves of the writer of core dumps share: core_write.c puts down the tables,
 * core_write_blocks.c the registers and memory that belong to their rows.
 */
#ifndef WSDBG_MACHINE_CORE_WRITER_H
#define WSDBG_MACHINE_CORE_WRITER_H

#include "machine/core_out.h"
#include "machine/core_write.h"

struct core_writer {
    const struct wsdbg_machine *machine;
    const struct core_row_bytes *row_bytes;
    struct core_out *out;
    struct core_place *grids, *ctas, *warps; /* where each row of the machine went */
    uint32_t *lane_tables;                   /* of each warp */
    const struct wsdbg_machine_read **reads; /* in order */
    size_t read_count;
};

/* The tables must be written. */
struct wsdbg_error *core_write_blocks(struct core_writer *writer, const struct wsdbg_machine_reads *reads);

#endif
