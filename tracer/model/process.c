/* process.c - see process.h.  Reads a snapshot; writes text. */
#include "model/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *wsdbg_process_state_name(enum wsdbg_process_state state)
{
    static const char *const names[] = {
        [WSDBG_PROCESS_GONE] = "gone",      [WSDBG_PROCESS_FAULT] = "fault",     [WSDBG_PROCESS_KERNEL] = "kernel",
        [WSDBG_PROCESS_CALL] = "host call", [WSDBG_PROCESS_NO_WORK] = "no work", [WSDBG_PROCESS_UNKNOWN] = "unknown"};
    return state < WSDBG_PROCESS_STATE_COUNT ? names[state] : "unknown";
}

uint32_t wsdbg_snapshot_process(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (uint32_t i = 0; i < snapshot->process_count; i++)
        if (snapshot->processes[i].process_id == process_id)
            return i;
    return WSDBG_NONE;
}

uint32_t wsdbg_snapshot_grid_process(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    const uint32_t context = grid < snapshot->grid_count ? snapshot->grids[grid].context : WSDBG_NONE;
    return context < snapshot->context_count ? wsdbg_snapshot_process(snapshot, snapshot->contexts[context].process_id)
                                             : WSDBG_NONE;
}

bool wsdbg_snapshot_has_ranks(const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; snapshot->process_count > 1 && i < snapshot->process_count; i++)
        if (snapshot->processes[i].rank.known || snapshot->processes[i].host[0])
            return true;
    return false;
}

static uint32_t running_grid(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (uint32_t i = 0; i < snapshot->grid_count; i++) {
        const uint32_t context = snapshot->grids[i].context;
        if (snapshot->grids[i].running && context < snapshot->context_count &&
            snapshot->contexts[context].process_id == process_id)
            return i;
    }
    return WSDBG_NONE;
}

static uint32_t oldest_call(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    uint32_t oldest = WSDBG_NONE;
    for (uint32_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == process_id &&
            (oldest == WSDBG_NONE || snapshot->threads[i].since_ns < snapshot->threads[oldest].since_ns))
            oldest = i;
    return oldest;
}

static bool has_error(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->context_count; i++)
        if (snapshot->contexts[i].process_id == process_id && snapshot->contexts[i].error != 0)
            return true;
    return false;
}

/* Every context is known to be done with all that it was given. */
static bool has_no_work(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->process_id == process_id && context->alive &&
            (!context->given_ns.known || context->given_ns.value > context->done_given_ns.value))
            return false;
    }
    return true;
}

static bool is_shared(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t address)
{
    const struct wsdbg_allocation *memory = wsdbg_snapshot_allocation(snapshot, process_id, address, 0);
    return memory &&
           ((memory->row.flags & WSDBG_ALLOCATION_EXPORTED) || memory->row.kind == WSDBG_ALLOCATION_VMM_IMPORTED ||
            memory->row.kind == WSDBG_ALLOCATION_IMPORTED);
}

static bool polls_peers(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    uint64_t asked = 0; /* most warps poll one word */
    for (size_t i = 0; i < snapshot->part_count; i++) {
        const struct wsdbg_part *part = &snapshot->parts[i];
        if (part->state != WSDBG_WARP_SPIN_GLOBAL || !part->address.known || part->address.value == asked)
            continue;
        const struct wsdbg_grid *grid = &snapshot->grids[snapshot->ctas[snapshot->warps[part->warp].cta].grid];
        if (!grid->running || grid->context >= snapshot->context_count ||
            snapshot->contexts[grid->context].process_id != process_id)
            continue;
        asked = part->address.value;
        if (is_shared(snapshot, process_id, asked))
            return true;
    }
    return false;
}

struct wsdbg_process_work wsdbg_process_work(const struct wsdbg_snapshot *snapshot, uint32_t process)
{
    const struct wsdbg_process *row = &snapshot->processes[process];
    struct wsdbg_process_work work = {.state = WSDBG_PROCESS_UNKNOWN,
                                      .grid = running_grid(snapshot, row->process_id),
                                      .thread = oldest_call(snapshot, row->process_id),
                                      .polls_peers = polls_peers(snapshot, row->process_id)};
    if (row->end.kind != WSDBG_END_NONE)
        work.state = WSDBG_PROCESS_GONE;
    else if (has_error(snapshot, row->process_id))
        work.state = WSDBG_PROCESS_FAULT;
    else if (work.grid != WSDBG_NONE)
        work.state = WSDBG_PROCESS_KERNEL;
    else if (work.thread != WSDBG_NONE)
        work.state = WSDBG_PROCESS_CALL;
    else if (has_no_work(snapshot, row->process_id))
        work.state = WSDBG_PROCESS_NO_WORK;
    return work;
}

/* ---- words ---- */

static void rank_text(const struct wsdbg_process *process, char *out, size_t bytes)
{
    if (process->world_size.known)
        snprintf(out, bytes, "rank %u of %u", process->rank.value, process->world_size.value);
    else
        snprintf(out, bytes, "rank %u", process->rank.value);
}

void wsdbg_process_text(const struct wsdbg_process *process, const char *host, char out[WSDBG_PROCESS_BYTES])
{
    char rank[40], local[32] = "", place[80] = "";
    const char *own = process->host[0] ? process->host : host;
    if (!process->rank.known && !process->host[0]) {
        snprintf(out, WSDBG_PROCESS_BYTES, "process %u", process->pid);
        return;
    }
    if (!process->rank.known) {
        snprintf(out, WSDBG_PROCESS_BYTES, "process %u on %s", process->pid, process->host);
        return;
    }
    rank_text(process, rank, sizeof rank);
    if (process->local_rank.known)
        snprintf(local, sizeof local, "local %u, ", process->local_rank.value);
    if (own && *own)
        snprintf(place, sizeof place, "host %.64s, ", own);
    snprintf(out, WSDBG_PROCESS_BYTES, "%s (%s%sprocess %u)", rank, local, place, process->pid);
}

void wsdbg_process_short_text(const struct wsdbg_snapshot *snapshot, uint32_t process_id, char out[WSDBG_PROCESS_BYTES])
{
    const uint32_t index = wsdbg_snapshot_process(snapshot, process_id);
    const struct wsdbg_process *process = index != WSDBG_NONE ? &snapshot->processes[index] : NULL;
    if (process && process->rank.known)
        snprintf(out, WSDBG_PROCESS_BYTES, "rank %u", process->rank.value);
    else if (process)
        wsdbg_process_text(process, NULL, out);
    else
        snprintf(out, WSDBG_PROCESS_BYTES, "process %u", process_id);
}

void wsdbg_process_first_text(const struct wsdbg_snapshot *snapshot, uint32_t process_id, char out[WSDBG_PROCESS_BYTES])
{
    wsdbg_process_short_text(snapshot, process_id, out);
    out[0] = (char)toupper((unsigned char)out[0]);
}

bool wsdbg_process_is_main(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint32_t thread_id)
{
    const uint32_t index = wsdbg_snapshot_process(snapshot, process_id);
    return thread_id == (index == WSDBG_NONE ? process_id : snapshot->processes[index].pid);
}

void wsdbg_process_end_text(struct wsdbg_process_end end, char out[WSDBG_PROCESS_BYTES])
{
    const char *name = end.kind == WSDBG_END_SIGNAL ? sigabbrev_np(end.value) : NULL;
    out[0] = '\0';
    if (name)
        snprintf(out, WSDBG_PROCESS_BYTES, "killed by SIG%s", name);
    else if (end.kind == WSDBG_END_SIGNAL)
        snprintf(out, WSDBG_PROCESS_BYTES, "killed by signal %d", end.value);
    else if (end.kind == WSDBG_END_EXITED)
        snprintf(out, WSDBG_PROCESS_BYTES, "exited %d", end.value);
    else if (end.kind == WSDBG_END_UNKNOWN)
        snprintf(out, WSDBG_PROCESS_BYTES, "ended");
}
