/* live_looks.h - two looks at the GPU's own state of one process, through the debug attach that its observer opens. */
#ifndef WSDBG_EVIDENCE_LIVE_LOOKS_H
#define WSDBG_EVIDENCE_LIVE_LOOKS_H

#include "evidence/attach_link.h"
#include "machine/interpret.h"

/* One process: its inspector and its decoded code, kept from time to time. */
struct wsdbg_live_process;

/* The debug attach becomes the process's, also when this fails. */
struct wsdbg_error *wsdbg_live_process_open(uint32_t process_id, const struct wsdbg_attach_link *attach,
                                            struct wsdbg_live_process **out);
/* Starts the inspector of a late look that may soon be wanted, and lets it load the driver's library.  Nothing is asked
 * of the process. */
void wsdbg_live_process_prepare(struct wsdbg_live_process *process);
/* Begins the attach for a late look that is due by deadline_ns.  The look must follow.  False: the process has not
 * reported locks of its GPUs, so no other attach may be begun beside it.  Two inspectors on one GPU do harm. */
bool wsdbg_live_process_begin(struct wsdbg_live_process *process, uint64_t deadline_ns);
/* Whether an attach was begun and its look has not followed yet. */
bool wsdbg_live_process_has_begun(const struct wsdbg_live_process *process);
/* Attaches unless an inspector stays, looks, lets the GPU run for a moment, looks again, begins to detach if it
 * attached; by deadline_ns (CLOCK_MONOTONIC).  An error says what was in the way; whatever it is, the program runs as
 * before.  The looks replace those of the last time. */
struct wsdbg_error *wsdbg_live_process_look(struct wsdbg_live_process *process, uint64_t deadline_ns);
/* The same where no inspector stays, also after wsdbg_live_process_begin().  Processes of which each has begun may be
 * looked at by a thread each. */
struct wsdbg_error *wsdbg_live_process_look_late(struct wsdbg_live_process *process, uint64_t deadline_ns);
/* Waits until the inspector of a late look has left.  The row of that look in `snapshot` gets the time that took; NULL
 * = there is no row. */
void wsdbg_live_process_await_leave(struct wsdbg_live_process *process, struct wsdbg_snapshot *snapshot);
/* Takes the first of the looks that the next wsdbg_live_process_look() compares, where an inspector stays. */
void wsdbg_live_process_look_ahead(struct wsdbg_live_process *process);
/* Whether such a look was taken a moment ago. */
bool wsdbg_live_process_is_ahead(const struct wsdbg_live_process *process);
/* Looks at what an exception has stopped, if one has; the inspector then leaves, and no look comes after this one. */
void wsdbg_live_process_look_at_fault(struct wsdbg_live_process *process);
bool wsdbg_live_process_saw_fault(const struct wsdbg_live_process *process);
/* Whether the process runs. */
bool wsdbg_live_process_is_alive(const struct wsdbg_live_process *process);
/* Whether the last looks saw any warp. */
bool wsdbg_live_process_saw_warps(const struct wsdbg_live_process *process);
/* Adds what they saw to a snapshot that has no grids of this process. */
struct wsdbg_error *wsdbg_live_process_add(const struct wsdbg_live_process *process, struct wsdbg_snapshot *snapshot);
/* From now on every look is also a file in the folder (look_keeper.h). */
struct wsdbg_error *wsdbg_live_process_keep(struct wsdbg_live_process *process, const char *folder);
/* The next of those files that was not asked for yet; the caller frees.  NULL = there is none. */
char *wsdbg_live_process_next_kept(struct wsdbg_live_process *process);
/* Whether there is one. */
bool wsdbg_live_process_has_kept(const struct wsdbg_live_process *process);
/* Sends its inspector away, and waits for nobody.  True when it is gone; asked again until then. */
bool wsdbg_live_process_dismiss(struct wsdbg_live_process *process);
/* Whether that is why an inspector was refused just now: one is attached to another program on the same GPU. */
bool wsdbg_live_process_is_taken(const struct wsdbg_live_process *process, const struct wsdbg_error *error);
/* The words by which the process lets an inspector in, and says what that costs it. */
const struct wsdbg_attach_row *wsdbg_live_process_attach_link(const struct wsdbg_live_process *process);
/* Its first launch need not wait: no inspector comes before it. */
void wsdbg_live_process_expect_nobody(struct wsdbg_live_process *process);
/* Tells the observer on how much loaded code (wsdbg_attach_row.code_bytes) the decision to attach rests. */
void wsdbg_live_process_knows_code(struct wsdbg_live_process *process, uint64_t code_bytes);
/* Its machine, for an inspector that stays (live_stay.h). */
struct wsdbg_machine *wsdbg_live_process_machine(struct wsdbg_live_process *process);
uint32_t wsdbg_live_process_id(const struct wsdbg_live_process *process);
/* NULL is fine. */
void wsdbg_live_process_close(struct wsdbg_live_process *process);

#endif
