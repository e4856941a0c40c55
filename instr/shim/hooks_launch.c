/* hooks_launch.c - the hooks of everything that launches or prepares a launch: kernels, graphs, captures.
 *
 * Writes: launch rows (observer.c) and the calling thread's row.
 */
#include "hooks.h"

#include <errno.h>
#include <string.h>

#include "captures.h"
#include "contexts.h"
#include "debug_calls.h"
#include "graph_kernels.h"
#include "host_threads.h"
#include "launch_sites.h"
#include "libcuda.h"
#include "markers.h"
#include "observer.h"
#include "refusals.h"
#include "registry.h"
#include "tracking.h"
#include "work.h"

struct begun {
    uint64_t entry; /* of the launch table, UINT64_MAX = none */
    struct wsdbg_launch_row row;
};

/* Whether the function has probes is known once its module is ready. */
static void await_inspector(CUfunction function)
{
    if (function)
        tracking_launch_function(function, contexts_current());
    if (atomic_load(&debug_attach_awaited))
        debug_attach_await();
}

static void begin_launch(const char *call, CUfunction function, const struct site_registers *here, struct begun *begun)
{
    int kept = errno;
    if (atomic_load_explicit(&debug_attach_awaited, memory_order_relaxed) && !captures_any())
        await_inspector(function);
    begun->entry = observer_launch_begin(&begun->row, function,
                                         atomic_load_explicit(&shim_hooks_record_launches, memory_order_relaxed));
    launch_site_launched(here, begun->entry, &begun->row);
    registry_thread_enter(call, begun->row.context, begun->row.stream, begun->row.time_ns);
    errno = kept;
}

/* Said after the launch: a marker that follows is behind it. */
static void note_launched(uint32_t row, uint64_t began_ns)
{
    if (row == WSDBG_UNKNOWN32)
        return;
    work_launched(row, began_ns);
    if (atomic_load_explicit(&shim_contexts[row].launched, memory_order_relaxed))
        return;
    int kept = errno;
    atomic_store_explicit(&shim_contexts[row].launched, true, memory_order_release);
    markers_start();
    host_threads_start();
    errno = kept;
}

static void end_launch(const char *call, CUfunction function, const struct begun *begun, CUresult result)
{
    registry_thread_leave();
    observer_launch_end(begun->entry, result);
    launch_site_returned();
    if (atomic_load_explicit(&debug_attach_stays, memory_order_relaxed) && !(begun->row.flags & WSDBG_LAUNCH_GRAPH))
        debug_attach_count_launch(begun->row.time_ns);
    if (!(begun->row.flags & WSDBG_LAUNCH_CAPTURED)) /* else it went into a graph: nothing runs yet */
        note_launched(begun->row.context, begun->row.time_ns);
    if (result != CUDA_SUCCESS)
        refusal_launch(call, &begun->row, function, result);
}

static void set_no_cluster(struct wsdbg_launch_row *row)
{
    for (int i = 0; i < 3; i++)
        row->cluster[i] = WSDBG_UNKNOWN32;
}

static void fill_launch(struct wsdbg_launch_row *row, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream)
{
    *row = (struct wsdbg_launch_row){.grid = {gx, gy, gz}, .block = {bx, by, bz}};
    row->dynamic_shared_bytes = shared;
    row->stream = (uint64_t)(uintptr_t)stream;
    set_no_cluster(row);
}

CUresult launch_body(enum wsdbg_hook_id id, void *forward, CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                     unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **parameters,
                     void **extra)
{
    bool on = hook_enter();
    struct begun begun = {.entry = UINT64_MAX};
    struct site_registers here;
    if (on) {
        site_here(&here);
        fill_launch(&begun.row, gx, gy, gz, bx, by, bz, shared, stream);
        begin_launch(hook_name[id], f, &here, &begun);
    }
    CUresult result = ((CUresult(*) LAUNCH_PARAMETERS)forward)LAUNCH_ARGUMENTS;
    if (on)
        end_launch(hook_name[id], f, &begun, result);
    return hook_leave(on, result);
}

CUresult cooperative_body(enum wsdbg_hook_id id, void *forward, CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                          unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **parameters)
{
    bool on = hook_enter();
    struct begun begun = {.entry = UINT64_MAX};
    struct site_registers here;
    if (on) {
        site_here(&here);
        fill_launch(&begun.row, gx, gy, gz, bx, by, bz, shared, stream);
        begun.row.flags = WSDBG_LAUNCH_COOPERATIVE;
        begin_launch(hook_name[id], f, &here, &begun);
    }
    CUresult result = ((CUresult(*) COOPERATIVE_PARAMETERS)forward)COOPERATIVE_ARGUMENTS;
    if (on)
        end_launch(hook_name[id], f, &begun, result);
    return hook_leave(on, result);
}

static void fill_launch_ex(struct wsdbg_launch_row *row, const struct cu_launch_config *config)
{
    *row = (struct wsdbg_launch_row){.dynamic_shared_bytes = config->shared_bytes};
    memcpy(row->grid, config->grid, sizeof row->grid);
    memcpy(row->block, config->block, sizeof row->block);
    row->stream = (uint64_t)(uintptr_t)config->stream;
    set_no_cluster(row);
    for (uint32_t i = 0; config->attributes && i < config->attribute_count; i++) {
        const struct cu_launch_attribute *attribute = &config->attributes[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(row->cluster, attribute->value.cluster, sizeof row->cluster);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute->value.cooperative)
            row->flags |= WSDBG_LAUNCH_COOPERATIVE;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                 attribute->value.programmatic_serialization)
            row->flags |= WSDBG_LAUNCH_PROGRAMMATIC;
    }
}

CUresult launch_ex_body(enum wsdbg_hook_id id, void *forward, const struct cu_launch_config *config, CUfunction f,
                        void **parameters, void **extra)
{
    bool on = hook_enter() && config;
    struct begun begun = {.entry = UINT64_MAX};
    struct site_registers here;
    if (on) {
        site_here(&here);
        fill_launch_ex(&begun.row, config);
        begin_launch(hook_name[id], f, &here, &begun);
    }
    CUresult result = ((CUresult(*) LAUNCH_EX_PARAMETERS)forward)LAUNCH_EX_ARGUMENTS;
    if (on)
        end_launch(hook_name[id], f, &begun, result);
    return hook_leave(on, result);
}

CUresult graph_launch_body(enum wsdbg_hook_id id, void *forward, void *exec, CUstream stream)
{
    bool on = hook_enter();
    struct begun begun = {.entry = UINT64_MAX};
    struct site_registers here;
    if (on) {
        site_here(&here);
        bool partly = false;
        begun.row = (struct wsdbg_launch_row){.flags = WSDBG_LAUNCH_GRAPH, .graph = graph_kernels_of(exec, &partly)};
        begun.row.flags |= partly ? WSDBG_LAUNCH_GRAPH_PARTLY : 0;
        begun.row.stream = (uint64_t)(uintptr_t)stream;
        set_no_cluster(&begun.row);
        begin_launch(hook_name[id], NULL, &here, &begun);
    }
    CUresult result = ((CUresult(*)(void *, CUstream))forward)(exec, stream);
    if (on)
        end_launch(hook_name[id], NULL, &begun, result);
    if (on && result != CUDA_SUCCESS)
        refusal_graph(hook_name[id], exec, result);
    return hook_leave(on, result);
}

/* A function put into a graph may first run by a graph launch: its module must be ready by then.  graph: what the node
 * is in.  kernel: NULL = the node is of another kind. */
static void see_node(bool on, CUfunction function, const void *graph, const struct cu_kernel_node *kernel,
                     const struct site_registers *here)
{
    int kept = errno;
    if (on && function && kernel) {
        struct wsdbg_launch_row row = {.function = tracking_launch_function(function, contexts_current())};
        memcpy(row.grid, kernel->grid, sizeof row.grid);
        memcpy(row.block, kernel->block, sizeof row.block);
        launch_site_node(here, (uint64_t)(uintptr_t)graph, &row);
    }
    errno = kept;
}

static CUresult leave_node(bool on, enum wsdbg_hook_id id, CUfunction function, const struct cu_kernel_node *kernel,
                           CUresult result)
{
    if (on && kernel && result != CUDA_SUCCESS)
        refusal_node(hook_name[id], function, kernel, result);
    return hook_leave(on, result);
}

CUresult kernel_node_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                          size_t count, const struct cu_kernel_node *kernel)
{
    bool on = hook_enter();
    CUfunction function = kernel ? kernel->function : NULL;
    struct site_registers here;
    site_here(&here);
    see_node(on, function, graph, kernel, &here);
    return leave_node(
        on, id, function, kernel,
        ((CUresult(*)(void *, CUgraph, const void *, size_t, const void *))forward)(node, graph, nodes, count, kernel));
}

CUresult kernel_node_v2_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                             size_t count, const struct cu_kernel_node *kernel)
{
    bool on = hook_enter();
    CUfunction function = kernel ? graph_kernel_function(kernel) : NULL;
    struct site_registers here;
    site_here(&here);
    see_node(on, function, graph, kernel, &here);
    return leave_node(
        on, id, function, kernel,
        ((CUresult(*)(void *, CUgraph, const void *, size_t, const void *))forward)(node, graph, nodes, count, kernel));
}

/* The kernel of a node's parameters, NULL where it is of another kind. */
static const struct cu_kernel_node *node_kernel(const struct cu_graph_node *add)
{
    return add && add->type == CU_GRAPH_NODE_TYPE_KERNEL ? &add->kernel : NULL;
}

CUresult graph_node_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                         size_t count, struct cu_graph_node *add)
{
    bool on = hook_enter();
    const struct cu_kernel_node *kernel = node_kernel(add);
    CUfunction function = kernel ? graph_kernel_function(kernel) : NULL;
    struct site_registers here;
    site_here(&here);
    see_node(on, function, graph, kernel, &here);
    return leave_node(
        on, id, function, kernel,
        ((CUresult(*)(void *, CUgraph, const void *, size_t, void *))forward)(node, graph, nodes, count, add));
}

CUresult graph_node_v2_body(enum wsdbg_hook_id id, void *forward, void *node, CUgraph graph, const void *nodes,
                            const void *edges, size_t count, struct cu_graph_node *add)
{
    bool on = hook_enter();
    const struct cu_kernel_node *kernel = node_kernel(add);
    CUfunction function = kernel ? graph_kernel_function(kernel) : NULL;
    struct site_registers here;
    site_here(&here);
    see_node(on, function, graph, kernel, &here);
    return leave_node(on, id, function, kernel,
                      ((CUresult(*)(void *, CUgraph, const void *, const void *, size_t, void *))forward)(
                          node, graph, nodes, edges, count, add));
}

/* kernel: NULL = the node is of another kind. */
static CUresult leave_set(bool on, enum wsdbg_hook_id id, const void *exec, void *node,
                          const struct cu_kernel_node *kernel, CUresult result)
{
    const int kept = errno;
    if (on && kernel && result == CUDA_SUCCESS)
        graph_kernels_changed(exec, node, kernel, contexts_current());
    errno = kept;
    return leave_node(on, id, kernel ? graph_kernel_function(kernel) : NULL, kernel, result);
}

/* The first version's parameters end before `kernel`. */
static struct cu_kernel_node first_version(const struct cu_kernel_node *kernel)
{
    struct cu_kernel_node whole = {0};
    if (kernel)
        memcpy(&whole, kernel, offsetof(struct cu_kernel_node, kernel));
    return whole;
}

CUresult set_node_body(enum wsdbg_hook_id id, void *forward, void *exec, void *node,
                       const struct cu_kernel_node *kernel)
{
    bool on = hook_enter();
    const struct cu_kernel_node whole = first_version(kernel);
    struct site_registers here;
    site_here(&here);
    see_node(on, whole.function, exec, &whole, &here);
    return leave_set(on, id, exec, node, whole.function ? &whole : NULL,
                     ((CUresult(*)(void *, void *, const void *))forward)(exec, node, kernel));
}

CUresult set_node_v2_body(enum wsdbg_hook_id id, void *forward, void *exec, void *node,
                          const struct cu_kernel_node *kernel)
{
    bool on = hook_enter();
    CUfunction function = kernel ? graph_kernel_function(kernel) : NULL;
    struct site_registers here;
    site_here(&here);
    see_node(on, function, exec, kernel, &here);
    return leave_set(on, id, exec, node, function ? kernel : NULL,
                     ((CUresult(*)(void *, void *, const void *))forward)(exec, node, kernel));
}

CUresult set_any_node_body(enum wsdbg_hook_id id, void *forward, void *exec, void *node, struct cu_graph_node *with)
{
    bool on = hook_enter();
    const struct cu_kernel_node *kernel = node_kernel(with);
    CUfunction function = kernel ? graph_kernel_function(kernel) : NULL;
    struct site_registers here;
    site_here(&here);
    see_node(on, function, exec, kernel, &here);
    return leave_set(on, id, exec, node, function ? kernel : NULL,
                     ((CUresult(*)(void *, void *, void *))forward)(exec, node, with));
}

CUresult begin_capture_body(enum wsdbg_hook_id id, void *forward, CUstream stream, int mode)
{
    (void)id;
    bool on = hook_enter();
    captures_change(1);
    CUresult result = ((CUresult(*)(CUstream, int))forward)(stream, mode);
    if (result != CUDA_SUCCESS)
        captures_change(-1);
    return hook_leave(on, result);
}

CUresult capture_to_graph_body(enum wsdbg_hook_id id, void *forward, CUstream stream, CUgraph graph, const void *nodes,
                               const void *edges, size_t count, int mode)
{
    (void)id;
    bool on = hook_enter();
    captures_change(1);
    CUresult result = ((CUresult(*) CAPTURE_GRAPH_PARAMETERS)forward)(stream, graph, nodes, edges, count, mode);
    if (result != CUDA_SUCCESS)
        captures_change(-1);
    return hook_leave(on, result);
}

/* The errors after which a stream is still captured, or never was. */
static bool ended_capture(CUresult result)
{
    return result != CUDA_ERROR_INVALID_VALUE && result != CUDA_ERROR_INVALID_HANDLE &&
           result != CUDA_ERROR_ILLEGAL_STATE && result != CUDA_ERROR_STREAM_CAPTURE_UNMATCHED &&
           result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

CUresult end_capture_body(enum wsdbg_hook_id id, void *forward, CUstream stream, CUgraph *graph)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(CUstream, CUgraph *))forward)(stream, graph);
    if (ended_capture(result))
        captures_change(-1);
    return hook_leave(on, result);
}
