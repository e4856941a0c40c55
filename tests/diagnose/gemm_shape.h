/* gemm_shape.h - the reference GEMM as a picture: warp 0 fills 4 stages, warps 1-3 have left, warps 4-11 multiply. */
#ifndef TEST_DIAGNOSE_GEMM_SHAPE_H
#define TEST_DIAGNOSE_GEMM_SHAPE_H

#include "picture.h"

enum { FULL, EMPTY, STAGES = 4 };
enum { ROLE_PRODUCER, ROLE_CONSUMER_0, ROLE_CONSUMER_1 };
#define BYTES 49152u
#define MBARRIER_WAIT WSDBG_WARP_WAIT_MBARRIER

struct gemm {
    uint32_t full[STAGES], empty[STAGES];
    uint32_t expect, release, pool;
};

/* Words of one family, stage by stage. */
struct words {
    uint32_t phase[STAGES], pending[STAGES];
    int64_t bytes[STAGES];
};

extern const struct words full_unused, empty_unused, full_filled;

/* Two CTAs with their roles and barriers; the second also with the code, for warps that stand in their loops. */
struct gemm gemm_barriers(struct picture *p, const struct words *full, const struct words *empty);
struct gemm gemm_picture(struct picture *p, const struct words *full, const struct words *empty);
/* The producer on one barrier, all consumers on another. */
void both_wait(struct picture *p, uint32_t empty, uint32_t empty_parity, uint32_t full, uint32_t full_parity);

#endif
