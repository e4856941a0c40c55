/* rank_waits.c - see rank_waits.h.  Reads a snapshot.
 *
 * The ranks of a communicator are rows of different processes with the same identity.  Each process numbers its calls
 * on it, and NCCL requires the same order on all ranks.  So call n of one rank meets call n of another rank.  A send
 * meets the receive with the same number between the two ranks (rank_calls.c).
 *
 * A call may also wait on the host, before it has launched a kernel.  Only a rank that has not come is told of it: two
 * calls that have met may still be connecting.
 *
 * Where no look shows the kernel of a call, a thread that has waited for the GPU since the call shows that the process
 * gets no further.  What that says is possible only.  It is said of a rank that has no work on its GPU: what others do
 * there is not known, and may be at fault.
 */
#include "diagnose/rank_waits.h"

#include <stdlib.h>

#include "diagnose/absent_ranks.h"
#include "diagnose/rank_calls.h"
#include "model/collective.h"
#include "model/nccl_wait.h"
#include "model/process.h"

/* A kernel or thread that has stayed at its place for so long is not about to go on. */
#define LASTS_NS UINT64_C(500000000)

struct search {
    const struct wsdbg_snapshot *snapshot;
    bool *comparable; /* by communicator */
    uint32_t *grids;  /* by call: the grid that runs for it, WSDBG_NONE = none is known to */
    struct wsdbg_rank_waits *out;
};

/* ---- what the other rank does ---- */

/* Whether the kernel of any call of this process stands still. */
static bool stands_in_call(const struct search *search, uint32_t process_id)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    for (uint32_t i = 0; i < s->collective_count; i++)
        if (search->grids[i] != WSDBG_NONE && !s->grids[search->grids[i]].moves &&
            s->communicators[s->collectives[i].communicator].process_id == process_id)
            return true;
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

/* Whether the thread has been in a call of the driver for a while. */
static bool is_in_driver(const struct wsdbg_snapshot *s, uint32_t process_id, uint32_t thread_id)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].process_id == process_id && s->threads[i].thread_id == thread_id &&
            s->threads[i].since_ns + LASTS_NS <= s->time_ns)
            return true;
    return false;
}

/* Whether each thread that was seen to call NCCL is in the driver, and the main thread, whose calls of NCCL may be too
 * old to be kept. */
static bool callers_are_in_driver(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    const uint32_t process = wsdbg_snapshot_process(s, process_id);
    if (process == WSDBG_NONE || !is_in_driver(s, process_id, s->processes[process].pid))
        return false;
    for (size_t i = 0; i < s->collective_count; i++)
        if (s->communicators[s->collectives[i].communicator].process_id == process_id &&
            !is_in_driver(s, process_id, s->collectives[i].row.thread_id))
            return false;
    return true;
}

static bool all_are_blocked(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].process_id == process_id && s->threads[i].host_state == WSDBG_HOST_ALL_BLOCKED &&
            s->threads[i].since_ns + LASTS_NS <= s->time_ns)
            return true;
    return false;
}

/* Whether no thread of the process can call NCCL before a kernel of the process ends that stands still. */
static bool cannot_call(const struct search *search, uint32_t process_id)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    return stands_in_call(search, process_id) && !has_moving_grid(s, process_id) &&
           (all_are_blocked(s, process_id) || callers_are_in_driver(s, process_id));
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

/* Whether the kernel of a call waits for another kernel of its process that stands still.  A kernel that moves may be
 * the one that it waits for. */
static bool is_queued(const struct search *search, uint32_t call, uint32_t process_id)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_collective *row = &s->collectives[call];
    return search->grids[call] == WSDBG_NONE && !row->done && row->launch != WSDBG_NONE &&
           row->row.time_ns + LASTS_NS <= s->time_ns && stands_in_call(search, process_id) &&
           !has_moving_grid(s, process_id) && !is_held_back(s, process_id, row->row.time_ns);
}

static bool judge_difference(const struct wsdbg_snapshot *s, const struct wsdbg_collective_row *call,
                             struct wsdbg_rank_wait *wait)
{
    if (wait->other_call == WSDBG_NONE)
        return false;
    const struct wsdbg_collective_row *other = &s->collectives[wait->other_call].row;
    wait->kind = WSDBG_RANK_DIFFERS;
    wait->is_sure = wsdbg_rank_calls_differ(call, other);
    return wait->is_sure || wsdbg_rank_calls_reduce_otherwise(call, other);
}

/* Fills what the other rank has done about the call.  False: nothing that makes the call wait for it.  *done: its part
 * of the call is known to be over. */
static bool judge_other(const struct search *search, const struct wsdbg_collective *call, uint32_t own_rank,
                        struct wsdbg_rank_wait *wait, bool *done)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_process *other = &s->processes[wait->other];
    const struct wsdbg_rank_met met = wsdbg_rank_meets(s, &call->row, own_rank, wait->member);
    wait->other_call = met.call;
    *done = met.call != WSDBG_NONE && s->collectives[met.call].done;
    if (wait->grid != WSDBG_NONE && judge_difference(s, &call->row, wait))
        return true;
    if (other->end.kind != WSDBG_END_NONE) {
        wait->kind = WSDBG_RANK_ENDED;
        wait->is_sure = met.made == WSDBG_MADE_NOT;
        return !*done;
    }
    if (met.made == WSDBG_MADE_NOT) {
        wait->kind = WSDBG_RANK_ABSENT;
        wait->cannot_come = s->communicators[wait->member].row.ended_ns != 0 || cannot_call(search, other->process_id);
        return true;
    }
    wait->kind = WSDBG_RANK_QUEUED;
    wait->cannot_come = true;
    return met.call != WSDBG_NONE && is_queued(search, met.call, other->process_id);
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

static bool takes_part(const struct search *search, const struct wsdbg_collective *call, uint32_t process,
                       uint32_t member)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_communicator *other = &s->communicators[member];
    const uint32_t whose = wsdbg_snapshot_process(s, other->process_id);
    return whose != WSDBG_NONE && whose != process &&
           wsdbg_rank_is_other(&s->communicators[call->communicator], other) && search->comparable[member] &&
           !is_replaced(search, member) && (!wsdbg_collective_is_pair(&call->row) || other->row.rank == call->row.peer);
}

/* *all_done: all other ranks were seen, and are known to have done their part. */
static struct wsdbg_error *find_of_call(const struct search *search, uint32_t grid, uint32_t call, uint32_t process,
                                        bool *all_done)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_collective *row = &s->collectives[call];
    const struct wsdbg_communicator_row *own = &s->communicators[row->communicator].row;
    struct wsdbg_rank_waits *out = search->out;
    const size_t first = out->count;
    uint32_t undone = wsdbg_collective_is_pair(&row->row) ? 1 : own->rank_count - 1;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; i < s->communicator_count && !error; i++) {
        struct wsdbg_rank_wait wait = {.grid = grid, .call = call, .process = process, .member = i};
        bool done = false;
        if (!takes_part(search, row, process, i))
            continue;
        wait.other = wsdbg_snapshot_process(s, s->communicators[i].process_id);
        if (judge_other(search, row, own->rank, &wait, &done))
            error = add(out, &wait);
        undone -= done;
    }
    *all_done = undone == 0;
    /* All others have done their part, so the call waits for this one. */
    if (out->count == first + 1 && undone == 1 && out->rows[first].kind == WSDBG_RANK_ENDED)
        out->rows[first].is_sure = true;
    return error;
}

/* The next call in time whose kernel this grid may be; WSDBG_NONE = there is none. */
static uint32_t next_candidate(const struct wsdbg_snapshot *s, uint32_t grid, uint64_t after_ns)
{
    uint32_t best = WSDBG_NONE;
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (call->row.time_ns > after_ns && wsdbg_collective_may_be_grid(s, i, grid) &&
            (best == WSDBG_NONE || call->row.time_ns < s->collectives[best].row.time_ns))
            best = i;
    }
    return best;
}

/* The grid's launch is not known.  Then it belongs to the oldest call for which a rank is missing, as long as all ranks
 * are known to have done their part in the calls before it.  Otherwise it may belong to one of those. */
static struct wsdbg_error *find_of_unknown(const struct search *search, uint32_t grid, uint32_t process)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const size_t before = search->out->count;
    struct wsdbg_error *error = NULL;
    bool all_done = true;
    uint32_t call = next_candidate(s, grid, 0);
    while (call != WSDBG_NONE && search->comparable[s->collectives[call].communicator] && all_done &&
           search->out->count == before && !error) {
        error = find_of_call(search, grid, call, process, &all_done);
        call = next_candidate(s, grid, s->collectives[call].row.time_ns);
    }
    return error;
}

static struct wsdbg_error *find_of_grid(const struct search *search, uint32_t grid)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const uint32_t process = wsdbg_snapshot_grid_process(s, grid);
    struct wsdbg_error *error = NULL;
    bool all_done;
    if (process != WSDBG_NONE && s->grids[grid].launch == WSDBG_NONE)
        return find_of_unknown(search, grid, process);
    for (uint32_t i = 0; process != WSDBG_NONE && i < s->collective_count && !error; i++) {
        const struct wsdbg_collective *call = &s->collectives[i];
        if (call->launch == s->grids[grid].launch && search->comparable[call->communicator])
            error = find_of_call(search, grid, i, process, &all_done);
    }
    return error;
}

/* ---- calls that wait on the host, or in a kernel that no look shows ---- */

static struct wsdbg_error *find_of_host_call(const struct search *search, uint32_t call)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_collective *row = &s->collectives[call];
    bool all_done;
    if (!wsdbg_collective_waits_on_host(s, call) || !search->comparable[row->communicator] ||
        row->row.time_ns + LASTS_NS > s->time_ns)
        return NULL;
    const uint32_t process = wsdbg_snapshot_process(s, s->communicators[row->communicator].process_id);
    return find_of_call(search, WSDBG_NONE, call, process, &all_done);
}

/* Whether all that the process gave its GPU is known to be done. */
static bool has_no_work(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (size_t i = 0; i < s->context_count; i++) {
        const struct wsdbg_context *context = &s->contexts[i];
        if (context->process_id == process_id && context->alive &&
            (context->unfinished_ns.known || !context->given_ns.known || !context->done_given_ns.known ||
             context->given_ns.value > context->done_given_ns.value))
            return false;
    }
    return true;
}

/* Keeps the waits from `first` on for ranks that have nothing to do on their GPU. */
static void keep_idle(const struct wsdbg_snapshot *s, struct wsdbg_rank_waits *waits, size_t first)
{
    size_t count = first;
    for (size_t i = first; i < waits->count; i++) {
        struct wsdbg_rank_wait wait = waits->rows[i];
        const bool is_idle = wait.kind == WSDBG_RANK_ENDED ||
                             (wait.kind == WSDBG_RANK_ABSENT && has_no_work(s, s->processes[wait.other].process_id));
        wait.is_sure = wait.cannot_come = false;
        if (is_idle)
            waits->rows[count++] = wait;
    }
    waits->count = count;
}

static struct wsdbg_error *find_of_unseen(const struct search *search, uint32_t call)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_collective *row = &s->collectives[call];
    const struct wsdbg_host_thread *thread = wsdbg_collective_waits_unseen(s, call);
    const size_t first = search->out->count;
    bool all_done;
    if (!thread || !search->comparable[row->communicator] || thread->since_ns + LASTS_NS > s->time_ns)
        return NULL;
    const uint32_t process = wsdbg_snapshot_process(s, s->communicators[row->communicator].process_id);
    struct wsdbg_error *error = find_of_call(search, WSDBG_NONE, call, process, &all_done);
    keep_idle(s, search->out, first);
    return error;
}

static struct wsdbg_error *find_of_made(const struct search *search, uint32_t communicator)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    struct wsdbg_error *error = NULL;
    if (s->communicators[communicator].row.began_ns + LASTS_NS > s->time_ns)
        return NULL;
    struct wsdbg_rank_wait wait = {.kind = WSDBG_RANK_ABSENT,
                                   .grid = WSDBG_NONE,
                                   .call = WSDBG_NONE,
                                   .process = wsdbg_snapshot_process(s, s->communicators[communicator].process_id),
                                   .member = communicator,
                                   .other_call = WSDBG_NONE};
    for (wait.other = 0; wait.other < s->process_count && !error; wait.other++)
        if (wsdbg_rank_is_absent(s, communicator, wait.other))
            error = add(search->out, &wait);
    return error;
}

static struct wsdbg_error *find_without_grid(const struct search *search)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; i < s->collective_count && !error; i++)
        error = find_of_host_call(search, i);
    for (uint32_t i = 0; i < s->collective_count && !error; i++)
        error = find_of_unseen(search, i);
    for (uint32_t i = 0; i < s->communicator_count && !error; i++)
        error = find_of_made(search, i);
    return error;
}

/* ---- all waits ---- */

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

static struct wsdbg_error *find_all(const struct search *search)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    struct wsdbg_error *error = NULL;
    if (!search->comparable || !search->grids)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < s->collective_count; i++)
        search->grids[i] = wsdbg_collective_grid(s, i);
    for (uint32_t i = 0; s->collective_count && i < s->grid_count && !error; i++)
        if (s->grids[i].running && !s->grids[i].moves)
            error = find_of_grid(search, i);
    if (!error)
        error = find_without_grid(search);
    follow_blocked(s, search->out);
    return error;
}

struct wsdbg_error *wsdbg_rank_waits_find(const struct wsdbg_snapshot *snapshot, struct wsdbg_rank_waits *out)
{
    struct wsdbg_rank_waits found = {0};
    const struct search search = {.snapshot = snapshot,
                                  .comparable = wsdbg_rank_calls_find_comparable(snapshot),
                                  .grids = calloc(snapshot->collective_count + 1, sizeof(uint32_t)),
                                  .out = &found};
    struct wsdbg_error *error = find_all(&search);
    free(search.comparable);
    free(search.grids);
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
