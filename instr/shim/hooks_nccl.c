/* hooks_nccl.c - the wrappers of NCCL's functions record communicators and the calls on them.
 *
 * Each row of nccl_table.h becomes two functions, as in hooks.c: the exported symbol, for libraries that link NCCL, and
 * the wrapper that dlsym gives out.  Both forward the call unchanged and return NCCL's result.  They hold no lock
 * during the call, and do not record what NCCL itself calls inside it.
 *
 * The outermost ncclGroupEnd issues the calls of a group, so the thread keeps them until then.  If no library has a
 * function, its wrapper returns ncclSystemError.  A program reaches such a wrapper by a weak reference.
 */
#include "hooks_nccl.h"

#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "communicators.h"
#include "hooks.h"
#include "launch_sites.h"
#include "libnccl.h"
#include "messages.h"
#include "segment.h"
#include "shim.h"
#include "state.h"

enum { GROUPED_MOST = 128, MADE_MOST = 16, GROUPS_MOST = 32 };

/* A communicator that is made in a group.  NCCL may write the handle at once or at the group's end.  In the first case
 * `handle` has it, and `out` is not read again: the program may have freed that memory. */
struct made {
    uint32_t row;
    nccl_comm handle; /* NULL: not written yet */
    const nccl_comm *out;
};
struct group {
    _Atomic bool taken;
    unsigned call_count, made_count;
    struct nccl_entry calls[GROUPED_MOST];
    struct made made[MADE_MOST];
};
/* A thread takes one for the time of a group.  They are not thread-local, because that memory would shrink each
 * thread's stack. */
static struct group groups[GROUPS_MOST];
static SHIM_THREAD_LOCAL struct group *group; /* NULL: no group is open, or all are taken */
static SHIM_THREAD_LOCAL unsigned depth;      /* groups that this thread has opened */
static SHIM_THREAD_LOCAL unsigned inside;     /* nested calls of NCCL on this thread */

static bool is_recording(void)
{
    return atomic_load_explicit(&shim_state, memory_order_acquire) == SHIM_ON;
}

static bool enter(void)
{
    return inside++ == 0 && is_recording();
}

static int leave(int result)
{
    inside--;
    return result;
}

static int missing(enum nccl_hook id)
{
    static _Atomic bool is_said[NCCL_HOOK_COUNT];
    const int kept = errno;
    if (!atomic_exchange(&is_said[id], true))
        shim_say("%s was called, and no library of the process has it", nccl_name[id]);
    errno = kept;
    return NCCL_SYSTEM_ERROR;
}

/* ---- calls on a communicator ---- */

/* Only NCCL knows the rank in a communicator that was split off.  It can be asked once the communicator is used. */
static void learn_rank(nccl_comm comm, const void *forward)
{
    const uint32_t row = communicator_find(comm);
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    int rank = -1, count = -1, device = -1;
    if (row == WSDBG_UNKNOWN32 || segment->communicators[row].rank != WSDBG_UNKNOWN32 ||
        segment->communicators[row].calls || !segment->communicators[row].ready_ns)
        return;
    const int kept = errno;
    int (*of_rank)(nccl_comm, int *) = (int (*)(nccl_comm, int *))libnccl_beside(forward, "ncclCommUserRank");
    int (*of_count)(nccl_comm, int *) = (int (*)(nccl_comm, int *))libnccl_beside(forward, "ncclCommCount");
    int (*of_device)(nccl_comm, int *) = (int (*)(nccl_comm, int *))libnccl_beside(forward, "ncclCommCuDevice");
    if (of_device && of_device(comm, &device) != NCCL_SUCCESS)
        device = -1;
    if (of_rank && of_count && of_rank(comm, &rank) == NCCL_SUCCESS && of_count(comm, &count) == NCCL_SUCCESS)
        communicator_set_rank(row, rank, count, device);
    errno = kept;
}

static struct nccl_entry begin_call(const struct nccl_call *call, uint64_t count, int type, nccl_comm comm,
                                    void *stream, const void *forward)
{
    if (!enter())
        return (struct nccl_entry){.row = WSDBG_UNKNOWN32};
    struct site_registers here;
    site_here(&here);
    learn_rank(comm, forward);
    struct nccl_entry entry = collective_begin(call, count, type, comm, stream, depth > 0);
    if (entry.row != WSDBG_UNKNOWN32)
        launch_site_called(&here, atomic_load(&shim_segment)->communicators[entry.row].number, entry.entry);
    if (depth == 0)
        collective_issue(&entry);
    return entry;
}

static bool went_well(int result)
{
    return result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS;
}

/* If a group has too many calls to keep, the further ones count as issued at once, and their launch stays unknown. */
static int end_call(struct nccl_entry *entry, int result)
{
    if (entry->row != WSDBG_UNKNOWN32 && group && group->call_count < GROUPED_MOST && went_well(result)) {
        group->calls[group->call_count++] = *entry;
        return leave(result);
    }
    if (entry->row != WSDBG_UNKNOWN32 && depth > 0)
        collective_issue(entry);
    collective_end(entry, result);
    return leave(result);
}

#define CALL_BODY(parameters, arguments, what)                                                       \
    struct nccl_entry entry =                                                                        \
        begin_call(&(const struct nccl_call){HOOK_UNPACK what}, count, type, comm, stream, forward); \
    return end_call(&entry, ((int(*) parameters)forward)arguments);

/* ---- groups ---- */

static struct group *take_group(void)
{
    for (unsigned i = 0; i < GROUPS_MOST; i++) {
        struct group *free_one = &groups[i];
        if (atomic_load_explicit(&free_one->taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&free_one->taken, true, memory_order_acquire))
            continue;
        free_one->call_count = free_one->made_count = 0;
        return free_one;
    }
    return NULL;
}

static void give_group_back(void)
{
    if (group)
        atomic_store_explicit(&group->taken, false, memory_order_release);
    group = NULL;
}

static int ncclGroupStart_body(void *forward)
{
    const bool on = enter();
    const int result = ((int (*)(void))forward)();
    if (on && result == NCCL_SUCCESS && depth++ == 0)
        group = take_group();
    return leave(result);
}

static void end_made(const struct made *made, int result)
{
    const nccl_comm handle = made->handle || !went_well(result) ? made->handle : *made->out;
    if (!went_well(result))
        communicator_drop(made->row);
    else if (handle)
        communicator_ready(made->row, handle);
}

static void end_group(int result)
{
    for (unsigned i = 0; i < group->call_count; i++)
        collective_end(&group->calls[i], result);
    for (unsigned i = 0; i < group->made_count; i++)
        end_made(&group->made[i], result);
}

/* It ends the group without issuing its calls. */
static int ncclGroupSimulateEnd_body(void *forward, void *estimate)
{
    const bool on = enter();
    const int result = ((int (*)(void *))forward)(estimate);
    if (inside == 1 && depth == 1 && group) {
        for (unsigned i = 0; on && i < group->call_count; i++)
            collective_take_back(&group->calls[i]);
        group->call_count = 0;
        if (on)
            end_group(result);
        give_group_back();
    }
    if (inside == 1 && depth > 0)
        depth--;
    return leave(result);
}

static int ncclGroupEnd_body(void *forward)
{
    const bool on = enter();
    const bool is_outermost = inside == 1 && depth == 1, records = on && is_outermost && group;
    for (unsigned i = 0; records && i < group->call_count; i++)
        collective_issue(&group->calls[i]);
    const int result = ((int (*)(void))forward)();
    if (records)
        end_group(result);
    if (is_outermost)
        give_group_back();
    if (inside == 1 && depth > 0)
        depth--;
    return leave(result);
}

/* ---- making communicators ---- */

static uint32_t begin_make(const char *call, uint64_t identity, int rank, int count, int device)
{
    if (!enter())
        return WSDBG_UNKNOWN32;
    return communicator_begin(&(const struct nccl_maker){.call = call,
                                                         .identity = identity,
                                                         .rank = rank < 0 ? WSDBG_UNKNOWN32 : (uint32_t)rank,
                                                         .count = count < 0 ? WSDBG_UNKNOWN32 : (uint32_t)count,
                                                         .device = device < 0 ? WSDBG_UNKNOWN32 : (uint32_t)device});
}

/* What `out` holds before the call, which may be anything.  NCCL refuses a call without `out`. */
static nccl_comm before_make(uint32_t row, const nccl_comm *out)
{
    return row != WSDBG_UNKNOWN32 && out ? *out : NULL;
}

static int end_make(uint32_t row, const nccl_comm *out, nccl_comm before, int result)
{
    if (row == WSDBG_UNKNOWN32)
        return leave(result);
    if (went_well(result) && group && group->made_count < MADE_MOST)
        group->made[group->made_count++] = (struct made){row, *out != before ? *out : NULL, out};
    else if (went_well(result) && *out)
        communicator_ready(row, *out);
    else
        communicator_drop(row);
    return leave(result);
}

/* The shim records from the first driver call on, and NCCL may make that call while it makes this communicator.  Then
 * the row is made now. */
static uint32_t made_late(uint32_t row, bool was_recording, const char *call, uint64_t identity, int rank, int count)
{
    if (row != WSDBG_UNKNOWN32 || was_recording || inside != 1)
        return row;
    inside--;
    return begin_make(call, identity, rank, count, -1);
}

static uint64_t identity_of(const nccl_unique_id *ids, int count)
{
    return communicator_identity(ids, (uint64_t)(count > 0 ? count : 0) * sizeof *ids);
}

static int ncclCommInitRank_body(void *forward, nccl_comm *out, int count, nccl_unique_id id, int rank)
{
    const char *call = nccl_name[NCCL_HOOK_ncclCommInitRank];
    const uint64_t identity = identity_of(&id, 1);
    const bool was_recording = is_recording();
    uint32_t row = begin_make(call, identity, rank, count, -1);
    const nccl_comm before = before_make(row, out);
    const int result = ((int (*)(nccl_comm *, int, nccl_unique_id, int))forward)(out, count, id, rank);
    row = made_late(row, was_recording, call, identity, rank, count);
    return end_make(row, out, before, result);
}

static int ncclCommInitRankConfig_body(void *forward, nccl_comm *out, int count, nccl_unique_id id, int rank,
                                       void *config)
{
    const char *call = nccl_name[NCCL_HOOK_ncclCommInitRankConfig];
    const uint64_t identity = identity_of(&id, 1);
    const bool was_recording = is_recording();
    uint32_t row = begin_make(call, identity, rank, count, -1);
    const nccl_comm before = before_make(row, out);
    const int result = ((int (*)(nccl_comm *, int, nccl_unique_id, int, void *))forward)(out, count, id, rank, config);
    row = made_late(row, was_recording, call, identity, rank, count);
    return end_make(row, out, before, result);
}

static int ncclCommInitRankScalable_body(void *forward, nccl_comm *out, int count, int rank, int ids_count,
                                         nccl_unique_id *ids, void *config)
{
    const char *call = nccl_name[NCCL_HOOK_ncclCommInitRankScalable];
    const uint64_t identity = ids ? identity_of(ids, ids_count) : 0;
    const bool was_recording = is_recording();
    uint32_t row = begin_make(call, identity, rank, count, -1);
    const nccl_comm before = before_make(row, out);
    const int result = ((int (*)(nccl_comm *, int, int, int, nccl_unique_id *, void *))forward)(out, count, rank,
                                                                                                ids_count, ids, config);
    row = made_late(row, was_recording, call, identity, rank, count);
    return end_make(row, out, before, result);
}

/* All ranks are in this process.  So any identity will do that no other process has. */
static uint64_t identity_of_own(nccl_comm first)
{
    const struct {
        uint64_t handle, process, time_ns;
    } own = {(uint64_t)(uintptr_t)first, (uint64_t)getpid(), shim_now_ns()};
    return communicator_identity(&own, sizeof own);
}

static int ncclCommInitAll_body(void *forward, nccl_comm *out, int count, const int *devices)
{
    const bool counts = enter();
    const int result = ((int (*)(nccl_comm *, int, const int *))forward)(out, count, devices);
    const bool on = inside == 1 && (counts || is_recording());
    inside--;
    const uint64_t identity = on && result == NCCL_SUCCESS && count > 0 ? identity_of_own(out[0]) : 0;
    for (int i = 0; identity && i < count; i++) {
        const uint32_t row =
            begin_make(nccl_name[NCCL_HOOK_ncclCommInitAll], identity, i, count, devices ? devices[i] : i);
        end_make(row, &out[i], NULL, result);
    }
    return result;
}

static uint32_t begin_derive(enum nccl_hook id, nccl_comm parent, const void *how, uint64_t bytes, bool is_left_out)
{
    const bool on = inside == 0 && is_recording();
    const uint64_t identity = on ? communicator_derive(parent, how, bytes) : 0;
    if (!is_left_out)
        return begin_make(nccl_name[id], identity, -1, -1, -1);
    enter();
    return WSDBG_UNKNOWN32;
}

static int ncclCommSplit_body(void *forward, nccl_comm comm, int color, int key, nccl_comm *out, void *config)
{
    const uint32_t row = begin_derive(NCCL_HOOK_ncclCommSplit, comm, &color, sizeof color, color < 0);
    const nccl_comm before = before_make(row, out);
    const int result = ((int (*)(nccl_comm, int, int, nccl_comm *, void *))forward)(comm, color, key, out, config);
    return end_make(row, out, before, result);
}

static int ncclCommShrink_body(void *forward, nccl_comm comm, int *left_out, int left_out_count, nccl_comm *out,
                               void *config, int flags)
{
    const uint64_t bytes = left_out && left_out_count > 0 ? (uint64_t)left_out_count * sizeof *left_out : 0;
    const uint32_t row = begin_derive(NCCL_HOOK_ncclCommShrink, comm, left_out, bytes, false);
    const nccl_comm before = before_make(row, out);
    const int result = ((int (*)(nccl_comm, int *, int, nccl_comm *, void *, int))forward)(
        comm, left_out, left_out_count, out, config, flags);
    return end_make(row, out, before, result);
}

/* ---- ending communicators ---- */

static int end_with(void *forward, nccl_comm comm, enum wsdbg_communicator_end end)
{
    if (enter())
        communicator_set_end(comm, end);
    return leave(((int (*)(nccl_comm))forward)(comm));
}

static int ncclCommFinalize_body(void *forward, nccl_comm comm)
{
    return end_with(forward, comm, WSDBG_COMMUNICATOR_FINALIZED);
}

static int ncclCommDestroy_body(void *forward, nccl_comm comm)
{
    return end_with(forward, comm, WSDBG_COMMUNICATOR_DESTROYED);
}

static int ncclCommAbort_body(void *forward, nccl_comm comm)
{
    return end_with(forward, comm, WSDBG_COMMUNICATOR_ABORTED);
}

static int ncclCommGetAsyncError_body(void *forward, nccl_comm comm, int *error)
{
    const bool on = enter();
    const int result = ((int (*)(nccl_comm, int *))forward)(comm, error);
    if (on && result == NCCL_SUCCESS && error && *error != NCCL_SUCCESS)
        communicator_set_error(communicator_find(comm), *error);
    return leave(result);
}

/* ---- exported functions and wrappers ---- */

#define EXPORTED(symbol) libnccl_next(NCCL_HOOK_##symbol, __builtin_return_address(0))
#define FOUND(symbol) libnccl_real(NCCL_HOOK_##symbol)

#define BOTH(symbol, parameters, BODY)          \
    SHIM_EXPORT int symbol parameters;          \
    SHIM_EXPORT int symbol parameters           \
    {                                           \
        void *forward = EXPORTED(symbol);       \
        if (!forward)                           \
            return missing(NCCL_HOOK_##symbol); \
        BODY                                    \
    }                                           \
    static int wrap_##symbol parameters         \
    {                                           \
        void *forward = FOUND(symbol);          \
        if (!forward)                           \
            return missing(NCCL_HOOK_##symbol); \
        BODY                                    \
    }
#define X(symbol, parameters, arguments, what) BOTH(symbol, parameters, CALL_BODY(parameters, arguments, what))
NCCL_CALLS(X)
#undef X
#define X(symbol, parameters, arguments) BOTH(symbol, parameters, return symbol##_body(forward);)
NCCL_GROUPS(X)
#undef X
#define X(symbol, parameters, arguments) BOTH(symbol, parameters, return symbol##_body(forward, HOOK_UNPACK arguments);)
NCCL_OTHERS(X)
#undef X

#define X(symbol, ...) (void *)wrap_##symbol,
void *const nccl_wrapper[NCCL_HOOK_COUNT] = {NCCL_CALLS(X) NCCL_GROUPS(X) NCCL_OTHERS(X)};
#undef X
#define X(symbol, ...) (void *)symbol,
void *const nccl_exported[NCCL_HOOK_COUNT] = {NCCL_CALLS(X) NCCL_GROUPS(X) NCCL_OTHERS(X)};
#undef X
