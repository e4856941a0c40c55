/* joined_moves.c - makes registers of the words that joined code keeps in the stack frame: see joined_code.h.
 *
 * Reads: which words the loads and stores name (joined_frame.h).  Writes: what the graph gets in their place.
 *
 * General registers from number 256 on stand for the words, as in walk_stack.h.  Loads and stores of whole words become
 * moves.  Where a word is also used in part, it stays in memory, at a constant place from the stack pointer.  So does
 * every word that the program uses, if some store may be to any of them.  Walks follow both there.  The words in which
 * a function keeps the registers of its caller are registers in any case: no pointer of the program leads there.
 */
#include "sass/joined_code.h"

#include <stdlib.h>
#include <string.h>

#include "sass/definitions.h"
#include "sass/joined_frame.h"
#include "sass/walk_stack.h"

enum { FIRST_WORD = WSDBG_RZ + 1, WORD_BYTES = 4 };
enum { NO_SLOT = UINT16_MAX, WORDS_MOST = JOINED_SPARE_REGISTER - FIRST_WORD };

/* What is known of a word of the frame. */
struct word {
    bool is_used, is_in_parts; /* in_parts: some access is to a byte or two of it, or to a word across two */
    bool is_of_array;          /* some access may be to it or to others, by an index */
    bool is_of_program;        /* some access is none that keeps or restores a register of the caller */
    uint16_t slot;             /* from 0; NO_SLOT = it is not followed */
};

struct moving {
    struct joined_code *code;
    const struct wsdbg_graph *graph;
    const struct joined_frame *frame;
    bool *keeps; /* by line: it is a store or a load of a register of the caller */
    bool has_spans;
    bool may_hit;  /* some store may be to any word that the program uses */
    int32_t first; /* the lowest offset, a multiple of 4 */
    struct word *words;
    uint32_t word_count;
};

static const struct joined_access *access_of(const struct moving *moving, uint32_t line)
{
    return &moving->frame->accesses[line];
}

static const struct wsdbg_instruction *instruction_of(const struct moving *moving, uint32_t line)
{
    return &moving->code->lines[line].instruction;
}

/* ---- the registers of callers ---- */

static bool is_plain_move(const struct wsdbg_instruction *in, enum wsdbg_operation operation)
{
    const struct wsdbg_operand *at = &in->sources[0];
    return in->operation == operation && in->width_bytes == WORD_BYTES && at->kind == WSDBG_OPERAND_MEMORY &&
           at->number == JOINED_STACK_POINTER && in->source_count == (operation == WSDBG_OP_STL ? 2 : 1);
}

/* Whether a store at the begin of a copy keeps a register that the copy has not written yet. */
static bool is_unwritten(const struct moving *moving, uint32_t first, uint32_t line)
{
    const unsigned reg = wsdbg_register_of(&instruction_of(moving, line)->sources[1], 0);
    for (uint32_t i = first; i < line; i++)
        if (reg == WSDBG_REGISTER_NONE || wsdbg_writes(instruction_of(moving, i), reg))
            return false;
    return true;
}

static bool ends_begin(const struct wsdbg_instruction *in)
{
    const enum wsdbg_operation_class class = wsdbg_operation_class(in->operation);
    return class == WSDBG_CLASS_CALL || class == WSDBG_CLASS_RETURN || class == WSDBG_CLASS_EXIT;
}

/* Marks the stores of a copy that keep registers of its caller, and the loads from the same words that bring them back.
 */
static void mark_kept(struct moving *moving, uint32_t first, uint32_t end)
{
    enum { BEGIN_MOST = 64 };
    for (uint32_t i = first; i < end && i < first + BEGIN_MOST && !ends_begin(instruction_of(moving, i)); i++) {
        const struct wsdbg_instruction *store = instruction_of(moving, i);
        if (!is_plain_move(store, WSDBG_OP_STL) || access_of(moving, i)->kind != JOINED_ACCESS_FRAME ||
            !is_unwritten(moving, first, i))
            continue;
        moving->keeps[i] = true;
        for (uint32_t k = i + 1; k < end; k++)
            moving->keeps[k] |= is_plain_move(instruction_of(moving, k), WSDBG_OP_LDL) &&
                                access_of(moving, k)->kind == JOINED_ACCESS_FRAME &&
                                access_of(moving, k)->offset_bytes == access_of(moving, i)->offset_bytes &&
                                instruction_of(moving, k)->destinations[0].number == store->sources[1].number;
    }
}

static void mark_all_kept(struct moving *moving)
{
    const struct joined_code *code = moving->code;
    for (uint32_t first = 0, end; first < code->count; first = end) {
        for (end = first + 1; end < code->count && code->lines[end].origin.copy == code->lines[first].origin.copy;)
            end++;
        mark_kept(moving, first, end);
    }
}

/* ---- which words there are ---- */

static uint32_t word_of(const struct moving *moving, int32_t offset_bytes)
{
    return (uint32_t)(offset_bytes - moving->first) / WORD_BYTES;
}

static bool is_changed_otherwise(const struct wsdbg_instruction *in)
{
    const enum wsdbg_operation_class class = wsdbg_operation_class(in->operation);
    return class != WSDBG_CLASS_LOAD && class != WSDBG_CLASS_STORE;
}

static void find_extent(struct moving *moving)
{
    moving->first = moving->frame->deepest_bytes & ~(WORD_BYTES - 1);
    moving->word_count = (uint32_t)-moving->first / WORD_BYTES;
    for (uint32_t i = 0; i < moving->code->count; i++) {
        const struct joined_access *access = access_of(moving, i);
        const struct wsdbg_instruction *in = instruction_of(moving, i);
        const bool is_load = wsdbg_operation_class(in->operation) == WSDBG_CLASS_LOAD;
        moving->may_hit |= access->kind == JOINED_ACCESS_MAYBE && !is_load;
        moving->has_spans |= access->kind == JOINED_ACCESS_SPAN;
    }
}

/* The words of an array stay in memory. */
static void note_span(struct moving *moving, const struct joined_access *access)
{
    const uint32_t first = word_of(moving, access->offset_bytes), last = word_of(moving, access->end_bytes - 1);
    for (uint32_t word = first; word <= last && word < moving->word_count; word++) {
        struct word *row = &moving->words[word];
        row->is_used = row->is_in_parts = row->is_of_array = row->is_of_program = true;
    }
}

static void note_words(struct moving *moving)
{
    for (uint32_t i = 0; i < moving->code->count; i++) {
        const struct joined_access *access = access_of(moving, i);
        const struct wsdbg_instruction *in = instruction_of(moving, i);
        if (access->kind == JOINED_ACCESS_SPAN)
            note_span(moving, access);
        if (access->kind != JOINED_ACCESS_FRAME)
            continue;
        const uint32_t bytes = in->width_bytes ? in->width_bytes : WORD_BYTES;
        const bool is_whole = access->offset_bytes % WORD_BYTES == 0 && bytes % WORD_BYTES == 0;
        const uint32_t first = word_of(moving, access->offset_bytes),
                       last = word_of(moving, access->offset_bytes + (int32_t)bytes - 1);
        for (uint32_t word = first; word <= last && word < moving->word_count; word++) {
            moving->words[word].is_used = true;
            moving->words[word].is_in_parts |= !is_whole || is_changed_otherwise(in);
            moving->words[word].is_of_program |= !moving->keeps[i];
        }
    }
}

/* Whether each word of the frame has a register: then one that is named by a computed address can be found. */
static bool is_dense(const struct moving *moving)
{
    return moving->word_count <= WORDS_MOST;
}

/* In a larger frame only the words that are followed get registers, in their order, so that neighbours stay neighbours.
 * Arrays are not followed there. */
static void give_slots(struct moving *moving)
{
    uint16_t slots = 0;
    for (uint32_t word = 0; word < moving->word_count; word++) {
        struct word *row = &moving->words[word];
        const bool is_followed = row->is_used && !row->is_of_array && !(moving->may_hit && row->is_of_program);
        row->slot = is_followed && slots < WORDS_MOST ? slots++ : NO_SLOT;
        if (is_dense(moving))
            row->slot = (uint16_t)word;
        row->is_in_parts |= moving->may_hit && row->is_of_program;
    }
}

/* ---- instructions ---- */

static bool are_followed(const struct moving *moving, uint32_t first, uint32_t last, bool *in_parts)
{
    *in_parts = false;
    if (first > last || last >= moving->word_count)
        return false;
    for (uint32_t word = first; word <= last; word++) {
        if (word >= moving->word_count || moving->words[word].slot == NO_SLOT ||
            moving->words[word].slot != moving->words[first].slot + (word - first))
            return false;
        *in_parts |= moving->words[word].is_in_parts;
    }
    return true;
}

/* A load of what is not known, or a store that nobody follows. */
static void give_up(struct joined_line *line)
{
    struct wsdbg_instruction *in = &line->instruction;
    if (wsdbg_operation_class(in->operation) == WSDBG_CLASS_STORE || !in->destination_count) {
        line->is_left_out = true;
        return;
    }
    in->operation = WSDBG_OP_LDL;
    in->is_whole = false;
}

/* The access at a constant place from the stack pointer. */
static void place_at_pointer(struct wsdbg_instruction *in, uint32_t offset_bytes)
{
    in->operation = wsdbg_operation_class(in->operation) == WSDBG_CLASS_LOAD ? WSDBG_OP_LDL : WSDBG_OP_STL;
    in->sources[0] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_MEMORY,
                                            .number = JOINED_STACK_POINTER,
                                            .uniform = WSDBG_URZ,
                                            .registers = 1,
                                            .value = (int64_t)offset_bytes};
}

static void change_access(struct moving *moving, uint32_t number)
{
    struct joined_line *line = &moving->code->lines[number];
    struct wsdbg_instruction *in = &line->instruction;
    const struct joined_access *access = access_of(moving, number);
    const uint32_t bytes = in->width_bytes ? in->width_bytes : WORD_BYTES;
    const uint32_t first = word_of(moving, access->offset_bytes),
                   last = word_of(moving, access->offset_bytes + (int32_t)bytes - 1);
    const bool is_load = in->destination_count == 1 && in->source_count >= 1;
    const bool is_store = !in->destination_count && in->source_count >= 2;
    bool in_parts;
    if (is_changed_otherwise(in) || !in->is_whole || (!is_load && !is_store) ||
        in->sources[0].kind != WSDBG_OPERAND_MEMORY || !are_followed(moving, first, last, &in_parts)) {
        give_up(line);
        return;
    }
    in->source_count = is_load ? 1 : 2;
    if (in_parts) {
        place_at_pointer(in, moving->words[first].slot * WORD_BYTES + (uint32_t)access->offset_bytes % WORD_BYTES);
        return;
    }
    line->word = (uint16_t)(FIRST_WORD + moving->words[first].slot);
    line->words = (uint8_t)(bytes / WORD_BYTES);
}

static void make_number(struct wsdbg_instruction *in, int64_t value)
{
    in->operation = WSDBG_OP_MOV;
    in->sources[0] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE, .value = value};
    in->source_count = 1;
    in->width_bytes = 0;
}

/* The offset in constant bank 0 from which the instruction loads a word; -1 = it is no such load. */
static int64_t loaded_constant(const struct wsdbg_instruction *in)
{
    const struct wsdbg_operand *from = &in->sources[0];
    const bool loads = (in->operation == WSDBG_OP_LDC || in->operation == WSDBG_OP_MOV) && in->is_whole &&
                       in->source_count == 1 && in->destination_count == 1 && in->destinations[0].registers <= 1;
    return loads && from->kind == WSDBG_OPERAND_CONSTANT && !from->bank && from->number == WSDBG_RZ ? from->value : -1;
}

/* A generic access is one of the frame: the low word of its address is the one in local memory. */
static void make_local(struct wsdbg_instruction *in)
{
    if (wsdbg_operation_space(in->operation) != WSDBG_SPACE_GENERIC)
        return;
    in->operation = wsdbg_operation_class(in->operation) == WSDBG_CLASS_LOAD ? WSDBG_OP_LDL : WSDBG_OP_STL;
    in->sources[0].registers = 1;
    in->sources[0].uniform = WSDBG_URZ;
}

/* The words that an access by a computed address may concern: those of its array, or all. */
static void name_span(const struct moving *moving, const struct joined_access *access, struct wsdbg_instruction *in)
{
    const bool is_span = access->kind == JOINED_ACCESS_SPAN;
    const uint32_t first = is_span ? word_of(moving, access->offset_bytes) : 0,
                   last = is_span ? word_of(moving, access->end_bytes - 1) : moving->word_count - 1;
    const bool is_inside = first <= last && last < moving->word_count;
    in->local_first = (uint16_t)(is_inside ? first : 0);
    in->local_words = (uint16_t)(is_inside ? last - first + 1 : moving->word_count);
    if (is_span && in->source_count && in->sources[0].kind == WSDBG_OPERAND_MEMORY)
        make_local(in);
}

/* The pointer has one value everywhere, and so have the addresses that are made from it.  No walk needs to know where
 * the window of local memory is. */
static void change_pointer(struct moving *moving, uint32_t number)
{
    struct joined_line *line = &moving->code->lines[number];
    struct wsdbg_instruction *in = &line->instruction;
    const struct joined_access *access = access_of(moving, number);
    if (access->moves_pointer)
        line->is_left_out = true;
    else if (access->asks_space)
        joined_make_answer(in, access->is_in_space);
    else if (access->makes_address && is_dense(moving))
        make_number(in, WALK_STACK_POINTER_AT_START + (int64_t)access->offset_bytes - moving->first);
    else if (loaded_constant(in) == JOINED_WINDOW_OFFSET)
        make_number(in, 0);
    else if (loaded_constant(in) == JOINED_WINDOW_OFFSET + WORD_BYTES)
        make_number(in, WALK_STACK_WINDOW_HIGH);
    else if ((access->kind == JOINED_ACCESS_MAYBE || access->kind == JOINED_ACCESS_SPAN) && is_dense(moving) &&
             !is_changed_otherwise(in))
        name_span(moving, access, in);
}

/* A generic access of which the memory is known is one of that memory. */
static void change_memory(struct wsdbg_instruction *in, enum joined_access_kind kind)
{
    static const uint8_t operations[][3] = {{WSDBG_OP_LD, WSDBG_OP_LDS, WSDBG_OP_LDG},
                                            {WSDBG_OP_ST, WSDBG_OP_STS, WSDBG_OP_STG},
                                            {WSDBG_OP_ATOM, WSDBG_OP_ATOMS, WSDBG_OP_ATOMG}};
    const bool is_shared = kind == JOINED_ACCESS_SHARED;
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (in->operation != operations[i][0])
            continue;
        in->operation = operations[i][is_shared ? 1 : 2];
        for (unsigned k = 0; k < in->source_count && is_shared; k++)
            if (in->sources[k].kind == WSDBG_OPERAND_MEMORY) {
                in->sources[k].registers = 1;
                in->sources[k].uniform = WSDBG_URZ;
            }
        return;
    }
}

/* A branch that is always taken, or never. */
static void decide_branch(struct joined_line *line, bool is_taken)
{
    line->is_left_out |= !is_taken;
    line->instruction.guard = WSDBG_PT;
    line->instruction.guard_is_negated = line->instruction.guard_is_uniform = false;
}

static struct wsdbg_error *change_all(struct moving *moving)
{
    find_extent(moving);
    moving->words = calloc((size_t)moving->word_count + 1, sizeof *moving->words);
    if (!moving->words)
        return &wsdbg_error_no_memory;
    mark_all_kept(moving);
    note_words(moving);
    give_slots(moving);
    for (uint32_t i = 0; i < moving->code->count; i++) {
        if (access_of(moving, i)->is_dead)
            moving->code->lines[i].is_dead = moving->code->lines[i].is_left_out = true;
        else if (access_of(moving, i)->is_decided)
            decide_branch(&moving->code->lines[i], access_of(moving, i)->is_taken);
        else if (access_of(moving, i)->kind == JOINED_ACCESS_FRAME)
            change_access(moving, i);
        else if (access_of(moving, i)->kind == JOINED_ACCESS_SHARED ||
                 access_of(moving, i)->kind == JOINED_ACCESS_GLOBAL)
            change_memory(&moving->code->lines[i].instruction, access_of(moving, i)->kind);
        else
            change_pointer(moving, i);
    }
    free(moving->words);
    return NULL;
}

struct wsdbg_error *joined_follow_frame(struct joined_code *code, const struct wsdbg_graph *graph)
{
    struct joined_frame frame;
    struct wsdbg_error *error = joined_frame_find(graph, code->calls_program, &frame);
    if (error)
        return error;
    struct moving moving = {.code = code,
                            .graph = graph,
                            .frame = &frame,
                            .may_hit = frame.is_given_away,
                            .keeps = calloc((size_t)code->count + 1, sizeof *moving.keeps)};
    error = moving.keeps ? NULL : &wsdbg_error_no_memory;
    if (!error && frame.is_known)
        error = change_all(&moving);
    free(moving.keeps);
    free(frame.accesses);
    return error;
}
