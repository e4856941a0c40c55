/* wait_site.h - what a warp waits for whose program counter is at an instruction: from the code alone, without a
 * register.  Private to this room.
 *
 * Where the hardware leaves the counter of a waiting warp: an mbarrier wait at the test or anywhere in the loop around
 * it; BAR.SYNC at the instruction behind it, and where id or count are in a register up to the first instruction behind
 * it that is more than arithmetic; the cluster barrier, griddepcontrol.wait and wgmma at the instruction
 * itself; setmaxnreg and polling anywhere in their loops (measured on an H200).
 */
#ifndef WSDBG_MACHINE_WAIT_SITE_H
#define WSDBG_MACHINE_WAIT_SITE_H

#include "machine/loop.h"
#include "model/snapshot.h"

struct wsdbg_wait_site {
    enum wsdbg_warp_state state; /* RUNNING: no wait is here; UNKNOWN: for several at once */
    uint32_t instruction;        /* that waits: the test, the barrier, the load; of a RUNNING one the counter's own */
    uint32_t home;               /* the same for every place of one wait: its loop's first instruction, or itself */
    uint32_t barrier_before;     /* it may also still be in this BAR before it; WSDBG_NO_INSTRUCTION = no */
    bool bar_holds;              /* the registers that the BAR names still have what it saw, */
    bool guard_holds;            /* and so has its guard */
    bool bar_is_joined;          /* behind the BAR, other ways join that lead to the counter, too */
    bool of_several;             /* the test is one of several, of other barriers, that the loop makes in turn */
    bool gathers;                /* the counter's own instruction waits for the warp's other lanes */
    bool value_holds;            /* the register that a polling load fills has what it loaded last */
    uint8_t word_offset;         /* of a load of more than 8 bytes: the word in them that is waited for, */
    uint8_t word_bytes;          /* and how long it is; 0 = all that is loaded */
    bool operands_hold;          /* the registers the instruction names still have what it saw, */
    bool is_fresh;               /* ... though the loop around it changes them: as they are now, at the counter */
    bool is_pointed;             /* a poll's load finds its place through a pointer that the loop loads anew */
    bool has_limit;              /* of a poll: the clock may end the loop, too, unless registers say that it may not */
};

struct wsdbg_error *wsdbg_wait_site_find(const struct wsdbg_graph *graph, uint32_t pc, struct wsdbg_wait_site *out);

/* The sites of one graph that were asked for: many warps stand at the same places, and a kernel may have many copies of
 * one.  The graph must outlive them. */
struct wsdbg_wait_sites;
struct wsdbg_error *wsdbg_wait_sites_create(const struct wsdbg_graph *graph, struct wsdbg_wait_sites **out);
void wsdbg_wait_sites_destroy(struct wsdbg_wait_sites *sites); /* NULL is fine */
struct wsdbg_error *wsdbg_wait_sites_find(struct wsdbg_wait_sites *sites, uint32_t pc, struct wsdbg_wait_site *out);

#endif
