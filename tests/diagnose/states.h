/* states.h - pictures of kernels that machine_test judges: each function fills in a new one.  What a state is stands at
 * its definition, what must be said of it in the table of machine_test.c.
 */
#ifndef TEST_DIAGNOSE_STATES_H
#define TEST_DIAGNOSE_STATES_H

#include "picture.h"

/* gemm_states.c: the reference GEMM in the states that its bugs leave it in, and in states that look alike. */
void parity_wrong(struct picture *p);
void parity_wrong_in_two_steps(struct picture *p);
void parity_wrong_or_filled_by_another(struct picture *p);
void parity_drift(struct picture *p);
void double_arrive(struct picture *p);
void unrolled_rounds(struct picture *p);
void parity_wrong_after_hand_over(struct picture *p);
void hand_over_left_out(struct picture *p);
void releases_behind(struct picture *p);
void tx_mismatch(struct picture *p);
void copies_under_way(struct picture *p);
void no_bytes_came(struct picture *p);
void too_many_bytes(struct picture *p);
void too_many_in_two_steps(struct picture *p);
void bytes_elsewhere(struct picture *p);
void bytes_from_elsewhere(struct picture *p);
void bytes_early(struct picture *p);
void copy_stranded(struct picture *p);
void one_copy_stranded(struct picture *p);
void copy_to_come(struct picture *p);
void arrive_missing(struct picture *p);
void arrivals_left_over(struct picture *p);
void release_is_late(struct picture *p);
void lanes_left_an_arrival_out(struct picture *p);
void no_lane_arrived(struct picture *p);
void waker_exited(struct picture *p);
void producer_done(struct picture *p);
void shared_full_barrier(struct picture *p);
void shared_full_in_step(struct picture *p);
void two_fulls(struct picture *p);
void doubtful_arrival(struct picture *p);
void a_warp_unseen(struct picture *p);
void two_arrivals(struct picture *p);
void one_still_runs(struct picture *p);
void producer_runs_on(struct picture *p);
void two_rings(struct picture *p);
void wgmma_held_up(struct picture *p);
void wgmma_at_work(struct picture *p);
void wgmma_behind(struct picture *p);
void somebody_left(struct picture *p);

/* exited_states.c: warps that left, and lanes of one warp that stand apart, beside them. */
void consumers_left_in_round(struct picture *p);
void lanes_behind(struct picture *p);
void lanes_before_releasers(struct picture *p);
void lanes_behind_with_arrivals(struct picture *p);
void lanes_wait_alone(struct picture *p);
void one_lane_waits(struct picture *p);
void slot_released_twice(struct picture *p);
void slot_released_perhaps(struct picture *p);
void slots_released_unfilled(struct picture *p);
void slot_released_in_one_place(struct picture *p);
void slot_consumed_elsewhere(struct picture *p);
void release_of_another_stage(struct picture *p);
void two_arrives_of_a_warp(struct picture *p);
void two_arrives_of_a_lane(struct picture *p);
void two_arrives_counted(struct picture *p);
void two_arrives_under_way(struct picture *p);
void two_arrives_apart(struct picture *p);

/* early_states.c: an arrival of a warp that has left, which the word does not hold. */
void early_arrival(struct picture *p);
void arrival_behind_sync(struct picture *p);
void arrival_left_out_perhaps(struct picture *p);
void arrivals_of_two_phases(struct picture *p);
void arrivals_without_end(struct picture *p);
void early_arrival_of_two(struct picture *p);
void early_arrival_and_others(struct picture *p);
void early_arrival_and_lanes(struct picture *p);
void early_arrivals_in_a_phase(struct picture *p);

/* register_states.c: register pools: who holds, who asks, who has left. */
void regs_partial(struct picture *p);
void regs_partial_served_left(struct picture *p);
void regs_exhausted(struct picture *p);
void regs_no_release(struct picture *p);
void release_to_come(struct picture *p);
void release_behind_a_barrier(struct picture *p);
void release_perhaps_behind_a_barrier(struct picture *p);

/* kernel_states.c: small kernels of a few warps in every other kind of wait. */
void arrive_by_waiter_alone(struct picture *p);
void arrive_by_waiter_short(struct picture *p);
void arrive_short(struct picture *p);
void arrive_short_of_some_lanes(struct picture *p);
void arrive_short_of_fewer_lanes(struct picture *p);
void arrive_of_some_lanes(struct picture *p);
void copies_that_arrive(struct picture *p);
void tx_no_arrive(struct picture *p);
void tx_no_arrive_somewhere(struct picture *p);
void tx_announced_elsewhere(struct picture *p);
void copy_missing(struct picture *p);
void lane_split(struct picture *p);
void elected_lane_left(struct picture *p);
void half_of_the_lanes_left(struct picture *p);
void one_of_three_left(struct picture *p);
void a_stranger_left(struct picture *p);
void a_leader_left(struct picture *p);
void a_warp_of_its_own_left(struct picture *p);
void an_elected_lane_left(struct picture *p);
void lanes_without_work_left(struct picture *p);
void lane_split_doubtful(struct picture *p);
void lane_split_way_doubtful(struct picture *p);
void lane_split_of_elected(struct picture *p);
void lane_split_three_ways(struct picture *p);
void lanes_at_two_places(struct picture *p);
void lanes_poll(struct picture *p);
void lanes_poll_for_host(struct picture *p);
void not_initialised(struct picture *p);
void named_count(struct picture *p);
void named_count_guarded(struct picture *p);
void named_round_missing(struct picture *p);
void named_one_left(struct picture *p);
void named_one_left_that_never_came(struct picture *p);
void unknown_way_on(struct picture *p);
void nobody_left(struct picture *p);
void named_gathers(struct picture *p);
void block_sync_in_role(struct picture *p);
void two_mbarriers(struct picture *p);
void dependent_grid(struct picture *p);
void dependent_of_a_worker(struct picture *p);
void everybody_works(struct picture *p);
void slow_producer(struct picture *p);
void unknown_code(struct picture *p);
void wait_has_ended(struct picture *p);

/* arrival_states.c: arrivals that are too few for the count, or left out. */
void count_of_all_threads(struct picture *p);
void count_of_two_ctas(struct picture *p);
void count_with_unknown_arrival(struct picture *p);
void count_with_two_instructions(struct picture *p);
void count_with_warps_gone(struct picture *p);
void count_with_one_warp_gone(struct picture *p);
void count_with_producer_among_consumers(struct picture *p);
void count_and_arriver_gone(struct picture *p);
void count_of_waiter_and_one_gone(struct picture *p);
void one_release_left_out(struct picture *p);
void one_release_of_four(struct picture *p);
void one_release_of_four_behind(struct picture *p);
void release_of_a_later_round(struct picture *p);
void peer_leaves_loop_early(struct picture *p);
void nobody_arrives_beside_others(struct picture *p);

/* cluster_states.c: two CTAs of a cluster. */
void cluster_missing(struct picture *p);
void cluster_missing_before_bytes(struct picture *p);
void cluster_opens(struct picture *p);
void peer_exited(struct picture *p);
void peer_exited_like_own_warp(struct picture *p);
void cluster_parity_wrong(struct picture *p);
void cluster_tx_mismatch(struct picture *p);
void multicast_to_one(struct picture *p);
void multicast_to_some(struct picture *p);
void sender_without_a_round(struct picture *p);
void multicast_sender_left(struct picture *p);
void ranks_disagree(struct picture *p);
void ranks_differ_in_size(struct picture *p);
void ring_before_cluster_barrier(struct picture *p);
void cluster_arrive_missing(struct picture *p);
void cluster_bytes_from_peer(struct picture *p);
void peer_exited_for_good(struct picture *p);

/* named_states.c: who stands at named barriers, who has been there how often. */
void five_on_two(struct picture *p);
void five_on_two_in_a_loop(struct picture *p);
void some_of_five_on_two(struct picture *p);
void five_on_two_of_a_register(struct picture *p);
void partners_gone(struct picture *p);
void turn_missing(struct picture *p);
void turn_missing_in_a_loop(struct picture *p);
void fourth_warp_left(struct picture *p);
void fourth_warp_left_beside_another(struct picture *p);
void two_pairs_share(struct picture *p);
void two_pairs_share_equally(struct picture *p);
void mate_has_left(struct picture *p);
void left_after_a_round(struct picture *p);
void arrived_twice(struct picture *p);
void arrived_too_seldom(struct picture *p);
void arrived_in_a_loop(struct picture *p);
void barrier_of_consumers(struct picture *p);
void barrier_of_all(struct picture *p);
void barrier_of_consumers_perhaps(struct picture *p);
void barrier_of_consumers_in_open_ways(struct picture *p);

/* poll_states.c: kernels that poll words of memory. */
void global_flag(struct picture *p);
void host_flag(struct picture *p);
void flag_host_free(struct picture *p);
void flag_with_time_limit(struct picture *p);
void shared_flag_of_lanes(struct picture *p);
void shared_flag_with_time_limit(struct picture *p);
void flag_thread_free(struct picture *p);
void flag_stranger_free(struct picture *p);
void flag_threads_unknown(struct picture *p);
void flag_call_is_short(struct picture *p);
void flag_call_is_late(struct picture *p);
void flag_other_context(struct picture *p);
void flag_looked_at_before(struct picture *p);
void flag_looked_at_before_its_launch(struct picture *p);
void flag_launch_unknown_looked_at_before(struct picture *p);
void shared_flag_host_free(struct picture *p);
void lanes_poll_host_free(struct picture *p);
void grid_barrier_not_resident(struct picture *p);
void grid_barrier_down_not_resident(struct picture *p);
void requests_as_many_as_ctas(struct picture *p);
void flag_not_resident(struct picture *p);
void own_flags_not_resident(struct picture *p);
void grid_barrier_some_left(struct picture *p);
void not_resident_host_free(struct picture *p);
void dependent_grid_host_free(struct picture *p);
void shared_flag(struct picture *p);
void not_resident(struct picture *p);
void earlier_ctas_gone(struct picture *p);
void flag_to_come(struct picture *p);

#endif
