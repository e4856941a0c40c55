/* rule_code_rounds.c - the cause of a standstill, from a replay of the whole kernel (replay.h): the one change with
 * which the kernel would go on (repair.h).
 *
 * Reads: walks, the picture.  Adds: PARITY_DRIFT, PARITY_WRONG, ARRIVE_MISSING, WAKER_EXITED, DOUBLE_ARRIVE,
 * ARRIVE_SHORT, NAMED_COUNT, NAMED_ID_SHARED; TX_NO_ARRIVE and TX_MISMATCH where rules before it did not say more of
 * the bytes; ARRIVE_MISSING at a named barrier where they did not say more of that.
 *
 * It adds a finding only if the replay of the unchanged kernel ends in the picture, or fails in every order as
 * wsdbg_replay_failing says; and some repair works.
 */
#include "diagnose/code_say.h"
#include "diagnose/repair_say.h"
#include "diagnose/rules.h"

/* Whether a repair needs no comparison with others.  A round, a wait or a stage that is unlike all others is taken to
 * be wrong, even if another repair works, too.  A first parity and a count are not: changing either one may make up for
 * a mistake in the other.  Bytes and threads that seem to be missing may come from those whose walks are not known. */
static bool is_certain_of_itself(const struct wsdbg_repair *repair)
{
    switch (repair->kind) {
    case WSDBG_REPAIR_PARITY_FIRST:
        return repair->is_exception;
    case WSDBG_REPAIR_COUNT:
        return repair->is_of_stage;
    case WSDBG_REPAIR_NAMED:
    case WSDBG_REPAIR_NAMED_ID:
    case WSDBG_REPAIR_NAMED_APART:
    case WSDBG_REPAIR_NAMED_MATES:
    case WSDBG_REPAIR_NAMED_ROUND:
    case WSDBG_REPAIR_ANNOUNCE:
    case WSDBG_REPAIR_BYTES:
    case WSDBG_REPAIR_MOVE:
    case WSDBG_REPAIR_PARITY_SITE:
    case WSDBG_REPAIR_SHIFT:
    case WSDBG_REPAIR_ASTRAY:
    case WSDBG_REPAIR_AFRESH:
        return repair->is_to_end;
    default:
        return true;
    }
}

static bool is_of_parity(enum wsdbg_cause cause)
{
    return cause == WSDBG_CAUSE_PARITY_WRONG || cause == WSDBG_CAUSE_PARITY_DRIFT;
}

/* Whether two repairs tell the author to look for different mistakes.  Where a count, say, is wrong, waits at one place
 * may make up for it: PARITY_SITE is only asked for where nothing else works. */
static bool are_rivals(const struct wsdbg_repair *chosen, const struct wsdbg_repair *other)
{
    const enum wsdbg_cause a = wsdbg_repair_cause(chosen), z = wsdbg_repair_cause(other);
    return other != chosen && other->kind != WSDBG_REPAIR_PARITY_SITE && a != z &&
           !(is_of_parity(a) && is_of_parity(z));
}

/* Another repair that works, with another cause.  NULL = there is none, or the chosen one needs no comparison.  The
 * repair of add_named_rounds is compared with every other one. */
static const struct wsdbg_repair *find_rival(const struct rounds *rounds, const struct wsdbg_repair *chosen)
{
    for (uint32_t i = 0; i < rounds->repairs.count; i++) {
        const struct wsdbg_repair *other = &rounds->repairs.rows[i];
        if ((other->kind == WSDBG_REPAIR_NAMED_ROUND || !is_certain_of_itself(chosen)) && are_rivals(chosen, other))
            return other;
    }
    return NULL;
}

/* How sure a finding of the repair may be. */
static enum wsdbg_confidence confidence_of(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const bool may_have_rival =
        find_rival(rounds, repair) || (rounds->repairs.is_partial && !is_certain_of_itself(repair));
    /* The picture is only met with that assumption.  Where it does not also lead to the end, it proves little. */
    const bool is_assumed = repair->kind == WSDBG_REPAIR_TOKEN && !repair->is_to_end;
    /* Waits that others leave out look just like arrivals that are too many. */
    const bool may_lack_waits = repair->kind == WSDBG_REPAIR_NAMED_LESS;
    const bool is_likely = (repair->is_to_end || is_certain_of_itself(repair)) && !may_have_rival && !is_assumed &&
                           !may_lack_waits && !repair->is_by_flow && !rounds->replay->is_unlike &&
                           !rounds->replay->is_guessed &&
                           (!repair->is_doubtful || is_of_parity(wsdbg_repair_cause(repair)));
    const enum wsdbg_confidence wanted = is_likely ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
    return rounds->c->faulted ? wanted : wsdbg_code_cap(rounds->c, wanted); /* after a fault nothing moves */
}

/* Adds how the unchanged kernel ends, where a replay of it does not end in the picture. */
static void tell_failure(struct rounds *rounds, struct wsdbg_finding *finding)
{
    const unsigned orders = rounds->replay->orders;
    if (rounds->replay->overflows)
        wsdbg_evidence_text(rounds->c, finding,
                            "followed from its start, the kernel arrives on the barrier more often than a phase takes, "
                            "in %u of %u orders of its warps",
                            rounds->replay->overflow_runs, orders);
    else if (rounds->replay->is_unlike)
        wsdbg_evidence_text(rounds->c, finding,
                            "followed from its start, the kernel finishes in none of %u orders of its warps, but it "
                            "stops at other places than it was seen at",
                            orders);
    else
        wsdbg_evidence_text(rounds->c, finding,
                            "followed from its start, the kernel finishes in %u of %u orders of its warps; in one of "
                            "the others it stops much as it was seen",
                            rounds->replay->ended_runs, orders);
    if (rounds->replay->is_guessed)
        wsdbg_evidence_text(rounds->c, finding,
                            "nobody knows which CTA got which number of a counter in global memory; CTAs are taken to "
                            "have got them in turn");
}

/* Adds who waits, the barrier's word, and how the replay went. */
static void tell_account(struct rounds *rounds, struct wsdbg_finding *finding, const struct wsdbg_repair *repair)
{
    struct wsdbg_case *c = rounds->c;
    struct wsdbg_warp_set waiters = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_MBARRIER)
            wsdbg_set_add(&waiters, w);
    wsdbg_tell_waits(c, finding, &waiters);
    wsdbg_tell_word(c, finding, finding->barrier);
    if (!c->standing)
        tell_failure(rounds, finding);
    wsdbg_evidence_text(c, finding, "%swith this change %s",
                        !c->standing ? ""
                        : wsdbg_replay_stands_at_polls(c)
                            ? "followed from its start, with its polls held, the kernel stops in just this state; "
                            : "followed from its start, the kernel stops in just this state; ",
                        repair->is_to_end
                            ? "it would finish"
                            : "all that is stuck would go on; how the kernel goes on after that is not known");
}

/* Whether the repair is of a named barrier, and of no mbarrier. */
static bool is_of_named(const struct wsdbg_repair *repair)
{
    switch (repair->kind) {
    case WSDBG_REPAIR_EARLY:
    case WSDBG_REPAIR_NAMED:
    case WSDBG_REPAIR_NAMED_ID:
    case WSDBG_REPAIR_NAMED_APART:
    case WSDBG_REPAIR_NAMED_LESS:
    case WSDBG_REPAIR_NAMED_MATES:
    case WSDBG_REPAIR_NAMED_ROUND:
        return true;
    default:
        return false;
    }
}

/* What else would let the kernel go on. */
static struct wsdbg_phrase say_rival(const struct rounds *rounds, const struct wsdbg_repair *rival)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_phrase warps = wsdbg_say_warps(rounds->c, &rival->warps),
                              subject = is_of_named(rival) ? phrase : wsdbg_repair_subject(rounds, rival);
    if (rival->kind == WSDBG_REPAIR_COUNT)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.100s were initialised for %u arrivals", subject.text,
                    rival->value);
    else if (rival->kind == WSDBG_REPAIR_PARITY_FIRST)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s began with parity %u to wait on %.60s", warps.text,
                    rival->value, subject.text);
    else if (rival->kind == WSDBG_REPAIR_EARLY)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s arrived once before at named barrier %u", warps.text,
                    rival->named);
    else if (rival->kind == WSDBG_REPAIR_NAMED_MATES)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s came to named barrier %u, too", warps.text, rival->named);
    else if (rival->kind == WSDBG_REPAIR_NAMED_ROUND)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s came to named barrier %u in each of their rounds",
                    warps.text, rival->named);
    else if (rival->kind == WSDBG_REPAIR_NAMED_ID)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s used named barrier %u instead of %u", warps.text,
                    rival->value, rival->named);
    else if (rival->kind == WSDBG_REPAIR_NAMED)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s named %u threads at named barrier %u", warps.text,
                    rival->value, rival->named);
    else if (rival->kind == WSDBG_REPAIR_STAY)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s stayed in the kernel", warps.text);
    else if (rival->kind == WSDBG_REPAIR_DROP)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s arrived less often on %.60s", warps.text, subject.text);
    else if (rival->kind == WSDBG_REPAIR_MOVE)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s arrived on %.60s of another CTA", warps.text, subject.text);
    else if (rival->kind == WSDBG_REPAIR_PARITY_DRIFT)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s waited with other parities on %.60s", warps.text,
                    subject.text);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "%.60s arrived on %.60s", warps.text, subject.text);
    return phrase;
}

/* Adds the other repair that works, if there is one. */
static void tell_rival(struct rounds *rounds, struct wsdbg_finding *finding, const struct wsdbg_repair *repair)
{
    const struct wsdbg_repair *rival = find_rival(rounds, repair);
    if (rival)
        wsdbg_evidence_text(rounds->c, finding,
                            "it would also %s if %s; which of the two is wrong depends on what the author meant",
                            rival->is_to_end ? "finish" : "go on", say_rival(rounds, rival).text);
    if (repair->is_by_flow)
        wsdbg_evidence_text(rounds->c, finding,
                            "data goes through shared memory from these warps to those who arrive on %s, so these are "
                            "taken to go first; it looks the same where those should arrive once before their first "
                            "wait",
                            wsdbg_repair_subject(rounds, repair).text);
}

/* False: there is nothing of the snapshot that a finding of the repair could be about. */
static bool say(struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const size_t before = rounds->c->finding_count;
    rounds->confidence = confidence_of(rounds, repair);
    wsdbg_repair_say(rounds, repair);
    if (rounds->c->finding_count == before)
        return false;
    rounds->c->findings[before].is_repaired = repair->is_to_end;
    tell_account(rounds, &rounds->c->findings[before], repair);
    tell_rival(rounds, &rounds->c->findings[before], repair);
    return true;
}

/* Says the first of the repairs that can be said. */
static void say_some(struct rounds *rounds)
{
    for (uint32_t i = 0; i < rounds->repairs.count; i++)
        if (say(rounds, &rounds->repairs.rows[i]))
            return;
}

/* Whether more arrivals are added than the same threads make on the barrier in their whole walks; or as many as all
 * make, where a thread makes those of whole rounds.  Then a round without an arrival is the rule, and no mistake. */
static bool adds_most(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_edit *edit = &repair->edit;
    if (repair->kind == WSDBG_REPAIR_FILL)
        return repair->added >= repair->made;
    return repair->kind == WSDBG_REPAIR_ADD &&
           (uint64_t)repair->edit_count * edit->arrivals >
               (uint64_t)wsdbg_replay_arrivals_on(&rounds->replay->agents[edit->agent], edit->barrier) *
                   wsdbg_set_count(&repair->warps);
}

/* Whether an arrival is left out that announces bytes which its thread then copies: it fills a slot, so it is rather
 * the waits for that slot that are wrong. */
static bool drops_a_fill(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = &rounds->replay->agents[repair->edit.agent];
    if (repair->kind != WSDBG_REPAIR_DROP || repair->edit_count == 0 || repair->edit.step >= a->step_count ||
        a->steps[repair->edit.step].kind != WSDBG_ACCESS_ARRIVE_EXPECT)
        return false;
    for (uint32_t k = repair->edit.step + 1; k < a->step_count && a->steps[k].kind != WSDBG_ACCESS_WAIT; k++)
        if (wsdbg_replay_is_copy_to(rounds->replay, a, k, repair->edit.barrier))
            return true;
    return false;
}

/* Arrivals that seem to miss show less than a wrong parity where most rounds lack them: then they are no rivals either.
 * So it is with arrivals that seem to be too many, and fill a slot.
 */
static void prefer_parity(struct rounds *rounds)
{
    struct wsdbg_repairs *repairs = &rounds->repairs;
    bool is_parity_wrong = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < repairs->count; i++)
        is_parity_wrong |= is_of_parity(wsdbg_repair_cause(&repairs->rows[i])) && !repairs->rows[i].is_by_flow;
    for (uint32_t i = 0; i < repairs->count && is_parity_wrong; i++)
        if (!adds_most(rounds, &repairs->rows[i]) && !drops_a_fill(rounds, &repairs->rows[i]))
            repairs->rows[kept++] = repairs->rows[i];
    repairs->count = is_parity_wrong ? kept : repairs->count;
}

/* Whether another repair makes a doubtful one needless.  A wrong parity is only doubted in favour of another one. */
static bool is_outdone(const struct wsdbg_repairs *repairs, const struct wsdbg_repair *repair)
{
    const bool needs_parity = is_of_parity(wsdbg_repair_cause(repair));
    for (uint32_t i = 0; i < repairs->count && repair->is_doubtful; i++)
        if (!repairs->rows[i].is_doubtful && (!needs_parity || is_of_parity(wsdbg_repair_cause(&repairs->rows[i]))))
            return true;
    return false;
}

static void prefer_certain(struct wsdbg_repairs *repairs)
{
    const struct wsdbg_repairs all = *repairs;
    repairs->count = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (!is_outdone(&all, &all.rows[i]))
            repairs->rows[repairs->count++] = all.rows[i];
}

/* Another id may make up for a use of a named barrier that a round lacks: it then stands beside that repair.  An id
 * that nobody else uses is wrong whatever rounds lack. */
static void add_named_rounds(struct rounds *rounds)
{
    struct wsdbg_repairs *repairs = &rounds->repairs, named;
    if (repairs->count == 0 || repairs->count == WSDBG_REPAIRS_MOST || repairs->rows[0].kind != WSDBG_REPAIR_NAMED_ID ||
        !repairs->rows[0].is_shared)
        return;
    if (wsdbg_repairs_find_named_rounds(rounds->replay, &named))
        rounds->c->no_memory = true;
    else if (named.count)
        repairs->rows[repairs->count++] = named.rows[0];
}

void wsdbg_rule_code_rounds(struct wsdbg_case *c)
{
    struct rounds rounds = {.c = c, .replay = wsdbg_replay_standing(c)};
    if (!rounds.replay)
        rounds.replay = wsdbg_replay_failing(c);
    if (rounds.replay && wsdbg_repairs_find(rounds.replay, &rounds.repairs)) {
        c->no_memory = true;
        return;
    }
    prefer_parity(&rounds);
    prefer_certain(&rounds.repairs);
    add_named_rounds(&rounds);
    say_some(&rounds);
}

/* Whether the repair is of an arrival or a count of the barrier that got an arrival too many. */
static bool is_of_overflow(const struct rounds *rounds, const struct wsdbg_repair *repair)
{
    return wsdbg_repair_cause(repair) == WSDBG_CAUSE_DOUBLE_ARRIVE &&
           wsdbg_replay_is_of_family(rounds->replay, repair->barrier, rounds->replay->overflow);
}

bool wsdbg_explain_fault(struct wsdbg_case *c, uint32_t barrier)
{
    struct rounds rounds = {.c = c, .replay = wsdbg_replay_faulting(c, barrier)};
    const size_t before = c->finding_count;
    if (rounds.replay && wsdbg_repairs_find_fault(rounds.replay, &rounds.repairs)) {
        c->no_memory = true;
        return false;
    }
    prefer_parity(&rounds);
    prefer_certain(&rounds.repairs);
    if (rounds.repairs.count && !is_of_overflow(&rounds, &rounds.repairs.rows[0]))
        say_some(&rounds);
    return c->finding_count > before;
}

/* Whether another rule has told what is wrong with bytes, however sure it is of that. */
static bool are_bytes_told(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->finding_count; i++) {
        const enum wsdbg_cause cause = c->findings[i].cause;
        if (cause == WSDBG_CAUSE_TX_MISMATCH || cause == WSDBG_CAUSE_TMA_NEVER_COMPLETED ||
            cause == WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY)
            return true;
    }
    return false;
}

/* Asked behind the rules that compare whole walks: these also know who never comes to a named barrier. */
void wsdbg_rule_code_named_rounds(struct wsdbg_case *c)
{
    struct rounds rounds = {.c = c, .replay = wsdbg_replay_standing(c)};
    if (rounds.replay && wsdbg_repairs_find_named_rounds(rounds.replay, &rounds.repairs))
        c->no_memory = true;
    else if (rounds.replay)
        say_some(&rounds);
}

/* Copies that are under way at the only look may still come. */
void wsdbg_rule_code_copies(struct wsdbg_case *c)
{
    struct rounds rounds = {.c = c, .replay = wsdbg_replay_standing(c)};
    if (!rounds.replay || !c->still || are_bytes_told(c))
        return;
    if (wsdbg_repairs_find_copies(rounds.replay, &rounds.repairs))
        c->no_memory = true;
    else
        say_some(&rounds);
}
