/* lost_evidence_test.c - properties: whatever evidence is taken away from a hang, no wrong cause is proven. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define TRIALS 60u

static uint32_t next_random(uint32_t *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

/* The oldest events of a warp are gone, as after a wrap or a torn record. */
static void cut_history(struct wsdbg_warp_row *warp, uint32_t kept)
{
    if (kept >= warp->history_count)
        return;
    warp->history_first += warp->history_count - kept;
    warp->history_count = kept;
    warp->history_whole = false;
    warp->registers_held.known = false;
}

/* What the barrier rows say came from the events: the counts of lost init events are lost too. */
static void forget_lost_inits(struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->barrier_count; i++)
        snapshot->barriers[i].expected_arrivals.known = false;
    for (size_t w = 0; w < snapshot->warp_count; w++)
        for (uint32_t e = 0; e < snapshot->warps[w].history_count; e++) {
            const struct wsdbg_history_event *event = &snapshot->history[snapshot->warps[w].history_first + e];
            for (size_t i = 0; i < snapshot->barrier_count; i++) {
                struct wsdbg_barrier *barrier = &snapshot->barriers[i];
                if (event->kind == WSDBG_EVENT_MBARRIER_INIT && barrier->kind == WSDBG_BARRIER_MBARRIER &&
                    barrier->cta == snapshot->warps[w].cta && barrier->id == event->barrier &&
                    barrier->stage == event->stage)
                    barrier->expected_arrivals = wsdbg_known_u32(event->value);
            }
        }
}

/* Warps of the last CTA that were never seen: the tail of its rows is dropped. */
static void drop_warps(struct wsdbg_snapshot *snapshot, uint32_t count)
{
    struct wsdbg_cta *cta = &snapshot->ctas[snapshot->cta_count - 1];
    cta->warp_count -= count;
    snapshot->warp_count -= count;
}

static void lose_something(struct wsdbg_snapshot *snapshot, uint32_t *random)
{
    for (size_t w = 0; w < snapshot->warp_count; w++)
        if (next_random(random) % 3 == 0) {
            const uint32_t kept =
                snapshot->warps[w].history_count ? next_random(random) % snapshot->warps[w].history_count : 0;
            cut_history(&snapshot->warps[w], next_random(random) % 3 ? kept : 0);
        }
    if (next_random(random) % 4 == 0)
        snapshot->modules[0].names_count = next_random(random) % 6;
    if (next_random(random) % 4 == 0)
        snapshot->functions[0].registers.known = false;
    if (next_random(random) % 4 == 0)
        drop_warps(snapshot, 1 + next_random(random) % 8);
    if (next_random(random) % 4 == 0)
        for (size_t w = 0; w < snapshot->warp_count; w++)
            snapshot->warps[w].role.known = snapshot->warps[w].role.known && next_random(random) % 2;
    forget_lost_inits(snapshot);
}

static const struct {
    enum gemm_bug bug;
    enum wsdbg_cause cause;
} cases[] = {
    {GEMM_REGS_PARTIAL, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP}, {GEMM_REGS_EXHAUSTED, WSDBG_CAUSE_REGS_EXHAUSTED},
    {GEMM_REGS_NO_RELEASE, WSDBG_CAUSE_REGS_EXHAUSTED},      {GEMM_PARITY_WRONG, WSDBG_CAUSE_PARITY_WRONG},
    {GEMM_PARITY_DRIFT, WSDBG_CAUSE_PARITY_DRIFT},           {GEMM_SHARED_FULL, WSDBG_CAUSE_TX_SHARED_BARRIER},
    {GEMM_DOUBLE_ARRIVE, WSDBG_CAUSE_DOUBLE_ARRIVE},         {GEMM_TX_MISMATCH, WSDBG_CAUSE_TX_MISMATCH},
    {GEMM_ARRIVE_MISSING, WSDBG_CAUSE_ARRIVE_MISSING},       {GEMM_WAKER_EXITED, WSDBG_CAUSE_WAKER_EXITED},
    {GEMM_ARRIVE_SHORT, WSDBG_CAUSE_ARRIVE_SHORT},           {GEMM_TX_NO_ARRIVE, WSDBG_CAUSE_TX_NO_ARRIVE},
    {GEMM_TMA_LOST, WSDBG_CAUSE_TMA_NEVER_COMPLETED},        {GEMM_NOT_INIT, WSDBG_CAUSE_BARRIER_NOT_INIT},
};

static void assert_nothing_wrong_is_proven(const struct wsdbg_diagnosis *diagnosis, enum wsdbg_cause right,
                                           uint32_t trial)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis->findings[i];
        if (finding->confidence == WSDBG_CONFIDENCE_PROVEN && finding->cause != right)
            fail_msg("trial %u: %s is said to be proven where %s is right: %s", trial, wsdbg_cause_name(finding->cause),
                     wsdbg_cause_name(right), finding->sentence);
    }
}

static void lost_evidence_never_proves_a_wrong_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            uint32_t random = trial * 7919 + (uint32_t)i;
            struct wsdbg_snapshot snapshot;
            struct wsdbg_diagnosis diagnosis;
            struct device *device = gemm_create((struct gemm){.bug = cases[i].bug,
                                                              .ctas = 1,
                                                              .stages = 1 + trial % 4,
                                                              .tiles = 4,
                                                              .k_blocks = 6,
                                                              .unnamed = trial % 5 == 0});
            device_run(device, trial);
            device_snapshot(device, trial % 2 ? 128 : 4096, &snapshot);
            lose_something(&snapshot, &random);
            assert_null(wsdbg_diagnose(&snapshot, &diagnosis));
            assert_nothing_wrong_is_proven(&diagnosis, cases[i].cause, trial);
            wsdbg_diagnosis_deinit(&diagnosis);
            wsdbg_snapshot_deinit(&snapshot);
            device_destroy(device);
        }
}

/* In a cluster GEMM_TMA_LOST loses a multicast copy: then the peers miss its bytes, which is another defect. */
static bool clusters_apply(enum gemm_bug bug)
{
    return bug != GEMM_TMA_LOST;
}

/* The same hangs with nothing lost, over other shapes: stages, tiles, clusters of two where the bug allows it. */
static void whole_evidence_over_many_shapes_never_proves_a_wrong_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t trial = 0; trial < 24; trial++) {
            struct wsdbg_snapshot snapshot;
            struct wsdbg_diagnosis diagnosis;
            struct device *device =
                gemm_create((struct gemm){.bug = cases[i].bug,
                                          .ctas = 2,
                                          .stages = 1 + trial % 5,
                                          .tiles = 1 + trial % 7,
                                          .k_blocks = 1 + trial % 9,
                                          .cluster = clusters_apply(cases[i].bug) ? 1 + trial % 3 / 2 : 1,
                                          .unnamed = trial % 4 == 3,
                                          .no_iterations = trial % 6 == 5});
            examine(device, trial, trial % 2 ? 64 : 4096, &snapshot, &diagnosis);
            assert_nothing_wrong_is_proven(&diagnosis, cases[i].cause, trial);
            wsdbg_diagnosis_deinit(&diagnosis);
            wsdbg_snapshot_deinit(&snapshot);
            device_destroy(device);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_evidence_never_proves_a_wrong_cause),
        cmocka_unit_test(whole_evidence_over_many_shapes_never_proves_a_wrong_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
