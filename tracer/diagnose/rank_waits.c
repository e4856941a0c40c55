/* rank_waits.c - see rank_waits.h.  Reads a snapshot.
 *
 * The ranks of a communicator are rows of different processes with the same identity.  Each process numbers its calls
 * on it, and NCCL requires the same order on all ranks.  So call n of one rank meets call n of another rank.  A send
 * meets the receive with the same number between the two ranks.
 *
 * Numbers may be wrong after a call that was captured into a graph, which runs later, and after a refused one, which
 * may count or not.  The observer gives later calls no number, and this file compares none of them.
 */
#include "diagnose/rank_waits.h"

#include <stdlib.h>

#include "model/collective.h"
#include "model/process.h"

/* A kernel or thread that has stayed at its place for so long is not about to go on. */
#define LASTS_NS UINT64_C(500000000)

/* ---- one communicator ---- */

static bool is_comparable(const struct wsdbg_snapshot *s, uint32_t communicator)
{
    const struct wsdbg_communicator_row *row = &s->communicators[communicator].row;
    if (!row->identity || row->rank == WSDBG_UNKNOWN32 || row->rank_count == WSDBG_UNKNOWN32)
        return false;
    /* The call that was to make it failed, or has not returned a handle. */
    return row->ready_ns || !row->ended_ns;
}

/* A flag for each communicator; NULL = no memory. */
static bool *find_comparable(const struct wsdbg_snapshot *s)
{
    bool *comparable = calloc(s->communicator_count + 1, sizeof *comparable);
    for (uint32_t i = 0; comparable && i < s->communicator_count; i++)
        comparable[i] = is_comparable(s, i);
    for (size_t i = 0; comparable && i < s->collective_count; i++) {
        const struct wsdbg_collective_row *row = &s->collectives[i].row;
        if (!row->number || (row->flags & (WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_REFUSED)))
            comparable[s->collectives[i].communicator] = false;
    }
    return comparable;
}

static bool are_of_one(const struct wsdbg_communicator *a, const struct wsdbg_communicator *b)
{
    return a->row.identity == b->row.identity && a->row.rank_count == b->row.rank_count && a->row.rank != b->row.rank;
}

/* What a send or a receive meets. */
static uint32_t meets(uint32_t operation)
{
    return operation == WSDBG_COLLECTIVE_SEND      ? WSDBG_COLLECTIVE_RECEIVE
           : operation == WSDBG_COLLECTIVE_RECEIVE ? WSDBG_COLLECTIVE_SEND
                                                   : 0;
}

/* Older calls on it are no longer in the snapshot. */
static bool has_lost_calls(const struct wsdbg_snapshot *s, uint32_t member)
{
    return s->communicators[member].row.calls > WSDBG_COLLECTIVE_ROWS;
}

/* The member's call that meets this one.  *made: the member made it, or may have made it before its oldest kept call.
 */
static uint32_t met_by(const struct wsdbg_snapshot *s, const struct wsdbg_collective_row *call, uint32_t own_rank,
                       uint32_t member, bool *made)
{
    const bool is_pair = wsdbg_collective_is_pair(call);
    bool has_earlier = false;
    *made = !is_pair && s->communicators[member].row.collectives >= call->number;
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective_row *other = &s->collectives[i].row;
        if (s->collectives[i].communicator != member || wsdbg_collective_is_pair(other) != is_pair)
            continue;
        if (is_pair && (other->operation != meets(call->operation) || other->peer != own_rank))
            continue;
        *made |= other->number >= call->number;
        has_earlier |= other->number < call->number;
        if (other->number == call->number)
            return i;
    }
    *made |= is_pair && !has_earlier && has_lost_calls(s, member);
    return WSDBG_NONE;
}

static bool reduces(const struct wsdbg_collective_row *call)
{
    return call->operation == WSDBG_COLLECTIVE_ALL_REDUCE || call->operation == WSDBG_COLLECTIVE_REDUCE ||
           call->operation == WSDBG_COLLECTIVE_REDUCE_SCATTER;
}

/* Calls that only move data must agree in bytes: four int8 may meet one float32. */
static bool has_other_data(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b)
{
    const uint64_t bytes = wsdbg_collective_datatype_bytes(a->datatype),
                   other_bytes = wsdbg_collective_datatype_bytes(b->datatype);
    if (reduces(a) || a->datatype == b->datatype)
        return a->count != b->count || a->datatype != b->datatype;
    return bytes && other_bytes && a->count * bytes != b->count * other_bytes;
}

/* Each process gives its own number to a reduction that the program made. */
static bool has_other_reduction(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b)
{
    return a->reduction != b->reduction && wsdbg_collective_reduction_name(a->reduction) &&
           wsdbg_collective_reduction_name(b->reduction);
}

static bool differs(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b)
{
    const bool is_pair = wsdbg_collective_is_pair(a);
    if (!is_pair && (a->operation != b->operation || a->peer != b->peer))
        return true;
    return has_other_data(a, b) || (!is_pair && has_other_reduction(a, b));
}

/* ---- what the other rank does ---- */

/* Whether the kernel of any call of this process stands still. */
static bool stands_in_call(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (uint32_t i = 0; i < s->collective_count; i++) {
        if (s->communicators[s->collectives[i].communicator].process_id != process_id)
            continue;
        const uint32_t grid = wsdbg_collective_grid(s, i);
        if (grid != WSDBG_NONE && !s->grids[grid].moves)
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

/* The thread of the newest call on the communicator, or else of the process's newest call of NCCL; 0 = there is none.
 */
static uint32_t calling_thread(const struct wsdbg_snapshot *s, uint32_t communicator)
{
    const uint32_t process_id = s->communicators[communicator].process_id;
    uint64_t newest_ns = 0, newest_of_it_ns = 0;
    uint32_t thread = 0, thread_of_it = 0;
    for (size_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (s->communicators[call->communicator].process_id == process_id && call->row.time_ns >= newest_ns) {
            newest_ns = call->row.time_ns;
            thread = call->row.thread_id;
        }
        if (call->communicator == communicator && call->row.time_ns >= newest_of_it_ns) {
            newest_of_it_ns = call->row.time_ns;
            thread_of_it = call->row.thread_id;
        }
    }
    return thread_of_it ? thread_of_it : thread;
}

/* The thread that calls NCCL waits in a call of the driver while a kernel of its process stands still, or all threads
 * of the process are blocked. */
static bool cannot_call(const struct wsdbg_snapshot *s, uint32_t communicator)
{
    const uint32_t process_id = s->communicators[communicator].process_id;
    const uint32_t caller = calling_thread(s, communicator);
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

/* Work that was launched after a late look began waits until the inspector has left. */
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

/* Whether the kernel of a call waits for another kernel of its process that stands still. */
static bool is_queued(const struct wsdbg_snapshot *s, uint32_t call, uint32_t process_id)
{
    const struct wsdbg_collective *row = &s->collectives[call];
    return wsdbg_collective_grid(s, call) == WSDBG_NONE && !row->done && row->launch != WSDBG_NONE &&
           row->row.time_ns + LASTS_NS <= s->time_ns && stands_in_call(s, process_id) &&
           !is_held_back(s, process_id, row->row.time_ns);
}

/* Fills what the other rank has done about the call.  False: nothing that makes the call wait for it. */
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
        return met == WSDBG_NONE || !s->collectives[met].done; /* if done, it has played its part */
    }
    if (!made) {
        wait->kind = WSDBG_RANK_ABSENT;
        wait->cannot_come = s->communicators[wait->member].row.ended_ns != 0 || cannot_call(s, wait->member);
        return true;
    }
    wait->kind = WSDBG_RANK_QUEUED;
    wait->cannot_come = true;
    return met != WSDBG_NONE && is_queued(s, met, other->process_id);
}

/* ---- all of them ---- */

struct search {
    const struct wsdbg_snapshot *snapshot;
    const bool *comparable; /* by communicator */
    struct wsdbg_rank_waits *out;
};

static struct wsdbg_error *add(struct wsdbg_rank_waits *waits, const struct wsdbg_rank_wait *wait)
{
    struct wsdbg_rank_wait *grown = realloc(waits->rows, (waits->count + 1) * sizeof *grown);
    if (!grown)
        return &wsdbg_error_no_memory;
    waits->rows = grown;
    grown[waits->count++] = *wait;
    return NULL;
}

/* The process made the communicator twice, so the first attempt was given up. */
static bool is_replaced(const struct search *search, uint32_t communicator)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_communicator *old = &s->communicators[communicator];
    for (uint32_t i = 0; i < s->communicator_count; i++) {
        const struct wsdbg_communicator *other = &s->communicators[i];
        if (other->row.identity == old->row.identity && other->row.rank == old->row.rank &&
            other->process_id == old->process_id && other->row.number > old->row.number)
            return true;
    }
    return false;
}

static struct wsdbg_error *find_of_call(const struct search *search, uint32_t grid, uint32_t call, uint32_t process)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_collective *row = &s->collectives[call];
    const struct wsdbg_communicator *own = &s->communicators[row->communicator];
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; i < s->communicator_count && !error; i++) {
        const struct wsdbg_communicator *member = &s->communicators[i];
        struct wsdbg_rank_wait wait = {.grid = grid, .call = call, .process = process, .member = i};
        wait.other = wsdbg_snapshot_process(s, member->process_id);
        if (wait.other == WSDBG_NONE || wait.other == process || !are_of_one(own, member) || !search->comparable[i] ||
            is_replaced(search, i))
            continue;
        if (wsdbg_collective_is_pair(&row->row) && member->row.rank != row->row.peer)
            continue;
        if (judge_other(s, row, own->row.rank, &wait))
            error = add(search->out, &wait);
    }
    return error;
}

/* The next call in time whose kernel this grid may be; WSDBG_NONE = there is none. */
static uint32_t next_candidate(const struct search *search, uint32_t grid, uint64_t after_ns)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    uint32_t best = WSDBG_NONE;
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (call->row.time_ns > after_ns && search->comparable[call->communicator] &&
            wsdbg_collective_may_be_grid(s, i, grid) &&
            (best == WSDBG_NONE || call->row.time_ns < s->collectives[best].row.time_ns))
            best = i;
    }
    return best;
}

/* The grid's launch is not known.  Then it belongs to the oldest call for which a rank is missing, because earlier
 * calls could end. */
static struct wsdbg_error *find_of_unknown(const struct search *search, uint32_t grid, uint32_t process)
{
    const size_t before = search->out->count;
    struct wsdbg_error *error = NULL;
    uint32_t call = next_candidate(search, grid, 0);
    while (call != WSDBG_NONE && search->out->count == before && !error) {
        error = find_of_call(search, grid, call, process);
        call = next_candidate(search, grid, search->snapshot->collectives[call].row.time_ns);
    }
    return error;
}

static struct wsdbg_error *find_of_grid(const struct search *search, uint32_t grid)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const uint32_t process = wsdbg_snapshot_grid_process(s, grid);
    struct wsdbg_error *error = NULL;
    if (process != WSDBG_NONE && s->grids[grid].launch == WSDBG_NONE)
        return find_of_unknown(search, grid, process);
    for (uint32_t i = 0; process != WSDBG_NONE && i < s->collective_count && !error; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (call->launch == s->grids[grid].launch && search->comparable[call->communicator])
            error = find_of_call(search, grid, i, process);
    }
    return error;
}

/* The other rank is blocked by a rank that cannot come. */
static bool is_kept(const struct wsdbg_rank_waits *waits, uint32_t process)
{
    for (size_t i = 0; i < waits->count; i++)
        if (waits->rows[i].process == process && !wsdbg_rank_wait_may_end(&waits->rows[i]))
            return true;
    return false;
}

/* A blocked rank may come once its own wait ends.  That wait does not end if it is for a rank that has ended or that is
 * blocked for good, as in a circle.  It may end if it is for a rank that may come, or for one that wsdbg does not see,
 * such as a rank of another node. */
static void follow_blocked(const struct wsdbg_snapshot *s, struct wsdbg_rank_waits *waits)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < waits->count; i++) {
            struct wsdbg_rank_wait *wait = &waits->rows[i];
            const bool has_ended_it = wait->kind == WSDBG_RANK_ABSENT && s->communicators[wait->member].row.ended_ns;
            if (!wait->cannot_come || has_ended_it || is_kept(waits, wait->other))
                continue;
            wait->cannot_come = false;
            changed = true;
        }
    }
}

struct wsdbg_error *wsdbg_rank_waits_find(const struct wsdbg_snapshot *snapshot, struct wsdbg_rank_waits *out)
{
    struct wsdbg_rank_waits found = {0};
    struct wsdbg_error *error = NULL;
    bool *comparable = find_comparable(snapshot);
    const struct search search = {snapshot, comparable, &found};
    if (!comparable)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; snapshot->collective_count && i < snapshot->grid_count && !error; i++) {
        const struct wsdbg_grid *grid = &snapshot->grids[i];
        if (grid->running && !grid->moves)
            error = find_of_grid(&search, i);
    }
    free(comparable);
    follow_blocked(snapshot, &found);
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

/* ---- chains and circles of waits ---- */

bool wsdbg_rank_wait_may_end(const struct wsdbg_rank_wait *wait)
{
    return (wait->kind == WSDBG_RANK_ABSENT || wait->kind == WSDBG_RANK_QUEUED) && !wait->cannot_come;
}

bool wsdbg_rank_waits_itself(const struct wsdbg_rank_waits *waits, uint32_t process)
{
    for (size_t i = 0; i < waits->count; i++)
        if (waits->rows[i].process == process)
            return true;
    return false;
}

/* No circle is searched through processes with this index or a greater one. */
enum { CIRCLE_PROCESSES_MOST = 4096 };

static bool is_link(const struct wsdbg_rank_wait *wait)
{
    return (wait->kind == WSDBG_RANK_ABSENT || wait->kind == WSDBG_RANK_QUEUED) &&
           wait->process < CIRCLE_PROCESSES_MOST && wait->other < CIRCLE_PROCESSES_MOST;
}

/* Marks the process, and each one whose waits lead to it. */
static void mark_leading(const struct wsdbg_rank_waits *waits, uint32_t process, bool *leads)
{
    bool changed = true;
    leads[process] = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < waits->count; i++) {
            const struct wsdbg_rank_wait *wait = &waits->rows[i];
            if (!is_link(wait) || leads[wait->process] || !leads[wait->other])
                continue;
            leads[wait->process] = changed = true;
        }
    }
}

bool wsdbg_rank_wait_is_in_circle(const struct wsdbg_rank_waits *waits, const struct wsdbg_rank_wait *wait,
                                  const struct wsdbg_rank_wait **next)
{
    bool leads[CIRCLE_PROCESSES_MOST] = {false};
    if (!is_link(wait))
        return false;
    mark_leading(waits, wait->process, leads);
    for (size_t i = 0; i < waits->count; i++) {
        const struct wsdbg_rank_wait *onward = &waits->rows[i];
        if (onward->process != wait->other || !is_link(onward) || !leads[onward->other])
            continue;
        *next = onward;
        return true;
    }
    return false;
}

bool wsdbg_rank_may_come(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    struct wsdbg_rank_waits waits = {0};
    struct wsdbg_error *error = wsdbg_rank_waits_find(snapshot, &waits);
    bool may_come = error != NULL; /* then nothing is known */
    for (size_t i = 0; i < waits.count; i++)
        may_come |= waits.rows[i].grid == grid && wsdbg_rank_wait_may_end(&waits.rows[i]);
    wsdbg_error_destroy(error);
    wsdbg_rank_waits_deinit(&waits);
    return may_come;
}
