/* replay.h - what the threads of a case reach if each goes its way through the kernel (snapshot.walks) and waits
 * where a barrier makes it wait: a model of their barriers, run until nobody can go on.
 *
 * Reads: walks, steps, barriers.  A replay whose standstill is the picture that was seen tells what went before it:
 * which phases were completed, who arrived how often, which wait was passed by which phase.  With changes (struct
 * wsdbg_replay_changes) it tells whether the kernel would have finished.
 */
#ifndef WSDBG_DIAGNOSE_REPLAY_H
#define WSDBG_DIAGNOSE_REPLAY_H

#include "diagnose/code_case.h"

/* An mbarrier that some step names. */
struct wsdbg_replay_barrier {
    uint32_t cta;       /* position in c->ctas */
    uint32_t offset;    /* in its shared memory */
    uint32_t row;       /* index in snapshot.barriers, WSDBG_NONE */
    bool bytes_unknown; /* the bytes of some copy are not known: */
    int64_t
        copy_bytes; /* ... what each such copy brings, if all that is announced comes; 0 = bytes come as announced */
    /* As the replay goes: */
    bool is_initialised;
    uint32_t expected, pending, phase; /* phase: how many were completed */
    int64_t bytes;                     /* announced and not brought */
};

/* A named barrier of one CTA. */
enum { WSDBG_NAMED_BARRIERS = 16 };
struct wsdbg_replay_named {
    uint32_t threads; /* that came */
};

/* How an agent's waits on one barrier stand to the phases. */
struct wsdbg_replay_waits {
    uint32_t passed;
    uint32_t arrived;     /* arrivals that it made there, all lanes together */
    uint8_t first_parity; /* of the first wait */
    bool alternates;      /* each parity so far was the other one of that before */
    uint8_t last_parity;
    bool any;
    uint8_t arrived_parity; /* of the phase of its last arrival */
    bool slipped;           /* some wait went on by another phase than the one that its turn is for */
};

enum wsdbg_agent_state {
    WSDBG_AGENT_GOES,
    WSDBG_AGENT_WAITS,   /* for an mbarrier's phase */
    WSDBG_AGENT_GATHERS, /* at a named barrier or with its warp: for the warp's other lanes */
    WSDBG_AGENT_NAMED,   /* ... for other warps */
    WSDBG_AGENT_CLUSTER,
    WSDBG_AGENT_LOST, /* nobody knows how its way goes on */
    WSDBG_AGENT_ENDED
};

/* The lanes of a warp that go one way. */
struct wsdbg_replay_agent {
    uint32_t walk; /* index in snapshot.walks */
    uint32_t warp; /* local number */
    uint32_t cta;  /* position in c->ctas */
    uint32_t lanes;
    uint32_t lane_count;
    const struct wsdbg_step_row *steps;
    uint32_t step_count;
    uint32_t *target; /* by step: the mbarrier, WSDBG_NONE */
    bool *repeats;    /* by step: a wait for the same phase as the one before it on the same barrier */
    bool is_idle;     /* it does nothing but wait, and nobody beside it tells which of its waits repeat others */
    /* As the replay goes: */
    uint32_t at; /* the step that it waits at, or executes next */
    enum wsdbg_agent_state state;
    uint32_t cluster_phase;
};

struct wsdbg_replay {
    const struct wsdbg_case *c;
    struct wsdbg_replay_barrier *barriers;
    uint32_t barrier_count;
    struct wsdbg_replay_agent *agents;
    uint32_t agent_count;
    struct wsdbg_replay_waits *waits; /* agent x barrier */
    /* How it ended: */
    bool is_broken;    /* some barrier got more than it may, or was used before it was initialised */
    bool has_lost;     /* an agent reached where nobody knows its way */
    bool has_ended;    /* all finished */
    uint32_t *targets; /* memory of the agents' */
    bool *repeats;     /* likewise */
    struct wsdbg_replay_named *named;
    uint32_t cluster_phase, cluster_arrived;
};

/* Arrivals to make before a step (or at the end), or a step to leave out (arrivals 0). */
struct wsdbg_replay_edit {
    uint32_t agent, step, barrier, arrivals;
    int64_t bytes; /* announced with the arrivals */
};

/* What is done otherwise than the kernel does. */
struct wsdbg_replay_changes {
    const uint32_t *expected;   /* by barrier: how many arrivals it is initialised for, 0 = as it is; NULL = all so */
    const uint8_t *parity_from; /* by barrier: 1 + the parity of everybody's first wait, from which it alternates; 3 =
                                   from each one's own first; 0 = as it is; NULL = all so */
    const struct wsdbg_replay_edit *edits; /* by agent, then step */
    uint32_t edit_count;
};

/* In which order those who can go on do: that decides nothing in a kernel without races.  The others are as if by
 * chance, each always the same. */
enum wsdbg_replay_order {
    WSDBG_REPLAY_FIRST_FIRST,
    WSDBG_REPLAY_LAST_FIRST,
    WSDBG_REPLAY_STEP_BY_STEP,
    WSDBG_REPLAY_BY_CHANCE,
    WSDBG_REPLAY_ORDERS = WSDBG_REPLAY_BY_CHANCE + 13
};

/* *out = NULL where the case has no walks of all its warps.  The caller destroys it. */
struct wsdbg_error *wsdbg_replay_create(const struct wsdbg_case *c, struct wsdbg_replay **out);
void wsdbg_replay_destroy(struct wsdbg_replay *replay); /* NULL is fine */
/* The mbarrier at an offset of a CTA (position in c->ctas); WSDBG_NONE where no step names it. */
uint32_t wsdbg_replay_barrier_at(const struct wsdbg_replay *replay, uint32_t cta, uint32_t offset);
/* From the start until nobody can go on.  `changes` may be NULL. */
void wsdbg_replay_run(struct wsdbg_replay *replay, enum wsdbg_replay_order order,
                      const struct wsdbg_replay_changes *changes);
/* A replay that was run in the first order in which its standstill is what was seen; *out = NULL where there is none.
 * The caller destroys it. */
struct wsdbg_error *wsdbg_replay_standing(const struct wsdbg_case *c, struct wsdbg_replay **out,
                                          enum wsdbg_replay_order *order);
/* Whether some warp never arrives on the family of a barrier that rather was to: the same one of another CTA does, most
 * of its four in a row do, or all of its four left and those of another four do. */
bool wsdbg_replay_lacks_an_arriver(const struct wsdbg_replay *replay, uint32_t barrier);
/* Whether some agent that waits for every phase of a barrier went on by another one than its turn's: by one that was
 * long over, or before the right one came. */
bool wsdbg_replay_has_slipped(const struct wsdbg_replay *replay);
/* Whether the standstill of the replay is what was seen: every part of a warp waits for the same, every word is the
 * same. */
bool wsdbg_replay_is_picture(const struct wsdbg_replay *replay);

/* How many arrivals a step of an agent makes, all its lanes together. */
static inline uint32_t wsdbg_replay_arrivals_of(const struct wsdbg_replay_agent *agent, uint32_t at)
{
    const struct wsdbg_step_row *step = &agent->steps[at];
    if (step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_DROP || step->kind == WSDBG_ACCESS_COPY_ARRIVE)
        return step->number * agent->lane_count;
    return step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? agent->lane_count : 0;
}

static inline struct wsdbg_replay_waits *wsdbg_replay_waits_of(const struct wsdbg_replay *replay, uint32_t agent,
                                                               uint32_t barrier)
{
    return &replay->waits[(size_t)agent * replay->barrier_count + barrier];
}

#endif
