/* names_test.c - names of roles and barriers in kernels that a simulated device watched: inferred from what warps do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "evidence/segment_snapshot.h"

enum { WARPS = 12, FIRST = 0, SECOND = 1 };

static const struct wsdbg_name unnamed[] = {{.kind = WSDBG_NAME_INFERRED},
                                            {.kind = WSDBG_NAME_SOURCE, .id = 0, .name = "kernel.cu"}};

/* One CTA of three warpgroups. */
struct kernel {
    struct segment_writer *writer;
    struct segment_warp warps[WARPS];
};

static struct kernel kernel_begin(void)
{
    struct kernel kernel = {.writer = segment_writer_create(100)};
    segment_writer_context(kernel.writer, 1, 16, 32);
    segment_writer_module(kernel.writer, 0, unnamed, 2);
    segment_writer_function(kernel.writer, 0, "kernel", 168);
    segment_writer_launch(kernel.writer, &(struct segment_launch){.ctas = 1, .threads = 32 * WARPS});
    for (uint32_t i = 0; i < WARPS; i++) {
        kernel.warps[i] = (struct segment_warp){.grid_id = 1, .ctas = 1, .warp = i, .warps = WARPS, .sm_warp = i};
        segment_writer_begin(kernel.writer, &kernel.warps[i]);
    }
    return kernel;
}

/* What the device found the warp's code to do. */
static void role_kind(struct kernel *kernel, uint32_t warp, enum wsdbg_role_kind role_kind)
{
    segment_writer_slot(kernel->writer, 0, warp)->role = role_kind;
}

static void event(struct kernel *kernel, uint32_t warp, enum wsdbg_event_kind kind, uint8_t barrier, uint8_t parity,
                  uint32_t value)
{
    segment_writer_event(
        kernel->writer, &kernel->warps[warp],
        (struct segment_event){.kind = kind, .barrier = barrier, .parity = parity, .iteration = 0, .value = value});
}

static struct wsdbg_snapshot look(struct kernel *kernel)
{
    segment_writer_copy_history(kernel->writer);
    struct wsdbg_snapshot snapshot = segment_snapshot(kernel->writer);
    segment_writer_destroy(kernel->writer);
    return snapshot;
}

static void expect_role(const struct wsdbg_snapshot *snapshot, uint32_t warp, const char *name)
{
    assert_string_equal(wsdbg_snapshot_role_name(snapshot, &snapshot->warps[warp]), name);
}

static const struct wsdbg_name *barrier(const struct wsdbg_snapshot *snapshot, uint32_t id)
{
    const struct wsdbg_name *const name = wsdbg_snapshot_name(snapshot, 0, WSDBG_NAME_MBARRIER, id);
    assert_non_null(name);
    return name;
}

/* Warp 0 of the first group loads, the others compute. */
static struct kernel pipeline_begin(void)
{
    struct kernel kernel = kernel_begin();
    role_kind(&kernel, 0, WSDBG_ROLE_KIND_LOADS);
    for (uint32_t i = 4; i < WARPS; i++)
        role_kind(&kernel, i, WSDBG_ROLE_KIND_COMPUTES);
    return kernel;
}

static void a_pipeline_gets_the_usual_names(void **state)
{
    (void)state;
    struct kernel kernel = pipeline_begin();
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_WAIT_END, SECOND, 1, SITE(10, 1));
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, FIRST, 0, 4096);
    event(&kernel, 0, WSDBG_EVENT_TMA_ISSUE, FIRST, 0, 4096);
    for (uint32_t i = 4; i < WARPS; i++) {
        event(&kernel, i, WSDBG_EVENT_MBARRIER_WAIT_END, FIRST, 0, SITE(20, 32));
        event(&kernel, i, WSDBG_EVENT_MBARRIER_ARRIVE, SECOND, 0, SITE(21, 1));
    }
    struct wsdbg_snapshot snapshot = look(&kernel);
    assert_true(snapshot.names_inferred);
    assert_string_equal(snapshot.modules[0].source_path, "kernel.cu");
    expect_role(&snapshot, 0, "producer");
    expect_role(&snapshot, 3, "producer");
    expect_role(&snapshot, 4, "consumer 0");
    expect_role(&snapshot, 11, "consumer 1");
    assert_string_equal(barrier(&snapshot, FIRST)->name, "full");
    assert_int_equal(barrier(&snapshot, FIRST)->first_free, 0);
    assert_int_equal(barrier(&snapshot, FIRST)->arriving_roles, 1 << snapshot.warps[0].role.value);
    assert_int_equal(barrier(&snapshot, FIRST)->waiting_roles,
                     1 << snapshot.warps[4].role.value | 1 << snapshot.warps[8].role.value);
    assert_string_equal(barrier(&snapshot, SECOND)->name, "empty");
    assert_int_equal(barrier(&snapshot, SECOND)->first_free, 1); /* its first wait, for parity 1, ended */
    wsdbg_snapshot_deinit(&snapshot);
}

/* Nothing was loaded yet: who waits tells. */
static void before_anything_happened_it_is_who_waits_that_tells(void **state)
{
    (void)state;
    struct kernel kernel = pipeline_begin();
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, SECOND, 0, SITE(10, 1));
    for (uint32_t i = 4; i < WARPS; i++)
        event(&kernel, i, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, FIRST, 0, SITE(20, 32));
    struct wsdbg_snapshot snapshot = look(&kernel);
    assert_string_equal(barrier(&snapshot, FIRST)->name, "full");
    assert_string_equal(barrier(&snapshot, SECOND)->name, "empty");
    assert_int_equal(barrier(&snapshot, SECOND)->first_free, 1);
    wsdbg_snapshot_deinit(&snapshot);
}

/* Slots are handed over by those who use them: then no first wait is free. */
static void arrivals_before_the_first_wait_show_that_it_is_not_free(void **state)
{
    (void)state;
    struct kernel kernel = pipeline_begin();
    for (uint32_t i = 4; i < WARPS; i++)
        event(&kernel, i, WSDBG_EVENT_MBARRIER_ARRIVE, SECOND, 0, SITE(21, 1));
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, SECOND, 0, SITE(10, 1));
    struct wsdbg_snapshot snapshot = look(&kernel);
    assert_string_equal(barrier(&snapshot, SECOND)->name, "empty");
    assert_int_equal(barrier(&snapshot, SECOND)->first_free, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

/* The first wait that ended is one of a later round, which is on record as round 0. */
static void what_copies_fill_is_not_free_at_first(void **state)
{
    (void)state;
    struct kernel kernel = pipeline_begin();
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, FIRST, 0, 4096);
    event(&kernel, 0, WSDBG_EVENT_TMA_ISSUE, FIRST, 0, 4096);
    for (uint32_t i = 4; i < WARPS; i++)
        event(&kernel, i, WSDBG_EVENT_MBARRIER_WAIT_END, FIRST, 1, SITE(20, 32));
    struct wsdbg_snapshot snapshot = look(&kernel);
    assert_string_equal(barrier(&snapshot, FIRST)->name, "full");
    assert_int_equal(barrier(&snapshot, FIRST)->first_free, 0);
    wsdbg_snapshot_deinit(&snapshot);
}

/* No matrix work shows who computes: waiting for what is loaded does, and giving its place back. */
static void consumers_without_matrix_work(void **state)
{
    (void)state;
    struct kernel kernel = kernel_begin();
    role_kind(&kernel, 0, WSDBG_ROLE_KIND_LOADS);
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, SECOND, 0, SITE(10, 1));
    event(&kernel, 0, WSDBG_EVENT_TMA_ISSUE, FIRST, 0, 4096);
    event(&kernel, 4, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, FIRST, 0, SITE(20, 32));
    event(&kernel, 8, WSDBG_EVENT_MBARRIER_ARRIVE, SECOND, 0, SITE(20, 32));
    struct wsdbg_snapshot snapshot = look(&kernel);
    expect_role(&snapshot, 4, "consumer 0");
    expect_role(&snapshot, 8, "consumer 1");
    wsdbg_snapshot_deinit(&snapshot);
}

static void what_shows_nothing_is_named_by_number(void **state)
{
    (void)state;
    struct kernel kernel = kernel_begin();
    event(&kernel, 4, WSDBG_EVENT_MBARRIER_ARRIVE, FIRST, 0, SITE(20, 32));
    event(&kernel, 5, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, FIRST, 0, SITE(20, 32));
    struct wsdbg_snapshot snapshot = look(&kernel);
    expect_role(&snapshot, 4, "warps 4-7");
    assert_string_equal(barrier(&snapshot, FIRST)->name, "mbarrier 0");
    assert_int_equal(barrier(&snapshot, FIRST)->arriving_roles, 0); /* one group does both: nothing is declared */
    wsdbg_snapshot_deinit(&snapshot);
}

/* Last events alone would give other names at each look. */
static void without_histories_there_are_no_names(void **state)
{
    (void)state;
    struct kernel kernel = pipeline_begin();
    event(&kernel, 0, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, SECOND, 0, SITE(10, 1));
    struct wsdbg_snapshot snapshot = segment_snapshot_light(kernel.writer);
    segment_writer_destroy(kernel.writer);
    assert_int_equal(snapshot.name_count, 0);
    assert_false(snapshot.warps[0].role.known);
    wsdbg_snapshot_deinit(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_gets_the_usual_names),
        cmocka_unit_test(before_anything_happened_it_is_who_waits_that_tells),
        cmocka_unit_test(arrivals_before_the_first_wait_show_that_it_is_not_free),
        cmocka_unit_test(what_copies_fill_is_not_free_at_first),
        cmocka_unit_test(consumers_without_matrix_work),
        cmocka_unit_test(what_shows_nothing_is_named_by_number),
        cmocka_unit_test(without_histories_there_are_no_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
