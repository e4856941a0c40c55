/* attach_watchdog.h - the process beside an inspector that frees the traced program when the inspector cannot.
 *
 * What an inspector stopped and did not resume stands still after its death, also when the program detaches (seen on
 * an H200): only another inspector's attach, suspend, resume and detach lets it run.  wsdbg may be dead as well.  So
 * each inspector has an attach watchdog, which sleeps, holds no driver, and becomes that other inspector when it must.
 */
#ifndef WSDBG_EVIDENCE_ATTACH_WATCHDOG_H
#define WSDBG_EVIDENCE_ATTACH_WATCHDOG_H

#include "evidence/inspector.h"

#include <sys/types.h>

struct wsdbg_watched_attach {
    struct wsdbg_attach_link attach;
    const struct wsdbg_inspector_area *area; /* of the inspector, shared with it */
    int inspector;                           /* its pidfd */
    pid_t wsdbg;                             /* the attach watchdog's parent as long as wsdbg lives */
};

/* Returns when the inspector has ended and the program needs nothing (any more), or when the program has ended.  An
 * inspector that does not leave although wsdbg is gone or the program has shown it out is killed.  A
 * rescue is tried three times; a try that does not come to its end within 10 s ends the calling process (SIGALRM),
 * which should have nothing else to do. */
void wsdbg_attach_watchdog_run(const struct wsdbg_watched_attach *guarded);

#endif
