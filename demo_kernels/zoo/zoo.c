/* zoo.c - runs one case of the zoo: a kernel with one defect, the same kernel without it, or a correct one that looks
 * wrong.
 *
 * Reads the command line, writes the table on stdout and complaints on stderr.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/arguments.h"
#include "../common/driver.h"
#include "../common/image.h"
#include "geometry.h"

#define PROGRAM "zoo"

/* Of a decoy.  By the GPU's clock, which on the simulator goes slower than the host's. */
#define WORK_DEFAULT_MS 4000
#define WORK_SIMULATED_NS 4000000u
#define HOST_SIMULATED_MS 1000 /* until the host writes its word */

#define ZOO(id, ...) IMAGE(zoo_##id##_plain) IMAGE(zoo_##id##_probes)
#include "zoo.def"
#undef ZOO

enum variant { VARIANT_PLAIN, VARIANT_PROBES };
static const char *const variant_words[] = {"plain", "probes", NULL};

enum kind { KIND_HANG, KIND_FAULT, KIND_DECOY };
static const char *const kind_words[] = {"hang", "fault", "decoy"};

enum launches { LAUNCHES_ONE, LAUNCHES_DEPENDENT, LAUNCHES_STREAM, LAUNCHES_HOST, LAUNCHES_COPY };

struct zoo_case {
    const char *id, *name, *cause, *role, *barrier, *story;
    const void *images[2]; /* by enum variant */
    enum kind kind;
    enum launches launches;
    unsigned ctas, threads; /* ctas 0 = more than fit */
};

static const struct zoo_case cases[] = {
#define ZOO(id, name, cause, role, barrier, kind, ctas, threads, launches, story) \
    {#id,                                                                         \
     name,                                                                        \
     cause,                                                                       \
     role,                                                                        \
     barrier,                                                                     \
     story,                                                                       \
     {image_zoo_##id##_plain, image_zoo_##id##_probes},                           \
     KIND_##kind,                                                                 \
     LAUNCHES_##launches,                                                         \
     ctas,                                                                        \
     threads},
#include "zoo.def"
#undef ZOO
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])

struct options {
    const struct zoo_case *selected;
    int variant;     /* enum variant */
    long work_ms;    /* 0 = as the device likes */
    long timeout_ms; /* -1 = wait for ever */
    bool fixed, list, help;
};

/* What the kernels of a case get: their parameter and a second stream. */
struct setup {
    struct zoo_input input;
    CUdeviceptr words, source;
    uint32_t *host_word;
    CUmodule module;
    CUfunction function;
    CUstream stream;
};

static void print_cases(void)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const struct zoo_case *const c = &cases[i];
        printf("%s\t%s\t%s\t%s\t%s\t%s\n", c->name, *c->cause ? c->cause : "-", c->role, c->barrier,
               kind_words[c->kind], c->story);
    }
}

static void print_help(void)
{
    fputs("usage: zoo --case NAME [options]     kernels with one defect each, and correct ones that look wrong\n"
          "  --case NAME       --list prints name, expected cause or -, role, barrier, kind, story\n"
          "  --fixed           the same kernel without its defect\n"
          "  --variant WORD    image: plain (no probes, the default) or probes\n"
          "  --work-ms T       how long a correct one goes on, by the GPU's clock (default 4000, on the simulator 4)\n"
          "  --timeout-ms T    leave with status 3 when it takes longer than T (default: wait)\n"
          "status: 0 good, 1 CUDA error, 2 bad option, 3 timed out\n",
          stdout);
}

static int find_case(const char *name, struct options *o)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            o->selected = &cases[i];
            return 0;
        }
    }
    fprintf(stderr, PROGRAM ": --case: there is no '%s' (see --list)\n", name);
    return -1;
}

static int parse_one(int id, const char *value, void *options)
{
    struct options *o = options;
    switch (id) {
    case 'c':
        return find_case(value, o);
    case 'v':
        return argument_word(PROGRAM, "variant", value, variant_words, &o->variant);
    case 'w':
        return argument_number(PROGRAM, "work-ms", value, 1, 3600000, &o->work_ms);
    case 't':
        return argument_number(PROGRAM, "timeout-ms", value, 1, INT_MAX, &o->timeout_ms);
    }
    o->fixed |= id == 'f';
    o->list |= id == 'l';
    o->help |= id == 'h';
    return 0;
}

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option table[] = {
        {"case", required_argument, NULL, 'c'},
        {"fixed", no_argument, NULL, 'f'},
        {"variant", required_argument, NULL, 'v'},
        {"work-ms", required_argument, NULL, 'w'},
        {"timeout-ms", required_argument, NULL, 't'},
        {"list", no_argument, NULL, 'l'},
        /* The words of every demo program, for wsdbg demo. */
        {"bug", required_argument, NULL, 'c'},
        {"list-bugs", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.timeout_ms = -1};
    if (arguments_read(PROGRAM, argc, argv, table, parse_one, &o))
        return -1;
    if (!o.selected && !o.list && !o.help)
        return argument_refuse(PROGRAM, "--case", "is missing");
    if (o.selected && o.fixed && o.selected->kind == KIND_DECOY)
        return argument_refuse(PROGRAM, o.selected->name, "has no defect that --fixed could leave out");
    *out = o;
    return 0;
}

/* Memory of the host that kernels may read, by its address on the device. */
static struct wsdbg_error *map_host_word(const struct device *device, struct setup *setup)
{
    CUdeviceptr address = 0;
    void *word = NULL;
    struct wsdbg_error *error =
        device_check(device, device->cu.cuMemHostAlloc(&word, sizeof *setup->host_word, CU_MEMHOSTALLOC_DEVICEMAP),
                     "cuMemHostAlloc");
    if (error)
        return error;
    setup->host_word = word;
    __atomic_store_n(setup->host_word, 0, __ATOMIC_RELAXED);
    error = device_check(device, device->cu.cuMemHostGetDevicePointer(&address, word, 0), "cuMemHostGetDevicePointer");
    setup->input.host_word = (uint32_t *)(uintptr_t)address;
    return error;
}

static uint64_t work_ns(const struct device *device, const struct options *o)
{
    if (o->work_ms == 0 && device->is_simulated)
        return WORK_SIMULATED_NS;
    return (uint64_t)(o->work_ms ? o->work_ms : WORK_DEFAULT_MS) * 1000000u;
}

static struct wsdbg_error *prepare(const struct device *device, const struct options *o, struct setup *setup)
{
    char kernel[64];
    snprintf(kernel, sizeof kernel, "zoo_%s%s", o->selected->id, o->fixed ? "_fixed" : "");
    struct wsdbg_error *error = device_upload(device, NULL, WORDS * sizeof(uint32_t), &setup->words);
    if (!error)
        error = device_upload(device, NULL, SOURCE_BYTES, &setup->source);
    if (!error)
        error = map_host_word(device, setup);
    if (!error)
        error =
            device_check(device, device->cu.cuStreamCreate(&setup->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (!error)
        error = device_load(device, o->selected->images[o->variant], kernel,
                            o->selected->ctas == 0 ? BIG_SHARED_BYTES : 0, &setup->module, &setup->function);
    setup->input.words = (uint32_t *)(uintptr_t)setup->words;
    setup->input.source = (const unsigned char *)(uintptr_t)setup->source;
    setup->input.work_ns = work_ns(device, o);
    return error;
}

static void clean_up(const struct device *device, const struct setup *setup)
{
    if (setup->module)
        device->cu.cuModuleUnload(setup->module);
    if (setup->stream)
        device->cu.cuStreamDestroy(setup->stream);
    if (setup->host_word)
        device->cu.cuMemFreeHost(setup->host_word);
    if (setup->source)
        device_free(device, setup->source);
    if (setup->words)
        device_free(device, setup->words);
}

static struct wsdbg_error *launch(const struct device *device, const struct zoo_case *row, struct setup *setup,
                                  CUstream stream, bool dependent)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = 1};
    const bool many = row->ctas == 0;
    CUlaunchConfig config = {.gridDimX = many ? (unsigned)device->multiprocessors + CTAS_TOO_MANY : row->ctas,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = row->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = many ? BIG_SHARED_BYTES : 0,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = dependent};
    void *parameters[] = {&setup->input};
    return device_check(device, device->cu.cuLaunchKernelEx(&config, setup->function, parameters, NULL),
                        "cuLaunchKernelEx");
}

static void sleep_ns(uint64_t ns)
{
    struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&pause, NULL);
}

/* What the kernel polls, by the host itself or by a copy from there. */
static struct wsdbg_error *write_late(const struct device *device, const struct options *o, const struct setup *setup)
{
    const long usual_ms = device->is_simulated ? HOST_SIMULATED_MS : WORK_DEFAULT_MS;
    sleep_ns((uint64_t)(o->work_ms ? o->work_ms : usual_ms) * 1000000u);
    __atomic_store_n(setup->host_word, 1, __ATOMIC_RELEASE);
    if (o->selected->launches == LAUNCHES_HOST)
        return NULL;
    return device_check(
        device, device->cu.cuMemcpyHtoDAsync(setup->words, setup->host_word, sizeof *setup->host_word, setup->stream),
        "cuMemcpyHtoDAsync");
}

static struct wsdbg_error *launch_all(const struct device *device, const struct options *o, struct setup *setup)
{
    const enum launches launches = o->selected->launches;
    struct wsdbg_error *error = launch(device, o->selected, setup, device->stream, false);
    if (error || launches == LAUNCHES_ONE)
        return error;
    if (launches == LAUNCHES_HOST || launches == LAUNCHES_COPY)
        return write_late(device, o, setup);
    setup->input.part = 1;
    if (launches == LAUNCHES_DEPENDENT)
        return launch(device, o->selected, setup, device->stream, true);
    return launch(device, o->selected, setup, setup->stream, false);
}

static struct wsdbg_error *run(const struct device *device, const struct options *o, struct setup *setup)
{
    struct wsdbg_error *error = launch_all(device, o, setup);
    if (!error)
        error = device_wait(device, PROGRAM, o->timeout_ms);
    if (!error && o->selected->launches == LAUNCHES_STREAM)
        error = device_check(device, device->cu.cuStreamSynchronize(setup->stream), "the second kernel");
    return error;
}

static struct wsdbg_error *with_device(const struct options *o)
{
    struct device device;
    struct setup setup = {0};
    struct wsdbg_error *error = device_open(&device);
    if (error)
        return error;
    error = prepare(&device, o, &setup);
    if (!error)
        error = run(&device, o, &setup);
    clean_up(&device, &setup);
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
            print_cases();
        return 0;
    }
    struct wsdbg_error *error = with_device(&options);
    if (!error)
        return 0;
    fprintf(stderr, PROGRAM ": %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return STATUS_FAILED;
}
