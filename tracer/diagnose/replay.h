/* replay.h - a replay: the threads of a case follow their walks (snapshot.walks) in a model of their barriers, until
 * nobody can go on.
 *
 * Reads: walks, steps, barriers.  If a replay ends in the picture that was seen, it shows how the kernel got there:
 * which phases completed, how often each warp arrived, which phase ended which wait.  With changes (struct
 * wsdbg_replay_changes) it shows whether the changed kernel would finish.
 */
#ifndef WSDBG_DIAGNOSE_REPLAY_H
#define WSDBG_DIAGNOSE_REPLAY_H

#include "diagnose/code_case.h"

enum { WSDBG_REPLAY_BARRIERS_MOST = 512 };

/* An mbarrier that some step names. */
struct wsdbg_replay_barrier {
    uint32_t cta;       /* position in c->ctas */
    uint32_t offset;    /* in its shared memory */
    uint32_t row;       /* index in snapshot.barriers, WSDBG_NONE */
    uint32_t family;    /* the first barrier of its family (is_of_family) */
    uint32_t stages;    /* barriers of its family in its CTA */
    bool bytes_unknown; /* the bytes of some copy are not known */
    int64_t copy_bytes; /* what each such copy is taken to bring; 0 = not known, then bytes hold up no phase */
    /* While the replay runs: */
    bool is_initialised;
    uint32_t init_warp, init_access;   /* who initialised it, by which instruction */
    uint32_t expected, pending, phase; /* phase: how many have completed */
    int64_t bytes;                     /* announced and not brought; negative: brought before they were announced */
    int64_t bytes_under_way;           /* of copies, where these take their time */
};

/* The token that an arrival of a run gave: none, or of a phase of this parity. */
enum wsdbg_replay_token { WSDBG_TOKEN_NONE, WSDBG_TOKEN_OF_0, WSDBG_TOKEN_OF_1 };

/* A named barrier of one CTA. */
enum { WSDBG_NAMED_BARRIERS = 16 };
struct wsdbg_replay_named {
    uint32_t threads; /* that have arrived since it last completed */
};

/* An agent's waits and arrivals on one barrier so far. */
struct wsdbg_replay_waits {
    uint32_t passed;      /* waits that ended; a repeated wait does not count */
    uint32_t arrived;     /* arrivals, all lanes together */
    uint8_t first_parity; /* of the first wait */
    bool alternates;      /* each wait named the other parity than the wait before it */
    uint8_t last_parity;
    bool any;               /* it has waited */
    bool by_token;          /* ... for the phase of an arrival of its own, whatever its parity */
    uint8_t arrived_parity; /* of the phase of its last arrival */
    uint8_t earlier_parity; /* ... of the arrival before that */
    bool has_earlier;       /* there was one */
    bool has_token;         /* it has arrived since its last wait by token */
    bool lost_token;        /* ... or would have, if a change had not left that out */
    bool slipped;           /* a wait was ended by another phase than the one that it is meant for */
    bool lags;              /* ... by no later phase than the wait before it */
    bool began_free;        /* its first wait ended before any phase had completed */
    uint32_t last_phase;    /* how many had completed when its last wait ended */
    uint64_t phase_sum;     /* ... the sum of these over all its waits */
    uint64_t phase_hash;    /* ... a hash of their sequence */
};

enum wsdbg_agent_state {
    WSDBG_AGENT_GOES,     /* can execute its next step */
    WSDBG_AGENT_WAITS,    /* for an mbarrier's phase */
    WSDBG_AGENT_GATHERS,  /* at a named barrier, a __syncwarp or a wgmma, for the other lanes of its warp */
    WSDBG_AGENT_NAMED,    /* at a named barrier, for other warps */
    WSDBG_AGENT_CLUSTER,  /* at the cluster barrier */
    WSDBG_AGENT_MATRICES, /* for multiplications that not all warps of its warpgroup have issued */
    WSDBG_AGENT_POLLS,    /* at a poll at which it is held, as it was seen there */
    WSDBG_AGENT_LOST,     /* its walk ends before the kernel does, or what it waits for is not known */
    WSDBG_AGENT_ENDED     /* it has left the kernel */
};

/* Two instructions: a wait by the second one waits for the phase for which a wait by the first one did before. */
struct wsdbg_repeating_pair {
    uint32_t first, second; /* accesses */
};
enum { WSDBG_REPEATING_PAIRS_MOST = 16 };

/* The lanes of a warp that have the same walk. */
struct wsdbg_replay_agent {
    uint32_t walk; /* index in snapshot.walks */
    uint32_t warp; /* local number */
    uint32_t cta;  /* position in c->ctas */
    uint32_t lanes;
    uint32_t lane_count;
    const struct wsdbg_step_row *steps;
    uint32_t step_count;
    uint32_t *target; /* by step: index in replay.barriers, WSDBG_NONE = no mbarrier */
    bool *repeats;    /* by step: a wait for the same phase as the wait before it on the barrier */
    /* Which wait instructions repeat which others in some round. */
    struct wsdbg_repeating_pair pairs[WSDBG_REPEATING_PAIRS_MOST];
    uint32_t pair_count;
    uint32_t stale_wait; /* a wait that is taken to name the token of the arrival before the last one; WSDBG_NONE */
    bool is_idle;        /* it only waits, and which of its waits repeat others is not known */
    bool polls;          /* some of its waits are polls of a loop that takes up whatever is ready (replay_polls.c) */
    /* While the replay runs: */
    bool *is_taken; /* by step: it was taken up ahead of a poll that was not ready; used if it polls */
    /* It is ahead of the poll `ahead_of`, WSDBG_NONE, from the step `ahead_begin` up to `ahead_end`. */
    uint32_t ahead_begin, ahead_end, ahead_of;
    bool was_ahead;   /* it has just come to `ahead_end`, and is back at the poll */
    bool tests_again; /* it has begun the poll at `at` before */
    uint32_t at;      /* the step that it waits at or executes next */
    uint32_t held_at; /* the poll from which it does not come; WSDBG_NONE */
    enum wsdbg_agent_state state;
    bool repeats_ahead_of;    /* `repeats_now` of the poll `ahead_of` */
    bool repeats_now;         /* the wait at `at` is for the same phase as the wait before it on the barrier */
    uint32_t cluster_phase;   /* in which it arrived last */
    bool is_in_cluster_phase; /* it has arrived in the phase under way */
    uint32_t issued;          /* multiplications of its warpgroup that it has issued */
};

/* The order in which agents that can go on do so.  Without races in the kernel it changes nothing.  BY_CHANCE and those
 * after it look random, but each is always the same.  GROUP_FIRST and GROUP_LAST and the three after each: the
 * warpgroup of this number, in all CTAs, goes as far as it can before the others, or they do before it.  AS_SEEN and
 * AS_SEEN_LAST: an agent that could pass a wait like the one in which it was seen lets all others go first.  SLOW and
 * those after it are as the first orders, but copies bring their bytes only when no agent can go on, not at once. */
enum wsdbg_replay_order {
    WSDBG_REPLAY_FIRST_FIRST,  /* each agent as far as it can, the first agent first */
    WSDBG_REPLAY_LAST_FIRST,   /* ... the last agent first */
    WSDBG_REPLAY_STEP_BY_STEP, /* one step of each agent, round and round */
    WSDBG_REPLAY_BY_CHANCE,
    WSDBG_REPLAY_GROUP_FIRST = WSDBG_REPLAY_BY_CHANCE + 13,
    WSDBG_REPLAY_GROUP_LAST = WSDBG_REPLAY_GROUP_FIRST + 4,
    WSDBG_REPLAY_ORDERS = WSDBG_REPLAY_GROUP_LAST + 4, /* those before it do not depend on the picture */
    WSDBG_REPLAY_AS_SEEN = WSDBG_REPLAY_ORDERS,
    WSDBG_REPLAY_AS_SEEN_LAST,
    WSDBG_REPLAY_SLOW,
    WSDBG_REPLAY_ALL_ORDERS = WSDBG_REPLAY_SLOW + WSDBG_REPLAY_BY_CHANCE + 4
};

/* What a copy of unknown size is taken to bring. */
enum wsdbg_replay_shares {
    WSDBG_SHARES_EQUAL,     /* an equal share of the bytes that all rounds of its barrier announce */
    WSDBG_SHARES_OF_OWN,    /* what most rounds of its barrier announce for a copy: one with too many bytes or too few
                             * copies fails */
    WSDBG_SHARES_OF_FAMILY, /* the same; where the rounds of the barrier do not agree, those of its family */
    WSDBG_SHARES_KINDS
};

/* How many steps the runs of a replay may take together; some seconds. */
#define WSDBG_REPLAY_STEPS (UINT64_C(1) << 26)

struct wsdbg_replay {
    const struct wsdbg_case *c;
    struct wsdbg_replay_barrier *barriers;
    uint32_t barrier_count;
    struct wsdbg_replay_agent *agents;
    uint32_t agent_count;
    struct wsdbg_replay_waits *waits; /* agent x barrier */
    uint64_t steps_left;              /* that its runs may still take */
    uint32_t stale_waits;          /* how many waits by token could, each alone, be the one that is taken to be stale */
    enum wsdbg_replay_order order; /* of the last run */
    /* Agents that were seen in a poll stay at the poll of this number in their walks; WSDBG_NONE: polls end.  In runs
     * with changes all polls end. */
    uint32_t held_poll;
    /* How that ended: */
    bool is_broken;    /* a barrier got more arrivals than a phase takes, or was used before its initialisation; or no
                        * steps were left */
    bool overflows;    /* ... by an arrival on a barrier whose phase takes no more */
    uint32_t overflow; /* that barrier */
    /* Of wsdbg_replay_failing: */
    uint32_t orders;                 /* in how many orders it was run */
    uint32_t overflow_runs;          /* in how many of them it was so */
    uint32_t ended_runs;             /* in how many of them all agents left the kernel */
    bool is_unlike;                  /* no order ends, and none stops about where the kernel was seen */
    bool is_guessed;                 /* of one that fails: which CTA got which number of a counter was guessed */
    bool has_lost;                   /* some agent is WSDBG_AGENT_LOST */
    bool has_ended;                  /* all agents have left the kernel */
    bool assumes_idle;               /* ... some behind the end of a walk that is not whole */
    enum wsdbg_replay_shares shares; /* how bytes were shared last */
    uint32_t *targets;               /* memory of all agents' `target` */
    bool *repeats;                   /* memory of all agents' `repeats` */
    bool *is_taken;                  /* memory of all agents' `is_taken` */
    size_t step_count;               /* of all agents */
    uint8_t *tokens;                 /* by step of all agents, as targets: that of an arrival in this run */
    bool *has_partner;               /* agent x barrier: see wsdbg_replay_is_deed_for */
    struct wsdbg_replay_named *named;
    const struct wsdbg_replay_changes *changes; /* of the present run; NULL = none */
    uint32_t cluster_phase;
    bool is_slow; /* copies take their time */
};

/* A change of one step.  With arrivals: the agent makes them before the step (step = step_count: at the end of its
 * walk).  Without: it leaves the step out. */
struct wsdbg_replay_edit {
    uint32_t agent, step, barrier, arrivals;
    int64_t bytes; /* announced with the arrivals */
    /* Not 0: the arrival is one of a warp at the named barrier `named`, where uses name so many threads; `barrier` is
     * none of the replay's. */
    uint32_t named_threads, named;
};

/* Arrivals at an mbarrier, or none. */
static inline struct wsdbg_replay_edit wsdbg_replay_edit_of(uint32_t agent, uint32_t step, uint32_t barrier,
                                                            uint32_t arrivals, int64_t bytes)
{
    return (struct wsdbg_replay_edit){
        .agent = agent, .step = step, .barrier = barrier, .arrivals = arrivals, .bytes = bytes};
}

/* Other parities for waits by one instruction. */
enum wsdbg_replay_flips {
    WSDBG_FLIPS_NONE,
    WSDBG_FLIPS_ONE,       /* the wait at the agent's step `flip_at` names the other parity */
    WSDBG_FLIPS_ALL,       /* all do */
    WSDBG_FLIPS_ALTERNATE, /* those on the same barrier alternate from the first one on */
    WSDBG_FLIPS_STEPS      /* those that `flip_steps` says do, of whatever agent */
};

#define WSDBG_NAMED_UNCHANGED UINT8_MAX
enum { WSDBG_APART_WARPS = 32 };

/* How the replayed kernel differs from the real one. */
struct wsdbg_replay_changes {
    const uint32_t *expected; /* by barrier: the count that it is initialised with, 0 = unchanged; NULL = no changes */
    /* By barrier: the parities that waits name.  1, 2: each agent begins with parity 0, 1 and alternates; 3: each
     * agent alternates from its own first parity; 0 = unchanged; NULL = no changes. */
    const uint8_t *parity_from;
    const struct wsdbg_replay_edit *edits; /* by agent, then step */
    uint32_t edit_count;
    /* By bits: named barriers at which the warps that arrive there have done so once before they begin. */
    uint32_t early_ids;
    /* By agent: the step from which on its warp comes to named barriers for another warp, too; WSDBG_NONE = it does
     * not; NULL = none does. */
    const uint32_t *doubles;
    bool fresh_tokens; /* all waits by token name that of the last arrival */
    /* By agent: a step that is a wait by the instruction; WSDBG_NONE = the agent's waits are unchanged. */
    const uint32_t *flip_at;
    enum wsdbg_replay_flips flips;
    const bool *flip_steps; /* STEPS: by step of all agents, as wsdbg_replay.targets */
    const bool *free_bytes; /* by barrier: bytes hold up no phase; NULL = they do */
    /* Some agents leave out rounds of the ring of the barrier `leapt`: their waits there are not for the next phase. */
    bool has_leapt;
    uint32_t leapt;
    /* Threads that uses of a named barrier name instead of `named_was`; 0 = unchanged.  named_id: WSDBG_NONE = of any.
     */
    uint32_t named_id, named_was, named_count;
    /* By agent: the named barrier that its uses by the instruction `id_access` with `id_threads` threads name,
     * WSDBG_NAMED_UNCHANGED = the one in the code; NULL = all do. */
    const uint8_t *id_to;
    uint32_t id_access, id_threads;
    /* Warps of each CTA, a bit each, that name `apart_to` where they wait at the named barrier `apart_from`, and where
     * they arrive there. */
    uint32_t apart_waits, apart_arrives, apart_from, apart_to;
};

/* Whether a warp's use of a named barrier is one of those that name another one with the changes. */
static inline bool wsdbg_replay_is_apart(const struct wsdbg_replay_changes *changes, const struct wsdbg_step_row *step,
                                         uint32_t warp)
{
    const uint32_t warps = step->kind == WSDBG_ACCESS_NAMED_SYNC     ? changes->apart_waits
                           : step->kind == WSDBG_ACCESS_NAMED_ARRIVE ? changes->apart_arrives
                                                                     : 0;
    return warps && step->address == changes->apart_from && warp < WSDBG_APART_WARPS && warps >> warp & 1;
}

/* *out = NULL where no replay is possible: a warp of the case was not seen or has no walk, or the walks are too large.
 * The caller destroys it. */
struct wsdbg_error *wsdbg_replay_create(const struct wsdbg_case *c, struct wsdbg_replay **out);

/* For a rule that compares whole walks of a picture that stands still: NULL where it does not, where no replay is
 * possible, or where some walk is not known from the kernel's start to its end.  The caller destroys it.  Out of memory
 * is noted in the case. */
struct wsdbg_replay *wsdbg_replay_of_still(struct wsdbg_case *c);
/* Sets what copies of unknown size are taken to bring.  Returns whether that changed anything. */
bool wsdbg_replay_share_bytes(struct wsdbg_replay *replay, enum wsdbg_replay_shares shares);
/* Whether a step is a use of a named barrier. */
static inline bool wsdbg_replay_is_use(const struct wsdbg_step_row *step, uint32_t id)
{
    return (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE) && step->address == id;
}
/* Whether a step copies bytes that the barrier counts, into one CTA or into several. */
bool wsdbg_replay_is_copy_to(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                             uint32_t barrier);
/* Bytes that all walks announce on the barrier to their ends, less those that they copy there. */
int64_t wsdbg_replay_bytes_never_copied(const struct wsdbg_replay *replay, uint32_t barrier);
void wsdbg_replay_destroy(struct wsdbg_replay *replay); /* NULL is fine */
/* The mbarrier at an offset of a CTA (position in c->ctas); WSDBG_NONE where no step names it. */
uint32_t wsdbg_replay_barrier_at(const struct wsdbg_replay *replay, uint32_t cta, uint32_t offset);
/* Runs from the kernel's start until nobody can go on.  `changes` may be NULL. */
void wsdbg_replay_run(struct wsdbg_replay *replay, enum wsdbg_replay_order order,
                      const struct wsdbg_replay_changes *changes);
/* The replay of a case, run in the first order in which it ends in the picture.  NULL where no order ends so or memory
 * ran out (remembered in no_memory).  The case keeps it: whoever runs it again must leave it as it was. */
struct wsdbg_replay *wsdbg_replay_standing(struct wsdbg_case *c);
/* A replay that no order leads to the picture, but that fails; NULL = there is none.  One of these holds:
 * - Each order that does not finish is broken by an arrival too many on the same family of barriers.  The last run was
 *   broken so.
 * - At most one of four orders finishes, all others stop or are broken so.  The last run stopped with most agents where
 *   they were seen.
 * - No order finishes, and some stop, but elsewhere than it was seen: is_unlike.  Who judges by that may only say what
 * is possible. The replay is the case's. */
struct wsdbg_replay *wsdbg_replay_failing(struct wsdbg_case *c);
/* Whether walks lead to the picture if those that were seen in a poll stay there, and to no end if all polls end.  Only
 * asked behind the rules that replay walks. */
bool wsdbg_replay_stands_at_polls(const struct wsdbg_case *c);
/* Of a case that an arrival too many on the barrier `row` (index in snapshot.barriers) ended: a replay that such an
 * arrival on its family breaks, in the last run and perhaps in other orders.  NULL = there is none, or replays break
 * elsewhere, too.  The replay is the case's. */
struct wsdbg_replay *wsdbg_replay_faulting(struct wsdbg_case *c, uint32_t row);
/* Whether two barriers are of one family, in the same CTA or in different ones. */
static inline bool wsdbg_replay_is_of_family(const struct wsdbg_replay *replay, uint32_t a, uint32_t b)
{
    return replay->barriers[a].family == replay->barriers[b].family;
}
/* Whether some warp never arrives on the family of a barrier though it probably should.  One of these holds: the same
 * warp of another CTA arrives; most warps of its warpgroup arrive; or it has left the kernel, and two warps of its
 * warpgroup arrive; or its whole warpgroup has left, and the warp at the same place of another warpgroup arrives,
 * which has no other role.  Or lanes have left a warp and never arrive, and the same lanes of another CTA do. */
bool wsdbg_replay_lacks_an_arriver(const struct wsdbg_replay *replay, uint32_t barrier);
/* Whether a wait was ended by another phase than the one that it is meant for.  Where several warps share the phases of
 * a barrier, so that all of them are waited for, a warp that waits for only some of them does not count. */
bool wsdbg_replay_has_slipped(const struct wsdbg_replay *replay);
/* The warpgroup of an agent, in its CTA. */
static inline uint32_t wsdbg_replay_group_of(const struct wsdbg_replay *replay, uint32_t agent)
{
    return wsdbg_case_warp(replay->c, replay->agents[agent].warp)->warp / WSDBG_GROUP_WARPS;
}

/* Whether each phase of the barrier ended the waits of one warpgroup alone, as far as the sums of their phases tell. */
bool wsdbg_replay_groups_take_turns(const struct wsdbg_replay *replay, uint32_t barrier);
/* Whether the agent's lanes were seen in a wait for this parity of a barrier of the replay (replay_picture.c). */
bool wsdbg_replay_was_seen_at(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                              uint32_t barrier, uint32_t parity);
/* Whether lanes of the agent were seen in a loop that polls memory. */
bool wsdbg_replay_was_seen_polling(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent);
/* Whether the replay ended in the picture: every part of every warp waits for the same, but for lanes at the end of a
 * walk that is not whole; every word that is known is the same, and those of waits are known.  A word on which nobody
 * waits, and which only walks change that are not whole, may be another one. */
bool wsdbg_replay_is_picture(const struct wsdbg_replay *replay);

/* Finds which waits of all agents repeat others, by which instructions they do, and which agents are idle.  False: out
 * of memory. */
bool wsdbg_replay_find_repeats(struct wsdbg_replay *replay);
/* A part of that: marks the waits of threads that wait twice a round for a phase a round (replay_twice.c). */
bool wsdbg_replay_find_twice(struct wsdbg_replay *replay);
/* Whether what the agent does in a step may be what its waits on the barrier `wait` are for: it changes an mbarrier,
 * and not one of another stage of a ring that is as long.  If the agent changes the same stage of such a ring
 * somewhere, only that counts. */
bool wsdbg_replay_is_deed_for(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                              uint32_t wait);
/* Whether a wait that names the same parity as the agent's wait before it, as it would by a change, waits for the same
 * phase: the waits of these two instructions do so in another round, and nothing is done with the stage in between. */
bool wsdbg_replay_repeats_in_other_rounds(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                                          uint32_t at);

/* The next poll behind the step `from` that the agent makes in the loop in which it waits, besides the poll at `at`:
 * the first one of each other instruction and family of barriers.  step_count = there is none. */
uint32_t wsdbg_replay_next_poll(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                                uint32_t from);
/* Takes up what follows the poll `at` before the poll at which the agent stands. */
void wsdbg_replay_go_ahead(const struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent, uint32_t at);
/* Goes on to the agent's next step. */
void wsdbg_replay_advance(struct wsdbg_replay_agent *agent);

/* How many arrivals a step makes, all lanes of the agent together. */
static inline uint32_t wsdbg_replay_arrivals_of(const struct wsdbg_replay_agent *agent, uint32_t at)
{
    const struct wsdbg_step_row *step = &agent->steps[at];
    if (step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_DROP || step->kind == WSDBG_ACCESS_COPY_ARRIVE)
        return step->number * agent->lane_count;
    return step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? agent->lane_count : 0;
}

/* Whether a step announces bytes, with an arrival or without. */
static inline bool wsdbg_replay_announces(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_ARRIVE_EXPECT || step->kind == WSDBG_ACCESS_EXPECT;
}

/* How many arrivals an agent makes on a barrier in its whole walk. */
static inline uint64_t wsdbg_replay_arrivals_on(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t k = 0; k < agent->step_count; k++)
        arrivals += agent->target[k] == barrier ? wsdbg_replay_arrivals_of(agent, k) : 0;
    return arrivals;
}

/* How often an agent waits on a barrier in its whole walk. */
static inline uint32_t wsdbg_replay_waits_on(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t waits = 0;
    for (uint32_t k = 0; k < agent->step_count; k++)
        waits += agent->target[k] == barrier && agent->steps[k].kind == WSDBG_ACCESS_WAIT && !agent->repeats[k];
    return waits;
}

/* Whether all walks are known from the kernel's start to its end. */
bool wsdbg_replay_is_known(const struct wsdbg_replay *replay);
/* Whether the barrier keeps its count, as far as an agent goes: *init is the step's warp and access that initialise it,
 * WSDBG_NONE each at first.  All lanes of a warp may execute one initialisation. */
bool wsdbg_replay_keeps_count(const struct wsdbg_replay_agent *agent, uint32_t barrier, uint32_t init[2]);

/* Whether a copy into several CTAs goes to this one (position in c->ctas). */
static inline bool wsdbg_replay_copies_to(const struct wsdbg_replay *replay, const struct wsdbg_step_row *step,
                                          uint32_t cta)
{
    const uint32_t rank = replay->c->snapshot->ctas[replay->c->ctas[cta]].cluster_rank;
    return rank < 32 && step->mask >> rank & 1;
}

enum { WSDBG_REPLAY_READS_OF_STEP = 8 };

/* Takes as many steps from those that runs may still take as `reads` cost: to read a step costs less than to run it. */
static inline void wsdbg_replay_spend(struct wsdbg_replay *replay, uint64_t reads)
{
    const uint64_t cost = 1 + reads / WSDBG_REPLAY_READS_OF_STEP;
    replay->steps_left -= cost < replay->steps_left ? cost : replay->steps_left;
}

/* The step of an agent's arrival that gave the token for its wait at a step; WSDBG_NONE = not known, or the wait names
 * a parity. */
static inline uint32_t wsdbg_replay_giver_of(const struct wsdbg_replay_agent *agent, uint32_t wait)
{
    const struct wsdbg_step_row *step = &agent->steps[wait];
    return step->kind == WSDBG_ACCESS_WAIT && !step->number_known && step->token ? step->token - 1 : WSDBG_NONE;
}

/* Whether a wait names the token of an arrival on another mbarrier than its own. */
static inline bool wsdbg_replay_is_foreign(const struct wsdbg_replay_agent *agent, uint32_t wait)
{
    const uint32_t giver = wsdbg_replay_giver_of(agent, wait);
    return giver != WSDBG_NONE && agent->target[giver] != agent->target[wait];
}

static inline uint8_t *wsdbg_replay_token_at(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                                             uint32_t step)
{
    return &replay->tokens[agent->target - replay->targets + step];
}

static inline struct wsdbg_replay_waits *wsdbg_replay_waits_of(const struct wsdbg_replay *replay, uint32_t agent,
                                                               uint32_t barrier)
{
    return &replay->waits[(size_t)agent * replay->barrier_count + barrier];
}

#endif
