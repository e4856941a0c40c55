/* machine.c - lifetime and numbering of a machine's state; see machine.h. */
#include "machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTES_MAX = 256, EXCEPTION_MOST = 0xffff }; /* the driver's have two digits */

void wsdbg_machine_deinit(struct wsdbg_machine *machine)
{
    free(machine->devices);
    free(machine->contexts);
    free(machine->modules);
    free(machine->grids);
    free(machine->ctas);
    free(machine->warps);
    free(machine->waits);
    free(machine->arrays);
    free(machine->notes);
    *machine = (struct wsdbg_machine){.ops = machine->ops, .source = machine->source};
}

void wsdbg_machine_note(struct wsdbg_machine *machine, const char *format, ...)
{
    if (machine->note_count >= NOTES_MAX)
        return;
    void *larger = reallocarray(machine->notes, machine->note_count + 1, sizeof *machine->notes);
    if (!larger)
        return;
    machine->notes = larger;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(machine->notes[machine->note_count++], sizeof *machine->notes, format, arguments);
    va_end(arguments);
}

uint32_t wsdbg_machine_warp_index(const struct wsdbg_machine *machine, const struct wsdbg_machine_warp *warp)
{
    if (warp->cta >= machine->cta_count || machine->ctas[warp->cta].grid >= machine->grid_count || !warp->valid_lanes)
        return WSDBG_NONE;
    const struct wsdbg_machine_grid *grid = &machine->grids[machine->ctas[warp->cta].grid];
    const struct wsdbg_machine_lane *lane = &warp->lanes[__builtin_ctz(warp->valid_lanes)];
    const uint64_t row = (uint64_t)lane->thread[2] * grid->block[1] + lane->thread[1];
    const uint64_t linear = row * grid->block[0] + lane->thread[0];
    return linear / WSDBG_MACHINE_LANES < 64 ? (uint32_t)(linear / WSDBG_MACHINE_LANES) : WSDBG_NONE;
}

uint32_t wsdbg_machine_exception(const struct wsdbg_machine_warp *warp, uint32_t lane)
{
    const uint32_t number = warp->valid_lanes >> lane & 1 ? warp->lanes[lane].exception : 0;
    return number <= EXCEPTION_MOST ? number : 0;
}

bool wsdbg_machine_has_exception(const struct wsdbg_machine *machine)
{
    for (size_t i = 0; i < machine->warp_count; i++)
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            if (wsdbg_machine_exception(&machine->warps[i], lane))
                return true;
    return false;
}
