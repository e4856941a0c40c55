/* lexer.h - PTX text as tokens, one at a time.
 *
 * A lexer is a plain struct: a copy of it is a place to come back to.
 */
#ifndef WSDBG_PTX_LEXER_H
#define WSDBG_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_slice {
    const char *bytes;
    size_t length;
};
#define PTX_SLICE(literal) ((struct ptx_slice){literal, sizeof(literal) - 1})
bool ptx_slice_is(struct ptx_slice slice, const char *text);

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,   /* add, %r1, $L__BB0_1, _ */
    PTX_TOKEN_DOTTED, /* .u32, .shared::cta: text is without the first dot */
    PTX_TOKEN_INTEGER,
    PTX_TOKEN_FLOAT32, /* 0f3f800000: integer holds the bits */
    PTX_TOKEN_FLOAT64, /* 0d3ff0000000000000 or 1.5: integer holds the bits of the double */
    PTX_TOKEN_STRING,  /* text is without the quotes; escapes are left as they are */
    PTX_TOKEN_MARK,    /* punctuation; two characters are first << 8 | second */
    PTX_TOKEN_BAD      /* not PTX; `reason` says why */
};

struct ptx_token {
    enum ptx_token_kind kind;
    unsigned mark;
    uint32_t line;
    struct ptx_slice text;
    uint64_t integer;
    bool is_unsigned; /* the number ends with U or is too large for a signed one */
    const char *reason;
};

struct ptx_lexer {
    const char *at;
    const char *end;
    uint32_t line;
    struct ptx_token token; /* the current one */
};

/* `text` must have a zero byte at text[length]. */
void ptx_lexer_begin(struct ptx_lexer *lexer, const char *text, size_t length);
void ptx_lexer_next(struct ptx_lexer *lexer);

static inline bool ptx_at_mark(const struct ptx_lexer *lexer, unsigned mark)
{
    return lexer->token.kind == PTX_TOKEN_MARK && lexer->token.mark == mark;
}
/* True and the token is passed where it is this mark. */
bool ptx_take_mark(struct ptx_lexer *lexer, unsigned mark);
bool ptx_at_dotted(const struct ptx_lexer *lexer, const char *text);
bool ptx_take_dotted(struct ptx_lexer *lexer, const char *text);

#endif
