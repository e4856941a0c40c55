/* protocol_evidence.h - the two kinds of evidence that a state of a protocol leaves. */
#ifndef TEST_DIAGNOSE_PROTOCOL_EVIDENCE_H
#define TEST_DIAGNOSE_PROTOCOL_EVIDENCE_H

#include "picture.h"
#include "protocol.h"

/* The record of `count` transitions from the start: the model device takes them too, and must reach the same state.
 * Warps of `busy` that could take a step compute instead.  The caller deinits. */
void protocol_ring(const struct protocol *p, const uint8_t *transitions, size_t count, uint32_t busy, uint32_t depth,
                   struct wsdbg_snapshot *out);

/* What a look at the machine shows of a moment; the code is straight, each step is an instruction of its own. */
void protocol_picture(const struct protocol *p, const struct moment *m, uint32_t busy, struct picture *out);

#endif
