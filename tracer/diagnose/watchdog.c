/* watchdog.c - when has progress stopped?  A pure function of snapshots and a clock; see watchdog.h.
 *
 * Reads: whether a grid runs and when it last moved; how long a context's work is unfinished.  Writes: its own struct.
 */
#include "diagnose/watchdog.h"

#include "model/nccl_wait.h"

void wsdbg_watchdog_init(struct wsdbg_watchdog *watchdog, uint64_t stall_ns)
{
    *watchdog = (struct wsdbg_watchdog){.stall_ns = stall_ns, .next_look_ns = stall_ns};
}

struct wsdbg_watched wsdbg_watched_slots(const struct wsdbg_snapshot *snapshot)
{
    struct wsdbg_watched watched = {.progress_ns = snapshot->progress_ns};
    for (size_t i = 0; i < snapshot->grid_count; i++)
        watched.running |= snapshot->grids[i].running;
    return watched;
}

/* Slots that nobody copies say neither that a grid moves nor that it does not: the slots' own watchdog takes that for
 * movement, the one of the work asks the GPU. */
static bool is_silent(const struct wsdbg_snapshot *snapshot, uint32_t context)
{
    return context < snapshot->context_count && snapshot->contexts[context].slots_silent;
}

/* When the context last moved, but not before `time_ns`.  Of its running grids the one counts that has not moved for
 * the longest. */
static uint64_t last_movement_ns(const struct wsdbg_snapshot *snapshot, uint32_t context, uint64_t time_ns)
{
    uint64_t slowest_ns = UINT64_MAX;
    if (is_silent(snapshot, context))
        return time_ns;
    for (size_t i = 0; i < snapshot->grid_count; i++) {
        const struct wsdbg_grid *grid = &snapshot->grids[i];
        if (grid->context == context && grid->running && grid->progress_ns < slowest_ns)
            slowest_ns = grid->progress_ns;
    }
    return slowest_ns != UINT64_MAX && slowest_ns > time_ns ? slowest_ns : time_ns;
}

static struct wsdbg_watched watched_work(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns, bool guesses)
{
    struct wsdbg_watched watched = {.progress_ns = UINT64_MAX};
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (!context->alive || !context->unfinished_ns.known || (context->unfinished_is_guess && !guesses))
            continue;
        const uint64_t since_ns = last_movement_ns(snapshot, (uint32_t)i, context->unfinished_ns.value);
        watched.running = true;
        if (since_ns < watched.progress_ns)
            watched.progress_ns = since_ns;
    }
    if (!watched.running || watched.progress_ns < moved_ns)
        watched.progress_ns = moved_ns;
    return watched;
}

struct wsdbg_watched wsdbg_watched_work(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns)
{
    return watched_work(snapshot, moved_ns, true);
}

struct wsdbg_watched wsdbg_watched_known_work(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns)
{
    return watched_work(snapshot, moved_ns, false);
}

struct wsdbg_watched wsdbg_watched_calls(const struct wsdbg_snapshot *snapshot, uint64_t moved_ns, bool unseen)
{
    const uint64_t host_ns = wsdbg_nccl_waits_since_ns(snapshot),
                   unseen_ns = unseen ? wsdbg_nccl_unseen_since_ns(snapshot) : 0;
    const uint64_t since_ns = !host_ns || (unseen_ns && unseen_ns < host_ns) ? unseen_ns : host_ns;
    return (struct wsdbg_watched){.running = since_ns != 0, .progress_ns = since_ns > moved_ns ? since_ns : moved_ns};
}

/* A clock that steps back makes nothing older. */
static uint64_t age_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

static uint64_t twice(uint64_t value)
{
    return value > UINT64_MAX / 2 ? UINT64_MAX : 2 * value;
}

enum wsdbg_watchdog_verdict wsdbg_watchdog_tick(struct wsdbg_watchdog *watchdog, struct wsdbg_watched watched,
                                                uint64_t now_ns)
{
    if (!watched.running) {
        /* The slow kernel that caused a back-off is gone; the next one is judged afresh. */
        const uint64_t progress_ns = watchdog->progress_ns;
        wsdbg_watchdog_init(watchdog, watchdog->stall_ns);
        watchdog->progress_ns = progress_ns;
        return WSDBG_WATCHDOG_IDLE;
    }
    const bool moved = watched.progress_ns > watchdog->progress_ns;
    if (moved) {
        watchdog->progress_ns = watched.progress_ns;
        watchdog->reported = false;
    }
    if (watchdog->reported)
        return WSDBG_WATCHDOG_STILL_STALLED;
    if (age_ns(now_ns, watchdog->progress_ns) >= watchdog->next_look_ns) {
        watchdog->reported = true;
        watchdog->next_look_ns = twice(watchdog->next_look_ns);
        return WSDBG_WATCHDOG_STALLED;
    }
    return moved ? WSDBG_WATCHDOG_PROGRESS : WSDBG_WATCHDOG_QUIET;
}

void wsdbg_watchdog_mark_moving(struct wsdbg_snapshot *snapshot, uint64_t within_ns)
{
    for (size_t i = 0; i < snapshot->grid_count; i++) {
        struct wsdbg_grid *grid = &snapshot->grids[i];
        grid->moves |= grid->running && !is_silent(snapshot, grid->context) && grid->progress_ns != 0 &&
                       grid->progress_ns + within_ns > snapshot->time_ns;
    }
}
