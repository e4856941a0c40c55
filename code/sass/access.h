/* access.h - every instruction of a function that waits for a barrier or may complete one, and which barrier that is,
 * as far as its operands can be followed: back through registers to constants, parameters, special registers and loop
 * counters.
 *
 * Reads: the graph.  An operand that cannot be followed is marked as such; nothing is guessed.
 */
#ifndef WSDBG_SASS_ACCESS_H
#define WSDBG_SASS_ACCESS_H

#include "sass/access_kind.h"
#include "sass/graph.h"

/* The values an operand may have: base + k * stride, k < count.  count 1 = exactly base; count 0 = nobody knows how
 * many; known false = nothing is known. */
struct wsdbg_value_set {
    bool known;
    uint64_t base;
    uint32_t stride;
    uint32_t count;
};

#define WSDBG_OFFSET_MASK 0xffffffu /* of a shared::cluster address; the CTA's rank is above */
#define WSDBG_RANK_SHIFT 24

struct wsdbg_access {
    uint32_t instruction;           /* number in the graph */
    uint8_t kind;                   /* enum wsdbg_access_kind */
    uint8_t lanes;                  /* enum wsdbg_lanes */
    uint32_t picked_at;             /* one lane: the instruction that picks it, see wsdbg_lanes_picked_at */
    bool is_any_rank;               /* an mbarrier: may be that of another CTA of the cluster */
    struct wsdbg_value_set address; /* mbarriers: offset in the CTA's shared memory; named barriers: id */
    struct wsdbg_value_set count;
    struct wsdbg_value_set mask; /* a bulk copy into several CTAs: their ranks, a bit each */
};

/* What the tracer may ask of the launch; each returns false where it is not known.  All may be NULL.  Bank 0 begins
 * with the CTA's threads in x, y and z: without them no lane is told by its thread's index. */
struct wsdbg_launch_values {
    void *context;
    bool (*constant)(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value);
    wsdbg_instruction_set guards; /* the instructions whose guards are worth deciding (threads.h); NULL = all */
    bool is_in_x; /* the CTA's threads are counted in x alone: lanes are told by it even where its size is not known */
};

struct wsdbg_trace;

/* Fills *out with *count accesses in order of their instructions; the caller frees it.  Of the tensor instructions that
 * follow each other only the first is one; code that nothing leads to has none. */
struct wsdbg_error *wsdbg_accesses_find(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                        struct wsdbg_access **out, size_t *count);

/* The same accesses with what their operands are for `threads` threads whose index in x begins at `first`; 0 threads =
 * for all. */
struct wsdbg_error *wsdbg_accesses_find_for_threads(const struct wsdbg_graph *graph,
                                                    const struct wsdbg_launch_values *launch, uint32_t first,
                                                    uint32_t threads, struct wsdbg_access **out, size_t *count);

/* Of what is asked for, by kinds of accesses: 1 << enum wsdbg_access_kind each. */
struct wsdbg_access_wanted {
    uint32_t kinds;  /* those that are found; each of these has its address */
    uint32_t counts; /* of these also `count` and `mask` */
    uint32_t lanes;  /* of these also `lanes` and `picked_at` */
};

/* The accesses that are wanted, for the threads that the trace is turned to (trace.h). */
struct wsdbg_error *wsdbg_accesses_find_traced(struct wsdbg_trace *trace, const struct wsdbg_access_wanted *wanted,
                                               struct wsdbg_access **out, size_t *count);

/* What kind of access one instruction is, and which of its sources are the operands of the access: their indexes; -1 =
 * none. */
struct wsdbg_access_operands {
    uint8_t kind; /* enum wsdbg_access_kind; 0 = it is no such access */
    bool is_mbarrier;
    bool may_be_remote; /* also an address without a CTA's rank may be in another CTA */
    bool is_multicast;  /* it takes effect in several CTAs */
    bool is_encoded;    /* machine code: wsdbg_access_number decodes its numbers */
    uint8_t sent_bytes; /* each lane sends so many bytes itself (st.async, red.async); 0 = they are an operand */
    int8_t address, address_part, count;
    int8_t mask; /* of a multicast: the ranks of the CTAs */
    int8_t map;  /* of a tensor copy: the address of its tensor map */
};
struct wsdbg_access_operands wsdbg_access_operands_of(const struct wsdbg_instruction *instruction);
/* The count of an access (parity, arrivals, bytes, threads) from the 32 bits of its operand. */
uint32_t wsdbg_access_number(const struct wsdbg_access_operands *operands, const struct wsdbg_instruction *instruction,
                             uint32_t bits);
/* cp.async.mbarrier.arrive: with .noinc it is one of the arrivals that the barrier was initialised for.  Otherwise it
 * raises the pending count by one first, so that it changes nothing: false. */
bool wsdbg_access_copy_arrival_counts(const struct wsdbg_instruction *instruction);
/* The ranks of the CTAs that a multicast goes to, a bit each, from the 32 bits of its operand. */
uint32_t wsdbg_access_mask(const struct wsdbg_access_operands *operands, uint32_t bits);

/* Sets the operands of an access that was found before to what they are for the threads that the trace is turned to
 * now; its lanes stay as they are. */
void wsdbg_access_turn(struct wsdbg_trace *trace, struct wsdbg_access *access);

/* The values operand `source` of an instruction may have just before it executes. */
struct wsdbg_value_set wsdbg_value_of(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                      uint32_t instruction, unsigned source);

#endif
