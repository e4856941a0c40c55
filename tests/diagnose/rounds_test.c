/* rounds_test.c - a pipeline of two stages between a producer and a consumer, with one defect at a time.
 *
 * A test writes the walks of both threads, lets a replay run them until they hang, and makes the picture of that
 * moment. The diagnosis of the picture must name the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/replay.h"
#include "picture.h"

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 9, STEPS_MOST = 256, PRODUCER = 0, CONSUMER = 1, WARPS = 2 };

/* What is wrong in the kernel; 0 = nothing.  Iterations count from 1. */
struct defect {
    const char *name, *cause;          /* cause NULL: the kernel finishes */
    uint32_t no_release, two_releases; /* the iteration in which the consumer does not release, or releases twice */
    uint32_t count_more;               /* added to the count of "empty" stage 1 */
    uint32_t parity_flip;              /* 1: all waits of the producer have the other parity */
    uint32_t tile;                     /* after so many iterations the consumer begins with stage and parity 0 again */
    uint32_t rounds_fewer;             /* iterations that the consumer leaves out at the end */
    bool all_but_one;                  /* all lanes of the producer but lane 0 produce.  Lane 0 has left at once */
};
#define ALL_BUT_ONE 0xfffffffeu

static const struct defect defects[] = {
    {.name = "nothing"},
    {.name = "a release is left out", .cause = "ARRIVE_MISSING", .no_release = 4},
    {.name = "a release is made twice", .cause = "DOUBLE_ARRIVE", .two_releases = 4},
    {.name = "a count is too high", .cause = "ARRIVE_SHORT", .count_more = 1},
    {.name = "the first parity is wrong", .cause = "PARITY_WRONG", .parity_flip = 1},
    {.name = "the parity begins anew with each tile", .cause = "PARITY_DRIFT", .tile = 2},
    {.name = "the consumer leaves some rounds earlier", .cause = "WAKER_EXITED", .rounds_fewer = 3},
    {.name = "... without its last release", .cause = "ARRIVE_MISSING", .no_release = 6, .rounds_fewer = 2},
    /* Not LANE_SPLIT: lane 0 never passed the wait in which the others stand. */
    {.name = "... and one lane of the producer left",
     .cause = "ARRIVE_MISSING",
     .no_release = 6,
     .rounds_fewer = 2,
     .all_but_one = true},
};
enum { DRIFTS = 5 }; /* row */

struct way {
    struct wsdbg_step_row steps[STEPS_MOST];
    uint32_t count;
};

static void add(struct way *way, uint8_t kind, uint32_t address, uint32_t number)
{
    assert_true(way->count < STEPS_MOST);
    way->steps[way->count++] = (struct wsdbg_step_row){.access = WSDBG_NONE,
                                                       .address = address,
                                                       .number = number,
                                                       .kind = kind,
                                                       .rank = WSDBG_STEP_OWN_RANK,
                                                       .number_known = true};
}

static uint32_t lanes_of(const struct defect *d, uint32_t warp)
{
    return d->all_but_one && warp == PRODUCER ? ALL_BUT_ONE : 1;
}

static void produce(const struct defect *d, struct way *way)
{
    const uint32_t lanes = (uint32_t)__builtin_popcount(lanes_of(d, PRODUCER));
    for (uint32_t s = 0; s < STAGES; s++) {
        add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), lanes);
        add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), 1 + (s == 1 ? d->count_more : 0));
    }
    add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1 ^ d->parity_flip);
        add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), 128);
        add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), 128);
    }
}

static void consume(const struct defect *d, struct way *way)
{
    add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    for (uint32_t i = 0; i < ROUNDS - d->rounds_fewer; i++) {
        const uint32_t of_tile = d->tile ? i % d->tile : i, s = of_tile % STAGES;
        const uint32_t releases = i + 1 == d->no_release ? 0 : i + 1 == d->two_releases ? 2 : 1;
        add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, s), of_tile / STAGES & 1);
        for (uint32_t k = 0; k < releases; k++)
            add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, s), 1);
    }
}

static void put_ways(struct picture *p, const struct defect *d)
{
    static struct way ways[WARPS];
    struct wsdbg_snapshot *s = &p->snapshot;
    memset(ways, 0, sizeof ways);
    produce(d, &ways[PRODUCER]);
    consume(d, &ways[CONSUMER]);
    s->walks = calloc(WARPS + 1, sizeof *s->walks);
    s->steps = calloc(WARPS * STEPS_MOST, sizeof *s->steps);
    assert_true(s->walks && s->steps);
    if (d->all_but_one)
        s->walks[s->walk_count++] = (struct wsdbg_walk_row){.warp = PRODUCER, .lanes = ~ALL_BUT_ONE, .is_whole = true};
    for (uint32_t w = 0; w < WARPS; w++) {
        s->walks[s->walk_count++] = (struct wsdbg_walk_row){.warp = w,
                                                            .lanes = lanes_of(d, w),
                                                            .step_first = (uint32_t)s->step_count,
                                                            .step_count = ways[w].count,
                                                            .is_whole = true};
        memcpy(s->steps + s->step_count, ways[w].steps, ways[w].count * sizeof *s->steps);
        s->step_count += ways[w].count;
    }
}

/* The accesses that a reader of the code finds. */
static void put_accesses(struct picture *p, const struct defect *d)
{
    const enum wsdbg_lanes waiting = d->all_but_one ? WSDBG_LANES_UNKNOWN : WSDBG_LANES_ONE;
    const uint32_t fills = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE),
                   frees = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE),
                   full = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE),
                   empty = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, waiting);
    picture_reach(p, PRODUCER, PRODUCER, fills, 0, UINT8_MAX, 2);
    picture_reach(p, PRODUCER, PRODUCER, empty, 0, UINT8_MAX, 2);
    picture_reach(p, CONSUMER, CONSUMER, frees, 0, UINT8_MAX, 2);
    picture_reach(p, CONSUMER, CONSUMER, full, 0, UINT8_MAX, 2);
}

static void take_picture(struct picture *p, const struct defect *d, const struct wsdbg_replay *replay)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        struct wsdbg_barrier *row = &p->snapshot.barriers[replay->barriers[b].row];
        row->phase = wsdbg_known_u32(replay->barriers[b].phase & 1);
        row->pending_arrivals = wsdbg_known_u32(replay->barriers[b].pending);
        row->expected_arrivals = wsdbg_known_u32(replay->barriers[b].expected);
    }
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->lanes != lanes_of(d, agent->warp))
            continue;
        if (agent->state == WSDBG_AGENT_ENDED)
            picture_exit(p, agent->warp, agent->warp);
        else
            picture_wait(p, agent->warp, agent->warp, WSDBG_WARP_WAIT_MBARRIER,
                         replay->barriers[agent->target[agent->at]].row, agent->steps[agent->at].number);
    }
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        p->snapshot.parts[i].lanes = lanes_of(d, p->snapshot.parts[i].warp);
}

/* The picture of the hanging kernel; false: it finishes. */
static bool stand_still(struct picture *p, const struct defect *d)
{
    static const uint32_t ctas[] = {0};
    struct wsdbg_case c;
    struct wsdbg_replay *replay;
    picture_init(p, 1, WARPS, 32);
    p->snapshot.grids[0].block[0] = WARPS * 32;
    p->snapshot.grids[0].block[1] = p->snapshot.grids[0].block[2] = 1;
    picture_name(p, FULL, "full", STAGES, 1u << PRODUCER, 1u << CONSUMER);
    picture_name(p, EMPTY, "empty", STAGES, 1u << CONSUMER, 1u << PRODUCER);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    put_accesses(p, d);
    put_ways(p, d);
    assert_null(wsdbg_case_init(&p->snapshot, 0, ctas, 1, &c));
    assert_null(wsdbg_replay_create(&c, &replay));
    assert_non_null(replay);
    wsdbg_replay_run(replay, WSDBG_REPLAY_FIRST_FIRST, NULL);
    assert_false(replay->is_broken);
    const bool stands = !replay->has_ended;
    take_picture(p, d, replay);
    wsdbg_replay_destroy(replay);
    wsdbg_case_deinit(&c);
    return stands;
}

static void test_each_defect_is_told(void **state)
{
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        print_message("%s\n", defects[i].name);
        assert_int_equal(stand_still(&p, &defects[i]), defects[i].cause != NULL);
        if (defects[i].cause) {
            picture_still(&p);
            picture_judge(&p, &diagnosis);
            assert_true(diagnosis.finding_count > 0);
            assert_string_equal(wsdbg_cause_name(diagnosis.findings[0].cause), defects[i].cause);
            assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
            wsdbg_diagnosis_deinit(&diagnosis);
        }
        picture_deinit(&p);
    }
    (void)state;
}

/* The picture has phases that the replay does not reach.  So the walks are not what happened, and nothing is concluded
 * from them. */
static void test_another_picture_is_not_explained(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    assert_true(stand_still(&p, &defects[DRIFTS]));
    p.snapshot.barriers[0].phase.value ^= 1;
    p.snapshot.barriers[1].phase.value ^= 1;
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        assert_null(strstr(diagnosis.findings[i].sentence, "alternate"));
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_defect_is_told),
        cmocka_unit_test(test_another_picture_is_not_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
