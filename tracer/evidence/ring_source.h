/* ring_source.h - the parts of the ring's evidence on which other sources build. */
#ifndef WSDBG_EVIDENCE_RING_SOURCE_H
#define WSDBG_EVIDENCE_RING_SOURCE_H

#include "evidence/evidence.h"
#include "evidence/record.h"
#include "evidence/segment_map.h"

/* The segment of a process that the newest look saw, NULL if it cannot be read.  `source` is from
 * wsdbg_evidence_open_ring; the map stays valid until its next look. */
struct wsdbg_segment_map *wsdbg_ring_map(struct wsdbg_evidence *source, uint32_t process_id);
/* Appends the file of a look to the recording that record() began, behind its newest frame, with that one's time
 * now_ns. A look that is not there any more is left out. */
struct wsdbg_error *wsdbg_ring_record_look(struct wsdbg_evidence *source, uint64_t now_ns, uint32_t process_id,
                                           enum wsdbg_record_look_kind kind, const char *path);

#endif
