/* tell_followed.c - how far wsdbg could follow the threads of a hang whose cause it does not know.
 *
 * Reads: walks, the replay of the case.  Writes: evidence of a finding.  Who reads the report then knows what the
 * verdict rests on, and where to look: a cause is found from whole walks as a rule (rule_code_rounds.c).
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

enum { PLACES_MOST = 3 };

struct lost {
    uint32_t site;
    struct wsdbg_warp_set warps;
};

static bool is_of_case(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk)
{
    return wsdbg_case_local_warp(c, walk->warp) != WSDBG_NONE;
}

/* Adds the warp to those that are lost at the place.  Places that find no room are left out. */
static void add_lost(struct lost *places, uint32_t *count, uint32_t site, uint32_t warp)
{
    uint32_t i = 0;
    while (i < *count && places[i].site != site)
        i++;
    if (i == PLACES_MOST)
        return;
    if (i == *count)
        places[(*count)++] = (struct lost){.site = site};
    wsdbg_set_add(&places[i].warps, warp);
}

/* How many walks the case has; the places at which they are lost. */
static size_t find_lost(const struct wsdbg_case *c, struct lost *places, uint32_t *count)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    size_t walks = 0;
    for (size_t i = 0; i < s->walk_count; i++) {
        if (!is_of_case(c, &s->walks[i]))
            continue;
        walks++;
        if (!s->walks[i].is_whole && s->walks[i].lost_site.known)
            add_lost(places, count, s->walks[i].lost_site.value, wsdbg_case_local_warp(c, s->walks[i].warp));
    }
    return walks;
}

/* The first arrival of the agent on the barrier for which it waits, behind that wait; WSDBG_NONE. */
static uint32_t own_arrival_behind(const struct wsdbg_replay_agent *agent)
{
    uint32_t k = agent->at + 1;
    if (agent->state != WSDBG_AGENT_WAITS || agent->target[agent->at] == WSDBG_NONE)
        return WSDBG_NONE;
    while (k < agent->step_count &&
           (agent->target[k] != agent->target[agent->at] || !wsdbg_replay_arrivals_of(agent, k)))
        k++;
    return k < agent->step_count ? agent->steps[k].access : WSDBG_NONE;
}

/* A wait whose phase may need an arrival that comes behind it in the same thread. */
static void tell_own_arrivals(struct wsdbg_case *c, struct wsdbg_finding *finding)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    struct wsdbg_warp_set told = {{0}};
    for (uint32_t i = 0; replay && i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const uint32_t arrival = own_arrival_behind(agent);
        if (arrival == WSDBG_NONE || wsdbg_set_has(&told, agent->warp))
            continue;
        wsdbg_set_add(&told, agent->warp);
        wsdbg_evidence_text(c, finding, "%s waits for %s, and arrives on it behind that wait, at %s",
                            wsdbg_say_warp(c, agent->warp).text,
                            wsdbg_say_object(c, replay->barriers[agent->target[agent->at]].row).text,
                            wsdbg_say_place(c, c->snapshot->accesses[arrival].site).text);
    }
}

static void tell_replay(struct wsdbg_case *c, struct wsdbg_finding *finding)
{
    const bool is_only_finding = c->finding_count == 1;
    if (wsdbg_replay_standing(c) && is_only_finding)
        wsdbg_evidence_text(c, finding,
                            "followed from its start%s, the kernel stops in just this state; no single change that "
                            "wsdbg tries lets it finish",
                            wsdbg_replay_stands_at_polls(c) ? ", with its polls held" : "");
    else if (c->ends_elsewhere)
        wsdbg_evidence_text(c, finding,
                            "followed from its start, the kernel comes to this state in none of the orders of its "
                            "warps that wsdbg tries");
}

void wsdbg_tell_followed(struct wsdbg_case *c, struct wsdbg_finding *finding)
{
    struct lost places[PLACES_MOST];
    uint32_t count = 0;
    if (find_lost(c, places, &count) == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        wsdbg_evidence_text(
            c, finding, "%s cannot be followed from the kernel's start beyond %s: the way from there on is not known",
            wsdbg_say_warps(c, &places[i].warps).text, wsdbg_say_place(c, places[i].site).text);
    tell_own_arrivals(c, finding);
    if (count == 0)
        tell_replay(c, finding);
}
