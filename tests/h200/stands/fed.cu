/* fed.cu - the cases of stands.def that stand for a while and end well: a kernel polls a word, and later something
 * writes it.
 *
 * What will write the word does so once before the kernel that polls is launched: whatever is loaded or set up at a
 * first use, as the kernel of a memset, is there then and has not to wait for a kernel that never ends without it.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sync.cuh"
#include "stands.cuh"

struct fed {
    const struct options *options;
    cudaStream_t first, second; /* the poll's, the writer's */
    uint32_t *word, *pinned;
    cudaGraphExec_t graph;
};

typedef void give(struct fed *fed);

static void give_copy(struct fed *fed)
{
    CHECK(cudaMemcpyAsync(fed->word, fed->pinned, sizeof *fed->word, cudaMemcpyHostToDevice, fed->second));
}

static void give_memset(struct fed *fed)
{
    CHECK(cudaMemsetAsync(fed->word, WANTED_BYTE, sizeof *fed->word, fed->second));
}

static void give_kernel(struct fed *fed)
{
    write_word<<<1, 1, 0, fed->second>>>(fed->word, WANTED);
    CHECK(cudaGetLastError());
}

static void give_graph(struct fed *fed)
{
    CHECK(cudaGraphLaunch(fed->graph, fed->second));
}

static void give_peer(struct fed *fed)
{
    CHECK(cudaSetDevice(1));
    give_kernel(fed);
}

static void give_store(struct fed *fed)
{
    __atomic_store_n(fed->word, WANTED, __ATOMIC_SEQ_CST);
}

/* Streams and a word of device memory. */
static struct fed set_up(const struct options *options)
{
    struct fed fed = {};
    fed.options = options;
    fed.first = new_stream();
    fed.second = new_stream();
    fed.word = new_word();
    CHECK(cudaHostAlloc((void **)&fed.pinned, sizeof *fed.pinned, cudaHostAllocDefault));
    *fed.pinned = WANTED;
    load_polls();
    load_code((const void *)write_word);
    load_code((const void *)compute);
    return fed;
}

static void capture_write(struct fed *fed)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(fed->second, cudaStreamCaptureModeGlobal));
    give_kernel(fed);
    CHECK(cudaStreamEndCapture(fed->second, &graph));
    fed->graph = instantiate(graph);
}

/* The word is zero again afterwards, and the first GPU is the current one. */
static void rehearse(struct fed *fed, give *give)
{
    if (give == give_store)
        return; /* which loads nothing */
    give(fed);
    CHECK(cudaStreamSynchronize(fed->second));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemset(fed->word, 0, sizeof *fed->word));
    CHECK(cudaDeviceSynchronize());
}

/* ---- a second thread writes ---- */

struct feeder {
    struct fed *fed;
    give *give;
};

static void *sleep_and_give(void *argument)
{
    const struct feeder *const feeder = (const struct feeder *)argument;
    sleep_s(feeder->fed->options->after_s);
    feeder->give(feeder->fed);
    return NULL;
}

static void start_thread(pthread_t *thread, struct feeder *feeder)
{
    if (pthread_create(thread, NULL, sleep_and_give, feeder) == 0)
        return;
    fprintf(stderr, "stands: no thread\n");
    exit(1);
}

static void wait_in_call(cudaStream_t stream)
{
    CHECK(cudaStreamSynchronize(stream));
}

static int by_thread_while(struct fed *fed, give *give, void (*wait)(cudaStream_t stream))
{
    struct feeder feeder = {fed, give};
    pthread_t thread;
    rehearse(fed, give);
    start_thread(&thread, &feeder);
    launch_poll(fed->options, fed->word, fed->first);
    wait(fed->first);
    pthread_join(thread, NULL);
    return 0;
}

static int by_thread(struct fed *fed, give *give)
{
    return by_thread_while(fed, give, wait_in_call);
}

int stand_fed_thread_copy(const struct options *options)
{
    struct fed fed = set_up(options);
    return by_thread(&fed, give_copy);
}

int stand_fed_thread_memset(const struct options *options)
{
    struct fed fed = set_up(options);
    return by_thread(&fed, give_memset);
}

/* The second thread needs the context's lock, which the first one holds nearly all the time. */
int stand_fed_query_spin(const struct options *options)
{
    struct fed fed = set_up(options);
    return by_thread_while(&fed, give_copy, spin_until_done);
}

int stand_fed_thread_kernel(const struct options *options)
{
    struct fed fed = set_up(options);
    return by_thread(&fed, give_kernel);
}

int stand_fed_thread_graph(const struct options *options)
{
    struct fed fed = set_up(options);
    capture_write(&fed);
    return by_thread(&fed, give_graph);
}

int stand_fed_peer(const struct options *options)
{
    struct options of_system = *options;
    of_system.is_volatile = true; /* what a peer writes is of the system */
    struct fed fed = set_up(&of_system);
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    fed.second = new_stream();
    return by_thread(&fed, give_peer);
}

int stand_fed_host_mapped(const struct options *options)
{
    struct options of_system = *options;
    of_system.is_volatile = true;
    struct fed fed = set_up(&of_system);
    CHECK(cudaHostAlloc((void **)&fed.word, sizeof *fed.word, cudaHostAllocMapped));
    *fed.word = 0;
    return by_thread(&fed, give_store);
}

/* ---- the only thread writes ---- */

int stand_fed_main_copy(const struct options *options)
{
    struct fed fed = set_up(options);
    rehearse(&fed, give_copy);
    launch_poll(options, fed.word, fed.first);
    sleep_s(options->after_s);
    give_copy(&fed);
    CHECK(cudaStreamSynchronize(fed.first));
    return 0;
}

int stand_fed_main_query(const struct options *options)
{
    struct fed fed = set_up(options);
    bool is_given = false;
    rehearse(&fed, give_copy);
    launch_poll(options, fed.word, fed.first);
    const double give_at_s = now_s() + options->after_s;
    while (cudaStreamQuery(fed.first) == cudaErrorNotReady) {
        if (!is_given && now_s() >= give_at_s) {
            give_copy(&fed);
            is_given = true;
        }
        sleep_s(1e-4);
    }
    CHECK(cudaStreamSynchronize(fed.first));
    return 0;
}

/* ---- the GPU has it all before the wait ---- */

static void CUDART_CB sleep_in_stream(void *options)
{
    sleep_s(((const struct options *)options)->after_s);
}

int stand_fed_stream_callback(const struct options *options)
{
    struct fed fed = set_up(options);
    rehearse(&fed, give_memset);
    launch_poll(options, fed.word, fed.first);
    CHECK(cudaLaunchHostFunc(fed.second, sleep_in_stream, (void *)options));
    give_memset(&fed);
    CHECK(cudaStreamSynchronize(fed.first));
    return 0;
}

int stand_fed_event_wait(const struct options *options)
{
    struct fed fed = set_up(options);
    cudaStream_t third = new_stream();
    uint32_t *const out = new_word();
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    rehearse(&fed, give_memset);
    launch_poll(options, fed.word, fed.first);
    compute<<<1, 128, 0, third>>>((uint64_t)(options->after_s * 1e9), out);
    CHECK(cudaEventRecord(event, third));
    CHECK(cudaStreamWaitEvent(fed.second, event, 0));
    give_memset(&fed);
    CHECK(cudaStreamSynchronize(fed.first));
    return 0;
}

/* ---- another process writes ---- */

static void tell(int to, const void *message, size_t bytes)
{
    if (write(to, message, bytes) == (ssize_t)bytes)
        return;
    fprintf(stderr, "stands: the other process is gone\n");
    exit(1);
}

static void hear(int from, void *message, size_t bytes)
{
    if (read(from, message, bytes) == (ssize_t)bytes)
        return;
    fprintf(stderr, "stands: the other process is gone\n");
    exit(1);
}

/* Opens the word, says so, and copies to it the time after it hears that the kernel is launched. */
static void be_writer(const struct options *options, int parent)
{
    cudaIpcMemHandle_t handle;
    struct fed fed = {};
    char launched, is_open;
    limit_time(options->limit_s);
    hear(parent, &handle, sizeof handle);
    fed.second = new_stream();
    CHECK(cudaHostAlloc((void **)&fed.pinned, sizeof *fed.pinned, cudaHostAllocDefault));
    *fed.pinned = WANTED;
    is_open = cudaIpcOpenMemHandle((void **)&fed.word, handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
    if (is_open)
        rehearse(&fed, give_copy);
    tell(parent, &is_open, 1);
    if (!is_open)
        exit(0);
    hear(parent, &launched, 1);
    sleep_s(options->after_s);
    give_copy(&fed);
    CHECK(cudaStreamSynchronize(fed.second));
    exit(0);
}

static int end_of(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status))
        return WEXITSTATUS(status);
    return 1;
}

static int poll_for(const struct options *options, int child)
{
    struct fed fed = set_up(options);
    cudaIpcMemHandle_t handle;
    char is_open, launched = 1;
    if (cudaIpcGetMemHandle(&handle, fed.word) != cudaSuccess) {
        fprintf(stderr, "stands: skipped: memory cannot be shared with another process here\n");
        return STATUS_SKIP;
    }
    tell(child, &handle, sizeof handle);
    hear(child, &is_open, 1);
    if (!is_open) {
        fprintf(stderr, "stands: skipped: another process cannot open this one's memory here\n");
        return STATUS_SKIP;
    }
    launch_poll(options, fed.word, fed.first);
    tell(child, &launched, 1);
    CHECK(cudaStreamSynchronize(fed.first));
    return 0;
}

int stand_fed_process(const struct options *options)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    fflush(stdout);
    const pid_t child = fork(); /* before any use of CUDA */
    if (child < 0)
        return 1;
    close(ends[child != 0]);
    if (child == 0)
        be_writer(options, ends[1]);
    signal(SIGPIPE, SIG_IGN);
    need_gpus(1);
    const int status = poll_for(options, ends[0]);
    close(ends[0]);
    const int of_child = end_of(child);
    return status ? status : of_child;
}

/* ---- nothing stands, it only takes its time ---- */

int stand_slow(const struct options *options)
{
    cudaStream_t stream = new_stream();
    int ctas;
    CHECK(cudaDeviceGetAttribute(&ctas, cudaDevAttrMultiProcessorCount, 0));
    compute<<<ctas, 256, 0, stream>>>((uint64_t)(2 * options->after_s * 1e9), new_word());
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

#define ROUNDS 4

/* Warp 0 computes a value a round, warp 1 sums them: one slot, a barrier that it is full and one that it is empty. */
__global__ void pass_values(uint64_t round_ns, uint32_t *out)
{
    __shared__ uint64_t full, empty;
    __shared__ uint32_t slot[32];
    const uint32_t lane = threadIdx.x % 32;
    uint32_t value = lane, sum = 0;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 32);
        mbarrier_init(&empty, 32);
        mbarrier_init_fence();
    }
    __syncthreads();
    for (uint32_t round = 0; round < ROUNDS; round++)
        if (threadIdx.x < 32) {
            mbarrier_wait(&empty, (round + 1) % 2); /* the first one passes */
            value = work_for(round_ns, value);
            slot[lane] = value;
            mbarrier_arrive(&full);
        } else {
            mbarrier_wait(&full, round % 2);
            sum += slot[lane];
            mbarrier_arrive(&empty);
        }
    out[threadIdx.x] = sum;
}

int stand_slow_barrier(const struct options *options)
{
    cudaStream_t stream = new_stream();
    uint32_t *const out = (uint32_t *)new_zeroed(64 * sizeof(uint32_t));
    pass_values<<<1, 64, 0, stream>>>((uint64_t)(options->after_s / 2 * 1e9), out);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}
