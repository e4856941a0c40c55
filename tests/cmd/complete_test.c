/* complete_test.c - the watch over kernels with probes: the GPU itself is looked at when their record proves no cause,
 * and only then.
 *
 * The record is one of an H200, of an arrival that a consumer forgot; its clock runs.  Without histories it proves
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "watch/watch.h"

#define S UINT64_C(1000000000)
#define LOOK_NS (3 * S)

struct world {
    struct wsdbg_evidence evidence;
    struct wsdbg_clock clock;
    struct wsdbg_evidence *recorded;
    uint64_t now_ns, end_ns;
    bool histories; /* of the record, without a look */
    bool shut;      /* what is in the way of a look is said */
    size_t looks;
};

static uint64_t now_ns(struct wsdbg_clock *clock)
{
    return ((struct world *)((char *)clock - offsetof(struct world, clock)))->now_ns;
}

static enum wsdbg_wait wait(struct wsdbg_clock *clock, uint64_t deadline_ns)
{
    struct world *world = (struct world *)((char *)clock - offsetof(struct world, clock));
    world->now_ns = deadline_ns;
    return deadline_ns < world->end_ns ? WSDBG_WAIT_TICK : WSDBG_WAIT_OVER;
}

static struct wsdbg_error *poll(struct wsdbg_evidence *evidence, uint64_t time_ns, struct wsdbg_snapshot *out)
{
    struct wsdbg_evidence *recorded = ((struct world *)evidence)->recorded;
    return recorded->ops->poll(recorded, time_ns, out);
}

static struct wsdbg_error *inspect(struct wsdbg_evidence *evidence, uint64_t time_ns, uint64_t deadline_ns,
                                   struct wsdbg_snapshot *out)
{
    const struct world *world = (struct world *)evidence;
    return world->histories ? world->recorded->ops->inspect(world->recorded, time_ns, deadline_ns, out)
                            : poll(evidence, time_ns, out);
}

/* A look that brings what was missing. */
static struct wsdbg_error *complete(struct wsdbg_evidence *evidence, uint64_t deadline_ns,
                                    struct wsdbg_snapshot *snapshot)
{
    struct world *world = (struct world *)evidence;
    const uint64_t time_ns = snapshot->time_ns;
    assert_int_equal(deadline_ns, LOOK_NS);
    world->looks++;
    if (world->shut) {
        snapshot->notes = calloc(1, sizeof *snapshot->notes);
        strcpy(snapshot->notes[snapshot->note_count++], "the debug attach is shut");
        return NULL;
    }
    wsdbg_snapshot_deinit(snapshot);
    struct wsdbg_error *error = world->recorded->ops->inspect(world->recorded, time_ns, deadline_ns, snapshot);
    assert_null(error);
    snapshot->looks = calloc(1, sizeof *snapshot->looks);
    snapshot->look_count = 1;
    return NULL;
}

static void close_nothing(struct wsdbg_evidence *evidence)
{
    (void)evidence;
}

static const struct wsdbg_evidence_ops looking = {
    .name = "test", .poll = poll, .inspect = inspect, .complete = complete, .close = close_nothing};
static const struct wsdbg_evidence_ops blind = {
    .name = "test", .poll = poll, .inspect = inspect, .close = close_nothing};

static struct wsdbg_watch run(struct world *world, const struct wsdbg_evidence_ops *ops)
{
    struct wsdbg_session_info info = {.command = "test",
                                      .wsdbg_version = "0",
                                      .device = "gpu",
                                      .observer = "driver",
                                      .evidence = "ring",
                                      .hostname = ""};
    assert_null(wsdbg_evidence_open_recorded(WSDBG_SOURCE "/tests/recorded/arrive-missing.wsrec", &world->now_ns,
                                             &world->end_ns, &world->recorded));
    world->end_ns += S;
    world->evidence.ops = ops;
    world->clock = (struct wsdbg_clock){.now_ns = now_ns, .wait = wait, .is_live = false};
    struct wsdbg_watch watch = {.evidence = &world->evidence,
                                .clock = &world->clock,
                                .info = &info,
                                .stall_ns = 2 * S,
                                .work_stall_ns = 100 * S,
                                .look_ns = LOOK_NS,
                                .stop_at_hang = true,
                                .after_hang = "nothing happens to it"};
    assert_null(wsdbg_store_create("x.db", &info, &watch.store));
    wsdbg_watch_run(&watch);
    wsdbg_store_close(watch.store);
    world->recorded->ops->close(world->recorded);
    return watch;
}

static void a_record_that_proves_its_cause_needs_no_look(void **state)
{
    (void)state;
    struct world world = {.histories = true};
    const struct wsdbg_watch watch = run(&world, &looking);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "ARRIVE_MISSING");
    assert_int_equal(world.looks, 0);
    assert_null(watch.looked_by);
}

static void a_record_that_proves_none_is_completed_by_a_look(void **state)
{
    (void)state;
    struct world world = {.looks = 0};
    const struct wsdbg_watch watch = run(&world, &looking);
    assert_true(watch.hang);
    assert_string_equal(watch.cause, "ARRIVE_MISSING");
    assert_int_equal(world.looks, 1);
    assert_non_null(watch.looked_by);
}

static void a_look_that_cannot_be_had_leaves_the_records_verdict(void **state)
{
    (void)state;
    struct world world = {.shut = true}, other = {.looks = 0};
    const struct wsdbg_watch watch = run(&world, &looking);
    assert_int_equal(world.looks, 1);
    assert_null(watch.looked_by);
    unlink("x.db");
    const struct wsdbg_watch alone = run(&other, &blind);
    assert_int_equal(watch.hang, alone.hang);
    assert_string_equal(watch.cause, alone.cause);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_that_proves_its_cause_needs_no_look, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_record_that_proves_none_is_completed_by_a_look, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_look_that_cannot_be_had_leaves_the_records_verdict, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
