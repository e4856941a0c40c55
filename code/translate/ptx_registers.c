/* ptx_registers.c - see ptx_registers.h.
 *
 * Reads: the instructions of one kernel.  Writes: a number for each register that matters: the first one that no other
 * register has where this one is needed (ptx_live.h).
 */
#include "translate/ptx_registers.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "translate/ptx_live.h"
#include "ptx/graph.h"

enum { SLICE_PASSES_MOST = 64, WORD_BITS = 64 };
enum { GENERAL_MOST = WSDBG_RZ + WSDBG_MORE_REGISTERS, PREDICATES_MOST = WSDBG_PT + WSDBG_MORE_PREDICATES };

/* Where numbers are held, a bit for each instruction from the function's first one on; NULL = nowhere. */
struct holding {
    uint64_t *general[GENERAL_MOST], *predicates[PREDICATES_MOST];
};

struct numbering {
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_function *function;
    bool *matters;
    uint32_t reads_shared;  /* what some load from shared memory brings matters: a bit for the number of its elements */
    uint32_t reads_generic; /* ... from a generic address */
    bool reads_local;       /* ... or from local memory */
    struct wsdbg_ptx_naming *namings;
    size_t naming_count, naming_capacity;
    struct wsdbg_ptx_live live;
    uint32_t *order, *reads;
    struct holding *holding;
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

/* What is followed of numbers with a point: see ptx_compare.c and ptx_arithmetic.c. */
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

static bool may_be_shared(const struct wsdbg_ptx_instruction *instruction)
{
    return is_shared(instruction) || instruction->space == WSDBG_PTX_GENERIC;
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
    const uint32_t reads = numbering->reads_generic | (is_shared(instruction) ? numbering->reads_shared : 0);
    const bool may_be_read = instruction->vector_length <= 1 ? reads != 0 : (reads & elements_bit(instruction));
    return may_be_read && instruction->operation == WSDBG_PTX_OP_st && may_be_shared(instruction) &&
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
        if (brings && instruction->operation == WSDBG_PTX_OP_ld && may_be_shared(instruction)) {
            uint32_t *reads = is_shared(instruction) ? &numbering->reads_shared : &numbering->reads_generic;
            grows |= !(*reads & elements_bit(instruction));
            *reads |= elements_bit(instruction);
        }
        if (brings && instruction->operation == WSDBG_PTX_OP_ld && is_local(instruction)) {
            grows |= !numbering->reads_local;
            numbering->reads_local = true;
        }
        /* Where it stores what is not followed, nothing is known. */
        const bool hides = numbering->reads_local && instruction->operation == WSDBG_PTX_OP_st && is_local(instruction);
        if (hides)
            grows |= mark(numbering, register_of(&instruction->operands[0]));
        if (asks || hides || is_branch(instruction->operation))
            grows |= mark(numbering, instruction->guard);
        for (unsigned k = 0; asks && k < instruction->operand_count; k++)
            if (!instruction->operands[k].is_written)
                grows |= mark_read(numbering, instruction, &instruction->operands[k]);
    }
    return grows;
}

/* How many operands read each register. */
static void count_reads(struct numbering *numbering)
{
    for (uint32_t i = numbering->function->first; i < numbering->function->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = at(numbering, i);
        for (unsigned k = 0; k < instruction->operand_count; k++)
            for (uint32_t e = 0; !instruction->operands[k].is_written && e < element_count(&instruction->operands[k]);
                 e++) {
                const uint32_t number = element_of(numbering, &instruction->operands[k], e);
                if (number != WSDBG_PTX_NONE)
                    numbering->reads[number]++;
            }
    }
}

/* The register that the instruction writes and that is read least, of those that matter; NONE where there are no more
 * than one of machine code has destinations for. */
static uint32_t least_read(const struct numbering *numbering, const struct wsdbg_ptx_instruction *instruction)
{
    uint32_t count = 0, least = WSDBG_PTX_NONE;
    for (unsigned k = 0; k < instruction->operand_count; k++)
        for (uint32_t e = 0; instruction->operands[k].is_written && e < element_count(&instruction->operands[k]); e++) {
            const uint32_t number = element_of(numbering, &instruction->operands[k], e);
            if (number == WSDBG_PTX_NONE || !numbering->matters[number])
                continue;
            count++;
            if (least == WSDBG_PTX_NONE || numbering->reads[number] < numbering->reads[least])
                least = number;
        }
    return count > WSDBG_DESTINATIONS_MAX ? least : WSDBG_PTX_NONE;
}

/* An instruction that writes many registers, as those of matrices do, has no room for all.  Most of them are data.  One
 * may also be what others are set to at first, and is then read more often. */
static void leave_out_many(struct numbering *numbering)
{
    count_reads(numbering);
    for (uint32_t i = numbering->function->first; i < numbering->function->end; i++)
        for (uint32_t number; (number = least_read(numbering, at(numbering, i))) != WSDBG_PTX_NONE;)
            numbering->matters[number] = false;
}

/* ---- where registers are needed ---- */

static bool add_naming(struct numbering *numbering, struct wsdbg_ptx_naming naming)
{
    if (naming.number == WSDBG_PTX_NONE || !numbering->matters[naming.number])
        return true;
    if (!wsdbg_grow((void **)&numbering->namings, &numbering->naming_capacity, numbering->naming_count + 1,
                    sizeof *numbering->namings))
        return false;
    numbering->namings[numbering->naming_count++] = naming;
    return true;
}

/* An instruction reads before it writes. */
static bool name_all_of(struct numbering *numbering, uint32_t index)
{
    const struct wsdbg_ptx_instruction *instruction = at(numbering, index);
    const bool is_guarded = instruction->guard != WSDBG_PTX_NONE;
    bool fits = add_naming(numbering, (struct wsdbg_ptx_naming){instruction->guard, index, true});
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned k = 0; k < instruction->operand_count; k++)
            for (uint32_t e = 0; fits && e < element_count(&instruction->operands[k]); e++)
                if (instruction->operands[k].is_written == (pass == 1))
                    fits = add_naming(numbering,
                                      (struct wsdbg_ptx_naming){element_of(numbering, &instruction->operands[k], e),
                                                                index, pass == 0 || is_guarded});
    return fits;
}

static bool find_namings(struct numbering *numbering)
{
    bool fits = true;
    for (uint32_t i = numbering->function->first; fits && i < numbering->function->end; i++)
        fits = name_all_of(numbering, i);
    return fits;
}

/* ---- numbers ---- */

/* The number of register or predicate i: that of the one that always holds the same is left out. */
static struct wsdbg_ptx_number number_of(unsigned i, bool is_predicate)
{
    const unsigned constant = is_predicate ? WSDBG_PT : WSDBG_RZ;
    return (struct wsdbg_ptx_number){is_predicate ? WSDBG_OPERAND_PREDICATE : WSDBG_OPERAND_REGISTER,
                                     (uint16_t)(i < constant ? i : i + 1)};
}

/* The bits of word `word` that a piece has, counted from the function's first instruction. */
static uint64_t bits_of(uint32_t word, uint32_t first, uint32_t last)
{
    uint64_t bits = UINT64_MAX;
    if (first / WORD_BITS == word)
        bits &= UINT64_MAX << first % WORD_BITS;
    if (last / WORD_BITS == word)
        bits &= UINT64_MAX >> (WORD_BITS - 1 - last % WORD_BITS);
    return bits;
}

static bool is_free(const struct numbering *numbering, const uint64_t *held, uint32_t number)
{
    const uint32_t begin = numbering->function->first;
    for (size_t i = numbering->live.first[number]; i < numbering->live.first[number + 1]; i++) {
        const uint32_t first = numbering->live.pieces[i].first - begin, last = numbering->live.pieces[i].last - begin;
        for (uint32_t word = first / WORD_BITS; word <= last / WORD_BITS; word++)
            if (held[word] & bits_of(word, first, last))
                return false;
    }
    return true;
}

static void hold(const struct numbering *numbering, uint64_t *held, uint32_t number)
{
    const uint32_t begin = numbering->function->first;
    for (size_t i = numbering->live.first[number]; i < numbering->live.first[number + 1]; i++) {
        const uint32_t first = numbering->live.pieces[i].first - begin, last = numbering->live.pieces[i].last - begin;
        for (uint32_t word = first / WORD_BITS; word <= last / WORD_BITS; word++)
            held[word] |= bits_of(word, first, last);
    }
}

/* The first number that is free wherever the register is needed; the kind is NONE where there is no such number. */
static bool take(const struct numbering *numbering, uint32_t number, bool is_predicate, struct wsdbg_ptx_number *out)
{
    uint64_t **held = is_predicate ? numbering->holding->predicates : numbering->holding->general;
    const unsigned count = is_predicate ? PREDICATES_MOST : GENERAL_MOST;
    const size_t words = (numbering->function->end - numbering->function->first) / WORD_BITS + 1;
    unsigned i = 0;
    while (i < count && held[i] && !is_free(numbering, held[i], number))
        i++;
    if (i == count)
        return true;
    if (!held[i])
        held[i] = calloc(words, sizeof *held[i]);
    if (!held[i])
        return false;
    hold(numbering, held[i], number);
    *out = number_of(i, is_predicate);
    return true;
}

static int by_first_place(const void *left, const void *right, void *of_live)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct wsdbg_ptx_live *live = of_live;
    const uint32_t x = live->pieces[live->first[a]].first, y = live->pieces[live->first[b]].first;
    if (x != y)
        return x < y ? -1 : 1;
    return (a > b) - (a < b);
}

static bool give_numbers(struct numbering *numbering, struct wsdbg_ptx_registers *out)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < out->count; i++)
        if (numbering->live.first[i] < numbering->live.first[i + 1])
            numbering->order[listed++] = i;
    if (listed)
        qsort_r(numbering->order, listed, sizeof *numbering->order, by_first_place, &numbering->live);
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t number = numbering->order[i];
        const bool is_predicate = numbering->function->register_types[number] == WSDBG_PTX_PRED;
        if (!take(numbering, number, is_predicate, &out->numbers[number]))
            return false;
    }
    return true;
}

/* Without room for a register it has no number, and what is made of it is not known: no number is ever wrong. */
static struct wsdbg_error *number_all(struct numbering *numbering, struct wsdbg_ptx_registers *out)
{
    bool grows = true;
    for (unsigned pass = 0; grows && pass < SLICE_PASSES_MOST; pass++)
        grows = mark_once(numbering);
    leave_out_many(numbering);
    if (!find_namings(numbering))
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = wsdbg_ptx_live_create(numbering->program, numbering->function, numbering->namings,
                                                      numbering->naming_count, &numbering->live);
    if (error && error != &wsdbg_error_no_memory) { /* too large a kernel: nothing has a number */
        wsdbg_error_destroy(error);
        return NULL;
    }
    return error || give_numbers(numbering, out) ? error : &wsdbg_error_no_memory;
}

static void destroy(struct numbering *numbering)
{
    for (unsigned i = 0; numbering->holding && i < GENERAL_MOST; i++)
        free(numbering->holding->general[i]);
    for (unsigned i = 0; numbering->holding && i < PREDICATES_MOST; i++)
        free(numbering->holding->predicates[i]);
    free(numbering->holding);
    free(numbering->matters);
    free(numbering->namings);
    free(numbering->order);
    free(numbering->reads);
    wsdbg_ptx_live_destroy(&numbering->live);
}

/* A generic address of it may go anywhere. */
static bool gives_local_away(const struct wsdbg_ptx_instruction *instruction)
{
    if (instruction->operation == WSDBG_PTX_OP_cvta)
        return is_local(instruction) && !(instruction->flags & WSDBG_PTX_TO_SHARED);
    const bool is_plain = is_local(instruction) || instruction->operation == WSDBG_PTX_OP_mov ||
                          instruction->operation == WSDBG_PTX_OP_add || instruction->operation == WSDBG_PTX_OP_sub ||
                          instruction->operation == WSDBG_PTX_OP_call; /* its arguments and results lie there */
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
    numbering.order = calloc(count + 1, sizeof *numbering.order);
    numbering.reads = calloc(count + 1, sizeof *numbering.reads);
    numbering.holding = calloc(1, sizeof *numbering.holding);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (out->numbers && numbering.matters && numbering.order && numbering.reads && numbering.holding)
        error = number_all(&numbering, out);
    destroy(&numbering);
    if (error)
        wsdbg_ptx_registers_destroy(out);
    return error;
}

void wsdbg_ptx_registers_destroy(struct wsdbg_ptx_registers *registers)
{
    free(registers->numbers);
    *registers = (struct wsdbg_ptx_registers){0};
}
