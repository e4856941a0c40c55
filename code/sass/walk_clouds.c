/* walk_clouds.c - see walk_clouds.h.  Reads and writes: the ranges. */
#include "sass/walk_clouds.h"

#include <string.h>

bool walk_clouds_have(const struct walk_clouds *clouds, uint32_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < clouds->count; i++)
        if (address < clouds->ranges[i].end && clouds->ranges[i].first < address + bytes)
            return true;
    return false;
}

static void remove_from(struct walk_clouds *clouds, uint32_t at, uint32_t count)
{
    memmove(&clouds->ranges[at], &clouds->ranges[at + count], (clouds->count - at - count) * sizeof *clouds->ranges);
    clouds->count -= count;
}

/* The first of the two neighbours with the fewest bytes between them. */
static uint32_t nearest(const struct walk_clouds *clouds)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i + 1 < clouds->count; i++)
        if (clouds->ranges[i + 1].first - clouds->ranges[i].end <
            clouds->ranges[best + 1].first - clouds->ranges[best].end)
            best = i;
    return best;
}

static void make_room(struct walk_clouds *clouds)
{
    const uint32_t at = nearest(clouds);
    clouds->ranges[at].end = clouds->ranges[at + 1].end;
    remove_from(clouds, at + 1, 1);
}

void walk_clouds_add(struct walk_clouds *clouds, uint32_t address, uint32_t bytes)
{
    struct walk_cloud added = {address, address + bytes};
    uint32_t at = 0, end;
    if (clouds->count == WALK_CLOUDS_MOST && !walk_clouds_have(clouds, address, bytes))
        make_room(clouds);
    while (at < clouds->count && clouds->ranges[at].end < added.first)
        at++;
    for (end = at; end < clouds->count && clouds->ranges[end].first <= added.end; end++) {
        added.first = clouds->ranges[end].first < added.first ? clouds->ranges[end].first : added.first;
        added.end = clouds->ranges[end].end > added.end ? clouds->ranges[end].end : added.end;
    }
    if (end > at) {
        clouds->ranges[at] = added;
        remove_from(clouds, at + 1, end - at - 1);
        return;
    }
    memmove(&clouds->ranges[at + 1], &clouds->ranges[at], (clouds->count - at) * sizeof *clouds->ranges);
    clouds->ranges[at] = added;
    clouds->count++;
}
