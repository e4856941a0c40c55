/* synthetic.h - a machine of any shape, and what was read of it, for tests that need no GPU.
 *
 * Every value tells where it belongs, so that a reader who mixes up two rows is found out.
 */
#ifndef TESTS_MACHINE_SYNTHETIC_H
#define TESTS_MACHINE_SYNTHETIC_H

#include "machine/interpret.h"
#include "machine/reads.h"

struct shape {
    uint32_t devices, ctas_per_device, warps_per_cta, cluster_size; /* one grid a device */
    uint32_t capability;                                            /* 90 */
    uint32_t registers;                                             /* of each lane that are kept; 0 = none */
    bool no_shared, no_lane_states;
};

struct synthetic {
    struct wsdbg_machine machine;
    struct wsdbg_machine_reads reads;
};

/* CTAs lie on SM 2n + 1; a warp's hardware slot is its index backwards; the last lane of each warp has exited. */
struct synthetic *synthetic_create(const struct shape *shape);
void synthetic_destroy(struct synthetic *synthetic);
/* What a look finds that can read nothing of it; *warps_seen, which may be NULL: how many warps it saw.  The caller
 * deinits it. */
struct wsdbg_snapshot synthetic_look(struct synthetic *synthetic, uint32_t *warps_seen);

/* What the values are. */
uint64_t synthetic_pc(uint32_t warp, uint32_t lane);
uint32_t synthetic_register(uint32_t warp, uint32_t lane, uint32_t number);
uint32_t synthetic_uniform(uint32_t warp, uint32_t number);
uint32_t synthetic_predicates(uint32_t warp, uint32_t lane);
uint64_t synthetic_shared(uint32_t cta, uint32_t address);
uint32_t synthetic_constant(uint32_t grid, unsigned bank, uint32_t offset);
uint64_t synthetic_global(uint64_t address);

enum {
    SYNTHETIC_SHARED_FIRST = 0x400, /* two pieces of shared memory, 64 bytes each */
    SYNTHETIC_SHARED_SECOND = 0x800,
    SYNTHETIC_SHARED_PIECE = 64,
    SYNTHETIC_GLOBAL_BYTES = 256
};
#define SYNTHETIC_GLOBAL UINT64_C(0x7f0000001000)

/* Stands in for an ELF file: the reader does not look inside. */
extern const char synthetic_image[];

#endif
