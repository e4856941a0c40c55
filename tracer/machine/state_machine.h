/* state_machine.h - a machine whose state is the file of a simulated device, for the files that read it: state_file.c
 * reads and checks the file, state_machine.c makes grids, warps and lanes of its rows.
 */
#ifndef WSDBG_MACHINE_STATE_MACHINE_H
#define WSDBG_MACHINE_STATE_MACHINE_H

#include "machine/machine.h"
#include "wsdbg/device_state.h"

struct state_machine {
    struct wsdbg_machine base;
    enum wsdbg_state_memory memory;
    unsigned char *file;
    uint64_t byte_count;
    struct wsdbg_state_header header;
    const struct wsdbg_state_module *modules;
    const struct wsdbg_state_grid *grids;
    const struct wsdbg_state_cta *ctas;
    const struct wsdbg_state_piece *pieces;
    const struct wsdbg_state_warp *warps;
    const struct wsdbg_state_part *parts;
    const struct wsdbg_state_found *found;
    const struct wsdbg_state_array *arrays;
    /* Rows of `found` by CTA, warp, lane and instruction; those of one of these in their order. */
    uint32_t *found_order;
};

/* Whether the file has a fault, or a grid that the choice wants. */
bool state_machine_has_wanted(const struct state_machine *machine, enum wsdbg_state_choice choice);
/* Makes contexts, modules, grids, warps and arrays of the rows that the choice wants; false: no memory. */
bool state_machine_fill(struct state_machine *machine, enum wsdbg_state_choice choice);

#endif
