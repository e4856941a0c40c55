/* live_machine.h - a machine (machine/machine.h) that is a running GPU, seen through an inspector.
 *
 * open → attach → (suspend → read → resume) as often as wanted → detach → close.  Attached: modules are there.
 * Suspended: every row is there and reads work; rows and images stay until the next attach or suspend.
 */
#ifndef WSDBG_EVIDENCE_LIVE_MACHINE_H
#define WSDBG_EVIDENCE_LIVE_MACHINE_H

#include "evidence/attach_link.h"
#include "machine/machine.h"

/* Nothing is started yet; the debug attach must outlive the machine. */
struct wsdbg_error *wsdbg_live_machine_open(const struct wsdbg_attach_link *attach, struct wsdbg_machine **out);
/* Starts the inspector, the first time, and attaches.  Each of these waits limit_ns at most; an error says what is in
 * the way or which step broke.  The program is left as it was: what that takes comes on top (3 s at most). */
struct wsdbg_error *wsdbg_live_machine_attach(struct wsdbg_machine *machine, uint64_t limit_ns);
/* Begins to attach for longer, while the GPU has no work of the program: an attach that holds no work back, after which
 * the program's calls go on between looks.  It takes 0.1 s or more; the caller goes on and asks. */
struct wsdbg_error *wsdbg_live_machine_stay(struct wsdbg_machine *machine, uint64_t limit_ns);
/* Starts the inspector, the first time, and lets it load the driver's library; waits for nobody. */
struct wsdbg_error *wsdbg_live_machine_prepare(struct wsdbg_machine *machine);
/* Begins an attach and does not wait for it; wsdbg_live_machine_attach() does.  So several attaches run at once. */
struct wsdbg_error *wsdbg_live_machine_begin_attach(struct wsdbg_machine *machine, uint64_t limit_ns);
/* Whether such an attach was begun and wsdbg_live_machine_attach() was not called yet. */
bool wsdbg_live_machine_is_attaching(const struct wsdbg_machine *machine);
/* Whether the program was asked to let the inspector in, or what was begun has ended. */
bool wsdbg_live_machine_has_asked(const struct wsdbg_machine *machine);
/* Waits for the end of what was begun, and returns its error. */
struct wsdbg_error *wsdbg_live_machine_finish(struct wsdbg_machine *machine);
/* Begins to leave again. */
struct wsdbg_error *wsdbg_live_machine_leave(struct wsdbg_machine *machine);
/* Sends the inspector away for good, and waits for nobody.  True when it is gone; asked again until then. */
bool wsdbg_live_machine_dismiss(struct wsdbg_machine *machine);
/* True once what was begun has ended; *error says how. */
bool wsdbg_live_machine_collect(struct wsdbg_machine *machine, struct wsdbg_error **error);
/* Whether something was begun and not collected. */
bool wsdbg_live_machine_is_busy(const struct wsdbg_machine *machine);
/* Whether an exception has stopped the GPU: one look is due, after which the inspector leaves. */
bool wsdbg_live_machine_has_fault(const struct wsdbg_machine *machine);
/* A sentence about an exception that no warp shows any more, after its look was read; "" = there is none. */
void wsdbg_live_machine_fault_sentence(const struct wsdbg_machine *machine, char *sentence, size_t size);
/* Whether the program runs. */
bool wsdbg_live_machine_is_alive(const struct wsdbg_machine *machine);
/* Whether the inspector is attached so now. */
bool wsdbg_live_machine_stays(const struct wsdbg_machine *machine);
/* stop_ns: the GPU runs again after that time, whatever happens to us. */
struct wsdbg_error *wsdbg_live_machine_suspend(struct wsdbg_machine *machine, uint64_t stop_ns, uint64_t limit_ns);
/* Reads devices, grids, CTAs and warps of the stopped GPU. */
struct wsdbg_error *wsdbg_live_machine_read_warps(struct wsdbg_machine *machine, uint64_t limit_ns);
struct wsdbg_error *wsdbg_live_machine_resume(struct wsdbg_machine *machine, uint64_t limit_ns);
/* Takes what an inspector needs to leave in good order, 3 s at most. */
struct wsdbg_error *wsdbg_live_machine_detach(struct wsdbg_machine *machine);
/* After a step whose error left no inspector: waits, limit_ns at most, until its attach watchdog (attach_watchdog.h)
 * has freed the program.  The attach watchdog does so in any case; no attach begins before. */
void wsdbg_live_machine_await_rescue(struct wsdbg_machine *machine, uint64_t limit_ns);

#endif
