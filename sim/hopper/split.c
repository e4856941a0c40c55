/* split.c - lanes of a warp part, meet and leave: independent thread scheduling.
 *
 * A warp is a few splits, each lanes at one instruction with one stack of calls.  Splits that stand at the same place
 * are made one.  Where ways of a branch join, lanes let the others catch up, as on hardware; but nobody waits there for
 * lanes that wait themselves, and after STREAK instructions another split gets a turn, so that nobody starves behind a
 * loop.
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

void hopper_split_remove(struct hopper_warp *warp, uint32_t at)
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

static void push_meet(struct hopper_split *split, uint32_t meet)
{
    if (meet == WSDBG_PTX_NONE || (split->meet_count && split->meets[split->meet_count - 1] == meet))
        return;
    if (split->meet_count == HOPPER_MEETS) /* the outermost is given up */
        memmove(split->meets, split->meets + 1, --split->meet_count * sizeof split->meets[0]);
    split->meets[split->meet_count++] = meet;
}

void hopper_split_part(struct hopper_warp *warp, struct hopper_split *split, uint32_t lanes, uint32_t pc, uint32_t meet)
{
    push_meet(split, meet);
    hopper_split_add(warp, split, lanes, pc);
    split->lanes &= ~lanes;
}

/* It stands where it is to meet others. */
static bool is_at_meet(const struct hopper_split *split)
{
    return split->meet_count && split->meets[split->meet_count - 1] == split->pc;
}

static void leave_meet(struct hopper_split *split)
{
    while (is_at_meet(split))
        split->meet_count--;
}

void hopper_split_merge(struct hopper_warp *warp)
{
    for (uint32_t i = 0; i < warp->split_count; i++)
        for (uint32_t k = i + 1; k < warp->split_count;) {
            struct hopper_split *split = &warp->splits[i], *other = &warp->splits[k];
            if (!is_same_place(split, other)) {
                k++;
                continue;
            }
            split->lanes |= other->lanes;
            split->wait.kind = HOPPER_RUNS;
            split->loop = (struct hopper_loop){0};
            split->reads_global |= other->reads_global;
            split->polls_global |= other->polls_global;
            if (other->meet_count < split->meet_count)
                split->meet_count = other->meet_count;
            hopper_split_remove(warp, k);
        }
    if (warp->split_count == 1) /* there is nobody else to meet */
        warp->splits[0].meet_count = 0;
}

/* Which of two is to run: not one that has met already, the deepest call, the lowest instruction. */
static bool is_behind(const struct hopper_split *a, const struct hopper_split *b)
{
    const bool a_met = is_at_meet(a), b_met = is_at_meet(b);
    if (a_met != b_met)
        return b_met;
    if (a_met && a->meet_count != b->meet_count)
        return a->meet_count > b->meet_count;
    return a->depth != b->depth ? a->depth > b->depth : a->pc < b->pc;
}

/* The first instruction behind the split's where it can meet another split, or others are to be asked again. */
static uint32_t next_place(const struct hopper_warp *warp, const struct hopper_split *split)
{
    uint32_t next = split->meet_count ? split->meets[split->meet_count - 1] : UINT32_MAX;
    if (next <= split->pc)
        next = UINT32_MAX;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (warp->splits[i].pc > split->pc && warp->splits[i].pc < next)
            next = warp->splits[i].pc;
    return next;
}

bool hopper_split_goes_on(struct hopper_warp *warp, const struct hopper_split *split)
{
    if (split->pc >= warp->alone_until || (warp->keeps_others_waiting && warp->streak >= STREAK))
        return false;
    warp->streak += warp->keeps_others_waiting;
    return true;
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
    struct hopper_split *chosen = first;
    if (first != last && ++warp->streak > STREAK) {
        chosen = last;
        if (warp->streak == STREAK + TURN) {
            warp->streak = 0;
            chosen->turns++;
        }
    }
    if (chosen)
        leave_meet(chosen);
    warp->alone_until = chosen && chosen == first ? next_place(warp, chosen) : 0;
    warp->keeps_others_waiting = first != last;
    return chosen;
}

enum hopper_outcome hopper_gather(struct hopper_step *step, uint32_t members)
{
    const uint32_t missing = members & step->warp->live & ~step->lanes;
    if (!missing)
        return HOPPER_NEXT;
    step->split->wait = (struct hopper_wait){.kind = HOPPER_WAITS_LANES, .lanes_missing = missing};
    return HOPPER_BLOCKED;
}
