/* constant.h - constants and constant expressions of PTX.  Private to ptx/. */
#ifndef WSDBG_PTX_CONSTANT_H
#define WSDBG_PTX_CONSTANT_H

#include "ptx/parser.h"

enum ptx_constant_kind { PTX_CONSTANT_INTEGER, PTX_CONSTANT_FLOAT32, PTX_CONSTANT_FLOAT64 };
struct ptx_constant {
    enum ptx_constant_kind kind;
    bool is_unsigned;
    uint64_t bits;
};

/* True where a constant may begin at the current token. */
bool ptx_at_constant(const struct ptx_parser *parser);
/* The expression at the current token. */
struct wsdbg_error *ptx_read_constant(struct ptx_parser *parser, struct ptx_constant *out);
/* The same where it must be an integer from 0 to `most`; `what` stands in errors. */
struct wsdbg_error *ptx_expect_count(struct ptx_parser *parser, uint64_t most, const char *what, uint64_t *value);
/* The constant as a value of `type`: integers cut to the type's width and sign-extended, floats as the type's bits.
 * False: a constant of this kind is none of the type. */
bool ptx_constant_as(const struct ptx_constant *constant, enum wsdbg_ptx_type type, int64_t *value);

#endif
