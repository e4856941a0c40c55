/* poll_writers.c - what a warp polls, and who but the warps that are seen could still write it.
 *
 * Reads: parts, last events, the process's memory, what its contexts were given, host threads, looks.  Writes: nothing.
 *
 * Of shared memory the cluster alone.  Of device memory that nobody else was let into, only what this process gives the
 * GPU: nobody, where no thread of it is free to (host_waits.c).  Memory of the host any of its threads may write, by a
 * plain store too: one that rests cannot, but memory that the program made itself may be another process's as well.
 * What another GPU may write, it may as long as it has work that is not known to be done.  What came from another
 * process or was given to one, that one may always write.  Of memory that nobody knows the instruction must tell: a
 * read with the scope of the system says that somebody outside is meant.
 */
#include "diagnose/poll_writers.h"

#include "diagnose/code_case.h"
#include "diagnose/code_graph.h"

const struct wsdbg_part *wsdbg_polling_part(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state == WSDBG_WARP_SPIN_GLOBAL)
            return &parts[i];
    return NULL;
}

bool wsdbg_event_polls_system(const struct wsdbg_warp_row *warp)
{
    return warp->last.kind != WSDBG_EVENT_POLL_BEGIN || warp->last.stage != WSDBG_POLL_OF_GPU;
}

/* ---- memory ---- */

static const struct wsdbg_allocation *memory_at(const struct wsdbg_case *c, struct wsdbg_optional_u64 address)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const uint32_t context = snapshot->grids[c->grid].context;
    const struct wsdbg_launch *launch = wsdbg_launch_of(snapshot, c->grid);
    if (!address.known || context >= snapshot->context_count)
        return NULL;
    return wsdbg_snapshot_allocation(snapshot, snapshot->contexts[context].process_id, address.value,
                                     launch ? launch->time_ns : 0);
}

static bool is_of_others(const struct wsdbg_allocation_row *row)
{
    switch (row->kind) {
    case WSDBG_ALLOCATION_DEVICE:
    case WSDBG_ALLOCATION_PITCHED:
    case WSDBG_ALLOCATION_POOL:
    case WSDBG_ALLOCATION_HOST:
    case WSDBG_ALLOCATION_REGISTERED:
    case WSDBG_ALLOCATION_MANAGED:
    case WSDBG_ALLOCATION_VMM:
        return row->flags & WSDBG_ALLOCATION_EXPORTED;
    default:
        return true;
    }
}

static bool is_of_host(const struct wsdbg_allocation_row *row)
{
    return row->kind == WSDBG_ALLOCATION_HOST || row->kind == WSDBG_ALLOCATION_REGISTERED ||
           row->kind == WSDBG_ALLOCATION_MANAGED || row->flags & WSDBG_ALLOCATION_HOST_ACCESS;
}

/* ---- who may write ---- */

static bool may_work(const struct wsdbg_context *context)
{
    if (!context->alive || (context->given_ns.known && context->given_ns.value == 0))
        return false;
    return context->unfinished_ns.known || !context->given_ns.known || !context->done_given_ns.known ||
           context->given_ns.value > context->done_given_ns.value;
}

/* A context of the process on one of those devices, but not the grid's own. */
static bool another_may_work(const struct wsdbg_case *c, uint32_t devices)
{
    const struct wsdbg_snapshot *snapshot = c->snapshot;
    const uint32_t own = snapshot->grids[c->grid].context;
    for (uint32_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        const bool meant = context->device_ordinal >= 32 || devices >> context->device_ordinal & 1;
        if (i != own && meant && context->process_id == snapshot->contexts[own].process_id && may_work(context))
            return true;
    }
    return false;
}

/* What only work that is given to the GPU can write. */
static enum wsdbg_writer writer_by_work(const struct wsdbg_case *c)
{
    if (wsdbg_host_is_held_back(c))
        return WSDBG_WRITER_HELD_BACK;
    return wsdbg_host_waits(c) ? WSDBG_WRITER_NOBODY : WSDBG_WRITER_HOST_WORK;
}

static enum wsdbg_writer writer_of_host_memory(const struct wsdbg_case *c, const struct wsdbg_allocation_row *row)
{
    const enum wsdbg_writer by_work = writer_by_work(c);
    if (row->kind == WSDBG_ALLOCATION_REGISTERED || by_work == WSDBG_WRITER_HOST_WORK)
        return WSDBG_WRITER_HOST_STORE;
    return by_work == WSDBG_WRITER_NOBODY && another_may_work(c, UINT32_MAX) ? WSDBG_WRITER_PEER : by_work;
}

static enum wsdbg_writer writer_of(const struct wsdbg_case *c, const struct wsdbg_poll *poll)
{
    if (poll->shared)
        return WSDBG_WRITER_NOBODY;
    if (!poll->memory)
        return poll->system ? WSDBG_WRITER_SYSTEM : writer_by_work(c);
    const struct wsdbg_allocation_row *row = &poll->memory->row;
    if (is_of_others(row))
        return WSDBG_WRITER_PROCESS;
    if (is_of_host(row))
        return writer_of_host_memory(c, row);
    return row->peer_devices && another_may_work(c, row->peer_devices) ? WSDBG_WRITER_PEER : writer_by_work(c);
}

static struct wsdbg_poll complete(const struct wsdbg_case *c, struct wsdbg_poll poll)
{
    poll.memory = poll.shared ? NULL : memory_at(c, poll.address);
    poll.host_store = !poll.shared && (poll.memory ? is_of_host(&poll.memory->row) : poll.system);
    poll.writer = writer_of(c, &poll);
    return poll;
}

struct wsdbg_poll wsdbg_poll_at(const struct wsdbg_case *c, uint32_t site, struct wsdbg_optional_u64 address)
{
    return complete(c, (struct wsdbg_poll){.site = site,
                                           .barrier = WSDBG_NONE,
                                           .address = address,
                                           .shared = wsdbg_code_polls_shared(c->snapshot, site),
                                           .system = wsdbg_code_polls_system(c->snapshot, site)});
}

struct wsdbg_poll wsdbg_poll_of(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_part *part = wsdbg_polling_part(c, warp);
    const uint32_t barrier = part ? part->barrier : row->barrier;
    if (!c->of_machine)
        return complete(
            c, (struct wsdbg_poll){.site = WSDBG_NONE, .barrier = barrier, .system = wsdbg_event_polls_system(row)});
    struct wsdbg_poll poll =
        wsdbg_poll_at(c, part ? part->site : row->site, part ? part->address : (struct wsdbg_optional_u64){0});
    poll.barrier = barrier;
    if (part) {
        poll.width_bytes = part->width_bytes;
        poll.value = part->value;
    }
    return poll;
}
