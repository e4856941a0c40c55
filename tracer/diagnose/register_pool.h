/* register_pool.h - the accounts of a CTA's registers: what each warp holds and asks for, in which register file.
 *
 * Read from register events or, without them, from what each warp holds now.  Amounts are registers a thread; a warp's
 * registers are 32 times that.
 */
#ifndef WSDBG_DIAGNOSE_REGISTER_POOL_H
#define WSDBG_DIAGNOSE_REGISTER_POOL_H

#include "diagnose/case.h"

#define WSDBG_REGISTER_FILES 4u /* of an SM */
#define WSDBG_REGISTER_GRANULE 8u
#define WSDBG_REGISTERS_LEAST 24u /* the smallest value setmaxnreg takes */
#define WSDBG_POOL_WARPS_MAX 64u

/* One warp's account, in registers a thread. */
struct wsdbg_register_account {
    uint32_t warp;        /* local number */
    uint32_t file;        /* register file of the SM */
    uint32_t held, asked; /* asked 0 = does not ask */
    uint8_t last;         /* last register event, or what the amount held says it was */
    bool exited;
    bool held_known;
    bool held_inferred; /* of one that exited, from who is not served */
};

/* What the CTA has in one register file; sums over warps of registers a thread (x 32 = registers). */
struct wsdbg_register_file {
    uint32_t total, held;
};

/* One CTA's pool. */
struct wsdbg_register_pool {
    uint32_t cta, barrier;
    struct wsdbg_register_account accounts[WSDBG_POOL_WARPS_MAX];
    uint32_t count;
    uint32_t launch; /* registers a thread at launch, granules counted */
    struct wsdbg_register_file files[WSDBG_REGISTER_FILES];
    bool known;    /* every amount is */
    bool inferred; /* what exited warps hold follows from who is not served */
    bool supposed; /* ... or from what the rest of their warpgroups asks for */
    struct wsdbg_warp_set askers;
};

struct wsdbg_register_pool wsdbg_pool_read(const struct wsdbg_case *c, uint32_t cta);

/* Registers a thread that are free in a register file. */
static inline uint32_t wsdbg_pool_free(const struct wsdbg_register_pool *pool, uint32_t file)
{
    return pool->files[file].total - pool->files[file].held;
}

/* The first warp that asks, NULL = none, or none of which is known for how much. */
const struct wsdbg_register_account *wsdbg_pool_first_asker(const struct wsdbg_register_pool *pool);

/* Some warp that asks is not served for sure: all that is held in its register file was seen. */
bool wsdbg_pool_starves_as_seen(const struct wsdbg_register_pool *pool);

/* Nobody who asks could be served although warps of `movers` gave back what they can. */
bool wsdbg_pool_starves(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                        const struct wsdbg_warp_set *movers);

#endif
