/* live_rows.h - an inspector's area as rows of a machine. */
#ifndef WSDBG_EVIDENCE_LIVE_ROWS_H
#define WSDBG_EVIDENCE_LIVE_ROWS_H

#include "evidence/inspector.h"
#include "machine/machine.h"

/* Where a row of machine.warps stands on the GPU, for reads. */
struct wsdbg_live_place {
    uint32_t device, sm, slot;
};

/* Contexts and modules; images point into the area. */
struct wsdbg_error *wsdbg_live_module_rows(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine);
/* Everything; *places (malloc, the caller frees) has one entry for each row of machine->warps. */
struct wsdbg_error *wsdbg_live_rows(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine,
                                    struct wsdbg_live_place **places);

#endif
