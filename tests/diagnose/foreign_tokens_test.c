/* foreign_tokens_test.c - waits that name the token of an arrival on another mbarrier, and walks that know which
 * arrival gave each token.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { SWAP = 1, WARPS = 4, STAGES = 2, ROUNDS = 4, ALL = WARPS, WAIT_AT = 100 };

static struct way ways[WARPS];

/* What is wrong. */
enum mistake {
    NOTHING,
    WAITS_ELSEWHERE,   /* all wait on the other stage */
    ARRIVES_ELSEWHERE, /* warps 2 and 3 arrive on the other stage in round 2 */
    EARLIER_TOKEN,     /* all arrive twice in round 2, and wait with the first token */
    LEFT_OUT,          /* both stages go in step, tokens of stage 0 do for 1; warp 3 leaves out stage 1 in round 2 */
};

static void go_in_step(struct way *way, uint32_t warp, uint32_t round)
{
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(SWAP, 0), 1);
    const uint32_t token = way->count;
    if (warp != 3 || round != 2)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(SWAP, 1), 1);
    struct wsdbg_step_row *wait = way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(SWAP, 1), 0);
    wait->number_known = false;
    wait->access = WAIT_AT;
    wait->token = token;
}

static void go_round(struct way *way, uint32_t warp, uint32_t round, enum mistake mistake)
{
    const uint32_t stage = round % STAGES;
    const bool elsewhere = mistake == ARRIVES_ELSEWHERE && round == 2 && warp >= 2;
    const bool waits_elsewhere = mistake == WAITS_ELSEWHERE;
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(SWAP, elsewhere ? stage ^ 1 : stage), 1);
    const uint32_t token = way->count;
    if (mistake == EARLIER_TOKEN && round == 2)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(SWAP, stage), 1);
    struct wsdbg_step_row *wait =
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(SWAP, waits_elsewhere ? stage ^ 1 : stage), 0);
    wait->number_known = false;
    wait->access = WAIT_AT;
    wait->token = token;
}

static bool put_kernel(struct picture *p, enum mistake mistake)
{
    memset(ways, 0, sizeof ways);
    picture_init(p, 1, WARPS, 32);
    picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_name(p, SWAP, "swap", STAGES, 0xf, 0xf);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, SWAP, s, 0, ALL, ALL, 0);
        way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(SWAP, s), ALL);
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        ways[w].warp = w;
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, 0);
        for (uint32_t i = 0; i < ROUNDS; i++)
            if (mistake == LEFT_OUT)
                go_in_step(&ways[w], w, i);
            else
                go_round(&ways[w], w, i, mistake);
    }
    ways_put(p, ways, WARPS);
    return ways_stand(p);
}

static void a_token_of_another_mbarrier_is_told(void **state)
{
    static const struct {
        enum mistake mistake;
        const char *cause, *says; /* cause NULL: the kernel finishes */
    } rows[] = {
        {NOTHING, NULL, NULL},
        {WAITS_ELSEWHERE, "PARITY_WRONG",
         "Warps 0-3 wait on \"swap\" stage 1 at kernel.cu:100 with the token of an arrival on \"swap\" stage 0. A "
         "token "
         "names a phase of the mbarrier that gave it"},
        {ARRIVES_ELSEWHERE, "ARRIVE_MISSING", "in this round the arrival went to the wrong mbarrier"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture p;
        ways_check(&p, put_kernel(&p, rows[i].mistake), rows[i].cause, rows[i].says);
    }
    (void)state;
}

/* The mbarrier lacks an arrival: a token of its own would not end the wait, either. */
static void a_token_that_may_do_is_only_a_possible_cause(void **state)
{
    struct picture p;
    (void)state;
    assert_true(put_kernel(&p, LEFT_OUT));
    assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_PARITY_WRONG), WSDBG_CONFIDENCE_POSSIBLE);
    picture_deinit(&p);
}

/* Which arrival gave a token decides nothing where that is not known. */
static void a_token_that_is_not_known_is_no_foreign_one(void **state)
{
    struct picture p;
    (void)state;
    assert_true(put_kernel(&p, WAITS_ELSEWHERE));
    for (size_t i = 0; i < p.snapshot.step_count; i++)
        p.snapshot.steps[i].token = 0;
    assert_false(ways_say(&p, "with the token of an arrival on"));
    picture_deinit(&p);
}

/* The wait names the first of two arrivals: the second one counts for the next phase, and the wait is over at once. */
static void a_wait_is_for_the_arrival_that_gave_its_token(void **state)
{
    struct picture p;
    struct wsdbg_case c;
    (void)state;
    put_kernel(&p, EARLIER_TOKEN);
    struct wsdbg_replay *replay = ways_replay(&p, &c);
    assert_false(replay->is_broken);
    assert_true(replay->has_ended);
    wsdbg_replay_destroy(replay);
    wsdbg_case_deinit(&c);
    picture_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_of_another_mbarrier_is_told),
        cmocka_unit_test(a_token_that_may_do_is_only_a_possible_cause),
        cmocka_unit_test(a_token_that_is_not_known_is_no_foreign_one),
        cmocka_unit_test(a_wait_is_for_the_arrival_that_gave_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
