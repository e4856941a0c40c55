/* gpu.c - a gpu is made and ended: its reserved addresses, its multiprocessors, its schedule.
 *
 * Reads: struct wsdbg_gpu_options.  Writes: struct wsdbg_gpu, empty.
 */
#include "hopper/gpu.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "hopper/device.h"
#include "hopper/race.h"
#include "hopper/race_state.h"
#include "hopper/residency.h"

enum { DEFAULT_SMS = 132, SMS_MOST = 4096, GROUP_SMS_MOST = 18 };
#define DEFAULT_MEMORY_BYTES (4ull << 30)
/* Where device memory is wished to lie, so that a program sees the same addresses in every run. */
#define SPACE_ADDRESS 0x600000000000ull

/* SMs come in groups (GPCs) of up to 18, two at a time (TPCs); a cluster stays in one. */
static struct wsdbg_error *make_sms(struct wsdbg_gpu *gpu)
{
    gpu->sms = calloc(gpu->sm_count, sizeof *gpu->sms);
    if (!gpu->sms)
        return &wsdbg_error_no_memory;
    gpu->group_count = (gpu->sm_count + GROUP_SMS_MOST - 1) / GROUP_SMS_MOST;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        gpu->sms[i] = hopper_empty_sm(i / 2 % gpu->group_count);
    return NULL;
}

struct wsdbg_error *wsdbg_gpu_create(const struct wsdbg_gpu_options *options, struct wsdbg_gpu **out)
{
    struct wsdbg_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return &wsdbg_error_no_memory;
    gpu->options = *options;
    gpu->sm_count = options->multiprocessors ? options->multiprocessors : DEFAULT_SMS;
    gpu->space_bytes = options->memory_bytes ? options->memory_bytes : DEFAULT_MEMORY_BYTES;
    pthread_mutex_init(&gpu->lock, NULL);
    struct wsdbg_error *error = NULL;
    if (gpu->sm_count > SMS_MOST)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%u multiprocessors: at most %d", gpu->sm_count, SMS_MOST);
    if (!error) {
        void *space = mmap((void *)(uintptr_t)SPACE_ADDRESS, gpu->space_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (space == MAP_FAILED)
            error = wsdbg_error_create(WSDBG_ERROR_OS, "cannot reserve %llu bytes of device memory",
                                       (unsigned long long)gpu->space_bytes);
        else
            gpu->space = space;
    }
    if (!error && options->finds_races && !(gpu->races = calloc(1, sizeof *gpu->races)))
        error = &wsdbg_error_no_memory;
    if (!error)
        error = make_sms(gpu);
    if (!error)
        error = hopper_schedule_begin(gpu);
    if (error) {
        wsdbg_gpu_destroy(gpu);
        return error;
    }
    *out = gpu;
    return NULL;
}

void wsdbg_gpu_destroy(struct wsdbg_gpu *gpu)
{
    if (!gpu)
        return;
    while (gpu->runs)
        hopper_free_run(gpu, gpu->runs);
    hopper_schedule_end(gpu);
    hopper_races_destroy(gpu->races);
    free(gpu->works);
    free(gpu->sms);
    free(gpu->ranges.rows);
    if (gpu->space)
        munmap(gpu->space, gpu->space_bytes);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

void wsdbg_gpu_mute(struct wsdbg_gpu *gpu)
{
    gpu->options.print = NULL;
    gpu->works_told = NULL;
}

void wsdbg_gpu_on_work(struct wsdbg_gpu *gpu, void (*works)(void *context), void *context)
{
    gpu->works_told = works;
    gpu->works_context = context;
}
