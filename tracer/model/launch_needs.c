/* launch_needs.c - see launch_needs.h.  Pure arithmetic. */
#include "model/launch_needs.h"

enum {
    LANES = 32,
    REGISTER_STEP = 8,
    REGISTER_FILES = 4,
    REGISTERS_MOST = 255,
    THREADS_MOST = 1024,
};

static uint64_t given(uint32_t registers)
{
    return ((uint64_t)registers + REGISTER_STEP - 1) / REGISTER_STEP * REGISTER_STEP;
}

uint32_t wsdbg_registers_given(uint32_t registers)
{
    return (uint32_t)given(registers);
}

static uint64_t warps_of(uint32_t threads)
{
    const uint64_t warps = ((uint64_t)threads + LANES - 1) / LANES;
    return (warps + REGISTER_FILES - 1) / REGISTER_FILES * REGISTER_FILES;
}

uint64_t wsdbg_registers_of_cta(uint32_t registers, uint32_t threads)
{
    return warps_of(threads) * LANES * given(registers);
}

uint32_t wsdbg_registers_most(uint32_t threads, uint32_t pool)
{
    if (threads == 0)
        return 0;
    const uint64_t most = pool / (warps_of(threads) * LANES) / REGISTER_STEP * REGISTER_STEP;
    return most < REGISTERS_MOST ? (uint32_t)most : REGISTERS_MOST;
}

uint32_t wsdbg_threads_most(uint32_t registers, uint32_t pool)
{
    const uint64_t step = LANES * REGISTER_FILES;
    if (registers == 0)
        return THREADS_MOST;
    const uint64_t most = pool / given(registers) / step * step;
    return most < THREADS_MOST ? (uint32_t)most : THREADS_MOST;
}
