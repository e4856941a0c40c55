/* replay_kernel.h - a small kernel for tests of replays: one CTA of three warps, mbarriers "b" and "c" and a named
 * barrier.  A test adds the steps of its walks and runs them.
 */
#ifndef WSDBG_TESTS_DIAGNOSE_REPLAY_KERNEL_H
#define WSDBG_TESTS_DIAGNOSE_REPLAY_KERNEL_H

#include "ways.h"

enum { B = 1, C = 2, WARPS = 3, LANE_0 = 1, OTHER_LANES = (int)~1u };
#define AT_B MBARRIER_AT(B, 0)
#define AT_C MBARRIER_AT(C, 0)

struct kernel {
    struct picture p;
    struct way ways[2 * WARPS];
    uint32_t way_count;
    struct wsdbg_case c;
    struct wsdbg_replay *replay;
};

/* Each warp gets an empty way: it leaves at once unless steps are added. */
void kernel_begin(struct kernel *k);
/* Warp 0 gets two ways, the first of lane 0 and the second of its other lanes; the other warps get one each. */
void kernel_begin_split(struct kernel *k);
void kernel_add(struct kernel *k, uint32_t way, uint8_t kind, uint32_t address, uint32_t number);
/* All warps meet. */
void kernel_sync(struct kernel *k);
void kernel_wait_for_token(struct kernel *k, uint32_t way, uint32_t address);
void kernel_run(struct kernel *k);
void kernel_end(struct kernel *k);

#endif
