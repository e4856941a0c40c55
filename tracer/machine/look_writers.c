/* look_writers.c - lanes that wait for others of their warp, which poll a word that the waiting ones write next: the
 * store that does it.
 *
 * Reads: registers and predicates of the waiting lanes, constants, control flow.  Writes: writes_site of parts.
 *
 * A waiting lane is followed from where it stands (sass/follow.h).  A store counts where its address is known for sure
 * and is the word's, and where the lane must reach it or no lane that polls can: a lock is given back behind such a
 * place by the lane that polls it.  Ways end at polls of the word; a poll that takes a lock counts only where the
 * waiting lanes are through it; a value with which the poll would go on does not count.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/lane.h"
#include "machine/look.h"
#include "sass/follow.h"

enum { JUDGED_MAX = 16, ROUNDS_MAX = 4, STORES_MAX = 8, WORD_BYTES = 4, WORD_BITS = 32, LAST_LANE = 31 };
enum { ATOMIC_BIT = 87, ATOMIC_BITS = 15, ATOMIC_EXCHANGE = 8 };

/* The lanes of one part, which wait for those of another one, which poll. */
struct split {
    struct wsdbg_machine *machine;
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_snapshot *rows;
    struct wsdbg_look_loops *loops;
    uint32_t waiting, polling; /* parts */
    const struct wsdbg_graph *graph;
    uint32_t place, load; /* instructions: where they wait, what polls */
    uint64_t address;
    uint32_t width_bytes;
    uint64_t *ahead;     /* instructions that waiting lanes reach, past the load */
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

static struct wsdbg_lane lane_of(const struct split *split, uint32_t part, uint32_t number)
{
    const uint32_t warp = split->rows->parts[part].warp;
    return (struct wsdbg_lane){.machine = split->machine, .warp = split->seen->warps[warp].machine, .lane = number};
}

static struct wsdbg_follow_start start_of(const struct split *split, struct wsdbg_lane *lane, uint32_t instruction,
                                          const struct wsdbg_thread_state *state)
{
    return (struct wsdbg_follow_start){.graph = split->graph,
                                       .instruction = instruction,
                                       .state = state,
                                       .world = wsdbg_lane_world(lane),
                                       .stops = split->stops};
}

/* ---- instructions ---- */

static bool is_global_access(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_is_global_access(instruction->operation);
}

static bool is_atomic(const struct wsdbg_instruction *instruction)
{
    return is_global_access(instruction) && wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_ATOMIC;
}

static bool is_load(const struct wsdbg_instruction *instruction)
{
    return is_global_access(instruction) && wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD;
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
            if (wsdbg_writes(at(split, i), reg))
                wsdbg_thread_forget(state, reg);
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
    const bool is_plain = wsdbg_operation_class(store->operation) == WSDBG_CLASS_STORE && is_global_access(store);
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
    struct wsdbg_lane lane = lane_of(split, split->polling, split->seen->parts[split->polling].lane);
    struct wsdbg_error *error = wsdbg_look_loop(split->loops, split->graph, split->load, &loop);
    *ends = true;
    if (error || !loop || !wsdbg_lane_read_registers(&lane, &split->shared, &state))
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

/* The address of an access that the lane may reach and execute. */
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

/* The lane reaches the store for the first time: a way ends there, unless a guard may skip it. */
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

static struct wsdbg_error *follow_lane(struct split *split, struct wsdbg_lane *lane,
                                       const struct wsdbg_thread_state *state, bool *found)
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
    uint32_t left = split->rows->parts[split->waiting].lanes;
    const struct wsdbg_lane first = lane_of(split, split->waiting, 0);
    struct wsdbg_error *error = wsdbg_lane_read_uniform(first.machine, first.warp, &split->shared);
    for (unsigned i = 0; !error && !*found && left && wsdbg_look_now_ns() < until_ns; i++) {
        const int number = i == 1 ? LAST_LANE - __builtin_clz(left) : __builtin_ctz(left);
        struct wsdbg_thread_state state;
        struct wsdbg_lane lane = lane_of(split, split->waiting, (uint32_t)number);
        left &= ~(1u << number);
        if (!wsdbg_lane_read_registers(&lane, &split->shared, &state))
            return lane.error;
        error = follow_lane(split, &lane, &state, found);
    }
    return error;
}

/* ---- parts ---- */

struct writers {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_look_operands *operands;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    struct wsdbg_look_loops loops;
};

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
static bool polls_known_word(const struct writers *writers, uint32_t part)
{
    const struct wsdbg_part *row = &writers->out->parts[part];
    const struct wsdbg_look_part *beside = &writers->seen->parts[part];
    if (row->state != WSDBG_WARP_SPIN_GLOBAL || !row->seen || !row->address.known || !row->width_bytes.known ||
        !beside->place.function)
        return false;
    const struct wsdbg_instruction *load =
        wsdbg_graph_instruction(beside->place.function->graph, beside->site.instruction);
    const struct wsdbg_operand *operand = wsdbg_memory_operand(load);
    return (is_load(load) || is_atomic(load)) && operand && operand->uniform == WSDBG_URZ;
}

static struct wsdbg_error *judge(struct writers *writers, uint32_t waiting, uint32_t polling, uint64_t until_ns)
{
    const struct wsdbg_look_part *beside = &writers->seen->parts[waiting];
    struct split split = {.machine = writers->source->machine,
                          .seen = writers->seen,
                          .rows = writers->out,
                          .loops = &writers->loops,
                          .waiting = waiting,
                          .polling = polling};
    split.graph = beside->place.function->graph;
    split.place = beside->place.instruction;
    split.load = writers->seen->parts[polling].site.instruction;
    split.address = writers->out->parts[polling].address.value;
    split.width_bytes = writers->out->parts[polling].width_bytes.value;
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
        const uint32_t cta = writers->out->warps[writers->out->parts[waiting].warp].cta;
        const struct wsdbg_code_place place = {beside->place.function, split.store};
        struct wsdbg_optional_u32 *site = &writers->out->parts[waiting].writes_site;
        site->known = true;
        error = wsdbg_look_site(writers->tables, &place, writers->out->grids[writers->out->ctas[cta].grid].module,
                                &site->value);
    }
    free(sets);
    return error;
}

static struct wsdbg_error *judge_warp(struct writers *writers, uint32_t warp, uint64_t until_ns)
{
    const struct wsdbg_warp_row *row = &writers->out->warps[warp];
    const uint32_t end = row->part_first + row->part_count;
    struct wsdbg_error *error = NULL;
    for (uint32_t w = row->part_first; w < end; w++)
        for (uint32_t p = row->part_first; !error && p < end; p++)
            if (writers->out->parts[w].state == WSDBG_WARP_RECONVERGE && !writers->out->parts[w].writes_site.known &&
                writers->seen->parts[w].place.function &&
                writers->seen->parts[w].place.function == writers->seen->parts[p].place.function &&
                polls_known_word(writers, p))
                error = judge(writers, w, p, until_ns);
    return error;
}

/* ---- warps ---- */

static bool has_part(const struct writers *writers, uint32_t warp, enum wsdbg_warp_state state)
{
    const struct wsdbg_warp_row *row = &writers->out->warps[warp];
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++)
        if (writers->out->parts[i].state == state)
            return true;
    return false;
}

static void take_over(struct writers *writers, uint32_t from, uint32_t to)
{
    const struct wsdbg_warp_row *source = &writers->out->warps[from], *target = &writers->out->warps[to];
    for (uint32_t t = target->part_first; t < target->part_first + target->part_count; t++)
        for (uint32_t s = source->part_first; s < source->part_first + source->part_count; s++)
            if (writers->seen->parts[s].pc == writers->seen->parts[t].pc &&
                writers->out->parts[s].lanes == writers->out->parts[t].lanes)
                writers->out->parts[t].writes_site = writers->out->parts[s].writes_site;
}

static uint32_t judged_alike(const struct writers *writers, const uint32_t *judged, size_t count, uint32_t warp)
{
    for (size_t i = 0; i < count; i++)
        if (writers->operands->warps[judged[i]].alike == writers->operands->warps[warp].alike)
            return judged[i];
    return WSDBG_NONE;
}

static struct wsdbg_error *judge_warps(struct writers *writers)
{
    const uint64_t until_ns = wsdbg_look_now_ns() + writers->source->budget.rest_ns;
    uint32_t judged[JUDGED_MAX];
    size_t count = 0;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < writers->out->warp_count; i++) {
        if (!has_part(writers, i, WSDBG_WARP_RECONVERGE) || !has_part(writers, i, WSDBG_WARP_SPIN_GLOBAL))
            continue;
        const uint32_t alike = judged_alike(writers, judged, count, i);
        if (alike != WSDBG_NONE) {
            take_over(writers, alike, i);
        } else if (count < JUDGED_MAX && writers->operands->warps[i].read) {
            judged[count++] = i;
            error = judge_warp(writers, i, until_ns);
        }
    }
    return error;
}

struct wsdbg_error *wsdbg_look_writers(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                       const struct wsdbg_look_operands *operands, struct wsdbg_look_tables *tables)
{
    struct writers writers = {
        .source = source, .seen = seen, .operands = operands, .tables = tables, .out = tables->out};
    struct wsdbg_error *error = judge_warps(&writers);
    wsdbg_look_forget_loops(&writers.loops);
    return error;
}
