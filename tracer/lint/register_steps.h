/* register_steps.h - what a warp does one after another to its registers and at named barriers, as far as that is the
 * same on all its ways.
 *
 * What else holds a warp (mbarriers, other loops) is left out: it makes nothing come earlier.  So where these steps
 * alone come to a stop, the kernel does.
 */
#ifndef WSDBG_LINT_REGISTER_STEPS_H
#define WSDBG_LINT_REGISTER_STEPS_H

#include "base/error.h"
#include "sass/graph.h"

enum { WSDBG_STEPS_MOST = 32, WSDBG_STEP_ID_UNKNOWN = -1 };

enum wsdbg_step_kind { WSDBG_STEP_RELEASE, WSDBG_STEP_REQUEST, WSDBG_STEP_SYNC, WSDBG_STEP_ARRIVE };

struct wsdbg_register_step {
    uint8_t kind;         /* enum wsdbg_step_kind */
    int8_t id;            /* SYNC, ARRIVE: of the barrier, where the instruction names it */
    uint16_t count;       /* RELEASE, REQUEST: registers a thread */
    uint32_t instruction; /* its number in the graph */
};

struct wsdbg_register_steps {
    struct wsdbg_register_step steps[WSDBG_STEPS_MOST];
    uint32_t count;
    bool is_open;        /* code that nobody knows may do anything in between: the steps say nothing */
    uint32_t held_after; /* the least that it may hold some time after them; UINT32_MAX: nothing changes that any more */
};

/* Of a warp whose graph this is (sass/threads.h). */
struct wsdbg_error *wsdbg_register_steps_read(const struct wsdbg_graph *graph, struct wsdbg_register_steps *out);

#endif
