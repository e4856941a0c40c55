/* demo_test.c - the demo kernels, from the images that nvcc made: each bug ends as its table says, the rest is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo_kernels/gemm/geometry.h"
enum { GEMM_THREADS = CTA_THREADS };
#undef CTA_THREADS
#undef STAGES
#undef WARPGROUP_THREADS
#include "demo_kernels/two_async_warps/geometry.h"
#include "demo_kernels/waits/geometry.h"
#include "hopper/machine.h"
#include "hopper/number.h"
#include "base/tensor_map.h"
#include "sass/fatbin.h"

enum kind { NONE, HANG, RACE, FAULT, SLOW };
enum { IMAGE_BYTES_MOST = 1 << 22, INSTRUCTIONS_MOST = 50000000, BAND_BYTES = 2048 };

/* The PTX of an image; the caller's to free. */
static char *read_ptx(const char *name)
{
    static unsigned char bytes[IMAGE_BYTES_MOST];
    char path[512], *text = NULL;
    snprintf(path, sizeof path, "%s/%s.fatbin", IMAGES, name);
    FILE *const file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is not there", path);
    struct wsdbg_image image = {.bytes = bytes};
    image.byte_count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct wsdbg_fatbin_entry entry;
    bool found = false;
    size_t byte_count;
    assert_null(wsdbg_fatbin_pick(&image, WSDBG_FATBIN_PTX, 0, &entry, &found));
    assert_true(found);
    assert_null(wsdbg_fatbin_unpack(&entry, IMAGE_BYTES_MOST, &text, &byte_count));
    return text;
}

static void open_image(struct machine *machine, const char *name, enum wsdbg_schedule_kind schedule, uint64_t seed)
{
    const struct wsdbg_gpu_options options = {
        .multiprocessors = 8, .schedule = {.kind = schedule, .seed = seed, .change_points = 3, .length = 100000}};
    char *const text = read_ptx(name);
    machine_create(machine, text, &options);
    free(text);
}

static void *memory(const struct machine *machine, size_t byte_count)
{
    uint64_t address = 0;
    assert_null(wsdbg_gpu_allocate(machine->gpu, byte_count, 256, &address));
    return (void *)(uintptr_t)address;
}

static void submit(struct machine *machine, const char *kernel, struct wsdbg_gpu_launch launch)
{
    int driver_error = 0;
    launch.module = machine->module;
    launch.function = wsdbg_ptx_find_function(machine->program, kernel);
    launch.block[1] = launch.block[2] = launch.grid[1] = launch.grid[2] = 1;
    if (!launch.function)
        fail_msg("no kernel %s", kernel);
    struct wsdbg_error *const error = wsdbg_gpu_submit(machine->gpu, &launch, &driver_error, &machine->run);
    if (error)
        fail_msg("%s: %s", kernel, wsdbg_error_message(error));
}

/* A hang is proven, or stands because only the host could write what is polled. */
static void must_end(struct machine *machine, const char *name, enum kind kind, int error)
{
    const enum wsdbg_gpu_outcome outcome = wsdbg_gpu_run(machine->gpu, INSTRUCTIONS_MOST);
    const struct wsdbg_gpu_fault *const fault = wsdbg_gpu_fault(machine->run);
    const bool hangs = outcome == WSDBG_GPU_DEADLOCK || outcome == WSDBG_GPU_STALLED;
    const bool is_right = kind == HANG    ? hangs
                          : kind == FAULT ? outcome == WSDBG_GPU_FAULT && fault->driver_error == error
                                          : outcome == WSDBG_GPU_IDLE;
    if (!is_right)
        fail_msg("%s ends with outcome %d: %s", name, outcome, fault ? fault->text : "");
}

/* ---- gemm ---- */

struct parameters {
    struct gemm_problem problem;
    _Alignas(64) unsigned char a[128];
    _Alignas(64) unsigned char b[128];
    _Alignas(64) unsigned char c[128];
};

static void put_map(unsigned char *to, const bf16 *matrix, unsigned rows, unsigned columns, unsigned box_rows)
{
    const struct wsdbg_tensor_map map = {.magic = WSDBG_TENSOR_MAGIC,
                                         .data_type = 9, /* BFLOAT16 */
                                         .rank = 2,
                                         .element_bytes = sizeof(bf16),
                                         .swizzle = 3,
                                         .address = (uint64_t)(uintptr_t)matrix,
                                         .sizes_and_strides = {columns, rows},
                                         .strides_bytes = {columns * sizeof(bf16)},
                                         .box = {BLOCK_K, (uint16_t)box_rows},
                                         .element_strides = {1, 1}};
    memcpy(to, &map, sizeof map);
}

struct product {
    unsigned m, n, k, ctas;
    bf16 *a, *b, *c;
};

static bf16 *matrix(const struct machine *machine, unsigned rows, unsigned columns, unsigned step)
{
    bf16 *const at = memory(machine, (size_t)rows * columns * sizeof *at);
    for (size_t i = 0; step && i < (size_t)rows * columns; i++)
        at[i] = hopper_float_to_bf16((float)((int)((i * step + i / columns) % 17) - 8) / 8);
    return at;
}

static void submit_product(struct machine *machine, const char *kernel, struct product *product)
{
    const bool is_pingpong = strstr(kernel, "pingpong") != NULL;
    const unsigned cluster = strstr(kernel, "cluster2") ? 2 : 1;
    const unsigned tile_rows = is_pingpong ? CONSUMER_M : CONSUMERS * CONSUMER_M;
    struct parameters parameters = {
        .problem = {(int)product->m, (int)product->n, (int)product->k, (int)(BAND_BYTES / (tile_rows * cluster))}};
    product->a = matrix(machine, product->m, product->k, 5);
    product->b = matrix(machine, product->n, product->k, 3);
    product->c = matrix(machine, product->m, product->n, 0);
    put_map(parameters.a, product->a, product->m, product->k, tile_rows);
    put_map(parameters.b, product->b, product->n, product->k, TILE_N / cluster);
    put_map(parameters.c, product->c, product->m, product->n, CONSUMER_M);
    submit(machine, kernel,
           (struct wsdbg_gpu_launch){.grid = {product->ctas},
                                     .block = {GEMM_THREADS},
                                     .cluster = {cluster, 1, 1},
                                     .dynamic_shared_bytes = SHARED_BYTES_OF(CONSUMERS * CONSUMER_M, TILE_N),
                                     .registers_per_thread = 168,
                                     .parameters = &parameters});
}

static void check_product(const struct product *product, const char *name)
{
    for (unsigned row = 0; row < product->m; row += 3)
        for (unsigned column = 0; column < product->n; column += 5) {
            double sum = 0;
            for (unsigned k = 0; k < product->k; k++)
                sum += (double)hopper_bf16_to_float(product->a[row * product->k + k]) *
                       (double)hopper_bf16_to_float(product->b[column * product->k + k]);
            const double got = (double)hopper_bf16_to_float(product->c[row * product->n + column]);
            const double most = 0.004 * (sum < 0 ? 1 - sum : 1 + sum); /* one rounding to bf16 */
            if (got - sum > most || sum - got > most)
                fail_msg("%s: row %u, column %u is %g, not %g", name, row, column, got, sum);
        }
}

/* Runs a kernel of an image and checks the product; the reports that were made. */
static size_t run_gemm(const char *image, const char *kernel, enum wsdbg_schedule_kind schedule, uint64_t seed)
{
    /* Ragged: neither a multiple of a tile nor of the clusters' rows. */
    struct product product = {.m = 200, .n = 264, .k = 136, .ctas = 4};
    const struct wsdbg_gpu_report *reports;
    struct machine machine;
    open_image(&machine, image, schedule, seed);
    submit_product(&machine, kernel, &product);
    must_end(&machine, kernel, NONE, 0);
    check_product(&product, kernel);
    const size_t count = wsdbg_gpu_reports(machine.gpu, &reports);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reports[i].kind, WSDBG_GPU_ACCUMULATOR_READ);
    machine_destroy(&machine);
    return count;
}

static void every_gemm_is_right(void **state)
{
    (void)state;
    static const char *const kernels[] = {"gemm_cooperative", "gemm_cooperative_cluster2", "gemm_pingpong",
                                          "gemm_pingpong_cluster2"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (int schedule = WSDBG_SCHEDULE_ROUND_ROBIN; schedule <= WSDBG_SCHEDULE_PRIORITY; schedule++) {
            assert_int_equal(run_gemm("gemm_plain", kernels[i], (enum wsdbg_schedule_kind)schedule, i), 0);
            assert_int_equal(run_gemm("gemm_probes", kernels[i], (enum wsdbg_schedule_kind)schedule, i), 0);
        }
}

static void a_serialized_gemm_uses_accumulators_too_early(void **state)
{
    (void)state;
    assert_true(run_gemm("gemm_wgmma_serialized_plain", "gemm_cooperative", WSDBG_SCHEDULE_RANDOM, 1) > 0);
}

static void gemm_bugs(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum kind kind;
    } rows[] = {
#define BUG(id, name, cause, role, barrier, kind, ...) {#id, kind},
#include "demo_kernels/gemm/bugs.def"
#undef BUG
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct product product = {.m = 512, .n = 512, .k = 512, .ctas = 4};
        struct machine machine;
        char image[128];
        if (rows[i].kind == RACE) /* hangs or computes nonsense */
            continue;
        snprintf(image, sizeof image, "gemm_%s_plain", rows[i].id);
        open_image(&machine, image, WSDBG_SCHEDULE_ROUND_ROBIN, 0);
        submit_product(&machine, "gemm_cooperative", &product);
        must_end(&machine, image, rows[i].kind, 0);
        machine_destroy(&machine);
    }
}

/* Two loaders on a barrier made for one arrival: some schedules hang, some lose half of the operands. */
static void the_race_of_the_shared_full_barrier(void **state)
{
    (void)state;
    bool hangs = false;
    for (uint64_t seed = 0; seed < 30 && !hangs; seed++) {
        struct product product = {.m = 256, .n = 256, .k = 512, .ctas = 2};
        struct machine machine;
        open_image(&machine, "gemm_shared_full_barrier_plain", (enum wsdbg_schedule_kind)(seed % 3), seed);
        submit_product(&machine, "gemm_cooperative", &product);
        hangs = wsdbg_gpu_run(machine.gpu, INSTRUCTIONS_MOST) == WSDBG_GPU_DEADLOCK;
        machine_destroy(&machine);
    }
    assert_true(hangs);
}

/* ---- two_async_warps ---- */

static void two_async_warps(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum kind kind;
    } rows[] = {
#define DEFECT(id, name, defects, cause, role, barrier, kind, ...) {#id, kind},
#include "demo_kernels/two_async_warps/defects.def"
#undef DEFECT
    };
    enum { ROWS = 16, COLUMNS = 256 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine machine;
        char image[128];
        snprintf(image, sizeof image, "two_async_warps_%s_plain", rows[i].id);
        open_image(&machine, image, WSDBG_SCHEDULE_ROUND_ROBIN, 0);
        float *const a = memory(&machine, ROWS * COLUMNS * sizeof *a), *const b =
                                                                           memory(&machine, ROWS * COLUMNS * sizeof *b);
        float *const product = memory(&machine, ROWS * COLUMNS * sizeof *product);
        for (unsigned n = 0; n < ROWS * COLUMNS; n++) {
            a[n] = (float)(n % 31);
            b[n] = (float)(n % 17);
        }
        const struct two_async_warps_problem problem = {a, b, product, ROWS, COLUMNS};
        submit(&machine, "two_async_warps",
               (struct wsdbg_gpu_launch){
                   .grid = {2}, .block = {CTA_THREADS}, .registers_per_thread = 168, .parameters = &problem});
        must_end(&machine, image, rows[i].kind, 719);
        for (unsigned n = 0; rows[i].kind == NONE && n < ROWS * COLUMNS; n++)
            assert_true(product[n] == a[n] * b[n]);
        machine_destroy(&machine);
    }
}

/* ---- waits ---- */

static void waits(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum kind kind;
        unsigned ctas, threads;
    } rows[] = {
#define WAIT(id, name, cause, role, barrier, kind, ctas, threads, story) {#id, kind, ctas, threads},
#include "demo_kernels/waits/waits.def"
#undef WAIT
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine machine;
        char kernel[128];
        const bool is_dependency = strcmp(rows[i].id, "grid_dependency") == 0;
        open_image(&machine, "waits", WSDBG_SCHEDULE_ROUND_ROBIN, 0);
        snprintf(kernel, sizeof kernel, "wait_%s", rows[i].id);
        uint64_t parameters[] = {machine.out, machine.in, rows[i].kind == SLOW ? 100000 : is_dependency};
        struct wsdbg_gpu_launch launch = {.grid = {rows[i].ctas ? rows[i].ctas : MANY_CTAS},
                                          .block = {rows[i].threads},
                                          .dynamic_shared_bytes = rows[i].ctas ? 0 : BIG_SHARED_BYTES,
                                          .parameters = parameters};
        submit(&machine, kernel, launch);
        struct wsdbg_grid_run *const first = machine.run;
        if (is_dependency) {
            parameters[2] = 0;
            launch.after = first;
            submit(&machine, kernel, launch);
        }
        must_end(&machine, kernel, rows[i].kind, strcmp(rows[i].id, "bad_address") == 0 ? 700 : 719);
        if (is_dependency)
            wsdbg_gpu_forget(machine.gpu, first);
        machine_destroy(&machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gemm_is_right), cmocka_unit_test(a_serialized_gemm_uses_accumulators_too_early),
        cmocka_unit_test(gemm_bugs),           cmocka_unit_test(the_race_of_the_shared_full_barrier),
        cmocka_unit_test(two_async_warps),     cmocka_unit_test(waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
