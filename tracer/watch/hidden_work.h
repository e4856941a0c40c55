/* hidden_work.h - work that nobody can follow because stream captures keep markers out: when to look at the GPU itself,
 * and what two looks together tell.  Pure: the clock is an argument.
 *
 * That work is hidden does not mean that it is unfinished.  The work of a grid that two looks saw is unfinished: the
 * grid has been running between them.
 */
#ifndef WSDBG_WATCH_HIDDEN_WORK_H
#define WSDBG_WATCH_HIDDEN_WORK_H

#include "watch/stall.h"

struct wsdbg_hidden_grid {
    uint32_t process_id;
    uint64_t context, grid_id; /* context: its handle, 0 = not known */
};

struct wsdbg_hidden {
    struct wsdbg_stall stall;        /* of the context whose work is hidden the longest */
    bool said;                       /* that something is hidden; set by the watch */
    struct wsdbg_hidden_grid *grids; /* that ran at the look before */
    size_t grid_count;
    uint64_t looked_ns;  /* the look before */
    uint64_t between_ns; /* that and the newest one */
};

void wsdbg_hidden_init(struct wsdbg_hidden *hidden, uint64_t stall_ns);
void wsdbg_hidden_deinit(struct wsdbg_hidden *hidden);
/* One tick: whether to look now. */
bool wsdbg_hidden_is_due(struct wsdbg_hidden *hidden, const struct wsdbg_snapshot *snapshot, uint64_t now_ns);
/* Whether a grid runs that the look before saw too.  The others came since: they are marked as moving, so that none of
 * them is judged.  Remembers the grids of this look.  Out of memory: no. */
bool wsdbg_hidden_seen_twice(struct wsdbg_hidden *hidden, struct wsdbg_snapshot *look, uint64_t now_ns);

#endif
