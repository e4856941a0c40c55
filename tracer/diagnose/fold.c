/* fold.c - settles the findings of one case and folds those of all cases.  See fold.h.
 *
 * Reads: findings of a case.  Writes: struct wsdbg_diagnosis.
 */
#include "diagnose/fold.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/rules.h"

bool wsdbg_cause_is_fallback(enum wsdbg_cause cause)
{
    enum { SPECIFIC, FALLBACK };
    static const bool fallback[WSDBG_CAUSE_COUNT] = {
#define CAUSE(code, kind, title) [WSDBG_CAUSE_##code] = kind == FALLBACK,
#include "diagnose/causes.def"
    };
    return fallback[cause];
}

static void remove_finding(struct wsdbg_case *c, size_t at)
{
    free(c->findings[at].evidence);
    c->finding_count--;
    for (size_t i = at; i < c->finding_count; i++)
        c->findings[i] = c->findings[i + 1];
}

/* The best confidence among the findings; `specific`: those that only describe the standstill do not count. */
static enum wsdbg_confidence best_of(const struct wsdbg_case *c, bool specific)
{
    enum wsdbg_confidence best = 0;
    for (size_t i = 0; i < c->finding_count; i++)
        if (c->findings[i].confidence > best && !(specific && wsdbg_cause_is_fallback(c->findings[i].cause)))
            best = c->findings[i].confidence;
    return best;
}

void wsdbg_case_settle(struct wsdbg_case *c)
{
    /* That everybody has left, or waits in a ring, is a consequence once a cause is known. */
    const bool explained = best_of(c, true) >= WSDBG_CONFIDENCE_LIKELY;
    for (size_t i = c->finding_count; i-- > 0 && explained;)
        if (wsdbg_cause_is_fallback(c->findings[i].cause))
            remove_finding(c, i);
    /* Of what is left: what is proven goes before what is not. */
    const enum wsdbg_confidence best = best_of(c, false);
    for (size_t i = c->finding_count; i-- > 0 && best == WSDBG_CONFIDENCE_PROVEN;)
        /* ROLE_DISAGREE tells why the waker had left: it stays beside it. */
        if (c->findings[i].confidence < best && c->findings[i].cause != WSDBG_CAUSE_ROLE_DISAGREE)
            remove_finding(c, i);
}

static bool same_barrier(const struct wsdbg_snapshot *snapshot, uint32_t a, uint32_t b)
{
    if (a >= snapshot->barrier_count || b >= snapshot->barrier_count)
        return a == b;
    return snapshot->barriers[a].kind == snapshot->barriers[b].kind &&
           snapshot->barriers[a].id == snapshot->barriers[b].id;
}

static bool says_the_same(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *a,
                          const struct wsdbg_finding *b)
{
    return a->cause == b->cause && a->confidence == b->confidence && a->grid == b->grid &&
           a->role.known == b->role.known && a->role.value == b->role.value &&
           same_barrier(snapshot, a->barrier, b->barrier);
}

/* Has an earlier finding of this case already counted the CTA under the same heading? */
static bool counted_before(const struct wsdbg_case *c, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (c->findings[i].cta == c->findings[at].cta && says_the_same(c->snapshot, &c->findings[i], &c->findings[at]))
            return true;
    return false;
}

/* Whether it is likely that the case hangs, and no cause is.  Only where threads were followed through the code: else a
 * cause that is only possible rests on too little to go first. */
static bool hangs_without_cause(const struct wsdbg_case *c)
{
    bool any = false;
    if (c->snapshot->walk_count == 0)
        return false;
    for (size_t i = 0; i < c->finding_count; i++) {
        const bool is_likely = c->findings[i].confidence >= WSDBG_CONFIDENCE_LIKELY;
        if (is_likely && wsdbg_cause_says_why(c->findings[i].cause))
            return false;
        any |= is_likely;
    }
    return any;
}

/* Whether the cause is a mistake in the kernel: not something outside that may still end a wait. */
static bool is_of_kernel(enum wsdbg_cause cause)
{
    return cause <= WSDBG_CAUSE_PEER_EXITED || cause == WSDBG_CAUSE_WAKER_EXITED ||
           cause == WSDBG_CAUSE_ROLE_DISAGREE || cause == WSDBG_CAUSE_CLUSTER_MISSING;
}

/* Another CTA counts under the same heading.  One that is known to hang is the better example. */
static void fold_into(struct wsdbg_finding *kept, struct wsdbg_finding *finding)
{
    if (finding->leads && !kept->leads) {
        const struct wsdbg_finding other = *kept;
        *kept = *finding;
        *finding = other;
        finding->cta = kept->cta; /* it still tells which CTA of the case was counted */
        kept->cta_count = other.cta_count;
        kept->sentence[0] = (char)toupper((unsigned char)kept->sentence[0]);
    }
    kept->cta_count++;
    kept->is_walked |= finding->is_walked;
    kept->is_repaired |= finding->is_repaired;
}

struct wsdbg_error *wsdbg_fold(struct wsdbg_case *c, struct wsdbg_diagnosis *out)
{
    const bool may_lead = hangs_without_cause(c);
    for (size_t i = 0; i < c->finding_count; i++) {
        struct wsdbg_finding *finding = &c->findings[i];
        size_t at = 0;
        finding->leads = may_lead && is_of_kernel(finding->cause);
        finding->is_walked = c->standing != NULL && !wsdbg_cause_is_fallback(finding->cause);
        if (counted_before(c, i))
            continue;
        while (at < out->finding_count && !says_the_same(c->snapshot, &out->findings[at], finding))
            at++;
        if (at < out->finding_count) {
            fold_into(&out->findings[at], finding);
            continue;
        }
        struct wsdbg_finding *grown = realloc(out->findings, (out->finding_count + 1) * sizeof *grown);
        if (!grown)
            return &wsdbg_error_no_memory;
        out->findings = grown;
        finding->sentence[0] = (char)toupper((unsigned char)finding->sentence[0]);
        grown[out->finding_count++] = *finding;
        finding->evidence = NULL;
        finding->evidence_count = 0;
    }
    return NULL;
}

void wsdbg_doubt_polls(struct wsdbg_diagnosis *out, uint32_t grid)
{
    static const char beside[] = " Other CTAs of the grid would hang even if all polls ended, and may be the ones that "
                                 "should write it.";
    for (size_t i = 0; i < out->finding_count; i++) {
        struct wsdbg_finding *finding = &out->findings[i];
        const size_t length = strlen(finding->sentence);
        if (finding->grid != grid || finding->confidence != WSDBG_CONFIDENCE_LIKELY ||
            (finding->cause != WSDBG_CAUSE_GLOBAL_SPIN && finding->cause != WSDBG_CAUSE_HOST_WAIT))
            continue;
        finding->confidence = WSDBG_CONFIDENCE_POSSIBLE;
        wsdbg_print(finding->sentence + length, sizeof finding->sentence - length, "%s", beside);
    }
}

/* A standstill without a cause goes behind whatever may be its cause. */
static int rank_of(const struct wsdbg_finding *finding)
{
    enum { POSSIBLE, NO_CAUSE, LEADS, LIKELY, PROVEN };
    if (finding->confidence == WSDBG_CONFIDENCE_PROVEN)
        return PROVEN;
    if (finding->confidence == WSDBG_CONFIDENCE_LIKELY)
        return wsdbg_cause_says_why(finding->cause) ? LIKELY : NO_CAUSE;
    return finding->leads ? LEADS : POSSIBLE;
}

int wsdbg_finding_compare(const struct wsdbg_finding *a, const struct wsdbg_finding *b)
{
    /* That some CTAs are merely slow never hides a finding about others. */
    const bool a_slow = a->cause == WSDBG_CAUSE_SLOW, b_slow = b->cause == WSDBG_CAUSE_SLOW;
    const struct wsdbg_finding *other = a_slow ? b : a;
    if (a_slow != b_slow && (other->confidence > WSDBG_CONFIDENCE_POSSIBLE || other->leads))
        return a_slow ? 1 : -1;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) > rank_of(b) ? -1 : 1;
    if (a->open != b->open)
        return a->open ? -1 : 1;
    if (a->is_walked != b->is_walked)
        return a->is_walked ? -1 : 1;
    if (a->is_repaired != b->is_repaired)
        return a->is_repaired ? -1 : 1;
    if (a->cause != b->cause)
        return a->cause < b->cause ? -1 : 1;
    if (a->cta_count != b->cta_count)
        return a->cta_count > b->cta_count ? -1 : 1;
    if (a->grid != b->grid)
        return a->grid < b->grid ? -1 : 1;
    return a->cta < b->cta ? -1 : a->cta > b->cta;
}

static int compare(const void *left, const void *right)
{
    return wsdbg_finding_compare(left, right);
}

/* Whether its kernel runs, or a call waits on the host. */
static bool goes_on(const struct wsdbg_snapshot *snapshot, const struct wsdbg_finding *finding)
{
    return finding->grid == WSDBG_NONE || snapshot->grids[finding->grid].running;
}

void wsdbg_rank_findings(struct wsdbg_diagnosis *out, const struct wsdbg_snapshot *snapshot)
{
    if (out->finding_count > 1)
        qsort(out->findings, out->finding_count, sizeof *out->findings, compare);
    for (size_t i = 0; i < out->finding_count; i++) {
        const struct wsdbg_finding *finding = &out->findings[i];
        if (goes_on(snapshot, finding) && finding->confidence >= WSDBG_CONFIDENCE_LIKELY &&
            finding->cause != WSDBG_CAUSE_SLOW)
            out->hang = true;
    }
}
