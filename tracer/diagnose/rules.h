/* rules.h - the rules of causes.def.  A rule looks at one case and adds the findings it can justify.
 *
 * A rule never says more than the records show: "proven" needs every record it rests on; where one is
 * missing it says likely, possible or nothing.
 */
#ifndef WSDBG_DIAGNOSE_RULES_H
#define WSDBG_DIAGNOSE_RULES_H

#include "diagnose/phrase.h"
#include "diagnose/round.h"
#include "diagnose/wait_graph.h"

typedef void wsdbg_rule(struct wsdbg_case *c);

/* A rule that several kinds of evidence ask is declared once for each. */
#define RULE(evidence, name) wsdbg_rule wsdbg_rule_##name;
#include "diagnose/causes.def"

/* Arrivals on the barrier go over the cluster, and warps of other CTAs like those that arrived have not. */
bool wsdbg_peers_owe(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round);

/* Whether some finding of the case is at least likely. */
bool wsdbg_case_explained(const struct wsdbg_case *c);
/* Adds to a finding without a cause how far the threads could be followed, and how the replay ended. */
void wsdbg_tell_followed(struct wsdbg_case *c, struct wsdbg_finding *finding);

/* Adds why an arrival came too early: it found the count of `barrier` (index in snapshot.barriers) spent, and a repair
 * of other waits or arrivals would have kept it from that.  False: no such repair is known (rule_code_rounds.c). */
bool wsdbg_explain_fault(struct wsdbg_case *c, uint32_t barrier);

/* Causes that only describe the standstill; a specific one of the same case replaces them. */
bool wsdbg_cause_is_fallback(enum wsdbg_cause cause);

/* PROVEN where the waiter cannot be woken any more.  Else POSSIBLE, whatever the record shows: a warp that runs may
 * still do what is missing, and only what is likely ends the program. */
static inline enum wsdbg_confidence wsdbg_if_stuck(const struct wsdbg_case *c, uint32_t warp)
{
    return wsdbg_case_stuck(c, warp) ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_POSSIBLE;
}

static inline enum wsdbg_confidence wsdbg_weaker(enum wsdbg_confidence a, enum wsdbg_confidence b)
{
    return a < b ? a : b;
}

#endif
