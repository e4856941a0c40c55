/* thread_load.c - see thread_load.h.
 *
 * Reads: the registers that the address is made of; constants and global memory, which the caller knows.
 */
#include "sass/thread_load.h"

#include "sass/compute.h"

#define WINDOW_BYTES (UINT64_C(1) << 24)
enum { SHARED_BYTES_MOST = 1 << 18 };
enum { WORD_BYTES = sizeof(uint32_t), WORD_BITS = 32, BYTE_BITS = 8, PTX_LONG_BYTES = 8 };

/* A load on its way. */
struct load {
    const struct wsdbg_instruction *instruction;
    const struct wsdbg_thread_world *world;
    const struct wsdbg_thread_state *state;
};

static bool is_of_constants(const struct wsdbg_instruction *load)
{
    return load->operation == WSDBG_OP_LDC || load->operation == WSDBG_OP_ULDC;
}

static bool register_value(const struct wsdbg_thread_state *state, unsigned number, uint64_t *value)
{
    const struct wsdbg_operand operand = {.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)number};
    const unsigned reg = wsdbg_register_of(&operand, 0);
    if (reg >= WSDBG_REGISTER_COUNT || !state->known[reg])
        return false;
    *value = state->value[reg] | (state->high_known[reg] ? (uint64_t)state->high[reg] << WORD_BITS : 0);
    return true;
}

/* ---- addresses ---- */

/* In PTX one register has all 64 bits of an address. */
static bool global_address(const struct load *load, uint64_t *address)
{
    const struct wsdbg_operand *operand = &load->instruction->sources[0];
    const struct wsdbg_operand base = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const unsigned reg = wsdbg_register_of(&base, 0);
    if (wsdbg_is_machine_code(load->instruction))
        return wsdbg_thread_address(load->state, operand, address);
    if (operand->kind != WSDBG_OPERAND_MEMORY || reg >= WSDBG_REGISTER_COUNT || !load->state->high_known[reg] ||
        !register_value(load->state, operand->number, address))
        return false;
    *address += (uint64_t)operand->value;
    return true;
}

/* The low word of an address in the window names the CTA of the cluster in its highest byte. */
static uint64_t window_bytes(const struct wsdbg_thread_world *world)
{
    return (uint32_t)world->shared_window == 0 ? (uint64_t)1 << WORD_BITS : WINDOW_BYTES;
}

enum wsdbg_truth wsdbg_thread_names_shared(const struct wsdbg_instruction *access,
                                           const struct wsdbg_thread_world *world,
                                           const struct wsdbg_thread_state *state)
{
    const struct load load = {access, world, state};
    const struct wsdbg_operand *operand = &access->sources[0];
    const struct wsdbg_operand base = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const unsigned reg = wsdbg_register_of(&base, 0);
    uint64_t address;
    if (access->operation != WSDBG_OP_LD && access->operation != WSDBG_OP_ST && access->operation != WSDBG_OP_ATOM)
        return WSDBG_TRUTH_NO;
    if (operand->kind == WSDBG_OPERAND_MEMORY && global_address(&load, &address))
        return !world->shared_window                                  ? WSDBG_TRUTH_UNKNOWN
               : address - world->shared_window < window_bytes(world) ? WSDBG_TRUTH_YES
                                                                      : WSDBG_TRUTH_NO;
    const bool has_high = wsdbg_is_machine_code(access) || reg >= WSDBG_REGISTER_COUNT || state->high_known[reg];
    return operand->kind == WSDBG_OPERAND_MEMORY && !has_high && state->known[reg] &&
                   state->value[reg] + (uint32_t)operand->value < SHARED_BYTES_MOST
               ? WSDBG_TRUTH_YES
               : WSDBG_TRUTH_UNKNOWN;
}

static bool constant_offset(const struct load *load, uint64_t *offset_bytes)
{
    const struct wsdbg_operand *operand = &load->instruction->sources[0];
    uint64_t index = 0;
    if (operand->kind != WSDBG_OPERAND_CONSTANT ||
        (operand->number != WSDBG_RZ && !register_value(load->state, operand->number, &index)))
        return false;
    *offset_bytes = (uint32_t)index + (uint32_t)operand->value;
    return true;
}

static bool address_of(const struct load *load, uint64_t *address)
{
    return is_of_constants(load->instruction) ? constant_offset(load, address) : global_address(load, address);
}

/* ---- the kernel's parameters ---- */

/* Whether a generic address is one of a parameter, and where bank 0 has that.  Code that was not optimised takes the
 * address of a structure among the parameters. */
static bool is_parameter(const struct load *load, uint64_t address, uint32_t *offset_bytes)
{
    const struct wsdbg_thread_world *world = load->world;
    uint32_t low, high;
    if (load->instruction->operation != WSDBG_OP_LD || !wsdbg_is_machine_code(load->instruction) || !world->constant ||
        !world->constant(world->context, 0, WSDBG_PARAMETERS_POINTER, &low) ||
        !world->constant(world->context, 0, WSDBG_PARAMETERS_POINTER + WORD_BYTES, &high))
        return false;
    const uint64_t at_byte = address - ((uint64_t)high << WORD_BITS | low);
    *offset_bytes = WSDBG_PARAMETERS + (uint32_t)at_byte;
    return high && at_byte < WSDBG_PARAMETERS_MOST;
}

bool wsdbg_thread_loads_parameter(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_world *world,
                                  const struct wsdbg_thread_state *state)
{
    const struct load load = {instruction, world, state};
    uint64_t address;
    uint32_t offset_bytes;
    return instruction->operation == WSDBG_OP_LD && global_address(&load, &address) &&
           is_parameter(&load, address, &offset_bytes);
}

/* ---- words ---- */

static bool word_at(const struct load *load, uint64_t address, uint32_t *word)
{
    const struct wsdbg_thread_world *world = load->world;
    uint32_t offset_bytes;
    if (is_of_constants(load->instruction))
        return world->constant &&
               world->constant(world->context, load->instruction->sources[0].bank, (uint32_t)address, word);
    if (is_parameter(load, address, &offset_bytes) && world->constant(world->context, 0, offset_bytes, word))
        return true;
    return world->global && world->global(world->context, address, load->instruction->operation == WSDBG_OP_LD, word);
}

/* Of machine code it is not known whether they are signed. */
bool wsdbg_thread_part(const struct wsdbg_instruction *load, uint32_t word, uint32_t at_byte, uint32_t *value)
{
    const unsigned bits = BYTE_BITS * load->width_bytes;
    const uint32_t part = word >> BYTE_BITS * at_byte & ((1u << bits) - 1);
    const bool has_sign = part >> (bits - 1) & 1;
    *value = has_sign && load->is_signed ? part | UINT32_MAX << bits : part;
    return !has_sign || !wsdbg_is_machine_code(load);
}

/* A byte or two of a word.  A register of PTX may have 16 bits only, into which a negative number of 32 does not fit.
 */
static bool part_at(const struct load *load, uint64_t address, uint32_t *value)
{
    const unsigned at = address % WORD_BYTES;
    uint32_t word;
    return load->instruction->destination_count == 1 && address % load->instruction->width_bytes == 0 &&
           word_at(load, address - at, &word) && wsdbg_thread_part(load->instruction, word, at, value) &&
           (is_of_constants(load->instruction) || (int32_t)*value >= 0);
}

/* A register of PTX may have more bits than the number that is loaded into it. */
static uint32_t extension_of(const struct wsdbg_instruction *load, uint32_t word)
{
    return load->is_signed && (int32_t)word < 0 ? UINT32_MAX : 0;
}

bool wsdbg_thread_load_is_long(const struct wsdbg_instruction *load)
{
    if (is_of_constants(load))
        return load->is_long;
    return !wsdbg_is_machine_code(load) &&
           (load->destination_count == 1 || load->width_bytes / PTX_LONG_BYTES == load->destination_count);
}

bool wsdbg_thread_load(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_world *world,
                       const struct wsdbg_thread_state *state, uint32_t words[WSDBG_LOAD_WORDS])
{
    const struct load load = {instruction, world, state};
    const unsigned count = instruction->width_bytes / WORD_BYTES;
    uint64_t address;
    if (!instruction->width_bytes || count > WSDBG_LOAD_WORDS || wsdbg_compute_is_narrow(instruction) ||
        !address_of(&load, &address))
        return false;
    bool known = count ? address % WORD_BYTES == 0 : part_at(&load, address, &words[0]);
    for (unsigned i = 0; known && i < count; i++)
        known = word_at(&load, address + i * WORD_BYTES, &words[i]);
    if (known && count <= 1)
        words[1] = extension_of(instruction, words[0]);
    return known;
}
