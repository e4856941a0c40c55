/* app_graphs.c - a scenario of app.c: kernels in graphs. */
#include "app.h"

static struct cu_kernel_node kernel_of(CUfunction function, uint32_t grid, uint32_t block)
{
    return (struct cu_kernel_node){.function = function, .grid = {grid, 1, 1}, .block = {block, 1, 1}};
}

/* Two nodes alike, clusters of two CTAs, and a graph inside; then one node is changed, and then all of it. */
void graph_kernels(void)
{
    static const uint32_t pair[3] = {2, 1, 1};
    CUmodule module;
    CUgraph inner = NULL, graph = NULL;
    void *node = NULL, *child = NULL, *exec = NULL;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "plain", &module);
    struct cu_kernel_node kernel = kernel_of(function, 3, 96);
    if (DO(cuGraphCreate, &inner, 0) || DO(cuGraphCreate, &graph, 0))
        return;
    DO(cuGraphAddKernelNode, &node, inner, NULL, 0, &kernel);
    kernel = kernel_of(function, 2, 64);
    for (int i = 0; i < 2; i++) {
        if (DO(cuGraphAddKernelNode, &node, graph, NULL, 0, &kernel))
            return;
        DO(cuGraphKernelNodeSetAttribute, node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pair);
    }
    DO(cuGraphAddChildGraphNode, &child, graph, NULL, 0, inner);
    if (DO(cuGraphInstantiate, &exec, graph, 0))
        return;
    DO(cuGraphLaunch, exec, NULL);
    DO(cuGraphExecUpdate, exec, graph, NULL);
    DO(cuGraphLaunch, exec, NULL);
    DO(cuGraphExecUpdate, exec, inner, NULL);
    DO(cuGraphLaunch, exec, NULL);
    kernel = kernel_of(function, 0, 64);
    DO(cuGraphExecKernelNodeSetParams, exec, node, &kernel);
    DO(cuGraphLaunch, exec, NULL);
    kernel = kernel_of(function, 5, 64);
    for (int i = 0; i < 3; i++)
        DO(cuGraphExecKernelNodeSetParams, exec, node, &kernel);
    DO(cuGraphLaunch, exec, NULL);
    DO(cuGraphLaunch, inner, NULL);
}
