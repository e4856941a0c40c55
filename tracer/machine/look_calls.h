/* look_calls.h - the calls that led a lane to where it stands, the innermost first.  Private to this room. */
#ifndef WSDBG_MACHINE_LOOK_CALLS_H
#define WSDBG_MACHINE_LOOK_CALLS_H

#include "machine/look.h"

enum { WSDBG_LOOK_CALLS_MOST = 48 };

struct wsdbg_look_stand {
    uint32_t grid, warp, lane;     /* rows of the machine */
    struct wsdbg_code_place place; /* in the function's own graph */
};

struct wsdbg_look_calls {
    struct {
        const struct wsdbg_cubin_function *function;
        uint32_t call; /* the instruction of it that calls */
    } rows[WSDBG_LOOK_CALLS_MOST];
    uint32_t count;
    bool is_whole; /* the last one is of the kernel itself */
};

/* What is not known ends the calls before they are whole. */
struct wsdbg_error *wsdbg_look_calls(const struct wsdbg_look_source *source, const struct wsdbg_look_stand *stand,
                                     const struct wsdbg_code_function *kernel, struct wsdbg_look_calls *out);

#endif
