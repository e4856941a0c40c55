/* launch.c - launches: geometry and resources checked as the driver does, grids kept in the order they came.
 *
 * Reads: struct wsdbg_gpu_launch.  Writes: the gpu's list of grids.  residency.c places their CTAs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/race.h"
#include "hopper/gpu.h"
#include "hopper/device.h"
#include "hopper/residency.h"

static uint64_t count_of(const uint32_t size[3])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

static bool has_zero(const uint32_t size[3])
{
    return !size[0] || !size[1] || !size[2];
}

#define BAD(code, ...) (*driver_error = (code), wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, __VA_ARGS__))

static struct wsdbg_error *check_block(const struct wsdbg_gpu_launch *launch, int *driver_error)
{
    const struct wsdbg_ptx_function *function = launch->function;
    const uint32_t *grid = launch->grid, *block = launch->block, *required = function->required_threads;
    const char *name = function->name;
    if (!function->is_kernel)
        return BAD(HOPPER_INVALID_VALUE, "%s is no kernel", name);
    if (has_zero(grid) || grid[0] > INT32_MAX || grid[1] > 65535 || grid[2] > 65535)
        return BAD(HOPPER_INVALID_VALUE, "%s: a grid of %u x %u x %u CTAs", name, grid[0], grid[1], grid[2]);
    if (has_zero(block) || block[0] > HOPPER_CTA_THREADS || block[1] > HOPPER_CTA_THREADS || block[2] > 64 ||
        count_of(block) > HOPPER_CTA_THREADS)
        return BAD(HOPPER_INVALID_VALUE, "%s: a CTA of %u x %u x %u threads: at most %d, 64 in z", name, block[0],
                   block[1], block[2], HOPPER_CTA_THREADS);
    if (required[0] && memcmp(required, block, sizeof launch->block) != 0)
        return BAD(HOPPER_INVALID_VALUE, "%s: a CTA of %u x %u x %u threads, .reqntid says %u x %u x %u", name,
                   block[0], block[1], block[2], required[0], required[1], required[2]);
    if (function->max_threads[0] && count_of(block) > count_of(function->max_threads))
        return BAD(HOPPER_INVALID_VALUE, "%s: a CTA of %llu threads, .maxntid says %llu", name,
                   (unsigned long long)count_of(block), (unsigned long long)count_of(function->max_threads));
    return NULL;
}

static struct wsdbg_error *check_resources(const struct wsdbg_gpu_launch *launch, int *driver_error)
{
    const char *name = launch->function->name;
    const uint64_t shared = (uint64_t)launch->function->shared_bytes + launch->dynamic_shared_bytes;
    if (shared > HOPPER_CTA_SHARED)
        return BAD(HOPPER_INVALID_VALUE, "%s: %llu bytes of shared memory a CTA: at most %d", name,
                   (unsigned long long)shared, HOPPER_CTA_SHARED);
    if (launch->registers_per_thread > 255)
        return BAD(HOPPER_INVALID_VALUE, "%s: %u registers a thread: at most 255", name, launch->registers_per_thread);
    const uint32_t warps = (uint32_t)((count_of(launch->block) + HOPPER_LANES - 1) / HOPPER_LANES);
    const uint32_t registers = hopper_registers_of_cta(launch->registers_per_thread, warps);
    if (registers > HOPPER_SM_REGISTERS)
        return BAD(HOPPER_OUT_OF_RESOURCES, "%s: %u threads with %u registers each need %u registers: an SM has %d",
                   name, (unsigned)count_of(launch->block), launch->registers_per_thread, registers,
                   HOPPER_SM_REGISTERS);
    return NULL;
}

static struct wsdbg_error *check_cluster(const struct wsdbg_gpu_launch *launch, int *driver_error)
{
    const uint32_t *grid = launch->grid, *cluster = launch->cluster, *required = launch->function->required_cluster;
    const char *name = launch->function->name;
    if (has_zero(cluster) || cluster[0] > HOPPER_CLUSTER_CTAS || cluster[1] > HOPPER_CLUSTER_CTAS ||
        cluster[2] > HOPPER_CLUSTER_CTAS || count_of(cluster) > HOPPER_CLUSTER_CTAS)
        return BAD(HOPPER_INVALID_CLUSTER, "%s: a cluster of %u x %u x %u CTAs: at most %d", name, cluster[0],
                   cluster[1], cluster[2], HOPPER_CLUSTER_CTAS);
    if (required[0] && memcmp(required, cluster, sizeof launch->cluster) != 0)
        return BAD(HOPPER_INVALID_CLUSTER, "%s: a cluster of %u x %u x %u CTAs, .reqnctapercluster says %u x %u x %u",
                   name, cluster[0], cluster[1], cluster[2], required[0], required[1], required[2]);
    if (grid[0] % cluster[0] || grid[1] % cluster[1] || grid[2] % cluster[2])
        return BAD(HOPPER_INVALID_VALUE, "%s: a grid of %u x %u x %u CTAs is not whole clusters of %u x %u x %u", name,
                   grid[0], grid[1], grid[2], cluster[0], cluster[1], cluster[2]);
    return NULL;
}

static struct wsdbg_error *check_residency(struct wsdbg_gpu *gpu, const struct hopper_grid *grid, int *driver_error)
{
    const char *name = grid->launch.function->name;
    const uint64_t most = hopper_resident_most(gpu, grid, grid->launch.is_cooperative ? grid->ctas_total : 1);
    if (most == 0)
        return BAD(HOPPER_INVALID_CLUSTER, "%s: no %u SMs that a cluster may spread over have room for its %llu CTAs",
                   name, gpu->sm_count / gpu->group_count, (unsigned long long)count_of(grid->launch.cluster));
    if (grid->launch.is_cooperative && most < grid->ctas_total)
        return BAD(HOPPER_COOPERATIVE_TOO_LARGE, "%s: a cooperative grid of %llu CTAs: %llu fit at one time", name,
                   (unsigned long long)grid->ctas_total, (unsigned long long)most);
    return NULL;
}

static bool changes_registers(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function)
{
    for (uint32_t i = function->first; i < function->end; i++)
        if (program->instructions[i].operation == WSDBG_PTX_OP_setmaxnreg)
            return true;
    return false;
}

/* Words of all its registers: ptxas needs no more, and often less. */
static uint64_t register_words(const struct wsdbg_ptx_function *function)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < function->register_count; i++)
        words += (wsdbg_ptx_type_bytes(function->register_types[i]) + 3) / 4;
    return (words + 7) & ~7ull;
}

/* What ptxas gives a kernel that says nothing else: what its largest CTA leaves, with setmaxnreg all of that. */
uint32_t wsdbg_gpu_usual_registers(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                                   uint64_t threads)
{
    if (function->max_registers)
        return function->max_registers;
    if (function->max_threads[0])
        threads = count_of(function->max_threads);
    const uint64_t ctas = function->min_ctas ? function->min_ctas : 1;
    enum { STEP = HOPPER_REGISTER_FILES * HOPPER_LANES }; /* a CTA's warps count by fours */
    const uint64_t places = threads ? (threads + STEP - 1) / STEP * STEP : STEP;
    uint64_t registers = HOPPER_SM_REGISTERS / (places * ctas) & ~7ull;
    if (!changes_registers(program, function) && register_words(function) < registers)
        registers = register_words(function);
    return registers > 255 ? 255 : registers < 16 ? 16 : (uint32_t)registers;
}

uint32_t wsdbg_gpu_threads_most(uint32_t registers_per_thread)
{
    uint32_t warps = HOPPER_CTA_THREADS / HOPPER_LANES;
    while (warps && hopper_registers_of_cta(registers_per_thread, warps) > HOPPER_SM_REGISTERS)
        warps--;
    return warps * HOPPER_LANES;
}

static void fill_grid(struct wsdbg_gpu *gpu, struct hopper_grid *grid, const struct wsdbg_gpu_launch *launch)
{
    static const uint32_t one[3] = {1, 1, 1};
    grid->gpu = gpu;
    grid->launch = *launch;
    grid->code = launch->module->code;
    const uint32_t *required = launch->function->required_cluster;
    grid->has_clusters = launch->cluster[0] || required[0];
    if (!launch->cluster[0])
        memcpy(grid->launch.cluster, required[0] ? required : one, sizeof one);
    if (!grid->launch.registers_per_thread)
        grid->launch.registers_per_thread =
            wsdbg_gpu_usual_registers(launch->module->code->program, launch->function, count_of(launch->block));
}

static uint32_t shared_of(const struct wsdbg_gpu_launch *launch)
{
    return (launch->function->shared_bytes + launch->dynamic_shared_bytes + 127) / 128 * 128;
}

static struct wsdbg_error *check(struct wsdbg_gpu *gpu, struct hopper_grid *grid, int *driver_error)
{
    struct wsdbg_error *error = check_block(&grid->launch, driver_error);
    if (!error)
        error = check_cluster(&grid->launch, driver_error);
    if (!error)
        error = check_resources(&grid->launch, driver_error);
    if (error)
        return error;
    grid->shared_bytes = shared_of(&grid->launch);
    grid->ctas_total = count_of(grid->launch.grid);
    return check_residency(gpu, grid, driver_error);
}

struct wsdbg_error *wsdbg_gpu_check(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_launch *launch, int *driver_error)
{
    struct hopper_grid grid = {0};
    fill_grid(gpu, &grid, launch);
    hopper_lock(gpu);
    struct wsdbg_error *error = check(gpu, &grid, driver_error);
    hopper_unlock(gpu);
    return error;
}

uint64_t wsdbg_gpu_resident_most(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_launch *launch)
{
    int driver_error;
    struct wsdbg_error *error = wsdbg_gpu_check(gpu, launch, &driver_error);
    if (error) {
        wsdbg_error_destroy(error);
        return 0;
    }
    struct hopper_grid grid = {0};
    fill_grid(gpu, &grid, launch);
    grid.shared_bytes = shared_of(launch);
    hopper_lock(gpu);
    const uint64_t most = hopper_resident_most(gpu, &grid, UINT64_MAX);
    hopper_unlock(gpu);
    return most;
}

/* Aligned as a tensor map has to be. */
static unsigned char *parameters_create(uint32_t byte_count)
{
    enum { ALIGNMENT = 128 };
    const size_t room = ((size_t)byte_count / ALIGNMENT + 1) * ALIGNMENT;
    unsigned char *parameters = aligned_alloc(ALIGNMENT, room);
    if (parameters)
        memset(parameters, 0, room);
    return parameters;
}

/* Two words, as cooperative_groups reads them: how many bytes these are, and the grid's barrier. */
static struct wsdbg_error *workspace_create(struct wsdbg_gpu *gpu, struct hopper_grid *grid, int *driver_error)
{
    enum { WORDS = 2 };
    const uint32_t words[WORDS] = {WORDS * sizeof(uint32_t), 0};
    if (!grid->launch.is_cooperative)
        return NULL;
    struct wsdbg_error *const error = hopper_allocate(gpu, sizeof words, 0, &grid->workspace);
    *driver_error = HOPPER_OUT_OF_MEMORY;
    if (!error)
        memcpy((void *)(uintptr_t)grid->workspace, words, sizeof words);
    return error;
}

struct wsdbg_error *wsdbg_gpu_submit(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_launch *launch, int *driver_error,
                                     struct wsdbg_grid_run **out)
{
    struct wsdbg_grid_run *run = calloc(1, sizeof *run);
    unsigned char *parameters = parameters_create(launch->function->parameter_bytes);
    if (!run || !parameters) {
        free(run);
        free(parameters);
        *driver_error = HOPPER_OUT_OF_MEMORY;
        return &wsdbg_error_no_memory;
    }
    if (launch->function->parameter_bytes)
        memcpy(parameters, launch->parameters, launch->function->parameter_bytes);
    run->grid.parameters = parameters;
    fill_grid(gpu, &run->grid, launch);
    hopper_lock(gpu);
    struct wsdbg_error *error = check(gpu, &run->grid, driver_error);
    if (!error)
        error = workspace_create(gpu, &run->grid, driver_error);
    if (!error) {
        run->grid.id = ++gpu->next_grid_id;
        struct wsdbg_grid_run **last = &gpu->runs;
        while (*last)
            last = &(*last)->next;
        *last = run;
        gpu->may_place = true;
        *out = run;
    }
    hopper_unlock(gpu);
    if (error) {
        free(parameters);
        free(run);
    }
    return error;
}

void hopper_free_run(struct wsdbg_gpu *gpu, struct wsdbg_grid_run *run)
{
    hopper_give_up(gpu, &run->grid);
    for (struct wsdbg_grid_run **other = &gpu->runs; *other;) {
        if ((*other)->grid.launch.after == run)
            (*other)->grid.launch.after = NULL;
        if (*other == run)
            *other = run->next;
        else
            other = &(*other)->next;
    }
    hopper_race_grid_freed(&run->grid);
    if (run->grid.workspace)
        hopper_free(gpu, run->grid.workspace);
    free(run->grid.parameters);
    free(run);
}

void wsdbg_gpu_forget(struct wsdbg_gpu *gpu, struct wsdbg_grid_run *run)
{
    if (!run)
        return;
    hopper_lock(gpu);
    hopper_free_run(gpu, run);
    gpu->may_place = true;
    hopper_unlock(gpu);
}
