/* fake_nccl.c - a libnccl.so.2 whose collectives move no data: each kernel polls words in shared memory until the other
 * ranks have made the same call.
 *
 * Reads and writes: a file for each communicator in the folder of WSDBG_FAKE_NCCL, mapped and registered with the
 * driver.  As in NCCL, ranks wait on the host for one another while they make a communicator, and, with
 * WSDBG_FAKE_NCCL_CONNECTS, before the first send or receive with a peer.  Calls in a group are launched at its end,
 * one after the other.  ncclAllReduce refuses a count of 0.
 */
#include "fake_nccl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { RANKS_MOST = 8, CALLS_MOST = 64, SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, PENDING_MOST = 16 };

/* The calls of each rank, and of each pair of ranks. */
struct board {
    uint32_t calls[CALLS_MOST][RANKS_MOST];
    uint32_t sends[RANKS_MOST][RANKS_MOST][CALLS_MOST], receives[RANKS_MOST][RANKS_MOST][CALLS_MOST];
    _Atomic uint32_t has_come[RANKS_MOST], connects[RANKS_MOST][RANKS_MOST];
};
struct ncclComm {
    int rank, count, calls, splits;
    int sent[RANKS_MOST], received[RANKS_MOST];
    struct board *board;
    uint64_t device_address; /* of the board */
    char name[64];
};

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry ncclDevKernel_Fake(.param .u64 mine, .param .u64 others, .param .u32 count,"
                          " .param .u32 value)\n{\n"
                          ".reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<4>;\n"
                          "ld.param.u64 %rd1, [mine];\nld.param.u64 %rd2, [others];\n"
                          "ld.param.u32 %r1, [count];\nld.param.u32 %r2, [value];\n"
                          "st.release.sys.global.u32 [%rd1], %r2;\n"
                          "next:\nld.acquire.sys.global.u32 %r3, [%rd2];\n"
                          "setp.ne.u32 %p1, %r3, %r2;\n@%p1 bra next;\n"
                          "add.u64 %rd2, %rd2, 4;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra next;\n"
                          "ret;\n}\n";

/* ---- the driver ---- */

static int (*load_data)(void **, const void *);
static int (*get_function)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);
static int (*register_host)(void *, size_t, unsigned);
static int (*device_pointer)(uint64_t *, void *, unsigned);
static void *kernel;

static int begin(void)
{
    void *module = NULL, *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (kernel)
        return SUCCESS;
    if (!driver)
        return SYSTEM_ERROR;
    load_data = (int (*)(void **, const void *))dlsym(driver, "cuModuleLoadData");
    get_function = (int (*)(void **, void *, const char *))dlsym(driver, "cuModuleGetFunction");
    launch = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **))dlsym(driver, "cuLaunchKernel");
    register_host = (int (*)(void *, size_t, unsigned))dlsym(driver, "cuMemHostRegister_v2");
    device_pointer = (int (*)(uint64_t *, void *, unsigned))dlsym(driver, "cuMemHostGetDevicePointer_v2");
    return load_data(&module, ptx) || get_function(&kernel, module, "ncclDevKernel_Fake") ? SYSTEM_ERROR : SUCCESS;
}

/* ---- waits on the host ---- */

static void wait_for(_Atomic uint32_t *word)
{
    while (!*word)
        usleep(1000);
}

static void wait_for_all(const struct ncclComm *comm)
{
    comm->board->has_come[comm->rank] = 1;
    for (int i = 0; i < comm->count; i++)
        wait_for(&comm->board->has_come[i]);
}

static void connect_with(const struct ncclComm *comm, int peer)
{
    if (!getenv("WSDBG_FAKE_NCCL_CONNECTS"))
        return;
    comm->board->connects[comm->rank][peer] = 1;
    wait_for(&comm->board->connects[peer][comm->rank]);
}

/* ---- communicators ---- */

static int make(ncclComm_t *out, const char *name, int count, int rank)
{
    char path[512];
    const size_t bytes = (sizeof(struct board) + 4095) / 4096 * 4096;
    const char *folder = getenv("WSDBG_FAKE_NCCL");
    struct ncclComm *comm = calloc(1, sizeof *comm);
    snprintf(path, sizeof path, "%s/%.60s", folder ? folder : "/tmp", name);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!comm || begin() != SUCCESS || fd < 0 || ftruncate(fd, (off_t)bytes) != 0 || count > RANKS_MOST)
        return SYSTEM_ERROR;
    comm->rank = rank;
    comm->count = count;
    comm->board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(comm->name, sizeof comm->name, "%.60s", name);
    close(fd);
    if (comm->board == MAP_FAILED || register_host(comm->board, bytes, 2) ||
        device_pointer(&comm->device_address, comm->board, 0))
        return SYSTEM_ERROR;
    wait_for_all(comm);
    *out = comm;
    return SUCCESS;
}

EXPORT int ncclCommInitRank(ncclComm_t *out, int count, ncclUniqueId id, int rank)
{
    return make(out, id.internal, count, rank);
}

/* All ranks give the same color. */
EXPORT int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out, void *config)
{
    char name[128];
    (void)key;
    (void)config;
    snprintf(name, sizeof name, "%.40s-%d-%d", comm->name, color, comm->splits++);
    return make(out, name, comm->count, comm->rank);
}

EXPORT int ncclCommUserRank(ncclComm_t comm, int *rank)
{
    *rank = comm->rank;
    return SUCCESS;
}

EXPORT int ncclCommCount(ncclComm_t comm, int *count)
{
    *count = comm->count;
    return SUCCESS;
}

EXPORT int ncclCommCuDevice(ncclComm_t comm, int *device)
{
    (void)comm;
    *device = 0;
    return SUCCESS;
}

EXPORT int ncclCommFinalize(ncclComm_t comm)
{
    (void)comm;
    return SUCCESS;
}

EXPORT int ncclCommDestroy(ncclComm_t comm)
{
    (void)comm;
    return SUCCESS;
}

/* ---- calls ---- */

struct pending {
    uint64_t mine, others;
    uint32_t count, value;
    void *stream;
};
static __thread struct pending pending[PENDING_MOST];
static __thread int pending_count, depth;

static int issue(struct pending *call)
{
    void *parameters[] = {&call->mine, &call->others, &call->count, &call->value};
    return launch(kernel, 1, 1, 1, 32, 1, 1, 0, call->stream, parameters, NULL) ? SYSTEM_ERROR : SUCCESS;
}

static int give(struct pending call)
{
    if (depth == 0)
        return issue(&call);
    if (pending_count == PENDING_MOST)
        return SYSTEM_ERROR;
    pending[pending_count++] = call;
    return SUCCESS;
}

static uint64_t address_of(ncclComm_t comm, const uint32_t *word)
{
    return comm->device_address + (uint64_t)((const char *)word - (const char *)comm->board);
}

static int collective(ncclComm_t comm, uint32_t operation, size_t count, void *stream)
{
    uint32_t *row = comm->board->calls[comm->calls++ % CALLS_MOST];
    return give((struct pending){address_of(comm, &row[comm->rank]), address_of(comm, row), (uint32_t)comm->count,
                                 operation << 24 | (uint32_t)count, stream});
}

EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, ncclComm_t comm, void *stream)
{
    (void)from;
    (void)to;
    (void)type;
    (void)op;
    return count ? collective(comm, 1, count, stream) : INVALID_ARGUMENT;
}

EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, ncclComm_t comm, void *stream)
{
    (void)from;
    (void)to;
    (void)type;
    (void)root;
    return collective(comm, 2, count, stream);
}

EXPORT int ncclSend(const void *from, size_t count, int type, int peer, ncclComm_t comm, void *stream)
{
    const int at = comm->sent[peer]++ % CALLS_MOST;
    (void)from;
    (void)type;
    connect_with(comm, peer);
    return give((struct pending){address_of(comm, &comm->board->sends[comm->rank][peer][at]),
                                 address_of(comm, &comm->board->receives[comm->rank][peer][at]), 1, (uint32_t)count,
                                 stream});
}

EXPORT int ncclRecv(void *to, size_t count, int type, int peer, ncclComm_t comm, void *stream)
{
    const int at = comm->received[peer]++ % CALLS_MOST;
    (void)to;
    (void)type;
    connect_with(comm, peer);
    return give((struct pending){address_of(comm, &comm->board->receives[peer][comm->rank][at]),
                                 address_of(comm, &comm->board->sends[peer][comm->rank][at]), 1, (uint32_t)count,
                                 stream});
}

EXPORT int ncclGroupStart(void)
{
    depth++;
    return SUCCESS;
}

EXPORT int ncclGroupEnd(void)
{
    int result = SUCCESS;
    if (--depth > 0)
        return SUCCESS;
    for (int i = 0; i < pending_count && result == SUCCESS; i++)
        result = issue(&pending[i]);
    pending_count = 0;
    return result;
}
