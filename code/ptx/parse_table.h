/* parse_table.h - the rows of instructions.def, compiled: which suffixes and operands an instruction may have.
 *
 * A row's `suffixes` and `operands` are forms divided by " | ", one to one (one form of operands serves all).
 * Suffixes, in the order of the text:
 *   a/b/c      one of these           [a/b]  one of these or none      +a  as if it were written
 *   ~a ~[b]    these in any order, as the assembler takes them
 *   <int>      a list that parse_words.c names
 *   a/b:compare  words whose meaning here is not the usual one: the list behind the colon has it
 *   m64n*k16   n is any multiple of 8 up to 256
 *   bar.sync:  (first in a form) only when this is the mnemonic
 * Operands, divided by commas:
 *   t u v      a value of the first, second, third type;  w: of twice its width with .wide
 *   16 32 64   a value of so many bits;  f: an f32
 *   p  !p      a predicate, which may be negated;  *: a 32- or 64-bit register
 *   =t         a register that is written; =t_: or a sink; _: always a sink;  |p: a predicate written behind `|`
 *   t+         registers may be wider than the type;  t@: a variable's address as well;  #: a constant
 *   []  [map]  an address, a tensor's map with coordinates
 *   {t}        `vector_length` values in braces, 1 without;  {d} {a} {b} {c}: fragments of matrices
 *   {offsets}  of im2col;  pack: a value of the type, or a vector that makes one up
 *   label table call: of control flow;  x?: x may be missing
 *   hint:x     with .L2::cache_hint only;  mask:x: with .multicast::cluster only
 */
#ifndef WSDBG_PTX_PARSE_TABLE_H
#define WSDBG_PTX_PARSE_TABLE_H

#include "base/error.h"
#include "ptx/lexer.h"
#include "ptx/program.h"

enum ptx_field {
    PTX_FIELD_UNKNOWN, /* no such word */
    PTX_FIELD_NONE,    /* says nothing that the simulator must know */
    PTX_FIELD_TYPE,
    PTX_FIELD_SPACE,
    PTX_FIELD_FLAG,
    PTX_FIELD_COMPARE,
    PTX_FIELD_COMBINE,
    PTX_FIELD_ROUNDING,
    PTX_FIELD_PART,
    PTX_FIELD_VARIANT,
    PTX_FIELD_LENGTH,
    PTX_FIELD_DIMENSIONS,
    PTX_FIELD_SHAPE
};

struct ptx_choice { /* a word of a suffix item */
    struct ptx_slice word;
    uint8_t field; /* enum ptx_field */
    uint32_t value;
};
struct ptx_item {
    uint32_t first_choice, choice_count;
    bool is_optional, is_implied, is_free; /* free: in any order with those beside it */
};

enum ptx_slot_kind {
    PTX_SLOT_VALUE,
    PTX_SLOT_CONSTANT,
    PTX_SLOT_SINK,
    PTX_SLOT_ADDRESS,
    PTX_SLOT_MAP,
    PTX_SLOT_VECTOR,
    PTX_SLOT_FRAGMENT,
    PTX_SLOT_OFFSETS,
    PTX_SLOT_PACK,
    PTX_SLOT_LABEL,
    PTX_SLOT_TABLE,
    PTX_SLOT_CALL
};
struct ptx_slot { /* what an operand must be */
    uint8_t kind; /* enum ptx_slot_kind */
    char width;   /* t u v w p, 1 3 6 (16, 32, 64 bits), f, *; of FRAGMENT: d a b c */
    bool is_written, may_sink, may_negate, may_be_wider, may_be_address, is_joined, is_optional;
    uint32_t with_flag; /* only with this flag, 0 = always */
};

struct ptx_form {
    struct ptx_slice mnemonic; /* bytes NULL = any of the row's */
    uint32_t first_item, item_count, first_slot, slot_count;
};
struct ptx_mnemonic {
    struct ptx_slice text;
    uint16_t operation;
};

enum {
    PTX_FREE_ITEMS_MAX = 32, /* side by side */
    PTX_FORMS_MAX = 512,
    PTX_ITEMS_MAX = 2048,
    PTX_CHOICES_MAX = 4096,
    PTX_SLOTS_MAX = 1536,
    PTX_MNEMONICS_MAX = 256
};
struct ptx_table {
    struct ptx_form forms[PTX_FORMS_MAX];
    struct ptx_item items[PTX_ITEMS_MAX];
    struct ptx_choice choices[PTX_CHOICES_MAX];
    struct ptx_slot slots[PTX_SLOTS_MAX];
    struct ptx_mnemonic mnemonics[PTX_MNEMONICS_MAX]; /* sorted */
    uint32_t form_count, item_count, choice_count, slot_count, mnemonic_count;
    uint32_t first_form[WSDBG_PTX_OPERATION_COUNT + 1]; /* of each operation; the next one's is its end */
};

/* The table as it was compiled; an error is a mistake in instructions.def.  Freed with free(). */
struct wsdbg_error *ptx_table_create(struct ptx_table **out);
/* The row of the longest mnemonic that `opcode` (dotted) begins with, *length its length; NO_OPERATION = none. */
enum wsdbg_ptx_operation ptx_table_find(const struct ptx_table *table, struct ptx_slice opcode, size_t *length);
/* Fills the fields of *instruction from the suffixes as this form has them.  False: they are not the form's; *fitted is
 * how many of them were. */
bool ptx_form_suffixes(const struct ptx_table *table, const struct ptx_form *form, const struct ptx_slice *suffixes,
                       size_t count, struct wsdbg_ptx_instruction *instruction, size_t *fitted);

/* ---- parse_words.c ---- */

/* What a suffix usually means. */
void ptx_word_meaning(struct ptx_slice word, enum ptx_field *field, uint32_t *value);
/* The same in a field that was named (`lo:compare`). */
void ptx_word_meaning_in(struct ptx_slice word, struct ptx_slice field_name, enum ptx_field *field, uint32_t *value);
/* The words and the field's name of a list such as <int>; NULL = there is none. */
const char *ptx_word_list(struct ptx_slice name);
/* The lists in their order; false behind the last one. */
bool ptx_word_list_at(size_t index, const char **name, const char **list);
/* The type of this name; NO_TYPE = none. */
enum wsdbg_ptx_type ptx_type_named(struct ptx_slice name);

/* ---- left_out.c ---- */

/* Why the simulator has no such instruction; NULL = nothing is said about it. */
const char *ptx_left_out(struct ptx_slice opcode);
/* What is left out, in its order; false behind the last one. */
bool ptx_left_out_at(size_t index, const char **word, const char **reason);

#endif
