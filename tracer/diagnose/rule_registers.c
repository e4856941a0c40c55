/* rule_registers.c - the arithmetic of the CTA's register pool (setmaxnreg).
 *
 * Reads: register events or, without them, what each warp holds now; launch registers.  Adds: REGS_PARTIAL_WARPGROUP,
 * REGS_DIVERGED, REGS_EXHAUSTED. Measured: each warp asks and is served on its own; the pool is what the CTA got at
 * launch; registers of warps that exited do not come back before the CTA ends.  There are four pools, not one: the SM
 * has four register files, warps whose numbers are equal modulo 4 share one, and no warp gets what another file has
 * free (one warp of a warpgroup releasing served just the two askers of its own file; 240 for eight warps served just
 * four).
 */
#include "diagnose/code_case.h"
#include "diagnose/rules.h"

#define WARP_THREADS 32u
#define GROUP_WARPS 4u
#define GRANULE 8u
#define LEAST_REGISTERS 24u /* the smallest value setmaxnreg takes */
#define CTA_WARPS_MAX 64u
#define FILES 4u /* register files of an SM */

/* One warp's account, in registers a thread. */
struct account {
    uint32_t warp;        /* local number */
    uint32_t file;        /* register file of the SM */
    uint32_t held, asked; /* asked 0 = does not ask */
    uint8_t last;         /* last register event, or what the amount held says it was */
    bool exited;
    bool held_known;
};

/* What the CTA has in one register file; sums over warps of registers a thread (x 32 = registers). */
struct file {
    uint32_t total, held;
};

/* One CTA's pool. */
struct pool {
    uint32_t cta, barrier;
    struct account accounts[CTA_WARPS_MAX];
    uint32_t count;
    uint32_t launch; /* registers a thread at launch, granules counted */
    struct file files[FILES];
    bool known;    /* every amount is */
    bool inferred; /* what exited warps hold follows from who is not served */
    struct wsdbg_warp_set askers;
};

static uint32_t launch_registers(const struct wsdbg_case *c)
{
    const uint32_t function = c->snapshot->grids[c->grid].function;
    if (function >= c->snapshot->function_count || !c->snapshot->functions[function].registers.known)
        return 0;
    return (c->snapshot->functions[function].registers.value + GRANULE - 1) / GRANULE * GRANULE;
}

static bool read_held(const struct wsdbg_case *c, uint32_t warp, uint32_t launch, uint32_t *held)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (events[i].kind == WSDBG_EVENT_REGISTERS_GRANTED || events[i].kind == WSDBG_EVENT_REGISTERS_RELEASE) {
            *held = events[i].value;
            return true;
        }
    if (row->history_whole && row->history_count > 0 && launch) {
        *held = launch;
        return true;
    }
    if (!row->registers_held.known)
        return false;
    *held = (row->registers_held.value + GRANULE - 1) / GRANULE * GRANULE;
    return true;
}

static void read_account(const struct wsdbg_case *c, uint32_t warp, struct pool *pool)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct account *account = &pool->accounts[pool->count++];
    uint32_t value = 0;
    account->warp = warp;
    account->file = row->warp % FILES;
    account->last = wsdbg_last_register_event(c, warp, &value);
    account->exited = row->state == WSDBG_WARP_EXITED;
    account->held_known = read_held(c, warp, pool->launch, &account->held);
    if (c->of_machine && account->held_known && account->held != pool->launch)
        account->last = account->held < pool->launch ? WSDBG_EVENT_REGISTERS_RELEASE : WSDBG_EVENT_REGISTERS_GRANTED;
    pool->known = pool->known && (account->held_known || (c->of_machine && account->exited));
    if (row->state == WSDBG_WARP_WAIT_REGISTERS) {
        account->asked = account->last == WSDBG_EVENT_REGISTERS_REQUEST ? value : row->registers_asked.value;
        pool->known = pool->known && account->asked > 0;
        pool->barrier = row->barrier;
        wsdbg_set_add(&pool->askers, warp);
    }
    pool->files[account->file].held += account->held;
    pool->files[account->file].total += pool->launch;
}

/* Whether the warps of a file that have exited can each hold `amount`: it fits, and leaves nobody to be served. */
static bool could_hold(const struct pool *pool, uint32_t file, uint32_t exited, uint32_t amount)
{
    const uint32_t held = pool->files[file].held + exited * amount;
    if (held > pool->files[file].total)
        return false;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
        if (account->file == file && account->asked &&
            account->asked <= account->held + (pool->files[file].total - held))
            return false;
    }
    return true;
}

/* The amounts an exited warp may have ended with: the launch's, or what some setmaxnreg of the code names.  Keeps in
 * *only the one that could be; false where several could, none, or an amount is not known. */
static bool only_amount(const struct wsdbg_case *c, const struct pool *pool, uint32_t file, uint32_t exited,
                        uint32_t *only)
{
    bool found = could_hold(pool, file, exited, pool->launch);
    *only = pool->launch;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid ||
            (access->kind != WSDBG_ACCESS_REGISTERS_RELEASE && access->kind != WSDBG_ACCESS_REGISTERS_REQUEST))
            continue;
        if (!access->count.known || access->count.value > 256)
            return false;
        if (!could_hold(pool, file, exited, access->count.value) || (found && *only == access->count.value))
            continue;
        if (found)
            return false;
        *only = access->count.value;
        found = true;
    }
    return found;
}

/* The registers of an exited warp are not seen, but they stay held: who is not served tells how many. */
static void infer_exited(const struct wsdbg_case *c, struct pool *pool)
{
    for (uint32_t f = 0; f < FILES; f++) {
        uint32_t exited = 0, amount;
        for (uint32_t i = 0; i < pool->count; i++)
            exited += pool->accounts[i].file == f && !pool->accounts[i].held_known;
        if (exited == 0)
            continue;
        if (!only_amount(c, pool, f, exited, &amount)) {
            pool->known = false;
            return;
        }
        pool->inferred = true;
        for (uint32_t i = 0; i < pool->count; i++) {
            struct account *account = &pool->accounts[i];
            if (account->file != f || account->held_known)
                continue;
            account->held = amount;
            account->last = amount < pool->launch ? WSDBG_EVENT_REGISTERS_RELEASE : account->last;
            pool->files[f].held += amount;
        }
    }
}

static struct pool read_pool(const struct wsdbg_case *c, uint32_t cta)
{
    struct pool pool = {.cta = cta, .barrier = WSDBG_NONE, .launch = launch_registers(c)};
    pool.known = pool.launch > 0 && c->all_seen;
    for (uint32_t w = 0; w < c->warp_count && pool.count < CTA_WARPS_MAX; w++)
        if (wsdbg_case_warp(c, w)->cta == cta)
            read_account(c, w, &pool);
    if (c->of_machine && pool.known && wsdbg_set_count(&pool.askers) > 0)
        infer_exited(c, &pool);
    for (uint32_t f = 0; f < FILES; f++)
        pool.known = pool.known && pool.files[f].held <= pool.files[f].total;
    return pool;
}

static uint32_t free_in(const struct pool *pool, uint32_t file)
{
    return pool->files[file].total - pool->files[file].held;
}

static const struct account *first_asker(const struct pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->accounts[i].asked)
            return &pool->accounts[i];
    return NULL;
}

/* May come to a setmaxnreg.dec: without a view of the code, a warp that has not released yet. */
static bool may_release(const struct wsdbg_case *c, const struct account *account)
{
    return c->of_machine ? wsdbg_code_can(c, account->warp, WSDBG_KIND(WSDBG_ACCESS_REGISTERS_RELEASE), WSDBG_NONE,
                                          NULL) > WSDBG_CAN_NOT
                         : account->last != WSDBG_EVENT_REGISTERS_RELEASE;
}

/* The most that warps of `movers` could still give back to a file: each that may release, down to the least. */
static uint32_t could_release(const struct wsdbg_case *c, const struct pool *pool, uint32_t file,
                              const struct wsdbg_warp_set *movers)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
        if (account->file == file && !account->asked && !account->exited && may_release(c, account) &&
            wsdbg_set_has(movers, account->warp) && account->held > LEAST_REGISTERS)
            sum += account->held - LEAST_REGISTERS;
    }
    return sum;
}

/* Nobody who asks could be served although warps of `movers` gave back what they can. */
static bool starved_with(const struct wsdbg_case *c, const struct pool *pool, const struct wsdbg_warp_set *movers)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
        const uint32_t most =
            account->held + free_in(pool, account->file) + could_release(c, pool, account->file, movers);
        if (account->asked && account->asked <= most)
            return false;
    }
    return true;
}

/* Holders that are blocked by something else than the askers may release once that is mended. */
static struct wsdbg_warp_set blocked_elsewhere(const struct wsdbg_case *c, const struct pool *pool)
{
    const struct wsdbg_warp_set moving = wsdbg_progress_if(c, &pool->askers);
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < pool->count; i++)
        if (!wsdbg_set_has(&moving, pool->accounts[i].warp))
            wsdbg_set_add(&set, pool->accounts[i].warp);
    return set;
}

static enum wsdbg_confidence judge(const struct wsdbg_case *c, const struct pool *pool)
{
    const struct wsdbg_warp_set nobody = {{0}};
    const struct wsdbg_warp_set moving = wsdbg_progress_if(c, &nobody);
    struct wsdbg_warp_set releasing = blocked_elsewhere(c, pool);
    for (size_t i = 0; i < WSDBG_CASE_WARPS_MAX / 64; i++)
        releasing.words[i] |= moving.words[i];
    if (!pool->known && c->of_machine && !c->still)
        return WSDBG_CONFIDENCE_POSSIBLE;
    if (!pool->known)
        return wsdbg_case_stuck(c, first_asker(pool)->warp) ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
    if (!starved_with(c, pool, &releasing))
        return WSDBG_CONFIDENCE_POSSIBLE;
    /* In one picture a request may be about to be served: what was inferred from it is not proven. */
    return pool->inferred && !c->still ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_PROVEN;
}

static uint32_t group_of(const struct wsdbg_case *c, const struct account *account)
{
    return wsdbg_case_warp(c, account->warp)->warp / GROUP_WARPS;
}

/* Warps that did not release though others of their warpgroup did; `value` = what the group releases to. */
static struct wsdbg_warp_set unreleased_mates(const struct wsdbg_case *c, const struct pool *pool, uint32_t *value)
{
    struct wsdbg_warp_set set = {{0}};
    *value = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        for (uint32_t k = 0; k < pool->count; k++) {
            const struct account *mate = &pool->accounts[i], *released = &pool->accounts[k];
            if (mate->last == WSDBG_EVENT_REGISTERS_RELEASE || released->last != WSDBG_EVENT_REGISTERS_RELEASE ||
                group_of(c, mate) != group_of(c, released))
                continue;
            wsdbg_set_add(&set, mate->warp);
            *value = released->held;
        }
    return set;
}

/* A warp's registers if its request were served. */
static uint32_t wanted_by(const struct account *account)
{
    return account->asked > account->held ? account->asked : account->held;
}

/* Would everybody be served if those warps had released to `value` instead? */
static bool fits_with_release(const struct pool *pool, const struct wsdbg_warp_set *mates, uint32_t value)
{
    uint32_t sums[FILES] = {0};
    bool fits = true;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
        sums[account->file] += wsdbg_set_has(mates, account->warp) ? value : wanted_by(account);
    }
    for (uint32_t f = 0; f < FILES; f++)
        fits = fits && sums[f] <= pool->files[f].total;
    return fits;
}

/* The lowest value asked in the first asker's warpgroup, and whether its warps disagree. */
static bool group_disagrees(const struct wsdbg_case *c, const struct pool *pool, uint32_t *least)
{
    const struct account *asker = first_asker(pool);
    *least = asker->asked;
    bool differ = false;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
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

static bool fits_with_request(const struct pool *pool, uint32_t request)
{
    uint32_t sums[FILES] = {0};
    bool fits = true;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
        const bool wants = account->asked || account->last == WSDBG_EVENT_REGISTERS_GRANTED;
        sums[account->file] += wants ? request : account->held;
    }
    for (uint32_t f = 0; f < FILES; f++)
        fits = fits && sums[f] <= pool->files[f].total;
    return fits;
}

/* The largest request that all who ask or were granted could get alike; 0 = none. */
static uint32_t largest_request(const struct pool *pool)
{
    uint32_t request = 256 - GRANULE;
    while (request >= LEAST_REGISTERS && !fits_with_request(pool, request))
        request -= GRANULE;
    return request >= LEAST_REGISTERS ? request : 0;
}

/* What the warps of one file that do not ask would have to release to; 0 = the requests cannot fit at all. */
static uint32_t needed_in_file(const struct pool *pool, uint32_t file)
{
    uint32_t others = 0, wanted = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
        if (account->file != file)
            continue;
        if (account->asked || account->last == WSDBG_EVENT_REGISTERS_GRANTED)
            wanted += wanted_by(account);
        else
            others++;
    }
    if (others == 0 || wanted >= pool->files[file].total)
        return 0;
    const uint32_t release = (pool->files[file].total - wanted) / others / GRANULE * GRANULE;
    return release >= LEAST_REGISTERS ? release : 0;
}

/* The same for all files: the least of them. */
static uint32_t needed_release(const struct pool *pool)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t f = 0; f < FILES; f++) {
        const uint32_t needed = pool->files[f].total ? needed_in_file(pool, f) : least;
        least = needed < least ? needed : least;
    }
    return least == UINT32_MAX ? 0 : least;
}

static void list_accounts(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct account *account = &pool->accounts[i];
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
    for (uint32_t f = 0; f < FILES && pool->known; f++)
        if (pool->files[f].total)
            wsdbg_evidence_text(c, finding, "warps %u, %u, ... share %u registers, hold %u, free %u", f, f + FILES,
                                pool->files[f].total * WARP_THREADS, pool->files[f].held * WARP_THREADS,
                                free_in(pool, f) * WARP_THREADS);
}

/* The role all warps of the set have; not known where they differ. */
static struct wsdbg_optional_u32 common_role(const struct wsdbg_case *c, const struct wsdbg_warp_set *set)
{
    const uint32_t first = wsdbg_first_of(set);
    if (first == WSDBG_NONE)
        return (struct wsdbg_optional_u32){0};
    const struct wsdbg_optional_u32 role = wsdbg_case_warp(c, first)->role;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_optional_u32 other = wsdbg_case_warp(c, w)->role;
        if (wsdbg_set_has(set, w) && (!other.known || other.value != role.value))
            return (struct wsdbg_optional_u32){0};
    }
    return role;
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct pool *pool, enum wsdbg_cause cause,
                                   enum wsdbg_confidence confidence, const struct wsdbg_warp_set *culprits)
{
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, pool->cta, pool->barrier);
    if (finding)
        finding->role = common_role(c, culprits);
    list_accounts(c, finding, pool);
    return finding;
}

/* "setmaxnreg.inc 232 is never served for warps 4-7: warp 4 needs 2304 registers more, its register file has …" */
static void say_shortage(const struct wsdbg_case *c, const struct pool *pool, char *text, size_t size)
{
    const struct account *asker = first_asker(pool);
    const struct file *file = &pool->files[asker->file];
    const size_t used = wsdbg_print(text, size, "setmaxnreg.inc %u is never served for %s", asker->asked,
                                    wsdbg_say_warps(c, &pool->askers).text);
    if (pool->known)
        wsdbg_print(text + used, size - used,
                    ": of the %u registers that warps %u, %u, ... share, %u are held and %u are free, where one needs "
                    "%u more",
                    file->total * WARP_THREADS, asker->file, asker->file + FILES, file->held * WARP_THREADS,
                    free_in(pool, asker->file) * WARP_THREADS,
                    asker->asked > asker->held ? (asker->asked - asker->held) * WARP_THREADS : 0);
}

static void say_partial(struct wsdbg_case *c, const struct pool *pool, const struct wsdbg_warp_set *mates,
                        uint32_t value, enum wsdbg_confidence confidence)
{
    char shortage[320];
    say_shortage(c, pool, shortage, sizeof shortage);
    struct wsdbg_finding *finding = begin(c, pool, WSDBG_CAUSE_REGS_PARTIAL_WARPGROUP, confidence, mates);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Only part of a warpgroup gave registers back (setmaxnreg.dec %u; %s did not), so %s.", value,
                wsdbg_say_warps(c, mates).text, shortage);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Let all four warps of the warpgroup execute setmaxnreg.dec %u before any of them leaves or asks for more; "
        "all requests then fit.",
        value);
}

static void say_diverged(struct wsdbg_case *c, const struct pool *pool, uint32_t least,
                         enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, pool, WSDBG_CAUSE_REGS_DIVERGED, confidence, &pool->askers);
    if (!finding)
        return;
    char shortage[320];
    say_shortage(c, pool, shortage, sizeof shortage);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Warps of one warpgroup execute setmaxnreg with different counts, and %s.", shortage);
    wsdbg_print(finding->fix, sizeof finding->fix, "Let every warp of the warpgroup ask for the same count; %u fits.",
                least);
}

static struct wsdbg_warp_set warps_that_want(const struct pool *pool, bool want)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < pool->count; i++)
        if ((pool->accounts[i].asked || pool->accounts[i].last == WSDBG_EVENT_REGISTERS_GRANTED) == want)
            wsdbg_set_add(&set, pool->accounts[i].warp);
    return set;
}

static void say_exhausted(struct wsdbg_case *c, const struct pool *pool, enum wsdbg_confidence confidence)
{
    const struct account *asker = first_asker(pool);
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
                    "For %u, every warp that does not ask must first release to %u or less (setmaxnreg.dec).",
                    asker->asked, release);
    else if (used == 0)
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Lower the request, or let the other warpgroups release registers (setmaxnreg.dec) first.");
}

void wsdbg_rule_registers(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->cta_count; i++) {
        const struct pool pool = read_pool(c, c->ctas[i]);
        if (!first_asker(&pool)) /* nobody asks, or nobody knows for how much */
            continue;
        uint32_t value, least;
        const enum wsdbg_confidence confidence = judge(c, &pool);
        const struct wsdbg_warp_set mates = unreleased_mates(c, &pool, &value);
        const bool disagrees = group_disagrees(c, &pool, &least);
        if (pool.known && wsdbg_set_count(&mates) && fits_with_release(&pool, &mates, value))
            say_partial(c, &pool, &mates, value, confidence);
        else if (pool.known && disagrees && fits_with_request(&pool, least))
            say_diverged(c, &pool, least, confidence);
        else
            say_exhausted(c, &pool, confidence);
    }
}
