/* source.h - the PTX text of a module beside its instructions: where each one is written, and edits of that text that
 * leave the rest as it is, byte for byte.
 */
#ifndef WSDBG_MUTATE_SOURCE_H
#define WSDBG_MUTATE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ptx/program.h"

struct source {
    char *text; /* with a zero behind it */
    size_t byte_count;
    struct wsdbg_ptx_program *program;
};

/* `text` is copied.  `name` stands in errors.  The caller destroys *out. */
struct wsdbg_error *source_create(const char *text, size_t byte_count, const char *name, struct source *out);
void source_destroy(struct source *source);

/* Bytes [begin, end) of a statement, with its guard and its semicolon.  False: the instruction is not written, such as
 * the return at the end of a body. */
struct span {
    size_t begin, end;
};
bool source_statement(const struct source *source, uint32_t instruction, struct span *out);
/* Behind the brace that opens the body of the function in which the instruction is written; 0 = there is none. */
size_t source_body(const struct source *source, uint32_t instruction);

/* A statement in parts: "@%p " (guard), "mbarrier.init.b64" (opcode), operands as written. */
enum { WORDS_MAX = 12 };
struct words {
    struct span guard, opcode, operand[WORDS_MAX];
    size_t operand_count;
};
/* False: it has more operands than that. */
bool source_words(const struct source *source, struct span statement, struct words *out);

/* ---- edits ---- */

enum { EDITS_MAX = 16 };
struct edits {
    struct edit {
        struct span span; /* what is replaced; empty: put before its begin */
        char *text;
    } list[EDITS_MAX];
    size_t count;
};
/* Takes `text`, which malloc gave; NULL is out of memory.  False: it was, or there are too many. */
bool edits_add(struct edits *edits, struct span span, char *text);
void edits_clear(struct edits *edits);
/* The text with all edits, which do not overlap.  The caller frees it; NULL = out of memory. */
char *edits_apply(const struct edits *edits, const struct source *source);

#endif
