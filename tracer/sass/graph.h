/* graph.h - the control flow of one function, by instruction number (offset / 16).
 *
 * Reads: the function's code.  Holds: the decoded instructions, basic blocks and the edges between them.
 * A branch through a register may go anywhere: its block is marked, and every answer below that would rest on it is
 * "maybe".
 */
#ifndef WSDBG_SASS_GRAPH_H
#define WSDBG_SASS_GRAPH_H

#include "base/error.h"
#include "sass/cubin.h"
#include "sass/decode.h"

struct wsdbg_graph;

struct wsdbg_block {
    uint32_t first, count;       /* instructions */
    uint32_t successor[2];       /* blocks; fall-through first; UINT32_MAX = none */
    bool is_indirect;            /* ends in a branch through a register: successors not known */
    bool calls, returns, exits;  /* how it ends; `exits` also where the exit is guarded and may be passed */
    uint32_t callee;             /* first instruction of the called code, where it lies in this function; else UINT32_MAX */
    uint32_t loop;               /* head block of the innermost loop it belongs to, UINT32_MAX = none */
};

enum wsdbg_reaches { WSDBG_REACHES_NO, WSDBG_REACHES_MAYBE, WSDBG_REACHES_YES };

/* Decodes and builds; `code` must outlive *out.  Code of any bytes gives some graph. */
struct wsdbg_error *wsdbg_graph_create(const struct wsdbg_image *code, struct wsdbg_graph **out);
void wsdbg_graph_destroy(struct wsdbg_graph *graph);

uint32_t wsdbg_graph_instruction_count(const struct wsdbg_graph *graph);
const struct wsdbg_instruction *wsdbg_graph_instruction(const struct wsdbg_graph *graph, uint32_t number);
uint32_t wsdbg_graph_block_count(const struct wsdbg_graph *graph);
const struct wsdbg_block *wsdbg_graph_block(const struct wsdbg_graph *graph, uint32_t block);
uint32_t wsdbg_graph_block_of(const struct wsdbg_graph *graph, uint32_t number);

/* A set of instructions, one bit each, (count + 63) / 64 words; NULL = the empty set. */
typedef const uint64_t *wsdbg_instruction_set;

/* Whether some path leads from just before `from` to `to`, without executing one of `avoid` in between (`from` itself
 * counts as executed, so from ∈ avoid gives NO unless from == to).  MAYBE: only through an indirect branch. */
enum wsdbg_reaches wsdbg_graph_reaches(const struct wsdbg_graph *graph, uint32_t from, uint32_t to,
                                       wsdbg_instruction_set avoid);
/* All instructions that some path from `from` reaches, likewise: `out` gets their bits.  True: an indirect branch is
 * among them, so there may be more. */
bool wsdbg_graph_reach_set(const struct wsdbg_graph *graph, uint32_t from, wsdbg_instruction_set avoid, uint64_t *out);
/* How often at least / at most a path from `from` to `to` executes an instruction of `set`: counts to 255; 255 = 255 or
 * more, also where a loop may repeat it.  False: `to` cannot be reached. */
bool wsdbg_graph_passes(const struct wsdbg_graph *graph, uint32_t from, uint32_t to, wsdbg_instruction_set set,
                        uint8_t *at_least, uint8_t *at_most);

#endif
