/* look_walks_seen.c - where the lanes of walks were seen, and whether walks come so far.  See look.h.
 *
 * Reads: parts, walks.  Writes: nothing.
 */
#include "machine/look.h"

uint32_t wsdbg_look_walks_place(const struct wsdbg_look_seen *seen, const struct wsdbg_snapshot *rows,
                                const struct wsdbg_code_function *kernel, uint32_t warp, uint32_t lane)
{
    const struct wsdbg_warp_row *row = &rows->warps[warp];
    for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++) {
        const struct wsdbg_look_part *part = &seen->parts[p];
        if (rows->parts[p].lanes >> lane & 1)
            return part->place.function == kernel && part->copies <= 1 ? part->place.instruction + 1 : 0;
    }
    return 0;
}

bool wsdbg_look_walks_stand_alike(const struct wsdbg_look_seen *seen, const struct wsdbg_snapshot *rows, uint32_t a,
                                  uint32_t b)
{
    const struct wsdbg_cta *one = &rows->ctas[a], *other = &rows->ctas[b];
    for (uint32_t w = 0; w < one->warp_count; w++) {
        const struct wsdbg_warp_row *self = &rows->warps[one->warp_first + w],
                                    *its = &rows->warps[other->warp_first + w];
        if (self->part_count != its->part_count)
            return false;
        for (uint32_t p = 0; p < self->part_count; p++) {
            const uint32_t i = self->part_first + p, k = its->part_first + p;
            if (rows->parts[i].lanes != rows->parts[k].lanes ||
                seen->parts[i].place.instruction != seen->parts[k].place.instruction)
                return false;
        }
    }
    return true;
}

bool wsdbg_look_walks_are_lost(const struct wsdbg_snapshot *rows, size_t first)
{
    for (size_t i = first; i < rows->walk_count; i++) {
        const struct wsdbg_warp_row *warp = &rows->warps[rows->walks[i].warp];
        for (uint32_t p = 0; !rows->walks[i].is_whole && p < warp->part_count; p++)
            if (rows->parts[warp->part_first + p].lanes & rows->walks[i].lanes)
                return true;
    }
    return false;
}

size_t wsdbg_look_walks_whole(const struct wsdbg_snapshot *rows, size_t first, size_t end)
{
    size_t whole = 0;
    for (size_t i = first; i < end; i++)
        whole += rows->walks[i].is_whole ? (size_t)__builtin_popcount(rows->walks[i].lanes) : 0;
    return whole;
}
