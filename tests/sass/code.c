/* code.c - see code.h. */
#include "sass/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct wsdbg_graph *graph_of(const struct step *steps, size_t count)
{
    struct wsdbg_instruction *instructions = calloc(count ? count : 1, sizeof *instructions);
    struct wsdbg_graph *graph = NULL;
    for (size_t i = 0; i < count; i++)
        instructions[i] = (struct wsdbg_instruction){
            .operation = steps[i].operation,
            .guard = steps[i].is_guarded ? 0 : WSDBG_PT,
            .has_target = steps[i].target != NOWHERE,
            .target_offset_bytes = (steps[i].target - (int64_t)i) * WSDBG_INSTRUCTION_BYTES,
            .is_whole = true,
        };
    assert_null(wsdbg_graph_create_decoded(instructions, count, &graph));
    free(instructions);
    return graph;
}
