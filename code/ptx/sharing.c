/* sharing.c - fewer registers: those whose values are never needed at the same time get one number.
 *
 * A compiler writes each register once, thousands in a long kernel; the simulator keeps 32 lanes of each for every
 * warp. A register is taken to be needed from the first to the last place, in the order of the text, where liveness
 * along the control flow says so.  An instruction's results never share with its sources, so nothing else has to care.
 * Registers of wgmma, which reads and writes them later, are not shared, and short functions stay as they are. Reads
 * the graph; writes numbers in the function's operands and the parser's register types.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/function.h"

enum { REGISTERS_MIN = 64, PASSES_MAX = 16, CLASSES = 4, WORD_BITS = 64 };
/* Functions with larger sets, or more to look at in a pass, stay as they are. */
#define LIVE_WORDS_MAX ((size_t)1 << 20)
#define EDGE_WORDS_MAX ((size_t)1 << 23)

struct sharing {
    struct ptx_parser *parser;
    const struct wsdbg_ptx_graph *graph;
    uint32_t count;                    /* registers */
    size_t words;                      /* of a set of them */
    uint64_t *needed, *read, *written; /* sets, one a block: needed when it begins; read before and written by it */
    uint32_t *first, *last;            /* of each register: instructions, from the function's first one */
    uint32_t *first_at, *next_first;   /* of each instruction: a list of registers that begin there; the list */
    uint32_t *last_at, *next_last;
    uint32_t *number; /* of each register: the new one */
    uint32_t *free[CLASSES], free_count[CLASSES];
    uint8_t *types; /* of the new registers */
    uint32_t new_count;
};

static struct wsdbg_ptx_instruction *instruction_at(const struct sharing *sharing, uint32_t index)
{
    return PTX_ITEM(sharing->parser->instructions, struct wsdbg_ptx_instruction, index);
}

/* ---- every register of an instruction ---- */

/* Goes over the guard, then operands and the elements of vectors. */
struct cursor {
    struct wsdbg_ptx_instruction *instruction;
    unsigned operand;
    uint32_t element;
    bool guard_done;
};

/* The operand itself, or an element, when it holds a register. */
static uint32_t *number_in(struct wsdbg_ptx_operand *operand)
{
    const bool has_number = operand->kind == WSDBG_PTX_OPERAND_REGISTER ||
                            (operand->kind == WSDBG_PTX_OPERAND_ADDRESS && operand->number != WSDBG_PTX_NONE);
    return has_number ? &operand->number : NULL;
}

/* The next register, NULL = there are no more. */
static uint32_t *next_register(const struct sharing *sharing, struct cursor *cursor, bool *is_written)
{
    *is_written = false;
    if (!cursor->guard_done) {
        cursor->guard_done = true;
        if (cursor->instruction->guard != WSDBG_PTX_NONE)
            return &cursor->instruction->guard;
    }
    while (cursor->operand < cursor->instruction->operand_count) {
        struct wsdbg_ptx_operand *operand = &cursor->instruction->operands[cursor->operand];
        uint32_t elements = operand->kind == WSDBG_PTX_OPERAND_VECTOR ? operand->count : 0;
        if (operand->kind == WSDBG_PTX_OPERAND_TENSOR)
            elements = operand->count + 1;
        if (cursor->element < elements)
            operand = PTX_ITEM(sharing->parser->vectors, struct wsdbg_ptx_operand, operand->number + cursor->element);
        if (++cursor->element >= elements) {
            cursor->operand++;
            cursor->element = 0;
        }
        uint32_t *number = number_in(operand);
        *is_written = operand->kind == WSDBG_PTX_OPERAND_REGISTER && operand->is_written;
        if (number)
            return number;
    }
    return NULL;
}

/* ---- liveness ---- */

static void set(uint64_t *words, uint32_t number)
{
    words[number / WORD_BITS] |= UINT64_C(1) << number % WORD_BITS;
}

static bool is_set(const uint64_t *words, uint32_t number)
{
    return words[number / WORD_BITS] >> number % WORD_BITS & 1;
}

/* What a block reads before it writes, and what it writes for all lanes. */
static void study_block(struct sharing *sharing, uint32_t block)
{
    uint64_t *read = sharing->read + block * sharing->words, *written = sharing->written + block * sharing->words;
    for (uint32_t i = sharing->graph->first[block]; i < sharing->graph->first[block + 1]; i++) {
        struct wsdbg_ptx_instruction *instruction = instruction_at(sharing, i);
        /* wgmma adds to what it writes; a guarded instruction keeps the other lanes' values. */
        const bool keeps =
            instruction->guard != WSDBG_PTX_NONE || instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
        bool is_written;
        struct cursor reads = {.instruction = instruction}, writes = {.instruction = instruction};
        for (uint32_t *number; (number = next_register(sharing, &reads, &is_written));)
            if ((!is_written || keeps) && !is_set(written, *number))
                set(read, *number);
        for (uint32_t *number; (number = next_register(sharing, &writes, &is_written));)
            if (is_written && !keeps)
                set(written, *number);
    }
}

/* What is needed behind a block: by one that it leads to. */
static uint64_t needed_behind(const struct sharing *sharing, uint32_t block, size_t word)
{
    const struct wsdbg_lists *after = &sharing->graph->after;
    uint64_t needed = 0;
    for (uint32_t i = after->first[block]; i < after->first[block + 1]; i++)
        if (after->numbers[i] < sharing->graph->count)
            needed |= sharing->needed[after->numbers[i] * sharing->words + word];
    return needed;
}

/* False: the function is too tangled. */
static bool find_needed(struct sharing *sharing)
{
    bool changed = true;
    for (unsigned pass = 0; changed && pass < PASSES_MAX; pass++) {
        changed = false;
        for (uint32_t block = sharing->graph->count; block-- > 0;)
            for (size_t word = 0; word < sharing->words; word++) {
                const size_t at = block * sharing->words + word;
                const uint64_t needed =
                    sharing->read[at] | (needed_behind(sharing, block, word) & ~sharing->written[at]);
                changed = changed || needed != sharing->needed[at];
                sharing->needed[at] = needed;
            }
    }
    return !changed;
}

/* ---- from where to where ---- */

static void reach(struct sharing *sharing, uint32_t number, uint32_t at)
{
    if (sharing->first[number] == WSDBG_PTX_NONE || at < sharing->first[number])
        sharing->first[number] = at;
    if (sharing->last[number] == WSDBG_PTX_NONE || at > sharing->last[number])
        sharing->last[number] = at;
}

static void reach_set(struct sharing *sharing, uint64_t set_word, size_t word, uint32_t at)
{
    for (; set_word; set_word &= set_word - 1)
        reach(sharing, (uint32_t)(word * WORD_BITS + (unsigned)__builtin_ctzll(set_word)), at);
}

static void find_reaches(struct sharing *sharing)
{
    const struct wsdbg_ptx_graph *graph = sharing->graph;
    const uint32_t begin = graph->begin, length = graph->end - begin;
    for (uint32_t block = 0; block < graph->count; block++)
        for (size_t word = 0; word < sharing->words; word++) {
            reach_set(sharing, sharing->needed[block * sharing->words + word], word, graph->first[block] - begin);
            reach_set(sharing, needed_behind(sharing, block, word), word, graph->first[block + 1] - 1 - begin);
        }
    for (uint32_t i = 0; i < length; i++) {
        struct cursor cursor = {.instruction = instruction_at(sharing, begin + i)};
        const bool is_late = cursor.instruction->operation == WSDBG_PTX_OP_wgmma_mma_async;
        bool is_written;
        for (uint32_t *number; (number = next_register(sharing, &cursor, &is_written));) {
            reach(sharing, *number, is_late ? 0 : i);
            reach(sharing, *number, is_late ? length - 1 : i);
        }
    }
}

/* ---- new numbers ---- */

static unsigned class_of(const struct sharing *sharing, uint32_t number)
{
    const enum wsdbg_ptx_type type = *PTX_ITEM(sharing->parser->register_types, uint8_t, number);
    switch (wsdbg_ptx_type_bytes(type)) {
    case 0:
        return 0;
    case 8:
        return 2;
    case 16:
        return 3;
    default:
        return 1;
    }
}

static void give_number(struct sharing *sharing, uint32_t number)
{
    static const uint8_t types[CLASSES] = {WSDBG_PTX_PRED, WSDBG_PTX_B32, WSDBG_PTX_B64, WSDBG_PTX_B128};
    const unsigned class = class_of(sharing, number);
    if (sharing->free_count[class]) {
        sharing->number[number] = sharing->free[class][--sharing->free_count[class]];
    } else {
        sharing->types[sharing->new_count] = types[class];
        sharing->number[number] = sharing->new_count++;
    }
}

static void give_numbers(struct sharing *sharing)
{
    const uint32_t length = sharing->graph->end - sharing->graph->begin;
    for (uint32_t number = sharing->count; number-- > 0;) {
        if (sharing->first[number] == WSDBG_PTX_NONE) /* in a form that did not fit: no instruction has it */
            continue;
        sharing->next_first[number] = sharing->first_at[sharing->first[number]];
        sharing->first_at[sharing->first[number]] = number;
        sharing->next_last[number] = sharing->last_at[sharing->last[number]];
        sharing->last_at[sharing->last[number]] = number;
    }
    for (uint32_t i = 0; i < length; i++) {
        for (uint32_t number = sharing->first_at[i]; number != WSDBG_PTX_NONE; number = sharing->next_first[number])
            give_number(sharing, number);
        for (uint32_t number = sharing->last_at[i]; number != WSDBG_PTX_NONE; number = sharing->next_last[number]) {
            const unsigned class = class_of(sharing, number);
            sharing->free[class][sharing->free_count[class]++] = sharing->number[number];
        }
    }
}

static void rename_registers(struct sharing *sharing)
{
    for (uint32_t i = sharing->graph->begin; i < sharing->graph->end; i++) {
        struct cursor cursor = {.instruction = instruction_at(sharing, i)};
        bool is_written;
        for (uint32_t *number; (number = next_register(sharing, &cursor, &is_written));)
            *number = sharing->number[*number];
    }
    memcpy(sharing->parser->register_types.items, sharing->types, sharing->new_count);
    sharing->parser->register_types.count = sharing->new_count;
}

/* ---- all of it ---- */

static bool take(uint32_t **array, size_t count)
{
    *array = malloc((count + 1) * sizeof **array);
    if (*array)
        memset(*array, 0xff, (count + 1) * sizeof **array);
    return *array;
}

static bool make(struct sharing *sharing)
{
    const size_t sets = sharing->graph->count * sharing->words + 1;
    const size_t length = sharing->graph->end - sharing->graph->begin;
    sharing->needed = calloc(sets, sizeof *sharing->needed);
    sharing->read = calloc(sets, sizeof *sharing->read);
    sharing->written = calloc(sets, sizeof *sharing->written);
    sharing->types = malloc(sharing->count);
    return sharing->needed && sharing->read && sharing->written && sharing->types &&
           take(&sharing->first, sharing->count) && take(&sharing->last, sharing->count) &&
           take(&sharing->next_first, sharing->count) && take(&sharing->next_last, sharing->count) &&
           take(&sharing->first_at, length) && take(&sharing->last_at, length) &&
           take(&sharing->number, sharing->count) && take(&sharing->free[0], sharing->count) &&
           take(&sharing->free[1], sharing->count) && take(&sharing->free[2], sharing->count) &&
           take(&sharing->free[3], sharing->count);
}

static void destroy(struct sharing *sharing)
{
    uint32_t *const arrays[] = {sharing->first,    sharing->last,    sharing->next_first, sharing->next_last,
                                sharing->first_at, sharing->last_at, sharing->number,     sharing->free[0],
                                sharing->free[1],  sharing->free[2], sharing->free[3]};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(sharing->needed);
    free(sharing->read);
    free(sharing->written);
    free(sharing->types);
}

struct wsdbg_error *ptx_share_registers(struct ptx_parser *parser, const struct wsdbg_ptx_graph *graph)
{
    struct sharing sharing = {.parser = parser, .graph = graph, .count = (uint32_t)parser->register_types.count};
    sharing.words = sharing.count / WORD_BITS + 1;
    if (sharing.count < REGISTERS_MIN || graph->count * sharing.words > LIVE_WORDS_MAX ||
        graph->edge_count * sharing.words > EDGE_WORDS_MAX)
        return NULL;
    const bool made = make(&sharing);
    for (uint32_t block = 0; made && block < graph->count; block++)
        study_block(&sharing, block);
    if (made && find_needed(&sharing)) {
        find_reaches(&sharing);
        give_numbers(&sharing);
        rename_registers(&sharing);
    }
    destroy(&sharing);
    return made ? NULL : &wsdbg_error_no_memory;
}
