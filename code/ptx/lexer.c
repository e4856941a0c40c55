/* lexer.c - see lexer.h.  Reads the text; what is not PTX becomes a token that says so. */
#include "ptx/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

bool ptx_slice_is(struct ptx_slice slice, const char *text)
{
    if (!slice.length || *slice.bytes != *text) /* decides most cases */
        return !slice.length && !*text;
    return strncmp(slice.bytes, text, slice.length) == 0 && text[slice.length] == '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool in_name(char c)
{
    return (begins_name(c) && c != '%') || is_digit(c);
}

static void bad(struct ptx_lexer *lexer, const char *reason)
{
    lexer->token.kind = PTX_TOKEN_BAD;
    lexer->token.reason = reason;
}

/* Passes white space and comments; false when a comment does not end. */
static bool pass_blanks(struct ptx_lexer *lexer)
{
    for (; lexer->at < lexer->end; lexer->at++) {
        if (*lexer->at == '\n') {
            lexer->line++;
        } else if (lexer->at[0] == '/' && lexer->at[1] == '/') {
            const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
            lexer->at = (newline ? newline : lexer->end) - 1;
        } else if (lexer->at[0] == '/' && lexer->at[1] == '*') {
            for (lexer->at += 2; lexer->at < lexer->end && (lexer->at[0] != '*' || lexer->at[1] != '/'); lexer->at++)
                lexer->line += *lexer->at == '\n';
            if (lexer->at >= lexer->end)
                return false;
            lexer->at++;
        } else if (*lexer->at != ' ' && *lexer->at != '\t' && *lexer->at != '\r') {
            break;
        }
    }
    return true;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* 0f and 0d: exactly `digits` hexadecimal digits. */
static void read_bits(struct ptx_lexer *lexer, unsigned digits, enum ptx_token_kind kind)
{
    lexer->at += 2;
    for (unsigned i = 0; i < digits; i++, lexer->at++) {
        if (digit_value(*lexer->at) > 15) {
            bad(lexer, "a floating-point number has too few digits");
            return;
        }
        lexer->token.integer = lexer->token.integer << 4 | (unsigned)digit_value(*lexer->at);
    }
    lexer->token.kind = kind;
}

static void read_integer(struct ptx_lexer *lexer)
{
    int base = 10;
    lexer->token.kind = PTX_TOKEN_INTEGER;
    if (lexer->at[0] == '0' &&
        (lexer->at[1] == 'x' || lexer->at[1] == 'X' || lexer->at[1] == 'b' || lexer->at[1] == 'B')) {
        base = (lexer->at[1] | 0x20) == 'x' ? 16 : 2;
        lexer->at += 2;
        if (digit_value(*lexer->at) >= base)
            bad(lexer, "a number has no digits");
    } else if (*lexer->at == '0') {
        base = 8;
    }
    for (; digit_value(*lexer->at) < base; lexer->at++) {
        if (__builtin_mul_overflow(lexer->token.integer, (uint64_t)base, &lexer->token.integer) ||
            __builtin_add_overflow(lexer->token.integer, (uint64_t)digit_value(*lexer->at), &lexer->token.integer))
            bad(lexer, "a number is larger than 64 bits");
    }
    lexer->token.is_unsigned = *lexer->at == 'U' || lexer->token.integer > INT64_MAX;
    lexer->at += *lexer->at == 'U';
}

static bool is_decimal_float(const char *at)
{
    while (is_digit(*at))
        at++;
    return *at == '.' || *at == 'e' || *at == 'E';
}

/* The point is a point, whatever the program's locale says. */
static void read_decimal_float(struct ptx_lexer *lexer)
{
    char *end = NULL;
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        bad(lexer, "a floating-point number, for which there is no memory");
        return;
    }
    const double value = strtod_l(lexer->at, &end, plain);
    freelocale(plain);
    lexer->token.kind = PTX_TOKEN_FLOAT64;
    memcpy(&lexer->token.integer, &value, sizeof value);
    lexer->at = end;
}

static void read_number(struct ptx_lexer *lexer)
{
    const char second = lexer->at[0] == '0' ? lexer->at[1] : '\0';
    if (second == 'f' || second == 'F')
        read_bits(lexer, 8, PTX_TOKEN_FLOAT32);
    else if (second == 'd' || second == 'D')
        read_bits(lexer, 16, PTX_TOKEN_FLOAT64);
    else if (second != 'x' && second != 'X' && is_decimal_float(lexer->at))
        read_decimal_float(lexer);
    else
        read_integer(lexer);
    if (lexer->token.kind != PTX_TOKEN_BAD && in_name(*lexer->at))
        bad(lexer, "letters follow a number");
}

static void read_string(struct ptx_lexer *lexer)
{
    const char *first = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at += *lexer->at == '\\' && lexer->at + 1 < lexer->end && lexer->at[1] != '\n' ? 2 : 1;
    if (lexer->at >= lexer->end || *lexer->at != '"') {
        bad(lexer, "a string does not end on its line");
        return;
    }
    lexer->token.kind = PTX_TOKEN_STRING;
    lexer->token.text = (struct ptx_slice){first, (size_t)(lexer->at - first)};
    lexer->at++;
}

/* A name, or with a dot before it a suffix or directive, which may hold `::`. */
static void read_name(struct ptx_lexer *lexer, bool is_dotted)
{
    const char *first = lexer->at++;
    while (in_name(*lexer->at) || (is_dotted && lexer->at[0] == ':' && lexer->at[1] == ':' && in_name(lexer->at[2])))
        lexer->at += *lexer->at == ':' ? 2 : 1;
    lexer->token.kind = is_dotted ? PTX_TOKEN_DOTTED : PTX_TOKEN_NAME;
    lexer->token.text = (struct ptx_slice){first, (size_t)(lexer->at - first)};
}

static void read_mark(struct ptx_lexer *lexer)
{
    static const char pairs[][3] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    static const char singles[] = ",;:{}()[]<>=+-*/%&|^~!?@";
    lexer->token.kind = PTX_TOKEN_MARK;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (lexer->at[0] == pairs[i][0] && lexer->at[1] == pairs[i][1]) {
            lexer->token.mark = (unsigned)pairs[i][0] << 8 | (unsigned)pairs[i][1];
            lexer->at += 2;
            return;
        }
    if (*lexer->at == '\0' || !strchr(singles, *lexer->at))
        bad(lexer, "a character that PTX does not have");
    else
        lexer->token.mark = (unsigned char)*lexer->at;
    lexer->at++;
}

void ptx_lexer_next(struct ptx_lexer *lexer)
{
    lexer->token = (struct ptx_token){.kind = PTX_TOKEN_END};
    const bool ends = pass_blanks(lexer);
    lexer->token.line = lexer->line;
    lexer->token.text.bytes = lexer->at;
    if (!ends)
        bad(lexer, "a comment does not end");
    else if (lexer->at >= lexer->end)
        return;
    else if (is_digit(*lexer->at))
        read_number(lexer);
    else if (*lexer->at == '"')
        read_string(lexer);
    else if (*lexer->at == '.' && in_name(lexer->at[1])) {
        lexer->at++;
        read_name(lexer, true);
    } else if (begins_name(*lexer->at) && (*lexer->at != '%' || in_name(lexer->at[1])))
        read_name(lexer, false);
    else
        read_mark(lexer);
    if (!lexer->token.text.length && lexer->token.kind != PTX_TOKEN_STRING)
        lexer->token.text.length = (size_t)(lexer->at - lexer->token.text.bytes);
}

void ptx_lexer_begin(struct ptx_lexer *lexer, const char *text, size_t length)
{
    *lexer = (struct ptx_lexer){.at = text, .end = text + length, .line = 1};
    ptx_lexer_next(lexer);
}

bool ptx_take_mark(struct ptx_lexer *lexer, unsigned mark)
{
    const bool is = ptx_at_mark(lexer, mark);
    if (is)
        ptx_lexer_next(lexer);
    return is;
}

bool ptx_at_dotted(const struct ptx_lexer *lexer, const char *text)
{
    return lexer->token.kind == PTX_TOKEN_DOTTED && ptx_slice_is(lexer->token.text, text);
}

bool ptx_take_dotted(struct ptx_lexer *lexer, const char *text)
{
    const bool is = ptx_at_dotted(lexer, text);
    if (is)
        ptx_lexer_next(lexer);
    return is;
}
