/* two_async_warps.c - runs the kernel of the same name, correct or with one of its defects, and checks every element.
 *
 * Reads the command line, writes the result of the check on stdout and complaints on stderr.
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

#define PROGRAM "two_async_warps"

#define DEFECT(id, ...) IMAGE(two_async_warps_##id##_plain) IMAGE(two_async_warps_##id##_probes)
#include "defects.def"
#undef DEFECT

enum variant { VARIANT_PLAIN, VARIANT_PROBES };
static const char *const variant_words[] = {"plain", "probes", NULL};

struct defect_row {
    const char *name, *cause, *role, *barrier, *kind, *story;
    const void *images[2]; /* by enum variant */
};

static const struct defect_row defects[] = {
#define DEFECT(id, name, set, cause, role, barrier, kind, story) \
    {name,                                                       \
     cause,                                                      \
     role,                                                       \
     barrier,                                                    \
     #kind,                                                      \
     story,                                                      \
     {image_two_async_warps_##id##_plain, image_two_async_warps_##id##_probes}},
#include "defects.def"
#undef DEFECT
};
#define DEFECT_COUNT (sizeof defects / sizeof defects[0])

struct options {
    const struct defect_row *defect;
    int variant; /* enum variant */
    long rows, columns, ctas, repeat;
    long timeout_ms; /* -1 = wait for ever */
    bool list, help;
};

static void print_defects(void)
{
    for (size_t i = 0; i < DEFECT_COUNT; i++)
        printf("%s\t%s\t%s\t%s\t%s\t%s\n", defects[i].name, defects[i].cause, defects[i].role, defects[i].barrier,
               defects[i].kind, defects[i].story);
}

static void print_help(void)
{
    fputs("usage: two_async_warps [options]     an element-wise product, its operands loaded by two warps\n"
          "  --defect NAME     run with a defect (default none); --list-defects prints name, cause, role, barrier,\n"
          "                    kind, story\n"
          "  --variant WORD    image: plain (no probes) or probes (default)\n"
          "  --rows N          default 64\n"
          "  --columns N       a multiple of 4, at most 1024 (default 1024)\n"
          "  --ctas N          default 2\n"
          "  --repeat N        launches (default 1)\n"
          "  --timeout-ms T    leave with status 3 when a launch takes longer than T (default: wait)\n"
          "status: 0 good, 1 wrong result or CUDA error, 2 bad option, 3 timed out\n",
          stdout);
}

static int find_defect(const char *name, struct options *o)
{
    for (size_t i = 0; i < DEFECT_COUNT; i++) {
        if (strcmp(defects[i].name, name) == 0) {
            o->defect = &defects[i];
            return 0;
        }
    }
    fprintf(stderr, PROGRAM ": --defect: there is no '%s' (see --list-defects)\n", name);
    return -1;
}

static int parse_one(int id, const char *value, void *options)
{
    struct options *o = options;
    switch (id) {
    case 'd':
        return find_defect(value, o);
    case 'v':
        return argument_word(PROGRAM, "variant", value, variant_words, &o->variant);
    case 'r':
        return argument_number(PROGRAM, "rows", value, 1, 1 << 20, &o->rows);
    case 'c':
        return argument_number(PROGRAM, "columns", value, 4, COLUMNS_MAX, &o->columns);
    case 'g':
        return argument_number(PROGRAM, "ctas", value, 1, 4096, &o->ctas);
    case 'n':
        return argument_number(PROGRAM, "repeat", value, 1, 1000000, &o->repeat);
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
        {"defect", required_argument, NULL, 'd'},
        {"variant", required_argument, NULL, 'v'},
        {"rows", required_argument, NULL, 'r'},
        {"columns", required_argument, NULL, 'c'},
        {"ctas", required_argument, NULL, 'g'},
        {"repeat", required_argument, NULL, 'n'},
        {"timeout-ms", required_argument, NULL, 't'},
        {"list-defects", no_argument, NULL, 'l'},
        /* The words of every demo program, for wsdbg demo. */
        {"bug", required_argument, NULL, 'd'},
        {"list-bugs", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {&defects[0], VARIANT_PROBES, 64, COLUMNS_MAX, 2, 1, -1, false, false};
    if (arguments_read(PROGRAM, argc, argv, table, parse_one, &o))
        return -1;
    if (o.columns % 4) {
        fprintf(stderr, PROGRAM ": --columns must be a multiple of 4 (a bulk copy is a multiple of 16 bytes)\n");
        return -1;
    }
    *out = o;
    return 0;
}

/* Small whole numbers: their products are exact, so the result can be compared bit for bit. */
static float element_a(size_t i)
{
    return (float)(i * 7 % 1021);
}
static float element_b(size_t i)
{
    return (float)(i * 13 % 509) - 250;
}

static void fill(float *a, float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        a[i] = element_a(i);
        b[i] = element_b(i);
    }
}

static struct wsdbg_error *check(const float *product, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float wanted = element_a(i) * element_b(i);
        if (product[i] != wanted)
            return wsdbg_error_create(WSDBG_ERROR_OTHER, "element %zu is %g, should be %g", i, (double)product[i],
                                      (double)wanted);
    }
    printf("check: %zu elements right\n", count);
    return NULL;
}

/* A launch that times out ends the program: nothing can be freed under it. */
static struct wsdbg_error *run(const struct device *device, const struct options *o, CUfunction function,
                               struct two_async_warps_problem *problem)
{
    void *parameters[] = {problem};
    struct wsdbg_error *error = NULL;
    for (long i = 0; !error && i < o->repeat; i++) {
        error = device_check(device,
                             device->cu.cuLaunchKernel(function, (unsigned)o->ctas, 1, 1, CTA_THREADS, 1, 1, 0,
                                                       device->stream, parameters, NULL),
                             "cuLaunchKernel");
        if (!error)
            error = device_wait(device, PROGRAM, o->timeout_ms);
    }
    return error;
}

/* `host` holds room for three matrices: a, b and the product. */
static struct wsdbg_error *multiply(const struct device *device, const struct options *o, float *host, size_t count)
{
    const size_t bytes = count * sizeof(float);
    CUdeviceptr memory[3] = {0};
    CUmodule module = NULL;
    CUfunction function = NULL;
    fill(host, host + count, count);
    struct wsdbg_error *error = device_upload(device, host, bytes, &memory[0]);
    if (!error)
        error = device_upload(device, host + count, bytes, &memory[1]);
    if (!error)
        error = device_upload(device, NULL, bytes, &memory[2]);
    if (!error)
        error = device_load(device, o->defect->images[o->variant], PROGRAM, 0, &module, &function);
    if (!error) {
        struct two_async_warps_problem problem = {(const float *)(uintptr_t)memory[0],
                                                  (const float *)(uintptr_t)memory[1], (float *)(uintptr_t)memory[2],
                                                  (int)o->rows, (int)o->columns};
        error = run(device, o, function, &problem);
        if (!error)
            error = device_check(device, device->cu.cuMemcpyDtoH(host + 2 * count, memory[2], bytes), "cuMemcpyDtoH");
        if (!error)
            error = check(host + 2 * count, count);
        device->cu.cuModuleUnload(module);
    }
    for (int i = 0; i < 3; i++)
        if (memory[i])
            device_free(device, memory[i]);
    return error;
}

static struct wsdbg_error *with_device(const struct options *o)
{
    const size_t count = (size_t)o->rows * (size_t)o->columns;
    struct device device;
    struct wsdbg_error *error = device_open(&device);
    if (error)
        return error;
    float *host = malloc(3 * count * sizeof *host);
    error = host ? multiply(&device, o, host, count) : &wsdbg_error_no_memory;
    free(host);
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
            print_defects();
        return 0;
    }
    struct wsdbg_error *error = with_device(&options);
    if (!error)
        return 0;
    fflush(stdout);
    fprintf(stderr, PROGRAM ": %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return STATUS_FAILED;
}
