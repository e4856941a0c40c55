/* nccl_table.h - the hooked functions of NCCL, and the types of NCCL that they need.
 *
 * The signatures are those of NCCL 2.2 to 2.29.  Enumerations are ints.
 *   NCCL_CALLS(X)    X(symbol, parameters, arguments, what is recorded: members of struct nccl_call)
 *   NCCL_GROUPS(X), NCCL_OTHERS(X)   X(symbol, parameters, arguments): each has a body of
 *                  its own in hooks_nccl.c
 */
#ifndef WSDBG_SHIM_NCCL_TABLE_H
#define WSDBG_SHIM_NCCL_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct ncclComm *nccl_comm;
typedef struct nccl_unique_id {
    char bytes[128];
} nccl_unique_id;
enum { NCCL_SUCCESS = 0, NCCL_SYSTEM_ERROR = 2, NCCL_IN_PROGRESS = 7 };

/* clang-format off */
#define NCCL_CALLS(X) \
    X(ncclAllReduce, (const void *from, void *to, size_t count, int type, int op, nccl_comm comm, void *stream), \
      (from, to, count, type, op, comm, stream), (.operation = WSDBG_COLLECTIVE_ALL_REDUCE, .has_reduction = true, .reduction = op)) \
    X(ncclBroadcast, (const void *from, void *to, size_t count, int type, int peer, nccl_comm comm, void *stream), \
      (from, to, count, type, peer, comm, stream), (.operation = WSDBG_COLLECTIVE_BROADCAST, .has_peer = true, .peer = peer)) \
    X(ncclBcast, (void *buffer, size_t count, int type, int peer, nccl_comm comm, void *stream), \
      (buffer, count, type, peer, comm, stream), (.operation = WSDBG_COLLECTIVE_BROADCAST, .has_peer = true, .peer = peer)) \
    X(ncclReduce, (const void *from, void *to, size_t count, int type, int op, int peer, nccl_comm comm, void *stream), \
      (from, to, count, type, op, peer, comm, stream), \
      (.operation = WSDBG_COLLECTIVE_REDUCE, .has_reduction = true, .reduction = op, .has_peer = true, .peer = peer)) \
    X(ncclAllGather, (const void *from, void *to, size_t count, int type, nccl_comm comm, void *stream), \
      (from, to, count, type, comm, stream), (.operation = WSDBG_COLLECTIVE_ALL_GATHER)) \
    X(ncclReduceScatter, (const void *from, void *to, size_t count, int type, int op, nccl_comm comm, void *stream), \
      (from, to, count, type, op, comm, stream), (.operation = WSDBG_COLLECTIVE_REDUCE_SCATTER, .has_reduction = true, .reduction = op)) \
    X(ncclAlltoAll, (const void *from, void *to, size_t count, int type, nccl_comm comm, void *stream), \
      (from, to, count, type, comm, stream), (.operation = WSDBG_COLLECTIVE_ALL_TO_ALL)) \
    X(ncclGather, (const void *from, void *to, size_t count, int type, int peer, nccl_comm comm, void *stream), \
      (from, to, count, type, peer, comm, stream), (.operation = WSDBG_COLLECTIVE_GATHER, .has_peer = true, .peer = peer)) \
    X(ncclScatter, (const void *from, void *to, size_t count, int type, int peer, nccl_comm comm, void *stream), \
      (from, to, count, type, peer, comm, stream), (.operation = WSDBG_COLLECTIVE_SCATTER, .has_peer = true, .peer = peer)) \
    X(ncclSend, (const void *from, size_t count, int type, int peer, nccl_comm comm, void *stream), \
      (from, count, type, peer, comm, stream), (.operation = WSDBG_COLLECTIVE_SEND, .has_peer = true, .peer = peer)) \
    X(ncclRecv, (void *to, size_t count, int type, int peer, nccl_comm comm, void *stream), \
      (to, count, type, peer, comm, stream), (.operation = WSDBG_COLLECTIVE_RECEIVE, .has_peer = true, .peer = peer))

#define NCCL_GROUPS(X) \
    X(ncclGroupStart, (void), ()) \
    X(ncclGroupEnd, (void), ())

#define NCCL_OTHERS(X) \
    X(ncclGroupSimulateEnd, (void *estimate), (estimate)) \
    X(ncclCommInitRank, (nccl_comm *out, int count, nccl_unique_id id, int rank), (out, count, id, rank)) \
    X(ncclCommInitRankConfig, (nccl_comm *out, int count, nccl_unique_id id, int rank, void *config), (out, count, id, rank, config)) \
    X(ncclCommInitRankScalable, (nccl_comm *out, int count, int rank, int ids_count, nccl_unique_id *ids, void *config), \
      (out, count, rank, ids_count, ids, config)) \
    X(ncclCommInitAll, (nccl_comm *out, int count, const int *devices), (out, count, devices)) \
    X(ncclCommSplit, (nccl_comm comm, int color, int key, nccl_comm *out, void *config), (comm, color, key, out, config)) \
    X(ncclCommShrink, (nccl_comm comm, int *left_out, int left_out_count, nccl_comm *out, void *config, int flags), \
      (comm, left_out, left_out_count, out, config, flags)) \
    X(ncclCommFinalize, (nccl_comm comm), (comm)) \
    X(ncclCommDestroy, (nccl_comm comm), (comm)) \
    X(ncclCommAbort, (nccl_comm comm), (comm)) \
    X(ncclCommGetAsyncError, (nccl_comm comm, int *error), (comm, error))
/* clang-format on */

enum nccl_hook {
#define X(symbol, ...) NCCL_HOOK_##symbol,
    NCCL_CALLS(X) NCCL_GROUPS(X) NCCL_OTHERS(X)
#undef X
        NCCL_HOOK_COUNT
};

#endif
