/* wgmma_flow.c - see wgmma_flow.h.  A worklist over the blocks; counts and flags only grow, so it ends. */
#include "lint/wgmma_flow.h"

#include <stdlib.h>
#include <string.h>

#define STATE_BYTES_MOST ((size_t)64 << 20)

struct following {
    const struct wsdbg_wgmma_code *code;
    struct wsdbg_wgmma_state *at_begin; /* by block */
    uint32_t *waiting;                  /* blocks to be followed again, each once */
    bool *is_waiting;
    uint32_t waiting_count;
};

static uint8_t sum(unsigned a, unsigned b)
{
    return (uint8_t)(a + b < WSDBG_WGMMA_MANY ? a + b : WSDBG_WGMMA_MANY);
}

unsigned wsdbg_wgmma_in_flight(const struct wsdbg_wgmma_state *state)
{
    uint8_t all = state->open;
    for (unsigned i = 0; i < WSDBG_WGMMA_GROUPS; i++)
        all = sum(all, state->groups[i]);
    return all;
}

unsigned wsdbg_wgmma_in_flight_with_one_more(const struct wsdbg_wgmma_state *state)
{
    return sum(wsdbg_wgmma_in_flight(state), 1);
}

static void issue(struct wsdbg_wgmma_state *state, const struct wsdbg_wgmma_event *event)
{
    state->open = sum(state->open, 1);
    if (event->tile != WSDBG_WGMMA_NO_TILE)
        state->tiles[event->tile] = 1;
    if (event->input != WSDBG_WGMMA_NO_TILE)
        state->tiles[event->input] = 1;
}

static void commit(const struct wsdbg_wgmma_code *code, struct wsdbg_wgmma_state *state)
{
    const unsigned last = WSDBG_WGMMA_GROUPS - 1;
    state->groups[last] = sum(state->groups[last], state->groups[last - 1]);
    memmove(state->groups + 1, state->groups, last - 1);
    state->groups[0] = state->open;
    state->open = 0;
    for (unsigned i = 0; i < code->tile_count; i++) {
        const unsigned age = state->tiles[i] & WSDBG_WGMMA_AGE;
        if (age && age < WSDBG_WGMMA_AGE)
            state->tiles[i]++;
    }
}

static void wait_for(const struct wsdbg_wgmma_code *code, struct wsdbg_wgmma_state *state, unsigned groups_left)
{
    for (unsigned i = groups_left; i < WSDBG_WGMMA_GROUPS; i++)
        state->groups[i] = 0;
    for (unsigned i = 0; i < code->tile_count; i++) {
        uint8_t *tile = &state->tiles[i];
        if (groups_left == 0)
            *tile &= (uint8_t)~WSDBG_WGMMA_CARRIED;
        if ((*tile & WSDBG_WGMMA_AGE) > groups_left + 1)
            *tile = (uint8_t)((*tile & ~WSDBG_WGMMA_AGE) | WSDBG_WGMMA_WAITED_FOR);
    }
}

static void pass(const struct wsdbg_wgmma_code *code, const struct wsdbg_wgmma_event *event,
                 struct wsdbg_wgmma_state *state)
{
    switch (event->kind) {
    case WSDBG_WGMMA_ISSUE:
        issue(state, event);
        if (event->ends_group)
            commit(code, state);
        break;
    case WSDBG_WGMMA_COMMIT:
        commit(code, state);
        break;
    case WSDBG_WGMMA_WAIT:
        if (!event->is_conditional)
            wait_for(code, state, event->groups_left);
        break;
    default:
        break;
    }
}

/* The first event at or behind an instruction. */
static size_t first_event_from(const struct wsdbg_wgmma_code *code, uint32_t instruction)
{
    size_t low = 0, high = code->event_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->events[middle].at < instruction)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint8_t joined_tile(uint8_t a, uint8_t b)
{
    const unsigned age_a = a & WSDBG_WGMMA_AGE, age_b = b & WSDBG_WGMMA_AGE;
    const unsigned age = !age_a || (age_b && age_b < age_a) ? age_b : age_a;
    return (uint8_t)(((a | b) & ~WSDBG_WGMMA_AGE) | age);
}

/* Takes one more path into the state at a block's begin. */
static void take(struct following *following, uint32_t block, const struct wsdbg_wgmma_state *path)
{
    struct wsdbg_wgmma_state *into = &following->at_begin[block], was = *into;
    into->is_reached = true;
    into->open = into->open > path->open ? into->open : path->open;
    for (unsigned i = 0; i < WSDBG_WGMMA_GROUPS; i++)
        into->groups[i] = into->groups[i] > path->groups[i] ? into->groups[i] : path->groups[i];
    for (unsigned i = 0; i < following->code->tile_count; i++)
        into->tiles[i] = joined_tile(into->tiles[i], path->tiles[i]);
    if (memcmp(&was, into, sizeof was) != 0 && !following->is_waiting[block]) {
        following->is_waiting[block] = true;
        following->waiting[following->waiting_count++] = block;
    }
}

static void carry_around(const struct wsdbg_wgmma_code *code, struct wsdbg_wgmma_state *state)
{
    for (unsigned i = 0; i < code->tile_count; i++)
        if (state->tiles[i] & WSDBG_WGMMA_AGE)
            state->tiles[i] |= WSDBG_WGMMA_CARRIED;
}

static void follow(struct following *following, uint32_t number)
{
    const struct wsdbg_wgmma_code *code = following->code;
    const struct wsdbg_wgmma_block *block = &code->blocks[number];
    struct wsdbg_wgmma_state state = following->at_begin[number];
    for (size_t i = first_event_from(code, block->first); i < code->event_count && code->events[i].at < block->end; i++)
        pass(code, &code->events[i], &state);
    struct wsdbg_wgmma_state around = state;
    carry_around(code, &around);
    for (uint32_t i = 0; i < block->successor_count; i++) {
        const uint32_t next = code->successors[block->first_successor + i];
        take(following, next, next <= number ? &around : &state);
    }
}

static void visit(const struct following *following, wsdbg_wgmma_visitor *visitor, void *context)
{
    const struct wsdbg_wgmma_code *code = following->code;
    for (uint32_t number = 0; number < code->block_count; number++) {
        struct wsdbg_wgmma_state state = following->at_begin[number];
        const struct wsdbg_wgmma_block *block = &code->blocks[number];
        size_t next = first_event_from(code, block->first);
        for (uint32_t i = block->first; i < block->end && state.is_reached; i++) {
            const bool is_event = next < code->event_count && code->events[next].at == i;
            visitor(context, i, is_event ? &code->events[next] : NULL, &state);
            if (is_event)
                pass(code, &code->events[next++], &state);
        }
    }
}

struct wsdbg_error *wsdbg_wgmma_flow(const struct wsdbg_wgmma_code *code, wsdbg_wgmma_visitor *visitor, void *context)
{
    if (code->block_count > STATE_BYTES_MOST / sizeof(struct wsdbg_wgmma_state))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%u blocks of code with wgmma, at most %zu are followed",
                                  code->block_count, STATE_BYTES_MOST / sizeof(struct wsdbg_wgmma_state));
    struct following following = {
        .code = code,
        .at_begin = calloc((size_t)code->block_count + 1, sizeof *following.at_begin),
        .waiting = calloc((size_t)code->block_count + 1, sizeof *following.waiting),
        .is_waiting = calloc((size_t)code->block_count + 1, sizeof *following.is_waiting),
    };
    struct wsdbg_error *error = NULL;
    if (following.at_begin && following.waiting && following.is_waiting) {
        const struct wsdbg_wgmma_state nothing = {0};
        for (uint32_t i = code->block_count; i-- > 0;)
            if (code->blocks[i].is_entry)
                take(&following, i, &nothing);
        while (following.waiting_count) {
            const uint32_t block = following.waiting[--following.waiting_count];
            following.is_waiting[block] = false;
            follow(&following, block);
        }
        visit(&following, visitor, context);
    } else {
        error = &wsdbg_error_no_memory;
    }
    free(following.at_begin);
    free(following.waiting);
    free(following.is_waiting);
    return error;
}
