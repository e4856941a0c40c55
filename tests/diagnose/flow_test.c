/* flow_test.c - two warps wait for each other, and either could be meant to go first: it is taken to be the one that
 * brings data, where the code between waits and arrivals tells which one that is.
 *
 * Warp 1 waits on "b" and arrives on "c" in each round, warp 2 waits on "c" and arrives on "b".  Both begin with parity
 * 0.  A row says which memory each of them reads and writes in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "replay_kernel.h"

enum { ROUNDS = 3, BYTES = 64, DATA = 3, READS = WSDBG_READS_SHARED, WRITES = WSDBG_WRITES_SHARED };
#define NOBODY NULL
#define WARP_1 "Warp 1 begins with parity 0 to wait on \"b\""
#define WARP_2 "Warp 2 begins with parity 0 to wait on \"c\""

static void begin(struct kernel *k)
{
    kernel_begin(k);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_B, 1);
    kernel_add(k, 0, WSDBG_ACCESS_INIT, AT_C, 1);
}

static void add_round(struct kernel *k, uint32_t warp, uint32_t round, uint8_t traffic)
{
    kernel_add(k, warp, WSDBG_ACCESS_WAIT, warp == 1 ? AT_B : AT_C, round & 1);
    way_add(&k->ways[warp], WSDBG_ACCESS_ARRIVE, warp == 1 ? AT_C : AT_B, 1)->traffic = traffic;
}

/* Ends the test. */
static void expect(struct kernel *k, const char *says)
{
    kernel_run(k);
    assert_false(k->replay->has_ended);
    ways_take_picture(&k->p, k->replay);
    ways_expect_as(&k->p, says ? "PARITY_WRONG" : "WAIT_CYCLE",
                   says ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY, says);
    kernel_end(k);
}

static void the_side_that_brings_data_goes_first(void **state)
{
    static const struct {
        const char *name;
        uint8_t traffic[2]; /* of warp 1, of warp 2 */
        const char *says;
    } rows[] = {
        {"one writes, the other one reads", {WRITES, READS}, WARP_1},
        {"the other way round", {READS, WRITES}, WARP_2},
        {"the writer gets its data elsewhere", {WRITES | WSDBG_READS_GLOBAL, READS}, WARP_1},
        {"the reader changes what it has read", {WRITES, READS | WRITES}, WARP_1},
        {"the reader's results may go back", {WRITES | WSDBG_READS_GLOBAL, READS | WSDBG_WRITES_GLOBAL}, NOBODY},
        {"data may go both ways", {WRITES | READS, WRITES | READS}, NOBODY},
        {"nobody reads", {WRITES, 0}, NOBODY},
        {"nobody writes", {0, READS}, NOBODY},
        {"both write", {WRITES, WRITES}, NOBODY},
        {"nobody knows what one does", {WSDBG_TRAFFIC_ALL, READS | WRITES}, NOBODY},
        {"nothing goes through shared memory", {WSDBG_WRITES_GLOBAL, WSDBG_READS_GLOBAL}, NOBODY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kernel k;
        print_message("%s\n", rows[i].name);
        begin(&k);
        kernel_sync(&k);
        for (uint32_t round = 0; round < ROUNDS; round++)
            for (uint32_t warp = 1; warp <= 2; warp++)
                add_round(&k, warp, round, rows[i].traffic[warp - 1]);
        expect(&k, rows[i].says);
    }
    (void)state;
}

/* A warp may have loaded bytes for itself.  It still waits for what the other one writes. */
static void who_copies_but_reads_what_the_other_one_writes_is_not_first(void **state)
{
    struct kernel k;
    begin(&k);
    picture_name(&k.p, DATA, "data", 1, 0, 0);
    picture_mbarrier(&k.p, DATA, 0, 0, 1, 1, 0);
    kernel_add(&k, 0, WSDBG_ACCESS_INIT, MBARRIER_AT(DATA, 0), 1);
    kernel_sync(&k);
    kernel_add(&k, 2, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(DATA, 0), BYTES);
    kernel_add(&k, 2, WSDBG_ACCESS_COPY, MBARRIER_AT(DATA, 0), BYTES);
    kernel_add(&k, 2, WSDBG_ACCESS_WAIT, MBARRIER_AT(DATA, 0), 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        add_round(&k, 1, round, WRITES);
        add_round(&k, 2, round, READS);
    }
    expect(&k, WARP_1);
    (void)state;
}

/* Warp 0 may read, for the warp that it meets behind each wait, what the other side writes. */
static void another_warp_that_meets_the_writer_makes_it_unknown(void **state)
{
    struct kernel k;
    begin(&k);
    kernel_sync(&k);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        kernel_add(&k, 1, WSDBG_ACCESS_WAIT, AT_B, round & 1);
        kernel_add(&k, 0, WSDBG_ACCESS_NAMED_SYNC, 1, 64);
        kernel_add(&k, 1, WSDBG_ACCESS_NAMED_SYNC, 1, 64);
        way_add(&k.ways[1], WSDBG_ACCESS_ARRIVE, AT_C, 1)->traffic = WRITES;
        add_round(&k, 2, round, READS | WRITES);
    }
    picture_object(&k.p, WSDBG_BARRIER_NAMED, 1);
    kernel_run(&k);
    assert_false(k.replay->has_ended);
    ways_take_picture(&k.p, k.replay);
    assert_false(ways_say(&k.p, "begins with parity"));
    kernel_end(&k);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_side_that_brings_data_goes_first),
        cmocka_unit_test(who_copies_but_reads_what_the_other_one_writes_is_not_first),
        cmocka_unit_test(another_warp_that_meets_the_writer_makes_it_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
