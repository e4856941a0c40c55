/* parser.h - what the files of the parser share while a text becomes a program.  Private to ptx/.
 *
 * Written by: module.c (directives), function.c and instruction.c (bodies).  Its program is complete after ptx_link.
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

/* Arrays that grow. */
struct ptx_array {
    void *items;
    size_t count, room;
};

/* A label that was named before it was known. */
struct ptx_reference {
    struct ptx_slice name;
    uint32_t line;
    uint8_t kind;   /* enum ptx_reference_kind */
    uint32_t index; /* instruction, or word in program->branch_tables */
};
enum ptx_reference_kind { PTX_TO_LABEL, PTX_TO_TABLE, PTX_FROM_TABLE };

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
    const char *name; /* in errors */
    bool is_to_read;  /* each register its own number; calls through pointers are taken */
    struct ptx_storage *storage;
    struct ptx_lexer lexer;
    struct ptx_table *table;
    struct ptx_statement *statement; /* the instruction that is being read */
    struct ptx_symbols *symbols;
    struct wsdbg_ptx_program *program;
    struct ptx_array instructions, instruction_text, vectors, branch_tables, functions, variables, relocations, places,
        files;
    struct ptx_array references, uses, calls, register_types, variable_notes, function_notes;
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
/* A constant that must be an integer from 0 to most. */
struct wsdbg_error *ptx_expect_count(struct ptx_parser *parser, uint64_t most, const char *what, uint64_t *value);
/* The text of the statement that begins at `at`, in one line, cut to byte_count. */
void ptx_statement_text(const char *at, const char *end, char *out, size_t byte_count);

/* ---- across files of the parser ---- */

/* function.c: an instruction or table names a label that may come later. */
struct wsdbg_error *ptx_add_reference(struct ptx_parser *parser, struct ptx_slice name, uint32_t line,
                                      enum ptx_reference_kind kind, uint32_t index);
/* variable.c: an extern variable that is used must be defined in the end. */
struct wsdbg_error *ptx_variable_used(struct ptx_parser *parser, uint32_t variable, uint32_t line);
/* variable.c: at .global, .const, .shared or .local (with what may stand before); up to the semicolon. */
struct wsdbg_error *ptx_read_variable(struct ptx_parser *parser, bool is_extern);
/* variable.c: a declaration's `.align`, type, name and dimensions. */
struct ptx_declaration;
struct wsdbg_error *ptx_read_declaration(struct ptx_parser *parser, struct ptx_declaration *out);
/* instruction.c: adds it with the text it is from. */
struct wsdbg_error *ptx_add_instruction(struct ptx_parser *parser, const struct wsdbg_ptx_instruction *instruction,
                                        const char *text);
/* instruction.c: at an opcode or a guard; up to the semicolon. */
struct wsdbg_error *ptx_read_instruction(struct ptx_parser *parser);
/* function.c: behind .entry or .func. */
struct wsdbg_error *ptx_read_function(struct ptx_parser *parser, bool is_kernel);
/* place.c */
struct wsdbg_error *ptx_read_file(struct ptx_parser *parser);
struct wsdbg_error *ptx_read_location(struct ptx_parser *parser);
struct wsdbg_error *ptx_read_section(struct ptx_parser *parser);
struct wsdbg_error *ptx_finish_places(struct ptx_parser *parser);
#define PTX_NAME(slice) (int)((slice).length < 200 ? (slice).length : 200), (slice).bytes /* for %.*s */

#endif
