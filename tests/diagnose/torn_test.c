/* torn_test.c - a warp of which all lanes but one arrive: what is said of it, and its share in the barrier's account.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "caused.h"
#include "diagnose/account.h"

/* Warps 0-2 arrive with all lanes, but warp 2 in round 1 with 31 of them, `pieces` of which at a time; warp 3 waits. */
static struct result round_without_one_lane(uint32_t pieces)
{
    struct device *d = device_create(1, 4, 1, 128);
    device_role(d, 0, "producer");
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t w = 0; w < 4; w++)
        role(d, 0, w, w == 3);
    init(d, 0, 3, FULL, 0, 96);
    for (uint32_t w = 0; w < 4; w++)
        named_sync(d, 0, w, 0, 128);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t w = 0; w < 3; w++) {
            const uint32_t lanes = w == 2 && round == 1 ? 31 : 32;
            for (uint32_t left = lanes; left > 0;) {
                const uint32_t now = lanes == 31 && pieces < left ? pieces : left;
                arrive(d, 0, w, FULL, 0, round, now);
                left -= now;
            }
        }
        wait(d, 0, 3, FULL, 0, round & 1, round);
    }
    for (uint32_t w = 0; w < 4; w++)
        leave(d, 0, w);
    return judge(d, 0, 128);
}

static size_t count_rows(const struct wsdbg_finding *finding, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < finding->evidence_count; i++)
        count += strcmp(finding->evidence[i].text, text) == 0;
    return count;
}

static void the_evidence_says_how_many_lanes_came(void **state)
{
    (void)state;
    for (uint32_t pieces = 16; pieces <= 32; pieces += 16) {
        struct result r = round_without_one_lane(pieces);
        const struct wsdbg_finding *finding = &r.diagnosis.findings[0];
        assert_cause(&r, WSDBG_CAUSE_ARRIVE_MISSING);
        assert_int_equal(strncmp(finding->sentence, "1 thread of warp 2 ", strlen("1 thread of warp 2 ")), 0);
        assert_int_equal(count_rows(finding, "31 of 32 lanes of warp 2 (producer) arrived"), 1);
        assert_int_equal(count_rows(finding, "warp 2 (producer) arrived"), 0);
        assert_int_equal(count_rows(finding, "warp 1 (producer) arrived"), 1);
        done(&r);
    }
}

static void the_account_says_so_too(void **state)
{
    struct wsdbg_account account;
    (void)state;
    struct result r = round_without_one_lane(32);
    assert_null(wsdbg_account(&r.snapshot, r.diagnosis.findings[0].barrier, &account));
    assert_int_equal(account.row_count, 4);
    for (uint32_t w = 0; w < 3; w++) {
        assert_true(account.rows[w].shares & WSDBG_SHARE_ARRIVED);
        assert_int_equal(account.rows[w].arrived, w == 2 ? 31 : 0);
        assert_int_equal(account.rows[w].threads, w == 2 ? 32 : 0);
    }
    wsdbg_account_deinit(&account);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_evidence_says_how_many_lanes_came),
        cmocka_unit_test(the_account_says_so_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
