/* repair_say_left.c - the sentence and the fix of repairs of warps and lanes that have left the kernel.  See
 * repair_say.h.
 *
 * Reads: a repair that works, the replay.  Writes: a finding.
 */
#include "diagnose/code_say.h"
#include "diagnose/repair_say.h"

void wsdbg_repair_say_unmade(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    char left[160] = "";
    const struct wsdbg_phrase family = wsdbg_say_family(c, wsdbg_repair_row(rounds, repair));
    if (repair->lanes)
        wsdbg_print(left, sizeof left, " %.50s of %.60s left the kernel, while the rest went on.",
                    wsdbg_say_lanes(repair->lanes).text, wsdbg_say_warps(c, &repair->warps).text);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "Nobody makes the arrival on %s at %s, which is on the way of %s: so each phase lacks %u.%s Were it made, "
        "%s.",
        family.text, wsdbg_say_place(c, c->snapshot->accesses[repair->access].site).text,
        wsdbg_say_warps(c, &repair->warps).text, repair->value, left, wsdbg_repair_outcome(repair));
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let a lane make that arrival on %s in each round: neither a branch nor an early return may leave it "
                "out.",
                family.text);
    wsdbg_tell_access(c, finding, repair->access, "is an arrival that no thread of the CTA makes");
}

/* Says who left, where warps take turns at arriving. */
static void say_left_turns(struct rounds *rounds, const struct wsdbg_repair *repair, struct wsdbg_finding *finding,
                           const char *lanes)
{
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s%s left the kernel. The warps of that warpgroup take turns at arriving on %s, and nobody arrives in "
                "%s turns. Had %s stayed, %s.",
                lanes, wsdbg_say_warps(rounds->c, &repair->warps).text,
                wsdbg_say_family(rounds->c, wsdbg_repair_row(rounds, repair)).text,
                wsdbg_repair_is_one(repair) ? "its" : "their", wsdbg_repair_is_one(repair) ? "it" : "they",
                wsdbg_repair_outcome(repair));
}

void wsdbg_repair_say_stay(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_finding *finding = wsdbg_repair_find(rounds, repair);
    if (!finding)
        return;
    char lanes[64] = "";
    if (repair->lanes)
        wsdbg_print(lanes, sizeof lanes, "%.50s of ", wsdbg_say_lanes(repair->lanes).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s%s left the kernel, while %s, which did the same up to there, goes on and arrives on %s. Had %s "
                "stayed, %s.",
                lanes, wsdbg_say_warps(c, &repair->warps).text, wsdbg_say_warp(c, repair->like).text,
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text, wsdbg_repair_is_one(repair) ? "it" : "they",
                wsdbg_repair_outcome(repair));
    if (repair->is_of_turns)
        say_left_turns(rounds, repair, finding, lanes);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp of a role stay until its last arrival on %s: leave the loop by the same condition as "
                "the others, and do not return from inside of it.",
                wsdbg_say_family(c, wsdbg_repair_row(rounds, repair)).text);
}
