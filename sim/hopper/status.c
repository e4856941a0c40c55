/* status.c - what a gpu and its grids tell of themselves at any time, and the lock.
 *
 * wsdbg_gpu_run gives the lock to a thread that asks for it between two turns, so other calls never wait for a kernel.
 */
#include "hopper/device.h"
#include "hopper/gpu.h"

void hopper_lock(struct wsdbg_gpu *gpu)
{
    atomic_fetch_add(&gpu->others, 1);
    pthread_mutex_lock(&gpu->lock);
    atomic_fetch_sub(&gpu->others, 1);
}

void hopper_unlock(struct wsdbg_gpu *gpu)
{
    pthread_mutex_unlock(&gpu->lock);
}

uint32_t wsdbg_gpu_multiprocessors(const struct wsdbg_gpu *gpu)
{
    return gpu->sm_count;
}

uint64_t wsdbg_gpu_instructions(const struct wsdbg_gpu *gpu)
{
    return gpu->instructions;
}

uint64_t wsdbg_gpu_time_ns(const struct wsdbg_gpu *gpu)
{
    return hopper_time_ns(gpu);
}

enum wsdbg_grid_state wsdbg_gpu_state(const struct wsdbg_grid_run *run)
{
    return (enum wsdbg_grid_state)atomic_load(&run->state);
}

uint64_t wsdbg_gpu_grid_id(const struct wsdbg_grid_run *run)
{
    return run->grid.id;
}

const struct wsdbg_gpu_fault *wsdbg_gpu_fault(const struct wsdbg_grid_run *run)
{
    return run->fault.driver_error ? &run->fault : NULL;
}
