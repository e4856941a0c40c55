/* core_machine.h - a machine whose state lies in a core dump: which rows of the file its rows are.
 *
 * Shared by core_read.c, which fills it, and core_blocks.c, which reads registers and memory for it.
 */
#ifndef WSDBG_MACHINE_CORE_MACHINE_H
#define WSDBG_MACHINE_CORE_MACHINE_H

#include "machine/core_file.h"
#include "machine/machine.h"

struct core_warp {
    struct core_place place;
    uint32_t lane_table;
    uint32_t lane_rows[WSDBG_MACHINE_LANES]; /* of valid lanes */
};

struct core_grid {
    struct core_place place;
    uint64_t parameters; /* offset in bank 0 */
};

struct core_machine {
    struct wsdbg_machine base;
    struct core_file *file;
    /* Beside the arrays of `base`, row by row. */
    struct core_place *devices, *contexts, *modules, *ctas;
    struct core_grid *grids;
    struct core_warp *warps;
};

extern const struct wsdbg_machine_ops core_machine_ops;

/* core_meta.c: what the dump leaves out, flags of core_format.h; known only where it says so. */
struct wsdbg_optional_u32 core_meta_skipped(struct core_file *file);
/* When a kept look was taken, CLOCK_MONOTONIC; 0 = a dump of the driver's, which does not say. */
uint64_t core_meta_time_ns(struct core_file *file);

#endif
