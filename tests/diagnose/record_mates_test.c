/* record_mates_test.c - a warpgroup of which some warps wait with another parity than the others, by events.
 *
 * Warp 4 completes the first phase of "data".  Behind that the warps of the first group wait for it, with parity 0, in
 * each of their turns; a wait with parity 1 hangs.
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

enum { DATA = 0, OTHER = 1, GROUP = 4, SENDER = GROUP, WARPS, TURNS = 3, DEPTH = 128, FEW = 2, NOBODY = WARPS };

static const struct row {
    const char *name;
    const char *cause, *says; /* of the finding; NULL = there is none */
    uint32_t odd;             /* warps that wait with parity 1: a bit each */
    uint32_t turn;            /* ... in this turn */
    uint32_t stays;           /* a warp that hangs elsewhere before its second turn */
    uint32_t depth;           /* events that are kept of each warp */
} rows[] = {
    {"one is unlike the others in the first turn", "PARITY_WRONG", "warp 2 waits for the wrong parity of", 1u << 2, 0,
     NOBODY, DEPTH},
    {"... in a later one", "PARITY_DRIFT", "after 2 waits like theirs, it names parity 1", 1u << 3, 2, NOBODY, DEPTH},
    {"two are", NULL, NULL, 1u << 2 | 1u << 3, 1, NOBODY, DEPTH},
    {"all are like each other", NULL, NULL, 0xf, 1, NOBODY, DEPTH},
    {"a mate did not come to that turn", NULL, NULL, 1u << 2, 1, 0, DEPTH},
    {"a mate hangs behind that turn", "PARITY_WRONG", "all other warps of its warpgroup name parity 0", 1u << 2, 0, 0,
     DEPTH},
    {"not all events are kept", NULL, NULL, 1u << 2, 1, NOBODY, FEW},
};

static struct device *record(const struct row *row)
{
    struct device *d = device_create(1, WARPS, 1, 32);
    device_mbarrier(d, DATA, "data", 1, false, 0, 0);
    device_mbarrier(d, OTHER, "other", 1, false, 0, 0);
    init(d, 0, SENDER, DATA, 0, 1);
    init(d, 0, SENDER, OTHER, 0, 1);
    arrive(d, 0, SENDER, DATA, 0, WSDBG_NO_ITERATION, 1);
    for (uint32_t w = 0; w < WARPS; w++)
        named_sync(d, 0, w, 1, WARPS * 32);
    for (uint32_t w = 0; w < GROUP; w++)
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            if (w == row->stays && turn == 1)
                wait(d, 0, w, OTHER, 0, 0, WSDBG_NO_ITERATION);
            wait(d, 0, w, DATA, 0, row->odd >> w & 1 && turn == row->turn, WSDBG_NO_ITERATION);
        }
    for (uint32_t w = 0; w < WARPS; w++)
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
        assert_int_equal(finding->confidence, WSDBG_CONFIDENCE_LIKELY);
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
        device_snapshot(d, rows[i].depth, &snapshot);
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
