/* graphs.cu - captures and graphs of the CUDA runtime, as programs use them.
 *
 *     graphs [works | hangs]
 *
 * works: exits with 0 when every check held, else names the first one that did not.  hangs: the third launch of a graph has a kernel
 * that waits for an arrival that nobody makes.
 */
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            printf("line %d: %s does not hold (last error: %s)\n", __LINE__, #condition,  \
                   cudaGetErrorName(cudaPeekAtLastError()));                              \
            return 1;                                                                     \
        }                                                                                 \
    } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

__global__ void add(int *x, int y)
{
    *x = *x * 3 + y;
}

/* Two of these run side by side, or wait for each other for ever. */
__global__ void meet(volatile int *mine, volatile int *others)
{
    *mine = 1;
    __threadfence();
    while (!*others)
        continue;
}

__global__ void wait_for_two_arrivals(const int *when)
{
    __shared__ uint64_t full;
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(&full);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at));
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at));
    if (*when < 2)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at));
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at));
}

static void note(void *user)
{
    ++*(int *)user;
}

static int read_back(const int *device)
{
    int value = -1;
    cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

/* One stream: a fill, kernels, a function of the host, a copy; launched twice, then with another number. */
static int one_stream(cudaStream_t stream, int *device)
{
    cudaGraph_t graph, other;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    cudaGraphExecUpdateResultInfo why;
    int calls = 0;
    size_t count = 0;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(device, 0, sizeof *device, stream));
    add<<<1, 1, 0, stream>>>(device, 1);
    OK(cudaLaunchHostFunc(stream, note, &calls));
    add<<<1, 1, 0, stream>>>(device, 2);
    OK(cudaMemcpyAsync(device + 1, device, sizeof *device, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 5 && calls == 0);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(calls == 2 && read_back(device + 1) == 5);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(device, 0, sizeof *device, stream));
    add<<<1, 1, 0, stream>>>(device, 10);
    OK(cudaLaunchHostFunc(stream, note, &calls));
    add<<<1, 1, 0, stream>>>(device, 2);
    OK(cudaMemcpyAsync(device + 1, device, sizeof *device, cudaMemcpyDeviceToDevice, stream));
    OK(cudaStreamEndCapture(stream, &other));
    OK(cudaGraphExecUpdate(exec, other, &why));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(why.result == cudaGraphExecUpdateSuccess && read_back(device + 1) == 32);
    cudaGraphNode_t empty;
    OK(cudaGraphAddEmptyNode(&empty, other, NULL, 0));
    CHECK(cudaGraphExecUpdate(exec, other, &why) == cudaErrorGraphExecUpdateFailure);
    CHECK(why.result == cudaGraphExecUpdateErrorTopologyChanged && cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(other));
    return 0;
}

/* Two streams: what forks and joins by events may run side by side. */
static int two_streams(cudaStream_t stream, int *device)
{
    cudaStream_t side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemsetAsync(device, 0, 2 * sizeof *device, stream));
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(side, fork, 0));
    meet<<<1, 1, 0, stream>>>(device, device + 1);
    meet<<<1, 1, 0, side>>>(device + 1, device);
    CHECK(cudaEventQuery(fork) == cudaErrorCapturedEvent);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(stream, join, 0));
    add<<<1, 1, 0, stream>>>(device, 4);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(read_back(device) == 7 && cudaGetLastError() == cudaErrorCapturedEvent);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(side));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    return 0;
}

/* A graph that is put together by hand, inside another one. */
static int by_hand(cudaStream_t stream, int *device)
{
    cudaGraph_t inner, outer;
    cudaGraphNode_t first, second, child, fill, found;
    cudaGraphExec_t exec;
    int y = 1;
    void *arguments[] = {&device, &y};
    cudaKernelNodeParams kernel = {}, seen;
    cudaMemsetParams zero = {};
    cudaGraphNodeType type;
    zero.dst = device;
    zero.elementSize = 4;
    zero.width = zero.height = 1;
    kernel.func = (void *)add;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    OK(cudaGraphCreate(&inner, 0));
    OK(cudaGraphAddKernelNode(&first, inner, NULL, 0, &kernel));
    y = 2;
    OK(cudaGraphAddKernelNode(&second, inner, &first, 1, &kernel));
    OK(cudaGraphKernelNodeGetParams(second, &seen));
    CHECK(seen.gridDim.x == 1 && *(int *)seen.kernelParams[1] == 2);
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddMemsetNode(&fill, outer, NULL, 0, &zero));
    OK(cudaGraphAddChildGraphNode(&child, outer, &fill, 1, inner));
    OK(cudaGraphNodeGetType(child, &type));
    CHECK(type == cudaGraphNodeTypeGraph);
    OK(cudaGraphInstantiate(&exec, outer, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(read_back(device) == 5);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, inner, 0));
    y = 100;
    OK(cudaGraphExecKernelNodeSetParams(exec, first, &kernel));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(read_back(device) == (5 * 3 + 100) * 3 + 2);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, child, &kernel) == cudaErrorInvalidValue);
    CHECK(cudaGraphNodeFindInClone(&found, first, outer) == cudaErrorInvalidValue);
    kernel.blockDim = dim3(4096);
    CHECK(cudaGraphAddKernelNode(&found, inner, NULL, 0, &kernel) != cudaSuccess);
    CHECK(cudaGraphDestroy((cudaGraph_t)exec) == cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(inner));
    OK(cudaGraphDestroy(outer));
    cudaGetLastError();
    return 0;
}

static int errors(cudaStream_t stream, int *device)
{
    cudaStream_t side, blocking;
    cudaEvent_t event, outside;
    cudaGraph_t graph;
    void *memory;
    OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&blocking));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&outside));
    OK(cudaEventRecord(outside, side));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
    CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaMemsetAsync(device, 0, 4, stream) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMalloc(&memory, 16) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamWaitEvent(stream, outside, 0) == cudaErrorStreamCaptureIsolation);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(side, event, 0));
    OK(cudaMemsetAsync(device, 0, 4, side));
    CHECK(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureUnmatched);
    CHECK(cudaStreamEndCapture(stream, &graph) != cudaSuccess);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(side, event, 0));
    OK(cudaMemsetAsync(device, 0, 4, side));
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);

    OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemsetAsync(device, 0, 4, 0) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaStreamEndCapture(blocking, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamDestroy(side));
    OK(cudaStreamDestroy(blocking));
    cudaGetLastError();
    return 0;
}

static int hangs(cudaStream_t stream, int *device)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    wait_for_two_arrivals<<<1, 1, 0, stream>>>(device);
    add<<<1, 1, 0, stream>>>(device, 1);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    return 0;
}

int main(int argc, char **argv)
{
    int *device;
    cudaStream_t stream;
    OK(cudaMalloc(&device, 2 * sizeof *device));
    OK(cudaMemset(device, 0, 2 * sizeof *device));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (argc > 1 && argv[1][0] == 'h')
        return hangs(stream, device);
    return one_stream(stream, device) || two_streams(stream, device) || by_hand(stream, device) || errors(stream, device);
}
