/* protocols_test.c - a deadlock is reported where no schedule can finish, and nowhere else.
 *
 * Random protocols are searched through all schedules (protocol.h).  What the diagnosis says of a state that one of
 * them reaches, from its record and from the machine's state, is held against what the search knows:
 *  - every warp that is left stands and nothing is under way: it is a hang;
 *  - some schedule can still finish: it is none, whatever computes at the moment;
 *  - a cause that is called proven is one that the state has.
 * `test_diagnose_protocols FIRST COUNT` tries other protocols; a failure prints the number of its own.
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

/* Under sanitizers each takes ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROTOCOLS = 2000 };
#else
enum { PROTOCOLS = 8000 };
#endif
enum { SEARCH_MOMENTS = 30000, WALK_STEPS = 256, ENDINGS = 2, WALKS = 2, PRINTED = 10 };

static struct {
    uint64_t first, count;
} numbers = {1, PROTOCOLS};

/* A state and the way there. */
struct state {
    const struct protocol *p;
    uint64_t number;
    struct moment m;
    uint8_t transitions[WALK_STEPS];
    size_t count;
    uint32_t busy;   /* warps that compute */
    bool over;       /* nothing can happen any more */
    bool finishes;   /* in some schedule */
    uint32_t moving; /* warps that go on in some schedule */
};

struct tally {
    uint32_t protocols, too_large, standstills, busy, doomed, doomed_called, proven, failures;
};

static void disagree(struct tally *tally, const struct state *state, const char *evidence, const char *what,
                     const struct wsdbg_diagnosis *diagnosis)
{
    if (tally->failures++ >= PRINTED)
        return;
    print_error("protocol %llu, %s: %s; busy %x\n", (unsigned long long)state->number, evidence, what, state->busy);
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        print_error("  said: %s (%s): %s\n", wsdbg_cause_name(diagnosis->findings[i].cause),
                    wsdbg_confidence_name(diagnosis->findings[i].confidence), diagnosis->findings[i].sentence);
    protocol_print(state->p, &state->m);
}

/* ---- what a proven cause must rest on ---- */

/* Steps of these kinds on the mbarrier that some warp which can still move has before it. */
static uint32_t steps_to_come(const struct state *state, uint32_t kinds, uint32_t cta, uint32_t barrier)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < protocol_warps(state->p); w++)
        for (uint32_t i = state->m.at[w]; i < state->p->lengths[w] && (state->moving >> w & 1); i++) {
            const struct step *step = &state->p->steps[w][i];
            count += (kinds >> step->kind & 1) && step->rank == cta && step->barrier == barrier;
        }
    return count;
}

/* Defects of one step that can bring the cause about; of several, or of none, the state alone decides. */
static bool fits_defect(enum wsdbg_cause cause, enum defect defect)
{
    if (defect >= DEFECT_MANY)
        return true;
    const uint32_t any = (1u << DEFECT_SWAPPED) | (1u << DEFECT_NONE);
    switch (cause) {
    case WSDBG_CAUSE_PARITY_WRONG:
    case WSDBG_CAUSE_PARITY_DRIFT:
        return (any | 1u << DEFECT_PARITY) >> defect & 1;
    case WSDBG_CAUSE_ARRIVE_MISSING:
        return (any | 1u << DEFECT_ARRIVAL_DROPPED | 1u << DEFECT_CUT_SHORT) >> defect & 1;
    case WSDBG_CAUSE_ARRIVE_SHORT:
        return (any | 1u << DEFECT_COUNT_HIGH) >> defect & 1;
    case WSDBG_CAUSE_DOUBLE_ARRIVE:
        return (any | 1u << DEFECT_ARRIVAL_DOUBLED | 1u << DEFECT_COUNT_LOW) >> defect & 1;
    case WSDBG_CAUSE_TX_MISMATCH:
        return (any | 1u << DEFECT_BYTES | 1u << DEFECT_COPY_DROPPED | 1u << DEFECT_CUT_SHORT) >> defect & 1;
    case WSDBG_CAUSE_WAKER_EXITED:
        return (any | 1u << DEFECT_CUT_SHORT | 1u << DEFECT_ARRIVAL_DROPPED) >> defect & 1;
    case WSDBG_CAUSE_NAMED_COUNT:
        return (any | 1u << DEFECT_NAMED) >> defect & 1;
    default:
        return true;
    }
}

static bool fits_mbarrier(const struct state *state, enum wsdbg_cause cause, uint32_t cta, uint32_t b)
{
    const struct moment *m = &state->m;
    const uint32_t arrivals = 1u << STEP_ARRIVE | 1u << STEP_ARRIVE_EXPECT;
    switch (cause) {
    case WSDBG_CAUSE_ARRIVE_SHORT:
    case WSDBG_CAUSE_ARRIVE_MISSING:
    case WSDBG_CAUSE_TX_NO_ARRIVE:
        return m->pending[cta][b] > 0;
    case WSDBG_CAUSE_TX_MISMATCH:
        return m->pending[cta][b] == 0 && m->units[cta][b] != 0;
    case WSDBG_CAUSE_TMA_NEVER_COMPLETED:
        return m->pending[cta][b] == 0 && m->units[cta][b] > 0 && steps_to_come(state, 1u << STEP_COPY, cta, b) == 0;
    case WSDBG_CAUSE_WAKER_EXITED:
        return m->pending[cta][b] > 0 && steps_to_come(state, arrivals, cta, b) == 0;
    case WSDBG_CAUSE_PARITY_WRONG:
    case WSDBG_CAUSE_PARITY_DRIFT:
    case WSDBG_CAUSE_DOUBLE_ARRIVE:
        return m->phases[cta][b] > 0 || state->p->families[b / state->p->stages].first_free;
    case WSDBG_CAUSE_TX_SHARED_BARRIER:
        return true;
    default: /* registers, lanes apart, peers that leave: no protocol has them */
        return false;
    }
}

static bool is_in_state(const struct state *state, const struct wsdbg_snapshot *snapshot,
                        const struct wsdbg_finding *finding)
{
    if (finding->barrier >= snapshot->barrier_count)
        return false;
    const struct wsdbg_barrier *row = &snapshot->barriers[finding->barrier];
    if (row->kind == WSDBG_BARRIER_NAMED)
        return finding->cause == WSDBG_CAUSE_NAMED_COUNT && fits_defect(finding->cause, state->p->defect);
    return row->kind == WSDBG_BARRIER_MBARRIER && fits_defect(finding->cause, state->p->defect) &&
           fits_mbarrier(state, finding->cause, row->cta, row->id * state->p->stages + row->stage);
}

/* ---- the two kinds of evidence ---- */

static void check(struct tally *tally, const struct state *state, const char *evidence, bool must_hang,
                  const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis)
{
    if (diagnosis->hang && state->finishes)
        disagree(tally, state, evidence, "it can finish, and is called a hang", diagnosis);
    if (must_hang && !diagnosis->hang)
        disagree(tally, state, evidence, "nothing can move, and it is called no hang", diagnosis);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        if (diagnosis->findings[i].confidence != WSDBG_CONFIDENCE_PROVEN)
            continue;
        tally->proven++;
        if (!is_in_state(state, snapshot, &diagnosis->findings[i]))
            disagree(tally, state, evidence, "what is called proven is not there", diagnosis);
    }
    tally->doomed += !state->over && !state->finishes;
    tally->doomed_called += !state->over && !state->finishes && diagnosis->hang;
}

static void check_record(struct tally *tally, const struct state *state, uint32_t depth)
{
    static const char *const words[] = {"no histories", "the newest 5 events", "whole histories"};
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
    protocol_ring(state->p, state->transitions, state->count, state->busy, depth, &snapshot);
    must(wsdbg_diagnose(&snapshot, &diagnosis) == NULL);
    check(tally, state, words[(depth > 0) + (depth > 5)], state->over, &snapshot, &diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
}

/* In one picture bytes that are missing may be on their way. */
static bool waits_for_bytes(const struct state *state)
{
    for (uint32_t w = 0; w < protocol_warps(state->p); w++) {
        const struct step *step = &state->p->steps[w][state->m.at[w]];
        if (!protocol_left(state->p, &state->m, w) && step->kind == STEP_WAIT &&
            state->m.pending[step->rank][step->barrier] == 0)
            return true;
    }
    return false;
}

static void check_picture(struct tally *tally, const struct state *state, bool two_looks)
{
    struct picture picture;
    struct wsdbg_diagnosis diagnosis;
    protocol_picture(state->p, &state->m, state->busy, &picture);
    if (two_looks) {
        picture_still(&picture);
        picture.snapshot.looks[1].moved = (uint32_t)__builtin_popcount(state->busy);
        struct wsdbg_snapshot *before = calloc(1, sizeof *before);
        must(before && wsdbg_snapshot_copy(&picture.snapshot, before) == NULL);
        picture.snapshot.before = before;
    }
    picture_judge(&picture, &diagnosis);
    check(tally, state, two_looks ? "two looks" : "one look", state->over && (two_looks || !waits_for_bytes(state)),
          &picture.snapshot, &diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&picture);
}

static void check_state(struct tally *tally, const struct state *state)
{
    check_record(tally, state, 0);
    check_record(tally, state, 5);
    check_record(tally, state, 64);
    check_picture(tally, state, false);
    check_picture(tally, state, true);
}

/* ---- states ---- */

/* Some of the states that nothing follows. */
static void check_endings(struct tally *tally, const struct protocol *p, uint64_t number, const struct search *search,
                          uint64_t *random)
{
    const size_t start = protocol_random(random, (uint32_t)search->count);
    uint32_t found = 0;
    for (size_t i = 0; i < search->count && found < ENDINGS; i++) {
        const size_t at = (start + i) % search->count;
        const struct moment *m = &search->moments[at];
        if (m->fault || protocol_finished(p, m) || !protocol_is_over(p, m))
            continue;
        struct state state = {.p = p, .number = number, .m = *m, .over = true};
        for (size_t k = at; k > 0; k = search->parents[k])
            state.count++;
        must(state.count <= WALK_STEPS);
        for (size_t k = at, end = state.count; k > 0; k = search->parents[k])
            state.transitions[--end] = search->transitions[k];
        if (p->defect == DEFECT_NONE)
            must(false); /* a pipeline without a defect finishes */
        check_state(tally, &state);
        tally->standstills++;
        found++;
    }
}

/* A schedule at random in which some warps compute for ever when they have reached some step. */
static void check_walk(struct tally *tally, const struct protocol *p, uint64_t number, struct search *search,
                       uint64_t *random)
{
    struct state state = {.p = p, .number = number, .m = protocol_start(p)};
    uint8_t stops[PROTOCOL_WARPS];
    for (uint32_t w = 0; w < PROTOCOL_WARPS; w++)
        stops[w] = protocol_random(random, 2) ? PROTOCOL_STEPS : (uint8_t)protocol_random(random, PROTOCOL_STEPS);
    for (bool moved = true; moved && !state.m.fault;) {
        const uint32_t first = protocol_random(random, PROTOCOL_TRANSITIONS);
        moved = false;
        for (uint32_t i = 0; i < PROTOCOL_TRANSITIONS && !moved; i++) {
            const uint32_t t = (first + i) % PROTOCOL_TRANSITIONS;
            if (t < protocol_warps(p) && state.m.at[t] >= stops[t])
                continue;
            moved = protocol_take(p, &state.m, t);
            if (moved)
                state.transitions[state.count++] = (uint8_t)t;
        }
    }
    for (uint32_t w = 0; w < protocol_warps(p); w++)
        if (state.m.at[w] >= stops[w] && !protocol_left(p, &state.m, w) && !(state.m.came >> w & 1))
            state.busy |= 1u << w;
    if (state.m.fault || state.busy == 0)
        return;
    search_from(search, p, &state.m);
    if (!search->complete)
        return;
    state.finishes = search->finishes;
    state.moving = search->moved;
    check_state(tally, &state);
    tally->busy++;
}

static void a_hang_is_called_where_no_schedule_can_finish(void **unused)
{
    (void)unused;
    struct tally tally = {0};
    struct search search;
    search_init(&search, SEARCH_MOMENTS);
    for (uint64_t n = 0; n < numbers.count; n++) {
        uint64_t random = numbers.first + n;
        const struct protocol p = protocol_make(numbers.first + n);
        const struct moment start = protocol_start(&p);
        search_from(&search, &p, &start);
        tally.protocols++;
        tally.too_large += !search.complete;
        if (search.complete)
            check_endings(&tally, &p, numbers.first + n, &search, &random);
        for (uint32_t i = 0; i < WALKS; i++)
            check_walk(&tally, &p, numbers.first + n, &search, &random);
    }
    search_deinit(&search);
    print_message(
        "%u protocols, %u too large; %u standstills, %u states in which warps compute: of %u verdicts on those "
        "that cannot finish any more %u say so; %u causes proven\n",
        tally.protocols, tally.too_large, tally.standstills, tally.busy, tally.doomed, tally.doomed_called,
        tally.proven);
    assert_int_equal(tally.failures, 0);
    /* The protocols are not all alike. */
    assert_true(tally.too_large <= tally.protocols / 20);
    assert_true(numbers.count < 1000 || (tally.standstills > numbers.count / 5 && tally.busy > numbers.count / 5));
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        numbers.first = strtoull(argv[1], NULL, 10);
        numbers.count = strtoull(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_hang_is_called_where_no_schedule_can_finish)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
