/* communicators.c - writes the rows of communicators and of the calls on them, by the protocol of wsdbg/session.h.
 *
 * Reads:  the arguments of NCCL's functions; whether a stream is captured.  Writes: the two tables of the segment.
 *
 * The lock protects the making of a communicator's row.  A call on a communicator takes no lock, because NCCL requires
 * these calls to be made one after the other.  It costs a look-up among at most 32 rows, two atomic additions and
 * sixteen stores.
 */
#include "communicators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "captures.h"
#include "clock.h"
#include "contexts.h"
#include "hash.h"
#include "segment.h"
#include "state.h"

#define PEERS_MOST 65536u

/* Numbers of sends and receives for each peer, a pair each.  NULL: there was none yet, or there is no memory.  It is
 * never freed, because a call may still use it when its communicator ends.  The row's next communicator uses it again.
 */
struct peer_counts {
    uint32_t peers;
    uint32_t counts[];
};
static struct peer_counts *_Atomic peer_counts[WSDBG_COMMUNICATOR_ROWS];
/* How many communicators were derived from each. */
static _Atomic uint32_t derived[WSDBG_COMMUNICATOR_ROWS];
/* A call was captured or refused.  Then the numbers of later calls are not known. */
static _Atomic bool lost_count[WSDBG_COMMUNICATOR_ROWS];

static struct wsdbg_communicator_row *row_of(uint32_t row)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    return segment && row < WSDBG_COMMUNICATOR_ROWS ? &segment->communicators[row] : NULL;
}

/* ---- the identity that a communicator has in all processes ---- */

uint64_t communicator_identity(const void *bytes, uint64_t count)
{
    const uint64_t hash = hash_add(HASH_BEGIN, bytes, count);
    return hash ? hash : 1;
}

uint64_t communicator_derive(nccl_comm comm, const void *how, uint64_t bytes)
{
    const uint32_t row = communicator_find(comm);
    const struct wsdbg_communicator_row *parent = row_of(row);
    if (!parent)
        return 0;
    const uint32_t number = atomic_fetch_add(&derived[row], 1);
    if (!parent->identity)
        return 0;
    uint64_t hash = hash_add(HASH_BEGIN, &parent->identity, sizeof parent->identity);
    hash = hash_add(hash_add(hash, &number, sizeof number), how, bytes);
    return hash ? hash : 1;
}

/* ---- rows of communicators ---- */

/* The caller holds the lock.  A free row, else the row of the destroyed or aborted communicator that ended first.  A
 * finalized one keeps its row, because the program still has to destroy it. */
static uint32_t free_row(struct wsdbg_segment *segment)
{
    uint32_t best = WSDBG_UNKNOWN32;
    if (segment->communicator_count < WSDBG_COMMUNICATOR_ROWS)
        return segment->communicator_count;
    for (uint32_t i = 0; i < WSDBG_COMMUNICATOR_ROWS; i++) {
        const struct wsdbg_communicator_row *row = &segment->communicators[i];
        if (__atomic_load_n(&row->end, __ATOMIC_ACQUIRE) >= WSDBG_COMMUNICATOR_DESTROYED &&
            (best == WSDBG_UNKNOWN32 || row->ended_ns < segment->communicators[best].ended_ns))
            best = i;
    }
    return best;
}

/* Writes whole words, because a reader may copy the row at the same time.  The first word of both kinds of rows is 0
 * meanwhile, which tells the reader that the row is incomplete. */
static void write_row(void *to, const void *from, size_t bytes, uint64_t first_word)
{
    uint64_t *words = to;
    const uint64_t *source = from;
    __atomic_exchange_n(&words[0], 0, __ATOMIC_ACQ_REL); /* no later store may pass it */
    for (size_t i = 1; i < bytes / sizeof *words; i++)
        __atomic_store_n(&words[i], source[i], __ATOMIC_RELEASE);
    __atomic_store_n(&words[0], first_word, __ATOMIC_RELEASE);
}

/* NCCL makes a communicator for the current device. */
static void note_context(const struct wsdbg_segment *segment, struct wsdbg_communicator_row *row)
{
    const uint32_t context = contexts_current();
    if (context == WSDBG_UNKNOWN32 || row->context != WSDBG_UNKNOWN32)
        return;
    const uint32_t device = segment->contexts[context].device_ordinal;
    if (row->device != WSDBG_UNKNOWN32 && row->device != device)
        return;
    __atomic_store_n(&row->context, context, __ATOMIC_RELAXED);
    __atomic_store_n(&row->device, device, __ATOMIC_RELAXED);
}

/* The caller holds the lock. */
static void forget_peers(uint32_t row)
{
    struct peer_counts *of = atomic_load(&peer_counts[row]);
    for (uint32_t i = 0; of && i < 2 * of->peers; i++)
        __atomic_store_n(&of->counts[i], 0, __ATOMIC_RELAXED);
}

uint32_t communicator_begin(const struct nccl_maker *maker)
{
    static uint64_t made; /* under the lock */
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    struct wsdbg_communicator_row row = {.identity = maker->identity,
                                         .began_ns = shim_now_ns(),
                                         .rank = maker->rank,
                                         .rank_count = maker->count,
                                         .device = maker->device,
                                         .context = WSDBG_UNKNOWN32};
    if (!segment)
        return WSDBG_UNKNOWN32;
    const int kept = errno;
    note_context(segment, &row); /* at the end of a group another context may be current */
    strncpy(row.made_by, maker->call, sizeof row.made_by - 1);
    shim_lock();
    const uint32_t at = free_row(segment);
    if (at != WSDBG_UNKNOWN32) {
        write_row(&segment->communicators[at], &row, sizeof row, ++made);
        forget_peers(at);
        atomic_store(&derived[at], 0);
        atomic_store(&lost_count[at], false);
        if (at >= segment->communicator_count)
            __atomic_store_n(&segment->communicator_count, at + 1, __ATOMIC_RELEASE);
    } else {
        segment->communicators_left_out++;
    }
    shim_unlock();
    errno = kept;
    return at;
}

/* If NCCL returns a handle again, the communicator that had it before was destroyed, also if no call showed that. */
static void end_others_of(nccl_comm comm)
{
    for (uint32_t i = 0; i < WSDBG_COMMUNICATOR_ROWS && communicator_find(comm) != WSDBG_UNKNOWN32; i++)
        communicator_set_end(comm, WSDBG_COMMUNICATOR_DESTROYED);
}

void communicator_ready(uint32_t row, nccl_comm comm)
{
    const int kept = errno;
    struct wsdbg_communicator_row *communicator = row_of(row);
    if (communicator) {
        note_context(atomic_load(&shim_segment), communicator);
        end_others_of(comm);
        __atomic_store_n(&communicator->handle, (uint64_t)(uintptr_t)comm, __ATOMIC_RELEASE);
        __atomic_store_n(&communicator->ready_ns, shim_now_ns(), __ATOMIC_RELEASE);
    }
    errno = kept;
}

void communicator_drop(uint32_t row)
{
    struct wsdbg_communicator_row *communicator = row_of(row);
    if (!communicator)
        return;
    __atomic_store_n(&communicator->ended_ns, shim_now_ns(), __ATOMIC_RELEASE);
    __atomic_store_n(&communicator->end, WSDBG_COMMUNICATOR_ABORTED, __ATOMIC_RELEASE);
}

/* A destroyed communicator's handle may belong to a new one. */
uint32_t communicator_find(nccl_comm comm)
{
    const struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    const uint32_t count = segment ? __atomic_load_n(&segment->communicator_count, __ATOMIC_ACQUIRE) : 0;
    for (uint32_t i = 0; comm && i < count; i++) {
        const struct wsdbg_communicator_row *row = &segment->communicators[i];
        if (__atomic_load_n(&row->handle, __ATOMIC_ACQUIRE) == (uint64_t)(uintptr_t)comm &&
            __atomic_load_n(&row->end, __ATOMIC_ACQUIRE) < WSDBG_COMMUNICATOR_DESTROYED)
            return i;
    }
    return WSDBG_UNKNOWN32;
}

void communicator_set_rank(uint32_t row, int rank, int count, int device)
{
    struct wsdbg_communicator_row *communicator = row_of(row);
    if (!communicator || rank < 0 || count <= rank)
        return;
    __atomic_store_n(&communicator->rank_count, (uint32_t)count, __ATOMIC_RELAXED);
    __atomic_store_n(&communicator->rank, (uint32_t)rank, __ATOMIC_RELEASE);
    if (device >= 0)
        __atomic_store_n(&communicator->device, (uint32_t)device, __ATOMIC_RELAXED);
}

void communicator_set_error(uint32_t row, int error)
{
    struct wsdbg_communicator_row *communicator = row_of(row);
    if (communicator && error != NCCL_SUCCESS && error != NCCL_IN_PROGRESS)
        __atomic_store_n(&communicator->error, error, __ATOMIC_RELAXED);
}

void communicator_set_end(nccl_comm comm, enum wsdbg_communicator_end end)
{
    struct wsdbg_communicator_row *row = row_of(communicator_find(comm));
    if (!row)
        return;
    if (!row->ended_ns)
        __atomic_store_n(&row->ended_ns, shim_now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&row->end, (uint32_t)end, __ATOMIC_RELEASE);
}

/* The stream of all calls on a communicator, and whether there was a second one. */
static _Atomic uint64_t only_stream[WSDBG_COMMUNICATOR_ROWS];
static _Atomic bool has_streams[WSDBG_COMMUNICATOR_ROWS];

static void note_stream(uint32_t row, uint64_t stream, bool is_first)
{
    if (is_first) {
        atomic_store(&only_stream[row], stream);
        atomic_store(&has_streams[row], false);
    } else if (atomic_load_explicit(&only_stream[row], memory_order_relaxed) != stream) {
        atomic_store(&has_streams[row], true);
    }
}

static bool is_only_context(void)
{
    unsigned alive = 0;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        alive += atomic_load_explicit(&shim_contexts[i].handle, memory_order_relaxed) != 0;
    return alive == 1;
}

static bool is_of_context(const struct wsdbg_segment *segment, uint32_t row, uint32_t context)
{
    const struct wsdbg_communicator_row *communicator = &segment->communicators[row];
    const uint32_t own = __atomic_load_n(&communicator->context, __ATOMIC_RELAXED);
    if (context == WSDBG_UNKNOWN32)
        return false;
    return own == WSDBG_UNKNOWN32 ? is_only_context() : own == context;
}

static bool is_only_on_stream(uint32_t row, uint64_t stream)
{
    return !atomic_load(&has_streams[row]) && atomic_load(&only_stream[row]) == stream;
}

/* The program has waited for all calls on the communicator that it made before began_ns. */
static void say_done(struct wsdbg_segment *segment, uint32_t row, uint64_t began_ns)
{
    uint64_t *done_ns = &segment->communicators[row].done_ns;
    if (__atomic_load_n(done_ns, __ATOMIC_RELAXED) < began_ns)
        __atomic_store_n(done_ns, began_ns, __ATOMIC_RELAXED);
}

static uint32_t count_rows(const struct wsdbg_segment *segment)
{
    return segment ? __atomic_load_n(&segment->communicator_count, __ATOMIC_ACQUIRE) : 0;
}

void communicators_stream_done(uint64_t stream, uint64_t began_ns)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    for (uint32_t i = 0, count = count_rows(segment); i < count; i++)
        if (is_only_on_stream(i, stream))
            say_done(segment, i, began_ns);
}

void communicators_context_done(uint32_t context, uint64_t began_ns)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    for (uint32_t i = 0, count = count_rows(segment); i < count; i++)
        if (is_of_context(segment, i, context))
            say_done(segment, i, began_ns);
}

/* ---- calls ---- */

static struct peer_counts *counts_of(uint32_t row, uint32_t peers)
{
    struct peer_counts *of = atomic_load(&peer_counts[row]);
    if (of && of->peers >= peers)
        return of;
    struct peer_counts *larger = calloc(1, sizeof *larger + 2 * (size_t)peers * sizeof *larger->counts);
    if (!larger)
        return NULL;
    larger->peers = peers;
    if (atomic_compare_exchange_strong(&peer_counts[row], &of, larger))
        return larger;
    free(larger); /* another thread was first, and `of` is its memory */
    return of && of->peers >= peers ? of : NULL;
}

/* Counts this send or receive among those with its peer; 0 = not known. */
static uint64_t count_with_peer(uint32_t row, const struct wsdbg_communicator_row *communicator,
                                const struct nccl_call *call)
{
    const uint32_t ranks = communicator->rank_count;
    if (ranks > PEERS_MOST || call->peer < 0 || (uint32_t)call->peer >= ranks)
        return 0;
    struct peer_counts *of = counts_of(row, ranks);
    const size_t at = 2 * (size_t)call->peer + (call->operation == WSDBG_COLLECTIVE_RECEIVE);
    return of ? __atomic_add_fetch(&of->counts[at], 1, __ATOMIC_RELAXED) : 0;
}

/* The call's `number` in its row; 0 = not known. */
static uint64_t number_of(uint32_t row, struct wsdbg_communicator_row *communicator, const struct nccl_call *call)
{
    const bool is_pair = call->operation == WSDBG_COLLECTIVE_SEND || call->operation == WSDBG_COLLECTIVE_RECEIVE;
    const uint64_t number = is_pair ? count_with_peer(row, communicator, call)
                                    : __atomic_add_fetch(&communicator->collectives, 1, __ATOMIC_RELAXED);
    return atomic_load_explicit(&lost_count[row], memory_order_relaxed) ? 0 : number;
}

static struct wsdbg_collective_row *call_row(const struct nccl_entry *entry)
{
    struct wsdbg_segment *segment = atomic_load_explicit(&shim_segment, memory_order_acquire);
    return &segment->collectives[entry->row][entry->entry % WSDBG_COLLECTIVE_ROWS];
}

struct nccl_entry collective_begin(const struct nccl_call *call, uint64_t count, int type, nccl_comm comm, void *stream,
                                   bool grouped)
{
    const int kept = errno;
    struct nccl_entry entry = {.row = communicator_find(comm)};
    struct wsdbg_communicator_row *communicator = row_of(entry.row);
    if (!communicator)
        return entry;
    const uint32_t flags =
        (captures_holds(stream) ? WSDBG_COLLECTIVE_CAPTURED : 0u) | (grouped ? (uint32_t)WSDBG_COLLECTIVE_GROUPED : 0u);
    entry.entry = __atomic_fetch_add(&communicator->calls, 1, __ATOMIC_RELAXED);
    note_stream(entry.row, (uint64_t)(uintptr_t)stream, entry.entry == 0);
    const struct wsdbg_collective_row row = {
        .communicator = communicator->number,
        .number = number_of(entry.row, communicator, call),
        .time_ns = shim_now_ns(),
        .count = count,
        .stream = (uint64_t)(uintptr_t)stream,
        .operation = call->operation,
        .datatype = (uint32_t)type,
        .reduction = call->has_reduction ? (uint32_t)call->reduction : WSDBG_UNKNOWN32,
        .peer = call->has_peer ? (uint32_t)call->peer : WSDBG_UNKNOWN32,
        .thread_id = shim_thread_id(),
        .flags = flags,
    };
    write_row(call_row(&entry), &row, sizeof row, entry.entry + 1);
    if (flags & WSDBG_COLLECTIVE_CAPTURED)
        atomic_store_explicit(&lost_count[entry.row], true, memory_order_relaxed);
    errno = kept;
    return entry;
}

static uint64_t launches(void)
{
    return __atomic_load_n(&atomic_load(&shim_segment)->launch_count, __ATOMIC_RELAXED);
}

void collective_issue(struct nccl_entry *entry)
{
    if (entry->row == WSDBG_UNKNOWN32)
        return;
    struct wsdbg_collective_row *row = call_row(entry);
    entry->launches_before = launches();
    if (__atomic_load_n(&row->sequence, __ATOMIC_RELAXED) == entry->entry + 1)
        __atomic_store_n(&row->launches_before, entry->launches_before, __ATOMIC_RELEASE);
}

/* NCCL may count a refused call or not.  So the numbers of later calls are lost. */
void collective_take_back(const struct nccl_entry *entry)
{
    if (entry->row == WSDBG_UNKNOWN32)
        return;
    struct wsdbg_collective_row *row = call_row(entry);
    atomic_store_explicit(&lost_count[entry->row], true, memory_order_relaxed);
    if (__atomic_load_n(&row->sequence, __ATOMIC_RELAXED) == entry->entry + 1)
        __atomic_fetch_or(&row->flags, WSDBG_COLLECTIVE_REFUSED, __ATOMIC_RELEASE);
}

void collective_end(const struct nccl_entry *entry, int result)
{
    if (entry->row == WSDBG_UNKNOWN32)
        return;
    struct wsdbg_collective_row *row = call_row(entry);
    communicator_set_error(entry->row, result);
    if (result != NCCL_SUCCESS && result != NCCL_IN_PROGRESS)
        collective_take_back(entry);
    if (__atomic_load_n(&row->sequence, __ATOMIC_RELAXED) != entry->entry + 1)
        return;
    __atomic_store_n(&row->launches_after, launches(), __ATOMIC_RELEASE);
    __atomic_store_n(&row->issued_ns, shim_now_ns(), __ATOMIC_RELEASE);
}
