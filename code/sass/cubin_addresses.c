/* cubin_addresses.c - see cubin_addresses.h.
 *
 * Reads: numbers of a function.  Writes: operands of instructions.
 */
#include "sass/cubin_addresses.h"

int cubin_number_by_place(const void *a, const void *b)
{
    const struct cubin_number *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

/* Where the numbers of a place begin that is not before this one. */
static size_t first_from(const struct wsdbg_cubin_function *function, uint64_t offset_bytes)
{
    const struct cubin_number place = {.section = function->section, .offset_bytes = offset_bytes};
    size_t low = 0, high = function->number_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cubin_number_by_place(&function->numbers[middle], &place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void wsdbg_cubin_put_addresses(const struct wsdbg_cubin_function *function, struct wsdbg_instruction *instructions)
{
    const uint64_t begin = function->offset_bytes, end = begin + function->code.byte_count;
    for (size_t i = first_from(function, begin); i < function->number_count; i++) {
        const struct cubin_number *number = &function->numbers[i];
        if (number->section != function->section || number->offset_bytes >= end)
            return;
        struct wsdbg_instruction *in = &instructions[(number->offset_bytes - begin) / WSDBG_INSTRUCTION_BYTES];
        if ((in->operation == WSDBG_OP_MOV || in->operation == WSDBG_OP_UMOV) && in->source_count == 1 &&
            in->sources[0].kind == WSDBG_OPERAND_IMMEDIATE)
            in->sources[0].value = number->value;
    }
}
