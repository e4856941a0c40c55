/* values.c - see values.h.  Reads a parsed program; writes what is known of one kernel's registers. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#include "compute.h"
#include "flow/lists.h"
#include "ptx/graph.h"

enum { LANES = 32, WARPS_MAX = 32, DEPTH_MAX = 200 };

/* What was found of the registers of one thread. */
struct memo {
    uint8_t *state; /* enum memo_state, of each register */
    int64_t *value;
};
enum memo_state { NOT_ASKED, ASKED, KNOWN, NOT_KNOWN, PARTLY };

struct values {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *kernel;
    uint32_t threads[3], thread; /* sides of the CTA; the thread whose values are asked for */
    uint32_t *first_writer;      /* by register: where its writers begin in `writers`; the end of the last one's too */
    uint32_t *writers;
    bool *is_read;
    uint32_t *warps;     /* by instruction of the kernel: the warps that may execute it */
    bool is_base;        /* for values_base: unknown parts count as 0 */
    bool is_partly;      /* the value that is being computed has an unknown part */
    struct memo memo[2]; /* slot 0: of the thread; slot 1: of the first lane of its warp */
    uint32_t depth;
};

typedef void visit_operand(struct values *values, const struct wsdbg_ptx_operand *operand, uint32_t instruction);

/* Visits every operand of an instruction, and the elements of vectors. */
static void each_operand(struct values *values, uint32_t instruction, visit_operand *visit)
{
    const struct wsdbg_ptx_instruction *at = &values->program->instructions[instruction];
    for (unsigned i = 0; i < at->operand_count; i++) {
        const struct wsdbg_ptx_operand *operand = &at->operands[i];
        visit(values, operand, instruction);
        const uint32_t count = operand->kind == WSDBG_PTX_OPERAND_VECTOR   ? operand->count
                               : operand->kind == WSDBG_PTX_OPERAND_TENSOR ? operand->count + 1
                                                                           : 0;
        for (uint32_t j = 0; j < count; j++) {
            struct wsdbg_ptx_operand element = values->program->vectors[operand->number + j];
            element.is_written = operand->is_written || element.is_written;
            visit(values, &element, instruction);
        }
    }
}

static void count_writer(struct values *values, const struct wsdbg_ptx_operand *operand, uint32_t instruction)
{
    (void)instruction;
    if (operand->kind == WSDBG_PTX_OPERAND_REGISTER && operand->is_written)
        values->first_writer[operand->number + 1]++;
    else if ((operand->kind == WSDBG_PTX_OPERAND_REGISTER || operand->kind == WSDBG_PTX_OPERAND_ADDRESS) &&
             operand->number != WSDBG_PTX_NONE)
        values->is_read[operand->number] = true;
}

static void add_writer(struct values *values, const struct wsdbg_ptx_operand *operand, uint32_t instruction)
{
    if (operand->kind == WSDBG_PTX_OPERAND_REGISTER && operand->is_written)
        values->writers[values->first_writer[operand->number]++] = instruction;
}

/* Writers of each register, in the order of the text. */
static bool find_writers(struct values *values)
{
    const struct wsdbg_ptx_function *kernel = values->kernel;
    for (uint32_t i = kernel->first; i < kernel->end; i++) {
        each_operand(values, i, count_writer);
        if (values->program->instructions[i].guard != WSDBG_PTX_NONE)
            values->is_read[values->program->instructions[i].guard] = true;
    }
    for (uint32_t i = 0; i < kernel->register_count; i++)
        values->first_writer[i + 1] += values->first_writer[i];
    values->writers = calloc(values->first_writer[kernel->register_count] + 1, sizeof *values->writers);
    if (!values->writers)
        return false;
    for (uint32_t i = kernel->first; i < kernel->end; i++)
        each_operand(values, i, add_writer);
    for (uint32_t i = kernel->register_count; i; i--)
        values->first_writer[i] = values->first_writer[i - 1];
    values->first_writer[0] = 0;
    return true;
}

uint32_t values_writer_count(const struct values *values, uint32_t reg)
{
    return values->first_writer[reg + 1] - values->first_writer[reg];
}

uint32_t values_writer(const struct values *values, uint32_t reg, uint32_t number)
{
    return values->writers[values->first_writer[reg] + number];
}

bool values_is_read(const struct values *values, uint32_t reg)
{
    return values->is_read[reg];
}

/* ---- one thread ---- */

static bool special_value(const struct values *values, uint32_t number, int64_t *out)
{
    const uint32_t thread = values->thread, x = values->threads[0], y = values->threads[1];
    switch (number) {
    case WSDBG_PTX_TID_X:
        *out = thread % x;
        return !values->is_base;
    case WSDBG_PTX_TID_Y:
        *out = thread / x % y;
        return !values->is_base;
    case WSDBG_PTX_TID_Z:
        *out = thread / x / y;
        return !values->is_base;
    case WSDBG_PTX_NTID_X:
    case WSDBG_PTX_NTID_Y:
    case WSDBG_PTX_NTID_Z:
        *out = values->threads[number - WSDBG_PTX_NTID_X];
        return true;
    case WSDBG_PTX_LANEID:
        *out = thread % LANES;
        return !values->is_base;
    case WSDBG_PTX_WARPID:
        *out = thread / LANES;
        return !values->is_base;
    default:
        return false;
    }
}

static bool register_value(struct values *values, uint32_t reg, unsigned slot, int64_t *out);

static bool operand_value(struct values *values, const struct wsdbg_ptx_operand *operand, unsigned slot, int64_t *out)
{
    bool is_known = true;
    *out = 0;
    switch (operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        is_known = register_value(values, operand->number, slot, out);
        if (is_known && operand->negated)
            *out = !*out;
        break;
    case WSDBG_PTX_OPERAND_IMMEDIATE:
        *out = operand->value;
        break;
    case WSDBG_PTX_OPERAND_SPECIAL:
        is_known = special_value(values, operand->number, out);
        break;
    case WSDBG_PTX_OPERAND_ADDRESS:
        if (operand->number != WSDBG_PTX_NONE)
            is_known = register_value(values, operand->number, slot, out);
        *out += operand->value + (operand->space == WSDBG_PTX_SHARED ? SHARED_FIRST : 0);
        break;
    default:
        is_known = false;
    }
    if (!is_known)
        values->is_partly = true;
    if (!is_known && values->is_base && operand->kind != WSDBG_PTX_OPERAND_ADDRESS)
        *out = 0;
    return is_known || values->is_base;
}

/* Whether a known part of a value is still a part of the instruction's result.  Other instructions mix it with the bits
 * of the unknown part. */
static bool keeps_parts(const struct wsdbg_ptx_instruction *at)
{
    switch (at->operation) {
    case WSDBG_PTX_OP_mov:
    case WSDBG_PTX_OP_cvt:
    case WSDBG_PTX_OP_cvta:
    case WSDBG_PTX_OP_mapa:
    case WSDBG_PTX_OP_shfl:
    case WSDBG_PTX_OP_add:
    case WSDBG_PTX_OP_sub:
    case WSDBG_PTX_OP_shl:
    case WSDBG_PTX_OP_mul:
    case WSDBG_PTX_OP_mad:
        return true;
    default:
        return false;
    }
}

/* What an instruction writes; false: it is not known. */
static bool instruction_value(struct values *values, const struct wsdbg_ptx_instruction *at, unsigned slot,
                              int64_t *out)
{
    int64_t source[WSDBG_PTX_OPERANDS_MAX] = {0};
    const unsigned first = at->flags & WSDBG_PTX_WITH_PREDICATE ? 2 : 1;
    if (at->operation == WSDBG_PTX_OP_shfl)
        slot = 1;
    for (unsigned i = first; i < at->operand_count && i - first < WSDBG_PTX_OPERANDS_MAX; i++)
        if (!compute_needs(at, i - first)) {
            continue;
        } else if (!operand_value(values, &at->operands[i], slot, &source[i - first])) {
            return false;
        }
    const bool is_computed = compute_value(at, source, out);
    if (values->is_partly && !keeps_parts(at))
        *out = 0;
    return is_computed;
}

/* The value that one of its writers gives the register; false: it is not known. */
static bool written_value(struct values *values, uint32_t reg, uint32_t number, unsigned slot, int64_t *out)
{
    const struct wsdbg_ptx_instruction *at = &values->program->instructions[values_writer(values, reg, number)];
    return at->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER && at->operands[0].number == reg &&
           (values->is_base || at->guard == WSDBG_PTX_NONE) && instruction_value(values, at, slot, out);
}

static bool writers_agree(struct values *values, uint32_t reg, unsigned slot, int64_t *out)
{
    const uint32_t count = values_writer_count(values, reg);
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = 0;
        if (!written_value(values, reg, i, slot, &value) || (i && value != *out))
            return false;
        *out = value;
    }
    return count > 0;
}

/* The lowest value that a writer gives the register.  In a writer that reads the register itself, it counts as 0. */
static bool lowest_written(struct values *values, uint32_t reg, unsigned slot, int64_t *out)
{
    const uint32_t count = values_writer_count(values, reg);
    bool is_known = false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = 0;
        if (written_value(values, reg, i, slot, &value)) {
            *out = is_known && *out < value ? *out : value;
            is_known = true;
        }
    }
    values->is_partly |= count > 1;
    return is_known;
}

static bool register_value(struct values *values, uint32_t reg, unsigned slot, int64_t *out)
{
    struct memo *memo = &values->memo[slot];
    *out = memo->value[reg];
    values->is_partly |= memo->state[reg] == PARTLY;
    if (memo->state[reg] == KNOWN || memo->state[reg] == PARTLY)
        return true;
    if (memo->state[reg] != NOT_ASKED || values->depth > DEPTH_MAX)
        return false;
    memo->state[reg] = ASKED;
    values->depth++;
    const uint32_t thread = values->thread;
    const bool was_partly = values->is_partly;
    values->is_partly = false;
    if (slot == 1)
        values->thread -= thread % LANES;
    const bool is_known =
        values->is_base ? lowest_written(values, reg, slot, out) : writers_agree(values, reg, slot, out);
    values->thread = thread;
    values->depth--;
    memo->state[reg] = !is_known ? NOT_KNOWN : values->is_partly ? PARTLY : KNOWN;
    values->is_partly |= was_partly;
    memo->value[reg] = is_known ? *out : 0;
    return is_known;
}

static void forget(struct values *values, unsigned slot)
{
    memset(values->memo[slot].state, NOT_ASKED, values->kernel->register_count + 1);
}

int64_t values_base(struct values *values, const struct wsdbg_ptx_operand *operand, bool *is_exact)
{
    int64_t value;
    values->is_partly = false;
    forget(values, 0);
    forget(values, 1);
    values->is_base = true;
    operand_value(values, operand, 0, &value);
    values->is_base = false;
    *is_exact = !values->is_partly;
    return value;
}

bool values_constant(struct values *values, const struct wsdbg_ptx_operand *operand, int64_t *out)
{
    int64_t other;
    bool is_known = true;
    const uint32_t ends[2] = {0, values->threads[0] * values->threads[1] * values->threads[2] - 1};
    for (unsigned i = 0; i < 2 && is_known; i++) {
        values->thread = ends[i];
        forget(values, 0);
        forget(values, 1);
        is_known = operand_value(values, operand, 0, i ? &other : out);
    }
    return is_known && other == *out;
}

/* ---- which threads execute what ---- */

/* Whether the thread passes the guard: 1 yes, 0 no, -1 not known. */
static int guard_holds(struct values *values, const struct wsdbg_ptx_instruction *at)
{
    int64_t value;
    if (at->guard == WSDBG_PTX_NONE)
        return 1;
    if (!register_value(values, at->guard, 0, &value))
        return -1;
    return (value != 0) != at->guard_negated;
}

static void visit(uint8_t *seen, uint32_t *stack, uint32_t *depth, uint32_t from, uint32_t to)
{
    if (seen[to - from])
        return;
    seen[to - from] = 1;
    stack[(*depth)++] = to;
}

/* Whether the instruction never goes on to the following one where its guard holds. */
static bool leads_away(const struct wsdbg_ptx_instruction *at, const uint32_t *branch_tables)
{
    struct wsdbg_ptx_instruction bare = *at;
    bare.guard = WSDBG_PTX_NONE;
    return !wsdbg_ptx_ways(&bare, branch_tables).goes_on;
}

static void step(struct values *values, uint32_t index, uint8_t *seen, uint32_t *stack, uint32_t *depth)
{
    const struct wsdbg_ptx_instruction *at = &values->program->instructions[index];
    const uint32_t first = values->kernel->first, end = values->kernel->end;
    const struct wsdbg_ptx_ways ways = wsdbg_ptx_ways(at, values->program->branch_tables);
    const int holds = guard_holds(values, at);
    if (holds)
        values->warps[index - first] |= 1u << (values->thread / LANES);
    for (uint32_t i = 0; i < ways.target_count && holds; i++)
        visit(seen, stack, depth, first, ways.targets[i]);
    if (holds && at->operation == WSDBG_PTX_OP_call && at->target != WSDBG_PTX_NONE)
        visit(seen, stack, depth, first, at->target);
    const bool goes_on =
        holds == 1 && at->guard != WSDBG_PTX_NONE ? !leads_away(at, values->program->branch_tables) : ways.goes_on;
    if (goes_on && index + 1 < end)
        visit(seen, stack, depth, first, index + 1);
}

static bool find_warps(struct values *values)
{
    const uint32_t count = values->kernel->end - values->kernel->first;
    uint8_t *seen = malloc(count + 1);
    uint32_t *stack = calloc(count + 1, sizeof *stack);
    const uint32_t threads = values->threads[0] * values->threads[1] * values->threads[2];
    for (uint32_t thread = 0; seen && stack && thread < threads; thread++) {
        uint32_t depth = 0;
        memset(seen, 0, count + 1);
        values->thread = thread;
        forget(values, 0);
        if (thread % LANES == 0)
            forget(values, 1);
        if (count)
            visit(seen, stack, &depth, values->kernel->first, values->kernel->first);
        while (depth)
            step(values, stack[--depth], seen, stack, &depth);
    }
    free(seen);
    free(stack);
    return seen && stack;
}

uint32_t values_warps(const struct values *values, uint32_t instruction)
{
    return values->warps[instruction - values->kernel->first];
}

uint32_t values_all_warps(const struct values *values)
{
    const uint32_t threads = values->threads[0] * values->threads[1] * values->threads[2];
    const uint32_t warps = (threads + LANES - 1) / LANES;
    return warps >= WARPS_MAX ? UINT32_MAX : (1u << warps) - 1;
}

/* ---- flow of values ---- */

static bool reads(const struct values *values, uint32_t from, uint32_t reg, unsigned steps);

static bool comes_from(const struct values *values, uint32_t from, const struct wsdbg_ptx_operand *operand,
                       unsigned steps)
{
    const bool has_register = operand->kind == WSDBG_PTX_OPERAND_REGISTER || operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    return has_register && operand->number != WSDBG_PTX_NONE && !operand->is_written &&
           reads(values, from, operand->number, steps);
}

static bool reads(const struct values *values, uint32_t from, uint32_t reg, unsigned steps)
{
    for (uint32_t i = 0; steps && i < values_writer_count(values, reg); i++) {
        const uint32_t writer = values_writer(values, reg, i);
        const struct wsdbg_ptx_instruction *at = &values->program->instructions[writer];
        if (writer == from)
            return true;
        for (unsigned j = 0; j < at->operand_count; j++)
            if (comes_from(values, from, &at->operands[j], steps - 1))
                return true;
    }
    return false;
}

bool values_flows(const struct values *values, uint32_t from, const struct wsdbg_ptx_operand *to, unsigned steps)
{
    return comes_from(values, from, to, steps);
}

/* ---- create and destroy ---- */

struct wsdbg_error *values_create(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *kernel,
                                  const uint32_t threads[3], struct values **out)
{
    const uint64_t count = (uint64_t)threads[0] * threads[1] * threads[2];
    if (count == 0 || count > (uint64_t)LANES * WARPS_MAX)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: a CTA of %u x %u x %u threads", kernel->name, threads[0],
                                  threads[1], threads[2]);
    struct values *values = calloc(1, sizeof *values);
    if (!values)
        return &wsdbg_error_no_memory;
    *values = (struct values){.program = program, .kernel = kernel};
    memcpy(values->threads, threads, sizeof values->threads);
    const size_t registers = kernel->register_count + 2;
    values->first_writer = calloc(registers, sizeof *values->first_writer);
    values->is_read = calloc(registers, sizeof *values->is_read);
    values->warps = calloc(kernel->end - kernel->first + 1, sizeof *values->warps);
    bool has_memory = values->first_writer && values->is_read && values->warps;
    for (unsigned i = 0; i < 2; i++) {
        values->memo[i] =
            (struct memo){calloc(registers, sizeof(uint8_t)), calloc(registers, sizeof *values->memo[i].value)};
        has_memory = has_memory && values->memo[i].state && values->memo[i].value;
    }
    if (!has_memory || !find_writers(values) || !find_warps(values)) {
        values_destroy(values);
        return &wsdbg_error_no_memory;
    }
    *out = values;
    return NULL;
}

void values_destroy(struct values *values)
{
    if (!values)
        return;
    for (unsigned i = 0; i < 2; i++) {
        free(values->memo[i].state);
        free(values->memo[i].value);
    }
    free(values->first_writer);
    free(values->writers);
    free(values->is_read);
    free(values->warps);
    free(values);
}
