/* live_machine.h - a machine (machine/machine.h) that is a running GPU, seen through an inspector.
 *
 * open → attach → (suspend → read → resume) as often as wanted → detach → close.  Attached: modules are there.
 * Suspended: every row is there and reads work; rows and images stay until the next attach or suspend.
 */
#ifndef WSDBG_EVIDENCE_LIVE_MACHINE_H
#define WSDBG_EVIDENCE_LIVE_MACHINE_H

#include "evidence/door.h"
#include "machine/machine.h"

/* Nothing is started yet; the door must outlive the machine. */
struct wsdbg_error *wsdbg_live_machine_open(const struct wsdbg_door *door, struct wsdbg_machine **out);
/* Starts the inspector, the first time, and attaches.  Each of these waits limit_ns at most; an error says what is in
 * the way or which step broke.  The program is left as it was: what that takes comes on top (3 s at most). */
struct wsdbg_error *wsdbg_live_machine_attach(struct wsdbg_machine *machine, uint64_t limit_ns);
/* stop_ns: the GPU runs again after that time, whatever happens to us. */
struct wsdbg_error *wsdbg_live_machine_suspend(struct wsdbg_machine *machine, uint64_t stop_ns, uint64_t limit_ns);
/* Reads devices, grids, CTAs and warps of the stopped GPU. */
struct wsdbg_error *wsdbg_live_machine_read_warps(struct wsdbg_machine *machine, uint64_t limit_ns);
struct wsdbg_error *wsdbg_live_machine_resume(struct wsdbg_machine *machine, uint64_t limit_ns);
/* Takes what an inspector needs to leave in good order, 3 s at most. */
struct wsdbg_error *wsdbg_live_machine_detach(struct wsdbg_machine *machine);
/* After a step whose error left no inspector: waits, limit_ns at most, until its guardian (guardian.h) has freed the
 * program.  The guardian does so in any case; no attach begins before. */
void wsdbg_live_machine_await_rescue(struct wsdbg_machine *machine, uint64_t limit_ns);

#endif
