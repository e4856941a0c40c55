/* log_ring.h - the newest lines of a session's log, in bounded memory.  Reads and writes nothing else. */
#ifndef VIEWER_LOG_RING_H
#define VIEWER_LOG_RING_H

#include "store/load.h"

struct viewer_log_ring;

/* Keeps at most `lines` lines and `bytes` bytes of text; the oldest go first.  NULL = no memory. */
struct viewer_log_ring *viewer_log_ring_create(size_t lines, size_t bytes);
/* A line that cannot be kept for want of memory counts as dropped. */
void viewer_log_ring_add(struct viewer_log_ring *ring, uint64_t time_ns, enum wsdbg_log_origin origin,
                         const char *text);
size_t viewer_log_ring_count(const struct viewer_log_ring *ring);
/* Line `number`, 0 = the oldest kept; false when there is none.  The text stays valid until the next add. */
bool viewer_log_ring_line(const struct viewer_log_ring *ring, size_t number, struct wsdbg_log_line *out);
/* Takes the oldest line away. */
void viewer_log_ring_drop(struct viewer_log_ring *ring);
/* Lines that had to go before they were taken, ever. */
uint64_t viewer_log_ring_lost(const struct viewer_log_ring *ring);
/* NULL is fine. */
void viewer_log_ring_destroy(struct viewer_log_ring *ring);

#endif
