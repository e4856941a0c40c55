/* rank_calls.c - see rank_calls.h.  Reads a snapshot.
 *
 * Numbers may be wrong after a call that was captured into a graph, which runs later, and after a refused one, which
 * may count or not.  The observer gives later calls no number.  Nothing is compared on such a communicator.
 */
#include "diagnose/rank_calls.h"

#include <stdlib.h>

#include "model/collective.h"

/* ---- communicators ---- */

static bool is_comparable(const struct wsdbg_communicator *communicator)
{
    const struct wsdbg_communicator_row *row = &communicator->row;
    if (!row->identity || row->rank == WSDBG_UNKNOWN32 || row->rank_count == WSDBG_UNKNOWN32 ||
        communicator->lacks_calls)
        return false;
    /* If it ended before it was ready, the call that was to make it failed or returned no handle. */
    return row->ready_ns || !row->ended_ns;
}

bool *wsdbg_rank_calls_find_comparable(const struct wsdbg_snapshot *s)
{
    bool *comparable = calloc(s->communicator_count + 1, sizeof *comparable);
    for (uint32_t i = 0; comparable && i < s->communicator_count; i++)
        comparable[i] = is_comparable(&s->communicators[i]);
    for (size_t i = 0; comparable && i < s->collective_count; i++) {
        const struct wsdbg_collective_row *row = &s->collectives[i].row;
        if (!row->number || (row->flags & (WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_REFUSED)))
            comparable[s->collectives[i].communicator] = false;
    }
    return comparable;
}

bool wsdbg_rank_is_other(const struct wsdbg_communicator *a, const struct wsdbg_communicator *b)
{
    return a->row.identity == b->row.identity && a->row.rank_count == b->row.rank_count && a->row.rank != b->row.rank;
}

/* ---- the call that meets another one ---- */

static uint32_t meets(uint32_t operation)
{
    return operation == WSDBG_COLLECTIVE_SEND      ? WSDBG_COLLECTIVE_RECEIVE
           : operation == WSDBG_COLLECTIVE_RECEIVE ? WSDBG_COLLECTIVE_SEND
                                                   : 0;
}

static struct wsdbg_rank_met met_of_all(const struct wsdbg_snapshot *s, const struct wsdbg_collective_row *call,
                                        uint32_t member)
{
    const bool made = s->communicators[member].row.collectives >= call->number;
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective_row *other = &s->collectives[i].row;
        if (s->collectives[i].communicator == member && !wsdbg_collective_is_pair(other) &&
            other->number == call->number)
            return (struct wsdbg_rank_met){i, WSDBG_MADE};
    }
    return (struct wsdbg_rank_met){WSDBG_NONE, made ? WSDBG_MADE : WSDBG_MADE_NOT};
}

/* Only the newest calls of a communicator are in the snapshot, and a call that was being written may lack.  So a call
 * that is not there may have been made, unless all are there, or all since an earlier one between the two ranks. */
static struct wsdbg_rank_met met_of_pair(const struct wsdbg_snapshot *s, const struct wsdbg_collective_row *call,
                                         uint32_t own_rank, uint32_t member)
{
    const uint64_t calls = s->communicators[member].row.calls;
    uint64_t kept = 0, newest = 0;
    struct wsdbg_rank_met met = {WSDBG_NONE, WSDBG_MADE_NOT_KNOWN};
    for (uint32_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective_row *other = &s->collectives[i].row;
        if (s->collectives[i].communicator != member)
            continue;
        kept++;
        if (other->operation != meets(call->operation) || other->peer != own_rank)
            continue;
        newest = other->number > newest ? other->number : newest;
        if (other->number == call->number)
            met.call = i;
    }
    if (newest >= call->number)
        met.made = WSDBG_MADE;
    else if (kept == calls || (newest && kept == WSDBG_COLLECTIVE_ROWS))
        met.made = WSDBG_MADE_NOT;
    return met;
}

struct wsdbg_rank_met wsdbg_rank_meets(const struct wsdbg_snapshot *s, const struct wsdbg_collective_row *call,
                                       uint32_t own_rank, uint32_t member)
{
    return wsdbg_collective_is_pair(call) ? met_of_pair(s, call, own_rank, member) : met_of_all(s, call, member);
}

/* ---- two calls that meet ---- */

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

bool wsdbg_rank_calls_differ(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b)
{
    if (!wsdbg_collective_is_pair(a) && (a->operation != b->operation || a->peer != b->peer))
        return true;
    return has_other_data(a, b);
}

bool wsdbg_rank_calls_reduce_otherwise(const struct wsdbg_collective_row *a, const struct wsdbg_collective_row *b)
{
    return !wsdbg_collective_is_pair(a) && a->reduction != b->reduction &&
           wsdbg_collective_reduction_name(a->reduction) && wsdbg_collective_reduction_name(b->reduction);
}
