/* found.c - see found.h.  Reads: the warp's program counter.  Writes: the warp's list of results. */
#include "hopper/found.h"

#include <stdlib.h>

#include "base/grow.h"
#include "hopper/state.h"

enum { FOUND_MOST = 4096 };

struct hopper_found {
    struct wsdbg_gpu_found *rows;
    size_t count, capacity;
    bool is_given_up; /* there were too many, or no memory */
};

static struct hopper_found *list_of(struct hopper_warp *warp)
{
    if (!warp->found)
        warp->found = calloc(1, sizeof *warp->found);
    return warp->found;
}

void hopper_found_add(struct hopper_warp *warp, uint32_t lane, uint32_t instruction, uint64_t value)
{
    struct hopper_found *found = list_of(warp);
    if (!found || found->is_given_up)
        return;
    if (found->count == FOUND_MOST ||
        !wsdbg_grow((void **)&found->rows, &found->capacity, found->count + 1, sizeof *found->rows)) {
        found->is_given_up = true;
        found->count = 0;
        return;
    }
    found->rows[found->count++] = (struct wsdbg_gpu_found){.lane = lane, .instruction = instruction, .value = value};
}

const struct wsdbg_gpu_found *hopper_found_rows(const struct hopper_warp *warp, uint32_t *count)
{
    *count = warp->found ? (uint32_t)warp->found->count : 0;
    return warp->found ? warp->found->rows : NULL;
}

void hopper_found_free(struct hopper_warp *warp)
{
    if (warp->found)
        free(warp->found->rows);
    free(warp->found);
    warp->found = NULL;
}
