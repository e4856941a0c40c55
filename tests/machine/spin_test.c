/* spin_test.c - which lanes go round in a circle that only looks at memory: kernels of spins.cu, executed from their
 * start with parameters and memory of this test.
 *
 * Reads the cubin that nvcc makes of spins.cu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/spin.h"
#include "sass/cubin.h"

#define MEMORY UINT64_C(0x700000000) /* the address of the words below, which is the first parameter */
enum { WORDS = 64, NEXT = 48, OUT = 56, PARAMETERS = 0x210, FILE_BYTES_MOST = 1 << 20 };

/* Parameters: the words; a word behind them (the queue's `next`, or where results go); then numbers. */
struct launch {
    uint32_t words[WORDS];
    uint64_t parameters[4];
};

static bool constant_of(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const struct launch *launch = context;
    const uint32_t at = offset_bytes - PARAMETERS;
    *value = 0;
    if (bank == 0 && at < sizeof launch->parameters)
        memcpy(value, (const char *)launch->parameters + at, sizeof *value);
    return bank == 0;
}

static bool special_of(void *context, uint32_t number, uint32_t *value)
{
    (void)context;
    *value = 0;
    return number < 0x50 || number > 0x53; /* not the clock */
}

static bool global_of(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    const struct launch *launch = context;
    (void)is_generic;
    if (address < MEMORY || address - MEMORY >= sizeof launch->words)
        return false;
    memcpy(value, (const char *)launch->words + (address - MEMORY), sizeof *value);
    return true;
}

static struct wsdbg_cubin *open_cubin(char **bytes)
{
    struct wsdbg_cubin *cubin;
    struct wsdbg_image image = {0};
    FILE *file = fopen(WSDBG_SPINS, "rb");
    assert_non_null(file);
    *bytes = malloc(FILE_BYTES_MOST);
    assert_non_null(*bytes);
    image.bytes = (unsigned char *)*bytes;
    image.byte_count = fread(*bytes, 1, FILE_BYTES_MOST, file);
    fclose(file);
    assert_null(wsdbg_cubin_open(&image, &cubin));
    return cubin;
}

static struct wsdbg_graph *graph_of(const struct wsdbg_cubin *cubin, const char *kernel)
{
    struct wsdbg_graph *graph = NULL;
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++)
        if (strcmp(wsdbg_cubin_function(cubin, i)->name, kernel) == 0)
            assert_null(wsdbg_graph_create_of_function(wsdbg_cubin_function(cubin, i), &graph));
    if (!graph)
        fail_msg("no kernel %s", kernel);
    return graph;
}

static bool spins(const struct wsdbg_graph *graph, struct launch *launch, struct wsdbg_spin *spin)
{
    const struct wsdbg_thread_world world = {
        .context = launch, .constant = constant_of, .special = special_of, .global = global_of};
    static const struct wsdbg_thread_state nothing;
    struct wsdbg_spin_code code = {.graph = graph};
    return wsdbg_spin_find(&code, (struct wsdbg_spin_place){0, 0}, &nothing, &world, spin);
}

enum { NO = -1 };
static const struct row {
    const char *says, *kernel;
    uint32_t words[WORDS];
    uint64_t second, third, fourth; /* parameters; 0: the word OUT */
    int word;                       /* that is polled, NO: none is */
    bool may_time_out;
} rows[] = {
    {"the queue is empty: the cell in turn is polled",
     "wait_at_queue",
     {[6] = 3, [NEXT] = 3},
     MEMORY + 4 * NEXT,
     0,
     0,
     6,
     false},
    {"the queue has something, which the lane takes",
     "wait_at_queue",
     {[6] = 4, [NEXT] = 3},
     MEMORY + 4 * NEXT,
     0,
     0,
     NO,
     false},
    {"three of four flags are there", "wait_for_all", {[0] = 1, [4] = 1, [8] = 1}, 0, 4, 0, 12, false},
    {"all flags are there", "wait_for_all", {[0] = 1, [4] = 1, [8] = 1, [12] = 1}, 0, 4, 0, NO, false},
    {"flags, up to a moment", "wait_for_all_until", {[0] = 1}, 0, 4, 1000, 12, true},
    {"flags, so many times", "wait_for_all_some_rounds", {[0] = 1}, 0, 4, 0, 12, true},
    {"a word that leads to itself", "wait_at_last_of_chain", {[0] = 5, [5] = 5}, 0, 0, 0, 5, false},
    {"words that lead to one another", "wait_at_last_of_chain", {[0] = 5, [5] = 5 + 16}, 0, 0, 0, 5, false},
    {"words that lead to the end", "wait_at_last_of_chain", {[0] = 5, [5] = 7, [7] = 99}, 0, 0, 0, NO, false},
    {"a table that decides nothing", "work_with_table", {1, 2, 3}, 0, 1000, 0, NO, false},
    {"a table that decides what is counted", "work_and_count", {1, 2, 3, 4, 5, 6, 7, 8}, 0, 1000, 0, NO, false},
    {"an array, word by word", "work_along_array", {1, 2, 3}, 0, 0, 0, NO, false},
    {"a flag, and a barrier in each round", "work_and_meet", {0}, 0, 0x3f0000003f000000, 0, NO, false},
    {"a flag, and a store in each round", "work_and_store", {0}, 0, 0, 0, NO, false},
};

static void check(const struct wsdbg_cubin *cubin, const struct row *row)
{
    struct wsdbg_graph *graph = graph_of(cubin, row->kernel);
    struct wsdbg_spin spin = {0};
    struct launch launch = {
        .parameters = {MEMORY, row->second ? row->second : MEMORY + 4 * OUT, row->third, row->fourth}};
    memcpy(launch.words, row->words, sizeof launch.words);
    const bool found = spins(graph, &launch, &spin);
    wsdbg_graph_destroy(graph);
    if (found != (row->word != NO))
        fail_msg("%s: %s", row->says, found ? "spins" : "does not spin");
    if (!found)
        return;
    const uint64_t word = (spin.address - MEMORY) / 4;
    if (spin.may_time_out != row->may_time_out || spin.is_shared || word != (uint64_t)row->word ||
        spin.value != launch.words[word])
        fail_msg("%s: word %u, value %u, time limit %d", row->says, (unsigned)word, (unsigned)spin.value,
                 spin.may_time_out);
}

static void a_lane_that_only_looks_spins_and_one_that_works_does_not(void **state)
{
    char *bytes;
    struct wsdbg_cubin *cubin = open_cubin(&bytes);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(cubin, &rows[i]);
    wsdbg_cubin_close(cubin);
    free(bytes);
}

/* What is not known cannot be followed. */
static void nothing_is_said_where_memory_is_not_known(void **state)
{
    char *bytes;
    struct wsdbg_cubin *cubin = open_cubin(&bytes);
    struct wsdbg_graph *graph = graph_of(cubin, "wait_for_all");
    struct launch launch = {.parameters = {MEMORY + sizeof launch.words, MEMORY + 4 * OUT, 4}};
    struct wsdbg_spin spin;
    (void)state;
    assert_false(spins(graph, &launch, &spin));
    wsdbg_graph_destroy(graph);
    wsdbg_cubin_close(cubin);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_that_only_looks_spins_and_one_that_works_does_not),
        cmocka_unit_test(nothing_is_said_where_memory_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
