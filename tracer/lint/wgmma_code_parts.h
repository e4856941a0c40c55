/* wgmma_code_parts.h - what both readers of wgmma_code.h put their code together with. */
#ifndef WSDBG_LINT_WGMMA_CODE_PARTS_H
#define WSDBG_LINT_WGMMA_CODE_PARTS_H

#include "base/error.h"
#include "lint/wgmma_code.h"

struct wsdbg_wgmma_builder {
    struct wsdbg_wgmma_code *code;
    size_t event_room, successor_count, successor_room;
    uint32_t *parent;               /* by register: another one of its tile, itself for the last */
    bool *is_accumulator, *is_used; /* by register */
    bool is_out_of_memory;
};

/* False: out of memory.  Either way the function below ends it. */
bool wsdbg_wgmma_builder_init(struct wsdbg_wgmma_builder *builder, struct wsdbg_wgmma_code *code,
                              uint32_t register_count, uint32_t block_count);
/* Register `b` belongs to the tile of `a`, which may be itself. */
void wsdbg_wgmma_builder_join(struct wsdbg_wgmma_builder *builder, uint32_t a, uint32_t b, bool is_accumulator);
void wsdbg_wgmma_builder_event(struct wsdbg_wgmma_builder *builder, struct wsdbg_wgmma_event event);
/* The next of all blocks' successors: those of a block follow each other. */
void wsdbg_wgmma_builder_successor(struct wsdbg_wgmma_builder *builder, uint32_t block);
/* Numbers the tiles, and gives the events theirs. */
struct wsdbg_error *wsdbg_wgmma_builder_finish(struct wsdbg_wgmma_builder *builder);

#endif
