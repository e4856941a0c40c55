/* probe.h - events of kernels without probes: the device itself writes the ring that wsdbg/ring.h lays out.
 *
 * Private to hopper/.  A module without a config of its own gets one, with a names table, when the driver's client asks
 * for it (gpu.h).  While that config is not all zero, warps of the module have a struct hopper_probe, and instructions
 * of the classes below go through hopper_probe_execute.
 *
 *   probe_config.c     configs and names tables
 *   probe.c            slots, histories: one event is written, a warp begins and exits
 *   probe_step.c       which events an instruction is
 *   probe_families.c   ids and stages of mbarriers
 *   probe_mbarrier.c   rounds of mbarriers
 *   probe_role_kind.c  what a warp can still reach: loads, matrix work, stores
 */
#ifndef WSDBG_HOPPER_PROBE_H
#define WSDBG_HOPPER_PROBE_H

#include "hopper/device.h"
#include "wsdbg/ring.h"

enum hopper_probe_class {
    HOPPER_NO_PROBE,
    HOPPER_PROBE_INIT,
    HOPPER_PROBE_ARRIVE, /* and expect_tx */
    HOPPER_PROBE_WAIT,
    HOPPER_PROBE_COPY,
    HOPPER_PROBE_BULK_COMMIT,
    HOPPER_PROBE_BULK_WAIT,
    HOPPER_PROBE_WGMMA,
    HOPPER_PROBE_WGMMA_COMMIT,
    HOPPER_PROBE_WGMMA_WAIT,
    HOPPER_PROBE_REGISTERS,
    HOPPER_PROBE_NAMED_ARRIVE,
    HOPPER_PROBE_NAMED_SYNC,
    HOPPER_PROBE_CLUSTER_ARRIVE,
    HOPPER_PROBE_CLUSTER_WAIT,
    HOPPER_PROBE_GRID_WAIT
};

enum {
    HOPPER_PROBE_STAGES = WSDBG_STAGE_MASK + 1,
    HOPPER_PROBE_IDS = 256,
    HOPPER_PROBE_WAITS = 4,
    HOPPER_PROBE_HELD = 4,
    HOPPER_PROBE_INITS = 256
};

/* An event's barrier: what stands in it, and how often its stage was used before. */
struct hopper_probe_stage {
    uint8_t id, stage;
    uint32_t iteration; /* WSDBG_NO_ITERATION = not known */
};

struct hopper_probe {
    uint64_t slot, ring; /* addresses */
    uint32_t mask;       /* of the history; its place is the slot where there is none */
    bool has_history;
    uint8_t sequence, last_kind;
    bool wgmma_is_open;
    enum wsdbg_role_kind done; /* what the warp certainly does */
    uint32_t role;             /* as its slot has it */
    /* Waits that have begun and not ended; several where lanes wait apart. */
    struct hopper_probe_wait {
        uint8_t id, stage, parity;
    } waits[HOPPER_PROBE_WAITS];
    uint32_t wait_count;
    /* Inits that are not told yet: what the kernel does next shows which of them belong together. */
    struct hopper_probe_init {
        uint32_t offset, count;
    } * inits;
    uint32_t init_count;
    size_t init_capacity;
    /* Waits of some lanes, not told yet: others of the warp go on. */
    struct wsdbg_event held[HOPPER_PROBE_HELD];
    uint32_t held_count;
    /* By stage: the round of the last ended wait, NONE = none yet, and of which barrier; how often bytes were expected
     * on the stage before. */
    struct {
        uint32_t round;
        uint16_t id;
        uint16_t expected_before;
    } stages[HOPPER_PROBE_STAGES];
};

/* An array of mbarriers of one kernel. */
struct hopper_probe_family {
    uint32_t function, first, stride, stages; /* first: offset; stride: in bytes */
    bool was_waited_for, first_is_free;       /* its first wait passed before anything had arrived */
};

/* Of a module. */
struct hopper_probes {
    uint64_t config_address, names_address;
    uint32_t names_bytes;
    uint8_t *role_kinds; /* one an instruction, see probe_role_kind.c; NULL = none was asked for yet */
    struct hopper_probe_family families[HOPPER_PROBE_IDS];
    uint32_t family_count;
    struct wsdbg_ptx_code *ptx;      /* NULL = it was not needed yet */
    struct hopper_probe_code *codes; /* beside the program's functions; see probe_families.c */
    size_t code_count;
};

/* ---- probe_config.c ---- */

/* The file in which lines count: that of the kernel itself, whatever was inlined there. */
uint32_t hopper_probe_main_file(const struct wsdbg_ptx_program *program, uint32_t place);
/* Both tables, the config all zero; NULL: no memory. */
struct hopper_probes *hopper_probes_create(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program);
void hopper_probes_free(struct wsdbg_gpu *gpu, struct hopper_probes *probes);

/* ---- probe.c ---- */

enum hopper_probe_class hopper_probe_class(uint16_t operation);
/* The warp was placed: from here on it has a probe if its module's config says so. */
void hopper_probe_begin(struct hopper_warp *warp);
void hopper_probe_exit(struct hopper_warp *warp);
/* None of its lanes can run now. */
void hopper_probe_blocked(struct hopper_warp *warp);
/* An mbarrier was initialised: it is told with the warp's next event.  Out of memory loses it. */
void hopper_probe_note_init(struct hopper_warp *warp, uint32_t offset, uint32_t count);
void hopper_probe_free(struct hopper_probe *probe); /* NULL is fine */
/* `parity` is of waits alone. */
void hopper_probe_event(const struct hopper_step *step, enum wsdbg_event_kind kind, struct hopper_probe_stage stage,
                        uint32_t parity, uint32_t value);

/* ---- probe_step.c ---- */

/* Executes the instruction and tells of it. */
enum hopper_outcome hopper_probe_execute(struct hopper_step *step);

/* ---- probe_families.c ---- */

/* False: no memory. */
bool hopper_probe_make_code(struct hopper_probes *probes, const struct wsdbg_ptx_program *program);
void hopper_probe_free_code(struct hopper_probes *probes);
/* The array and stage of the mbarrier at the offset.  False: there are too many. */
bool hopper_probe_find(const struct hopper_cta *cta, uint32_t offset, struct hopper_probe_stage *out);

/* ---- probe_mbarrier.c ---- */

/* The iteration of a wait for the phase of `parity`, which is over or not. */
void hopper_probe_number_wait(struct hopper_warp *warp, const struct hopper_cta *cta, uint32_t offset, uint32_t parity,
                              bool is_over, struct hopper_probe_stage *stage);
/* ... of an arrival, or (with `brings`) of bytes that are expected or sent. */
void hopper_probe_number_use(struct hopper_warp *warp, enum wsdbg_event_kind kind, struct hopper_probe_stage *stage);

/* ---- probe_role_kind.c ---- */

/* The role (enum wsdbg_role_kind) of a warp that stands at the instruction; NONE = it is not clear from there. */
enum wsdbg_role_kind hopper_probe_role_kind(const struct hopper_grid *grid, uint32_t instruction);

#endif
