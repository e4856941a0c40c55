/* gpu_types.h - the input and the output of a software sm_90: options, schedules, launches, faults. */
#ifndef WSDBG_HOPPER_GPU_TYPES_H
#define WSDBG_HOPPER_GPU_TYPES_H

#include "base/error.h"
#include "ptx/program.h"

struct wsdbg_gpu_module;
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
    bool finds_races;                               /* see wsdbg_gpu_races */
    void (*print)(const char *text, size_t length); /* what a thread's printf made, when it is called; NULL: nobody's */
};

struct wsdbg_gpu_launch {
    struct wsdbg_gpu_module *module;
    const struct wsdbg_ptx_function *function;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0 = none */
    uint32_t dynamic_shared_bytes;
    uint32_t registers_per_thread; /* at launch, as ptxas said; 0: what .maxnreg and the block size allow */
    const void *parameters;        /* function->parameter_bytes; copied */
    bool is_cooperative;
    bool keeps_registers; /* setmaxnreg has no effect, as where ptxas ignores it */
    /* Programmatic dependent launch: may begin when every CTA of `after` has triggered or exited; NULL = at once. */
    struct wsdbg_grid_run *after;
};

enum wsdbg_grid_state { WSDBG_GRID_WAITING, WSDBG_GRID_RUNNING, WSDBG_GRID_DONE, WSDBG_GRID_FAULTED };
struct wsdbg_gpu_fault {
    int driver_error; /* CUresult: 700, 715, 716, 717, 718, 719 … */
    char text[512];   /* thread, CTA, instruction with place, address and its nearest allocation */
    size_t what_at;   /* in `text`: what was wrong, behind the thread and its place */
    uint64_t address;
    bool has_address;
    bool is_of_absent_cta; /* shared memory of a CTA that is not there, or not any more */
};

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

/* Two accesses that nothing orders, or a fence that is missing between them; each pair of places once, the first 256.
 */
struct wsdbg_gpu_race_side {
    uint32_t cta[3], warp; /* that did or issued it; WSDBG_PTX_NONE = not known */
    uint32_t instruction;  /* of the program */
    bool writes, is_async; /* is_async: by a copy engine or the matrix unit */
    char place[160];       /* file:line, or the PTX line */
};
struct wsdbg_gpu_race {
    const char *code, *missing, *change; /* RACE_WRITE_WRITE and the like; in words */
    uint64_t grid_id;
    char kernel[256], memory[200];
    struct wsdbg_gpu_race_side earlier, later;
};

#endif
