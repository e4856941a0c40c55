/* named_ids_test.c - groups of warps that meet at named barriers, of which some name another barrier than the one that
 * is meant for them; and kernels that hang at named barriers because somebody does not come.
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

enum { GROUP = 4, GROUPS = 3, WARPS = GROUPS * GROUP, ROUNDS = 3, PAIR = 256, ALL = WARPS * 32 };
enum { A = 1, B }; /* warpgroups; warpgroup 0 leads */
/* Named barriers: that of each warpgroup, and one that is meant for something else. */
enum { ID_A = A, ID_B = B, ID_OTHER, IDS };
/* Accesses of the picture: instructions that take their barrier from a register. */
enum { TAKES_TURN, GIVES_TURN, BEGINS, MEETS_A, MEETS_B, FOLLOWS, ACCESSES };

static struct way ways[WARPS];

static void use(struct way *way, uint8_t kind, uint32_t access, uint32_t id, uint32_t threads)
{
    way_add(way, kind, id, threads)->access = access;
}

static void begin(struct picture *p)
{
    static const uint8_t kinds[ACCESSES] = {[GIVES_TURN] = WSDBG_ACCESS_NAMED_ARRIVE};
    picture_init(p, 1, WARPS, 32);
    for (uint32_t id = 0; id < IDS; id++)
        picture_object(p, WSDBG_BARRIER_NAMED, id);
    for (uint32_t i = 0; i < ACCESSES; i++)
        picture_access(p, kinds[i] ? kinds[i] : WSDBG_ACCESS_NAMED_SYNC, 0, 0, 0, WSDBG_LANES_ALL);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w, .lanes = UINT32_MAX};
}

/* Lets all walks run, and expects a cause and words of its sentence.  "": they hang, and no id is blamed; NULL: they
 * finish. */
static void expect(struct picture *p, const char *cause, const char *says)
{
    ways_put(p, ways, WARPS);
    assert_int_equal(ways_stand(p), says != NULL);
    if (says && *says)
        ways_expect(p, cause, says);
    else if (says)
        assert_false(ways_say(p, " use named barrier"));
    picture_deinit(p);
}

/* ---- two warpgroups that take turns ---- */

struct turns {
    const char *name, *cause, *says;       /* see expect */
    uint32_t takes[GROUPS], gives[GROUPS]; /* barriers that A and B name */
    uint32_t keeps;                        /* the warpgroup that does not give its second turn back; 0 = none */
};

static const struct turns turns[] = {
    {"each takes its turn", NULL, NULL, {0, ID_A, ID_B}, {0, ID_B, ID_A}, 0},
    {"B gives its turn at another barrier",
     "NAMED_COUNT",
     "Warps 8-11 use named barrier 3 at kernel.cu:201, to which nobody else comes. With 1 there, the kernel would "
     "finish.",
     {0, ID_A, ID_B},
     {0, ID_B, ID_OTHER},
     0},
    {"B waits for its turn at A's barrier",
     "NAMED_ID_SHARED",
     "Warps 8-11 use named barrier 1 at kernel.cu:200, which other rounds use, too. With 2 there, the kernel would "
     "finish.",
     {0, ID_A, ID_A},
     {0, ID_B, ID_A},
     0},
    {"B does not give a turn back", "", "", {0, ID_A, ID_B}, {0, ID_B, ID_A}, B},
};

/* The first turn is A's. */
static void take_turns(struct way *way, const struct turns *k, uint32_t group)
{
    if (group == B)
        use(way, WSDBG_ACCESS_NAMED_ARRIVE, BEGINS, ID_A, PAIR);
    for (uint32_t i = 0; i < ROUNDS && group; i++) {
        use(way, WSDBG_ACCESS_NAMED_SYNC, TAKES_TURN, k->takes[group], PAIR);
        if (i != 1 || k->keeps != group)
            use(way, WSDBG_ACCESS_NAMED_ARRIVE, GIVES_TURN, k->gives[group], PAIR);
    }
}

static void a_warpgroup_that_names_another_id_than_its_partner_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct picture p;
        print_message("%s\n", turns[i].name);
        begin(&p);
        for (uint32_t w = 0; w < WARPS; w++)
            take_turns(&ways[w], &turns[i], w / GROUP);
        expect(&p, turns[i].cause, turns[i].says);
    }
}

/* Warp 1 announces itself to the group's meeting at a barrier that the group meets at later, with another number of
 * threads.  Its mates come to both barriers, so it seems to leave the first one out. */
static void one_warp_that_names_a_later_barrier_is_told(void **state)
{
    struct picture p;
    (void)state;
    begin(&p);
    for (uint32_t w = 0; w < 2 * GROUP; w++) {
        if (w == 1)
            use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, GIVES_TURN, ID_OTHER, PAIR);
        else
            use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, w < GROUP ? TAKES_TURN : MEETS_A, ID_A, PAIR);
        if (w != 1)
            use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, FOLLOWS, ID_OTHER, PAIR - 32);
    }
    expect(&p, "NAMED_ID_SHARED",
           "Warp 1 uses named barrier 3 at kernel.cu:201, which other rounds use, too. With 1 there, the kernel would "
           "finish.");
}

/* The rows of the warps say where other lanes of theirs stand. */
static void a_part_of_a_warp_shows_the_barrier(void **state)
{
    struct picture p;
    (void)state;
    begin(&p);
    for (uint32_t w = 0; w < WARPS; w++)
        take_turns(&ways[w], &turns[1], w / GROUP);
    ways_put(&p, ways, WARPS);
    assert_true(ways_stand(&p));
    for (uint32_t w = GROUP; w < WARPS; w++)
        p.snapshot.warps[w].state = WSDBG_WARP_RECONVERGE;
    ways_expect(&p, turns[1].cause, turns[1].says);
    picture_deinit(&p);
}

/* Others may be meant to come to that barrier, and leave it out. */
static void an_id_is_doubted_if_code_that_nobody_executes_names_it_too(void **state)
{
    struct picture p;
    (void)state;
    begin(&p);
    picture_access(&p, WSDBG_ACCESS_NAMED_SYNC, ID_OTHER, 1, PAIR, WSDBG_LANES_ALL);
    for (uint32_t w = 0; w < WARPS; w++)
        take_turns(&ways[w], &turns[1], w / GROUP);
    ways_put(&p, ways, WARPS);
    assert_true(ways_stand(&p));
    ways_expect(&p, "ARRIVE_MISSING", "Warps 4-7 come to named barrier 1 3 times");
    picture_deinit(&p);
}

/* ---- a warpgroup that two others meet ---- */

/* Warpgroup 0 meets both at one barrier, or each at its own.  At first they meet at barrier 1, by an instruction of
 * their own. */
struct meeting {
    const char *name, *cause, *says; /* see expect */
    bool together;
    uint32_t ids[GROUPS]; /* that A and B name in their loop */
    uint32_t silent;      /* the warpgroup that leaves out its last meeting; 0 = none */
};

static const struct meeting meetings[] = {
    {"all meet at one barrier", NULL, NULL, true, {0, ID_A, ID_A}, 0},
    {"A and B name another one",
     "NAMED_COUNT",
     "Warps 4-11 use named barrier 3 at kernel.cu:205, to which nobody else comes. With 1 there, the kernel would "
     "finish.",
     true,
     {0, ID_OTHER, ID_OTHER},
     0},
    {"A names another one, and B does not",
     "NAMED_COUNT",
     "Warps 4-7 use named barrier 3 at kernel.cu:205, to which nobody else comes",
     true,
     {0, ID_OTHER, ID_A},
     0},
    {"each has its own", NULL, NULL, false, {0, ID_A, ID_B}, 0},
    {"A and B both name a third one",
     "NAMED_ID_SHARED",
     "Warps 4-11 use named barrier 3 at kernel.cu:205, though not all of them meet in the same rounds. With another "
     "one for each group, as 1, the kernel would finish.",
     false,
     {0, ID_OTHER, ID_OTHER},
     0},
    {"A and B both name that of A",
     "NAMED_ID_SHARED",
     "Warps 4-7 use named barrier 1 at kernel.cu:205, which other rounds use, too. With 2 there, the kernel would "
     "finish.",
     false,
     {0, ID_A, ID_A},
     0},
    {"B leaves out its last meeting", "", "", false, {0, ID_A, ID_B}, B},
    {"... at which all meet", "", "", true, {0, ID_A, ID_A}, B},
};

static void meet(struct way *way, const struct meeting *k, uint32_t group)
{
    const uint32_t threads = k->together ? ALL : PAIR;
    if (k->together)
        use(way, WSDBG_ACCESS_NAMED_SYNC, group ? BEGINS : MEETS_A, ID_A, threads);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (group == 0)
            use(way, WSDBG_ACCESS_NAMED_SYNC, MEETS_A, ID_A, threads);
        if (group == 0 && !k->together)
            use(way, WSDBG_ACCESS_NAMED_SYNC, MEETS_B, ID_B, threads);
        if (group && (group != k->silent || i + 1 < ROUNDS))
            use(way, WSDBG_ACCESS_NAMED_SYNC, FOLLOWS, k->ids[group], threads);
    }
}

static void warpgroups_of_one_instruction_that_name_a_wrong_id_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        struct picture p;
        print_message("%s\n", meetings[i].name);
        begin(&p);
        for (uint32_t w = 0; w < WARPS; w++)
            meet(&ways[w], &meetings[i], w / GROUP);
        expect(&p, meetings[i].cause, meetings[i].says);
    }
}

/* ---- an instruction that names one id for several ---- */

/* Warpgroup 0 and A are meant to meet at A's barrier twice.  The second time A names another one, where B meets itself
 * by the same instruction, or A before it, with half as many threads. */
static void an_id_that_others_of_the_instruction_keep_is_shared(void **state)
{
    (void)state;
    for (int by_itself = 0; by_itself < 2; by_itself++) {
        struct picture p;
        begin(&p);
        for (uint32_t w = 0; w < WARPS; w++) {
            if (w / GROUP != B)
                use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, w / GROUP ? BEGINS : MEETS_A, ID_A, PAIR);
            if (w / GROUP == B && !by_itself)
                use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, FOLLOWS, ID_OTHER, PAIR);
            if (w / GROUP == B && !by_itself)
                use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, FOLLOWS, ID_OTHER, PAIR);
            if (w / GROUP == A && by_itself)
                use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, FOLLOWS, ID_OTHER, PAIR / 2);
            if (w / GROUP != B)
                use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, w / GROUP ? FOLLOWS : MEETS_A, w / GROUP ? ID_OTHER : ID_A,
                    PAIR);
        }
        expect(&p, "NAMED_ID_SHARED", "Warps 4-7 use named barrier 3 at kernel.cu:205, which other rounds use, too");
    }
}

/* ---- a warp that leaves a use out ---- */

/* A tells B, which answers.  Warp 6 does not tell.  If B waited at the barrier of the answer, all would end. */
static void a_warp_that_leaves_a_use_out_shows_no_wrong_id(void **state)
{
    struct picture p;
    (void)state;
    begin(&p);
    for (uint32_t w = 0; w < WARPS; w++) {
        if (w / GROUP == A && w != A * GROUP + 2)
            use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, GIVES_TURN, ID_A, PAIR);
        if (w / GROUP)
            use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, TAKES_TURN, w / GROUP == A ? ID_B : ID_A, PAIR);
        if (w / GROUP == B)
            use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, GIVES_TURN, ID_B, PAIR);
    }
    expect(&p, "ARRIVE_MISSING", "Warp 6 never comes to named barrier 1, though warp 4 of the same warpgroup does");
}

/* ---- a warp that left before it did anything ---- */

/* A and warp 0 meet once.  Of warp 0 it is not known what it did, but it has left.  If the count were that of those who
 * come, all would end; but warp 0 may have come before, or returned too early. */
static void who_left_may_have_been_meant_to_come(void **state)
{
    struct picture p;
    (void)state;
    begin(&p);
    ways[0].is_open = true;
    p.snapshot.warps[0].state = WSDBG_WARP_EXITED;
    for (uint32_t w = GROUP; w < 2 * GROUP; w++)
        use(&ways[w], WSDBG_ACCESS_NAMED_SYNC, MEETS_A, ID_A, (GROUP + 1) * 32);
    ways_put(&p, ways, WARPS);
    assert_true(ways_stand(&p));
    picture_still(&p);
    assert_int_equal(picture_confidence_of(&p, WSDBG_CAUSE_NAMED_COUNT), -1);
    picture_deinit(&p);
}

/* ---- a warpgroup that left before its rounds were over ---- */

enum { DATA = 1, FREE, TURNS = 2, TURN_USES = 2 * TURNS * ROUNDS };

/* Each wait for a turn and each turn that is given has an instruction of its own, from `access` on. */
static void go_round(struct way *way, uint32_t group, uint32_t round, uint32_t access)
{
    way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(DATA, 0), round & 1);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        use(way, WSDBG_ACCESS_NAMED_SYNC, access++, group == A ? ID_A : ID_B, PAIR);
        use(way, WSDBG_ACCESS_NAMED_ARRIVE, access++, group == A ? ID_B : ID_A, PAIR);
    }
    way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FREE, 0), 1);
}

static void fill(struct way *way)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        way_add(way, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(DATA, 0), 1);
        if (i + 1 < ROUNDS)
            way_add(way, WSDBG_ACCESS_WAIT, MBARRIER_AT(FREE, 0), i & 1);
    }
}

static void begin_filled(struct picture *p)
{
    begin(p);
    for (uint32_t i = 0; i < 2 * TURN_USES; i++)
        picture_access(p, i & 1 ? WSDBG_ACCESS_NAMED_ARRIVE : WSDBG_ACCESS_NAMED_SYNC, 0, 0, 0, WSDBG_LANES_ALL);
    picture_name(p, DATA, "data", 1, 0, 0);
    picture_name(p, FREE, "free", 1, 0, 0);
    picture_mbarrier(p, DATA, 0, 0, 32, 32, 0);
    picture_mbarrier(p, FREE, 0, 0, PAIR, PAIR, 0);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(DATA, 0), 32);
    way_add(&ways[0], WSDBG_ACCESS_INIT, MBARRIER_AT(FREE, 0), PAIR);
    for (uint32_t w = 0; w < WARPS; w++)
        way_add(&ways[w], WSDBG_ACCESS_NAMED_SYNC, 0, ALL);
}

/* A and B take turns in each round.  B leaves before its last round, or once the data of that is there.  If an
 * instruction of A named the other barrier, all would end. */
static void who_left_before_its_rounds_were_over_owes_its_uses(void **state)
{
    (void)state;
    for (int waits_for_data = 0; waits_for_data < 2; waits_for_data++) {
        struct picture p;
        begin_filled(&p);
        fill(&ways[0]);
        for (uint32_t w = GROUP; w < WARPS; w++) {
            const uint32_t group = w / GROUP, rounds = group == B ? ROUNDS - 1 : ROUNDS;
            if (group == B)
                use(&ways[w], WSDBG_ACCESS_NAMED_ARRIVE, BEGINS, ID_A, PAIR);
            for (uint32_t i = 0; i < rounds; i++)
                go_round(&ways[w], group, i, ACCESSES + (group - A) * TURN_USES + 2 * TURNS * i);
            if (group == B && waits_for_data)
                way_add(&ways[w], WSDBG_ACCESS_WAIT, MBARRIER_AT(DATA, 0), rounds & 1);
        }
        expect(&p, "WAKER_EXITED", "arps 8-11");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warpgroup_that_names_another_id_than_its_partner_is_told),
        cmocka_unit_test(one_warp_that_names_a_later_barrier_is_told),
        cmocka_unit_test(a_part_of_a_warp_shows_the_barrier),
        cmocka_unit_test(an_id_is_doubted_if_code_that_nobody_executes_names_it_too),
        cmocka_unit_test(warpgroups_of_one_instruction_that_name_a_wrong_id_are_told),
        cmocka_unit_test(an_id_that_others_of_the_instruction_keep_is_shared),
        cmocka_unit_test(a_warp_that_leaves_a_use_out_shows_no_wrong_id),
        cmocka_unit_test(who_left_may_have_been_meant_to_come),
        cmocka_unit_test(who_left_before_its_rounds_were_over_owes_its_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
