/* ring_source.h - what the sources that are the ring's and more need of it. */
#ifndef WSDBG_EVIDENCE_RING_SOURCE_H
#define WSDBG_EVIDENCE_RING_SOURCE_H

#include "evidence/evidence.h"
#include "evidence/segment_map.h"

/* The segment of a process that the newest look saw, NULL if it cannot be read.  `source` is from
 * wsdbg_evidence_open_ring; the map stays valid until its next look. */
struct wsdbg_segment_map *wsdbg_ring_map(struct wsdbg_evidence *source, uint32_t process_id);

#endif
