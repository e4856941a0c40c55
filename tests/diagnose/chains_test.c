/* chains_test.c - where a chain of waits ends, and how the findings of many CTAs become one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

/* ---- chains: warp w has role w and waits for what the roles of its row arrive on ---- */

enum { WARPS = 4 };

struct chain {
    const char *name;
    uint32_t waits_for[WARPS]; /* roles; 0 = the warp leaves */
    enum wsdbg_cause cause;
    uint32_t at;         /* the warp whose wait the finding is about: that of the mbarrier */
    const char *says[3]; /* rows of evidence */
};

#define ROLE(r) (1u << (r))
#define NOBODY ROLE(9)

static const struct chain chains[] = {
    {"two wait for each other",
     {ROLE(1), ROLE(0), 0, 0},
     WSDBG_CAUSE_WAIT_CYCLE,
     0,
     {"warp 0 (a) waits for parity 0 of \"a\"", "warp 1 (b) waits for parity 0 of \"b\""}},
    {"and others for them",
     {ROLE(3), ROLE(0), ROLE(3), ROLE(2)},
     WSDBG_CAUSE_WAIT_CYCLE,
     2,
     {"warp 2 (c) waits for parity 0 of \"c\"", "warp 0 (a) waits for warp 3 (d)", "warp 1 (b) waits for warp 0 (a)"}},
    {"a ring that waits for somebody else is no root",
     {ROLE(1), ROLE(0) | ROLE(2), NOBODY, 0},
     WSDBG_CAUSE_UNKNOWN,
     2,
     {"warp 2 (c) waits for parity 0 of \"c\"", "warp 0 (a) waits for warp 1 (b)",
      "warp 1 (b) waits for warps 0, 2 (a, c)"}},
    {"a chain without a ring",
     {ROLE(1), ROLE(2), ROLE(3), NOBODY},
     WSDBG_CAUSE_UNKNOWN,
     3,
     {"warp 3 (d) waits for parity 0 of \"d\"", "warp 2 (c) waits for warp 3 (d)", "warp 0 (a) waits for warp 1 (b)"}},
};

static struct device *device_of(const struct chain *chain)
{
    static const char *const names[WARPS] = {"a", "b", "c", "d"};
    struct device *d = device_create(1, WARPS, 1, 128);
    for (uint32_t w = 0; w < WARPS; w++) {
        device_role(d, w, names[w]);
        device_mbarrier(d, w, names[w], 1, false, chain->waits_for[w], ROLE(w));
        role(d, 0, w, w);
        init(d, 0, w, w, 0, 1);
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        if (chain->waits_for[w])
            wait(d, 0, w, w, 0, 0, WSDBG_NO_ITERATION);
        leave(d, 0, w);
    }
    return d;
}

static bool is_said(const struct wsdbg_finding *finding, const char *words)
{
    for (size_t i = 0; i < finding->evidence_count; i++)
        if (strstr(finding->evidence[i].text, words))
            return true;
    return false;
}

static void a_chain_leads_to_its_root(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct result r = judge(device_of(&chains[i]), 0, 64);
        const struct wsdbg_finding *first = &r.diagnosis.findings[0];
        assert_true(r.diagnosis.finding_count == 1 && r.diagnosis.hang);
        if (first->cause != chains[i].cause || first->barrier >= r.snapshot.barrier_count ||
            r.snapshot.barriers[first->barrier].id != chains[i].at)
            fail_msg("%s: %s: %s", chains[i].name, wsdbg_cause_name(first->cause), first->sentence);
        for (size_t k = 0; k < 3 && chains[i].says[k]; k++)
            if (!is_said(first, chains[i].says[k]))
                fail_msg("%s: nothing says: %s", chains[i].name, chains[i].says[k]);
        done(&r);
    }
}

/* ---- folding ---- */

static struct result gemm_of(uint32_t ctas, uint32_t cluster)
{
    struct gemm gemm = {
        .bug = GEMM_ARRIVE_MISSING, .ctas = ctas, .stages = 4, .tiles = 8, .k_blocks = 16, .cluster = cluster};
    return judge(gemm_create(gemm), 0, 64);
}

static void assert_one_finding(struct result *r, uint32_t ctas)
{
    if (r->diagnosis.finding_count != 1)
        for (size_t i = 0; i < r->diagnosis.finding_count; i++)
            print_error("%u CTAs: %s\n", r->diagnosis.findings[i].cta_count, r->diagnosis.findings[i].sentence);
    assert_int_equal(r->diagnosis.finding_count, 1);
    assert_int_equal(r->diagnosis.findings[0].cause, WSDBG_CAUSE_ARRIVE_MISSING);
    assert_int_equal(r->diagnosis.findings[0].cta_count, ctas);
    assert_true(r->diagnosis.findings[0].cta < r->snapshot.cta_count);
    assert_true(r->diagnosis.findings[0].evidence_count > 0);
}

static void a_full_chip_in_one_state_is_one_finding(void **state)
{
    (void)state;
    struct result r = gemm_of(132, 1);
    assert_one_finding(&r, 132);
    done(&r);
}

/* Each lacks an arrival in one stage; which stage, and in which iteration, is not the same everywhere. */
static void ctas_in_other_iterations_are_one_finding(void **state)
{
    (void)state;
    struct device *d = device_create(12, 2, 1, 128);
    device_role(d, 0, "producer");
    device_role(d, 1, "consumer");
    device_mbarrier(d, FULL, "full", 3, false, 1 << 0, 1 << 1);
    device_mbarrier(d, EMPTY, "empty", 3, true, 1 << 1, 1 << 0);
    for (uint32_t cta = 0; cta < 12; cta++) {
        role(d, cta, 0, 0);
        role(d, cta, 1, 1);
        for (uint32_t s = 0; s < 3; s++) {
            init(d, cta, 0, FULL, s, 1);
            init(d, cta, 0, EMPTY, s, 1);
        }
        for (uint32_t w = 0; w < 2; w++)
            named_sync(d, cta, w, 0, 64);
        for (uint32_t i = 0; i < 30; i++) {
            wait(d, cta, 0, EMPTY, i % 3, (i / 3 & 1) ^ 1, i);
            arrive(d, cta, 0, FULL, i % 3, i, 1);
            wait(d, cta, 1, FULL, i % 3, i / 3 & 1, i);
            if (i != 6 + cta)
                arrive(d, cta, 1, EMPTY, i % 3, i, 1);
        }
        for (uint32_t w = 0; w < 2; w++)
            leave(d, cta, w);
    }
    struct result r = judge(d, 0, 128);
    assert_one_finding(&r, 12);
    done(&r);
}

/* A finding of a cluster is about one CTA of it; what it says of each counts for each. */
static void clusters_in_one_state_are_one_finding(void **state)
{
    (void)state;
    struct result r = gemm_of(32, 4);
    assert_one_finding(&r, 32);
    done(&r);
}

/* Half of the CTAs miss bytes, the other half misses an arrival: two findings, each with its count. */
static void unequal_ctas_stay_apart(void **state)
{
    (void)state;
    struct device *d = device_create(10, 2, 1, 128);
    device_role(d, 0, "producer");
    device_role(d, 1, "consumer");
    device_mbarrier(d, FULL, "full", 1, false, 1 << 0, 1 << 1);
    for (uint32_t cta = 0; cta < 10; cta++) {
        role(d, cta, 0, 0);
        role(d, cta, 1, 1);
        init(d, cta, 0, FULL, 0, 1);
        for (uint32_t w = 0; w < 2; w++)
            named_sync(d, cta, w, 0, 64);
        if (cta < 4) {
            arrive_expect(d, cta, 0, FULL, 0, 0, 2048);
            copy(d, cta, 0, FULL, 0, 0, 1024, 0);
        }
        wait(d, cta, 1, FULL, 0, 0, 0);
        for (uint32_t w = 0; w < 2; w++)
            leave(d, cta, w);
    }
    struct result r = judge(d, 0, 64);
    assert_int_equal(r.diagnosis.finding_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(r.diagnosis.findings[i].cta_count,
                         r.diagnosis.findings[i].cause == WSDBG_CAUSE_TX_MISMATCH ? 4 : 6);
    assert_int_not_equal(r.diagnosis.findings[0].cause, r.diagnosis.findings[1].cause);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_leads_to_its_root),
        cmocka_unit_test(a_full_chip_in_one_state_is_one_finding),
        cmocka_unit_test(ctas_in_other_iterations_are_one_finding),
        cmocka_unit_test(clusters_in_one_state_are_one_finding),
        cmocka_unit_test(unequal_ctas_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
