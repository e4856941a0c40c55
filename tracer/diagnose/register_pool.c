/* register_pool.c - reads the accounts.  See register_pool.h.
 *
 * Reads: register events, warps' registers, launch registers, setmaxnreg instructions of the code.
 */
#include "diagnose/register_pool.h"

#include "diagnose/code_case.h"
#include "diagnose/wait_graph.h"

static uint32_t launch_registers(const struct wsdbg_case *c)
{
    const uint32_t function = c->snapshot->grids[c->grid].function;
    if (function >= c->snapshot->function_count || !c->snapshot->functions[function].registers.known)
        return 0;
    return (c->snapshot->functions[function].registers.value + WSDBG_REGISTER_GRANULE - 1) / WSDBG_REGISTER_GRANULE *
           WSDBG_REGISTER_GRANULE;
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
    *held = (row->registers_held.value + WSDBG_REGISTER_GRANULE - 1) / WSDBG_REGISTER_GRANULE * WSDBG_REGISTER_GRANULE;
    return true;
}

static void read_account(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_register_pool *pool)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct wsdbg_register_account *account = &pool->accounts[pool->count++];
    uint32_t value = 0;
    account->warp = warp;
    account->file = row->warp % WSDBG_REGISTER_FILES;
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
static bool could_hold(const struct wsdbg_register_pool *pool, uint32_t file, uint32_t exited, uint32_t amount)
{
    const uint32_t held = pool->files[file].held + exited * amount;
    if (held > pool->files[file].total)
        return false;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        if (account->file == file && account->asked &&
            account->asked <= account->held + (pool->files[file].total - held))
            return false;
    }
    return true;
}

/* The amounts an exited warp may have ended with: the launch's, or what some setmaxnreg of the code names.  Keeps in
 * *only the one that could be; false where several could, none, or an amount is not known. */
static bool only_amount(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool, uint32_t file,
                        uint32_t exited, uint32_t *only)
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

static void hold(struct wsdbg_register_pool *pool, struct wsdbg_register_account *account, uint32_t amount)
{
    account->held = amount;
    account->held_inferred = true;
    if (amount < pool->launch)
        account->last = WSDBG_EVENT_REGISTERS_RELEASE;
    pool->files[account->file].held += amount;
}

static bool is_open(const struct wsdbg_register_account *account, uint32_t file)
{
    return account->file == file && !account->held_known && !account->held_inferred;
}

/* What the warpgroup of an exited warp waits for is what that warp was given; 0 = they do not wait. */
static uint32_t asked_by_mates(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                               const struct wsdbg_register_account *exited)
{
    const uint32_t group = wsdbg_case_warp(c, exited->warp)->warp / WSDBG_GROUP_WARPS;
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->accounts[i].asked && wsdbg_case_warp(c, pool->accounts[i].warp)->warp / WSDBG_GROUP_WARPS == group)
            return pool->accounts[i].asked;
    return 0;
}

static uint32_t count_open(const struct wsdbg_register_pool *pool, uint32_t file)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        open += is_open(&pool->accounts[i], file);
    return open;
}

/* Gives all open accounts of the file the one amount that could be; false where there is none. */
static bool infer_alike(const struct wsdbg_case *c, struct wsdbg_register_pool *pool, uint32_t file)
{
    const uint32_t open = count_open(pool, file);
    uint32_t amount = 0;
    if (open > 0 && !only_amount(c, pool, file, open, &amount))
        return false;
    for (uint32_t i = 0; i < pool->count; i++)
        if (is_open(&pool->accounts[i], file))
            hold(pool, &pool->accounts[i], amount);
    return true;
}

/* The registers of an exited warp are not seen, but they stay held: who is not served tells how many. */
static void infer_exited(const struct wsdbg_case *c, struct wsdbg_register_pool *pool)
{
    for (uint32_t f = 0; f < WSDBG_REGISTER_FILES; f++) {
        if (count_open(pool, f) == 0)
            continue;
        pool->inferred = true;
        if (infer_alike(c, pool, f))
            continue;
        for (uint32_t i = 0; i < pool->count; i++) {
            const bool open = is_open(&pool->accounts[i], f);
            const uint32_t asked = open ? asked_by_mates(c, pool, &pool->accounts[i]) : 0;
            pool->supposed |= asked > 0;
            if (asked)
                hold(pool, &pool->accounts[i], asked);
        }
        if (!infer_alike(c, pool, f)) {
            pool->known = false;
            return;
        }
    }
}

struct wsdbg_register_pool wsdbg_pool_read(const struct wsdbg_case *c, uint32_t cta)
{
    struct wsdbg_register_pool pool = {.cta = cta, .barrier = WSDBG_NONE, .launch = launch_registers(c)};
    pool.known = pool.launch > 0 && c->all_seen;
    for (uint32_t w = 0; w < c->warp_count && pool.count < WSDBG_POOL_WARPS_MAX; w++)
        if (wsdbg_case_warp(c, w)->cta == cta)
            read_account(c, w, &pool);
    if (c->of_machine && pool.known && wsdbg_set_count(&pool.askers) > 0)
        infer_exited(c, &pool);
    for (uint32_t f = 0; f < WSDBG_REGISTER_FILES; f++)
        pool.known = pool.known && pool.files[f].held <= pool.files[f].total;
    return pool;
}

const struct wsdbg_register_account *wsdbg_pool_first_asker(const struct wsdbg_register_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->accounts[i].asked)
            return &pool->accounts[i];
    return NULL;
}

/* The warp may reach a setmaxnreg.dec.  Without the code every warp may that has not released yet. */
static bool may_release(const struct wsdbg_case *c, const struct wsdbg_register_account *account)
{
    return c->of_machine ? wsdbg_code_can(c, account->warp, WSDBG_KIND(WSDBG_ACCESS_REGISTERS_RELEASE), WSDBG_NONE,
                                          NULL) > WSDBG_CAN_NOT
                         : account->last != WSDBG_EVENT_REGISTERS_RELEASE;
}

/* The most that warps of `movers` could still give back to a file: each that may release, down to the least. */
static uint32_t could_release(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool, uint32_t file,
                              const struct wsdbg_warp_set *movers)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        if (account->file == file && !account->asked && !account->exited && may_release(c, account) &&
            wsdbg_set_has(movers, account->warp) && account->held > WSDBG_REGISTERS_LEAST)
            sum += account->held - WSDBG_REGISTERS_LEAST;
    }
    return sum;
}

bool wsdbg_pool_starves(const struct wsdbg_case *c, const struct wsdbg_register_pool *pool,
                        const struct wsdbg_warp_set *movers)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct wsdbg_register_account *account = &pool->accounts[i];
        const uint32_t most =
            account->held + wsdbg_pool_free(pool, account->file) + could_release(c, pool, account->file, movers);
        if (account->asked && account->asked <= most)
            return false;
    }
    return true;
}

bool wsdbg_pool_starves_as_seen(const struct wsdbg_register_pool *pool)
{
    bool seen[WSDBG_REGISTER_FILES] = {true, true, true, true};
    for (uint32_t i = 0; i < pool->count; i++)
        seen[pool->accounts[i].file] = seen[pool->accounts[i].file] && pool->accounts[i].held_known;
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->accounts[i].asked && seen[pool->accounts[i].file])
            return true;
    return false;
}
