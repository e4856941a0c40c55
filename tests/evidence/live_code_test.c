/* live_code_test.c - calls of the program that load code, and an inspector that comes or leaves (on the fake driver):
 * each such call gets its answer to the driver's event, and nobody comes to stay while there is much to load. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "evidence/live_helpers.h"
#include "evidence/live_rig.h"

#define MS UINT64_C(1000000)

static void await(const uint32_t *word)
{
    for (int i = 0; i < 5000 && !__atomic_load_n(word, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    assert_int_equal(*word, 1);
}

static void finish(struct rig *rig)
{
    rig_assert_left_alone(rig);
    helpers_assert_obeys(rig, "ils");
    assert_int_equal(helpers_last_result(rig, "cuModuleLoadData"), 0);
    helpers_finish(rig);
}

/* ---- leaving ---- */

/* A program with a guest, in a call that waits for the guest's answer to an event, which comes after so long. */
static struct rig start_loading_beside_guest(uint32_t event_ms)
{
    struct rig rig = helpers_rig_with_guest();
    rig.gpu->load_asks = 1;
    rig.gpu->load_event_ms = event_ms;
    rig_order(&rig, 'i');
    await(&rig.gpu->loads_asked);
    return rig;
}

static void who_stays_leaves_after_a_call_that_loads_code_has_its_answer(void **state)
{
    (void)state;
    /* On a busy machine the answer may come before wsdbg leaves. */
    struct rig rig = start_loading_beside_guest(150);
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    assert_int_equal(rig.gpu->left_under_load, 0);
    assert_int_equal(rig.gpu->loads_answered, 1);
    rig_await_obeyed(&rig);
    finish(&rig);
}

/* ... also where wsdbg asks for it by its end alone. */
static void who_is_sent_away_leaves_after_such_a_call(void **state)
{
    (void)state;
    struct rig rig = start_loading_beside_guest(150);
    while (!wsdbg_live_machine_dismiss(rig.machine))
        usleep(1000);
    assert_int_equal(rig.gpu->left_under_load, 0);
    assert_int_equal(rig.gpu->loads_answered, 1);
    rig_await_obeyed(&rig);
    finish(&rig);
}

static void a_call_that_waits_for_something_else_is_not_waited_for(void **state)
{
    (void)state;
    struct rig rig = start_loading_beside_guest(60000);
    const uint64_t began_ns = wsdbg_attach_clock_ns();
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    assert_in_range(wsdbg_attach_clock_ns() - began_ns, 300 * MS, 1500 * MS);
    assert_int_equal(rig.gpu->left_under_load, 1);
    rig_await_obeyed(&rig);
    finish(&rig);
}

/* Each answer lets it send the next event: the calls that wait for the inspector do so only for so long. */
static void calls_wait_for_one_that_leaves(void **state)
{
    (void)state;
    struct rig rig = start_loading_beside_guest(150);
    const uint64_t waited_ns = rig.attach.row->waited_ns;
    rig_order(&rig, 'l');
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    rig_await_obeyed(&rig);
    assert_in_range(rig.attach.row->waited_ns - waited_ns, 0, 1000 * MS);
    finish(&rig);
}

/* ---- coming ---- */

/* ... and the program does not wait for who asks. */
static void nobody_comes_to_stay_while_code_is_loaded(void **state)
{
    struct wsdbg_error *error = NULL;
    (void)state;
    struct rig rig = rig_start(NULL);
    usleep(300000); /* who comes in waits for a context that was just made */
    rig.gpu->load_lasts = 1;
    helpers_assert_obeys(&rig, "t");
    await(&rig.gpu->loads_inside);
    rig_ok(wsdbg_live_machine_stay(rig.machine, rig.limit_ns));
    for (; !wsdbg_live_machine_collect(rig.machine, &error); usleep(5000))
        helpers_assert_obeys(&rig, "o");
    rig_says(error, "the program is loading code");
    assert_int_equal(rig.gpu->loads_inside, 1);
    assert_int_equal(rig.attach.row->obstacle, WSDBG_OBSTACLE_NOT_SETTLED);
    assert_int_equal(rig.gpu->attaches, 0);
    assert_int_equal(rig.attach.row->waited_ns, 0);
    rig.gpu->load_lasts = 0;
    while (rig.gpu->loads_inside)
        usleep(1000);
    rig_ok(rig_stay(&rig));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    finish(&rig);
}

/* A look is taken whatever the program does. */
static void a_look_comes_while_code_is_loaded(void **state)
{
    (void)state;
    struct rig rig = rig_start(NULL);
    rig.gpu->load_lasts = 1;
    rig_order(&rig, 'i');
    await(&rig.gpu->loads_inside);
    for (int step = RIG_ATTACH; step < RIG_STEPS; step++)
        rig_ok(rig_step(&rig, step));
    assert_int_equal(rig.gpu->attaches, 1);
    rig.gpu->load_lasts = 0;
    rig_await_obeyed(&rig);
    finish(&rig);
}

static void nobody_comes_to_stay_when_more_code_was_loaded_than_was_known_of(void **state)
{
    (void)state;
    struct rig rig = rig_start("WSDBG_ATTACH_FIRST=1,cheap");
    helpers_assert_obeys(&rig, "m"); /* the driver refuses it */
    assert_int_equal(rig.attach.row->code_bytes, 0);
    helpers_assert_obeys(&rig, "M");
    assert_int_equal(helpers_last_result(&rig, "cuModuleLoadData"), 0);
    assert_in_range(rig.attach.row->code_bytes, 5000000, 5001000);
    rig_says(rig_stay(&rig), "the program has just loaded much code");
    assert_int_equal(rig.gpu->attaches, 0);
    rig.attach.row->code_bytes_known = rig.attach.row->code_bytes;
    rig_ok(rig_stay(&rig));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    finish(&rig);
}

static void one_that_need_not_be_cheap_comes_however_much_was_loaded(void **state)
{
    (void)state;
    struct rig rig = rig_start("WSDBG_ATTACH_FIRST=1");
    helpers_assert_obeys(&rig, "M");
    rig_ok(rig_stay(&rig));
    rig_ok(wsdbg_live_machine_detach(rig.machine));
    finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_stays_leaves_after_a_call_that_loads_code_has_its_answer),
        cmocka_unit_test(who_is_sent_away_leaves_after_such_a_call),
        cmocka_unit_test(a_call_that_waits_for_something_else_is_not_waited_for),
        cmocka_unit_test(calls_wait_for_one_that_leaves),
        cmocka_unit_test(nobody_comes_to_stay_while_code_is_loaded),
        cmocka_unit_test(a_look_comes_while_code_is_loaded),
        cmocka_unit_test(nobody_comes_to_stay_when_more_code_was_loaded_than_was_known_of),
        cmocka_unit_test(one_that_need_not_be_cheap_comes_however_much_was_loaded),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
