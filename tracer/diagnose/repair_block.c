/* repair_block.c - repairs of barriers for all threads of a CTA to which only some warps come: they leave them out.
 * See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 */
#include "diagnose/repair_trial.h"

#include <stdlib.h>

enum { BLOCKS_MOST = 32 }; /* instructions that come to such a barrier */

struct blocks {
    uint32_t access[BLOCKS_MOST], count;
    uint32_t *of; /* by agent: a bit for each of them that it executes */
};

static bool is_block_wide(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_SYNC && step->number == 0 && step->access != WSDBG_NONE;
}

/* The number of an instruction, which is added if it is new; BLOCKS_MOST = there are too many. */
static uint32_t number_of(struct blocks *blocks, uint32_t access)
{
    uint32_t i = 0;
    while (i < blocks->count && blocks->access[i] != access)
        i++;
    if (i == blocks->count && i < BLOCKS_MOST)
        blocks->access[blocks->count++] = access;
    return i;
}

/* False: memory ran out, or there are too many instructions. */
static bool read_blocks(const struct wsdbg_trial *t, struct blocks *blocks)
{
    blocks->of = calloc(t->replay->agent_count + 1, sizeof *blocks->of);
    for (uint32_t i = 0; blocks->of && i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            const uint32_t number = is_block_wide(&a->steps[k]) ? number_of(blocks, a->steps[k].access) : 0;
            if (number == BLOCKS_MOST)
                return false;
            blocks->of[i] |= is_block_wide(&a->steps[k]) ? (uint32_t)1 << number : 0;
        }
    }
    return blocks->of;
}

/* Whether in some CTA one warp executes the instruction and another one never does. */
static bool is_of_some(const struct wsdbg_trial *t, const struct blocks *blocks, uint32_t number)
{
    for (uint32_t cta = 0; cta < t->c->cta_count; cta++) {
        struct wsdbg_warp_set all = {{0}}, some = {{0}};
        for (uint32_t i = 0; i < t->replay->agent_count; i++) {
            if (t->replay->agents[i].cta != cta)
                continue;
            wsdbg_set_add(&all, t->replay->agents[i].warp);
            if (blocks->of[i] >> number & 1)
                wsdbg_set_add(&some, t->replay->agents[i].warp);
        }
        if (wsdbg_set_count(&some) && wsdbg_set_count(&some) < wsdbg_set_count(&all))
            return true;
    }
    return false;
}

/* Whether threads that never execute the instruction come to the barrier by one that those who execute it never do. The
 * two may be meant to meet. */
static bool has_counterpart(const struct wsdbg_trial *t, const struct blocks *blocks, uint32_t number)
{
    uint32_t of_those = 0, of_others = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        *(blocks->of[i] >> number & 1 ? &of_those : &of_others) |= blocks->of[i];
    return of_others & ~of_those;
}

/* Leaves out every use of the barrier by the instruction; true if that works. */
static bool leave_out(struct wsdbg_trial *t, uint32_t access)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_BLOCK};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (!is_block_wide(&a->steps[k]) || a->steps[k].access != access)
                continue;
            wsdbg_set_add(&repair.warps, a->warp);
            repair.named = a->steps[k].address;
            if (!wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = i, .step = k}))
                return false;
        }
    }
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool stands_at_one(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_NAMED && is_block_wide(&t->replay->agents[i].steps[t->at[i]]))
            return true;
    return false;
}

/* Warps that come to such a barrier alone may go on with the others, who come to the next one, and stand there. */
void wsdbg_try_blocks(struct wsdbg_trial *t)
{
    struct blocks blocks = {.count = 0};
    bool works = !stands_at_one(t) || !read_blocks(t, &blocks);
    for (uint32_t i = 0; i < blocks.count && !works; i++)
        works = is_of_some(t, &blocks, i) && !has_counterpart(t, &blocks, i) && leave_out(t, blocks.access[i]);
    free(blocks.of);
}
