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
/* Stops the process, and again whenever somebody lets it go on; the thread ends with it. */
pthread_t helpers_keep_stopped(pid_t process);

#endif
