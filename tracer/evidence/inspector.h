/* inspector.h - the child process of wsdbg that alone speaks the driver's debug interface with one traced process.
 *
 * A child, because a driver that crashes or does not answer must not take wsdbg with it.  It keeps the traced program
 * safe by itself: the GPU is stopped for a limited time only, and when wsdbg is gone it resumes, detaches and exits.
 * When it dies itself, the traced process detaches (instr/shim/debug_attach.c) and a second process, its attach
 * watchdog, lets the GPU go on (attach_watchdog.h).
 *
 * wsdbg asks by small messages, one at a time, each with a deadline; rows and bytes come back in shared memory.
 */
#ifndef WSDBG_EVIDENCE_INSPECTOR_H
#define WSDBG_EVIDENCE_INSPECTOR_H

#include "evidence/debug_api.h"
#include "evidence/attach_link.h"

enum wsdbg_inspector_step {
    WSDBG_INSPECT_ATTACH =
        1,                 /* all of it: images are in the area afterwards; argument 0: most nanoseconds it may take */
    WSDBG_INSPECT_SUSPEND, /* argument 0: nanoseconds after which it resumes unasked */
    WSDBG_INSPECT_WARPS,   /* devices, grids and warps into the area */
    WSDBG_INSPECT_REGISTERS,  /* device, sm, warp, lane, first, count; value 0: how many words came */
    WSDBG_INSPECT_UNIFORM,    /* device, sm, warp, -, first, count */
    WSDBG_INSPECT_PREDICATES, /* device, sm, warp, lane; value 1: the mask */
    WSDBG_INSPECT_SHARED,     /* device, sm, warp, address, byte count; value 0: bytes that came */
    WSDBG_INSPECT_GLOBAL,     /* -, -, -, address, byte count */
    WSDBG_INSPECT_CONSTANT,   /* device, sm, warp, offset, byte count, bank, grid id */
    WSDBG_INSPECT_RESUME,
    WSDBG_INSPECT_DETACH,
    WSDBG_INSPECT_STAY,  /* as ATTACH while the GPU is idle; the program's calls then go on between looks */
    WSDBG_INSPECT_OPEN,  /* loads the driver's library, which ATTACH and STAY do otherwise */
    WSDBG_INSPECT_LOCAL, /* device, sm, warp, address, byte count, lane; value 0: bytes that came */
    WSDBG_INSPECT_STEPS
};

enum {
    WSDBG_INSPECTOR_DEVICES = 16,
    WSDBG_INSPECTOR_IMAGES = 4096,
    WSDBG_INSPECTOR_GRIDS = 1024,
    WSDBG_INSPECTOR_WARPS = 65536,
    WSDBG_INSPECTOR_READ_BYTES = 65536, /* most that one read brings */
    WSDBG_INSPECTOR_ARGUMENTS = 7
};
#define WSDBG_INSPECTOR_IMAGE_BYTES (512ull << 20) /* all images together */

/* One call of the driver may take so long.  Where several programs share GPUs, 2 of 255 suspensions took 4.04 s on
 * H200s, and calls for the other GPU waited meanwhile (docs/results/live-attach.md).  To kill an inspector that waits
 * leaves the GPU stopped. */
#define WSDBG_INSPECTOR_BLOCKED_NS 5000000000ull
#define WSDBG_INSPECTOR_LEASE_NS 6000000000ull  /* the program shows out one that has not renewed it for so long */
#define WSDBG_INSPECTOR_ATTACH_NS 2900000000ull /* it gives up after that; shorter than its lease */
/* To leave in good order takes the child this long at most when the program and the driver do not answer: 3.8 s of
 * waiting (inspector_child.c), an exception that is met on the way, and a call of the driver that takes long.  Nobody
 * kills it sooner: to kill it while it resumes or detaches is what leaves a GPU stopped. */
#define WSDBG_INSPECTOR_LEAVE_NS 9500000000ull

struct wsdbg_inspector_image {
    uint32_t device, fetched; /* 1: its bytes are there; they are fetched when a warp is seen in it */
    uint64_t context, module, handle;
    uint64_t offset, byte_count; /* in image_bytes, once fetched */
};

struct wsdbg_inspector_device {
    uint32_t device, sm_count, warps_per_sm;
};

struct wsdbg_inspector_warp {
    uint32_t device, sm, slot;
    bool resources_known, convergence_known;
    _Alignas(8) struct wsdbg_debug_warp state; /* the driver's structs are packed: each where its fields are aligned */
    _Alignas(8) struct wsdbg_debug_resources resources;
    _Alignas(8) struct wsdbg_debug_convergence convergence;
};

/* An exception that no warp shows any more. */
struct wsdbg_inspector_fault {
    uint32_t exception; /* CUDBGException_t, 0 = none */
    uint32_t device, sm;
    bool pc_known;
    uint64_t pc;
};

/* What the child leaves; counts may be anything when it went wrong, so readers cut them. */
struct wsdbg_inspector_area {
    uint32_t inside;  /* the program was asked to let it in, and it has not left: should it die now, a rescue is due */
    uint32_t stays;   /* attached while the GPU was idle */
    uint32_t faulted; /* an exception has stopped the GPU: a look is due */
    struct wsdbg_inspector_fault fault; /* of warps that have exited */
    uint32_t device_count, image_count, grid_count, warp_count;
    uint32_t images_dropped, warps_dropped; /* there was no room for them, or the driver did not give them */
    struct wsdbg_inspector_device devices[WSDBG_INSPECTOR_DEVICES];
    struct wsdbg_inspector_image images[WSDBG_INSPECTOR_IMAGES];
    _Alignas(8) struct wsdbg_debug_grid grids[WSDBG_INSPECTOR_GRIDS];
    struct wsdbg_inspector_warp warps[WSDBG_INSPECTOR_WARPS];
    unsigned char read[WSDBG_INSPECTOR_READ_BYTES];
    unsigned char image_bytes[];
};
#define WSDBG_INSPECTOR_AREA_BYTES (sizeof(struct wsdbg_inspector_area) + WSDBG_INSPECTOR_IMAGE_BYTES)

struct wsdbg_inspector_request {
    uint32_t step; /* enum wsdbg_inspector_step */
    uint32_t number;
    uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS];
};

struct wsdbg_inspector_reply {
    uint32_t number;
    int32_t failed; /* text says why */
    uint64_t values[2];
    char text[256];
};

struct wsdbg_inspector;

/* Starts the child for one process, and its attach watchdog; the debug attach stays the caller's and must outlive it.
 */
struct wsdbg_error *wsdbg_inspector_start(const struct wsdbg_attach_link *attach, struct wsdbg_inspector **out);
/* One step, to its end; `values` may be NULL.  An error that is_broken() follows means: the child is gone, the traced
 * process detaches by itself, and the attach watchdog frees it. */
struct wsdbg_error *wsdbg_inspector_ask(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step,
                                        const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], uint64_t limit_ns,
                                        uint64_t values[2]);
/* Begins a step that may take long, and goes on. */
struct wsdbg_error *wsdbg_inspector_post(struct wsdbg_inspector *inspector, enum wsdbg_inspector_step step,
                                         const uint64_t arguments[WSDBG_INSPECTOR_ARGUMENTS], uint64_t limit_ns);
/* Whether an answer has come that was not taken, or the child is gone. */
bool wsdbg_inspector_has_answered(const struct wsdbg_inspector *inspector);
/* Whether a step that was posted has ended; then *error says how.  False also where none was posted. */
bool wsdbg_inspector_collect(struct wsdbg_inspector *inspector, struct wsdbg_error **error);
/* Waits for the end of a step that was posted, and returns its error.  Returns NULL if none was posted. */
struct wsdbg_error *wsdbg_inspector_finish(struct wsdbg_inspector *inspector);
/* Whether a step that was posted has not been collected. */
bool wsdbg_inspector_has_posted(const struct wsdbg_inspector *inspector);
bool wsdbg_inspector_is_broken(struct wsdbg_inspector *inspector);
/* Of a broken one: waits until its attach watchdog has done its work, and nothing of it is left, limit_ns at most.
 * False: it is still at it; nobody else may attach. */
bool wsdbg_inspector_is_freed(struct wsdbg_inspector *inspector, uint64_t limit_ns);
/* Shared with the child, which writes it only during a step. */
const struct wsdbg_inspector_area *wsdbg_inspector_area(const struct wsdbg_inspector *inspector);
/* Asks the child to leave, and waits for nobody.  True when nothing of it is left; asked again until then. */
bool wsdbg_inspector_dismiss(struct wsdbg_inspector *inspector);
/* Ends the child: it detaches first if it still has to.  An attach watchdog that is still at work goes on alone.  NULL
 * is fine. */
void wsdbg_inspector_stop(struct wsdbg_inspector *inspector);

/* The child's side: serves `socket` until it is closed. */
void wsdbg_inspector_serve(const struct wsdbg_attach_link *attach, struct wsdbg_inspector_area *area, int socket);

#endif
