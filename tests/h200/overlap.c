/* overlap.c - what it costs when ptxas serializes wgmma: times the twins of overlap.cu on every multiprocessor.
 *
 * Usage: overlap IMAGE [REPEATS]     IMAGE: overlap.cubin.  Prints one JSON object.
 *        overlap --list     Prints the kernels' names.
 *        overlap --once IMAGE KERNEL WARPGROUPS ROUNDS CTAS     IMAGE: overlap_probed.fatbin.  Prints nothing.
 * The two kernels of a pair are launched by turns, one CTA a multiprocessor, with one warpgroup and with two; a launch
 * takes a millisecond or some.  Times are those between two events; the median, the least and the most of REPEATS (15).
 * --once launches one kernel and waits for it, to be watched by wsdbg; CTAS 0 = one a multiprocessor.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_lookup.h"

enum { REPEATS_MOST = 101, WARM_UP = 3, ROUNDS = 4096, STEPS = 4, MULTIPROCESSORS = 16, SHARED_MOST = 8 };

static const struct pair {
    const char *fast, *slow;
    unsigned columns;
} pairs[] = {
    {"overlapped_64", "serialized_64", 64},
    {"overlapped_128", "serialized_128", 128},
    {"overlapped_256", "serialized_256", 256},
    {"scalars", "spilled", 128},
};

struct times {
    double us[REPEATS_MOST];
};

static struct {
    void *first, *last; /* events */
    void *out;
    int multiprocessors;
} gpu;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long count = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (count = ftell(file)) > 0 && (bytes = malloc((size_t)count + 1))) {
        rewind(file);
        bytes[fread(bytes, 1, (size_t)count, file)] = '\0';
    }
    if (file)
        fclose(file);
    if (!bytes) {
        fprintf(stderr, "overlap: %s cannot be read\n", path);
        exit(2);
    }
    return bytes;
}

static void prepare(void)
{
    check(((int (*)(int *, int, int))driver("cuDeviceGetAttribute"))(&gpu.multiprocessors, MULTIPROCESSORS, 0),
          "cuDeviceGetAttribute");
    const size_t bytes = (size_t)gpu.multiprocessors * 256 * 128 * sizeof(float);
    check(((int (*)(void **, size_t))driver("cuMemAlloc"))(&gpu.out, bytes), "cuMemAlloc");
    check(((int (*)(void **, unsigned))driver("cuEventCreate"))(&gpu.first, 0), "cuEventCreate");
    check(((int (*)(void **, unsigned))driver("cuEventCreate"))(&gpu.last, 0), "cuEventCreate");
}

/* A: 64 rows of 128 bytes a warpgroup; B: a row each column. */
static uint32_t shared_bytes_of(const struct pair *pair, unsigned warpgroups)
{
    return (warpgroups * 64 + pair->columns) * 128;
}

static void *kernel_of(const char *image, const char *name, uint32_t shared_bytes)
{
    void *kernel = load_kernel(image, name);
    check(((int (*)(void *, int, int))driver("cuFuncSetAttribute"))(kernel, SHARED_MOST, (int)shared_bytes),
          "cuFuncSetAttribute");
    return kernel;
}

static void launch(void *kernel, unsigned ctas, unsigned warpgroups, int rounds, uint32_t shared_bytes)
{
    void *arguments[] = {&gpu.out, &rounds, &shared_bytes};
    check(((int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                    void **))driver("cuLaunchKernel"))(kernel, ctas, 1, 1, warpgroups * 128, 1, 1, shared_bytes, NULL,
                                                       arguments, NULL),
          "cuLaunchKernel");
}

static double time_of(void *kernel, unsigned warpgroups, uint32_t shared_bytes)
{
    float ms = 0;
    int (*record)(void *, void *) = (int (*)(void *, void *))driver("cuEventRecord");
    check(record(gpu.first, NULL), "cuEventRecord");
    launch(kernel, (unsigned)gpu.multiprocessors, warpgroups, ROUNDS, shared_bytes);
    check(record(gpu.last, NULL), "cuEventRecord");
    check(((int (*)(void *))driver("cuEventSynchronize"))(gpu.last), "cuEventSynchronize");
    check(((int (*)(float *, void *, void *))driver("cuEventElapsedTime"))(&ms, gpu.first, gpu.last),
          "cuEventElapsedTime");
    return (double)ms * 1e3;
}

static void print_times(const char *what, const char *kernel, struct times *times, int repeats)
{
    const double middle = median(times->us, repeats); /* sorts */
    printf("\"%s\": {\"kernel\": \"%s\", \"median_us\": %.1f, \"least_us\": %.1f, \"most_us\": %.1f}", what, kernel,
           middle, times->us[0], times->us[repeats - 1]);
}

static void measure(const char *image, const struct pair *pair, unsigned warpgroups, int repeats)
{
    struct times fast, slow;
    const uint32_t shared_bytes = shared_bytes_of(pair, warpgroups);
    void *kernels[] = {kernel_of(image, pair->fast, shared_bytes), kernel_of(image, pair->slow, shared_bytes)};
    for (int i = -WARM_UP; i < repeats; i++) {
        const double first = time_of(kernels[i & 1], warpgroups, shared_bytes);
        const double second = time_of(kernels[~i & 1], warpgroups, shared_bytes);
        if (i < 0)
            continue;
        fast.us[i] = i & 1 ? second : first;
        slow.us[i] = i & 1 ? first : second;
    }
    printf("  {\"columns\": %u, \"warpgroups\": %u, ", pair->columns, warpgroups);
    print_times("overlapped", pair->fast, &fast, repeats);
    printf(", ");
    print_times("serialized", pair->slow, &slow, repeats);
    const double operations = 2.0 * 64 * pair->columns * 16 * STEPS * ROUNDS * warpgroups * gpu.multiprocessors;
    printf(", \"slowdown\": %.3f, \"overlapped_tflops\": %.1f, \"serialized_tflops\": %.1f}",
           slow.us[repeats / 2] / fast.us[repeats / 2], operations / fast.us[repeats / 2] / 1e6,
           operations / slow.us[repeats / 2] / 1e6);
}

static char *open_image(const char *path)
{
    char *image = read_file(path);
    driver_find("overlap");
    load_kernel(image, pairs[0].fast);
    prepare();
    return image;
}

/* One launch of the kernel of that name; false where there is none. */
static bool run_once(const char *image, const char *name, unsigned warpgroups, int rounds, unsigned ctas)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(pairs[i].fast, name) != 0 && strcmp(pairs[i].slow, name) != 0)
            continue;
        const uint32_t shared_bytes = shared_bytes_of(&pairs[i], warpgroups);
        launch(kernel_of(image, name, shared_bytes), ctas ? ctas : (unsigned)gpu.multiprocessors, warpgroups, rounds,
               shared_bytes);
        check(((int (*)(void))driver("cuCtxSynchronize"))(), "cuCtxSynchronize");
        return true;
    }
    fprintf(stderr, "overlap: no kernel %s\n", name);
    return false;
}

static int measure_all(const char *path, int repeats)
{
    char *image = open_image(path);
    printf("{\"multiprocessors\": %d, \"repeats\": %d, \"rounds\": %d, \"pairs\": [\n", gpu.multiprocessors, repeats,
           ROUNDS);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (unsigned warpgroups = 1; warpgroups <= 2; warpgroups++) {
            measure(image, &pairs[i], warpgroups, repeats);
            printf("%s\n", i + 1 == sizeof pairs / sizeof *pairs && warpgroups == 2 ? "" : ",");
        }
    printf("]}\n");
    free(image);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            printf("%s\n%s\n", pairs[i].fast, pairs[i].slow);
        return 0;
    }
    const bool once = argc == 7 && strcmp(argv[1], "--once") == 0;
    const int repeats = argc > 2 ? atoi(argv[2]) : 15;
    if (once) {
        const int warpgroups = atoi(argv[4]), rounds = atoi(argv[5]), ctas = atoi(argv[6]);
        if (warpgroups >= 1 && warpgroups <= 2 && rounds >= 1 && ctas >= 0) {
            char *image = open_image(argv[2]);
            const bool ran = run_once(image, argv[3], (unsigned)warpgroups, rounds, (unsigned)ctas);
            free(image);
            return ran ? 0 : 2;
        }
    } else if (argc >= 2 && argc <= 3 && repeats >= 1 && repeats <= REPEATS_MOST) {
        return measure_all(argv[1], repeats);
    }
    fprintf(stderr,
            "usage: overlap IMAGE [REPEATS, 1 to %d]\n       overlap --once IMAGE KERNEL WARPGROUPS ROUNDS CTAS\n",
            REPEATS_MOST);
    return 2;
}
