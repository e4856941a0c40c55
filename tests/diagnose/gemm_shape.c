/* gemm_shape.c - see gemm_shape.h. */
#include "gemm_shape.h"

const struct words full_unused = {.pending = {1, 1, 1, 1}}, empty_unused = {.pending = {8, 8, 8, 8}};
const struct words full_filled = {.phase = {1, 1, 1, 1}, .pending = {1, 1, 1, 1}};

struct gemm gemm_barriers(struct picture *p, const struct words *full, const struct words *empty)
{
    struct gemm g;
    picture_init(p, 2, 12, 168);
    picture_role(p, ROLE_PRODUCER, "producer", 0, 3);
    picture_role(p, ROLE_CONSUMER_0, "consumer 0", 4, 7);
    picture_role(p, ROLE_CONSUMER_1, "consumer 1", 8, 11);
    picture_name(p, FULL, "full", STAGES, 1 << ROLE_PRODUCER, 1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1);
    picture_name(p, EMPTY, "empty", STAGES, 1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1, 1 << ROLE_PRODUCER);
    for (uint32_t s = 0; s < STAGES; s++) {
        g.full[s] = picture_mbarrier(p, FULL, s, full->phase[s], full->pending[s], 1, full->bytes[s]);
        g.empty[s] = picture_mbarrier(p, EMPTY, s, empty->phase[s], empty->pending[s], 8, empty->bytes[s]);
    }
    g.pool = picture_object(p, WSDBG_BARRIER_REGISTERS, 0);
    return g;
}

struct gemm gemm_picture(struct picture *p, const struct words *full, const struct words *empty)
{
    struct gemm g = gemm_barriers(p, full, empty);
    const uint32_t init = picture_access(p, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
    g.expect = picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    const uint32_t copy = picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE);
    g.release = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_UNKNOWN);
    const uint32_t at_end =
        picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_UNKNOWN);
    picture_access(p, WSDBG_ACCESS_REGISTERS_RELEASE, 0, 1, 40, WSDBG_LANES_ALL);
    picture_reach(p, 0, 11, init, 0, 1, 0);
    picture_reach(p, 0, 0, g.expect, 0, 255, 2);
    picture_reach(p, 0, 0, copy, 0, 255, 2);
    picture_reach(p, 0, 0, g.release, 0, 0, 0);
    picture_reach(p, 4, 11, g.expect, 0, 0, 0);
    picture_reach(p, 4, 11, g.release, 0, 255, 2);
    picture_reach(p, 4, 11, at_end, 0, 255, 2);
    picture_holds(p, 0, 3, 40, 0);
    picture_holds(p, 4, 11, 232, 0);
    picture_exit(p, 1, 3);
    return g;
}

void both_wait(struct picture *p, uint32_t empty, uint32_t empty_parity, uint32_t full, uint32_t full_parity)
{
    picture_wait(p, 0, 0, MBARRIER_WAIT, empty, empty_parity);
    picture_part(p, 0, WSDBG_WARP_RECONVERGE, WSDBG_NONE, 0);
    picture_wait(p, 4, 11, MBARRIER_WAIT, full, full_parity);
}
