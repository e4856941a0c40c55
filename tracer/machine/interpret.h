/* interpret.h - from a machine's state to the snapshot: where each warp stands, what it waits for, what each barrier
 * still misses, and which instructions of the code could bring that.
 *
 * Reads: a machine and the code of its kernels.  Writes: grids, CTAs, warps, parts, sites, barriers, accesses, reaches,
 * excerpts and looks of a snapshot.  It knows no source and no cause.
 */
#ifndef WSDBG_MACHINE_INTERPRET_H
#define WSDBG_MACHINE_INTERPRET_H

#include "machine/machine.h"

/* Decoded code, kept from look to look; keyed by module handle and image. */
struct wsdbg_code;
struct wsdbg_error *wsdbg_code_create(struct wsdbg_code **out);
void wsdbg_code_destroy(struct wsdbg_code *code);
/* Decodes what has not been seen yet; for use while nothing is suspended. */
struct wsdbg_error *wsdbg_code_prepare(struct wsdbg_code *code, const struct wsdbg_machine *machine);

/* What one look found: plain data, no machine behind it any more. */
struct wsdbg_look;
/* Reads what a verdict needs: one warp per distinct state in full, every barrier word that is waited on. */
struct wsdbg_error *wsdbg_look_take(struct wsdbg_machine *machine, struct wsdbg_code *code, struct wsdbg_look **out);
/* Of walks: no clock ends them, but a number of instructions, so that a dump gives the same verdict on a busy machine.
 */
#define WSDBG_WALKS_COUNTED UINT64_MAX

/* How long registers are read for, from the first one on; a note says what was not read by then.  And how long threads
 * are followed from the kernel's start, 0 = not at all. */
struct wsdbg_look_budget {
    uint64_t states_ns; /* of one warp of each state: without it nothing is known of the state */
    uint64_t rest_ns;   /* of other warps */
    uint64_t walks_ns;  /* or WSDBG_WALKS_COUNTED */
};
/* The same with another budget than 150 ms for all. */
struct wsdbg_error *wsdbg_look_take_within(struct wsdbg_machine *machine, struct wsdbg_code *code,
                                           struct wsdbg_look_budget budget, struct wsdbg_look **out);
/* Says which process it was, so that its contexts are told from those of others with the same handles, as forked
 * processes have them. */
void wsdbg_look_set_process(struct wsdbg_look *look, uint32_t process_id);
void wsdbg_look_destroy(struct wsdbg_look *look); /* NULL is fine */

/* Adds the newest of `count` looks (oldest first, of the same process) to a snapshot, which may hold tables already
 * (contexts, modules, functions, launches: found again by handle and name, else added).  With two or more, warps that
 * moved between the last two are RUNNING and progress_ns is their time. */
struct wsdbg_error *wsdbg_look_snapshot(struct wsdbg_look *const *looks, size_t count, struct wsdbg_snapshot *snapshot);

#endif
