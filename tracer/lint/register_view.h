/* register_view.h - what each warp of a CTA does to its registers, as far as the code tells: which setmaxnreg it comes
 * to, and what it holds then.
 *
 * The rules of the pool are those measured on an H200 (docs/causes/REGS_EXHAUSTED.md): each warp asks and is served on
 * its own, out of the registers that its CTA got at launch in the register file it shares with the warps of equal
 * number modulo 4; what warps held that exited does not come back.  Amounts are registers a thread.
 */
#ifndef WSDBG_LINT_REGISTER_VIEW_H
#define WSDBG_LINT_REGISTER_VIEW_H

#include "lint/kernel.h"
#include "lint/register_steps.h"

enum {
    WSDBG_VIEW_SITES_MOST = 64,
    WSDBG_VIEW_WARPS_MOST = 32,
    WSDBG_VIEW_FILES = 4,      /* register files of an SM */
    WSDBG_VIEW_GROUP_WARPS = 4 /* warps of a warpgroup */
};

/* One setmaxnreg. */
struct wsdbg_register_site {
    uint32_t instruction;
    uint32_t count;
    bool is_request; /* .inc, else .dec */
    uint32_t at;     /* its number in the part of the code that leads to such instructions */
};

struct wsdbg_register_warp {
    uint64_t reached;   /* sites it may reach, a bit each */
    uint64_t split;     /* sites that some of its lanes reach and others do not */
    bool asks;          /* reaches a request */
    bool asks_always;   /* no path to an exit goes past its requests */
    bool is_undecided;  /* it asks, or releases instead: the code does not tell which */
    uint32_t ask_least; /* the smallest of its requests */
    uint32_t ask_most;
    uint32_t held_least;  /* the least that it can hold in the end: released, or served and perhaps given back */
    uint32_t exits_with;  /* the least that it can hold when it exits; held_least where it never does */
    uint32_t asks_again;  /* a request it reaches from an earlier one without a release between; 0 = none */
    uint32_t asks_before; /* that earlier one */
    struct wsdbg_register_steps
        steps; /* up to its last setmaxnreg; instructions are numbers in that part of the code */
};

struct wsdbg_register_view {
    struct wsdbg_register_site sites[WSDBG_VIEW_SITES_MOST];
    uint32_t site_count;
    struct wsdbg_register_warp warps[WSDBG_VIEW_WARPS_MOST];
    uint32_t warp_count;
    uint32_t threads;         /* of a CTA; 0 = nobody says */
    bool threads_are_assumed; /* the fewest warpgroups that reach every site */
    uint32_t launch;          /* registers a thread at launch, rounded up to what is allocated */
};

/* Fills the view.  *is_whole is false where the kernel's roles cannot be told: threads in more than one dimension, a
 * count that is not written down, too many sites, launch registers not noted, or a warp that is undecided. */
struct wsdbg_error *wsdbg_register_view_read(struct wsdbg_lint_kernel *kernel, struct wsdbg_register_view *out,
                                             bool *is_whole);

/* The pool of a register file: launch registers of its warps. */
uint32_t wsdbg_register_view_pool(const struct wsdbg_register_view *view, uint32_t file);
/* A file in which the requests of the warps can never all be served, in whatever order they come: what the last one
 * needs and what the others hold at least is more than the pool, or what they all hold when they have exited is.  False
 * where there is none. */
bool wsdbg_register_view_starves(const struct wsdbg_register_view *view, uint32_t *file);
/* What the file's warps would hold with all requests served; at most what they hold where they give back later. */
uint32_t wsdbg_register_view_demand(const struct wsdbg_register_view *view, uint32_t file);
/* The largest request, the same for all that ask, that fits if those that do not ask hold `others` at most. */
uint32_t wsdbg_register_view_largest(const struct wsdbg_register_view *view, uint32_t others);

#endif
