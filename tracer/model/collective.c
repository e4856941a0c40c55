/* collective.c - see collective.h.  Reads a snapshot; writes text. */
#include "model/collective.h"

#include <inttypes.h>
#include <stdio.h>

static const char *name_in(const char *const *names, unsigned count, unsigned value)
{
    return value < count ? names[value] : NULL;
}

const char *wsdbg_collective_operation_name(unsigned operation)
{
    static const char *const names[] = {[WSDBG_COLLECTIVE_ALL_REDUCE] = "all_reduce",
                                        [WSDBG_COLLECTIVE_BROADCAST] = "broadcast",
                                        [WSDBG_COLLECTIVE_REDUCE] = "reduce",
                                        [WSDBG_COLLECTIVE_ALL_GATHER] = "all_gather",
                                        [WSDBG_COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
                                        [WSDBG_COLLECTIVE_ALL_TO_ALL] = "all_to_all",
                                        [WSDBG_COLLECTIVE_GATHER] = "gather",
                                        [WSDBG_COLLECTIVE_SCATTER] = "scatter",
                                        [WSDBG_COLLECTIVE_SEND] = "send",
                                        [WSDBG_COLLECTIVE_RECEIVE] = "receive"};
    return name_in(names, sizeof names / sizeof *names, operation);
}

const char *wsdbg_collective_datatype_name(unsigned datatype)
{
    static const char *const names[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                        "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
    return name_in(names, sizeof names / sizeof *names, datatype);
}

unsigned wsdbg_collective_datatype_bytes(unsigned datatype)
{
    static const unsigned char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return datatype < sizeof bytes ? bytes[datatype] : 0;
}

const char *wsdbg_collective_reduction_name(unsigned reduction)
{
    static const char *const names[] = {"sum", "prod", "max", "min", "avg"};
    return name_in(names, sizeof names / sizeof *names, reduction);
}

const char *wsdbg_communicator_state_name(unsigned end)
{
    static const char *const names[] = {[WSDBG_COMMUNICATOR_LIVES] = "lives",
                                        [WSDBG_COMMUNICATOR_FINALIZED] = "finalized",
                                        [WSDBG_COMMUNICATOR_DESTROYED] = "destroyed",
                                        [WSDBG_COMMUNICATOR_ABORTED] = "aborted"};
    return name_in(names, sizeof names / sizeof *names, end);
}

bool wsdbg_collective_is_pair(const struct wsdbg_collective_row *call)
{
    return call->operation == WSDBG_COLLECTIVE_SEND || call->operation == WSDBG_COLLECTIVE_RECEIVE;
}

void wsdbg_collective_short_text(const struct wsdbg_collective_row *call, char out[WSDBG_COLLECTIVE_BYTES])
{
    const char *name = wsdbg_collective_operation_name(call->operation);
    if (call->number)
        snprintf(out, WSDBG_COLLECTIVE_BYTES, "%s #%" PRIu64, name ? name : "call", call->number);
    else
        snprintf(out, WSDBG_COLLECTIVE_BYTES, "%s", name ? name : "call");
}

void wsdbg_collective_text(const struct wsdbg_collective_row *call, char out[WSDBG_COLLECTIVE_BYTES])
{
    char what[WSDBG_COLLECTIVE_BYTES], reduction[32] = "", peer[40] = "";
    const char *type = wsdbg_collective_datatype_name(call->datatype);
    const char *name = wsdbg_collective_reduction_name(call->reduction);
    wsdbg_collective_short_text(call, what);
    if (name)
        snprintf(reduction, sizeof reduction, ", %s", name);
    else if (call->reduction != WSDBG_UNKNOWN32)
        snprintf(reduction, sizeof reduction, ", reduction %u", call->reduction);
    if (call->peer != WSDBG_UNKNOWN32)
        snprintf(peer, sizeof peer, ", %s %u",
                 call->operation == WSDBG_COLLECTIVE_SEND      ? "to rank"
                 : call->operation == WSDBG_COLLECTIVE_RECEIVE ? "from rank"
                                                               : "root",
                 call->peer);
    snprintf(out, WSDBG_COLLECTIVE_BYTES, "%.60s (%" PRIu64 " %s%s%s)", what, call->count, type ? type : "elements",
             reduction, peer);
}

void wsdbg_communicator_text(const struct wsdbg_communicator_row *row, char out[WSDBG_COLLECTIVE_BYTES])
{
    char count[32] = "? ranks", name[32] = "?";
    if (row->rank_count != WSDBG_UNKNOWN32)
        snprintf(count, sizeof count, "%u ranks", row->rank_count);
    if (row->identity)
        snprintf(name, sizeof name, "%08" PRIx64, row->identity >> 32);
    snprintf(out, WSDBG_COLLECTIVE_BYTES, "communicator %s (%s)", name, count);
}

static uint32_t process_of(const struct wsdbg_snapshot *s, const struct wsdbg_collective *call)
{
    return s->communicators[call->communicator].process_id;
}

bool wsdbg_collective_may_be_grid(const struct wsdbg_snapshot *snapshot, uint32_t collective, uint32_t grid)
{
    const struct wsdbg_collective *call = &snapshot->collectives[collective];
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    return !call->done && call->launch < snapshot->launch_count && row->running && row->launch == WSDBG_NONE &&
           row->function != WSDBG_NONE && snapshot->launches[call->launch].function == row->function &&
           row->context < snapshot->context_count &&
           snapshot->contexts[row->context].process_id == process_of(snapshot, call);
}

/* Whether an older call of the stream, of another launch, may still run. */
static bool is_behind(const struct wsdbg_snapshot *s, const struct wsdbg_collective *call)
{
    for (size_t i = 0; i < s->collective_count; i++) {
        const struct wsdbg_collective *other = &s->collectives[i];
        if (!other->done && other->launch != call->launch && other->row.stream == call->row.stream &&
            other->row.time_ns < call->row.time_ns && process_of(s, other) == process_of(s, call))
            return true;
    }
    return false;
}

uint32_t wsdbg_collective_grid(const struct wsdbg_snapshot *snapshot, uint32_t collective)
{
    const struct wsdbg_collective *call = &snapshot->collectives[collective];
    for (uint32_t i = 0; call->launch < snapshot->launch_count && i < snapshot->grid_count; i++)
        if (snapshot->grids[i].running && snapshot->grids[i].launch == call->launch)
            return i;
    for (uint32_t i = 0; i < snapshot->grid_count; i++)
        if (wsdbg_collective_may_be_grid(snapshot, collective, i) && !is_behind(snapshot, call))
            return i;
    return WSDBG_NONE;
}

/* If several processes have this number: whether all of them have ended. */
static bool has_ended(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    bool any = false;
    for (size_t i = 0; i < snapshot->process_count; i++) {
        if (snapshot->processes[i].process_id != process_id)
            continue;
        if (snapshot->processes[i].end.kind == WSDBG_END_NONE)
            return false;
        any = true;
    }
    return any;
}

static bool is_other_rank(const struct wsdbg_communicator_row *row, const struct wsdbg_communicator_row *other)
{
    return other->identity == row->identity && other->rank != row->rank && other->rank != WSDBG_UNKNOWN32;
}

/* Whether a rank of the call's communicator has ended without making the call. */
static bool lacks_rank(const struct wsdbg_snapshot *snapshot, const struct wsdbg_collective *call)
{
    const struct wsdbg_communicator_row *row = &snapshot->communicators[call->communicator].row;
    for (size_t i = 0; i < snapshot->communicator_count; i++) {
        const struct wsdbg_communicator *other = &snapshot->communicators[i];
        if (is_other_rank(row, &other->row) && other->row.collectives < call->row.number &&
            has_ended(snapshot, other->process_id))
            return true;
    }
    return false;
}

/* Whether the collective may run or wait now.  Sends and receives do not count, because they concern two ranks only.
 * Nor do calls in graphs, because nobody knows when they run. */
static bool is_under_way(const struct wsdbg_snapshot *snapshot, const struct wsdbg_collective *call)
{
    const struct wsdbg_communicator_row *row = &snapshot->communicators[call->communicator].row;
    return !call->done && call->row.number && !wsdbg_collective_is_pair(&call->row) &&
           !(call->row.flags & (WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_REFUSED)) && row->identity &&
           row->rank != WSDBG_UNKNOWN32 && !row->ended_ns;
}

bool wsdbg_collective_has_grid(const struct wsdbg_snapshot *snapshot, uint32_t grid)
{
    for (uint32_t i = 0; i < snapshot->collective_count; i++)
        if (wsdbg_collective_grid(snapshot, i) == grid)
            return true;
    return false;
}

bool wsdbg_collective_peer_is_gone(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->collective_count; i++) {
        const struct wsdbg_collective *call = &snapshot->collectives[i];
        if (process_of(snapshot, call) == process_id && is_under_way(snapshot, call) && lacks_rank(snapshot, call))
            return true;
    }
    return false;
}

bool wsdbg_snapshot_has_collectives(const struct wsdbg_snapshot *snapshot)
{
    return snapshot->communicator_count != 0;
}
