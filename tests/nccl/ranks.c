/* ranks.c - one of two ranks that use NCCL: nccl_ranks CASE.  The environment has the rank in RANK.  With
 * NCCL_RANKS_DLOPEN the library is opened at run time, as CuPy does.  run.sh has what each case should lead to. */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_nccl.h"

enum { FLOAT32 = 7, SUM = 0, FEW = 64, MANY = 4096, LONG_S = 30 };

static int rank;
static bool waits_for_context = true;
static ncclComm_t first, second;
static void *context, *stream, *other_stream, *driver;
static int (*all_reduce)(const void *, void *, size_t, int, int, ncclComm_t, void *);

/* ---- the driver ---- */

#define DRIVER(name, types) ((int(*) types)dlsym(driver, name))

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "nccl_ranks: %s: %d\n", what, result);
    exit(1);
}

/* The runtime of CUDA 13 names the context, older ones do not. */
static void synchronize(void)
{
    if (waits_for_context)
        must(DRIVER("cuCtxSynchronize_v2", (void *))(context), "cuCtxSynchronize_v2");
    else
        must(DRIVER("cuCtxSynchronize", (void))(), "cuCtxSynchronize");
}

static void start(void)
{
    int device;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        exit(77);
    must(DRIVER("cuInit", (unsigned))(0), "cuInit");
    must(DRIVER("cuDeviceGet", (int *, int))(&device, 0), "cuDeviceGet");
    must(DRIVER("cuDevicePrimaryCtxRetain", (void **, int))(&context, device), "cuDevicePrimaryCtxRetain");
    must(DRIVER("cuCtxSetCurrent", (void *))(context), "cuCtxSetCurrent");
    must(DRIVER("cuStreamCreate", (void **, unsigned))(&stream, 1), "cuStreamCreate");
    must(DRIVER("cuStreamCreate", (void **, unsigned))(&other_stream, 1), "cuStreamCreate");
}

/* ---- what ranks do ---- */

static void sum(ncclComm_t comm, size_t count, void *on)
{
    must(all_reduce(NULL, NULL, count, FLOAT32, SUM, comm, on), "ncclAllReduce");
}

static void sleep_long(void)
{
    const struct timespec time = {.tv_sec = LONG_S};
    nanosleep(&time, NULL);
}

static void works(void)
{
    sum(first, FEW, stream);
    ncclGroupStart();
    ncclSend(NULL, FEW, FLOAT32, 1 - rank, first, stream);
    ncclRecv(NULL, FEW, FLOAT32, 1 - rank, first, other_stream);
    ncclGroupEnd();
    ncclBroadcast(NULL, NULL, FEW, FLOAT32, 1, second, stream);
    synchronize();
}

static void skips(void)
{
    if (rank == 0) {
        sum(first, FEW, stream);
        synchronize();
    }
    sleep_long();
}

static void leaves(void)
{
    if (rank == 0) {
        sum(first, FEW, stream);
        synchronize();
    }
    ncclCommDestroy(first);
    sleep_long();
}

static void splits(void)
{
    ncclComm_t part;
    must(ncclCommSplit(first, 3, rank, &part, NULL), "ncclCommSplit");
    sum(part, FEW, stream);
    synchronize();
    if (rank == 0) {
        sum(part, FEW, stream);
        synchronize();
    }
    ncclCommDestroy(part);
    sleep_long();
}

static void sizes(void)
{
    sum(first, rank ? FEW : MANY, stream);
    synchronize();
}

static void order(void)
{
    sum(first, FEW, stream);
    synchronize();
    sum(second, FEW, other_stream);
    synchronize();
    sum(rank ? second : first, FEW, stream);
    synchronize();
    sum(rank ? first : second, FEW, other_stream);
    synchronize();
}

static void order_of_older_runtime(void)
{
    waits_for_context = false;
    order();
}

static void queued(void)
{
    sum(rank ? second : first, FEW, stream);
    sum(rank ? first : second, FEW, stream);
    synchronize();
}

static void sends_alone(void)
{
    if (rank == 0) {
        ncclSend(NULL, FEW, FLOAT32, 1, first, stream);
        synchronize();
    }
    sleep_long();
}

/* The first send to a peer waits on the host. */
static void sends_first(void)
{
    setenv("WSDBG_FAKE_NCCL_CONNECTS", "1", 1);
    sends_alone();
}

static void send_is_late(void)
{
    setenv("WSDBG_FAKE_NCCL_CONNECTS", "1", 1);
    if (rank == 0)
        ncclSend(NULL, FEW, FLOAT32, 1, first, stream);
    else
        sleep(2);
    if (rank == 1)
        ncclRecv(NULL, FEW, FLOAT32, 0, first, stream);
    synchronize();
}

static void send_dies(void)
{
    setenv("WSDBG_FAKE_NCCL_CONNECTS", "1", 1);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    ncclSend(NULL, FEW, FLOAT32, 1, first, stream);
}

static void make_third(void)
{
    ncclComm_t comm;
    const ncclUniqueId id = {.internal = "third"};
    must(ncclCommInitRank(&comm, 2, id, rank), "ncclCommInitRank");
}

static void makes_alone(void)
{
    if (rank == 0)
        make_third();
    sleep_long();
}

static void makes_late(void)
{
    const time_t end = time(NULL) + 3;
    while (rank == 1 && time(NULL) < end)
        ;
    make_third();
}

static void sends_both(void)
{
    ncclSend(NULL, FEW, FLOAT32, 1 - rank, first, stream);
    synchronize();
    ncclRecv(NULL, FEW, FLOAT32, 1 - rank, first, stream);
    synchronize();
}

static void dies(void)
{
    if (rank == 1)
        kill(getpid(), SIGKILL);
    sum(first, FEW, stream);
    synchronize();
}

static const char stuck_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry gemm()\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n.shared .align 8 .b64 full;\n"
    "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\nmov.u32 %r2, full;\n@%p1 bra ready;\n"
    "mbarrier.init.shared::cta.b64 [%r2], 2;\nmbarrier.arrive.shared::cta.b64 %rd1, [%r2];\nready:\nbar.sync 0;\n"
    "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra wait;\nret;\n}\n";

static void own_kernel(void)
{
    void *module, *function;
    if (rank == 1) {
        must(DRIVER("cuModuleLoadData", (void **, const void *))(&module, stuck_ptx), "cuModuleLoadData");
        must(DRIVER("cuModuleGetFunction", (void **, void *, const char *))(&function, module, "gemm"), "gemm");
        must(DRIVER("cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       void *, void **, void **))(function, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL),
             "cuLaunchKernel");
    }
    sum(first, FEW, stream);
    synchronize();
}

static void late(void)
{
    const time_t end = time(NULL) + 3;
    while (rank == 1 && time(NULL) < end)
        ;
    sum(first, FEW, stream);
    synchronize();
}

/* More calls follow the refused one than the table holds.  Their numbers must stay unknown. */
static void refused(void)
{
    if (rank == 1)
        all_reduce(NULL, NULL, 0, FLOAT32, SUM, first, stream);
    for (int i = 0; i < 66; i++)
        sum(first, FEW, stream);
    synchronize();
}

static void sleeps(void)
{
    if (rank == 1)
        sleep(3);
    sum(first, FEW, stream);
    synchronize();
}

/* A communicator that finds no row is left out, unless another one was destroyed. */
static void many(void)
{
    enum { ROWS = 32 };
    must(ncclCommFinalize(first), "ncclCommFinalize");
    for (int i = 2; i < ROWS + 2; i++) {
        ncclComm_t comm;
        ncclUniqueId id = {.internal = {(char)('0' + i)}};
        must(ncclCommInitRank(&comm, 2, id, rank), "ncclCommInitRank");
        if (i == ROWS)
            ncclCommDestroy(second);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"works", works},
             {"skips", skips},
             {"leaves", leaves},
             {"splits", splits},
             {"sizes", sizes},
             {"order", order},
             {"order-12", order_of_older_runtime},
             {"queued", queued},
             {"sends-alone", sends_alone},
             {"sends-both", sends_both},
             {"sends-first", sends_first},
             {"send-is-late", send_is_late},
             {"send-dies", send_dies},
             {"makes-alone", makes_alone},
             {"makes-late", makes_late},
             {"dies", dies},
             {"late", late},
             {"sleeps", sleeps},
             {"own-kernel", own_kernel},
             {"refused", refused},
             {"many", many}};

int main(int argc, char **argv)
{
    ncclUniqueId id = {.internal = "first"}, other = {.internal = "second"};
    rank = atoi(getenv("RANK") ? getenv("RANK") : "0");
    start();
    all_reduce = ncclAllReduce;
    if (getenv("NCCL_RANKS_DLOPEN"))
        all_reduce = (int (*)(const void *, void *, size_t, int, int, ncclComm_t, void *))dlsym(
            dlopen("libnccl.so.2", RTLD_NOW), "ncclAllReduce");
    must(ncclCommInitRank(&first, 2, id, rank), "ncclCommInitRank");
    must(ncclCommInitRank(&second, 2, other, rank), "ncclCommInitRank");
    sum(first, FEW, stream);
    synchronize();
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            printf("rank %d is done\n", rank);
            return 0;
        }
    }
    fprintf(stderr, "nccl_ranks: no case %s\n", argc == 2 ? argv[1] : "");
    return 2;
}
