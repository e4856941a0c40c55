/* found.c - see found.h.  Writes: the warp's list of results, and how many the device has. */
#include "hopper/found.h"

#include <stdlib.h>

#include "base/grow.h"
#include "hopper/state.h"

/* Results of a warp, and of all warps that are on the device. */
enum { FOUND_MOST = 4096, DEVICE_FOUND_MOST = 1 << 19 };

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

static uint64_t *device_count(const struct hopper_warp *warp)
{
    return &warp->cta->grid->gpu->found_count;
}

static void give_up(const struct hopper_warp *warp, struct hopper_found *found)
{
    *device_count(warp) -= found->count;
    free(found->rows);
    *found = (struct hopper_found){.is_given_up = true};
}

void hopper_found_add(struct hopper_warp *warp, uint32_t lane, uint32_t instruction, uint64_t value)
{
    struct hopper_found *found = list_of(warp);
    if (!found || found->is_given_up)
        return;
    if (found->count == FOUND_MOST || *device_count(warp) == DEVICE_FOUND_MOST ||
        !wsdbg_grow((void **)&found->rows, &found->capacity, found->count + 1, sizeof *found->rows)) {
        give_up(warp, found);
        return;
    }
    ++*device_count(warp);
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
        give_up(warp, warp->found);
    free(warp->found);
    warp->found = NULL;
}
