/* look_result.h - what one look at a machine leaves: the rows of a snapshot, and of each warp what a later look
 * compares. Private to this room.  How it is made: look.h.
 */
#ifndef WSDBG_MACHINE_LOOK_RESULT_H
#define WSDBG_MACHINE_LOOK_RESULT_H

#include "machine/interpret.h"

static inline uint64_t wsdbg_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

enum { WSDBG_LOOK_HOMES_MOST = 8 };

/* How a warp stands: a warp that stands otherwise in a later look has moved. */
struct wsdbg_look_standing {
    uint64_t stands;   /* equal for warps whose lanes stand in the same waits, wherever in their loops */
    uint64_t places;   /* the same, whoever called the functions in which they stand */
    bool is_copy_open; /* it is not known who called such a function: `stands` tells nothing of that */
    /* ... then `places` for each of the loops in which the caller may be */
    uint64_t may_be[WSDBG_LOOK_HOMES_MOST];
    uint32_t may_be_count;
    uint64_t wants;    /* what its lanes wait for: operands */
    bool wants_known;
    bool explained; /* all its lanes stand in waits, as far as the code tells */
    /* Where the code shows no wait: */
    uint32_t sample;    /* the warp whose registers are taken for all at the same places, WSDBG_NONE = none was read */
    uint64_t registers; /* of a sample: a hash of them */
    bool registers_known;
};

struct wsdbg_look {
    struct wsdbg_snapshot found; /* rows of this look only */
    struct wsdbg_look_row row;
    struct wsdbg_look_standing *warps; /* beside found.warps */
};

#endif
