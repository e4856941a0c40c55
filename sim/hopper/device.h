/* device.h - the software sm_90 itself: memory, multiprocessors, grids, what is ready to run, engines' work.
 *
 * Private to hopper/.  memory.c, launch.c, schedule.c and engine.c each own the part of struct wsdbg_gpu that they
 * name.
 */
#ifndef WSDBG_HOPPER_DEVICE_H
#define WSDBG_HOPPER_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "hopper/code.h"

/* An H200's. */
enum {
    HOPPER_SM_WARPS = 64,
    HOPPER_SM_THREADS = 2048,
    HOPPER_SM_CTAS = 32,
    HOPPER_SM_REGISTERS = 65536,
    HOPPER_SM_SHARED = 228 * 1024, /* of which every CTA takes 1 KiB for the system */
    HOPPER_CTA_SHARED = 227 * 1024,
    HOPPER_CTA_THREADS = 1024,
    HOPPER_CLUSTER_CTAS = 16,
    HOPPER_CLOCKS_PER_1000_NS = 1755,
};
/* CUresult. */
enum {
    HOPPER_INVALID_VALUE = 1,
    HOPPER_OUT_OF_MEMORY = 2,
    HOPPER_INVALID_ADDRESS = 700,
    HOPPER_OUT_OF_RESOURCES = 701,
    HOPPER_MISALIGNED_ADDRESS = 716,
    HOPPER_ASSERT = 710,
    HOPPER_ILLEGAL_INSTRUCTION = 715,
    HOPPER_INVALID_ADDRESS_SPACE = 717,
    HOPPER_INVALID_PC = 718,
    HOPPER_LAUNCH_FAILED = 719,
    HOPPER_COOPERATIVE_TOO_LARGE = 720,
    HOPPER_INVALID_CLUSTER = 912,
};

struct hopper_range { /* an allocation, or mapped host memory */
    uint64_t first, end;
    bool is_host;
};

struct hopper_ranges { /* in the order of addresses; none overlap */
    struct hopper_range *rows;
    size_t count, capacity;
};

struct hopper_sm {
    uint32_t shared_free, threads_free, ctas_free;
    uint32_t registers_free[HOPPER_REGISTER_FILES];
    uint64_t slots_taken; /* a bit for each warp slot; slot s uses register file s % 4 */
    uint32_t group;       /* SMs that a cluster may spread over */
};

/* Warps that spin on global memory; see wake.c. */
struct hopper_spin {
    struct hopper_warp *warp;
    uint64_t first, end; /* addresses that their loops read */
};
struct hopper_spins {
    struct hopper_spin *rows;
    size_t count, capacity;
};

struct hopper_engine_work {
    uint64_t due_ns, order;
    struct hopper_grid *grid;
    void (*complete)(struct wsdbg_gpu *gpu, void *work);
    void *work;
};

struct wsdbg_grid_run {
    struct hopper_grid grid;
    atomic_int state; /* enum wsdbg_grid_state */
    struct wsdbg_gpu_fault fault;
    struct wsdbg_grid_run *next;
    bool is_forgotten;
};

struct wsdbg_gpu_module {
    const struct wsdbg_ptx_program *program;
    struct hopper_code *code;
    uint64_t global_address, const_address;
    struct hopper_probes *probes; /* see probe.h; NULL = nobody asked, or it has its own */
    const char *text;             /* its PTX, NULL = not known */
    size_t text_bytes;
};

struct wsdbg_gpu {
    struct wsdbg_gpu_options options;
    pthread_mutex_t lock;
    atomic_uint others; /* threads that want the lock while the gpu runs */
    void (*works_told)(void *context);
    void *works_context;
    uint32_t turns; /* of the run loop */

    /* memory.c */
    unsigned char *space; /* the reserved addresses */
    uint64_t space_bytes;
    struct hopper_ranges ranges;
    struct hopper_range found; /* by the last look-up; empty after a change */

    /* launch.c */
    struct hopper_sm *sms;
    uint32_t sm_count, group_count, next_sm;
    struct wsdbg_grid_run *runs; /* in the order of submission */
    uint64_t next_grid_id;
    uint64_t resident_ctas;
    bool has_fault;
    struct hopper_fault_site { /* of the first fault; warp NULL = an engine's, or none */
        const struct hopper_warp *warp;
        uint32_t lanes, instruction;
    } fault_site;
    bool may_place; /* a CTA left or a grid came since nothing more could be placed */

    uint64_t found_count; /* rows that its warps have; see found.h */

    /* schedule.c */
    struct hopper_warp **ready;
    size_t ready_count, ready_capacity, turn;
    uint64_t time_ps, instructions;
    uint64_t changes;       /* of anything that somebody may wait for */
    uint64_t next_limit_ns; /* no time limit is earlier; UINT64_MAX = none */
    uint32_t found_asleep;  /* how often in a row all wait for ever, and some sleep; see deadlock.c */
    struct hopper_spins spins;
    uint64_t random;
    uint32_t *decisions;
    size_t decision_count, decision_capacity;
    uint32_t *replay;
    size_t replay_count;
    uint64_t *points; /* of PRIORITY: at which instruction the running warp gives way */
    size_t point_count, next_point;
    uint32_t lowest_priority;
    struct hopper_switches *switches; /* NULL = they are neither given nor kept; see switches.c */
    const struct hopper_warp *streak_of;
    uint64_t streak;

    /* engine.c */
    struct hopper_engine_work *works; /* a heap by due time */
    size_t work_count, work_capacity;
    uint64_t next_work;

    struct hopper_reports reports;
    struct hopper_races *races; /* NULL = nobody asked; see race.h */

    uint64_t scratch[WSDBG_PTX_OPERANDS_MAX * HOPPER_CONSTANT_BYTES / 8];
};

static inline struct wsdbg_grid_run *hopper_run_of(struct hopper_grid *grid)
{
    return (struct wsdbg_grid_run *)grid;
}

/* Simulated time. */
static inline uint64_t hopper_time_ns(const struct wsdbg_gpu *gpu)
{
    return gpu->time_ps / 1000;
}

/* status.c */
void hopper_lock(struct wsdbg_gpu *gpu);
void hopper_unlock(struct wsdbg_gpu *gpu);

/* memory.c: makes gpu->found the range that holds the address; false = none does. */
bool hopper_look_up_range(struct wsdbg_gpu *gpu, uint64_t address);
/* The address is in a range: so are the bytes behind it, in ranges side by side that a program mapped one by one. */
bool hopper_ranges_go_on(const struct wsdbg_gpu *gpu, uint64_t address, uint64_t byte_count);
/* The range that holds the address, and all of [address, +byte_count) is memory; NULL = it is not.  Mostly the one that
 * was found last. */
static inline const struct hopper_range *hopper_find_range(struct wsdbg_gpu *gpu, uint64_t address, uint64_t byte_count)
{
    const bool is_found = address - gpu->found.first < gpu->found.end - gpu->found.first;
    if (!is_found && !hopper_look_up_range(gpu, address))
        return NULL;
    const bool is_whole = byte_count <= gpu->found.end - address || hopper_ranges_go_on(gpu, address, byte_count);
    return is_whole ? &gpu->found : NULL;
}
struct wsdbg_error *hopper_allocate(struct wsdbg_gpu *gpu, uint64_t byte_count, uint64_t alignment, uint64_t *address);
bool hopper_free(struct wsdbg_gpu *gpu, uint64_t address);
void hopper_describe_address(const struct wsdbg_gpu *gpu, uint64_t address, char *out, size_t byte_count);

/* residency.c, launch.c */
void hopper_place_ctas(struct wsdbg_gpu *gpu);
void hopper_free_done(struct wsdbg_gpu *gpu, struct hopper_grid *grid);
/* The warp's last lane exited. */
void hopper_warp_done(struct wsdbg_gpu *gpu, struct hopper_warp *warp);
void hopper_free_run(struct wsdbg_gpu *gpu, struct wsdbg_grid_run *run);

/* schedule.c */
uint32_t hopper_new_priority(struct wsdbg_gpu *gpu);
bool hopper_make_ready(struct wsdbg_gpu *gpu, struct hopper_warp *warp);
void hopper_not_ready(struct wsdbg_gpu *gpu, struct hopper_warp *warp);
/* Takes gpu->options.schedule. */
struct wsdbg_error *hopper_schedule_begin(struct wsdbg_gpu *gpu);
void hopper_schedule_end(struct wsdbg_gpu *gpu);

/* switches.c */
struct wsdbg_error *hopper_switches_create(const struct wsdbg_schedule_options *options, struct hopper_switches **out);
void hopper_switches_destroy(struct hopper_switches *switches);
/* One of the ready warps, by the switches that were given. */
struct hopper_warp *hopper_choose_by_switches(struct wsdbg_gpu *gpu, uint32_t *quantum);
/* Notes a turn: before it, and after `executed` instructions. */
void hopper_turn_begins(struct wsdbg_gpu *gpu, const struct hopper_warp *warp);
void hopper_turn_ends(struct wsdbg_gpu *gpu, const struct hopper_warp *warp, uint32_t executed);
void hopper_keep_engine_decision(struct hopper_switches *switches, uint32_t decision);

/* fault.c */
void hopper_fault_at(const struct hopper_step *step, unsigned lane, int driver_error, uint64_t address,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
enum hopper_outcome hopper_not_written(struct hopper_step *step);

/* step.c: executes up to `most` instructions of a ready warp; fewer when it waits, exits or faults. */
void hopper_fetch_registers(const struct hopper_warp *warp);
uint32_t hopper_run_warp(struct wsdbg_gpu *gpu, struct hopper_warp *warp, uint32_t most);

/* engine.c */
/* Completes the first work that is due; its grid, NULL = none is due, or there is a fault. */
struct hopper_grid *hopper_engine_complete(struct wsdbg_gpu *gpu);
void hopper_engines_drop(struct wsdbg_gpu *gpu, const struct hopper_grid *grid);

/* wake.c: global memory was written; a warp spins on what warp->read tells (false: no memory), or no more. */
void hopper_changed_range(struct wsdbg_gpu *gpu, uint64_t first, uint64_t end);
bool hopper_list_spin(struct wsdbg_gpu *gpu, struct hopper_warp *warp);
void hopper_unlist_spin(struct wsdbg_gpu *gpu, struct hopper_warp *warp);

/* spin.c: a backward branch was taken; whether the split now spins. */
bool hopper_came_round(struct hopper_step *step, struct hopper_split *split, uint32_t target);
/* Of what only the warp itself changes: registers, local memory, where its lanes are.  Never 0. */
uint64_t hopper_hash_own(const struct hopper_warp *warp);

#endif
