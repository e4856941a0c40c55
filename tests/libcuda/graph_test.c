/* graph_test.c - graphs of the Driver API: nodes and edges, what is refused, launches in the order of the edges. */
#include "libcuda/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EDGES = 2 };

static struct cu_memset_node fill_of(CUdeviceptr to, unsigned value)
{
    return (struct cu_memset_node){.to = to, .value = value, .value_bytes = 4, .width = 1, .height = 1};
}

static unsigned read_word(CUdeviceptr from)
{
    unsigned value = 0;
    OK(cu.cuMemcpyDtoH_v2(&value, from, sizeof value));
    return value;
}

/* The edges say the order, not the order in which the nodes were made. */
static void nodes_run_in_the_order_of_their_edges(void **state)
{
    CUdeviceptr word;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode late, early, found;
    size_t count = 0;
    int type = -1;
    (void)state;
    OK(cu.cuMemAlloc_v2(&word, 4));
    const struct cu_memset_node two = fill_of(word, 2), one = fill_of(word, 1), five = fill_of(word, 5);
    struct cu_memset_node seen;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemsetNode(&late, graph, NULL, 0, &two, NULL));
    OK(cu.cuGraphAddMemsetNode(&early, graph, NULL, 0, &one, NULL));
    OK(cu.cuGraphAddDependencies(graph, &early, &late, 1));
    OK(cu.cuGraphGetRootNodes(graph, NULL, &count));
    assert_int_equal(count, 1);
    OK(cu.cuGraphGetRootNodes(graph, &found, &count));
    assert_ptr_equal(found, early);
    OK(cu.cuGraphNodeGetType(late, &type));
    assert_int_equal(type, CU_GRAPH_MEMSET);
    OK(cu.cuGraphMemsetNodeGetParams(late, &seen));
    assert_int_equal(seen.value, 2);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphUpload(exec, NULL));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(read_word(word), 2);
    OK(cu.cuGraphExecMemsetNodeSetParams(exec, late, &five, NULL));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(read_word(word), 5);
    OK(cu.cuGraphNodeSetEnabled(exec, late, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(read_word(word), 1);
    OK(cu.cuGraphExecDestroy(exec));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuGraphDestroy(graph));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphDestroy(graph));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphNodeGetType(late, &type));
    OK(cu.cuMemFree_v2(word));
}

static void edges_and_clones(void **state)
{
    CUgraph graph, clone;
    CUgraphExec exec;
    CUgraphNode nodes[3], from[EDGES], to[EDGES], found;
    size_t count = EDGES;
    (void)state;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OK(cu.cuGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1));
    OK(cu.cuGraphAddEmptyNode(&nodes[2], graph, &nodes[1], 1));
    OK(cu.cuGraphGetEdges_v2(graph, from, to, NULL, &count));
    assert_int_equal(count, 2);
    assert_ptr_equal(from[0], nodes[0]);
    assert_ptr_equal(to[1], nodes[2]);
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddDependencies(graph, &nodes[0], &nodes[0], 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphRemoveDependencies(graph, &nodes[0], &nodes[2], 1));
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphNodeFindInClone(&found, nodes[1], clone));
    assert_ptr_not_equal(found, nodes[1]);
    OK(cu.cuGraphAddDependencies(graph, &nodes[2], &nodes[0], 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0)); /* a circle */
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddEmptyNode(&found, clone, &nodes[0], 1));
    OK(cu.cuGraphInstantiateWithFlags(&exec, clone, 0));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroyNode(nodes[1]));
    count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 2);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(clone));
}

static void what_is_no_graph_is_refused(void **state)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    int mode = 3;
    const struct cu_memset_node nowhere = fill_of(64, 1);
    (void)state;
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphCreate(NULL, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphCreate(&graph, 1));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, (CUgraph)&mode, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuThreadExchangeStreamCaptureMode(&mode));
    OK(cu.cuGraphCreate(&graph, 0));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &nowhere, NULL));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuGraphAddEventRecordNode(&node, graph, NULL, 0, (CUevent)&mode));
    assert_cuda(CUDA_ERROR_INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 64));
    OK(cu.cuGraphDestroy(graph));
}

static void a_graph_is_drawn(void **state)
{
    CUgraph graph;
    CUgraphNode first, second;
    char path[] = "/tmp/graph_testXXXXXX", text[256];
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&first, graph, NULL, 0));
    OK(cu.cuGraphAddEmptyNode(&second, graph, &first, 1));
    OK(cu.cuGraphDebugDotPrint(graph, path, 0));
    const ssize_t count = read(fd, text, sizeof text - 1);
    assert_true(count > 0);
    text[count] = '\0';
    assert_non_null(strstr(text, "node_0 -> node_1"));
    assert_cuda(CUDA_ERROR_OPERATING_SYSTEM, cu.cuGraphDebugDotPrint(graph, "/nowhere/graph.dot", 0));
    OK(cu.cuGraphDestroy(graph));
    close(fd);
    unlink(path);
}

/* A graph that still has a kernel of a module that was unloaded is refused; it runs again with another kernel. */
static void a_graph_loses_the_kernels_of_an_unloaded_module(void **state)
{
    CUdeviceptr word;
    CUgraph graph, clone;
    CUgraphExec exec, second;
    CUgraphNode node;
    unsigned value = 5;
    struct cu_kernel_node seen;
    (void)state;
    OK(cu.cuMemAlloc_v2(&word, 4));
    OK(cu.cuMemsetD32_v2(word, 1, 1));
    void *parameters[] = {&word, &value};
    CUmodule module = load_kernels();
    struct cu_kernel_node given = {
        .function = find_kernel(module, "add"), .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &given));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuModuleUnload(module));
    assert_int_equal(read_word(word), 6);
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuGraphLaunch(exec, NULL));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuGraphKernelNodeGetParams_v2(node, &seen));
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphInstantiateWithFlags(&second, clone, 0));
    assert_cuda(CUDA_ERROR_INVALID_HANDLE, cu.cuGraphLaunch(second, NULL));
    OK(cu.cuGraphDebugDotPrint(graph, "/dev/null", 0));
    module = load_kernels();
    given.function = find_kernel(module, "add");
    OK(cu.cuGraphExecKernelNodeSetParams_v2(exec, node, &given));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(read_word(word), 11);
    OK(cu.cuGraphExecDestroy(second));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuModuleUnload(module));
}

/* A context that ends takes its captures along; the test's own context ends with one. */
static void a_capture_ends_with_its_context(void **state)
{
    CUcontext context;
    CUstream stream;
    (void)state;
    OK(cu.cuCtxCreate_v2(&context, 0, 0));
    OK(cu.cuStreamCreate(&stream, 0));
    OK(cu.cuStreamBeginCapture_v2(stream, 0));
    OK(cu.cuCtxDestroy_v2(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_run_in_the_order_of_their_edges, api_begin, api_end),
        cmocka_unit_test_setup_teardown(edges_and_clones, api_begin, api_end),
        cmocka_unit_test_setup_teardown(what_is_no_graph_is_refused, api_begin, api_end),
        cmocka_unit_test_setup_teardown(a_graph_is_drawn, api_begin, api_end),
        cmocka_unit_test_setup_teardown(a_graph_loses_the_kernels_of_an_unloaded_module, api_begin, api_end),
        cmocka_unit_test_setup_teardown(a_capture_ends_with_its_context, api_begin, api_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
