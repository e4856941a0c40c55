/* gpu.h - a software sm_90: what the driver's stand-in and explore ask of it.
 *
 * One gpu holds memory and executes grids.  All of it runs on the thread that calls wsdbg_gpu_run; the other functions
 * may be called from any thread and take its lock.  The same seed and the same calls give the same execution.
 */
#ifndef WSDBG_HOPPER_GPU_H
#define WSDBG_HOPPER_GPU_H

#include "hopper/gpu_types.h"

struct wsdbg_error *wsdbg_gpu_create(const struct wsdbg_gpu_options *options, struct wsdbg_gpu **out);
void wsdbg_gpu_destroy(struct wsdbg_gpu *gpu);
uint32_t wsdbg_gpu_multiprocessors(const struct wsdbg_gpu *gpu);

/* What kernels print from now on is nobody's. */
void wsdbg_gpu_mute(struct wsdbg_gpu *gpu);
/* While the gpu executes, the thread that runs it calls `works` again and again; wsdbg_gpu_mute ends that. */
void wsdbg_gpu_on_work(struct wsdbg_gpu *gpu, void (*works)(void *context), void *context);
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

/* The program must live as long as the module. */
struct wsdbg_error *wsdbg_gpu_load(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program,
                                   struct wsdbg_gpu_module **out);
/* Its PTX, which must live as long as the module: for events of kernels without probes. */
void wsdbg_gpu_set_text(struct wsdbg_gpu_module *module, const char *text, size_t byte_count);
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

/* With finds_races: what was found so far, valid until the next run; and one in words of several lines. */
size_t wsdbg_gpu_races(const struct wsdbg_gpu *gpu, const struct wsdbg_gpu_race **rows);
void wsdbg_gpu_race_text(const struct wsdbg_gpu_race *race, char *out, size_t byte_count);
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
