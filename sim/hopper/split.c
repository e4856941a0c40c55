/* split.c - lanes of a warp part, meet and leave: independent thread scheduling.
 *
 * A warp is a few splits, each lanes at one instruction with one stack of calls.  Splits that stand at the same place
 * are made one.  The split that runs is the one furthest behind (deepest call, lowest instruction), so lanes meet again
 * where their ways join; after STREAK instructions another one gets a turn, so that nobody starves behind a loop.
 */
#include "hopper/split.h"

#include <string.h>

#include "hopper/values.h"

enum { STREAK = 4096, TURN = 256 };

static bool is_same_place(const struct hopper_split *a, const struct hopper_split *b)
{
    return a->pc == b->pc && a->depth == b->depth &&
           memcmp(a->returns, b->returns, a->depth * sizeof a->returns[0]) == 0;
}

static void remove_split(struct hopper_warp *warp, uint32_t at)
{
    warp->splits[at] = warp->splits[--warp->split_count];
}

/* Fewer splits than lanes are ever there: each has a lane of its own. */
void hopper_split_add(struct hopper_warp *warp, const struct hopper_split *from, uint32_t lanes, uint32_t pc)
{
    struct hopper_split *added = &warp->splits[warp->split_count++];
    *added = *from;
    added->lanes = lanes;
    added->pc = pc;
    added->wait.kind = HOPPER_RUNS;
    added->again = false;
    added->loop = (struct hopper_loop){0};
}

void hopper_split_merge(struct hopper_warp *warp)
{
    for (uint32_t i = 0; i < warp->split_count; i++)
        for (uint32_t k = i + 1; k < warp->split_count;) {
            struct hopper_split *split = &warp->splits[i];
            if (!is_same_place(split, &warp->splits[k])) {
                k++;
                continue;
            }
            split->lanes |= warp->splits[k].lanes;
            split->wait.kind = HOPPER_RUNS;
            split->loop = (struct hopper_loop){0};
            remove_split(warp, k);
        }
}

static bool is_behind(const struct hopper_split *a, const struct hopper_split *b)
{
    return a->depth != b->depth ? a->depth > b->depth : a->pc < b->pc;
}

struct hopper_split *hopper_split_choose_of_several(struct hopper_warp *warp)
{
    struct hopper_split *first = NULL, *last = NULL;
    for (uint32_t i = 0; i < warp->split_count; i++) {
        struct hopper_split *split = &warp->splits[i];
        if (!hopper_split_can_run(split))
            continue;
        if (!first || is_behind(split, first))
            first = split;
        if (!last || split->turns < last->turns)
            last = split;
    }
    if (!first || first == last)
        return first;
    warp->streak++;
    struct hopper_split *chosen = warp->streak > STREAK ? last : first;
    if (warp->streak >= STREAK + TURN)
        warp->streak = 0;
    if (warp->streak == STREAK + 1)
        chosen->turns++;
    return chosen;
}

void hopper_exit_lanes(struct wsdbg_gpu *gpu, struct hopper_warp *warp, struct hopper_split *split, uint32_t lanes)
{
    warp->live &= ~lanes;
    split->lanes &= ~lanes;
    if (!split->lanes)
        remove_split(warp, (uint32_t)(split - warp->splits));
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (warp->splits[i].wait.kind == HOPPER_WAITS_LANES)
            warp->splits[i].again = true;
    hopper_lanes_exited(warp, lanes);
    hopper_changed_barrier(warp->cta);
    if (!warp->live)
        hopper_warp_done(gpu, warp);
}

/* `ret`, and the end of a function. */
void hopper_return(struct hopper_step *step, uint32_t lanes)
{
    struct hopper_split *split = step->split;
    const uint32_t rest = split->lanes & ~lanes;
    if (rest) {
        hopper_split_add(step->warp, split, rest, split->pc + 1);
        split->lanes = lanes;
    }
    if (split->depth == 0)
        hopper_exit_lanes(step->gpu, step->warp, split, lanes);
    else
        split->pc = split->returns[--split->depth];
}

enum hopper_outcome hopper_gather(struct hopper_step *step, uint32_t members)
{
    const uint32_t missing = members & step->warp->live & ~step->lanes;
    if (!missing)
        return HOPPER_NEXT;
    step->split->wait = (struct hopper_wait){.kind = HOPPER_WAITS_LANES, .lanes_missing = missing};
    return HOPPER_BLOCKED;
}
