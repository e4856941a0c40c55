/* live_helpers.h - a program of a rig with an inspector that stays, and the processes beside it: that inspector and its
 * attach watchdog.  The test process must be a subreaper (PR_SET_CHILD_SUBREAPER), so that orphans come to it. */
#ifndef WSDBG_TESTS_LIVE_HELPERS_H
#define WSDBG_TESTS_LIVE_HELPERS_H

#include <pthread.h>

#include "evidence/live_rig.h"

/* A program beside which an inspector stays. */
struct rig helpers_rig_with_guest(void);
/* The program does all that it is told to. */
void helpers_assert_obeys(struct rig *rig, const char *orders);
/* The program ends well, and nobody is left beside it. */
void helpers_finish(struct rig *rig);
/* What the last of the program's calls of that name returned. */
int helpers_last_result(const struct rig *rig, const char *call);

/* Processes below this one beside the program. */
int helpers_count(const struct rig *rig);
/* So many processes are below this one beside the program, within 15 s. */
void helpers_assert(const struct rig *rig, int wanted);
pid_t helpers_inspector(const struct rig *rig);
/* The attach watchdog of the only inspector there is. */
pid_t helpers_attach_watchdog(const struct rig *rig);
/* Keeps the process stopped: stops it again whenever somebody continues it.  The thread ends when the process does. */
pthread_t helpers_keep_stopped(pid_t process);

#endif
