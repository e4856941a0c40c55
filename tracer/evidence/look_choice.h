/* look_choice.h - which processes are looked at through a debug attach that stops or ends their work, and what stood in
 * the way. */
#ifndef WSDBG_EVIDENCE_LOOK_CHOICE_H
#define WSDBG_EVIDENCE_LOOK_CHOICE_H

#include "evidence/evidence.h"

/* Whether a process has, or may have, work that is not done, and this use of the debug attach asks for a look at it.
 * With ends_work (a dump ends it) a launch that may just be running is no reason. */
bool wsdbg_look_is_wanted(const struct wsdbg_snapshot *snapshot, uint32_t process_id, enum wsdbg_attach_use use,
                          bool ends_work);
/* Whether an earlier context is of the same process as this one. */
bool wsdbg_look_came_before(const struct wsdbg_snapshot *snapshot, size_t context);
/* A sentence about what was not seen; out of memory loses it. */
void wsdbg_look_add_note(struct wsdbg_snapshot *snapshot, const char *text);
/* Why a process could not be looked at, as a note; out of memory loses it. */
void wsdbg_look_add_trouble(struct wsdbg_snapshot *snapshot, uint32_t process_id, const char *text);

/* For a look that saw no warp of the process: why that may be. */
void wsdbg_look_note_no_warps(struct wsdbg_snapshot *snapshot, uint32_t process_id);

#endif
