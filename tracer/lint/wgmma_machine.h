/* wgmma_machine.h - what the machine code of a kernel makes of its wgmma: how many overlap, where it waits, and what
 * stands between them.
 *
 * ptxas serialises all wgmma of a function or none: each then ends a group of its own and is waited for before the next
 * one, and the author's waits are gone.
 */
#ifndef WSDBG_LINT_WGMMA_MACHINE_H
#define WSDBG_LINT_WGMMA_MACHINE_H

#include "sass/graph.h"
#include "sass/lines.h"

enum { WSDBG_WGMMA_PLACES_MOST = 8 };

/* Instructions of one sort: how many, and the first ones. */
struct wsdbg_wgmma_places {
    size_t count;
    uint32_t at[WSDBG_WGMMA_PLACES_MOST];
};

struct wsdbg_wgmma_machine {
    size_t issues;
    unsigned in_flight; /* at best, at most WSDBG_WGMMA_MANY */
    uint32_t first_issue;
    struct wsdbg_wgmma_places waits; /* for all groups */
    /* Of these waits, those behind which nothing needs what they waited for before the next wgmma is issued. */
    struct wsdbg_wgmma_places idle_waits;
    size_t idle_with_a_line;          /* how many of them have a source line that the instruction before them has not */
    struct wsdbg_wgmma_places scales; /* wgmma whose scale-d is computed when it runs */
    /* Around the wgmma of a loop, or between those of a block: */
    struct wsdbg_wgmma_places spill_loads, spill_stores; /* of registers that are accumulators, and a thread's memory */
    struct wsdbg_wgmma_places written;      /* accumulators, by what is neither wgmma nor a load of these */
    struct wsdbg_wgmma_places joinings;     /* where threads of a warp that parted come together */
    struct wsdbg_wgmma_places opaque_calls; /* anywhere in the kernel: of what is not in this function's code */
};

/* `lines` may be NULL: idle_with_a_line is 0 then. */
struct wsdbg_error *wsdbg_wgmma_machine_read(const struct wsdbg_graph *graph, const struct wsdbg_lines *lines,
                                             const struct wsdbg_cubin_function *function,
                                             struct wsdbg_wgmma_machine *out);

#endif
