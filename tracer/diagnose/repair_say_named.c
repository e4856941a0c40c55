/* repair_say_named.c - the sentence and the fix of repairs of named barriers.  See repair_say.h.
 *
 * Reads: a repair that works, the replay.  Writes: a finding.
 */
#include "diagnose/code_say.h"
#include "diagnose/repair_say.h"

/* The named barrier of this id at which the warp stands, or some of its lanes; WSDBG_NONE = they do not. */
static uint32_t barrier_of(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state == WSDBG_WARP_WAIT_NAMED && parts[i].barrier < c->snapshot->barrier_count &&
            c->snapshot->barriers[parts[i].barrier].id == id)
            return parts[i].barrier;
    return WSDBG_NONE;
}

/* A finding about the named barrier at which warps stand. */
static struct wsdbg_finding *find_at(struct rounds *rounds, const struct wsdbg_repair *repair, uint32_t id)
{
    struct wsdbg_case *c = rounds->c;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const uint32_t barrier = barrier_of(c, w, id);
        if (barrier == WSDBG_NONE)
            continue;
        struct wsdbg_finding *finding =
            wsdbg_case_find(c, wsdbg_repair_cause(repair), rounds->confidence, wsdbg_case_warp(c, w)->cta, barrier);
        if (finding && wsdbg_set_count(&repair->warps))
            finding->role = wsdbg_case_warp(c, wsdbg_first_of(&repair->warps))->role;
        return finding;
    }
    return NULL;
}

static struct wsdbg_finding *find_named(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return find_at(rounds, repair, repair->named);
}

/* The same, where perhaps nobody stands at that barrier any more. */
static struct wsdbg_finding *find_used(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    const uint32_t first = wsdbg_first_of(&repair->warps);
    if (finding || first == WSDBG_NONE)
        return finding;
    finding = wsdbg_case_find(rounds->c, wsdbg_repair_cause(repair), rounds->confidence,
                              wsdbg_case_warp(rounds->c, first)->cta, WSDBG_NONE);
    if (finding)
        finding->role = wsdbg_case_warp(rounds->c, first)->role;
    return finding;
}

/* "named barrier 1", "named barriers 1, 3" */
static struct wsdbg_phrase say_ids(uint32_t ids)
{
    struct wsdbg_phrase phrase;
    const bool is_one = (ids & (ids - 1)) == 0;
    size_t length = wsdbg_print(phrase.text, sizeof phrase.text, is_one ? "named barrier" : "named barriers");
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++)
        if (ids >> id & 1)
            length += wsdbg_print(phrase.text + length, sizeof phrase.text - length, "%s %u",
                                  ids & ((1u << id) - 1) ? "," : "", id);
    return phrase;
}

void wsdbg_repair_say_early(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    const struct wsdbg_phrase barriers = say_ids(repair->value);
    const bool is_one = wsdbg_set_count(&repair->warps) == 1;
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrive%s at %s only behind waits that others end after they passed it. Had %s arrived "
                "once before, %s.",
                wsdbg_say_warps(rounds->c, &repair->warps).text, is_one ? "s" : "", barriers.text,
                is_one ? "it" : "they", wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s arrive at %s once before the loop, or let the others leave out its first round.",
                is_one ? "this warp" : "these warps", barriers.text);
}

void wsdbg_repair_say_named_round(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    const bool is_one = wsdbg_set_count(&repair->warps) == 1;
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &repair->warps),
                              at = wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s come%s to named barrier %u in some rounds and leave%s it out in others, the first time before the "
                "step%s. Had %s come to it in each round, %s.",
                warps.text, is_one ? "s" : "", repair->named, is_one ? "s" : "", at.text, is_one ? "it" : "they",
                wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s come to named barrier %u in each round, also in those that are peeled off the loop or skip its "
                "work.",
                is_one ? "this warp" : "these warps", repair->named);
}

void wsdbg_repair_say_named_mates(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    const bool is_one = wsdbg_set_count(&repair->warps) == 1;
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &repair->warps),
                              mate = wsdbg_say_warp(rounds->c, repair->like),
                              at = wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s never come%s to named barrier %u, though %s of the same warpgroup does%s. Uses of it name %u "
                "threads, just as many as would come then. Had %s come, too, %s.",
                warps.text, is_one ? "s" : "", repair->named, mate.text, at.text, repair->value, is_one ? "it" : "they",
                wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let all warps of the warpgroup execute the bar.sync or bar.arrive on named barrier %u, not only those "
                "that a condition lets through.",
                repair->named);
}

void wsdbg_repair_say_named(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s name%s %u threads at named barrier %u%s. With %u threads there, as many as %s, %s.",
                wsdbg_say_warps(rounds->c, &repair->warps).text, wsdbg_repair_is_one(repair) ? "s" : "", repair->was,
                repair->named, repair->is_of_any ? ", and so do others at the barriers of the same instruction" : "",
                repair->value, repair->is_of_comers ? "come to it" : "other uses name", wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Name the same number of threads (%u) in every bar.sync and bar.arrive of named barrier %u.",
                repair->value, repair->named);
}

void wsdbg_repair_say_named_id(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_at(rounds, repair, repair->value);
    finding = finding ? finding : find_named(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &repair->warps),
                              at = wsdbg_repair_at_step(rounds, repair->wait.agent, repair->wait.step);
    const char *uses = wsdbg_set_count(&repair->warps) == 1 ? "uses" : "use",
               *why = !repair->is_shared ? "to which nobody else comes"
                      : repair->of_each  ? "though not all of them meet in the same rounds"
                                         : "which other rounds use, too";
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                repair->of_each ? "%s %s named barrier %u%s, %s. With another one for each group, as %u, %s."
                                : "%s %s named barrier %u%s, %s. With %u there, %s.",
                warps.text, uses, repair->named, at.text, why, repair->value, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use one id in every bar.sync and bar.arrive of a round, and another id where other warps meet.");
}

void wsdbg_repair_say_named_apart(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_used(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &repair->warps),
                              at = wsdbg_repair_at_step(rounds, repair->wait.agent, repair->wait.step);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s meet at named barrier %u%s, where others meet, too. With a barrier of their own, as %u, %s.",
                warps.text, repair->named, at.text, repair->value, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Give each meeting an id that no other one has: where ids are made of several numbers, no two sums may "
                "be the same.");
}

void wsdbg_repair_say_named_less(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_used(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &repair->warps), barriers = say_ids(repair->value),
                              at = wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step);
    const bool is_one = wsdbg_set_count(&repair->warps) == 1;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s arrive%s at %s%s %s, beside the arrivals at another place: so the others go on too early. %s, %s.",
        warps.text, is_one ? "s" : "", barriers.text, at.text, repair->is_each_time ? "more than once" : "as well",
        repair->is_each_time ? "With the first of these arrivals alone" : "Without them", wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                repair->is_each_time ? "Make this arrival once, before all rounds: the end of each round makes it for "
                                       "the next one. Or let the others wait for each of these arrivals."
                                     : "Leave this arrival out: a round makes it elsewhere already. Or let the others "
                                       "wait for each of these arrivals.");
}

void wsdbg_repair_say_block(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_finding *finding = find_named(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &repair->warps),
                              at = wsdbg_repair_at_step(rounds, repair->edit.agent, repair->edit.step);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s come%s to a barrier for all threads of the CTA%s to which the other warps never come. Without it %s.",
        warps.text, wsdbg_set_count(&repair->warps) == 1 ? "s" : "", at.text, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "A barrier for all threads in the branch of one role never completes: use a named barrier with the "
                "thread count of that role.");
}
