/* mirage_megakernel.cu - the runtime of mirage-project/mirage's persistent kernels with tasks for sm_90,
 * include/mirage/persistent_kernel/persistent_kernel.cuh, in bf16, on a graph of small tasks, which runs three times:
 * H = X W1^T; Y = H W2^T + X; X = the RMS norm of Y.
 *
 * CTAs of workers poll queues of tasks in global memory; threads of schedulers poll queues of events there.  A linear
 * task has a copying thread and one computing warpgroup; its mbarriers are new for each task.  mirage's compiler
 * generates two functions, which are written here by hand.  The arguments are the number of workers, the
 * number of schedulers, and whether workers and schedulers run in two kernels (1) or in one.  The program reads no file.  It prints the largest difference
 * between its result and the host's.
 *
 *     nvcc -std=c++17 -O3 -DMAX_WORKER_PER_SCHEDULER=128 -DMIRAGE_GRACE_HOPPER -DMIRAGE_BACKEND_USE_CUDA
 *          -DMPK_TARGET_CC=90 -DMPK_ENABLE_TMA -I CHECKOUT/include/mirage/persistent_kernel -I CHECKOUT/include
 *          -I CUTLASS/include -I CUTLASS/tools/util/include mirage_megakernel.cu -lcuda
 */
#define MODE_OFFLINE
#define MPK_MAX_NUM_BATCHED_REQUESTS 1
#define MPK_MAX_NUM_BATCHED_TOKENS 8
#define MPK_MAX_NUM_PAGES 16
#define MPK_PAGE_SIZE 64
#define MPK_MAX_SEQ_LENGTH 64
#include "persistent_kernel.cuh"

#include "check.h"

enum { ROWS = 8, SIZE = 512, SLICE = 128, SLICES = SIZE / SLICE, STAGES = 3, NORM_ROWS = 4, NORMS = ROWS / NORM_ROWS };
enum { ITERATIONS = 3, LENGTH = 3 }; /* each iteration adds a token to a sequence of this length */
/* Numbers of tasks and events in their tables. */
enum { TERMINATE_TASK, BEGIN_TASK, FIRST_H, FIRST_Y = FIRST_H + SLICES, FIRST_NORM = FIRST_Y + SLICES };
enum { TASKS = FIRST_NORM + NORMS };
enum { TERMINATED, BEGUN, HAS_H, HAS_Y, HAS_X };

constexpr float EPSILON = 1e-6f;

typedef __nv_bfloat16 number;
typedef kernel::tma::tma_2d<bfloat16, 3, 3, 3, SLICE, SIZE, 64, 64, SIZE, 1, 1, 2, 64 * 64, true> WeightMap;
typedef kernel::tma::tma_2d<bfloat16, 3, 3, 3, ROWS, SIZE, ROWS, 64, SIZE, 1, 1, 2, 8 * 64, true> InputMap;
typedef kernel::tma::tma_2d<bfloat16, 0, 0, 0, ROWS, SLICE, ROWS, 64, SIZE, 1, 1, 1, 8 * 64, true> ResidualMap;
typedef kernel::tma::tma_2d<bfloat16, 3, 3, 3, ROWS, SLICE, ROWS, 64, SIZE, 1, 1, 1, 8 * 64, true> OutputMap;

template <typename Residual>
__device__ __forceinline__ void linear(const TaskDesc *task, Residual *residual, bool has_residual)
{
    const WeightMap weights(static_cast<CUtensorMap *>(task->input_tma_desc_ptrs[1][0]));
    const InputMap input(static_cast<CUtensorMap *>(task->input_tma_desc_ptrs[0][0]));
    const OutputMap output(static_cast<CUtensorMap *>(task->output_tma_desc_ptrs[0][0]));
    kernel::linear_swapAB_kernel_hopper<bfloat16, ROWS, SLICE, SIZE, STAGES, WeightMap, InputMap, OutputMap, Residual,
                                        SIZE, false>(weights, input, output, residual, has_residual);
}

/* The runtime calls it for each task that it does not know itself. */
__device__ __forceinline__ void _execute_task(const TaskDesc *task, const RuntimeConfig &config)
{
    if (task->task_type == TASK_RMS_NORM_HOPPER)
        kernel::rms_norm_hopper_impl<bfloat16, NORM_ROWS, SIZE>(task->input_ptrs[0], task->input_ptrs[1],
                                                                task->output_ptrs[0], EPSILON);
    else if (task->task_type == TASK_LINEAR_SWAPAB_HOPPER)
        linear<void>(task, nullptr, false);
    else if (task->task_type == TASK_LINEAR_SWAPAB_WITH_RESIDUAL_HOPPER) {
        ResidualMap residual(static_cast<CUtensorMap *>(task->input_tma_desc_ptrs[2][0]));
        linear(task, &residual, config.my_gpu_id == 0);
    }
}

/* Where all that is on the device. */
static struct {
    bfloat16 *x, *h, *y, *w1, *w2, *factors;
} memory;

static TensorDesc tensor(void *base, CUtensorMap *map)
{
    TensorDesc all = {};
    all.base_ptr = base;
    all.tma_desc_ptrs[0] = map;
    return all;
}

static FullTaskDesc task_of(TaskType type, const std::vector<TensorDesc> &inputs, const TensorDesc &output,
                            int dependent_event, int trigger_event)
{
    FullTaskDesc task(type, 0);
    task.num_inputs = (int)inputs.size(), task.num_outputs = 1;
    std::copy(inputs.begin(), inputs.end(), task.inputs);
    task.outputs[0] = output;
    if (dependent_event)
        task.dependent_event = dependent_event;
    task.trigger_event = trigger_event;
    return task;
}

/* The runtime calls it for the graph. */
static void _init_persistent_kernel(std::vector<FullTaskDesc> &tasks, std::vector<EventDesc> &events,
                                    std::vector<TaskId> &first, int, int)
{
    bfloat16 *const x = memory.x, *const h = memory.h, *const y = memory.y;
    tasks.push_back(FullTaskDesc(TASK_TERMINATE, 0));
    tasks.push_back(FullTaskDesc(TASK_BEGIN_TASK_GRAPH, 0));
    tasks.back().trigger_event = BEGUN;
    for (int at = 0; at < SIZE; at += SLICE)
        tasks.push_back(
            task_of(TASK_LINEAR_SWAPAB_HOPPER,
                    {tensor(x, InputMap(x).desc_ptr), tensor(memory.w1, WeightMap(memory.w1 + at * SIZE).desc_ptr)},
                    tensor(h, OutputMap(h + at).desc_ptr), 0, HAS_H));
    for (int at = 0; at < SIZE; at += SLICE)
        tasks.push_back(
            task_of(TASK_LINEAR_SWAPAB_WITH_RESIDUAL_HOPPER,
                    {tensor(h, InputMap(h).desc_ptr), tensor(memory.w2, WeightMap(memory.w2 + at * SIZE).desc_ptr),
                     tensor(x, ResidualMap(x + at).desc_ptr)},
                    tensor(y, OutputMap(y + at).desc_ptr), HAS_H, HAS_Y));
    for (int at = 0; at < ROWS * SIZE; at += NORM_ROWS * SIZE)
        tasks.push_back(task_of(TASK_RMS_NORM_HOPPER, {tensor(y + at, nullptr), tensor(memory.factors, nullptr)},
                                tensor(x + at, nullptr), HAS_Y, HAS_X));
    events.push_back(EventDesc(EVENT_TERMINATION, 1, 0, 0));
    events.push_back(EventDesc(EVENT_LAUNCH_DEPENDENT_TASKS, 1, FIRST_H, TASKS));
    events.push_back(EventDesc(EVENT_EMPTY, SLICES, FIRST_Y, FIRST_NORM));
    events.push_back(EventDesc(EVENT_EMPTY, SLICES, FIRST_NORM, TASKS));
    events.push_back(EventDesc(EVENT_END_OF_TASK_GRAPH, NORMS, 0, 0));
    first.push_back(BEGIN_TASK);
}

static float rounded(float value)
{
    return (float)number(value);
}

static bfloat16 *bf16_on_device(const std::vector<float> &values)
{
    return (bfloat16 *)on_device(std::vector<number>(values.begin(), values.end()));
}

static std::vector<float> linear_of(const std::vector<float> &in, const std::vector<float> &weights)
{
    std::vector<float> all = product(
        ROWS, SIZE, SIZE, [&](int row, int i) { return in[row * SIZE + i]; },
        [&](int column, int i) { return weights[column * SIZE + i]; });
    for (float &value : all)
        value = rounded(value);
    return all;
}

static std::vector<float> reference_of(std::vector<float> x, const std::vector<float> &w1, const std::vector<float> &w2,
                                       const std::vector<float> &factors)
{
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        std::vector<float> y = linear_of(linear_of(x, w1), w2);
        for (int first = 0; first < ROWS * SIZE; first += SIZE) {
            double squares = 0;
            for (int at = first; at < first + SIZE; at++) {
                y[at] = rounded(y[at] + x[at]);
                squares += y[at] * y[at];
            }
            for (int i = 0; i < SIZE; i++)
                x[first + i] = rounded(y[first + i] * factors[i] / std::sqrt(squares / SIZE + EPSILON));
        }
    }
    return x;
}

static std::vector<float> scaled_numbers(size_t count, uint32_t seed, float factor, float offset)
{
    std::vector<float> all = random_numbers<float>(count, seed);
    for (float &value : all)
        value = value * factor + offset;
    return all;
}

/* Places that the runtime keeps its requests in; the sixth one has the lengths of sequences. */
static std::vector<void *> places()
{
    const std::vector<int> zeros(256);
    const std::vector<long long> tokens(256);
    return {on_device(zeros),  on_device(tokens), on_device(tokens),
            on_device(tokens), on_device(zeros),  on_device(std::vector<int>{LENGTH}),
            on_device(zeros),  on_device(zeros),  on_device(zeros),
            on_device(zeros)};
}

int main(int argc, char **argv)
{
    const int workers = argc > 1 ? atoi(argv[1]) : 4, schedulers = argc > 2 ? atoi(argv[2]) : 4;
    const std::vector<float> x = random_numbers<float>(ROWS * SIZE, 1), w1 = random_numbers<float>(SIZE * SIZE, 2);
    const std::vector<float> w2 = scaled_numbers(SIZE * SIZE, 3, 0.125f, 0);
    const std::vector<float> factors = scaled_numbers(SIZE, 4, 0.25f, 0.75f);
    memory = {bf16_on_device(x),
              bf16_on_device(std::vector<float>(ROWS * SIZE)),
              bf16_on_device(std::vector<float>(ROWS * SIZE)),
              bf16_on_device(w1),
              bf16_on_device(w2),
              bf16_on_device(factors)};
    init_persistent_kernel(places(), nullptr, 0, workers, schedulers, 0, LENGTH + ITERATIONS, 1, -1, 0, 0);
    global_runtime_config.split_worker_scheduler = argc > 3 && atoi(argv[3]);
    launch_persistent_kernel(0);
    must(cudaGetLastError());
    return compare(reference_of(x, w1, w2, factors), from_device((const number *)memory.x, ROWS * SIZE), 0.06f);
}
