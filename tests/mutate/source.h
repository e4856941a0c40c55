/* source.h - a module's PTX text together with its parsed instructions: where each instruction is written, and edits of
 * the text.  An edit changes no other byte.
 *
 * Reads: PTX text, or a file that holds it.  Writes: edited copies of the text.
 */
#ifndef WSDBG_MUTATE_SOURCE_H
#define WSDBG_MUTATE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ptx/program.h"

/* All bytes of a file, with a zero behind them.  NULL: it cannot be read, or `path` is NULL.  The caller frees it. */
char *source_read_file(const char *path, size_t *byte_count);

struct source {
    char *text; /* with a zero behind it */
    size_t byte_count;
    struct wsdbg_ptx_program *program;
};

/* `text` is copied.  Errors name the text by `name`.  The caller destroys *out. */
struct wsdbg_error *source_create(const char *text, size_t byte_count, const char *name, struct source *out);
void source_destroy(struct source *source);

/* Bytes [begin, end) of the text. */
struct span {
    size_t begin, end;
};
/* The statement of an instruction, with its guard and its semicolon.  False: the text has none, as for the return that
 * the parser adds at the end of a body. */
bool source_statement(const struct source *source, uint32_t instruction, struct span *out);
/* The byte behind the brace that opens the body of the instruction's function; 0 = there is none. */
size_t source_body(const struct source *source, uint32_t instruction);

/* The parts of a statement: guard ("@%p"), opcode ("mbarrier.init.b64"), operands as written. */
enum { WORDS_MAX = 12 };
struct words {
    struct span guard, opcode, operand[WORDS_MAX];
    size_t operand_count;
};
/* False: it has more than WORDS_MAX operands. */
bool source_words(const struct source *source, struct span statement, struct words *out);

/* ---- edits ---- */

enum { EDITS_MAX = 16 };
struct edits {
    struct edit {
        struct span span; /* replaced by `text`; empty: the text is inserted there */
        char *text;
    } list[EDITS_MAX];
    size_t count;
};
/* Takes `text`, which came from malloc and may be NULL.  False: `text` is NULL, or there are too many edits. */
bool edits_add(struct edits *edits, struct span span, char *text);
void edits_clear(struct edits *edits);
/* The text with all edits; they must not overlap.  The caller frees it; NULL = out of memory. */
char *edits_apply(const struct edits *edits, const struct source *source);

#endif
