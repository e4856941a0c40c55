/* fault_place.h - where in the code an exception happened of which no warp is left to show it. */
#ifndef WSDBG_EVIDENCE_FAULT_PLACE_H
#define WSDBG_EVIDENCE_FAULT_PLACE_H

#include "evidence/inspector.h"
#include "machine/machine.h"

/* One sentence about the area's fault, by the code images of the machine.  "" = the area has none. */
void wsdbg_fault_place_sentence(const struct wsdbg_inspector_area *area, const struct wsdbg_machine *machine,
                                char *sentence, size_t size);

#endif
