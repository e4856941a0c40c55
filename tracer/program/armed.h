/* armed.h - finds armed processes (wsdbg/armed.h), their tables, and the wsdbg that is attached to each.
 *
 * Reads: /proc, the folders of armed processes.  Writes: lock files.  Removes files of ended processes.
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
    char root[32];                              /* "/proc/4711/root" if it differs from ours, else "" */
    char folder[WSDBG_ARMED_FOLDER_BYTES + 32]; /* root included */
    char session[64];
};

/* The place of a folder that was given to `wsdbg arm`; NULL = the usual one. */
struct wsdbg_error *wsdbg_armed_place(const char *folder, struct wsdbg_armed_place *out);
/* The place of that process's tables.  The error gives the reason in one line if wsdbg cannot attach: there is no such
 * process, it belongs to another user or another PID namespace, or a wsdbg runs it.  *is_armed: the environment with
 * which it started arms it. */
struct wsdbg_error *wsdbg_armed_place_of(pid_t process, struct wsdbg_armed_place *out, bool *is_armed);

/* The living processes with tables there, by number.  The caller frees the list. */
struct wsdbg_error *wsdbg_armed_list(const struct wsdbg_armed_place *place, uint32_t **out, size_t *count);
/* How long it has run; 0 = not known. */
uint64_t wsdbg_armed_age_ns(pid_t process);
/* Whether `process` is `above` or was started below it. */
bool wsdbg_armed_is_below(pid_t process, pid_t above);
/* Removes the files of ended processes to which no other wsdbg is attached.  A wsdbg that holds a lock there loses it,
 * because the kernel releases a record lock when its holder closes any descriptor of the file. */
void wsdbg_armed_clean(const struct wsdbg_armed_place *place);
/* The same for one process, if it has ended. */
void wsdbg_armed_clean_after(const struct wsdbg_armed_place *place, uint32_t process);
/* The reason why the observer of an armed process is off; "" = none is given. */
void wsdbg_armed_reason(const struct wsdbg_armed_place *place, uint32_t process, char *out, size_t bytes);

/* Locks the process for this wsdbg, until it closes *lock or ends.  BUSY: another wsdbg holds the lock. */
struct wsdbg_error *wsdbg_armed_lock(const struct wsdbg_armed_place *place, uint32_t process, int *lock);
/* The wsdbg that holds the lock; 0 = none, -1 = one in another PID namespace. */
pid_t wsdbg_armed_locked_by(const struct wsdbg_armed_place *place, uint32_t process);

#endif
