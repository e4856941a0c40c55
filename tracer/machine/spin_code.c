/* spin_code.c - see spin_code.h.  Reads: joined code.  Writes: graphs of its functions. */
#include "machine/spin_code.h"

#include <stdlib.h>

#include "base/grow.h"

void wsdbg_spin_code_deinit(struct wsdbg_spin_code *code)
{
    for (size_t i = 0; i < code->function_count; i++)
        wsdbg_graph_destroy(code->functions[i].graph);
    free(code->functions);
    *code = (struct wsdbg_spin_code){0};
}

const struct wsdbg_graph *wsdbg_spin_graph(struct wsdbg_spin_code *code, uint32_t copy)
{
    if (!code->joined)
        return code->graph;
    const struct wsdbg_cubin_function *function = code->joined->copies[copy].function;
    for (size_t i = 0; i < code->function_count; i++)
        if (code->functions[i].function == function)
            return code->functions[i].graph;
    struct wsdbg_graph *graph = NULL;
    if (!wsdbg_grow((void **)&code->functions, &code->function_capacity, code->function_count + 1,
                    sizeof *code->functions))
        return NULL;
    wsdbg_error_destroy(wsdbg_graph_create_of_function(function, &graph));
    code->functions[code->function_count].function = function;
    code->functions[code->function_count++].graph = graph;
    return graph;
}

uint32_t wsdbg_spin_in_graph(const struct wsdbg_spin_code *code, struct wsdbg_spin_place place)
{
    if (!code->joined)
        return place.number;
    const struct wsdbg_joined_copy *copy = &code->joined->copies[place.copy];
    const uint32_t number =
        place.number < copy->count ? code->joined->places[copy->first + place.number] : WSDBG_GRAPH_NONE;
    return number < wsdbg_graph_instruction_count(code->graph) ? number : WSDBG_GRAPH_NONE;
}

bool wsdbg_spin_called(const struct wsdbg_spin_code *code, struct wsdbg_spin_place call, struct wsdbg_spin_place *out)
{
    for (uint32_t i = 0; code->joined && i < code->joined->copy_count; i++)
        if (code->joined->copies[i].caller == call.copy && code->joined->copies[i].call == call.number) {
            *out = (struct wsdbg_spin_place){i, 0};
            return true;
        }
    return false;
}

bool wsdbg_spin_returned(const struct wsdbg_spin_code *code, uint32_t copy, struct wsdbg_spin_place *out)
{
    if (!code->joined || code->joined->copies[copy].caller == WSDBG_GRAPH_NONE)
        return false;
    *out = (struct wsdbg_spin_place){code->joined->copies[copy].caller, code->joined->copies[copy].call + 1};
    return true;
}
