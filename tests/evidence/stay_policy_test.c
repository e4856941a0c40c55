/* stay_policy_test.c - when an inspector comes to a program, stays with it and leaves it: what that costs the program
 * against 2 % of its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "evidence/stay_policy.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define NOW (1000 * S)
#define LAUNCH_NS 3500 /* what a launch takes with nobody attached */

/* A program that was first seen 10 s ago, so that 200 ms may be spent; it has rested for long and has no work. */
static struct wsdbg_stay_facts resting(void)
{
    return (struct wsdbg_stay_facts){.now_ns = NOW,
                                     .began_ns = NOW - 10 * S,
                                     .context_made_ns = NOW - 9 * S,
                                     .worked_ns = NOW - 5 * S,
                                     .worked = true};
}

/* ... but launches now and then, and has just done so. */
static struct wsdbg_stay_facts busy(void)
{
    struct wsdbg_stay_facts facts = resting();
    facts.worked_ns = NOW;
    facts.launches_second = 10;
    return facts;
}

static enum wsdbg_stay_advice advise(struct wsdbg_stay_policy policy, struct wsdbg_stay_facts facts)
{
    return wsdbg_stay_advise(&policy, &facts);
}

static void assert_comes(struct wsdbg_stay_policy policy, struct wsdbg_stay_facts facts, bool comes)
{
    assert_int_equal(advise(policy, facts), comes ? WSDBG_STAY_COME_IN : WSDBG_STAY_AS_IT_IS);
}

static const struct wsdbg_stay_policy fresh = {0};

/* ---- what was spent ---- */

static void what_is_spent_is_the_waits_and_what_launches_took_beyond_their_own_time(void **state)
{
    static const struct {
        uint64_t waited_ns, launch_ns, launches, spent_ns;
    } rows[] = {
        {0, 0, 0, 0},
        {7 * MS, 0, 0, 7 * MS},
        {0, 1000 * LAUNCH_NS, 1000, 0},
        {0, 1000 * LAUNCH_NS + 5 * MS, 1000, 5 * MS},
        {2 * MS, 1000 * LAUNCH_NS + 5 * MS, 1000, 7 * MS},
        {2 * MS, 900 * LAUNCH_NS, 1000, 2 * MS}, /* faster than a launch is: nothing is given back */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_stay_facts facts = {
            .waited_ns = rows[i].waited_ns, .launch_ns = rows[i].launch_ns, .launches = rows[i].launches};
        assert_int_equal(wsdbg_stay_spent_ns(&facts), rows[i].spent_ns);
    }
}

/* ---- coming in ---- */

static void it_attaches_to_an_idle_program(void **state)
{
    (void)state;
    struct wsdbg_stay_facts facts = resting();
    assert_comes(fresh, facts, true);
    facts.worked_ns = 0; /* never worked */
    facts.worked = false;
    assert_comes(fresh, facts, true);
}

static void it_comes_only_where_a_context_has_settled(void **state)
{
    static const struct {
        uint64_t made_ns;
        bool comes;
    } rows[] = {{0, false},
                {NOW, false},
                {NOW - 249 * MS, false},
                {NOW - 250 * MS, true},
                {NOW + MS, false}}; /* made after the snapshot */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_stay_facts facts = resting();
        facts.context_made_ns = rows[i].made_ns;
        assert_comes(fresh, facts, rows[i].comes);
    }
}

static void it_does_not_come_while_the_gpu_has_work(void **state)
{
    (void)state;
    struct wsdbg_stay_facts facts = resting();
    facts.unfinished = true;
    assert_comes(fresh, facts, false);
}

/* To come in takes 0.1 s, which must be paid for.  Calm is 0.15 s without work: then also who launches much. */
static void to_a_program_at_work_it_comes_only_if_that_can_be_paid(void **state)
{
    static const struct {
        uint64_t rested_ns, waited_ns, launches_second;
        bool comes;
    } rows[] = {
        {0, 0, 10, true}, /* 200 ms may be spent, to come in takes 100 */
        {0, 100 * MS, 10, true},
        {0, 101 * MS, 10, false},
        {149 * MS, 101 * MS, 10, false},
        {150 * MS, 101 * MS, 10, false},
        {0, 0, 384, true}, /* 52 us more each: 2 % of a second */
        {0, 0, 385, false},
        {150 * MS, 0, 385, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_stay_facts facts = busy();
        facts.worked_ns = NOW - rows[i].rested_ns;
        facts.waited_ns = rows[i].waited_ns;
        facts.launches_second = rows[i].launches_second;
        assert_comes(fresh, facts, rows[i].comes);
    }
}

/* 22 ns a byte: beside NCCL's 59 MB it takes 1.4 s, of which 70 s are fifty times. */
static void what_is_loaded_makes_coming_in_dearer(void **state)
{
    static const struct {
        uint64_t image_bytes, ran_ns;
        bool comes;
    } rows[] = {
        {0, 5 * S, true},
        {1000000, 5 * S, false},
        {1000000, 7 * S, true},
        {59000000, 10 * S, false},
        {59000000, 69 * S, false},
        {59000000, 71 * S, true},
        {900000000, 104 * S, false},
        {900000000, 106 * S, true}, /* 2.1 s at most */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_stay_facts facts = resting();
        facts.began_ns = NOW - rows[i].ran_ns;
        facts.context_made_ns = NOW - 3 * S;
        facts.worked_ns = NOW - 2 * S;
        facts.image_bytes = rows[i].image_bytes;
        assert_comes(fresh, facts, rows[i].comes);
    }
}

static void nothing_is_lent_to_a_program_that_has_launched(void **state)
{
    (void)state;
    struct wsdbg_stay_facts facts = resting();
    facts.began_ns = NOW - 5 * S + 1;
    assert_comes(fresh, facts, false);
    facts.began_ns = NOW - 5 * S;
    assert_comes(fresh, facts, true);
}

/* A run of a moment, whose context was made just now and whose first launch may be waiting. */
static struct wsdbg_stay_facts beginning(void)
{
    return (struct wsdbg_stay_facts){.now_ns = NOW, .began_ns = NOW - 50 * MS, .context_made_ns = NOW - 1};
}

static void before_its_first_launch_a_program_is_lent_the_price_once(void **state)
{
    (void)state;
    struct wsdbg_stay_policy policy = {0};
    struct wsdbg_stay_facts facts = beginning();
    assert_comes(policy, facts, true);
    wsdbg_stay_refused(&policy, NOW);
    assert_comes(policy, facts, false);
    facts.now_ns += 200 * MS;
    assert_comes(policy, facts, true);
    wsdbg_stay_came(&policy, &facts);
    wsdbg_stay_left(&policy, facts.now_ns);
    facts.now_ns += 3 * S;
    assert_comes(policy, facts, false);
}

static void a_loan_is_paid_off_before_anybody_comes_again(void **state)
{
    (void)state;
    struct wsdbg_stay_policy policy = {0};
    struct wsdbg_stay_facts facts = beginning();
    wsdbg_stay_came(&policy, &facts);
    wsdbg_stay_left(&policy, NOW);
    facts.worked = true;
    facts.worked_ns = NOW;
    facts.waited_ns = 300 * MS; /* fifty times of that and of the next price, 0.1 s, is 20 s */
    facts.now_ns = facts.began_ns + 20 * S - 1;
    assert_comes(policy, facts, false);
    facts.now_ns++;
    assert_comes(policy, facts, true);
}

/* Each of them waited 0.3 s, and ended soon after. */
static void of_many_short_processes_only_the_first_are_lent_something(void **state)
{
    (void)state;
    struct wsdbg_stay_facts facts = beginning();
    const uint64_t allowed_ns = 1200 * MS + 1 * MS; /* and 2 % of the run's 50 ms */
    facts.ended_spent_ns = allowed_ns;
    assert_comes(fresh, facts, true);
    assert_true(wsdbg_stay_may_come_first(&fresh, &facts));
    facts.ended_spent_ns++;
    assert_comes(fresh, facts, false);
    assert_false(wsdbg_stay_may_come_first(&fresh, &facts));
    facts.began_ns = NOW - 50 * MS - 50; /* the run pays it off */
    assert_comes(fresh, facts, true);
    assert_comes((struct wsdbg_stay_policy){.always = true}, beginning(), true);
}

/* The share is the run's, not one for each process that it starts. */
static void what_ended_processes_spent_is_not_there_for_others(void **state)
{
    (void)state;
    struct wsdbg_stay_facts facts = resting(); /* 200 ms may be spent, and coming in takes 100 ms */
    facts.ended_spent_ns = 100 * MS;
    assert_comes(fresh, facts, true);
    facts.ended_spent_ns++;
    assert_comes(fresh, facts, false);
    facts.ended_spent_ns = 300 * MS;
    assert_comes(fresh, facts, false);
}

static void who_will_not_come_before_the_first_launch_is_not_waited_for(void **state)
{
    (void)state;
    struct wsdbg_stay_policy policy = {0}, always = {.always = true};
    struct wsdbg_stay_facts facts = beginning(), large = beginning();
    large.image_bytes = 5000000;
    assert_true(wsdbg_stay_may_come_first(&policy, &facts));
    assert_false(wsdbg_stay_may_come_first(&policy, &large));
    assert_true(wsdbg_stay_may_come_first(&always, &large));
    wsdbg_stay_came(&policy, &facts);
    assert_true(wsdbg_stay_may_come_first(&policy, &facts));
    wsdbg_stay_left(&policy, NOW);
    assert_false(wsdbg_stay_may_come_first(&policy, &facts));
}

static void nothing_is_lent_where_probes_tell_enough_or_much_is_loaded(void **state)
{
    (void)state;
    struct wsdbg_stay_facts probed = beginning(), large = beginning(), without_context = beginning();
    probed.probed = true;
    assert_comes(fresh, probed, false);
    large.image_bytes = 4500000; /* 0.199 s */
    assert_comes(fresh, large, true);
    large.image_bytes = 4600000;
    assert_comes(fresh, large, false);
    without_context.context_made_ns = 0;
    assert_comes(fresh, without_context, false);
}

static void after_each_refusal_it_waits_twice_as_long_up_to_three_seconds(void **state)
{
    static const uint64_t pauses_ns[] = {200 * MS, 400 * MS, 800 * MS, 1600 * MS, 3200 * MS, 3200 * MS, 3200 * MS};
    struct wsdbg_stay_policy policy = {0};
    (void)state;
    for (size_t i = 0; i < sizeof pauses_ns / sizeof *pauses_ns; i++) {
        struct wsdbg_stay_facts facts = resting();
        wsdbg_stay_refused(&policy, NOW);
        facts.now_ns = NOW + pauses_ns[i] - 1;
        assert_comes(policy, facts, false);
        facts.now_ns = NOW + pauses_ns[i];
        assert_comes(policy, facts, true);
    }
}

static void once_it_was_let_in_refusals_count_anew(void **state)
{
    struct wsdbg_stay_policy policy = {0};
    struct wsdbg_stay_facts facts = resting();
    (void)state;
    for (int i = 0; i < 5; i++)
        wsdbg_stay_refused(&policy, NOW);
    wsdbg_stay_came(&policy, &facts);
    assert_true(policy.stays);
    wsdbg_stay_refused(&policy, NOW);
    assert_false(policy.stays);
    facts.now_ns = NOW + 200 * MS;
    assert_comes(policy, facts, true);
}

/* ---- staying and leaving ---- */

/* Somebody who came at NOW, when `spent_before_ns` had been spent, and what staying has cost `stayed_ns` later. */
static enum wsdbg_stay_advice after(uint64_t spent_before_ns, uint64_t stayed_ns, uint64_t cost_ns, bool always)
{
    struct wsdbg_stay_policy policy = {.always = always};
    struct wsdbg_stay_facts facts = resting();
    facts.waited_ns = spent_before_ns;
    wsdbg_stay_came(&policy, &facts);
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_AS_IT_IS);
    facts.now_ns += stayed_ns;
    facts.launches = 100;
    facts.launch_ns = 100 * LAUNCH_NS + cost_ns;
    return wsdbg_stay_advise(&policy, &facts);
}

/* 10 s of the program have paid 200 ms, and its next second 20 ms more. */
static void it_leaves_when_staying_costs_more_than_the_program_can_pay(void **state)
{
    static const struct {
        uint64_t spent_before_ns, stayed_ns, cost_ns;
        enum wsdbg_stay_advice advice;
    } rows[] = {
        {0, 1 * S, 0, WSDBG_STAY_AS_IT_IS},
        {0, 1 * S, 220 * MS, WSDBG_STAY_AS_IT_IS}, /* dear, but saved up */
        {0, 1 * S, 221 * MS, WSDBG_STAY_LEAVE},
        {200 * MS, 1 * S, 21 * MS, WSDBG_STAY_LEAVE},
        {900 * MS, 1 * S, 20 * MS, WSDBG_STAY_AS_IT_IS}, /* what was spent before is no reason */
        {900 * MS, 1 * S, 21 * MS, WSDBG_STAY_LEAVE},
        {900 * MS, 39 * MS, 30 * MS, WSDBG_STAY_AS_IT_IS}, /* too short to tell */
        {900 * MS, 40 * MS, 30 * MS, WSDBG_STAY_LEAVE},
        {900 * MS, 40 * MS, 5 * MS, WSDBG_STAY_AS_IT_IS}, /* an eighth of that time, but next to nothing */
        {900 * MS, 40 * MS, 5 * MS + 1, WSDBG_STAY_LEAVE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(after(rows[i].spent_before_ns, rows[i].stayed_ns, rows[i].cost_ns, false), rows[i].advice);
}

/* The first launch waits while the inspector comes in, and tells what it waited once it has a processor again. */
static void what_it_cost_to_come_in_is_no_reason_to_leave(void **state)
{
    struct wsdbg_stay_policy policy = {0};
    struct wsdbg_stay_facts facts = beginning();
    (void)state;
    wsdbg_stay_came(&policy, &facts);
    facts.worked = true;
    facts.now_ns += 40 * MS;
    facts.waited_ns = 290 * MS;
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_AS_IT_IS);
    facts.now_ns += 40 * MS;
    facts.waited_ns += 6 * MS; /* this wait is of a stay */
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_LEAVE);
}

/* A launch is counted before what it took is added up. */
static void launches_that_seem_to_take_no_time_are_no_reason_to_leave(void **state)
{
    struct wsdbg_stay_policy policy = {0};
    struct wsdbg_stay_facts facts = resting();
    (void)state;
    facts.launches = 1;
    facts.launch_ns = 2 * LAUNCH_NS;
    facts.waited_ns = 900 * MS; /* nothing is saved */
    wsdbg_stay_came(&policy, &facts);
    facts.now_ns += 40 * MS;
    facts.launches = 2;
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_AS_IT_IS);
}

static void only_the_last_window_counts(void **state)
{
    struct wsdbg_stay_policy policy = {0};
    struct wsdbg_stay_facts facts = resting();
    (void)state;
    wsdbg_stay_came(&policy, &facts);
    facts.now_ns += 1 * S;
    facts.launch_ns = 150 * MS; /* saved up */
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_AS_IT_IS);
    facts.began_ns = facts.now_ns; /* nothing is saved any more, but nothing more is spent either */
    facts.now_ns += 40 * MS;
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_AS_IT_IS);
    facts.now_ns += 40 * MS;
    facts.waited_ns += 1 * MS;
    assert_int_equal(wsdbg_stay_advise(&policy, &facts), WSDBG_STAY_LEAVE);
}

static void having_left_it_comes_back_to_a_calm_program_that_can_pay(void **state)
{
    static const struct {
        uint64_t rested_ns, waited_ns;
        bool comes;
    } rows[] = {
        {1000 * MS, 100 * MS, true}, /* 200 ms may be spent, to come in takes 100 */
        {1000 * MS, 101 * MS, false},
        {999 * MS, 100 * MS, false}, /* it has not rested for long, and launches much */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_stay_policy policy = {.stays = true};
        struct wsdbg_stay_facts facts = resting();
        wsdbg_stay_left(&policy, NOW - 2 * S);
        assert_false(policy.stays);
        facts.worked_ns = NOW - rows[i].rested_ns;
        facts.waited_ns = rows[i].waited_ns;
        facts.launches_second = 1000;
        assert_comes(policy, facts, rows[i].comes);
    }
}

/* The look stops the GPU, and calls of the program wait meanwhile.  If the inspector left then, the next look would be
 * late, and might be spared. */
static void it_does_not_leave_between_two_looks(void **state)
{
    (void)state;
    struct wsdbg_stay_policy policy = {.stays = true, .came_ns = NOW - S, .window_ns = NOW - 40 * MS};
    struct wsdbg_stay_facts facts = busy();
    facts.waited_ns = 300 * MS;
    facts.looked_ahead = true;
    assert_int_equal(advise(policy, facts), WSDBG_STAY_AS_IT_IS);
    facts.looked_ahead = false;
    assert_int_equal(advise(policy, facts), WSDBG_STAY_LEAVE);
}

/* ---- whatever it costs ---- */

static void who_is_to_stay_always_comes_and_stays_whatever_it_costs(void **state)
{
    const struct wsdbg_stay_policy always = {.always = true};
    struct wsdbg_stay_facts facts = busy();
    (void)state;
    facts.began_ns = NOW;
    facts.context_made_ns = NOW;
    facts.waited_ns = 10 * S;
    facts.launches_second = 100000;
    assert_comes(always, facts, true);
    assert_int_equal(after(9 * S, 1 * S, 900 * MS, true), WSDBG_STAY_AS_IT_IS);
}

static void also_who_is_to_stay_always_waits_for_the_gpu_and_after_a_refusal(void **state)
{
    struct wsdbg_stay_policy always = {.always = true};
    struct wsdbg_stay_facts facts = busy();
    (void)state;
    facts.unfinished = true;
    assert_comes(always, facts, false);
    facts.unfinished = false;
    facts.context_made_ns = 0;
    assert_comes(always, facts, false);
    facts.context_made_ns = NOW - 9 * S;
    wsdbg_stay_refused(&always, NOW - 199 * MS);
    assert_comes(always, facts, false);
    facts.now_ns += MS;
    assert_comes(always, facts, true);
}

/* Where another wsdbg waits for the GPU, nobody stays at a program without work or comes to one; who was asked for
 * stays all the same. */
static void a_program_without_work_is_left_for_another_wsdbg(void **state)
{
    (void)state;
    struct wsdbg_stay_facts facts = resting();
    facts.wished = true;
    assert_int_equal(advise((struct wsdbg_stay_policy){.stays = true, .came_ns = NOW, .window_ns = NOW}, facts),
                     WSDBG_STAY_LEAVE);
    assert_int_equal(advise((struct wsdbg_stay_policy){.stays = true, .always = true}, facts), WSDBG_STAY_AS_IT_IS);
    assert_comes(fresh, facts, false);
    assert_comes((struct wsdbg_stay_policy){.always = true}, facts, true);
    facts.worked = false;
    assert_comes(fresh, facts, false);
    facts.unfinished = true;
    assert_int_equal(advise((struct wsdbg_stay_policy){.stays = true, .came_ns = NOW, .window_ns = NOW}, facts),
                     WSDBG_STAY_AS_IT_IS);
    facts.unfinished = false;
    facts.looked_ahead = true;
    assert_int_equal(advise((struct wsdbg_stay_policy){.stays = true, .came_ns = NOW, .window_ns = NOW}, facts),
                     WSDBG_STAY_AS_IT_IS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_without_work_is_left_for_another_wsdbg),
        cmocka_unit_test(what_is_spent_is_the_waits_and_what_launches_took_beyond_their_own_time),
        cmocka_unit_test(it_attaches_to_an_idle_program),
        cmocka_unit_test(it_comes_only_where_a_context_has_settled),
        cmocka_unit_test(it_does_not_come_while_the_gpu_has_work),
        cmocka_unit_test(to_a_program_at_work_it_comes_only_if_that_can_be_paid),
        cmocka_unit_test(what_is_loaded_makes_coming_in_dearer),
        cmocka_unit_test(nothing_is_lent_to_a_program_that_has_launched),
        cmocka_unit_test(before_its_first_launch_a_program_is_lent_the_price_once),
        cmocka_unit_test(a_loan_is_paid_off_before_anybody_comes_again),
        cmocka_unit_test(of_many_short_processes_only_the_first_are_lent_something),
        cmocka_unit_test(what_ended_processes_spent_is_not_there_for_others),
        cmocka_unit_test(who_will_not_come_before_the_first_launch_is_not_waited_for),
        cmocka_unit_test(nothing_is_lent_where_probes_tell_enough_or_much_is_loaded),
        cmocka_unit_test(after_each_refusal_it_waits_twice_as_long_up_to_three_seconds),
        cmocka_unit_test(once_it_was_let_in_refusals_count_anew),
        cmocka_unit_test(it_leaves_when_staying_costs_more_than_the_program_can_pay),
        cmocka_unit_test(it_does_not_leave_between_two_looks),
        cmocka_unit_test(what_it_cost_to_come_in_is_no_reason_to_leave),
        cmocka_unit_test(launches_that_seem_to_take_no_time_are_no_reason_to_leave),
        cmocka_unit_test(only_the_last_window_counts),
        cmocka_unit_test(having_left_it_comes_back_to_a_calm_program_that_can_pay),
        cmocka_unit_test(who_is_to_stay_always_comes_and_stays_whatever_it_costs),
        cmocka_unit_test(also_who_is_to_stay_always_waits_for_the_gpu_and_after_a_refusal),
    };
    return cmocka_run_group_tests_name("stay_policy", tests, NULL, NULL);
}
