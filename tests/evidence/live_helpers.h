/* live_helpers.h - the processes beside a program of a rig: its inspector and that one's guardian.  The test process
 * must be a subreaper (PR_SET_CHILD_SUBREAPER), so that orphans come to it. */
#ifndef WSDBG_TESTS_LIVE_HELPERS_H
#define WSDBG_TESTS_LIVE_HELPERS_H

#include <pthread.h>

#include "evidence/live_rig.h"

/* So many processes are below this one beside the program, within 15 s. */
void helpers_assert(const struct rig *rig, int wanted);
pid_t helpers_inspector(const struct rig *rig);
/* The guardian of the only inspector there is. */
pid_t helpers_guardian(const struct rig *rig);
/* Keeps the process stopped: stops it again whenever somebody continues it.  The thread ends when the process does. */
pthread_t helpers_keep_stopped(pid_t process);

#endif
