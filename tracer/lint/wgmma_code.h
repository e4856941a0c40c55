/* wgmma_code.h - machine code or PTX as wgmma sees it: which instructions issue one, end a group of them or wait for
 * groups, in basic blocks, and which registers are accumulators.
 *
 * Reads: a graph of machine code, or the PTX of a kernel.  Both become the same, so that one analysis (wgmma_flow.h)
 * tells how many may be in flight where, and the two can be compared.
 */
#ifndef WSDBG_LINT_WGMMA_CODE_H
#define WSDBG_LINT_WGMMA_CODE_H

#include "ptx/program.h"
#include "sass/graph.h"

enum wsdbg_wgmma_kind {
    WSDBG_WGMMA_FENCE,
    WSDBG_WGMMA_ISSUE,
    WSDBG_WGMMA_COMMIT,
    WSDBG_WGMMA_WAIT,
};

/* A tile: the registers of one accumulator, or those that one wgmma takes its first matrix from.  Accumulators that
 * have a register in common are one. */
enum { WSDBG_WGMMA_TILES_MOST = 128, WSDBG_WGMMA_NO_TILE = 255 };

struct wsdbg_wgmma_event {
    uint32_t at;         /* instruction: its number in the graph, or in the program */
    uint8_t kind;        /* enum wsdbg_wgmma_kind */
    bool ends_group;     /* of an ISSUE in machine code: it is a COMMIT as well */
    bool is_conditional; /* has a guard */
    uint8_t tile;        /* ISSUE: its accumulators */
    uint8_t input;       /* ISSUE: what it reads the first matrix from; NO_TILE = shared memory */
    uint32_t register_of_tile, register_of_input; /* one of each, UINT32_MAX = none */
    uint8_t groups_left;                          /* WAIT: as many groups may go on */
};

struct wsdbg_wgmma_block {
    uint32_t first, end; /* instructions */
    uint32_t first_successor, successor_count;
    bool is_entry; /* the kernel begins here, or a function that it calls */
};

struct wsdbg_wgmma_code {
    struct wsdbg_wgmma_event *events; /* in the order of the instructions */
    size_t event_count, issue_count, wait_count;
    struct wsdbg_wgmma_block *blocks; /* in that order, too; calls are passed as if they did nothing */
    uint32_t block_count;
    uint32_t *successors; /* blocks */
    uint8_t *tile_of;     /* by register; NO_TILE */
    uint32_t register_count;
    unsigned tile_count;
    bool is_input[WSDBG_WGMMA_TILES_MOST];           /* by tile: not accumulators */
    uint16_t tile_registers[WSDBG_WGMMA_TILES_MOST]; /* by tile: how many */
    bool has_too_many_tiles;                         /* nothing is known of tiles then */
};

/* The caller destroys *out with the function below. */
struct wsdbg_error *wsdbg_wgmma_code_of_graph(const struct wsdbg_graph *graph, struct wsdbg_wgmma_code *out);
/* `kernel` with the functions it calls, whose code stands behind its own. */
struct wsdbg_error *wsdbg_wgmma_code_of_ptx(const struct wsdbg_ptx_program *program,
                                            const struct wsdbg_ptx_function *kernel, struct wsdbg_wgmma_code *out);
void wsdbg_wgmma_code_deinit(struct wsdbg_wgmma_code *code);

/* The event of an instruction, NULL = none. */
const struct wsdbg_wgmma_event *wsdbg_wgmma_event_at(const struct wsdbg_wgmma_code *code, uint32_t instruction);

#endif
