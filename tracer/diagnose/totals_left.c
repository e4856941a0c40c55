/* totals_left.c - see totals.h: threads that have left the kernel, and whose arrivals a phase lacks.
 *
 * Reads: a replay that ended in the picture.  Adds: WAKER_EXITED, or what else explains why they left.
 */
#include "diagnose/totals.h"

#include "diagnose/code_say.h"
#include "diagnose/replay_likes.h"

struct wsdbg_finding *wsdbg_totals_find(const struct wsdbg_totals *totals, enum wsdbg_cause cause,
                                        const struct wsdbg_warp_set *whose)
{
    struct wsdbg_case *c = totals->c;
    const enum wsdbg_confidence most = totals->is_guessed ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause, wsdbg_code_cap(c, most), wsdbg_case_warp(c, totals->warp)->cta, totals->row);
    if (!finding)
        return NULL;
    if (wsdbg_set_count(whose))
        finding->role = wsdbg_case_warp(c, wsdbg_first_of(whose))->role;
    wsdbg_tell_wait(c, finding, totals->warp);
    wsdbg_tell_word(c, finding, totals->row);
    return finding;
}

struct wsdbg_warp_set wsdbg_totals_left_arrivers(const struct wsdbg_totals *totals)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < totals->c->warp_count; w++)
        if (wsdbg_case_warp(totals->c, w)->state == WSDBG_WARP_EXITED &&
            wsdbg_code_could(totals->c, w, WSDBG_KINDS_ARRIVAL, totals->row) != WSDBG_CAN_NOT)
            wsdbg_set_add(&set, w);
    return set;
}

void wsdbg_totals_say_left(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *left)
{
    struct wsdbg_case *c = totals->c;
    const enum wsdbg_cause cause = wsdbg_case_cause_of_exit(c, left, wsdbg_case_warp(c, totals->warp)->cta);
    struct wsdbg_finding *finding = wsdbg_totals_find(totals, cause, left);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, but no thread arrives on it on its way to the kernel's end: %s, whose code has such "
                "an arrival, exited without one.",
                wsdbg_say_warp(c, totals->warp).text, wsdbg_say_object(c, totals->row).text,
                wsdbg_say_at(c, totals->warp).text, wsdbg_say_warps(c, left).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp arrive on %s for every round that is waited for, also before it returns.",
                wsdbg_say_family(c, totals->row).text);
}

/* Whether an agent waits for an mbarrier, or arrives on the ring that is waited for. */
static bool takes_part(const struct wsdbg_totals *totals, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] != WSDBG_NONE &&
            (agent->steps[k].kind == WSDBG_ACCESS_WAIT ||
             (wsdbg_replay_arrivals_of(agent, k) &&
              wsdbg_replay_is_of_family(totals->replay, totals->barrier, agent->target[k]))))
            return true;
    return false;
}

uint32_t wsdbg_totals_lanes_that_left(const struct wsdbg_totals *totals, uint32_t *warp)
{
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        if (agent->state == WSDBG_AGENT_ENDED && wsdbg_case_warp(totals->c, agent->warp)->state != WSDBG_WARP_EXITED &&
            !(agent->lanes & ~wsdbg_replay_workers_gone(totals->replay, agent->warp)) && takes_part(totals, agent) &&
            (wsdbg_replay_arrivals_on(agent, totals->barrier) > 0 ||
             wsdbg_code_could(totals->c, agent->warp, WSDBG_KINDS_ARRIVAL, totals->row) != WSDBG_CAN_NOT)) {
            *warp = agent->warp;
            return agent->lanes;
        }
    }
    return 0;
}

/* Lanes that did some work on barriers and left the kernel without an arrival on this one, of a warp that is still in
 * it: just as many as the first phase lacks arrivals.  0: there are none. */
static uint32_t lanes_that_never_arrived(const struct wsdbg_totals *totals, uint32_t *warp)
{
    const uint64_t lacking = totals->expected - totals->in_walks;
    for (uint32_t i = 0; i < totals->replay->agent_count && totals->in_walks < totals->expected; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        const bool is_of_living_warp = wsdbg_case_warp(totals->c, agent->warp)->state != WSDBG_WARP_EXITED;
        const uint32_t workers = is_of_living_warp ? wsdbg_replay_workers_gone(totals->replay, agent->warp) : 0;
        if (agent->state == WSDBG_AGENT_ENDED && !(agent->lanes & ~workers) &&
            (uint64_t)__builtin_popcount(agent->lanes) == lacking &&
            wsdbg_replay_arrivals_on(agent, totals->barrier) == 0 &&
            wsdbg_code_could(totals->c, agent->warp, WSDBG_KINDS_ARRIVAL, totals->row) != WSDBG_CAN_NOT) {
            *warp = agent->warp;
            return agent->lanes;
        }
    }
    return 0;
}

static void say_lanes_left(const struct wsdbg_totals *totals, uint32_t lanes, uint32_t warp)
{
    struct wsdbg_case *c = totals->c;
    struct wsdbg_warp_set whose = {{0}};
    wsdbg_set_add(&whose, warp);
    struct wsdbg_finding *finding = wsdbg_totals_find(totals, WSDBG_CAUSE_WAKER_EXITED, &whose);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, but %s of %s, whose code arrives there, left the kernel while the rest of the warp "
                "went on, and no other thread has an arrival left for this round.",
                wsdbg_say_warp(c, totals->warp).text, wsdbg_say_object(c, totals->row).text,
                wsdbg_say_at(c, totals->warp).text, wsdbg_say_lanes(lanes).text, wsdbg_say_warp(c, warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every lane that arrives on %s stay until its last arrival: do not return before it.",
                wsdbg_say_family(c, totals->row).text);
}

static bool brings_bytes(const struct wsdbg_totals *totals, const struct wsdbg_replay_agent *agent, uint32_t k)
{
    return agent->target[k] == totals->barrier &&
           (agent->steps[k].kind == WSDBG_ACCESS_EXPECT || agent->steps[k].kind == WSDBG_ACCESS_COPY);
}

/* Whether an agent waits for something after it has last announced or copied bytes to the barrier. */
static bool waits_after_bytes(const struct wsdbg_totals *totals, const struct wsdbg_replay_agent *agent)
{
    bool brings = false, waits = false;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint8_t kind = agent->steps[k].kind;
        const bool is_wait =
            kind == WSDBG_ACCESS_WAIT || kind == WSDBG_ACCESS_NAMED_SYNC || kind == WSDBG_ACCESS_CLUSTER_WAIT;
        brings |= brings_bytes(totals, agent, k);
        waits = !brings_bytes(totals, agent, k) && (waits || (brings && is_wait));
    }
    return waits;
}

bool wsdbg_totals_have_left_at_bytes(const struct wsdbg_totals *totals, const struct wsdbg_warp_set *left)
{
    for (uint32_t w = 0; w < totals->c->warp_count; w++)
        if (wsdbg_set_has(&totals->beside, w) && !wsdbg_set_has(left, w))
            return false;
    for (uint32_t i = 0; i < totals->replay->agent_count; i++)
        if (waits_after_bytes(totals, &totals->replay->agents[i]))
            return false;
    return true;
}

/* Whether each thread of the barrier's CTA that arrives on it does so once in its first round there. */
static bool arrive_once(const struct wsdbg_totals *totals, uint32_t *threads)
{
    const uint32_t cta = totals->replay->barriers[totals->barrier].cta;
    *threads = 0;
    for (uint32_t i = 0; i < totals->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &totals->replay->agents[i];
        const uint32_t arrivals = wsdbg_totals_first_arrivals(agent, totals->barrier);
        if (arrivals && (arrivals != agent->lane_count || agent->cta != cta))
            return false;
        *threads += agent->cta == cta ? agent->lane_count : 0;
    }
    return true;
}

/* Whether the agent has left the kernel before it came to any mbarrier, and its code has an arrival on this one. */
static bool left_at_once(const struct wsdbg_totals *totals, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] != WSDBG_NONE)
            return false;
    return agent->state == WSDBG_AGENT_ENDED && agent->cta == totals->replay->barriers[totals->barrier].cta &&
           wsdbg_code_could(totals->c, agent->warp, WSDBG_KINDS_ARRIVAL, totals->row) != WSDBG_CAN_NOT;
}

/* How many threads, of which warps, did so, where a phase takes one arrival of each thread of the CTA and lacks just
 * theirs; 0 = not so. */
static uint32_t threads_left_at_once(const struct wsdbg_totals *totals, struct wsdbg_warp_set *warps)
{
    uint32_t threads, left = 0;
    if (!arrive_once(totals, &threads) || totals->expected != threads)
        return 0;
    for (uint32_t i = 0; i < totals->replay->agent_count; i++)
        if (left_at_once(totals, &totals->replay->agents[i])) {
            left += totals->replay->agents[i].lane_count;
            wsdbg_set_add(warps, totals->replay->agents[i].warp);
        }
    return totals->in_walks + left == totals->expected ? left : 0;
}

static void say_left_at_once(const struct wsdbg_totals *totals, uint32_t threads, const struct wsdbg_warp_set *warps)
{
    struct wsdbg_case *c = totals->c;
    struct wsdbg_finding *finding = wsdbg_totals_find(totals, WSDBG_CAUSE_WAKER_EXITED, warps);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, which takes %u arrivals, one of each thread of the CTA. %u threads, of %s, left the "
                "kernel before they came to it.",
                wsdbg_say_warp(c, totals->warp).text, wsdbg_say_object(c, totals->row).text,
                wsdbg_say_at(c, totals->warp).text, totals->expected, threads, wsdbg_say_warps(c, warps).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let no thread return before %s: a thread without work arrives, too. Or initialise it for the threads "
                "that have work.",
                wsdbg_say_family(c, totals->row).text);
}

bool wsdbg_totals_say_threads_left(const struct wsdbg_totals *totals)
{
    struct wsdbg_warp_set warps = {{0}};
    uint32_t warp = WSDBG_NONE;
    if (!totals->arrivals)
        return false;
    const uint32_t lanes = lanes_that_never_arrived(totals, &warp);
    const uint32_t threads = lanes ? 0 : threads_left_at_once(totals, &warps);
    if (lanes)
        say_lanes_left(totals, lanes, warp);
    else if (threads)
        say_left_at_once(totals, threads, &warps);
    return lanes || threads;
}
