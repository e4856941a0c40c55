/* record_mates_test.c - a warpgroup of which some warps wait with another parity than the others, by events.
 *
 * Warp 0 completes the first phase of "data".  Behind that the warps of the second group, whose numbers here are 0 to
 * 3, wait for it, with parity 0, in each of their turns; a wait with parity 1 hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "device.h"
#include "diagnose/ledger.h"
#include "diagnose/round.h"
#include "diagnose/rules.h"
#include "diagnose/wait_graph.h"

enum { DATA = 0, OTHER = 1, SENDER = 0, FIRST = 4, GROUP = 4, TURNS = 3, DEPTH = 128, FEW = 4 };

static const struct row {
    const char *name;
    const char *cause, *says; /* of the finding; NULL = there is none */
    uint32_t odd;             /* warps that wait with parity 1: a bit each */
    uint32_t turn;            /* ... in this turn */
    uint32_t elsewhere;       /* warps that hang elsewhere before their second turn */
    uint32_t missing;         /* how many warps the group lacks */
    bool fills_again;         /* the first warp makes sure that the buffer is free before it is filled */
    bool is_doubtful;         /* the finding is possible only */
    bool is_cut;              /* only the last events of each warp are known */
} rows[] = {
    {.name = "one is unlike the others in the first turn",
     .cause = "PARITY_WRONG",
     .says = "warp 6 waits for the wrong parity of",
     .odd = 1u << 2},
    {.name = "... in a later one",
     .cause = "PARITY_DRIFT",
     .says = "after 2 waits like theirs, it names parity 1",
     .odd = 1u << 3,
     .turn = 2},
    {.name = "the first one may fill the buffer again",
     .cause = "PARITY_WRONG",
     .says = "it names parity 1",
     .fills_again = true,
     .is_doubtful = true},
    {.name = "two are", .odd = 1u << 2 | 1u << 3, .turn = 1},
    {.name = "all are like each other", .odd = 0xf, .turn = 1},
    {.name = "a mate did not come to that turn", .odd = 1u << 2, .turn = 1, .elsewhere = 1},
    {.name = "a mate hangs behind that turn",
     .cause = "PARITY_WRONG",
     .says = "all other warps of its warpgroup name parity 0",
     .odd = 1u << 2,
     .elsewhere = 1},
    {.name = "the group has only three warps", .odd = 1u << 2, .turn = 1, .missing = 1},
    {.name = "not all events are known", .odd = 1u << 2, .turn = 1, .is_cut = true},
};

static struct device *record(const struct row *row)
{
    const uint32_t warps = FIRST + GROUP - row->missing;
    struct device *d = device_create(1, warps, 1, 32);
    device_mbarrier(d, DATA, "data", 1, false, 0, 0);
    device_mbarrier(d, OTHER, "other", 1, false, 0, 0);
    init(d, 0, SENDER, DATA, 0, 1);
    init(d, 0, SENDER, OTHER, 0, 1);
    if (row->fills_again)
        wait(d, 0, FIRST, DATA, 0, 1, WSDBG_NO_ITERATION);
    else
        arrive(d, 0, SENDER, DATA, 0, WSDBG_NO_ITERATION, 1);
    for (uint32_t w = 0; w < warps; w++)
        named_sync(d, 0, w, 1, warps * 32);
    if (row->fills_again)
        arrive(d, 0, SENDER, DATA, 0, WSDBG_NO_ITERATION, 1);
    for (uint32_t w = 0; w < GROUP - row->missing; w++)
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            if (row->elsewhere >> w & 1 && turn == 1)
                wait(d, 0, FIRST + w, OTHER, 0, 0, WSDBG_NO_ITERATION);
            wait(d, 0, FIRST + w, DATA, 0, row->fills_again ? turn & 1 : row->odd >> w & 1 && turn == row->turn,
                 WSDBG_NO_ITERATION);
        }
    for (uint32_t w = 0; w < warps; w++)
        leave(d, 0, w);
    return d;
}

static void check(const struct row *row, const struct wsdbg_snapshot *snapshot)
{
    static const uint32_t cta = 0;
    struct wsdbg_case c;
    assert_null(wsdbg_case_init(snapshot, 0, &cta, 1, &c));
    assert_null(wsdbg_ledger_create(&c, &c.ledger));
    assert_null(wsdbg_rounds_create(&c));
    assert_null(wsdbg_wait_graph_create(&c, &c.graph));
    wsdbg_rule_mates(&c);
    assert_int_equal(c.finding_count, row->cause != NULL);
    if (row->cause) {
        const struct wsdbg_finding *finding = &c.findings[0];
        assert_string_equal(wsdbg_cause_name(finding->cause), row->cause);
        assert_int_equal(finding->confidence, row->is_doubtful ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY);
        if (!strstr(finding->sentence, row->says))
            fail_msg("%s", finding->sentence);
    }
    wsdbg_case_deinit(&c);
}

static void a_wait_unlike_those_of_all_mates_names_the_wrong_parity(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wsdbg_snapshot snapshot;
        struct device *d = record(&rows[i]);
        print_message("%s\n", rows[i].name);
        assert_false(device_run(d, 1));
        device_snapshot(d, rows[i].is_cut ? FEW : DEPTH, &snapshot);
        check(&rows[i], &snapshot);
        wsdbg_snapshot_deinit(&snapshot);
        device_destroy(d);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_unlike_those_of_all_mates_names_the_wrong_parity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
