/* repair_trial.h - a trial: one change of a replay after another, and whether the replay then finishes.  Only for the
 * files that find repairs.  repair_trial.c runs a trial.  The others change something:
 *   repair_parity.c, repair_parity_apart.c, repair_stages.c,
 *   repair_sites.c, repair_astray.c                              waits
 *   repair_shift.c, repair_afresh.c                              waits and arrivals
 *   repair_begin.c, repair_turns.c and repair_habits.c, repair_fill.c, repair_ring.c,
 *   repair_move.c, repair_leap.c                                 arrivals
 *   repair_order.c                                               nothing: in which order stages follow one another
 *   repair_flow.c                                                nothing: which side brings data
 *   repair_stay.c, repair_lanes.c, repair_unmade.c               what warps and lanes do that have left
 *   repair_bytes.c, repair.c, repair_line.c                      bytes, counts
 *   repair_named.c, repair_named_id.c, repair_named_apart.c,
 *   repair_named_less.c, repair_named_rounds.c, repair_named_mates.c, repair_block.c
 *                                                                named barriers
 */
#ifndef WSDBG_DIAGNOSE_REPAIR_TRIAL_H
#define WSDBG_DIAGNOSE_REPAIR_TRIAL_H

#include "diagnose/repair.h"

enum { WSDBG_EDITS_MOST = 1 << 14 };

/* For a family and a CTA, by barrier: the one of these that has its stage; WSDBG_NONE = none has. */
struct wsdbg_trial_beside {
    bool is_set;
    uint32_t family, cta;
    uint32_t of[];
};

struct wsdbg_trial {
    struct wsdbg_trial_beside *beside;
    struct wsdbg_replay *replay;
    const struct wsdbg_case *c;
    enum wsdbg_replay_order order; /* in which the replay ended in the picture */
    /* The standstill: a copy of what the replay had then. */
    uint32_t *at;                     /* by agent */
    enum wsdbg_agent_state *state;    /* by agent */
    struct wsdbg_replay_waits *waits; /* agent x barrier */
    uint32_t *expected_was;           /* by barrier; 0 = not initialised */
    /* The change that is tried: `changes` points to these. */
    uint32_t *expected;
    uint8_t *parity_from;
    uint32_t *doubles;
    uint32_t *flip_at;
    bool *free_bytes;
    uint8_t *id_to; /* by agent */
    struct wsdbg_replay_edit edits[WSDBG_EDITS_MOST];
    struct wsdbg_replay_changes changes;
    bool of_one;       /* turns of a ring arrive on the only barrier of another family, whatever their stage */
    bool is_to_end;    /* with the change, all threads reach the kernel's end in every order tried */
    bool assumes_idle; /* ... if nothing comes of the rest of walks that are not whole */
    struct wsdbg_repairs *out;
};

/* The stage number of a barrier; WSDBG_NONE = it has no row. */
uint32_t wsdbg_trial_stage_of(const struct wsdbg_trial *t, uint32_t barrier);
/* Whether two barriers have the same stage number, whatever their families. */
bool wsdbg_trial_is_of_stage(const struct wsdbg_trial *t, uint32_t a, uint32_t b);
/* Whether it is the first barrier of its family. */
bool wsdbg_trial_leads_family(const struct wsdbg_trial *t, uint32_t barrier);
/* An agent's waits and arrivals on a barrier up to the standstill. */
const struct wsdbg_replay_waits *wsdbg_trial_waits_was(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier);

/* The barrier of a family, in a CTA, that has the stage of the barrier `wait`; WSDBG_NONE. */
uint32_t wsdbg_trial_find_beside(const struct wsdbg_trial *t, uint32_t family, uint32_t cta, uint32_t wait);
/* The same.  Asked for each turn, so the trial keeps the answers of the family and the CTA at hand. */
uint32_t wsdbg_trial_stage_beside(const struct wsdbg_trial *t, uint32_t family, uint32_t cta, uint32_t wait);
/* Whether an agent may have to wait at the step. */
static inline bool wsdbg_trial_may_block(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_WAIT || step->kind == WSDBG_ACCESS_NAMED_SYNC ||
           step->kind == WSDBG_ACCESS_CLUSTER_WAIT || step->kind == WSDBG_STEP_TOGETHER;
}
/* Whether the three other warps of the warp's warpgroup are all still in the kernel. */
bool wsdbg_trial_mates_stay(const struct wsdbg_trial *t, uint32_t warp);
/* How many warps a CTA has. */
uint32_t wsdbg_trial_warps_of_cta(const struct wsdbg_trial *t);
/* Whether some agent stood at a wait on the mbarrier. */
bool wsdbg_trial_is_waited_on(const struct wsdbg_trial *t, uint32_t barrier);
/* Whether some agent stood at the named barrier. */
bool wsdbg_trial_is_waited_at(const struct wsdbg_trial *t, uint32_t id);
/* The threads that uses of the named barrier name, if all name the same; 0 = not. */
uint32_t wsdbg_trial_threads_named(const struct wsdbg_trial *t, uint32_t id);
/* Takes the first wait of each of the warps on the family.  Whether the instruction of one of them is also the first
 * wait on another family, with the same parity, and the wait behind that one ended, too.  Waits that begin with the
 * parity `right` do not count; WSDBG_NONE: all count. */
bool wsdbg_trial_is_right_elsewhere(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps,
                                    uint32_t right);
/* Where a warp of CTA `cta` arrives if a like warp, of CTA `model_cta` (both positions in c->ctas), arrives on this
 * barrier: the CTAs change places.  WSDBG_NONE: no step names that barrier. */
uint32_t wsdbg_trial_target_for(const struct wsdbg_trial *t, uint32_t barrier, uint32_t model_cta, uint32_t cta);
/* Whether no phase of the barriers of the edits was left half done by the last run: then no arrival was too many. */
bool wsdbg_trial_are_phases_whole(const struct wsdbg_trial *t);
/* Lets all waits on the family that name a parity begin with repair->value, and adds the warps for which that is a
 * change.  False: some do not alternate, or all begin so already. */
bool wsdbg_trial_set_first(struct wsdbg_trial *t, uint32_t family, struct wsdbg_repair *repair);
/* Whether each agent that begins to wait on a stage of the family with another parity than repair->value begins most
 * stages with that one: then the wrong ones are exceptions, and need no other reason. */
bool wsdbg_trial_are_exceptions(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_repair *repair);
/* Whether, in the last run, all phases of the family completed that somebody waits for, and none was left half done:
 * then arrivals are missing. */
bool wsdbg_trial_gets_all_phases(const struct wsdbg_trial *t, uint32_t family);
/* Whether data goes through shared memory only from these warps, which wait on the family, to those who arrive on it,
 * or only the other way.  Out of memory: not known. */
enum wsdbg_flow { WSDBG_FLOW_UNKNOWN, WSDBG_FLOW_FROM, WSDBG_FLOW_TO };
enum wsdbg_flow wsdbg_trial_flow(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps);
/* How many arrivals a round of the barrier has: each agent's first arrival instruction on it counts. */
uint32_t wsdbg_trial_round_of(const struct wsdbg_trial *t, uint32_t barrier);
/* Whether a barrier at which agents stood never completes a phase with the trial's count, though somebody arrives on
 * it.  Then the count does not repair the waits on it: they end only because it never turns.  Of other barriers not all
 * arrivals may be known. */
bool wsdbg_trial_never_turns(const struct wsdbg_trial *t);
/* How many phases the arrivals of all whole walks fill. */
uint64_t wsdbg_trial_rounds_of(const struct wsdbg_trial *t, uint32_t barrier);
/* Whether the arrivals on all stages of the barrier's ring fill as many phases as are waited for, but some stage gets
 * fewer than its waits take: then no arrival is missing, and the two sides count the stages differently. */
bool wsdbg_trial_counts_apart(const struct wsdbg_trial *t, uint32_t barrier);
/* Whether some thread arrives on the stages of the barrier's ring in the order in which another one waits for them:
 * then these arrivals go to the right stages. */
bool wsdbg_trial_is_in_order(const struct wsdbg_trial *t, uint32_t barrier);
/* Whether the agent leaves out rounds of the ring that the other side goes through (repair_leap.c). */
bool wsdbg_trial_leaps(const struct wsdbg_trial *t, uint32_t agent, uint32_t family);
/* Whether the agent has filled the stage of the wait at the step before that wait: it copied there, or announced bytes,
 * on a barrier of another ring of as many stages.  Then the slot is not free when it comes to the wait. */
bool wsdbg_trial_has_filled(const struct wsdbg_trial *t, uint32_t agent, uint32_t step);
/* Runs the replay without changes: whether it ends in the picture. */
bool wsdbg_trial_ends_in_picture(const struct wsdbg_trial *t);

/* Begins a trial without changes. */
void wsdbg_trial_begin(struct wsdbg_trial *t);
/* Adds an edit to the changes; false: there is no such barrier, or there are too many edits, which is noted in the
 * result. */
bool wsdbg_trial_add_edit(struct wsdbg_trial *t, struct wsdbg_replay_edit edit);
/* Runs the replay with the changes in several orders: whether the repair works (repair.h) in each of them.  Notes
 * whether it leads to the end. */
bool wsdbg_trial_works(struct wsdbg_trial *t);
/* Adds a repair that works to the result, if there is room. */
void wsdbg_trial_keep(struct wsdbg_trial *t, const struct wsdbg_repair *repair);
/* The same for a repair that an earlier trial found to work: `is_to_end` is what that one noted. */
void wsdbg_trial_keep_found(struct wsdbg_trial *t, const struct wsdbg_repair *repair, bool is_to_end);
/* Sorts the edits and notes the first one in the repair; false where there are none. */
bool wsdbg_trial_keep_edits(struct wsdbg_trial *t, struct wsdbg_repair *repair);

/* Each tries the repairs of one kind and keeps those that work. */
void wsdbg_try_drift(struct wsdbg_trial *t);
void wsdbg_try_leaps(struct wsdbg_trial *t);
void wsdbg_try_stay(struct wsdbg_trial *t);
void wsdbg_try_lanes(struct wsdbg_trial *t);
void wsdbg_try_unmade(struct wsdbg_trial *t);
void wsdbg_try_early(struct wsdbg_trial *t);
void wsdbg_try_blocks(struct wsdbg_trial *t);
void wsdbg_try_named(struct wsdbg_trial *t);
void wsdbg_try_named_ids(struct wsdbg_trial *t);
void wsdbg_try_named_apart(struct wsdbg_trial *t);
void wsdbg_try_named_less(struct wsdbg_trial *t);
void wsdbg_try_named_rounds(struct wsdbg_trial *t);
void wsdbg_try_named_mates(struct wsdbg_trial *t);
void wsdbg_try_announce(struct wsdbg_trial *t);
void wsdbg_try_bytes(struct wsdbg_trial *t);
void wsdbg_try_sites(struct wsdbg_trial *t);
void wsdbg_try_tokens(struct wsdbg_trial *t);
void wsdbg_try_stages(struct wsdbg_trial *t);
void wsdbg_try_first_of_all(struct wsdbg_trial *t);
void wsdbg_try_shifts(struct wsdbg_trial *t);
void wsdbg_try_astray(struct wsdbg_trial *t);
void wsdbg_try_afresh(struct wsdbg_trial *t);
void wsdbg_try_move(struct wsdbg_trial *t);
void wsdbg_try_swap(struct wsdbg_trial *t);
void wsdbg_try_first(struct wsdbg_trial *t, uint32_t value); /* value: the new first parity */
void wsdbg_try_first_apart(struct wsdbg_trial *t);
void wsdbg_try_turns(struct wsdbg_trial *t, enum wsdbg_repair_kind kind); /* ADD, DROP or COPY */
void wsdbg_try_turns_of_one(struct wsdbg_trial *t);
void wsdbg_try_fill(struct wsdbg_trial *t);
void wsdbg_try_beginnings(struct wsdbg_trial *t);
void wsdbg_try_begin_all(struct wsdbg_trial *t);
void wsdbg_try_skip(struct wsdbg_trial *t);
void wsdbg_try_releases(struct wsdbg_trial *t);
void wsdbg_try_rings(struct wsdbg_trial *t, enum wsdbg_repair_kind kind); /* ADD or DROP */
void wsdbg_try_line(struct wsdbg_trial *t);

#endif
