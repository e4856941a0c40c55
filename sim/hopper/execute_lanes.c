/* execute_lanes.c - what the lanes of a warp do together: shfl, vote, match, redux, elect, activemask, bar.warp.sync.
 *
 * The .sync forms first gather the lanes that their mask names; lanes that have exited are not waited for.
 */
#include "hopper/split.h"
#include "hopper/values.h"

/* Lanes that stand here with the same mask as `lane`. */
static uint32_t group_of(const struct hopper_step *step, const uint32_t *masks, unsigned lane)
{
    uint32_t group = 0;
    for (unsigned other = 0; other < HOPPER_LANES; other++)
        group |= (uint32_t)(masks[other] == masks[lane]) << other;
    return group & step->lanes;
}

/* Another split waits for the same mask's lanes at such an instruction as this one, be it this or another one. */
static bool is_at_such(const struct hopper_step *step, const struct hopper_split *split, uint32_t mask)
{
    const struct wsdbg_ptx_instruction *const own = step->instruction;
    const struct wsdbg_ptx_instruction *const other = &step->program->instructions[split->pc];
    return split != step->split && split->wait.kind == HOPPER_WAITS_LANES && mask && split->wait.lanes_named == mask &&
           other->operation == own->operation && other->variant == own->variant && other->type == own->type;
}

/* Lanes that exchange values do so at one instruction here: those of several, which hardware may let meet, would wait
 * for ever. */
static enum hopper_outcome wait_for(struct hopper_step *step, uint32_t mask)
{
    const struct hopper_warp *const warp = step->warp;
    const enum hopper_outcome outcome = hopper_gather(step, mask);
    if (outcome != HOPPER_BLOCKED)
        return outcome;
    step->split->wait.lanes_named = mask;
    for (uint32_t i = 0; step->instruction->operation != WSDBG_PTX_OP_bar_warp_sync && i < warp->split_count; i++)
        if (is_at_such(step, &warp->splits[i], mask))
            return hopper_fault(
                step, (unsigned)__builtin_ctz(step->lanes), HOPPER_ILLEGAL_INSTRUCTION,
                "lanes 0x%x of mask 0x%x are at another one, of PTX line %u: that they exchange values is "
                "not simulated",
                warp->splits[i].lanes, mask, step->program->instructions[warp->splits[i].pc].text_line);
    return outcome;
}

/* Waits for the lanes that mask operand `number` names; *members are those that take part.  Lanes may stand here with
 * different masks: one group that is whole goes on by itself, the others stay behind. */
static enum hopper_outcome gather(struct hopper_step *step, unsigned number, uint32_t *members)
{
    const uint32_t *masks = hopper_values32(step, number);
    uint32_t left = step->lanes;
    while (left) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t group = group_of(step, masks, lane);
        if ((masks[lane] & step->warp->live & ~step->lanes) == 0) {
            if (group != step->split->lanes && group != step->lanes) {
                hopper_split_add(step->warp, step->split, step->split->lanes & ~group, step->split->pc);
                step->split->lanes = group;
            }
            step->lanes = group;
            *members = masks[lane] & group;
            return HOPPER_NEXT;
        }
        left &= ~group;
    }
    return wait_for(step, masks[__builtin_ctz(step->lanes)]);
}

#define GATHER(mask_operand)                                                        \
    uint32_t members;                                                               \
    do {                                                                            \
        const enum hopper_outcome gathered_ = gather(step, mask_operand, &members); \
        if (gathered_ != HOPPER_NEXT)                                               \
            return gathered_;                                                       \
    } while (0)

/* Lanes that have one mask and stand at several instructions meet as well. */
enum hopper_outcome hopper_do_bar_warp_sync(struct hopper_step *step)
{
    struct hopper_warp *const warp = step->warp;
    const uint32_t mask = hopper_values32(step, 0)[__builtin_ctz(step->lanes)];
    uint32_t others = 0;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (is_at_such(step, &warp->splits[i], mask))
            others |= warp->splits[i].lanes;
    if (others && (mask & warp->live & ~(step->lanes | others)) == 0) {
        for (uint32_t i = 0; i < warp->split_count; i++)
            if (is_at_such(step, &warp->splits[i], mask)) {
                warp->splits[i].wait = (struct hopper_wait){.kind = HOPPER_RUNS};
                warp->splits[i].pc++;
            }
        return HOPPER_NEXT;
    }
    uint32_t members;
    const enum hopper_outcome outcome = gather(step, 0, &members);
    if (outcome == HOPPER_BLOCKED)
        step->split->wait.lanes_named = step->op->is_last ? 0 : mask; /* nothing is behind it to go on with */
    return outcome;
}

enum hopper_outcome hopper_do_activemask(struct hopper_step *step)
{
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, step->lanes);
    return HOPPER_NEXT;
}

/* ---- shfl ---- */

/* The lane that is read; *is_valid is its predicate. */
static unsigned shuffle_source(enum wsdbg_ptx_variant variant, unsigned lane, uint32_t by, uint32_t clamp,
                               bool *is_valid)
{
    const uint32_t segment = clamp >> 8 & 31, b = by & 31, c = clamp & 31;
    const int32_t least = (int32_t)(lane & segment), most = (int32_t)((lane & segment) | (c & ~segment));
    int32_t from;
    switch (variant) {
    case WSDBG_PTX_V_UP:
        from = (int32_t)lane - (int32_t)b;
        *is_valid = from >= most;
        break;
    case WSDBG_PTX_V_DOWN:
        from = (int32_t)(lane + b);
        *is_valid = from <= most;
        break;
    case WSDBG_PTX_V_BFLY:
        from = (int32_t)(lane ^ b);
        *is_valid = from <= most;
        break;
    default:
        from = least | (int32_t)(b & ~segment);
        *is_valid = from <= most;
    }
    return *is_valid ? (unsigned)from & 31 : lane;
}

enum hopper_outcome hopper_do_shfl(struct hopper_step *step)
{
    const bool has_predicate = step->instruction->flags & WSDBG_PTX_WITH_PREDICATE;
    const unsigned first = has_predicate ? 2 : 1;
    GATHER(first + 3);
    (void)members;
    uint32_t values[HOPPER_LANES], results[HOPPER_LANES] = {0}, valid = 0;
    memcpy(values, hopper_values32(step, first), sizeof values);
    const uint32_t *by = hopper_values32(step, first + 1), *clamp = hopper_values32(step, first + 2);
    HOPPER_LANES_OF (step->lanes) {
        bool is_valid;
        results[lane] = values[shuffle_source(step->instruction->variant, lane, by[lane], clamp[lane], &is_valid)];
        valid |= (uint32_t)is_valid << lane;
    }
    hopper_store32(step, 0, results);
    if (has_predicate)
        hopper_store_mask(step, 1, valid);
    return HOPPER_NEXT;
}

/* ---- vote, match, redux, elect ---- */

enum hopper_outcome hopper_do_vote(struct hopper_step *step)
{
    GATHER(2);
    const uint32_t trues = hopper_mask(step, 1) & members;
    switch (step->instruction->variant) {
    case WSDBG_PTX_V_BALLOT:
        HOPPER_LANES_OF (step->lanes)
            hopper_result(step, 0, lane, trues);
        break;
    case WSDBG_PTX_V_ALL:
        hopper_store_mask(step, 0, trues == members ? HOPPER_ALL : 0);
        break;
    case WSDBG_PTX_V_ANY:
        hopper_store_mask(step, 0, trues ? HOPPER_ALL : 0);
        break;
    default: /* UNI */
        hopper_store_mask(step, 0, trues == members || !trues ? HOPPER_ALL : 0);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_match(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const bool has_predicate = instruction->flags & WSDBG_PTX_WITH_PREDICATE;
    const unsigned first = has_predicate ? 2 : 1;
    GATHER(first + 1);
    const uint64_t mask = step->op->type_bytes == 8 ? UINT64_MAX : UINT32_MAX;
    uint32_t same[HOPPER_LANES] = {0};
    bool all_same = true;
    HOPPER_LANES_OF (members) {
        const uint64_t own = hopper_source(step, first, lane) & mask;
        for (unsigned other = 0; other < HOPPER_LANES; other++)
            if (members >> other & 1 && (hopper_source(step, first, other) & mask) == own)
                same[lane] |= 1u << other;
        all_same &= same[lane] == members;
    }
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, instruction->variant == WSDBG_PTX_V_ANY ? same[lane] : all_same ? members : 0);
    if (has_predicate)
        hopper_store_mask(step, 1, all_same ? HOPPER_ALL : 0);
    return HOPPER_NEXT;
}

static uint32_t reduce(enum wsdbg_ptx_variant variant, bool is_signed, uint32_t x, uint32_t y)
{
    const bool is_less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (variant) {
    case WSDBG_PTX_V_ADD:
        return x + y;
    case WSDBG_PTX_V_MIN:
        return is_less ? x : y;
    case WSDBG_PTX_V_MAX:
        return is_less ? y : x;
    case WSDBG_PTX_V_AND:
        return x & y;
    case WSDBG_PTX_V_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

enum hopper_outcome hopper_do_redux(struct hopper_step *step)
{
    GATHER(2);
    const uint32_t *values = hopper_values32(step, 1);
    const bool is_signed = step->instruction->type == WSDBG_PTX_S32;
    bool is_first = true;
    uint32_t result = 0;
    HOPPER_LANES_OF (members) {
        result = is_first ? values[lane] : reduce(step->instruction->variant, is_signed, result, values[lane]);
        is_first = false;
    }
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, result);
    return HOPPER_NEXT;
}

/* The lowest member is elected. */
enum hopper_outcome hopper_do_elect(struct hopper_step *step)
{
    GATHER(2);
    const unsigned leader = members ? (unsigned)__builtin_ctz(members) : 0;
    HOPPER_LANES_OF (step->lanes)
        hopper_result(step, 0, lane, leader);
    hopper_store_mask(step, 1, members ? 1u << leader : 0);
    return HOPPER_NEXT;
}
