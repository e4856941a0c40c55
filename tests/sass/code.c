/* code.c - see code.h. */
#include "sass/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS_MOST = 64 }; /* of a table's targets */

struct wsdbg_graph *graph_of(const struct step *steps, size_t count)
{
    struct wsdbg_instruction *instructions = calloc(count ? count : 1, sizeof *instructions);
    struct wsdbg_way *ways = calloc(count * ROWS_MOST + 1, sizeof *ways);
    size_t way_count = 0;
    struct wsdbg_graph *graph = NULL;
    for (size_t i = 0; i < count; i++)
        instructions[i] = (struct wsdbg_instruction){
            .operation = steps[i].operation,
            .guard = steps[i].is_guarded ? 0 : WSDBG_PT,
            .has_target = steps[i].target != NOWHERE,
            .target_offset_bytes = (steps[i].target - (int64_t)i) * WSDBG_INSTRUCTION_BYTES,
            .is_whole = true,
        };
    for (size_t i = 0; i < count; i++)
        for (uint32_t to = 0; to < ROWS_MOST; to++)
            if (steps[i].cases >> to & 1)
                ways[way_count++] = (struct wsdbg_way){(uint32_t)i, to, to};
    assert_null(wsdbg_graph_create_with_ways(instructions, count, ways, way_count, &graph));
    free(ways);
    free(instructions);
    return graph;
}
