/* walk_group.c - see walk_group.h.  The lanes of a group, their registers, and the barriers that they pass.
 *
 * Reads: the plan.  Writes: registers.
 */
#include "sass/walk_group.h"

#include <string.h>

#include "sass/walk_tickets.h"
#include "sass/walk_tokens.h"

enum { SPECIAL_CTA_RANK = 136, RANK_SHIFT = 24, WORD_BITS = 64 };

/* ---- the lanes ---- */

struct walk_group walk_group_begin(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *worlds,
                                   uint32_t lanes)
{
    const uint32_t leader = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    plan->states[leader] = (struct wsdbg_thread_state){0};
    plan->lanes = leader == 0 ? lanes : plan->lanes;
    plan->is_some_lost &= leader != 0;
    for (size_t i = 0; i < plan->told_count; i++) {
        plan->told[i].times = 0;
        memset(plan->told[i].executed, 0, sizeof plan->told[i].executed);
        plan->told[i].has_loaded = plan->told[i].is_polling = false;
        plan->told[i].count = leader == 0 ? 0 : plan->told[i].count;
        plan->told[i].exchange_count = leader == 0 ? 0 : plan->told[i].exchange_count;
    }
    walk_tickets_begin(plan);
    for (uint32_t i = 0; i < plan->graph->instruction_count; i++) {
        const uint32_t now = plan->issued[i].now, before = plan->issued[i].before;
        plan->issued[i].before = leader == 0 ? 0 : now > before ? now : before;
        plan->issued[i].now = 0;
    }
    return (struct walk_group){.plan = plan,
                               .worlds = worlds,
                               .leader = leader,
                               .lanes = lanes,
                               .beside = plan->exchanges && plan->lanes == UINT32_MAX ? ~lanes : 0,
                               .states = plan->states,
                               .place = {.walk = plan->walks++}};
}

struct walk_lane walk_group_lane(struct walk_group *group, uint32_t lane)
{
    return (struct walk_lane){group, &group->states[lane], &group->worlds[lane], lane};
}

struct walk_lane walk_group_leader(struct walk_group *group)
{
    return walk_group_lane(group, group->leader);
}

static bool next_of(struct walk_group *group, uint32_t lanes, uint32_t *at, struct walk_lane *out)
{
    const uint32_t left = *at < WSDBG_WALK_LANES ? lanes >> *at << *at & ~((uint32_t)1 << group->leader) : 0;
    if (!left)
        return false;
    *out = walk_group_lane(group, (uint32_t)__builtin_ctz(left));
    *at = out->lane + 1;
    return true;
}

bool walk_group_next(struct walk_group *group, uint32_t *at, struct walk_lane *out)
{
    return next_of(group, group->lanes, at, out);
}

bool walk_group_next_followed(struct walk_group *group, uint32_t *at, struct walk_lane *out)
{
    return next_of(group, group->lanes | group->beside, at, out);
}

static bool is_alone(const struct walk_group *group)
{
    const uint32_t followed = group->lanes | group->beside;
    return !(followed & (followed - 1));
}

void walk_group_drop(struct walk_group *group, uint32_t lane)
{
    group->lanes &= ~((uint32_t)1 << lane);
    if (group->plan->exchanges && group->plan->lanes == UINT32_MAX)
        group->beside |= (uint32_t)1 << lane;
}

static bool has(const uint64_t *set, unsigned reg)
{
    return set[reg / WORD_BITS] >> reg % WORD_BITS & 1;
}

void walk_copy_register(struct wsdbg_thread_state *to, const struct wsdbg_thread_state *from, unsigned written,
                        unsigned read)
{
    to->known[written] = from->known[read];
    to->value[written] = from->value[read];
    to->bits[written] = from->bits[read];
    to->high_known[written] = from->high_known[read];
    to->high[written] = from->high[read];
}

static bool reads_special(const struct wsdbg_instruction *instruction)
{
    bool reads = false;
    for (unsigned i = 0; i < instruction->source_count; i++)
        reads |= instruction->sources[i].kind == WSDBG_OPERAND_SPECIAL;
    return reads;
}

static void put(uint64_t *set, unsigned reg, bool is_in)
{
    const uint64_t bit = (uint64_t)1 << reg % WORD_BITS;
    set[reg / WORD_BITS] = is_in ? set[reg / WORD_BITS] | bit : set[reg / WORD_BITS] & ~bit;
}

/* Gives the lanes a register that all have alike. */
static void spread(struct walk_group *group, unsigned reg)
{
    struct walk_lane lane;
    if (reg >= WSDBG_REGISTER_COUNT || has(group->varies, reg) || has(group->spread, reg))
        return;
    for (uint32_t at = 0; walk_group_next_followed(group, &at, &lane);)
        walk_copy_register(lane.state, &group->states[group->leader], reg, reg);
    put(group->spread, reg, true);
}

/* Only the leader has what holds for all lanes. */
static void keep_with_leader(struct walk_group *group, unsigned reg)
{
    put(group->varies, reg, false);
    put(group->spread, reg, false);
}

/* An instruction that may not execute leaves what it would write. */
static void spread_written(struct walk_group *group, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[i].registers; part++)
            spread(group, wsdbg_register_of(&instruction->destinations[i], part));
}

void walk_group_spread_operands(struct walk_group *group, uint32_t instruction)
{
    const struct wsdbg_lists *reads = &group->plan->reads;
    for (uint32_t i = reads->first[instruction]; i < reads->first[instruction + 1]; i++)
        spread(group, reads->numbers[i]);
    spread_written(group, &group->plan->graph->instructions[instruction]);
}

void walk_group_spread(struct walk_group *group, const uint64_t *registers)
{
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (!registers || has(registers, reg))
            spread(group, reg);
}

/* Whether the lanes hold a register alike; the leader's is then that of all.  Lanes that left may have been those that
 * made it vary. */
static bool agree(struct walk_group *group, unsigned reg)
{
    const struct wsdbg_thread_state *first = &group->states[group->leader];
    struct walk_lane lane;
    bool differs = false;
    for (uint32_t at = 0; !differs && walk_group_next_followed(group, &at, &lane);)
        differs = lane.state->known[reg] != first->known[reg] || lane.state->value[reg] != first->value[reg] ||
                  lane.state->bits[reg] != first->bits[reg] || lane.state->high_known[reg] != first->high_known[reg] ||
                  lane.state->high[reg] != first->high[reg];
    if (differs || !group->apart.lanes) /* a lane that comes back may hold another value */
        put(group->varies, reg, differs);
    put(group->spread, reg, !differs);
    return !differs;
}

bool walk_group_parts(struct walk_group *group, uint32_t instruction)
{
    const struct wsdbg_lists *reads = &group->plan->reads;
    bool parts = false;
    if (is_alone(group))
        return false;
    for (uint32_t i = reads->first[instruction]; i < reads->first[instruction + 1]; i++)
        parts |= has(group->varies, reads->numbers[i]) && !agree(group, reads->numbers[i]);
    if (!parts && !reads_special(&group->plan->graph->instructions[instruction]))
        return false;
    walk_group_spread_operands(group, instruction);
    return true;
}

/* ---- values ---- */

bool walk_value(const struct walk_lane *lane, const struct wsdbg_operand *operand, unsigned part, uint32_t *value)
{
    const struct wsdbg_operand general = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    uint32_t base = 0, added = 0;
    if (operand->kind != WSDBG_OPERAND_MEMORY)
        return wsdbg_thread_operand(lane->state, lane->world, operand, part, value);
    if (!wsdbg_thread_operand(lane->state, lane->world, &general, part, &base) ||
        (part == 0 && !wsdbg_thread_operand(lane->state, lane->world, &uniform, 0, &added)))
        return false;
    *value = base + added + (part ? 0 : (uint32_t)operand->value);
    return true;
}

bool walk_source(const struct walk_lane *lane, const struct wsdbg_instruction *instruction, int source, int part,
                 uint32_t *value)
{
    return instruction->is_whole && source >= 0 && source < instruction->source_count &&
           walk_value(lane, &instruction->sources[source], (unsigned)part, value);
}

void walk_set_word(struct wsdbg_thread_state *state, unsigned reg, bool known, uint32_t value)
{
    wsdbg_thread_forget(state, reg);
    state->known[reg] = known;
    state->bits[reg] = known ? UINT32_MAX : 0;
    state->value[reg] = known ? value : 0;
}

void walk_set_register(struct wsdbg_thread_state *state, const struct wsdbg_operand *to, bool known, uint32_t value)
{
    const unsigned reg = wsdbg_register_of(to, 0);
    if (reg != WSDBG_REGISTER_NONE)
        walk_set_word(state, reg, known, value);
}

static void compare_written(struct walk_group *group, const struct wsdbg_instruction *instruction, bool parts)
{
    if (is_alone(group))
        return;
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[i].registers; part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[i], part);
            if (reg < WSDBG_REGISTER_COUNT && parts)
                agree(group, reg);
            else if (reg < WSDBG_REGISTER_COUNT)
                keep_with_leader(group, reg);
        }
}

void walk_group_compare_written(struct walk_group *group, uint32_t instruction)
{
    compare_written(group, &group->plan->graph->instructions[instruction], true);
}

void walk_group_agree_written(struct walk_group *group, uint32_t instruction)
{
    compare_written(group, &group->plan->graph->instructions[instruction], false);
}

static void set_predicates(const struct walk_lane *lane, const struct wsdbg_instruction *instruction, bool value)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (wsdbg_is_predicate(&instruction->destinations[i]))
            walk_set_register(lane->state, &instruction->destinations[i], true, value);
}

void walk_group_set_predicates(struct walk_group *group, uint32_t number, bool value)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    const struct walk_lane leader = walk_group_leader(group);
    const bool parts = walk_group_parts(group, number);
    struct walk_lane lane;
    set_predicates(&leader, instruction, value);
    for (uint32_t at = 0; parts && walk_group_next_followed(group, &at, &lane);)
        if (wsdbg_thread_executes(lane.state, instruction) == WSDBG_TRUTH_YES)
            set_predicates(&lane, instruction, value);
    compare_written(group, instruction, parts);
}

void walk_group_forget(struct walk_group *group, const uint64_t *registers)
{
    struct wsdbg_thread_state *state = &group->states[group->leader];
    walk_tokens_forget(group, registers);
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (!registers || has(registers, reg)) {
            wsdbg_thread_forget(state, reg);
            keep_with_leader(group, reg);
        }
}

void walk_forget_written(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[i].registers; part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[i], part);
            if (reg < WSDBG_REGISTER_COUNT)
                walk_set_word(lane->state, reg, false, 0);
        }
}

/* Machine code may put the CTA's own rank into the highest byte.  False: the place is in another CTA. */
bool walk_is_own_place(const struct walk_lane *lane, uint32_t *address)
{
    const uint32_t byte = *address >> RANK_SHIFT;
    uint32_t rank = 0;
    if (byte &&
        (!lane->world->special || !lane->world->special(lane->world->context, SPECIAL_CTA_RANK, &rank) || byte != rank))
        return false;
    *address -= byte << RANK_SHIFT;
    return true;
}

/* ---- barriers ---- */

static uint32_t barrier_of(struct walk_group *group, const struct wsdbg_walk_step *step)
{
    const struct walk_lane leader = walk_group_leader(group);
    uint32_t address = step->address;
    if (step->kind == WSDBG_ACCESS_CLUSTER_ARRIVE || step->kind == WSDBG_ACCESS_CLUSTER_WAIT)
        return WSDBG_WALK_CLUSTER;
    if (step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE)
        return address < WSDBG_WALK_CLUSTER ? address : WSDBG_WALK_BARRIERS;
    return walk_is_own_place(&leader, &address) ? walk_words_mbarrier(&group->plan->words, address)
                                                : WSDBG_WALK_BARRIERS;
}

/* A wait for the parity of the wait before it is for the same phase, and a first one for parity 1 for none. */
static void wait_for(struct walk_place *place, uint32_t id, const struct wsdbg_walk_step *step)
{
    const uint32_t last = (place->passed[id] & 1) ^ 1;
    if (!step->is_number_known)
        place->passed[id] = place->joined[id];
    else if ((step->number & 1) != last)
        place->passed[id]++;
}

void walk_group_meet(struct walk_group *group)
{
    walk_words_meet(&group->plan->words, &group->place, group->leader == 0);
}

void walk_group_join(struct walk_group *group, const struct wsdbg_walk_step *step)
{
    const bool waits = step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_CLUSTER_WAIT;
    const bool joins = step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE ||
                       step->kind == WSDBG_ACCESS_CLUSTER_ARRIVE || step->kind == WSDBG_ACCESS_ARRIVE ||
                       step->kind == WSDBG_ACCESS_ARRIVE_EXPECT || step->kind == WSDBG_ACCESS_DROP;
    if (!waits && !joins && step->kind != WSDBG_ACCESS_WAIT)
        return;
    const uint32_t id = barrier_of(group, step);
    if (id == WSDBG_WALK_BARRIERS)
        return;
    group->place.joined[id] += joins;
    if (waits)
        group->place.passed[id] = group->place.joined[id];
    else if (step->kind == WSDBG_ACCESS_WAIT)
        wait_for(&group->place, id, step);
}
