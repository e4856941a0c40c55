/* joined.c - see joined.h.  Copies functions behind one another, turns calls and returns into branches, and leaves out
 * what does nothing.
 *
 * Reads: the code of functions.  Writes: memory of its own.
 */
#include "sass/joined.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sass/branches.h"
#include "sass/joined_code.h"

enum { LINES_MOST = 1 << 16, DEPTH_MOST = 48 };

/* A function that is called somewhere, decoded once. */
struct piece {
    const struct wsdbg_cubin_function *function;
    struct wsdbg_graph *graph;
    bool *is_main; /* by block: a way leads there from the function's begin, which is no call */
    bool can_be_copied;
};

struct joining {
    const struct wsdbg_joined_module *module;
    struct joined_code code;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    struct wsdbg_joined_copy *copies;
    size_t copy_count, copy_capacity;
    uint32_t *first_lines; /* by copy */
    size_t first_capacity;
    bool is_too_large;
};

/* ---- functions ---- */

/* Marks the blocks behind the first one.  What is called within the function returns there. */
static struct wsdbg_error *mark_main(struct piece *piece)
{
    const struct wsdbg_graph *graph = piece->graph;
    uint32_t *open = calloc((size_t)graph->block_count + 1, sizeof *open), count = 0;
    piece->is_main = calloc((size_t)graph->block_count + 1, sizeof *piece->is_main);
    if (!open || !piece->is_main) {
        free(open);
        return &wsdbg_error_no_memory;
    }
    if (graph->block_count)
        piece->is_main[open[count++] = 0] = true;
    while (count) {
        const struct wsdbg_block *block = &graph->blocks[open[--count]];
        piece->can_be_copied &= !block->is_indirect;
        for (uint32_t s = 0; s < block->successor_count; s++)
            if (block->successor[s] != WSDBG_GRAPH_NONE && !piece->is_main[block->successor[s]])
                piece->is_main[open[count++] = block->successor[s]] = true;
    }
    free(open);
    return NULL;
}

/* Whether a block is also part of an inner function: then it is not known where its return leads. */
static bool is_shared(const struct piece *piece, uint32_t block)
{
    return piece->is_main[block] && piece->graph->procedure_of[block] == WSDBG_PROCEDURE_SEVERAL;
}

static struct wsdbg_error *piece_of(struct joining *joining, const struct wsdbg_cubin_function *function, size_t *out)
{
    for (*out = 0; *out < joining->piece_count; ++*out)
        if (joining->pieces[*out].function == function)
            return NULL;
    if (!wsdbg_grow((void **)&joining->pieces, &joining->piece_capacity, joining->piece_count + 1,
                    sizeof *joining->pieces))
        return &wsdbg_error_no_memory;
    struct piece *piece = &joining->pieces[joining->piece_count++];
    *piece = (struct piece){.function = function, .can_be_copied = true};
    struct wsdbg_error *error = wsdbg_graph_create_of_function(function, &piece->graph);
    if (!error)
        error = mark_main(piece);
    for (uint32_t b = 0; !error && b < piece->graph->block_count; b++)
        piece->can_be_copied &= !piece->graph->blocks[b].returns || !is_shared(piece, b);
    return error;
}

/* The image that driver 580 gives to debuggers has no correct address of a called function: the fields for its bits 2,
 * 10 and 40 and those above all begin with bit 2, and each lacks its highest bit.  So its bits up to 30 are there;
 * those above are as those of the function which calls, or bit 31 is another one. */
static const struct wsdbg_cubin_function *find_by_low_bits(const struct joining *joining,
                                                           const struct wsdbg_instruction *call, uint64_t near)
{
    enum { FIRST_SHIFT = 16, SECOND_SHIFT = 34 };
    const uint64_t first_mask = (1u << 7) - 1, second_mask = (1u << 29) - 1, third_mask = (1u << 16) - 1;
    const uint64_t steps = call->words[0] >> SECOND_SHIFT & second_mask, low = steps << 2;
    const bool are_alike = (call->words[0] >> FIRST_SHIFT & first_mask) == (steps & first_mask) &&
                           (call->words[1] & third_mask) == (steps & third_mask);
    const uint64_t known = second_mask << 2 | 3, to = (near & ~known) | low;
    if (!call->is_absolute || !are_alike)
        return NULL;
    const struct wsdbg_cubin_function *callee = joining->module->function_at(joining->module->context, to);
    return callee ? callee : joining->module->function_at(joining->module->context, to ^ (known + 1));
}

/* The function that an instruction calls, if that is another one. */
static const struct wsdbg_cubin_function *callee_of(const struct joining *joining,
                                                    const struct wsdbg_cubin_function *function, uint32_t number,
                                                    const struct wsdbg_instruction *call)
{
    const struct wsdbg_joined_module *module = joining->module;
    const uint64_t at = function->address + (uint64_t)number * WSDBG_INSTRUCTION_BYTES;
    const uint64_t to = (call->is_absolute ? 0 : at) + (uint64_t)call->target_offset_bytes;
    const bool is_call = wsdbg_operation_class(call->operation) == WSDBG_CLASS_CALL && call->has_target;
    if (!is_call || call->source_count || to - function->address < function->code.byte_count)
        return NULL;
    const struct wsdbg_cubin_function *callee = module->function_at(module->context, to);
    return callee ? callee : find_by_low_bits(joining, call, at);
}

/* ---- copies ---- */

static bool is_being_called(const struct joining *joining, uint32_t copy, const struct wsdbg_cubin_function *function)
{
    unsigned depth = 0;
    for (; copy != WSDBG_GRAPH_NONE; copy = joining->copies[copy].caller, depth++)
        if (joining->copies[copy].function == function || depth == DEPTH_MOST)
            return true;
    return false;
}

static struct wsdbg_error *add_copy(struct joining *joining, const struct wsdbg_joined_copy *copy)
{
    if (!wsdbg_grow((void **)&joining->copies, &joining->copy_capacity, joining->copy_count + 1,
                    sizeof *joining->copies) ||
        !wsdbg_grow((void **)&joining->first_lines, &joining->first_capacity, joining->copy_count + 1,
                    sizeof *joining->first_lines))
        return &wsdbg_error_no_memory;
    joining->copies[joining->copy_count++] = *copy;
    return NULL;
}

static struct wsdbg_error *copy_ways(struct joining *joining, const struct wsdbg_graph *graph, uint32_t first)
{
    struct joined_code *code = &joining->code;
    if (!wsdbg_grow((void **)&code->ways, &code->way_capacity, code->way_count + graph->way_count, sizeof *code->ways))
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->way_count; i++)
        code->ways[code->way_count++] =
            (struct wsdbg_way){graph->ways[i].from + first, graph->ways[i].to + first, graph->ways[i].value};
    return NULL;
}

/* Appends the code of a copy.  The functions that it calls are copied later. */
static struct wsdbg_error *copy_lines(struct joining *joining, uint32_t copy, const struct piece *piece)
{
    struct joined_code *code = &joining->code;
    const uint32_t count = piece->graph->instruction_count;
    if (code->count + count > LINES_MOST) {
        joining->is_too_large = true;
        return NULL;
    }
    if (!wsdbg_grow((void **)&code->lines, &code->capacity, code->count + count, sizeof *code->lines))
        return &wsdbg_error_no_memory;
    joining->first_lines[copy] = code->count;
    joining->copies[copy].count = count;
    for (uint32_t i = 0; i < count; i++)
        code->lines[code->count + i] =
            (struct joined_line){.instruction = piece->graph->instructions[i], .origin = {copy, i}};
    code->count += count;
    return copy_ways(joining, piece->graph, joining->first_lines[copy]);
}

/* A branch from one line to another, under the same guard as before. */
static void turn_into_branch(struct joined_code *code, uint32_t line, uint32_t to)
{
    enum { OPCODE_OF_BRANCH = 0x947, PREDICATE_SHIFT = 23 };
    const struct wsdbg_instruction *old = &code->lines[line].instruction;
    code->lines[line].instruction =
        (struct wsdbg_instruction){.words = {OPCODE_OF_BRANCH, (uint64_t)WSDBG_PT << PREDICATE_SHIFT},
                                   .operation = WSDBG_OP_BRA,
                                   .guard = old->guard,
                                   .guard_is_negated = old->guard_is_negated,
                                   .guard_is_uniform = old->guard_is_uniform,
                                   .is_whole = true,
                                   .has_target = true,
                                   .target_offset_bytes = ((int64_t)to - (int64_t)line) * WSDBG_INSTRUCTION_BYTES};
}

/* Returns of a copy lead behind its call. */
static void turn_returns(struct joining *joining, uint32_t copy, const struct piece *piece)
{
    const struct wsdbg_joined_copy *row = &joining->copies[copy];
    const uint32_t first = joining->first_lines[copy], back = joining->first_lines[row->caller] + row->call + 1;
    for (uint32_t b = 0; b < piece->graph->block_count; b++) {
        const struct wsdbg_block *block = &piece->graph->blocks[b];
        if (block->returns && piece->is_main[b])
            turn_into_branch(&joining->code, first + block->first + block->count - 1, back);
    }
}

/* Notes a copy for a call of one; its code is appended when it is this copy's turn. */
static struct wsdbg_error *note_call(struct joining *joining, uint32_t copy, uint32_t number)
{
    const struct wsdbg_joined_copy row = joining->copies[copy];
    const struct wsdbg_instruction *call = &joining->code.lines[joining->first_lines[copy] + number].instruction;
    const struct wsdbg_cubin_function *callee = callee_of(joining, row.function, number, call);
    size_t piece;
    if (!callee)
        return NULL;
    struct wsdbg_error *error = piece_of(joining, callee, &piece);
    const bool can_be_copied = !error && joining->pieces[piece].can_be_copied && number + 1 < row.count &&
                               !is_being_called(joining, copy, callee);
    joining->code.calls_program |= !can_be_copied;
    if (!can_be_copied)
        return error;
    return add_copy(joining, &(struct wsdbg_joined_copy){.function = callee, .caller = copy, .call = number});
}

static struct wsdbg_error *copy_one(struct joining *joining, uint32_t copy)
{
    const struct wsdbg_joined_copy row = joining->copies[copy];
    size_t piece;
    struct wsdbg_error *error = piece_of(joining, row.function, &piece);
    if (!error)
        error = copy_lines(joining, copy, &joining->pieces[piece]);
    if (error || joining->is_too_large)
        return error;
    if (row.caller != WSDBG_GRAPH_NONE) {
        turn_returns(joining, copy, &joining->pieces[piece]);
        turn_into_branch(&joining->code, joining->first_lines[row.caller] + row.call, joining->first_lines[copy]);
    }
    for (uint32_t i = 0; !error && i < joining->copies[copy].count; i++)
        error = note_call(joining, copy, i);
    return error;
}

static struct wsdbg_error *copy_all(struct joining *joining, const struct wsdbg_cubin_function *function)
{
    struct wsdbg_error *error = add_copy(
        joining,
        &(struct wsdbg_joined_copy){.function = function, .caller = WSDBG_GRAPH_NONE, .call = WSDBG_GRAPH_NONE});
    for (uint32_t copy = 0; !error && copy < joining->copy_count && !joining->is_too_large; copy++)
        error = copy_one(joining, copy);
    return error;
}

/* ---- the graph ---- */

static bool moves_to_itself(const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *to = &instruction->destinations[0], *from = &instruction->sources[0];
    return instruction->operation == WSDBG_OP_MOV && instruction->destination_count == 1 &&
           instruction->source_count == 1 && from->kind == WSDBG_OPERAND_REGISTER && to->kind == from->kind &&
           to->number == from->number && !from->is_negated && !from->is_inverted;
}

/* A compiler that optimises moves hardly any register to itself: kernels of cuBLAS and NCCL have up to 4 such moves in
 * thousands of instructions. */
static bool is_optimised(const struct joined_code *code)
{
    enum { MOVES_LEAST = 3, INSTRUCTIONS_PER_MOVE = 200 };
    uint32_t moves = 0;
    for (uint32_t i = 0; i < code->count; i++)
        moves += moves_to_itself(&code->lines[i].instruction);
    return moves < MOVES_LEAST || moves < code->count / INSTRUCTIONS_PER_MOVE;
}

static struct wsdbg_error *graph_of_lines(const struct joined_code *code, struct wsdbg_graph **out)
{
    struct wsdbg_instruction *instructions = malloc(((size_t)code->count + 1) * sizeof *instructions);
    for (uint32_t i = 0; instructions && i < code->count; i++)
        instructions[i] = code->lines[i].instruction;
    return wsdbg_flow_create_owning(instructions, code->count, code->ways, code->way_count, out);
}

/* Whether the stack still has room is asked at the begin of each function: it has. */
static void pass_stack_checks(struct joined_code *code)
{
    for (uint32_t i = 0; i + 3 < code->count; i++) {
        const struct wsdbg_instruction *end = &code->lines[i].instruction;
        struct wsdbg_instruction *branch = &code->lines[i + 2].instruction;
        const bool reads_end = end->operation == WSDBG_OP_S2R && end->source_count == 1 &&
                               end->sources[0].value == JOINED_SPECIAL_STACK_END;
        if (!reads_end || code->lines[i + 1].instruction.operation != WSDBG_OP_ISETP ||
            branch->operation != WSDBG_OP_BRA || branch->target_offset_bytes != 2 * WSDBG_INSTRUCTION_BYTES ||
            !wsdbg_flow_is_trap(&code->lines[i + 3].instruction))
            continue;
        branch->guard = WSDBG_PT;
        branch->guard_is_negated = branch->guard_is_uniform = false;
        code->lines[i].is_left_out = code->lines[i + 1].is_left_out = true;
    }
}

/* What no way leads to is left out; not if the code has branches that may lead anywhere. */
static void leave_out(struct joined_code *code, const struct wsdbg_graph *graph)
{
    bool is_known = true;
    for (uint32_t b = 0; b < graph->block_count; b++)
        is_known &= !graph->blocks[b].is_indirect || graph->procedure_of[b] == WSDBG_GRAPH_NONE;
    for (uint32_t i = 0; i < code->count; i++) {
        const struct wsdbg_instruction *instruction = &code->lines[i].instruction;
        code->lines[i].is_left_out |= instruction->operation == WSDBG_OP_NOP || moves_to_itself(instruction) ||
                                      (is_known && graph->procedure_of[graph->block_of[i]] == WSDBG_GRAPH_NONE);
    }
}

/* Each instruction of each copy at its place in the graph. */
static struct wsdbg_error *put_places(const struct joining *joining, const uint32_t *places,
                                      const struct wsdbg_graph *raw, struct wsdbg_joined *out)
{
    out->places = calloc((size_t)joining->code.count + 1, sizeof *out->places);
    if (!out->places)
        return &wsdbg_error_no_memory;
    for (uint32_t copy = 0; copy < out->copy_count; copy++)
        out->copies[copy].first = joining->first_lines[copy];
    for (uint32_t i = 0; i < joining->code.count; i++)
        out->places[i] = joining->code.lines[i].is_dead || joining->code.lines[i].is_inside ||
                                 raw->procedure_of[raw->block_of[i]] == WSDBG_GRAPH_NONE
                             ? WSDBG_GRAPH_NONE
                             : places[i];
    return NULL;
}

static struct wsdbg_error *finish(struct joining *joining, struct wsdbg_joined *out)
{
    struct wsdbg_graph *raw = NULL;
    uint32_t *places = NULL;
    pass_stack_checks(&joining->code);
    struct wsdbg_error *error = graph_of_lines(&joining->code, &raw);
    if (!error) {
        joined_fold_logic(&joining->code, raw);
        joined_make_swaps(&joining->code, raw);
        joined_make_shifts(&joining->code, raw);
        wsdbg_graph_destroy(raw);
        raw = NULL;
        error = graph_of_lines(&joining->code, &raw);
    }
    if (!error)
        error = joined_follow_frame(&joining->code, raw);
    if (!error) {
        leave_out(&joining->code, raw);
        places = joined_number_lines(&joining->code);
        error = places ? joined_put_graph(&joining->code, places, out) : &wsdbg_error_no_memory;
    }
    out->copies = joining->copies;
    out->copy_count = (uint32_t)joining->copy_count;
    joining->copies = NULL;
    if (!error)
        error = put_places(joining, places, raw, out);
    free(places);
    wsdbg_graph_destroy(raw);
    return error;
}

static void free_joining(struct joining *joining)
{
    for (size_t i = 0; i < joining->piece_count; i++) {
        wsdbg_graph_destroy(joining->pieces[i].graph);
        free(joining->pieces[i].is_main);
    }
    free(joining->pieces);
    free(joining->copies);
    free(joining->first_lines);
    free(joining->code.lines);
    free(joining->code.ways);
}

struct wsdbg_error *wsdbg_joined_create(const struct wsdbg_cubin_function *function,
                                        const struct wsdbg_joined_module *module, struct wsdbg_joined **out)
{
    struct joining joining = {.module = module};
    *out = NULL;
    struct wsdbg_error *error = copy_all(&joining, function);
    if (!error && !joining.is_too_large && (joining.copy_count > 1 || !is_optimised(&joining.code))) {
        *out = calloc(1, sizeof **out);
        error = *out ? finish(&joining, *out) : &wsdbg_error_no_memory;
    }
    free_joining(&joining);
    if (error) {
        wsdbg_joined_destroy(*out);
        *out = NULL;
    }
    return error;
}

void wsdbg_joined_destroy(struct wsdbg_joined *joined)
{
    if (!joined)
        return;
    wsdbg_graph_destroy(joined->graph);
    free(joined->copies);
    free(joined->places);
    free(joined->origins);
    free(joined);
}

size_t wsdbg_joined_places(const struct wsdbg_joined *joined, const struct wsdbg_cubin_function *function,
                           uint32_t number, struct wsdbg_joined_place *out, size_t most)
{
    size_t count = 0;
    for (uint32_t i = 0; i < joined->copy_count; i++) {
        const struct wsdbg_joined_copy *copy = &joined->copies[i];
        const uint32_t place = copy->function == function && number < copy->count ? joined->places[copy->first + number]
                                                                                  : WSDBG_GRAPH_NONE;
        if (place >= wsdbg_graph_instruction_count(joined->graph))
            continue;
        if (count < most)
            out[count] = (struct wsdbg_joined_place){i, place};
        count++;
    }
    return count;
}
