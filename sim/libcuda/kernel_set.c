/* kernel_set.c - the kernels of a program: the functions of a module, and the kernels of a library.
 *
 * Reads: an image's program.  Writes: the driver's table of handles.  Everything here is done with the lock held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcuda/image.h"

static size_t count_kernels(const struct wsdbg_ptx_program *program)
{
    size_t count = 0;
    for (size_t i = 0; i < program->function_count; i++)
        count += program->functions[i].is_kernel;
    return count;
}

static struct function describe(const struct image *image, size_t number)
{
    const struct wsdbg_ptx_function *code = &image->program->functions[number];
    const int dynamic = FUNCTION_SHARED_DEFAULT - (int)code->shared_bytes;
    return (struct function){.code = code,
                             .registers = image->registers[number],
                             .keeps_registers = image->keeps_registers[number],
                             .own_settings = {.max_dynamic_shared = dynamic > 0 ? dynamic : 0, .carveout = -1}};
}

bool kernel_set_create(const struct image *image, struct module *module, struct library *library,
                       struct kernel_set *out)
{
    const struct wsdbg_ptx_program *program = image->program;
    *out = (struct kernel_set){.rows = calloc(count_kernels(program) + 1, sizeof *out->rows)};
    if (!out->rows)
        return false;
    const struct kernel_set *settings = library ? &library->kernels : out;
    bool added = true;
    for (size_t i = 0; i < program->function_count; i++) {
        if (!program->functions[i].is_kernel)
            continue;
        struct function *function = &out->rows[out->count];
        *function = describe(image, i);
        function->module = module;
        function->library = library;
        function->settings = &settings->rows[out->count++].own_settings;
        added &= handle_add(&driver.handles, function, module ? HANDLE_FUNCTION : HANDLE_KERNEL);
    }
    return added;
}

void kernel_set_withdraw(const struct kernel_set *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        handle_remove(&driver.handles, &kernels->rows[i]);
}

void kernel_set_destroy(struct kernel_set *kernels)
{
    kernel_set_withdraw(kernels);
    free(kernels->rows);
}

/* The driver says only "named symbol not found".  Some programs try many names: only the first few are printed. */
static void say_missing(const struct kernel_set *kernels, const char *name)
{
    enum { SAID_MOST = 8 };
    char names[512] = "no kernel at all";
    size_t length = 0;
    if (driver.missing_kernels_said++ >= SAID_MOST)
        return;
    for (size_t i = 0; i < kernels->count && length < sizeof names; i++)
        length +=
            (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", kernels->rows[i].code->name);
    if (length >= sizeof names)
        memcpy(names + sizeof names - sizeof " ...", " ...", sizeof " ...");
    driver_say("the program has no kernel '%s', it has %s", name, names);
}

CUresult kernel_set_find(const struct kernel_set *kernels, const char *name, struct function **out)
{
    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < kernels->count; i++)
        if (strcmp(kernels->rows[i].code->name, name) == 0) {
            *out = &kernels->rows[i];
            return CUDA_SUCCESS;
        }
    say_missing(kernels, name);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult kernel_set_count(const struct kernel_set *kernels, unsigned *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)kernels->count;
    return CUDA_SUCCESS;
}

CUresult kernel_set_list(const struct kernel_set *kernels, struct function **out, unsigned room)
{
    if (!out || !room)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < room && i < kernels->count; i++)
        out[i] = &kernels->rows[i];
    return CUDA_SUCCESS;
}
