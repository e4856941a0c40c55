/* repair_trial.h - what it takes to try a repair, and the repairs that are tried: the inside of repair.h, for its files
 * (repair_trial.c tries, repair_parity.c changes waits, repair_turns.c arrivals, repair.c counts).
 */
#ifndef WSDBG_DIAGNOSE_REPAIR_TRIAL_H
#define WSDBG_DIAGNOSE_REPAIR_TRIAL_H

#include "diagnose/repair.h"

enum { WSDBG_EDITS_MOST = 1 << 14 };

/* What the standstill was, before the replay is run again. */
struct wsdbg_trial {
    struct wsdbg_replay *replay;
    const struct wsdbg_case *c;
    enum wsdbg_replay_order order;
    uint32_t *at;                  /* by agent */
    enum wsdbg_agent_state *state; /* likewise */
    struct wsdbg_replay_waits *waits;
    uint32_t *expected_was; /* by barrier */
    uint32_t *expected;     /* to change */
    uint8_t *parity_from;
    struct wsdbg_replay_edit edits[WSDBG_EDITS_MOST];
    struct wsdbg_replay_changes changes;
    struct wsdbg_repairs *out;
};

/* Whether two barriers are stages of one array, in whichever CTAs; of one stage each. */
bool wsdbg_trial_is_of_family(const struct wsdbg_trial *t, uint32_t a, uint32_t b);
bool wsdbg_trial_is_of_stage(const struct wsdbg_trial *t, uint32_t a, uint32_t b);
/* Whether it is the first barrier of its family. */
bool wsdbg_trial_leads_family(const struct wsdbg_trial *t, uint32_t barrier);
/* How an agent's waits on a barrier stood at the standstill. */
const struct wsdbg_replay_waits *wsdbg_trial_waits_was(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier);

/* No changes yet. */
void wsdbg_trial_begin(struct wsdbg_trial *t);
/* Whether the kernel with the changes finishes. */
bool wsdbg_trial_works(struct wsdbg_trial *t);
void wsdbg_trial_keep(struct wsdbg_trial *t, const struct wsdbg_repair *repair);
/* Orders the edits and notes the first one; false where there are none. */
bool wsdbg_trial_keep_edits(struct wsdbg_trial *t, struct wsdbg_repair *repair);

/* Each keeps the repairs of its kind that work. */
void wsdbg_try_drift(struct wsdbg_trial *t);
void wsdbg_try_first(struct wsdbg_trial *t, uint32_t value);
void wsdbg_try_turns(struct wsdbg_trial *t, bool adds);
void wsdbg_try_copies(struct wsdbg_trial *t);

#endif
