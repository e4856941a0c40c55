/* state.h - what every grid, CTA and warp of a gpu is doing at this moment: for evidence.
 *
 * Read-only, while the gpu does not run (the walk takes its lock).  What is given is valid inside of the call only.
 * Instructions are indices into the grid's program.
 */
#ifndef WSDBG_HOPPER_STATE_H
#define WSDBG_HOPPER_STATE_H

#include "hopper/gpu.h"

/* A shared::cluster address is rank << 24 | offset; generic addresses of shared memory begin at the window. */
#define WSDBG_GPU_RANK_SHIFT 24
#define WSDBG_GPU_SHARED_WINDOW 0x7e0000000000ull
enum { WSDBG_GPU_LANES = 32, WSDBG_GPU_NAMED_BARRIERS = 16, WSDBG_GPU_REGISTER_FILES = 4 };

struct wsdbg_gpu_grid {
    uint64_t id;
    const struct wsdbg_grid_run *run;
    const struct wsdbg_gpu_launch *launch; /* cluster: 1,1,1 where none was asked for; registers_per_thread as it is */
    const struct wsdbg_ptx_program *program;
    enum wsdbg_grid_state state;
    bool has_clusters;
    uint64_t ctas_total, ctas_started, ctas_done;
    uint64_t engine_works;               /* copies and the like under way */
    const struct wsdbg_gpu_fault *fault; /* NULL = none that it caused */
};

struct wsdbg_gpu_cta {
    uint64_t grid_id;
    uint32_t index[3], rank, sm;
    uint32_t warp_count, live_warps;
    bool is_resident;                    /* false: it is over, but its cluster is not */
    const unsigned char *shared;         /* its memory by shared address: [shared_first, shared_first + shared_bytes) */
    uint32_t shared_first, shared_bytes; /* also where its mbarriers' words lie, as on hardware */
    uint32_t register_pool[WSDBG_GPU_REGISTER_FILES]; /* free, of 32 lanes each; warp w uses file w % 4 */
    struct {
        uint32_t arrived; /* threads, in this generation */
        uint64_t generation;
    } named[WSDBG_GPU_NAMED_BARRIERS];
    uint64_t cluster_generation; /* of the cluster's barrier */
};

/* A barrier that mbarrier.init made (or that was used without). */
struct wsdbg_gpu_mbarrier {
    uint32_t offset; /* shared address in its CTA */
    uint64_t word;   /* as on hardware: phase 63, -pending 62:43, bytes 41:21, -expected 20:1 */
    bool is_initialised;
};

enum wsdbg_gpu_wait {
    WSDBG_GPU_RUNS,
    WSDBG_GPU_WAITS_MBARRIER,
    WSDBG_GPU_WAITS_NAMED,
    WSDBG_GPU_WAITS_CLUSTER,
    WSDBG_GPU_WAITS_REGISTERS,
    WSDBG_GPU_WAITS_WGMMA,
    WSDBG_GPU_WAITS_BULK,
    WSDBG_GPU_WAITS_GRID,
    WSDBG_GPU_WAITS_LANES,
    WSDBG_GPU_SLEEPS,
    WSDBG_GPU_SPINS /* goes round a loop in which nothing changes */
};

/* Lanes of a warp that stand at one place. */
struct wsdbg_gpu_part {
    uint32_t lanes, instruction;
    uint32_t depth;
    const uint32_t *returns; /* `depth` instructions behind calls, outermost first */
    enum wsdbg_gpu_wait wait;
    uint32_t cta_rank, offset, parity; /* of MBARRIER */
    bool tests_others;                 /* of MBARRIER: it is one of several that its loop tests in turn */
    uint32_t id, threads;              /* of NAMED; threads 0 = the CTA's */
    bool has_arrived;                  /* of NAMED */
    uint32_t registers;                /* of REGISTERS: asked for, a thread */
    uint32_t groups;                   /* of WGMMA and BULK: may stay under way */
    uint32_t lanes_missing;            /* of LANES */
    uint64_t address, value;           /* of SPINS: the loop's last read; width_bytes 0 = it read nothing */
    uint32_t width_bytes;
    bool of_global; /* of SPINS: it reads memory that the host may write */
};

/* What one lane's execution of an atomic on global memory returned. */
struct wsdbg_gpu_found {
    uint32_t lane, instruction;
    uint64_t value;
};

struct wsdbg_gpu_warp {
    uint32_t index, slot;
    uint32_t live;           /* lanes that have not exited; 0 = the warp is over */
    uint32_t registers_held; /* a thread */
    uint64_t instructions;
    uint32_t cluster_arrived;                /* lanes that arrived at the cluster's barrier and have not waited since */
    uint32_t fault_lanes, fault_instruction; /* the lane that caused the fault, 0 = none of them, and where */
    uint32_t part_count;
    struct wsdbg_gpu_part parts[WSDBG_GPU_LANES];
    const struct wsdbg_gpu_found *found; /* in the order of execution; none of a warp with very many */
    uint32_t found_count;
};

/* Mbarriers that have one id in the events that the device writes for kernels without probes. */
struct wsdbg_gpu_array {
    uint32_t id, first, stride, stages;
};

/* Called for each, outer ones first: a grid, its arrays of mbarriers, its clusters' CTAs, a CTA's barriers, its warps.
 * Each may be NULL. */
struct wsdbg_gpu_visitor {
    void (*grid)(void *data, const struct wsdbg_gpu_grid *grid);
    void (*cta)(void *data, const struct wsdbg_gpu_cta *cta);
    void (*mbarrier)(void *data, const struct wsdbg_gpu_mbarrier *mbarrier);
    void (*warp)(void *data, const struct wsdbg_gpu_warp *warp);
    void (*array)(void *data, const struct wsdbg_gpu_array *array);
};
void wsdbg_gpu_walk(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_visitor *visitor, void *data);

#endif
