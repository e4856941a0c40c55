/* ptx_lanes_test.c - walks of a warp whose lanes load from global memory, part at a branch and meet again, and exchange
 * values: shuffles, votes, and bit counts.
 *
 * Expected text: see ptx_walks.h.  "init 0x400 N" shows the number N of a lane, "?" one that is not known.
 */
#include "ptx_walks.h"

#define ALL "lanes ffffffff:"
#define LANE "mov.u32 %r0, %laneid;\n"
#define BALLOT(to, predicate) "vote.sync.ballot.b32 %" to ", %" predicate ", -1;\n"

/* ---- global memory ---- */

static void a_load_brings_what_global_memory_holds(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.u32 %r9, [%d0+8];\n" INIT("r9")), ALL " init 0x400 3\n");
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.v2.u32 {%r1, %r9}, [%d0+24];\n" INIT("r9")), ALL " init 0x400 8\n");
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.u64 %d1, [%d0+16];\nshr.u64 %d1, %d1, 32;\n"
                                         "cvt.u32.u64 %r9, %d1;\n" INIT("r9")),
                     ALL " init 0x400 6\n");
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.u8 %h0, [%d0+4];\ncvt.u32.u16 %r9, %h0;\n" INIT("r9")),
                     ALL " init 0x400 2\n");
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.s32 %d1, [%d0+8];\nsetp.eq.s64 %p0, %d1, 3;\n"
                                         "selp.u32 %r9, 1, 2, %p0;\n" INIT("r9")),
                     ALL " init 0x400 1\n");
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.v4.u32 {%r1, %r2, %r3, %r9}, [%d0+16];\n" INIT("r9")),
                     ALL " init 0x400 8\n");
}

/* The last one may be an address of shared memory. */
static void what_lies_elsewhere_is_not_known(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.global.u32 %r9, [%d0+256];\n" INIT("r9")), ALL " init 0x400 ?\n");
    ptx_walks_expect(KERNEL("ld.global.u32 %r9, [%d0];\n" INIT("r9")), ALL " init 0x400 ?\n");
    ptx_walks_expect(KERNEL(GLOBAL("d0") "ld.u32 %r9, [%d0];\n" INIT("r9")), ALL " init 0x400 ?\n");
}

/* Somebody will write the word: it tells nothing of what the loop ends with. */
static void a_word_that_a_loop_only_waits_for_is_not_believed(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(GLOBAL("d0") "AGAIN:\nld.global.u32 %r9, [%d0];\nsetp.ne.u32 %p0, %r9, 1;\n"
                                         "@%p0 bra AGAIN;\n" INIT("r9")),
                     ALL " poll, init 0x400 ?\n");
}

static void a_loop_with_accesses_loads_each_time(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(GLOBAL("d0") "AGAIN:\nld.global.u32 %r9, [%d0];\n" INIT(
                         "r9") "add.s64 %d0, %d0, 4;\n"
                               "setp.ne.u32 %p0, %r9, 3;\n@%p0 bra AGAIN;\n"),
                     ALL " init 0x400 1, init 0x400 2, init 0x400 3\n");
}

/* A search through a table that nobody writes. */
static void a_loop_that_loads_other_words_believes_them(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(GLOBAL("d0") "AGAIN:\nld.global.u32 %r9, [%d0];\nadd.s64 %d0, %d0, 4;\n"
                                         "setp.ne.u32 %p0, %r9, 3;\n@%p0 bra AGAIN;\n" INIT("r9")),
                     ALL " init 0x400 3\n");
}

/* ---- lanes that part ---- */

static void lanes_that_part_meet_again(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "mov.u32 %r9, 7;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra SIDE;\n"
                                 "mul.lo.u32 %r9, %r0, 0;\nadd.u32 %r9, %r9, 7;\nSIDE:\n" INIT("r9") INIT("r9")),
                     ALL " init 0x400 7, init 0x400 7\n");
}

/* Lanes 0 and 1 make three rounds of a loop that the other lanes skip. */
static void each_side_is_walked_by_its_lanes(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "mov.u32 %r9, 1;\nsetp.ge.u32 %p0, %r0, 2;\n@%p0 bra MEET;\n"
                                 "mov.u32 %r1, 3;\nAGAIN:\nadd.u32 %r9, %r9, 1;\nadd.s32 %r1, %r1, -1;\n"
                                 "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra AGAIN;\nMEET:\n" INIT("r9")),
                     "lanes 00000003: init 0x400 4\nlanes fffffffc: init 0x400 1\n");
}

/* On one side lanes 0 to 3 leave a loop after different numbers of rounds.  What that side writes is unknown. */
static void what_a_side_cannot_follow_is_forgotten(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "mov.u32 %r9, 1;\nmov.u32 %r8, 5;\nsetp.ge.u32 %p0, %r0, 4;\n@%p0 bra MEET;\n"
                                 "mov.u32 %r1, %r0;\nAGAIN:\nadd.u32 %r9, %r9, 1;\nadd.s32 %r1, %r1, -1;\n"
                                 "setp.gt.s32 %p1, %r1, 0;\n@%p1 bra AGAIN;\nMEET:\n" INIT("r8") INIT("r9")),
                     ALL " init 0x400 5, init 0x400 ?\n");
}

/* Lane 0 initializes alone, and is followed in the walk of the others for their shuffle.  They do not poll. */
static void a_side_of_a_followed_lane_leaves_only_its_registers(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(GLOBAL("d0") LANE "mov.u32 %r9, 1;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 " INIT(
                         "r9") "@!%p0 bra MEET;\n"
                               "AGAIN:\nld.global.u32 %r1, [%d0];\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra AGAIN;\n"
                               "mov.u32 %r9, 2;\nMEET:\nshfl.sync.idx.b32 %r8, %r9, 0, 31, -1;\n" INIT("r8")
                                   INIT("r9")),
                     "lanes 00000001: init 0x400 1, poll, init 0x400 2, init 0x400 2\n"
                     "lanes fffffffe: init 0x400 2, init 0x400 1\n");
}

static void lanes_that_exchange_values_on_a_side_stay_apart(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "mov.u32 %r9, 1;\nsetp.ge.u32 %p0, %r0, 2;\n@%p0 bra MEET;\n"
                                 "shfl.sync.idx.b32 %r1, %r0, 0, 31, 3;\nMEET:\n" INIT("r9")),
                     "lanes 00000003: init 0x400 1\nlanes fffffffc: init 0x400 1\n");
}

static void lanes_with_accesses_of_their_own_stay_apart(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "mov.u32 %r9, 1;\nsetp.ge.u32 %p0, %r0, 2;\n@%p0 bra MEET;\n" INIT(
                         "r9") "mov.u32 %r9, 2;\nMEET:\n" INIT("r9")),
                     "lanes 00000003: init 0x400 1, init 0x400 2\nlanes fffffffc: init 0x400 1\n");
}

/* Lane 0 leaves the kernel before its warp elects a lane: then it is the lowest of the others.  Only once it is lane 0.
 */
static void the_lowest_lane_that_is_left_is_elected(void **state)
{
    (void)state;
    ptx_walks_expect(
        KERNEL(LANE "mov.u32 %r9, 5;\nelect.sync %r1|%p1, -1;\n@%p1 " INIT(
            "r9") "setp.eq.u32 %p0, %r0, 0;\n@%p0 ret;\nelect.sync %r1|%p2, -1;\nmov.u32 %r9, 6;\n@%p2 " INIT("r9")),
        "lanes 00000001: init 0x400 5\nlanes 00000002: init 0x400 6\nlanes fffffffc:\n");
}

/* ---- what lanes tell each other ---- */

static void shuffles_bring_what_other_lanes_hold(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "shfl.sync.idx.b32 %r9, %r0, 5, 31, -1;\n" INIT("r9")), ALL " init 0x400 5\n");
    ptx_walks_expect(KERNEL(LANE "shfl.sync.up.b32 %r1, %r0, 1, 0, -1;\nsub.u32 %r9, %r0, %r1;\n" INIT("r9")),
                     "lanes 00000001: init 0x400 0\nlanes fffffffe: init 0x400 1\n");
    ptx_walks_expect(KERNEL(LANE "shfl.sync.down.b32 %r1, %r0, 30, 31, -1;\nsub.u32 %r9, %r1, %r0;\n" INIT("r9")),
                     "lanes 00000003: init 0x400 30\nlanes fffffffc: init 0x400 0\n");
    ptx_walks_expect(KERNEL(LANE "shfl.sync.bfly.b32 %r1, %r0, 31, 31, -1;\nadd.u32 %r9, %r1, %r0;\n" INIT("r9")),
                     ALL " init 0x400 31\n");
    ptx_walks_expect(KERNEL(LANE "shfl.sync.idx.b32 %r1, %r0, 1, 0x101f, -1;\nmin.u32 %r9, %r1, 2;\n" INIT("r9")),
                     "lanes 0000ffff: init 0x400 1\nlanes ffff0000: init 0x400 2\n");
}

/* The sum of 0 to 31, as a scheduler of tiles adds up the tiles of its groups. */
static void a_sum_over_the_warp_is_known(void **state)
{
#define ADD(distance)                                                                        \
    "shfl.sync.up.b32 %r1, %r9, " distance ", 0, -1;\nsetp.lt.u32 %p0, %r0, " distance ";\n" \
    "selp.b32 %r1, 0, %r1, %p0;\nadd.u32 %r9, %r9, %r1;\n"
    (void)state;
    ptx_walks_expect(KERNEL(LANE "mov.u32 %r9, %r0;\n" ADD("1") ADD("2") ADD("4") ADD("8")
                                ADD("16") "shfl.sync.idx.b32 %r9, %r9, 31, 31, -1;\n" INIT("r9")),
                     ALL " init 0x400 496\n");
}

static void a_ballot_has_a_bit_for_each_lane(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "setp.gt.u32 %p0, %r0, 11;\n" BALLOT("r1", "p0") "popc.b32 %r9, %r1;\n" INIT("r9")),
                     ALL " init 0x400 20\n");
    ptx_walks_expect(
        KERNEL(LANE "setp.gt.u32 %p0, %r0, 11;\n" BALLOT("r1", "p0") "brev.b32 %r1, %r1;\n"
                                                                     "bfind.shiftamt.u32 %r9, %r1;\n" INIT("r9")),
        ALL " init 0x400 12\n");
    ptx_walks_expect(KERNEL(LANE "setp.lt.u32 %p0, %r0, 11;\n" BALLOT("r1", "p0") "clz.b32 %r9, %r1;\n" INIT("r9")),
                     ALL " init 0x400 21\n");
}

/* One lane says no. */
static void a_vote_counts_every_lane(void **state)
{
#define VOTE(of)                                                                                                     \
    KERNEL(LANE "setp.ne.u32 %p0, %r0, 9;\nvote.sync." of ".pred %p1, %p0, -1;\nselp.u32 %r9, 1, 2, %p1;\n" INIT("r" \
                                                                                                                 "9"))
    (void)state;
    ptx_walks_expect(VOTE("all"), ALL " init 0x400 2\n");
    ptx_walks_expect(VOTE("any"), ALL " init 0x400 1\n");
    ptx_walks_expect(VOTE("uni"), ALL " init 0x400 2\n");
}

/* %r1 is the lane's number less 5.  Nothing is known in the last three rows: where some lanes take part, of what memory
 * holds, and of numbers of 64 bits. */
static void lanes_compare_and_reduce_what_they_have(void **state)
{
#define COMBINE(how) KERNEL(LANE "sub.u32 %r1, %r0, 5;\n" how INIT("r9"))
#define REDUCE(how, show) COMBINE("redux.sync." how " %r2, %r1, -1;\n" show)
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {REDUCE("add.u32", "mov.u32 %r9, %r2;\n"), ALL " init 0x400 336\n"},
        {REDUCE("max.s32", "mov.u32 %r9, %r2;\n"), ALL " init 0x400 26\n"},
        {REDUCE("max.u32", "add.u32 %r9, %r2, 3;\n"), ALL " init 0x400 2\n"},
        {REDUCE("min.s32", "add.u32 %r9, %r2, 7;\n"), ALL " init 0x400 2\n"},
        {REDUCE("min.u32", "add.u32 %r9, %r2, 4;\n"), ALL " init 0x400 4\n"},
        {REDUCE("and.b32", "add.u32 %r9, %r2, 1;\n"), ALL " init 0x400 1\n"},
        {REDUCE("or.b32", "add.u32 %r9, %r2, 9;\n"), ALL " init 0x400 8\n"},
        {REDUCE("xor.b32", "add.u32 %r9, %r2, 40;\n"), ALL " init 0x400 8\n"},
        {COMBINE("and.b32 %r2, %r0, 3;\nmatch.any.sync.b32 %r3, %r2, -1;\npopc.b32 %r9, %r3;\n"),
         ALL " init 0x400 8\n"},
        {COMBINE("match.all.sync.b32 %r2|%p0, %r1, -1;\nselp.u32 %r9, 3, 5, %p0;\n"), ALL " init 0x400 5\n"},
        {COMBINE("mov.u32 %r2, 7;\nmatch.all.sync.b32 %r3|%p0, %r2, -1;\nselp.u32 %r9, 3, 5, %p0;\n"),
         ALL " init 0x400 3\n"},
        {COMBINE("redux.sync.add.u32 %r9, %r1, 0xffff;\n"), ALL " init 0x400 ?\n"},
        {COMBINE("ld.global.u32 %r2, [%d0];\nredux.sync.add.u32 %r9, %r2, -1;\n"), ALL " init 0x400 ?\n"},
        {COMBINE("mov.u64 %d1, 7;\nmatch.any.sync.b64 %r9, %d1, -1;\n"), ALL " init 0x400 ?\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        ptx_walks_expect(rows[i].text, rows[i].expected);
    }
}

/* Lanes 3 and on leave behind the sum, and are walked from the start by themselves. */
static void lanes_that_part_later_are_told_the_same(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "shfl.sync.idx.b32 %r9, %r0, 5, 31, -1;\nsetp.lt.u32 %p0, %r0, 3;\n"
                                 "@%p0 bra DONE;\n" INIT("r9") "DONE:\n" INIT("r9")),
                     "lanes 00000007: init 0x400 5\nlanes fffffff8: init 0x400 5, init 0x400 5\n");
}

static void lanes_that_have_parted_exchange_values_where_they_meet(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE "setp.lt.u32 %p0, %r0, 3;\nmov.u32 %r9, 1;\n@%p0 bra DONE;\n" INIT(
                         "r9") "DONE:\n"
                               "shfl.sync.idx.b32 %r9, %r0, 5, 31, -1;\n" INIT("r9")),
                     "lanes 00000007: init 0x400 5\nlanes fffffff8: init 0x400 1, init 0x400 5\n");
}

/* Lane 1 branches off before %r9 becomes 7, and lane 2 behind that.  Both join the others at DONE, where shuffles show
 * that lane 1 has 1 and lane 2 has 7. */
static void a_lane_that_comes_back_has_what_was_written_before_it_left(void **state)
{
    (void)state;
    ptx_walks_expect(KERNEL(LANE
                            "mov.u32 %r9, 1;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 bra DONE;\nmov.u32 %r9, 7;\n"
                            "setp.eq.u32 %p1, %r0, 2;\n@%p1 bra DONE;\n" INIT(
                                "r9") "DONE:\n"
                                      "shfl.sync.idx.b32 %r8, %r9, 1, 31, -1;\nshfl.sync.idx.b32 %r7, %r9, 2, 31, -1;\n"
                                      "shl.b32 %r8, %r8, 4;\nadd.u32 %r9, %r8, %r7;\n" INIT("r9")),
                     "lanes fffffff9: init 0x400 7, init 0x400 23\nlanes 00000002: init 0x400 ?\n"
                     "lanes 00000004: init 0x400 23\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_brings_what_global_memory_holds),
        cmocka_unit_test(what_lies_elsewhere_is_not_known),
        cmocka_unit_test(a_word_that_a_loop_only_waits_for_is_not_believed),
        cmocka_unit_test(a_loop_with_accesses_loads_each_time),
        cmocka_unit_test(a_loop_that_loads_other_words_believes_them),
        cmocka_unit_test(lanes_that_part_meet_again),
        cmocka_unit_test(each_side_is_walked_by_its_lanes),
        cmocka_unit_test(what_a_side_cannot_follow_is_forgotten),
        cmocka_unit_test(a_side_of_a_followed_lane_leaves_only_its_registers),
        cmocka_unit_test(lanes_that_exchange_values_on_a_side_stay_apart),
        cmocka_unit_test(lanes_with_accesses_of_their_own_stay_apart),
        cmocka_unit_test(the_lowest_lane_that_is_left_is_elected),
        cmocka_unit_test(shuffles_bring_what_other_lanes_hold),
        cmocka_unit_test(a_sum_over_the_warp_is_known),
        cmocka_unit_test(a_ballot_has_a_bit_for_each_lane),
        cmocka_unit_test(a_vote_counts_every_lane),
        cmocka_unit_test(lanes_compare_and_reduce_what_they_have),
        cmocka_unit_test(lanes_that_part_later_are_told_the_same),
        cmocka_unit_test(lanes_that_have_parted_exchange_values_where_they_meet),
        cmocka_unit_test(a_lane_that_comes_back_has_what_was_written_before_it_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
