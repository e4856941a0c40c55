/* warp.h - the parts of the software sm_90 while it executes: grids, CTAs, warps, and what one step of a warp sees.
 *
 * Private to hopper/.  Written by: launch.c (makes them), step.c (schedules and steps), execute_*.c (instructions).
 */
#ifndef WSDBG_HOPPER_WARP_H
#define WSDBG_HOPPER_WARP_H

#include "hopper/gpu_types.h"

enum { HOPPER_LANES = 32, HOPPER_NAMED_BARRIERS = 16, HOPPER_SPLITS = 32, HOPPER_CALLS = 16, HOPPER_MEETS = 8 };
enum { HOPPER_REGISTER_FILES = 4 }; /* of a multiprocessor */
#define HOPPER_SHARED_START \
    1024u /* dynamic and static shared memory begin behind what the system keeps, as measured on an H200 */
/* Where cooperative groups keep 288 bytes of what hardware reserves before it. */
#define HOPPER_SHARED_OF_GROUPS (HOPPER_SHARED_START - 512u)
#define HOPPER_RANK_SHIFT 24 /* a shared::cluster address is rank << 24 | offset; of the own CTA too */
#define HOPPER_SHARED_WINDOW 0x7e0000000000ull /* generic address = window + shared::cluster address */
#define HOPPER_LOCAL_WINDOW 0x7d0000000000ull
#define HOPPER_WINDOW_BYTES (1ull << 32)

/* What a part of a warp waits for, in the terms of a snapshot. */
enum hopper_wait_kind {
    HOPPER_RUNS,
    HOPPER_WAITS_MBARRIER,
    HOPPER_WAITS_NAMED,
    HOPPER_WAITS_CLUSTER,
    HOPPER_WAITS_REGISTERS,
    HOPPER_WAITS_WGMMA,
    HOPPER_WAITS_BULK,
    HOPPER_WAITS_GRID,
    HOPPER_WAITS_LANES, /* a warp-wide instruction's other lanes */
    HOPPER_SLEEPS,      /* nanosleep */
    HOPPER_SPINS        /* came round a loop with nothing changed: registers, and no write of its own */
};
struct hopper_wait {
    enum hopper_wait_kind kind;
    uint32_t lanes_missing;    /* LANES */
    uint32_t lanes_named;      /* LANES: the mask, at bar.warp.sync; else 0 */
    uint32_t cta_rank, offset; /* MBARRIER */
    uint32_t parity;           /* MBARRIER; phase token forms give the parity too */
    uint32_t id, threads;      /* NAMED */
    uint32_t registers;        /* REGISTERS: asked for, a thread */
    uint32_t groups;           /* WGMMA, BULK: may stay */
    uint64_t address, value;   /* SPINS: what its loop last read */
    uint32_t width_bytes;
    bool of_global;    /* SPINS: its loop reads memory that the host may write */
    bool tests;        /* SPINS: its loop tests mbarriers in vain; of one of them: cta_rank, offset, parity and */
    uint32_t tests_pc; /* ... the instruction that tests it */
    bool tests_others; /* ... and others too */
    uint64_t
        time_limit_ns; /* MBARRIER by try_wait: when it gives up and answers false; SLEEPS; simulated time, 0 = never */
    bool has_arrived;  /* NAMED: the warp is counted, and waits for the end of this generation */
    uint64_t generation; /* NAMED */
};

/* The loop that a split goes round: for HOPPER_SPINS, see spin.c. */
struct hopper_loop {
    uint32_t target; /* of the backward branch */
    uint32_t rounds; /* since the warp last wrote or the target changed */
    uint64_t hash, writes, changes;
};

/* Lanes of a warp that go together. */
struct hopper_split {
    uint32_t lanes;
    uint32_t pc;    /* instruction index */
    uint32_t turns; /* given to it although another one was further behind */
    uint32_t depth;
    uint32_t returns[HOPPER_CALLS];
    uint32_t meet_count, meets[HOPPER_MEETS]; /* where it is to meet lanes that went another way, innermost last */
    bool again; /* it waits, and something changed since it last looked: its instruction is executed again */
    struct hopper_wait wait;
    struct hopper_loop loop;
    /* Of a time limit that ran out: a hash of what the warp's threads had.  Of the last one: the gpu's count of
     * changes, and how many ran out before it with the same count.  See deadlock.c. */
    uint64_t expired_hash, expired_changes, expired_count;
    uint32_t repeating_lanes; /* those that came back to that state, and so try for ever */
    bool reads_global;        /* since the last time limit */
    bool polls_global;        /* between the one of the hash and the last one */
};

struct hopper_read {
    uint64_t address, value; /* the last */
    uint32_t width_bytes;    /* 0 = none */
    bool of_global;          /* any was of global or host memory: */
    uint64_t first, end;     /* where those were */
    bool looked;             /* memory or a barrier was looked at: */
    uint64_t changes;        /* of the gpu at the first look */
};

/* A test of an mbarrier that did not find its phase over. */
struct hopper_test {
    uint32_t pc, depth, cta_rank, offset, parity;
};
enum { HOPPER_TESTS = 4 };

struct hopper_warp {
    struct hopper_cta *cta;
    uint32_t index;                       /* in the CTA */
    uint32_t slot;                        /* %warpid: hardware warp slot of the multiprocessor */
    uint32_t live;                        /* lanes that have not exited */
    uint32_t split_count, streak;         /* see split.c */
    uint32_t alone_until;                 /* the chosen split goes on alone up to this instruction; 0 = not known */
    bool keeps_others_waiting;            /* another split is due for a turn after a while: `streak` counts */
    unsigned char *register_block;        /* what is freed: registers are aligned in it */
    unsigned char *registers;             /* see hopper_register32 */
    const struct hopper_registers *frame; /* of the function that is being executed */
    unsigned char *local;                 /* HOPPER_LANES times local_bytes */
    uint32_t local_bytes;
    uint32_t registers_held; /* a thread; changed by setmaxnreg */
    uint32_t carries;        /* of .cc: a bit a lane */
    uint64_t writes;         /* of memory or barriers, for spin detection */
    uint64_t instructions;
    uint32_t stands;         /* where the lanes that ran last are */
    uint64_t waits;          /* of those, that had to wait and are executed again */
    uint32_t priority;       /* of the PCT schedule */
    uint32_t ready_at;       /* place in the scheduler's list, NONE = every split waits */
    uint32_t spin_at;        /* place in the list of those that spin on global memory, NONE = not in it */
    uint32_t watched_lanes;  /* the split whose loop spin.c watches; 0 = none: reads are not noted */
    struct hopper_read read; /* from memory, since spin.c last began to watch a loop */
    struct hopper_test tests[HOPPER_TESTS]; /* since then: the first few in vain */
    uint32_t test_count;
    uint32_t cluster_arrived;                  /* lanes that arrived at the cluster barrier and have not waited since */
    uint32_t cluster_parity;                   /* of those lanes: the parity of its generation when they arrived */
    bool wgmma_pending;                        /* some of it still writes registers */
    bool watches_registers;                    /* the race checker wants to see each instruction */
    struct hopper_wgmma *wgmma;                /* its matrix work under way; NULL = none yet; see wgmma.h */
    struct hopper_copy_groups *bulk;           /* its lanes' groups of cp.async.bulk; NULL = none yet */
    struct hopper_copies *copies;              /* its lanes' cp.async; NULL = none yet */
    struct hopper_found *found;                /* what its atomics returned; NULL = none yet; see found.h */
    struct hopper_race_warp *race;             /* what it knows of others; see race.h */
    struct hopper_probe *probe;                /* tells of its events; NULL = nobody wants them; see probe.h */
    struct hopper_split splits[HOPPER_SPLITS]; /* last: few are ever used, memory that is not touched costs nothing */
};

struct hopper_named_barrier {
    uint32_t arrived; /* threads, whole warps */
    uint32_t threads; /* that the first of them said to come */
    uint64_t generation;
    uint32_t trues, trues_before, arrived_before; /* for bar.red: of this generation and of the one before */
};

struct hopper_cta {
    struct hopper_grid *grid;
    struct hopper_cluster *cluster; /* every CTA is in one, of size 1 without clusters */
    uint32_t rank;                  /* in the cluster */
    uint32_t index[3];
    uint32_t sm;
    uint64_t slots;        /* warp slots of the multiprocessor */
    uint32_t shared_bytes; /* [HOPPER_SHARED_START, +shared_bytes) is the CTA's */
    uint32_t shared_first; /* so is what lies before it, from here on, for cooperative groups */
    unsigned char *shared; /* HOPPER_SHARED_START + shared_bytes */
    struct hopper_warp *warps;
    uint32_t warp_count, live_warps;
    struct hopper_named_barrier named[HOPPER_NAMED_BARRIERS];
    uint32_t register_pool[HOPPER_REGISTER_FILES]; /* free registers (32-lane units of 1 register); warp w uses file
                                                      w % 4 */
    struct hopper_mbarriers *mbarriers; /* what its mbarriers' words do not tell; NULL = none yet; see mbarrier.h */
    uint32_t engine_works; /* copies under way that read or write its shared memory: it is kept until they are over */
    bool triggered;        /* griddepcontrol.launch_dependents */
    bool is_resident;
};

struct hopper_cluster {
    struct hopper_cta **ctas;
    uint32_t cta_count;
    uint64_t generation; /* of its barrier; who arrived is in the warps */
    uint32_t ctas_live, spinning_warps;
    struct hopper_race_cluster *race; /* see race.h */
    struct hopper_cluster *next;      /* of the grid's resident ones */
};

struct hopper_grid {
    struct wsdbg_gpu *gpu;
    struct wsdbg_gpu_launch launch;
    unsigned char *parameters;
    uint64_t workspace; /* of a cooperative grid: device memory for its barrier; 0 = none */
    uint64_t id;
    const struct hopper_code *code;
    uint64_t ctas_total, ctas_started, ctas_done, ctas_triggered; /* an exited CTA counts as triggered */
    struct hopper_cluster *clusters;                              /* resident */
    bool has_clusters;             /* the launch or the kernel named a size; launch.cluster is 1,1,1 else */
    uint32_t shared_bytes;         /* of a CTA: static and dynamic */
    uint64_t works_pending;        /* of engines */
    bool has_done_clusters;        /* whose memory may be freed */
    struct hopper_race_grid *race; /* see race.h */
};

/* ---- one step ---- */

enum hopper_outcome {
    HOPPER_NEXT,    /* done; the split goes on behind it */
    HOPPER_JUMPED,  /* done; the function set the split's (or splits') pc */
    HOPPER_BLOCKED, /* not done: split->wait says what for; executed again when something changed */
    HOPPER_FAULTED  /* hopper_fault was called */
};

struct hopper_step {
    struct wsdbg_gpu *gpu;
    struct hopper_warp *warp;
    struct hopper_split *split;
    const struct wsdbg_ptx_program *program;
    const struct wsdbg_ptx_instruction *instruction;
    uint32_t lanes;             /* of the split, those whose guard is true: never 0 when an instruction is executed */
    const struct hopper_op *op; /* the instruction, prepared: see code.h */
    unsigned char *bases[4];    /* what op's places are in: see code.h */
};

/* Values of all 32 lanes; predicates are one mask.  64-bit registers are 8 bytes a lane, all shorter ones 4 (high bits
 * of 16- and 8-bit values are not defined). */
uint32_t *hopper_register32(const struct hopper_warp *warp, uint32_t number);
uint64_t *hopper_register64(const struct hopper_warp *warp, uint32_t number);
uint32_t *hopper_predicate(const struct hopper_warp *warp, uint32_t number);
bool hopper_is_64(const struct hopper_warp *warp, uint32_t number);

/* Operand `number` as one lane sees it: register, immediate, special register, variable's address, vector's element. */
uint64_t hopper_source(const struct hopper_step *step, unsigned number, unsigned lane);
uint64_t hopper_element(const struct hopper_step *step, unsigned number, unsigned element, unsigned lane);
/* Writes a result (also 16 or 8 bits, and predicates as 0 or 1); a sink takes it. */
void hopper_result(const struct hopper_step *step, unsigned number, unsigned lane, uint64_t value);
void hopper_result_element(const struct hopper_step *step, unsigned number, unsigned element, unsigned lane,
                           uint64_t value);
/* The address of an ADDRESS operand in the operand's or instruction's space, before any check. */
uint64_t hopper_address(const struct hopper_step *step, unsigned number, unsigned lane);

/* Memory [address, +byte_count) of a space as this lane may use it; NULL after hopper_fault.  Shared addresses may
 * carry a rank; space SHARED allows the own CTA's only. */
void *hopper_memory(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address, uint32_t byte_count,
                    uint32_t alignment, unsigned lane, bool for_writing);
/* The CTA and the offset in its shared memory that an address (SHARED, SHARED_CLUSTER or GENERIC) means; NULL after
 * hopper_fault. */
struct hopper_cta *hopper_locate(const struct hopper_step *step, enum wsdbg_ptx_space space, uint64_t address,
                                 uint32_t byte_count, uint32_t alignment, unsigned lane, uint32_t *offset);
/* Shared memory of a CTA of the cluster, NULL when the range is not inside. */
static inline unsigned char *hopper_shared(const struct hopper_cta *cta, uint32_t offset, uint32_t byte_count)
{
    const uint32_t end = HOPPER_SHARED_START + cta->shared_bytes;
    if (offset < cta->shared_first || offset > end || byte_count > end - offset)
        return NULL;
    return cta->shared + offset;
}
/* Something that waiting or spinning warps may look at changed; every write, arrival, engine's completion says so.
 * The narrower the faster: barriers and register pool of a CTA, plain data in shared memory of a CTA, global memory
 * (also host's), and anything at all. */
void hopper_changed_barrier(struct hopper_cta *cta);
void hopper_changed_shared(struct hopper_cta *cta);
void hopper_changed_global(struct wsdbg_gpu *gpu);
void hopper_changed(struct wsdbg_gpu *gpu);
/* griddepcontrol.launch_dependents of a CTA; again is fine. */
void hopper_cta_triggered(struct hopper_cta *cta);

/* A number below `choices` (at least 1) that the schedule decides; 0 under round robin. */
uint32_t hopper_decide(struct wsdbg_gpu *gpu, uint32_t choices);

enum hopper_outcome hopper_fault(const struct hopper_step *step, unsigned lane, int driver_error, const char *format,
                                 ...) __attribute__((format(printf, 4, 5)));

/* Waits until `members` (lanes of the warp) stand at this instruction: .sync forms.  NEXT when step->lanes are all of
 * them, else BLOCKED with HOPPER_WAITS_LANES.  Splits at one pc are merged before each step. */
enum hopper_outcome hopper_gather(struct hopper_step *step, uint32_t members);

/* ---- engines: copies and matrix work that go on beside the warps ---- */

/* `complete` is called once, by the scheduler, at or after the simulated time; the schedule decides the order of those
 * that are due.  `complete` frees `work`; when the grid is given up
 * the scheduler does, with free(). */
struct wsdbg_error *hopper_engine_add(struct wsdbg_gpu *gpu, struct hopper_grid *grid, uint64_t latency_ns,
                                      void (*complete)(struct wsdbg_gpu *gpu, void *work), void *work);
/* A fault found by an engine: of the grid, without a thread. */
void hopper_engine_fault(struct wsdbg_gpu *gpu, struct hopper_grid *grid, int driver_error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- what the parts that keep state beside the warps are told; "lanes" have been taken from warp->live already ----
 */

void hopper_lanes_exited(struct hopper_warp *warp, uint32_t lanes);
/* The warp's and the CTA's memory is given back: frees what hangs on them (wgmma, bulk, copies; mbarriers). */
void hopper_warp_freed(struct hopper_warp *warp);
void hopper_cta_freed(struct hopper_cta *cta);

/* An instruction of a warp whose wgmma_pending is set is about to be executed.  The machine code's compiler waits where
 * accumulators under way are used: so what it finds there is complete, but it is reported, unless it is only moved. */
void hopper_wgmma_before(struct hopper_step *step);

/* What is not an error on hardware but never meant; kept once a place (reports.c). */
/* warp: NULL = a copy engine. */
void hopper_report(const struct hopper_cta *cta, const struct hopper_warp *warp, enum wsdbg_gpu_report_kind kind,
                   uint32_t instruction, uint32_t offset);
enum { HOPPER_REPORTS = 64 };
struct hopper_reports {
    struct wsdbg_gpu_report rows[HOPPER_REPORTS];
    size_t count;
};

#endif
