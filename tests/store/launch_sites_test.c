/* launch_sites_test.c - launch sites come back from a session as they were; which frame of a stack is called the place,
 * and what reports say of one place, of several, and of none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/launch_site.h"
#include "store/example.h"
#include "store/json_schema.h"
#include "store/report.h"

#define NATIVE(of, module_, function_, file_, line_)                                                                   \
    {                                                                                                                  \
        .stack = (of), .kind = WSDBG_HOST_FRAME_NATIVE, .module = (module_), .function = (function_), .file = (file_), \
        .line = {.value = (line_), .known = (line_) != 0}, .offset_bytes = {                                           \
            .value = 16,                                                                                               \
            .known = true                                                                                              \
        }                                                                                                              \
    }
#define PYTHON(of, function_, file_, line_)                                                                 \
    {                                                                                                       \
        .stack = (of), .kind = WSDBG_HOST_FRAME_PYTHON, .function = (function_), .file = (file_), .line = { \
            .value = (line_),                                                                               \
            .known = (line_) != 0                                                                           \
        }                                                                                                   \
    }

/* Stacks, innermost first, and what is said of each. */
static const struct {
    const char *place;
    struct wsdbg_host_frame frames[6];
} stacks[] = {
    {"gemm.cu:42 in step, called from gemm.cu:60 in main",
     {NATIVE(0, "/w/libwsdbg-shim.so", "wrap_cuLaunchKernel", "hooks.c", 35),
      NATIVE(0, "/a/gemm", "cudaLaunchKernel", "", 0), NATIVE(0, "/a/gemm", "__device_stub__Z4gemmPf", "stub.c", 3),
      NATIVE(0, "/a/gemm", "gemm", "/a/gemm.cu", 7), NATIVE(0, "/a/gemm", "step", "/a/gemm.cu", 42),
      NATIVE(0, "/a/gemm", "main", "/a/gemm.cu", 60)}},
    {"train.py:12 in step, called from train.py:40 in <module>",
     {NATIVE(1, "/w/libwsdbg-shim.so", "wrap_cuLaunchKernelEx", "", 0),
      NATIVE(1, "/s/libtorch_cuda.so", "at::native::gpu_kernel_impl", "", 0),
      PYTHON(1, "forward", "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", 116),
      PYTHON(1, "step", "/a/train.py", 12), PYTHON(1, "<module>", "/a/train.py", 40)}},
    {"linear.py:116 in forward", {PYTHON(2, "forward", "/v/lib/python3.11/site-packages/torch/linear.py", 116)}},
    {"extension.cpp:9 in run, called from train.py:12 in step",
     {NATIVE(3, "/a/extension.so", "run", "/a/extension.cpp", 9), NATIVE(3, "/a/other.so", "no_line", "", 0),
      PYTHON(3, "step", "/a/train.py", 12)}},
    {"launch", {NATIVE(4, "/a/app", "launch", "", 0), NATIVE(4, "/lib/libc.so.6", "__libc_start_main", "", 0)}},
    {"?", {{0}}},
    {"main.cpp:8 in clone_weights, called from main.cpp:60 in main",
     {NATIVE(6, "/a/app", "cudaLaunchKernel", "", 0), NATIVE(6, "/a/app", "clone_weights", "/a/main.cpp", 8),
      NATIVE(6, "/a/app", "main", "/a/main.cpp", 60), NATIVE(6, "/lib/libc.so.6", "clone", "", 0)}},
    {"step.cpp:5 in nccl_step",
     {NATIVE(7, "/l/libnccl.so.2", "ncclLaunchKernel", "", 0),
      NATIVE(7, "/a/libcudecode.so", "nccl_step", "/a/step.cpp", 5)}},
    {"?",
     {NATIVE(8, "/w/libwsdbg-shim.so", "wrap_cuLaunchKernel", "hooks.c", 35),
      NATIVE(8, "/w/lib/wsdbg/sim/libcudart.so.13", "launch_kernel", "launch.c", 88)}},
    {"waits.c:128 in launch, called from waits.c:200 in run_all", /* without what GCC adds to the names of copies */
     {NATIVE(9, "/a/waits", "launch.constprop.0.isra.0", "/a/waits.c", 128),
      NATIVE(9, "/a/waits", "run_all.part.0.cold", "/a/waits.c", 200)}},
    {"gemm.cu:42 in step",
     {NATIVE(10, "/w/lib/wsdbg/sim/libcudart.so.13", "launch_kernel", "launch.c", 88),
      NATIVE(10, "/a/gemm", "__cudaLaunchKernel_helper", "/cuda/host_runtime.h", 260),
      NATIVE(10, "/a/gemm", "step", "/a/gemm.cu", 42)}},
};
enum { STACKS = sizeof stacks / sizeof *stacks, FRAMES = sizeof stacks[0].frames / sizeof(struct wsdbg_host_frame) };

static uint32_t frames_of(size_t stack)
{
    uint32_t count = 0;
    while (count < FRAMES && stacks[stack].frames[count].kind)
        count++;
    return count;
}

/* A site for each stack, of the kernel "gemm" where it has a name. */
static void add(struct wsdbg_snapshot *s)
{
    s->launch_sites = calloc(s->launch_site_count = STACKS, sizeof *s->launch_sites);
    s->site_frames = calloc(STACKS * FRAMES, sizeof *s->site_frames);
    for (uint32_t i = 0; i < STACKS; i++) {
        s->launch_sites[i] = (struct wsdbg_launch_site){.process_id = s->contexts[0].process_id,
                                                        .thread_id = 17 + i,
                                                        .kind = i == 2 ? WSDBG_SITE_OF_CALL : WSDBG_SITE_OF_LAUNCH,
                                                        .grid = WSDBG_NONE,
                                                        .collective = WSDBG_NONE,
                                                        .launch = i == 0 ? 0 : WSDBG_NONE,
                                                        .count = i + 1,
                                                        .function = WSDBG_NONE,
                                                        .before = i == 1 ? 0 : WSDBG_NONE,
                                                        .after = WSDBG_NONE,
                                                        .time_ns = i,
                                                        .frame_first = (uint32_t)s->site_frame_count,
                                                        .frame_count = frames_of(i)};
        for (uint32_t f = 0; f < frames_of(i); f++)
            s->site_frames[s->site_frame_count++] = stacks[i].frames[f];
    }
    strcpy(s->launch_sites[5].end, "later launches took its place");
}

static void name_kernel(struct wsdbg_snapshot *s)
{
    strcpy(s->functions[0].name, "gemm");
    s->launch_sites[0].function = 0;
}

static void the_place_is_the_first_frame_of_the_program(void **state)
{
    (void)state;
    struct example e;
    char place[WSDBG_SITE_PLACE_BYTES];
    example_hang(&e, 2, 4);
    add(&e.snapshot);
    name_kernel(&e.snapshot);
    for (size_t i = 0; i < STACKS; i++) {
        wsdbg_launch_site_place(&e.snapshot, &e.snapshot.launch_sites[i], place, sizeof place);
        assert_string_equal(place, stacks[i].place);
    }
    example_free(&e);
}

/* Sites of the example's grid, by their stacks. */
static void assert_grid_text(uint32_t first, uint32_t second, bool is_graph, const char *expected)
{
    struct example e;
    char text[WSDBG_SITE_TEXT_BYTES];
    example_hang(&e, 2, 4);
    add(&e.snapshot);
    e.snapshot.launch_sites[first].grid = e.snapshot.launch_sites[second].grid = 0;
    e.snapshot.launch_sites[first].launch = 0;
    if (is_graph) {
        e.snapshot.launches[0].flags |= WSDBG_LAUNCH_GRAPH;
        e.snapshot.launch_sites[second].kind = WSDBG_SITE_OF_NODE;
        e.snapshot.launch_sites[second].before = 0;
        strcpy(e.snapshot.functions[0].name, "copy");
    }
    wsdbg_grid_site_text(&e.snapshot, 0, text, sizeof text);
    assert_string_equal(text, expected);
    example_free(&e);
}

/* Two nodes of one line that stand between different kernels: which of these it is, is not known. */
static void neighbours_that_differ_are_not_named(void **state)
{
    (void)state;
    struct example e;
    char text[WSDBG_SITE_TEXT_BYTES];
    example_hang(&e, 2, 4);
    add(&e.snapshot);
    for (uint32_t i = 0; i < 2; i++) {
        e.snapshot.launch_sites[i].grid = 0;
        e.snapshot.launch_sites[i].kind = WSDBG_SITE_OF_NODE;
        e.snapshot.launch_sites[i].frame_first = e.snapshot.launch_sites[4].frame_first;
        e.snapshot.launch_sites[i].frame_count = e.snapshot.launch_sites[4].frame_count;
        e.snapshot.launch_sites[i].before = i ? 0 : WSDBG_NONE;
        e.snapshot.launch_sites[i].after = i ? WSDBG_NONE : 0;
    }
    strcpy(e.snapshot.functions[0].name, "copy");
    wsdbg_grid_site_text(&e.snapshot, 0, text, sizeof text);
    assert_string_equal(text, "put into a graph at launch");
    example_free(&e);
}

static void a_grid_names_every_place_that_may_be_the_one(void **state)
{
    (void)state;
    assert_grid_text(4, 4, false, "launched at launch");
    assert_grid_text(4, 3, false, "launched at extension.cpp:9 in run, called from train.py:12 in step, or at launch");
    assert_grid_text(5, 5, false, "launched at ? (later launches took its place)");
    assert_grid_text(4, 5, false, "launched at launch, or at ? (later launches took its place)");
    assert_grid_text(4, 3, true,
                     "graph launched at launch; put into a graph at extension.cpp:9 in run, called from train.py:12 in "
                     "step, after copy");
}

/* A launch by itself and one of its graph: both are said. */
static void a_graph_and_a_launch_are_told_apart(void **state)
{
    (void)state;
    struct example e;
    char text[WSDBG_SITE_TEXT_BYTES];
    example_hang(&e, 2, 4);
    add(&e.snapshot);
    e.snapshot.launch_sites[3].grid = e.snapshot.launch_sites[4].grid = 0;
    e.snapshot.launch_sites[3].launch = 0;
    e.snapshot.launches[0].flags |= WSDBG_LAUNCH_GRAPH;
    wsdbg_grid_site_text(&e.snapshot, 0, text, sizeof text);
    assert_string_equal(text,
                        "launched at launch, or graph launched at extension.cpp:9 in run, called from train.py:12 "
                        "in step");
    example_free(&e);
}

static void assert_site(const struct wsdbg_launch_site *got, const struct wsdbg_launch_site *expected)
{
    assert_int_equal(got->process_id, expected->process_id);
    assert_int_equal(got->thread_id, expected->thread_id);
    assert_int_equal(got->kind, expected->kind);
    assert_int_equal(got->grid, expected->grid);
    assert_int_equal(got->collective, expected->collective);
    assert_int_equal(got->launch, expected->launch);
    assert_int_equal(got->count, expected->count);
    assert_int_equal(got->function, expected->function);
    assert_int_equal(got->before, expected->before);
    assert_int_equal(got->after, expected->after);
    assert_int_equal(got->time_ns, expected->time_ns);
    assert_int_equal(got->frame_count, expected->frame_count);
    assert_string_equal(got->end, expected->end);
}

static void assert_frame(const struct wsdbg_host_frame *got, const struct wsdbg_host_frame *expected)
{
    assert_int_equal(got->stack, expected->stack);
    assert_int_equal(got->kind, expected->kind);
    assert_string_equal(got->function, expected->function);
    assert_string_equal(got->file, expected->file);
    assert_string_equal(got->module, expected->module);
    assert_int_equal(got->line.known, expected->line.known);
    assert_int_equal(got->line.value, expected->line.value);
    assert_int_equal(got->offset_bytes.known, expected->offset_bytes.known);
    assert_int_equal(got->offset_bytes.value, expected->offset_bytes.value);
    assert_int_equal(got->left_out, expected->left_out);
}

/* Two communicators with two calls each, of which site 2 is the last one. */
static void add_calls(struct wsdbg_snapshot *s)
{
    s->communicators = calloc(s->communicator_count = 2, sizeof *s->communicators);
    s->collectives = calloc(s->collective_count = 4, sizeof *s->collectives);
    for (uint32_t i = 0; i < 2; i++)
        s->communicators[i] = (struct wsdbg_communicator){
            .process_id = s->contexts[0].process_id,
            .context = WSDBG_NONE,
            .row = {.number = i + 1, .identity = 7, .rank = i, .rank_count = 2, .collectives = 2, .calls = 2}};
    for (uint32_t i = 0; i < 4; i++)
        s->collectives[i] = (struct wsdbg_collective){
            .communicator = i / 2,
            .launch = WSDBG_NONE,
            .row = {.sequence = i % 2 + 1, .number = i + 5, .operation = WSDBG_COLLECTIVE_ALL_REDUCE}};
    s->launch_sites[2].collective = 3;
}

static void they_come_back_as_they_were(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    char *folder = example_folder();
    const char *path = example_path(folder, "sites.db");
    example_hang(&e, 2, 4);
    add(&e.snapshot);
    add_calls(&e.snapshot);
    e.snapshot.launch_sites[0].grid = 0;
    e.snapshot.launch_sites[3].count = 0; /* not known */
    example_store(&e, path);
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.launch_site_count, STACKS);
    assert_int_equal(loaded.snapshot.site_frame_count, e.snapshot.site_frame_count);
    for (size_t i = 0; i < STACKS; i++)
        assert_site(&loaded.snapshot.launch_sites[i], &e.snapshot.launch_sites[i]);
    for (size_t i = 0; i < e.snapshot.site_frame_count; i++)
        assert_frame(&loaded.snapshot.site_frames[i], &e.snapshot.site_frames[i]);
    char *text = example_query(store, "@launch-sites", WSDBG_QUERY_CSV);
    assert_non_null(strstr(text, ",launch,,\"train.py:12 in step, called from train.py:40 in <module>\",2,"));
    assert_non_null(strstr(text, ",launch,,,6,,,,22,"));
    assert_non_null(strstr(text, ",call,all_reduce #8,linear.py:116 in forward,"));
    free(text);
    text = example_query(store, "SELECT thread_id FROM launch_site WHERE launches IS NULL", WSDBG_QUERY_CSV);
    assert_string_equal(text, "thread_id\r\n20\r\n");
    free(text);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
    example_free(&e);
    example_clean(folder);
}

static void the_report_has_them(void **state)
{
    (void)state;
    struct example e;
    char *folder = example_folder();
    const char *path = example_path(folder, "sites.db");
    example_hang(&e, 2, 4);
    add(&e.snapshot);
    e.snapshot.launch_sites[4].grid = 0;
    example_store(&e, path);
    char *text = example_stored_report(path, false), *json = example_stored_report(path, true);
    assert_non_null(strstr(text, "\n  launched at launch\n"));
    assert_non_null(strstr(json, "\"launched_at\": \"launched at launch\""));
    json_t *schema = schema_load("report.schema.json"), *value = json_loads(json, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(value, "launch_sites")), STACKS);
    schema_check(schema, value, "report");
    json_decref(schema);
    json_decref(value);
    free(text);
    free(json);
    example_free(&e);
    example_clean(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_is_the_first_frame_of_the_program),
        cmocka_unit_test(a_grid_names_every_place_that_may_be_the_one),
        cmocka_unit_test(neighbours_that_differ_are_not_named),
        cmocka_unit_test(a_graph_and_a_launch_are_told_apart),
        cmocka_unit_test(they_come_back_as_they_were),
        cmocka_unit_test(the_report_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
