/* doubt_states.h - pictures that doubts_test judges: each function fills in a new one.  What a state is stands at its
 * definition, what must be said of it in the table of doubts_test.c.
 */
#ifndef TEST_DIAGNOSE_DOUBT_STATES_H
#define TEST_DIAGNOSE_DOUBT_STATES_H

#include "picture.h"

void sync_in_role(struct picture *p);
void sync_left_out(struct picture *p);
void sync_left_out_by_role(struct picture *p);
void sync_of_unknown_id(struct picture *p);
void sync_of_two_warps(struct picture *p);
void arrival_in_role(struct picture *p);
void sync_ahead(struct picture *p);
void sync_of_two_calls(struct picture *p);
void sync_of_one_call(struct picture *p);
void sync_before_arrivals(struct picture *p);
void way_to_sync_unknown(struct picture *p);
void count_named_before(struct picture *p);
void count_named_perhaps(struct picture *p);
void announced_in_loop(struct picture *p);
void copied_behind_a_wait(struct picture *p);
void announced_by_two(struct picture *p);
void announced_where_unknown(struct picture *p);
void announced_and_arrived(struct picture *p);
void announced_for_another(struct picture *p);
void count_of_nine(struct picture *p);
void count_of_all_lanes(struct picture *p);
void count_with_waiter(struct picture *p);
void count_with_one_gone_by(struct picture *p);
void count_reached_before(struct picture *p);
void count_of_sixteen(struct picture *p);
void count_with_second_arrival(struct picture *p);
void one_of_all_lanes(struct picture *p);
void all_lanes_wait_for_bytes(struct picture *p);
void one_more_than_all_lanes(struct picture *p);
void one_has_left(struct picture *p);
void two_have_left(struct picture *p);
void all_made_by_who_left(struct picture *p);
void later_phase_of_who_left(struct picture *p);
void one_left_before_it_arrived(struct picture *p);
void one_never_arrives(struct picture *p);
void two_have_left_perhaps_behind_arrivals(struct picture *p);
void consumers_left(struct picture *p);
void consumers_left_perhaps_later(struct picture *p);
void strangers_left(struct picture *p);
void roles_unknown(struct picture *p);
void no_shared_poll(struct picture *p);
void shared_poll_second(struct picture *p);
void three_on_record(struct picture *p);
void all_lanes_have_left(struct picture *p);
void more_than_all_lanes_are_missing(struct picture *p);

/* For the files of these pictures. */
struct wsdbg_reach *doubt_reach_of(struct picture *p, uint32_t warp, uint32_t access);
void doubt_stand_at_sync(struct picture *p, uint32_t first_warp, uint32_t last_warp);

#endif
