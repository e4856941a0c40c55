/* deepep/ibgda_device.cuh - stands for DeepEP's header of this name, which needs NVSHMEM and a network.
 *
 * All ranks are on one GPU here, so each reaches the memory of the others by pointers: a rank's memory begins
 * bytes_of_rank after that of the rank before it.  The functions for ranks behind a network are there, but never
 * called.
 */
#ifndef WSDBG_TESTS_FOREIGN_DEEPEP_IBGDA_DEVICE_CUH
#define WSDBG_TESTS_FOREIGN_DEEPEP_IBGDA_DEVICE_CUH

#include <deep_ep/common/exception.cuh>

#include "utils.cuh"

namespace deep_ep::legacy
{

struct Network {
    int num_rc_per_pe, num_devices_initialized;
};

__device__ Network network = {64, 1};
__device__ int64_t bytes_of_rank;

__device__ inline Network *ibgda_get_state()
{
    return &network;
}

__device__ inline uint64_t nvshmemi_get_p2p_ptr(uint64_t address, int own, int rank)
{
    return address + (uint64_t)((rank - own) * bytes_of_rank);
}

__device__ inline void nvshmemi_ibgda_quiet(int, int)
{
}

__device__ inline void nvshmemi_ibgda_rma_p(int *, int, int, int)
{
    asm("trap;");
}

template <bool = false>
__device__ inline void nvshmemi_ibgda_put_nbi_warp(uint64_t, uint64_t, size_t, int, int, int, int)
{
    asm("trap;");
}

__device__ inline void nvshmemi_ibgda_amo_nonfetch_add(int *, int, int, int)
{
    asm("trap;");
}

__device__ inline void nvshmemx_barrier_all_block()
{
    asm("trap;");
}

} // namespace deep_ep::legacy

#endif
