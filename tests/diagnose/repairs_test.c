/* repairs_test.c - a change of what a verdict blames makes the hang go away.
 *
 * Random protocols (protocol.h) are searched through all schedules.  Where one ends in a standstill that a single
 * change can prevent, the diagnosis of that standstill names a cause and a barrier.  Some change of the kind that the
 * cause names, at that barrier, must let every schedule finish.  This must hold for every cause that is called proven.
 * With whole histories it may fail for LIKELY_WRONG_PERCENT of the likely ones.  Causes from other evidence are only
 * counted.
 *
 * `test_diagnose_repairs FIRST COUNT` tries other protocols, and also prints what is only counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "device.h"
#include "protocol_evidence.h"
#include "protocol_repair.h"

/* Under sanitizers each takes ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROTOCOLS = 1500 };
#else
enum { PROTOCOLS = 4000 };
#endif
enum { SEARCH_MOMENTS = 30000, STEPS_MOST = 256, PRINTED = 12, LIKELY_WRONG_PERCENT = 2 };

static struct {
    uint64_t first, count;
    bool chosen;
} numbers = {1, PROTOCOLS, false};

enum evidence { WHOLE_HISTORIES, FIVE_EVENTS, ONE_LOOK, TWO_LOOKS, EVIDENCES };
static const char *const evidence_names[EVIDENCES] = {"whole histories", "the newest 5 events", "one look",
                                                      "two looks"};

struct standstill {
    const struct protocol *p;
    uint64_t number;
    struct moment m;
    uint8_t transitions[STEPS_MOST];
    size_t count;
};

struct tally {
    uint32_t standstills, unrepairable;
    struct {
        uint32_t proven, likely, proven_wrong, likely_wrong, no_blame;
    } of[EVIDENCES];
    uint32_t printed;
};

/* The kinds of changes that a cause asks for; 0 = it asks for none. */
static uint32_t repairs_of(enum wsdbg_cause cause)
{
    switch (cause) {
    case WSDBG_CAUSE_PARITY_WRONG:
    case WSDBG_CAUSE_PARITY_DRIFT:
        return REPAIR_PARITY;
    case WSDBG_CAUSE_ARRIVE_MISSING:
        return REPAIR_ADD_ARRIVAL | REPAIR_EXPECT_ARRIVES | REPAIR_LONGER | REPAIR_NAMED_STEP |
               REPAIR_ORDER; /* too late */
    case WSDBG_CAUSE_ARRIVE_SHORT:
        return REPAIR_LOWER_COUNT;
    case WSDBG_CAUSE_DOUBLE_ARRIVE:
        return REPAIR_DROP_ARRIVAL | REPAIR_RAISE_COUNT | REPAIR_NAMED_STEP | REPAIR_ORDER; /* it came too early */
    case WSDBG_CAUSE_TX_SHARED_BARRIER:
        return REPAIR_DROP_ARRIVAL | REPAIR_RAISE_COUNT;
    case WSDBG_CAUSE_TX_MISMATCH:
    case WSDBG_CAUSE_TMA_NEVER_COMPLETED:
        return REPAIR_BYTES | REPAIR_COPY | REPAIR_LONGER;
    case WSDBG_CAUSE_TX_NO_ARRIVE:
        return REPAIR_ADD_ARRIVAL | REPAIR_EXPECT_ARRIVES;
    case WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY:
        return REPAIR_ADD_ARRIVAL | REPAIR_DROP_ARRIVAL | REPAIR_BYTES | REPAIR_COPY | REPAIR_LONGER | REPAIR_PARITY;
    case WSDBG_CAUSE_NAMED_COUNT:
        return REPAIR_NAMED_COUNT;
    case WSDBG_CAUSE_NAMED_ID_SHARED:
        return REPAIR_NAMED_ID;
    case WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE:
        return REPAIR_NAMED_STEP;
    case WSDBG_CAUSE_CLUSTER_MISSING:
        return REPAIR_CLUSTER_STEP | REPAIR_LONGER;
    case WSDBG_CAUSE_WAKER_EXITED:
    case WSDBG_CAUSE_ROLE_DISAGREE:
    case WSDBG_CAUSE_PEER_EXITED:
        return REPAIR_ADD_ARRIVAL | REPAIR_LONGER | REPAIR_SHORTER | REPAIR_NAMED_STEP | REPAIR_CLUSTER_STEP;
    default:
        return 0;
    }
}

/* Whether a change that the finding asks for, at its barrier, repairs the protocol. */
static bool is_repaired(const struct repairs *r, const struct wsdbg_snapshot *snapshot,
                        const struct wsdbg_finding *finding)
{
    const uint32_t named = REPAIR_NAMED_COUNT | REPAIR_NAMED_STEP | REPAIR_NAMED_ID, cluster = REPAIR_CLUSTER_STEP;
    const uint32_t warps = REPAIR_LONGER | REPAIR_SHORTER;
    /* A sentence that names exited warps as well offers the reader both repairs. */
    const bool names_leavers = strstr(finding->sentence, "exited without");
    const uint32_t kinds = repairs_of(finding->cause) | (names_leavers ? REPAIR_LONGER : 0);
    if (finding->barrier >= snapshot->barrier_count)
        return repair_exists(r, kinds, (struct repair_place){.any = true});
    const struct wsdbg_barrier *row = &snapshot->barriers[finding->barrier];
    if (row->kind == WSDBG_BARRIER_CLUSTER)
        return repair_exists(r, kinds & (cluster | warps), (struct repair_place){.any = true});
    const bool is_named = row->kind == WSDBG_BARRIER_NAMED;
    const uint32_t barrier = is_named ? row->id - 1 : row->id * r->p->stages + row->stage;
    if (repair_exists(r, is_named ? kinds & (named | warps) : kinds & ~(named | cluster),
                      (struct repair_place){.cta = row->cta, .barrier = barrier}))
        return true;
    /* Steps on named barriers have rank 0 or that of their CTA, and CLUSTER_RANK_ASYMMETRY blames all ranks. */
    for (uint32_t cta = 0; cta < r->p->ctas; cta++)
        if ((is_named || finding->cause == WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY) &&
            repair_exists(r, kinds & ~warps, (struct repair_place){.cta = cta, .barrier = barrier}))
            return true;
    /* A parity that is wrong at one stage is also wrong at the warp's next stages. */
    for (uint32_t stage = 0; stage < r->p->stages && !is_named; stage++)
        if (repair_exists(r, kinds & REPAIR_PARITY,
                          (struct repair_place){.cta = row->cta, .barrier = row->id * r->p->stages + stage}))
            return true;
    return false;
}

static void say(struct tally *tally, const struct standstill *at, enum evidence evidence,
                const struct wsdbg_finding *finding)
{
    /* Verdicts that are only counted are printed where FIRST and COUNT are given. */
    if (finding->confidence < WSDBG_CONFIDENCE_PROVEN && evidence != WHOLE_HISTORIES && !numbers.chosen)
        return;
    if (finding->confidence < WSDBG_CONFIDENCE_PROVEN && tally->printed++ >= PRINTED)
        return;
    print_error("protocol %llu, %s: blamed, but no such change helps: %s (%s): %s\n", (unsigned long long)at->number,
                evidence_names[evidence], wsdbg_cause_name(finding->cause), wsdbg_confidence_name(finding->confidence),
                finding->sentence);
    protocol_print(at->p, &at->m);
}

static void judge(struct tally *tally, const struct repairs *r, const struct standstill *at, enum evidence evidence,
                  const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis)
{
    const struct wsdbg_finding *first = diagnosis->findings;
    const bool blames =
        diagnosis->finding_count && first->confidence >= WSDBG_CONFIDENCE_LIKELY && repairs_of(first->cause);
    if (!blames) {
        tally->of[evidence].no_blame++;
        return;
    }
    const bool proven = first->confidence == WSDBG_CONFIDENCE_PROVEN, right = is_repaired(r, snapshot, first);
    tally->of[evidence].proven += proven;
    tally->of[evidence].likely += !proven;
    tally->of[evidence].proven_wrong += proven && !right;
    tally->of[evidence].likely_wrong += !proven && !right;
    if (!right)
        say(tally, at, evidence, first);
}

static void judge_record(struct tally *tally, const struct repairs *r, const struct standstill *at,
                         enum evidence evidence)
{
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    protocol_ring(at->p, at->transitions, at->count, 0, evidence == WHOLE_HISTORIES ? 64 : 5, &snapshot);
    must(wsdbg_diagnose(&snapshot, &diagnosis) == NULL);
    judge(tally, r, at, evidence, &snapshot, &diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

static void judge_picture(struct tally *tally, const struct repairs *r, const struct standstill *at,
                          enum evidence evidence)
{
    struct picture picture;
    struct wsdbg_diagnosis diagnosis;
    protocol_picture(at->p, &at->m, 0, &picture);
    if (evidence == TWO_LOOKS) {
        picture_still(&picture);
        struct wsdbg_snapshot *before = calloc(1, sizeof *before);
        must(before && wsdbg_snapshot_copy(&picture.snapshot, before) == NULL);
        picture.snapshot.before = before;
    }
    picture_judge(&picture, &diagnosis);
    judge(tally, r, at, evidence, &picture.snapshot, &diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&picture);
}

/* A standstill that the search found, and the transitions that lead to it. */
static bool find_standstill(const struct search *search, const struct protocol *p, uint64_t number,
                            struct standstill *out)
{
    uint64_t random = number;
    const size_t start = protocol_random(&random, (uint32_t)search->count);
    for (size_t i = 0; i < search->count; i++) {
        const size_t at = (start + i) % search->count;
        const struct moment *m = &search->moments[at];
        if (m->fault || protocol_finished(p, m) || !protocol_is_over(p, m))
            continue;
        *out = (struct standstill){.p = p, .number = number, .m = *m};
        for (size_t k = at; k > 0; k = search->parents[k])
            out->count++;
        must(out->count <= STEPS_MOST);
        for (size_t k = at, end = out->count; k > 0; k = search->parents[k])
            out->transitions[--end] = search->transitions[k];
        return true;
    }
    return false;
}

static void try_protocol(struct tally *tally, struct search *search, uint64_t number)
{
    const struct protocol p = protocol_make(number);
    const struct moment start = protocol_start(&p);
    struct protocol right;
    struct standstill at;
    if (p.defect >= DEFECT_MANY)
        return; /* one change may not be enough */
    search_from(search, &p, &start);
    if (!search->complete || !find_standstill(search, &p, number, &at))
        return;
    const struct repairs r = {search, &p, protocol_make_right(number, &right) ? &right : NULL, &at.m};
    tally->standstills++;
    if (!repair_exists(&r, REPAIR_ANY, (struct repair_place){.any = true})) {
        tally->unrepairable++; /* no single change repairs it: no cause alone is right */
        return;
    }
    judge_record(tally, &r, &at, WHOLE_HISTORIES);
    judge_record(tally, &r, &at, FIVE_EVENTS);
    judge_picture(tally, &r, &at, ONE_LOOK);
    judge_picture(tally, &r, &at, TWO_LOOKS);
}

static void the_blamed_operation_is_among_the_repairs(void **unused)
{
    (void)unused;
    struct tally tally = {0};
    struct search search;
    search_init(&search, SEARCH_MOMENTS);
    for (uint64_t n = 0; n < numbers.count; n++)
        try_protocol(&tally, &search, numbers.first + n);
    search_deinit(&search);
    print_message("%llu protocols, %u standstills, %u that no single change prevents\n",
                  (unsigned long long)numbers.count, tally.standstills, tally.unrepairable);
    for (uint32_t e = 0; e < EVIDENCES; e++)
        print_message("%s: proven %u, of these wrong %u; likely %u, of these wrong %u; nobody blamed %u\n",
                      evidence_names[e], tally.of[e].proven, tally.of[e].proven_wrong, tally.of[e].likely,
                      tally.of[e].likely_wrong, tally.of[e].no_blame);
    for (uint32_t e = 0; e < EVIDENCES; e++)
        assert_int_equal(tally.of[e].proven_wrong, 0);
    assert_true(100 * tally.of[WHOLE_HISTORIES].likely_wrong <=
                LIKELY_WRONG_PERCENT * tally.of[WHOLE_HISTORIES].likely);
    assert_true(tally.standstills > numbers.count / 10); /* else too few protocols hang for this test */
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        numbers.first = strtoull(argv[1], NULL, 10);
        numbers.count = strtoull(argv[2], NULL, 10);
        numbers.chosen = true;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_blamed_operation_is_among_the_repairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
