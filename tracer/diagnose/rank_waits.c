/* rank_waits.c - see rank_waits.h.  Reads a snapshot.
 *
 * A communicator's ranks are rows of several processes with one identity.  Calls on it have numbers in the order in
 * which each process made them, and NCCL wants that order to be the same everywhere.  So the call with number n of one
 * rank is the one that it meets at another rank.  A send meets the receive with its number among those between the two.
 *
 * Nothing is compared where numbers may be wrong: calls in graphs run when the graph does, and calls that NCCL refused
 * may count or not.
 */
#include "diagnose/rank_waits.h"

#include <stdlib.h>

#include "model/collective.h"
#include "model/process.h"

/* A kernel or a thread that has been where it is for so long is not just about to go on. */
#define LASTS_NS UINT64_C(500000000)

/* ---- one communicator ---- */

static bool is_comparable(const struct wsdbg_snapshot *s, uint32_t communicator)
{
    const struct wsdbg_communicator_row *row = &s->communicators[communicator].row;
    if (!row->identity || row->rank == WSDBG_UNKNOWN32 || row->rank_count == WSDBG_UNKNOWN32)
        return false;
    for (size_t i = 0; i < s->collective_count; i++)
        if (s->collectives[i].communicator == communicator &&
            (s->collectives[i].row.flags & (WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_REFUSED)))
            return false;
    return true;
}

static bool are_of_one(const struct wsdbg_communicator *a, const struct wsdbg_communicator *b)
{
    return a->row.identity == b->row.identity && a->row.rank_count == b->row.rank_count && a->row.rank != b->row.rank;
}

static uint32_t meets(uint32_t operation)
{
    return operation == WSDBG_COLLECTIVE_SEND      ? WSDBG_COLLECTIVE_RECEIVE
           : operation == WSDBG_COLLECTIVE_RECEIVE ? WSDBG_COLLECTIVE_SEND
                                                   : 0;
}

/* The member's call that meets this one; *made: it was made, though it may have left the ring. */
static uint32_t met_by(const struct wsdbg_snapshot *s, const struct wsdbg_collective_row *call, uint32_t own_rank,
                       uint32_t member, bool *made)
{
    const bool is_pair = wsdbg_collective_is_pair(call);
    *made = !is_pair && s->communicators[member].row.collectives >= call->number;
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective_row *other = &s->collectives[i].row;
        if (s->collectives[i].communicator != member || wsdbg_collective_is_pair(other) != is_pair)
            continue;
        if (is_pair && (other->operation != meets(call->operation) || other->peer != own_rank))
            continue;
        *made |= other->number >= call->number;
        if (other->number == call->number)
            return i;
    }
    return WSDBG_NONE;
}

static bool differs(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b)
{
    const bool is_pair = wsdbg_collective_is_pair(a);
    return a->count != b->count || a->datatype != b->datatype ||
           (!is_pair && (a->operation != b->operation || a->reduction != b->reduction || a->peer != b->peer));
}

/* ---- what the other one does ---- */

/* A kernel of some call of this process stands still. */
static bool stands_in_call(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const uint32_t grid = wsdbg_collective_grid(s, i);
        if (s->communicators[s->collectives[i].communicator].process_id == process_id && grid != WSDBG_NONE &&
            !s->grids[grid].moves)
            return true;
    }
    return false;
}

static bool has_moving_grid(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (uint32_t i = 0; i < s->grid_count; i++) {
        const uint32_t context = s->grids[i].context;
        if (s->grids[i].running && s->grids[i].moves && context < s->context_count &&
            s->contexts[context].process_id == process_id)
            return true;
    }
    return false;
}

/* The thread that made the process's newest call of NCCL; 0 = none did. */
static uint32_t calling_thread(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    uint64_t newest_ns = 0;
    uint32_t thread = 0;
    for (size_t i = 0; i < s->collective_count; i++)
        if (s->communicators[s->collectives[i].communicator].process_id == process_id &&
            s->collectives[i].row.time_ns >= newest_ns) {
            newest_ns = s->collectives[i].row.time_ns;
            thread = s->collectives[i].row.thread_id;
        }
    return thread;
}

/* The thread that calls NCCL has been kept in a call of the driver, while a kernel that it may wait for stands still;
 * or all threads of the process are blocked. */
static bool cannot_call(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    const uint32_t caller = calling_thread(s, process_id);
    if (!stands_in_call(s, process_id) || has_moving_grid(s, process_id))
        return false;
    for (size_t i = 0; i < s->thread_count; i++) {
        const struct wsdbg_host_thread *thread = &s->threads[i];
        if (thread->process_id == process_id && thread->since_ns + LASTS_NS <= s->time_ns &&
            (thread->host_state == WSDBG_HOST_ALL_BLOCKED || thread->thread_id == caller))
            return true;
    }
    return false;
}

/* What was given after a late look waits for the inspector to leave. */
static bool is_held_back(const struct wsdbg_snapshot *s, uint32_t process_id, uint64_t time_ns)
{
    for (size_t i = 0; i < s->look_count; i++) {
        const struct wsdbg_look_row *look = &s->looks[i];
        if ((!look->process_id || look->process_id == process_id) && !look->held_nothing_back &&
            look->earlier_attach_ns && look->earlier_attach_ns < time_ns)
            return true;
    }
    return false;
}

static bool is_queued(const struct wsdbg_snapshot *s, uint32_t call, uint32_t process_id)
{
    const struct wsdbg_collective *row = &s->collectives[call];
    return wsdbg_collective_grid(s, call) == WSDBG_NONE && !row->done && row->launch != WSDBG_NONE &&
           row->row.time_ns + LASTS_NS <= s->time_ns && stands_in_call(s, process_id) &&
           !is_held_back(s, process_id, row->row.time_ns);
}

static bool judge_other(const struct wsdbg_snapshot *s, const struct wsdbg_collective *call, uint32_t own_rank,
                        struct wsdbg_rank_wait *wait)
{
    const struct wsdbg_process *other = &s->processes[wait->other];
    bool made;
    const uint32_t met = met_by(s, &call->row, own_rank, wait->member, &made);
    wait->other_call = met;
    if (met != WSDBG_NONE && differs(&call->row, &s->collectives[met].row)) {
        wait->kind = WSDBG_RANK_DIFFERS;
        return true;
    }
    if (other->end.kind != WSDBG_END_NONE) {
        wait->kind = WSDBG_RANK_ENDED;
        return true;
    }
    if (!made) {
        wait->kind = WSDBG_RANK_ABSENT;
        wait->cannot_come = s->communicators[wait->member].row.ended_ns != 0 || cannot_call(s, other->process_id);
        return true;
    }
    wait->kind = WSDBG_RANK_QUEUED;
    wait->cannot_come = true;
    return met != WSDBG_NONE && is_queued(s, met, other->process_id);
}

/* ---- all of them ---- */

static struct wsdbg_error *add(struct wsdbg_rank_waits *waits, const struct wsdbg_rank_wait *wait)
{
    struct wsdbg_rank_wait *grown = realloc(waits->rows, (waits->count + 1) * sizeof *grown);
    if (!grown)
        return &wsdbg_error_no_memory;
    waits->rows = grown;
    grown[waits->count++] = *wait;
    return NULL;
}

/* A rank whose process is in the snapshot twice, as after a restart, is taken where it lives. */
static struct wsdbg_error *find_of_call(const struct wsdbg_snapshot *s, uint32_t grid, uint32_t call, uint32_t process,
                                        struct wsdbg_rank_waits *out)
{
    const struct wsdbg_collective *row = &s->collectives[call];
    const struct wsdbg_communicator *own = &s->communicators[row->communicator];
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; i < s->communicator_count && !error; i++) {
        const struct wsdbg_communicator *member = &s->communicators[i];
        struct wsdbg_rank_wait wait = {.grid = grid, .call = call, .process = process, .member = i};
        wait.other = wsdbg_snapshot_process(s, member->process_id);
        if (wait.other == WSDBG_NONE || wait.other == process || !are_of_one(own, member) || !is_comparable(s, i))
            continue;
        if (wsdbg_collective_is_pair(&row->row) && member->row.rank != row->row.peer)
            continue;
        if (judge_other(s, row, own->row.rank, &wait))
            error = add(out, &wait);
    }
    return error;
}

/* The next call, in the order of time, that may be this grid; WSDBG_NONE = there is none. */
static uint32_t next_candidate(const struct wsdbg_snapshot *s, uint32_t grid, uint64_t after_ns)
{
    uint32_t best = WSDBG_NONE;
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (call->row.time_ns > after_ns && call->row.number && wsdbg_collective_may_be_grid(s, i, grid) &&
            is_comparable(s, call->communicator) &&
            (best == WSDBG_NONE || call->row.time_ns < s->collectives[best].row.time_ns))
            best = i;
    }
    return best;
}

/* Which launch the grid is is not known: the oldest call for which somebody is missing stands still, for those before
 * it could end. */
static struct wsdbg_error *find_of_unknown(const struct wsdbg_snapshot *s, uint32_t grid, uint32_t process,
                                           struct wsdbg_rank_waits *out)
{
    const size_t before = out->count;
    struct wsdbg_error *error = NULL;
    uint32_t call = next_candidate(s, grid, 0);
    while (call != WSDBG_NONE && out->count == before && !error) {
        error = find_of_call(s, grid, call, process, out);
        call = next_candidate(s, grid, s->collectives[call].row.time_ns);
    }
    return error;
}

static struct wsdbg_error *find_of_grid(const struct wsdbg_snapshot *s, uint32_t grid, struct wsdbg_rank_waits *out)
{
    const uint32_t process = wsdbg_snapshot_grid_process(s, grid);
    struct wsdbg_error *error = NULL;
    if (process != WSDBG_NONE && s->grids[grid].launch == WSDBG_NONE)
        return find_of_unknown(s, grid, process, out);
    for (uint32_t i = 0; process != WSDBG_NONE && i < s->collective_count && !error; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (call->launch == s->grids[grid].launch && call->row.number && is_comparable(s, call->communicator))
            error = find_of_call(s, grid, i, process, out);
    }
    return error;
}

struct wsdbg_error *wsdbg_rank_waits_find(const struct wsdbg_snapshot *snapshot, struct wsdbg_rank_waits *out)
{
    struct wsdbg_rank_waits found = {0};
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; snapshot->collective_count && i < snapshot->grid_count && !error; i++) {
        const struct wsdbg_grid *grid = &snapshot->grids[i];
        if (grid->running && !grid->moves)
            error = find_of_grid(snapshot, i, &found);
    }
    if (error) {
        wsdbg_rank_waits_deinit(&found);
        return error;
    }
    *out = found;
    return NULL;
}

void wsdbg_rank_waits_deinit(struct wsdbg_rank_waits *waits)
{
    free(waits->rows);
    *waits = (struct wsdbg_rank_waits){0};
}

/* ---- how they hang together ---- */

bool wsdbg_rank_waits_itself(const struct wsdbg_rank_waits *waits, uint32_t process)
{
    for (size_t i = 0; i < waits->count; i++)
        if (waits->rows[i].process == process)
            return true;
    return false;
}

static bool leads_to(const struct wsdbg_rank_waits *waits, uint32_t from, uint32_t to, size_t steps)
{
    for (size_t i = 0; steps > 0 && i < waits->count; i++) {
        const struct wsdbg_rank_wait *wait = &waits->rows[i];
        if (wait->process == from && wait->kind != WSDBG_RANK_ENDED && wait->kind != WSDBG_RANK_DIFFERS &&
            (wait->other == to || leads_to(waits, wait->other, to, steps - 1)))
            return true;
    }
    return false;
}

/* Circles of more ranks than this are not looked for: the search would take too long. */
enum { CIRCLE_MOST = 4 };

bool wsdbg_rank_wait_is_in_circle(const struct wsdbg_rank_waits *waits, const struct wsdbg_rank_wait *wait,
                                  const struct wsdbg_rank_wait **next)
{
    if (wait->kind != WSDBG_RANK_ABSENT && wait->kind != WSDBG_RANK_QUEUED)
        return false;
    for (size_t i = 0; i < waits->count; i++) {
        const struct wsdbg_rank_wait *row = &waits->rows[i];
        if (row->process != wait->other || row->kind == WSDBG_RANK_ENDED || row->kind == WSDBG_RANK_DIFFERS)
            continue;
        if (row->other == wait->process || leads_to(waits, row->other, wait->process, CIRCLE_MOST - 2)) {
            *next = row;
            return true;
        }
    }
    return false;
}

bool wsdbg_rank_may_come(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    struct wsdbg_rank_waits waits = {0};
    struct wsdbg_error *error = wsdbg_rank_waits_find(snapshot, &waits);
    bool may_come = error != NULL; /* nothing is known then */
    for (size_t i = 0; i < waits.count; i++)
        may_come |= waits.rows[i].grid == grid && waits.rows[i].kind == WSDBG_RANK_ABSENT && !waits.rows[i].cannot_come;
    wsdbg_error_destroy(error);
    wsdbg_rank_waits_deinit(&waits);
    return may_come;
}
