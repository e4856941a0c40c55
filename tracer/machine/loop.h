/* loop.h - the innermost loop around a place in a kernel, and what it can be: a loop that only looks at something until
 * it changes has no effect but its end.  A loop that only lets time pass, inside another one, counts as a part of that.
 * Private to this room.
 */
#ifndef WSDBG_MACHINE_LOOP_H
#define WSDBG_MACHINE_LOOP_H

#include "sass/graph.h"

struct wsdbg_loop {
    const struct wsdbg_graph *graph;
    uint32_t head;    /* block */
    uint64_t *body;   /* a bit a block; the caller frees it */
    bool is_quiet;    /* changes nothing outside its registers and, at places that stay the same, shared memory */
    bool has_global;  /* loads or atomics that may be of global memory */
    bool acts_beside; /* the body has only the ways round the loop on which all tests fail; on others it acts */
};

/* *found is false, and nothing is to be freed, where `instruction` lies in no loop, or in one that plainly does more
 * than look at something. */
struct wsdbg_error *wsdbg_loop_around(const struct wsdbg_graph *graph, uint32_t instruction, struct wsdbg_loop *out,
                                      bool *found);
bool wsdbg_loop_has(const struct wsdbg_loop *loop, uint32_t instruction);
bool wsdbg_loop_has_block(const struct wsdbg_loop *loop, uint32_t block);
/* The first instruction at or behind `from`, in order of addresses, that lies in the loop; WSDBG_NO_INSTRUCTION behind
 * the last one. */
#define WSDBG_NO_INSTRUCTION UINT32_MAX
uint32_t wsdbg_loop_next(const struct wsdbg_loop *loop, uint32_t from);
/* Whether what an operand of an instruction of the loop is made of stays the same as long as the loop runs. */
bool wsdbg_loop_keeps(const struct wsdbg_loop *loop, uint32_t instruction, const struct wsdbg_operand *operand);
/* The same where pointers on the way are loaded anew in each round, from places that stay the same and that the loop
 * does not write: it changes only when somebody writes such a pointer. */
bool wsdbg_loop_settles(const struct wsdbg_loop *loop, uint32_t instruction, const struct wsdbg_operand *operand);
/* Whether every round of the loop comes by the instruction. */
bool wsdbg_loop_always_passes(const struct wsdbg_loop *loop, uint32_t instruction);
/* Whether the loop writes a register of the operand at all. */
bool wsdbg_loop_writes(const struct wsdbg_loop *loop, const struct wsdbg_operand *operand);
/* The write of an operand's register that the instruction at `at` sees, where it lies before it in the same block; else
 * WSDBG_NO_INSTRUCTION. */
uint32_t wsdbg_loop_written(const struct wsdbg_loop *loop, uint32_t at, const struct wsdbg_operand *operand);
/* Whether the end of the loop depends on what this instruction loads. */
bool wsdbg_loop_ends_by(const struct wsdbg_loop *loop, uint32_t load);
/* The same of one general register that the load fills, as far as it can be told from what else the loop puts there. */
bool wsdbg_loop_ends_by_register(const struct wsdbg_loop *loop, uint32_t load, unsigned number);
/* The next branch out of the loop, from this block on, that depends on the result of the instruction `origin`;
 * WSDBG_NO_INSTRUCTION = there is no further one. */
uint32_t wsdbg_loop_next_end(const struct wsdbg_loop *loop, uint32_t origin, uint32_t from_block);
/* Whether an operand of the loop's instruction `at` depends on the result of the instruction `origin`. */
bool wsdbg_loop_depends(const struct wsdbg_loop *loop, uint32_t origin, uint32_t at,
                        const struct wsdbg_operand *operand);

/* The memory operand of an instruction, NULL where it has none. */
const struct wsdbg_operand *wsdbg_memory_operand(const struct wsdbg_instruction *instruction);
/* The general register that a load or an atomic fills, NULL where there is none. */
const struct wsdbg_operand *wsdbg_loaded_register(const struct wsdbg_instruction *instruction);
/* Whether an instruction writes one of the registers that the operand reads. */
bool wsdbg_writes_operand(const struct wsdbg_instruction *instruction, const struct wsdbg_operand *operand);

#endif
