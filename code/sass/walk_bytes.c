/* walk_bytes.c - see walk_bytes.h.
 *
 * Reads and writes: registers of a lane, among them those that stand for words of local memory.
 */
#include "sass/walk_bytes.h"

#include "sass/walk_stack.h"

enum { WORD_BYTES = sizeof(uint32_t), WORD_BITS = 32, BYTE_BITS = 8 };

/* A number of up to 64 bits, as far as it is known. */
struct part {
    uint64_t value, mask;
};

/* The registers whose numbers go to memory or come from there.  In code that comes from PTX each operand is one
 * element. In machine code each word of the only operand is one. */
struct elements {
    const struct wsdbg_operand *operands;
    unsigned count, bytes; /* bytes: of each */
    bool are_words;
};

static struct elements elements_of(const struct wsdbg_instruction *access, const struct wsdbg_operand *operands,
                                   unsigned count)
{
    const unsigned words = access->width_bytes / WORD_BYTES;
    const unsigned elements = wsdbg_is_machine_code(access) ? (words ? words : 1) : count;
    return (struct elements){operands, elements, access->width_bytes / elements, wsdbg_is_machine_code(access)};
}

static const struct wsdbg_operand *operand_of(const struct elements *elements, unsigned i, unsigned *part)
{
    *part = elements->are_words ? i : 0;
    return &elements->operands[elements->are_words ? 0 : i];
}

/* ---- bytes of local memory ---- */

/* A byte lies in a register as it lies in its word: `at` is 4 times the register's number, and its place there. */
static unsigned register_at(uint32_t at)
{
    const struct wsdbg_operand word = {.kind = WSDBG_OPERAND_REGISTER, .number = (uint16_t)(at / WORD_BYTES)};
    return wsdbg_register_of(&word, 0);
}

static struct part read_bytes(const struct wsdbg_thread_state *state, uint32_t at, unsigned count)
{
    struct part part = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        const unsigned reg = register_at(at + i), shift = (at + i) % WORD_BYTES * BYTE_BITS;
        const uint64_t mask = wsdbg_thread_known_bits(state, reg) >> shift & UINT8_MAX;
        part.mask |= mask << i * BYTE_BITS;
        part.value |= (state->value[reg] >> shift & mask) << i * BYTE_BITS;
    }
    return part;
}

static void write_bytes(struct wsdbg_thread_state *state, uint32_t at, unsigned count, struct part part)
{
    for (unsigned i = 0; i < count; i++) {
        const unsigned reg = register_at(at + i), shift = (at + i) % WORD_BYTES * BYTE_BITS;
        const uint32_t others = ~((uint32_t)UINT8_MAX << shift);
        const uint32_t mask = (uint32_t)(part.mask >> i * BYTE_BITS & UINT8_MAX) << shift;
        const uint32_t value = (uint32_t)(part.value >> i * BYTE_BITS & UINT8_MAX) << shift;
        wsdbg_thread_set_bits(state, reg, (state->value[reg] & others) | value,
                              (wsdbg_thread_known_bits(state, reg) & others) | mask);
    }
}

enum place { PLACE_UNKNOWN, PLACE_BEYOND, PLACE_FOUND };

/* Where the bytes lie that an access names.  BEYOND: in none of the registers that it may concern. */
static enum place find(const struct walk_lane *lane, const struct wsdbg_instruction *access, uint32_t *at)
{
    const struct walk_stack_words words = walk_stack_words_of(access);
    const uint32_t width = access->width_bytes, size = words.count * WORD_BYTES;
    uint32_t address, pointer = 0;
    if ((words.pointer && !walk_value(lane, words.pointer, 0, &pointer)) ||
        !walk_value(lane, &access->sources[0], 0, &address) ||
        (address - pointer) % (width < WORD_BYTES ? width : WORD_BYTES))
        return PLACE_UNKNOWN;
    const uint32_t behind = address - pointer - (words.first - words.origin) * WORD_BYTES;
    *at = words.first * WORD_BYTES + behind;
    if (behind >= size)
        return 0 - behind < width ? PLACE_UNKNOWN : PLACE_BEYOND;
    return width <= size - behind ? PLACE_FOUND : PLACE_UNKNOWN;
}

/* ---- loads ---- */

/* The loaded number, extended to the register's width.  Machine code: nobody knows whether the number is signed, so the
 * bits above it are known only if its sign bit is 0.  PTX: the register may have 16 bits, and then a negative number of
 * one byte is not extended to 32. */
static struct part extended(const struct wsdbg_instruction *load, struct part part, unsigned bytes)
{
    const uint64_t sign = (uint64_t)1 << (bytes * BYTE_BITS - 1), above = ~(sign | (sign - 1));
    const bool is_unsigned = !wsdbg_is_machine_code(load) && !load->is_signed;
    if (is_unsigned || (part.mask & sign && !(part.value & sign)))
        part.mask |= above;
    else if (!wsdbg_is_machine_code(load) && bytes == WORD_BYTES && part.value & sign)
        part = (struct part){part.value | above, part.mask | above};
    return part;
}

static void set_element(const struct walk_lane *lane, const struct wsdbg_instruction *load, unsigned reg,
                        struct part part)
{
    wsdbg_thread_set_bits(lane->state, reg, (uint32_t)part.value, (uint32_t)part.mask);
    lane->state->high_known[reg] = part.mask == UINT64_MAX && !wsdbg_is_machine_code(load);
    lane->state->high[reg] = lane->state->high_known[reg] ? (uint32_t)(part.value >> WORD_BITS) : 0;
}

/* The address may be in a register that the load writes. */
static void load_bytes(const struct walk_lane *lane, const struct wsdbg_instruction *load)
{
    const struct elements elements = elements_of(load, load->destinations, load->destination_count);
    uint32_t at = 0;
    const enum place place = find(lane, load, &at);
    walk_forget_written(lane, load);
    for (unsigned i = 0; i < elements.count && place == PLACE_FOUND; i++) {
        unsigned part;
        const struct wsdbg_operand *to = operand_of(&elements, i, &part);
        const unsigned reg = wsdbg_register_of(to, part);
        const struct part loaded = read_bytes(lane->state, at + i * elements.bytes, elements.bytes);
        if (reg < WSDBG_REGISTER_COUNT)
            set_element(lane, load, reg, extended(load, loaded, elements.bytes));
    }
}

/* ---- stores ---- */

/* A register of PTX has its high half beside its word; a number has all its bits. */
static struct part high_half(const struct walk_lane *lane, const struct wsdbg_operand *operand)
{
    const uint64_t mask = (uint64_t)UINT32_MAX << WORD_BITS;
    const unsigned reg = wsdbg_register_of(operand, 0);
    if (operand->kind == WSDBG_OPERAND_IMMEDIATE)
        return (struct part){(uint64_t)operand->value & mask, mask};
    if (operand->kind != WSDBG_OPERAND_REGISTER || reg >= WSDBG_REGISTER_COUNT || !lane->state->high_known[reg])
        return (struct part){0, 0};
    return (struct part){(uint64_t)lane->state->high[reg] << WORD_BITS, mask};
}

static struct part stored(const struct walk_lane *lane, const struct elements *elements, unsigned i)
{
    unsigned part;
    const struct wsdbg_operand *operand = operand_of(elements, i, &part);
    const unsigned reg = wsdbg_register_of(operand, part);
    struct part high = {0, 0};
    uint32_t value = 0, mask = 0;
    if (walk_value(lane, operand, part, &value)) {
        mask = UINT32_MAX;
    } else if (operand->kind == WSDBG_OPERAND_REGISTER && reg < WSDBG_REGISTER_COUNT) {
        value = lane->state->value[reg];
        mask = wsdbg_thread_known_bits(lane->state, reg);
    }
    if (elements->bytes > WORD_BYTES)
        high = high_half(lane, operand);
    return (struct part){high.value | (value & mask), high.mask | mask};
}

static void store_bytes(const struct walk_lane *lane, const struct wsdbg_instruction *store)
{
    const struct elements elements = elements_of(store, &store->sources[1], store->source_count - 2u);
    uint32_t at = 0;
    const enum place place = find(lane, store, &at);
    if (place == PLACE_UNKNOWN)
        walk_forget_written(lane, store);
    for (unsigned i = 0; i < elements.count && place == PLACE_FOUND; i++)
        write_bytes(lane->state, at + i * elements.bytes, elements.bytes, stored(lane, &elements, i));
}

/* ---- words at constant places ---- */

static void move_words(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *from = &instruction->sources[0], *to = &instruction->destinations[0];
    for (unsigned part = 0; part == 0 || part < to->registers; part++) {
        const unsigned read = wsdbg_register_of(from, part), written = wsdbg_register_of(to, part);
        if (written < WSDBG_REGISTER_COUNT && read < WSDBG_REGISTER_COUNT)
            walk_copy_register(lane->state, lane->state, written, read);
        else if (written < WSDBG_REGISTER_COUNT)
            walk_set_word(lane->state, written, from->number == WSDBG_RZ, 0);
    }
}

/* ---- generic addresses ---- */

/* Whether a generic access is to the stack frame, as far as its address is known. */
static enum wsdbg_truth is_local(const struct walk_lane *lane, const struct wsdbg_instruction *access)
{
    uint64_t address;
    if (!wsdbg_thread_address(lane->state, &access->sources[0], &address))
        return WSDBG_TRUTH_UNKNOWN;
    return address >> WORD_BITS == WALK_STACK_WINDOW_HIGH ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}

/* A store to other memory leaves the frame as it is; where other memory is loaded from, others know.  One that goes
 * nobody knows where may change any word. */
static bool execute_generic(const struct walk_lane *lane, const struct wsdbg_instruction *access)
{
    const bool is_load = walk_stack_picks(access);
    switch (is_local(lane, access)) {
    case WSDBG_TRUTH_NO:
        return !is_load;
    case WSDBG_TRUTH_YES:
        if (is_load)
            load_bytes(lane, access);
        else
            store_bytes(lane, access);
        return true;
    default:
        walk_forget_written(lane, access);
        return true;
    }
}

bool walk_bytes_execute(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    if (walk_stack_is_generic(instruction) && (walk_stack_picks(instruction) || walk_stack_puts(instruction)))
        return execute_generic(lane, instruction);
    if (walk_stack_moves(instruction))
        move_words(lane, instruction);
    else if (walk_stack_picks(instruction))
        load_bytes(lane, instruction);
    else if (walk_stack_puts(instruction))
        store_bytes(lane, instruction);
    else
        return false;
    return true;
}
