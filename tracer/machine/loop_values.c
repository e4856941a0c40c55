/* loop_values.c - what the registers of a loop hold: whether an operand stays the same while it runs, and whether its
 * end depends on what an instruction loads.
 *
 * Reads: a function's graph, one loop's blocks.  Writes: nothing.
 */
#include "machine/loop.h"

enum { STEPS_MAX = 64 }; /* writes followed back from one operand */

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

/* What an operand is made of, followed back. */
struct trail {
    const struct wsdbg_loop *loop;
    unsigned steps; /* left */
    bool loads;     /* also through what the loop loads and does not write */
};

static bool keeps(struct trail *trail, uint32_t at, const struct wsdbg_operand *operand);

static bool is_plain_load(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD &&
           wsdbg_operation_reads_memory(instruction->operation);
}

/* Both instructions find the same value in the register. */
static bool is_same_value(const struct wsdbg_loop *loop, uint32_t a, uint32_t b, const struct wsdbg_operand *operand)
{
    const uint32_t written = wsdbg_loop_written(loop, a, operand);
    return written == wsdbg_loop_written(loop, b, operand) &&
           (written != WSDBG_NO_INSTRUCTION || !wsdbg_loop_writes(loop, operand));
}

/* Two accesses of shared memory from one base, of bytes that do not overlap. */
static bool are_apart(const struct wsdbg_loop *loop, uint32_t a, uint32_t b)
{
    const struct wsdbg_instruction *one = wsdbg_graph_instruction(loop->graph, a);
    const struct wsdbg_instruction *other = wsdbg_graph_instruction(loop->graph, b);
    const struct wsdbg_operand *x = wsdbg_memory_operand(one), *y = wsdbg_memory_operand(other);
    if (!x || !y || x->number != y->number || x->uniform != y->uniform || !is_same_value(loop, a, b, x))
        return false;
    return x->value + one->width_bytes <= y->value || y->value + other->width_bytes <= x->value;
}

/* The instruction at `at` of the loop may write what the load reads.  (A quiet loop has no other stores.) */
static bool may_write(const struct wsdbg_loop *loop, uint32_t at, uint32_t load)
{
    const enum wsdbg_operation reader = wsdbg_graph_instruction(loop->graph, load)->operation;
    const enum wsdbg_operation writer = wsdbg_graph_instruction(loop->graph, at)->operation;
    const bool overlaps = wsdbg_spaces_overlap(wsdbg_operation_space(writer), wsdbg_operation_space(reader));
    if (writer == WSDBG_OP_STS)
        return overlaps && (reader != WSDBG_OP_LDS || !are_apart(loop, at, load));
    return overlaps && wsdbg_operation_class(writer) == WSDBG_CLASS_ATOMIC;
}

/* As far as the loop itself goes: somebody else may write it. */
static bool loads_the_same(const struct trail *trail, uint32_t load)
{
    const struct wsdbg_loop *loop = trail->loop;
    if (!trail->loads || !is_plain_load(wsdbg_graph_instruction(loop->graph, load)))
        return false;
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        if (may_write(loop, i, load))
            return false;
    return true;
}

/* What the instruction writes is the same each time it executes. */
static bool writes_the_same(struct trail *trail, uint32_t at)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(trail->loop->graph, at);
    const bool pure = (wsdbg_operation_computes(instruction->operation) && instruction->operation != WSDBG_OP_CS2R &&
                       wsdbg_operation_class(instruction->operation) != WSDBG_CLASS_LANES) ||
                      wsdbg_operation_space(instruction->operation) == WSDBG_SPACE_CONSTANT ||
                      loads_the_same(trail, at);
    if (!pure || !instruction->is_whole || instruction->guard != WSDBG_PT || instruction->guard_is_negated ||
        trail->steps == 0)
        return false;
    trail->steps--;
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (!keeps(trail, at, &instruction->sources[i]))
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

static bool keeps_span(struct trail *trail, uint32_t at, const struct span *span)
{
    const struct wsdbg_loop *loop = trail->loop;
    struct wsdbg_operand operand = {.kind = span->kind, .number = (uint16_t)span->first, .registers = 1};
    for (unsigned n = 0; n < span->count; n++, operand.number++) {
        const uint32_t before = wsdbg_loop_written(loop, at, &operand);
        if (before != WSDBG_NO_INSTRUCTION ? !writes_the_same(trail, before) : wsdbg_loop_writes(loop, &operand))
            return false;
    }
    return true;
}

static bool keeps(struct trail *trail, uint32_t at, const struct wsdbg_operand *operand)
{
    struct span spans[2];
    spans_of(operand, spans);
    return keeps_span(trail, at, &spans[0]) && keeps_span(trail, at, &spans[1]);
}

bool wsdbg_loop_keeps(const struct wsdbg_loop *loop, uint32_t instruction, const struct wsdbg_operand *operand)
{
    struct trail trail = {loop, STEPS_MAX, false};
    return keeps(&trail, instruction, operand);
}

bool wsdbg_loop_settles(const struct wsdbg_loop *loop, uint32_t instruction, const struct wsdbg_operand *operand)
{
    struct trail trail = {loop, STEPS_MAX, true};
    return keeps(&trail, instruction, operand);
}

/* Registers whose value comes from one load. */
struct flow {
    uint64_t general[8], uniform, predicates, uniform_predicates;
    bool shared, changed;
    uint32_t origin; /* the instruction that the value comes from */
};

static uint64_t *bits_of(struct flow *flow, uint8_t kind, unsigned number)
{
    switch (kind) {
    case WSDBG_OPERAND_REGISTER:
        return &flow->general[number / 64 % 8];
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

/* In machine code, comparisons of floating-point numbers are decoded without their sources: A is a register, B is one
 * in one form. */
static bool compares_carried(struct flow *flow, const struct wsdbg_instruction *instruction)
{
    const uint8_t width = instruction->operation == WSDBG_OP_DSETP ? 2 : 1;
    const bool b_is_register = (instruction->words[0] >> 9 & 7) == 1;
    const struct wsdbg_operand a = {
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(instruction->words[0] >> 24), .registers = width};
    const struct wsdbg_operand b = {
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(instruction->words[0] >> 32), .registers = width};
    return !instruction->is_whole &&
           (instruction->operation == WSDBG_OP_FSETP || instruction->operation == WSDBG_OP_DSETP) &&
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
    flow->changed |= instruction->operation == WSDBG_OP_STS && !flow->shared;
    flow->shared |= instruction->operation == WSDBG_OP_STS;
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
        if (block->successor[s] < count && !wsdbg_loop_has_block(loop, block->successor[s]))
            return true;
    return block->exits;
}

/* ---- within a block the writes are in order ---- */

enum { WRITES_MAX = 8 }; /* followed back from the end of a block */

static bool carries_at(const struct wsdbg_loop *loop, struct flow *flow, uint32_t at,
                       const struct wsdbg_operand *operand, unsigned depth);

/* What the instruction makes of its operands as it finds them. */
static bool makes_carried(const struct wsdbg_loop *loop, struct flow *flow, uint32_t at, unsigned depth)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, at);
    if (at == flow->origin || (instruction->operation == WSDBG_OP_LDS && flow->shared))
        return true;
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (carries_at(loop, flow, at, &instruction->sources[i], depth + 1))
            return true;
    return false;
}

/* One register, as the instruction at `at` finds it. */
static bool register_carries_at(const struct wsdbg_loop *loop, struct flow *flow, uint32_t at,
                                const struct wsdbg_operand *operand, unsigned depth)
{
    const uint32_t written = wsdbg_loop_written(loop, at, operand);
    if (!carries(flow, operand) || written == WSDBG_NO_INSTRUCTION || depth == WRITES_MAX)
        return carries(flow, operand);
    const struct wsdbg_instruction *writer = wsdbg_graph_instruction(loop->graph, written);
    const bool keeps = writer->guard != WSDBG_PT || writer->guard_is_negated;
    const bool is_followed =
        writer->is_whole && writer->operation != WSDBG_OP_FSETP && writer->operation != WSDBG_OP_DSETP;
    return keeps || !is_followed || makes_carried(loop, flow, written, depth);
}

/* Whether the operand, as the instruction at `at` of the loop finds it, carries the value: what was written in the
 * block before it counts, and not what its registers hold elsewhere. */
static bool carries_at(const struct wsdbg_loop *loop, struct flow *flow, uint32_t at,
                       const struct wsdbg_operand *operand, unsigned depth)
{
    struct span spans[2];
    spans_of(operand, spans);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned n = 0; n < spans[s].count; n++) {
            const struct wsdbg_operand one = {
                .kind = spans[s].kind, .number = (uint16_t)(spans[s].first + n), .registers = 1};
            if (register_carries_at(loop, flow, at, &one, depth))
                return true;
        }
    return false;
}

static bool branch_is_carried(const struct wsdbg_loop *loop, struct flow *flow, uint32_t at)
{
    const struct wsdbg_instruction *branch = wsdbg_graph_instruction(loop->graph, at);
    const struct wsdbg_operand guard = {
        .kind = branch->guard_is_uniform ? WSDBG_OPERAND_UNIFORM_PREDICATE : WSDBG_OPERAND_PREDICATE,
        .number = branch->guard,
        .registers = 1,
    };
    if (!is_carried(flow, branch))
        return false;
    bool carried = carries_at(loop, flow, at, &guard, 0);
    for (unsigned i = 0; i < branch->source_count; i++)
        carried |= carries_at(loop, flow, at, &branch->sources[i], 0);
    return carried;
}

static uint32_t next_end(const struct wsdbg_loop *loop, struct flow *flow, uint32_t from_block)
{
    for (uint32_t i = from_block; i < wsdbg_graph_block_count(loop->graph); i++) {
        const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, i);
        if (wsdbg_loop_has_block(loop, i) && block->count && leaves(loop, block) &&
            branch_is_carried(loop, flow, block->first + block->count - 1))
            return block->first + block->count - 1;
    }
    return WSDBG_NO_INSTRUCTION;
}

static void flow_through(const struct wsdbg_loop *loop, struct flow *flow)
{
    for (flow->changed = true; flow->changed;) {
        flow->changed = false;
        for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1)) {
            const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, i);
            if (is_carried(flow, instruction))
                carry(flow, instruction);
        }
    }
}

uint32_t wsdbg_loop_next_end(const struct wsdbg_loop *loop, uint32_t origin, uint32_t from_block)
{
    struct flow flow = {.origin = origin};
    carry(&flow, wsdbg_graph_instruction(loop->graph, origin));
    flow_through(loop, &flow);
    return next_end(loop, &flow, from_block);
}

bool wsdbg_loop_depends(const struct wsdbg_loop *loop, uint32_t origin, uint32_t at,
                        const struct wsdbg_operand *operand)
{
    struct flow flow = {.origin = origin};
    carry(&flow, wsdbg_graph_instruction(loop->graph, origin));
    flow_through(loop, &flow);
    return carries_at(loop, &flow, at, operand, 0);
}

bool wsdbg_loop_ends_by(const struct wsdbg_loop *loop, uint32_t load)
{
    return wsdbg_loop_next_end(loop, load, 0) != WSDBG_NO_INSTRUCTION;
}

/* No other instruction of the loop writes the register. */
static bool is_written_once(const struct wsdbg_loop *loop, const struct wsdbg_operand *operand)
{
    unsigned writers = 0;
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        writers += wsdbg_writes_operand(wsdbg_graph_instruction(loop->graph, i), operand);
    return writers == 1;
}

/* What the rest of the load's block makes of one register that it fills.  False: something there overwrites it. */
static bool carry_in_block(struct flow *flow, const struct wsdbg_loop *loop, uint32_t load,
                           const struct wsdbg_operand *operand)
{
    const struct wsdbg_block *block = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, load));
    struct flow only = {.origin = load};
    *bits_of(&only, WSDBG_OPERAND_REGISTER, operand->number) |= (uint64_t)1 << operand->number % 64;
    for (uint32_t i = load + 1; i < block->first + block->count; i++) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(loop->graph, i);
        if (is_carried(&only, instruction))
            carry(flow, instruction);
        if (wsdbg_writes_operand(instruction, operand))
            return false;
    }
    return true;
}

bool wsdbg_loop_ends_by_register(const struct wsdbg_loop *loop, uint32_t load, unsigned number)
{
    const struct wsdbg_operand operand = {.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)number, .registers = 1};
    struct flow flow = {.origin = load};
    if (number >= WSDBG_RZ)
        return false;
    if (carry_in_block(&flow, loop, load, &operand) && is_written_once(loop, &operand))
        *bits_of(&flow, WSDBG_OPERAND_REGISTER, number) |= (uint64_t)1 << number % 64;
    flow_through(loop, &flow);
    return next_end(loop, &flow, 0) != WSDBG_NO_INSTRUCTION;
}
