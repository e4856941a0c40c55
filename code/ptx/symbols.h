/* symbols.h - the names of a PTX text and what they stand for, in nested scopes.  Private to ptx/. */
#ifndef WSDBG_PTX_SYMBOLS_H
#define WSDBG_PTX_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/lexer.h"

enum ptx_symbol_kind {
    PTX_SYMBOL_NONE,
    PTX_SYMBOL_REGISTER, /* type; number is given when it is first used */
    PTX_SYMBOL_RANGE,    /* %r<count>: registers %r0 to %r(count - 1) */
    PTX_SYMBOL_VECTOR,   /* .v2 or .v4: registers .x, .y (and .z, .w); count is how many */
    PTX_SYMBOL_VARIABLE, /* number: in program->variables */
    PTX_SYMBOL_LOCAL, /* number: offset in the function's local memory, which also holds the .param variables of calls
                       */
    PTX_SYMBOL_PARAMETER, /* number: offset */
    PTX_SYMBOL_LABEL,     /* number: instruction */
    PTX_SYMBOL_TABLE,     /* number: in program->branch_tables */
    PTX_SYMBOL_FUNCTION,  /* number: in program->functions */
    PTX_SYMBOL_PROTOTYPE
};

struct ptx_symbol {
    struct ptx_slice name;
    uint8_t kind;   /* enum ptx_symbol_kind */
    uint8_t type;   /* of registers: enum wsdbg_ptx_type */
    uint16_t depth; /* of the scope: 0 = the module */
    uint32_t number;
    uint32_t count;      /* of RANGE and VECTOR: registers; of LOCAL and PARAMETER: bytes */
    uint32_t *numbers;   /* of RANGE and VECTOR: register numbers + 1, 0 = not used yet */
    uint32_t hash, next; /* in its bucket */
};

struct ptx_symbols;

struct ptx_symbols *ptx_symbols_create(void); /* NULL = out of memory */
void ptx_symbols_destroy(struct ptx_symbols *symbols);
void ptx_symbols_push(struct ptx_symbols *symbols);
void ptx_symbols_pop(struct ptx_symbols *symbols);
unsigned ptx_symbols_depth(const struct ptx_symbols *symbols);

/* The innermost symbol of this name; NULL = none.  Pointers hold until the next declaration. */
struct ptx_symbol *ptx_symbols_find(const struct ptx_symbols *symbols, struct ptx_slice name);
/* The innermost range that declares register `name` (such as %r12), with *index its number in it; NULL = none. */
struct ptx_symbol *ptx_symbols_find_range(const struct ptx_symbols *symbols, struct ptx_slice name, uint32_t *index);
/* Declares in the current scope.  False = out of memory. */
bool ptx_symbols_add(struct ptx_symbols *symbols, const struct ptx_symbol *symbol);

#endif
