/* graph_kernels.c - which kernels a graph launch carries.
 *
 * Reads:  the nodes of a graph that was made ready to run, by the driver's queries and after the driver's call; graphs
 *         inside it too.  Errors of those queries are nobody's business but ours.
 * Writes: rows of graph_kernels, and which handle of a ready graph has which number.
 *
 * What is not looked at (nodes beyond a bound, nodes that choose a graph when they run, rows without room) is counted,
 * and launches of such a graph say so.
 */
#include "graph_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "libcuda.h"
#include "segment.h"
#include "state.h"
#include "tracking.h"

enum {
    NODES_MOST = 4096,  /* looked at, of one graph and the graphs in it */
    GRAPHS_MOST = 256,  /* inside one another or beside */
    KERNELS_MOST = 512, /* different ones, of one graph */
    UPDATES_MOST = 256, /* of ready graphs as a whole that are looked at: a program may make one for each launch */
    HANDLES = 2048,     /* of ready graphs */
    NEIGHBOURS = 8,     /* places at which a handle may stand */
    CHANGES = 1024      /* of nodes that are remembered */
};

/* value: number << 1 | partly known.  A handle that the driver gives out anew is written over.  The rows are those of
 * the last walk. */
struct ready_graph {
    _Atomic uint64_t handle, value;
    uint32_t first, count;
};
static struct ready_graph ready_graphs[HANDLES];
static _Atomic uint32_t graph_count, update_count;
static _Atomic uint64_t changes[CHANGES]; /* hashes of rows that changes of nodes gave */

/* What is found of one graph. */
struct walk {
    CUgraph graphs[GRAPHS_MOST]; /* to look at */
    uint32_t graph_count;
    uint32_t nodes_seen, nodes_left_out, kernel_count;
    uint32_t context;
    struct wsdbg_graph_kernel_row kernels[KERNELS_MOST];
};

/* ---- handles ---- */

static struct ready_graph *place_of(uint64_t handle, unsigned neighbour)
{
    return &ready_graphs[((handle * 0x9e3779b97f4a7c15ull >> 40) + neighbour) % HANDLES];
}

static struct ready_graph *find_ready(uint64_t handle)
{
    for (unsigned i = 0; i < NEIGHBOURS; i++)
        if (atomic_load(&place_of(handle, i)->handle) == handle)
            return place_of(handle, i);
    return NULL;
}

/* The caller holds the lock.  Where all places are taken an older graph is forgotten. */
static struct ready_graph *set_ready(uint64_t handle, uint64_t value)
{
    struct ready_graph *place = find_ready(handle);
    for (unsigned i = 0; !place && i < NEIGHBOURS; i++)
        if (atomic_load(&place_of(handle, i)->handle) == 0)
            place = place_of(handle, i);
    if (!place)
        place = place_of(handle, 0);
    atomic_store(&place->handle, 0);
    atomic_store(&place->value, value);
    atomic_store(&place->handle, handle);
    return place;
}

uint32_t graph_kernels_of(const void *exec, bool *partly)
{
    const uint64_t handle = (uint64_t)(uintptr_t)exec;
    const struct ready_graph *place = exec ? find_ready(handle) : NULL;
    const uint64_t value = place ? atomic_load(&place->value) : 0;
    if (!place || atomic_load(&place->handle) != handle)
        return 0;
    *partly = value & 1;
    return (uint32_t)(value >> 1);
}

/* ---- one kernel ---- */

bool graph_kernel_read(void *node, struct cu_kernel_node *out)
{
    *out = (struct cu_kernel_node){0};
    return shim_driver.cuGraphKernelNodeGetParams_v2 &&
           shim_driver.cuGraphKernelNodeGetParams_v2(node, out) == CUDA_SUCCESS && (out->function || out->kernel);
}

CUfunction graph_kernel_function(const struct cu_kernel_node *kernel)
{
    return kernel->function ? kernel->function : kernel->kernel;
}

static void read_cluster(void *node, uint32_t cluster[3])
{
    struct cu_launch_attribute attribute;
    memset(&attribute, 0, sizeof attribute);
    if (!shim_driver.cuGraphKernelNodeGetAttribute ||
        shim_driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &attribute.value) !=
            CUDA_SUCCESS)
        return;
    const uint32_t *given = attribute.value.cluster;
    if (given[0] && given[1] && given[2])
        memcpy(cluster, given, 3 * sizeof *cluster);
}

/* node: NULL = its cluster is not asked for. */
static struct wsdbg_graph_kernel_row row_of(const struct cu_kernel_node *kernel, void *node, uint32_t context)
{
    struct wsdbg_graph_kernel_row row;
    memset(&row, 0, sizeof row);
    row.function = tracking_launch_function(graph_kernel_function(kernel), context);
    memcpy(row.grid, kernel->grid, sizeof row.grid);
    memcpy(row.block, kernel->block, sizeof row.block);
    memset(row.cluster, 0xff, sizeof row.cluster);
    if (node)
        read_cluster(node, row.cluster);
    row.dynamic_shared_bytes = kernel->shared_bytes;
    return row;
}

/* ---- a graph's nodes ---- */

static void keep(struct walk *walk, const struct wsdbg_graph_kernel_row *row)
{
    for (uint32_t i = 0; i < walk->kernel_count; i++)
        if (memcmp(&walk->kernels[i], row, sizeof *row) == 0)
            return;
    if (walk->kernel_count < KERNELS_MOST)
        walk->kernels[walk->kernel_count++] = *row;
    else
        walk->nodes_left_out++;
}

static void visit(struct walk *walk, void *node)
{
    int type = -1;
    struct cu_kernel_node kernel;
    CUgraph inner = NULL;
    walk->nodes_seen++;
    if (shim_driver.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS || type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        walk->nodes_left_out++;
    } else if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
        if (graph_kernel_read(node, &kernel)) {
            const struct wsdbg_graph_kernel_row row = row_of(&kernel, node, walk->context);
            keep(walk, &row);
        } else {
            walk->nodes_left_out++;
        }
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
        if (walk->graph_count < GRAPHS_MOST && shim_driver.cuGraphChildGraphNodeGetGraph &&
            shim_driver.cuGraphChildGraphNodeGetGraph(node, &inner) == CUDA_SUCCESS && inner)
            walk->graphs[walk->graph_count++] = inner;
        else
            walk->nodes_left_out++;
    }
}

static void visit_all(struct walk *walk, CUgraph graph)
{
    size_t total = 0;
    if (shim_driver.cuGraphGetNodes(graph, NULL, &total) != CUDA_SUCCESS) {
        walk->nodes_left_out++;
        return;
    }
    const size_t room = NODES_MOST - walk->nodes_seen;
    size_t count = total < room ? total : room;
    void **nodes = calloc(count + 1, sizeof *nodes);
    if (!nodes || (count && shim_driver.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS))
        count = 0;
    if (count > total)
        count = total;
    for (size_t i = 0; i < count; i++)
        visit(walk, nodes[i]);
    walk->nodes_left_out += (uint32_t)(total - count);
    free(nodes);
}

/* ---- rows ---- */

/* The caller holds the lock.  False: there was no room. */
static bool add_row(struct wsdbg_segment *segment, const struct wsdbg_graph_kernel_row *row, uint32_t graph)
{
    const uint32_t at = segment->graph_kernel_count;
    if (at >= WSDBG_GRAPH_KERNEL_ROWS)
        return false;
    segment->graph_kernels[at] = *row;
    segment->graph_kernels[at].graph = graph;
    __atomic_store_n(&segment->graph_kernel_count, at + 1, __ATOMIC_RELEASE);
    return true;
}

/* Whether the rows of the graph are what the walk found, and all of it. */
static bool is_same(const struct wsdbg_segment *segment, const struct ready_graph *ready, const struct walk *walk)
{
    if (walk->nodes_left_out || ready->count != walk->kernel_count || (atomic_load(&ready->value) & 1))
        return false;
    for (uint32_t i = 0; i < walk->kernel_count; i++) {
        struct wsdbg_graph_kernel_row row = segment->graph_kernels[ready->first + i];
        row.graph = 0;
        if (memcmp(&row, &walk->kernels[i], sizeof row) != 0)
            return false;
    }
    return true;
}

/* The caller holds the lock. */
static void add_walk(struct wsdbg_segment *segment, uint64_t handle, const struct walk *walk)
{
    const uint32_t graph = atomic_fetch_add(&graph_count, 1) + 1, first = segment->graph_kernel_count;
    uint32_t left_out = walk->nodes_left_out, count = 0;
    for (uint32_t i = 0; i < walk->kernel_count; i++)
        count += add_row(segment, &walk->kernels[i], graph);
    left_out += walk->kernel_count - count;
    segment->graph_nodes_left_out += left_out;
    struct ready_graph *ready = set_ready(handle, (uint64_t)graph << 1 | (left_out > 0));
    ready->first = first;
    ready->count = count;
}

static void publish_walk(const void *exec, const struct walk *walk)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const uint64_t handle = (uint64_t)(uintptr_t)exec;
    if (!segment)
        return;
    shim_lock();
    const struct ready_graph *ready = find_ready(handle);
    if (!ready || !is_same(segment, ready, walk))
        add_walk(segment, handle, walk);
    shim_unlock();
}

void graph_kernels_made(const void *exec, CUgraph graph, uint32_t context)
{
    if (!exec || !graph || !shim_driver.cuGraphGetNodes || !shim_driver.cuGraphNodeGetType)
        return;
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return;
    walk->context = context;
    walk->graphs[walk->graph_count++] = graph;
    for (uint32_t i = 0; i < walk->graph_count; i++)
        visit_all(walk, walk->graphs[i]);
    publish_walk(exec, walk);
    free(walk);
}

void graph_kernels_updated(const void *exec, CUgraph graph, uint32_t context)
{
    if (atomic_fetch_add(&update_count, 1) < UPDATES_MOST)
        graph_kernels_made(exec, graph, context);
    else
        graph_kernels_changed(exec, NULL, NULL, context);
}

/* Programs change nodes before each launch: what was noted already costs no more than this. */
static bool is_noted(const struct wsdbg_graph_kernel_row *row)
{
    const uint64_t hash = hash_add(HASH_BEGIN, row, sizeof *row);
    return atomic_exchange(&changes[hash % CHANGES], hash) == hash;
}

/* A row of what the node was before stays. */
void graph_kernels_changed(const void *exec, void *node, const struct cu_kernel_node *kernel, uint32_t context)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    bool partly = false;
    const uint32_t graph = graph_kernels_of(exec, &partly);
    struct wsdbg_graph_kernel_row row;
    if (!graph || !segment)
        return;
    if (kernel) {
        row = row_of(kernel, node, context);
        row.graph = graph;
    }
    const bool is_new = kernel && !is_noted(&row);
    if (!is_new && partly)
        return;
    shim_lock();
    if (is_new && !add_row(segment, &row, graph))
        segment->graph_nodes_left_out++;
    set_ready((uint64_t)(uintptr_t)exec, (uint64_t)graph << 1 | 1);
    shim_unlock();
}
