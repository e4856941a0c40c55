/* armed.h - processes that were armed before (wsdbg/armed.h): where they keep their tables, which there are, and who is
 * attached to one.
 *
 * Reads: /proc, the folders of armed processes.  Writes: locks; removes what processes left that have ended.
 */
#ifndef WSDBG_PROGRAM_ARMED_H
#define WSDBG_PROGRAM_ARMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "wsdbg/armed.h"

/* A folder of armed processes, as seen from here. */
struct wsdbg_armed_place {
    char root[32];                              /* "/proc/4711/root" where that is another one than ours, "" = ours */
    char folder[WSDBG_ARMED_FOLDER_BYTES + 32]; /* root included */
    char session[64];
};

/* The place of a folder that was given to `wsdbg arm`; NULL = the usual one. */
struct wsdbg_error *wsdbg_armed_place(const char *folder, struct wsdbg_armed_place *out);
/* The place in which that process would lie.  An error says in a line why it cannot be attached to: there is no such
 * process, it is another user's, it lives in another PID namespace, a wsdbg runs it.  *is_armed: its environment, as it
 * began, arms it. */
struct wsdbg_error *wsdbg_armed_place_of(pid_t process, struct wsdbg_armed_place *out, bool *is_armed);

/* The processes that live and have tables there, in order.  The caller frees the list. */
struct wsdbg_error *wsdbg_armed_list(const struct wsdbg_armed_place *place, uint32_t **out, size_t *count);
/* How long it has run; 0 = not known. */
uint64_t wsdbg_armed_age_ns(pid_t process);
/* Whether `process` is `above` or was started below it. */
bool wsdbg_armed_is_below(pid_t process, pid_t above);
/* Removes what processes left there that have ended. */
void wsdbg_armed_clean(const struct wsdbg_armed_place *place);

/* The same for one process, if it has ended. */
void wsdbg_armed_clean_after(const struct wsdbg_armed_place *place, uint32_t process);
/* Why the observer in an armed process does nothing; "" = it does not say. */
void wsdbg_armed_reason(const struct wsdbg_armed_place *place, uint32_t process, char *out, size_t bytes);

/* Takes the process for this wsdbg until it closes *lock or ends, however it ends.  BUSY: another one has it. */
struct wsdbg_error *wsdbg_armed_lock(const struct wsdbg_armed_place *place, uint32_t process, int *lock);
/* Who has it; 0 = nobody, -1 = somebody of another PID namespace. */
pid_t wsdbg_armed_locked_by(const struct wsdbg_armed_place *place, uint32_t process);

#endif
