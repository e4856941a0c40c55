/* split.h - lanes of a warp part, meet and leave; see split.c. */
#ifndef WSDBG_HOPPER_SPLIT_H
#define WSDBG_HOPPER_SPLIT_H

#include "hopper/device.h"

void hopper_split_add(struct hopper_warp *warp, const struct hopper_split *from, uint32_t lanes, uint32_t pc);
/* Lanes part at a branch: `lanes` of the split go to `pc`, to meet the others again at `meet` (NONE = nowhere). */
void hopper_split_part(struct hopper_warp *warp, struct hopper_split *split, uint32_t lanes, uint32_t pc,
                       uint32_t meet);
/* The last one takes its place. */
void hopper_split_remove(struct hopper_warp *warp, uint32_t at);
/* Makes splits at the same place one. */
void hopper_split_merge(struct hopper_warp *warp);
/* The split to run next of several, NULL = every one waits. */
struct hopper_split *hopper_split_choose_of_several(struct hopper_warp *warp);

/* After a plain instruction of the split that was chosen of several: whether it would be chosen again, and nothing be
 * merged, so that neither needs a look at the others. */
bool hopper_split_goes_on(struct hopper_warp *warp, const struct hopper_split *split);

static inline bool hopper_split_can_run(const struct hopper_split *split)
{
    return split->wait.kind == HOPPER_RUNS || split->again;
}

static inline struct hopper_split *hopper_split_choose(struct hopper_warp *warp)
{
    if (warp->split_count > 1)
        return hopper_split_choose_of_several(warp);
    return hopper_split_can_run(&warp->splits[0]) ? &warp->splits[0] : NULL;
}

#endif
