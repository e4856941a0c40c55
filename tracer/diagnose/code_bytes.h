/* code_bytes.h - what the machine's state and the code tell of the bytes of one phase: how many were announced, who may
 * still bring some, where else some came, and how the same stage fares in the other CTAs of the cluster.
 *
 * Reads: barrier words, accesses, reaches.  Everything is a question; nothing is kept.
 */
#ifndef WSDBG_DIAGNOSE_CODE_BYTES_H
#define WSDBG_DIAGNOSE_CODE_BYTES_H

#include "diagnose/code_case.h"

/* Bytes that one phase announces: known where one arrival ends it and all instructions that may announce bytes on the
 * barrier announce the same constant. */
struct wsdbg_optional_u32 wsdbg_bytes_announced(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word);

/* Bytes that the copy of a phase brings: known where only one instruction may be on the barrier, of constant size. */
struct wsdbg_optional_u32 wsdbg_bytes_of_copy(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word);

/* Warps that announce bytes on the barrier, as far as the code tells: those that still can, else one that did. */
struct wsdbg_warp_set wsdbg_bytes_announcers(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word);

/* An mbarrier of the same CTA whose bytes are off the other way round: more came than were announced where `word` lacks
 * some; some are missing, and no arrival, where it has too many.  A stage of the same barrier first. */
bool wsdbg_bytes_elsewhere(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word,
                           struct wsdbg_barrier_word *out);

/* Warps that may still bring bytes to the phase and cannot be its announcers, or are in a CTA that has not come so far.
 */
enum wsdbg_bringers {
    WSDBG_BRINGERS_NONE,
    WSDBG_BRINGERS_WAIT_FOR_IT, /* each waits for this phase to end */
    WSDBG_BRINGERS_MAY
};
/* *first is the first of them. */
enum wsdbg_bringers wsdbg_bytes_bringers(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word,
                                         uint32_t *first);

/* Whether the phase, whose arrivals were all made, gets no more bytes and no more of them announced: whatever could
 * bring or announce some comes with an arrival, which the phase does not take.  All warps wait. */
bool wsdbg_bytes_are_final(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word);

/* Whether copies go to several CTAs, and a CTA of the cluster has not made its arrivals on the same stage in this
 * phase: it has not issued its copies either, so their bytes are missing here because it did not come. */
bool wsdbg_bytes_wait_for_rank(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word);

/* A CTA of the cluster in which the same stage got another sum of bytes in the same phase. */
struct wsdbg_peer {
    uint32_t barrier; /* its row there */
    int64_t bytes;    /* missing there; 0 = the phase has ended */
    uint32_t copy;    /* an instruction that brings bytes to other CTAs */
    bool by_itself;   /* no copy brings other bytes to one of the two than to the other: they issued different ones */
};
/* False where there is none, or no copy that may be on the barrier goes to other CTAs. */
bool wsdbg_bytes_peer(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word, struct wsdbg_peer *peer);

#endif
