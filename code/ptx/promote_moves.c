/* promote_moves.c - puts moves between registers in place of loads and stores of variables that need no memory.
 *
 * Reads what promote.c found.  Writes the kernel's instructions and the types of its registers.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/promotion.h"

enum { PLACE_ALIGNMENT = 16 }; /* of variables that stay in memory */

static bool is_promoted(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *access, uint32_t *first)
{
    return ptx_find_place(p, access, first) && !p->cells[*first].is_mixed && p->cells[*first].reg;
}

/* The cells of a variable that is promoted begin where its loads and stores do, but for upper halves. */
static uint32_t number_cells(const struct ptx_promotion *p)
{
    uint32_t number = p->kernel->register_count;
    for (uint32_t byte = 0; byte < p->bytes; byte++) {
        struct ptx_cell *cell = &p->cells[byte];
        if (!cell->widths || cell->is_mixed || ptx_stays_in_memory(p, byte, ptx_widest(cell)))
            continue;
        cell->reg = number++;
        if (!ptx_has_halves(cell))
            continue;
        cell[PTX_WORD_BYTES].reg = number++;
        byte += PTX_WORD_BYTES;
    }
    return number;
}

static struct wsdbg_error *add_registers(const struct ptx_promotion *p, uint32_t count)
{
    uint8_t *types = ptx_arena_take(&p->link->parser->storage->arena, count + 1, 1);
    if (!types)
        return &wsdbg_error_no_memory;
    if (p->kernel->register_count)
        memcpy(types, p->kernel->register_types, p->kernel->register_count);
    memset(types + p->kernel->register_count, WSDBG_PTX_B32, count - p->kernel->register_count);
    for (uint32_t byte = 0; byte < p->bytes; byte++)
        if (p->cells[byte].reg && p->cells[byte].widths == PTX_LONG_BYTES && !ptx_has_halves(&p->cells[byte]))
            types[p->cells[byte].reg] = WSDBG_PTX_B64;
    p->kernel->register_types = types;
    p->kernel->register_count = count;
    return NULL;
}

static struct wsdbg_ptx_operand register_operand(uint32_t number, bool is_written)
{
    return (struct wsdbg_ptx_operand){.kind = WSDBG_PTX_OPERAND_REGISTER, .number = number, .is_written = is_written};
}

/* The two halves of a cell. */
static struct wsdbg_error *pair_operand(const struct ptx_promotion *p, const struct ptx_cell *cell, bool is_written,
                                        struct wsdbg_ptx_operand *out)
{
    *out = (struct wsdbg_ptx_operand){.kind = WSDBG_PTX_OPERAND_VECTOR,
                                      .number = (uint32_t)p->link->parser->vectors.count,
                                      .count = 2,
                                      .is_written = is_written};
    for (unsigned i = 0; i < 2; i++) {
        struct wsdbg_ptx_operand *element = ptx_append(&p->link->parser->vectors, sizeof *element);
        if (!element)
            return &wsdbg_error_no_memory;
        *element = register_operand(cell->reg + i, false);
    }
    return NULL;
}

static uint8_t whole_type(unsigned bytes, bool is_signed)
{
    static const uint8_t of[2][PTX_LONG_BYTES + 1] = {
        {[1] = WSDBG_PTX_U8, [2] = WSDBG_PTX_U16, [4] = WSDBG_PTX_U32, [8] = WSDBG_PTX_U64},
        {[1] = WSDBG_PTX_S8, [2] = WSDBG_PTX_S16, [4] = WSDBG_PTX_S32, [8] = WSDBG_PTX_S64}};
    return of[is_signed][bytes];
}

/* The type of a whole number of a register's width. */
static uint8_t type_of(const struct ptx_promotion *p, const struct wsdbg_ptx_operand *operand, bool is_signed)
{
    const unsigned bytes = operand->kind == WSDBG_PTX_OPERAND_REGISTER
                               ? wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)p->kernel->register_types[operand->number])
                               : 0;
    return bytes <= PTX_LONG_BYTES ? whole_type(bytes, is_signed) : WSDBG_PTX_NO_TYPE;
}

static bool is_signed_type(uint8_t type)
{
    return type >= WSDBG_PTX_S8 && type <= WSDBG_PTX_S64;
}

/* `to` and `from` of another width than the number's: it is extended, or cut. */
static void become_move(struct wsdbg_ptx_instruction *access, struct wsdbg_ptx_operand to,
                        struct wsdbg_ptx_operand from, uint8_t type, uint8_t source_type)
{
    access->operation = type == source_type ? WSDBG_PTX_OP_mov : WSDBG_PTX_OP_cvt;
    access->type = type;
    access->source_type = source_type;
    access->space = WSDBG_PTX_GENERIC;
    access->flags = 0;
    access->operand_count = 2;
    access->operands[0] = to;
    access->operands[1] = from;
}

/* A load extends what it finds to its register, by its type. */
static struct wsdbg_error *replace_load(const struct ptx_promotion *p, struct wsdbg_ptx_instruction *load,
                                        const struct ptx_cell *cell)
{
    const unsigned width = ptx_access_bytes(load);
    const bool is_signed = is_signed_type(load->type);
    struct wsdbg_ptx_operand from = register_operand(cell->reg, false);
    const uint8_t to_type = type_of(p, &load->operands[0], is_signed), type = whole_type(width, is_signed);
    if (ptx_has_halves(cell) && width == PTX_LONG_BYTES)
        PTX_TRY(pair_operand(p, cell, false, &from));
    if (wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)to_type) <= width && width >= PTX_WORD_BYTES)
        become_move(load, load->operands[0], from, load->type, load->type);
    else
        become_move(load, load->operands[0], from, to_type, type);
    return NULL;
}

static struct wsdbg_error *replace_store(const struct ptx_promotion *p, struct wsdbg_ptx_instruction *store,
                                         const struct ptx_cell *cell)
{
    const unsigned width = ptx_access_bytes(store);
    struct wsdbg_ptx_operand from = store->operands[1], to = register_operand(cell->reg, true);
    const bool is_register = from.kind == WSDBG_PTX_OPERAND_REGISTER;
    if (ptx_has_halves(cell) && width == PTX_LONG_BYTES)
        PTX_TRY(pair_operand(p, cell, true, &to));
    if (width < PTX_WORD_BYTES && !is_register)
        from.value &= (INT64_C(1) << width * 8) - 1;
    if (width < PTX_WORD_BYTES && is_register)
        become_move(store, to, from, WSDBG_PTX_U32, whole_type(width, false));
    else if (is_register && wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type_of(p, &from, false)) > width)
        become_move(store, to, from, WSDBG_PTX_U32, WSDBG_PTX_U64);
    else
        become_move(store, to, from, width < PTX_WORD_BYTES ? WSDBG_PTX_U32 : store->type,
                    width < PTX_WORD_BYTES ? WSDBG_PTX_U32 : store->type);
    return NULL;
}

/* No generic address of a promoted variable goes anywhere. */
static void replace_conversion(const struct ptx_promotion *p, struct wsdbg_ptx_instruction *conversion)
{
    const int64_t place = ptx_place_named(p, &conversion->operands[1]);
    if (!ptx_writes_address(p, conversion) || place < 0 || place >= p->bytes ||
        ptx_stays_in_memory(p, (uint32_t)place, 1))
        return;
    become_move(conversion, conversion->operands[0], conversion->operands[1], WSDBG_PTX_B64, WSDBG_PTX_B64);
}

static struct wsdbg_error *replace(const struct ptx_promotion *p, uint32_t index)
{
    struct wsdbg_ptx_instruction *instruction = ptx_promotion_at(p, index);
    uint32_t first;
    if (instruction->operation == WSDBG_PTX_OP_cvta && instruction->space == WSDBG_PTX_LOCAL)
        replace_conversion(p, instruction);
    if (!ptx_is_local_access(instruction) || !is_promoted(p, instruction, &first))
        return NULL;
    return instruction->operation == WSDBG_PTX_OP_ld ? replace_load(p, instruction, &p->cells[first])
                                                     : replace_store(p, instruction, &p->cells[first]);
}

/* ---- what stays in memory ---- */

/* Variables that stay in memory move to its begin, where walks follow them (sass/walk_local.h). */
static bool stays(const struct ptx_promotion *p, const struct ptx_local *object, size_t number)
{
    bool is_there = p->kept_from[number] != UINT32_MAX;
    for (uint32_t i = 0; i < object->byte_count && !is_there; i++)
        is_there = p->cells[object->offset + i].is_mixed;
    return is_there;
}

static bool place_again(const struct ptx_promotion *p, int64_t *shift)
{
    uint64_t bytes = 0;
    bool moves = false;
    for (size_t i = 0; i < p->link->objects.count; i++) {
        const struct ptx_local *object = PTX_ITEM(p->link->objects, struct ptx_local, i);
        shift[i] = 0;
        if (!stays(p, object, i))
            continue;
        bytes = (bytes + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
        shift[i] = (int64_t)bytes - object->offset;
        bytes += object->byte_count;
        moves |= shift[i] != 0;
    }
    return moves;
}

static void move_places(const struct ptx_promotion *p, const int64_t *shift)
{
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++) {
        struct wsdbg_ptx_instruction *instruction = ptx_promotion_at(p, i);
        for (unsigned k = 0; k < instruction->operand_count && instruction->operation != WSDBG_PTX_OP_call; k++) {
            struct wsdbg_ptx_operand *operand = &instruction->operands[k];
            const bool names_place = operand->kind == WSDBG_PTX_OPERAND_ADDRESS && operand->number == WSDBG_PTX_NONE &&
                                     operand->space == WSDBG_PTX_LOCAL;
            if (names_place && operand->value >= 0 && operand->value < p->bytes && p->owner[operand->value])
                operand->value += shift[p->owner[operand->value] - 1];
        }
    }
}

static struct wsdbg_error *move_what_stays(const struct ptx_promotion *p)
{
    int64_t *shift = calloc(p->link->objects.count + 1, sizeof *shift);
    if (!shift)
        return &wsdbg_error_no_memory;
    if (place_again(p, shift))
        move_places(p, shift);
    free(shift);
    return NULL;
}

struct wsdbg_error *ptx_put_moves(const struct ptx_promotion *p)
{
    const uint32_t count = number_cells(p);
    PTX_TRY(add_registers(p, count));
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        PTX_TRY(replace(p, i));
    return move_what_stays(p);
}
