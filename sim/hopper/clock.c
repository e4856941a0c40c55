/* clock.c - see clock.h: follows what clocks read through a kernel's registers.
 *
 * A loop that waits may ask a clock how long it should sleep.  That does not end it.  So a register that depends on a
 * clock is left out when a warp is compared with what it was, as long as no instruction is executed that lets the clock
 * decide more: a store of it, say, or a branch.  A branch may depend on a clock if all its paths meet again and only
 * compute or sleep until there: its region.  What a region writes depends on the clock as well.  Calls and what is
 * called are not followed: there every look at a clock counts.
 * Reads the kernel's instructions and graph; writes sets of registers, one a block, and marks of instructions.
 */
#include "hopper/clock.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/graph.h"

enum { PASSES_MAX = 64, EDGES_MAX = 1 << 20, WORD_BITS = 64 };
#define SET_WORDS_MAX ((size_t)1 << 20)

struct hopper_clock_uses {
    const struct wsdbg_ptx_program *program;
    uint32_t first, own_end, end;
    size_t words;                 /* of a set */
    struct wsdbg_ptx_graph graph; /* of the kernel's own; without blocks where it was not followed */
    uint64_t *before;             /* a set a block: registers that depend on a clock when it begins */
    bool *in_region, *is_decided; /* by block: it is in a region; a clock decides the branch at its end */
    bool *matters;                /* by instruction, from `first` */
    bool has_changed;
};

/* ---- one instruction ---- */

static bool is_in(const uint64_t *set, uint32_t number)
{
    return set[number / WORD_BITS] >> number % WORD_BITS & 1;
}

static bool is_clock(const struct wsdbg_ptx_operand *operand)
{
    return operand->kind == WSDBG_PTX_OPERAND_SPECIAL && operand->number >= WSDBG_PTX_CLOCK &&
           operand->number <= WSDBG_PTX_GLOBALTIMER_HI;
}

/* The operand itself, or its elements. */
static const struct wsdbg_ptx_operand *elements_of(const struct wsdbg_ptx_program *program,
                                                   const struct wsdbg_ptx_operand *operand, uint32_t *count)
{
    const bool is_tensor = operand->kind == WSDBG_PTX_OPERAND_TENSOR;
    *count = 1;
    if (!is_tensor && operand->kind != WSDBG_PTX_OPERAND_VECTOR)
        return operand;
    *count = operand->count + is_tensor;
    return &program->vectors[operand->number];
}

static bool depends(const struct wsdbg_ptx_operand *source, const uint64_t *set)
{
    if (is_clock(source))
        return true;
    const bool has_register = (source->kind == WSDBG_PTX_OPERAND_REGISTER && !source->is_written) ||
                              (source->kind == WSDBG_PTX_OPERAND_ADDRESS && source->number != WSDBG_PTX_NONE);
    return set && has_register && is_in(set, source->number);
}

/* It reads a clock, or a register of the set (NULL = none). */
static bool reads(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_instruction *instruction,
                  const uint64_t *set)
{
    if (set && instruction->guard != WSDBG_PTX_NONE && is_in(set, instruction->guard))
        return true;
    for (unsigned number = 0; number < instruction->operand_count; number++) {
        uint32_t count;
        const struct wsdbg_ptx_operand *elements = elements_of(program, &instruction->operands[number], &count);
        for (uint32_t i = 0; i < count; i++)
            if (depends(&elements[i], set))
                return true;
    }
    return false;
}

/* It changes nothing but its thread's registers: carries are none. */
static bool only_computes(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation < WSDBG_PTX_OP_ld && !(instruction->flags & WSDBG_PTX_CARRY_OUT);
}

static bool only_passes_time(const struct wsdbg_ptx_instruction *instruction)
{
    return only_computes(instruction) || instruction->operation == WSDBG_PTX_OP_nanosleep;
}

/* wgmma adds to what it writes, and a guarded instruction keeps what it does not write. */
static void write_registers(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_instruction *instruction,
                            bool of_clock, uint64_t *set)
{
    const bool keeps = instruction->guard != WSDBG_PTX_NONE || instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
    for (unsigned number = 0; number < instruction->operand_count; number++) {
        uint32_t count;
        const struct wsdbg_ptx_operand *elements = elements_of(program, &instruction->operands[number], &count);
        for (uint32_t i = 0; i < count; i++) {
            if (elements[i].kind != WSDBG_PTX_OPERAND_REGISTER || !elements[i].is_written)
                continue;
            const uint64_t bit = UINT64_C(1) << elements[i].number % WORD_BITS;
            uint64_t *word = &set[elements[i].number / WORD_BITS];
            if (of_clock)
                *word |= bit;
            else if (!keeps)
                *word &= ~bit;
        }
    }
}

/* ---- regions ---- */

static bool block_only_passes_time(const struct hopper_clock_uses *uses, uint32_t block)
{
    for (uint32_t i = uses->graph.first[block]; i < uses->graph.first[block + 1]; i++) {
        const struct wsdbg_ptx_instruction *instruction = &uses->program->instructions[i];
        if (instruction->operation != WSDBG_PTX_OP_bra && !only_passes_time(instruction))
            return false;
    }
    return true;
}

/* Adds the blocks behind `block` that are not in the region yet; false: a path leaves the kernel or does more. */
static bool add_behind(const struct hopper_clock_uses *uses, uint32_t block, uint32_t meet, bool *is_added,
                       uint32_t *blocks, uint32_t *count)
{
    const struct wsdbg_lists *after = &uses->graph.after;
    for (uint32_t i = after->first[block]; i < after->first[block + 1]; i++) {
        const uint32_t next = after->numbers[i];
        if (next == uses->graph.count)
            return false;
        if (next == meet || is_added[next])
            continue;
        if (!block_only_passes_time(uses, next))
            return false;
        is_added[next] = true;
        blocks[(*count)++] = next;
    }
    return true;
}

/* Marks the blocks between a branch at the end of `block` and where its paths meet, if they only pass time. */
static struct wsdbg_error *mark_region(struct hopper_clock_uses *uses, uint32_t block, uint32_t meets_at)
{
    if (meets_at == WSDBG_PTX_NONE || meets_at < uses->first || meets_at >= uses->own_end)
        return NULL;
    const uint32_t meet = uses->graph.block_of[meets_at - uses->first];
    bool *is_added = calloc(uses->graph.count, sizeof *is_added);
    uint32_t *blocks = calloc(uses->graph.count, sizeof *blocks);
    uint32_t count = 0;
    bool is_region = is_added && blocks && add_behind(uses, block, meet, is_added, blocks, &count);
    for (uint32_t i = 0; is_region && i < count; i++)
        is_region = add_behind(uses, blocks[i], meet, is_added, blocks, &count);
    for (uint32_t i = 0; is_region && i < count; i++)
        uses->in_region[blocks[i]] = true;
    if (is_region) {
        uses->matters[uses->graph.first[block + 1] - 1 - uses->first] = false;
        uses->has_changed = true;
    }
    struct wsdbg_error *error = is_added && blocks ? NULL : &wsdbg_error_no_memory;
    free(is_added);
    free(blocks);
    return error;
}

/* ---- the kernel ---- */

/* Takes `set` over one instruction of a block. */
static struct wsdbg_error *pass_instruction(struct hopper_clock_uses *uses, uint32_t block, uint32_t index,
                                            uint64_t *set)
{
    const struct wsdbg_ptx_instruction *instruction = &uses->program->instructions[index];
    const bool of_clock = reads(uses->program, instruction, set);
    write_registers(uses->program, instruction, of_clock || uses->in_region[block], set);
    if (!of_clock || only_passes_time(instruction) || uses->is_decided[block])
        return NULL;
    bool *matters = &uses->matters[index - uses->first];
    uses->has_changed |= !*matters;
    *matters = true;
    if (instruction->operation != WSDBG_PTX_OP_bra)
        return NULL;
    uses->is_decided[block] = true;
    return mark_region(uses, block, instruction->reconverge);
}

static struct wsdbg_error *pass_block(struct hopper_clock_uses *uses, uint32_t block, uint64_t *set)
{
    const struct wsdbg_lists *after = &uses->graph.after;
    memcpy(set, uses->before + block * uses->words, uses->words * sizeof *set);
    for (uint32_t i = uses->graph.first[block]; i < uses->graph.first[block + 1]; i++) {
        struct wsdbg_error *error = pass_instruction(uses, block, i, set);
        if (error)
            return error;
    }
    for (uint32_t i = after->first[block]; i < after->first[block + 1]; i++) {
        if (after->numbers[i] == uses->graph.count)
            continue;
        uint64_t *next = uses->before + after->numbers[i] * uses->words;
        for (size_t word = 0; word < uses->words; word++) {
            uses->has_changed |= (set[word] & ~next[word]) != 0;
            next[word] |= set[word];
        }
    }
    return NULL;
}

/* Until nothing changes any more; has_changed then says whether it came to that. */
static struct wsdbg_error *follow(struct hopper_clock_uses *uses)
{
    uint64_t *set = calloc(uses->words, sizeof *set);
    struct wsdbg_error *error = set ? NULL : &wsdbg_error_no_memory;
    uses->has_changed = true;
    for (unsigned pass = 0; !error && uses->has_changed && pass < PASSES_MAX; pass++) {
        uses->has_changed = false;
        for (uint32_t block = 0; !error && block < uses->graph.count; block++)
            error = pass_block(uses, block, set);
    }
    free(set);
    return error;
}

/* Every look at a clock counts in instructions that are not followed. */
static bool mark_reads(struct hopper_clock_uses *uses, uint32_t begin)
{
    bool any = false;
    for (uint32_t i = begin; i < uses->end; i++)
        if (reads(uses->program, &uses->program->instructions[i], NULL))
            any = uses->matters[i - uses->first] = true;
    return any;
}

static struct wsdbg_error *follow_own(struct hopper_clock_uses *uses)
{
    struct wsdbg_error *error = wsdbg_ptx_graph_create(uses->program->instructions, uses->program->branch_tables,
                                                       uses->first, uses->own_end, EDGES_MAX, &uses->graph);
    if (error)
        return error;
    const uint32_t blocks = uses->graph.count;
    uses->has_changed = true;
    if (blocks * uses->words <= SET_WORDS_MAX) {
        uses->before = calloc(blocks * uses->words + 1, sizeof *uses->before);
        uses->in_region = calloc(blocks + 1u, sizeof *uses->in_region);
        uses->is_decided = calloc(blocks + 1u, sizeof *uses->is_decided);
        error = uses->before && uses->in_region && uses->is_decided ? follow(uses) : &wsdbg_error_no_memory;
    }
    if (!error && uses->has_changed) { /* too tangled */
        wsdbg_ptx_graph_destroy(&uses->graph);
        memset(uses->matters, 0, uses->own_end - uses->first);
        mark_reads(uses, uses->first);
    }
    return error;
}

struct wsdbg_error *hopper_clock_uses_create(const struct wsdbg_ptx_program *program,
                                             const struct wsdbg_ptx_function *function, struct hopper_clock_uses **out)
{
    *out = NULL;
    struct hopper_clock_uses *uses = calloc(1, sizeof *uses);
    if (!uses)
        return &wsdbg_error_no_memory;
    *uses = (struct hopper_clock_uses){.program = program,
                                       .first = function->first,
                                       .own_end = wsdbg_ptx_own_end(program, function),
                                       .end = function->end,
                                       .words = function->register_count / WORD_BITS + 1};
    uses->matters = calloc(uses->end - uses->first + 1u, sizeof *uses->matters);
    struct wsdbg_error *error = uses->matters ? NULL : &wsdbg_error_no_memory;
    const bool reads_clock = !error && mark_reads(uses, uses->first);
    if (reads_clock) {
        memset(uses->matters, 0, uses->own_end - uses->first);
        error = follow_own(uses);
    }
    if (error || !reads_clock)
        hopper_clock_uses_destroy(uses);
    else
        *out = uses;
    return error;
}

void hopper_clock_uses_destroy(struct hopper_clock_uses *uses)
{
    if (!uses)
        return;
    wsdbg_ptx_graph_destroy(&uses->graph);
    free(uses->before);
    free(uses->in_region);
    free(uses->is_decided);
    free(uses->matters);
    free(uses);
}

/* ---- questions ---- */

static bool is_followed(const struct hopper_clock_uses *uses, uint32_t instruction)
{
    return uses->graph.count && instruction >= uses->first && instruction < uses->own_end;
}

bool hopper_clock_matters(const struct hopper_clock_uses *uses, uint32_t instruction)
{
    return uses->matters[instruction - uses->first];
}

bool hopper_clock_may_pass_by(const struct hopper_clock_uses *uses, uint32_t instruction)
{
    return is_followed(uses, instruction) && uses->in_region[uses->graph.block_of[instruction - uses->first]];
}

size_t hopper_clock_set_words(const struct hopper_clock_uses *uses)
{
    return uses->words;
}

void hopper_clock_registers(const struct hopper_clock_uses *uses, uint32_t instruction, uint64_t *set)
{
    memset(set, 0, uses->words * sizeof *set);
    if (!is_followed(uses, instruction))
        return;
    const uint32_t block = uses->graph.block_of[instruction - uses->first];
    memcpy(set, uses->before + block * uses->words, uses->words * sizeof *set);
    for (uint32_t i = uses->graph.first[block]; i < instruction; i++) {
        const struct wsdbg_ptx_instruction *passed = &uses->program->instructions[i];
        write_registers(uses->program, passed, reads(uses->program, passed, set) || uses->in_region[block], set);
    }
}
