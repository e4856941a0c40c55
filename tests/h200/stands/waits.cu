/* waits.cu - the ways in which a host waits for a kernel that never ends; and calls of a host that last, or come without
 * a pause, while nothing hangs.
 *
 * Each case `wait-` launches kernels that end, then one that hangs: its consumer waits for a phase of an mbarrier that its
 * producer never completes.  Then the host waits for that kernel in the way that the case's name says.  In the cases `ok-`
 * the one kernel ends at once; whoever sees only that the driver is busy cannot tell them from the others.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common/sync.cuh"
#include "stands.cuh"

#define ROUNDS 20
#define WAIT_THREADS 64 /* warp 0 arrives, warp 1 waits */

/* The defect: the producer ends one round early. */
__global__ void hand_over(float *out, int rounds)
{
    __shared__ uint64_t full, empty;
    __shared__ float slot;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init(&empty, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int round = 0; round + 1 < rounds; round++) {
            mbarrier_wait(&empty, (round & 1) ^ 1);
            slot = (float)round;
            mbarrier_arrive(&full);
        }
    } else if (threadIdx.x == WAIT_THREADS / 2) {
        float sum = 0;
        for (int round = 0; round < rounds; round++) {
            mbarrier_wait(&full, round & 1);
            sum += slot;
            mbarrier_arrive(&empty);
        }
        out[blockIdx.x] = sum;
    }
}

static float *begin(cudaStream_t stream)
{
    float *const out = (float *)new_zeroed(POLL_CTAS * sizeof(float));
    load_code((const void *)hand_over);
    for (int i = 0; i < ROUNDS; i++)
        write_word<<<1, 1, 0, stream>>>((uint32_t *)out, 0);
    CHECK(cudaDeviceSynchronize());
    hand_over<<<POLL_CTAS, WAIT_THREADS, 0, stream>>>(out, ROUNDS);
    CHECK(cudaGetLastError());
    return out;
}

int stand_wait_device(const struct options *)
{
    begin(new_stream());
    CHECK(cudaDeviceSynchronize());
    return 0;
}

int stand_wait_device_legacy(const struct options *)
{
    begin(NULL);
    CHECK(cudaDeviceSynchronize());
    return 0;
}

/* A second kernel is queued behind the one that hangs, as in programs that check a kernel's result with another one. */
int stand_wait_device_behind(const struct options *)
{
    float *const out = begin(NULL);
    write_word<<<1, 1>>>((uint32_t *)out, 1);
    CHECK(cudaDeviceSynchronize());
    return 0;
}

int stand_wait_event(const struct options *)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event;
    begin(stream);
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    return 0;
}

int stand_wait_copy(const struct options *)
{
    float host[POLL_CTAS];
    float *const out = begin(NULL);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    return 0;
}

int stand_wait_query(const struct options *)
{
    cudaStream_t stream = new_stream();
    begin(stream);
    spin_until_done(stream);
    return 0;
}

int stand_wait_free(const struct options *)
{
    CHECK(cudaFree(begin(NULL)));
    return 0;
}

/* ---- nothing hangs ---- */

#define SPIN_S 20.0
#define PINNED_MOST_BYTES ((size_t)24 << 30)

/* A kernel that ends at once, as the last thing that the GPU gets. */
static void launch_last(cudaStream_t stream)
{
    uint32_t *const word = new_word();
    load_code((const void *)write_word);
    CHECK(cudaDeviceSynchronize());
    write_word<<<1, 1, 0, stream>>>(word, 1);
    CHECK(cudaGetLastError());
}

int stand_ok_query_spin(const struct options *)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    launch_last(stream);
    CHECK(cudaEventRecord(event, stream));
    spin_until_done(stream);
    for (const double end_s = now_s() + SPIN_S; now_s() < end_s;) {
        CHECK(cudaStreamQuery(stream));
        CHECK(cudaEventQuery(event));
    }
    return 0;
}

/* As much as half of what the machine has free: that takes a while. */
static size_t bytes_to_pin(void)
{
    const size_t free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return free_bytes / 2 < PINNED_MOST_BYTES ? free_bytes / 2 : PINNED_MOST_BYTES;
}

int stand_ok_pin(const struct options *)
{
    const size_t bytes = bytes_to_pin();
    void *own, *of_driver;
    launch_last(new_stream());
    CHECK(cudaHostAlloc(&of_driver, bytes, cudaHostAllocDefault));
    CHECK(cudaFreeHost(of_driver));
    own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return 1;
    launch_last(new_stream());
    CHECK(cudaHostRegister(own, bytes, cudaHostRegisterDefault));
    CHECK(cudaHostUnregister(own));
    munmap(own, bytes);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
