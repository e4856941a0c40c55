/* fuzz_code.c - any bytes as the machine code of a function: its control flow, its accesses, what a warp may execute.
 * The last of them are also the compiler's notes of where branches lead. */
#include "fuzz/fuzz_targets.h"

#include <stdlib.h>

#include "sass/access.h"
#include "sass/threads.h"

#define CODE_MOST ((size_t)1 << 16)
enum { FIRST_THREAD = 32, WARP_THREADS = 32, NOTES_MOST = 64 };

/* Bank 0: a CTA of 128 threads, then whatever. */
static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    (void)context;
    *value = bank || offset_bytes > 8 ? offset_bytes * 3 : offset_bytes ? 1 : 128;
    return offset_bytes % 3 != 1;
}

static const struct wsdbg_launch_values launch = {.constant = constant};

static void walk(const struct wsdbg_graph *graph, const struct wsdbg_access *accesses, size_t count)
{
    const uint32_t instructions = wsdbg_graph_instruction_count(graph);
    uint64_t *set = calloc(instructions / 64 + 1, sizeof *set),
             *reached = calloc(instructions / 64 + 1, sizeof *reached);
    for (size_t i = 0; set && i < count; i++)
        set[accesses[i].instruction / 64] |= UINT64_C(1) << accesses[i].instruction % 64;
    for (size_t i = 0; set && reached && i < count && i < 8; i++) {
        uint8_t least, most;
        wsdbg_graph_reach_set(graph, accesses[i].instruction, set, reached);
        wsdbg_graph_passes(graph, 0, accesses[i].instruction, set, &least, &most);
    }
    free(set);
    free(reached);
}

static void read_graph(const struct wsdbg_graph *graph)
{
    struct wsdbg_access *accesses = NULL;
    size_t count = 0;
    struct wsdbg_error *error = wsdbg_accesses_find(graph, &launch, &accesses, &count);
    if (!error)
        walk(graph, accesses, count);
    wsdbg_error_destroy(error);
    free(accesses);
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    const struct wsdbg_image code = {bytes, count < CODE_MOST ? count : CODE_MOST};
    struct wsdbg_graph *graph = NULL, *of_warp = NULL;
    const size_t noted = code.byte_count < NOTES_MOST ? code.byte_count : NOTES_MOST;
    const struct wsdbg_cubin_function function = {.code = code,
                                                  .branch_records = {code.bytes + code.byte_count - noted, noted}};
    struct wsdbg_error *error = wsdbg_graph_create_of_function(&function, &graph);
    if (!error) {
        read_graph(graph);
        error = wsdbg_graph_create_for_threads(graph, &launch, FIRST_THREAD, WARP_THREADS, &of_warp);
    }
    if (!error)
        read_graph(of_warp);
    wsdbg_error_destroy(error);
    wsdbg_graph_destroy(of_warp);
    wsdbg_graph_destroy(graph);
    return 0;
}
