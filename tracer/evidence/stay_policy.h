/* stay_policy.h - whether an inspector should be attached to a program between looks: what that costs the program
 * against what it is good for.  Pure; the caller brings the clock and the figures.
 *
 * An inspector that came while the GPU was idle holds nothing back when it looks (docs/results/live-attach.md),
 * but each plain launch then takes some 55 us instead of 3, and calls wait while it comes and goes.
 */
#ifndef WSDBG_EVIDENCE_STAY_POLICY_H
#define WSDBG_EVIDENCE_STAY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum wsdbg_stay_advice { WSDBG_STAY_AS_IT_IS, WSDBG_STAY_COME_IN, WSDBG_STAY_LEAVE };

/* What is known of a program at one moment; times are CLOCK_MONOTONIC. */
struct wsdbg_stay_facts {
    uint64_t now_ns;
    uint64_t began_ns;                       /* when the run began */
    uint64_t context_made_ns;                /* its newest context; 0 = it has none */
    uint64_t worked_ns;                      /* it last launched something or was in a call that waits; 0 = never */
    uint64_t launches_second;                /* plain launches in the last second */
    bool worked;                             /* it has launched something that ran, ever */
    bool probed;                             /* a module of it has probes */
    uint64_t image_bytes;                    /* of the modules that it has loaded, as far as known */
    uint64_t code_bytes;                     /* sum of large images, from the observer */
    bool unfinished;                         /* the GPU has work of it, or may have */
    bool looked_ahead;                       /* the first of two looks was taken a moment ago */
    bool wished;                             /* another wsdbg waits for a GPU that an inspector had for this program */
    uint64_t waited_ns, launch_ns, launches; /* of struct wsdbg_attach_row */
    uint64_t ended_spent_ns;                 /* of other processes of the run, which have ended */
};

struct wsdbg_stay_policy {
    bool always;                                   /* whatever it costs */
    bool stays;                                    /* as the caller last said */
    uint64_t came_ns, left_ns;                     /* 0 = never */
    uint64_t refused_ns;                           /* when coming in was last refused, 0 = not since it last came in */
    uint32_t refusals;                             /* in a row */
    uint64_t window_ns;                            /* when the window began over which the cost is measured */
    uint64_t window_waited_ns, window_launches_ns; /* what waits and launches had cost until then */
    uint64_t stay_cost_ns;                         /* what staying has cost since came_ns */
};

/* The program's time that was spent so far. */
uint64_t wsdbg_stay_spent_ns(const struct wsdbg_stay_facts *facts);
/* Asked a few times a second. */
enum wsdbg_stay_advice wsdbg_stay_advise(struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts);
/* True while somebody may come before the first launch. */
bool wsdbg_stay_may_come_first(const struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts);
/* What came of the advice. */
void wsdbg_stay_came(struct wsdbg_stay_policy *policy, const struct wsdbg_stay_facts *facts);
void wsdbg_stay_refused(struct wsdbg_stay_policy *policy, uint64_t now_ns);
void wsdbg_stay_left(struct wsdbg_stay_policy *policy, uint64_t now_ns);

#endif
