/* hooks_graph.c - the hooks of graphs that are made ready to run or changed, and which of a graph's kernels the driver
 * refused.
 *
 * Reads: after the driver's call, the graph's nodes.  Writes: refusals; through graph_kernels.c what graphs hold.
 */
#include "hooks.h"

#include <errno.h>
#include <string.h>

#include "contexts.h"
#include "graph_kernels.h"
#include "libcuda.h"
#include "refusals.h"
#include "tracking.h"

enum { NODES_MOST = 256 }; /* of a graph, that are looked at */

/* False: it is no kernel, or the driver does not tell. */
static bool read_kernel(void *node, struct cu_kernel_node *out)
{
    int type = -1;
    return node && shim_driver.cuGraphNodeGetType && shim_driver.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS &&
           type == CU_GRAPH_NODE_TYPE_KERNEL && graph_kernel_read(node, out);
}

static bool is_beyond(CUfunction function, int attribute, uint64_t wanted)
{
    int most = 0;
    return shim_driver.cuFuncGetAttribute(&most, attribute, function) == CUDA_SUCCESS && most >= 0 &&
           wanted > (uint64_t)most;
}

/* Beyond what the kernel's own attributes allow. */
static bool is_too_large(const struct cu_kernel_node *kernel)
{
    CUlibrary library = NULL;
    const CUfunction function = tracking_look_into(graph_kernel_function(kernel), contexts_current(), &library);
    return function && (is_beyond(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                  (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2]) ||
                        is_beyond(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel->shared_bytes));
}

/* How many nodes the graph has, of those that are looked at. */
static size_t read_nodes(CUgraph graph, void *nodes[NODES_MOST])
{
    size_t count = NODES_MOST;
    if (!shim_driver.cuGraphGetNodes || shim_driver.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS)
        return 0;
    return count < NODES_MOST ? count : NODES_MOST;
}

/* The kernel that the driver blames, else the first that is too large.  Where the driver blames none it may leave what
 * was in the app's variable: only a node of the graph is asked about. */
static bool find_refused(CUgraph graph, const void *blamed, struct cu_kernel_node *out)
{
    void *nodes[NODES_MOST];
    const size_t count = read_nodes(graph, nodes);
    for (size_t i = 0; blamed && i < count; i++)
        if (nodes[i] == blamed && read_kernel(nodes[i], out))
            return true;
    for (size_t i = 0; i < count; i++)
        if (read_kernel(nodes[i], out) && is_too_large(out))
            return true;
    return false;
}

/* blamed: what the driver left as the node at fault, NULL = the call has no place for one. */
static void note_refused(enum wsdbg_hook_id id, CUgraph graph, const void *blamed, CUresult result)
{
    struct cu_kernel_node kernel;
    if (!graph || !refusal_is_about_launch(result))
        return;
    if (find_refused(graph, blamed, &kernel))
        refusal_node(hook_name[id], graph_kernel_function(&kernel), &kernel, result);
    else
        refusal_graph(hook_name[id], graph, result);
}

/* exec: where the driver left the handle of the ready graph. */
static CUresult leave_graph(bool on, enum wsdbg_hook_id id, void *const *exec, CUgraph graph, const void *blamed,
                            CUresult result)
{
    const int kept = errno;
    if (on && result != CUDA_SUCCESS)
        note_refused(id, graph, blamed, result);
    else if (on && exec)
        graph_kernels_made(*exec, graph, contexts_current());
    errno = kept;
    return hook_leave(on, result);
}

CUresult instantiate_body(enum wsdbg_hook_id id, void *forward, void *exec, CUgraph graph, uint64_t flags)
{
    bool on = hook_enter();
    return leave_graph(on, id, exec, graph, NULL,
                       ((CUresult(*)(void *, CUgraph, uint64_t))forward)(exec, graph, flags));
}

CUresult instantiate_log_body(enum wsdbg_hook_id id, void *forward, void *exec, CUgraph graph, void **node, char *log,
                              size_t bytes)
{
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(void *, CUgraph, void **, char *, size_t))forward)(exec, graph, node, log, bytes);
    return leave_graph(on, id, exec, graph, result != CUDA_SUCCESS && node ? *node : NULL, result);
}

CUresult instantiate_with_body(enum wsdbg_hook_id id, void *forward, void *exec, CUgraph graph,
                               struct cu_graph_instantiate *with)
{
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(void *, CUgraph, struct cu_graph_instantiate *))forward)(exec, graph, with);
    return leave_graph(on, id, exec, graph, result != CUDA_SUCCESS && with ? with->error_node : NULL, result);
}

/* The ready graph holds from now on what `graph` does. */
static CUresult leave_update(bool on, const void *exec, CUgraph graph, CUresult result)
{
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        graph_kernels_updated(exec, graph, contexts_current());
    errno = kept;
    return hook_leave(on, result);
}

CUresult update_log_body(enum wsdbg_hook_id id, void *forward, void *exec, CUgraph graph, void **node, int *why)
{
    (void)id;
    bool on = hook_enter();
    return leave_update(on, exec, graph,
                        ((CUresult(*)(void *, CUgraph, void **, int *))forward)(exec, graph, node, why));
}

CUresult update_body(enum wsdbg_hook_id id, void *forward, void *exec, CUgraph graph, void *why)
{
    (void)id;
    bool on = hook_enter();
    return leave_update(on, exec, graph, ((CUresult(*)(void *, CUgraph, void *))forward)(exec, graph, why));
}

/* Which kernels a changed inner graph holds instead is not looked at. */
CUresult set_child_body(enum wsdbg_hook_id id, void *forward, void *exec, void *node, CUgraph child)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(void *, void *, CUgraph))forward)(exec, node, child);
    const int kept = errno;
    if (on && result == CUDA_SUCCESS)
        graph_kernels_changed(exec, NULL, NULL, WSDBG_UNKNOWN32);
    errno = kept;
    return hook_leave(on, result);
}
