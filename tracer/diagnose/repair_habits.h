/* repair_habits.h - the turns of threads, and how they go: which of them arrive, how often and how late.  Private to
 * repair_habits.c, which finds them, and repair_turns.c, which changes the turns that are unlike a thread's others.
 *
 * A turn of a thread begins with its wait on one stage of a barrier and ends with its next wait on that stage, not
 * counting waits that repeat one.
 */
#ifndef WSDBG_DIAGNOSE_REPAIR_HABITS_H
#define WSDBG_DIAGNOSE_REPAIR_HABITS_H

#include "diagnose/repair_trial.h"

/* A turn, and its arrivals on the same stage of another family, in one CTA. */
struct wsdbg_turn {
    uint32_t wait, next; /* steps; wait: begins the turn; next: the first one after it that may block */
    uint32_t barrier;    /* on which it may arrive, WSDBG_NONE = there is no such stage */
    uint32_t count;      /* steps that arrive on it */
    uint32_t last;       /* the last of these steps */
    uint32_t arrivals;   /* of all these steps */
    uint32_t lag;        /* waits for other stages that come before the first of these steps */
    bool expects;        /* a step announces bytes on it without an arrival */
};

/* How an agent's turns go. */
struct wsdbg_habit {
    uint32_t turns, least; /* turns up to the standstill; least: the fewest steps that arrive in one of them */
    uint32_t most;         /* the most steps that arrive in one turn of its whole walk */
    uint32_t arrivals;     /* of one such step */
    int64_t bytes;         /* that it announces with them */
    uint32_t lag;          /* the most waits for other stages that come before the arrival of a turn */
    uint32_t rest;         /* turns at the end of its walk that have no arrival */
};

/* What is asked of the agents again and again. */
struct wsdbg_habits {
    uint32_t *first_arrivals; /* agent x barrier: the first step that arrives on it, WSDBG_NONE */
    uint64_t *arrivals;       /* agent x barrier: that it makes in its whole walk */
    bool *waits_elsewhere;    /* barrier x family: some agent arrives on the barrier and has waited on the family */
    struct wsdbg_known_habit {
        bool is_asked, is_one;
        struct wsdbg_habit habit;
    } * habits; /* by agent, for these: */
    uint32_t family, cta, waited;
    bool of_all, of_own;
};

/* A change that makes turns alike. */
struct wsdbg_straightening {
    uint32_t family, cta, waited; /* turns begin with waits on `waited`; arrivals on `family` in the CTA change */
    enum wsdbg_repair_kind kind;  /* ADD, DROP, COPY */
    bool of_own;                  /* ADD: only on stages on which the thread arrives in some turn */
    bool is_late;                 /* ADD: the arrival comes behind as many waits for other stages as in other turns */
    struct wsdbg_habits *known;
    bool of_all; /* ADD: also of threads that arrived in each turn so far, or had not begun, and arrive in some later
                    one: they may leave it out in others */
};

/* Finds who arrives where.  False: no memory.  Call wsdbg_habits_deinit either way. */
bool wsdbg_habits_init(const struct wsdbg_trial *t, struct wsdbg_habits *habits);
void wsdbg_habits_deinit(struct wsdbg_habits *habits);
/* As wsdbg_replay_arrivals_on, but kept. */
static inline uint64_t wsdbg_habits_arrivals_on(const struct wsdbg_trial *t, const struct wsdbg_habits *habits,
                                                uint32_t agent, uint32_t barrier)
{
    return habits->arrivals[(size_t)agent * t->replay->barrier_count + barrier];
}

/* Whether a step waits for some stage of the family of `barrier`, not again for the same phase. */
bool wsdbg_turn_waits(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t step, uint32_t barrier);
/* The turn that begins with the wait at `at`. */
struct wsdbg_turn wsdbg_turn_at(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t family,
                                uint32_t cta);
/* Whether a turn of the change begins with this step. */
bool wsdbg_turn_begins(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, const struct wsdbg_straightening *s);
/* Whether the turn is of no stage on which the agent may be meant to arrive: the other family lacks it, or the agent
 * never arrives on it. */
bool wsdbg_turn_is_of_others(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                             const struct wsdbg_turn *turn);
/* Whether an agent's turns are to change, and to which habit. */
bool wsdbg_habit_find(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                      struct wsdbg_habit *habit);
/* Whether some thread arrives in other turns behind waits for other stages.  Else a late arrival is no other one. */
bool wsdbg_habits_have_lag(const struct wsdbg_trial *t, struct wsdbg_straightening s, uint32_t end);
/* Whether some thread arrives on some stages of the family only.  Warpgroups that take a stage each do so. */
bool wsdbg_habits_have_own_stages(const struct wsdbg_trial *t, struct wsdbg_straightening s, uint32_t end);
/* Whether some agent arrives on the family in this CTA and has waited on the other family: else no turn shows anything.
 */
bool wsdbg_habits_have_turns(const struct wsdbg_trial *t, const struct wsdbg_straightening *s);

#endif
