/* joined_frame.c - see joined_frame.h: what each register and each word of the frame may hold at the begin of each
 * block.
 *
 * Reads: the graph of joined code.  Writes: memory of its own.
 *
 * Blocks pass what they leave to those behind them until nothing grows any more.
 */
#include <stdlib.h>
#include <string.h>

#include "sass/joined_frame_parts.h"

enum { WORDS_MOST = 2048, PASSES_EACH = 64, ROUNDS_MOST = 6 };
enum { FRAME_BYTES_MOST = 512 << 10 }; /* the local memory that the hardware gives to a thread */

static void flow_into(struct frame *frame, uint32_t block)
{
    uint32_t *begin = &frame->at_begin[block * frame->row];
    for (size_t i = 0; i < frame->row; i++) {
        const uint32_t value = meet(begin[i], frame->state[i]);
        frame->is_waiting[block] |= value != begin[i];
        begin[i] = value;
    }
}

/* Whether it is known where a branch leads that has a guard. */
static void decide_branch(const struct frame *frame, const struct wsdbg_block *block, struct joined_access *branch)
{
    const struct wsdbg_instruction *last = &frame->graph->instructions[block->first + block->count - 1];
    const enum wsdbg_truth taken = frame_executes(frame, last);
    branch->is_decided = last->operation == WSDBG_OP_BRA && block->successor_count == 2 &&
                         taken != WSDBG_TRUTH_UNKNOWN && !wsdbg_flow_is_unguarded(last) &&
                         !wsdbg_flow_asks_more_than_guard(last);
    branch->is_taken = taken == WSDBG_TRUTH_YES;
}

static void pass_block(struct frame *frame, uint32_t number)
{
    const struct wsdbg_graph *graph = frame->graph;
    const struct wsdbg_block *block = &graph->blocks[number];
    frame->is_waiting[number] = false;
    memcpy(frame->state, &frame->at_begin[number * frame->row], frame->row * sizeof *frame->state);
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        frame_step(frame, i, &frame->out->accesses[i]);
    if (block->calls && block->callee != WSDBG_GRAPH_NONE) {
        flow_into(frame, graph->block_of[block->callee]);
        frame_call_inner(frame, graph->procedure_at[graph->block_of[block->callee]]);
    } else if (block->calls) {
        frame_call_unknown(frame, &graph->instructions[block->first + block->count - 1]);
    }
    struct joined_access *branch = &frame->out->accesses[block->first + block->count - 1];
    decide_branch(frame, block, branch);
    for (uint32_t s = 0; s < block->successor_count; s++)
        if (block->successor[s] != WSDBG_GRAPH_NONE && (!branch->is_decided || branch->is_taken == (s == 1)))
            flow_into(frame, block->successor[s]);
}

/* Blocks whose state has grown, in turn.  False: it takes too long. */
static bool pass_all(struct frame *frame)
{
    const uint32_t blocks = frame->graph->block_count;
    uint64_t left = (uint64_t)PASSES_EACH * blocks;
    for (bool grows = true; grows && left;) {
        const bool had_escaped = frame->has_escaped;
        grows = false;
        for (uint32_t block = 0; block < blocks && left; block++) {
            if (!frame->is_waiting[block])
                continue;
            pass_block(frame, block);
            grows = true;
            left--;
        }
        for (uint32_t block = 0; frame->has_escaped && !had_escaped && block < blocks; block++)
            frame->is_waiting[block] |= frame->at_begin[block * frame->row] != NOTHING;
    }
    return left > 0;
}

static void begin(struct frame *frame)
{
    for (size_t i = 0; i < frame->row; i++)
        frame->state[i] = OTHER;
    flow_into(frame, frame->graph->block_of[0]);
}

static void mark_dead(struct frame *frame)
{
    for (uint32_t i = 0; i < frame->graph->instruction_count; i++)
        if (frame->at_begin[frame->graph->block_of[i] * frame->row] == NOTHING)
            frame->out->accesses[i] = (struct joined_access){.is_dead = true};
}

/* Whether each write of the stack pointer is understood, and how deep the frame reaches. */
static bool is_pointer_known(const struct frame *frame)
{
    static const struct wsdbg_operand pointer = {.kind = WSDBG_OPERAND_REGISTER, .number = JOINED_STACK_POINTER};
    const unsigned reg = wsdbg_register_of(&pointer, 0);
    for (uint32_t i = 0; i < frame->graph->instruction_count; i++) {
        const struct wsdbg_instruction *in = &frame->graph->instructions[i];
        const struct joined_access *access = &frame->out->accesses[i];
        if (!access->is_dead && in->operation != WSDBG_OP_OTHER && wsdbg_writes(in, reg) && !access->moves_pointer &&
            !access->sets_pointer)
            return false;
    }
    return true;
}

/* Follows all registers and so many words of the frame. */
static struct wsdbg_error *follow(struct frame *frame, uint32_t words)
{
    const struct wsdbg_graph *graph = frame->graph;
    frame->words = words;
    frame->row = REGISTERS + words;
    frame->has_escaped = frame->out->is_given_away = false;
    frame->at_begin = calloc(((size_t)graph->block_count + 1) * frame->row, sizeof *frame->at_begin);
    frame->is_waiting = calloc((size_t)graph->block_count + 1, sizeof *frame->is_waiting);
    frame->state = calloc(frame->row, sizeof *frame->state);
    frame->scratch = calloc(1, sizeof *frame->scratch);
    const bool has_memory = frame->at_begin && frame->is_waiting && frame->state && frame->scratch;
    if (has_memory && graph->instruction_count) {
        begin(frame);
        const bool is_whole = pass_all(frame);
        mark_dead(frame);
        frame->out->is_known = is_whole && is_pointer_known(frame);
    }
    free(frame->at_begin);
    free(frame->is_waiting);
    free(frame->state);
    free(frame->scratch);
    return has_memory ? NULL : &wsdbg_error_no_memory;
}

/* Whether the last time something was taken for what it is not. */
static bool has_mistaken_span(const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->graph->instruction_count; i++)
        if (frame->spans[i].was_known)
            return true;
    return false;
}

/* One span may be found when another one is known. */
static struct wsdbg_error *follow_spans(struct frame *frame)
{
    struct wsdbg_error *error = NULL;
    for (unsigned round = 0; !error && frame_has_new_spans(frame) && round < ROUNDS_MOST; round++) {
        error = frame_measure_spans(frame);
        if (!error)
            error = follow(frame, frame->words);
    }
    frame->out->is_known &= !has_mistaken_span(frame);
    return error;
}

/* How many words are followed: there is memory for so many states. */
static uint32_t words_most(const struct wsdbg_graph *graph)
{
    enum { STATES_MOST = 1 << 25 };
    const uint32_t row = STATES_MOST / (graph->block_count + 1);
    return row < REGISTERS ? 0 : row - REGISTERS < WORDS_MOST ? row - REGISTERS : WORDS_MOST;
}

/* Finds what each inner function writes: one that the kernel calls, and whose code is joined with it. */
static struct wsdbg_error *find_inner(struct frame *frame)
{
    const struct wsdbg_graph *graph = frame->graph;
    frame->inner = calloc((size_t)graph->procedure_count + 1, sizeof *frame->inner);
    if (!frame->inner)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        const uint32_t of = graph->procedure_of[graph->block_of[i]];
        if (of < graph->procedure_count || of == WSDBG_PROCEDURE_SEVERAL)
            frame_add_inner(&frame->inner[of == WSDBG_PROCEDURE_SEVERAL ? graph->procedure_count : of],
                            &graph->instructions[i]);
    }
    return NULL;
}

/* The pointer does not depend on what is in the frame.  So the first time only the pointer's values are found, which
 * tell how large the frame is. */
struct wsdbg_error *joined_frame_find(const struct wsdbg_graph *graph, bool calls_program, struct joined_frame *out)
{
    struct frame frame = {.graph = graph,
                          .out = out,
                          .calls_program = calls_program,
                          .spans = calloc((size_t)graph->instruction_count + 1, sizeof *frame.spans)};
    *out = (struct joined_frame){.accesses = calloc((size_t)graph->instruction_count + 1, sizeof *out->accesses)};
    struct wsdbg_error *error = out->accesses && frame.spans ? find_inner(&frame) : &wsdbg_error_no_memory;
    if (!error)
        error = follow(&frame, 0);
    out->is_known &= out->deepest_bytes >= -FRAME_BYTES_MOST;
    if (!error && out->is_known) {
        const uint32_t words = (uint32_t)-out->deepest_bytes / WORD_BYTES, most = words_most(graph);
        memset(frame.spans, 0, graph->instruction_count * sizeof *frame.spans);
        error = follow(&frame, words < most ? words : most);
        if (!error)
            error = follow_spans(&frame);
    }
    free(frame.spans);
    free(frame.inner);
    if (error) {
        free(out->accesses);
        out->accesses = NULL;
    }
    return error;
}
