/* armed.h - a process that is armed: nobody watches it until a `wsdbg attach` comes (wsdbg/armed.h). */
#ifndef WSDBG_SHIM_ARMED_H
#define WSDBG_SHIM_ARMED_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the environment once: true where the process is to be armed; `session` then gets the session's name. */
bool armed_begin(char *session, size_t bytes);
bool armed_is_on(void);
/* It is armed, and all that it has lies in a folder that somebody chose. */
bool armed_has_folder_of_its_own(void);
/* Makes the folders before the segment, and removes what ended processes left there, also one of the same number.
 * False: `why` says what is in the way. */
bool armed_make_place(char *why);
/* Says in the segment that it is an armed process's. */
void armed_sign_segment(void);
/* At exit(): removes what belongs to this process, unless somebody watches, who does so then. */
void armed_leave(void);

/* The session's folder, of an armed process or of one that wsdbg runs; NULL = there is none. */
const char *armed_or_session_folder(void);

/* True while the process is armed and nobody watches: threads of the observer have nothing to do. */
bool armed_is_unwatched(void);
/* Sleeps until somebody watches, without a single wake-up before. */
void armed_await_watcher(void);
/* Wakes threads that sleep there, so that they can be parked. */
void armed_wake(void);

#endif
