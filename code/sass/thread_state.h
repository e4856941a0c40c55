/* thread_state.h - what is known of one thread's registers, and what the thread can ask of its launch. */
#ifndef WSDBG_SASS_THREAD_STATE_H
#define WSDBG_SASS_THREAD_STATE_H

#include "sass/definitions.h"

/* Registers and predicates by their numbers in definitions.h; a predicate is 0 or 1.  Of a PTX register of 64 bits
 * `value` is the low half.  Of a register that is not known some bits may be: those of `bits`, others of `value` are 0.
 */
struct wsdbg_thread_state {
    uint32_t value[WSDBG_REGISTER_COUNT], bits[WSDBG_REGISTER_COUNT], high[WSDBG_REGISTER_COUNT];
    bool known[WSDBG_REGISTER_COUNT], high_known[WSDBG_REGISTER_COUNT];
};

/* NOT_YET: the thread has executed it just so often before. */
enum wsdbg_thread_found { WSDBG_THREAD_FOUND_UNKNOWN, WSDBG_THREAD_FOUND, WSDBG_THREAD_FOUND_NOT_YET };

/* What the thread can ask of its launch; each returns false where it is not known.  Special registers have the numbers
 * of WSDBG_OPERAND_SPECIAL. */
struct wsdbg_thread_world {
    void *context;
    bool (*constant)(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value);
    bool (*special)(void *context, uint32_t number, uint32_t *value);
    /* 32 bits of the shared memory of the thread's CTA, as they are now.  Only walks ask (walk.h); NULL = not known. */
    bool (*shared)(void *context, uint32_t address, uint32_t *value);
    /* 32 bits of global memory, as they are now; is_generic: the address may also be one of shared or local memory.
     * Only walks ask; NULL = not known. */
    bool (*global)(void *context, uint64_t address, bool is_generic, uint32_t *value);
    /* 32 bits of the thread's local memory, as they are now.  Only lanes that are there ask; NULL = not known. */
    bool (*local)(void *context, uint32_t address, uint32_t *value);
    /* The low 32 bits of what an atomic on global memory returned to the thread, which had executed it so many `times`
     * before.  Only walks ask; NULL = not known. */
    enum wsdbg_thread_found (*found)(void *context, uint32_t instruction, uint32_t times, uint32_t *value);
    uint64_t shared_window; /* the generic address at which shared memory begins; 0 = not known */
    /* If CTAs take turns at something: how many there are, and when the thread's own one is on.  0 of 0: not known.  A
     * cluster counts as one.  Only walks ask. */
    uint32_t taker, takers;
    /* The instruction at which the thread stands now, plus 1; 0 = it has left the kernel, or that is not known.  Only
     * walks ask. */
    uint32_t seen_at;
};

enum wsdbg_truth { WSDBG_TRUTH_NO, WSDBG_TRUTH_YES, WSDBG_TRUTH_UNKNOWN };

/* Forgets what differs from another state; true where that was anything. */
bool wsdbg_thread_meet(struct wsdbg_thread_state *state, const struct wsdbg_thread_state *other);
/* Forgets a register. */
void wsdbg_thread_forget(struct wsdbg_thread_state *state, unsigned reg);
/* The bits of a register that are known; and sets them, the low 32 of a register of PTX. */
uint32_t wsdbg_thread_known_bits(const struct wsdbg_thread_state *state, unsigned reg);
void wsdbg_thread_set_bits(struct wsdbg_thread_state *state, unsigned reg, uint32_t value, uint32_t mask);

#endif
