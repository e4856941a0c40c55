/* doubts_test.c - states of which one thing is not known, or fits two explanations, each beside one of which it is
 * known.  What a rule says of the one it must not say of the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "doubt_states.h"

#define NOT_SAID 0
#define POSSIBLE WSDBG_CONFIDENCE_POSSIBLE
#define LIKELY WSDBG_CONFIDENCE_LIKELY

/* After two looks that saw the same. */
static const struct row {
    const char *name;
    void (*state)(struct picture *p);
    const char *cause;
    int confidence;   /* of the surest finding with this cause, NOT_SAID */
    const char *role; /* "" = not known; NULL = not looked at */
} table[] = {
    {"a block-wide sync in one role", sync_in_role, "BLOCK_SYNC_IN_ROLE", LIKELY, NULL},
    {"... that one warp has left out", sync_left_out, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"... who is rather gone", sync_left_out, "WAKER_EXITED", LIKELY, NULL},
    {"... a warp of another role", sync_left_out_by_role, "BLOCK_SYNC_IN_ROLE", LIKELY, NULL},
    {"... on an id that is not known", sync_of_unknown_id, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"... of two warps", sync_of_two_warps, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"... an arrival", arrival_in_role, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"... that is yet to come", sync_ahead, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"a sync of one line, in two calls", sync_of_two_calls, "BLOCK_SYNC_IN_ROLE", LIKELY, NULL},
    {"... in one call", sync_of_one_call, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"a sync that others do not reach", sync_before_arrivals, "BLOCK_SYNC_IN_ROLE", LIKELY, NULL},
    {"... their way is not known", way_to_sync_unknown, "BLOCK_SYNC_IN_ROLE", NOT_SAID, NULL},
    {"another count was named", count_named_before, "NAMED_COUNT", LIKELY, NULL},
    {"... perhaps", count_named_perhaps, "NAMED_COUNT", NOT_SAID, NULL},
    {"bytes announced without an arrival", announced_in_loop, "TX_NO_ARRIVE", LIKELY, NULL},
    {"... a copy is no announcement", copied_behind_a_wait, "TX_NO_ARRIVE", NOT_SAID, NULL},
    {"... by two that wait for the slot", announced_by_two, "TX_NO_ARRIVE", LIKELY, NULL},
    {"... what comes behind the wait is not known", announced_where_unknown, "TX_NO_ARRIVE", NOT_SAID, NULL},
    {"... an arrival follows", announced_and_arrived, "TX_NO_ARRIVE", NOT_SAID, NULL},
    {"... another warp may arrive", announced_for_another, "TX_NO_ARRIVE", NOT_SAID, NULL},
    {"nine counted, eight arrive", count_of_nine, "ARRIVE_SHORT", LIKELY, NULL},
    {"... all lanes do", count_of_all_lanes, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"... the waiter is the ninth", count_with_waiter, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"... one that went on may be the ninth", count_with_one_gone_by, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"... a phase is over", count_reached_before, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"sixteen counted, eight arrive", count_of_sixteen, "ARRIVE_SHORT", LIKELY, NULL},
    {"... perhaps once more", count_with_second_arrival, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"one of 256 is missing, 256 lanes arrive", one_of_all_lanes, "ARRIVE_MISSING", LIKELY, NULL},
    {"... which wait for bytes of another barrier", all_lanes_wait_for_bytes, "ARRIVE_MISSING", POSSIBLE, NULL},
    {"... one of 257", one_more_than_all_lanes, "ARRIVE_MISSING", NOT_SAID, NULL},
    {"on record one arrived, more are missing than left", more_than_all_lanes_are_missing, "ARRIVE_SHORT", LIKELY,
     NULL},
    {"... all lanes of those that left are missing", all_lanes_have_left, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"one of three has left", one_has_left, "WAKER_EXITED", LIKELY, NULL},
    {"two of four have left", two_have_left, "WAKER_EXITED", LIKELY, NULL},
    {"... perhaps behind their arrivals", two_have_left_perhaps_behind_arrivals, "WAKER_EXITED", POSSIBLE, NULL},
    {"who left made one of two", all_made_by_who_left, "ARRIVE_SHORT", LIKELY, NULL},
    {"... in a later phase", later_phase_of_who_left, "ARRIVE_SHORT", NOT_SAID, NULL},
    {"... which the count was right for", later_phase_of_who_left, "WAKER_EXITED", LIKELY, NULL},
    {"one of a warpgroup left before it arrived", one_left_before_it_arrived, "WAKER_EXITED", LIKELY, NULL},
    {"... stays and does not arrive", one_never_arrives, "ARRIVE_MISSING", LIKELY, NULL},
    {"half of the consumers left", consumers_left, "WAKER_EXITED", LIKELY, "consumer 1"},
    {"... perhaps behind their arrivals", consumers_left_perhaps_later, "WAKER_EXITED", POSSIBLE, NULL},
    {"strangers left, too", strangers_left, "WAKER_EXITED", LIKELY, "consumer 0"},
    {"who left has no known role", roles_unknown, "WAKER_EXITED", LIKELY, ""},
    {"two poll global memory", no_shared_poll, "GLOBAL_SPIN", LIKELY, NULL},
    {"the second polls shared memory", shared_poll_second, "GLOBAL_SPIN", POSSIBLE, NULL},
};

static const struct wsdbg_finding *surest(const struct wsdbg_diagnosis *diagnosis, const char *cause)
{
    const struct wsdbg_finding *best = NULL;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis->findings[i];
        if (strcmp(wsdbg_cause_name(finding->cause), cause) == 0 && (!best || finding->confidence > best->confidence))
            best = finding;
    }
    return best;
}

static const char *role_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    const struct wsdbg_name *name =
        finding->role.known ? wsdbg_snapshot_name(snapshot, 0, WSDBG_NAME_ROLE, finding->role.value) : NULL;
    return name ? name->name : "";
}

static bool check(const struct row *row)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    row->state(&p);
    picture_still(&p);
    picture_judge(&p, &diagnosis);
    const struct wsdbg_finding *finding = surest(&diagnosis, row->cause);
    const int confidence = finding ? (int)finding->confidence : NOT_SAID;
    const bool right = confidence == row->confidence &&
                       (!finding || !row->role || strcmp(role_of(&p.snapshot, finding), row->role) == 0);
    for (size_t i = 0; i < diagnosis.finding_count && !right; i++)
        print_error("%s: %s (%s): %s\n", row->name, wsdbg_cause_name(diagnosis.findings[i].cause),
                    wsdbg_confidence_name(diagnosis.findings[i].confidence), diagnosis.findings[i].sentence);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    return right;
}

/* In one look, while a warp is at work.  Two causes are possible; the record is the better witness. */
static void a_wait_is_judged_once(void **state)
{
    struct picture p;
    struct wsdbg_diagnosis diagnosis;
    uint32_t found = 0;
    three_on_record(&p);
    picture_judge(&p, &diagnosis);
    for (size_t i = 0; i < diagnosis.finding_count; i++)
        found += diagnosis.findings[i].cause == WSDBG_CAUSE_ARRIVE_SHORT ||
                 diagnosis.findings[i].cause == WSDBG_CAUSE_ARRIVE_MISSING;
    assert_int_equal(found, 1);
    wsdbg_diagnosis_deinit(&diagnosis);
    picture_deinit(&p);
    (void)state;
}

static void nothing_is_made_of_a_doubt(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        wrong += !check(&table[i]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_made_of_a_doubt),
                                       cmocka_unit_test(a_wait_is_judged_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
