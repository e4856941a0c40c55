/* machine.h - what a GPU held at one moment: grids, CTAs, warps, lanes, the images of their code; and, where asked for,
 * registers and memory.  Three sources fill it (a live look through the driver's debug interface, a GPU core
 * dump, the state of a simulated device); whoever reads it does not know which.
 *
 * Rows refer to each other by index, WSDBG_NONE = not known.  A read that finds nothing says so and is no error; an
 * error is a source that broke (connection, deadline, file).
 */
#ifndef WSDBG_MACHINE_MACHINE_H
#define WSDBG_MACHINE_MACHINE_H

#include "model/snapshot.h"
#include "sass/fatbin.h"

#define WSDBG_MACHINE_LANES 32
#define WSDBG_MACHINE_BARRIERS 16

struct wsdbg_machine_device {
    uint32_t ordinal; /* as the source numbers them */
    char name[96];
    struct wsdbg_optional_u32 sm_count, warps_per_sm, compute_capability; /* 90 */
};

struct wsdbg_machine_context {
    uint32_t device;
    uint64_t handle;                                       /* CUcontext */
    struct wsdbg_optional_u64 shared_window, local_window; /* generic addresses at which they begin */
    char error_words[WSDBG_ERROR_WORDS_BYTES]; /* what the source says of the error that ended it, "" = nothing: */
    uint64_t error_grid;                       /* grid_id of the grid that caused it */
};

struct wsdbg_machine_module {
    uint32_t context;
    uint64_t handle;          /* CUmodule */
    struct wsdbg_image image; /* ELF, relocated: symbols have GPU addresses; or PTX; empty = not known */
};

struct wsdbg_machine_grid {
    uint32_t device, context, module;
    uint64_t grid_id;
    uint64_t function_entry; /* GPU address, 0 = not known */
    uint32_t grid[3], block[3];
    struct wsdbg_optional_u32 cluster[3];
    struct wsdbg_optional_u32 registers; /* a thread, at launch */
};

struct wsdbg_machine_cta {
    uint32_t grid;
    uint32_t sm;
    uint32_t x, y, z;
    struct wsdbg_optional_u32 cluster_index[3], cluster_size[3];
    struct wsdbg_optional_u32 shared_bytes;
    uint32_t warp_first, warp_count; /* live ones; an exited warp has no row */
};

/* What the convergence hardware says of a lane; the numbers are the driver's, 9 + n = blocked at B`n`. */
enum wsdbg_lane_state {
    WSDBG_LANE_EXITED,
    WSDBG_LANE_READY,
    WSDBG_LANE_YIELDED,
    WSDBG_LANE_SLEEP,
    WSDBG_LANE_SLEEP_YIELD,
    WSDBG_LANE_READY_AT_NEXT,
    WSDBG_LANE_BLOCKED_PLUS,
    WSDBG_LANE_BLOCKED_ALL,
    WSDBG_LANE_BLOCKED_COLLECTIVE,
    WSDBG_LANE_BLOCKED_B0
};

/* Mbarriers of a grid that have one id in the events that a simulated device writes itself. */
struct wsdbg_machine_array {
    uint32_t grid;
    uint32_t id;
    uint32_t first, stride, stages; /* first: offset in shared memory; stride: in bytes */
};

/* What a lane waits for, where the source says it: a simulated device knows. */
struct wsdbg_machine_wait {
    enum wsdbg_warp_state state;
    uint32_t barrier; /* mbarrier: shared::cluster address; named: id */
    uint32_t parity;  /* of an mbarrier's wait */
    bool of_several;  /* an mbarrier's: it is one of several that a loop tests in turn */
    uint32_t count;   /* named: threads, 0 = the CTA's; registers asked for; groups that may stay */
    struct wsdbg_optional_u32 width_bytes; /* polled: */
    struct wsdbg_optional_u64 address, value;
};

struct wsdbg_machine_lane {
    uint64_t pc;   /* GPU virtual address; of valid lanes */
    uint32_t wait; /* row of waits + 1, 0 = the source does not say */
    uint32_t thread[3];
    /* n of CUDA_EXCEPTION_n, which is CUDBGException_t's number, of this lane or its warp; 0 = none */
    uint32_t exception;
    struct wsdbg_optional_u32 state; /* enum wsdbg_lane_state */
};

struct wsdbg_machine_warp {
    uint32_t cta;
    uint32_t slot; /* the hardware's warp number on its SM */
    uint32_t valid_lanes, active_lanes;
    struct wsdbg_optional_u64 error_pc; /* GPU virtual address of the instruction that the lanes' exceptions are of */
    uint32_t error_lanes;               /* the lanes that caused them, where the source knows; 0 = it does not */
    struct wsdbg_optional_u64 error_address; /* and what these accessed; of an mbarrier its shared::cluster address */
    struct wsdbg_optional_u32 registers;     /* a thread, now: after setmaxnreg */
    /* What the convergence hardware says, lanes' states with it: live not asked for where all lanes are active. */
    struct wsdbg_optional_u32 exited_lanes;
    bool barriers_known;
    uint32_t barriers[WSDBG_MACHINE_BARRIERS]; /* lanes that B0..B15 wait for */
    struct wsdbg_machine_lane lanes[WSDBG_MACHINE_LANES];
};

/* An atomic in a lane: `instruction` is its number in the kernel, `warp` the warp's index in its CTA. */
struct wsdbg_machine_atomic {
    uint32_t cta, warp, lane, instruction;
};
enum wsdbg_machine_found {
    WSDBG_MACHINE_FOUND_UNKNOWN, /* nobody kept it */
    WSDBG_MACHINE_FOUND,
    WSDBG_MACHINE_FOUND_NOT_YET /* the lane has executed the atomic just so often before */
};

struct wsdbg_machine;

/* Each: *known (or *known_count, from `first` on) says what was there.  Values are copies. */
struct wsdbg_machine_ops {
    struct wsdbg_error *(*registers)(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                     uint32_t count, uint32_t *out, uint32_t *known_count);
    struct wsdbg_error *(*uniform_registers)(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                             uint32_t count, uint32_t *out, uint32_t *known_count);
    /* Bit p of *mask: predicate Pp. */
    struct wsdbg_error *(*predicates)(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                      bool *known);
    /* `address`: offset in the CTA's shared memory, the reserved first KiB included. */
    struct wsdbg_error *(*shared)(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                  uint32_t byte_count, bool *known);
    struct wsdbg_error *(*global)(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                  uint32_t byte_count, bool *known);
    /* `address`: as the thread's loads of local memory name it, and its stack pointer.  NULL = the source keeps none.
     */
    struct wsdbg_error *(*local)(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t address,
                                 void *out, uint32_t byte_count, bool *known);
    /* c[bank][offset]: of the grid; bank 0 holds its parameters. */
    struct wsdbg_error *(*constant)(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                    void *out, uint32_t byte_count, bool *known);
    /* The low 32 bits of what an atomic on global memory returned to a lane that had executed it so many `times`
     * before.  NULL = the source keeps none. */
    enum wsdbg_machine_found (*found)(struct wsdbg_machine *machine, const struct wsdbg_machine_atomic *atomic,
                                      uint32_t times, uint32_t *value);
    void (*close)(struct wsdbg_machine *machine);
};

struct wsdbg_machine {
    const struct wsdbg_machine_ops *ops;
    const char *source; /* "live", "core" or "simulator" */
    uint64_t time_ns;   /* host, CLOCK_MONOTONIC; 0 = not known */
    struct wsdbg_machine_device *devices;
    size_t device_count;
    struct wsdbg_machine_context *contexts;
    size_t context_count;
    struct wsdbg_machine_module *modules;
    size_t module_count;
    struct wsdbg_machine_grid *grids;
    size_t grid_count;
    struct wsdbg_machine_cta *ctas;
    size_t cta_count;
    struct wsdbg_machine_warp *warps;
    size_t warp_count; /* a CTA's are neighbours, by thread index */
    struct wsdbg_machine_wait *waits;
    size_t wait_count;
    struct wsdbg_machine_array *arrays;
    size_t array_count;
    char (*notes)[256];
    size_t note_count; /* what could not be seen, a sentence each */
};

/* Frees the arrays; for the sourcees' close(). */
void wsdbg_machine_deinit(struct wsdbg_machine *machine);
/* Adds a sentence; out of memory loses it. */
void wsdbg_machine_note(struct wsdbg_machine *machine, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Linear thread index / 32 of the warp in its CTA, from the first valid lane; WSDBG_NONE where the grid is not known.
 */
uint32_t wsdbg_machine_warp_index(const struct wsdbg_machine *machine, const struct wsdbg_machine_warp *warp);

/* n of the CUDA_EXCEPTION_n that the GPU reported of a lane; 0 = none, or no number of one. */
uint32_t wsdbg_machine_exception(const struct wsdbg_machine_warp *warp, uint32_t lane);
/* Whether it reported one of any. */
bool wsdbg_machine_has_exception(const struct wsdbg_machine *machine);

enum wsdbg_state_choice { WSDBG_STATE_ALL_GRIDS, WSDBG_STATE_WITHOUT_PROBES };
/* Whether the simulated process still stands as the file says: then its memory is the device's global memory. */
enum wsdbg_state_memory { WSDBG_STATE_MEMORY_GONE, WSDBG_STATE_MEMORY_THERE };
/* Opens the file of a simulated device's state (wsdbg/device_state.h), with the grids that are wanted.  NOT_FOUND where
 * there is none of either; BAD_INPUT and VERSION name what, where and why. */
struct wsdbg_error *wsdbg_machine_open_state(const char *path, enum wsdbg_state_choice choice,
                                             enum wsdbg_state_memory memory, struct wsdbg_machine **out);
/* Opens a GPU core dump, plain or gzip'd.  BAD_INPUT and VERSION name what, where and why. */
struct wsdbg_error *wsdbg_machine_open_core(const char *path, struct wsdbg_machine **out);
/* Whether two core dumps that could be opened hold the same bytes, packed or not: a dump says when it was made, so two
 * of one process differ. */
struct wsdbg_error *wsdbg_machine_same_core(const char *one_path, const char *other_path, bool *same);
/* Writes the rows and what `reads` lists as a core dump that wsdbg_machine_open_core reads back: sections of registers
 * and memory that were not read are left out, parts of shared memory are sections that say where they begin. */
struct wsdbg_machine_reads;
struct wsdbg_error *wsdbg_machine_write_core(const struct wsdbg_machine *machine,
                                             const struct wsdbg_machine_reads *reads, const char *path);

#endif
