/* repair_say_parity.c - the sentence and the fix of repairs of waits.  See repair_say.h.
 *
 * Reads: a repair that works, the replay.  Writes: a finding.
 */
#include "diagnose/code_say.h"
#include "diagnose/repair_say.h"

void wsdbg_repair_say_drift(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const struct wsdbg_repair_wait *wait = &repair->wait;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const uint32_t parity = wsdbg_repair_agent(rounds, wait->agent)->steps[wait->step].number & 1;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waited on %s%s with parities that do not alternate: wait number %u asked for parity %u, as the "
                "wait before it. Each phase has the other parity, so from there on the waits are out of step with "
                "the barrier.",
                wsdbg_say_warps(c, &repair->warps).text, wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text,
                wsdbg_repair_at_step(rounds, wait->agent, wait->step).text, wait->turn + 1, parity);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Keep the phase of %s across tiles: flip it when the stage index wraps, and only then.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}

void wsdbg_repair_say_first(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s begin%s with parity %u to wait on %s, and so all these waits ask for the wrong phase%s: with parity "
        "%u first%s %s.",
        wsdbg_say_warps(c, &repair->warps).text, wsdbg_repair_is_one(repair) ? "s" : "", repair->value ^ 1,
        repair->is_mixed ? wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text
                         : wsdbg_repair_subject(rounds, repair).text,
        repair->is_of_families ? ", as do those on other mbarriers" : "", repair->value,
        repair->is_mixed ? ", as on other stages," : "", wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Start the phase of %s at %u, and flip it when the stage index wraps%s.",
                wsdbg_repair_subject(rounds, repair).text, repair->value,
                repair->is_by_flow ? "; or let those who arrive on it do so once before their first wait" : "");
}

void wsdbg_repair_say_site(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const struct wsdbg_repair_wait *wait = &repair->wait;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps),
                              site = wsdbg_repair_at_step(rounds, wait->agent, wait->step);
    const uint32_t parity = wsdbg_repair_agent(rounds, wait->agent)->steps[wait->step].number & 1;
    if (repair->value == WSDBG_FLIPS_ALTERNATE)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "The waits of %s on %s%s ask for parities that do not alternate from one round to the next. If "
                    "they did, %s.",
                    warps.text, wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text, site.text,
                    wsdbg_repair_outcome(repair));
    else if (repair->value == WSDBG_FLIPS_ALL)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "All waits of %s on %s%s ask for the wrong parity, the first for parity %u. With the other one %s.",
                    warps.text, wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text, site.text, parity,
                    wsdbg_repair_outcome(repair));
    else
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s ask%s for parity %u in wait number %u on %s%s. With the other parity in this wait %s.",
                    warps.text, wsdbg_repair_is_one(repair) ? "s" : "", parity, wait->turn + 1,
                    wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text, site.text,
                    wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Take the parity of each wait on %s from the number of phases that went before: flip it when the stage "
                "index wraps, and only then.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}

void wsdbg_repair_say_shift(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const struct wsdbg_repair_wait *wait = &repair->wait;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const bool is_one = wsdbg_repair_is_one(repair);
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps),
                              was = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)),
                              to = wsdbg_say_object(c, rounds->replay->barriers[repair->moved_to].row),
                              site = wsdbg_repair_at_step(rounds, wait->agent, wait->step);
    if (repair->is_each_time)
        wsdbg_print(
            finding->sentence, sizeof finding->sentence,
            "%s pass%s over rounds%s, too few or too many, and then wait%s on %s%s. With parity %u of %s there, "
            "and as many rounds on or back each time, %s.",
            warps.text, is_one ? "es" : "", repair->is_alone ? " that nobody takes" : " of other warpgroups",
            is_one ? "s" : "", was.text, site.text, repair->moved_parity, to.text, wsdbg_repair_outcome(repair));
    else
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s begin%s to wait on %s%s, some rounds too early or too late for the turns that warpgroups take "
                    "there. With parity %u of %s first, and the rounds that follow, %s.",
                    warps.text, is_one ? "s" : "", was.text, site.text, repair->moved_parity, to.text,
                    wsdbg_repair_outcome(repair));
    if (repair->is_alone)
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Advance the stage and the phase of %s once in each round: look for a release, a commit or an "
                    "advance that some path makes twice.",
                    wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
    else
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Advance the stage and the phase of %s by all rounds that other warpgroups take %s.",
                    wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text,
                    repair->is_each_time ? "between two turns" : "before the first turn");
}

void wsdbg_repair_say_afresh(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const bool is_one = wsdbg_repair_is_one(repair);
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps),
                              was = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)),
                              to = wsdbg_say_object(c, rounds->replay->barriers[repair->moved_to].row),
                              site = wsdbg_repair_at_step(rounds, repair->wait.agent, repair->wait.step);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s go%s back to %s%s, where %s began, before the round of the ring is over. Had %s gone on with %s "
                "and parity %u, and so each time, %s.",
                warps.text, is_one ? "es" : "", was.text, site.text, is_one ? "it" : "they", is_one ? "it" : "they",
                to.text, repair->moved_parity, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Keep the stage and the phase of %s across tiles: no variable of a tile may hold them, and no copy "
                "that is lost with it.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}

void wsdbg_repair_say_astray(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    const bool is_one = wsdbg_repair_is_one(repair);
    const struct wsdbg_phrase warps = wsdbg_say_warps(c, &repair->warps),
                              was = wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)),
                              to = wsdbg_say_object(c, rounds->replay->barriers[repair->moved_to].row),
                              released = wsdbg_say_object(c, rounds->replay->barriers[repair->released].row),
                              site = wsdbg_repair_at_step(rounds, repair->wait.agent, repair->wait.step);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s for %s%s, but then release%s %s: the two are not of one stage. If the wait were for %s, and "
                "so in all rounds, %s.",
                warps.text, is_one ? "s" : "", was.text, site.text, is_one ? "s" : "", released.text, to.text,
                wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Wait for %s with the stage and the phase of the round that is released behind the wait.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}

void wsdbg_repair_say_token(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    const struct wsdbg_repair_wait *wait = &repair->wait;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    char number[40] = "";
    if (!finding)
        return;
    if (rounds->replay->stale_waits == 1)
        wsdbg_print(number, sizeof number, ", in wait number %u", wait->turn + 1);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s wait%s on %s%s with the token of an earlier arrival than the last one%s. The phase of that arrival was "
        "over, so the wait is for the phase after next. With the token of the last arrival %s.",
        wsdbg_say_warps(c, &repair->warps).text, wsdbg_repair_is_one(repair) ? "s" : "",
        wsdbg_say_object(c, wsdbg_repair_row(rounds, repair)).text,
        wsdbg_repair_at_step(rounds, wait->agent, wait->step).text, number, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Pass to each wait on %s the token that the last arrival before it returned.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}
