/* look_writers.c - lanes that wait for others of their warp, which poll a word that the waiting ones write next: the
 * store that does it.
 *
 * Reads: registers and predicates of the waiting lanes, constants, control flow.  Writes: writes_site of parts.
 *
 * A waiting lane is followed from where it stands (sass/follow.h).  A store counts where its address is known for sure
 * and is the word's, and where the lane must come to it or no lane that polls can: a lock is given back behind such a
 * place by the lane that polls it.  Ways end at polls of the word; a poll that takes a lock counts only where the
 * waiting lanes are through it; a value with which the poll would go on does not count.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/look.h"
#include "sass/follow.h"

enum { JUDGED_MAX = 16, ROUNDS_MAX = 4, STORES_MAX = 8, WORD_BYTES = 4, WORD_BITS = 32, LAST_LANE = 31 };
enum { ATOMIC_BIT = 87, ATOMIC_BITS = 15, ATOMIC_EXCHANGE = 8 };
enum { SPECIAL_LANE = 0, SPECIAL_THREAD_X = 33, SPECIAL_CTA_X = 37 };

/* One lane, as its launch shows itself to it. */
struct lane {
    struct wsdbg_looking *looking;
    uint32_t warp, lane; /* warp: row of the machine */
    struct wsdbg_error *error;
};

/* The lanes of one part, which wait for those of another one, which poll. */
struct split {
    struct wsdbg_looking *looking;
    uint32_t waiting, polling; /* parts */
    const struct wsdbg_graph *graph;
    uint32_t place, load; /* instructions: where they wait, what polls */
    uint64_t address;
    uint32_t width_bytes;
    uint64_t *ahead;     /* instructions that lanes come to that wait, past the load */
    uint64_t *of_poller; /* ... that poll, once they go on */
    uint64_t *stops;
    bool poller_is_lost;              /* ... and nobody knows which else */
    uint32_t store;                   /* found */
    struct wsdbg_thread_state shared; /* uniform registers */
};

static bool has(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void put(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void take_out(uint64_t *set, uint32_t bit)
{
    set[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

static const struct wsdbg_instruction *at(const struct split *split, uint32_t number)
{
    return wsdbg_graph_instruction(split->graph, number);
}

/* ---- what a lane reads ---- */

static bool read_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    struct lane *lane = context;
    struct wsdbg_machine *machine = lane->looking->machine;
    bool known = false;
    if (!lane->error)
        lane->error = wsdbg_code_constant(machine, machine->ctas[machine->warps[lane->warp].cta].grid, bank,
                                          offset_bytes, value, &known);
    return known && !lane->error;
}

static bool read_special(void *context, uint32_t number, uint32_t *value)
{
    const struct lane *lane = context;
    const struct wsdbg_machine_warp *warp = &lane->looking->machine->warps[lane->warp];
    const struct wsdbg_machine_cta *cta = &lane->looking->machine->ctas[warp->cta];
    const uint32_t ctas[] = {cta->x, cta->y, cta->z};
    if (number == SPECIAL_LANE)
        *value = lane->lane;
    else if (number - SPECIAL_THREAD_X < 3)
        *value = warp->lanes[lane->lane].thread[number - SPECIAL_THREAD_X];
    else if (number - SPECIAL_CTA_X < 3)
        *value = ctas[number - SPECIAL_CTA_X];
    else
        return false;
    return true;
}

/* What all lanes of the warp share. */
static struct wsdbg_error *read_uniform(struct split *split)
{
    struct wsdbg_machine *machine = split->looking->machine;
    const uint32_t warp = split->looking->warps[split->looking->out->parts[split->waiting].warp].machine;
    uint32_t count = 0;
    struct wsdbg_error *error = machine->ops->uniform_registers(machine, warp, 0, WSDBG_URZ,
                                                                split->shared.value + WSDBG_REGISTER_UNIFORM, &count);
    for (uint32_t i = 0; i < count; i++)
        split->shared.known[WSDBG_REGISTER_UNIFORM + i] = true;
    return error;
}

/* All that the source has of the lane's registers; false where it has none. */
static bool read_registers(const struct split *split, struct lane *lane, struct wsdbg_thread_state *state)
{
    struct wsdbg_machine *machine = lane->looking->machine;
    uint32_t general = 0, mask = 0;
    bool has_predicates = false;
    *state = split->shared;
    lane->error = machine->ops->registers(machine, lane->warp, lane->lane, 0, WSDBG_RZ, state->value, &general);
    if (!lane->error)
        lane->error = machine->ops->predicates(machine, lane->warp, lane->lane, &mask, &has_predicates);
    for (uint32_t i = 0; i < general; i++)
        state->known[i] = true;
    for (uint32_t i = 0; has_predicates && i < WSDBG_PT; i++) {
        state->value[WSDBG_REGISTER_PREDICATE + i] = mask >> i & 1;
        state->known[WSDBG_REGISTER_PREDICATE + i] = true;
    }
    return !lane->error && general > 0;
}

static struct lane lane_of(const struct split *split, uint32_t part, uint32_t number)
{
    const uint32_t warp = split->looking->out->parts[part].warp;
    return (struct lane){.looking = split->looking, .warp = split->looking->warps[warp].machine, .lane = number};
}

static struct wsdbg_follow_start start_of(const struct split *split, struct lane *lane, uint32_t instruction,
                                          const struct wsdbg_thread_state *state)
{
    return (struct wsdbg_follow_start){.graph = split->graph,
                                       .instruction = instruction,
                                       .state = state,
                                       .world = {lane, read_constant, read_special},
                                       .stops = split->stops};
}

/* ---- instructions ---- */

static bool is_global_access(const struct wsdbg_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_OP_LD:
    case WSDBG_OP_LDG:
    case WSDBG_OP_ST:
    case WSDBG_OP_STG:
    case WSDBG_OP_ATOM:
    case WSDBG_OP_ATOMG:
    case WSDBG_OP_RED:
        return true;
    default:
        return false;
    }
}

static bool is_atomic(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_ATOM || instruction->operation == WSDBG_OP_ATOMG;
}

static bool is_load(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_LD || instruction->operation == WSDBG_OP_LDG;
}

static bool is_store(const struct wsdbg_instruction *instruction)
{
    return is_global_access(instruction) && !is_load(instruction);
}

static bool compares(const struct wsdbg_instruction *instruction)
{
    return is_atomic(instruction) && instruction->source_count > 2;
}

static bool exchanges(const struct wsdbg_instruction *instruction)
{
    return is_atomic(instruction) && instruction->source_count == 2 &&
           (instruction->words[1] >> (ATOMIC_BIT - 64) & ATOMIC_BITS) == ATOMIC_EXCHANGE;
}

/* It is in a loop that does nothing but poll by it. */
static bool polls(struct split *split, uint32_t instruction, struct wsdbg_error **error)
{
    struct wsdbg_wait_site site;
    if (!*error)
        *error = wsdbg_wait_site_find(split->graph, instruction, &site);
    return !*error && site.state == WSDBG_WARP_SPIN_GLOBAL && site.instruction == instruction;
}

/* ---- whether the poll would end ---- */

static bool leaves_loop(const struct wsdbg_follow *follow, const struct wsdbg_loop *loop)
{
    struct wsdbg_thread_state state;
    for (uint32_t i = 0; i < wsdbg_graph_block_count(loop->graph); i++) {
        const uint32_t first = wsdbg_graph_block(loop->graph, i)->first;
        if (!wsdbg_loop_has(loop, first) && wsdbg_follow_at(follow, first, &state))
            return true;
    }
    return !wsdbg_follow_is_whole(follow);
}

/* The registers of a lane of the loop just behind the load, which has brought `value`. */
static void forget_loop(const struct split *split, const struct wsdbg_loop *loop, uint64_t value,
                        struct wsdbg_thread_state *state)
{
    const struct wsdbg_operand *filled = wsdbg_loaded_register(at(split, split->load));
    for (uint32_t i = wsdbg_loop_next(loop, 0); i != WSDBG_NO_INSTRUCTION; i = wsdbg_loop_next(loop, i + 1))
        for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
            state->known[reg] &= !wsdbg_writes(at(split, i), reg);
    for (unsigned part = 0; filled && part < split->width_bytes / WORD_BYTES; part++) {
        const unsigned reg = wsdbg_register_of(filled, part);
        if (reg == WSDBG_REGISTER_NONE)
            continue;
        state->known[reg] = true;
        state->value[reg] = (uint32_t)(value >> WORD_BITS * part);
    }
}

/* What the store writes, where that is the whole word and known. */
static bool stored_value(const struct split *split, const struct wsdbg_follow_start *start,
                         const struct wsdbg_thread_state *state, uint64_t address, uint64_t *value)
{
    const struct wsdbg_instruction *store = at(split, split->store);
    const bool is_plain = store->operation == WSDBG_OP_ST || store->operation == WSDBG_OP_STG;
    uint32_t low = 0, high = 0;
    if ((!is_plain && !exchanges(store)) || store->source_count != 2 || address != split->address ||
        store->width_bytes != split->width_bytes || split->width_bytes % WORD_BYTES ||
        !wsdbg_thread_operand(state, &start->world, &store->sources[1], 0, &low) ||
        (split->width_bytes > WORD_BYTES && !wsdbg_thread_operand(state, &start->world, &store->sources[1], 1, &high)))
        return false;
    *value = (uint64_t)high << WORD_BITS | low;
    return true;
}

/* Whether the lanes that poll may go on once they load the value. */
static struct wsdbg_error *may_end_poll(struct split *split, uint64_t value, bool *ends)
{
    const struct wsdbg_loop *loop;
    struct wsdbg_thread_state state;
    struct wsdbg_follow *follow = NULL;
    struct lane lane = lane_of(split, split->polling, split->looking->parts[split->polling].lane);
    struct wsdbg_error *error = wsdbg_look_loop(split->looking, split->graph, split->load, &loop);
    *ends = true;
    if (error || !loop || !read_registers(split, &lane, &state))
        return error ? error : lane.error;
    forget_loop(split, loop, value, &state);
    const struct wsdbg_follow_start start = start_of(split, &lane, split->load + 1, &state);
    error = wsdbg_follow_create(&start, &follow);
    if (!error)
        *ends = leaves_loop(follow, loop);
    wsdbg_follow_destroy(follow);
    return error ? error : lane.error;
}

/* ---- the store ---- */

/* The address of an access that the lane may come to and execute. */
static bool address_at(const struct split *split, const struct wsdbg_follow *follow, uint32_t number,
                       struct wsdbg_thread_state *state, uint64_t *address)
{
    const struct wsdbg_instruction *instruction = at(split, number);
    const struct wsdbg_operand *operand = wsdbg_memory_operand(instruction);
    return operand && wsdbg_follow_at(follow, number, state) &&
           wsdbg_thread_executes(state, instruction) != WSDBG_TRUTH_NO &&
           wsdbg_thread_address(state, operand, address) && *address < split->address + split->width_bytes &&
           split->address < *address + instruction->width_bytes;
}

/* Ends ways at polls of the same word; true where there was a new one. */
static bool find_polls(struct split *split, const struct wsdbg_follow *follow, struct wsdbg_error **error)
{
    struct wsdbg_thread_state state;
    uint64_t address;
    bool any = false;
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(split->graph); i++) {
        if (!has(split->ahead, i) || has(split->stops, i) || !is_global_access(at(split, i)) ||
            !address_at(split, follow, i, &state, &address) || !polls(split, i, error))
            continue;
        put(split->stops, i);
        any = true;
    }
    return any;
}

/* The lane comes to the store for the first time: a way ends there, unless a guard may skip it. */
static struct wsdbg_error *judge_store(struct split *split, const struct wsdbg_follow_start *start, bool *found)
{
    struct wsdbg_thread_state state;
    struct wsdbg_follow *follow;
    uint64_t address, value;
    put(split->stops, split->store);
    struct wsdbg_error *error = wsdbg_follow_create(start, &follow);
    if (!error && address_at(split, follow, split->store, &state, &address)) {
        *found = (!split->poller_is_lost && !has(split->of_poller, split->store)) ||
                 wsdbg_follow_must_execute(follow, split->store);
        if (*found && stored_value(split, start, &state, address, &value))
            error = may_end_poll(split, value, found);
    }
    take_out(split->stops, split->store);
    wsdbg_follow_destroy(follow);
    return error;
}

/* Of stores whose address differs from time to time only a few are judged. */
static struct wsdbg_error *find_store(struct split *split, const struct wsdbg_follow_start *start,
                                      const struct wsdbg_follow *follow, bool *found)
{
    struct wsdbg_thread_state state;
    struct wsdbg_error *error = NULL;
    unsigned left = STORES_MAX;
    uint64_t address;
    for (uint32_t i = 0; !error && !*found && left && i < wsdbg_graph_instruction_count(split->graph); i++) {
        if (!has(split->ahead, i) || has(split->stops, i) || !is_store(at(split, i)) ||
            !wsdbg_follow_at(follow, i, &state) ||
            (wsdbg_thread_address(&state, wsdbg_memory_operand(at(split, i)), &address) &&
             !address_at(split, follow, i, &state, &address)))
            continue;
        split->store = i;
        left--;
        error = judge_store(split, start, found);
    }
    return error;
}

static struct wsdbg_error *follow_lane(struct split *split, struct lane *lane, const struct wsdbg_thread_state *state,
                                       bool *found)
{
    const struct wsdbg_follow_start start = start_of(split, lane, split->place, state);
    struct wsdbg_error *error = NULL;
    bool grows = true;
    for (unsigned round = 0; !error && grows && round < ROUNDS_MAX; round++) {
        struct wsdbg_follow *follow;
        error = wsdbg_follow_create(&start, &follow);
        if (error)
            return error;
        grows = find_polls(split, follow, &error);
        if (!error && !grows && wsdbg_follow_is_whole(follow))
            error = find_store(split, &start, follow, found);
        wsdbg_follow_destroy(follow);
    }
    return error ? error : lane->error;
}

/* Lane by lane, as long as there is time.  What one lane does for all the first one does most often, then the last. */
static struct wsdbg_error *follow_lanes(struct split *split, uint64_t until_ns, bool *found)
{
    uint32_t left = split->looking->out->parts[split->waiting].lanes;
    struct wsdbg_error *error = read_uniform(split);
    for (unsigned i = 0; !error && !*found && left && wsdbg_look_now_ns() < until_ns; i++) {
        const int number = i == 1 ? LAST_LANE - __builtin_clz(left) : __builtin_ctz(left);
        struct wsdbg_thread_state state;
        struct lane lane = lane_of(split, split->waiting, (uint32_t)number);
        left &= ~(1u << number);
        if (!read_registers(split, &lane, &state))
            return lane.error;
        error = follow_lane(split, &lane, &state, found);
    }
    return error;
}

/* ---- parts ---- */

/* What needs no registers: whether some store lies ahead at all. */
static bool has_stores_ahead(struct split *split)
{
    put(split->stops, split->load);
    wsdbg_graph_reach_set(split->graph, split->place, split->stops, split->ahead);
    split->poller_is_lost = wsdbg_graph_reach_set(split->graph, split->load, NULL, split->of_poller);
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(split->graph); i++)
        if (has(split->ahead, i) && i != split->load && is_store(at(split, i)))
            return true;
    return false;
}

/* A poll that takes a lock: what the waiting lanes may give back is that lock only where they are through it. */
static bool is_of_a_lock_of_others(const struct split *split)
{
    const struct wsdbg_instruction *load = at(split, split->load);
    return (compares(load) || exchanges(load)) &&
           wsdbg_graph_reaches(split->graph, 0, split->place, split->stops) != WSDBG_REACHES_NO;
}

/* What the part polls in global memory is known from its own registers. */
static bool polls_known_word(const struct wsdbg_looking *looking, uint32_t part)
{
    const struct wsdbg_part *row = &looking->out->parts[part];
    const struct wsdbg_look_part *beside = &looking->parts[part];
    if (row->state != WSDBG_WARP_SPIN_GLOBAL || !row->seen || !row->address.known || !row->width_bytes.known ||
        !beside->place.function)
        return false;
    const struct wsdbg_instruction *load =
        wsdbg_graph_instruction(beside->place.function->graph, beside->site.instruction);
    const struct wsdbg_operand *operand = wsdbg_memory_operand(load);
    return (is_load(load) || is_atomic(load)) && operand && operand->uniform == WSDBG_URZ;
}

static struct wsdbg_error *judge(struct wsdbg_looking *looking, uint32_t waiting, uint32_t polling, uint64_t until_ns)
{
    const struct wsdbg_look_part *beside = &looking->parts[waiting];
    struct split split = {.looking = looking, .waiting = waiting, .polling = polling};
    split.graph = beside->place.function->graph;
    split.place = beside->place.instruction;
    split.load = looking->parts[polling].site.instruction;
    split.address = looking->out->parts[polling].address.value;
    split.width_bytes = looking->out->parts[polling].width_bytes.value;
    const size_t words = wsdbg_graph_instruction_count(split.graph) / 64 + 1;
    uint64_t *sets = calloc(3 * words, sizeof *sets);
    struct wsdbg_error *error = sets ? NULL : &wsdbg_error_no_memory;
    bool found = false;
    split.ahead = sets;
    split.of_poller = sets ? sets + words : NULL;
    split.stops = sets ? sets + 2 * words : NULL;
    if (!error && has_stores_ahead(&split) && !is_of_a_lock_of_others(&split))
        error = follow_lanes(&split, until_ns, &found);
    if (!error && found) {
        const uint32_t cta = looking->out->warps[looking->out->parts[waiting].warp].cta;
        const struct wsdbg_code_place place = {beside->place.function, split.store};
        struct wsdbg_optional_u32 *site = &looking->out->parts[waiting].writes_site;
        site->known = true;
        error =
            wsdbg_look_site(looking, &place, looking->out->grids[looking->out->ctas[cta].grid].module, &site->value);
    }
    free(sets);
    return error;
}

static struct wsdbg_error *judge_warp(struct wsdbg_looking *looking, uint32_t warp, uint64_t until_ns)
{
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    const uint32_t end = row->part_first + row->part_count;
    struct wsdbg_error *error = NULL;
    for (uint32_t w = row->part_first; w < end; w++)
        for (uint32_t p = row->part_first; !error && p < end; p++)
            if (looking->out->parts[w].state == WSDBG_WARP_RECONVERGE && !looking->out->parts[w].writes_site.known &&
                looking->parts[w].place.function &&
                looking->parts[w].place.function == looking->parts[p].place.function && polls_known_word(looking, p))
                error = judge(looking, w, p, until_ns);
    return error;
}

/* ---- warps ---- */

static bool has_part(const struct wsdbg_looking *looking, uint32_t warp, enum wsdbg_warp_state state)
{
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++)
        if (looking->out->parts[i].state == state)
            return true;
    return false;
}

static void take_over(struct wsdbg_looking *looking, uint32_t from, uint32_t to)
{
    const struct wsdbg_warp_row *source = &looking->out->warps[from], *target = &looking->out->warps[to];
    for (uint32_t t = target->part_first; t < target->part_first + target->part_count; t++)
        for (uint32_t s = source->part_first; s < source->part_first + source->part_count; s++)
            if (looking->parts[s].pc == looking->parts[t].pc &&
                looking->out->parts[s].lanes == looking->out->parts[t].lanes)
                looking->out->parts[t].writes_site = looking->out->parts[s].writes_site;
}

static uint32_t judged_alike(const struct wsdbg_looking *looking, const uint32_t *judged, size_t count, uint32_t warp)
{
    for (size_t i = 0; i < count; i++)
        if (looking->warps[judged[i]].alike == looking->warps[warp].alike)
            return judged[i];
    return WSDBG_NONE;
}

struct wsdbg_error *wsdbg_look_writers(struct wsdbg_looking *looking)
{
    const uint64_t until_ns = wsdbg_look_now_ns() + looking->budget.rest_ns;
    uint32_t judged[JUDGED_MAX];
    size_t count = 0;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < looking->out->warp_count; i++) {
        if (!has_part(looking, i, WSDBG_WARP_RECONVERGE) || !has_part(looking, i, WSDBG_WARP_SPIN_GLOBAL))
            continue;
        const uint32_t alike = judged_alike(looking, judged, count, i);
        if (alike != WSDBG_NONE) {
            take_over(looking, alike, i);
        } else if (count < JUDGED_MAX && looking->warps[i].read) {
            judged[count++] = i;
            error = judge_warp(looking, i, until_ns);
        }
    }
    return error;
}
