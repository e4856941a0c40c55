/* device_state.h - what is inside the model device: its memory, its warps' programs and how far they are.
 *
 * Written by: device.c, which executes.  Read by: device_snapshot.c.
 */
#ifndef TEST_DIAGNOSE_DEVICE_STATE_H
#define TEST_DIAGNOSE_DEVICE_STATE_H

#include "device.h"

enum { BARRIERS = 8, STAGES = 8, NAMED = 16, COPIES = 4096, NAMES = 32, WORDS = 8 };
enum { OP_WORK = 200, OP_CLUSTER_SYNC, OP_LOST_COPY, OP_WRITE_WORD };
#define LINE 100u

struct op {
    uint8_t kind, barrier, stage, parity;
    uint32_t iteration, value;
};

struct mbarrier {
    bool ready;
    uint32_t needed, phases;
    int64_t pending, bytes;
};

struct warp {
    struct op *ops;
    size_t op_count, at;
    bool begun;             /* the current blocking op has recorded its begin */
    uint32_t rest, awaited; /* work left; generation seen */
    uint32_t registers, role;
    bool left;
    struct wsdbg_history_event *events;
    size_t event_count;
};

struct cta {
    struct mbarrier mbarriers[BARRIERS][STAGES];
    uint32_t named_count[NAMED], named_generation[NAMED];
    uint32_t pool_free[4]; /* by register file: warp number modulo 4 */
};

struct landing {
    uint64_t due;
    uint32_t cta, barrier, stage, bytes;
};

struct device {
    uint32_t cta_count, warp_count, cluster, launch_registers;
    struct cta *ctas;
    struct warp *warps;
    uint32_t *cluster_arrived, *cluster_generation; /* by cluster */
    struct landing copies[COPIES];
    size_t copy_count;
    struct wsdbg_name names[NAMES];
    uint32_t name_count;
    bool words[WORDS]; /* of global memory: written */
    uint64_t now;
    uint32_t random;
};

#endif
