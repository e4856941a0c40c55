/* spin_run.h - a lane that executes its code, one instruction after the other, as long as it only looks at memory.
 *
 * Reads: code, one lane's registers, memory and constants that the caller knows.  Private to spin.h.
 *
 * It may store to its own local memory, which nobody else sees, and call functions.  What it tests of an mbarrier and
 * what it loads from shared and global memory are its looks.
 */
#ifndef WSDBG_MACHINE_SPIN_RUN_H
#define WSDBG_MACHINE_SPIN_RUN_H

#include "machine/spin_code.h"
#include "machine/spin_memory.h"

enum { SPIN_LOOKS_MOST = 48, SPIN_LOOK_WORDS = 4 };
/* What a register depends on: bit i = look i; the clock; and what is not known, as far as the lane went on with it. */
#define SPIN_CLOCK (UINT64_C(1) << 63)
#define SPIN_UNSURE (UINT64_C(1) << 62)
#define SPIN_NO_LOOK (SPIN_CLOCK | SPIN_UNSURE)

struct spin_look {
    uint32_t instruction; /* of the kernel's graph */
    bool is_shared, is_test;
    bool is_plain;  /* a load that a compiler may make once for all rounds: no program polls with it */
    uint32_t phase; /* is_test: which one is waited for */
    uint64_t address;
    uint32_t words[SPIN_LOOK_WORDS], word_count;
    uint32_t times, step; /* step: of the last time */
    uint64_t places;      /* looks through which its address is found, or what it asks */
};

struct spin_run {
    struct wsdbg_spin_code *code;
    const struct wsdbg_thread_world *world;
    struct wsdbg_thread_state state;
    uint64_t depends[WSDBG_REGISTER_COUNT];
    struct spin_memory memory;
    struct spin_look looks[SPIN_LOOKS_MOST];
    unsigned look_count;
    uint64_t decides;    /* looks and the clock, on which a branch of the circle depends, */
    uint64_t leaves;     /* ... one that leads out of a loop */
    bool clock_is_taken; /* the clock may lead out of the circle */
    struct wsdbg_spin_place at;
    uint32_t steps, home; /* home: the first instruction so far, by its place in the kernel's graph */
    uint32_t *steps_left; /* of all ways together */
    bool traps;           /* it has stopped because the kernel ends there with an error */
};

enum spin_step {
    SPIN_STEP_STOPS,   /* the lane's way is not known, or it does more than look */
    SPIN_STEP_GOES,    /* the lane is at the next instruction */
    SPIN_STEP_BRANCHES /* it is not known how its branch goes: run->at is still there */
};
/* *why: of a branch, SPIN_CLOCK if the clock alone decides it, else SPIN_UNSURE. */
enum spin_step spin_run_step(struct spin_run *run, uint64_t *why);

/* The ways that the branch at run->at may take. */
struct spin_ways {
    struct wsdbg_spin_place ways[2];
};
bool spin_run_ways(struct spin_run *run, struct spin_ways *out);
/* Of two ways the one that stays in a loop which the other one leaves; NULL: there is no such loop. */
const struct wsdbg_spin_place *spin_run_way_that_stays(const struct spin_run *run, const struct spin_ways *ways);

#endif
