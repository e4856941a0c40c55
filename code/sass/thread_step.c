/* thread_step.c - see thread_step.h.
 *
 * Reads: an instruction's result (thread_result.h).  Writes: the thread's registers.
 */
#include "sass/thread_step.h"

#include "sass/compute.h"
#include "sass/thread_result.h"

enum { REGISTER_BITS = 32, WORDS_MOST = 4 };

static uint32_t word_of(const struct wsdbg_thread_result *result, unsigned word)
{
    return (uint32_t)((word < 2 ? result->bits : result->more) >> REGISTER_BITS * (word & 1));
}

/* Writes a register; one whose instruction may not execute stays known where it holds this already. */
static void set(struct wsdbg_thread_state *state, unsigned reg, const struct wsdbg_thread_result *result, unsigned word,
                bool is_certain)
{
    if (reg >= WSDBG_REGISTER_COUNT)
        return;
    const bool known = result->known && word < WORDS_MOST, has_high = known && result->is_long && word + 1 < WORDS_MOST;
    const uint32_t value = word < WORDS_MOST ? word_of(result, word) : 0,
                   high = has_high ? word_of(result, word + 1) : 0;
    uint32_t mask = known ? UINT32_MAX : word == 0 ? result->mask : 0;
    const bool high_stays = is_certain || (state->high_known[reg] && state->high[reg] == high);
    if (!is_certain)
        mask &= wsdbg_thread_known_bits(state, reg) & ~(state->value[reg] ^ value);
    wsdbg_thread_forget(state, reg);
    wsdbg_thread_set_bits(state, reg, value, mask);
    state->high_known[reg] = has_high && high_stays;
    state->high[reg] = state->high_known[reg] ? high : 0;
}

static void set_predicate(struct wsdbg_thread_state *state, unsigned reg, enum wsdbg_truth truth, bool is_certain)
{
    const struct wsdbg_thread_result result = {.known = truth != WSDBG_TRUTH_UNKNOWN, .bits = truth == WSDBG_TRUTH_YES};
    set(state, reg, &result, 0, is_certain);
}

static void write_all(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_result *result,
                      bool is_certain, struct wsdbg_thread_state *state)
{
    const unsigned apart = wsdbg_compute_words_apart(instruction);
    bool has_predicate = false;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        if (wsdbg_is_predicate(to)) {
            const enum wsdbg_truth other = result->has_second ? result->second : WSDBG_TRUTH_UNKNOWN;
            const enum wsdbg_truth truth = has_predicate ? other : result->predicate;
            set_predicate(state, wsdbg_register_of(to, 0), truth, is_certain);
            for (unsigned part = 1; part < to->registers; part++)
                set_predicate(state, wsdbg_register_of(to, part), WSDBG_TRUTH_UNKNOWN, is_certain);
            has_predicate = true;
            continue;
        }
        for (unsigned part = 0; part == 0 || part < to->registers; part++)
            set(state, wsdbg_register_of(to, part), result, i * apart + part, is_certain);
    }
}

void wsdbg_thread_step(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_world *world,
                       struct wsdbg_thread_state *state)
{
    const struct wsdbg_thread_reader reader = {instruction, world, state};
    const enum wsdbg_truth executes = wsdbg_thread_executes(state, instruction);
    if (executes == WSDBG_TRUTH_NO)
        return;
    if (instruction->operation == WSDBG_OP_OTHER) {
        *state = (struct wsdbg_thread_state){0};
        return;
    }
    const struct wsdbg_thread_result result = wsdbg_thread_result(&reader);
    write_all(instruction, &result, executes == WSDBG_TRUTH_YES, state);
}
