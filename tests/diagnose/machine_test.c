/* machine_test.c - causes from the machine's state and the code alone.  Each row states what one look at the GPU finds
 * and what is to be said of it, after one look (a core dump) and after two equal ones (live).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gemm_shape.h"
#include "states.h"

#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY
#define PROVEN WSDBG_CONFIDENCE_PROVEN

static const struct row {
    const char *name;
    void (*state)(struct picture *p);
    const char *cause;
    enum wsdbg_confidence one_look, two_looks;
    const char *role, *barrier; /* NULL = not looked at */
} table[] = {
    {"parity wrong", parity_wrong, "PARITY_WRONG", LIKELY, LIKELY, "producer", "empty"},
    {"parity wrong, bytes in two steps", parity_wrong_in_two_steps, "PARITY_WRONG", LIKELY, LIKELY, "producer",
     "empty"},
    {"parity wrong, or another fills", parity_wrong_or_filled_by_another, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"parity wrong later", parity_drift, "PARITY_DRIFT", LIKELY, LIKELY, "producer", "empty"},
    {"double arrive", double_arrive, "DOUBLE_ARRIVE", LIKELY, LIKELY, "consumer 0", "empty"},
    {"rounds of an unrolled loop", unrolled_rounds, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"parity wrong after a hand-over", parity_wrong_after_hand_over, "PARITY_WRONG", LIKELY, LIKELY, "producer",
     "empty"},
    {"a hand-over of one slot left out", hand_over_left_out, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"releases of other slots, of rounds", releases_behind, "PARITY_DRIFT", LIKELY, LIKELY, "producer", "empty"},
    {"bytes expected that no copy brings", tx_mismatch, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"copies under way", copies_under_way, "TX_MISMATCH", POSSIBLE, LIKELY, "producer", "full"},
    {"no bytes at all", no_bytes_came, "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, "producer", "full"},
    {"more bytes than were announced", too_many_bytes, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"more bytes, a step to come", too_many_in_two_steps, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"bytes on another stage", bytes_elsewhere, "TX_MISMATCH", POSSIBLE, LIKELY, "producer", "full"},
    {"bytes of another stage", bytes_from_elsewhere, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"bytes before they are announced", bytes_early, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a copy behind the wait for it", copy_stranded, "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, "producer", "full"},
    {"one of two copies behind it", one_copy_stranded, "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, "producer", "full"},
    {"arrivals missing", arrive_missing, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"arrivals left over everywhere", arrivals_left_over, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"arrivals late for another reason", release_is_late, "NAMED_COUNT", LIKELY, LIKELY, "consumer 0", NULL},
    {"two rings", two_rings, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"a wgmma held up", wgmma_held_up, "REGS_EXHAUSTED", PROVEN, PROVEN, NULL, NULL},
    {"a wgmma at work", wgmma_at_work, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"lanes left an arrival out", lanes_left_an_arrival_out, "ARRIVE_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"no lane arrived before its warp left", no_lane_arrived, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"the producer left", waker_exited, "WAKER_EXITED", LIKELY, LIKELY, "producer", "full"},
    {"the producer is done", producer_done, "UNKNOWN", LIKELY, LIKELY, NULL, "full"},
    {"two loaders, one arrival", shared_full_barrier, "TX_SHARED_BARRIER", LIKELY, LIKELY, "producer", "full"},
    {"two loaders out of step", shared_full_in_step, "TX_SHARED_BARRIER", LIKELY, LIKELY, "producer", "full"},
    {"two barriers to fill", two_fulls, "WAKER_EXITED", LIKELY, LIKELY, NULL, "empty"},
    {"an arrival on some barrier", doubtful_arrival, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a warp that was not seen", a_warp_unseen, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"two loaders, two arrivals", two_arrivals, "WAKER_EXITED", LIKELY, LIKELY, NULL, "empty"},
    {"the producer left, somebody runs", one_still_runs, "WAKER_EXITED", POSSIBLE, LIKELY, "producer", "full"},
    {"the consumers left", producer_runs_on, "WAKER_EXITED", LIKELY, LIKELY, "consumer 0", "empty"},
    {"the consumers left within a round", consumers_left_in_round, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"somebody left", somebody_left, "WAKER_EXITED", LIKELY, LIKELY, "none", "empty"},
    {"part of a warpgroup released", regs_partial, "REGS_PARTIAL_WARPGROUP", LIKELY, PROVEN, "producer", NULL},
    {"... and those it served have left", regs_partial_served_left, "REGS_PARTIAL_WARPGROUP", LIKELY, LIKELY, NULL,
     NULL},
    {"240 registers do not fit", regs_exhausted, "REGS_EXHAUSTED", PROVEN, PROVEN, NULL, NULL},
    {"nobody released", regs_no_release, "REGS_EXHAUSTED", PROVEN, PROVEN, "producer", NULL},
    {"a release to come", release_to_come, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    /* Not REGS_EXHAUSTED: the pool is large enough once all warps have passed the barrier. */
    {"releasing warps wait for the asking one", release_behind_a_barrier, "CLUSTER_MISSING", LIKELY, LIKELY, NULL,
     NULL},
    {"... and perhaps release none", release_perhaps_behind_a_barrier, "REGS_EXHAUSTED", LIKELY, LIKELY, NULL, NULL},
    {"too many arrivals expected", arrive_short, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"the waiter arrived, the others left", arrive_by_waiter_alone, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"... and more are counted than there are", arrive_by_waiter_short, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"too many expected, lanes not known", arrive_short_of_some_lanes, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"too many expected for all lanes", arrive_short_of_fewer_lanes, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"arrivals of some lanes", arrive_of_some_lanes, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"one lane, counted as 128 threads", count_of_all_threads, "ARRIVE_SHORT", LIKELY, LIKELY, "producer", "full"},
    {"half of the arrivals counted", count_of_two_ctas, "ARRIVE_SHORT", LIKELY, LIKELY, "consumer 0", "empty"},
    {"... and an arrival somewhere", count_with_unknown_arrival, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"... and a second arrival of each", count_with_two_instructions, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"... and warps gone that may have arrived", count_with_warps_gone, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"... and the producer a warp of theirs", count_with_producer_among_consumers, "ARRIVE_SHORT", LIKELY, LIKELY, NULL,
     "empty"},
    {"... and one gone that may have been meant", count_with_one_warp_gone, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"one lane counted as 128, and gone", count_and_arriver_gone, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, "full"},
    {"... of which a waiting warp may have made one", count_of_waiter_and_one_gone, "UNKNOWN", LIKELY, LIKELY, NULL,
     "full"},
    {"one release left out everywhere", one_release_left_out, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"one of four left out", one_release_of_four, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"... by one that waits elsewhere", one_release_of_four_behind, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"releases that are not owed", release_of_a_later_round, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a CTA leaves its loop early", peer_leaves_loop_early, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"a barrier left out of the releases", nobody_arrives_beside_others, "ARRIVE_MISSING", LIKELY, LIKELY, NULL,
     "empty b"},
    {"bytes announced somewhere", tx_no_arrive_somewhere, "TX_NO_ARRIVE", LIKELY, PROVEN, NULL, NULL},
    {"bytes announced elsewhere", tx_announced_elsewhere, "ARRIVE_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"bytes without an arrival", tx_no_arrive, "TX_NO_ARRIVE", LIKELY, PROVEN, NULL, NULL},
    {"a copy that is not issued", copy_missing, "TMA_NEVER_COMPLETED", POSSIBLE, LIKELY, NULL, NULL},
    {"lanes apart", lane_split, "LANE_SPLIT", LIKELY, PROVEN, NULL, NULL},
    {"the elected lane has left the others", elected_lane_left, "LANE_SPLIT", LIKELY, LIKELY, NULL, NULL},
    {"half of the lanes have left", half_of_the_lanes_left, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"one of three that arrive has left", one_of_three_left, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"the first warp of a warpgroup has left the others", a_leader_left, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"the lane that releases has left its warp", an_elected_lane_left, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"lanes that never release have left", lanes_without_work_left, "ARRIVE_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"one that never releases has left the others", a_warp_of_its_own_left, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"... and one that never arrives there", a_stranger_left, "ARRIVE_SHORT", LIKELY, LIKELY, NULL, NULL},
    {"lanes apart, arrival doubtful", lane_split_doubtful, "LANE_SPLIT", LIKELY, LIKELY, NULL, NULL},
    {"lanes apart, their way doubtful", lane_split_way_doubtful, "LANE_SPLIT", LIKELY, LIKELY, NULL, NULL},
    {"lanes apart, one lane arrives", lane_split_of_elected, "LANE_SPLIT", LIKELY, LIKELY, NULL, NULL},
    {"lanes at three places", lane_split_three_ways, "LANE_SPLIT", LIKELY, LIKELY, NULL, NULL},
    {"lanes at two places of one wait", lanes_at_two_places, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a slot released twice", slot_released_twice, "DOUBLE_ARRIVE", LIKELY, LIKELY, "consumer 0", "empty"},
    {"slots released by who never waited", slots_released_unfilled, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a slot released twice or never", slot_released_perhaps, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a slot released in one place alone", slot_released_in_one_place, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a slot consumed elsewhere too", slot_consumed_elsewhere, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a release of another stage", release_of_another_stage, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"two arrives of a warp, no wait between", two_arrives_of_a_warp, "DOUBLE_ARRIVE", LIKELY, LIKELY, "producer",
     "full"},
    {"two arrives of a lane, no wait between", two_arrives_of_a_lane, "DOUBLE_ARRIVE", LIKELY, LIKELY, "producer",
     "full"},
    {"two arrives that are counted", two_arrives_counted, "WAKER_EXITED", LIKELY, LIKELY, "producer", "full"},
    {"two arrives, half a phase", two_arrives_under_way, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"two arrives, a wait between", two_arrives_apart, "WAKER_EXITED", LIKELY, LIKELY, "producer", "full"},
    {"an arrival before the initialisation", early_arrival, "BARRIER_NOT_INIT", LIKELY, LIKELY, "producer", "full"},
    {"an arrival behind a barrier of the CTA", arrival_behind_sync, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"an arrival that may be left out", arrival_left_out_perhaps, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"arrivals of two phases", arrivals_of_two_phases, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"arrivals in a loop of one who left", arrivals_without_end, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"an early arrival of two", early_arrival_of_two, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"an early arrival, or others", early_arrival_and_others, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"an early arrival, lanes not seen", early_arrival_and_lanes, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"two early arrivals, or four", early_arrivals_in_a_phase, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"lanes that fell behind", lanes_behind, "LANE_SPLIT", LIKELY, LIKELY, "producer", "empty"},
    {"lanes wait for those that may still come", lanes_before_releasers, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"one lane waits, the others are done", one_lane_waits, "WAKER_EXITED", LIKELY, LIKELY, NULL, "empty"},
    {"lanes wait where the elected one never did", lanes_wait_alone, "WAKER_EXITED", LIKELY, LIKELY, NULL, "empty"},
    {"lanes wait for a phase with arrivals", lanes_behind_with_arrivals, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"lanes apart, some poll", lanes_poll, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"lanes apart, some poll for the host", lanes_poll_for_host, "HOST_WAIT", POSSIBLE, POSSIBLE, NULL, NULL},
    {"lanes apart, some poll, the host is free", lanes_poll_host_free, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"no mbarrier there", not_initialised, "BARRIER_NOT_INIT", LIKELY, PROVEN, NULL, NULL},
    {"a named barrier counts too many", named_count, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"a guarded named barrier", named_count_guarded, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"a round of a named barrier is missing", named_round_missing, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a named barrier and a warp that left", named_one_left, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a warp that left without reaching it", named_one_left_that_never_came, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"five warps on a barrier for two", five_on_two, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"five on two, in a loop", five_on_two_in_a_loop, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"five on two, who came is not known", some_of_five_on_two, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"five on two, of a register", five_on_two_of_a_register, "NAMED_COUNT", LIKELY, LIKELY, NULL, NULL},
    {"a hand-over whose other side has left", partners_gone, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"turns on one id, one is missing", turn_missing, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"turns in a loop, one is missing", turn_missing_in_a_loop, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"the fourth warp of a warpgroup left", fourth_warp_left, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"... or another one is missing", fourth_warp_left_beside_another, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"two pairs on one id", two_pairs_share, "NAMED_ID_SHARED", LIKELY, LIKELY, NULL, NULL},
    {"two pairs on one id, equally often", two_pairs_share_equally, "NAMED_ID_SHARED", LIKELY, LIKELY, NULL, NULL},
    {"two pairs, a mate left early", mate_has_left, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"one of a group left after a round", left_after_a_round, "WAKER_EXITED", LIKELY, LIKELY, NULL, NULL},
    {"arrivals of two rounds in one", arrived_twice, "DOUBLE_ARRIVE", LIKELY, LIKELY, "math", NULL},
    {"an arrival of a round too few", arrived_too_seldom, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"arrivals in a loop", arrived_in_a_loop, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a way on that is not known", unknown_way_on, "GRID_DEPENDENCY", POSSIBLE, POSSIBLE, NULL, NULL},
    {"nobody can arrive, nobody left", nobody_left, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"a named barrier still gathers", named_gathers, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a block-wide sync in one role", block_sync_in_role, "BLOCK_SYNC_IN_ROLE", LIKELY, LIKELY, NULL, NULL},
    {"... that producers never came to before they left", barrier_of_consumers, "BLOCK_SYNC_IN_ROLE", POSSIBLE,
     POSSIBLE, NULL, NULL},
    {"... that all came to", barrier_of_all, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"... that they may have come to", barrier_of_consumers_perhaps, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"... whose ways are not known to the end", barrier_of_consumers_in_open_ways, "WAIT_CYCLE", LIKELY, LIKELY, NULL,
     NULL},
    {"opposite order", two_mbarriers, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a flag nobody sets", global_flag, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"a flag the host may set", host_flag, "HOST_WAIT", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... nobody sets, the poll has a time limit", flag_with_time_limit, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... nobody sets, the host is free", flag_host_free, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... a thread that used the GPU before goes on", flag_thread_free, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... a thread that never did goes on", flag_stranger_free, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... other threads are not known", flag_threads_unknown, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... the host is in a short call", flag_call_is_short, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... the host reached its call late", flag_call_is_late, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... the host waits for another context", flag_other_context, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... the driver holds new work back", flag_looked_at_before, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... it did so for an earlier kernel", flag_looked_at_before_its_launch, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL,
     NULL},
    {"... for which one is not known", flag_launch_unknown_looked_at_before, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL,
     NULL},
    {"a flag in shared memory", shared_flag, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"..., the host is free", shared_flag_host_free, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"..., with a time limit", shared_flag_with_time_limit, "GLOBAL_SPIN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"CTAs that cannot start, the host is free", not_resident_host_free, "NOT_RESIDENT", POSSIBLE, POSSIBLE, NULL,
     NULL},
    {"a grid barrier over CTAs that cannot start", grid_barrier_not_resident, "NOT_RESIDENT", POSSIBLE, LIKELY, NULL,
     NULL},
    {"... that counts down", grid_barrier_down_not_resident, "NOT_RESIDENT", POSSIBLE, LIKELY, NULL, NULL},
    {"... a flag with another number", flag_not_resident, "NOT_RESIDENT", POSSIBLE, POSSIBLE, NULL, NULL},
    {"... of each CTA its own", own_flags_not_resident, "NOT_RESIDENT", POSSIBLE, POSSIBLE, NULL, NULL},
    {"as many requests as there are CTAs, and all are there", requests_as_many_as_ctas, "GLOBAL_SPIN", POSSIBLE,
     POSSIBLE, NULL, NULL},
    {"a grid barrier that some never reached", grid_barrier_some_left, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"CTAs that cannot start", not_resident, "NOT_RESIDENT", POSSIBLE, LIKELY, NULL, NULL},
    {"CTAs that may have ended", earlier_ctas_gone, "GLOBAL_SPIN", POSSIBLE, LIKELY, NULL, NULL},
    {"a grid waits for one that polls", dependent_grid, "GRID_DEPENDENCY", POSSIBLE, LIKELY, NULL, NULL},
    {"..., the host is free", dependent_grid_host_free, "GRID_DEPENDENCY", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a grid waits for one that works", dependent_of_a_worker, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a flag somebody may set", flag_to_come, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"honest work", everybody_works, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a slow producer", slow_producer, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"code that is not known", unknown_code, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a wait that has ended", wait_has_ended, "UNKNOWN", POSSIBLE, POSSIBLE, NULL, NULL},
    {"a cluster barrier not reached", cluster_missing, "CLUSTER_MISSING", LIKELY, LIKELY, NULL, NULL},
    {"parity wrong in a cluster", cluster_parity_wrong, "PARITY_WRONG", LIKELY, LIKELY, "producer", "empty"},
    {"arrivals missing in a cluster", cluster_arrive_missing, "ARRIVE_MISSING", LIKELY, LIKELY, "consumer 0", "empty"},
    {"bytes that no copy brings, in a cluster", cluster_tx_mismatch, "TX_MISMATCH", LIKELY, LIKELY, "producer", "full"},
    {"a multicast to one of two", multicast_to_one, "TX_MISMATCH", POSSIBLE, LIKELY, "producer", "full"},
    {"a multicast, to whom is not known", multicast_to_some, "TX_MISMATCH", POSSIBLE, LIKELY, "producer", "full"},
    {"a multicast whose sender has left", multicast_sender_left, "WAKER_EXITED", LIKELY, LIKELY, NULL, "full"},
    {"ranks that load other things", ranks_disagree, "CLUSTER_RANK_ASYMMETRY", POSSIBLE, LIKELY, "producer", "full"},
    {"ranks with copies of other sizes", ranks_differ_in_size, "TX_MISMATCH", POSSIBLE, LIKELY, "producer", "full"},
    {"a ring before the cluster barrier", ring_before_cluster_barrier, "WAIT_CYCLE", LIKELY, LIKELY, NULL, NULL},
    {"a CTA left that is not needed", peer_exited_for_good, "UNKNOWN", LIKELY, LIKELY, NULL, NULL},
    {"bytes another CTA would bring", cluster_bytes_from_peer, "NAMED_COUNT", LIKELY, LIKELY, "producer", NULL},
    {"a CTA of the cluster left, and a warp of the own one", peer_exited_like_own_warp, "UNKNOWN", LIKELY, LIKELY, NULL,
     NULL},
    {"a CTA of the cluster left", peer_exited, "PEER_EXITED", LIKELY, LIKELY, NULL, NULL},
};

static const char *role_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->role.known ? wsdbg_snapshot_name(snapshot, 0, WSDBG_NAME_ROLE, finding->role.value) : NULL;
    return name ? name->name : "none";
}

static const char *barrier_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->barrier < snapshot->barrier_count ? snapshot->barriers[finding->barrier].name : NULL;
    return name ? name->name : "none";
}

static bool is_without_cause(const struct wsdbg_finding *finding)
{
    return finding->cause == WSDBG_CAUSE_WAIT_CYCLE || finding->cause == WSDBG_CAUSE_UNKNOWN;
}

/* Nothing contradicts the verdict: what else is said is less sure, of the same cause, or the standstill that it may
 * lead to. */
static void assert_one_cause(const struct wsdbg_diagnosis *diagnosis)
{
    const struct wsdbg_finding *first = &diagnosis->findings[0];
    for (size_t i = 1; i < diagnosis->finding_count; i++)
        if (diagnosis->findings[i].confidence >= LIKELY && !(first->leads && is_without_cause(&diagnosis->findings[i])))
            assert_int_equal(diagnosis->findings[i].cause, first->cause);
}

/* How many were launched, are there and have left is said where the launch tells. */
static void a_grid_barrier_names_those_who_left(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    for (int has_left = 0; has_left < 2; has_left++) {
        grid_barrier_some_left(&p);
        /* The last of a cluster may have left and have a row: see look_clusters.c. */
        const struct wsdbg_cta *last = &p.snapshot.ctas[3];
        for (uint32_t w = last->warp_first; has_left && w < last->warp_first + last->warp_count; w++) {
            picture_leave(&p, w);
            p.snapshot.warps[w].part_count = 0;
        }
        picture_still(&p);
        picture_judge(&p, &diagnosis);
        assert_non_null(strstr(diagnosis.findings[0].sentence,
                               has_left
                                   ? "a grid barrier: 16 CTAs were launched, 3 are on the GPU, and 13 have exited"
                                   : "a grid barrier: 16 CTAs were launched, 4 are on the GPU, and 12 have exited"));
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

/* The poll may only follow from that wait. */
static void a_poll_of_lanes_beside_others_that_wait_is_possible(void **state)
{
    struct picture p;
    (void)state;
    shared_flag_of_lanes(&p);
    picture_still(&p);
    assert_true(picture_confidence_of(&p, WSDBG_CAUSE_GLOBAL_SPIN) <= (int)WSDBG_CONFIDENCE_POSSIBLE);
    picture_deinit(&p);
}

static void check(const struct row *row, bool still)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    row->state(&p);
    if (still)
        picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    const struct wsdbg_finding *finding = &diagnosis.findings[0];
    if (strcmp(wsdbg_cause_name(finding->cause), row->cause) != 0)
        print_error("%s, %s: %s\n", row->name, still ? "two looks" : "one look", finding->sentence);
    assert_string_equal(wsdbg_cause_name(finding->cause), row->cause);
    if (finding->confidence != (still ? row->two_looks : row->one_look))
        print_error("%s, %s: %s: %s\n", row->name, still ? "two looks" : "one look",
                    wsdbg_confidence_name(finding->confidence), finding->sentence);
    assert_int_equal(finding->confidence, still ? row->two_looks : row->one_look);
    assert_int_equal(diagnosis.hang,
                     finding->leads || (finding->confidence >= LIKELY && finding->cause != WSDBG_CAUSE_SLOW));
    if (row->role)
        assert_string_equal(role_of(&p.snapshot, finding), row->role);
    if (row->barrier)
        assert_string_equal(barrier_of(&p.snapshot, finding), row->barrier);
    assert_true(finding->cause == WSDBG_CAUSE_SLOW || finding->cause == WSDBG_CAUSE_UNKNOWN ||
                finding->cause == WSDBG_CAUSE_WAIT_CYCLE || finding->fix[0]);
    assert_one_cause(&diagnosis);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* Two looks that differ, at a moment at which the same bytes are missing from all slots. */
static void copies_that_move_are_no_mismatch(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    tx_mismatch(&p);
    picture_still(&p);
    p.snapshot.looks[1].moved = 1;
    picture_judge(&p, &diagnosis);
    assert_false(diagnosis.hang);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* Where every wait leads to warps outside of any; two looks found `moved` warps elsewhere. */
static void check_motion(void (*state)(struct picture *p), uint32_t moved, const char *cause)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    state(&p);
    picture_still(&p);
    p.snapshot.looks[1].moved = moved;
    picture_judge(&p, &diagnosis);
    assert_false(diagnosis.hang);
    assert_string_equal(wsdbg_cause_name(diagnosis.findings[0].cause), cause);
    assert_int_equal(strstr(diagnosis.findings[0].sentence, "is running") != NULL, moved > 0);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

static void only_what_was_seen_to_move_is_slow(void **state)
{
    (void)state;
    void (*const states[])(struct picture * p) = {bytes_early,  release_to_come, named_gathers, dependent_of_a_worker,
                                                  flag_to_come, everybody_works, slow_producer};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        check_motion(states[i], 1, "SLOW");
        check_motion(states[i], 0, "UNKNOWN");
    }
}

/* Two looks found it at one place: it does not run, whatever else moved. */
static void work_without_movement(struct picture *p)
{
    everybody_works(p);
    for (size_t i = 0; i < p->snapshot.warp_count; i++) {
        p->snapshot.warps[i].state = WSDBG_WARP_UNKNOWN;
        p->snapshot.warps[i].unmoved = true;
    }
}

static void what_stood_between_looks_is_not_slow(void **state)
{
    (void)state;
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    work_without_movement(&p);
    picture_still(&p);
    p.snapshot.looks[1].moved = 5;
    picture_judge(&p, &diagnosis);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_UNKNOWN);
    assert_int_equal(diagnosis.findings[0].confidence, POSSIBLE);
    assert_non_null(strstr(diagnosis.findings[0].sentence, "it was not seen to move between two looks"));
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* The same state, but another CTA moved between two looks; *before is what the first one saw. */
static bool hangs_beside_movement(void (*state)(struct picture *p), void (*change)(struct wsdbg_snapshot *before))
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    state(&p);
    for (size_t b = 0; b < p.snapshot.barrier_count; b++)
        p.snapshot.barriers[b].word = wsdbg_known_u64(b);
    picture_still(&p);
    p.snapshot.looks[1].moved = 3;
    struct wsdbg_snapshot *before = calloc(1, sizeof *before);
    assert_non_null(before);
    assert_null(wsdbg_snapshot_copy(&p.snapshot, before));
    if (change)
        change(before);
    p.snapshot.before = before;
    picture_judge(&p, &diagnosis);
    const bool hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    return hang;
}

static void change_a_word_of_each_cta(struct wsdbg_snapshot *before)
{
    before->barriers[0].word.value ^= 1;
    before->barriers[1].word.value ^= 1;
}

static void drop_the_ctas(struct wsdbg_snapshot *before)
{
    before->cta_count = 0;
}

static void a_cta_is_judged_by_its_own_movement(void **state)
{
    (void)state;
    assert_true(hangs_beside_movement(arrive_missing, NULL));
    assert_true(hangs_beside_movement(no_bytes_came, NULL)); /* no copy takes that long */
    assert_false(hangs_beside_movement(arrive_missing, change_a_word_of_each_cta));
    assert_false(hangs_beside_movement(waker_exited, change_a_word_of_each_cta));
    assert_false(hangs_beside_movement(arrive_missing, drop_the_ctas));
}

/* Two looks at the process moved; the newest two, at another one, did or did not. */
static bool hangs_before_another_process(uint32_t moved, uint32_t moved_there)
{
    enum { OURS = 10, OTHER = 20 };
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    tx_mismatch(&p);
    picture_still(&p);
    struct wsdbg_look_row *looks = reallocarray(p.snapshot.looks, 4, sizeof *looks);
    assert_non_null(looks);
    memcpy(looks + 2, looks, 2 * sizeof *looks);
    for (int i = 0; i < 4; i++)
        looks[i].process_id = i < 2 ? OURS : OTHER;
    looks[1].moved = moved;
    looks[3].moved = moved_there;
    p.snapshot.looks = looks;
    p.snapshot.look_count = 4;
    p.snapshot.contexts[0].process_id = OURS;
    picture_judge(&p, &diagnosis);
    const bool hang = diagnosis.hang;
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    return hang;
}

static void a_process_is_judged_by_the_looks_at_it(void **state)
{
    (void)state;
    assert_false(hangs_before_another_process(1, 0));
    assert_true(hangs_before_another_process(0, 1));
}

static void what_is_about_to_go_on_is_no_hang(void **state)
{
    (void)state;
    check(&(struct row){"all there", cluster_opens, "UNKNOWN", POSSIBLE, 0, NULL, NULL}, false);
    check(&(struct row){"mates at work", wgmma_behind, "UNKNOWN", POSSIBLE, 0, NULL, NULL}, false);
    check(&(struct row){"arrivals to land", copies_that_arrive, "UNKNOWN", POSSIBLE, 0, NULL, NULL}, false);
}

/* Not even a possible one. */
static void a_warp_that_may_not_have_come_to_its_arrival_leaves_none_out(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    (void)state;
    one_release_of_four_behind(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        assert_int_not_equal(diagnosis.findings[i].cause, WSDBG_CAUSE_ARRIVE_MISSING);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
}

/* Nothing is said of bytes that a warp may yet ask for: it waits for something else, which is what is wrong. */
static void a_copy_to_come_is_no_cause(void **state)
{
    (void)state;
    check(&(struct row){"a copy to come", copy_to_come, "UNKNOWN", POSSIBLE, 0, NULL, NULL}, false);
    check(&(struct row){"a copy to come", copy_to_come, "WAIT_CYCLE", 0, LIKELY, NULL, NULL}, true);
}

/* All CTAs announce bytes and meet, and then each sends to the others.  One of them did not come to the meeting. */
static void bytes_that_are_sent_behind_a_meeting_are_no_mismatch(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    cluster_missing_before_bytes(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    assert_true(diagnosis.finding_count > 0);
    assert_int_equal(diagnosis.findings[0].cause, WSDBG_CAUSE_CLUSTER_MISSING);
    assert_int_equal(diagnosis.findings[0].confidence, WSDBG_CONFIDENCE_LIKELY);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    (void)state;
}

/* The place is named by file and line, for inlined code by those of the call in the file it came into, else by function
 * and offset.
 */
static void places_are_named_as_well_as_known(void **state)
{
    (void)state;
    static const char *const named[] = {"at kernel.cu:100", "at main.cu:7", "at kernel+0x"};
    for (unsigned i = 0; i < 3; i++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        parity_wrong(&p);
        struct wsdbg_site *site = &p.snapshot.sites[p.snapshot.warps[0].site];
        if (i == 1) {
            site->inlined_at = 0;
            site->is_passed = true;
            strcpy(p.snapshot.sites[0].file, "main.cu");
            p.snapshot.sites[0].line = wsdbg_known_u32(7);
        }
        if (i == 2)
            site->file[0] = 0;
        picture_judge(&p, &diagnosis);
        if (!strstr(diagnosis.findings[0].sentence, named[i]))
            fail_msg("%s is not in: %s", named[i], diagnosis.findings[0].sentence);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

static void each_state_gives_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        check(&table[i], false);
        check(&table[i], true);
    }
}

/* ---- rows nobody can trust ---- */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t odd_value(uint32_t *seed)
{
    static const uint32_t values[] = {0, 1, 31, 255, 1u << 16, INT32_MAX, UINT32_MAX - 1, UINT32_MAX};
    return values[next_random(seed) % (sizeof values / sizeof *values)];
}

/* Puts a value that nobody expects into one field of a row of each table. */
static void spoil(struct picture *p, uint32_t *seed)
{
    struct wsdbg_snapshot *s = &p->snapshot;
    if (p->pending_count) {
        struct wsdbg_reach *reach = &p->pending[next_random(seed) % p->pending_count];
        uint32_t *const fields[] = {&reach->warp, &reach->access};
        *fields[next_random(seed) % 2] = odd_value(seed);
        reach->after = (uint8_t)odd_value(seed);
    }
    if (s->access_count) {
        struct wsdbg_access_row *access = &s->accesses[next_random(seed) % s->access_count];
        uint32_t *const fields[] = {&access->grid,          &access->site,   &access->kind,   &access->lanes,
                                    &access->address.value, &access->stride, &access->places, &access->count.value};
        *fields[next_random(seed) % 8] = odd_value(seed);
    }
    struct wsdbg_warp_row *warp = &s->warps[next_random(seed) % s->warp_count];
    uint32_t *const fields[] = {&warp->barrier, &warp->site, &warp->registers_held.value, &warp->registers_asked.value};
    *fields[next_random(seed) % 4] = odd_value(seed);
}

static void spoilt_rows_are_survived(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (uint32_t round = 0; round < 4000; round++) {
        struct picture p;
        struct wsdbg_diagnosis diagnosis;
        table[next_random(&seed) % (sizeof table / sizeof *table)].state(&p);
        for (uint32_t i = 0; i <= round % 3; i++)
            spoil(&p, &seed);
        picture_judge(&p, &diagnosis);
        wsdbg_diagnosis_deinit(&diagnosis);
        picture_deinit(&p);
    }
}

/* Of a barrier that is in its first phase it is not said that the phase has ended there: nobody uses it. */
static void a_sender_that_takes_no_part_itself_shows_no_round(void **state)
{
    struct picture uses, sends;
    (void)state;
    multicast_to_some(&uses);
    sender_without_a_round(&sends);
    picture_still(&uses);
    picture_still(&sends);
    assert_int_equal(picture_confidence_of(&uses, WSDBG_CAUSE_TX_MISMATCH), LIKELY);
    assert_int_equal(picture_confidence_of(&sends, WSDBG_CAUSE_TX_MISMATCH), PICTURE_NOT_SAID);
    picture_deinit(&uses);
    picture_deinit(&sends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_state_gives_its_cause),
                                       cmocka_unit_test(a_poll_of_lanes_beside_others_that_wait_is_possible),
                                       cmocka_unit_test(a_sender_that_takes_no_part_itself_shows_no_round),
                                       cmocka_unit_test(bytes_that_are_sent_behind_a_meeting_are_no_mismatch),
                                       cmocka_unit_test(places_are_named_as_well_as_known),
                                       cmocka_unit_test(a_grid_barrier_names_those_who_left),
                                       cmocka_unit_test(copies_that_move_are_no_mismatch),
                                       cmocka_unit_test(a_cta_is_judged_by_its_own_movement),
                                       cmocka_unit_test(a_process_is_judged_by_the_looks_at_it),
                                       cmocka_unit_test(only_what_was_seen_to_move_is_slow),
                                       cmocka_unit_test(what_stood_between_looks_is_not_slow),
                                       cmocka_unit_test(what_is_about_to_go_on_is_no_hang),
                                       cmocka_unit_test(a_warp_that_may_not_have_come_to_its_arrival_leaves_none_out),
                                       cmocka_unit_test(a_copy_to_come_is_no_cause),
                                       cmocka_unit_test(spoilt_rows_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
