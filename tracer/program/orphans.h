/* orphans.h - the program's processes do not outlive a wsdbg that is killed. */
#ifndef WSDBG_PROGRAM_ORPHANS_H
#define WSDBG_PROGRAM_ORPHANS_H

/* Starts a process that waits for the end of this one, and then sends SIGTERM to every process whose environment has
 * `mark` (NAME=VALUE).  It is no child of this process.  Returns what _dismiss() takes; -1 = it could not be started.
 * Call it with one thread. */
int wsdbg_orphans_watch(const char *mark);

/* The program's processes may live on.  Does nothing with -1. */
void wsdbg_orphans_dismiss(int watch);

#endif
