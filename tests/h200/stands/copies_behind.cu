/* copies_behind.cu - a kernel with probes that hangs, and the program's own copies behind it in many streams.
 *
 * usage: copies_behind STREAMS SECONDS     exit status 3 when the kernel has not ended after so long
 *
 * Each stream waits for an event behind the kernel, then copies to the host.  No copy engine stands still for that, but
 * the driver gives streams to a few queues of the copy engines, and a copy that waits holds up what comes later in its
 * queue.  With many streams that holds for wsdbg's own copies too (tests/h200/measure.py ring).
 */
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <cuda_runtime.h>
#include <wsdbg/probe.h>

enum { PRODUCER, CONSUMER };
enum { FULL, BYTES = 1 << 20, STREAMS_MOST = 256 };

WSDBG_MODULE(WSDBG_ROLE(PRODUCER, "producer"), WSDBG_ROLE(CONSUMER, "consumer"),
             WSDBG_MBARRIER(FULL, "full", 1, 1 << PRODUCER, 1 << CONSUMER))

#define CHECK(call)                                                                      \
    do {                                                                                 \
        const cudaError_t error = (call);                                                \
        if (error != cudaSuccess) {                                                      \
            std::fprintf(stderr, "copies_behind: %s: %s\n", #call, cudaGetErrorName(error)); \
            std::exit(2);                                                                \
        }                                                                                \
    } while (0)

static __device__ bool is_complete(uint32_t barrier, uint32_t parity)
{
    uint32_t complete;
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(complete)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return complete;
}

/* The producer leaves without its arrival. */
static __global__ void leaves_early()
{
    __shared__ uint64_t full;
    const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(&full);
    WSDBG_BEGIN(w);
    if (threadIdx.x == 0) {
        WSDBG_MBARRIER_INIT(w, FULL, 0, 1);
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        WSDBG_ROLE_BEGIN(w, PRODUCER);
    } else {
        WSDBG_ROLE_BEGIN(w, CONSUMER);
        WSDBG_MBARRIER_WAIT_BEGIN(w, FULL, 0, 0, 0);
        while (!is_complete(barrier, 0)) {
        }
        WSDBG_MBARRIER_WAIT_END(w, FULL, 0, 0, 0);
    }
    WSDBG_EXIT(w);
}

static void copy_behind(cudaEvent_t event, int streams)
{
    static cudaStream_t all[STREAMS_MOST];
    void *from, *to;
    CHECK(cudaMalloc(&from, BYTES));
    CHECK(cudaMallocHost(&to, BYTES));
    for (int i = 0; i < streams; i++)
        CHECK(cudaStreamCreateWithFlags(&all[i], cudaStreamNonBlocking));
    for (int i = 0; i < streams; i++) {
        CHECK(cudaStreamWaitEvent(all[i], event, 0));
        CHECK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToHost, all[i]));
    }
}

int main(int argc, char **argv)
{
    const int streams = argc > 1 ? std::atoi(argv[1]) : 0, seconds = argc > 2 ? std::atoi(argv[2]) : 0;
    if (argc != 3 || streams < 0 || streams > STREAMS_MOST || seconds < 1) {
        std::fprintf(stderr, "usage: copies_behind STREAMS SECONDS     at most %d streams\n", STREAMS_MOST);
        return 2;
    }
    cudaStream_t stream;
    cudaEvent_t event;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    leaves_early<<<1, 64, 0, stream>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(event, stream));
    copy_behind(event, streams);
    for (int tenths = 0; tenths < seconds * 10 && cudaStreamQuery(stream) == cudaErrorNotReady; tenths++)
        usleep(100000);
    const cudaError_t state = cudaStreamQuery(stream);
    _exit(state == cudaErrorNotReady ? 3 : state == cudaSuccess ? 0 : 1);
}
