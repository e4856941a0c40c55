/* tma.cuh - the tensor copies: global to shared (also to both CTAs of a cluster) and back.
 *
 * `map` is a tensor map made by the host; (column, row) are element coordinates of the box's first element,
 * column along the contiguous dimension.  Boxes that reach over the edge are filled with zeros on the way in
 * and cut off on the way out.
 */
#ifndef GEMM_TMA_CUH
#define GEMM_TMA_CUH

#include "../common/sync.cuh"

/* CUtensorMap without the driver's header. */
struct __align__(64) tensor_map
{
    uint64_t opaque[16];
};

DEVICE void tma_prefetch_map(const struct tensor_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Loads one box; its bytes complete on `bar`. */
DEVICE void tma_load(void *destination, const struct tensor_map *map, uint64_t *bar, int column, int row)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(destination)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(bar))
                 : "memory");
}

/* Loads one box into the same place of every CTA named in `mask`; completes on each one's own `bar`. */
DEVICE void tma_load_multicast(void *destination, const struct tensor_map *map, uint64_t *bar, int column, int row,
                               uint16_t mask)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(destination)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(bar)), "h"(mask)
                 : "memory");
}

DEVICE void tma_store(const struct tensor_map *map, const void *source, int column, int row)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(column),
                 "r"(row), "r"(shared_address(source))
                 : "memory");
}

DEVICE void bulk_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Makes ordinary writes to shared memory visible to the copy engine; by each writing thread, before the barrier. */
DEVICE void fence_shared_for_tma(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Until at most `groups` (a constant) stores of this thread still read shared memory. */
#define bulk_wait_read(groups) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory")
#define BULK_WAIT_READ(w, groups)         \
    do {                                  \
        WSDBG_BULK_WAIT_BEGIN(w, groups); \
        bulk_wait_read(groups);           \
        WSDBG_BULK_WAIT_END(w, groups);   \
    } while (0)

#endif
