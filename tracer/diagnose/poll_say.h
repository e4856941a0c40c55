/* poll_say.h - how what a warp polls is called in sentences and evidence rows, from the machine's state and the record
 * alike.
 */
#ifndef WSDBG_DIAGNOSE_POLL_SAY_H
#define WSDBG_DIAGNOSE_POLL_SAY_H

#include "diagnose/code_say.h"
#include "diagnose/poll_writers.h"

/* Where a warp polls: " at gemm.cu:132", or "". */
struct wsdbg_phrase wsdbg_say_at_poll(const struct wsdbg_case *c, uint32_t warp);
/* "4 bytes at 0x7f… (0x0 there)", "4 bytes (0x0 there) at byte 68 of a 4,096 B cudaMalloc allocation (cuMemAlloc #12)",
 * "word 2 of global memory", as far as known. */
struct wsdbg_phrase wsdbg_say_polled(const struct wsdbg_case *c, uint32_t warp);

/* Evidence rows: where the memory that the sentence names lies; why the host does not write it, NULL = no row. */
void wsdbg_tell_polled_memory(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp);
void wsdbg_tell_host(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_host_thread *thread);

#endif
