/* communicators.h - communicators of NCCL and the calls on them, as rows of the segment.
 *
 * Any thread may call each function, while the library records (SHIM_ON).  errno is kept.  None calls the driver, but
 * for whether a stream is captured.
 */
#ifndef WSDBG_SHIM_COMMUNICATORS_H
#define WSDBG_SHIM_COMMUNICATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl_table.h"
#include "wsdbg/session.h"

/* ---- communicators ---- */

/* A communicator that a call is about to make. */
struct nccl_maker {
    const char *call;     /* lives for ever */
    uint64_t identity;    /* 0 = not known */
    uint32_t rank, count; /* WSDBG_UNKNOWN32 */
    uint32_t device;      /* WSDBG_UNKNOWN32: that of the current context, once it is made */
};

uint64_t communicator_hash(uint64_t hash, const void *bytes, uint64_t count);
#define COMMUNICATOR_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Before the call; returns the row, WSDBG_UNKNOWN32 = there is none. */
uint32_t communicator_begin(const struct nccl_maker *maker);
/* After the call, or the group around it, has succeeded. */
void communicator_ready(uint32_t row, nccl_comm comm);
/* The call failed, or made none. */
void communicator_drop(uint32_t row);
/* The row of a communicator that lives; WSDBG_UNKNOWN32. */
uint32_t communicator_find(nccl_comm comm);
/* What the communicator itself told of its rank. */
void communicator_set_rank(uint32_t row, int rank, int count, int device);
void communicator_set_error(uint32_t row, int error);
void communicator_set_end(nccl_comm comm, enum wsdbg_communicator_end end);
/* What a communicator that is made from this one by its next such call is called in all processes; 0 = not known. */
uint64_t communicator_derive(nccl_comm comm, const void *how, uint64_t bytes);

/* A call that waited for the stream, or for the whole context (WSDBG_UNKNOWN64), has succeeded; it began then. */
void communicators_synchronized(uint64_t stream, uint64_t began_ns);

/* ---- calls on them ---- */

struct nccl_call {
    enum wsdbg_collective_operation operation;
    bool has_reduction, has_peer;
    int reduction, peer;
};
/* A call that was recorded. */
struct nccl_entry {
    uint32_t row; /* of its communicator, WSDBG_UNKNOWN32 = it is not recorded */
    uint64_t entry;
    uint64_t launches_before;
};

/* Before the call. */
struct nccl_entry collective_begin(const struct nccl_call *call, uint64_t count, int type, nccl_comm comm, void *stream,
                                   bool grouped);
/* When the call, or the group around it, begins to be issued: launches from here on may be its kernels. */
void collective_issue(struct nccl_entry *entry);
/* After that has returned `result`. */
void collective_end(const struct nccl_entry *entry, int result);
/* It is not issued at all: its number, and those after it, are lost. */
void collective_take_back(const struct nccl_entry *entry);

#endif
