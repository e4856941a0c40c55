/* walk_plan.h - private to the walks: which instructions a walk executes, and where it goes on behind a
 * branch with an unknown condition.
 */
#ifndef WSDBG_SASS_WALK_PLAN_H
#define WSDBG_SASS_WALK_PLAN_H

#include "sass/flow.h"
#include "sass/walk.h"
#include "sass/walk_registers.h"
#include "sass/walk_traffic.h"
#include "sass/walk_words.h"

/* What lies between a branch and the place where its sides meet. */
struct wsdbg_walk_detour {
    bool is_known;
    bool is_met;                                 /* the sides meet, at `meets` */
    bool can_be_passed;                          /* ... and have no accesses, exits, or calls of what is not known */
    bool loops;                                  /* some way leads back to the branch */
    bool stores;                                 /* ... or stores to shared memory */
    bool exchanges;                              /* ... or has a shuffle or a vote */
    bool has_atomics;                            /* ... or atomics with a result */
    uint8_t traffic;                             /* of all instructions there */
    uint32_t meets;                              /* the block where the sides meet */
    uint64_t written[WSDBG_WALK_REGISTER_WORDS]; /* registers, a bit each; all behind a call of what is not known */
    uint64_t lost[WSDBG_WALK_REGISTER_WORDS];    /* of these the ones that need not have their old values behind it */
};

/* What the lanes of a whole warp got from one shuffle, vote or lent copy.  known, predicates, predicates_known: a bit
 * for each lane. */
struct wsdbg_walk_exchange {
    bool is_there;
    bool is_left; /* of a lent copy: no lane executed it */
    uint32_t values[WSDBG_WALK_LANES], known, predicates, predicates_known;
    bool is_told; /* the value of lane 0 before the shuffle is known: it is `told` */
    uint32_t told;
};

/* The values of lane 0 at a shuffle, one for each time that it executed it.  Of a load in a loop only the times count,
 * and whether it polls. */
struct wsdbg_walk_told {
    uint32_t instruction;
    uint32_t *values;
    bool *known;
    size_t count, values_capacity, known_capacity;
    struct wsdbg_walk_exchange *exchanges; /* by time, as long as all lanes of the warp walked together */
    size_t exchange_count, exchange_capacity;
    size_t times;                        /* how often the lanes that walk now have executed it */
    uint32_t executed[WSDBG_WALK_LANES]; /* ... of an atomic: each lane */
    bool only_waits;                     /* a load in a loop without accesses: from global memory, or generic */
    /* Of a load: from which address the leader loaded last, and where. */
    bool has_loaded, is_polling; /* is_polling: it loads that again, and has passed no barrier since */
    uint64_t loaded_address;
    struct walk_place loaded_at;
};

/* By block: whether some way leads to an instruction (walk_ways.h); NULL = not asked for yet.  One for each lane. */
enum { WSDBG_WALK_PLACES_KEPT = 32 };
struct wsdbg_walk_place_kept {
    uint32_t instruction;
    bool *leads;
};

/* A counter of global memory from which the lanes that walk take numbers (walk_tickets.h), and how often each did. */
enum { WSDBG_WALK_COUNTERS_MOST = 2 };
struct wsdbg_walk_counter {
    uint64_t address;
    uint32_t taken[WSDBG_WALK_LANES];
};

struct wsdbg_walk_plan {
    const struct wsdbg_graph *graph;        /* `own` */
    struct wsdbg_graph own;                 /* the kernel's, with instructions that walk_stack.h has changed */
    bool *executes;                         /* by instruction */
    bool *decides;                          /* ... those that a way depends on without what is stored to shared memory;
                                               NULL = all that are executed */
    uint32_t loads_for_stores;              /* of global memory by the others, in the present walks of the warp */
    bool lacks_loads;                       /* some were left out in the CTA: words that were stored are not known */
    bool is_guessed, is_of_present;         /* the present walk: see walk.h; some guess was the present value */
    struct wsdbg_access_operands *operands; /* by instruction: found once, as every execution asks for them */
    struct wsdbg_lists by_block;            /* instructions that are executed */
    struct wsdbg_lists reads;               /* by instruction that is executed: the registers that it reads */
    struct walk_traffic traffic;
    struct wsdbg_dominators *after;    /* post-dominators, NULL = not asked for yet */
    struct wsdbg_walk_detour *detours; /* by block */
    bool *serves;                      /* by block: see walk_serves.h */
    uint32_t *idle_to;                 /* by block: see walk_idle.h; NULL = not asked yet */
    bool *acts;                        /* by block: some way from its begin on has an access; NULL = not asked yet */
    bool *stores;                      /* ... or stores to shared memory */
    struct wsdbg_walk_place_kept places[WSDBG_WALK_PLACES_KEPT];
    unsigned places_replaced;
    uint64_t searched;            /* blocks, for these */
    struct wsdbg_walk_told *told; /* by instruction, ascending */
    size_t told_count;
    bool exchanges;  /* a walk may depend on a shuffle, a vote or a lent copy */
    uint32_t lanes;  /* of the warp at hand; a bit each */
    bool supposes;   /* CTAs are taken to have got numbers from counters in turn (walk_tickets.h) */
    bool took_turns; /* ... and some walk of the CTA at hand rests on that */
    struct wsdbg_walk_counter counters[WSDBG_WALK_COUNTERS_MOST];
    unsigned counter_count;
    bool may_lead;       /* walks may be led to where their lanes were seen (walk_lead.h) */
    bool takes_present;  /* a load from shared memory may get what is there now */
    bool follows_stores; /* some load in a loop is told: what is stored to shared memory may decide a way */
    /* ... also what is stored by generic addresses: some store or atomic is. */
    bool follows_generic_stores;
    bool has_generic_writers; /* some instruction is an atomic on shared memory, or writes to a generic address */
    struct walk_words words;  /* of the walks so far of the CTA at hand */
    uint32_t walks;           /* how many these are */
    struct wsdbg_thread_state *states; /* by lane: memory for the lanes that walk */
    bool is_some_lost;                 /* some earlier walk of the same warp is not whole */
    /* By instruction: how often the present walk has issued a copy of the whole warp, or has elected a lane, and the
     * walks of the same warp before it have. */
    struct {
        uint32_t now, before;
    } * issued;
};

/* Adds a register to a set, a bit each; whether it was not there. */
bool wsdbg_walk_put(uint64_t *set, unsigned reg);
/* Whether an instruction may be a step of a walk. */
bool wsdbg_walk_is_step(const struct wsdbg_walk_plan *plan, uint32_t number);
/* Whether it is a store or an atomic that walks follow, as it may be to shared memory. */
static inline bool wsdbg_walk_follows_store(const struct wsdbg_walk_plan *plan,
                                            const struct wsdbg_instruction *instruction)
{
    const uint8_t operation = instruction->operation;
    return operation == WSDBG_OP_STS || operation == WSDBG_OP_ATOMS ||
           ((operation == WSDBG_OP_ST || operation == WSDBG_OP_ATOM) && plan->follows_generic_stores);
}
/* Whether the instruction is in a loop that serves each lane. */
static inline bool walk_serves_each(const struct wsdbg_walk_plan *plan, uint32_t number)
{
    return plan->serves[plan->graph->block_of[number]];
}
/* Whether it is a shuffle or a vote. */
bool wsdbg_walk_is_exchange(const struct wsdbg_graph *graph, uint32_t number);
/* Whether it is an atomic on global memory, or by a generic address. */
bool wsdbg_walk_is_atomic(const struct wsdbg_instruction *instruction);
/* Whether an instruction is a multiplication of a warpgroup, the end of a group of these, or a wait for such groups. */
bool wsdbg_walk_is_of_matrices(const struct wsdbg_walk_plan *plan, uint32_t instruction);
/* Whether lanes that do not execute the instruction get the uniform register that others of their warp write. */
bool wsdbg_walk_is_lent(const struct wsdbg_instruction *instruction);
/* What is kept of an instruction; NULL = nothing is. */
struct wsdbg_walk_told *wsdbg_walk_told_at(const struct wsdbg_walk_plan *plan, uint32_t instruction);
/* Keeps what lane 0 has; false: no memory. */
bool wsdbg_walk_tell(struct wsdbg_walk_told *told, bool known, uint32_t value);
/* *out: whether a thread that is behind the block may still come to an access. */
struct wsdbg_error *wsdbg_walk_acts_behind(struct wsdbg_walk_plan *plan, uint32_t block, bool *out);
/* *out: whether a thread that is behind the block may still come to a store to shared memory that walks follow. */
struct wsdbg_error *wsdbg_walk_stores_behind(struct wsdbg_walk_plan *plan, uint32_t block, bool *out);
/* Whether every way on from the block soon comes to a trap: it is where a kernel finds that something is wrong. */
bool wsdbg_walk_fails(const struct wsdbg_walk_plan *plan, uint32_t block);
/* Fills plan->after. */
struct wsdbg_error *wsdbg_walk_find_after(struct wsdbg_walk_plan *plan);
struct wsdbg_error *wsdbg_walk_detour_of(struct wsdbg_walk_plan *plan, uint32_t block,
                                         const struct wsdbg_walk_detour **out);

#endif
