/* deadlock.c - time limits of waits, and the proof that nothing can go on.
 *
 * A wait with a time limit ends by itself, so it proves nothing at first.  But when its limit has run out and the warp
 * came back to the wait with the same registers and local memory while nothing changed anywhere, it will do so for
 * ever, however many other waits are on the way: unless a clock decides something on the way, which takes the hash away
 * (step.c), or it looks at memory that the host may write.  A warp that sleeps between two such tries comes back to
 * them, so it waits for ever as well.
 */
#include "hopper/deadlock.h"

/* Calls `visit` for every split of every warp until it answers false; false then. */
static bool each_split(const struct wsdbg_gpu *gpu,
                       bool (*visit)(struct hopper_warp *warp, struct hopper_split *split, void *data), void *data)
{
    for (const struct wsdbg_grid_run *run = gpu->runs; run; run = run->next)
        for (const struct hopper_cluster *cluster = run->grid.clusters; cluster; cluster = cluster->next)
            for (uint32_t i = 0; i < cluster->cta_count; i++)
                for (uint32_t k = 0; k < cluster->ctas[i]->warp_count; k++) {
                    struct hopper_warp *warp = &cluster->ctas[i]->warps[k];
                    for (uint32_t n = 0; n < warp->split_count; n++)
                        if (!visit(warp, &warp->splits[n], data))
                            return false;
                }
    return true;
}

enum { TRIES_MANY = 16 };

static bool has_limit(const struct hopper_split *split)
{
    return (split->wait.kind == HOPPER_WAITS_MBARRIER || split->wait.kind == HOPPER_SLEEPS) &&
           split->wait.time_limit_ns;
}

/* Lanes that have joined since then may make the split go another way. */
static bool is_repeating(const struct hopper_split *split)
{
    return split->repeating_lanes == split->lanes;
}

static void remember(struct hopper_split *split, uint64_t hash)
{
    split->expired_hash = hash;
    split->polls_global = false;
}

/* A try of a wait has failed.  The warp may go round several waits, so the state to come back to is that of the last
 * try whose number is a power of two.  While others can run, the state is looked at only if nothing has changed for
 * many tries: warps whose rounds are long may never try while all others wait. */
static void expire_try(const struct wsdbg_gpu *gpu, const struct hopper_warp *warp, struct hopper_split *split)
{
    const bool is_same = split->expired_changes == gpu->changes;
    const bool is_quiet = !gpu->ready_count || (is_same && split->expired_count >= TRIES_MANY);
    const uint64_t hash = is_quiet || split->expired_hash ? hopper_hash_own(warp) : 0;
    const bool is_first = !split->expired_hash || !is_same;
    split->polls_global |= split->reads_global;
    split->reads_global = false;
    split->expired_count = is_same ? split->expired_count + 1 : 0;
    const bool repeats = !is_first && (is_repeating(split) || hash == split->expired_hash);
    split->repeating_lanes = repeats ? split->lanes : 0;
    if (!repeats && (!split->expired_hash || (split->expired_count & (split->expired_count - 1)) == 0))
        remember(split, hash);
    split->expired_changes = gpu->changes;
}

static bool expire(struct hopper_warp *warp, struct hopper_split *split, void *data)
{
    struct wsdbg_gpu *gpu = data;
    if (!has_limit(split))
        return true;
    if (split->wait.time_limit_ns > hopper_time_ns(gpu)) {
        if (split->wait.time_limit_ns < gpu->next_limit_ns)
            gpu->next_limit_ns = split->wait.time_limit_ns;
        return true;
    }
    if (split->wait.kind == HOPPER_WAITS_MBARRIER)
        expire_try(gpu, warp, split);
    split->again = true;
    hopper_make_ready(gpu, warp);
    return true;
}

void hopper_expire_limits(struct wsdbg_gpu *gpu)
{
    gpu->next_limit_ns = UINT64_MAX;
    each_split(gpu, expire, gpu);
}

static bool is_for_ever(struct hopper_warp *warp, struct hopper_split *split, void *data)
{
    const struct wsdbg_gpu *gpu = data;
    (void)warp;
    if (!has_limit(split))
        return true;
    return split->expired_changes == gpu->changes && split->expired_hash && is_repeating(split);
}

static bool is_awake(struct hopper_warp *warp, struct hopper_split *split, void *data)
{
    (void)warp;
    (void)data;
    return split->wait.kind != HOPPER_SLEEPS;
}

/* A warp that sleeps between two tries shows no wait.  So the proof waits for a moment at which no warp sleeps, unless
 * there is none among many. */
bool hopper_is_stuck(struct wsdbg_gpu *gpu)
{
    enum { ASLEEP_MOST = 256 };
    if (!each_split(gpu, is_for_ever, gpu)) {
        gpu->found_asleep = 0;
        return false;
    }
    return each_split(gpu, is_awake, NULL) || ++gpu->found_asleep > ASLEEP_MOST;
}

static bool cannot_be_helped(struct hopper_warp *warp, struct hopper_split *split, void *data)
{
    (void)warp;
    (void)data;
    if (split->wait.kind == HOPPER_SPINS)
        return !split->wait.of_global;
    return !has_limit(split) || !(split->reads_global || split->polls_global);
}

bool hopper_host_may_help(const struct wsdbg_gpu *gpu)
{
    return !each_split(gpu, cannot_be_helped, NULL);
}
