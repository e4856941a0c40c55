/* blame.h - of the processes of a program that hangs: whose own fault it is, and who only waits for another one. */
#ifndef WSDBG_DIAGNOSE_BLAME_H
#define WSDBG_DIAGNOSE_BLAME_H

#include "diagnose/finding.h"

enum wsdbg_blame {
    WSDBG_BLAME_UNKNOWN,
    WSDBG_BLAME_ORIGIN, /* a cause of its own is likely or proven */
    WSDBG_BLAME_VICTIM  /* there is an origin, and this process's kernel polls memory that it shares with another
                           process, or is that of a collective of NCCL */
};
/* "origin", "victim"; NULL for what is not known. */
const char *wsdbg_blame_name(enum wsdbg_blame blame);

/* Of the process of this index in snapshot.processes. */
enum wsdbg_blame wsdbg_blame_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                uint32_t process);

/* Whether it is likely or proven, and says more than that somebody else is waited for. */
bool wsdbg_finding_is_cause(const struct wsdbg_finding *finding);
/* Index of the best finding about the process with this number, WSDBG_NONE. */
uint32_t wsdbg_finding_of_process(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                  uint32_t process_id);
/* Whether the best finding about the process that is likely or proven is a cause of its own.  What is only possible may
 * go before it: see finding.h. */
bool wsdbg_process_has_cause(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                             uint32_t process_id);
/* The processes at fault that a victim waits for: "rank 1, rank 3".  "" if the process is no victim. */
void wsdbg_blame_waits_for(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                           uint32_t process, char *out, size_t bytes);

#endif
