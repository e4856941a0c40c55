/* constant.c - see constant.h.  Reads tokens; computes in 64 bits, as PTX says. */
#include "ptx/constant.h"

#include <string.h>

#define PAIR(a, b) ((unsigned)(a) << 8 | (unsigned)(b))

static const struct operator
{
    unsigned mark;
    int level; /* higher binds tighter */
}
operators[] = {
    {'*', 10},
    {'/', 10},
    {'%', 10},
    {'+', 9},
    {'-', 9},
    {PAIR('<', '<'), 8},
    {PAIR('>', '>'), 8},
    {'<', 7},
    {'>', 7},
    {PAIR('<', '='), 7},
    {PAIR('>', '='), 7},
    {PAIR('=', '='), 6},
    {PAIR('!', '='), 6},
    {'&', 5},
    {'^', 4},
    {'|', 3},
    {PAIR('&', '&'), 2},
    {PAIR('|', '|'), 1},
};

static struct wsdbg_error *read_level(struct ptx_parser *parser, int level, int depth, struct ptx_constant *out);

bool ptx_at_constant(const struct ptx_parser *parser)
{
    const struct ptx_token *token = &parser->lexer.token;
    if (token->kind == PTX_TOKEN_NAME)
        return ptx_slice_is(token->text, "WARP_SZ");
    return token->kind == PTX_TOKEN_INTEGER || token->kind == PTX_TOKEN_FLOAT32 || token->kind == PTX_TOKEN_FLOAT64 ||
           (token->kind == PTX_TOKEN_MARK && token->mark < 256 && strchr("+-~!(", (int)token->mark));
}

static void negate(struct ptx_constant *value)
{
    if (value->kind == PTX_CONSTANT_INTEGER)
        value->bits = -value->bits;
    else
        value->bits ^= value->kind == PTX_CONSTANT_FLOAT32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    value->is_unsigned = false;
}

/* (expression), or (.s64) and (.u64) before one. */
static struct wsdbg_error *read_parenthesis(struct ptx_parser *parser, int depth, struct ptx_constant *out)
{
    const bool is_signed = ptx_take_dotted(&parser->lexer, "s64");
    if (is_signed || ptx_take_dotted(&parser->lexer, "u64")) {
        PTX_TRY(ptx_expect_mark(parser, ')'));
        PTX_TRY(read_level(parser, 11, depth, out));
        out->is_unsigned = !is_signed;
        return NULL;
    }
    PTX_TRY(read_level(parser, 0, depth, out));
    return ptx_expect_mark(parser, ')');
}

static struct wsdbg_error *read_operand(struct ptx_parser *parser, int depth, struct ptx_constant *out)
{
    const struct ptx_token token = parser->lexer.token;
    if (depth > PTX_NESTING_MAX)
        return ptx_error(parser, token.line, "a constant expression is nested more than %d deep", PTX_NESTING_MAX);
    if (!ptx_at_constant(parser))
        return ptx_unexpected(parser, "a constant");
    ptx_lexer_next(&parser->lexer);
    if (token.kind == PTX_TOKEN_MARK) {
        if (token.mark == '(')
            return read_parenthesis(parser, depth + 1, out);
        PTX_TRY(read_operand(parser, depth + 1, out));
        if (token.mark == '-')
            negate(out);
        else if (token.mark != '+' && out->kind != PTX_CONSTANT_INTEGER)
            return ptx_error(parser, token.line, "%c of a floating-point number", (char)token.mark);
        else if (token.mark != '+')
            out->bits = token.mark == '~' ? ~out->bits : !out->bits;
        return NULL;
    }
    *out = (struct ptx_constant){PTX_CONSTANT_INTEGER, token.is_unsigned, token.integer};
    if (token.kind == PTX_TOKEN_NAME)
        out->bits = 32; /* WARP_SZ */
    else if (token.kind != PTX_TOKEN_INTEGER)
        out->kind = token.kind == PTX_TOKEN_FLOAT32 ? PTX_CONSTANT_FLOAT32 : PTX_CONSTANT_FLOAT64;
    return NULL;
}

/* *out = a / b, a % b or a >> b; false when that has no value. */
static bool divide(unsigned mark, bool is_unsigned, uint64_t a, uint64_t b, uint64_t *out)
{
    const int64_t left = (int64_t)a, right = (int64_t)b;
    if (mark == PAIR('>', '>')) {
        const uint64_t places = b > 63 ? 63 : b;
        *out = is_unsigned ? (b > 63 ? 0 : a >> places) : (uint64_t)(left >> places);
        return true;
    }
    if (b == 0 || (!is_unsigned && left == INT64_MIN && right == -1))
        return false;
    if (mark == '/')
        *out = is_unsigned ? a / b : (uint64_t)(left / right);
    else
        *out = is_unsigned ? a % b : (uint64_t)(left % right);
    return true;
}

/* a = a OPERATOR b; false when it has no value. */
static bool compute(unsigned mark, struct ptx_constant *a, const struct ptx_constant *b)
{
    if (a->kind != PTX_CONSTANT_INTEGER || b->kind != PTX_CONSTANT_INTEGER)
        return false;
    const bool is_unsigned = mark == PAIR('>', '>') ? a->is_unsigned : a->is_unsigned || b->is_unsigned;
    const bool is_less = is_unsigned ? a->bits < b->bits : (int64_t)a->bits < (int64_t)b->bits;
    bool has_value = true;
    switch (mark) {
    case '*':
        a->bits *= b->bits;
        break;
    case '+':
        a->bits += b->bits;
        break;
    case '-':
        a->bits -= b->bits;
        break;
    case '&':
        a->bits &= b->bits;
        break;
    case '^':
        a->bits ^= b->bits;
        break;
    case '|':
        a->bits |= b->bits;
        break;
    case PAIR('<', '<'):
        a->bits = b->bits > 63 ? 0 : a->bits << b->bits;
        break;
    case PAIR('=', '='):
        a->bits = a->bits == b->bits;
        break;
    case PAIR('!', '='):
        a->bits = a->bits != b->bits;
        break;
    case PAIR('&', '&'):
        a->bits = a->bits && b->bits;
        break;
    case PAIR('|', '|'):
        a->bits = a->bits || b->bits;
        break;
    case '<':
        a->bits = is_less;
        break;
    case '>':
        a->bits = !is_less && a->bits != b->bits;
        break;
    case PAIR('<', '='):
        a->bits = is_less || a->bits == b->bits;
        break;
    case PAIR('>', '='):
        a->bits = !is_less;
        break;
    default:
        has_value = divide(mark, is_unsigned, a->bits, b->bits, &a->bits);
    }
    a->is_unsigned = is_unsigned;
    return has_value;
}

static int level_of(const struct ptx_token *token)
{
    for (size_t i = 0; token->kind == PTX_TOKEN_MARK && i < sizeof operators / sizeof *operators; i++)
        if (operators[i].mark == token->mark)
            return operators[i].level;
    return -1;
}

static struct wsdbg_error *read_level(struct ptx_parser *parser, int level, int depth, struct ptx_constant *out)
{
    PTX_TRY(read_operand(parser, depth, out));
    for (int next; (next = level_of(&parser->lexer.token)) >= level && next > 0;) {
        const struct ptx_token token = parser->lexer.token;
        struct ptx_constant right;
        ptx_lexer_next(&parser->lexer);
        PTX_TRY(read_level(parser, next + 1, depth + 1, &right));
        if (!compute(token.mark, out, &right))
            return ptx_error(parser, token.line, "a constant expression has no value");
    }
    if (level > 0 || !ptx_take_mark(&parser->lexer, '?'))
        return NULL;
    struct ptx_constant yes, no;
    PTX_TRY(read_level(parser, 0, depth + 1, &yes));
    PTX_TRY(ptx_expect_mark(parser, ':'));
    PTX_TRY(read_level(parser, 0, depth + 1, &no));
    *out = out->bits ? yes : no;
    return NULL;
}

struct wsdbg_error *ptx_read_constant(struct ptx_parser *parser, struct ptx_constant *out)
{
    return read_level(parser, 0, 0, out);
}

struct wsdbg_error *ptx_expect_count(struct ptx_parser *parser, uint64_t most, const char *what, uint64_t *value)
{
    struct ptx_constant constant;
    const uint32_t line = parser->lexer.token.line;
    if (!ptx_at_constant(parser))
        return ptx_unexpected(parser, what);
    PTX_TRY(ptx_read_constant(parser, &constant));
    const bool is_negative = !constant.is_unsigned && (int64_t)constant.bits < 0;
    if (constant.kind != PTX_CONSTANT_INTEGER || is_negative || constant.bits > most)
        return ptx_error(parser, line, "%s must be a whole number from 0 to %llu", what, (unsigned long long)most);
    *value = constant.bits;
    return NULL;
}

static bool float_as(const struct ptx_constant *constant, enum wsdbg_ptx_type type, int64_t *value)
{
    const unsigned bytes = wsdbg_ptx_type_bytes(type);
    const bool is_32 = constant->kind == PTX_CONSTANT_FLOAT32;
    float narrow;
    double wide;
    if (type == WSDBG_PTX_F32 && !is_32) {
        memcpy(&wide, &constant->bits, sizeof wide);
        narrow = (float)wide;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        *value = (int32_t)bits;
    } else if (type == WSDBG_PTX_F64 && is_32) {
        const uint32_t bits = (uint32_t)constant->bits;
        memcpy(&narrow, &bits, sizeof narrow);
        wide = narrow;
        memcpy(value, &wide, sizeof wide);
    } else if (bytes == (is_32 ? 4 : 8)) {
        *value = is_32 ? (int32_t)(uint32_t)constant->bits : (int64_t)constant->bits;
    } else {
        return false;
    }
    return true;
}

bool ptx_constant_as(const struct ptx_constant *constant, enum wsdbg_ptx_type type, int64_t *value)
{
    if (constant->kind != PTX_CONSTANT_INTEGER)
        return float_as(constant, type, value);
    switch (wsdbg_ptx_type_bytes(type)) {
    case 0:
        *value = constant->bits != 0;
        break;
    case 1:
        *value = (int8_t)constant->bits;
        break;
    case 2:
        *value = (int16_t)constant->bits;
        break;
    case 4:
        *value = (int32_t)constant->bits;
        break;
    default:
        *value = (int64_t)constant->bits;
    }
    return type != WSDBG_PTX_F32 && type != WSDBG_PTX_F64;
}
