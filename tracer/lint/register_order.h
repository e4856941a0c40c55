/* register_order.h - whether the order in which warps give registers back, ask for them and sync at named barriers
 * comes to a stop, though the sums fit: register_view.h has the sums.
 *
 * The steps of all warps of a register file are played through, with every order of serving their requests.  Whatever
 * is not known of a warp or a barrier holds nobody, so that what stops here stops on the machine.
 */
#ifndef WSDBG_LINT_REGISTER_ORDER_H
#define WSDBG_LINT_REGISTER_ORDER_H

#include "lint/register_view.h"

enum { WSDBG_STOP_WAITS_MOST = WSDBG_VIEW_WARPS_MOST / WSDBG_VIEW_FILES };

/* Warps that wait at a barrier.  Instructions are numbers in the kernel's code, warps a bit each. */
struct wsdbg_register_wait {
    uint32_t warps;
    uint32_t sync;
    int id;
    uint32_t release; /* the setmaxnreg.dec that they reach behind it; WSDBG_GRAPH_NONE = none */
    uint32_t released;
};

/* Where it stops. */
struct wsdbg_register_stop {
    bool is_found;
    bool is_certain;  /* whichever request is served first; else one order of them comes through, another does not */
    uint32_t asking;  /* warps whose request is never served */
    uint32_t request; /* the request of the first of them */
    struct wsdbg_register_wait waits[WSDBG_STOP_WAITS_MOST]; /* what other warps do meanwhile */
    uint32_t wait_count;
};

/* Of a view that is whole and whose sums fit. */
struct wsdbg_error *wsdbg_register_order_read(struct wsdbg_lint_kernel *kernel, const struct wsdbg_register_view *view,
                                              struct wsdbg_register_stop *out);

/* Says REGS_ORDER of such a view, if there is something to say. */
struct wsdbg_error *wsdbg_lint_rule_register_order(struct wsdbg_lint_kernel *kernel,
                                                   const struct wsdbg_register_view *view,
                                                   struct wsdbg_lint_findings *out);

#endif
