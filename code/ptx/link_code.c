/* link_code.c - writes a kernel's code: with that of the functions that it calls, in place of the calls or behind it.
 *
 * Reads what the bodies left, and where link.c placed registers and memory; writes the program's instructions anew.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/linking.h"
#include "ptx/place.h"

/* A body that is being written. */
struct body {
    const struct ptx_copy *copy;
    const struct wsdbg_ptx_function *function;
    const struct ptx_function_note *note;
    size_t positions;      /* its own, in link->positions: one an instruction, and one for its end */
    size_t copies;         /* those that its calls lead to, in link->copies */
    size_t places;         /* its own, in link->places */
    uint32_t caller_place; /* of the call that it replaces */
    uint32_t vector_shift, table_shift;
};

static struct wsdbg_ptx_instruction *new_at(const struct ptx_linking *link, uint32_t index)
{
    return PTX_ITEM(link->instructions, struct wsdbg_ptx_instruction, index);
}

/* Where an instruction of the function is now. */
static uint32_t moved(const struct ptx_linking *link, const struct body *body, uint32_t index)
{
    return *PTX_ITEM(link->positions, uint32_t, body->positions + index - body->function->first);
}

static const struct ptx_copy *callee_at(const struct ptx_linking *link, const struct body *body, uint32_t call)
{
    return PTX_ITEM(link->copies, struct ptx_copy, body->copies + call);
}

/* ---- operands ---- */

static void move_operand(const struct ptx_copy *copy, uint32_t vector_shift, struct wsdbg_ptx_operand *operand)
{
    switch ((enum wsdbg_ptx_operand_kind)operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        operand->number += copy->register_base;
        break;
    case WSDBG_PTX_OPERAND_ADDRESS:
        if (operand->number != WSDBG_PTX_NONE)
            operand->number += copy->register_base;
        if (operand->space == WSDBG_PTX_LOCAL)
            operand->value += copy->frame;
        break;
    case WSDBG_PTX_OPERAND_VECTOR:
    case WSDBG_PTX_OPERAND_TENSOR:
        operand->number += vector_shift;
        break;
    default:
        break;
    }
}

static void move_instruction(const struct body *body, struct wsdbg_ptx_instruction *instruction)
{
    if (instruction->operation == WSDBG_PTX_OP_brx)
        instruction->target += body->table_shift;
    if (instruction->guard != WSDBG_PTX_NONE)
        instruction->guard += body->copy->register_base;
    for (unsigned i = 0; i < instruction->operand_count; i++)
        move_operand(body->copy, body->vector_shift, &instruction->operands[i]);
}

/* Elements of vectors: the kernel's own stay where they are, a called function's are copied for each copy of it. */
static bool copy_vectors(struct ptx_linking *link, struct body *body)
{
    const struct ptx_range range = body->note->vectors;
    body->vector_shift = body->function->is_kernel ? 0 : (uint32_t)(link->parser->vectors.count - range.first);
    for (size_t i = range.first; i < range.end && !body->function->is_kernel; i++) {
        struct wsdbg_ptx_operand *copy = ptx_append(&link->parser->vectors, sizeof *copy);
        if (!copy)
            return false;
        *copy = *PTX_ITEM(link->parser->vectors, struct wsdbg_ptx_operand, i);
        move_operand(body->copy, body->vector_shift, copy);
    }
    return true;
}

static bool copy_tables(struct ptx_linking *link, struct body *body)
{
    struct ptx_array *tables = &link->parser->branch_tables;
    const struct ptx_range range = body->note->branch_tables;
    body->table_shift = body->function->is_kernel ? 0 : (uint32_t)(tables->count - range.first);
    for (size_t i = range.first; i < range.end && !body->function->is_kernel; i++) {
        uint32_t *copy = ptx_append(tables, sizeof *copy);
        if (!copy)
            return false;
        *copy = *PTX_ITEM(*tables, uint32_t, i);
    }
    return true;
}

static void move_tables(const struct ptx_linking *link, const struct body *body)
{
    for (size_t at = body->note->branch_tables.first; at < body->note->branch_tables.end;) {
        uint32_t *table = PTX_ITEM(link->parser->branch_tables, uint32_t, at + body->table_shift);
        for (uint32_t i = 1; i <= *table; i++)
            table[i] = moved(link, body, table[i]);
        at += *table + 1;
    }
}

/* Operands that waited for places.  Arguments are stored before their call, and results are loaded behind it: `call`
 * counts the calls before the use. */
static void fill_use(const struct ptx_linking *link, const struct body *body, const struct ptx_use *use, uint32_t call)
{
    struct wsdbg_ptx_operand *operand =
        use->in_vector ? PTX_ITEM(link->parser->vectors, struct wsdbg_ptx_operand, use->index + body->vector_shift)
                       : &new_at(link, moved(link, body, use->index))->operands[use->operand];
    if (use->kind == PTX_USE_SHARED) {
        operand->value += (int64_t)PTX_ITEM(link->parser->variables, struct wsdbg_ptx_variable, use->target)->offset;
        return;
    }
    const struct wsdbg_ptx_instruction *user =
        PTX_ITEM(link->parser->instructions, struct wsdbg_ptx_instruction, use->index);
    const bool is_behind = user->operation == WSDBG_PTX_OP_ld;
    /* its parameters, not the caller's: undo what move_operand added */
    operand->value += (int64_t)callee_at(link, body, call - is_behind)->frame - body->copy->frame;
}

static bool is_direct_call(const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_call && instruction->operands[0].kind == WSDBG_PTX_OPERAND_IMMEDIATE;
}

static void fill_uses(const struct ptx_linking *link, const struct body *body)
{
    uint32_t next = body->function->first, calls = 0;
    for (size_t i = body->note->uses.first; i < body->note->uses.end; i++) {
        const struct ptx_use *use = PTX_ITEM(link->parser->uses, struct ptx_use, i);
        for (; !use->in_vector && next < use->index; next++)
            calls += is_direct_call(PTX_ITEM(link->parser->instructions, struct wsdbg_ptx_instruction, next));
        fill_use(link, body, use, calls);
    }
}

/* ---- instructions ---- */

/* The copies that the body's calls lead to, one a call. */
static struct wsdbg_error *list_callees(struct ptx_linking *link, struct body *body)
{
    body->copies = link->copies.count;
    for (size_t i = body->note->calls.first; i < body->note->calls.end; i++) {
        const uint32_t function = *PTX_ITEM(link->parser->calls, uint32_t, i);
        struct ptx_copy *copy = ptx_append(&link->copies, sizeof *copy);
        if (!copy)
            return &wsdbg_error_no_memory;
        *copy = ptx_placed_of(link, function)->copy;
        if (ptx_placed_of(link, function)->is_inlined)
            PTX_TRY(ptx_own_copy(link, function, PTX_ITEM(link->copies, struct ptx_copy, link->copies.count - 1)));
    }
    return NULL;
}

/* The place of code that stands in place of a call: what it was, inlined at the call.  Levels that it had already are
 * copied from the outermost inwards. */
static struct wsdbg_error *move_place(struct ptx_linking *link, const struct body *body, uint32_t *place)
{
    if (!body->copy->stands_in_caller || *place == WSDBG_PTX_NONE || body->caller_place == WSDBG_PTX_NONE)
        return NULL;
    for (size_t i = link->places.count; i-- > body->places;) {
        const struct ptx_moved_place *known = PTX_ITEM(link->places, struct ptx_moved_place, i);
        if (known->from != *place)
            continue;
        *place = known->to;
        return NULL;
    }
    struct ptx_moved_place new = {.from = *place};
    struct ptx_place_level outer = {PTX_ITEM(link->parser->places, struct wsdbg_ptx_place, *place)->inlined_at, NULL};
    if (outer.place == WSDBG_PTX_NONE)
        outer = (struct ptx_place_level){body->caller_place, body->function->name};
    else
        PTX_TRY(move_place(link, body, &outer.place));
    const uint32_t kernel = PTX_ITEM(link->placed, struct ptx_placed, 0)->copy.function;
    PTX_TRY(ptx_copy_place(link->parser, *place, kernel, &outer, &new.to));
    struct ptx_moved_place *added = ptx_append(&link->places, sizeof *added);
    if (!added)
        return &wsdbg_error_no_memory;
    *added = new;
    *place = new.to;
    return NULL;
}

static struct wsdbg_error *add(struct ptx_linking *link, const struct body *body, uint32_t index)
{
    struct wsdbg_ptx_instruction *copy = ptx_append(&link->instructions, sizeof *copy);
    uint32_t *text = copy ? ptx_append(&link->instruction_text, sizeof *text) : NULL;
    if (!text)
        return &wsdbg_error_no_memory;
    *copy = *PTX_ITEM(link->parser->instructions, struct wsdbg_ptx_instruction, index);
    *text = *PTX_ITEM(link->parser->instruction_text, uint32_t, index);
    move_instruction(body, copy);
    PTX_TRY(move_place(link, body, &copy->place));
    if (link->instructions.count > PTX_INSTRUCTIONS_MAX || link->parser->vectors.count > PTX_ELEMENTS_ALL_MAX ||
        link->parser->branch_tables.count > PTX_ELEMENTS_ALL_MAX)
        return ptx_error(link->parser, body->note->line, "more than %d instructions, with called functions",
                         PTX_INSTRUCTIONS_MAX);
    return NULL;
}

static void become_branch(struct wsdbg_ptx_instruction *instruction, uint32_t target)
{
    instruction->operation = WSDBG_PTX_OP_bra;
    instruction->operand_count = 0;
    instruction->target = target;
    instruction->reconverge = instruction->guard == WSDBG_PTX_NONE ? WSDBG_PTX_NONE : target;
}

static struct wsdbg_error *write_body(struct ptx_linking *link, const struct ptx_copy *copy, uint32_t caller_place);

/* The called function's code, behind the call.  Lanes that do not call go past it. */
static struct wsdbg_error *write_callee(struct ptx_linking *link, uint32_t call, const struct ptx_copy *callee)
{
    const struct ptx_copy copy = *callee; /* the array grows */
    PTX_TRY(write_body(link, &copy, new_at(link, call)->place));
    struct wsdbg_ptx_instruction *jump = new_at(link, call);
    const bool is_guarded = jump->guard != WSDBG_PTX_NONE;
    become_branch(jump, is_guarded ? (uint32_t)link->instructions.count : call + 1);
    jump->guard_negated = is_guarded && !jump->guard_negated;
    return NULL;
}

static struct wsdbg_error *write_instructions(struct ptx_linking *link, struct body *body)
{
    uint32_t calls = 0;
    for (uint32_t i = body->function->first; i < body->function->end; i++) {
        const uint32_t at = (uint32_t)link->instructions.count;
        *PTX_ITEM(link->positions, uint32_t, body->positions + i - body->function->first) = at;
        PTX_TRY(add(link, body, i));
        if (!is_direct_call(new_at(link, at)))
            continue;
        const struct ptx_copy *callee = callee_at(link, body, calls++);
        if (callee->stands_in_caller) {
            PTX_TRY(write_callee(link, at, callee));
            continue;
        }
        uint32_t *open = ptx_append(&link->open_calls, sizeof *open);
        if (!open)
            return &wsdbg_error_no_memory;
        *open = at;
    }
    *PTX_ITEM(link->positions, uint32_t, body->positions + body->function->end - body->function->first) =
        (uint32_t)link->instructions.count;
    return NULL;
}

/* Where a function's code stands in place of a call, its lanes meet and go on behind it. */
static void move_targets(const struct ptx_linking *link, const struct body *body)
{
    const uint32_t end = moved(link, body, body->function->end);
    for (uint32_t i = body->function->first; i < body->function->end; i++) {
        const struct wsdbg_ptx_instruction *from =
            PTX_ITEM(link->parser->instructions, struct wsdbg_ptx_instruction, i);
        struct wsdbg_ptx_instruction *to = new_at(link, moved(link, body, i));
        const bool is_branch = from->operation == WSDBG_PTX_OP_bra || from->operation == WSDBG_PTX_OP_brx;
        if (from->operation == WSDBG_PTX_OP_bra)
            to->target = moved(link, body, from->target);
        if (from->reconverge != WSDBG_PTX_NONE)
            to->reconverge = moved(link, body, from->reconverge);
        else if (is_branch && body->copy->stands_in_caller)
            to->reconverge = end;
        if (from->operation == WSDBG_PTX_OP_ret && body->copy->stands_in_caller)
            become_branch(to, end);
    }
}

static struct wsdbg_error *write_body(struct ptx_linking *link, const struct ptx_copy *copy, uint32_t caller_place)
{
    const struct wsdbg_ptx_function *function = ptx_function_at(link, copy->function);
    struct body body = {.copy = copy,
                        .function = function,
                        .note = ptx_note_at(link, copy->function),
                        .positions = link->positions.count,
                        .places = link->places.count,
                        .caller_place = caller_place};
    for (uint32_t i = function->first; i <= function->end; i++)
        if (!ptx_append(&link->positions, sizeof(uint32_t)))
            return &wsdbg_error_no_memory;
    PTX_TRY(list_callees(link, &body));
    if (!copy_vectors(link, &body) || !copy_tables(link, &body))
        return &wsdbg_error_no_memory;
    PTX_TRY(write_instructions(link, &body));
    move_targets(link, &body);
    move_tables(link, &body);
    fill_uses(link, &body);
    link->positions.count = body.positions;
    link->copies.count = body.copies;
    link->places.count = body.places;
    return NULL;
}

/* ---- the kernel ---- */

static void close_calls(const struct ptx_linking *link)
{
    for (size_t i = 0; i < link->open_calls.count; i++) {
        struct wsdbg_ptx_instruction *call = new_at(link, *PTX_ITEM(link->open_calls, uint32_t, i));
        const uint32_t callee = (uint32_t)call->operands[0].value;
        call->target = ptx_note_at(link, callee)->has_body ? ptx_placed_of(link, callee)->first : WSDBG_PTX_NONE;
    }
}

struct wsdbg_error *ptx_link_code(struct ptx_linking *link)
{
    link->open_calls.count = link->copies.count = link->positions.count = link->places.count = 0;
    for (size_t i = 0; i < link->placed.count; i++) {
        struct ptx_placed *placed = PTX_ITEM(link->placed, struct ptx_placed, i);
        placed->first = (uint32_t)link->instructions.count;
        if (!placed->is_inlined && ptx_note_at(link, placed->copy.function)->has_body)
            PTX_TRY(write_body(link, &placed->copy, WSDBG_PTX_NONE));
    }
    close_calls(link);
    return NULL;
}
