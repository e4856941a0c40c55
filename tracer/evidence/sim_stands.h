/* sim_stands.h - whether a simulated device has proven that what runs on it can never go on. */
#ifndef WSDBG_EVIDENCE_SIM_STANDS_H
#define WSDBG_EVIDENCE_SIM_STANDS_H

#include <stdbool.h>
#include <stdint.h>

/* `folder`: the session's, in which wsdbg/device_state.h says where the files are.  True when one of them, of any
 * process and context, is a proven deadlock and has been there for `least_ns` at now_ns (CLOCK_MONOTONIC).  What cannot
 * be read is no proof.  Reads a few bytes a file; any thread. */
bool wsdbg_sim_stands(const char *folder, uint64_t now_ns, uint64_t least_ns);
/* True when some simulated device of the session has executed instructions within the last `within_ns`. */
bool wsdbg_sim_works(const char *folder, uint64_t within_ns);

#endif
