/* probe_test.c - events of kernels without probes, as the device writes them when somebody has set their config. */
#include "hopper/kernel.h"

#include <stdio.h>
#include <string.h>

#include "wsdbg/ring.h"

enum { SMS = MACHINE_SMS, SM_WARPS = 64, DEPTH = 128 };

/* The ring of a machine's module. */
struct ring {
    struct wsdbg_slot *slots;
    struct wsdbg_event *history;
};

static void *memory(const struct machine *machine, size_t byte_count)
{
    uint64_t address = 0;
    assert_null(wsdbg_gpu_allocate(machine->gpu, byte_count, 256, &address));
    memset((void *)(uintptr_t)address, 0, byte_count);
    return (void *)(uintptr_t)address;
}

static struct wsdbg_config *config_of(const struct machine *machine)
{
    uint64_t address, byte_count;
    assert_true(wsdbg_gpu_probe_variable(machine->gpu, machine->module, WSDBG_CONFIG_SYMBOL, &address, &byte_count));
    assert_int_equal(byte_count, sizeof(struct wsdbg_config));
    return (struct wsdbg_config *)(uintptr_t)address;
}

static struct ring set_ring(const struct machine *machine)
{
    struct wsdbg_config *const config = config_of(machine);
    const struct ring ring = {memory(machine, SMS * SM_WARPS * sizeof *ring.slots),
                              memory(machine, (size_t)SMS * SM_WARPS * DEPTH * sizeof *ring.history)};
    *config = (struct wsdbg_config){.slots_address = (uintptr_t)ring.slots,
                                    .history_address = (uintptr_t)ring.history,
                                    .history_stride = DEPTH * sizeof *ring.history,
                                    .history_mask = DEPTH - 1,
                                    .warps_per_sm = SM_WARPS,
                                    .slot_count = SMS * SM_WARPS,
                                    .module_id = 7};
    return ring;
}

/* Event number `n` of the warp in the first SM's slot `warp`. */
static const struct wsdbg_event *event_of(const struct ring *ring, uint32_t warp, uint32_t n)
{
    return &ring->history[warp * DEPTH + n % DEPTH];
}

/* ---- rows: what one warp of 32 lanes does, and its events between BEGIN and EXIT ---- */

#define BAR ".shared .align 8 .b64 bar[4]; .shared .align 16 .b8 data[64]; mov.u32 %r1, bar; mov.u32 %r2, data;\n"
#define ONE_LANE "mov.u32 %r9, %tid.x; setp.ne.u32 %p7, %r9, 0; @%p7 exit;\n"
#define INIT(offset, count) "mbarrier.init.shared::cta.b64 [%r1+" #offset "], " #count ";\n"
#define WAIT(name, offset, parity) \
    name ": mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1+" #offset "], " #parity "; @!%p0 bra " name ";\n"

struct told {
    enum wsdbg_event_kind kind;
    uint8_t barrier, stage; /* with the parity */
    uint32_t iteration, value;
};
#define NONE WSDBG_NO_ITERATION
/* A line of the body, from 1; active lanes. */
enum { LINES_BEFORE = 12 };
#define SITE(line, lanes) (LINES_BEFORE + (line) + ((lanes) << 21))

struct row {
    const char *name, *body;
    struct told told[12];
    size_t count;
};
#define TOLD(...) .told = {__VA_ARGS__}, .count = sizeof((struct told[]){__VA_ARGS__}) / sizeof(struct told)

static const struct row rows[] = {
    {"neighbours with one count are stages, others are arrays of their own",
     BAR ONE_LANE INIT(0, 1) INIT(8, 1) INIT(16, 2),
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_INIT, 0, 1, NONE, 1},
          {WSDBG_EVENT_MBARRIER_INIT, 1, 0, NONE, 2})},
    {"bytes are expected, sent and waited for",
     BAR ONE_LANE INIT(
         0, 1) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;\n"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 64, [%r1];\n" WAIT(
                   "wait", 0, 0),
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, 0, 0, 0, 64},
          {WSDBG_EVENT_TMA_ISSUE, 0, 0, 0, 64}, {WSDBG_EVENT_MBARRIER_WAIT_BEGIN, 0, 0, 0, SITE(6, 1)},
          {WSDBG_EVENT_MBARRIER_WAIT_END, 0, 0, 0, SITE(6, 1)})},
    {"a wait that ends at the first look has no begin; of a barrier that is free at first it is round 0",
     BAR ONE_LANE INIT(0, 1) WAIT("free", 0, 1) "mbarrier.arrive.shared::cta.b64 _, [%r1];\n" WAIT("next", 0, 0),
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_WAIT_END, 0, 0x80, 0, SITE(4, 1)},
          {WSDBG_EVENT_MBARRIER_ARRIVE, 0, 0, 0, SITE(5, 1)}, {WSDBG_EVENT_MBARRIER_WAIT_END, 0, 0, 1, SITE(6, 1)})},
    {"all lanes arrive in one event; counts are multiplied",
     BAR
     "mov.u32 %r9, %tid.x; setp.eq.u32 %p7, %r9, 0; @%p7 mbarrier.init.shared::cta.b64 [%r1], 96; bar.warp.sync -1;\n"
     "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
     "@%p7 mbarrier.arrive.shared::cta.b64 _, [%r1], 7;\n",
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 96}, {WSDBG_EVENT_MBARRIER_ARRIVE, 0, 0, NONE, SITE(3, 32)},
          {WSDBG_EVENT_MBARRIER_ARRIVE, 0, 0, NONE, SITE(4, 7)})},
    {"a barrier that nobody initialised is no stage of its neighbours",
     BAR ONE_LANE INIT(0, 1) "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1+8], 16;\n",
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_EXPECT_TX, 1, 0, 0, 16})},
    {"arrays side by side that expect the same are two where the code walks both: one initialises, one waits",
     BAR ONE_LANE INIT(0, 1) INIT(8, 1) INIT(16, 1)
         INIT(24, 1) "mov.u32 %r8, 0;\nagain: shl.b32 %r7, %r8, 3; add.u32 %r7, %r7, %r1;\n"
                     "mbarrier.arrive.shared::cta.b64 _, [%r7];\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r7+16], 1;\n"
                     "add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 2; @%p1 bra again;\n",
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_INIT, 0, 1, NONE, 1},
          {WSDBG_EVENT_MBARRIER_INIT, 1, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_INIT, 1, 1, NONE, 1},
          {WSDBG_EVENT_MBARRIER_ARRIVE, 0, 0, NONE, SITE(9, 1)},
          {WSDBG_EVENT_MBARRIER_WAIT_END, 1, 0x80, 0, SITE(10, 1)},
          {WSDBG_EVENT_MBARRIER_ARRIVE, 0, 1, NONE, SITE(9, 1)},
          {WSDBG_EVENT_MBARRIER_WAIT_END, 1, 0x81, 1, SITE(10, 1)})},
    {"variables are arrays of their own, whatever lies beside them",
     ".shared .align 8 .b64 one; .shared .align 8 .b64 other; mov.u32 %r1, one; mov.u32 %r2, other;\n" ONE_LANE INIT(
         0, 1) "mbarrier.init.shared::cta.b64 [%r2], 1; mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
               "mbarrier.arrive.shared::cta.b64 _, [%r2];\n",
     TOLD({WSDBG_EVENT_MBARRIER_INIT, 0, 0, NONE, 1}, {WSDBG_EVENT_MBARRIER_INIT, 1, 0, NONE, 1},
          {WSDBG_EVENT_MBARRIER_ARRIVE, 0, 0, NONE, SITE(4, 1)},
          {WSDBG_EVENT_MBARRIER_ARRIVE, 1, 0, NONE, SITE(5, 1)})},
    {"named barriers, with and without a count", "bar.sync 0; bar.arrive 3, 64; bar.sync 3, 64;\n",
     TOLD({WSDBG_EVENT_NAMED_SYNC_BEGIN, 0, 0, NONE, 32}, {WSDBG_EVENT_NAMED_SYNC_END, 0, 0, NONE, 32},
          {WSDBG_EVENT_NAMED_ARRIVE, 3, 0, NONE, 64}, {WSDBG_EVENT_NAMED_SYNC_BEGIN, 3, 0, NONE, 64},
          {WSDBG_EVENT_NAMED_SYNC_END, 3, 0, NONE, 64})},
    {"registers are given back and granted",
     "setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 32;\n",
     TOLD({WSDBG_EVENT_REGISTERS_RELEASE, 0, 0, NONE, 24}, {WSDBG_EVENT_REGISTERS_REQUEST, 0, 0, NONE, 32},
          {WSDBG_EVENT_REGISTERS_GRANTED, 0, 0, NONE, 32})},
    {"the cluster barrier", "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
     TOLD({WSDBG_EVENT_CLUSTER_ARRIVE, 0, 0, NONE, SITE(1, 32)},
          {WSDBG_EVENT_CLUSTER_WAIT_END, 0, 0, NONE, SITE(2, 32)})},
    {"stores in groups",
     BAR ONE_LANE "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 64;\ncp.async.bulk.commit_group;\n"
                  "cp.async.bulk.wait_group 0;\n",
     TOLD({WSDBG_EVENT_TMA_STORE_ISSUE, 0, 0, NONE, 64}, {WSDBG_EVENT_BULK_COMMIT, 0, 0, NONE, 0},
          {WSDBG_EVENT_BULK_WAIT_BEGIN, 0, 0, NONE, 0}, {WSDBG_EVENT_BULK_WAIT_END, 0, 0, NONE, 0})},
};

static void check_row(const struct row *row)
{
    struct machine machine;
    kernel_create(&machine, row->body, NULL);
    const struct ring ring = set_ring(&machine);
    if (kernel_launch(&machine, (struct kernel_launch){.block = 32}) != WSDBG_GPU_IDLE)
        fail_msg("%s: %s", row->name,
                 wsdbg_gpu_fault(machine.run) ? wsdbg_gpu_fault(machine.run)->text : "it does not end");
    assert_int_equal(event_of(&ring, 0, 0)->kind, WSDBG_EVENT_BEGIN);
    for (uint32_t i = 0; i < row->count; i++) {
        const struct wsdbg_event *const got = event_of(&ring, 0, i + 1);
        const struct told *const want = &row->told[i];
        if (got->kind != want->kind || got->barrier != want->barrier || got->stage != want->stage ||
            got->iteration != want->iteration || got->value != want->value || got->sequence != i + 1)
            fail_msg("%s: event %u is %u, barrier %u, stage 0x%x, iteration %d, value 0x%x (line %u)", row->name, i,
                     got->kind, got->barrier, got->stage, (int)got->iteration, got->value, WSDBG_SITE_LINE(got->value));
    }
    assert_int_equal(event_of(&ring, 0, (uint32_t)row->count + 1)->kind, WSDBG_EVENT_EXIT);
    assert_int_equal(ring.slots[0].state.kind, WSDBG_EVENT_EXIT);
    machine_destroy(&machine);
}

static void each_row_tells_its_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* Lane 0 works while the others wait for its arrival: the warp's last event is none that says it waits, until it does.
 */
static void a_wait_of_some_lanes_is_told_when_none_can_run(void **state)
{
    static const char body[] = BAR
        "mov.u32 %r9, %tid.x; setp.ne.u32 %p7, %r9, 0; @!%p7 mbarrier.init.shared::cta.b64 [%r1], 1; bar.warp.sync "
        "-1;\n"
        "mov.u32 %r8, 0; @%p7 bra wait; work: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 20000; @%p1 bra work;\n" WAIT(
            "wait", 0, 0);
    struct machine machine;
    (void)state;
    kernel_create(&machine, body, NULL);
    const struct ring ring = set_ring(&machine);
    machine_launch_as(&machine, (struct wsdbg_gpu_launch){.grid = {1, 1, 1}, .block = {32, 1, 1}});
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 20000), WSDBG_GPU_BUDGET);
    assert_int_not_equal(ring.slots[0].state.kind, WSDBG_EVENT_MBARRIER_WAIT_BEGIN);
    assert_int_equal(wsdbg_gpu_run(machine.gpu, 1000000), WSDBG_GPU_DEADLOCK);
    assert_int_equal(ring.slots[0].state.kind, WSDBG_EVENT_MBARRIER_WAIT_BEGIN);
    machine_destroy(&machine);
}

/* Lane 0 polls a flag; the other lanes wait at the barrier behind the poll.  CTAs usually wait for each other so. */
static void a_warp_with_lanes_that_poll_is_not_told_to_wait(void **state)
{
    static const char body[] = "mov.u32 %r9, %tid.x; setp.ne.u32 %p7, %r9, 0; @%p7 bra others;\n"
                               "poll: ld.volatile.global.u32 %r8, [%rd0]; setp.eq.u32 %p1, %r8, 0; @%p1 bra poll;\n"
                               "bar.sync 0; ret; others: bar.sync 0;\n";
    struct machine machine;
    (void)state;
    kernel_create(&machine, body, NULL);
    const struct ring ring = set_ring(&machine);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 32}), WSDBG_GPU_STALLED);
    assert_int_equal(ring.slots[0].state.kind, WSDBG_EVENT_BEGIN);
    machine_destroy(&machine);
}

/* ---- who a warp is ---- */

static void slots_say_who_the_warps_are(void **state)
{
    (void)state;
    struct machine machine;
    kernel_create(&machine, "bar.sync 1, 96;", NULL); /* 64 threads: nobody leaves */
    const struct ring ring = set_ring(&machine);
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.grid = 4, .block = 64, .cluster = 2}),
                     WSDBG_GPU_DEADLOCK);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < SMS * SM_WARPS; i++) {
        const struct wsdbg_slot *const slot = &ring.slots[i];
        uint32_t check = WSDBG_IDENTITY_SEED;
        const uint32_t *const words = (const uint32_t *)(const void *)slot;
        if (!slot->module_id)
            continue;
        seen++;
        for (size_t w = offsetof(struct wsdbg_slot, grid_id) / 4; w <= offsetof(struct wsdbg_slot, cluster_id) / 4; w++)
            check ^= words[w];
        assert_int_equal(slot->check, check ^ slot->grid_ctas);
        assert_int_equal(slot->module_id, 7);
        assert_int_equal(slot->grid_ctas, 4);
        assert_int_equal(slot->cluster_id, slot->cta_x / 2);
        assert_int_equal(slot->warp_in_cta >> 8, 2 | (slot->cta_x % 2) << 8 | 2 << 16);
        assert_int_equal((slot->placement & 0xffff) * SM_WARPS + (slot->placement >> 16), i);
        assert_int_equal(slot->state.kind, WSDBG_EVENT_NAMED_SYNC_BEGIN);
    }
    assert_int_equal(seen, 8);
    machine_destroy(&machine);
}

/* Warp 0 loads, warp 1 stores, warp 2 does neither; before the branch each could come to both. */
static void roles_are_what_warps_can_still_come_to(void **state)
{
    static const char body[] = BAR
        "mov.u32 %r9, %tid.x; setp.eq.u32 %p7, %r9, 0; shr.u32 %r8, %r9, 5;\n"
        "setp.eq.u32 %p1, %r8, 0; setp.eq.u32 %p2, %r8, 1;\n"
        "@%p7 mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0;\n"
        "@%p1 bra load; @%p2 bra store; bar.sync 1, 64; ret;\n"
        "load: bar.sync 1, 64; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 64, "
        "[%r1]; ret;\n"
        "store: bar.sync 2, 64; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 64; ret;\n";
    static const enum wsdbg_role_kind role_kinds[] = {WSDBG_ROLE_KIND_LOADS, WSDBG_ROLE_KIND_STORES,
                                                      WSDBG_ROLE_KIND_NONE};
    struct machine machine;
    (void)state;
    kernel_create(&machine, body, NULL);
    const struct ring ring = set_ring(&machine);
    kernel_launch(&machine, (struct kernel_launch){.block = 96});
    for (uint32_t warp = 0; warp < 3; warp++)
        assert_int_equal(ring.slots[warp].role, role_kinds[warp]);
    machine_destroy(&machine);
}

/* Each place is looked at once, however many branches lead to it: what is to be looked at has room for that many. */
static void a_place_that_thousands_of_branches_lead_to_is_one(void **state)
{
    enum { TARGETS = 8192 };
    static char body[64 + 3 * TARGETS] = "mov.u32 %r1, 0; bar.sync 0; t: .branchtargets a";
    struct machine machine;
    (void)state;
    size_t length = strlen(body);
    for (int i = 1; i < TARGETS; i++)
        length += (size_t)sprintf(body + length, ",a");
    strcpy(body + length, "; brx.idx %r1, t; a: ret;");
    kernel_create(&machine, body, NULL);
    const struct ring ring = set_ring(&machine);
    kernel_launch(&machine, (struct kernel_launch){.block = 32});
    assert_int_equal(ring.slots[0].role, WSDBG_ROLE_KIND_NONE);
    machine_destroy(&machine);
}

/* ---- what is left alone ---- */

static void without_a_config_nothing_is_written(void **state)
{
    struct machine machine;
    (void)state;
    kernel_create(&machine, "bar.sync 0;", NULL);
    const struct ring ring = set_ring(&machine);
    memset(config_of(&machine), 0, sizeof(struct wsdbg_config));
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_IDLE);
    assert_int_equal(ring.slots[0].module_id, 0);
    assert_int_equal(event_of(&ring, 0, 0)->kind, WSDBG_EVENT_NONE);
    machine_destroy(&machine);
}

/* A config that points nowhere costs its events and nothing else. */
static void wild_addresses_are_not_written_to(void **state)
{
    struct machine machine;
    (void)state;
    kernel_create(&machine, "bar.sync 0;", NULL);
    set_ring(&machine);
    config_of(&machine)->slots_address = 0x1000;
    config_of(&machine)->history_address = UINT64_MAX - 8;
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){0}), WSDBG_GPU_IDLE);
    machine_destroy(&machine);
}

static void modules_with_probes_and_other_names_get_none(void **state)
{
    struct machine machine;
    uint64_t address, byte_count;
    (void)state;
    kernel_create(&machine, "", NULL);
    assert_false(wsdbg_gpu_probe_variable(machine.gpu, machine.module, "counter", &address, &byte_count));
    assert_false(wsdbg_gpu_variable(machine.module, WSDBG_CONFIG_SYMBOL, &address, &byte_count));
    machine_destroy(&machine);
    machine_create(
        &machine, PTX_HEAD ".visible .const .align 8 .b8 wsdbg_config_v1[40];\n.visible .entry main()\n{ ret; }", NULL);
    assert_false(wsdbg_gpu_probe_variable(machine.gpu, machine.module, WSDBG_CONFIG_SYMBOL, &address, &byte_count));
    assert_false(wsdbg_gpu_probe_variable(machine.gpu, machine.module, WSDBG_NAMES_SYMBOL, &address, &byte_count));
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_tells_its_events),
        cmocka_unit_test(a_wait_of_some_lanes_is_told_when_none_can_run),
        cmocka_unit_test(a_warp_with_lanes_that_poll_is_not_told_to_wait),
        cmocka_unit_test(slots_say_who_the_warps_are),
        cmocka_unit_test(roles_are_what_warps_can_still_come_to),
        cmocka_unit_test(a_place_that_thousands_of_branches_lead_to_is_one),
        cmocka_unit_test(without_a_config_nothing_is_written),
        cmocka_unit_test(wild_addresses_are_not_written_to),
        cmocka_unit_test(modules_with_probes_and_other_names_get_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
