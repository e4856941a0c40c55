/* ptx_registers.c - see ptx_registers.h.
 *
 * Reads: the instructions of one kernel.  Writes: a number for each register that matters.  A register is taken to be
 * needed from its first to its last place in the text, and over the whole of every loop that it is needed across.
 */
#include "machine/ptx_registers.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/graph.h"

enum { SLICE_PASSES_MOST = 64, LOOP_PASSES_MOST = 64 };
enum { GENERAL_MOST = WSDBG_RZ + WSDBG_MORE_REGISTERS, PREDICATES_MOST = WSDBG_PT + WSDBG_MORE_PREDICATES };
#define SPANS_LOOKED_AT_MOST ((uint64_t)1 << 28)

/* From the first to the last place; first > last = nowhere. */
struct span {
    uint32_t first, last;
    bool begins_with_read; /* or with a write under a guard: what it held before may count */
};

struct numbering {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    bool *matters;
    uint32_t reads_shared; /* what some load brings matters, from shared memory or from a generic address: a bit for the
                              number of its elements */
    bool reads_local;      /* ... or from local memory */
    struct span *spans;
    uint32_t *order;
};

bool wsdbg_ptx_is_access(uint16_t operation)
{
    switch (operation) {
    case WSDBG_PTX_OP_mbarrier_init:
    case WSDBG_PTX_OP_mbarrier_inval:
    case WSDBG_PTX_OP_mbarrier_arrive:
    case WSDBG_PTX_OP_mbarrier_arrive_drop:
    case WSDBG_PTX_OP_mbarrier_arrive_expect_tx:
    case WSDBG_PTX_OP_mbarrier_expect_tx:
    case WSDBG_PTX_OP_mbarrier_complete_tx:
    case WSDBG_PTX_OP_mbarrier_test_wait:
    case WSDBG_PTX_OP_mbarrier_try_wait:
    case WSDBG_PTX_OP_cp_async_mbarrier_arrive:
    case WSDBG_PTX_OP_bulk_copy:
    case WSDBG_PTX_OP_tensor_copy:
    case WSDBG_PTX_OP_st_async:
    case WSDBG_PTX_OP_red_async:
    case WSDBG_PTX_OP_bar_sync:
    case WSDBG_PTX_OP_bar_arrive:
    case WSDBG_PTX_OP_bar_red:
        return true;
    default:
        return false;
    }
}

static const struct wsdbg_ptx_instruction *at(const struct numbering *numbering, uint32_t index)
{
    return &numbering->program->instructions[index];
}

static uint32_t register_of(const struct wsdbg_ptx_operand *operand)
{
    const bool has_one = operand->kind == WSDBG_PTX_OPERAND_REGISTER || operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    return has_one ? operand->number : WSDBG_PTX_NONE;
}

static uint32_t element_count(const struct wsdbg_ptx_operand *operand)
{
    return operand->kind == WSDBG_PTX_OPERAND_VECTOR ? operand->count : 1;
}

/* Of a tensor the address of its map. */
static uint32_t element_of(const struct numbering *numbering, const struct wsdbg_ptx_operand *operand, uint32_t i)
{
    const bool has_elements = operand->kind == WSDBG_PTX_OPERAND_VECTOR || operand->kind == WSDBG_PTX_OPERAND_TENSOR;
    return register_of(has_elements ? &numbering->program->vectors[operand->number + i] : operand);
}

static bool writes_what_matters(const struct numbering *numbering, const struct wsdbg_ptx_instruction *instruction)
{
    for (unsigned k = 0; k < instruction->operand_count; k++)
        for (uint32_t i = 0; instruction->operands[k].is_written && i < element_count(&instruction->operands[k]); i++) {
            const uint32_t number = element_of(numbering, &instruction->operands[k], i);
            if (number != WSDBG_PTX_NONE && numbering->matters[number])
                return true;
        }
    return false;
}

static bool mark(struct numbering *numbering, uint32_t number)
{
    if (number == WSDBG_PTX_NONE || numbering->matters[number])
        return false;
    numbering->matters[number] = true;
    return true;
}

static bool is_branch(uint16_t operation)
{
    return operation == WSDBG_PTX_OP_bra || operation == WSDBG_PTX_OP_brx || operation == WSDBG_PTX_OP_exit ||
           operation == WSDBG_PTX_OP_ret;
}

/* What is followed of numbers with a point: see ptx_translate.c. */
static bool is_followed_float(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->type == WSDBG_PTX_F32 &&
           (instruction->operation == WSDBG_PTX_OP_setp || instruction->operation == WSDBG_PTX_OP_mul ||
            instruction->operation == WSDBG_PTX_OP_selp);
}

/* Whether it calculates with floating-point numbers or matrices in a way that is not followed: what they come from then
 * does not matter. */
static bool calculates_floats(const struct wsdbg_ptx_instruction *instruction)
{
    const bool is_followed = instruction->operation == WSDBG_PTX_OP_ld || instruction->operation == WSDBG_PTX_OP_mov ||
                             is_followed_float(instruction);
    return !is_followed &&
           ((instruction->type >= WSDBG_PTX_F16 && instruction->type <= WSDBG_PTX_E5M2X2) ||
            (instruction->source_type >= WSDBG_PTX_F16 && instruction->source_type <= WSDBG_PTX_E5M2X2));
}

/* Of vectors that are read only two words that are packed, and what is stored, may lead to a barrier, not coordinates
 * and matrices. */
static bool mark_read(struct numbering *numbering, const struct wsdbg_ptx_instruction *instruction,
                      const struct wsdbg_ptx_operand *operand)
{
    bool grows = false;
    if (operand->kind == WSDBG_PTX_OPERAND_VECTOR && instruction->operation != WSDBG_PTX_OP_mov &&
        instruction->operation != WSDBG_PTX_OP_st)
        return false;
    for (uint32_t i = 0; i < element_count(operand); i++)
        grows |= mark(numbering, element_of(numbering, operand, i));
    return grows;
}

static bool is_shared(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->space == WSDBG_PTX_SHARED;
}

static bool is_local(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->space == WSDBG_PTX_LOCAL;
}

static uint32_t elements_bit(const struct wsdbg_ptx_instruction *instruction)
{
    return (uint32_t)1 << (instruction->vector_length ? instruction->vector_length : 1);
}

/* Whether it stores whole numbers that a load may bring to a branch or a barrier.  A vector is taken to be loaded as
 * one of as many elements: there are many vectors of data. */
static bool stores_what_is_read(const struct numbering *numbering, const struct wsdbg_ptx_instruction *instruction)
{
    if (is_local(instruction))
        return numbering->reads_local && instruction->operation == WSDBG_PTX_OP_st && instruction->type < WSDBG_PTX_F16;
    const bool may_be_read = instruction->vector_length <= 1 ? numbering->reads_shared != 0
                                                             : (numbering->reads_shared & elements_bit(instruction));
    return may_be_read && instruction->operation == WSDBG_PTX_OP_st && is_shared(instruction) &&
           instruction->type < WSDBG_PTX_F16;
}

/* Backwards, so that a straight piece of code takes one pass. */
static bool mark_once(struct numbering *numbering)
{
    bool grows = false;
    for (uint32_t i = numbering->function->end; i-- > numbering->function->first;) {
        const struct wsdbg_ptx_instruction *instruction = at(numbering, i);
        const bool brings = !calculates_floats(instruction) && writes_what_matters(numbering, instruction);
        const bool asks = wsdbg_ptx_is_access(instruction->operation) || instruction->operation == WSDBG_PTX_OP_brx ||
                          brings || stores_what_is_read(numbering, instruction);
        if (brings && instruction->operation == WSDBG_PTX_OP_ld &&
            (is_shared(instruction) || instruction->space == WSDBG_PTX_GENERIC)) {
            grows |= !(numbering->reads_shared & elements_bit(instruction));
            numbering->reads_shared |= elements_bit(instruction);
        }
        if (brings && instruction->operation == WSDBG_PTX_OP_ld && is_local(instruction)) {
            grows |= !numbering->reads_local;
            numbering->reads_local = true;
        }
        if (asks || is_branch(instruction->operation))
            grows |= mark(numbering, instruction->guard);
        for (unsigned k = 0; asks && k < instruction->operand_count; k++)
            if (!instruction->operands[k].is_written)
                grows |= mark_read(numbering, instruction, &instruction->operands[k]);
    }
    return grows;
}

static void widen(struct span *span, uint32_t first, uint32_t last)
{
    span->first = first < span->first ? first : span->first;
    span->last = last > span->last ? last : span->last;
}

static void note(struct numbering *numbering, uint32_t number, uint32_t index, bool is_certain_write)
{
    if (number == WSDBG_PTX_NONE || !numbering->matters[number])
        return;
    struct span *span = &numbering->spans[number];
    if (span->first > span->last)
        span->begins_with_read = !is_certain_write;
    widen(span, index, index);
}

/* An instruction reads before it writes. */
static void find_spans(struct numbering *numbering)
{
    for (uint32_t i = 0; i < numbering->function->register_count; i++)
        numbering->spans[i] = (struct span){.first = UINT32_MAX};
    for (uint32_t i = numbering->function->first; i < numbering->function->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = at(numbering, i);
        note(numbering, instruction->guard, i, false);
        for (unsigned pass = 0; pass < 2; pass++)
            for (unsigned k = 0; k < instruction->operand_count; k++)
                for (uint32_t e = 0; e < element_count(&instruction->operands[k]); e++)
                    if (instruction->operands[k].is_written == (pass == 1))
                        note(numbering, element_of(numbering, &instruction->operands[k], e), i,
                             pass == 1 && instruction->guard == WSDBG_PTX_NONE);
    }
}

/* Code that is called stands behind the kernel's own, but executes in the midst of it: what it needs is never shared.
 */
static void keep_for_calls(struct numbering *numbering, uint32_t own_end)
{
    for (uint32_t i = 0; i < numbering->function->register_count; i++) {
        struct span *span = &numbering->spans[i];
        if (span->first <= span->last && span->last >= own_end)
            widen(span, numbering->function->first, numbering->function->end);
    }
}

/* A jump back from `last` to `first` carries what is needed at both ends. */
static bool carry(struct numbering *numbering, uint32_t first, uint32_t last)
{
    bool grows = false;
    for (uint32_t i = 0; i < numbering->function->register_count; i++) {
        struct span *span = &numbering->spans[i];
        const bool meets = span->first <= span->last && span->first <= last && span->last >= first;
        if (!meets || (span->first >= first && !span->begins_with_read))
            continue;
        grows |= span->last < last || span->first > first;
        widen(span, span->first < first ? span->first : first, last);
    }
    return grows;
}

/* False: it does not settle, as far as was tried. */
static bool carry_round_loops(struct numbering *numbering)
{
    bool grows = true;
    uint64_t looked_at = 0;
    for (unsigned pass = 0; grows && pass < LOOP_PASSES_MOST; pass++) {
        grows = false;
        for (uint32_t i = numbering->function->first; i < numbering->function->end; i++) {
            const struct wsdbg_ptx_instruction *instruction = at(numbering, i);
            const struct wsdbg_ptx_ways ways = wsdbg_ptx_ways(instruction, numbering->program->branch_tables);
            uint32_t first = i + 1;
            for (uint32_t k = 0; k < ways.target_count; k++)
                first = ways.targets[k] < first ? ways.targets[k] : first;
            if (first > i)
                continue;
            looked_at += numbering->function->register_count;
            if (looked_at > SPANS_LOOKED_AT_MOST)
                return false;
            grows |= carry(numbering, first, i);
        }
    }
    return !grows;
}

static int by_first(const void *left, const void *right, void *spans)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct span *x = &((const struct span *)spans)[a], *y = &((const struct span *)spans)[b];
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (a > b) - (a < b);
}

/* The number of register or predicate i: that of the one that always holds the same is left out. */
static struct wsdbg_ptx_number number_of(unsigned i, bool is_predicate)
{
    const unsigned constant = is_predicate ? WSDBG_PT : WSDBG_RZ;
    return (struct wsdbg_ptx_number){is_predicate ? WSDBG_OPERAND_PREDICATE : WSDBG_OPERAND_REGISTER,
                                     (uint16_t)(i < constant ? i : i + 1)};
}

/* A number whose last holder is done, NONE where all are held. */
static struct wsdbg_ptx_number take(uint32_t *held_until, unsigned count, const struct span *span, bool is_predicate)
{
    for (unsigned i = 0; i < count; i++) {
        if (held_until[i] >= span->first + 1)
            continue;
        held_until[i] = span->last + 1;
        return number_of(i, is_predicate);
    }
    return (struct wsdbg_ptx_number){WSDBG_OPERAND_NONE, 0};
}

static void give_numbers(struct numbering *numbering, struct wsdbg_ptx_registers *out)
{
    uint32_t general[GENERAL_MOST] = {0}, predicates[PREDICATES_MOST] = {0};
    uint32_t listed = 0;
    for (uint32_t i = 0; i < out->count; i++)
        if (numbering->matters[i] && numbering->spans[i].first <= numbering->spans[i].last)
            numbering->order[listed++] = i;
    if (listed)
        qsort_r(numbering->order, listed, sizeof *numbering->order, by_first, numbering->spans);
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t number = numbering->order[i];
        const bool is_predicate = numbering->function->register_types[number] == WSDBG_PTX_PRED;
        out->numbers[number] = is_predicate ? take(predicates, PREDICATES_MOST, &numbering->spans[number], true)
                                            : take(general, GENERAL_MOST, &numbering->spans[number], false);
    }
}

/* Without room for a register it has no number, and what is made of it is not known: no number is ever wrong. */
static void number_all(struct numbering *numbering, struct wsdbg_ptx_registers *out)
{
    bool grows = true;
    for (unsigned pass = 0; grows && pass < SLICE_PASSES_MOST; pass++)
        grows = mark_once(numbering);
    find_spans(numbering);
    keep_for_calls(numbering, out->own_end);
    if (carry_round_loops(numbering))
        give_numbers(numbering, out);
}

/* A generic address of it may go anywhere. */
static bool gives_local_away(const struct wsdbg_ptx_instruction *instruction)
{
    if (instruction->operation == WSDBG_PTX_OP_cvta)
        return is_local(instruction) && !(instruction->flags & WSDBG_PTX_TO_SHARED);
    const bool is_plain = is_local(instruction) || instruction->operation == WSDBG_PTX_OP_mov ||
                          instruction->operation == WSDBG_PTX_OP_add || instruction->operation == WSDBG_PTX_OP_sub;
    for (unsigned k = 0; k < instruction->operand_count && !is_plain; k++)
        if (instruction->operands[k].kind == WSDBG_PTX_OPERAND_ADDRESS &&
            instruction->operands[k].space == WSDBG_PTX_LOCAL)
            return true;
    return false;
}

static bool is_local_private(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function)
{
    for (uint32_t i = function->first; i < function->end; i++)
        if (gives_local_away(&program->instructions[i]))
            return false;
    return true;
}

struct wsdbg_error *wsdbg_ptx_registers_create(const struct wsdbg_ptx_program *program,
                                               const struct wsdbg_ptx_function *function,
                                               struct wsdbg_ptx_registers *out)
{
    const size_t count = function->register_count;
    struct numbering numbering = {.program = program, .function = function};
    *out = (struct wsdbg_ptx_registers){.numbers = calloc(count + 1, sizeof *out->numbers),
                                        .count = function->register_count,
                                        .own_end = wsdbg_ptx_own_end(program, function),
                                        .is_local_private = is_local_private(program, function)};
    numbering.matters = calloc(count + 1, sizeof *numbering.matters);
    numbering.spans = calloc(count + 1, sizeof *numbering.spans);
    numbering.order = calloc(count + 1, sizeof *numbering.order);
    const bool has_room = out->numbers && numbering.matters && numbering.spans && numbering.order;
    if (has_room)
        number_all(&numbering, out);
    else
        wsdbg_ptx_registers_destroy(out);
    free(numbering.matters);
    free(numbering.spans);
    free(numbering.order);
    return has_room ? NULL : &wsdbg_error_no_memory;
}

void wsdbg_ptx_registers_destroy(struct wsdbg_ptx_registers *registers)
{
    free(registers->numbers);
    *registers = (struct wsdbg_ptx_registers){0};
}
