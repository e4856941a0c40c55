/* ptx_words_test.c - words that warps hand to each other through shared memory, in the walks of two warps: a role that
 * one stores and the other one loads, stores whose order is not known, and words that no walk stores.
 *
 * Expected text: see ptx_walks.h.  Shared memory at 0x408 is `bars[1]`.
 */
#include "ptx_walks.h"

/* Warp 0 does the first, warp 1 the second.  %r9 is the number of the barrier's threads that "init" shows. */
#define TWO_WARPS(first, second) \
    KERNEL("mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@!%p0 bra WORKER;\n" first "ret;\nWORKER:\n" second)
#define SYNC "barrier.sync 1;\n"
#define STORE(first, second) "st.shared.v2.b32 [bars+8], {" first ", " second "};\n"
#define LOAD "ld.shared.b8 %h0, [bars+13];\ncvt.u32.u16 %r9, %h0;\n"

/* Until the role is 2. */
#define ROLES "AGAIN:\n" SYNC LOAD "setp.eq.u32 %p1, %r9, 2;\n@%p1 bra DONE;\n" INIT("r9") SYNC "bra AGAIN;\nDONE:\n"

/* The byte at 0x40d is 1, then 2. */
static void a_role_that_another_warp_stored_decides_the_way(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(STORE("0", "0x100") SYNC SYNC STORE("0x02020202", "0x02020202") SYNC, ROLES),
                            NULL,
                            "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                            "warp 1 lanes ffffffff: sync 1, init 0x400 1, sync 1, sync 1\n");
}

/* A branch to DONE2 that nobody can decide. */
#define LOST "ld.global.u32 %r1, [%d0];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra DONE2;\n"

#define MEET "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
static void the_cluster_barrier_orders_a_store_too(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS("st.shared.u32 [bars+12], 0x500;\n" MEET,
                                      MEET "AGAIN:\n" LOAD INIT("r9") "setp.ne.u32 %p1, %r9, 5;\n@%p1 bra AGAIN;\n"),
                            NULL,
                            "warp 0 lanes ffffffff: step 13, step 14\n"
                            "warp 1 lanes ffffffff: step 13, step 14, init 0x400 5\n");
}

static void of_two_stores_the_last_one_counts(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(
        TWO_WARPS(STORE("0", "0x100") STORE("0", "0x300") SYNC SYNC STORE("0", "0x200") SYNC, ROLES), NULL,
        "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
        "warp 1 lanes ffffffff: sync 1, init 0x400 3, sync 1, sync 1\n");
}

static void a_store_that_no_barrier_orders_tells_nothing(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(SYNC STORE("0", "0x100"), ROLES), NULL,
                            "warp 0 lanes ffffffff: sync 1\n"
                            "warp 1 lanes ffffffff: sync 1 lost\n");
    ptx_walks_expect_of_two(TWO_WARPS(STORE("0", "0x100") "barrier.sync 2;\n", ROLES), NULL,
                            "warp 0 lanes ffffffff: sync 2\n"
                            "warp 1 lanes ffffffff: sync 1 lost\n");
}

static void a_store_of_what_is_not_known_tells_nothing(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS("ld.global.u32 %r1, [%d0];\n" STORE("0", "0x100") STORE("0", "%r1") SYNC, ROLES),
                            NULL,
                            "warp 0 lanes ffffffff: sync 1\n"
                            "warp 1 lanes ffffffff: sync 1 lost\n");
}

/* A tile of data that takes more stores than are kept: 80 words of each lane, with gaps between them. */
#define TILE                                                                                         \
    "ld.global.u32 %r1, [%d0];\nmad.lo.u32 %r2, %r0, 1024, 0x1000;\nadd.u32 %r3, %r2, 960;\nFILL:\n" \
    "st.shared.u32 [%r2], %r1;\nadd.u32 %r2, %r2, 12;\nsetp.lt.u32 %p2, %r2, %r3;\n@%p2 bra FILL;\n"
static void a_tile_of_data_hides_no_word(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(TILE STORE("0", "0x100") SYNC SYNC STORE("0x02020202", "0x02020202") SYNC, ROLES),
                            NULL,
                            "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                            "warp 1 lanes ffffffff: sync 1, init 0x400 1, sync 1, sync 1\n");
}

/* What an atomic leaves is not known.  Of one at an address that is not known, no word is known behind it. */
#define ROLES_AND(atomic) \
    TWO_WARPS(STORE("0", "0x100") atomic SYNC SYNC STORE("0x02020202", "0x02020202") SYNC, ROLES)
static void an_atomic_changes_the_word_that_it_names(void **state)
{
    static const char told[] = "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                               "warp 1 lanes ffffffff: sync 1, init 0x400 1, sync 1, sync 1\n";
    static const char lost[] = "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                               "warp 1 lanes ffffffff: sync 1 lost\n";
    (void)state;
    ptx_walks_expect_of_two(ROLES_AND("atom.shared.add.u32 %r1, [bars+16], 1;\n"), NULL, told);
    ptx_walks_expect_of_two(ROLES_AND("atom.shared.add.u32 %r1, [bars+12], 1;\n"), NULL, lost);
    ptx_walks_expect_of_two(ROLES_AND("ld.global.u32 %r2, [%d0];\natom.shared.add.u32 %r1, [%r2], 1;\n"), NULL, lost);
    ptx_walks_expect_of_two(ROLES_AND("ld.global.u64 %d1, [%d0];\natom.add.u32 %r1, [%d1], 1;\n"), NULL, lost);
}

/* Warp 0 is walked first, and knows only its own store; warp 1 stores something else behind it. */
static void a_later_warp_may_prove_an_earlier_one_wrong(void **state)
{
    (void)state;
    assert_true(ptx_walks_were_wrong(
        TWO_WARPS(STORE("0", "0x200") SYNC SYNC ROLES, SYNC STORE("0", "0x300") SYNC "barrier.sync 1;\n")));
    assert_false(ptx_walks_were_wrong(TWO_WARPS(STORE("0", "0x200") SYNC SYNC ROLES, SYNC SYNC SYNC)));
}

/* Warp 1 comes to a branch that nobody can decide.  What it stores behind it is not known; if there is no store,
 * nothing of what warp 0 was told is doubtful. */
static void a_walk_that_is_lost_makes_words_doubtful_only_where_it_may_store(void **state)
{
    (void)state;
    assert_false(ptx_walks_were_wrong(TWO_WARPS(STORE("0", "0x200") SYNC SYNC ROLES, LOST SYNC "DONE2:\n" SYNC)));
    assert_true(ptx_walks_were_wrong(
        TWO_WARPS(STORE("0", "0x200") SYNC SYNC ROLES, LOST SYNC STORE("0", "0x300") "DONE2:\n" SYNC)));
}

/* A queue of tiles with one slot: warp 1 puts tiles 7 and 8 there and then 0, the end; warp 0, which is walked first,
 * takes them.  Warp 1 waits until the slot is empty before it stores again. */
#define WAIT(bar, parity, label) \
    label ":\nmbarrier.try_wait.parity.shared.b64 %p3, [" bar "], " parity ";\n@!%p3 bra " label ";\n"
#define ARRIVE(bar) "mbarrier.arrive.shared.b64 %d4, [" bar "];\n"
#define PUT(tile, last) "st.shared.v2.u32 [bars+16], {" tile ", " last "};\n" ARRIVE("bars")
#define TAKE_TILES                                                                                              \
    "mov.u32 %r5, 0;\nAGAIN:\n" WAIT("bars", "%r5", "FULL") "ld.shared.v2.u32 {%r9, %r6}, [bars+16];\n" ARRIVE( \
        "bars+8") "setp.eq.u32 %p1, %r6, 0;\n@%p1 bra DONE;\n" INIT("r9") "xor.b32 %r5, %r5, 1;\nbra AGAIN;\nDONE:\n"

static void a_queue_that_mbarriers_guard_is_followed(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(TAKE_TILES, PUT("7", "1") WAIT("bars+8", "0", "ONE") PUT("8", "1")
                                                      WAIT("bars+8", "1", "TWO") PUT("0", "0")),
                            NULL,
                            "warp 0 lanes ffffffff: wait 0x400 parity 0, arrive 0x408, init 0x400 7, wait 0x400 parity "
                            "1, arrive 0x408, init 0x400 8, wait 0x400 parity 0, arrive 0x408\n"
                            "warp 1 lanes ffffffff: arrive 0x400, wait 0x408 parity 0, arrive 0x400, wait 0x408 parity "
                            "1, arrive 0x400\n");
}

/* Nothing keeps the second tile from coming before the first one is taken. */
static void a_queue_without_a_wait_for_the_slot_tells_nothing(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(TAKE_TILES, PUT("7", "1") PUT("8", "1")), NULL,
                            "warp 0 lanes ffffffff: wait 0x400 parity 0, arrive 0x408 lost\n"
                            "warp 1 lanes ffffffff: arrive 0x400, arrive 0x400\n");
}

/* The same queue, guarded by named barriers: a warp syncs at 1 to take a tile, and arrives at 2 to free the slot. */
#define PUT_NAMED(tile, last) "st.shared.v2.u32 [bars+16], {" tile ", " last "};\nbarrier.arrive 1, 64;\n"
#define TAKE_NAMED(frees)                                                                                       \
    "AGAIN:\nbarrier.sync 1, 64;\nld.shared.v2.u32 {%r9, %r6}, [bars+16];\n" frees "setp.eq.u32 %p1, %r6, 0;\n" \
    "@%p1 bra DONE;\n" INIT("r9") "bra AGAIN;\nDONE:\n"
#define FREES "barrier.arrive 2, 64;\n"
#define IS_FREE "barrier.sync 2, 64;\n"

/* At the end the slot holds the last tile, 0. */
static bool shows_none(void *context, uint32_t address, uint32_t *value)
{
    (void)context;
    *value = 0;
    return address == 0x410 || address == 0x414;
}

static void a_queue_that_named_barriers_guard_is_followed(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(
        TWO_WARPS(PUT_NAMED("7", "1") IS_FREE PUT_NAMED("8", "1") IS_FREE PUT_NAMED("0", "0"), TAKE_NAMED(FREES)),
        shows_none,
        "warp 0 lanes ffffffff: step 12, sync 2, step 12, sync 2, step 12\n"
        "warp 1 lanes ffffffff: sync 1, step 12, init 0x400 7, sync 1, step 12, init 0x400 8, sync 1, "
        "step 12\n");
}

/* Nothing keeps the second tile from coming before the first one is taken: both warps only meet before both. */
static void a_barrier_that_the_reader_has_passed_guards_no_slot(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS("st.shared.v2.u32 [bars+16], {7, 1};\nbarrier.sync 1, 64;\n"
                                      "st.shared.v2.u32 [bars+16], {8, 1};\n",
                                      TAKE_NAMED("")),
                            NULL,
                            "warp 0 lanes ffffffff: sync 1\n"
                            "warp 1 lanes ffffffff: sync 1 lost\n");
}

/* Lane 0 stores; its warp comes to a barrier; all lanes load. */
static void lanes_of_a_warp_come_to_a_named_barrier_together(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(
        TWO_WARPS("setp.ne.u32 %p1, %r0, 0;\n@%p1 bra MET;\nst.shared.v2.u32 [bars+16], {7, 1};\n" INIT(
                      "r0") "MET:\nbarrier.arrive 1, 64;\nAGAIN0:\nld.shared.v2.u32 {%r9, %r6}, [bars+16];\n" INIT("r9")
                      IS_FREE "setp.eq.u32 %p2, %r6, 0;\n@%p2 bra AGAIN0;\n",
                  SYNC),
        shows_none,
        "warp 0 lanes 00000001: init 0x400 0, step 12, init 0x400 7, sync 2\n"
        "warp 0 lanes fffffffe: step 12, init 0x400 7, sync 2\n"
        "warp 1 lanes ffffffff: sync 1\n");
}

static bool shows_1(void *context, uint32_t address, uint32_t *value)
{
    (void)context;
    *value = 0x100;
    return address == 0x40c;
}

/* The high half of such an address is not known. */
static void a_generic_address_may_lead_to_shared_memory(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(STORE("0", "0x300") SYNC,
                                      SYNC "mov.u64 %d5, bars;\ncvta.shared.u64 %d6, %d5;\nld.u8 %h0, [%d6+13];\n"
                                           "cvt.u32.u16 %r9, %h0;\n" INIT("r9")),
                            shows_1,
                            "warp 0 lanes ffffffff: sync 1\n"
                            "warp 1 lanes ffffffff: sync 1, init 0x400 1\n");
    ptx_walks_expect_of_two(TWO_WARPS(STORE("0", "0x100") SYNC SYNC STORE("0", "0x200") SYNC,
                                      "mov.u64 %d5, bars;\ncvta.shared.u64 %d6, %d5;\nAGAIN:\n" SYNC
                                      "ld.s8 %h0, [%d6+13];\ncvt.u32.u16 %r9, %h0;\nsetp.eq.u32 %p1, %r9, 2;\n"
                                      "@%p1 bra DONE;\n" INIT("r9") SYNC "bra AGAIN;\nDONE:\n"),
                            NULL,
                            "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                            "warp 1 lanes ffffffff: sync 1, init 0x400 1, sync 1, sync 1\n");
}

#define GENERIC_BARS "mov.u64 %d5, bars;\ncvta.shared.u64 %d6, %d5;\n"
#define PUT_GENERIC(role) "st.u32 [%d6+12], " role ";\n"
#define GENERIC_ROLES(address)             \
    "AGAIN:\n" SYNC "ld.s8 %h0, [" address \
    "];\ncvt.u32.u16 %r9, %h0;\nsetp.eq.u32 %p1, %r9, 2;\n@%p1 bra DONE;\n" INIT("r9") SYNC "bra AGAIN;\nDONE:\n"

/* What is stored by the generic way counts, as far as it is known where it goes. */
static void a_store_to_a_generic_address_may_be_to_shared_memory(void **state)
{
    static const char known[] = "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                                "warp 1 lanes ffffffff: sync 1, init 0x400 1, sync 1, sync 1\n",
                      lost[] = "warp 0 lanes ffffffff: sync 1, sync 1, sync 1\n"
                               "warp 1 lanes ffffffff: sync 1 lost\n";
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(GENERIC_BARS PUT_GENERIC("0x100") SYNC SYNC PUT_GENERIC("0x200") SYNC,
                                      GENERIC_BARS GENERIC_ROLES("%d6+13")),
                            NULL, known);
    /* All loads are from shared memory. */
    ptx_walks_expect_of_two(TWO_WARPS(STORE("0", "0x100") GENERIC_BARS PUT_GENERIC("0x300")
                                          SYNC SYNC STORE("0x02020202", "0x02020202") SYNC,
                                      ROLES),
                            NULL, known);
    /* Behind the store is another one, nobody knows where. */
    ptx_walks_expect_of_two(
        TWO_WARPS(GENERIC_BARS PUT_GENERIC(
                      "0x100") "ld.global.u64 %d7, [%d0];\nst.u32 [%d7], 5;\n" SYNC SYNC PUT_GENERIC("0x200") SYNC,
                  GENERIC_BARS GENERIC_ROLES("%d6+13")),
        NULL, lost);
    /* ... or at an address that may be one of shared memory, as the test says nothing of where that is. */
    ptx_walks_expect_of_two(TWO_WARPS(GENERIC_BARS PUT_GENERIC("0x100")
                                          GLOBAL("d7") "st.u32 [%d7], 5;\n" SYNC SYNC PUT_GENERIC("0x200") SYNC,
                                      GENERIC_BARS GENERIC_ROLES("%d6+13")),
                            NULL, lost);
}

/* The present value counts once: later rounds may have had another one. */
static void a_word_that_no_walk_stores_is_taken_as_it_is_now_the_first_time(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(TWO_WARPS(SYNC, ROLES), shows_1,
                            "warp 0 lanes ffffffff: sync 1\n"
                            "warp 1 lanes ffffffff: sync 1, init 0x400 1, sync 1, sync 1 lost\n");
}

/* The loop has nothing but the load, and would not end with the present value. */
static void a_poll_ends(void **state)
{
    (void)state;
    ptx_walks_expect_of_two(
        TWO_WARPS(SYNC, "POLL:\n" LOAD "setp.eq.u32 %p1, %r9, 1;\n@%p1 bra POLL;\nmov.u32 %r9, 5;\n" INIT("r9")),
        shows_1,
        "warp 0 lanes ffffffff: sync 1\n"
        "warp 1 lanes ffffffff: poll, init 0x400 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_that_another_warp_stored_decides_the_way),
        cmocka_unit_test(the_cluster_barrier_orders_a_store_too),
        cmocka_unit_test(of_two_stores_the_last_one_counts),
        cmocka_unit_test(a_store_that_no_barrier_orders_tells_nothing),
        cmocka_unit_test(a_store_of_what_is_not_known_tells_nothing),
        cmocka_unit_test(a_tile_of_data_hides_no_word),
        cmocka_unit_test(an_atomic_changes_the_word_that_it_names),
        cmocka_unit_test(a_later_warp_may_prove_an_earlier_one_wrong),
        cmocka_unit_test(a_queue_that_mbarriers_guard_is_followed),
        cmocka_unit_test(a_queue_without_a_wait_for_the_slot_tells_nothing),
        cmocka_unit_test(a_queue_that_named_barriers_guard_is_followed),
        cmocka_unit_test(a_barrier_that_the_reader_has_passed_guards_no_slot),
        cmocka_unit_test(lanes_of_a_warp_come_to_a_named_barrier_together),
        cmocka_unit_test(a_walk_that_is_lost_makes_words_doubtful_only_where_it_may_store),
        cmocka_unit_test(a_generic_address_may_lead_to_shared_memory),
        cmocka_unit_test(a_store_to_a_generic_address_may_be_to_shared_memory),
        cmocka_unit_test(a_word_that_no_walk_stores_is_taken_as_it_is_now_the_first_time),
        cmocka_unit_test(a_poll_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
