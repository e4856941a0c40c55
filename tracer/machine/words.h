/* words.h - the mbarrier words of one CTA, by their offset in shared memory; what a word says; and the spans of shared
 * memory in which a kernel's mbarriers lie.  Private to this room.
 */
#ifndef WSDBG_MACHINE_WORDS_H
#define WSDBG_MACHINE_WORDS_H

#include "machine/machine.h"
#include "sass/access.h"

enum { WSDBG_SPANS_MAX = 8, WSDBG_SPAN_BYTES_MAX = 512 };

struct wsdbg_span {
    uint32_t first, byte_count;
};

struct wsdbg_word {
    uint32_t offset;
    bool known;
    uint64_t value;
};

struct wsdbg_words {
    struct wsdbg_word *rows;
    size_t count, capacity;
};

/* Fills `out` with the spans that hold every mbarrier the accesses name for certain; the ones that do not fit are read
 * when a warp is seen to wait there. */
size_t wsdbg_words_spans(const struct wsdbg_access *accesses, size_t count, struct wsdbg_span out[WSDBG_SPANS_MAX]);
struct wsdbg_error *wsdbg_words_read(struct wsdbg_words *words, struct wsdbg_machine *machine, uint32_t cta,
                                     struct wsdbg_span span);
const struct wsdbg_word *wsdbg_words_find(const struct wsdbg_words *words, uint32_t offset);

/* An mbarrier's word of sm_90 (measured): phase 63, minus pending 62:43, lock 42, minus missing bytes 41:21, minus
 * expected 20:1.  An arrival that finds the count spent while bytes are missing, or makes more arrivals than the phase
 * still takes, sets the lock, and ends the kernel. */
struct wsdbg_mbarrier_word {
    bool is_valid; /* one that mbarrier.init and what follows can make */
    uint32_t phase, pending, expected;
    int32_t missing_bytes; /* negative: came before they were expected */
};
struct wsdbg_mbarrier_word wsdbg_mbarrier_word(uint64_t word);

#endif
