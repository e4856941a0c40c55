/* segment.h - the shared segment (wsdbg/session.h): made once, grown up to its limit. */
#ifndef WSDBG_SHIM_SEGMENT_H
#define WSDBG_SHIM_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"

/* The segment, NULL before it is created. */
extern struct wsdbg_segment *_Atomic shim_segment;
/* Creates the fixed part.  False: `why` (WSDBG_TEXT_BYTES) says what went wrong. */
bool segment_create(const char *session, uint64_t limit_bytes, char *why);
/* Appends `bytes` of zeroed, page-aligned memory.  Caller holds the lock. */
bool segment_grow(uint64_t bytes, uint64_t *offset, void **memory, char *why);
/* The same beyond the limit, which rises by as much.  Caller holds the lock. */
bool segment_grow_beyond(uint64_t bytes, uint64_t *offset, void **memory, char *why);
/* Bytes that segment_grow may still add. */
uint64_t segment_room_bytes(void);

#endif
