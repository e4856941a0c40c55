/* waits.c - runs one kernel of waits.cu: a deliberate hang, fault or long run.
 *
 * Reads the command line, writes complaints on stderr.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/arguments.h"
#include "../common/driver.h"
#include "../common/image.h"
#include "geometry.h"

#define PROGRAM "waits"

IMAGE(waits)

struct wait_row {
    const char *id, *name, *cause, *role, *barrier, *kind, *story;
    unsigned ctas, threads;
};

static const struct wait_row rows[] = {
#define WAIT(id, name, cause, role, barrier, kind, ctas, threads, story) \
    {#id, name, cause, role, barrier, #kind, story, ctas, threads},
#include "waits.def"
#undef WAIT
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* Of long-work, by the GPU's clock: the simulator takes about a second for its 4 ms. */
#define WORK_NS 30000000000u
#define WORK_SIMULATED_NS 4000000u

struct options {
    const struct wait_row *row;
    long seconds;    /* 0 = as the device likes */
    long timeout_ms; /* -1 = wait for ever */
    bool list, help;
};

static void print_rows(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        printf("%s\t%s\t%s\t%s\t", rows[i].name, rows[i].cause, rows[i].role, rows[i].barrier);
        for (const char *c = rows[i].kind; *c; c++)
            putchar(*c - 'A' + 'a');
        printf("\t%s\n", rows[i].story);
    }
}

static void print_help(void)
{
    fputs("usage: waits --bug NAME [options]     ways to wait for ever, a kernel each, without probes\n"
          "  --bug NAME        --list-bugs prints name, cause, role, barrier, kind, story\n"
          "  --seconds S       of the bug long-work, by the GPU's clock (default 30, on the simulator 0.004)\n"
          "  --timeout-ms T    leave with status 3 when the launch takes longer than T (default: wait)\n"
          "status: 0 good, 1 CUDA error, 2 bad option, 3 timed out\n",
          stdout);
}

static int find_row(const char *name, struct options *o)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            o->row = &rows[i];
            return 0;
        }
    }
    fprintf(stderr, PROGRAM ": --bug: there is no '%s' (see --list-bugs)\n", name);
    return -1;
}

static int parse_one(int id, const char *value, void *options)
{
    struct options *o = options;
    switch (id) {
    case 'b':
        return find_row(value, o);
    case 's':
        return argument_number(PROGRAM, "seconds", value, 1, 3600, &o->seconds);
    case 't':
        return argument_number(PROGRAM, "timeout-ms", value, 1, INT_MAX, &o->timeout_ms);
    }
    o->list |= id == 'l';
    o->help |= id == 'h';
    return 0;
}

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option table[] = {
        {"bug", required_argument, NULL, 'b'},
        {"seconds", required_argument, NULL, 's'},
        {"timeout-ms", required_argument, NULL, 't'},
        {"list-bugs", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.timeout_ms = -1};
    if (arguments_read(PROGRAM, argc, argv, table, parse_one, &o))
        return -1;
    if (!o.row && !o.list && !o.help)
        return argument_refuse(PROGRAM, "--bug", "is missing");
    *out = o;
    return 0;
}

/* The second of two grids that share a stream may start when the first one allows it. */
static struct wsdbg_error *launch(const struct device *device, const struct wait_row *row, CUfunction function,
                                  bool dependent, void **parameters)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = 1};
    const bool many = row->ctas == 0;
    CUlaunchConfig config = {.gridDimX = many ? MANY_CTAS : row->ctas,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = row->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = many ? BIG_SHARED_BYTES : 0,
                             .hStream = device->stream,
                             .attrs = &attribute,
                             .numAttrs = dependent};
    return device_check(device, device->cu.cuLaunchKernelEx(&config, function, parameters, NULL), "cuLaunchKernelEx");
}

static struct wsdbg_error *launch_all(const struct device *device, const struct options *o, CUfunction function,
                                      CUdeviceptr flag, CUdeviceptr source)
{
    uint64_t limit_ns = o->seconds             ? (uint64_t)o->seconds * 1000000000u
                        : device->is_simulated ? WORK_SIMULATED_NS
                                               : WORK_NS;
    void *parameters[] = {&flag, &source, &limit_ns};
    struct wsdbg_error *error = launch(device, o->row, function, false, parameters);
    if (error || strcmp(o->row->name, "grid-dependency") != 0)
        return error;
    limit_ns = 0;
    return launch(device, o->row, function, true, parameters);
}

static struct wsdbg_error *run(const struct device *device, const struct options *o, CUfunction function,
                               CUdeviceptr flag, CUdeviceptr source)
{
    struct wsdbg_error *error = launch_all(device, o, function, flag, source);
    if (!error)
        error = device_wait(device, PROGRAM, o->timeout_ms);
    return error;
}

static struct wsdbg_error *with_device(const struct options *o)
{
    char kernel[64];
    struct device device;
    CUdeviceptr flag = 0, source = 0;
    CUmodule module;
    CUfunction function;
    struct wsdbg_error *error = device_open(&device);
    if (error)
        return error;
    snprintf(kernel, sizeof kernel, "wait_%s", o->row->id);
    error = device_upload(&device, NULL, sizeof(uint32_t), &flag);
    if (!error)
        error = device_upload(&device, NULL, COPY_BYTES, &source);
    if (!error)
        error = device_load(&device, image_waits, kernel, o->row->ctas == 0 ? BIG_SHARED_BYTES : 0, &module, &function);
    if (!error) {
        error = run(&device, o, function, flag, source);
        device.cu.cuModuleUnload(module);
    }
    device_free(&device, source);
    device_free(&device, flag);
    device_close(&device);
    return error;
}

int main(int argc, char **argv)
{
    struct options options;
    if (parse(argc, argv, &options))
        return STATUS_BAD_OPTION;
    if (options.help || options.list) {
        if (options.help)
            print_help();
        else
            print_rows();
        return 0;
    }
    struct wsdbg_error *error = with_device(&options);
    if (!error)
        return 0;
    fprintf(stderr, PROGRAM ": %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return STATUS_FAILED;
}
