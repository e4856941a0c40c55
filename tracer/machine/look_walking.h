/* look_walking.h - private to look_walks*.c: what the walks of a look share, and those of one warp.
 *
 * Reads and writes: what look_walks.c says.
 */
#ifndef WSDBG_MACHINE_LOOK_WALKING_H
#define WSDBG_MACHINE_LOOK_WALKING_H

#include "machine/look.h"
#include "machine/walk_thread.h"
#include "sass/walk.h"

/* Instructions that the walks of a look may execute: 0.5 to 2 s. */
#define WSDBG_WORK_OF_LOOK (UINT64_C(1) << 23)

/* The walks of a look. */
struct wsdbg_look_walking {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const uint32_t *access_first;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    uint64_t until_ns, work;      /* work: instructions executed so far */
    struct wsdbg_walk_plan *plan; /* of `kernel` */
    const struct wsdbg_code_kernel *kernel;
    uint32_t *access_at;        /* by instruction: number of the kernel's access + 1 */
    bool is_of_words;           /* it is machine code; else PTX */
    bool asks_cta;              /* the ways may depend on which CTA it is */
    bool has_counters;          /* ... or on numbers from a counter */
    bool was_walked;            /* the CTA at hand was walked before it was led, which took too long */
    bool is_led;                /* some walk of the CTA at hand was led to where its lanes were seen */
    bool *led;                  /* by CTA: ... of that CTA */
    struct walk_memory *memory; /* of the kernel's grid */
};

/* Whether a look has done enough work for walks, or it is too late for more. */
bool wsdbg_look_walking_is_late(const struct wsdbg_look_walking *walks);
/* Adds the walks of a warp's lanes to the snapshot.  Lanes that go the same way share a row.  Lanes are left out if it
 * gets too late for them.  Owned: the error, by the caller. */
struct wsdbg_error *wsdbg_look_walk_warp(struct wsdbg_look_walking *walks, uint32_t warp);

#endif
