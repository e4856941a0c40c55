/* waits.cu - the ways in which a host waits for a kernel that never ends.
 *
 * Each case launches kernels that end, then one that hangs: its consumer waits for a phase of an mbarrier that its producer
 * never completes.  Then the host waits for that kernel in the way that the case's name says.
 */
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
    for (cudaError_t state; (state = cudaStreamQuery(stream)) != cudaSuccess;)
        if (state != cudaErrorNotReady)
            CHECK(state);
    return 0;
}

int stand_wait_free(const struct options *)
{
    CHECK(cudaFree(begin(NULL)));
    return 0;
}
