/* spin_memory.h - the local memory of a lane that is followed: what it has stored there since, before what is there.
 *
 * Reads: what the caller knows of local memory.  Private to spin.h.
 */
#ifndef WSDBG_MACHINE_SPIN_MEMORY_H
#define WSDBG_MACHINE_SPIN_MEMORY_H

#include "sass/thread_step.h"

enum { SPIN_WORDS_MOST = 768 };

/* A word, aligned; of its value the bits in `bits` are known. */
struct spin_word {
    uint32_t address, value, bits;
    uint64_t depends; /* as of registers: spin_run.h */
};

struct spin_memory {
    uint32_t count;
    struct spin_word words[SPIN_WORDS_MOST];
};

/* The word at an address; NULL: there are too many. */
struct spin_word *spin_memory_word(struct spin_memory *memory, const struct wsdbg_thread_world *world,
                                   uint32_t address);
/* Whether all words are as they were when the other one was copied from this one. */
bool spin_memory_is_same(const struct spin_memory *memory, const struct spin_memory *other);
/* Forgets what differs from another one, of which the lane made another way: that depends on `why`.  False: there are
 * too many words. */
bool spin_memory_meet(struct spin_memory *memory, struct spin_memory *other, const struct wsdbg_thread_world *world,
                      uint64_t why);

#endif
