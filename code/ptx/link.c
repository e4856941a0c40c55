/* link.c - kernels made whole: behind each one's code stands that of every function it calls, once.
 *
 * A function's registers, local memory and shared variables are then the kernel's own, at fixed places behind its other
 * ones: that is why recursion is refused.  Reads what the bodies left; writes the program's instructions anew.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/declaration.h"
#include "ptx/function.h"

struct placed { /* a function in the current kernel */
    uint32_t function;
    uint32_t first;         /* index of its first instruction */
    uint32_t register_base; /* its register 0 */
    uint32_t frame;         /* where its local memory begins */
    uint32_t delta;         /* instruction indices grow by this (modulo 2^32) */
    uint32_t vector_shift, table_shift;
};
struct visit { /* of the walk along calls */
    uint32_t function;
    size_t next_call;
};

struct linking {
    struct ptx_parser *parser;
    struct ptx_array instructions, instruction_text; /* the new ones */
    struct ptx_array placed;                         /* struct placed: the kernel first */
    struct ptx_array path, shared;                   /* struct visit; uint32_t */
    uint32_t *placed_as; /* of each function: its index in `placed` + 1, 0 = not in this kernel */
    bool *on_path;
};

static struct wsdbg_ptx_function *function_at(const struct linking *link, uint32_t index)
{
    return PTX_ITEM(link->parser->functions, struct wsdbg_ptx_function, index);
}

static const struct ptx_function_note *note_at(const struct linking *link, uint32_t index)
{
    return PTX_ITEM(link->parser->function_notes, struct ptx_function_note, index);
}

/* ---- which functions, and where ---- */

static struct wsdbg_error *enter(struct linking *link, uint32_t function)
{
    struct placed *placed = ptx_append(&link->placed, sizeof *placed);
    struct visit *visit = placed ? ptx_append(&link->path, sizeof *visit) : NULL;
    if (!visit)
        return &wsdbg_error_no_memory;
    placed->function = function;
    *visit = (struct visit){function, note_at(link, function)->calls.first};
    link->placed_as[function] = (uint32_t)link->placed.count;
    link->on_path[function] = true;
    return NULL;
}

/* The kernel and all that it calls, directly or not. */
static struct wsdbg_error *collect(struct linking *link, uint32_t kernel)
{
    link->placed.count = link->path.count = 0;
    PTX_TRY(enter(link, kernel));
    while (link->path.count) {
        struct visit *visit = PTX_ITEM(link->path, struct visit, link->path.count - 1);
        const struct ptx_function_note *note = note_at(link, visit->function);
        if (visit->next_call == note->calls.end) {
            link->on_path[visit->function] = false;
            link->path.count--;
            continue;
        }
        const uint32_t callee = *PTX_ITEM(link->parser->calls, uint32_t, visit->next_call++);
        if (link->on_path[callee])
            return ptx_error(link->parser, note->line, "%s calls itself, directly or not: recursion is not supported",
                             function_at(link, callee)->name);
        if (!link->placed_as[callee])
            PTX_TRY(enter(link, callee));
    }
    return NULL;
}

/* Registers and local memory: one function's behind the other's. */
static struct wsdbg_error *place_frames(struct linking *link, uint32_t *registers, uint32_t *local_bytes)
{
    uint64_t total = 0, frame = 0;
    *registers = 0;
    for (size_t i = 0; i < link->placed.count; i++) {
        struct placed *placed = PTX_ITEM(link->placed, struct placed, i);
        const struct wsdbg_ptx_function *function = function_at(link, placed->function);
        const struct ptx_function_note *note = note_at(link, placed->function);
        placed->register_base = *registers;
        *registers += function->register_count;
        if (!ptx_take_bytes(&total, function->local_bytes, note->frame_alignment, PTX_LOCAL_BYTES_MAX, &frame))
            return ptx_error(link->parser, note->line, "%s: a thread's local memory is more than 512 KiB",
                             function->name);
        placed->frame = (uint32_t)frame;
    }
    *local_bytes = (uint32_t)total;
    return NULL;
}

/* The variables that were just placed for the kernel; the same variable may lie elsewhere for another one. */
static struct wsdbg_error *list_shared(const struct linking *link, struct wsdbg_ptx_function *kernel)
{
    const uint32_t *numbers = link->shared.items;
    kernel->shared = ptx_arena_take(&link->parser->storage->arena, link->shared.count + 1, sizeof *kernel->shared);
    if (!kernel->shared)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < link->shared.count; i++) {
        const struct wsdbg_ptx_variable *variable =
            PTX_ITEM(link->parser->variables, struct wsdbg_ptx_variable, numbers[i]);
        if (variable->byte_count && (i == 0 || numbers[i - 1] != numbers[i]))
            kernel->shared[kernel->shared_count++] =
                (struct wsdbg_ptx_shared){variable->name, (uint32_t)variable->offset, (uint32_t)variable->byte_count};
    }
    return NULL;
}

static struct wsdbg_error *place_shared(struct linking *link, struct wsdbg_ptx_function *kernel)
{
    link->shared.count = 0;
    for (size_t i = 0; i < link->placed.count; i++) {
        const struct ptx_range uses = note_at(link, PTX_ITEM(link->placed, struct placed, i)->function)->uses;
        for (size_t at = uses.first; at < uses.end; at++) {
            const struct ptx_use *use = PTX_ITEM(link->parser->uses, struct ptx_use, at);
            uint32_t *variable = use->kind == PTX_USE_SHARED ? ptx_append(&link->shared, sizeof *variable) : NULL;
            if (variable)
                *variable = use->target;
            else if (use->kind == PTX_USE_SHARED)
                return &wsdbg_error_no_memory;
        }
    }
    PTX_TRY(ptx_place_shared(link->parser, link->shared.items, link->shared.count, &kernel->shared_bytes));
    return list_shared(link, kernel);
}

/* ---- the code ---- */

static void move_operand(const struct placed *placed, struct wsdbg_ptx_operand *operand)
{
    switch ((enum wsdbg_ptx_operand_kind)operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        operand->number += placed->register_base;
        break;
    case WSDBG_PTX_OPERAND_ADDRESS:
        if (operand->number != WSDBG_PTX_NONE)
            operand->number += placed->register_base;
        if (operand->space == WSDBG_PTX_LOCAL)
            operand->value += placed->frame;
        break;
    case WSDBG_PTX_OPERAND_VECTOR:
    case WSDBG_PTX_OPERAND_TENSOR:
        operand->number += placed->vector_shift;
        break;
    default:
        break;
    }
}

static void move_instruction(const struct placed *placed, struct wsdbg_ptx_instruction *instruction)
{
    if (instruction->operation == WSDBG_PTX_OP_bra)
        instruction->target += placed->delta;
    else if (instruction->operation == WSDBG_PTX_OP_brx)
        instruction->target += placed->table_shift;
    if (instruction->reconverge != WSDBG_PTX_NONE)
        instruction->reconverge += placed->delta;
    if (instruction->guard != WSDBG_PTX_NONE)
        instruction->guard += placed->register_base;
    for (unsigned i = 0; i < instruction->operand_count; i++)
        move_operand(placed, &instruction->operands[i]);
}

/* Elements of vectors: the kernel's own stay where they are, a called function's are copied for each kernel. */
static bool copy_vectors(struct linking *link, struct placed *placed, bool is_kernel)
{
    const struct ptx_range range = note_at(link, placed->function)->vectors;
    placed->vector_shift = is_kernel ? 0 : (uint32_t)(link->parser->vectors.count - range.first);
    for (size_t i = range.first; i < range.end && !is_kernel; i++) {
        struct wsdbg_ptx_operand *copy = ptx_append(&link->parser->vectors, sizeof *copy);
        if (!copy)
            return false;
        *copy = *PTX_ITEM(link->parser->vectors, struct wsdbg_ptx_operand, i);
        move_operand(placed, copy);
    }
    return true;
}

static bool copy_tables(struct linking *link, struct placed *placed, bool is_kernel)
{
    struct ptx_array *tables = &link->parser->branch_tables;
    const struct ptx_range range = note_at(link, placed->function)->branch_tables;
    placed->table_shift = is_kernel ? 0 : (uint32_t)(tables->count - range.first);
    for (size_t i = range.first; i < range.end && !is_kernel; i++) {
        uint32_t *copy = ptx_append(tables, sizeof *copy);
        if (!copy)
            return false;
        *copy = *PTX_ITEM(*tables, uint32_t, i);
    }
    for (size_t at = range.first; at < range.end;) {
        uint32_t *table = PTX_ITEM(*tables, uint32_t, at + placed->table_shift);
        for (uint32_t i = 1; i <= *table; i++)
            table[i] += placed->delta;
        at += *table + 1;
    }
    return true;
}

static struct wsdbg_error *copy_code(struct linking *link, struct placed *placed, bool is_kernel)
{
    const struct ptx_parser *parser = link->parser;
    const struct wsdbg_ptx_function *function = function_at(link, placed->function);
    placed->first = (uint32_t)link->instructions.count;
    placed->delta = placed->first - function->first;
    if (!copy_vectors(link, placed, is_kernel) || !copy_tables(link, placed, is_kernel))
        return &wsdbg_error_no_memory;
    for (uint32_t i = function->first; i < function->end; i++) {
        struct wsdbg_ptx_instruction *copy = ptx_append(&link->instructions, sizeof *copy);
        uint32_t *text = copy ? ptx_append(&link->instruction_text, sizeof *text) : NULL;
        if (!text)
            return &wsdbg_error_no_memory;
        *copy = *PTX_ITEM(parser->instructions, struct wsdbg_ptx_instruction, i);
        *text = *PTX_ITEM(parser->instruction_text, uint32_t, i);
        move_instruction(placed, copy);
    }
    if (link->instructions.count > PTX_INSTRUCTIONS_MAX || parser->vectors.count > PTX_ELEMENTS_ALL_MAX ||
        parser->branch_tables.count > PTX_ELEMENTS_ALL_MAX)
        return ptx_error(parser, note_at(link, placed->function)->line,
                         "more than %d instructions, with called functions", PTX_INSTRUCTIONS_MAX);
    return NULL;
}

/* Operands that waited for places, and the calls' targets. */
static void fill_places(struct linking *link, const struct placed *placed)
{
    const struct ptx_parser *parser = link->parser;
    const struct wsdbg_ptx_function *function = function_at(link, placed->function);
    const struct ptx_range uses = note_at(link, placed->function)->uses;
    for (size_t i = uses.first; i < uses.end; i++) {
        const struct ptx_use *use = PTX_ITEM(parser->uses, struct ptx_use, i);
        struct wsdbg_ptx_operand *operand =
            use->in_vector ? PTX_ITEM(parser->vectors, struct wsdbg_ptx_operand, use->index + placed->vector_shift)
                           : &PTX_ITEM(link->instructions, struct wsdbg_ptx_instruction, use->index + placed->delta)
                                  ->operands[use->operand];
        if (use->kind == PTX_USE_SHARED)
            operand->value += (int64_t)PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, use->target)->offset;
        else /* its parameters, not the caller's: undo what move_operand added */
            operand->value +=
                (int64_t)PTX_ITEM(link->placed, struct placed, link->placed_as[use->target] - 1)->frame - placed->frame;
    }
    for (uint32_t i = 0; i < function->end - function->first; i++) {
        struct wsdbg_ptx_instruction *instruction =
            PTX_ITEM(link->instructions, struct wsdbg_ptx_instruction, placed->first + i);
        if (instruction->operation != WSDBG_PTX_OP_call)
            continue;
        if (instruction->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER)
            continue; /* through a pointer */
        const uint32_t callee = (uint32_t)instruction->operands[0].value;
        instruction->target = note_at(link, callee)->has_body
                                  ? PTX_ITEM(link->placed, struct placed, link->placed_as[callee] - 1)->first
                                  : WSDBG_PTX_NONE;
    }
}

static struct wsdbg_error *join_types(struct linking *link, struct wsdbg_ptx_function *kernel, uint32_t registers)
{
    if (registers == kernel->register_count)
        return NULL;
    uint8_t *types = ptx_arena_take(&link->parser->storage->arena, registers, 1);
    if (!types)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < link->placed.count; i++) {
        const struct placed *placed = PTX_ITEM(link->placed, struct placed, i);
        const struct wsdbg_ptx_function *function = function_at(link, placed->function);
        if (function->register_count)
            memcpy(types + placed->register_base, function->register_types, function->register_count);
    }
    kernel->register_types = types;
    kernel->register_count = registers;
    return NULL;
}

static struct wsdbg_error *link_kernel(struct linking *link, uint32_t index)
{
    uint32_t registers = 0, local_bytes = 0;
    struct wsdbg_ptx_function *kernel = function_at(link, index);
    PTX_TRY(collect(link, index));
    PTX_TRY(place_frames(link, &registers, &local_bytes));
    PTX_TRY(place_shared(link, kernel));
    for (size_t i = 0; i < link->placed.count; i++)
        PTX_TRY(copy_code(link, PTX_ITEM(link->placed, struct placed, i), i == 0));
    for (size_t i = 0; i < link->placed.count; i++)
        fill_places(link, PTX_ITEM(link->placed, struct placed, i));
    PTX_TRY(join_types(link, kernel, registers));
    for (size_t i = 0; i < link->placed.count; i++)
        link->placed_as[PTX_ITEM(link->placed, struct placed, i)->function] = 0;
    kernel->first = PTX_ITEM(link->placed, struct placed, 0)->first;
    kernel->end = (uint32_t)link->instructions.count;
    kernel->local_bytes = local_bytes;
    return NULL;
}

static struct wsdbg_error *link_all(struct linking *link)
{
    const size_t count = link->parser->functions.count;
    link->placed_as = calloc(count + 1, sizeof *link->placed_as);
    link->on_path = calloc(count + 1, sizeof *link->on_path);
    if (!link->placed_as || !link->on_path)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < count; i++)
        if (function_at(link, (uint32_t)i)->is_kernel)
            PTX_TRY(link_kernel(link, (uint32_t)i));
    for (size_t i = 0; i < count; i++)
        if (!function_at(link, (uint32_t)i)->is_kernel)
            function_at(link, (uint32_t)i)->first = function_at(link, (uint32_t)i)->end = 0;
    return NULL;
}

static void swap(struct ptx_array *a, struct ptx_array *b)
{
    const struct ptx_array kept = *a;
    *a = *b;
    *b = kept;
}

struct wsdbg_error *ptx_link(struct ptx_parser *parser)
{
    struct linking link = {.parser = parser};
    struct wsdbg_error *error = link_all(&link);
    if (!error) {
        swap(&parser->instructions, &link.instructions);
        swap(&parser->instruction_text, &link.instruction_text);
    }
    free(link.instructions.items);
    free(link.instruction_text.items);
    free(link.placed.items);
    free(link.path.items);
    free(link.shared.items);
    free(link.placed_as);
    free(link.on_path);
    return error;
}
