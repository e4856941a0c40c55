/* ring.h - the binary format of what a probed kernel writes (the ring's ABI).
 *
 * Written by: the device probes (wsdbg/probe.h).  Read by: tracer/evidence.
 * Compiles as C11, C++17 and CUDA.
 *
 * Two places per warp, both in device memory (or both in host memory that the GPU maps, see session.h):
 *   state slot   64 bytes, overwritten in place: who the warp is and its last milestone.
 *   history ring the last `depth` events, 16 bytes each.
 * A copy engine reads both while a kernel runs or hangs: the slots whenever wsdbg looks, the histories when
 * it asks.  (Slots in host memory that the GPU maps made an 8192-cubed GEMM 15 times slower: its warps
 * produce 10 events a nanosecond, PCIe carries one.)
 *
 * A slot belongs to a hardware warp slot: index = %smid * warps_per_sm + %warpid.  So any number of
 * grids and CTAs fits, and a warp's identity (grid, CTA, warp) is written into its slot when it begins.
 *
 * An event is one aligned 16-byte store.  `sequence` counts the warp's events modulo 256; event number n
 * lies in history[n & (depth - 1)].  Milestones (below) overwrite the slot's event as well; the others do not,
 * because a second store in a main loop costs more than all the rest.  With history off the ring is the slot.
 *
 * A reader takes the slot's event, then the ring's newest: the entry at its place (sequence & (depth - 1)) that
 * is latest, and not older than the slot's.  From there it walks back: each older entry must have the sequence
 * before, a time not later, and the walk ends at BEGIN or after `depth` entries.  An entry that does not fit
 * was torn or overwritten: the reader stops there and counts it.
 *
 * EXIT means that every lane that began has left.  Lanes may leave in parts, an elected one long after the others: a part
 * leaves its lanes in a word of the slot's own (wsdbg_config.leavers_offset) and writes nothing, and the part that completes
 * it writes EXIT.  As each lane counts its own events, such an EXIT goes into the slot alone, where it overwrites nothing
 * of the history: the reader puts it before the ring's newest event that is not later.
 * Entries of the ring between BEGIN and the last event that the walk does not meet are events of other lanes, which went
 * a way of their own: the reader puts them where their times say, and the history is not whole.  Likewise an entry on
 * the walk that is later than the one behind it, and not later than the last: other lanes wrote over an event there.
 *
 * Rules of change: fields are only added at the end and in reserved space, kinds of events are only appended; any other
 * change raises WSDBG_ABI_VERSION.  No field is ever reinterpreted.  A kind that a reader does not know is no event to
 * it: the walk stops there, and a warp whose slot holds one is in a state that is not known.
 */
#ifndef WSDBG_RING_H
#define WSDBG_RING_H

#include <stdint.h>

#ifdef __cplusplus
#define WSDBG_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define WSDBG_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define WSDBG_ABI_VERSION 1u

/* Device time stamps count units of 32 ns of %globaltimer; they wrap after 137 s. */
#define WSDBG_TIME_SHIFT 5u

/* The state of a warp follows from its last event: *_BEGIN means waiting, EXIT gone, all others running.
 * Columns: name, what `barrier`, `stage`, `value` hold (site = WSDBG_SITE below). */
enum wsdbg_event_kind {
    WSDBG_EVENT_NONE = 0,
    WSDBG_EVENT_BEGIN = 1,                     /* the warp entered the kernel; iteration = events lost */
    WSDBG_EVENT_ROLE_BEGIN = 2,                /* value = role id */
    WSDBG_EVENT_REGISTERS_REQUEST = 3,         /* before setmaxnreg.inc; value = registers a thread */
    WSDBG_EVENT_REGISTERS_GRANTED = 4,         /* after setmaxnreg.inc; value = registers a thread */
    WSDBG_EVENT_REGISTERS_RELEASE = 5,         /* after setmaxnreg.dec; value = registers a thread */
    WSDBG_EVENT_MBARRIER_INIT = 6,             /* barrier, stage; value = expected arrivals */
    WSDBG_EVENT_MBARRIER_WAIT_BEGIN = 7,       /* barrier, stage, parity; value = site */
    WSDBG_EVENT_MBARRIER_WAIT_END = 8,         /* barrier, stage, parity; value = site */
    WSDBG_EVENT_MBARRIER_ARRIVE = 9,           /* barrier, stage; value = site (lanes = arrivals, target) */
    WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX = 10, /* one arrival; value = bytes */
    WSDBG_EVENT_MBARRIER_EXPECT_TX = 11,       /* no arrival; value = bytes */
    WSDBG_EVENT_TMA_ISSUE = 12,                /* load that completes on barrier, stage; value = WSDBG_TMA */
    WSDBG_EVENT_TMA_STORE_ISSUE = 13,          /* value = bytes */
    WSDBG_EVENT_BULK_COMMIT = 14,
    WSDBG_EVENT_BULK_WAIT_BEGIN = 15,          /* value = groups that may stay outstanding */
    WSDBG_EVENT_BULK_WAIT_END = 16,
    WSDBG_EVENT_WGMMA_ISSUE = 17,              /* stage */
    WSDBG_EVENT_WGMMA_COMMIT = 18,
    WSDBG_EVENT_WGMMA_WAIT_BEGIN = 19,         /* value = groups that may stay outstanding */
    WSDBG_EVENT_WGMMA_WAIT_END = 20,
    WSDBG_EVENT_NAMED_ARRIVE = 21,             /* barrier = hardware id 0..15; value = threads */
    WSDBG_EVENT_NAMED_SYNC_BEGIN = 22,         /* barrier = hardware id 0..15; value = threads */
    WSDBG_EVENT_NAMED_SYNC_END = 23,
    WSDBG_EVENT_CLUSTER_ARRIVE = 24,
    WSDBG_EVENT_CLUSTER_WAIT_BEGIN = 25,       /* value = site */
    WSDBG_EVENT_CLUSTER_WAIT_END = 26,
    WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN = 27, /* griddepcontrol.wait; value = site */
    WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END = 28,
    WSDBG_EVENT_TILE_BEGIN = 29,               /* value = tile index */
    WSDBG_EVENT_USER_MARK = 30,                /* barrier = the user's mark id; value = the user's value */
    WSDBG_EVENT_EXIT = 31,                     /* every lane has left; in the slot alone where they left in parts */
    WSDBG_EVENT_POLL_BEGIN = 32,               /* a word of global or host memory; barrier = the author's id of the word,
                                                  stage = enum wsdbg_poll_writer; value = site */
    WSDBG_EVENT_POLL_END = 33,                 /* the same */
    WSDBG_EVENT_KIND_COUNT = 34
};

/* Who may write a word that a warp polls. */
enum wsdbg_poll_writer {
    WSDBG_POLL_OF_GPU = 0,   /* kernels of this GPU alone */
    WSDBG_POLL_OF_SYSTEM = 1 /* the host or another GPU too */
};

/* Kinds that overwrite the slot's event too: where a warp may stay for long, or will not be back soon. */
static inline int wsdbg_event_is_milestone(uint32_t kind)
{
    const uint64_t milestones =
        1u << WSDBG_EVENT_BEGIN | 1u << WSDBG_EVENT_ROLE_BEGIN | 1u << WSDBG_EVENT_REGISTERS_REQUEST |
        1u << WSDBG_EVENT_REGISTERS_GRANTED | 1u << WSDBG_EVENT_REGISTERS_RELEASE |
        1u << WSDBG_EVENT_MBARRIER_WAIT_BEGIN | 1u << WSDBG_EVENT_BULK_WAIT_BEGIN |
        1u << WSDBG_EVENT_NAMED_SYNC_BEGIN | 1u << WSDBG_EVENT_CLUSTER_WAIT_BEGIN |
        1u << WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN | 1u << WSDBG_EVENT_TILE_BEGIN | 1u << WSDBG_EVENT_USER_MARK |
        1u << WSDBG_EVENT_EXIT | UINT64_C(1) << WSDBG_EVENT_POLL_BEGIN;
    return kind < WSDBG_EVENT_KIND_COUNT && (milestones >> kind & 1u);
}

/* One event.  `stage` holds the stage in bits 0-6 and the parity waited for in bit 7. */
struct wsdbg_event {
    uint8_t kind;       /* enum wsdbg_event_kind */
    uint8_t barrier;    /* the author's barrier id, or the hardware id of a named barrier */
    uint8_t stage;
    uint8_t sequence;   /* event number modulo 256 */
    uint32_t iteration; /* the author's running count of uses (k-blocks), WSDBG_NO_ITERATION if none */
    uint32_t value;
    uint32_t time;      /* %globaltimer >> WSDBG_TIME_SHIFT */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_event) == 16, "an event is one 16-byte store");

#define WSDBG_NO_ITERATION 0xffffffffu
#define WSDBG_STAGE_MASK 0x7fu
#define WSDBG_PARITY_SHIFT 7u

/* Site value: source line (bits 0-15), writing lane (16-20), active lanes (21-26), and for an arrival the
 * target CTA's rank in the cluster plus one (27-31; 0 = the warp's own CTA). */
#define WSDBG_SITE_LINE(value) ((value) & 0xffffu)
#define WSDBG_SITE_LANE(value) (((value) >> 16) & 31u)
#define WSDBG_SITE_LANES(value) (((value) >> 21) & 63u)
#define WSDBG_SITE_TARGET(value) (((value) >> 27) & 31u)

/* TMA value: bytes that reach each destination CTA (bits 0-23), multicast mask (24-31; 0 = own CTA only). */
#define WSDBG_TMA_BYTES(value) ((value) & 0xffffffu)
#define WSDBG_TMA_MULTICAST(value) ((value) >> 24)

/* Every identity carries this in its last word, xor-ed with the words before it; all-zero memory is no identity. */
#define WSDBG_IDENTITY_SEED 0x57534442u

/* A warp's state slot.  `state` is overwritten by every milestone (with history off by every event); the rest once,
 * when the warp begins. */
struct wsdbg_slot {
    struct wsdbg_event state;
    uint64_t grid_id; /* %gridid */
    uint32_t cta_x;
    uint32_t cta_y;
    uint32_t cta_z;
    uint32_t warp_in_cta; /* bits 0-7 warp = linear thread / 32, 8-15 warps in the CTA, 16-23 cluster rank, 24-31 cluster size */
    uint32_t placement;   /* bits 0-15 %smid, 16-31 %warpid */
    uint32_t module_id;   /* wsdbg_config.module_id of the module the kernel came from */
    uint32_t cluster_id;  /* linear cluster index in the grid (CTA index where there are no clusters) */
    uint32_t role;        /* role id + 1, 0 = none begun; written by ROLE_BEGIN, not part of the check */
    uint32_t grid_ctas;   /* CTAs in the grid, modulo 2^32 */
    uint32_t check;       /* seed ^ every 32-bit word from grid_id to cluster_id ^ grid_ctas */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_slot) == 64, "a slot is half a cache line pair");

/* What the shim writes into each probed module's constant `wsdbg_config_v1`; all zero = probes off. */
struct wsdbg_config {
    uint64_t slots_address;   /* address of slot 0, as the GPU sees it */
    uint64_t history_address; /* event 0 of slot 0, at WSDBG_RING_LEAST or above; with history off slots_address, stride 64
                                 and mask 0 */
    uint32_t history_stride;  /* bytes from one warp's event 0 to the next one's */
    uint32_t history_mask;    /* events a warp - 1 */
    uint32_t warps_per_sm;
    uint32_t slot_count; /* at most WSDBG_SLOTS_MAX */
    uint32_t module_id;
    uint32_t leavers_offset; /* bytes from slot 0 to a word of 4 bytes a slot: the lanes that are not there any more; 0 = there
                                are no such words, and a part that leaves writes EXIT */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_config) == 40, "config layout");

#define WSDBG_HISTORY_DEPTH_MAX 128u
/* A probe tests only the upper half of the ring's address, and keeps the slot's index in 16 bits. */
#define WSDBG_RING_LEAST (UINT64_C(1) << 32)
#define WSDBG_SLOTS_MAX 65536u

/* A row of the module's name table `wsdbg_names_v1`: what the ids in events mean. */
enum wsdbg_name_kind {
    WSDBG_NAME_NONE = 0,
    WSDBG_NAME_ROLE = 1,
    WSDBG_NAME_MBARRIER = 2,
    WSDBG_NAME_NAMED_BARRIER = 3,
    WSDBG_NAME_MARK = 4,
    WSDBG_NAME_SOURCE = 5, /* part `id` (from 0) of the path of the source file, WSDBG_SOURCE_PART bytes each */
    WSDBG_NAME_INFERRED =
        6 /* nobody named anything: a simulated device writes the events, and roles are kinds (enum wsdbg_role_kind) */
};
#define WSDBG_SOURCE_PART 47u
#define WSDBG_SOURCE_PARTS 4u

struct wsdbg_name {
    uint8_t kind;           /* enum wsdbg_name_kind */
    uint8_t id;
    uint8_t stages;         /* mbarrier: number of stages, 0 = not said */
    uint8_t first_free;     /* mbarrier: 1 = the first wait on each stage passes at once (an "empty" barrier) */
    uint32_t arriving_roles; /* bit r: role r arrives here; 0 = not said */
    uint32_t waiting_roles;  /* bit r: role r waits here; 0 = not said */
    uint32_t reserved;
    char name[48];           /* zero-terminated */
};
WSDBG_STATIC_ASSERT(sizeof(struct wsdbg_name) == 64, "name layout");

/* What a warp does, as its code tells: role id + 1 in slots of modules with WSDBG_NAME_INFERRED. */
enum wsdbg_role_kind {
    WSDBG_ROLE_KIND_NONE,     /* not clear */
    WSDBG_ROLE_KIND_LOADS,    /* bulk copies into shared memory */
    WSDBG_ROLE_KIND_COMPUTES, /* wgmma */
    WSDBG_ROLE_KIND_STORES    /* bulk copies out of shared memory, and nothing of the above */
};

#define WSDBG_CONFIG_SYMBOL "wsdbg_config_v1"
#define WSDBG_NAMES_SYMBOL "wsdbg_names_v1"

#endif
