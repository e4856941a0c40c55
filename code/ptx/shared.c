/* shared.c - where the shared variables that a kernel uses lie in its CTA's shared memory.
 *
 * Static ones in the order of their declaration, each at its alignment; behind them, aligned, all dynamic ones begin.
 * Reads and writes the variables' entries.
 */
#include <stdlib.h>

#include "ptx/declaration.h"
#include "ptx/function.h"

#define SHARED_BYTES_MAX ((uint64_t)227 << 10)

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static const struct ptx_variable_note *note_of(const struct ptx_parser *parser, uint32_t variable)
{
    return PTX_ITEM(parser->variable_notes, struct ptx_variable_note, variable);
}

/* The static or the dynamic ones of sorted `variables`; *total is aligned for the latter, which have no size. */
static struct wsdbg_error *place(struct ptx_parser *parser, const uint32_t *variables, size_t count, bool is_dynamic,
                                 uint64_t *total)
{
    for (size_t i = 0; i < count; i++) {
        struct wsdbg_ptx_variable *variable = PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, variables[i]);
        const struct ptx_variable_note *note = note_of(parser, variables[i]);
        if (note->is_dynamic != is_dynamic || (i && variables[i - 1] == variables[i]))
            continue;
        if (!ptx_take_bytes(total, variable->byte_count, variable->alignment, SHARED_BYTES_MAX, &variable->offset))
            return ptx_error(parser, note->line, "%s: a CTA's shared memory is more than 227 KiB", variable->name);
    }
    return NULL;
}

struct wsdbg_error *ptx_place_shared(struct ptx_parser *parser, uint32_t *variables, size_t count,
                                     uint32_t *shared_bytes)
{
    uint64_t total = 0;
    if (count)
        qsort(variables, count, sizeof *variables, compare_numbers);
    PTX_TRY(place(parser, variables, count, false, &total));
    PTX_TRY(place(parser, variables, count, true, &total));
    for (size_t i = 0; i < count; i++)
        if (note_of(parser, variables[i])->is_dynamic)
            PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, variables[i])->offset = total;
    *shared_bytes = (uint32_t)total;
    return NULL;
}
