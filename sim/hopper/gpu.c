/* gpu.c - a gpu is made and ended; its lock; modules' variables in its memory.
 *
 * wsdbg_gpu_run gives the lock to a thread that asks for it between two turns, so other calls never wait for a kernel.
 */
#include "hopper/gpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hopper/device.h"
#include "hopper/probe.h"
#include "hopper/residency.h"

enum { DEFAULT_SMS = 132, SMS_MOST = 4096, GROUP_SMS_MOST = 18 };
#define DEFAULT_MEMORY_BYTES (4ull << 30)
/* Where device memory is wished to lie, so that a program sees the same addresses in every run. */
#define SPACE_ADDRESS 0x600000000000ull

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

struct hopper_reports *hopper_reports_of(struct wsdbg_gpu *gpu)
{
    return &gpu->reports;
}

/* ---- modules ---- */

/* Allocates and fills the block of one space's variables. */
static struct wsdbg_error *place_variables(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program,
                                           enum wsdbg_ptx_space space, uint64_t byte_count, uint64_t *address)
{
    if (byte_count == 0)
        return NULL;
    struct wsdbg_error *error = hopper_allocate(gpu, byte_count, 0, address);
    if (error)
        return wsdbg_error_prefix(error, "variables of %llu bytes", (unsigned long long)byte_count);
    for (size_t i = 0; i < program->variable_count; i++) {
        const struct wsdbg_ptx_variable *variable = &program->variables[i];
        if (variable->space == space && variable->initial)
            memcpy((void *)(uintptr_t)(*address + variable->offset), variable->initial, variable->byte_count);
    }
    return NULL;
}

static uint64_t address_of(const struct wsdbg_gpu_module *module, const struct wsdbg_ptx_variable *variable,
                           bool is_generic)
{
    switch (variable->space) {
    case WSDBG_PTX_GLOBAL:
        return module->global_address + variable->offset;
    case WSDBG_PTX_CONST:
        return module->const_address + variable->offset;
    default:
        return (is_generic ? HOPPER_SHARED_WINDOW : 0) + HOPPER_SHARED_START + variable->offset;
    }
}

/* Addresses of variables in initial values. */
static void relocate(const struct wsdbg_gpu_module *module)
{
    const struct wsdbg_ptx_program *program = module->program;
    for (size_t i = 0; i < program->relocation_count; i++) {
        const struct wsdbg_ptx_relocation *row = &program->relocations[i];
        const uint64_t address = address_of(module, &program->variables[row->target], row->is_generic);
        const uint64_t value = (address + (uint64_t)row->addend) >> row->shift;
        const uint64_t at = address_of(module, &program->variables[row->variable], false) + row->offset;
        memcpy((void *)(uintptr_t)at, &value, row->byte_count);
    }
}

struct wsdbg_error *wsdbg_gpu_load(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program,
                                   struct wsdbg_gpu_module **out)
{
    struct wsdbg_gpu_module *module = calloc(1, sizeof *module);
    if (!module)
        return &wsdbg_error_no_memory;
    module->program = program;
    hopper_lock(gpu);
    struct wsdbg_error *error =
        place_variables(gpu, program, WSDBG_PTX_GLOBAL, program->global_bytes, &module->global_address);
    if (!error)
        error = place_variables(gpu, program, WSDBG_PTX_CONST, program->const_bytes, &module->const_address);
    if (!error)
        relocate(module);
    hopper_unlock(gpu);
    if (!error)
        error = hopper_code_create(program, module->global_address, module->const_address, &module->code);
    if (error) {
        wsdbg_gpu_unload(gpu, module);
        return error;
    }
    *out = module;
    return NULL;
}

void wsdbg_gpu_unload(struct wsdbg_gpu *gpu, struct wsdbg_gpu_module *module)
{
    if (!module)
        return;
    hopper_lock(gpu);
    hopper_free(gpu, module->global_address);
    hopper_free(gpu, module->const_address);
    hopper_probes_free(gpu, module->probes);
    hopper_unlock(gpu);
    hopper_code_destroy(module->code);
    free(module);
}

const struct wsdbg_ptx_program *wsdbg_gpu_program(const struct wsdbg_gpu_module *module)
{
    return module->program;
}

bool wsdbg_gpu_variable(const struct wsdbg_gpu_module *module, const char *name, uint64_t *address,
                        uint64_t *byte_count)
{
    for (size_t i = 0; i < module->program->variable_count; i++) {
        const struct wsdbg_ptx_variable *variable = &module->program->variables[i];
        const bool is_const = variable->space == WSDBG_PTX_CONST;
        if ((!is_const && variable->space != WSDBG_PTX_GLOBAL) || strcmp(variable->name, name) != 0)
            continue;
        *address = (is_const ? module->const_address : module->global_address) + variable->offset;
        *byte_count = variable->byte_count;
        return true;
    }
    return false;
}
