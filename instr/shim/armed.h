/* armed.h - an armed process: nobody watches it until somebody runs `wsdbg attach` (wsdbg/armed.h). */
#ifndef WSDBG_SHIM_ARMED_H
#define WSDBG_SHIM_ARMED_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the environment.  True: the process is armed, and `session` holds the session's name. */
bool armed_begin(char *session, size_t bytes);
bool armed_is_on(void);
/* The process is armed in a folder that the user chose: all its files are there. */
bool armed_has_folder_of_its_own(void);
/* Creates the folders and removes the files of ended processes.  Call it before the segment is created.  False: `why`
 * tells the reason. */
bool armed_make_place(char *why);
/* Marks the segment as that of an armed process. */
void armed_sign_segment(void);
/* At the start of a program: tells wsdbg that the process is past its earlier program.  If none watches, removes what
 * that program left. */
void armed_leave_earlier(const char *session);
/* At exit(): removes the files of this process.  If a wsdbg watches, it removes them instead. */
void armed_leave(void);

/* The session's folder: that of armed processes, or WSDBG_SPOOL if wsdbg runs the process; NULL = there is none. */
const char *armed_or_session_folder(void);

/* True while the process is armed and nobody watches: the observer's threads have nothing to do. */
bool armed_is_unwatched(void);
/* Sleeps until somebody watches, and does not wake up before.  Lets the wsdbg that watches read the process's memory;
 * a second one may take over from one that was killed, so the threads call this again and again. */
void armed_await_watcher(void);
/* Wakes the threads that sleep in armed_await_watcher(), so that they can be stopped. */
void armed_wake(void);

#endif
