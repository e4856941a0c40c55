/* shapes_work.h - what shapes.c does in its streams: work whose result is checked, and kernels that never end.
 *
 * Contexts are the caller's to make current for the calling thread: every function here does so itself.
 */
#ifndef WSDBG_TESTS_H200_SHAPES_WORK_H
#define WSDBG_TESTS_H200_SHAPES_WORK_H

#include <stdbool.h>

#include "../../demo_kernels/common/driver.h"

/* X(function): what the demo programs do not need of the driver. */
#define SHAPES_FUNCTIONS(X)        \
    X(cuCtxDestroy)                \
    X(cuGraphCreate)               \
    X(cuGraphAddKernelNode)        \
    X(cuGraphInstantiateWithFlags) \
    X(cuGraphExecDestroy)          \
    X(cuGraphDestroy) X(cuGraphLaunch) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuMemcpyDtoHAsync)

struct shapes_driver {
#define SHAPES_FIELD(function) __typeof__(&function) function;
    SHAPES_FUNCTIONS(SHAPES_FIELD)
#undef SHAPES_FIELD
    CUresult (*context_create)(CUcontext *, unsigned, CUdevice); /* cuCtxCreate_v2, which every driver has */
};

/* A kernel of waits.cu that never ends; its name there is wait_ID. */
struct hang_row {
    const char *id, *cause;
    unsigned ctas, threads;
};
/* NULL = there is none. */
const struct hang_row *hang_find(const char *id);

/* A place where kernels run: a context of its own or one shared with others, and a stream. */
struct lane {
    struct device device;
    const struct shapes_driver *more;
    bool own_context;
    CUfunction step, hang;
    CUdeviceptr values, source, flag;
    uint32_t *host;           /* where results are copied to */
    uint32_t factor, summand; /* what the steps so far made of a value: value * factor + summand */
    uint64_t steps;
    const struct hang_row *row;
};

/* Finds the driver and opens device 0; NOT_FOUND where there is no driver. */
struct wsdbg_error *shapes_open(struct device *device, struct shapes_driver *more);

#define SHARED_CONTEXT (-1)

/* A lane in the context of `device`, or (ordinal >= 0) in a new context of the device with that number.  `hang`: what
 * lane_hang launches. */
struct wsdbg_error *lane_open(const struct device *device, const struct shapes_driver *more, int ordinal,
                              const char *hang, struct lane *out);
/* Ends the context if it is the lane's own; in a shared one the lane's memory lasts as long as that. */
void lane_close(struct lane *lane);

/* Launches one kernel of some two milliseconds. */
struct wsdbg_error *lane_step(struct lane *lane);
/* Waits for the lane's work and compares its result. */
struct wsdbg_error *lane_check(struct lane *lane);
/* Launches the kernel that never ends. */
struct wsdbg_error *lane_hang(struct lane *lane);
/* Waits for the lane's stream. */
struct wsdbg_error *lane_wait(struct lane *lane);

/* The parameters of lane_step's kernel for a graph's node.  Valid as long as the lane. */
struct node_words {
    CUdeviceptr pointers[2];
    uint32_t rounds;
    uint64_t limit_ns;
    void *parameters[3];
    CUDA_KERNEL_NODE_PARAMS node;
};
void lane_step_node(struct lane *lane, struct node_words *words);
void lane_hang_node(struct lane *lane, struct node_words *words);
/* A graph did `count` steps. */
void lane_count_steps(struct lane *lane, unsigned count);

/* NULL when `result` is good, else an error that names the call. */
struct wsdbg_error *lane_call(const struct lane *lane, CUresult result, const char *what);
struct wsdbg_error *lane_enter(const struct lane *lane);

#endif
