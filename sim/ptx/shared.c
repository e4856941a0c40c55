/* shared.c - where the shared variables that a function uses lie in its CTA's shared memory.
 *
 * Static ones in the order of their declaration, each at its alignment; behind them, aligned, all dynamic ones begin.
 */
#include <stdlib.h>

#include "ptx/declaration.h"

#define SHARED_BYTES_MAX ((uint64_t)227 << 10)

static int compare_variables(const void *a, const void *b)
{
    const uint32_t left = ((const struct ptx_operand_place *)a)->variable;
    const uint32_t right = ((const struct ptx_operand_place *)b)->variable;
    return (left > right) - (left < right);
}

static struct wsdbg_ptx_operand *operand_at(struct ptx_parser *parser, const struct ptx_operand_place *place)
{
    if (place->in_vector)
        return PTX_ITEM(parser->vectors, struct wsdbg_ptx_operand, place->index);
    return &PTX_ITEM(parser->instructions, struct wsdbg_ptx_instruction, place->index)->operands[place->operand];
}

/* Static variables (dynamic ones: false) of the function, once each. */
static struct wsdbg_error *place_kind(struct ptx_parser *parser, bool is_dynamic, uint64_t *total, uint64_t *begins)
{
    const struct ptx_operand_place *uses = parser->shared_uses.items;
    for (size_t i = 0; i < parser->shared_uses.count; i++) {
        const uint32_t number = uses[i].variable;
        struct wsdbg_ptx_variable *variable = PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, number);
        const struct ptx_variable_note *note = PTX_ITEM(parser->variable_notes, struct ptx_variable_note, number);
        if (note->is_dynamic != is_dynamic || (i && uses[i - 1].variable == number))
            continue;
        if (!ptx_take_bytes(total, variable->byte_count, variable->alignment, SHARED_BYTES_MAX, begins))
            return ptx_error(parser, note->line, "%s: a CTA's shared memory is more than 227 KiB", variable->name);
        variable->offset = *begins;
    }
    return NULL;
}

struct wsdbg_error *ptx_place_shared(struct ptx_parser *parser, struct wsdbg_ptx_function *function)
{
    uint64_t total = 0, begins = 0;
    const struct ptx_operand_place *uses = parser->shared_uses.items;
    const size_t count = parser->shared_uses.count;
    if (!count)
        return NULL;
    qsort(parser->shared_uses.items, count, sizeof *uses, compare_variables);
    PTX_TRY(place_kind(parser, false, &total, &begins));
    PTX_TRY(place_kind(parser, true, &total, &begins));
    function->shared_bytes = (uint32_t)total;
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_ptx_variable *variable = PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, uses[i].variable);
        if (PTX_ITEM(parser->variable_notes, struct ptx_variable_note, uses[i].variable)->is_dynamic)
            variable->offset = total; /* all of them begin at the most aligned place */
        struct wsdbg_ptx_operand *operand = operand_at(parser, &uses[i]);
        operand->value = (int64_t)((uint64_t)operand->value + variable->offset);
    }
    return NULL;
}
