/* device_state.h - the state of a simulated device as a file: what every warp does while nothing on it can move.
 *
 * Written by: the simulator, into the session's folder (WSDBG_ENV_SPOOL), when all that it executes waits, and when a
 * fault ends all of it.  Read by: tracer/machine.  The file is put in place whole (rename) and taken away before
 * anything moves again, so as long as it is there it is true.  One a context: WSDBG_STATE_NAME; after a fault
 * WSDBG_STATE_FAULT_NAME, which stays.
 *
 * Layout: the header; then, each right behind the other, modules, grids, CTAs, pieces of shared memory, warps, parts,
 * results of atomics, arrays; then bytes to which the rows refer by their offset in the file.  Rows refer to rows by
 * their number.  A piece's CTA, a warp's CTA and a part's warp ascend.  Numbers are the machine's own (the file never
 * leaves it).
 *
 * Rules of change: WSDBG_STATE_VERSION is raised.
 */
#ifndef WSDBG_DEVICE_STATE_H
#define WSDBG_DEVICE_STATE_H

#include <stdint.h>

#define WSDBG_STATE_MAGIC 0x6574617473676264ull /* "dbgstate" */
#define WSDBG_STATE_VERSION 3u
#define WSDBG_STATE_FILE "state"
#define WSDBG_STATE_FAULT_FILE "fault"
#define WSDBG_STATE_NAME WSDBG_STATE_FILE "-%u-%016llx" /* process, CUcontext */
#define WSDBG_STATE_FAULT_NAME WSDBG_STATE_FAULT_FILE "-%u-%016llx"
/* Beside them: an empty file.  While the device executes instructions, it sets the time of change a few times a second. */
#define WSDBG_STATE_WORKS_NAME "works-%u-%016llx"

struct wsdbg_state_header {
    uint64_t magic;
    uint32_t version, process_id;
    uint64_t byte_count; /* of the file */
    uint64_t context;    /* CUcontext */
    uint64_t time_ns;    /* CLOCK_MONOTONIC: since then nothing has moved */
    uint32_t sm_count, warps_per_sm;
    uint32_t host_may_help; /* some warp polls memory that the host could write; else it is a proven deadlock */
    uint32_t module_count, grid_count, cta_count, piece_count, warp_count, part_count;
    uint32_t shared_first;  /* address at which a CTA's shared memory begins */
    uint64_t shared_window; /* generic address of shared memory's address 0 */
    /* Not in version 1: */
    uint32_t found_count, reserved;
    /* Not in version 2: */
    uint32_t array_count;
    uint32_t fault_warp;                /* row of the warp that caused the fault, + 1; 0 = none of them: */
    uint32_t fault_lanes;               /* its lanes that did */
    uint32_t fault_instruction;         /* number in the program */
    uint64_t fault_offset, fault_bytes; /* what the simulator says of the fault; 0 bytes = there is none */
    uint64_t fault_grid;                /* %gridid of the grid that caused it */
    uint64_t fault_address;             /* that was accessed; of an mbarrier the shared::cluster address */
    uint32_t has_fault_address;
    uint32_t fault_of_absent_cta; /* that CTA of the cluster has left, or never was */
    int32_t fault_error;          /* CUresult */
    uint32_t fault_reserved;
};

struct wsdbg_state_module {
    uint64_t handle;                  /* CUmodule */
    uint64_t text_offset, text_bytes; /* PTX */
};

struct wsdbg_state_grid {
    uint64_t grid_id; /* %gridid */
    uint32_t module;
    uint32_t function_first;                /* the kernel's first instruction, by its number in the program */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 1, 1, 1: none */
    uint32_t registers;                     /* a thread, at launch */
    uint32_t has_probes;                    /* of its author's; else its events are the device's */
    uint32_t reserved;
    uint64_t parameter_offset, parameter_bytes;
};

/* Only CTAs whose warps have not all exited. */
struct wsdbg_state_cta {
    uint32_t grid;
    uint32_t index[3];
    uint32_t sm;
    uint32_t shared_bytes;
};

/* Of a CTA's shared memory, where barriers lie. */
struct wsdbg_state_piece {
    uint32_t cta;
    uint32_t first; /* shared address */
    uint64_t offset, byte_count;
};

/* Only warps that have not exited. */
struct wsdbg_state_warp {
    uint32_t cta;
    uint32_t index, slot;
    uint32_t live;      /* lanes that have not exited */
    uint32_t registers; /* a thread, now */
    uint32_t reserved;
};

enum wsdbg_state_wait {
    WSDBG_STATE_RUNS,
    WSDBG_STATE_MBARRIER,
    WSDBG_STATE_NAMED,
    WSDBG_STATE_CLUSTER,
    WSDBG_STATE_REGISTERS,
    WSDBG_STATE_WGMMA,
    WSDBG_STATE_BULK,
    WSDBG_STATE_GRID,
    WSDBG_STATE_LANES, /* for the warp's other lanes */
    WSDBG_STATE_SLEEPS,
    WSDBG_STATE_SPINS, /* goes round a loop in which nothing changes */
    WSDBG_STATE_WAIT_COUNT
};

/* Lanes of a warp that stand at one place. */
struct wsdbg_state_part {
    uint32_t warp;
    uint32_t lanes;
    uint32_t instruction; /* number in the program */
    uint32_t wait;        /* enum wsdbg_state_wait */
    uint32_t barrier;     /* MBARRIER: shared::cluster address; NAMED: id */
    uint32_t parity;      /* MBARRIER */
    uint32_t count;       /* NAMED: threads, 0 = the CTA's; REGISTERS: asked for; WGMMA, BULK: groups; MBARRIER: 1 = it
                           * is one of several that a loop tests in turn, else 0 */
    uint32_t width_bytes; /* SPINS: of the loop's last read, 0 = it read nothing */
    uint64_t address, value;
};

/* What a lane's execution of an atomic on global memory returned.  Those of a warp are in the order of their execution;
 * the rows are in the order of their CTAs.  Not in version 1. */
struct wsdbg_state_found {
    uint32_t cta, warp; /* warp: its index in the CTA; it may have exited */
    uint32_t lane;
    uint32_t instruction; /* number in the program */
    uint64_t value;
};

/* Mbarriers of a grid that have one id in the events that the device writes itself, a stage each.  Not in version 2. */
struct wsdbg_state_array {
    uint32_t grid;
    uint32_t id;
    uint32_t first, stride, stages; /* first: shared address; stride: in bytes */
    uint32_t reserved;
};

#endif
