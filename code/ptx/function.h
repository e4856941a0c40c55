/* function.h - what the parser remembers of functions until they are linked.  Private to ptx/. */
#ifndef WSDBG_PTX_FUNCTION_H
#define WSDBG_PTX_FUNCTION_H

#include "ptx/parser.h"

struct ptx_function_note {
    bool has_body;
    uint32_t line;
    uint32_t result_count; /* of .func: results are its first parameters */
    uint32_t frame_alignment;
    struct ptx_range vectors, branch_tables, uses, calls;
};

/* An operand whose value is known when it is known where things lie: shared variables, a called function's parameters.
 */
enum ptx_use_kind { PTX_USE_SHARED, PTX_USE_FRAME };
struct ptx_use {
    uint8_t kind; /* enum ptx_use_kind */
    bool in_vector;
    uint8_t operand;
    uint32_t index;  /* instruction or element */
    uint32_t target; /* variable or function */
};

struct wsdbg_error *ptx_add_use(struct ptx_parser *parser, const struct ptx_use *use);
/* Declares in the current scope, where the name must be new. */
struct wsdbg_error *ptx_declare_name(struct ptx_parser *parser, const struct ptx_symbol *symbol, uint32_t line);
struct wsdbg_error *ptx_begin_scope(struct ptx_parser *parser, uint32_t line);
void ptx_end_scope(struct ptx_parser *parser);
struct wsdbg_error *ptx_read_pragma(struct ptx_parser *parser);
struct wsdbg_error *ptx_new_register(struct ptx_parser *parser, uint8_t type, uint32_t *number);

/* header.c: behind .entry or .func, up to the body's brace or the semicolon of a mere declaration. */
struct wsdbg_error *ptx_read_header(struct ptx_parser *parser, bool is_kernel, bool *has_body);
/* call.c: behind the opcode; `instruction` has its suffixes. */
struct wsdbg_error *ptx_read_call(struct ptx_parser *parser, const struct wsdbg_ptx_instruction *instruction,
                                  const char *text);
/* shared.c: gives the variables (sorted here; may stand there twice) their offsets. */
struct wsdbg_error *ptx_place_shared(struct ptx_parser *parser, uint32_t *variables, size_t count,
                                     uint32_t *shared_bytes);
/* link.c: gives each kernel the code of the functions it calls, and places what they share. */
struct wsdbg_error *ptx_link(struct ptx_parser *parser);

#endif
