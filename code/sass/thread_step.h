/* thread_step.h - what one instruction makes of one thread's registers, as far as these are known.
 *
 * Reads: an instruction, constants, special registers, and global memory if the caller knows it.  Writes: the thread's
 * registers.  A register whose new value it cannot calculate is unknown afterwards; values of other lanes, for example.
 */
#ifndef WSDBG_SASS_THREAD_STEP_H
#define WSDBG_SASS_THREAD_STEP_H

#include "sass/definitions.h"

/* Registers and predicates by their numbers in definitions.h; a predicate is 0 or 1.  Of a PTX register of 64 bits
 * `value` is the low half.  Of a register that is not known some bits may be: those of `bits`, others of `value` are 0.
 */
struct wsdbg_thread_state {
    uint32_t value[WSDBG_REGISTER_COUNT], bits[WSDBG_REGISTER_COUNT], high[WSDBG_REGISTER_COUNT];
    bool known[WSDBG_REGISTER_COUNT], high_known[WSDBG_REGISTER_COUNT];
};

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
    uint64_t shared_window; /* the generic address at which shared memory begins; 0 = not known */
};

enum wsdbg_truth { WSDBG_TRUTH_NO, WSDBG_TRUTH_YES, WSDBG_TRUTH_UNKNOWN };

/* Whether the thread executes an instruction that it reaches. */
enum wsdbg_truth wsdbg_thread_executes(const struct wsdbg_thread_state *state,
                                       const struct wsdbg_instruction *instruction);
/* A predicate as it is read; UNKNOWN also for other operands. */
enum wsdbg_truth wsdbg_thread_predicate(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand);
/* Forgets what differs from another state; true where that was anything. */
bool wsdbg_thread_meet(struct wsdbg_thread_state *state, const struct wsdbg_thread_state *other);
/* Forgets a register. */
void wsdbg_thread_forget(struct wsdbg_thread_state *state, unsigned reg);
/* The bits of a register that are known; and sets them, the low 32 of a register of PTX. */
uint32_t wsdbg_thread_known_bits(const struct wsdbg_thread_state *state, unsigned reg);
void wsdbg_thread_set_bits(struct wsdbg_thread_state *state, unsigned reg, uint32_t value, uint32_t mask);
/* The registers after the instruction; one whose guard is not known may have executed or not. */
void wsdbg_thread_step(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_world *world,
                       struct wsdbg_thread_state *state);
/* 32 bits of an operand as it is read, the low ones first; false where they are not known, or it is none of registers,
 * numbers, constants and special registers. */
bool wsdbg_thread_operand(const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                          const struct wsdbg_operand *operand, unsigned part, uint32_t *value);
/* What a load of one or two bytes makes of the word that they lie in, at this byte of it; false where it is not known.
 */
bool wsdbg_thread_part(const struct wsdbg_instruction *load, uint32_t word, uint32_t at_byte, uint32_t *value);
enum { WSDBG_FLOAT_SOURCES_MOST = 3 };
/* The sources of a step with floating-point numbers that is followed (thread_float.h), which are not among the
 * instruction's; returns how many, 0 = it is no such step. */
unsigned wsdbg_thread_float_sources(const struct wsdbg_instruction *instruction,
                                    struct wsdbg_operand out[WSDBG_FLOAT_SOURCES_MOST]);
/* The address of a global or generic access. */
bool wsdbg_thread_address(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand,
                          uint64_t *address);

#endif
