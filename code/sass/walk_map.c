/* walk_map.c - see walk_map.h.
 *
 * Reads: the address of the map among the copy's operands; the map, among the kernel's parameters or in global memory.
 * Machine code has parameters in constant bank 0, and their generic address there, too (thread_load.h).  Code in PTX
 * names them by their place in the bank.
 */
#include "sass/walk_map.h"

#include "base/tensor_map.h"
#include "sass/thread_load.h"

enum { WORD_BYTES = 4, WORD_BITS = 32 };

/* 64 bits; of PTX the low ones, which tell a parameter from other memory well enough: what is there must be a map. */
static bool address_of(const struct walk_lane *lane, const struct wsdbg_instruction *copy,
                       const struct wsdbg_access_operands *operands, uint64_t *address)
{
    uint32_t low, high = 0;
    if (!walk_source(lane, copy, operands->map, 0, &low) ||
        (operands->is_encoded && !walk_source(lane, copy, operands->map, 1, &high)))
        return false;
    *address = (uint64_t)high << WORD_BITS | low;
    return true;
}

/* Where parameters begin, as addresses of maps have it. */
static bool parameters_at(const struct walk_lane *lane, bool is_encoded, uint64_t *address)
{
    uint32_t low, high;
    *address = WSDBG_PARAMETERS;
    if (!is_encoded)
        return true;
    if (!lane->world->constant(lane->world->context, 0, WSDBG_PARAMETERS_POINTER, &low) ||
        !lane->world->constant(lane->world->context, 0, WSDBG_PARAMETERS_POINTER + WORD_BYTES, &high))
        return false;
    *address = (uint64_t)high << WORD_BITS | low;
    return true;
}

bool walk_map_bytes(const struct walk_lane *lane, const struct wsdbg_instruction *copy,
                    const struct wsdbg_access_operands *operands, uint32_t *bytes)
{
    const struct wsdbg_thread_world *world = lane->world;
    uint32_t words[WSDBG_TENSOR_MAP_WORDS];
    uint64_t address, parameters;
    if (!address_of(lane, copy, operands, &address))
        return false;
    const bool is_parameter = parameters_at(lane, operands->is_encoded, &parameters) && address >= parameters &&
                              address - parameters <= WSDBG_PARAMETERS_MOST - sizeof words;
    if (!is_parameter && (!world->global || !operands->is_encoded))
        return false;
    for (uint32_t i = 0; i < WSDBG_TENSOR_MAP_WORDS; i++) {
        const uint64_t at = address + (uint64_t)i * WORD_BYTES;
        if (is_parameter
                ? !world->constant(world->context, 0, (uint32_t)(at - parameters) + WSDBG_PARAMETERS, &words[i])
                : !world->global(world->context, at, true, &words[i]))
            return false;
    }
    return wsdbg_tensor_map_bytes(words, bytes);
}
