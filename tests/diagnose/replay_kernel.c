#include <string.h>

#include "replay_kernel.h"

void kernel_begin(struct kernel *k)
{
    memset(k, 0, sizeof *k);
    picture_init(&k->p, 1, WARPS, 32);
    picture_name(&k->p, B, "b", 1, 0, 0);
    picture_name(&k->p, C, "c", 1, 0, 0);
    picture_mbarrier(&k->p, B, 0, 0, 1, 1, 0);
    picture_mbarrier(&k->p, C, 0, 0, 1, 1, 0);
    picture_object(&k->p, WSDBG_BARRIER_NAMED, 0);
    for (k->way_count = 0; k->way_count < WARPS; k->way_count++)
        k->ways[k->way_count].warp = k->way_count;
}

void kernel_begin_split(struct kernel *k)
{
    kernel_begin(k);
    k->way_count = WARPS + 1;
    for (uint32_t i = 1; i < k->way_count; i++)
        k->ways[i].warp = i - 1;
    k->ways[0].lanes = LANE_0;
    k->ways[1].lanes = (uint32_t)OTHER_LANES;
}

void kernel_add(struct kernel *k, uint32_t way, uint8_t kind, uint32_t address, uint32_t number)
{
    way_add(&k->ways[way], kind, address, number);
}

void kernel_sync(struct kernel *k)
{
    for (uint32_t i = 0; i < k->way_count; i++)
        kernel_add(k, i, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
}

void kernel_wait_for_token(struct kernel *k, uint32_t way, uint32_t address)
{
    way_add(&k->ways[way], WSDBG_ACCESS_WAIT, address, 0)->number_known = false;
}

void kernel_run(struct kernel *k)
{
    ways_put(&k->p, k->ways, k->way_count);
    k->replay = ways_replay(&k->p, &k->c);
}

void kernel_end(struct kernel *k)
{
    wsdbg_replay_destroy(k->replay);
    wsdbg_case_deinit(&k->c);
    picture_deinit(&k->p);
}
