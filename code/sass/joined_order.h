/* joined_order.h - lays out joined code so that what executes in a row stands in a row.  Private to joined.h. */
#ifndef WSDBG_SASS_JOINED_ORDER_H
#define WSDBG_SASS_JOINED_ORDER_H

#include "sass/flow.h"

/* Code that is being laid out; the arrays are the caller's. */
struct joined_layout {
    struct wsdbg_instruction *instructions;
    uint32_t count;
    struct wsdbg_way *ways;
    size_t way_count;
    bool *is_kept;    /* filled: by instruction as it was before */
    uint32_t *places; /* likewise: where it is now; one that was left out: the next one */
};

/* Moves blocks behind branches that always lead to them, if no other way leads there, and leaves those branches out. */
struct wsdbg_error *joined_lay_out(struct joined_layout *layout);

#endif
