/* promotion.h - variables of a kernel's local memory on their way into registers, for the files that bring them there.
 * Private to ptx/.
 *
 * promote.c finds which loads and stores go where, and which variables stay in memory; promote_moves.c puts moves in
 * place of the others.
 */
#ifndef WSDBG_PTX_PROMOTION_H
#define WSDBG_PTX_PROMOTION_H

#include "ptx/linking.h"

enum { PTX_WORD_BYTES = 4, PTX_LONG_BYTES = 8 };
#define PTX_NO_PLACE INT64_MIN

/* What is known of the byte at which loads and stores begin. */
struct ptx_cell {
    uint8_t widths;  /* of these loads and stores: 1, 2, 4 and 8 bytes, their sum; PTX_WIDTH_OTHER: some are wider or
                        vectors */
    bool is_mixed;   /* the byte is part of a load or store that does not fit another one */
    uint32_t writes; /* stores that begin there */
    uint32_t writer; /* the last one */
    uint32_t reg;    /* that the cell becomes; with HALVES the next one is the upper half */
};
enum { PTX_WIDTH_OTHER = 16, PTX_WIDTHS_OF_HALVES = PTX_LONG_BYTES | PTX_WORD_BYTES };

struct ptx_promotion {
    struct ptx_linking *link;
    struct wsdbg_ptx_function *kernel;
    uint32_t *writes;       /* by register: instructions that write it */
    int64_t *address;       /* ... the place in local memory that it names; PTX_NO_PLACE = none, or not known */
    bool *is_doubtful;      /* ... it seemed to name a place, which did not hold */
    uint32_t bytes;         /* of local memory */
    bool calls_unseen;      /* code is called that is not in the kernel: it may store where a pointer points to */
    uint32_t *owner;        /* by byte: its variable + 1; 0 = none */
    uint32_t *kept_from;    /* by variable: from this byte of local memory on it stays there */
    struct ptx_cell *cells; /* by byte */
};

static inline struct wsdbg_ptx_instruction *ptx_promotion_at(const struct ptx_promotion *p, uint32_t index)
{
    return PTX_ITEM(p->link->instructions, struct wsdbg_ptx_instruction, index);
}

/* A load or store that may concern local memory. */
static inline bool ptx_is_local_access(const struct wsdbg_ptx_instruction *instruction)
{
    return ptx_is_load_or_store(instruction) &&
           (instruction->space == WSDBG_PTX_LOCAL || instruction->space == WSDBG_PTX_GENERIC);
}

static inline uint32_t ptx_access_bytes(const struct wsdbg_ptx_instruction *access)
{
    const uint32_t count = access->vector_length ? access->vector_length : 1;
    return wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)access->type) * count;
}

/* Whether one of the bytes is no variable's that becomes registers. */
static inline bool ptx_stays_in_memory(const struct ptx_promotion *p, uint32_t first, uint32_t count)
{
    const uint32_t owner = p->owner[first];
    return !owner || first + count > p->kept_from[owner - 1];
}

/* Whether some loads or stores of a cell of 8 bytes concern one half of it. */
static inline bool ptx_has_halves(const struct ptx_cell *cell)
{
    return cell->widths & PTX_LONG_BYTES && (cell->widths & PTX_WORD_BYTES || cell[PTX_WORD_BYTES].widths);
}

/* Bytes of a cell. */
static inline uint32_t ptx_widest(const struct ptx_cell *cell)
{
    for (uint32_t width = PTX_LONG_BYTES; width; width /= 2)
        if (cell->widths & width)
            return width;
    return 1;
}

/* Whether its result is an address of local memory that is known. */
static inline bool ptx_writes_address(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *to = &instruction->operands[0];
    return instruction->operand_count && to->kind == WSDBG_PTX_OPERAND_REGISTER && to->is_written &&
           p->writes[to->number] == 1 && p->address[to->number] != PTX_NO_PLACE;
}

/* The place in local memory that an operand names; PTX_NO_PLACE = none, or not known. */
int64_t ptx_place_named(const struct ptx_promotion *p, const struct wsdbg_ptx_operand *operand);
/* Where a load or store goes: its first byte.  False: not to a variable's bytes, or that is not known. */
bool ptx_find_place(const struct ptx_promotion *p, const struct wsdbg_ptx_instruction *access, uint32_t *first);
/* promote_moves.c: adds a register for each cell, and replaces the cell's loads and stores by moves. */
struct wsdbg_error *ptx_put_moves(const struct ptx_promotion *p);

#endif
