/* switches_test.c - schedules as lists of switches: what a run tells leads to the same run again, and one switch is
 * enough to lose a wake-up.
 */
#include "hopper/kernel.h"

/* Warp 1 looks whether a flag is set, says that it sleeps, and waits.  Warp 0 sets the flag, and wakes whoever sleeps.
 */
static const char lost[] =
    ".shared .align 8 .b64 barrier; .shared .align 4 .u32 flag; .shared .align 4 .u32 sleeps;\n"
    "mov.u32 %r1, barrier; mov.u32 %r0, %tid.x; setp.ne.u32 %p1, %r0, 0; @%p1 bra ready;\n"
    "mbarrier.init.shared::cta.b64 [%r1], 1; st.shared.u32 [flag], 0; st.shared.u32 [sleeps], 0;\n"
    "ready: bar.sync 0; setp.ge.u32 %p3, %r0, 32; @%p3 bra waits;\n"
    "st.volatile.shared.u32 [flag], 1; ld.volatile.shared.u32 %r3, [sleeps];\n"
    "setp.eq.u32 %p4, %r3, 0; @%p4 bra end; setp.ne.u32 %p2, %r0, 0; @%p2 bra end;\n"
    "mbarrier.arrive.shared::cta.b64 _, [%r1]; bra end;\n"
    "waits: ld.volatile.shared.u32 %r3, [flag]; setp.ne.u32 %p4, %r3, 0; @%p4 bra end;\n"
    "st.volatile.shared.u32 [sleeps], 1;\n"
    "again: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1], 0; @!%p5 bra again;\n"
    "end:";
/* Instructions of warp 1 up to its look at the flag, and up to where it says that it sleeps. */
enum { LOOKED = 10, SLEEPS = 13 };

static enum wsdbg_gpu_outcome run_lost(const struct wsdbg_schedule_switch *switches, size_t count)
{
    const struct wsdbg_schedule_options schedule = {
        .kind = WSDBG_SCHEDULE_SWITCHES, .switches = switches, .switch_count = count};
    struct machine machine;
    const enum wsdbg_gpu_outcome outcome = kernel_run(&machine, lost, (struct kernel_launch){.block = 64}, &schedule);
    machine_destroy(&machine);
    return outcome;
}

static void without_switches_a_warp_runs_until_it_waits(void **state)
{
    (void)state;
    assert_int_equal(run_lost(NULL, 0), WSDBG_GPU_IDLE);
}

static void one_switch_loses_the_wake_up(void **state)
{
    (void)state;
    for (uint64_t at = 1; at < 16; at++) {
        const struct wsdbg_schedule_switch row = {.from = 1, .to = 0, .at = at};
        const bool is_between = at >= LOOKED && at < SLEEPS;
        assert_int_equal(run_lost(&row, 1), is_between ? WSDBG_GPU_DEADLOCK : WSDBG_GPU_IDLE);
    }
}

/* The turns of a drawn schedule, given as switches, and what its engines decided: the same run, to the last turn. */
static void the_turns_of_a_run_lead_to_the_same_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct wsdbg_schedule_options schedule = {.kind = WSDBG_SCHEDULE_RANDOM, .seed = seed, .keeps_switches = true};
        struct machine first, second;
        const enum wsdbg_gpu_outcome outcome = kernel_run(&first, lost, (struct kernel_launch){.block = 64}, &schedule);
        schedule.kind = WSDBG_SCHEDULE_SWITCHES;
        schedule.switches = wsdbg_gpu_switches(first.gpu, &schedule.switch_count);
        schedule.replay = wsdbg_gpu_engine_decisions(first.gpu, &schedule.replay_count);
        assert_int_equal(kernel_run(&second, lost, (struct kernel_launch){.block = 64}, &schedule), outcome);
        assert_int_equal(wsdbg_gpu_instructions(second.gpu), wsdbg_gpu_instructions(first.gpu));
        size_t count, again;
        const struct wsdbg_schedule_switch *turns = wsdbg_gpu_switches(first.gpu, &count),
                                           *turns_again = wsdbg_gpu_switches(second.gpu, &again);
        assert_int_equal(count, again);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(turns[i].from, turns_again[i].from);
            assert_int_equal(turns[i].to, turns_again[i].to);
            assert_int_equal(turns[i].at, turns_again[i].at);
        }
        machine_destroy(&first);
        machine_destroy(&second);
    }
}

/* A gpu that runs again after its schedule was set does as one that was made with it. */
static void a_schedule_can_be_set(void **state)
{
    (void)state;
    const struct wsdbg_schedule_switch row = {.from = 1, .to = 0, .at = LOOKED};
    const struct wsdbg_schedule_options schedule = {
        .kind = WSDBG_SCHEDULE_SWITCHES, .switches = &row, .switch_count = 1};
    struct machine machine;
    assert_int_equal(kernel_run(&machine, lost, (struct kernel_launch){.block = 64}, NULL), WSDBG_GPU_IDLE);
    wsdbg_gpu_forget(machine.gpu, machine.run);
    assert_null(wsdbg_gpu_set_schedule(machine.gpu, &schedule));
    assert_int_equal(kernel_launch(&machine, (struct kernel_launch){.block = 64}), WSDBG_GPU_DEADLOCK);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_switches_a_warp_runs_until_it_waits),
        cmocka_unit_test(one_switch_loses_the_wake_up),
        cmocka_unit_test(the_turns_of_a_run_lead_to_the_same_run),
        cmocka_unit_test(a_schedule_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
