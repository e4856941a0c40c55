/* joined_code.h - the code of a function and of all that it calls, while it is being joined.  Private to joined.h.
 *
 * joined.c copies the functions, joined_frame.c follows the stack frame through them, joined_moves.c makes registers of
 * its words, and joined_put.c puts what is left into a graph.
 */
#ifndef WSDBG_SASS_JOINED_CODE_H
#define WSDBG_SASS_JOINED_CODE_H

#include "sass/definitions.h"
#include "sass/flow.h"
#include "sass/joined.h"

/* An instruction, and what the graph gets in its place. */
struct joined_line {
    struct wsdbg_instruction instruction;
    struct wsdbg_joined_origin origin;
    uint8_t words;    /* not 0: it becomes as many moves of one register each, */
    uint16_t word;    /* to the register of this number on, or from there */
    bool is_left_out; /* it does nothing, */
    bool is_dead;     /* or no way leads there */
    bool is_inside;   /* when it is due, some registers are not as the graph has them there */
};

struct joined_code {
    struct joined_line *lines;
    uint32_t count;
    size_t capacity;
    struct wsdbg_way *ways; /* of branches through registers, by the numbers of lines */
    size_t way_count, way_capacity;
    bool calls_program; /* a call of a function of the program is left: that may store to whatever it is given */
};

/* Folds copies and negations of predicates into the comparisons before them.  `graph`: of the lines. */
void joined_fold_logic(struct joined_code *code, const struct wsdbg_graph *graph);

/* Makes moves of the instructions that swap two registers, by way of one that stands for nothing else. */
enum { JOINED_SPARE_REGISTER = WSDBG_RZ + WSDBG_MORE_REGISTERS };
void joined_make_swaps(struct joined_code *code, const struct wsdbg_graph *graph);

/* Makes shifts of unsigned divisions by powers of two that are written out step by step. */
void joined_make_shifts(struct joined_code *code, const struct wsdbg_graph *graph);
/* Whether the instruction makes a predicate of itself, that of the number. */
enum joined_copied { JOINED_NOT_COPIED, JOINED_COPIED, JOINED_NEGATED };
enum joined_copied joined_copies_itself(const struct wsdbg_instruction *logic, unsigned *number);
/* Whether it compares words, writes one predicate alone and combines it with nothing. */
bool joined_is_comparison(const struct wsdbg_instruction *in);
/* Makes a comparison of an instruction that writes a predicate: one that always holds, or never. */
void joined_make_answer(struct wsdbg_instruction *in, bool answer);

/* The number of the special register with the lowest address that the stack may have. */
enum { JOINED_SPECIAL_STACK_END = 0x37 };

/* Makes moves of the loads and stores of the stack frame, as far as their places are known.  `graph`: of the lines. */
struct wsdbg_error *joined_follow_frame(struct joined_code *code, const struct wsdbg_graph *graph);

/* By line: where it begins in the code that is left, one more at the end; the caller frees it.  NULL = no memory. */
uint32_t *joined_number_lines(const struct joined_code *code);
/* Fills out->graph and out->origins.  `places`: by line as above; then where it is in the graph. */
struct wsdbg_error *joined_put_graph(const struct joined_code *code, uint32_t *places, struct wsdbg_joined *out);

#endif
