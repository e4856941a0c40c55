/* declaration.h - variables and parameters as they are declared.  Private to ptx/. */
#ifndef WSDBG_PTX_DECLARATION_H
#define WSDBG_PTX_DECLARATION_H

#include "ptx/parser.h"

#define PTX_VARIABLE_BYTES_MAX ((uint64_t)1 << 40)
#define PTX_LOCAL_BYTES_MAX ((uint64_t)512 << 10) /* of a thread, as on hardware */

enum { PTX_DIMENSIONS_MAX = 8 };
struct ptx_declaration {
    struct ptx_slice name;
    uint32_t line;
    uint32_t alignment; /* as written, or the type's own */
    enum wsdbg_ptx_type type;
    unsigned dimension_count;                /* of an array; a vector's elements are the last one */
    uint64_t dimensions[PTX_DIMENSIONS_MAX]; /* the first may be 0: not said */
    uint64_t byte_count;                     /* 0 = not said */
    bool is_register;                        /* a parameter that is a .reg */
};

/* What the parser remembers of a variable of the program. */
struct ptx_variable_note {
    uint32_t line;
    uint32_t used_line; /* 0 = not used */
    bool is_defined;    /* not only extern */
    bool is_dynamic;    /* extern shared memory of unknown size */
};

/* Behind the space (.global, .param, ...): alignment, type, name, dimensions. */
struct wsdbg_error *ptx_read_declaration(struct ptx_parser *parser, struct ptx_declaration *out);
/* *total grows by byte_count behind what aligns it; false: it would be more than `most`. */
bool ptx_take_bytes(uint64_t *total, uint64_t byte_count, uint32_t alignment, uint64_t most, uint64_t *offset);
/* Notes where a variable is used first: an extern one must be defined in the end. */
void ptx_note_variable_use(struct ptx_parser *parser, uint32_t variable, uint32_t line);

/* initial.c: behind `=`: the variable's bytes, complete. */
struct wsdbg_error *ptx_read_initial(struct ptx_parser *parser, struct ptx_declaration *declaration, uint32_t variable,
                                     const unsigned char **bytes);
/* variable.c: at .global, .const, .shared or .local (with what may stand before); up to the semicolon. */
struct wsdbg_error *ptx_read_variable(struct ptx_parser *parser, bool is_extern);
/* variable.c: a variable of the current function's local memory. */
struct wsdbg_error *ptx_declare_local(struct ptx_parser *parser, const struct ptx_declaration *declaration);

#endif
