/* body.h - what a body leaves while it is read: its instructions and registers, its scopes with their names, labels
 * that are used before they are defined, and operands whose values need the places of variables.  Private to ptx/.
 */
#ifndef WSDBG_PTX_BODY_H
#define WSDBG_PTX_BODY_H

#include "ptx/parser.h"

/* A label that was named before it was known. */
enum ptx_reference_kind { PTX_TO_LABEL, PTX_TO_TABLE, PTX_FROM_TABLE };
struct ptx_reference {
    struct ptx_slice name;
    uint32_t line;
    uint8_t kind;   /* enum ptx_reference_kind */
    uint32_t index; /* instruction, or word in program->branch_tables */
};

/* An operand that waits for a place: that of a shared variable, or of a called function's parameters. */
enum ptx_use_kind { PTX_USE_SHARED, PTX_USE_FRAME };
struct ptx_use {
    uint8_t kind; /* enum ptx_use_kind */
    bool in_vector;
    uint8_t operand;
    uint32_t index;  /* instruction or element */
    uint32_t target; /* variable or function */
};

/* An instruction with the text it is from. */
struct wsdbg_error *ptx_add_instruction(struct ptx_parser *parser, const struct wsdbg_ptx_instruction *instruction,
                                        const char *text);
struct wsdbg_error *ptx_new_register(struct ptx_parser *parser, uint8_t type, uint32_t *number);
struct wsdbg_error *ptx_add_use(struct ptx_parser *parser, const struct ptx_use *use);
/* An instruction or table names a label that may come later. */
struct wsdbg_error *ptx_add_reference(struct ptx_parser *parser, struct ptx_slice name, uint32_t line,
                                      enum ptx_reference_kind kind, uint32_t index);

/* Declares in the current scope, where the name must be new. */
struct wsdbg_error *ptx_declare_name(struct ptx_parser *parser, const struct ptx_symbol *symbol, uint32_t line);
struct wsdbg_error *ptx_begin_scope(struct ptx_parser *parser, uint32_t line);
/* The references to the scope's labels are resolved; the rest waits for the scope around it. */
void ptx_end_scope(struct ptx_parser *parser);
/* Behind the outermost scope: an error where a label is missing. */
struct wsdbg_error *ptx_check_references(const struct ptx_parser *parser);

#endif
