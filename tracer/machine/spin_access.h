/* spin_access.h - what one instruction does to the registers and the local memory of a lane that is followed, and what
 * it looks at.  Private to spin.h.
 */
#ifndef WSDBG_MACHINE_SPIN_ACCESS_H
#define WSDBG_MACHINE_SPIN_ACCESS_H

#include "machine/spin_run.h"

/* False: it does something that others may see, or what it does is not known. */
bool spin_execute(struct spin_run *run, const struct wsdbg_instruction *instruction);
/* What the instruction at run->at looks at, but for the words; false: it does not look, or its address is not known. */
bool spin_look_of(const struct spin_run *run, const struct wsdbg_instruction *instruction, struct spin_look *out);
/* What its sources and its guard depend on. */
uint64_t spin_sources_depend(const struct spin_run *run, const struct wsdbg_instruction *instruction);

#endif
