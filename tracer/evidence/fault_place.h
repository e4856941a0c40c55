/* fault_place.h - where in the code an exception happened of which no warp is left to show it. */
#ifndef WSDBG_EVIDENCE_FAULT_PLACE_H
#define WSDBG_EVIDENCE_FAULT_PLACE_H

#include "evidence/inspector.h"
#include "machine/machine.h"

/* One sentence about the fault in the area.  The machine's code images give the kernel and the line.  "" = there is no
 * fault. */
void wsdbg_fault_place_sentence(const struct wsdbg_inspector_area *area, const struct wsdbg_machine *machine,
                                char *sentence, size_t size);

#endif
