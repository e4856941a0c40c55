/* promote.c - variables in a thread's local memory become registers, as a compiler that optimises would keep them.
 *
 * A build without optimisation keeps variables in local memory, and passes their addresses and all arguments through
 * it.  Whoever follows values finds them in registers only.  A register that is written once may hold an address that
 * is known: from a variable's name, an addition, or a word that is stored once.  A variable is promoted where such
 * addresses name every load and store of it, and no other instruction reads its address.  Where the kernel calls code
 * that is not seen, no address may be stored either: it may be an argument.  A variable's bytes become cells: each is
 * loaded and stored as a whole, or as the two halves of 8 bytes.
 *
 * Reads the kernel's instructions; puts moves in place of loads and stores, and adds registers.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/promotion.h"

static const struct wsdbg_ptx_operand *value_of(const struct wsdbg_ptx_instruction *access)
{
    return &access->operands[access->operation != WSDBG_PTX_OP_ld];
}

/* ---- addresses ---- */

int64_t ptx_place_named(const struct ptx_promotion *p, const struct wsdbg_ptx_operand *operand)
{
    const bool is_address = operand->kind == WSDBG_PTX_OPERAND_ADDRESS;
    if (is_address && operand->number == WSDBG_PTX_NONE)
        return operand->space == WSDBG_PTX_LOCAL ? operand->value : PTX_NO_PLACE;
    if ((!is_address && operand->kind != WSDBG_PTX_OPERAND_REGISTER) || p->address[operand->number] == PTX_NO_PLACE)
        return PTX_NO_PLACE;
    return p->address[operand->number] + (is_address ? operand->value : 0);
}

bool ptx_find_place(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *access, uint32_t *first)
{
    const int64_t place = ptx_is_local_access(access) ? ptx_place_named(p, ptx_place_operand(access)) : PTX_NO_PLACE;
    const uint32_t width = ptx_access_bytes(access);
    if (place < 0 || !width || place + width > p->bytes || !p->owner[place] ||
        p->owner[place + width - 1] != p->owner[place])
        return false;
    *first = (uint32_t)place;
    return true;
}

/* What a load brings from a cell that is written once. */
static int64_t loaded(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *load)
{
    uint32_t first;
    if (!ptx_find_place(p, load, &first) || ptx_stays_in_memory(p, first, PTX_LONG_BYTES))
        return PTX_NO_PLACE;
    const struct ptx_cell *cell = &p->cells[first];
    if (cell->is_mixed || cell->widths != PTX_LONG_BYTES || ptx_has_halves(cell) || cell->writes != 1)
        return PTX_NO_PLACE;
    return ptx_place_named(p, value_of(ptx_promotion_at(p, cell->writer)));
}

/* The address that an instruction writes into its register. */
static int64_t written_by(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *a = &instruction->operands[1], *b = &instruction->operands[2];
    const bool is_added = instruction->operation == WSDBG_PTX_OP_add,
               is_taken = instruction->operation == WSDBG_PTX_OP_sub;
    if (instruction->guard != WSDBG_PTX_NONE ||
        wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)instruction->type) != PTX_LONG_BYTES)
        return PTX_NO_PLACE;
    switch (instruction->operation) {
    case WSDBG_PTX_OP_mov:
        return ptx_place_named(p, a);
    case WSDBG_PTX_OP_cvta:
        return instruction->space == WSDBG_PTX_LOCAL ? ptx_place_named(p, a) : PTX_NO_PLACE;
    case WSDBG_PTX_OP_ld:
        return loaded(p, instruction);
    case WSDBG_PTX_OP_add:
    case WSDBG_PTX_OP_sub:
        if (b->kind != WSDBG_PTX_OPERAND_IMMEDIATE || ptx_place_named(p, a) == PTX_NO_PLACE)
            return PTX_NO_PLACE;
        return ptx_place_named(p, a) + (is_added ? b->value : 0) - (is_taken ? b->value : 0);
    default:
        return PTX_NO_PLACE;
    }
}

/* One round over all registers; true where another address became known. */
static bool follow_once(const struct ptx_promotion *p)
{
    bool grows = false;
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = ptx_promotion_at(p, i);
        const struct wsdbg_ptx_operand *to = &instruction->operands[0];
        if (!instruction->operand_count || to->kind != WSDBG_PTX_OPERAND_REGISTER || !to->is_written ||
            p->writes[to->number] != 1 || p->address[to->number] != PTX_NO_PLACE || p->is_doubtful[to->number])
            continue;
        p->address[to->number] = written_by(p, instruction);
        grows |= p->address[to->number] != PTX_NO_PLACE;
    }
    return grows;
}

/* ---- cells ---- */

static void put_access(const struct ptx_promotion *p, uint32_t index)
{
    const struct wsdbg_ptx_instruction *access = ptx_promotion_at(p, index);
    const uint32_t width = ptx_access_bytes(access);
    uint32_t first;
    if (!ptx_find_place(p, access, &first))
        return;
    struct ptx_cell *cell = &p->cells[first];
    const bool is_plain = access->vector_length <= 1 && width <= PTX_LONG_BYTES && width;
    cell->widths |= is_plain ? (uint8_t)width : PTX_WIDTH_OTHER;
    if (!is_plain)
        for (uint32_t i = 0; i < width; i++)
            cell[i].is_mixed = true;
    if (access->operation == WSDBG_PTX_OP_st) {
        cell->writes++;
        cell->writer = index;
    }
}

/* Whether all loads and stores of these bytes have the same ones, or halves of them. */
static bool fits(const struct ptx_cell *cell, uint32_t width)
{
    const bool may_have_halves = width == PTX_LONG_BYTES;
    bool good = cell->widths == width || (may_have_halves && cell->widths == PTX_WIDTHS_OF_HALVES);
    for (uint32_t i = 0; i < width; i++)
        good &= !cell[i].is_mixed;
    for (uint32_t i = 1; i < width; i++)
        good &= !cell[i].widths || (may_have_halves && i == PTX_WORD_BYTES && cell[i].widths == PTX_WORD_BYTES);
    return good;
}

static bool mark_mixed(const struct ptx_promotion *p)
{
    bool grows = false;
    for (uint32_t byte = 0; byte < p->bytes; byte++) {
        const uint32_t width = p->cells[byte].widths ? ptx_widest(&p->cells[byte]) : 0;
        if (!width || fits(&p->cells[byte], width))
            continue;
        for (uint32_t i = 0; i < width; i++) {
            grows |= !p->cells[byte + i].is_mixed;
            p->cells[byte + i].is_mixed = true;
        }
    }
    return grows;
}

static void find_cells(const struct ptx_promotion *p)
{
    memset(p->cells, 0, (p->bytes + 1) * sizeof *p->cells);
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        put_access(p, i);
    while (mark_mixed(p))
        continue;
}

/* ---- addresses that go elsewhere ---- */

/* The variable stays in memory, from the byte `from` on. */
static bool keep_from(const struct ptx_promotion *p, int64_t place, uint32_t from)
{
    const uint32_t owner = place >= 0 && place < p->bytes ? p->owner[place] : 0;
    if (!owner || p->kept_from[owner - 1] <= from)
        return false;
    p->kept_from[owner - 1] = from;
    return true;
}

static bool keep(const struct ptx_promotion *p, int64_t place)
{
    return keep_from(p, place, 0);
}

/* An index is added to an address: it counts from there. */
static bool adds_index(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    return instruction->operation == WSDBG_PTX_OP_add && instruction->operands[2].kind == WSDBG_PTX_OPERAND_REGISTER &&
           ptx_place_named(p, &instruction->operands[1]) != PTX_NO_PLACE &&
           ptx_place_named(p, &instruction->operands[2]) == PTX_NO_PLACE;
}

/* Whether the instruction reads the address in an operand in a way that is followed. */
static bool is_followed(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction,
                        const struct wsdbg_ptx_operand *operand)
{
    uint32_t first;
    if (!ptx_is_local_access(instruction))
        return ptx_writes_address(p, instruction) || instruction->operation == WSDBG_PTX_OP_call ||
               instruction->operation == WSDBG_PTX_OP_setp; /* a comparison leads nowhere */
    if (!ptx_find_place(p, instruction, &first))
        return false;
    const struct ptx_cell *cell = &p->cells[first];
    return operand == ptx_place_operand(instruction) ||
           (!p->calls_unseen && cell->writes == 1 && !cell->is_mixed && !ptx_has_halves(cell) &&
            !ptx_stays_in_memory(p, first, PTX_LONG_BYTES));
}

/* Marks the variables whose addresses the instruction takes elsewhere; true where there is another one. */
static bool keep_given_away(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    bool grows = false;
    if (adds_index(p, instruction)) {
        const int64_t place = ptx_place_named(p, &instruction->operands[1]);
        return keep_from(p, place, (uint32_t)place);
    }
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const struct wsdbg_ptx_operand *operand = &instruction->operands[k];
        for (uint32_t i = 0; i < ptx_element_count(operand); i++)
            grows |= keep(p, ptx_place_named(p, ptx_element(p->link, operand, i)));
        if (!operand->is_written && !is_followed(p, instruction, operand))
            grows |= keep(p, ptx_place_named(p, operand));
    }
    if (instruction->operation == WSDBG_PTX_OP_ld && !ptx_writes_address(p, instruction))
        grows |= keep(p, loaded(p, instruction));
    return grows;
}

/* A store that was found later may have changed what a load brings. */
static bool doubt(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    const uint32_t number = instruction->operands[0].number;
    if (!ptx_writes_address(p, instruction) || written_by(p, instruction) == p->address[number])
        return false;
    p->is_doubtful[number] = true;
    return true;
}

/* Which addresses are known if the variables that are kept may hold anything.  False: that holds. */
static bool follow(const struct ptx_promotion *p)
{
    bool grows = false, again = false;
    for (uint32_t i = 0; i < p->kernel->register_count; i++)
        p->address[i] = PTX_NO_PLACE;
    memset(p->cells, 0, (p->bytes + 1) * sizeof *p->cells);
    for (bool more = true; more;) {
        more = follow_once(p);
        find_cells(p);
    }
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        grows |= doubt(p, ptx_promotion_at(p, i));
    for (uint32_t i = p->kernel->first; i < p->kernel->end && !grows; i++)
        again |= keep_given_away(p, ptx_promotion_at(p, i));
    return grows || again;
}

/* ---- the whole ---- */

static void count_writes(const struct ptx_promotion *p)
{
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = ptx_promotion_at(p, i);
        for (unsigned k = 0; k < instruction->operand_count; k++) {
            const struct wsdbg_ptx_operand *operand = &instruction->operands[k];
            const bool is_vector = operand->kind == WSDBG_PTX_OPERAND_VECTOR;
            for (uint32_t e = 0; operand->is_written && e < (is_vector ? operand->count : 1); e++) {
                const struct wsdbg_ptx_operand *to = is_vector ? ptx_element(p->link, operand, e) : operand;
                if (to->kind == WSDBG_PTX_OPERAND_REGISTER)
                    p->writes[to->number]++;
            }
        }
    }
}

static void find_owners(const struct ptx_promotion *p)
{
    memset(p->kept_from, 0xff, (p->link->objects.count + 1) * sizeof *p->kept_from);
    for (size_t i = 0; i < p->link->objects.count; i++) {
        const struct ptx_local *object = PTX_ITEM(p->link->objects, struct ptx_local, i);
        for (uint32_t byte = 0; byte < object->byte_count && object->offset + byte < p->bytes; byte++)
            p->owner[object->offset + byte] = (uint32_t)i + 1;
    }
}

/* A call through a pointer, or of a function without a body.  Of these only vprintf and __assertfail are known to store
 * nothing. */
static bool is_unseen_call(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    if (instruction->operation != WSDBG_PTX_OP_call || instruction->target != WSDBG_PTX_NONE)
        return false;
    if (instruction->operands[0].kind != WSDBG_PTX_OPERAND_IMMEDIATE)
        return true;
    const char *name = ptx_function_at(p->link, (uint32_t)instruction->operands[0].value)->name;
    return strcmp(name, "vprintf") && strcmp(name, "__assertfail");
}

static struct wsdbg_error *promote(struct ptx_promotion *p)
{
    for (uint32_t i = p->kernel->first; i < p->kernel->end; i++)
        p->calls_unseen |= is_unseen_call(p, ptx_promotion_at(p, i));
    count_writes(p);
    find_owners(p);
    while (follow(p))
        continue;
    return ptx_put_moves(p);
}

struct wsdbg_error *ptx_promote_local(struct ptx_linking *link, struct wsdbg_ptx_function *kernel)
{
    const size_t registers = kernel->register_count + 1u, bytes = kernel->local_bytes;
    struct ptx_promotion p = {.link = link, .kernel = kernel, .bytes = (uint32_t)bytes};
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (!bytes)
        return NULL;
    p.writes = calloc(registers, sizeof *p.writes);
    p.address = calloc(registers, sizeof *p.address);
    p.is_doubtful = calloc(registers, sizeof *p.is_doubtful);
    p.owner = calloc(bytes + 1, sizeof *p.owner);
    p.kept_from = malloc((link->objects.count + 1) * sizeof *p.kept_from);
    p.cells = calloc(bytes + PTX_LONG_BYTES + 1, sizeof *p.cells);
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
