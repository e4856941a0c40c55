/* gpu.h - a software sm_90: what the driver's stand-in and explore ask of it.
 *
 * One gpu holds memory and executes grids.  All of it runs on the thread that calls wsdbg_gpu_run; the other functions
 * may be called from any thread and take its lock.  The same seed and the same calls give the same execution.
 */
#ifndef WSDBG_HOPPER_GPU_H
#define WSDBG_HOPPER_GPU_H

#include "base/error.h"
#include "ptx/program.h"

struct wsdbg_gpu;
struct wsdbg_grid_run; /* a launch that was submitted */

enum wsdbg_schedule_kind {
    WSDBG_SCHEDULE_ROUND_ROBIN,
    WSDBG_SCHEDULE_RANDOM,
    WSDBG_SCHEDULE_PRIORITY, /* PCT */
    WSDBG_SCHEDULE_SWITCHES  /* a warp runs until it waits, then the next in order; but for the switches given */
};
/* Another warp's turn.  Warps are numbered through the only grid: CTA times the warps of a CTA, plus the warp. */
#define WSDBG_SCHEDULE_NOBODY UINT32_MAX
struct wsdbg_schedule_switch {
    uint32_t from, to; /* from NOBODY: the first turn of all */
    uint64_t at;       /* instructions that `from` had behind it */
    uint64_t begins;   /* the same when its turn began, */
    uint32_t length;   /* which had so many instructions, with those that had to wait */
    bool waits;        /* `from` could not go on, or was over */
    /* Where `from` stood, of the program.  Told of a run, not looked at in one that is asked for. */
    uint32_t instruction;
};
struct wsdbg_schedule_options {
    enum wsdbg_schedule_kind kind;
    uint64_t seed;
    uint32_t change_points; /* of PRIORITY: d */
    uint64_t length;        /* of PRIORITY: expected number of warp-instructions */
    /* Decisions to take first, as wsdbg_gpu_decisions told them of another run; the seed's go on behind them.  Copied.
     */
    const uint32_t *replay;
    size_t replay_count;
    /* Of SWITCHES: in the order of a run; one that finds `to` waiting is passed over.  Copied.  `replay` then holds
     * what engines decide, as wsdbg_gpu_engine_decisions told it. */
    const struct wsdbg_schedule_switch *switches;
    size_t switch_count;
    bool usual_engines;  /* engines take their usual time, whatever the kind */
    bool keeps_switches; /* for wsdbg_gpu_switches and wsdbg_gpu_engine_decisions; of any kind */
};

struct wsdbg_gpu_options {
    uint32_t multiprocessors; /* 0: 132 */
    uint64_t memory_bytes;    /* 0: 4 GiB of address space; pages are taken when touched */
    struct wsdbg_schedule_options schedule;
    void (*print)(const char *text, size_t length); /* what a thread's printf made, when it is called; NULL: nobody's */
};

struct wsdbg_error *wsdbg_gpu_create(const struct wsdbg_gpu_options *options, struct wsdbg_gpu **out);
void wsdbg_gpu_destroy(struct wsdbg_gpu *gpu);
uint32_t wsdbg_gpu_multiprocessors(const struct wsdbg_gpu *gpu);

/* What kernels print from now on is nobody's. */
void wsdbg_gpu_mute(struct wsdbg_gpu *gpu);
/* Another schedule from now on, as if the gpu had been made with it; no grid may be there. */
struct wsdbg_error *wsdbg_gpu_set_schedule(struct wsdbg_gpu *gpu, const struct wsdbg_schedule_options *schedule);

/* ---- memory: device addresses are host addresses of this process, so copies are memcpy ---- */

struct wsdbg_error *wsdbg_gpu_allocate(struct wsdbg_gpu *gpu, uint64_t byte_count, uint64_t alignment,
                                       uint64_t *address);
/* False: no allocation begins there. */
bool wsdbg_gpu_free(struct wsdbg_gpu *gpu, uint64_t address);
/* Host memory that kernels may use at its own address (cuMemHostAlloc, cuMemHostRegister). */
struct wsdbg_error *wsdbg_gpu_map_host(struct wsdbg_gpu *gpu, void *memory, uint64_t byte_count);
bool wsdbg_gpu_unmap_host(struct wsdbg_gpu *gpu, void *memory);
/* The allocation (or mapped host memory) that holds [address, +byte_count); false when none does. */
bool wsdbg_gpu_find_memory(struct wsdbg_gpu *gpu, uint64_t address, uint64_t byte_count, uint64_t *first,
                           uint64_t *length, bool *is_host);

/* The first of those whose end is behind `address`, of all in the order of addresses; false when there is none. */
bool wsdbg_gpu_next_memory(struct wsdbg_gpu *gpu, uint64_t address, uint64_t *first, uint64_t *length, bool *is_host);

/* ---- modules: a program's variables in this gpu's memory ---- */

struct wsdbg_gpu_module;
/* The program must live as long as the module. */
struct wsdbg_error *wsdbg_gpu_load(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program,
                                   struct wsdbg_gpu_module **out);
void wsdbg_gpu_unload(struct wsdbg_gpu *gpu, struct wsdbg_gpu_module *module);
const struct wsdbg_ptx_program *wsdbg_gpu_program(const struct wsdbg_gpu_module *module);
/* A global or constant variable's device address and size; constants are written like memory, before launches. */
bool wsdbg_gpu_variable(const struct wsdbg_gpu_module *module, const char *name, uint64_t *address,
                        uint64_t *byte_count);

/* wsdbg_config_v1 and wsdbg_names_v1 (wsdbg/ring.h) of a module that has no probes, made when first asked for: while
 * the config is not all zero the device writes the events of the module's kernels.  False for other names and modules.
 */
bool wsdbg_gpu_probe_variable(struct wsdbg_gpu *gpu, struct wsdbg_gpu_module *module, const char *name,
                              uint64_t *address, uint64_t *byte_count);
/* From the next launch on nothing is written for it. */
void wsdbg_gpu_stop_probes(const struct wsdbg_gpu_module *module);

/* ---- launches ---- */

struct wsdbg_gpu_launch {
    struct wsdbg_gpu_module *module;
    const struct wsdbg_ptx_function *function;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0 = none */
    uint32_t dynamic_shared_bytes;
    uint32_t registers_per_thread; /* at launch, as ptxas said; 0: what .maxnreg and the block size allow */
    const void *parameters;        /* function->parameter_bytes; copied */
    bool is_cooperative;
    /* Programmatic dependent launch: may begin when every CTA of `after` has triggered or exited; NULL = at once. */
    struct wsdbg_grid_run *after;
};

enum wsdbg_grid_state { WSDBG_GRID_WAITING, WSDBG_GRID_RUNNING, WSDBG_GRID_DONE, WSDBG_GRID_FAULTED };
struct wsdbg_gpu_fault {
    int driver_error; /* CUresult: 700, 715, 716, 717, 718, 719 … */
    char text[512];   /* thread, CTA, instruction with place, address and its nearest allocation */
    uint64_t address;
    bool has_address;
};

/* Checks geometry and residency as the driver does; *driver_error is the CUresult to give (with an error). */
struct wsdbg_error *wsdbg_gpu_submit(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_launch *launch, int *driver_error,
                                     struct wsdbg_grid_run **out);
/* The same checks, for a launch that is to be submitted later; what it is to run after is not looked at. */
struct wsdbg_error *wsdbg_gpu_check(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_launch *launch, int *driver_error);
/* CTAs of the launch that the gpu holds at one time when nothing else is on it; 0 also where it cannot be launched. */
uint64_t wsdbg_gpu_resident_most(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_launch *launch);
/* What stands for registers_per_thread 0 in a launch with so many threads a CTA. */
uint32_t wsdbg_gpu_usual_registers(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                                   uint64_t threads);
/* Threads of the largest CTA that a launch with so many registers a thread may have. */
uint32_t wsdbg_gpu_threads_most(uint32_t registers_per_thread);
enum wsdbg_grid_state wsdbg_gpu_state(const struct wsdbg_grid_run *run);
uint64_t wsdbg_gpu_grid_id(const struct wsdbg_grid_run *run);
const struct wsdbg_gpu_fault *wsdbg_gpu_fault(const struct wsdbg_grid_run *run); /* NULL = none */
void wsdbg_gpu_forget(struct wsdbg_gpu *gpu, struct wsdbg_grid_run *run); /* once done or faulted, or to give it up */

enum wsdbg_gpu_outcome {
    WSDBG_GPU_IDLE,     /* no grid is left */
    WSDBG_GPU_BUDGET,   /* instructions_most were executed; more can be */
    WSDBG_GPU_DEADLOCK, /* proven: no warp can run, no engine has work, nobody polls memory that somebody could still
                           write */
    WSDBG_GPU_STALLED, /* no warp can run, but some poll global or host memory that the host could write: go on later */
    WSDBG_GPU_FAULT    /* a grid faulted: all grids are over */
};
/* Executes until one of these. */
enum wsdbg_gpu_outcome wsdbg_gpu_run(struct wsdbg_gpu *gpu, uint64_t instructions_most);

/* What hardware lets pass although it is never meant; each place once, the first 64. */
enum wsdbg_gpu_report_kind {
    WSDBG_GPU_BARRIER_NOT_INITIALISED, /* an mbarrier's operation on a word that mbarrier.init did not write */
    WSDBG_GPU_PHASE_OVERRUN,           /* a phase completed although nobody had waited for the one before */
    WSDBG_GPU_ACCUMULATOR_READ,        /* a register was used that a wgmma under way still writes */
    WSDBG_GPU_NAMED_COUNTS             /* arrivals at a named barrier for different numbers of threads */
};
struct wsdbg_gpu_report {
    enum wsdbg_gpu_report_kind kind;
    uint64_t grid_id;
    uint32_t cta[3], warp;
    uint32_t instruction; /* of the program; WSDBG_PTX_NONE: done by a copy engine */
    uint32_t offset;      /* of the mbarrier in the CTA's shared memory; number of the named barrier; else 0 */
};
size_t wsdbg_gpu_reports(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_report **rows);

/* All decisions that the schedule took so far; valid until the next run.  Round robin takes none. */
const uint32_t *wsdbg_gpu_decisions(const struct wsdbg_gpu *gpu, size_t *count);
/* With keeps_switches: every turn that was given, also to the warp that had the one before; and what engines decided.
 */
const struct wsdbg_schedule_switch *wsdbg_gpu_switches(const struct wsdbg_gpu *gpu, size_t *count);
const uint32_t *wsdbg_gpu_engine_decisions(const struct wsdbg_gpu *gpu, size_t *count);

uint64_t wsdbg_gpu_instructions(const struct wsdbg_gpu *gpu); /* warp-instructions so far */
uint64_t wsdbg_gpu_time_ns(const struct wsdbg_gpu *gpu);      /* simulated */

#endif
