/* refusals.c - makes the driver refuse launches, modules and attributes, each in one way, and says what it answered.
 *
 * Usage: refusals [--well] [STEP]...    without a step all of them.  Writes "STEP: ERROR NAME" for each on stdout;
 * refusals.py runs it plain and under wsdbg and compares.  Needs libcuda alone: kernels are PTX that is written here.
 * The last step is a launch that must succeed: what is refused harms nothing.  With --well the program ends with status
 * 0, as one does that only asked; without it with 3, which wsdbg must hand on.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_lookup.h"

#define PTX_HEAD(version, target) ".version " version "\n.target " target "\n.address_size 64\n"
enum {
    WIDE_VALUES = 200,
    ATTRIBUTE_DYNAMIC_SHARED = 8,
    ATTRIBUTE_NON_PORTABLE_CLUSTER = 14,
    LAUNCH_ATTRIBUTE_CLUSTER = 4,
    DYNAMIC_SHARED_MOST = 232448,
};

static const char small_ptx[] = PTX_HEAD(
    "8.0",
    "sm_90") ".visible .entry small()\n{\n ret;\n}\n"
             ".visible .entry bounded() .maxntid 128, 1, 1\n{\n ret;\n}\n"
             ".visible .entry exact() .reqntid 128, 1, 1\n{\n ret;\n}\n"
             ".visible .entry clustered() .explicitcluster .reqnctapercluster 2, 1, 1\n{\n ret;\n}\n"
             ".visible .entry kept_shared(.param .u64 out)\n{\n .shared .align 4 .b8 here[32768];\n .reg .u32 %a;\n"
             " .reg .u64 %o;\n ld.param.u64 %o, [out];\n ld.volatile.shared.u32 %a, [here];\n st.global.u32 [%o], "
             "%a;\n ret;\n}\n";
static const char newer_ptx[] = PTX_HEAD("99.0", "sm_90") ".visible .entry small()\n{\n ret;\n}\n";
static const char newer_device_ptx[] = PTX_HEAD("8.7", "sm_100a") ".visible .entry small()\n{\n ret;\n}\n";
static const char not_for_90a_ptx[] =
    PTX_HEAD("8.0", "sm_90") ".visible .entry small()\n{\n wgmma.fence.sync.aligned;\n"
                             " ret;\n}\n";

typedef int launch_kernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);

struct attribute {
    uint32_t id, padding;
    union {
        uint32_t cluster[3];
        char bytes[64];
    } value;
};

struct config {
    uint32_t grid[3], block[3], shared_bytes;
    void *stream;
    const struct attribute *attributes;
    uint32_t attribute_count;
};

struct kernel_node {
    void *function;
    uint32_t grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    void *kernel, *context;
};

static struct {
    void *small, *bounded, *exact, *clustered, *kept_shared, *wide, *memory;
} kernels;

static const char *name_of(int result)
{
    const char *name = NULL;
    ((int (*)(int, const char **))driver("cuGetErrorName"))(result, &name);
    return name ? name : "?";
}

static int load(const void *image, void **module)
{
    return ((int (*)(void **, const void *))driver("cuModuleLoadData"))(module, image);
}

static void *find(void *module, const char *name)
{
    void *function = NULL;
    check(((int (*)(void **, void *, const char *))driver("cuModuleGetFunction"))(&function, module, name), name);
    return function;
}

/* A kernel whose values all live at once: it takes more than 200 registers a thread. */
static char *write_wide_ptx(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        exit(77);
    fprintf(
        out,
        PTX_HEAD("8.0",
                 "sm_90") ".visible .entry wide(.param .u64 at) .maxnreg 208\n{\n .reg .u64 %%p;\n .reg .u32 %%r<%d>;\n"
                          " ld.param.u64 %%p, [at];\n",
        WIDE_VALUES);
    for (int i = 0; i < WIDE_VALUES; i++)
        fprintf(out, " ld.volatile.global.u32 %%r%d, [%%p + %d];\n", i, 4 * i);
    for (int i = 0; i < WIDE_VALUES; i++)
        fprintf(out, " st.volatile.global.u32 [%%p + %d], %%r%d;\n", 4 * (WIDE_VALUES - 1 - i), i);
    fprintf(out, " ret;\n}\n");
    fclose(out);
    return text;
}

static int launch(void *function, unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared)
{
    void *parameters[] = {&kernels.memory};
    return ((launch_kernel *)driver("cuLaunchKernel"))(function, gx, gy, 1, bx, 1, bz, shared, NULL, parameters, NULL);
}

static int launch_with(const struct config *config, void *function)
{
    void *parameters[] = {&kernels.memory};
    return ((int (*)(const struct config *, void *, void **, void **))driver("cuLaunchKernelEx"))(config, function,
                                                                                                  parameters, NULL);
}

static int launch_cluster(void *function, unsigned ctas, unsigned cluster, unsigned shared)
{
    const struct attribute attribute = {.id = LAUNCH_ATTRIBUTE_CLUSTER, .value.cluster = {cluster, 1, 1}};
    const struct config config = {{ctas, 1, 1}, {128, 1, 1}, shared, NULL, &attribute, 1};
    return launch_with(&config, function);
}

static int set_attribute(void *function, int attribute, int value)
{
    return ((int (*)(void *, int, int))driver("cuFuncSetAttribute"))(function, attribute, value);
}

/* ---- the steps ---- */

static int registers_384(void)
{
    return launch(kernels.wide, 1, 1, 384, 1, 0);
}

/* 11 warps take the registers of 12. */
static int registers_352(void)
{
    return launch(kernels.wide, 1, 1, 352, 1, 0);
}

static int shared_not_opted_in(void)
{
    return launch(kernels.small, 1, 1, 128, 1, 65536);
}

static int shared_beyond_device(void)
{
    return launch(kernels.small, 1, 1, 128, 1, DYNAMIC_SHARED_MOST + 1024);
}

static int shared_attribute(void)
{
    return set_attribute(kernels.kept_shared, ATTRIBUTE_DYNAMIC_SHARED, DYNAMIC_SHARED_MOST);
}

static int cluster_16_not_allowed(void)
{
    return launch_cluster(kernels.small, 16, 16, 0);
}

static int cluster_32(void)
{
    return launch_cluster(kernels.small, 32, 32, 0);
}

static int cluster_not_whole(void)
{
    return launch_cluster(kernels.small, 9, 4, 0);
}

static int cluster_other_than_compiled(void)
{
    return launch_cluster(kernels.clustered, 8, 4, 0);
}

static int cluster_not_whole_as_compiled(void)
{
    return launch(kernels.clustered, 3, 1, 128, 1, 0);
}

/* 16 CTAs that take a multiprocessor each: more than some parts of the chip have. */
static int cluster_16_full(void)
{
    set_attribute(kernels.kept_shared, ATTRIBUTE_NON_PORTABLE_CLUSTER, 1);
    set_attribute(kernels.kept_shared, ATTRIBUTE_DYNAMIC_SHARED, DYNAMIC_SHARED_MOST - 32768);
    return launch_cluster(kernels.kept_shared, 16, 16, DYNAMIC_SHARED_MOST - 32768);
}

static int block_2048(void)
{
    return launch(kernels.small, 1, 1, 2048, 1, 0);
}

static int block_z_128(void)
{
    return launch(kernels.small, 1, 1, 1, 128, 0);
}

static int block_0(void)
{
    return launch(kernels.small, 1, 1, 0, 1, 0);
}

static int block_beyond_maxntid(void)
{
    return launch(kernels.bounded, 1, 1, 256, 1, 0);
}

static int block_not_reqntid(void)
{
    return launch(kernels.exact, 1, 1, 64, 1, 0);
}

static int grid_0(void)
{
    return launch(kernels.small, 0, 1, 128, 1, 0);
}

static int grid_y_65536(void)
{
    return launch(kernels.small, 1, 65536, 128, 1, 0);
}

static int cooperative_too_large(void)
{
    return ((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                     void **))driver("cuLaunchCooperativeKernel"))(kernels.small, 100000, 1, 1, 1024, 1, 1, 0, NULL,
                                                                   NULL);
}

/* Nothing that wsdbg knows is wrong with it. */
static int unknown_attribute(void)
{
    const struct attribute attribute = {.id = 0x7fff};
    const struct config config = {{1, 1, 1}, {128, 1, 1}, 0, NULL, &attribute, 1};
    return launch_with(&config, kernels.small);
}

/* Refused when the node is made, or when the graph is made ready. */
static int graph_of(void *function, uint32_t threads)
{
    void *graph = NULL, *node = NULL, *exec = NULL, *arguments[] = {&kernels.memory};
    const struct kernel_node kernel = {
        .function = function, .grid = {1, 1, 1}, .block = {threads, 1, 1}, .parameters = arguments};
    int result = ((int (*)(void **, unsigned))driver("cuGraphCreate"))(&graph, 0);
    if (result == 0)
        result = ((int (*)(void **, void *, const void *, size_t, const struct kernel_node *))driver(
            "cuGraphAddKernelNode"))(&node, graph, NULL, 0, &kernel);
    if (result == 0)
        result = ((int (*)(void **, void *, uint64_t))driver("cuGraphInstantiateWithFlags"))(&exec, graph, 0);
    return result ? result : exec ? ((int (*)(void *, void *))driver("cuGraphLaunch"))(exec, NULL) : 0;
}

static int graph_block_2048(void)
{
    return graph_of(kernels.small, 2048);
}

static int graph_registers_384(void)
{
    return graph_of(kernels.wide, 384);
}

static int ptx_newer_than_driver(void)
{
    void *module = NULL;
    return load(newer_ptx, &module);
}

static int ptx_of_newer_device(void)
{
    void *module = NULL;
    return load(newer_device_ptx, &module);
}

static int ptx_not_for_90a(void)
{
    void *module = NULL;
    return load(not_for_90a_ptx, &module);
}

/* A fatbin with nothing but PTX for sm_100a. */
static const void *other_device(void)
{
    static struct {
        struct {
            uint32_t magic;
            uint16_t version, header_bytes;
            uint64_t entries_bytes;
        } head;
        struct {
            uint16_t kind, version;
            uint32_t header_bytes;
            uint64_t stored_bytes;
            uint32_t packed_bytes, options_offset;
            uint16_t minor_version, major_version;
            uint32_t architecture, name_offset, name_bytes;
            uint64_t flags, unused, plain_bytes;
        } entry;
        char text[256];
    } fatbin = {.head = {0xba55ed50u, 1, 16, sizeof fatbin - sizeof fatbin.head},
                .entry = {.kind = 1,
                          .version = 0x101,
                          .header_bytes = sizeof fatbin.entry,
                          .stored_bytes = sizeof fatbin.text,
                          .major_version = 8,
                          .minor_version = 7,
                          .architecture = 100,
                          .flags = 0x100011}};
    memcpy(fatbin.text, newer_device_ptx, sizeof newer_device_ptx);
    return &fatbin;
}

static int fatbin_of_other_device(void)
{
    void *module = NULL;
    return load(other_device(), &module);
}

/* As cudart does with a program's kernels: code is looked for when it is needed, at the latest by the launch. */
static int launch_of_other_device(void)
{
    typedef int load_library(void **, const void *, const int *, void **, unsigned, const int *, void **, unsigned);
    load_library *const load_it = (load_library *)driver("cuLibraryLoadData");
    void *library = NULL, *kernel = NULL;
    int result = load_it(&library, other_device(), NULL, NULL, 0, NULL, NULL, 0);
    if (result == 0)
        result = ((int (*)(void **, void *, const char *))driver("cuLibraryGetKernel"))(&kernel, library, "small");
    return result ? result : launch(kernel, 1, 1, 128, 1, 0);
}

static int no_image(void)
{
    void *module = NULL;
    return load("no kernel at all", &module);
}

static int succeeds(void)
{
    const int result = launch(kernels.small, 2, 1, 128, 1, 0);
    return result ? result : ((int (*)(void))driver("cuCtxSynchronize"))();
}

static const struct step {
    const char *name;
    int (*run)(void);
} steps[] = {
#define STEP(name)  \
    {               \
#name, name \
    }
    STEP(registers_384),
    STEP(registers_352),
    STEP(shared_not_opted_in),
    STEP(shared_beyond_device),
    STEP(shared_attribute),
    STEP(cluster_16_not_allowed),
    STEP(cluster_32),
    STEP(cluster_not_whole),
    STEP(cluster_other_than_compiled),
    STEP(cluster_not_whole_as_compiled),
    STEP(cluster_16_full),
    STEP(block_2048),
    STEP(block_z_128),
    STEP(block_0),
    STEP(block_beyond_maxntid),
    STEP(block_not_reqntid),
    STEP(grid_0),
    STEP(grid_y_65536),
    STEP(cooperative_too_large),
    STEP(unknown_attribute),
    STEP(graph_block_2048),
    STEP(graph_registers_384),
    STEP(ptx_newer_than_driver),
    STEP(ptx_of_newer_device),
    STEP(ptx_not_for_90a),
    STEP(fatbin_of_other_device),
    STEP(launch_of_other_device),
    STEP(no_image),
    STEP(succeeds),
};

static void prepare(void)
{
    void *module = NULL;
    char *wide = write_wide_ptx();
    kernels.small = load_kernel(small_ptx, "small");
    check(load(small_ptx, &module), "cuModuleLoadData");
    kernels.bounded = find(module, "bounded");
    kernels.exact = find(module, "exact");
    kernels.clustered = find(module, "clustered");
    kernels.kept_shared = find(module, "kept_shared");
    check(load(wide, &module), "cuModuleLoadData");
    kernels.wide = find(module, "wide");
    free(wide);
    check(((int (*)(void **, size_t))driver("cuMemAlloc"))(&kernels.memory, 4096), "cuMemAlloc");
}

static void run(const struct step *step)
{
    const int result = step->run();
    printf("%s: %d %s\n", step->name, result, name_of(result));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool ends_well = argc > 1 && strcmp(argv[1], "--well") == 0;
    const int first = ends_well ? 2 : 1;
    driver_find("refusals");
    prepare();
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        bool asked = argc == first;
        for (int a = first; a < argc; a++)
            asked |= strcmp(argv[a], steps[i].name) == 0;
        if (asked)
            run(&steps[i]);
    }
    return ends_well ? 0 : 3;
}
