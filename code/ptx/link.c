/* link.c - kernels made whole: the code of every function that a kernel calls is part of the kernel's.
 *
 * A function's registers, local memory and shared variables are then the kernel's own, at fixed places behind its other
 * ones: that is why recursion is refused.  For who only reads, each copy of a function has registers and local memory
 * of its own, so that one place means one thing.  Reads what the bodies left; writes the program's instructions anew.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/declaration.h"
#include "ptx/linking.h"

struct visit { /* of the walk along calls */
    uint32_t function;
    size_t next_call;
};

enum { REGISTERS_MOST = 1 << 20 }; /* of a kernel: behind that no copy gets its own */

/* ---- which functions, and where ---- */

static struct wsdbg_error *enter(struct ptx_linking *link, uint32_t function)
{
    struct ptx_placed *placed = ptx_append(&link->placed, sizeof *placed);
    struct visit *visit = placed ? ptx_append(&link->path, sizeof *visit) : NULL;
    if (!visit)
        return &wsdbg_error_no_memory;
    placed->copy.function = function;
    *visit = (struct visit){function, ptx_note_at(link, function)->calls.first};
    link->placed_as[function] = (uint32_t)link->placed.count;
    link->on_path[function] = true;
    return NULL;
}

/* The kernel and all that it calls, directly or not. */
static struct wsdbg_error *collect(struct ptx_linking *link, uint32_t kernel)
{
    link->placed.count = link->path.count = link->order.count = 0;
    PTX_TRY(enter(link, kernel));
    while (link->path.count) {
        struct visit *visit = PTX_ITEM(link->path, struct visit, link->path.count - 1);
        const struct ptx_function_note *note = ptx_note_at(link, visit->function);
        if (visit->next_call == note->calls.end) {
            uint32_t *left = ptx_append(&link->order, sizeof *left);
            if (!left)
                return &wsdbg_error_no_memory;
            *left = link->placed_as[visit->function] - 1;
            link->on_path[visit->function] = false;
            link->path.count--;
            continue;
        }
        const uint32_t callee = *PTX_ITEM(link->parser->calls, uint32_t, visit->next_call++);
        if (link->on_path[callee])
            return ptx_error(link->parser, note->line, "%s calls itself, directly or not: recursion is not supported",
                             ptx_function_at(link, callee)->name);
        if (!link->placed_as[callee])
            PTX_TRY(enter(link, callee));
    }
    return NULL;
}

/* Registers and local memory of one more copy, behind the others.  False: a thread's local memory is too large. */
static bool take_room(struct ptx_linking *link, struct ptx_copy *copy)
{
    const struct wsdbg_ptx_function *function = ptx_function_at(link, copy->function);
    uint64_t frame = 0;
    if (!ptx_take_bytes(&link->local_bytes, function->local_bytes, ptx_note_at(link, copy->function)->frame_alignment,
                        PTX_LOCAL_BYTES_MAX, &frame))
        return false;
    copy->frame = (uint32_t)frame;
    copy->register_base = link->registers;
    link->registers += function->register_count;
    return true;
}

static struct wsdbg_error *keep_copy(struct ptx_linking *link, const struct ptx_copy *copy)
{
    struct ptx_copy *kept = ptx_append(&link->owned, sizeof *kept);
    if (!kept)
        return &wsdbg_error_no_memory;
    *kept = *copy;
    return NULL;
}

static struct wsdbg_error *place_frames(struct ptx_linking *link)
{
    link->registers = 0;
    link->local_bytes = 0;
    link->owned.count = 0;
    for (size_t i = 0; i < link->placed.count; i++) {
        struct ptx_placed *placed = PTX_ITEM(link->placed, struct ptx_placed, i);
        if (!take_room(link, &placed->copy))
            return ptx_error(link->parser, ptx_note_at(link, placed->copy.function)->line,
                             "%s: a thread's local memory is more than 512 KiB",
                             ptx_function_at(link, placed->copy.function)->name);
        PTX_TRY(keep_copy(link, &placed->copy));
    }
    return NULL;
}

struct wsdbg_error *ptx_own_copy(struct ptx_linking *link, uint32_t function, struct ptx_copy *out)
{
    *out = ptx_placed_of(link, function)->copy;
    out->stands_in_caller = true;
    if (!link->parser->is_to_read || link->registers > REGISTERS_MOST || !take_room(link, out))
        return NULL;
    return keep_copy(link, out);
}

/* For who only reads: what can be kept in registers is kept there. */
static struct wsdbg_error *promote(struct ptx_linking *link, struct wsdbg_ptx_function *kernel)
{
    link->objects.count = 0;
    for (size_t i = 0; i < link->owned.count; i++) {
        const struct ptx_copy *copy = PTX_ITEM(link->owned, struct ptx_copy, i);
        const struct ptx_range locals = ptx_note_at(link, copy->function)->locals;
        for (size_t k = locals.first; k < locals.end; k++) {
            struct ptx_local *object = ptx_append(&link->objects, sizeof *object);
            if (!object)
                return &wsdbg_error_no_memory;
            *object = *PTX_ITEM(link->parser->locals, struct ptx_local, k);
            object->offset += copy->frame;
        }
    }
    PTX_TRY(ptx_promote_local(link, kernel));
    return link->local_bytes ? ptx_find_local_space(link, kernel) : NULL;
}

/* The variables that were just placed for the kernel; the same variable may lie elsewhere for another one. */
static struct wsdbg_error *list_shared(const struct ptx_linking *link, struct wsdbg_ptx_function *kernel)
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

static struct wsdbg_error *place_shared(struct ptx_linking *link, struct wsdbg_ptx_function *kernel)
{
    link->shared.count = 0;
    for (size_t i = 0; i < link->placed.count; i++) {
        const struct ptx_range uses =
            ptx_note_at(link, PTX_ITEM(link->placed, struct ptx_placed, i)->copy.function)->uses;
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

static struct wsdbg_error *join_types(struct ptx_linking *link, struct wsdbg_ptx_function *kernel)
{
    if (link->registers == kernel->register_count)
        return NULL;
    uint8_t *types = ptx_arena_take(&link->parser->storage->arena, link->registers, 1);
    if (!types)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < link->owned.count; i++) {
        const struct ptx_copy *copy = PTX_ITEM(link->owned, struct ptx_copy, i);
        const struct wsdbg_ptx_function *function = ptx_function_at(link, copy->function);
        if (function->register_count)
            memcpy(types + copy->register_base, function->register_types, function->register_count);
    }
    kernel->register_types = types;
    kernel->register_count = link->registers;
    return NULL;
}

static struct wsdbg_error *link_kernel(struct ptx_linking *link, uint32_t index)
{
    struct wsdbg_ptx_function *kernel = ptx_function_at(link, index);
    const uint32_t first = (uint32_t)link->instructions.count;
    PTX_TRY(collect(link, index));
    PTX_TRY(place_frames(link));
    PTX_TRY(place_shared(link, kernel));
    ptx_find_inlined(link);
    PTX_TRY(ptx_link_code(link));
    PTX_TRY(join_types(link, kernel));
    for (size_t i = 0; i < link->placed.count; i++)
        link->placed_as[PTX_ITEM(link->placed, struct ptx_placed, i)->copy.function] = 0;
    kernel->first = first;
    kernel->end = (uint32_t)link->instructions.count;
    kernel->local_bytes = (uint32_t)link->local_bytes;
    return link->parser->promotes_local ? promote(link, kernel) : NULL;
}

static struct wsdbg_error *link_all(struct ptx_linking *link)
{
    const size_t count = link->parser->functions.count;
    link->placed_as = calloc(count + 1, sizeof *link->placed_as);
    link->on_path = calloc(count + 1, sizeof *link->on_path);
    if (!link->placed_as || !link->on_path)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < count; i++)
        if (ptx_function_at(link, (uint32_t)i)->is_kernel)
            PTX_TRY(link_kernel(link, (uint32_t)i));
    for (size_t i = 0; i < count; i++)
        if (!ptx_function_at(link, (uint32_t)i)->is_kernel)
            ptx_function_at(link, (uint32_t)i)->first = ptx_function_at(link, (uint32_t)i)->end = 0;
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
    struct ptx_linking link = {.parser = parser};
    struct wsdbg_error *error = link_all(&link);
    if (!error) {
        swap(&parser->instructions, &link.instructions);
        swap(&parser->instruction_text, &link.instruction_text);
    }
    free(link.instructions.items);
    free(link.instruction_text.items);
    free(link.placed.items);
    free(link.order.items);
    free(link.copies.items);
    free(link.positions.items);
    free(link.open_calls.items);
    free(link.places.items);
    free(link.owned.items);
    free(link.objects.items);
    free(link.path.items);
    free(link.shared.items);
    free(link.placed_as);
    free(link.on_path);
    return error;
}
