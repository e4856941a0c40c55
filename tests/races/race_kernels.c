/* race_kernels.c - runs a kernel of rows.h on the libcuda.so.1 that is loaded: a GPU's or the simulator's.
 *
 *     race_kernels                       lists the kernels: number, tab, name, tab, what is wrong
 *     race_kernels NUMBER broken|fixed   runs one; status 1 and the CUresult on stderr where a driver call fails
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "races/rows.h"
#include "semantics/device.h"

enum { MEMORY_BYTES = 65536, CLUSTER_DIMENSION = 4 };

static int list(const struct race_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%zu\t%s\t%s\n", i, rows[i].name, rows[i].code);
    return 0;
}

static int launch(const struct semantics_device *device, const struct race_launch *launch, void *function,
                  uint64_t memory[2])
{
    struct semantics_launch_attribute cluster = {.id = CLUSTER_DIMENSION, .value = {launch->cluster, 1, 1}};
    const struct semantics_launch_config config = {.grid = {launch->grid ? launch->grid : 1, 1, 1},
                                                   .block = {launch->block, 1, 1},
                                                   .attributes = &cluster,
                                                   .attribute_count = launch->cluster ? 1 : 0};
    void *parameters[] = {&memory[0], &memory[1]};
    return device->cuLaunchKernelEx(&config, function, parameters, NULL);
}

/* The CUresult of the first call that fails; 0 = none does. */
static int run(const struct semantics_device *device, const struct race_row *row, bool is_fixed)
{
    static char text[RACE_TEXT_BYTES];
    uint64_t memory[2];
    void *module, *function;
    race_row_text(row, is_fixed, text);
    int status = device->cuModuleLoadDataEx(&module, text, 0, NULL, NULL);
    if (!status)
        status = device->cuModuleGetFunction(&function, module, "main");
    for (unsigned i = 0; i < 2 && !status; i++) {
        status = device->cuMemAlloc_v2(&memory[i], MEMORY_BYTES);
        if (!status)
            status = device->cuMemsetD8_v2(memory[i], 0, MEMORY_BYTES);
    }
    if (!status)
        status = launch(device, &row->launch, function, memory);
    return status ? status : device->cuCtxSynchronize();
}

int main(int argc, char **argv)
{
    size_t count;
    struct semantics_device device;
    const struct race_row *const rows = race_rows(&count);
    if (argc == 1)
        return list(rows, count);
    const size_t number = argc == 3 ? strtoul(argv[1], NULL, 10) : count;
    if (number >= count || (strcmp(argv[2], "broken") != 0 && strcmp(argv[2], "fixed") != 0)) {
        fprintf(stderr, "usage: race_kernels [NUMBER broken|fixed]\n");
        return 2;
    }
    const char *const trouble = semantics_device_open(&device, "libcuda.so.1");
    const int status = trouble ? 0 : run(&device, &rows[number], strcmp(argv[2], "fixed") == 0);
    if (trouble || status)
        fprintf(stderr, "race_kernels: %s: %s %d\n", rows[number].name, trouble ? trouble : "CUDA error", status);
    return trouble || status;
}
