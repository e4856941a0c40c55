/* leavers_test.c - kernels of one producer and two warpgroups of consumers, where some warps leave the kernel too early
 * or leave out what others of their kind do.
 *
 * A test writes the walks of all threads, lets a replay run them until they hang, and makes the picture of that moment.
 * The diagnosis of the picture must name the defect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ways.h"

enum { FULL = 1, EMPTY, STAGES = 2, ROUNDS = 8, WARPS = 12, GROUP = 4, CTAS_MOST = 2, CONSUMERS = 8 };
/* Named barriers: whose turn it is; that the producer may begin; that group A has stored its results; that the guest
 * has prepared what the producer needs. */
enum { ORDER_A = 1, ORDER_B, BEGIN, STORED, PREPARED, BEGIN_STORE, GUEST = 2 };
/* Accesses of the picture. */
enum { GIVES_TURN, FILLS, FREES, TURN, DRAIN, DOUBTFUL, MEETS };

struct kernel {
    const char *name, *cause, *says;
    /* The defect. */
    uint32_t leaver, leavers; /* the first warp that leaves early, and how many do; 0 = none */
    uint32_t stays_for;       /* rounds that they stay for */
    bool leaves_in_round;     /* ... and they leave behind the wait of the next one */
    uint32_t no_release;      /* the round, from 1, in which group B leaves out its release */
    bool no_last_release;     /* no consumer releases its last slot */
    bool no_begin;            /* consumers do not arrive at BEGIN before their first round */
    uint32_t silent_rank;     /* the CTA whose consumers never release; 0 = none */
    bool lane_leaves;         /* lane 0 of the producer, which produces, leaves before its first copy */
    uint32_t only_rank;       /* ... in this CTA alone; 0 = in all */
    bool wrong_count;         /* group A waits for its turn with the threads of one warp too many */
    uint32_t keeps_turn;      /* group B does not give the turn back from this round on, from 1; 0 = it always does */
    uint32_t drain_parity;    /* with which the producer waits until its first slot is free at the end; 1 is right */
    uint32_t not_stored;      /* this warp of group A leaves before STORED; 0 = none */
    bool wrong_counts;        /* all consumers wait for their turns with the threads of one warp too many */
    bool to_first_rank;       /* group A of each CTA makes all its releases in rank 0 */
    uint32_t releaser;        /* lane 0 of this warp, which releases, leaves early, and the others go on; 0 = none */
    bool is_of_three;         /* "empty" counts the lanes of three warps, and those of two release */
    bool wrong_last_parity;   /* the producer's last wait, for slot 0, has the wrong parity */
    bool leaves_at_slot;      /* the producer leaves when it has its first slot */
    uint32_t too_many;        /* arrivals that "full" counts and nobody makes */
    /* What the kernel is like. */
    bool is_fill_vague;   /* nobody knows on which barriers the code of the producer arrives */
    bool has_no_work;     /* the CTA got no tile: the producer waits for its slots, the consumers leave */
    uint32_t ctas;        /* 0 = 1; consumers of 2 release in both */
    bool is_told_by_name; /* they take turns, so that group B need not wait for "full" */
    bool begins_by_name;  /* the producer waits at BEGIN, at which consumers arrive before and behind all rounds */
    bool begins_twice;    /* ... and likewise at BEGIN_STORE */
    bool meets_at_end;    /* group A meets at STORED behind all rounds */
    bool waits_at_end;    /* the producer waits until all slots are free at the end, slot 0 last */
    bool rest_releases;   /* lane 0 of a warp that releases leaves that to the others; those of the producer leave */
    bool takes_turns;     /* the groups let each other go on in turn; only their first warps release */
    bool is_open;         /* nobody knows how consumers go on behind their first wait; some arrival is on their way */
    bool has_bystander;   /* so it is with warp 1, which waits until slot 0 is free */
    bool has_guest;       /* the producer first meets the guest, a warp that has nothing else to do */
};

static const struct kernel kernels[] = {
    {.name = "nothing"},
    {.name = "nothing, with turns", .takes_turns = true},
    {.name = "nothing, in a cluster", .ctas = 2},
    {.name = "nothing, with a begin", .begins_by_name = true},
    {.name = "nothing, and one group waits for both", .is_told_by_name = true},
    {.name = "nothing, without a tile", .has_no_work = true, .drain_parity = 1},
    {.name = "a producer without a tile waits for slots that nobody took",
     .cause = "PARITY_WRONG",
     .says = "Warp 0 begins with parity 0 to wait on \"empty\"",
     .has_no_work = true},
    {.name = "a warp leaves after two rounds",
     .cause = "WAKER_EXITED",
     .says = "Warp 5 left the kernel, while warp 9, which did the same up to there, goes on and arrives on \"empty\"",
     .leaver = 5,
     .leavers = 1,
     .stays_for = 2},
    {.name = "a warp leaves at once",
     .cause = "WAKER_EXITED",
     .says = "Warp 5 left the kernel, while warp 9",
     .leaver = 5,
     .leavers = 1},
    {.name = "a count of a turn is wrong",
     .cause = "NAMED_COUNT",
     .says = "Warps 4-7 name 288 threads at named barrier 1. With 256 threads there, as many as come to it, the kernel "
             "would finish",
     .takes_turns = true,
     .wrong_count = true},
    {.name = "an instruction that takes its named barrier from a register has a wrong count",
     .cause = "NAMED_COUNT",
     .says = "and so do others at the barriers of the same instruction. With 256 threads there",
     .takes_turns = true,
     .wrong_counts = true},
    {.name = "nothing, and the producer waits for the last release", .waits_at_end = true},
    {.name = "the last slot is never released",
     .cause = "ARRIVE_MISSING",
     .says = "Warps 4-11 went through a round without arriving on \"empty\" stage 1",
     .waits_at_end = true,
     .no_last_release = true},
    {.name = "the last wait has the wrong parity",
     .cause = "PARITY_DRIFT",
     .says = "wait number 5 asked for parity 0, as the wait before it",
     .waits_at_end = true,
     .wrong_last_parity = true},
    {.name = "a group releases twice in one CTA, and never in the other one",
     .cause = "ARRIVE_MISSING",
     .says = "Ranks 0-1 warps 4-7 arrive on \"empty\" in the wrong CTA. Had they arrived once in each CTA",
     .to_first_rank = true,
     .ctas = 2},
    {.name = "a group keeps its turn near the end",
     .cause = "ARRIVE_MISSING",
     .says = "Warps 4-7 come to named barrier 1 8 times from the kernel's start to its end, warps 8-11 only 6 times",
     .takes_turns = true,
     .keeps_turn = 6},
    {.name = "nothing, and a group meets at the end", .meets_at_end = true},
    {.name = "a warp leaves before its group meets at the end",
     .cause = "WAKER_EXITED",
     .says = "warp 6",
     .meets_at_end = true,
     .not_stored = 6},
    {.name = "a warpgroup leaves after two rounds",
     .cause = "WAKER_EXITED",
     .says = "Warps 4-7 left the kernel, while warp 8",
     .leaver = 4,
     .leavers = 4,
     .stays_for = 2},
    {.name = "a warpgroup leaves behind its first wait, and the other one waits for its turn",
     .cause = "WAKER_EXITED",
     .says = "for 256 threads, of which only 128 come. The others are those of warps 4-7",
     .leaver = 4,
     .leavers = 4,
     .leaves_in_round = true,
     .takes_turns = true},
    {.name = "the lane that produces leaves",
     .cause = "WAKER_EXITED",
     .says = "all threads that could arrive on it have left the kernel: lane 0 of warp 0",
     .lane_leaves = true},
    {.name = "the lane that produces leaves one CTA of a cluster",
     .cause = "WAKER_EXITED",
     .says =
         "Lane 0 of warp 0 of cluster rank 1 left the kernel, while warp 0 of cluster rank 0, which did the same up to "
         "there, goes on and arrives on \"full\"",
     .lane_leaves = true,
     .only_rank = 1,
     .ctas = 2},
    {.name = "the lane that releases leaves its warp",
     .cause = "WAKER_EXITED",
     .says = "Lane 0 of warp 4 left the kernel, while warp 8, which did the same up to there, goes on and arrives on "
             "\"empty\"",
     .takes_turns = true,
     .releaser = 4,
     .stays_for = 2},
    {.name = "... before it has worked",
     .cause = "WAKER_EXITED",
     .says = "Lane 0 of warp 4 left the kernel, while warp 8, which did the same up to there, goes on and arrives on "
             "\"empty\"",
     .takes_turns = true,
     .releaser = 4},
    {.name = "nothing, and all lanes but one release", .takes_turns = true, .rest_releases = true},
    {.name = "a count is that of lanes of the producer, too, which are not elected and leave",
     .cause = "ARRIVE_SHORT",
     .says = "initialised for 93 arrivals",
     .takes_turns = true,
     .rest_releases = true,
     .is_of_three = true},
    {.name = "warps that wait for no phase leave out a release",
     .cause = "ARRIVE_MISSING",
     .says = "Warps 8-11 went through a round without arriving on \"empty\" stage 0",
     .no_release = 3,
     .is_told_by_name = true},
    {.name = "consumers do not let the producer begin",
     .cause = "ARRIVE_MISSING",
     .says = "Warps 4-11 arrive at named barrier 3 only behind waits",
     .no_begin = true,
     .begins_by_name = true},
    {.name = "... nor to do what comes next",
     .cause = "ARRIVE_MISSING",
     .says = "Warps 4-11 arrive at named barriers 3, 6 only behind waits",
     .no_begin = true,
     .begins_by_name = true,
     .begins_twice = true},
    {.name = "the consumers of one rank never release",
     .cause = "ARRIVE_MISSING",
     .says = "Rank 1 warps 4-11 never arrive on \"empty\", while warps that wait for the same barriers do",
     .silent_rank = 1,
     .ctas = 2},
};

static uint32_t ctas_of(const struct kernel *k)
{
    return k->ctas ? k->ctas : 1;
}

static bool takes_turns(const struct kernel *k)
{
    return k->takes_turns || k->is_told_by_name;
}

/* Arrivals that free a slot. */
static uint32_t releases_of(const struct kernel *k)
{
    if (k->rest_releases)
        return (k->is_of_three ? 3 : 2) * 31;
    return k->takes_turns ? 2 : CONSUMERS * ctas_of(k);
}

static void initialise(const struct kernel *k, struct way *way)
{
    for (uint32_t s = 0; s < STAGES; s++) {
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, s), 1 + k->too_many);
        way_add(way, WSDBG_ACCESS_INIT, MBARRIER_AT(EMPTY, s), releases_of(k));
    }
}

static void meet(const struct kernel *k, struct way *way)
{
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, 0, 0);
    if (k->ctas > 1) {
        way_add(way, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 0);
        way_add(way, WSDBG_ACCESS_CLUSTER_WAIT, 0, 0);
    }
}

static void prepare(const struct kernel *k, struct way *way)
{
    if (k->has_guest)
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, PREPARED, 2 * 32)->access = MEETS;
}

static bool leaves_lane(const struct kernel *k, uint32_t cta)
{
    return k->lane_leaves && (!k->only_rank || k->only_rank == cta);
}

static void produce(const struct kernel *k, struct way *way, uint32_t cta)
{
    initialise(k, way);
    meet(k, way);
    prepare(k, way);
    if (k->begins_by_name)
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, BEGIN, (CONSUMERS + 1) * 32);
    if (k->begins_twice)
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, BEGIN_STORE, (CONSUMERS + 1) * 32);
    for (uint32_t i = 0; i < STAGES && k->has_no_work; i++)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i), i ? 1 : k->drain_parity);
    for (uint32_t i = 0; i < ROUNDS && !k->has_no_work; i++) {
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, i % STAGES), (i / STAGES & 1) ^ 1);
        if (leaves_lane(k, cta) || k->leaves_at_slot)
            return;
        way_add(way, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, i % STAGES), 128);
        way_add(way, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, i % STAGES), 128);
    }
    for (uint32_t s = STAGES; s-- > 0 && k->waits_at_end;)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, s), s == 0 && k->wrong_last_parity ? 0 : 1)->access = DRAIN;
}

static void release(const struct kernel *k, struct way *way, uint32_t stage, bool is_to_first)
{
    for (uint8_t rank = 0; rank < ctas_of(k); rank++)
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, stage), 1)->rank = k->ctas == 1  ? WSDBG_STEP_OWN_RANK
                                                                                : is_to_first ? 0
                                                                                              : rank;
}

static void take_turn(const struct kernel *k, struct way *way, bool is_b)
{
    const bool is_wrong = k->wrong_counts || (k->wrong_count && !is_b);
    way_add(way, WSDBG_ACCESS_NAMED_SYNC, is_b ? ORDER_B : ORDER_A, (CONSUMERS + is_wrong) * 32)->access = TURN;
}

/* One round of a consumer; false: it leaves in the midst of it. */
static bool consume_round(const struct kernel *k, struct way *way, uint32_t cta, uint32_t warp, uint32_t round)
{
    const bool is_b = warp >= 2 * GROUP, leaves = k->leavers && warp >= k->leaver && warp < k->leaver + k->leavers;
    const uint32_t stage = round % STAGES;
    if (!(is_b && k->is_told_by_name))
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, stage), round / STAGES & 1);
    if (leaves && k->leaves_in_round && round == k->stays_for)
        return false;
    if (takes_turns(k)) {
        take_turn(k, way, is_b);
        if (!is_b || !k->keeps_turn || round + 1 < k->keeps_turn)
            way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, is_b ? ORDER_A : ORDER_B, CONSUMERS * 32);
    }
    way_add(way, WSDBG_ACCESS_WGMMA, 0, round + 1);
    way_add(way, WSDBG_ACCESS_WGMMA_WAIT, 0, round + 1);
    const bool is_left_out = (is_b && k->no_release == round + 1) || (k->no_last_release && round + 1 == ROUNDS);
    const bool is_silent = (k->silent_rank && cta == k->silent_rank) || (k->takes_turns && warp % GROUP) ||
                           k->rest_releases == !way->lanes;
    if (!is_left_out && !is_silent)
        release(k, way, stage, k->to_first_rank && !is_b);
    return true;
}

static void consume(const struct kernel *k, struct way *way, uint32_t cta, uint32_t warp)
{
    const bool leaves = k->leavers && warp >= k->leaver && warp < k->leaver + k->leavers;
    const bool lane_leaves = k->releaser == warp && !way->lanes;
    const uint32_t rounds = (leaves && !k->leaves_in_round) || lane_leaves ? k->stays_for : ROUNDS;
    meet(k, way);
    if (k->begins_by_name && !k->no_begin)
        way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, BEGIN, (CONSUMERS + 1) * 32);
    if (takes_turns(k) && warp >= 2 * GROUP) /* the first turn is group A's */
        way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, ORDER_A, CONSUMERS * 32);
    if (k->is_open)
        way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 0);
    way->is_open = k->is_open;
    for (uint32_t i = 0; i < rounds && !k->is_open; i++)
        if (!consume_round(k, way, cta, warp, i))
            return;
    if (k->meets_at_end && warp < 2 * GROUP && warp != k->not_stored)
        way_add(way, WSDBG_ACCESS_NAMED_SYNC, STORED, GROUP * 32);
    if (k->begins_by_name) /* for the next tile */
        way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, BEGIN, (CONSUMERS + 1) * 32);
    if (k->begins_twice)
        way_add(way, WSDBG_ACCESS_NAMED_ARRIVE, BEGIN_STORE, (CONSUMERS + 1) * 32);
}

static void put_ways(struct picture *p, const struct kernel *k)
{
    static struct way ways[CTAS_MOST * (WARPS + WARPS / GROUP)];
    uint32_t count = 0;
    memset(ways, 0, sizeof ways);
    for (uint32_t cta = 0; cta < ctas_of(k); cta++)
        for (uint32_t w = 0; w < WARPS; w++) {
            struct way *way = &ways[count++];
            way->warp = cta * WARPS + w;
            if (w == 0)
                produce(k, way, cta);
            else if (w < GROUP || k->has_no_work)
                meet(k, way);
            else
                consume(k, way, cta, w);
            if (w == GUEST)
                prepare(k, way);
            if (w == 1 && k->has_bystander) {
                way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 0);
                way->is_open = true;
            }
            if (w == 0 && leaves_lane(k, cta)) { /* the other lanes wait for the slots to be free */
                struct way *rest = &ways[count++];
                rest->warp = way->warp;
                rest->lanes = ~1u;
                meet(k, rest);
                way_add(rest, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 0);
            }
            if ((k->releaser && w == k->releaser) || (k->rest_releases && w % GROUP == 0)) {
                struct way *rest = &ways[count++];
                rest->warp = way->warp;
                rest->lanes = ~1u;
                if (w == 0)
                    meet(k, rest);
                else
                    consume(k, rest, cta, w);
            }
        }
    ways_put(p, ways, count);
}

static void put_accesses(struct picture *p, const struct kernel *k)
{
    picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, ORDER_B, 1, CONSUMERS * 32, WSDBG_LANES_ALL);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), k->is_fill_vague ? 0 : STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_NAMED_SYNC, ORDER_A, 1, CONSUMERS * 32, WSDBG_LANES_ALL);
    picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_ARRIVE, 0, 0, 1, WSDBG_LANES_ONE);
    picture_access(p, WSDBG_ACCESS_NAMED_SYNC, PREPARED, 1, 2 * 32, WSDBG_LANES_ALL);
    picture_reach(p, GROUP, 2 * GROUP - 1, GIVES_TURN, 0, UINT8_MAX, 2);
    picture_reach(p, 0, 0, FILLS, 0, UINT8_MAX, 2);
    picture_reach(p, 1, GROUP - 1, FILLS, 0, 0, 0);
    picture_reach(p, GROUP, WARPS - 1, FREES, 0, UINT8_MAX, 2);
    if (k->is_open)
        picture_reach(p, GROUP, WARPS - 1, DOUBTFUL, 0, UINT8_MAX, 2);
    if (k->has_bystander)
        picture_reach(p, 1, 1, DOUBTFUL, 0, UINT8_MAX, 2);
}

/* Runs the kernel and makes the picture of its end.  False: it does not hang. */
static bool stand_still(struct picture *p, const struct kernel *k)
{
    picture_init(p, ctas_of(k), WARPS, 32);
    picture_cluster(p);
    picture_name(p, FULL, "full", STAGES, 1, 2);
    picture_name(p, EMPTY, "empty", STAGES, 2, 1);
    for (uint32_t s = 0; s < STAGES; s++) {
        picture_mbarrier(p, FULL, s, 0, 1, 1, 0);
        picture_mbarrier(p, EMPTY, s, 0, 1, 1, 0);
    }
    for (uint32_t id = 0; id <= BEGIN_STORE; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    put_accesses(p, k);
    put_ways(p, k);
    const bool stands = ways_stand(p);
    picture_count(p, GROUP, WARPS - 1, CONSUMERS * 32);
    return stands;
}

static void what_warps_leave_out_is_told(void **state)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct picture p;
        print_message("%s\n", kernels[i].name);
        assert_int_equal(stand_still(&p, &kernels[i]), kernels[i].cause != NULL);
        if (kernels[i].cause)
            ways_expect(&p, kernels[i].cause, kernels[i].says);
        picture_deinit(&p);
    }
    (void)state;
}

/* The producer has left before its first arrival.  Of some arrival it is not known on which barrier it is: those who
 * wait get there too late. */
static void an_arrival_behind_the_wait_itself_holds_up_no_finding(void **state)
{
    static const struct kernel ways_not_known[] = {
        {.name = "those who wait may arrive",
         .cause = "WAKER_EXITED",
         .says = "Warp 4 waits on \"full\" stage 0 at kernel.cu:104, but all threads that could arrive on it have left "
                 "the kernel: warp 0, after 0 phases",
         .leaves_at_slot = true,
         .is_open = true},
        {.name = "a warp may arrive that waits for something else",
         .leaves_at_slot = true,
         .is_open = true,
         .has_bystander = true},
        {.name = "the one who left may arrive elsewhere", .leaves_at_slot = true, .is_fill_vague = true},
    };
    for (size_t i = 0; i < sizeof ways_not_known / sizeof *ways_not_known; i++) {
        const struct kernel *k = &ways_not_known[i];
        struct picture p;
        print_message("%s\n", k->name);
        assert_true(stand_still(&p, k));
        if (k->cause)
            ways_expect(&p, k->cause, k->says);
        else
            assert_false(ways_say(&p, "could arrive"));
        picture_deinit(&p);
    }
    (void)state;
}

/* The barrier at which it meets the producer shows no role that it has left.  All warps do as they should, and only a
 * count is wrong. */
static void a_warp_that_has_nothing_else_to_do_may_leave(void **state)
{
    static const struct kernel right = {.name = "nothing", .has_guest = true};
    static const struct kernel wrong = {.name = "a count is one too many", .has_guest = true, .too_many = 1};
    struct picture p;
    assert_false(stand_still(&p, &right));
    picture_deinit(&p);
    assert_true(stand_still(&p, &wrong));
    assert_false(ways_say(&p, "left the kernel, while"));
    picture_deinit(&p);
    assert_true(stand_still(&p, &wrong));
    ways_expect(&p, "ARRIVE_SHORT", "\"full\"");
    picture_deinit(&p);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_warps_leave_out_is_told),
        cmocka_unit_test(an_arrival_behind_the_wait_itself_holds_up_no_finding),
        cmocka_unit_test(a_warp_that_has_nothing_else_to_do_may_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
