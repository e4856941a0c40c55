/* deeper_shared.h - DeeperGEMM's accesses to shared memory, with addresses that PTX defines.
 *
 * Its own ones, in mma_utils.cuh, give a generic address to instructions that want an address in shared memory.  A GPU
 * takes the lower 32 bits, so they work there; PTX leaves it undefined, and the simulator reports it.  This header
 * includes mma_utils.cuh and then puts names of its own in the place of those that the kernel uses.  So it comes before
 * the kernel's header.
 */
#ifndef WSDBG_TESTS_FOREIGN_DEEPER_SHARED_H
#define WSDBG_TESTS_FOREIGN_DEEPER_SHARED_H

#include <deep_gemm/mma_utils.cuh>

namespace deep_gemm
{

__device__ inline float load_shared(const float *from)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"((uint32_t)__cvta_generic_to_shared(from)));
    return value;
}

template <typename Pair> __device__ inline uint32_t bits_of(const Pair &pair)
{
    static_assert(sizeof(Pair) == sizeof(uint32_t));
    return *reinterpret_cast<const uint32_t *>(&pair);
}

template <typename Pair> struct StoreMatrices2 {
    __device__ static void copy(Pair a, Pair b, void *to)
    {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
            "r"(bits_of(a)), "r"(bits_of(b)));
    }
};

template <typename Pair> struct StoreMatrices4 {
    __device__ static void copy(Pair a, Pair b, Pair c, Pair d, void *to)
    {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "r"(bits_of(a)), "r"(bits_of(b)), "r"(bits_of(c)), "r"(bits_of(d)));
    }
};

} // namespace deep_gemm

#define ld_shared load_shared
#define SM90_U32x2_STSM_N StoreMatrices2
#define SM90_U32x4_STSM_N StoreMatrices4

#endif
