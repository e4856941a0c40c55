/* promote.c - variables in a thread's local memory become registers, as a compiler that optimises would keep them.
 *
 * A build without optimisation keeps variables in local memory, and passes their addresses and all arguments through
 * it.  Whoever follows values finds them in registers only.  A register that is written once may hold an address that
 * is known: from a variable's name, an addition, or a word that is stored once.  A variable is promoted where such
 * addresses name every load and store of it, and no other instruction reads its address.  Its bytes become cells: each
 * is loaded and stored as a whole, or as the two halves of 8 bytes.
 *
 * Reads the kernel's instructions; puts moves in place of loads and stores, and adds registers.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/linking.h"

enum { WORD_BYTES = 4, LONG_BYTES = 8 };
#define NOT_KNOWN INT64_MIN

/* What is known of the byte at which loads and stores begin. */
struct cell {
    uint8_t widths;  /* of these loads and stores: 1, 2, 4 and 8 bytes, their sum; OTHER: some are wider or vectors */
    bool is_mixed;   /* the byte is part of a load or store that does not fit another one */
    uint32_t writes; /* stores that begin there */
    uint32_t writer; /* the last one */
    uint32_t reg;    /* that the cell becomes; with HALVES the next one is the upper half */
};
enum { PLACE_ALIGNMENT = 16 }; /* of local variables that are moved */
enum { OTHER = 16, WIDTHS_OF_HALVES = LONG_BYTES | WORD_BYTES };

struct promotion {
    struct ptx_linking *link;
    struct wsdbg_ptx_function *kernel;
    uint32_t *writes;    /* by register: instructions that write it */
    int64_t *address;    /* ... the place in local memory that it names; NOT_KNOWN = none, or not known */
    bool *is_doubtful;   /* ... it seemed to name a place, which did not hold */
    uint32_t bytes;      /* of local memory */
    uint32_t *owner;     /* by byte: its variable + 1; 0 = none */
    uint32_t *kept_from; /* by variable: from this byte of local memory on it stays there */
    struct cell *cells;  /* by byte */
};

static struct wsdbg_ptx_instruction *at(const struct promotion *p, uint32_t index)
{
    return PTX_ITEM(p->link->instructions, struct wsdbg_ptx_instruction, index);
}

static bool is_access(const struct wsdbg_ptx_instruction *instruction)
{
    return (instruction->operation == WSDBG_PTX_OP_ld || instruction->operation == WSDBG_PTX_OP_st) &&
           (instruction->space == WSDBG_PTX_LOCAL || instruction->space == WSDBG_PTX_GENERIC);
}

static const struct wsdbg_ptx_operand *place_of(const struct wsdbg_ptx_instruction *access)
{
    return &access->operands[access->operation == WSDBG_PTX_OP_ld];
}

static const struct wsdbg_ptx_operand *value_of(const struct wsdbg_ptx_instruction *access)
{
    return &access->operands[access->operation != WSDBG_PTX_OP_ld];
}

static uint32_t width_of(const struct wsdbg_ptx_instruction *access)
{
    const uint32_t count = access->vector_length ? access->vector_length : 1;
    return wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)access->type) * count;
}

/* ---- addresses ---- */

/* The place in local memory that an operand names; NOT_KNOWN = none, or not known. */
static int64_t named_by(const struct promotion *p, const struct wsdbg_ptx_operand *operand)
{
    const bool is_address = operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    if (is_address && operand->number == WSDBG_PTX_NONE)
        return operand->space == WSDBG_PTX_LOCAL ? operand->value : NOT_KNOWN;
    if ((!is_address && operand->kind != WSDBG_PTX_OPERAND_REGISTER) || p->address[operand->number] == NOT_KNOWN)
        return NOT_KNOWN;
    return p->address[operand->number] + (is_address ? operand->value : 0);
}

/* Where a load or store goes: its first byte.  False: not to a variable's bytes, or that is not known. */
static bool find_place(const struct promotion *p, const struct wsdbg_ptx_instruction *access, uint32_t *first)
{
    const int64_t place = is_access(access) ? named_by(p, place_of(access)) : NOT_KNOWN;
    const uint32_t width = width_of(access);
    if (place < 0 || !width || place + width > p->bytes || !p->owner[place] ||
        p->owner[place + width - 1] != p->owner[place])
        return false;
    *first = (uint32_t)place;
    return true;
}

/* Whether one of the bytes is no variable's that becomes registers. */
static bool is_kept(const struct promotion *p, uint32_t first, uint32_t count)
{
    const uint32_t owner = p->owner[first];
    return !owner || first + count > p->kept_from[owner - 1];
}

static bool has_halves(const struct cell *cell)
{
    return cell->widths & LONG_BYTES && (cell->widths & WORD_BYTES || cell[WORD_BYTES].widths);
}

/* What a load brings from a cell that is written once. */
static int64_t loaded(const struct promotion *p, const struct wsdbg_ptx_instruction *load)
{
    uint32_t first;
    if (!find_place(p, load, &first) || is_kept(p, first, LONG_BYTES))
        return NOT_KNOWN;
    const struct cell *cell = &p->cells[first];
    if (cell->is_mixed || cell->widths != LONG_BYTES || has_halves(cell) || cell->writes != 1)
        return NOT_KNOWN;
    return named_by(p, value_of(at(p, cell->writer)));
}

/* The address that an instruction writes into its register. */
static int64_t written_by(const struct promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *a = &instruction->operands[1], *b = &instruction->operands[2];
    const bool is_added = instruction->operation == WSDBG_PTX_OP_add,
               is_taken = instruction->operation == WSDBG_PTX_OP_sub;
    if (instruction->guard != WSDBG_PTX_NONE ||
        wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)instruction->type) != LONG_BYTES)
        return NOT_KNOWN;
    switch (instruction->operation) {
    case WSDBG_PTX_OP_mov:
        return named_by(p, a);
    case WSDBG_PTX_OP_cvta:
        return instruction->space == WSDBG_PTX_LOCAL ? named_by(p, a) : NOT_KNOWN;
    case WSDBG_PTX_OP_ld:
        return loaded(p, instruction);
    case WSDBG_PTX_OP_add:
    case WSDBG_PTX_OP_sub:
        if (b->kind != WSDBG_PTX_OPERAND_IMMEDIATE || named_by(p, a) == NOT_KNOWN)
            return NOT_KNOWN;
        return named_by(p, a) + (is_added ? b->value : 0) - (is_taken ? b->value : 0);
    default:
        return NOT_KNOWN;
    }
}

/* One round over all registers; true where another address became known. */
static bool follow_once(const struct promotion *p)
{
    bool grows = false;
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = at(p, i);
        const struct wsdbg_ptx_operand *to = &instruction->operands[0];
        if (!instruction->operand_count || to->kind != WSDBG_PTX_OPERAND_REGISTER || !to->is_written ||
            p->writes[to->number] != 1 || p->address[to->number] != NOT_KNOWN || p->is_doubtful[to->number])
            continue;
        p->address[to->number] = written_by(p, instruction);
        grows |= p->address[to->number] != NOT_KNOWN;
    }
    return grows;
}

/* ---- cells ---- */

static void put_access(const struct promotion *p, uint32_t index)
{
    const struct wsdbg_ptx_instruction *access = at(p, index);
    const uint32_t width = width_of(access);
    uint32_t first;
    if (!find_place(p, access, &first))
        return;
    struct cell *cell = &p->cells[first];
    const bool is_plain = access->vector_length <= 1 && width <= LONG_BYTES && width;
    cell->widths |= is_plain ? (uint8_t)width : OTHER;
    if (!is_plain)
        for (uint32_t i = 0; i < width; i++)
            cell[i].is_mixed = true;
    if (access->operation == WSDBG_PTX_OP_st) {
        cell->writes++;
        cell->writer = index;
    }
}

static uint32_t widest(const struct cell *cell)
{
    for (uint32_t width = LONG_BYTES; width; width /= 2)
        if (cell->widths & width)
            return width;
    return 1;
}

/* Whether all loads and stores of these bytes have the same ones, or halves of them. */
static bool fits(const struct cell *cell, uint32_t width)
{
    const bool may_have_halves = width == LONG_BYTES;
    bool good = cell->widths == width || (may_have_halves && cell->widths == WIDTHS_OF_HALVES);
    for (uint32_t i = 0; i < width; i++)
        good &= !cell[i].is_mixed;
    for (uint32_t i = 1; i < width; i++)
        good &= !cell[i].widths || (may_have_halves && i == WORD_BYTES && cell[i].widths == WORD_BYTES);
    return good;
}

static bool mark_mixed(const struct promotion *p)
{
    bool grows = false;
    for (uint32_t byte = 0; byte < p->bytes; byte++) {
        const uint32_t width = p->cells[byte].widths ? widest(&p->cells[byte]) : 0;
        if (!width || fits(&p->cells[byte], width))
            continue;
        for (uint32_t i = 0; i < width; i++) {
            grows |= !p->cells[byte + i].is_mixed;
            p->cells[byte + i].is_mixed = true;
        }
    }
    return grows;
}

static void find_cells(const struct promotion *p)
{
    memset(p->cells, 0, (p->bytes + 1) * sizeof *p->cells);
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        put_access(p, i);
    while (mark_mixed(p))
        continue;
}

/* ---- addresses that go elsewhere ---- */

/* The variable stays in memory, from the byte `from` on. */
static bool keep_from(const struct promotion *p, int64_t place, uint32_t from)
{
    const uint32_t owner = place >= 0 && place < p->bytes ? p->owner[place] : 0;
    if (!owner || p->kept_from[owner - 1] <= from)
        return false;
    p->kept_from[owner - 1] = from;
    return true;
}

static bool keep(const struct promotion *p, int64_t place)
{
    return keep_from(p, place, 0);
}

/* An index is added to an address: it counts from there. */
static bool adds_index(const struct promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_add && instruction->operands[2].kind == WSDBG_PTX_OPERAND_REGISTER &&
           named_by(p, &instruction->operands[1]) != NOT_KNOWN && named_by(p, &instruction->operands[2]) == NOT_KNOWN;
}

static bool is_written_to_register(const struct promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *to = &instruction->operands[0];
    return instruction->operand_count && to->kind == WSDBG_PTX_OPERAND_REGISTER && to->is_written &&
           p->writes[to->number] == 1 && p->address[to->number] != NOT_KNOWN;
}

/* Whether the instruction reads the address in an operand in a way that is followed. */
static bool is_followed(const struct promotion *p, const struct wsdbg_ptx_instruction *instruction,
                        const struct wsdbg_ptx_operand *operand)
{
    uint32_t first;
    if (!is_access(instruction))
        return is_written_to_register(p, instruction) || instruction->operation == WSDBG_PTX_OP_call ||
               instruction->operation == WSDBG_PTX_OP_setp; /* a comparison leads nowhere */
    if (!find_place(p, instruction, &first))
        return false;
    const struct cell *cell = &p->cells[first];
    return operand == place_of(instruction) ||
           (cell->writes == 1 && !cell->is_mixed && !has_halves(cell) && !is_kept(p, first, LONG_BYTES));
}

/* Marks the variables whose addresses the instruction takes elsewhere; true where there is another one. */
static bool keep_given_away(const struct promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    bool grows = false;
    if (adds_index(p, instruction)) {
        const int64_t place = named_by(p, &instruction->operands[1]);
        return keep_from(p, place, (uint32_t)place);
    }
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const struct wsdbg_ptx_operand *operand = &instruction->operands[k];
        const bool has_elements =
            operand->kind == WSDBG_PTX_OPERAND_VECTOR || operand->kind == WSDBG_PTX_OPERAND_TENSOR;
        const uint32_t count = operand->count + (operand->kind == WSDBG_PTX_OPERAND_TENSOR);
        for (uint32_t i = 0; has_elements && i < count; i++)
            grows |=
                keep(p, named_by(p, PTX_ITEM(p->link->parser->vectors, struct wsdbg_ptx_operand, operand->number + i)));
        if (!operand->is_written && !is_followed(p, instruction, operand))
            grows |= keep(p, named_by(p, operand));
    }
    if (instruction->operation == WSDBG_PTX_OP_ld && !is_written_to_register(p, instruction))
        grows |= keep(p, loaded(p, instruction));
    return grows;
}

/* A store that was found later may have changed what a load brings. */
static bool doubt(const struct promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    const uint32_t number = instruction->operands[0].number;
    if (!is_written_to_register(p, instruction) || written_by(p, instruction) == p->address[number])
        return false;
    p->is_doubtful[number] = true;
    return true;
}

/* Which addresses are known if the variables that are kept may hold anything.  False: that holds. */
static bool follow(const struct promotion *p)
{
    bool grows = false, again = false;
    for (uint32_t i = 0; i < p->kernel->register_count; i++)
        p->address[i] = NOT_KNOWN;
    memset(p->cells, 0, (p->bytes + 1) * sizeof *p->cells);
    for (bool more = true; more;) {
        more = follow_once(p);
        find_cells(p);
    }
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        grows |= doubt(p, at(p, i));
    for (uint32_t i = p->kernel->first; i < p->kernel->end && !grows; i++)
        again |= keep_given_away(p, at(p, i));
    return grows || again;
}

/* ---- moves in place of loads and stores ---- */

static bool is_promoted(const struct promotion *p, const struct wsdbg_ptx_instruction *access, uint32_t *first)
{
    return find_place(p, access, first) && !p->cells[*first].is_mixed && p->cells[*first].reg;
}

/* The cells of a variable that is promoted begin where its loads and stores do, but for upper halves. */
static uint32_t number_cells(const struct promotion *p)
{
    uint32_t number = p->kernel->register_count;
    for (uint32_t byte = 0; byte < p->bytes; byte++) {
        struct cell *cell = &p->cells[byte];
        if (!cell->widths || cell->is_mixed || is_kept(p, byte, widest(cell)))
            continue;
        cell->reg = number++;
        if (!has_halves(cell))
            continue;
        cell[WORD_BYTES].reg = number++;
        byte += WORD_BYTES;
    }
    return number;
}

static struct wsdbg_error *add_registers(const struct promotion *p, uint32_t count)
{
    uint8_t *types = ptx_arena_take(&p->link->parser->storage->arena, count + 1, 1);
    if (!types)
        return &wsdbg_error_no_memory;
    if (p->kernel->register_count)
        memcpy(types, p->kernel->register_types, p->kernel->register_count);
    memset(types + p->kernel->register_count, WSDBG_PTX_B32, count - p->kernel->register_count);
    for (uint32_t byte = 0; byte < p->bytes; byte++)
        if (p->cells[byte].reg && p->cells[byte].widths == LONG_BYTES && !has_halves(&p->cells[byte]))
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
static struct wsdbg_error *pair_operand(const struct promotion *p, const struct cell *cell, bool is_written,
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

/* The type of a whole number of a register's width. */
static uint8_t type_of(const struct promotion *p, const struct wsdbg_ptx_operand *operand, bool is_signed)
{
    static const uint8_t of[2][LONG_BYTES + 1] = {
        {[1] = WSDBG_PTX_U8, [2] = WSDBG_PTX_U16, [4] = WSDBG_PTX_U32, [8] = WSDBG_PTX_U64},
        {[1] = WSDBG_PTX_S8, [2] = WSDBG_PTX_S16, [4] = WSDBG_PTX_S32, [8] = WSDBG_PTX_S64}};
    const unsigned bytes = operand->kind == WSDBG_PTX_OPERAND_REGISTER
                               ? wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)p->kernel->register_types[operand->number])
                               : 0;
    return bytes <= LONG_BYTES ? of[is_signed][bytes] : WSDBG_PTX_NO_TYPE;
}

static uint8_t whole_type(unsigned bytes, bool is_signed)
{
    static const uint8_t of[2][LONG_BYTES + 1] = {
        {[1] = WSDBG_PTX_U8, [2] = WSDBG_PTX_U16, [4] = WSDBG_PTX_U32, [8] = WSDBG_PTX_U64},
        {[1] = WSDBG_PTX_S8, [2] = WSDBG_PTX_S16, [4] = WSDBG_PTX_S32, [8] = WSDBG_PTX_S64}};
    return of[is_signed][bytes];
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
static struct wsdbg_error *replace_load(const struct promotion *p, struct wsdbg_ptx_instruction *load,
                                        const struct cell *cell)
{
    const unsigned width = width_of(load);
    const bool is_signed = is_signed_type(load->type);
    struct wsdbg_ptx_operand from = register_operand(cell->reg, false);
    const uint8_t to_type = type_of(p, &load->operands[0], is_signed), type = whole_type(width, is_signed);
    if (has_halves(cell) && width == LONG_BYTES)
        PTX_TRY(pair_operand(p, cell, false, &from));
    if (wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)to_type) <= width && width >= WORD_BYTES)
        become_move(load, load->operands[0], from, load->type, load->type);
    else
        become_move(load, load->operands[0], from, to_type, type);
    return NULL;
}

static struct wsdbg_error *replace_store(const struct promotion *p, struct wsdbg_ptx_instruction *store,
                                         const struct cell *cell)
{
    const unsigned width = width_of(store);
    struct wsdbg_ptx_operand from = store->operands[1], to = register_operand(cell->reg, true);
    const bool is_register = from.kind == WSDBG_PTX_OPERAND_REGISTER;
    if (has_halves(cell) && width == LONG_BYTES)
        PTX_TRY(pair_operand(p, cell, true, &to));
    if (width < WORD_BYTES && !is_register)
        from.value &= (INT64_C(1) << width * 8) - 1;
    if (width < WORD_BYTES && is_register)
        become_move(store, to, from, WSDBG_PTX_U32, whole_type(width, false));
    else if (is_register && wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)type_of(p, &from, false)) > width)
        become_move(store, to, from, WSDBG_PTX_U32, WSDBG_PTX_U64);
    else
        become_move(store, to, from, width < WORD_BYTES ? WSDBG_PTX_U32 : store->type,
                    width < WORD_BYTES ? WSDBG_PTX_U32 : store->type);
    return NULL;
}

/* No generic address of a promoted variable goes anywhere. */
static void replace_conversion(const struct promotion *p, struct wsdbg_ptx_instruction *conversion)
{
    const int64_t place = named_by(p, &conversion->operands[1]);
    if (!is_written_to_register(p, conversion) || place < 0 || place >= p->bytes || is_kept(p, (uint32_t)place, 1))
        return;
    become_move(conversion, conversion->operands[0], conversion->operands[1], WSDBG_PTX_B64, WSDBG_PTX_B64);
}

static struct wsdbg_error *replace(const struct promotion *p, uint32_t index)
{
    struct wsdbg_ptx_instruction *instruction = at(p, index);
    uint32_t first;
    if (instruction->operation == WSDBG_PTX_OP_cvta && instruction->space == WSDBG_PTX_LOCAL)
        replace_conversion(p, instruction);
    if (!is_access(instruction) || !is_promoted(p, instruction, &first))
        return NULL;
    return instruction->operation == WSDBG_PTX_OP_ld ? replace_load(p, instruction, &p->cells[first])
                                                     : replace_store(p, instruction, &p->cells[first]);
}

/* ---- the whole ---- */

static void count_writes(const struct promotion *p)
{
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = at(p, i);
        for (unsigned k = 0; k < instruction->operand_count; k++) {
            const struct wsdbg_ptx_operand *operand = &instruction->operands[k];
            const bool is_vector = operand->kind == WSDBG_PTX_OPERAND_VECTOR;
            for (uint32_t e = 0; operand->is_written && e < (is_vector ? operand->count : 1); e++) {
                const struct wsdbg_ptx_operand *to =
                    is_vector ? PTX_ITEM(p->link->parser->vectors, struct wsdbg_ptx_operand, operand->number + e)
                              : operand;
                if (to->kind == WSDBG_PTX_OPERAND_REGISTER)
                    p->writes[to->number]++;
            }
        }
    }
}

static void find_owners(const struct promotion *p)
{
    memset(p->kept_from, 0xff, (p->link->objects.count + 1) * sizeof *p->kept_from);
    for (size_t i = 0; i < p->link->objects.count; i++) {
        const struct ptx_local *object = PTX_ITEM(p->link->objects, struct ptx_local, i);
        for (uint32_t byte = 0; byte < object->byte_count && object->offset + byte < p->bytes; byte++)
            p->owner[object->offset + byte] = (uint32_t)i + 1;
    }
}

/* Variables that stay in memory move to its begin, where walks follow them (sass/walk_local.h). */
static bool stays(const struct promotion *p, const struct ptx_local *object, size_t number)
{
    bool is_there = p->kept_from[number] != UINT32_MAX;
    for (uint32_t i = 0; i < object->byte_count && !is_there; i++)
        is_there = p->cells[object->offset + i].is_mixed;
    return is_there;
}

static bool place_again(const struct promotion *p, int64_t *shift)
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

static void move_places(const struct promotion *p, const int64_t *shift)
{
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++) {
        struct wsdbg_ptx_instruction *instruction = at(p, i);
        for (unsigned k = 0; k < instruction->operand_count && instruction->operation != WSDBG_PTX_OP_call; k++) {
            struct wsdbg_ptx_operand *operand = &instruction->operands[k];
            const bool names_place = operand->kind == WSDBG_PTX_OPERAND_ADDRESS && operand->number == WSDBG_PTX_NONE &&
                                     operand->space == WSDBG_PTX_LOCAL;
            if (names_place && operand->value >= 0 && operand->value < p->bytes && p->owner[operand->value])
                operand->value += shift[p->owner[operand->value] - 1];
        }
    }
}

static struct wsdbg_error *move_what_stays(const struct promotion *p)
{
    int64_t *shift = calloc(p->link->objects.count + 1, sizeof *shift);
    if (!shift)
        return &wsdbg_error_no_memory;
    if (place_again(p, shift))
        move_places(p, shift);
    free(shift);
    return NULL;
}

static struct wsdbg_error *promote(const struct promotion *p)
{
    count_writes(p);
    find_owners(p);
    while (follow(p))
        continue;
    const uint32_t count = number_cells(p);
    PTX_TRY(add_registers(p, count));
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        PTX_TRY(replace(p, i));
    return move_what_stays(p);
}

struct wsdbg_error *ptx_promote_local(struct ptx_linking *link, struct wsdbg_ptx_function *kernel)
{
    const size_t registers = kernel->register_count + 1u, bytes = kernel->local_bytes;
    struct promotion p = {.link = link, .kernel = kernel, .bytes = (uint32_t)bytes};
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (!bytes)
        return NULL;
    p.writes = calloc(registers, sizeof *p.writes);
    p.address = calloc(registers, sizeof *p.address);
    p.is_doubtful = calloc(registers, sizeof *p.is_doubtful);
    p.owner = calloc(bytes + 1, sizeof *p.owner);
    p.kept_from = malloc((link->objects.count + 1) * sizeof *p.kept_from);
    p.cells = calloc(bytes + LONG_BYTES + 1, sizeof *p.cells);
    if (p.writes && p.address && p.is_doubtful && p.owner && p.kept_from && p.cells)
        error = promote(&p);
    free(p.writes);
    free(p.address);
    free(p.is_doubtful);
    free(p.owner);
    free(p.kept_from);
    free(p.cells);
    return error;
}
