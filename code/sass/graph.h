/* graph.h - the control flow of one function, by instruction number (offset / 16).
 *
 * Reads: the function's code.  Holds: the decoded instructions, basic blocks and the edges between them.
 * A branch through a register may go anywhere, unless the compiler noted where to: its block is marked, and every
 * answer below that would rest on it is "maybe".  A called piece of the same code is passed as a whole: a path that
 * calls it comes back to its own call.
 */
#ifndef WSDBG_SASS_GRAPH_H
#define WSDBG_SASS_GRAPH_H

#include "base/error.h"
#include "sass/cubin.h"
#include "sass/decode.h"

struct wsdbg_graph;

/* What a block, an instruction or a loop is called where there is none. */
#define WSDBG_GRAPH_NONE UINT32_MAX
/* A function with more instructions is refused: it would be ten times the largest known kernel. */
#define WSDBG_GRAPH_INSTRUCTIONS_MOST (1u << 19)

struct wsdbg_block {
    uint32_t first, count;      /* instructions */
    const uint32_t *successor;  /* blocks: the next one in order, then the branch's targets; UINT32_MAX = none */
    uint32_t successor_count;   /* 2, or more where a branch by a table has several targets */
    bool is_indirect;           /* ends in a branch through a register or out of the code: successors not known */
    bool calls, returns, exits; /* how it ends; `exits` also where the exit is guarded and may be passed */
    uint32_t callee; /* first instruction of the called code, where it lies in this function; else UINT32_MAX */
    uint32_t loop;   /* head block of the innermost loop it belongs to, UINT32_MAX = none */
};

/* One of the targets of a branch through a register. */
struct wsdbg_way {
    uint32_t from, to; /* instructions */
    uint32_t value;    /* what the register holds where it is taken */
};

enum wsdbg_reaches { WSDBG_REACHES_NO, WSDBG_REACHES_MAYBE, WSDBG_REACHES_YES };

/* Decodes and builds; the code's bytes are not needed afterwards.  Code of any bytes gives some graph; BAD_INPUT only
 * where it has too many. */
struct wsdbg_error *wsdbg_graph_create(const struct wsdbg_image *code, struct wsdbg_graph **out);
/* The same of a function of a cubin, with its branches through registers led to where the compiler noted. */
struct wsdbg_error *wsdbg_graph_create_of_function(const struct wsdbg_cubin_function *function,
                                                   struct wsdbg_graph **out);
/* The same of instructions that are decoded; they are copied. */
struct wsdbg_error *wsdbg_graph_create_decoded(const struct wsdbg_instruction *instructions, size_t count,
                                               struct wsdbg_graph **out);
/* The same with the targets of some of their branches, in any order and within the code; they are copied.  If one
 * target of a branch is named, all must be. */
struct wsdbg_error *wsdbg_graph_create_with_ways(const struct wsdbg_instruction *instructions, size_t count,
                                                 const struct wsdbg_way *ways, size_t way_count,
                                                 struct wsdbg_graph **out);
void wsdbg_graph_destroy(struct wsdbg_graph *graph); /* NULL is fine */

/* Instructions and blocks by their numbers, each from 0. */
uint32_t wsdbg_graph_instruction_count(const struct wsdbg_graph *graph);
const struct wsdbg_instruction *wsdbg_graph_instruction(const struct wsdbg_graph *graph, uint32_t number);
uint32_t wsdbg_graph_block_count(const struct wsdbg_graph *graph);
const struct wsdbg_block *wsdbg_graph_block(const struct wsdbg_graph *graph, uint32_t block);
/* The block of an instruction. */
uint32_t wsdbg_graph_block_of(const struct wsdbg_graph *graph, uint32_t number);

/* The blocks of the loop of this head, those of loops within it among them: sets their bits. */
void wsdbg_graph_loop_blocks(const struct wsdbg_graph *graph, uint32_t head, uint64_t *out);
/* The head of the next loop around the loop of this head; WSDBG_GRAPH_NONE = there is none. */
uint32_t wsdbg_graph_loop_around(const struct wsdbg_graph *graph, uint32_t head);

/* A set of instructions, one bit each, (count + 63) / 64 words; NULL = the empty set.  An instruction with a guard may
 * be reached without being executed: so it stops no path that is to avoid it, and it counts for at_most only. */
typedef const uint64_t *wsdbg_instruction_set;

/* Whether some path leads from just before `from` to `to`, without executing one of `avoid` in between (`from` itself
 * counts as executed, so from ∈ avoid gives NO unless from == to).  MAYBE: only through an indirect branch. */
enum wsdbg_reaches wsdbg_graph_reaches(const struct wsdbg_graph *graph, uint32_t from, uint32_t to,
                                       wsdbg_instruction_set avoid);
/* Sets in `out` the bits of all instructions that some path from `from` reaches, where `avoid` is as above.  Those of
 * `avoid` at which a path stops are among them.  True: there may be more, as an indirect branch is among them, or
 * `from` is behind the code. */
bool wsdbg_graph_reach_set(const struct wsdbg_graph *graph, uint32_t from, wsdbg_instruction_set avoid, uint64_t *out);
/* How often at least / at most a path from `from` to `to` executes an instruction of `set`: counts to 255; 255 = 255 or
 * more, also where a loop may repeat it.  False: `to` cannot be reached, or memory ran out; with an indirect branch on
 * the way the counts are 0 and 255. */
bool wsdbg_graph_passes(const struct wsdbg_graph *graph, uint32_t from, uint32_t to, wsdbg_instruction_set set,
                        uint8_t *at_least, uint8_t *at_most);

#endif
