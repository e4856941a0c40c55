/* wgmma_code.c - what is common to machine code and PTX in wgmma_code.h: lists that grow, registers joined to tiles. */
#include "lint/wgmma_code.h"

#include <stdlib.h>
#include <string.h>

#include "lint/wgmma_code_parts.h"

bool wsdbg_wgmma_builder_init(struct wsdbg_wgmma_builder *builder, struct wsdbg_wgmma_code *code,
                              uint32_t register_count, uint32_t block_count)
{
    *code = (struct wsdbg_wgmma_code){.register_count = register_count, .block_count = block_count};
    *builder = (struct wsdbg_wgmma_builder){.code = code};
    code->blocks = calloc((size_t)block_count + 1, sizeof *code->blocks);
    code->tile_of = malloc((size_t)register_count + 1);
    builder->parent = calloc((size_t)register_count + 1, sizeof *builder->parent);
    builder->is_accumulator = calloc((size_t)register_count + 1, sizeof *builder->is_accumulator);
    builder->is_used = calloc((size_t)register_count + 1, sizeof *builder->is_used);
    if (!code->blocks || !code->tile_of || !builder->parent || !builder->is_accumulator || !builder->is_used)
        return false;
    memset(code->tile_of, WSDBG_WGMMA_NO_TILE, (size_t)register_count + 1);
    for (uint32_t i = 0; i < register_count; i++)
        builder->parent[i] = i;
    return true;
}

static uint32_t last_of(struct wsdbg_wgmma_builder *builder, uint32_t number)
{
    while (builder->parent[number] != number) {
        builder->parent[number] = builder->parent[builder->parent[number]];
        number = builder->parent[number];
    }
    return number;
}

void wsdbg_wgmma_builder_join(struct wsdbg_wgmma_builder *builder, uint32_t a, uint32_t b, bool is_accumulator)
{
    const uint32_t count = builder->code->register_count;
    if (a >= count || b >= count)
        return;
    builder->is_used[a] = builder->is_used[b] = true;
    builder->is_accumulator[b] = builder->is_accumulator[b] || is_accumulator;
    builder->parent[last_of(builder, b)] = last_of(builder, a);
}

void wsdbg_wgmma_builder_event(struct wsdbg_wgmma_builder *builder, struct wsdbg_wgmma_event event)
{
    struct wsdbg_wgmma_code *code = builder->code;
    if (code->event_count == builder->event_room) {
        const size_t room = builder->event_room ? 2 * builder->event_room : 64;
        struct wsdbg_wgmma_event *more = realloc(code->events, room * sizeof *more);
        if (!more) {
            builder->is_out_of_memory = true;
            return;
        }
        code->events = more;
        builder->event_room = room;
    }
    code->events[code->event_count++] = event;
    code->issue_count += event.kind == WSDBG_WGMMA_ISSUE;
    code->wait_count += event.kind == WSDBG_WGMMA_WAIT;
}

void wsdbg_wgmma_builder_successor(struct wsdbg_wgmma_builder *builder, uint32_t block)
{
    if (builder->successor_count == builder->successor_room) {
        const size_t room = builder->successor_room ? 2 * builder->successor_room : 256;
        uint32_t *more = realloc(builder->code->successors, room * sizeof *more);
        if (!more) {
            builder->is_out_of_memory = true;
            return;
        }
        builder->code->successors = more;
        builder->successor_room = room;
    }
    builder->code->successors[builder->successor_count++] = block;
}

static uint8_t tile_of(const struct wsdbg_wgmma_code *code, uint32_t number)
{
    return number < code->register_count ? code->tile_of[number] : WSDBG_WGMMA_NO_TILE;
}

/* The tile of a register; a new number where it is the first register of one. */
static void number_register(struct wsdbg_wgmma_builder *builder, uint32_t number)
{
    struct wsdbg_wgmma_code *code = builder->code;
    const uint32_t last = last_of(builder, number);
    if (code->tile_of[last] == WSDBG_WGMMA_NO_TILE) {
        if (code->tile_count == WSDBG_WGMMA_TILES_MOST) {
            code->has_too_many_tiles = true;
            return;
        }
        code->is_input[code->tile_count] = true;
        code->tile_of[last] = (uint8_t)code->tile_count++;
    }
    const uint8_t tile = code->tile_of[number] = code->tile_of[last];
    code->tile_registers[tile]++;
    if (builder->is_accumulator[number])
        code->is_input[tile] = false;
}

struct wsdbg_error *wsdbg_wgmma_builder_finish(struct wsdbg_wgmma_builder *builder)
{
    struct wsdbg_wgmma_code *code = builder->code;
    if (!builder->is_out_of_memory) {
        for (uint32_t i = 0; i < code->register_count; i++)
            if (builder->is_used[i])
                number_register(builder, i);
        for (size_t i = 0; i < code->event_count; i++) {
            code->events[i].tile = tile_of(code, code->events[i].register_of_tile);
            code->events[i].input = tile_of(code, code->events[i].register_of_input);
        }
    }
    free(builder->parent);
    free(builder->is_accumulator);
    free(builder->is_used);
    if (!builder->is_out_of_memory)
        return NULL;
    wsdbg_wgmma_code_deinit(code);
    return &wsdbg_error_no_memory;
}

void wsdbg_wgmma_code_deinit(struct wsdbg_wgmma_code *code)
{
    free(code->events);
    free(code->blocks);
    free(code->successors);
    free(code->tile_of);
    *code = (struct wsdbg_wgmma_code){0};
}

static int compare_events(const void *a, const void *b)
{
    const struct wsdbg_wgmma_event *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

const struct wsdbg_wgmma_event *wsdbg_wgmma_event_at(const struct wsdbg_wgmma_code *code, uint32_t instruction)
{
    const struct wsdbg_wgmma_event wanted = {.at = instruction};
    return code->event_count ? bsearch(&wanted, code->events, code->event_count, sizeof *code->events, compare_events)
                             : NULL;
}
