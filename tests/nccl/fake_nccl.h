/* fake_nccl.h - the part of NCCL's interface that the tests need, with its types.  Implemented by fake_nccl.c. */
#ifndef WSDBG_TESTS_FAKE_NCCL_H
#define WSDBG_TESTS_FAKE_NCCL_H

#include <stddef.h>

typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

int ncclCommInitRank(ncclComm_t *out, int count, ncclUniqueId id, int rank);
int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out, void *config);
int ncclCommUserRank(ncclComm_t comm, int *rank);
int ncclCommCount(ncclComm_t comm, int *count);
int ncclCommCuDevice(ncclComm_t comm, int *device);
int ncclCommFinalize(ncclComm_t comm);
int ncclCommDestroy(ncclComm_t comm);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, ncclComm_t comm, void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, ncclComm_t comm, void *stream);
int ncclSend(const void *from, size_t count, int type, int peer, ncclComm_t comm, void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, ncclComm_t comm, void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);

#endif
