/* call_sites.h - where in the program the calls of NCCL were made that findings are about. */
#ifndef WSDBG_DIAGNOSE_CALL_SITES_H
#define WSDBG_DIAGNOSE_CALL_SITES_H

#include "diagnose/finding.h"

/* Call it after the launch sites were read.  Adds the line of each call to the evidence that is about it, and to the
 * finding's sentence. */
void wsdbg_place_calls(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis);

#endif
