/* rule_registers.c - the arithmetic of the CTA's register pool (setmaxnreg).
 *
 * Reads: the accounts of register_pool.h.  Adds: REGS_PARTIAL_WARPGROUP,
 * REGS_DIVERGED, REGS_EXHAUSTED. Measured: each warp asks and is served on its own; the pool is what the CTA got at
 * launch; registers of warps that exited do not come back before the CTA ends.  There are four pools, not one: the SM
 * has four register files, warps whose numbers are equal modulo 4 share one, and no warp gets what another file has
 * free (one warp of a warpgroup releasing served just the two askers of its own file; 240 for eight warps served just
 * four).
 */
#include "diagnose/code_case.h"
#include "diagnose/register_pool.h"
#include "diagnose/rules.h"

/* Holders that are blocked by something else than the askers may release once that is mended. */
static struct wsdbg_warp_set blocked_elsewhere(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool)
{
    const struct wsdbg_warp_set moving = wsdbg_progress_if(c, &pool->askers);
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < pool->count; i++)
        if (!wsdbg_set_has(&moving, pool->accounts[i].warp))
            wsdbg_set_add(&set, pool->accounts[i].warp);
    return set;
}

/* Whether walks show all that the warp ever does, and no release is among it. */
static bool never_releases(const struct wsdbg_case *c, uint32_t warp)
{
    bool is_walked = false;
    for (size_t i = 0; i < c->snapshot->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &c->snapshot->walks[i];
        if (wsdbg_case_local_warp(c, walk->warp) != warp)
            continue;
        is_walked = wsdbg_walk_is_known(walk);
        for (uint32_t k = 0; k < walk->step_count && is_walked; k++)
            is_walked = c->snapshot->steps[walk->step_first + k].kind != WSDBG_ACCESS_REGISTERS_RELEASE;
        if (!is_walked)
            return false;
    }
    return is_walked;
}

/* Whether the warp can still reach a release, so surely at least, that leaves it fewer registers than it holds.  Walks
 * are believed for what is likely only. */
static bool may_release(const struct wsdbg_case *c, const struct wsdbg_register_account *account,
                        enum wsdbg_can at_least)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, account->warp, &count);
    const wsdbg_access_kinds release = WSDBG_KIND(WSDBG_ACCESS_REGISTERS_RELEASE);
    if (wsdbg_code_can(c, account->warp, release, WSDBG_NONE, NULL) < at_least ||
        (at_least == WSDBG_CAN && never_releases(c, account->warp)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && access->kind == WSDBG_ACCESS_REGISTERS_RELEASE && reaches[i].after > 0 &&
            (!access->count.known || access->count.value < account->held))
            return true;
    }
    return count == 0;
}

/* Live warps that do not ask can still reach a release, so surely at least, and with it a request could be served: the
 * pool is large enough.  But these warps wait for the askers at some barrier.  Either the request comes too early, or a
 * warp skipped that barrier.  The picture does not show which. */
static bool only_order_is_wrong(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                                enum wsdbg_can at_least)
{
    struct wsdbg_warp_set others = {{0}};
    for (uint32_t i = 0; i < pool->count && c->of_machine; i++)
        if (!pool->accounts[i].exited && !pool->accounts[i].asked && may_release(c, &pool->accounts[i], at_least))
            wsdbg_set_add(&others, pool->accounts[i].warp);
    return wsdbg_set_count(&others) > 0 && !wsdbg_pool_starves(c, pool, &others);
}

static enum wsdbg_confidence judge(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool)
{
    const struct wsdbg_warp_set nobody = {{0}};
    const struct wsdbg_warp_set moving = wsdbg_progress_if(c, &nobody);
    struct wsdbg_warp_set releasing = blocked_elsewhere(c, pool);
    wsdbg_set_join(&releasing, &moving);
    if (!pool->known && c->of_machine && !c->still)
        return WSDBG_CONFIDENCE_POSSIBLE;
    if (!pool->known)
        return wsdbg_case_stuck(c, wsdbg_pool_first_asker(pool)->warp) ? WSDBG_CONFIDENCE_LIKELY
                                                                       : WSDBG_CONFIDENCE_POSSIBLE;
    if (!wsdbg_pool_starves(c, pool, &releasing) || only_order_is_wrong(c, pool, WSDBG_CAN))
        return WSDBG_CONFIDENCE_POSSIBLE;
    /* In one picture a request may be about to be served: what was inferred from it is not proven. */
    const bool sure = (c->still || !pool->inferred || wsdbg_pool_starves_as_seen(pool)) &&
                      !only_order_is_wrong(c, pool, WSDBG_CAN_DOUBTFUL);
    return sure ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY;
}

static uint32_t group_of(const struct wsdbg_case *c, const struct wsdbg_register_account *account)
{
    return wsdbg_case_warp(c, account->warp)->warp / WSDBG_GROUP_WARPS;
}

/* Warps that did not release though others of their warpgroup did; `value` = what the group releases to.  Who asks is
 * past its release, and so may be those that were served already.  `may_be_ahead`: so may one of the set. */
static struct wsdbg_warp_set unreleased_mates(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                                              uint32_t *value, bool *may_be_ahead)
{
    struct wsdbg_warp_set set = {{0}};
    *value = 0;
    *may_be_ahead = false;
    for (uint32_t i = 0; i < pool->count; i++)
        for (uint32_t k = 0; k < pool->count; k++) {
            const struct wsdbg_register_account *mate = &pool->accounts[i], *released = &pool->accounts[k];
            if (mate->last == WSDBG_EVENT_REGISTERS_RELEASE || released->last != WSDBG_EVENT_REGISTERS_RELEASE ||
                released->asked || group_of(c, mate) != group_of(c, released))
                continue;
            wsdbg_set_add(&set, mate->warp);
            *may_be_ahead = *may_be_ahead || mate->last == WSDBG_EVENT_REGISTERS_GRANTED;
            *value = released->held;
        }
    return set;
}

/* Warps that did release, in the warpgroups of `mates`. */
static struct wsdbg_warp_set released_mates(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                                            const struct wsdbg_warp_set *mates)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < pool->count; i++)
        for (uint32_t k = 0; k < pool->count; k++)
            if (pool->accounts[i].last == WSDBG_EVENT_REGISTERS_RELEASE &&
                wsdbg_set_has(mates, pool->accounts[k].warp) &&
                group_of(c, &pool->accounts[i]) == group_of(c, &pool->accounts[k]))
                wsdbg_set_add(&set, pool->accounts[i].warp);
    return set;
}

/* A warp's registers if its request were served. */
static uint32_t wanted_by(const struct wsdbg_register_account *account)
{
    return account->asked > account->held ? account->asked : account->held;
}

/* Would everybody be served if those warps had released to `value` instead? */
static bool fits_with_release(const struct wsdbg_register_pool *pool, const struct wsdbg_warp_set *mates,
                              uint32_t value)
{
    uint32_t sums[WSDBG_REGISTER_FILES] = {0};
    bool fits = true;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        sums[account->file] += wsdbg_set_has(mates, account->warp) ? value : wanted_by(account);
    }
    for (uint32_t f = 0; f < WSDBG_REGISTER_FILES; f++)
        fits = fits && sums[f] <= pool->files[f].total;
    return fits;
}

/* The lowest value asked in the first asker's warpgroup, and whether its warps disagree. */
static bool group_disagrees(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool, uint32_t *least)
{
    const struct wsdbg_register_account *asker = wsdbg_pool_first_asker(pool);
    *least = asker->asked;
    bool differ = false;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        const uint32_t wants = account->asked                                   ? account->asked
                               : account->last == WSDBG_EVENT_REGISTERS_GRANTED ? account->held
                                                                                : 0;
        if (!wants || group_of(c, account) != group_of(c, asker))
            continue;
        differ = differ || wants != asker->asked;
        *least = wants < *least ? wants : *least;
    }
    return differ;
}

static bool fits_with_request(const struct wsdbg_register_pool *pool, uint32_t request)
{
    uint32_t sums[WSDBG_REGISTER_FILES] = {0};
    bool fits = true;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        const bool wants = account->asked || account->last == WSDBG_EVENT_REGISTERS_GRANTED;
        sums[account->file] += wants ? request : account->held;
    }
    for (uint32_t f = 0; f < WSDBG_REGISTER_FILES; f++)
        fits = fits && sums[f] <= pool->files[f].total;
    return fits;
}

/* The largest request that all who ask or were granted could get alike; 0 = none. */
static uint32_t largest_request(const struct wsdbg_register_pool *pool)
{
    uint32_t request = 256 - WSDBG_REGISTER_GRANULE;
    while (request >= WSDBG_REGISTERS_LEAST && !fits_with_request(pool, request))
        request -= WSDBG_REGISTER_GRANULE;
    return request >= WSDBG_REGISTERS_LEAST ? request : 0;
}

/* What the warps of one file that do not ask would have to release to; 0 = the requests cannot fit at all. */
static uint32_t needed_in_file(const struct wsdbg_register_pool *pool, uint32_t file)
{
    uint32_t others = 0, wanted = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        if (account->file != file)
            continue;
        if (account->asked || account->last == WSDBG_EVENT_REGISTERS_GRANTED)
            wanted += wanted_by(account);
        else
            others++;
    }
    if (others == 0 || wanted >= pool->files[file].total)
        return 0;
    const uint32_t release =
        (pool->files[file].total - wanted) / others / WSDBG_REGISTER_GRANULE * WSDBG_REGISTER_GRANULE;
    return release >= WSDBG_REGISTERS_LEAST ? release : 0;
}

/* The same for all files: the least of them. */
static uint32_t needed_release(const struct wsdbg_register_pool *pool)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t f = 0; f < WSDBG_REGISTER_FILES; f++) {
        const uint32_t needed = pool->files[f].total ? needed_in_file(pool, f) : least;
        least = needed < least ? needed : least;
    }
    return least == UINT32_MAX ? 0 : least;
}

static void list_accounts(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_register_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        const char *state = account->exited                                  ? ", exited"
                            : account->last == WSDBG_EVENT_REGISTERS_RELEASE ? ", released"
                            : account->last == WSDBG_EVENT_REGISTERS_GRANTED ? ", granted"
                                                                             : "";
        if (account->asked)
            wsdbg_evidence_warp(c, finding, account->warp, "%s waits for %u registers a thread",
                                wsdbg_say_warp(c, account->warp).text, account->asked);
        else if (pool->known)
            wsdbg_evidence_warp(c, finding, account->warp, "%s holds %u registers a thread%s",
                                wsdbg_say_warp(c, account->warp).text, account->held, state);
    }
    for (uint32_t f = 0; f < WSDBG_REGISTER_FILES && pool->known; f++)
        if (pool->files[f].total)
            wsdbg_evidence_text(c, finding, "warps %u, %u, ... share %u registers: %u held, %u free", f,
                                f + WSDBG_REGISTER_FILES, pool->files[f].total * WSDBG_WARP_THREADS,
                                pool->files[f].held * WSDBG_WARP_THREADS,
                                wsdbg_pool_free(pool, f) * WSDBG_WARP_THREADS);
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct wsdbg_register_pool *pool, enum wsdbg_cause cause,
                                   enum wsdbg_confidence confidence, const struct wsdbg_warp_set *culprits)
{
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, pool->cta, pool->barrier);
    if (finding)
        finding->role = wsdbg_common_role(c, culprits);
    list_accounts(c, finding, pool);
    return finding;
}

/* "setmaxnreg.inc 232 is never served for warps 4-7: warps 0, 4, ... share 16128 registers, of which …" */
static void say_shortage(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool, char *text, size_t size)
{
    const struct wsdbg_register_account *asker = wsdbg_pool_first_asker(pool);
    const struct wsdbg_register_file *file = &pool->files[asker->file];
    const size_t used = wsdbg_print(text, size, "setmaxnreg.inc %u is never served for %s", asker->asked,
                                    wsdbg_say_warps(c, &pool->askers).text);
    if (pool->known)
        wsdbg_print(text + used, size - used,
                    ": warps %u, %u, ... share %u registers: %u are held, %u are free, and one of these warps needs %u "
                    "more",
                    asker->file, asker->file + WSDBG_REGISTER_FILES, file->total * WSDBG_WARP_THREADS,
                    file->held * WSDBG_WARP_THREADS, wsdbg_pool_free(pool, asker->file) * WSDBG_WARP_THREADS,
                    asker->asked > asker->held ? (asker->asked - asker->held) * WSDBG_WARP_THREADS : 0);
}

static void say_partial(struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                        const struct wsdbg_warp_set *mates, uint32_t value, enum wsdbg_confidence confidence)
{
    char shortage[320];
    say_shortage(c, pool, shortage, sizeof shortage);
    struct wsdbg_finding *finding = begin(c, pool, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, confidence, mates);
    if (!finding)
        return;
    /* The whole warpgroup is at fault.  Its role is that of the warps that released. */
    const struct wsdbg_warp_set released = released_mates(c, pool, mates);
    finding->role = wsdbg_common_role(c, &released);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Only part of a warpgroup released registers (setmaxnreg.dec %u; %s did not), so %s.", value,
                wsdbg_say_warps(c, mates).text, shortage);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let all four warps of the warpgroup execute setmaxnreg.dec %u before any of them exits or requests "
                "more; all requests then fit.",
                value);
}

static void say_diverged(struct wsdbg_case *c, const struct wsdbg_register_pool *pool, uint32_t least,
                         enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, pool, WSDBG_CAUSE_REGS_DIVERGED, confidence, &pool->askers);
    if (!finding)
        return;
    char shortage[320];
    say_shortage(c, pool, shortage, sizeof shortage);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Warps of one warpgroup execute setmaxnreg with different counts, and %s.", shortage);
    wsdbg_print(finding->fix, sizeof finding->fix, "Let every warp of the warpgroup request the same count; %u fits.",
                least);
}

static struct wsdbg_warp_set warps_that_want(const struct wsdbg_register_pool *pool, bool want)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < pool->count; i++)
        if ((pool->accounts[i].asked || pool->accounts[i].last == WSDBG_EVENT_REGISTERS_GRANTED) == want)
            wsdbg_set_add(&set, pool->accounts[i].warp);
    return set;
}

static void say_exhausted(struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                          enum wsdbg_confidence confidence)
{
    const struct wsdbg_register_account *asker = wsdbg_pool_first_asker(pool);
    bool released = false;
    for (uint32_t i = 0; i < pool->count; i++)
        released = released || pool->accounts[i].last == WSDBG_EVENT_REGISTERS_RELEASE;
    /* Where nobody released, those that neither ask nor got any are at fault; else those that want too much. */
    const struct wsdbg_warp_set culprits = warps_that_want(pool, released);
    struct wsdbg_finding *finding = begin(c, pool, WSDBG_CAUSE_REGS_EXHAUSTED, confidence, &culprits);
    if (!finding)
        return;
    char shortage[320];
    say_shortage(c, pool, shortage, sizeof shortage);
    const char *nobody = pool->known && !released ? ", and no warp has released any" : "";
    wsdbg_print(finding->sentence, sizeof finding->sentence, "The register pool is exhausted: %s%s.", shortage, nobody);
    const uint32_t request = pool->known ? largest_request(pool) : 0, release = pool->known ? needed_release(pool) : 0;
    size_t used = 0;
    if (request)
        used = wsdbg_print(finding->fix, sizeof finding->fix,
                           "With what the other warps hold, the largest equal request that fits is %u. ", request);
    if (release)
        wsdbg_print(finding->fix + used, sizeof finding->fix - used,
                    "For %u, every warp that requests none must first release down to %u or less (setmaxnreg.dec).",
                    asker->asked, release);
    else if (used == 0)
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Lower the request, or let the other warpgroups release registers (setmaxnreg.dec) first.");
}

void wsdbg_rule_registers(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->cta_count; i++) {
        const struct wsdbg_register_pool pool = wsdbg_pool_read(c, c->ctas[i]);
        if (!wsdbg_pool_first_asker(&pool)) /* nobody asks, or nobody knows for how much */
            continue;
        uint32_t value, least;
        bool may_be_ahead;
        const enum wsdbg_confidence confidence = judge(c, &pool);
        const struct wsdbg_warp_set mates = unreleased_mates(c, &pool, &value, &may_be_ahead);
        const bool disagrees = group_disagrees(c, &pool, &least);
        if (pool.known && wsdbg_set_count(&mates) && fits_with_release(&pool, &mates, value))
            say_partial(c, &pool, &mates, value,
                        pool.supposed || may_be_ahead || (pool.inferred && !c->still)
                            ? wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY)
                            : confidence);
        else if (pool.known && disagrees && fits_with_request(&pool, least))
            say_diverged(c, &pool, least, confidence);
        else
            say_exhausted(c, &pool, confidence);
    }
}
