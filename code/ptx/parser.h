/* parser.h - what the files of the parser share while a text becomes a program.  Private to ptx/.
 *
 * Made and driven by: parse.c.  Filled by: what it calls, down to body.c and declaration.c; a file calls only those
 * below it, and all may call parser.c.  Its program is complete after ptx_link and ptx_finish_places.
 */
#ifndef WSDBG_PTX_PARSER_H
#define WSDBG_PTX_PARSER_H

#include "ptx/arena.h"
#include "ptx/parse_table.h"
#include "ptx/lexer.h"
#include "ptx/program.h"
#include "ptx/symbols.h"

#define PTX_TRY(call)                               \
    do {                                            \
        struct wsdbg_error *ptx_try_error = (call); \
        if (ptx_try_error)                          \
            return ptx_try_error;                   \
    } while (0)

enum {
    PTX_NESTING_MAX = 64,
    PTX_VECTOR_MAX = 256,        /* elements of one operand; wgmma has 128 */
    PTX_LABELS_MAX = 1 << 16,    /* of one .branchtargets */
    PTX_CONST_BYTES_MAX = 65536, /* of a module's constant bank */
    PTX_INITIAL_BYTES_MAX = 1 << 26,
    PTX_INSTRUCTIONS_MAX = 1 << 21,
    PTX_ELEMENTS_ALL_MAX = 1 << 24, /* of all vectors, or of all tables */
    PTX_EDGES_MAX = 1 << 23,        /* of a function's control flow */
    PTX_STATEMENT_TEXT = 160        /* of an instruction in an error */
};

/* Ranges are those of the parser's arrays, while a body was read. */
struct ptx_range {
    size_t first, end;
};

/* A variable or parameter in a thread's local memory. */
struct ptx_local {
    uint32_t offset, byte_count;
};

/* Arrays that grow. */
struct ptx_array {
    void *items;
    size_t count, room;
};

struct ptx_body {      /* the function that is being read */
    uint32_t function; /* in program->functions */
    uint32_t nesting;
    size_t references_of[PTX_NESTING_MAX]; /* how many references there were when the scope began */
    uint64_t local_bytes;
    uint32_t local_alignment;
    uint64_t declared_registers;
    uint32_t copy_registers[2]; /* for arguments of calls: 32 and 64 bits wide; NONE = none yet */
    uint32_t place;             /* of the last .loc */
    bool label_at_end;          /* a label stands behind the last instruction */
};

struct ptx_parser {
    const char *name;    /* in errors */
    bool is_to_read;     /* each register its own number; calls through pointers have no known target */
    bool promotes_local; /* promote.c */
    struct ptx_storage *storage;
    struct ptx_lexer lexer;
    struct ptx_table *table;
    struct ptx_statement *statement; /* the instruction that is being read */
    struct ptx_symbols *symbols;
    struct wsdbg_ptx_program *program;
    struct ptx_array instructions, instruction_text, vectors, branch_tables, functions, variables, relocations, places,
        files;
    struct ptx_array references, uses, calls, locals, register_types, variable_notes, function_notes;
    struct ptx_places *place_index;
    uint64_t initial_bytes;
    struct ptx_body body;
};

/* What stays with the program. */
struct ptx_storage {
    struct ptx_arena arena;
    char *text;
    size_t text_length;
    const uint32_t *instruction_text; /* where each one begins in the text */
};

/* Room for one more zeroed item, NULL = out of memory; parser arrays hold at most UINT32_MAX - 1. */
void *ptx_append(struct ptx_array *array, size_t size);
#define PTX_ITEM(array, type, index) (&((type *)(array).items)[index])

/* "NAME:LINE: ..." */
struct wsdbg_error *ptx_error(const struct ptx_parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "expected WHAT, found ..." at the current token. */
struct wsdbg_error *ptx_unexpected(const struct ptx_parser *parser, const char *what);
struct wsdbg_error *ptx_expect_mark(struct ptx_parser *parser, unsigned mark);
struct wsdbg_error *ptx_expect_name(struct ptx_parser *parser, struct ptx_slice *name);
/* text.c: the text of the statement that begins at `at`, in one line, cut to byte_count. */
void ptx_statement_text(const char *at, const char *end, char *out, size_t byte_count);

/* What a function's address is: a number of its own, where no memory is.  Nothing can be called through it. */
static inline int64_t ptx_function_address(uint32_t function)
{
    return INT64_C(0x7c0000000000) + (int64_t)16 * function;
}

#define PTX_NAME(slice) (int)((slice).length < 200 ? (slice).length : 200), (slice).bytes /* for %.*s */

#endif
