/* access_test.c - the accesses to barriers that are found in the demo kernels' machine code.
 *
 * What is expected is what the kernels' source says: barriers lie behind the tiles in shared memory, whose first KiB is
 * the system's.  A row of text is an access: what it does, where, how often ("N places"), its count, and its lanes.
 * Instructions that follow each other and do the same make one row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sass/access.h"
#include "sass/threads.h"

#define IMAGE_MOST ((size_t)1 << 24)

struct opened {
    unsigned char *file;
    char *bytes;
    struct wsdbg_cubin *cubin;
    struct wsdbg_graph *graph;
    struct wsdbg_access *accesses;
    size_t count;
};

/* Bank 0 begins with the CTA's threads in x, y, z. */
static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    if (bank || offset_bytes > 8)
        return false;
    *value = offset_bytes ? 1 : *(const uint32_t *)context;
    return true;
}

static struct wsdbg_image read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.fatbin", IMAGES, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be read", path);
    unsigned char *bytes = malloc(IMAGE_MOST);
    const size_t count = fread(bytes, 1, IMAGE_MOST, file);
    fclose(file);
    return (struct wsdbg_image){bytes, count};
}

static struct opened open_kernel(const char *image, const char *kernel, uint32_t threads)
{
    const struct wsdbg_image file = read_file(image);
    struct opened opened = {.file = (unsigned char *)(uintptr_t)file.bytes};
    size_t byte_count;
    assert_null(wsdbg_cubin_of_image(&file, IMAGE_MOST, &opened.bytes, &byte_count));
    const struct wsdbg_image cubin = {(const unsigned char *)opened.bytes, byte_count};
    assert_null(wsdbg_cubin_open(&cubin, &opened.cubin));
    const struct wsdbg_launch_values launch = {.context = &threads, .constant = constant};
    for (size_t i = 0; i < wsdbg_cubin_function_count(opened.cubin); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(opened.cubin, i);
        if (strcmp(function->name, kernel) != 0)
            continue;
        assert_null(wsdbg_graph_create(&function->code, &opened.graph));
        assert_null(wsdbg_accesses_find(opened.graph, &launch, &opened.accesses, &opened.count));
        return opened;
    }
    fail_msg("%s has no %s", image, kernel);
    return opened;
}

static void close_kernel(struct opened *opened)
{
    free(opened->accesses);
    wsdbg_graph_destroy(opened->graph);
    wsdbg_cubin_close(opened->cubin);
    free(opened->bytes);
    free(opened->file);
}

static void print_set(FILE *out, const char *word, const struct wsdbg_value_set *set)
{
    if (!set->known)
        fprintf(out, "%s?", word);
    else if (set->count == 1)
        fprintf(out, "%s0x%llx", word, (unsigned long long)set->base);
    else
        fprintf(out, "%s0x%llx + %u * %u", word, (unsigned long long)set->base, set->stride, set->count);
}

/* One row, without its end. */
static void print_row(FILE *out, const struct wsdbg_access *access)
{
    static const char *const lanes[] = {"", ", one lane", ", all lanes"};
    const bool is_named = access->kind == WSDBG_ACCESS_NAMED_SYNC || access->kind == WSDBG_ACCESS_NAMED_ARRIVE;
    fputs(wsdbg_access_kind_name((enum wsdbg_access_kind)access->kind), out);
    if (access->kind <= WSDBG_ACCESS_INVALIDATE || is_named)
        print_set(out, " ", &access->address);
    if (access->count.known)
        print_set(out, ": ", &access->count);
    fputs(access->is_any_rank ? " of any CTA" : "", out);
    if (access->mask.known)
        print_set(out, " of ", &access->mask);
    fputs(lanes[access->lanes], out);
}

static bool is_shown(const struct wsdbg_access *access)
{
    return access->kind <= WSDBG_ACCESS_REGISTERS_REQUEST;
}

static char *text_of(const struct opened *opened)
{
    char *text, row[256], before[256] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < opened->count; i++) {
        if (!is_shown(&opened->accesses[i]))
            continue;
        FILE *one = fmemopen(row, sizeof row, "w");
        print_row(one, &opened->accesses[i]);
        fclose(one);
        if (strcmp(row, before) != 0)
            fprintf(out, "%s\n", row);
        strcpy(before, row);
    }
    fclose(out);
    return text;
}

static void assert_accesses(const char *image, const char *kernel, uint32_t threads, const char *expected)
{
    struct opened opened = open_kernel(image, kernel, threads);
    char *text = text_of(&opened);
    if (strcmp(text, expected) != 0)
        fail_msg("%s, %s:\n%sinstead of\n%s", image, kernel, text, expected);
    free(text);
    close_kernel(&opened);
}

#define GEMM_INITS(empty)                                              \
    "init 0x38400: 0x1, one lane\ninit 0x38420: " empty ", one lane\n" \
    "init 0x38408: 0x1, one lane\ninit 0x38428: " empty ", one lane\n" \
    "init 0x38410: 0x1, one lane\ninit 0x38430: " empty ", one lane\n" \
    "init 0x38418: 0x1, one lane\ninit 0x38438: " empty ", one lane\n"
#define FULL "0x38400 + 8 * 4"
#define EMPTY "0x38420 + 8 * 4"
#define EITHER_PARITY ": 0x0 + 1 * 2"
/* A consumer waits for its buffers, and later, as below, for what its warps wrote there. */
#define BUFFERS "bar.sync 0x1 + 1 * 2: 0x80\n"
/* What a wait is compiled to behind the function's end: the loop of the consumers, and that of the producer. */
#define GEMM_LOOPS "wait " FULL EITHER_PARITY "\nwait " EMPTY EITHER_PARITY ", one lane\n"

static void the_gemm_s_accesses_are_found(void **state)
{
    (void)state;
    assert_accesses("gemm_plain", "gemm_cooperative", 384,
                    GEMM_INITS("0x8") "bar.sync 0x0: 0x0\n"
                                      "setmaxnreg.inc: 0xe8\n"
                                      "wait " FULL EITHER_PARITY "\n" BUFFERS "arrive " EMPTY ": 0x1, one lane\n"
                                      "bar.sync 0x1 + 1 * 2: 0x80\n"
                                      "setmaxnreg.dec: 0x28\n"
                                      "wait 0x38420: 0x1, one lane\n"
                                      "arrive.expect_tx 0x38400: 0xc000, one lane\n"
                                      "TMA load 0x38400, one lane\n"
                                      "wait " EMPTY EITHER_PARITY ", one lane\n"
                                      "arrive.expect_tx " FULL ": 0xc000, one lane\n"
                                      "TMA load " FULL ", one lane\n" GEMM_LOOPS);
}

/* The release of a slot is guarded by the lane's number; the loader is one lane since its branch, further up. */
static void what_picks_a_lane_is_known(void **state)
{
    (void)state;
    struct opened opened = open_kernel("gemm_plain", "gemm_cooperative", 384);
    for (size_t i = 0; i < opened.count; i++) {
        const struct wsdbg_access *access = &opened.accesses[i];
        if (access->kind == WSDBG_ACCESS_ARRIVE)
            assert_int_equal(access->picked_at, access->instruction);
        if (access->kind == WSDBG_ACCESS_ARRIVE_EXPECT || access->lanes != WSDBG_LANES_ONE)
            assert_int_equal(access->picked_at, WSDBG_GRAPH_NONE);
    }
    close_kernel(&opened);
}

static void line_information_makes_no_difference(void **state)
{
    (void)state;
    struct opened with = open_kernel("gemm_plain", "gemm_cooperative", 384);
    struct opened without = open_kernel("gemm_bare", "gemm_cooperative", 384);
    char *text_with = text_of(&with), *text_without = text_of(&without);
    assert_string_equal(text_with, text_without);
    free(text_with);
    free(text_without);
    close_kernel(&with);
    close_kernel(&without);
}

static void in_a_cluster_slots_are_released_in_both_ctas(void **state)
{
    (void)state;
    assert_accesses("gemm_plain", "gemm_cooperative_cluster2", 384,
                    GEMM_INITS("0x10") "barrier.cluster.arrive\nbarrier.cluster.wait\n"
                                       "setmaxnreg.inc: 0xe8\n"
                                       "wait " FULL EITHER_PARITY "\n" BUFFERS "arrive " EMPTY
                                       ": 0x1 of any CTA, one lane\n"
                                       "bar.sync 0x1 + 1 * 2: 0x80\n"
                                       "setmaxnreg.dec: 0x28\n"
                                       "wait " EMPTY EITHER_PARITY ", one lane\n"
                                       "arrive.expect_tx " FULL ": 0xc000, one lane\n"
                                       "TMA load " FULL ", one lane\n"
                                       "TMA load " FULL " of any CTA of 0x3, one lane\n"
                                       "wait " EMPTY EITHER_PARITY ", one lane\n" GEMM_LOOPS);
}

static void two_loaders_of_one_barrier_expect_one_after_the_other(void **state)
{
    (void)state;
    assert_accesses("gemm_shared_full_barrier_plain", "gemm_cooperative", 384,
                    GEMM_INITS("0x8") "bar.sync 0x0: 0x0\n"
                                      "setmaxnreg.inc: 0xe8\n"
                                      "wait " FULL EITHER_PARITY "\n" BUFFERS "arrive " EMPTY ": 0x1, one lane\n"
                                      "bar.sync 0x1 + 1 * 2: 0x80\n"
                                      "setmaxnreg.dec: 0x28\n"
                                      "wait " EMPTY EITHER_PARITY ", one lane\n"
                                      "arrive.expect_tx " FULL ": 0x4000, one lane\n"
                                      "TMA load " FULL ", one lane\n"
                                      "expect_tx " FULL ": 0x8000, one lane\n"
                                      "TMA load " FULL ", one lane\n" GEMM_LOOPS);
}

#define HAND_OVER                                                    \
    "arrive 0x38420: 0x1, one lane\narrive 0x38428: 0x1, one lane\n" \
    "arrive 0x38430: 0x1, one lane\narrive 0x38438: 0x1, one lane\n"

static void hand_over_is_seen_twice(void **state)
{
    (void)state;
    assert_accesses("gemm_double_arrive_bare", "gemm_cooperative", 384,
                    GEMM_INITS("0x8") "bar.sync 0x0: 0x0\n" HAND_OVER HAND_OVER "bar.sync 0x0: 0x0\n"
                                      "setmaxnreg.inc: 0xe8\n"
                                      "wait " FULL EITHER_PARITY "\n" BUFFERS "arrive " EMPTY ": 0x1, one lane\n"
                                      "bar.sync 0x1 + 1 * 2: 0x80\n"
                                      "setmaxnreg.dec: 0x28\n"
                                      "wait " EMPTY EITHER_PARITY ", one lane\n"
                                      "arrive.expect_tx " FULL ": 0xc000, one lane\n"
                                      "TMA load " FULL ", one lane\n" GEMM_LOOPS);
}

/* The first access of a kind; count 0 = there is none. */
static struct wsdbg_value_set count_of(const char *image, const char *kernel, enum wsdbg_access_kind kind)
{
    struct opened opened = open_kernel(image, kernel, 384);
    struct wsdbg_value_set count = {0};
    for (size_t i = 0; i < opened.count && !count.known; i++)
        if (opened.accesses[i].kind == kind)
            count = opened.accesses[i].count;
    close_kernel(&opened);
    return count;
}

static void the_bugs_show_in_counts(void **state)
{
    (void)state;
    const struct {
        const char *image;
        enum wsdbg_access_kind kind;
        uint64_t count;
    } rows[] = {
        {"gemm_tx_mismatch_bare", WSDBG_ACCESS_ARRIVE_EXPECT, 128 * 64 * 4 + 256 * 64 * 2},
        {"gemm_regs_exhausted_bare", WSDBG_ACCESS_REGISTERS_REQUEST, 240},
        {"gemm_regs_exhausted_bare", WSDBG_ACCESS_REGISTERS_RELEASE, 40},
        {"gemm_waker_exited_bare", WSDBG_ACCESS_ARRIVE_EXPECT, 128 * 64 * 2 + 256 * 64 * 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_value_set count = count_of(rows[i].image, "gemm_cooperative", rows[i].kind);
        assert_int_equal(count.count, 1);
        assert_int_equal(count.base, rows[i].count);
    }
    assert_false(count_of("gemm_regs_no_release_bare", "gemm_cooperative", WSDBG_ACCESS_REGISTERS_RELEASE).known);
}

/* The register of a bulk copy holds its size and the ranks it goes to. */
static void a_copy_into_several_ctas_names_them(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        uint64_t mask;
    } rows[] = {{"zoo_tx_multicast_mask", 1}, {"zoo_tx_multicast_mask_fixed", 3}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct opened opened = open_kernel("zoo_tx_multicast_mask_plain", rows[r].kernel, 256);
        uint32_t copies = 0;
        for (size_t i = 0; i < opened.count; i++) {
            const struct wsdbg_access *access = &opened.accesses[i];
            if (access->kind != WSDBG_ACCESS_COPY)
                continue;
            assert_true(access->is_any_rank && access->count.count == 1 && access->mask.count == 1);
            assert_int_equal(access->count.base, 512);
            assert_int_equal(access->mask.base, rows[r].mask);
            copies++;
        }
        assert_true(copies > 0);
        close_kernel(&opened);
    }
}

/* Two slots: full at 0x4400, empty at 0x4410; how many bytes are expected is a parameter of the launch, times 4. */
static void two_async_warps_accesses_are_found(void **state)
{
    (void)state;
    assert_accesses("two_async_warps_none_plain", "two_async_warps", 384,
                    "init 0x4400: 0x2, one lane\ninit 0x4410: 0x100, one lane\n"
                    "init 0x4408: 0x2, one lane\ninit 0x4418: 0x100, one lane\n"
                    "bar.sync 0x0: 0x0\n"
                    "setmaxnreg.inc: 0xb0\n"
                    "arrive 0x4410: 0x1\narrive 0x4418: 0x1\n"
                    "wait 0x4400 + 8 * 2" EITHER_PARITY "\n"
                    "arrive 0x4410 + 8 * 2: 0x1\n"
                    "setmaxnreg.dec: 0x98\n"
                    "wait 0x4410 + 8 * 2" EITHER_PARITY ", one lane\n"
                    "arrive.expect_tx 0x4400 + 8 * 2: 0x0 + 4 * 0, one lane\n"
                    "TMA load 0x4400 + 8 * 2, one lane\n"
                    "wait 0x4400 + 8 * 2" EITHER_PARITY "\n"
                    "wait 0x4410 + 8 * 2" EITHER_PARITY ", one lane\n");
}

static void the_least_kernels_accesses_are_found(void **state)
{
    (void)state;
    const struct {
        const char *kernel, *accesses;
    } rows[] = {
        {"wait_named_count", "bar.sync 0x1: 0x60\nbar.sync 0x0: 0x0\n"},
        {"wait_arrive_short", "init 0x400: 0x60, one lane\nbar.sync 0x0: 0x0\nwait 0x400: 0x0\narrive 0x400: 0x1\n"
                              "bar.sync 0x0: 0x0\n"},
        {"wait_tx_no_arrive", "init 0x400: 0x1, one lane\nbar.sync 0x0: 0x0\nexpect_tx 0x400: 0x400, one lane\n"
                              "TMA load 0x400: 0x400\nwait 0x400: 0x0\nbar.sync 0x0: 0x0\nwait 0x400: 0x0\n"},
        {"wait_lane_split", "init 0x400: 0x1f, one lane\nbar.sync 0x0: 0x0\nwait 0x400: 0x0, one lane\n"
                            "arrive 0x400: 0x1\nbar.sync 0x0: 0x0\nwait 0x400: 0x0, one lane\n"},
        {"wait_two_mbarriers", "init 0x400: 0x20, one lane\ninit 0x408: 0x20, one lane\nbar.sync 0x0: 0x0\n"
                               "wait 0x400 + 8 * 2: 0x0\narrive 0x400 + 8 * 2: 0x1\nwait 0x400 + 8 * 2: 0x0\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_accesses("waits", rows[i].kernel, 64, rows[i].accesses);
}

/* ---- what the threads of one warp execute ---- */

struct counted {
    uint8_t least, most; /* accesses of the kind on the way to the wait */
};

/* How many accesses of the kind these threads execute, at least and at most, before they first reach `to`. */
static struct counted count_before(const struct opened *opened, uint32_t first, uint32_t threads,
                                   enum wsdbg_access_kind kind, uint32_t to)
{
    uint32_t cta_threads = 384;
    const struct wsdbg_launch_values launch = {.context = &cta_threads, .constant = constant};
    const uint32_t count = wsdbg_graph_instruction_count(opened->graph);
    uint64_t *set = calloc(count / 64 + 1, sizeof *set);
    struct wsdbg_graph *graph;
    struct counted counted = {0};
    for (size_t i = 0; i < opened->count; i++)
        if (opened->accesses[i].kind == kind)
            set[opened->accesses[i].instruction / 64] |= UINT64_C(1) << opened->accesses[i].instruction % 64;
    assert_null(wsdbg_graph_create_for_threads(opened->graph, &launch, first, threads, &graph));
    wsdbg_graph_passes(graph, 0, to, set, &counted.least, &counted.most);
    wsdbg_graph_destroy(graph);
    free(set);
    return counted;
}

/* The first request for registers or release of them that the thread reaches. */
static uint32_t first_for_thread(const struct opened *opened, enum wsdbg_access_kind kind)
{
    for (size_t i = 0; i < opened->count; i++)
        if (opened->accesses[i].kind == kind)
            return opened->accesses[i].instruction;
    fail_msg("no such access");
    return 0;
}

/* Warps 4 to 11 are the consumers: the first lane of each hands over each of four slots, twice. */
static void a_lane_s_path_tells_how_often_it_arrived(void **state)
{
    (void)state;
    struct opened kernel = open_kernel("gemm_double_arrive_bare", "gemm_cooperative", 384);
    const uint32_t consumer = first_for_thread(&kernel, WSDBG_ACCESS_REGISTERS_REQUEST);
    const uint32_t producer = first_for_thread(&kernel, WSDBG_ACCESS_REGISTERS_RELEASE);
    const struct {
        uint32_t first, threads, to;
        struct counted arrivals, inits;
    } rows[] = {
        {32, 1, producer, {0, 0}, {8, 8}},   /* thread 32 has initialised the barriers */
        {32, 32, producer, {0, 0}, {0, 8}},  /* of warp 1 not every thread has */
        {0, 32, producer, {0, 0}, {0, 0}},   /* nor any of the others */
        {128, 1, consumer, {8, 8}, {0, 0}},  /* the first lane of a consumer warp has arrived */
        {129, 1, consumer, {0, 0}, {0, 0}},  /* the second lane has not */
        {352, 32, consumer, {0, 8}, {0, 0}}, /* so one cannot say it of every lane of the warp */
        {128, 1, producer, {0, 0}, {0, 0}},  /* never comes there */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct counted arrivals =
            count_before(&kernel, rows[i].first, rows[i].threads, WSDBG_ACCESS_ARRIVE, rows[i].to);
        const struct counted inits =
            count_before(&kernel, rows[i].first, rows[i].threads, WSDBG_ACCESS_INIT, rows[i].to);
        assert_memory_equal(&arrivals, &rows[i].arrivals, sizeof arrivals);
        assert_memory_equal(&inits, &rows[i].inits, sizeof inits);
    }
    close_kernel(&kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gemm_s_accesses_are_found),
        cmocka_unit_test(what_picks_a_lane_is_known),
        cmocka_unit_test(line_information_makes_no_difference),
        cmocka_unit_test(in_a_cluster_slots_are_released_in_both_ctas),
        cmocka_unit_test(two_loaders_of_one_barrier_expect_one_after_the_other),
        cmocka_unit_test(the_bugs_show_in_counts),
        cmocka_unit_test(a_copy_into_several_ctas_names_them),
        cmocka_unit_test(two_async_warps_accesses_are_found),
        cmocka_unit_test(the_least_kernels_accesses_are_found),
        cmocka_unit_test(hand_over_is_seen_twice),
        cmocka_unit_test(a_lane_s_path_tells_how_often_it_arrived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
