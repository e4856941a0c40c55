/* live_test.c - the debug attach to a GPU's own state, on the fake driver: what is read through it, what closes it, and
 * that the program goes on as before whatever fails (attach_watchdog_test.c: whoever dies). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence/live_rig.h"

#define MS UINT64_C(1000000)

/* ---- what is read ---- */

static void look(struct rig *rig)
{
    for (int step = RIG_ATTACH; step <= RIG_WARPS; step++)
        rig_ok(rig_step(rig, step));
}

static void leave(struct rig *rig)
{
    rig_ok(rig_step(rig, RIG_RESUME));
    rig_ok(rig_step(rig, RIG_DETACH));
    rig_assert_left_alone(rig);
    assert_int_equal(rig->gpu->cleanups, rig->gpu->attaches);
}

static void modules_are_known_at_once_and_their_code_where_a_warp_stands(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig_ok(rig_step(&rig, RIG_ATTACH));
    assert_int_equal(rig.gpu->suspensions, 0);
    assert_int_equal(rig.machine->module_count, 2);
    assert_int_equal(rig.machine->modules[1].image.byte_count, 0);
    rig_ok(rig_step(&rig, RIG_SUSPEND));
    rig_ok(rig_step(&rig, RIG_WARPS));
    assert_int_equal(rig.machine->context_count, 1);
    assert_int_equal(rig.machine->contexts[0].handle, FAKE_DEBUG_CONTEXT);
    assert_string_equal((const char *)rig.machine->modules[1].image.bytes, FAKE_DEBUG_IMAGE);
    leave(&rig);
    rig_finish(&rig);
}

static void warps_come_by_cta_and_thread_index_not_by_slot(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    look(&rig);
    const struct wsdbg_machine *machine = rig.machine;
    assert_int_equal(machine->grid_count, 1);
    assert_int_equal(machine->grids[0].module, 1);
    assert_int_equal(machine->grids[0].cluster[0].value, 2);
    assert_int_equal(machine->cta_count, FAKE_DEBUG_SMS);
    assert_int_equal(machine->warp_count, FAKE_DEBUG_SMS * FAKE_DEBUG_WARPS);
    for (uint32_t i = 0; i < machine->warp_count; i++) {
        const struct wsdbg_machine_warp *warp = &machine->warps[i];
        const struct wsdbg_machine_cta *cta = &machine->ctas[warp->cta];
        assert_int_equal(cta->x, i / FAKE_DEBUG_WARPS);
        assert_int_equal(cta->sm, FAKE_DEBUG_SMS - 1 - cta->x);
        assert_int_equal(wsdbg_machine_warp_index(machine, warp), i % FAKE_DEBUG_WARPS);
        assert_int_equal(warp->registers.value, i % FAKE_DEBUG_WARPS == 0 ? 24 : 40);
        assert_int_equal(warp->lanes[31].pc, FAKE_DEBUG_CODE + (i % FAKE_DEBUG_WARPS == 2 ? 16 * 31 : 0));
    }
    leave(&rig);
    rig_finish(&rig);
}

/* Of a warp whose lanes are all active and at one place there is no more to know. */
static void the_convergence_state_is_read_where_lanes_are_idle_or_apart(void **state)
{
    static const struct {
        bool asked;
        uint32_t barrier; /* the fake driver's value tells the slot */
    } warps[FAKE_DEBUG_WARPS] = {{false, 0}, {true, 0xf6}, {true, 0xf1}};
    (void)state;
    struct rig rig = rig_start(NULL);
    look(&rig);
    for (uint32_t i = 0; i < rig.machine->warp_count; i++) {
        const struct wsdbg_machine_warp *warp = &rig.machine->warps[i];
        const bool asked = warps[i % FAKE_DEBUG_WARPS].asked;
        assert_int_equal(warp->barriers_known, asked);
        assert_int_equal(warp->exited_lanes.known, asked);
        assert_int_equal(warp->lanes[0].state.known, asked);
        assert_int_equal(warp->barriers[2], warps[i % FAKE_DEBUG_WARPS].barrier);
    }
    leave(&rig);
    rig_finish(&rig);
}

/* As a core dump has it (machine.h): the rules do not know which source it was. */
static void an_error_of_a_warp_comes_with_its_instruction(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig.gpu->exception = 14;
    look(&rig);
    assert_true(wsdbg_machine_has_exception(rig.machine));
    for (uint32_t i = 0; i < rig.machine->warp_count; i++) {
        const struct wsdbg_machine_warp *warp = &rig.machine->warps[i];
        const bool is_of_it = wsdbg_machine_warp_index(rig.machine, warp) == 1;
        assert_int_equal(wsdbg_machine_exception(warp, 0), is_of_it ? 14 : 0);
        assert_int_equal(wsdbg_machine_exception(warp, 1), 0);
        assert_int_equal(warp->error_pc.known, is_of_it);
        assert_int_equal(warp->error_pc.value, is_of_it ? FAKE_DEBUG_CODE - 0x20 : 0);
    }
    leave(&rig);
    rig_finish(&rig);
}

static void registers_and_memory_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_machine *machine = rig.machine;
    uint32_t words[256], count, mask;
    unsigned char bytes[32];
    bool known;
    look(&rig);
    /* Warp 1 is in slot 6 of SM 1; warp 0 holds 24 registers now, whatever the driver gives beyond them. */
    rig_ok(machine->ops->registers(machine, 1, 7, 30, 64, words, &count));
    assert_int_equal(count, FAKE_DEBUG_REGISTERS - 30);
    assert_int_equal(words[9], 1u << 24 | 6u << 16 | 7u << 8 | 39u);
    rig_ok(machine->ops->registers(machine, 0, 7, 20, 64, words, &count));
    assert_int_equal(count, 4);
    rig_ok(machine->ops->registers(machine, 0, 7, 30, 1, words, &count));
    assert_int_equal(count, 0);
    rig_ok(machine->ops->uniform_registers(machine, 0, 0, 256, words, &count));
    assert_int_equal(count, FAKE_DEBUG_UNIFORM);
    rig_ok(machine->ops->predicates(machine, 0, 0, &mask, &known));
    assert_true(known);
    assert_int_equal(mask, 0xa);
    rig_ok(machine->ops->shared(machine, 1, 0x410, bytes, sizeof bytes, &known));
    assert_true(known && bytes[1] == 0x11);
    rig_ok(machine->ops->shared(machine, 1, FAKE_DEBUG_SHARED_BYTES - 8, bytes, sizeof bytes, &known));
    assert_false(known);
    rig_ok(machine->ops->local(machine, 1, 7, FAKE_DEBUG_LOCAL + 0x10, bytes, 8, &known));
    assert_true(known && bytes[0] == 0x17);
    rig_ok(machine->ops->local(machine, 1, 7, FAKE_DEBUG_LOCAL - 4, bytes, 8, &known));
    assert_false(known);
    rig_ok(machine->ops->constant(machine, 0, 0, 0x210, bytes, 8, &known));
    assert_true(known && bytes[0] == 0x10);
    rig_ok(machine->ops->constant(machine, 0, 0, FAKE_DEBUG_BANK_BYTES - 4, bytes, 8, &known));
    assert_false(known);
    rig_ok(machine->ops->constant(machine, 0, 3, 0, bytes, 8, &known));
    assert_false(known);
    rig_ok(machine->ops->global(machine, 0, 0x10, bytes, 8, &known));
    assert_false(known);
    leave(&rig);
    rig_finish(&rig);
}

/* The rows of a second device's context are added by hand: the fake driver has one device. */
static void memory_that_another_device_could_have_is_not_known(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    struct wsdbg_machine *machine = rig.machine;
    unsigned char bytes[8];
    bool known;
    look(&rig);
    rig_ok(machine->ops->global(machine, 0, FAKE_DEBUG_GLOBAL, bytes, sizeof bytes, &known));
    assert_true(known);
    machine->contexts[machine->context_count++] =
        (struct wsdbg_machine_context){.device = 1, .handle = FAKE_DEBUG_CONTEXT + 1};
    for (int i = 0; i < 2; i++) {
        rig_ok(machine->ops->global(machine, 0, FAKE_DEBUG_GLOBAL, bytes, sizeof bytes, &known));
        assert_false(known);
        rig_ok(machine->ops->constant(machine, 0, 0, 0x210, bytes, sizeof bytes, &known));
        assert_false(known);
    }
    assert_int_equal(machine->note_count, 1);
    assert_non_null(strstr(machine->notes[0], "several GPUs have code"));
    rig_ok(machine->ops->shared(machine, 1, 0x410, bytes, sizeof bytes, &known));
    assert_true(known);
    leave(&rig);
    rig_finish(&rig);
}

static void the_same_process_can_be_attached_to_again(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    for (int i = 0; i < 3; i++) {
        look(&rig);
        assert_int_equal(rig.machine->warp_count, FAKE_DEBUG_SMS * FAKE_DEBUG_WARPS);
        leave(&rig);
    }
    rig_finish(&rig);
}

static void the_order_of_events_does_not_matter(void **state)
{
    (void)state;
    static const char *const orders[] = {"10,7,1,1,2", "1,10,1,7", "13,2,99,1,1,10", "10"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        setenv("FAKE_DEBUG_ORDER", orders[i], 1);
        struct rig rig = rig_start(NULL);
        rig_ok(rig_step(&rig, RIG_ATTACH));
        rig_ok(rig_step(&rig, RIG_DETACH));
        rig_assert_left_alone(&rig);
        rig_finish(&rig);
    }
    unsetenv("FAKE_DEBUG_ORDER");
}

/* ---- what closes it ---- */

static void an_injected_library_is_named(void **state)
{
    (void)state;
    struct rig rig = rig_start("CUDA_INJECTION64_PATH=/opt/tool.so");
    rig_says(rig_step(&rig, RIG_ATTACH), "CUDA_INJECTION64_PATH is set to /opt/tool.so");
    assert_int_equal(rig.gpu->attaches, 0);
    rig_finish(&rig);
}

static void an_mps_daemon_is_named(void **state)
{
    (void)state;
    char folder[] = "/tmp/wsdbg-mps-XXXXXX", control[64], setting[96];
    assert_non_null(mkdtemp(folder));
    snprintf(control, sizeof control, "%s/control", folder);
    snprintf(setting, sizeof setting, "CUDA_MPS_PIPE_DIRECTORY=%s", folder);
    assert_int_equal(mkfifo(control, 0600), 0);
    struct rig rig = rig_start(setting);
    rig_says(rig_step(&rig, RIG_ATTACH), control);
    assert_int_equal(rig.gpu->attaches, 0);
    rig_finish(&rig);
    unlink(control);
    rmdir(folder);
}

static void a_tool_in_the_program_or_a_refusal_ends_the_attempt(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *words;
    } ways[] = {{"FAKE_DEBUG_TAKEN=1", "another tool in the program"}, {"FAKE_DEBUG_REFUSES=1", "error 0x77"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rig rig = rig_start(ways[i].setting);
        rig_says(rig_step(&rig, RIG_ATTACH), ways[i].words);
        rig_assert_left_alone(&rig);
        rig_finish(&rig);
    }
}

/* TSan reports the locks of the driver's debugger library, LSan crashes in it: both seen on an H200. */
static void a_program_with_a_sanitizer_is_left_alone(void **state)
{
    (void)state;
    static const char *const words[] = {"the program has LeakSanitizer, which does not bear the driver's debugger",
                                        "the program has a sanitizer, which does not bear the driver's debugger"};
    for (int linked_in = 0; linked_in < 2; linked_in++) {
        struct rig rig = rig_start_with_sanitizer(linked_in);
        rig_says(rig_step(&rig, RIG_ATTACH), words[linked_in]);
        assert_int_equal(rig.gpu->attaches, 0);
        rig_finish(&rig);
    }
}

static void only_a_revision_that_is_known_is_spoken(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        bool spoken;
    } versions[] = {
        {"13.0.163", true}, {"13.1.170", true}, {"13.0.162", false}, {"12.9.200", false}, {"14.0.1", false}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        setenv("FAKE_DEBUG_VERSION", versions[i].version, 1);
        struct rig rig = rig_start(NULL);
        struct wsdbg_error *error = rig_step(&rig, RIG_ATTACH);
        if (versions[i].spoken)
            rig_ok(error);
        else
            rig_says(error, versions[i].version);
        rig_ok(rig_step(&rig, RIG_DETACH));
        rig_assert_left_alone(&rig);
        rig_finish(&rig);
    }
    unsetenv("FAKE_DEBUG_VERSION");
}

static void an_inspector_that_has_died_is_not_let_in(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    rig.attach.row->inspector_pid = (uint32_t)dead;
    wsdbg_attach_hold(&rig.attach, LIMIT_NS);
    rig_says(wsdbg_attach_ask(&rig.attach, WSDBG_ASK_ATTACH, wsdbg_attach_clock_ns() + LIMIT_NS),
             "ended before it was let in");
    assert_int_equal(rig.gpu->attaches, 0);
    rig_assert_left_alone(&rig);
    look(&rig);
    leave(&rig);
    rig_finish(&rig);
}

static void the_drivers_helper_process_is_left_alone(void **state)
{
    (void)state;
    struct rig rig = rig_start("FAKE_DEBUG_HELPER=" SHIM_APP_DYNAMIC);
    rig_ok(rig_step(&rig, RIG_ATTACH));
    assert_true(rig.gpu->helper_pid > 0);
    assert_null(segment_of((pid_t)rig.gpu->helper_pid));
    rig_ok(rig_step(&rig, RIG_DETACH));
    rig_finish(&rig);
}

/* ---- whatever fails ---- */

/* It would pass for one that has exited. */
static void a_warp_that_cannot_be_read_is_not_left_out(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_FAIL", "readWarpState", 1);
    struct rig rig = rig_start(NULL);
    rig_ok(rig_step(&rig, RIG_ATTACH));
    rig_ok(rig_step(&rig, RIG_SUSPEND));
    rig_says(rig_step(&rig, RIG_WARPS), "the driver did not give the state of ");
    unsetenv("FAKE_CUDA_FAIL");
    leave(&rig);
    rig_finish(&rig);
}

static void an_attach_that_hangs_in_the_program_holds_nobody_up(void **state)
{
    (void)state;
    static const char *const ways[] = {"FAKE_CUDA_HANG=cudbgApiAttach", "FAKE_CUDA_HANG=cudbgApiDetach"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rig rig = rig_start(ways[i]);
        rig.limit_ns = 300 * MS;
        struct wsdbg_error *error = rig_step(&rig, RIG_ATTACH);
        if (i == 0)
            rig_says(error, "did not answer in time");
        else
            rig_ok(error);
        wsdbg_error_destroy(rig_step(&rig, RIG_DETACH));
        rig.ends_beside_one = i == 1;
        rig_finish(&rig); /* also where its observer still sits in the driver */
    }
}

/* ---- however long it takes ---- */

/* Its inspector goes on renewing the lease. */
static void a_look_that_nobody_ends_is_ended_by_the_program(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    look(&rig);
    sleep(4);
    rig_assert_left_alone(&rig);
    rig_says(rig_step(&rig, RIG_SUSPEND), "nothing is attached");
    look(&rig);
    rig_ok(rig_step(&rig, RIG_DETACH));
    rig_finish(&rig);
}

static void the_gpu_is_stopped_for_a_limited_time(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig_ok(rig_step(&rig, RIG_ATTACH));
    rig_ok(wsdbg_live_machine_suspend(rig.machine, 20 * MS, LIMIT_NS));
    for (int i = 0; i < 5000 && rig.gpu->suspended; i++)
        usleep(1000);
    assert_false(rig.gpu->suspended);
    rig_says(rig_step(&rig, RIG_WARPS), "not stopped any more");
    rig_ok(rig_step(&rig, RIG_DETACH));
    rig_finish(&rig);
}

static void a_program_that_ends_meanwhile_ends_as_it_would_have(void **state)
{
    (void)state;
    for (int last = RIG_ATTACH; last < RIG_DETACH; last++) {
        struct rig rig = rig_start(NULL);
        for (int step = 0; step <= last; step++)
            rig_ok(rig_step(&rig, step));
        rig_finish(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_known_at_once_and_their_code_where_a_warp_stands),
        cmocka_unit_test(warps_come_by_cta_and_thread_index_not_by_slot),
        cmocka_unit_test(the_convergence_state_is_read_where_lanes_are_idle_or_apart),
        cmocka_unit_test(an_error_of_a_warp_comes_with_its_instruction),
        cmocka_unit_test(registers_and_memory_are_read_as_far_as_they_go),
        cmocka_unit_test(memory_that_another_device_could_have_is_not_known),
        cmocka_unit_test(the_same_process_can_be_attached_to_again),
        cmocka_unit_test(the_order_of_events_does_not_matter),
        cmocka_unit_test(an_injected_library_is_named),
        cmocka_unit_test(an_mps_daemon_is_named),
        cmocka_unit_test(a_tool_in_the_program_or_a_refusal_ends_the_attempt),
        cmocka_unit_test(a_program_with_a_sanitizer_is_left_alone),
        cmocka_unit_test(only_a_revision_that_is_known_is_spoken),
        cmocka_unit_test(an_inspector_that_has_died_is_not_let_in),
        cmocka_unit_test(the_drivers_helper_process_is_left_alone),
        cmocka_unit_test(a_warp_that_cannot_be_read_is_not_left_out),
        cmocka_unit_test(an_attach_that_hangs_in_the_program_holds_nobody_up),
        cmocka_unit_test(a_look_that_nobody_ends_is_ended_by_the_program),
        cmocka_unit_test(the_gpu_is_stopped_for_a_limited_time),
        cmocka_unit_test(a_program_that_ends_meanwhile_ends_as_it_would_have),
    };
    return cmocka_run_group_tests_name("live", tests, NULL, free_texts);
}
