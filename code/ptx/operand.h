/* operand.h - an instruction's operands as they are written, with names looked up.  Private to ptx/. */
#ifndef WSDBG_PTX_OPERAND_H
#define WSDBG_PTX_OPERAND_H

#include "ptx/constant.h"
#include "ptx/parser.h"

enum ptx_written_kind {
    PTX_WRITTEN_NAME, /* nothing of this name was declared: a label, or a mistake */
    PTX_WRITTEN_REGISTER,
    PTX_WRITTEN_CONSTANT,
    PTX_WRITTEN_SPECIAL,
    PTX_WRITTEN_VARIABLE, /* its name, maybe with an offset */
    PTX_WRITTEN_ADDRESS,  /* in brackets */
    PTX_WRITTEN_MAP,
    PTX_WRITTEN_VECTOR,
    PTX_WRITTEN_SINK
};

struct ptx_written {
    enum ptx_written_kind kind;
    struct wsdbg_ptx_operand operand; /* of REGISTER, SPECIAL, VARIABLE, ADDRESS: complete */
    uint8_t type;                     /* of REGISTER and SPECIAL; of the base of ADDRESS, NO_TYPE = no register */
    bool is_joined;                   /* stands behind `|` */
    uint32_t byte_count;              /* of VARIABLE in local memory: from the address on */
    uint32_t shared;                  /* variable whose offset is known when the function ends; NONE = none */
    struct ptx_constant constant;
    struct ptx_slice name;
    uint32_t first, count; /* of VECTOR and MAP: elements; of a MAP the address comes first and is counted too */
};

enum { PTX_ELEMENTS_MAX = 4 * PTX_VECTOR_MAX, PTX_WRITTEN_MAX = 12 /* more than any instruction that is known has */ };
struct ptx_statement {
    uint32_t line;
    const char *text; /* begins in the parser's text */
    char opcode[192];
    size_t opcode_length;
    struct ptx_written operands[PTX_WRITTEN_MAX];
    size_t operand_count;
    struct ptx_written elements[PTX_ELEMENTS_MAX];
    size_t element_count;
};

/* One operand at the current token. */
struct wsdbg_error *ptx_read_operand(struct ptx_parser *parser, struct ptx_statement *statement,
                                     struct ptx_written *out);
/* All of them, up to the semicolon. */
struct wsdbg_error *ptx_read_operands(struct ptx_parser *parser, struct ptx_statement *statement);
/* The number of the register of this name, given when it is first used; false = there is no such register. */
struct wsdbg_error *ptx_use_register(struct ptx_parser *parser, struct ptx_slice name, bool *found, uint32_t *number,
                                     uint8_t *type);

/* special.c: the special register %base.dimension; false = there is none.  Its type is U32, U64 or PRED. */
bool ptx_special_find(struct ptx_slice base, struct ptx_slice dimension, uint32_t *number, uint8_t *type);

/* bind.c: fills the operands of *instruction, which has its suffixes, as the form has them. */
struct wsdbg_error *ptx_bind(struct ptx_parser *parser, const struct ptx_statement *statement,
                             const struct ptx_form *form, struct wsdbg_ptx_instruction *instruction);

#endif
