/* warp_rows.h - rows of a snapshot: where the warps of the grids stand, and what their barriers hold.
 *
 * Written from: slots and histories, a GPU's own state, a core dump, a simulated device.  snapshot.h says what holds
 * for all rows.
 */
#ifndef WSDBG_MODEL_WARP_ROWS_H
#define WSDBG_MODEL_WARP_ROWS_H

#include "base/optional.h"
#include "wsdbg/ring.h"

enum wsdbg_warp_state {
    WSDBG_WARP_UNKNOWN = 0,
    WSDBG_WARP_RUNNING,
    WSDBG_WARP_WAIT_MBARRIER,
    WSDBG_WARP_WAIT_NAMED,
    WSDBG_WARP_WAIT_CLUSTER,
    WSDBG_WARP_WAIT_REGISTERS,
    WSDBG_WARP_WAIT_WGMMA,
    WSDBG_WARP_WAIT_BULK,
    WSDBG_WARP_WAIT_GRID_DEPENDENCY,
    WSDBG_WARP_SPIN_GLOBAL, /* polls a word in global memory, or in a space that its load does not name */
    WSDBG_WARP_SPIN_SHARED, /* ... in shared memory: only the CTA's cluster can write it */
    WSDBG_WARP_RECONVERGE,
    WSDBG_WARP_EXITED,
    WSDBG_WARP_STATE_COUNT
};

/* "WAIT_MBARRIER", … stable; for JSON and SQL. */
const char *wsdbg_warp_state_name(enum wsdbg_warp_state state);
/* "mbarrier wait begin", … for people. */
const char *wsdbg_event_kind_name(enum wsdbg_event_kind kind);
/* True for the states that wait for somebody (everything from WAIT_MBARRIER to RECONVERGE). */
bool wsdbg_warp_state_waits(enum wsdbg_warp_state state);
/* SPIN_GLOBAL or SPIN_SHARED. */
bool wsdbg_warp_state_polls(enum wsdbg_warp_state state);

/* A ring event with its time unwrapped. */
struct wsdbg_history_event {
    uint64_t gpu_time_ns;
    uint32_t iteration; /* WSDBG_NO_ITERATION = not given */
    uint32_t value;     /* see enum wsdbg_event_kind */
    uint8_t kind;       /* enum wsdbg_event_kind */
    uint8_t barrier;
    uint8_t stage; /* without the parity bit */
    uint8_t parity;
};

/* One look at the GPU through a debug attach that stops it. */
struct wsdbg_look_row {
    uint32_t process_id;                                           /* that was looked at, 0 = the only one */
    uint64_t time_ns;                                              /* host, when the GPU was stopped; 0 = not known */
    uint64_t attach_ns, suspend_ns, read_ns, resume_ns, detach_ns; /* lengths; 0 = that step was not needed */
    uint64_t earlier_attach_ns; /* host, when a debugger last attached for an earlier look; 0 = none is known of */
    uint64_t first_attach_ns;   /* the same of the process's first look, where there was an earlier one */
    bool held_nothing_back;     /* the debugger attached before there was work that the attach could hold back */
    uint32_t warps, warps_read,
        moved; /* seen; whose registers were read; that stand elsewhere than at the look before */
    struct wsdbg_optional_u32 barriers_changed;
};

/* A core dump tells nothing of what it cost; a look that read the GPU itself took time. */
static inline bool wsdbg_look_lengths_known(const struct wsdbg_look_row *look)
{
    return look->read_ns != 0;
}

/* A grid whose warps were seen: in slots, or on the GPU itself. */
struct wsdbg_grid {
    uint32_t context;
    uint64_t grid_id;   /* %gridid */
    uint32_t module;    /* whose names apply */
    uint32_t launch;    /* WSDBG_NONE = could not be told apart */
    uint32_t function;  /* known also where the launch is not, if only one probed function was launched */
    uint32_t cta_total; /* 0 = not known */
    uint32_t warps_per_cta;
    uint32_t size[3], block[3]; /* CTAs, and threads of one, as the GPU has them; 0 = not known.  Not in the file */
    struct wsdbg_optional_u32 cluster[3]; /* likewise */
    uint32_t cta_first, cta_count;        /* CTAs seen, or known to have left a cluster that was */
    uint32_t warps_live, warps_exited;
    bool running;         /* some warp has not exited, its context is alive and its launch is not known to be done */
    uint64_t progress_ns; /* host time at which it was last seen to move, 0 = not known */
    bool moves;           /* it moves while others stand: what its warps wait for at this moment says nothing */
};

struct wsdbg_cta {
    uint32_t grid;
    uint32_t x, y, z;
    uint32_t cluster_id, cluster_rank, cluster_size; /* size 1 = no cluster */
    struct wsdbg_optional_u32 sm;
    uint32_t warp_first,
        warp_count; /* warps seen, ordered by warp index; fewer than warps_per_cta = the rest not seen */
};

struct wsdbg_warp_row {
    uint32_t cta;
    uint32_t warp; /* linear thread / 32 */
    enum wsdbg_warp_state state;
    struct wsdbg_optional_u32 role;            /* role id */
    struct wsdbg_history_event last;           /* kind NONE = no event yet */
    struct wsdbg_optional_u32 line;            /* source line of the site, where the last event has one */
    struct wsdbg_optional_u32 lanes;           /* active lanes at the last event, where it has them */
    uint32_t barrier;                          /* index in snapshot.barriers of what it waits for */
    uint32_t site;                             /* index in sites, WSDBG_NONE: the part's that it waits with */
    uint32_t part_first, part_count;           /* in snapshot.parts; 0 = not known from the machine's state */
    struct wsdbg_optional_u32 parity;          /* of the phase waited for, from the machine's state */
    struct wsdbg_optional_u32 registers_held;  /* a thread, now */
    struct wsdbg_optional_u32 registers_asked; /* while WAIT_REGISTERS */
    bool unmoved; /* UNKNOWN because two looks saw it in one place outside of any known wait, or in a wait that is over;
                     not kept in sessions, as the next one */
    uint64_t stands; /* two looks show that it stands: by the wait, or by its place and registers; a hash of them.  0 =
                        not known */
    uint64_t changed_ns;                   /* host time at which its slot was last seen to change */
    uint32_t history_first, history_count; /* in snapshot.history, oldest first; the last one equals `last` */
    bool history_whole;                    /* starts with the warp's BEGIN: nothing is missing */
};

/* A part of a warp: the lanes that stand at one place. */
struct wsdbg_part {
    uint32_t warp;
    uint32_t lanes;
    enum wsdbg_warp_state state;
    uint32_t site;
    uint32_t barrier;                  /* index in barriers, WSDBG_NONE */
    struct wsdbg_optional_u32 parity;  /* waited for */
    struct wsdbg_optional_u32 count;   /* threads of a named barrier, registers asked, groups */
    struct wsdbg_optional_u64 address; /* polled: global address */
    struct wsdbg_optional_u32 width_bytes;
    struct wsdbg_optional_u64 value; /* last seen there */
    bool seen;                       /* its operands were read; false: taken from a warp in the same state */
    /* WAIT_MBARRIER: a loop tests several barriers in turn and goes on when one of them is through; this is one.  Not
     * in the session's file. */
    bool of_several;
    /* Lanes that wait for others of the warp: the row in sites of a store that some of them make next to the word which
     * those poll; a finding reports it, so it is not in the session's file. */
    struct wsdbg_optional_u32 writes_site;
};

/* An error that the GPU reported of a warp.  Not in the session's file: a finding reports it. */
struct wsdbg_exception {
    uint32_t warp;
    uint32_t code;     /* CUDA_EXCEPTION_<code> */
    uint32_t lanes;    /* that it may be of: those it was reported of, or all of the warp where it names a warp */
    uint32_t at_lanes; /* exact: those of them that executed the instruction; 0 = not known */
    bool thread_known; /* one alone did, or its address alone is misaligned: */
    uint32_t thread[3];
    uint64_t pc;      /* of the instruction, or where the thread stands */
    bool exact;       /* the instruction's; false: it is that one or one before it */
    uint32_t site;    /* of that PC */
    uint8_t access;   /* exact, a barrier's: enum wsdbg_access_kind of sass/access_kind.h; else 0 */
    uint32_t barrier; /* ... which mbarrier, as far as registers say: index in barriers, WSDBG_NONE */
    bool remote;      /* ... that of a CTA which is not to be seen any more */
    /* exact, of a load, store or atomic: what it names, the lowest of the lanes; of an mbarrier's access: its place in
     * the own CTA, if `barrier` has none there */
    struct wsdbg_optional_u64 address;
    uint64_t last_address;     /* ... the highest */
    bool in_shared;            /* ... offsets in shared memory, as the instruction has them */
    uint32_t misaligned_bytes; /* ... the address is no multiple of these, its width; 0 = not known to be */
    bool trapped;              /* exact: the instruction ends the kernel */
};

enum wsdbg_barrier_kind {
    WSDBG_BARRIER_MBARRIER = 1,
    WSDBG_BARRIER_NAMED,
    WSDBG_BARRIER_CLUSTER,
    WSDBG_BARRIER_REGISTERS,
    WSDBG_BARRIER_WGMMA,
    WSDBG_BARRIER_BULK,
    WSDBG_BARRIER_GRID_DEPENDENCY,
    WSDBG_BARRIER_GLOBAL_FLAG,
    WSDBG_BARRIER_SHARED_FLAG,
    WSDBG_BARRIER_KIND_END
};

const char *wsdbg_barrier_kind_name(enum wsdbg_barrier_kind kind);

/* A barrier object of one CTA (one stage of one mbarrier family, one named id, the CTA's register pool …). */
struct wsdbg_barrier {
    uint32_t cta;
    enum wsdbg_barrier_kind kind;
    uint32_t id;                                 /* author's mbarrier id or hardware id of a named barrier */
    uint32_t stage;                              /* mbarriers */
    const struct wsdbg_name *name;               /* row of snapshot.names, NULL = not named */
    struct wsdbg_optional_u32 expected_arrivals; /* mbarrier: from its init event; named: thread count asked */
    struct wsdbg_optional_u32 phase;             /* parity of the current phase */
    struct wsdbg_optional_u32 pending_arrivals;
    struct wsdbg_optional_u32 completed_phases;
    struct wsdbg_optional_u64 pending_tx_bytes; /* still missing; two's complement if early */
    uint32_t waiters;                           /* warps of the CTA that wait on it now */
    bool record_lacks; /* its word counts arrivals in this phase that nobody recorded, or lacks some that were */
    struct wsdbg_optional_u32 shared_offset; /* mbarriers seen in memory */
    struct wsdbg_optional_u64 word;          /* the mbarrier's 64 bits as they were */
    struct wsdbg_optional_u32 device_id;     /* mbarriers: its array in events that a simulated device writes itself, */
    uint32_t device_stage, device_stages;    /* its stage there, and how many there are; not kept in sessions */
};

/* Registers or memory as they were, for the session's file. */
enum wsdbg_excerpt_kind {
    WSDBG_EXCERPT_REGISTERS = 1,
    WSDBG_EXCERPT_UNIFORM,
    WSDBG_EXCERPT_SHARED,
    WSDBG_EXCERPT_GLOBAL
};

enum { WSDBG_EXCERPT_WORDS = 32 };
struct wsdbg_excerpt {
    uint32_t kind;
    uint32_t cta, warp; /* WSDBG_NONE where it does not apply */
    uint32_t lane;
    uint64_t first; /* register, or byte address */
    uint32_t count; /* words */
    uint32_t words[WSDBG_EXCERPT_WORDS];
};

#endif
