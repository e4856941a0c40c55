/* mbarrier.h - mbarriers: the 64-bit word in shared memory, bit for bit as on hardware, and what is known besides it.
 *
 * Private to hopper/.  The word: phase 63, minus pending arrivals 62:43, bytes that came 41:21 (signed: negative are
 * still expected), minus expected arrivals 20:1.  Bits 42 and 0 are 0.
 */
#ifndef WSDBG_HOPPER_MBARRIER_H
#define WSDBG_HOPPER_MBARRIER_H

#include <string.h>

#include "hopper/warp.h"

enum { HOPPER_MBARRIER_COUNT_MOST = 0xfffff, HOPPER_MBARRIER_BYTES_MOST = 0xfffff };

enum hopper_mbarrier_operation {
    HOPPER_MBARRIER_ARRIVE,
    HOPPER_MBARRIER_DROP,   /* arrive, and in no later phase */
    HOPPER_MBARRIER_EXPECT, /* bytes */
    HOPPER_MBARRIER_COMPLETE
};
enum hopper_mbarrier_effect {
    HOPPER_MBARRIER_SAME_PHASE,
    HOPPER_MBARRIER_NEXT_PHASE,
    HOPPER_MBARRIER_SPENT,    /* more arrivals than the phase still expects: nothing was done */
    HOPPER_MBARRIER_TOO_BYTES /* the byte count left its 21 bits: nothing was done */
};

/* ---- the word ---- */

/* What mbarrier.init writes; a count that is none gives what hardware's arithmetic makes of it. */
uint64_t hopper_mbarrier_initial(uint32_t count);
enum hopper_mbarrier_effect hopper_mbarrier_step(uint64_t *word, enum hopper_mbarrier_operation operation,
                                                 uint32_t amount);
uint32_t hopper_mbarrier_pending(uint64_t word);
uint32_t hopper_mbarrier_expected(uint64_t word);

static inline uint32_t hopper_mbarrier_phase(uint64_t word)
{
    return (uint32_t)(word >> 63);
}

/* ---- a CTA's mbarriers ---- */

/* Who does it, for reports: warp NULL = a copy engine. */
struct hopper_actor {
    const struct hopper_warp *warp;
    uint32_t instruction;
};

void hopper_mbarrier_init(struct hopper_cta *cta, uint32_t offset, uint32_t count);
void hopper_mbarrier_invalidate(struct hopper_cta *cta, uint32_t offset);
/* One more arrival is pending in this phase (cp.async.mbarrier.arrive without .noinc). */
void hopper_mbarrier_expect_arrival(struct hopper_cta *cta, uint32_t offset);
/* `times` operations, one after the other, on the word at `offset`, which must be inside of the CTA's shared memory;
 * *before (may be NULL) as it was before the last one. */
enum hopper_mbarrier_effect hopper_mbarrier_apply(struct hopper_cta *cta, uint32_t offset,
                                                  enum hopper_mbarrier_operation operation, uint32_t amount,
                                                  uint32_t times, struct hopper_actor actor, uint64_t *before);
/* Whether what the split waits for is still so. */
static inline bool hopper_mbarrier_waits(const struct hopper_warp *warp, const struct hopper_wait *wait)
{
    uint64_t word;
    memcpy(&word, warp->cta->cluster->ctas[wait->cta_rank]->shared + wait->offset, sizeof word);
    return hopper_mbarrier_phase(word) == wait->parity;
}
/* True when the phase of this parity is over. */
bool hopper_mbarrier_is_over(struct hopper_cta *cta, uint32_t offset, uint32_t parity, struct hopper_actor actor);
/* The first of the CTA's barriers behind `offset`, and whether mbarrier.init made it; 0 = there is none. */
uint32_t hopper_mbarrier_next(const struct hopper_cta *cta, uint32_t offset, bool *is_initialised);
/* Whether mbarrier.init made a barrier there. */
bool hopper_mbarrier_is_initialised(const struct hopper_cta *cta, uint32_t offset);
/* Phases of the barrier that completed since it was initialised. */
uint32_t hopper_mbarrier_phases(const struct hopper_cta *cta, uint32_t offset);
void hopper_mbarriers_free(struct hopper_cta *cta);
/* An arrival that the phase does not take locks the word (bit 42), as on hardware. */
void hopper_mbarrier_lock(struct hopper_cta *cta, uint32_t offset);
/* In words, for a fault. */
const char *hopper_mbarrier_effect_text(enum hopper_mbarrier_effect effect);

#endif
