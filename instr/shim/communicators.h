/* communicators.h - communicators of NCCL and the calls on them, as rows of the segment.
 *
 * Any thread may call these functions while the shim records (SHIM_ON).  They keep errno.  They ask the driver only
 * whether a stream is being captured.
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
    const char *call;     /* a constant */
    uint64_t identity;    /* 0 = not known */
    uint32_t rank, count; /* WSDBG_UNKNOWN32 = not known */
    uint32_t device;      /* WSDBG_UNKNOWN32 = the current context's */
};

/* The identity of a communicator that all processes make from the same bytes; never 0. */
uint64_t communicator_identity(const void *bytes, uint64_t count);
/* Before the call that makes it.  Returns the row; WSDBG_UNKNOWN32 = there is no room. */
uint32_t communicator_begin(const struct nccl_maker *maker);
/* After the call, or the group around it, has succeeded. */
void communicator_ready(uint32_t row, nccl_comm comm);
/* After that call has failed or made no communicator. */
void communicator_drop(uint32_t row);
/* The row of a living communicator; WSDBG_UNKNOWN32 = there is none. */
uint32_t communicator_find(nccl_comm comm);
/* The rank as NCCL itself gave it. */
void communicator_set_rank(uint32_t row, int rank, int count, int device);
void communicator_set_error(uint32_t row, int error);
void communicator_set_end(nccl_comm comm, enum wsdbg_communicator_end end);
/* The identity of the next communicator that is derived from this one: the same in all processes; 0 = not known.  `how`
 * is what all its ranks give alike, as the color of a split. */
uint64_t communicator_derive(nccl_comm comm, const void *how, uint64_t bytes);

/* A call that began at began_ns has waited successfully for the stream, or for all streams of the context in this row
 * (WSDBG_UNKNOWN32 = not known: then nothing follows). */
void communicators_stream_done(uint64_t stream, uint64_t began_ns);
void communicators_context_done(uint32_t context, uint64_t began_ns);

/* ---- calls on them ---- */

struct nccl_call {
    enum wsdbg_collective_operation operation;
    bool has_reduction, has_peer;
    int reduction, peer;
};
/* A recorded call. */
struct nccl_entry {
    uint32_t row; /* of its communicator; WSDBG_UNKNOWN32 = the call is not recorded */
    uint64_t entry;
    uint64_t launches_before;
};

/* Before the call. */
struct nccl_entry collective_begin(const struct nccl_call *call, uint64_t count, int type, nccl_comm comm, void *stream,
                                   bool grouped);
/* Before NCCL issues the call, or the group around it: launches from here on may be its kernels. */
void collective_issue(struct nccl_entry *entry);
/* After NCCL has issued it and returned `result`. */
void collective_end(const struct nccl_entry *entry, int result);
/* NCCL did not issue the call: its number and all later ones are lost. */
void collective_take_back(const struct nccl_entry *entry);

#endif
