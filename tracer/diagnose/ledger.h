/* ledger.h - who did what to each mbarrier: per CTA, barrier and stage the recorded uses, warp by warp.
 *
 * Written by: ledger.c from the histories of one case.  Read by: round.c, wait_graph.c and the rules.
 */
#ifndef WSDBG_DIAGNOSE_LEDGER_H
#define WSDBG_DIAGNOSE_LEDGER_H

#include "diagnose/case.h"

/* Time stamps have steps of 32 ns: of two events that are closer than this, either may have come first. */
#define WSDBG_TIME_SLACK_NS 64u

/* One recorded use of a stage.  A warp's uses are neighbours, oldest first. */
struct wsdbg_use {
    const struct wsdbg_history_event *event;
    uint32_t warp;  /* local number */
    uint32_t round; /* which turn of the stage it belongs to, from 0; WSDBG_NONE = not known */
};

/* One stage of one mbarrier of one CTA. */
struct wsdbg_stage {
    uint32_t cta; /* index in snapshot.ctas */
    uint32_t id, stage;
    uint32_t barrier; /* index in snapshot.barriers, or WSDBG_NONE */
    const struct wsdbg_name *name;
    uint32_t stages;                /* of the barrier: declared, else as many as were seen */
    bool tagged;                    /* rounds come from the author's iteration, not from counting */
    bool initialised_again;         /* counts over the whole kernel mean nothing */
    struct wsdbg_optional_u32 init; /* arrivals a phase needs */
    bool init_inferred;             /* ... as all recorded rounds agree; its init is not on record */
    uint32_t use_first, use_count;  /* in ledger.uses */
    uint32_t arrivals;              /* all recorded ones */
};

/* All stages of one mbarrier of one CTA. */
struct wsdbg_barrier_family {
    uint32_t cta, id;
    struct wsdbg_warp_set arrivers, actors; /* that arrived; that arrived, expected bytes or issued copies */
    bool peers;                             /* see wsdbg_peers_may_arrive */
};

/* A warp that stands in an mbarrier wait. */
struct wsdbg_wait {
    uint32_t warp;
    const struct wsdbg_stage *stage;
    const struct wsdbg_history_event *event;
    uint32_t round; /* WSDBG_NONE = not known */
};

struct wsdbg_round;

struct wsdbg_ledger {
    struct wsdbg_stage *stages;
    uint32_t stage_count;
    struct wsdbg_use *uses;
    uint32_t use_count;
    struct wsdbg_barrier_family *families;
    uint32_t family_count;
    struct wsdbg_wait *waits;
    uint32_t wait_count;
    struct wsdbg_round *rounds; /* one a wait, see round.h */
    uint32_t *table;            /* (CTA of the case, id, stage) -> stage + 1 */
};

struct wsdbg_error *wsdbg_ledger_create(const struct wsdbg_case *c, struct wsdbg_ledger **out);
void wsdbg_ledger_destroy(struct wsdbg_ledger *ledger);

static inline const struct wsdbg_use *wsdbg_stage_uses(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    return c->ledger->uses + stage->use_first;
}

bool wsdbg_event_is_arrival(const struct wsdbg_history_event *event);
bool wsdbg_event_is_expect(const struct wsdbg_history_event *event);
/* Arrivals an event makes: its lanes, 1 for arrive.expect_tx, 0 for anything else. */
uint32_t wsdbg_event_arrivals(const struct wsdbg_history_event *event);

/* Warps that arrived, expected bytes or issued copies on any stage of the barrier. */
struct wsdbg_warp_set wsdbg_family_actors(const struct wsdbg_case *c, uint32_t cta, uint32_t id);
/* Warps that arrived on any stage of the barrier. */
struct wsdbg_warp_set wsdbg_family_arrivers(const struct wsdbg_case *c, uint32_t cta, uint32_t id);

/* Warps of other CTAs of the cluster may have a share in the barrier.  Not where whole records show no arrival from
 * another CTA on any CTA's barrier of this id, and warps of one CTA that arrived once each have completed a phase of
 * it: all CTAs run the same code. */
bool wsdbg_peers_may_arrive(const struct wsdbg_case *c, uint32_t id);

#endif
