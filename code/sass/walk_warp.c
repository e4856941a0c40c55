/* walk_warp.c - see walk_warp.h.  Shuffles as the PTX manual defines shfl.sync, votes as vote.sync.
 *
 * Reads: registers of all lanes.  Writes: the registers that the instruction writes, what is kept in the plan.
 */
#include "sass/walk_warp.h"

#include "base/grow.h"
#include "sass/walk_ways.h"

enum { MODE_BIT = 58, VOTE_MODE_BIT = 72 - 64, MODES = 3, LANE_BITS = 31, SEGMENT_SHIFT = 8, TIMES_MOST = 1 << 14 };
enum { SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY };
enum { VOTE_ALL, VOTE_ANY };

static bool is_vote(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_VOTE || instruction->operation == WSDBG_OP_VOTEU;
}

static bool is_match(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_MATCH;
}

static bool is_reduction(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_REDUX;
}

/* Whether it is known that the lane takes part together with exactly the other lanes of `here`.  PTX names the lanes
 * behind the other sources.  In machine code those that are there take part; where WARPSYNC waited only for some,
 * others may come later. */
static bool takes_part(const struct walk_lane *lane, const struct wsdbg_instruction *instruction, uint32_t here)
{
    const unsigned mask_at = instruction->operation == WSDBG_OP_SHFL ? 3 : 1;
    uint32_t mask = 0;
    if (wsdbg_thread_executes(lane->state, instruction) != WSDBG_TRUTH_YES)
        return false;
    if (wsdbg_is_machine_code(instruction))
        return !lane->group->is_partial || (here != UINT32_MAX && !(here & ~lane->group->awaited));
    return instruction->source_count > mask_at && walk_value(lane, &instruction->sources[mask_at], 0, &mask) &&
           mask == UINT32_MAX;
}

/* ---- shuffles ---- */

/* From which lane it takes; false: its own, as the other one is not in range. */
static bool source_lane(unsigned mode, uint32_t lane, uint32_t by, uint32_t pieces, uint32_t *from)
{
    const uint32_t segment = pieces >> SEGMENT_SHIFT & LANE_BITS, clamp = pieces & LANE_BITS;
    const uint32_t least = lane & segment, most = least | (clamp & ~segment);
    bool is_in_range = false;
    by &= LANE_BITS;
    *from = mode == SHUFFLE_UP     ? lane - by
            : mode == SHUFFLE_DOWN ? lane + by
            : mode == SHUFFLE_BFLY ? lane ^ by
                                   : least | (by & ~segment);
    if (mode == SHUFFLE_UP)
        is_in_range = (int32_t)*from >= (int32_t)most;
    else
        is_in_range = *from <= most;
    if (!is_in_range)
        *from = lane;
    return is_in_range;
}

static void shuffle(struct walk_lane lanes[WSDBG_WALK_LANES], uint32_t here,
                    const struct wsdbg_instruction *instruction, struct wsdbg_walk_exchange *out)
{
    const unsigned mode =
        wsdbg_is_machine_code(instruction) ? instruction->words[0] >> MODE_BIT & MODES : instruction->mode;
    uint32_t values[WSDBG_WALK_LANES], known = 0;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        known |= (uint32_t)walk_value(&lanes[lane], &instruction->sources[0], 0, &values[lane]) << lane;
    known &= here;
    out->is_told = known & 1;
    out->told = values[0];
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        uint32_t by, pieces, from;
        if (!walk_value(&lanes[lane], &instruction->sources[1], 0, &by) ||
            !walk_value(&lanes[lane], &instruction->sources[2], 0, &pieces))
            continue;
        const bool is_in_range = source_lane(mode, lane, by, pieces, &from);
        out->predicates |= (uint32_t)is_in_range << lane;
        out->predicates_known |= (uint32_t)1 << lane;
        if (!(known >> from & 1))
            continue;
        out->values[lane] = values[from];
        out->known |= (uint32_t)1 << lane;
    }
}

/* ---- votes ---- */

static void vote(struct walk_lane lanes[WSDBG_WALK_LANES], uint32_t here, const struct wsdbg_instruction *instruction,
                 struct wsdbg_walk_exchange *out)
{
    const unsigned mode =
        wsdbg_is_machine_code(instruction) ? instruction->words[1] >> VOTE_MODE_BIT & MODES : instruction->mode;
    uint32_t yes = 0, no = 0;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        const enum wsdbg_truth truth = wsdbg_thread_predicate(lanes[lane].state, &instruction->sources[0]);
        yes |= (uint32_t)(truth == WSDBG_TRUTH_YES) << lane;
        no |= (uint32_t)(truth == WSDBG_TRUTH_NO) << lane;
    }
    yes &= here;
    no &= here;
    const bool all_known = (yes | no) == here, differ = yes && no;
    const bool holds = mode == VOTE_ALL ? yes == here : mode == VOTE_ANY ? yes != 0 : !differ;
    const bool decided = all_known || (mode == VOTE_ALL ? no != 0 : mode == VOTE_ANY ? yes != 0 : differ);
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        out->values[lane] = yes;
    out->known = all_known ? UINT32_MAX : 0;
    out->predicates = holds ? UINT32_MAX : 0;
    out->predicates_known = decided ? UINT32_MAX : 0;
}

/* ---- comparisons and sums ---- */

/* Where values have two words these are both compared. */
static bool value_of(const struct walk_lane *lane, const struct wsdbg_instruction *instruction, uint64_t *value)
{
    uint32_t low = 0, high = 0;
    const bool is_known =
        walk_value(lane, &instruction->sources[0], 0, &low) &&
        (instruction->sources[0].registers < 2 || walk_value(lane, &instruction->sources[0], 1, &high));
    *value = (uint64_t)high << 32 | low;
    return is_known;
}

/* ANY: each lane gets the lanes that have the same value as it; ALL: all lanes, if all have the same, or none. */
static void match(struct walk_lane lanes[WSDBG_WALK_LANES], const struct wsdbg_instruction *instruction,
                  struct wsdbg_walk_exchange *out)
{
    uint64_t values[WSDBG_WALK_LANES];
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        if (!value_of(&lanes[lane], instruction, &values[lane]))
            return;
    bool are_same = true;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        for (uint32_t other = 0; other < WSDBG_WALK_LANES; other++) {
            are_same &= values[lane] == values[other];
            out->values[lane] |= (uint32_t)(values[lane] == values[other]) << other;
        }
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES && instruction->mode == WSDBG_MATCH_ALL_LANES; lane++)
        out->values[lane] = are_same ? UINT32_MAX : 0;
    out->known = out->predicates_known = UINT32_MAX;
    out->predicates = are_same ? UINT32_MAX : 0;
}

static uint32_t combine(const struct wsdbg_instruction *instruction, uint32_t a, uint32_t b)
{
    const bool is_less = instruction->is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (instruction->mode) {
    case WSDBG_REDUCE_OR:
        return a | b;
    case WSDBG_REDUCE_XOR:
        return a ^ b;
    case WSDBG_REDUCE_SUM:
        return a + b;
    case WSDBG_REDUCE_MIN:
        return is_less ? a : b;
    case WSDBG_REDUCE_MAX:
        return is_less ? b : a;
    default:
        return a & b;
    }
}

static void reduce(struct walk_lane lanes[WSDBG_WALK_LANES], const struct wsdbg_instruction *instruction,
                   struct wsdbg_walk_exchange *out)
{
    uint32_t result = 0, value;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        if (instruction->mode > WSDBG_REDUCE_MAX || !walk_value(&lanes[lane], &instruction->sources[0], 0, &value))
            return;
        result = lane ? combine(instruction, result, value) : value;
    }
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        out->values[lane] = result;
    out->known = UINT32_MAX;
}

/* ---- uniform registers ---- */

/* A warp has one set of them: the lanes that execute the copy write the register for all.  `executed`: those lanes.
 * False: of some lane it is not known whether it executes. */
static bool lend(struct walk_lane lanes[WSDBG_WALK_LANES], const struct wsdbg_instruction *instruction,
                 struct wsdbg_walk_exchange *out)
{
    uint32_t executed = 0, value = 0;
    bool is_known = true;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        const enum wsdbg_truth executes = wsdbg_thread_executes(lanes[lane].state, instruction);
        uint32_t own;
        if (executes == WSDBG_TRUTH_UNKNOWN)
            return false;
        if (executes == WSDBG_TRUTH_NO)
            continue;
        is_known =
            is_known && walk_value(&lanes[lane], &instruction->sources[0], 0, &own) && (!executed || own == value);
        value = is_known ? own : 0;
        executed |= (uint32_t)1 << lane;
    }
    *out = (struct wsdbg_walk_exchange){.is_there = true, .is_left = !executed, .known = is_known ? UINT32_MAX : 0};
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        out->values[lane] = value;
    return true;
}

/* ---- what is kept ---- */

static bool keep(struct wsdbg_walk_told *told, const struct wsdbg_walk_exchange *exchange)
{
    if (!wsdbg_walk_tell(told, exchange->is_told, exchange->told))
        return false;
    if (told->times >= TIMES_MOST)
        return true;
    const size_t first = told->exchange_count;
    if (!wsdbg_grow((void **)&told->exchanges, &told->exchange_capacity, told->times + 1, sizeof *told->exchanges))
        return false;
    for (size_t i = first; i < told->times; i++)
        told->exchanges[i] = (struct wsdbg_walk_exchange){0};
    told->exchanges[told->times] = *exchange;
    told->exchange_count = told->times + 1;
    return true;
}

/* `here`: the lanes that are at the instruction. */
static bool exchange_now(struct walk_group *group, uint32_t here, const struct wsdbg_instruction *instruction,
                         struct wsdbg_walk_exchange *out)
{
    struct walk_lane lanes[WSDBG_WALK_LANES];
    bool all_do = true;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++)
        lanes[lane] = walk_group_lane(group, lane);
    if (wsdbg_walk_is_lent(instruction))
        return lend(lanes, instruction, out);
    for (uint32_t left = here; left; left &= left - 1)
        all_do &= takes_part(&lanes[__builtin_ctz(left)], instruction, here);
    if (!all_do)
        return false;
    *out = (struct wsdbg_walk_exchange){.is_there = true};
    if (is_vote(instruction))
        vote(lanes, here, instruction, out);
    else if (is_match(instruction))
        match(lanes, instruction, out);
    else if (is_reduction(instruction))
        reduce(lanes, instruction, out);
    else
        shuffle(lanes, here, instruction, out);
    return true;
}

static void write_lane(struct walk_group *group, const struct wsdbg_instruction *instruction, uint32_t lane,
                       const struct wsdbg_walk_exchange *exchange)
{
    struct walk_lane to = walk_group_lane(group, lane);
    bool has_predicate = false;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *operand = &instruction->destinations[i];
        const uint32_t known = wsdbg_is_predicate(operand) ? exchange->predicates_known : exchange->known;
        const uint32_t value = wsdbg_is_predicate(operand) ? exchange->predicates >> lane & 1 : exchange->values[lane];
        walk_set_register(to.state, operand, known >> lane & 1 && !(wsdbg_is_predicate(operand) && has_predicate),
                          value);
        has_predicate |= wsdbg_is_predicate(operand);
    }
}

/* Lanes that left the group, and cannot have come to the instruction since. */
static uint32_t lanes_gone(const struct walk_group *group, uint32_t number)
{
    const bool *ways = group->left ? walk_ways_to(group->plan, number) : NULL;
    uint32_t gone = 0;
    for (uint32_t left = ways ? group->left : 0; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        gone |= (uint32_t)!ways[group->left_to[lane]] << lane;
    }
    return gone;
}

/* Whether all lanes that are not with the group are known to be elsewhere, and machine code thus asks those that are.
 */
static bool is_alone_here(const struct walk_group *group, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    const uint32_t known = group->lanes | group->beside | group->apart.lanes | group->elsewhere;
    return wsdbg_is_machine_code(instruction) && (is_vote(instruction) || instruction->operation == WSDBG_OP_SHFL) &&
           (known == UINT32_MAX || (known | lanes_gone(group, number)) == UINT32_MAX);
}

bool walk_warp_exchange(struct walk_group *group, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    struct wsdbg_walk_told *told = wsdbg_walk_told_at(group->plan, number);
    const bool is_shuffle = instruction->operation == WSDBG_OP_SHFL && instruction->source_count >= 3;
    const bool is_lent = wsdbg_walk_is_lent(instruction);
    struct wsdbg_walk_exchange exchange = {0};
    const bool is_other = is_vote(instruction) || is_match(instruction) || is_reduction(instruction);
    if (!told || !(is_shuffle || is_lent || (is_other && instruction->source_count)))
        return false;
    walk_group_spread_operands(group, number);
    const uint32_t followed = group->lanes | group->beside;
    if (followed == UINT32_MAX) {
        if (!exchange_now(group, followed, instruction, &exchange) && !is_lent)
            return false;
        const bool is_whole = group->lanes == UINT32_MAX; /* else another group may execute it more often */
        if (!is_whole && is_shuffle && (exchange.known & group->lanes) != group->lanes)
            return false;
        if (group->leader == 0 &&
            !(is_whole ? keep(told, &exchange) : wsdbg_walk_tell(told, exchange.is_told, exchange.told)))
            group->error = &wsdbg_error_no_memory;
    } else if (told->times < told->exchange_count && (is_lent || told->exchanges[told->times].is_there)) {
        exchange = told->exchanges[told->times];
    } else if (!is_alone_here(group, number) || !exchange_now(group, followed, instruction, &exchange)) {
        return false;
    }
    told->times++;
    if (!exchange.is_there)
        return false;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES && !exchange.is_left; lane++)
        if (followed >> lane & 1)
            write_lane(group, instruction, lane, &exchange);
    walk_group_compare_written(group, number);
    return true;
}
