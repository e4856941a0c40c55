/* bytes_to_come.h - whether a thread that copies to a barrier has its copies for the phase under way ahead of it. */
#ifndef WSDBG_DIAGNOSE_BYTES_TO_COME_H
#define WSDBG_DIAGNOSE_BYTES_TO_COME_H

#include "diagnose/code_case.h"

/* Whether some thread that copies to the barrier, and never arrives on it, has not copied for the phase yet: it is
 * still to come, and what holds it up is what is wrong.  Only a replay that ends in the picture shows that. */
bool wsdbg_bytes_copier_is_to_come(struct wsdbg_case *c, const struct wsdbg_barrier_word *word);

#endif
