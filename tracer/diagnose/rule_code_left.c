/* rule_code_left.c - threads that have left the kernel, and that others still wait for, as walks show.
 *
 * Reads: a replay that ends in the picture or fails much like it.  Adds: WAKER_EXITED, PEER_EXITED.
 *
 * One of these holds: threads have left a CTA of a cluster, or all threads of it have, where the same warps of another
 * CTA, which did the same up to there, go on, and what they do then is waited for.  Or all threads that ever arrive on
 * an mbarrier, which lacks arrivals and is waited for, have left.  Or a named barrier lacks just the threads of those
 * warps that have left, though a warp that did the same goes on.  Or lanes that arrived on the ring that is waited for
 * have left, while other lanes of their warp, which waited for the same, wait for more rounds.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay_likes.h"
#include "diagnose/replay_tokens.h"
#include "diagnose/rules.h"

struct left {
    struct wsdbg_case *c;
    const struct wsdbg_replay *replay;
    uint32_t agent; /* that waits */
    struct wsdbg_warp_set by;
    uint32_t lanes; /* of the threads that left: all lanes of warps that are gone, some of one that is not */
};

static struct wsdbg_finding *find(const struct left *left, uint32_t row)
{
    struct wsdbg_case *c = left->c;
    const uint32_t warp = left->replay->agents[left->agent].warp;
    const uint32_t cta = wsdbg_case_warp(c, warp)->cta;
    struct wsdbg_finding *finding = wsdbg_case_find(c, wsdbg_case_cause_of_exit(c, &left->by, cta),
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), cta, row);
    if (!finding)
        return NULL;
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(&left->by))->role;
    wsdbg_tell_wait(c, finding, warp);
    return finding;
}

/* ---- mbarriers ---- */

/* Whether an agent arrives on the barrier, or may do so behind the end of a walk that is not whole.  One that waits on
 * the barrier itself gets there too late. */
static bool may_arrive(const struct left *left, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    const bool waits_itself = agent->state == WSDBG_AGENT_WAITS && agent->target[agent->at] == barrier;
    return wsdbg_replay_arrivals_on(agent, barrier) ||
           (!left->c->snapshot->walks[agent->walk].is_whole && !wsdbg_replay_has_left(left->replay, agent) &&
            !waits_itself &&
            wsdbg_code_can(left->c, agent->warp, WSDBG_KINDS_ARRIVAL, left->replay->barriers[barrier].row, NULL) !=
                WSDBG_CAN_NOT);
}

/* Whether all agents that may arrive on the barrier have left the kernel; notes them.  Who waits by token has arrived
 * in the phase already. */
static bool have_arrivers_left(struct left *left, uint32_t barrier)
{
    for (uint32_t i = 0; i < left->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &left->replay->agents[i];
        if (!may_arrive(left, agent, barrier) || wsdbg_replay_waits_by_token(agent, barrier))
            continue;
        if (!wsdbg_replay_has_left(left->replay, agent))
            return false;
        wsdbg_set_add(&left->by, agent->warp);
        left->lanes |= agent->lanes;
    }
    return true;
}

/* Whether lanes of a warp that left may have been on their way to an arrival on the barrier.  If a warp
 * has left as a whole, the instructions that it can have reached are known. */
static bool could_arrive(const struct left *left, uint32_t warp, uint32_t row)
{
    const struct wsdbg_case *c = left->c;
    if (!wsdbg_replay_workers_gone(left->replay, warp))
        return false;
    if (wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED)
        return wsdbg_code_could(c, warp, WSDBG_KINDS_ARRIVAL, row) != WSDBG_CAN_NOT;
    return wsdbg_code_has(c, WSDBG_KINDS_ARRIVAL, row, NULL) != WSDBG_MATCH_NO;
}

/* If no agent arrives: notes the warps that have left, as a whole or in part, and whose code has such an arrival. */
static void note_who_could(struct left *left, uint32_t row)
{
    for (uint32_t w = 0; w < left->c->warp_count; w++)
        if (could_arrive(left, w, row)) {
            wsdbg_set_add(&left->by, w);
            left->lanes |= wsdbg_replay_workers_gone(left->replay, w);
        }
}

/* "lane 0 of ", where no warp has left as a whole. */
static struct wsdbg_phrase say_lanes_of(const struct left *left)
{
    struct wsdbg_phrase phrase = {""};
    bool any_whole = false;
    for (uint32_t w = 0; w < left->c->warp_count; w++)
        any_whole |= wsdbg_set_has(&left->by, w) && wsdbg_case_warp(left->c, w)->state == WSDBG_WARP_EXITED;
    if (!any_whole)
        wsdbg_print(phrase.text, sizeof phrase.text, "%s of ", wsdbg_say_lanes(left->lanes).text);
    return phrase;
}

static bool judge_mbarrier(struct left *left)
{
    struct wsdbg_case *c = left->c;
    const struct wsdbg_replay_agent *agent = &left->replay->agents[left->agent];
    const uint32_t barrier = agent->target[agent->at];
    const struct wsdbg_replay_barrier *b = &left->replay->barriers[barrier];
    if (b->row == WSDBG_NONE || b->pending == 0 || !have_arrivers_left(left, barrier))
        return false;
    const bool came = wsdbg_set_count(&left->by) > 0;
    if (!came && wsdbg_code_has(c, WSDBG_KINDS_ARRIVAL, b->row, NULL) == WSDBG_MATCH_OPEN)
        return false; /* nobody knows of an arrival of the kernel that it is on this barrier */
    if (!came)
        note_who_could(left, b->row);
    if (!wsdbg_set_count(&left->by))
        return false;
    struct wsdbg_finding *finding = find(left, b->row);
    if (!finding)
        return true;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, but all %sthreads that %s on it have left the kernel: %s%s, after %u phase%s.",
                wsdbg_say_warp(c, agent->warp).text, wsdbg_say_object(c, b->row).text,
                wsdbg_say_at(c, agent->warp).text, wsdbg_replay_waits_by_token(agent, barrier) ? "other " : "",
                came ? "arrive" : "could arrive", say_lanes_of(left).text, wsdbg_say_warps(c, &left->by).text, b->phase,
                b->phase == 1 ? "" : "s");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the threads that arrive on %s stay in their loop for every round that is waited for.",
                wsdbg_say_family(c, b->row).text);
    wsdbg_tell_word(c, finding, b->row);
    return true;
}

/* ---- named barriers ---- */

static bool comes_to(const struct wsdbg_replay_agent *agent, uint32_t id)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (wsdbg_replay_is_use(&agent->steps[k], id))
            return true;
    return false;
}

/* How many threads of the CTA belong to warps that ever come to the named barrier. */
static uint32_t count_comers(const struct left *left, uint32_t cta, uint32_t id)
{
    struct wsdbg_warp_set comers = {{0}};
    for (uint32_t i = 0; i < left->replay->agent_count; i++)
        if (left->replay->agents[i].cta == cta && comes_to(&left->replay->agents[i], id))
            wsdbg_set_add(&comers, left->replay->agents[i].warp);
    return wsdbg_set_count(&comers) * WSDBG_WARP_THREADS;
}

/* Notes the warps of the CTA that have left where a similar one goes on. */
static void note_leavers(struct left *left, uint32_t cta)
{
    for (uint32_t i = 0; i < left->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &left->replay->agents[i];
        if (agent->cta != cta || wsdbg_case_warp(left->c, agent->warp)->state != WSDBG_WARP_EXITED ||
            wsdbg_set_has(&left->by, agent->warp))
            continue;
        const uint32_t model = wsdbg_replay_model_of(left->replay, agent->warp, WSDBG_LIKE_BY_MBARRIERS, 0);
        if (model != WSDBG_NONE && wsdbg_case_warp(left->c, model)->state != WSDBG_WARP_EXITED)
            wsdbg_set_add(&left->by, agent->warp);
    }
}

static bool judge_named(struct left *left)
{
    struct wsdbg_case *c = left->c;
    const struct wsdbg_replay_agent *agent = &left->replay->agents[left->agent];
    const struct wsdbg_step_row *step = &agent->steps[agent->at];
    const uint32_t comers = count_comers(left, agent->cta, step->address);
    if (!step->number_known || comers >= step->number)
        return false;
    note_leavers(left, agent->cta);
    if (comers + wsdbg_set_count(&left->by) * WSDBG_WARP_THREADS != step->number)
        return false;
    struct wsdbg_finding *finding = find(left, wsdbg_case_warp(c, agent->warp)->barrier);
    if (!finding)
        return true;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits on named barrier %u%s for %u threads, of which only %u come. The others are those of %s, which "
        "left the kernel where warps that had done the same go on.",
        wsdbg_say_warp(c, agent->warp).text, step->address, wsdbg_say_at(c, agent->warp).text, step->number, comers,
        wsdbg_say_warps(c, &left->by).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp of a role leave its loop by the same condition, and come to named barrier %u as often "
                "as the others expect it.",
                step->address);
    return true;
}

/* ---- lanes of a warp ---- */

static uint32_t next_wait(const struct wsdbg_replay_agent *agent, uint32_t from)
{
    while (from < agent->step_count && (agent->steps[from].kind != WSDBG_ACCESS_WAIT || agent->repeats[from]))
        from++;
    return from;
}

/* Whether an agent waits for all that the one that left waited for, in the same order, and then again for some of it.
 */
static bool waits_on(const struct wsdbg_replay_agent *leaver, const struct wsdbg_replay_agent *stays)
{
    uint32_t i = next_wait(leaver, 0), k = next_wait(stays, 0);
    const uint32_t first = i < leaver->step_count ? leaver->target[i] : WSDBG_NONE;
    for (; i < leaver->step_count && k < stays->step_count; k = next_wait(stays, k + 1)) {
        if (leaver->target[i] != stays->target[k])
            return false;
        i = next_wait(leaver, i + 1);
    }
    for (; first != WSDBG_NONE && k < stays->step_count; k = next_wait(stays, k + 1))
        if (stays->target[k] == first)
            return i >= leaver->step_count;
    return false;
}

/* How many arrivals an agent makes on the ring in a round, by the last one.  0 = none, or it has arrived in the
 * barrier's phase. */
static uint32_t missing_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t of_last = 0, rounds = 0;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint32_t arrivals = agent->target[k] == WSDBG_NONE ? 0 : wsdbg_replay_arrivals_of(agent, k);
        if (arrivals == 0 || !wsdbg_replay_is_of_family(replay, agent->target[k], barrier))
            continue;
        of_last = arrivals;
        rounds += agent->target[k] == barrier;
    }
    return rounds <= replay->barriers[barrier].phase ? of_last : 0;
}

/* Whether an agent is of few lanes, elected to arrive on the ring, which have left while their warp goes on. */
static bool is_elected_leaver(const struct left *left, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    return 2 * agent->lane_count < WSDBG_WARP_THREADS && wsdbg_replay_has_left(left->replay, agent) &&
           wsdbg_case_warp(left->c, agent->warp)->state != WSDBG_WARP_EXITED &&
           missing_of(left->replay, agent, barrier) > 0;
}

/* Whether some lanes of the leaver's warp go on with what it did. */
static bool stays_behind(const struct left *left, const struct wsdbg_replay_agent *leaver)
{
    for (uint32_t i = 0; i < left->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *stays = &left->replay->agents[i];
        if (stays->warp == leaver->warp && !wsdbg_replay_has_left(left->replay, stays) && waits_on(leaver, stays))
            return true;
    }
    return false;
}

/* Notes lanes that broke off while the others of their warp go on.  Returns how many arrivals they are missing for. */
static uint32_t note_broken_off(struct left *left, uint32_t barrier)
{
    const struct wsdbg_replay *replay = left->replay;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *leaver = &replay->agents[i];
        if (!is_elected_leaver(left, leaver, barrier) || !stays_behind(left, leaver))
            continue;
        wsdbg_set_add(&left->by, leaver->warp);
        left->lanes |= leaver->lanes;
        missing += missing_of(replay, leaver, barrier);
    }
    return missing;
}

/* If more is missing than what they would bring, something else holds up the phase, too. */
static bool judge_broken_off(struct left *left)
{
    struct wsdbg_case *c = left->c;
    const struct wsdbg_replay_agent *agent = &left->replay->agents[left->agent];
    const uint32_t barrier = agent->target[agent->at], row = left->replay->barriers[barrier].row;
    const uint32_t pending = left->replay->barriers[barrier].pending;
    if (row == WSDBG_NONE || pending == 0 || pending > note_broken_off(left, barrier))
        return false;
    struct wsdbg_finding *finding = wsdbg_set_count(&left->by) ? find(left, row) : NULL;
    if (!finding)
        return false;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, but %s%s, which arrived on %s until then, left the kernel in the middle of a loop "
                "that the rest of the warp goes on with.",
                wsdbg_say_warp(c, agent->warp).text, wsdbg_say_object(c, row).text, wsdbg_say_at(c, agent->warp).text,
                say_lanes_of(left).text, wsdbg_say_warps(c, &left->by).text, wsdbg_say_family(c, row).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the elected lane stay until its last arrival on %s: do not return from inside its loop.",
                wsdbg_say_family(c, row).text);
    wsdbg_tell_word(c, finding, row);
    return true;
}

/* ---- CTAs of a cluster ---- */

/* Whether a step that one CTA makes on its own barriers alone. */
static bool stays_at_home(const struct wsdbg_step_row *step)
{
    return step->rank == WSDBG_STEP_OWN_RANK && !step->mask;
}

/* Whether the leaver, had it gone on like the model from a step on, would have arrived on the barrier or brought bytes
 * to it; or on another barrier of its family in that CTA. */
static bool would_serve(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *leaver,
                        const struct wsdbg_replay_agent *model, uint32_t begin, uint32_t barrier)
{
    const bool is_own = leaver->cta == replay->barriers[barrier].cta;
    for (uint32_t k = begin; k < model->step_count; k++)
        if (model->target[k] != WSDBG_NONE && model->steps[k].kind != WSDBG_ACCESS_WAIT &&
            wsdbg_replay_is_of_family(replay, model->target[k], barrier) &&
            (is_own || !stays_at_home(&model->steps[k])))
            return true;
    return false;
}

/* Whether an agent is of the same warp of another CTA as one that has left, and goes on with what is waited for. */
static bool is_model(const struct left *left, const struct wsdbg_replay_agent *leaver,
                     const struct wsdbg_replay_agent *model, uint32_t barrier)
{
    uint32_t goes_on;
    return model->cta != leaver->cta && model->lanes & leaver->lanes &&
           wsdbg_case_warp(left->c, model->warp)->warp == wsdbg_case_warp(left->c, leaver->warp)->warp &&
           !wsdbg_replay_has_left(left->replay, model) &&
           wsdbg_replay_begins_like(leaver, model, WSDBG_LIKE_BY_MBARRIERS, &goes_on) &&
           would_serve(left->replay, leaver, model, goes_on, barrier);
}

/* The warps of other CTAs that go on where an agent left. */
static struct wsdbg_warp_set models_of(const struct left *left, const struct wsdbg_replay_agent *leaver,
                                       uint32_t barrier)
{
    struct wsdbg_warp_set models = {{0}};
    for (uint32_t i = 0; i < left->replay->agent_count; i++)
        if (is_model(left, leaver, &left->replay->agents[i], barrier))
            wsdbg_set_add(&models, left->replay->agents[i].warp);
    return models;
}

/* Notes the threads of one warp number that left some CTAs where those of at least as many other CTAs go on; *stays:
 * one of these. */
static bool note_deserters(struct left *left, uint32_t barrier, uint32_t *stays)
{
    const struct wsdbg_replay *replay = left->replay;
    uint32_t number = WSDBG_NONE, models = UINT32_MAX;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const uint32_t own = wsdbg_case_warp(left->c, agent->warp)->warp;
        if ((number != WSDBG_NONE && own != number) || !wsdbg_replay_has_left(left->replay, agent))
            continue;
        const struct wsdbg_warp_set set = models_of(left, agent, barrier);
        const uint32_t count = wsdbg_set_count(&set);
        if (count == 0)
            continue;
        number = own;
        models = count < models ? count : models;
        *stays = wsdbg_first_of(&set);
        wsdbg_set_add(&left->by, agent->warp);
        left->lanes |= agent->lanes;
    }
    return number != WSDBG_NONE && models >= wsdbg_set_count(&left->by);
}

/* Whether an agent that left did nothing but what the same lanes of a CTA that goes on did first.  *model: one that
 * would then have served the barrier, WSDBG_NONE. */
static bool did_no_more_than(const struct left *left, const struct wsdbg_replay_agent *agent, uint32_t cta,
                             uint32_t barrier, uint32_t *model)
{
    const struct wsdbg_replay *replay = left->replay;
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *other = &replay->agents[i];
        uint32_t goes_on;
        if (other->cta != cta || !(other->lanes & agent->lanes) ||
            wsdbg_case_warp(left->c, other->warp)->warp != wsdbg_case_warp(left->c, agent->warp)->warp)
            continue;
        if (!wsdbg_replay_did_no_more(agent, other, &goes_on))
            return false;
        any = true;
        if (would_serve(replay, agent, other, goes_on, barrier))
            *model = other->warp;
    }
    return any;
}

/* Notes all warps of a CTA that has left as a whole, each behind the first steps of the same warp of `model_cta`. */
static bool note_empty_cta(struct left *left, uint32_t cta, uint32_t model_cta, uint32_t barrier, uint32_t *stays)
{
    left->by = (struct wsdbg_warp_set){{0}};
    left->lanes = UINT32_MAX;
    *stays = WSDBG_NONE;
    for (uint32_t i = 0; i < left->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &left->replay->agents[i];
        if (agent->cta != cta)
            continue;
        if (!wsdbg_replay_has_left(left->replay, agent) || !did_no_more_than(left, agent, model_cta, barrier, stays))
            return false;
        wsdbg_set_add(&left->by, agent->warp);
    }
    return *stays != WSDBG_NONE;
}

/* Whether one CTA alone of the cluster has left so, as seen from the CTA that waits. */
static bool note_empty_ctas(struct left *left, uint32_t barrier, uint32_t *stays)
{
    const uint32_t own = left->replay->agents[left->agent].cta;
    for (uint32_t cta = 0; cta < left->c->cta_count; cta++)
        if (cta != own && note_empty_cta(left, cta, own, barrier, stays))
            return true;
    return false;
}

static bool judge_deserted(struct left *left)
{
    struct wsdbg_case *c = left->c;
    const struct wsdbg_replay_agent *agent = &left->replay->agents[left->agent];
    const uint32_t barrier = agent->target[agent->at], row = left->replay->barriers[barrier].row;
    uint32_t stays = WSDBG_NONE;
    if (row == WSDBG_NONE || (!note_deserters(left, barrier, &stays) && !note_empty_ctas(left, barrier, &stays)))
        return false;
    struct wsdbg_finding *finding = find(left, row);
    if (!finding)
        return true;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits on %s%s, but %s%s left the kernel, while %s, which did the same up to there, goes on and serves it.",
        wsdbg_say_warp(c, agent->warp).text, wsdbg_say_object(c, row).text, wsdbg_say_at(c, agent->warp).text,
        say_lanes_of(left).text, wsdbg_say_warps(c, &left->by).text, wsdbg_say_warp(c, stays).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the threads that serve %s stay for as many rounds in each CTA of the cluster.",
                wsdbg_say_family(c, row).text);
    wsdbg_tell_word(c, finding, row);
    return true;
}

/* ---- all ---- */

typedef bool judge_fn(struct left *left);

/* What an agent stands at: an mbarrier, or a named barrier of its CTA. */
static uint32_t stands_at(const struct wsdbg_replay_agent *agent)
{
    return agent->state == WSDBG_AGENT_NAMED ? agent->cta * WSDBG_NAMED_BARRIERS + agent->steps[agent->at].address
                                             : agent->target[agent->at];
}

/* Whether an agent before this one stands in the same state at the same barrier, as it was seen. */
static bool was_asked(const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    for (uint32_t i = 0; i < number; i++)
        if (replay->agents[i].state == agent->state && stands_at(&replay->agents[i]) == stands_at(agent) &&
            wsdbg_replay_is_as_seen(replay, i))
            return true;
    return false;
}

/* Asks of each barrier at which agents stand in this state, as they were seen, until one says something. */
static void ask(struct left *left, enum wsdbg_agent_state state, judge_fn *judge)
{
    for (uint32_t i = 0; left->replay && i < left->replay->agent_count; i++) {
        left->agent = i;
        left->by = (struct wsdbg_warp_set){{0}};
        left->lanes = 0;
        if (left->replay->agents[i].state == state && wsdbg_replay_is_as_seen(left->replay, i) &&
            !was_asked(left->replay, i) && judge(left))
            return;
    }
}

/* A replay that was broken by an arrival too many was cut, and one that stops elsewhere may be wrong: both tell nothing
 * of who left. */
static struct left begin(struct wsdbg_case *c)
{
    struct left left = {.c = c, .replay = wsdbg_replay_standing(c)};
    const struct wsdbg_replay *failing = left.replay ? NULL : wsdbg_replay_failing(c);
    if (failing && !failing->is_broken && !failing->is_unlike && !failing->is_guessed)
        left.replay = failing;
    return left;
}

void wsdbg_rule_code_deserted(struct wsdbg_case *c)
{
    struct left left = begin(c);
    if (c->cta_count > 1)
        ask(&left, WSDBG_AGENT_WAITS, judge_deserted);
}

void wsdbg_rule_code_left(struct wsdbg_case *c)
{
    struct left left = begin(c);
    ask(&left, WSDBG_AGENT_WAITS, judge_mbarrier);
    if (!wsdbg_case_explained(c))
        ask(&left, WSDBG_AGENT_NAMED, judge_named);
    if (!wsdbg_case_explained(c))
        ask(&left, WSDBG_AGENT_WAITS, judge_broken_off);
}
