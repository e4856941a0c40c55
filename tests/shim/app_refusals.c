/* app_refusals.c - scenarios of app.c: launches, images, graphs and attributes that the fake driver refuses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app.h"
#include "wsdbg/session.h"

/* What a refused image says of its length leads into memory that is not there. */
static void load_nonsense(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    CUmodule module = NULL;
    char *two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (two == MAP_FAILED || munmap(two + page, (size_t)page))
        fail("mmap");
    memset(two, 'x', (size_t)page);
    char *elf = two + page - 64; /* sections a TiB away */
    memcpy(elf, "\177ELF\002\001\001", 8);
    DO(cuModuleLoadData, &module, elf);
    char *fatbin = two + page - 128;
    memcpy(fatbin, (uint32_t[]){0xba55ed50, 16 << 16 | 1, 4000000, 0}, 16);
    DO(cuModuleLoadData, &module, fatbin);
    char *text = two + page - 32; /* without an end */
    memset(text, 'y', 32);
    DO(cuModuleLoadData, &module, text);
    DO(cuModuleLoadData, &module, "a text with an end");
    munmap(two, (size_t)page);
}

/* The same refusals again and again, and one more shape. */
void refusals(void)
{
    CUmodule module;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "plain", &module);
    for (int i = 0; i < 3; i++)
        launch(function, 0, NULL);
    DO(cuLaunchKernel, function, 0, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    errno = 0;
    load_nonsense();
    printf("errno %d\n", errno);
    for (unsigned i = 0; i < 100; i++)
        DO(cuLaunchKernel, function, 0, 1, 1, i, 1, 1, 0, NULL, NULL, NULL);
}

static void instantiate(CUfunction function, unsigned grid, unsigned second_block)
{
    CUgraph graph = NULL;
    void *node = NULL, *exec = NULL;
    struct cu_kernel_node kernel = {.function = function, .grid = {grid, 1, 1}, .block = {128, 1, 1}};
    if (DO(cuGraphCreate, &graph, 0))
        return;
    DO(cuGraphAddKernelNode, &node, graph, NULL, 0, &kernel);
    kernel.block[0] = second_block;
    kernel.shared_bytes = 512;
    DO(cuGraphAddKernelNode, &node, graph, NULL, 0, &kernel);
    DO(cuGraphInstantiate, &exec, graph, 0);
}

/* The variable for the node at fault was never set. */
static void instantiate_blaming_nothing(void)
{
    CUgraph graph = NULL;
    void *exec = NULL;
    struct cu_graph_instantiate with = {.error_node = (void *)16};
    if (!DO(cuGraphCreate, &graph, 0))
        DO(cuGraphInstantiateWithParams, &exec, graph, &with);
}

/* Graphs that cannot be made ready: for the second node's CTA, for something else, and one that can. */
void graph_refusals(void)
{
    CUmodule module;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "plain", &module);
    errno = 0;
    instantiate(function, 7, 2048);
    instantiate(function, 0, 64);
    instantiate(function, 7, 64);
    instantiate_blaming_nothing();
    printf("errno %d\n", errno);
    launch(function, 1, NULL);
    DO(cuCtxSynchronize);
}

/* Of a kernel that nothing has loaded; then of one whose first launch is refused. */
void library_refusals(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    create(0);
    if (DO(cuLibraryLoadData, &library, FAKE_PLAIN_IMAGE, NULL, NULL, 0, NULL, NULL, 0) ||
        DO(cuLibraryGetKernel, &kernel, library, "plain"))
        return;
    DO(cuFuncSetAttribute, kernel, 8, 300000);
    for (unsigned i = 0; i < 2; i++)
        DO(cuLaunchKernel, kernel, 0, 1, 1, 32 << i, 1, 1, 0, NULL, NULL, NULL);
}

/* More different questions than are recorded; then a launch. */
void question_refusals(void)
{
    static char images[WSDBG_REFUSAL_ROWS + 8][32];
    CUmodule module = NULL;
    create(0);
    CUfunction function = function_of(FAKE_PLAIN_IMAGE, "plain", &module);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        DO(cuModuleLoadData, &module, strcpy(images[i], "no image"));
    DO(cuLaunchKernel, function, 0, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
}
