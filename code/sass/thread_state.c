/* thread_state.c - see thread_state.h.  Reads and writes: what is known of a thread's registers. */
#include "sass/thread_state.h"

void wsdbg_thread_forget(struct wsdbg_thread_state *state, unsigned reg)
{
    state->known[reg] = state->high_known[reg] = false;
    state->value[reg] = state->bits[reg] = state->high[reg] = 0;
}

uint32_t wsdbg_thread_known_bits(const struct wsdbg_thread_state *state, unsigned reg)
{
    return state->known[reg] ? UINT32_MAX : state->bits[reg];
}

void wsdbg_thread_set_bits(struct wsdbg_thread_state *state, unsigned reg, uint32_t value, uint32_t mask)
{
    state->known[reg] = mask == UINT32_MAX;
    state->bits[reg] = mask;
    state->value[reg] = value & mask;
}

bool wsdbg_thread_meet(struct wsdbg_thread_state *state, const struct wsdbg_thread_state *other)
{
    bool changes = false;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++) {
        const uint32_t mask = wsdbg_thread_known_bits(state, reg);
        const uint32_t both =
            mask ? mask & wsdbg_thread_known_bits(other, reg) & ~(state->value[reg] ^ other->value[reg]) : 0;
        if (both != mask) {
            wsdbg_thread_set_bits(state, reg, state->value[reg], both);
            changes = true;
        }
        if (state->high_known[reg] && (!other->high_known[reg] || other->high[reg] != state->high[reg])) {
            state->high_known[reg] = false;
            changes = true;
        }
    }
    return changes;
}
