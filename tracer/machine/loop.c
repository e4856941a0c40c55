/* loop.c - see loop.h.  Reads: a function's graph.  Writes: the set of blocks of one loop. */
#include "machine/loop.h"

#include <stdlib.h>

enum { STEPS_MAX = 64 }; /* writes followed back from one operand */

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static bool leads_to(const struct wsdbg_block *block, uint32_t to)
{
    for (uint32_t s = 0; s < block->successor_count; s++)
        if (block->successor[s] == to)
            return true;
    return false;
}

/* Blocks from which the head is reached again without leaving the loop, backwards from those that jump to it. */
static void flood(struct wsdbg_loop *loop)
{
    const uint32_t count = wsdbg_graph_block_count(loop->graph);
    for (bool grows = true; grows;) {
        grows = false;
        for (uint32_t i = 0; i < count; i++) {
            const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, i);
            if (has_bit(loop->body, i))
                continue;
            for (uint32_t s = 0; s < block->successor_count && !has_bit(loop->body, i); s++)
                if (block->successor[s] < count && block->successor[s] != loop->head &&
                    has_bit(loop->body, block->successor[s])) {
                    set_bit(loop->body, i);
                    grows = true;
                }
        }
    }
}

/* A block jumps back to the head if it cannot be reached but through it; one that can is on the way in. */
static struct wsdbg_error *collect_body(struct wsdbg_loop *loop)
{
    const uint32_t count = wsdbg_graph_block_count(loop->graph);
    const uint32_t head = wsdbg_graph_block(loop->graph, loop->head)->first;
    uint64_t *avoid = calloc(wsdbg_graph_instruction_count(loop->graph) / 64 + 1, sizeof *avoid);
    loop->body = calloc(count / 64 + 1, sizeof *loop->body);
    if (!avoid || !loop->body) {
        free(avoid);
        free(loop->body);
        return &wsdbg_error_no_memory;
    }
    set_bit(avoid, head);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, i);
        if (leads_to(block, loop->head) &&
            (i == loop->head || wsdbg_graph_reaches(loop->graph, 0, block->first, avoid) == WSDBG_REACHES_NO))
            set_bit(loop->body, i);
    }
    free(avoid);
    flood(loop);
    set_bit(loop->body, loop->head);
    return NULL;
}

static bool is_store_to_shared(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_STS;
}

static bool is_load(const struct wsdbg_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_OP_LD:
    case WSDBG_OP_LDG:
    case WSDBG_OP_LDS:
    case WSDBG_OP_ATOM:
    case WSDBG_OP_ATOMG:
    case WSDBG_OP_ATOMS:
        return true;
    default:
        return false;
    }
}

/* What changes nothing that others see: the rest of the decoded set does, or may. */
static bool is_harmless(const struct wsdbg_instruction *instruction)
{
    const enum wsdbg_operation operation = instruction->operation;
    if (operation >= WSDBG_OP_MOV && operation < WSDBG_OP_COUNT)
        return true;
    switch (operation) {
    case WSDBG_OP_SYNCS_PHASECHK:
    case WSDBG_OP_USETMAXREG:
    case WSDBG_OP_BAR:
    case WSDBG_OP_WARPSYNC:
    case WSDBG_OP_NANOSLEEP:
    case WSDBG_OP_ELECT:
    case WSDBG_OP_BRA:
    case WSDBG_OP_EXIT:
    case WSDBG_OP_BSSY:
    case WSDBG_OP_BSYNC:
    case WSDBG_OP_BREAK:
    case WSDBG_OP_BMOV:
    case WSDBG_OP_YIELD:
    case WSDBG_OP_NOP:
    case WSDBG_OP_LDC:
    case WSDBG_OP_ULDC:
    case WSDBG_OP_MEMBAR:
    case WSDBG_OP_ERRBAR:
    case WSDBG_OP_CGAERRBAR:
    case WSDBG_OP_CCTL:
    case WSDBG_OP_FENCE:
    case WSDBG_OP_DEPBAR:
        return true;
    default:
        return false;
    }
}

static void classify(struct wsdbg_loop *loop)
{
    loop->is_quiet = true;
    for (uint32_t i = wsdbg_loop_next(loop, 0); loop->is_quiet && i != WSDBG_NO_INSTRUCTION;
         i = wsdbg_loop_next(loop, i + 1)) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, i);
        const struct wsdbg_operand *memory = wsdbg_memory_operand(instruction);
        const bool at_kept_place = memory && wsdbg_loop_keeps(loop, i, memory);
        loop->has_global |=
            is_load(instruction) && instruction->operation != WSDBG_OP_LDS && instruction->operation != WSDBG_OP_ATOMS;
        loop->is_quiet &=
            is_load(instruction) || is_store_to_shared(instruction) ? at_kept_place : is_harmless(instruction);
    }
}

/* Whether the blocks of this loop itself, without those of loops in it, do nothing but look and compute: a glance that
 * spares most loops the rest. */
static bool may_only_wait(const struct wsdbg_graph *graph, uint32_t head)
{
    bool looks = false;
    for (uint32_t b = 0; b < wsdbg_graph_block_count(graph); b++) {
        const struct wsdbg_block *block = wsdbg_graph_block(graph, b);
        for (uint32_t i = block->first; block->loop == head && i < block->first + block->count; i++) {
            const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, i);
            if (!is_load(instruction) && !is_store_to_shared(instruction) && !is_harmless(instruction))
                return false;
            looks |= is_load(instruction) || instruction->operation == WSDBG_OP_SYNCS_PHASECHK ||
                     instruction->operation == WSDBG_OP_USETMAXREG;
        }
    }
    return looks;
}

struct wsdbg_error *wsdbg_loop_around(const struct wsdbg_graph *graph, uint32_t instruction, struct wsdbg_loop *out,
                                      bool *found)
{
    const uint32_t head = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, instruction))->loop;
    *found = false;
    if (head >= wsdbg_graph_block_count(graph) || !may_only_wait(graph, head))
        return NULL;
    *out = (struct wsdbg_loop){.graph = graph, .head = head};
    struct wsdbg_error *error = collect_body(out);
    if (error)
        return error;
    classify(out);
    *found = true;
    return NULL;
}

bool wsdbg_loop_has(const struct wsdbg_loop *loop, uint32_t instruction)
{
    return has_bit(loop->body, wsdbg_graph_block_of(loop->graph, instruction));
}

uint32_t wsdbg_loop_next(const struct wsdbg_loop *loop, uint32_t from)
{
    const uint32_t count = wsdbg_graph_instruction_count(loop->graph);
    while (from < count && !wsdbg_loop_has(loop, from)) {
        const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, from));
        from = block->first + block->count > from ? block->first + block->count : from + 1;
    }
    return from < count ? from : WSDBG_NO_INSTRUCTION;
}

const struct wsdbg_operand *wsdbg_memory_operand(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_MEMORY)
            return &instruction->sources[i];
    return NULL;
}

const struct wsdbg_operand *wsdbg_loaded_register(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (instruction->destinations[i].kind == WSDBG_OPERAND_REGISTER &&
            instruction->destinations[i].number != WSDBG_RZ)
            return &instruction->destinations[i];
    return NULL;
}

/* Registers `first` and the ones behind it, as many as the operand spans. */
struct span {
    uint8_t kind;
    unsigned first, count;
};

static bool overlap(const struct span *a, const struct wsdbg_operand *written)
{
    const unsigned count = written->registers ? written->registers : 1;
    return written->kind == a->kind && written->number < a->first + a->count && a->first < written->number + count;
}

static bool writes(const struct wsdbg_instruction *instruction, const struct span *span)
{
    for (unsigned i = 0; span->count && i < instruction->destination_count; i++)
        if (overlap(span, &instruction->destinations[i]))
            return true;
    return false;
}

/* The registers an operand reads: at most one row of general ones and one of uniform ones, or a predicate. */
static void spans_of(const struct wsdbg_operand *operand, struct span out[2])
{
    const unsigned count = operand->registers ? operand->registers : 1;
    out[0] = out[1] = (struct span){0};
    if (operand->kind == WSDBG_OPERAND_MEMORY) {
        if (operand->number != WSDBG_RZ)
            out[0] = (struct span){WSDBG_OPERAND_REGISTER, operand->number, count};
        if (operand->uniform != WSDBG_URZ)
            out[1] = (struct span){WSDBG_OPERAND_UNIFORM, operand->uniform, count};
    } else if (operand->kind == WSDBG_OPERAND_REGISTER && operand->number != WSDBG_RZ) {
        out[0] = (struct span){WSDBG_OPERAND_REGISTER, operand->number, count};
    } else if (operand->kind == WSDBG_OPERAND_UNIFORM && operand->number != WSDBG_URZ) {
        out[0] = (struct span){WSDBG_OPERAND_UNIFORM, operand->number, count};
    } else if ((operand->kind == WSDBG_OPERAND_PREDICATE || operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE) &&
               operand->number != WSDBG_PT) {
        out[0] = (struct span){operand->kind, operand->number, 1};
    }
}

bool wsdbg_writes_operand(const struct wsdbg_instruction *instruction, const struct wsdbg_operand *operand)
{
    struct span spans[2];
    spans_of(operand, spans);
    return writes(instruction, &spans[0]) || writes(instruction, &spans[1]);
}

bool wsdbg_loop_writes(const struct wsdbg_loop *loop, const struct wsdbg_operand *operand)
{
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        if (wsdbg_writes_operand(wsdbg_graph_instruction(loop->graph, i), operand))
            return true;
    return false;
}

static bool keeps(const struct wsdbg_loop *loop, uint32_t at, const struct wsdbg_operand *operand, unsigned *steps);

/* What the instruction writes is the same each time it executes. */
static bool writes_the_same(const struct wsdbg_loop *loop, uint32_t at, unsigned *steps)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, at);
    const bool pure = (instruction->operation >= WSDBG_OP_MOV && instruction->operation < WSDBG_OP_COUNT &&
                       instruction->operation != WSDBG_OP_CS2R && instruction->operation != WSDBG_OP_SHFL &&
                       instruction->operation != WSDBG_OP_VOTE && instruction->operation != WSDBG_OP_VOTEU) ||
                      instruction->operation == WSDBG_OP_LDC || instruction->operation == WSDBG_OP_ULDC;
    if (!pure || !instruction->is_whole || instruction->guard != WSDBG_PT || instruction->guard_is_negated ||
        *steps == 0)
        return false;
    --*steps;
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (!keeps(loop, at, &instruction->sources[i], steps))
            return false;
    return true;
}

uint32_t wsdbg_loop_written(const struct wsdbg_loop *loop, uint32_t at, const struct wsdbg_operand *operand)
{
    const uint32_t first = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, at))->first;
    while (at-- > first)
        if (wsdbg_writes_operand(wsdbg_graph_instruction(loop->graph, at), operand))
            return at;
    return WSDBG_NO_INSTRUCTION;
}

static bool keeps_span(const struct wsdbg_loop *loop, uint32_t at, const struct span *span, unsigned *steps)
{
    struct wsdbg_operand operand = {.kind = span->kind, .number = (uint8_t)span->first, .registers = 1};
    for (unsigned n = 0; n < span->count; n++, operand.number++) {
        const uint32_t before = wsdbg_loop_written(loop, at, &operand);
        if (before != WSDBG_NO_INSTRUCTION ? !writes_the_same(loop, before, steps) : wsdbg_loop_writes(loop, &operand))
            return false;
    }
    return true;
}

static bool keeps(const struct wsdbg_loop *loop, uint32_t at, const struct wsdbg_operand *operand, unsigned *steps)
{
    struct span spans[2];
    spans_of(operand, spans);
    return keeps_span(loop, at, &spans[0], steps) && keeps_span(loop, at, &spans[1], steps);
}

/* Registers whose value comes from one load. */
struct flow {
    uint64_t general[4], uniform, predicates, uniform_predicates;
    bool shared, changed;
};

static uint64_t *bits_of(struct flow *flow, uint8_t kind, unsigned number)
{
    switch (kind) {
    case WSDBG_OPERAND_REGISTER:
        return &flow->general[number / 64 % 4];
    case WSDBG_OPERAND_UNIFORM:
        return &flow->uniform;
    case WSDBG_OPERAND_PREDICATE:
        return &flow->predicates;
    case WSDBG_OPERAND_UNIFORM_PREDICATE:
        return &flow->uniform_predicates;
    default:
        return NULL;
    }
}

static bool carries(struct flow *flow, const struct wsdbg_operand *operand)
{
    struct span spans[2];
    spans_of(operand, spans);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned n = spans[s].first; n < spans[s].first + spans[s].count; n++)
            if (*bits_of(flow, spans[s].kind, n) >> n % 64 & 1)
                return true;
    return false;
}

/* Comparisons of floating-point numbers are decoded without their sources: A is a register, B is one in one form. */
static bool compares_carried(struct flow *flow, const struct wsdbg_instruction *instruction)
{
    const uint8_t width = instruction->operation == WSDBG_OP_DSETP ? 2 : 1;
    const bool b_is_register = (instruction->words[0] >> 9 & 7) == 1;
    const struct wsdbg_operand a = {
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(instruction->words[0] >> 24), .registers = width};
    const struct wsdbg_operand b = {
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(instruction->words[0] >> 32), .registers = width};
    return (instruction->operation == WSDBG_OP_FSETP || instruction->operation == WSDBG_OP_DSETP) &&
           (carries(flow, &a) || (b_is_register && carries(flow, &b)));
}

static bool is_carried(struct flow *flow, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand guard = {
        .kind = instruction->guard_is_uniform ? WSDBG_OPERAND_UNIFORM_PREDICATE : WSDBG_OPERAND_PREDICATE,
        .number = instruction->guard,
    };
    bool carried = carries(flow, &guard) || (instruction->operation == WSDBG_OP_LDS && flow->shared) ||
                   compares_carried(flow, instruction);
    for (unsigned i = 0; i < instruction->source_count; i++)
        carried |= carries(flow, &instruction->sources[i]);
    return carried;
}

static void carry(struct flow *flow, const struct wsdbg_instruction *instruction)
{
    flow->changed |= is_store_to_shared(instruction) && !flow->shared;
    flow->shared |= is_store_to_shared(instruction);
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        struct span spans[2];
        spans_of(&instruction->destinations[i], spans);
        for (unsigned n = spans[0].first; n < spans[0].first + spans[0].count; n++) {
            uint64_t *bits = bits_of(flow, spans[0].kind, n);
            flow->changed |= !(*bits >> n % 64 & 1);
            *bits |= (uint64_t)1 << n % 64;
        }
    }
}

static bool leaves(const struct wsdbg_loop *loop, const struct wsdbg_block *block)
{
    const uint32_t count = wsdbg_graph_block_count(loop->graph);
    for (uint32_t s = 0; s < block->successor_count; s++)
        if (block->successor[s] < count && !has_bit(loop->body, block->successor[s]))
            return true;
    return block->exits;
}

static bool ends_by(const struct wsdbg_loop *loop, struct flow *flow)
{
    for (uint32_t i = 0; i < wsdbg_graph_block_count(loop->graph); i++) {
        const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, i);
        if (has_bit(loop->body, i) && block->count && leaves(loop, block) &&
            is_carried(flow, wsdbg_graph_instruction(loop->graph, block->first + block->count - 1)))
            return true;
    }
    return false;
}

bool wsdbg_loop_ends_by(const struct wsdbg_loop *loop, uint32_t load)
{
    struct flow flow = {.changed = true};
    carry(&flow, wsdbg_graph_instruction(loop->graph, load));
    while (flow.changed) {
        flow.changed = false;
        for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
            const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, i);
            if (is_carried(&flow, instruction))
                carry(&flow, instruction);
        }
    }
    return ends_by(loop, &flow);
}

bool wsdbg_loop_keeps(const struct wsdbg_loop *loop, uint32_t instruction, const struct wsdbg_operand *operand)
{
    unsigned steps = STEPS_MAX;
    return keeps(loop, instruction, operand, &steps);
}
