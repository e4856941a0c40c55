/* host_waits.c - whether the host can still write what a grid polls.
 *
 * Reads: host threads, launches, the case's grid.  Writes: nothing.
 *
 * A word of global memory may be written by a copy, a memset or a kernel that the host has not given to the GPU yet. It
 * can do so as long as a thread of it is free.  A thread is not while it is kept in a call that waits for the grid
 * which polls, nor while only another thread can wake it, as the idle ones of a thread pool.  One that sleeps for a
 * time, computes or waits for something from outside may come back, and use the driver for the first time then.  That
 * all rest is no proof (another process may have it written), so nothing that rests on it is more than likely.  Where
 * no thread is kept (the program sleeps, computes, or asks again and again whether the work is done), and where nothing
 * is known of the host, as of a core dump, it may write.
 */
#include "diagnose/host_waits.h"

#include <string.h>

/* A thread that is found in a call may be about to leave it, as one that copies in small pieces: it waits where it has
 * been there for half of the time that the grid stands, and for so long at least. */
#define LASTS_NS UINT64_C(50000000)

const struct wsdbg_launch *wsdbg_launch_of(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const uint32_t launch = snapshot->grids[grid].launch;
    return launch < snapshot->launch_count ? &snapshot->launches[launch] : NULL;
}

/* The legacy stream waits for all streams but those that were made not to be waited for. */
static bool waits_for_stream(const struct wsdbg_host_thread *thread, const struct wsdbg_launch *launch)
{
    const uint64_t last_legacy = 1; /* CU_STREAM_LEGACY */
    return !thread->stream.known || !launch || thread->stream.value == launch->stream ||
           thread->stream.value <= last_legacy;
}

static bool is_kept(const struct wsdbg_case *c, const struct wsdbg_host_thread *thread)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const uint32_t context = snapshot->grids[c->grid].context;
    return context < snapshot->context_count && thread->process_id == snapshot->contexts[context].process_id &&
           (thread->context == context || thread->context == WSDBG_NONE) &&
           waits_for_stream(thread, wsdbg_launch_of(snapshot, c->grid));
}

const struct wsdbg_host_thread *wsdbg_host_blocked(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->snapshot->thread_count; i++)
        if (is_kept(c, &c->snapshot->threads[i]))
            return &c->snapshot->threads[i];
    return NULL;
}

static uint64_t age_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* The grid stands since it was last seen to move, and not before its launch; 0 = not known. */
static uint64_t stands_since_ns(const struct wsdbg_case *c)
{
    const struct wsdbg_launch *launch = wsdbg_launch_of(c->snapshot, c->grid);
    const uint64_t moved_ns = c->snapshot->grids[c->grid].progress_ns;
    return launch && launch->time_ns > moved_ns ? launch->time_ns : moved_ns;
}

static bool lasts(const struct wsdbg_case *c, const struct wsdbg_host_thread *thread)
{
    const uint64_t stands_ns = stands_since_ns(c);
    const uint64_t lasted_ns = age_ns(c->snapshot->time_ns, thread->since_ns);
    return lasted_ns >= LASTS_NS && (!stands_ns || lasted_ns >= age_ns(c->snapshot->time_ns, stands_ns) / 2);
}

static bool somebody_is_free(const struct wsdbg_case *c, const struct wsdbg_host_thread *waits)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    if (waits->host_state != WSDBG_HOST_ALL_BLOCKED)
        return true;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == waits->process_id && !lasts(c, &snapshot->threads[i]))
            return true;
    return false;
}

/* A call that lasts and keeps a thread for the grid, while no other thread of the process is free. */
static const struct wsdbg_host_thread *thread_while_all_blocked(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->snapshot->thread_count; i++) {
        const struct wsdbg_host_thread *thread = &c->snapshot->threads[i];
        if (is_kept(c, thread) && lasts(c, thread))
            return somebody_is_free(c, thread) ? NULL : thread;
    }
    return NULL;
}

/* Calls that give the GPU work and may not have come back, because that work waits. */
static bool gives_work(const struct wsdbg_host_thread *thread)
{
    static const char *const calls[] = {"cuLaunch", "cuGraphLaunch", "cuMemcpy"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(thread->call, calls[i], strlen(calls[i])) == 0)
            return true;
    return false;
}

/* Something that the process gave a context after that moment may wait, or what it gave is not known. */
static bool gave_after(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t time_ns)
{
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->process_id == process_id && context->alive &&
            (!context->given_ns.known || context->given_ns.value > time_ns))
            return true;
    }
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        const struct wsdbg_host_thread *thread = &snapshot->threads[i];
        if (thread->process_id == process_id && thread->since_ns > time_ns && gives_work(thread))
            return true;
    }
    return false;
}

bool wsdbg_host_is_held_back(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const struct wsdbg_launch *launch = wsdbg_launch_of(snapshot, c->grid);
    const uint32_t context = snapshot->grids[c->grid].context;
    for (size_t i = 0; i < snapshot->look_count; i++) {
        const struct wsdbg_look_row *look = &snapshot->looks[i];
        const uint64_t attach_ns = look->held_nothing_back ? 0 : look->earlier_attach_ns;
        const bool of_process = context < snapshot->context_count;
        const bool same =
            !look->process_id || !of_process || look->process_id == snapshot->contexts[context].process_id;
        if (!same || !attach_ns || (launch && launch->time_ns > attach_ns))
            continue;
        if (!of_process || gave_after(snapshot, snapshot->contexts[context].process_id, attach_ns) ||
            !thread_while_all_blocked(c))
            return true;
    }
    return false;
}

const struct wsdbg_host_thread *wsdbg_host_waits(const struct wsdbg_case *c)
{
    return wsdbg_host_is_held_back(c) ? NULL : thread_while_all_blocked(c);
}
