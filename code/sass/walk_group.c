/* walk_group.c - see walk_group.h.  Executes instructions for all lanes of a group.
 *
 * Reads: the plan, what the launch tells.  Writes: registers; for lane 0 also what its shuffles give to the other
 * lanes, in the plan.
 */
#include "sass/walk_group.h"

#include "base/grow.h"
#include "sass/thread_load.h"
#include "sass/walk_stack.h"
#include "sass/walk_warp.h"

enum {
    SPECIAL_CTA_RANK = 136,
    SHUFFLE_MODE_BIT = 58,
    SHUFFLE_MODES = 3,
    ONE_PIECE = 31,
    RANK_SHIFT = 24,
    WORD_BITS = 64,
    BYTE_BITS = 8
};

/* ---- the lanes ---- */

struct walk_group walk_group_begin(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *worlds,
                                   uint32_t lanes)
{
    const uint32_t leader = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    plan->states[leader] = (struct wsdbg_thread_state){0};
    for (size_t i = 0; i < plan->told_count; i++) {
        plan->told[i].times = 0;
        plan->told[i].count = leader == 0 ? 0 : plan->told[i].count;
        plan->told[i].exchange_count = leader == 0 ? 0 : plan->told[i].exchange_count;
    }
    for (uint32_t i = 0; i < plan->graph->instruction_count; i++) {
        const uint32_t now = plan->issued[i].now, before = plan->issued[i].before;
        plan->issued[i].before = leader == 0 ? 0 : now > before ? now : before;
        plan->issued[i].now = 0;
    }
    return (struct walk_group){.plan = plan,
                               .worlds = worlds,
                               .leader = leader,
                               .lanes = lanes,
                               .states = plan->states,
                               .place = {.walk = plan->walks++}};
}

void walk_group_join(struct walk_group *group, uint8_t kind, uint32_t address)
{
    const bool is_of_cluster = kind == WSDBG_ACCESS_CLUSTER_ARRIVE || kind == WSDBG_ACCESS_CLUSTER_WAIT;
    const uint32_t id = is_of_cluster ? WSDBG_WALK_CLUSTER : address;
    if (!is_of_cluster && id >= WSDBG_WALK_CLUSTER)
        return;
    group->place.joined[id] += kind != WSDBG_ACCESS_CLUSTER_WAIT;
    if (kind == WSDBG_ACCESS_NAMED_SYNC || kind == WSDBG_ACCESS_CLUSTER_WAIT)
        group->place.passed[id] = group->place.joined[id];
}

struct walk_lane walk_group_lane(struct walk_group *group, uint32_t lane)
{
    return (struct walk_lane){group, &group->states[lane], &group->worlds[lane], lane};
}

struct walk_lane walk_group_leader(struct walk_group *group)
{
    return walk_group_lane(group, group->leader);
}

bool walk_group_next(struct walk_group *group, uint32_t *at, struct walk_lane *out)
{
    const uint32_t left = *at < WSDBG_WALK_LANES ? group->lanes >> *at << *at & ~((uint32_t)1 << group->leader) : 0;
    if (!left)
        return false;
    *out = walk_group_lane(group, (uint32_t)__builtin_ctz(left));
    *at = out->lane + 1;
    return true;
}

void walk_group_drop(struct walk_group *group, uint32_t lane)
{
    group->lanes &= ~((uint32_t)1 << lane);
}

static bool has(const uint64_t *set, unsigned reg)
{
    return set[reg / WORD_BITS] >> reg % WORD_BITS & 1;
}

static void copy_register(struct wsdbg_thread_state *to, const struct wsdbg_thread_state *from, unsigned written,
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

/* Gives the lanes a register that all have alike. */
static void spread(struct walk_group *group, unsigned reg)
{
    struct walk_lane lane;
    if (reg >= WSDBG_REGISTER_COUNT || has(group->varies, reg))
        return;
    for (uint32_t at = 0; walk_group_next(group, &at, &lane);)
        copy_register(lane.state, &group->states[group->leader], reg, reg);
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
    for (uint32_t at = 0; !differs && walk_group_next(group, &at, &lane);)
        differs = lane.state->known[reg] != first->known[reg] || lane.state->value[reg] != first->value[reg] ||
                  lane.state->bits[reg] != first->bits[reg] || lane.state->high_known[reg] != first->high_known[reg] ||
                  lane.state->high[reg] != first->high[reg];
    if (differs)
        group->varies[reg / WORD_BITS] |= (uint64_t)1 << reg % WORD_BITS;
    else
        group->varies[reg / WORD_BITS] &= ~((uint64_t)1 << reg % WORD_BITS);
    return !differs;
}

bool walk_group_parts(struct walk_group *group, uint32_t instruction)
{
    const struct wsdbg_lists *reads = &group->plan->reads;
    bool parts = false;
    if (!(group->lanes & (group->lanes - 1)))
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

static void set_register(struct wsdbg_thread_state *state, unsigned reg, bool known, uint32_t value)
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
        set_register(state, reg, known, value);
}

static bool is_predicate(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_PREDICATE || operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
}

static void compare_written(struct walk_group *group, const struct wsdbg_instruction *instruction, bool parts)
{
    if (!(group->lanes & (group->lanes - 1)))
        return;
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part == 0 || part < instruction->destinations[i].registers; part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[i], part);
            if (reg < WSDBG_REGISTER_COUNT && parts)
                agree(group, reg);
            else if (reg < WSDBG_REGISTER_COUNT)
                group->varies[reg / WORD_BITS] &= ~((uint64_t)1 << reg % WORD_BITS);
        }
}

void walk_group_compare_written(struct walk_group *group, uint32_t instruction)
{
    compare_written(group, &group->plan->graph->instructions[instruction], true);
}

void walk_group_set_predicates(struct walk_group *group, uint32_t instruction, bool value)
{
    const struct wsdbg_instruction *in = &group->plan->graph->instructions[instruction];
    for (unsigned i = 0; i < in->destination_count; i++)
        if (is_predicate(&in->destinations[i])) {
            const unsigned reg = wsdbg_register_of(&in->destinations[i], 0);
            walk_set_register(&group->states[group->leader], &in->destinations[i], true, value);
            if (reg < WSDBG_REGISTER_COUNT)
                group->varies[reg / WORD_BITS] &= ~((uint64_t)1 << reg % WORD_BITS);
        }
}

void walk_group_forget(struct walk_group *group, const uint64_t *registers)
{
    struct wsdbg_thread_state *state = &group->states[group->leader];
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (!registers || has(registers, reg)) {
            wsdbg_thread_forget(state, reg);
            group->varies[reg / WORD_BITS] &= ~((uint64_t)1 << reg % WORD_BITS);
        }
}

/* ---- instructions of which a walk knows more than thread_step.h ---- */

/* Whether a shuffle gives each lane what lane 0 has: by index, from lane 0, in one piece of 32 lanes. */
static bool shuffles_from_0(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    const bool by_words = instruction->words[0] || instruction->words[1];
    const bool by_index =
        by_words ? !(instruction->words[0] >> SHUFFLE_MODE_BIT & SHUFFLE_MODES) : instruction->mode == 0;
    uint32_t from = 0, pieces = 0;
    return by_index && instruction->source_count >= 3 && walk_value(lane, &instruction->sources[1], 0, &from) &&
           from == 0 && walk_value(lane, &instruction->sources[2], 0, &pieces) && pieces == ONE_PIECE;
}

/* A shuffle brings the value of lane 0, or one that is not known.  The plan keeps what lane 0 had each time, for lanes
 * that walk without it. */
static void shuffle(struct walk_group *group, uint32_t number, const struct walk_lane *lane)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    struct wsdbg_walk_told *told = wsdbg_walk_told_at(group->plan, number);
    const size_t time = told->times;
    uint32_t value = 0;
    const bool is_mine = instruction->source_count > 0 && walk_value(lane, &instruction->sources[0], 0, &value);
    if (lane->lane == 0 && !wsdbg_walk_tell(told, is_mine, value))
        group->error = &wsdbg_error_no_memory;
    const bool is_told = time < told->count && shuffles_from_0(lane, instruction);
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const bool is_value = is_told && !is_predicate(&instruction->destinations[i]);
        walk_set_register(lane->state, &instruction->destinations[i], is_value && told->known[time],
                          is_value ? told->values[time] : 0);
    }
}

static void elect(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        walk_set_register(lane->state, &instruction->destinations[i], true,
                          is_predicate(&instruction->destinations[i]) && lane->lane == 0);
}

/* All lanes are taken to vote alike. */
static void vote(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *asked =
        instruction->source_count ? &instruction->sources[instruction->source_count - 1] : NULL;
    const enum wsdbg_truth truth = asked ? wsdbg_thread_predicate(lane->state, asked) : WSDBG_TRUTH_UNKNOWN;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        const bool known = is_predicate(to) && truth != WSDBG_TRUTH_UNKNOWN;
        walk_set_register(lane->state, to, known, truth == WSDBG_TRUTH_YES);
    }
}

/* mapa of PTX: the address of a place in another CTA, see WSDBG_WALK_RANKED. */
static void map_to_rank(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    uint32_t address = 0, rank = 0;
    const bool known =
        walk_value(lane, &instruction->sources[0], 0, &address) && walk_value(lane, &instruction->sources[1], 0, &rank);
    address = (address & ~(uint32_t)0 >> (32 - RANK_SHIFT)) | ((WSDBG_WALK_RANKED + rank) << RANK_SHIFT);
    for (unsigned i = 0; i < instruction->destination_count; i++)
        walk_set_register(lane->state, &instruction->destinations[i], known && rank < WSDBG_WALK_RANKED, address);
}

static bool maps_to_rank(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_MOV && instruction->source_count == 2 && !instruction->is_long &&
           !instruction->words[0] && !instruction->words[1];
}

static void forget_written(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        walk_set_register(lane->state, &instruction->destinations[i], false, 0);
}

/* R2UR with a predicate stands in a loop that serves lanes with the same value together, until all are served.  So a
 * lane is taken to be served at once: the register gets its value, and the predicate says that no lane is left. */
static bool serves_lanes(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_R2UR && instruction->destination_count == 2 &&
           is_predicate(&instruction->destinations[0]) && instruction->destinations[1].kind == WSDBG_OPERAND_UNIFORM &&
           instruction->source_count;
}

static void serve_lane(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    uint32_t value = 0;
    const bool known = walk_value(lane, &instruction->sources[0], 0, &value);
    walk_set_register(lane->state, &instruction->destinations[0], true, false);
    walk_set_register(lane->state, &instruction->destinations[1], known, value);
}

/* A word that is moved into the stack frame or out of it. */
static void move_words(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *from = &instruction->sources[0], *to = &instruction->destinations[0];
    for (unsigned part = 0; part == 0 || part < to->registers; part++) {
        const unsigned read = wsdbg_register_of(from, part), written = wsdbg_register_of(to, part);
        if (written < WSDBG_REGISTER_COUNT && read < WSDBG_REGISTER_COUNT)
            copy_register(lane->state, lane->state, written, read);
        else if (written < WSDBG_REGISTER_COUNT)
            set_register(lane->state, written, from->number == WSDBG_RZ, 0);
    }
}

/* Words of the stack frame at a place that is computed. */
static void pick_words(const struct walk_lane *lane, const struct wsdbg_instruction *load)
{
    struct wsdbg_instruction move = *load;
    uint32_t address, pointer;
    const bool known = walk_value(lane, &load->sources[0], 0, &address) &&
                       walk_value(lane, &load->sources[load->source_count - 1], 0, &pointer);
    const struct wsdbg_operand *last = &load->sources[load->source_count - 2];
    const uint32_t words =
        last->kind == WSDBG_OPERAND_REGISTER ? last->number + last->registers - (WSDBG_RZ + 1u) : 0; /* of the frame */
    const uint32_t place = known ? address - pointer : 0, word = place / sizeof place;
    if (!known || place % sizeof place || word >= words || word + load->width_bytes / sizeof place > words) {
        forget_written(lane, load);
        return;
    }
    move.sources[0] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_REGISTER,
                                             .number = (uint16_t)(WSDBG_RZ + 1 + word),
                                             .registers = (uint8_t)(load->width_bytes / sizeof place)};
    move_words(lane, &move);
}

/* A word of what is stored.  Code that comes from PTX has each element of a vector as a source. */
static bool stored_word(const struct walk_lane *lane, const struct wsdbg_instruction *store, unsigned word,
                        uint32_t *value)
{
    const bool is_of_words = store->words[0] || store->words[1];
    const unsigned elements = is_of_words ? 1 : store->source_count - 1, bytes = store->width_bytes / elements;
    const unsigned words = bytes < sizeof *value ? 1 : bytes / sizeof *value;
    return bytes * elements == store->width_bytes && (elements == 1 || bytes >= sizeof *value) &&
           walk_value(lane, &store->sources[1 + word / words], word % words, value);
}

/* Machine code may put the CTA's own rank into the highest byte.  False: the place is in another CTA. */
static bool is_own_place(const struct walk_lane *lane, uint32_t *address)
{
    const uint32_t byte = *address >> RANK_SHIFT;
    uint32_t rank = 0;
    if (byte &&
        (!lane->world->special || !lane->world->special(lane->world->context, SPECIAL_CTA_RANK, &rank) || byte != rank))
        return false;
    *address -= byte << RANK_SHIFT;
    return true;
}

static void keep_store(const struct walk_lane *lane, const struct wsdbg_instruction *store)
{
    struct walk_store kept = {.place = lane->group->place, .bytes = store->width_bytes};
    const enum wsdbg_truth executes = wsdbg_thread_executes(lane->state, store);
    if (executes == WSDBG_TRUTH_NO)
        return;
    if (store->source_count < 2 || !store->width_bytes || store->width_bytes > sizeof kept.words ||
        !walk_value(lane, &store->sources[0], 0, &kept.address) || !is_own_place(lane, &kept.address)) {
        if (store->is_whole) /* else its address is made of registers on which no way depends: those of data */
            walk_words_spoil(&lane->group->plan->words);
        return;
    }
    kept.is_known = executes == WSDBG_TRUTH_YES;
    for (unsigned word = 0; word * sizeof *kept.words < store->width_bytes && kept.is_known; word++)
        kept.is_known = stored_word(lane, store, word, &kept.words[word]);
    walk_words_put(&lane->group->plan->words, &kept);
}

/* The present value of the word that the bytes lie in, as if it had been stored once before.  In a loop only the first
 * time, and only where the loop is more than a poll: later the word may have another value, and the present one may be
 * what ends the poll.  Of a generic load it is not taken where the kernel has generic stores or atomics: these may have
 * changed the word since. */
static bool present_value(const struct walk_lane *lane, uint32_t number, uint32_t address, uint32_t bytes,
                          uint32_t *value)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const bool is_in_loop = graph->blocks[graph->block_of[number]].loop != WSDBG_GRAPH_NONE;
    const struct wsdbg_walk_told *told = is_in_loop ? wsdbg_walk_told_at(lane->group->plan, number) : NULL;
    const bool may_count = graph->instructions[number].operation == WSDBG_OP_LD && lane->group->plan->has_other_writers;
    const uint32_t at = address % sizeof *value;
    if (may_count || (is_in_loop && (!told || told->times)) || !lane->world->shared || at + bytes > sizeof *value ||
        !lane->world->shared(lane->world->context, address - at, value))
        return false;
    *value = *value >> BYTE_BITS * at & UINT32_MAX >> BYTE_BITS * (sizeof *value - bytes);
    return true;
}

/* What other warps stored, or what is there now. */
static bool load(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *instruction)
{
    struct wsdbg_walk_plan *plan = lane->group->plan;
    const unsigned bytes = instruction->width_bytes;
    uint32_t address, value = 0;
    if (bytes > sizeof value || !bytes || instruction->destination_count != 1 ||
        !walk_source(lane, instruction, 0, 0, &address) || address % bytes)
        return false;
    uint32_t place = address;
    const enum walk_word word = wsdbg_walk_told_at(plan, number) && is_own_place(lane, &place)
                                    ? walk_words_get(&plan->words, &lane->group->place, place, bytes, &value)
                                    : WALK_WORD_NOT_STORED;
    if (word == WALK_WORD_UNKNOWN ||
        (word == WALK_WORD_NOT_STORED && !present_value(lane, number, address, bytes, &value)) ||
        (bytes < sizeof value && !wsdbg_thread_part(instruction, value, 0, &value)))
        return false;
    walk_set_register(lane->state, &instruction->destinations[0], true, value);
    return true;
}

static bool reads_shared(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_LDS || wsdbg_thread_loads_shared(instruction, lane->world, lane->state);
}

static bool is_atomic(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_ATOMG || instruction->operation == WSDBG_OP_ATOM;
}

/* The load that reads what an atomic of 32 bits finds; false: it is no such atomic. */
static bool load_of_atomic(const struct wsdbg_instruction *atomic, struct wsdbg_instruction *out)
{
    const struct wsdbg_operand *to =
        atomic->destination_count ? &atomic->destinations[atomic->destination_count - 1] : NULL;
    unsigned place = 0;
    while (place < atomic->source_count && atomic->sources[place].kind != WSDBG_OPERAND_MEMORY)
        place++;
    if (!to || is_predicate(to) || to->registers > 1 || place == atomic->source_count ||
        (atomic->width_bytes && atomic->width_bytes != sizeof(uint32_t)))
        return false;
    *out = *atomic;
    out->operation = atomic->operation == WSDBG_OP_ATOM ? WSDBG_OP_LD : WSDBG_OP_LDG;
    out->width_bytes = sizeof(uint32_t);
    out->destinations[0] = *to;
    out->sources[0] = atomic->sources[place];
    out->destination_count = out->source_count = 1;
    out->is_signed = false;
    return true;
}

/* An atomic is taken to find the present value; in a loop the first time only, as another warp's may come between. */
static void execute_atomic(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *atomic)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const bool is_in_loop = graph->blocks[graph->block_of[number]].loop != WSDBG_GRAPH_NONE;
    const struct wsdbg_walk_told *told = wsdbg_walk_told_at(lane->group->plan, number);
    struct wsdbg_instruction load;
    uint32_t words[WSDBG_LOAD_WORDS];
    const bool is_known = (!is_in_loop || (told && !told->times)) && load_of_atomic(atomic, &load) &&
                          wsdbg_thread_load(&load, lane->world, lane->state, words);
    forget_written(lane, atomic);
    if (is_known)
        walk_set_register(lane->state, &load.destinations[0], true, words[0]);
    lane->group->plan->is_guessed |= is_known;
}

/* A loop that only waits for a word in global memory: the present value may be what ends it. */
static bool polls_global(const struct walk_group *group, uint32_t number)
{
    const struct wsdbg_graph *graph = group->plan->graph;
    const uint8_t operation = graph->instructions[number].operation;
    return (operation == WSDBG_OP_LDG || operation == WSDBG_OP_LD) &&
           graph->blocks[graph->block_of[number]].loop != WSDBG_GRAPH_NONE && !wsdbg_walk_told_at(group->plan, number);
}

static void execute_lane(struct walk_group *group, uint32_t number, const struct walk_lane *lane)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    const enum wsdbg_truth executes = wsdbg_thread_executes(lane->state, instruction);
    if (instruction->operation == WSDBG_OP_STS)
        keep_store(lane, instruction);
    if (executes == WSDBG_TRUTH_NO)
        return;
    if (executes == WSDBG_TRUTH_UNKNOWN && maps_to_rank(instruction))
        forget_written(lane, instruction);
    else if (executes == WSDBG_TRUTH_UNKNOWN)
        wsdbg_thread_step(instruction, lane->world, lane->state);
    else if (instruction->operation == WSDBG_OP_SHFL)
        shuffle(group, number, lane);
    else if (instruction->operation == WSDBG_OP_ELECT)
        elect(lane, instruction);
    else if (instruction->operation == WSDBG_OP_VOTE || instruction->operation == WSDBG_OP_VOTEU)
        vote(lane, instruction);
    else if (maps_to_rank(instruction))
        map_to_rank(lane, instruction);
    else if (polls_global(group, number))
        forget_written(lane, instruction);
    else if (is_atomic(instruction))
        execute_atomic(lane, number, instruction);
    else if (serves_lanes(instruction))
        serve_lane(lane, instruction);
    else if (walk_stack_moves(instruction))
        move_words(lane, instruction);
    else if (walk_stack_picks(instruction))
        pick_words(lane, instruction);
    else if (!reads_shared(lane, instruction) || !load(lane, number, instruction))
        wsdbg_thread_step(instruction, lane->world, lane->state);
}

/* The leader goes first: the others get what its shuffles tell. */
unsigned walk_group_execute(struct walk_group *group, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    const bool is_told = instruction->operation == WSDBG_OP_SHFL || instruction->operation == WSDBG_OP_ELECT;
    const struct walk_lane leader = walk_group_leader(group);
    const bool executes = wsdbg_thread_executes(leader.state, instruction) == WSDBG_TRUTH_YES;
    bool parts = walk_group_parts(group, number);
    struct walk_lane lane;
    if (instruction->operation == WSDBG_OP_OTHER) {
        walk_group_forget(group, NULL);
        return 1;
    }
    if (walk_warp_exchange(group, number))
        return WSDBG_WALK_LANES;
    if (is_told && !parts) { /* it does not depend on registers alone */
        walk_group_spread_operands(group, number);
        parts = true;
    }
    unsigned lanes = 1;
    execute_lane(group, number, &leader);
    for (uint32_t at = 0; parts && walk_group_next(group, &at, &lane); lanes++)
        execute_lane(group, number, &lane);
    const bool is_counted = instruction->operation == WSDBG_OP_SHFL || instruction->operation == WSDBG_OP_VOTE ||
                            instruction->operation == WSDBG_OP_VOTEU || instruction->operation == WSDBG_OP_LDS ||
                            instruction->operation == WSDBG_OP_LD || is_atomic(instruction);
    struct wsdbg_walk_told *told = is_counted && executes ? wsdbg_walk_told_at(group->plan, number) : NULL;
    if (told)
        told->times++;
    compare_written(group, instruction, parts);
    return lanes;
}
