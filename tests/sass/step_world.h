/* step_world.h - a thread before an instruction, for tests of what one instruction does to its registers. */
#ifndef TEST_SASS_STEP_WORLD_H
#define TEST_SASS_STEP_WORLD_H

#include "instructions.h"

#include "sass/thread_step.h"

#define PAIR(n) OPERAND(REGISTER, .number = (n), .registers = 2)
#define MINUS(n) OPERAND(REGISTER, .number = (n), .registers = 1, .is_negated = true)
#define INVERTED(n) OPERAND(REGISTER, .number = (n), .registers = 1, .is_inverted = true)
#define NOT_P(n) OPERAND(PREDICATE, .number = (n), .registers = 1, .is_negated = true)
#define CONSTANTS(offset, count) OPERAND(CONSTANT, .number = WSDBG_RZ, .value = (offset), .registers = (count))
/* An instruction without a guard; one of which only the bits are given. */
#define DO(name) OP(name), UNGUARDED
#define OP_HALF(name, low, high) .operation = WSDBG_OP_##name, .guard = WSDBG_PT, .words = {low, high}

enum { TID_X = 33, ANY = -1, CASES_REGISTERS = 8 };

static inline bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context;
    *value = 0x1000 + offset_bytes;
    return bank == 0 && offset_bytes < 0x100;
}

static inline bool special(void *context, uint32_t number, uint32_t *value)
{
    (void)context;
    *value = 5;
    return number == TID_X;
}

static const struct wsdbg_thread_world world = {.constant = constant, .special = special};

/* R0 … R7 hold these, P0 is true, P1 false, P2 not known. */
static const uint32_t before[CASES_REGISTERS] = {0xffffffff, 2, 0x80000000, 7, 0, 0xfffffffe, 3, 0x12345678};

static inline struct wsdbg_thread_state state_before(void)
{
    struct wsdbg_thread_state state = {0};
    for (unsigned i = 0; i < CASES_REGISTERS; i++) {
        state.value[i] = before[i];
        state.known[i] = true;
    }
    state.value[WSDBG_REGISTER_PREDICATE] = 1;
    state.known[WSDBG_REGISTER_PREDICATE] = state.known[WSDBG_REGISTER_PREDICATE + 1] = true;
    return state;
}

static inline void assert_register(const struct wsdbg_thread_state *state, unsigned reg, int64_t expected, size_t row)
{
    const int64_t found = state->known[reg] ? (int64_t)state->value[reg] : ANY;
    if (found != expected)
        fail_msg("row %zu: register %u is 0x%llx, not 0x%llx", row, reg, (long long)found, (long long)expected);
}

#endif
