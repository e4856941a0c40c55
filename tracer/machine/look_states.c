/* look_states.c - what each part of a warp is doing, and what the warp is: the state of the part that the rest of it
 * waits for.
 *
 * Reads: parts with their operands, mbarrier words.  Writes: states, sites and operands of parts and warps; which part
 * decides the state of each warp.
 *
 * Standing at a wait is not waiting: where the barrier's phase is over already, the registers are granted or all
 * threads have come, the warp is about to go on.
 */
#include <stdlib.h>

#include "machine/look.h"

struct states {
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_look_operands *operands;
    const struct wsdbg_words *words;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    uint32_t *deciding;
};

static const struct wsdbg_machine_warp *machine_warp(const struct states *states, uint32_t warp)
{
    return &states->seen->machine->warps[states->seen->warps[warp].machine];
}

/* try_wait.parity(P) goes on once the phase is not P. */
static enum wsdbg_warp_state mbarrier_state(const struct states *states, uint32_t number)
{
    const struct wsdbg_part_operands *operands = &states->operands->parts[number];
    const struct wsdbg_part *row = &states->out->parts[number];
    if (!operands->resolved || !row->parity.known)
        return WSDBG_WARP_UNKNOWN;
    const uint32_t cta = wsdbg_look_target(states->out, states->out->warps[row->warp].cta, operands->mbarrier);
    const struct wsdbg_word *word =
        cta == WSDBG_NONE ? NULL : wsdbg_words_find(&states->words[cta], operands->mbarrier & WSDBG_OFFSET_MASK);
    const bool is_over = word && word->known && word->value >> 63 != row->parity.value;
    return is_over ? WSDBG_WARP_RUNNING : WSDBG_WARP_WAIT_MBARRIER;
}

static bool is_granted(const struct states *states, uint32_t number)
{
    const struct wsdbg_part *row = &states->out->parts[number];
    const struct wsdbg_optional_u32 held = machine_warp(states, row->warp)->registers;
    return row->count.known && held.known && held.value >= row->count.value;
}

/* What the part does if it is not in a BAR before its counter. */
static enum wsdbg_warp_state state_at_counter(const struct states *states, uint32_t number, bool split)
{
    const struct wsdbg_look_part *part = &states->seen->parts[number];
    const enum wsdbg_warp_state state = part->place.function ? part->site.state : WSDBG_WARP_UNKNOWN;
    if (split && part->place.function && part->site.gathers)
        return WSDBG_WARP_RECONVERGE;
    if (state == WSDBG_WARP_WAIT_MBARRIER)
        return mbarrier_state(states, number);
    if ((state == WSDBG_WARP_WAIT_REGISTERS && is_granted(states, number)) ||
        (state == WSDBG_WARP_RECONVERGE && !split))
        return WSDBG_WARP_RUNNING;
    return state;
}

/* Blocked by the convergence hardware, as far as it says so. */
static bool is_held_back(const struct states *states, uint32_t number)
{
    const struct wsdbg_optional_u32 state =
        machine_warp(states, states->out->parts[number].warp)->lanes[states->seen->parts[number].lane].state;
    return state.known && state.value >= WSDBG_LANE_BLOCKED_PLUS;
}

static uint32_t threads_of_cta(const struct states *states, uint32_t cta)
{
    return states->out->grids[states->out->ctas[cta].grid].warps_per_cta * WSDBG_MACHINE_LANES;
}

static bool may_be_in_bar(const struct states *states, uint32_t number)
{
    return wsdbg_look_may_be_in_bar(&states->seen->parts[number], &states->operands->parts[number]);
}

static uint32_t bar_threads(const struct states *states, uint32_t number)
{
    const uint32_t asked = states->operands->parts[number].bar_threads;
    return asked ? asked : threads_of_cta(states, states->out->warps[states->out->parts[number].warp].cta);
}

struct range {
    uint32_t first, end;
};

static struct range parts_of_cta(const struct states *states, uint32_t cta)
{
    const struct wsdbg_cta *row = &states->out->ctas[cta];
    struct range range = {UINT32_MAX, 0};
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &states->out->warps[w];
        if (warp->part_count && range.first == UINT32_MAX)
            range.first = warp->part_first;
        if (warp->part_count)
            range.end = warp->part_first + warp->part_count;
    }
    return range.end ? range : (struct range){0, 0};
}

/* Threads of the CTA whose counters lie behind a BAR of this id. */
static uint32_t threads_behind(const struct states *states, struct range parts, uint32_t id)
{
    uint32_t threads = 0;
    for (uint32_t i = parts.first; i < parts.end; i++)
        if (may_be_in_bar(states, i) && states->operands->parts[i].bar_known && states->operands->parts[i].bar_id == id)
            threads += (uint32_t)__builtin_popcount(states->out->parts[i].lanes);
    return threads;
}

/* Some other warp of the CTA must have passed the BAR: then this part has too. */
static bool others_passed(const struct states *states, struct range parts, uint32_t number)
{
    const struct wsdbg_look_part *part = &states->seen->parts[number];
    const uint32_t bar = part->site.barrier_before;
    const struct wsdbg_graph *graph = part->place.function->graph;
    uint64_t *set = calloc(wsdbg_graph_instruction_count(graph) / 64 + 1, sizeof *set);
    bool passed = false;
    if (set)
        set[bar / 64] |= (uint64_t)1 << bar % 64;
    for (uint32_t i = parts.first; set && !passed && i < parts.end; i++) {
        uint8_t least = 0, most = 0;
        const struct wsdbg_look_part *other = &states->seen->parts[i];
        if (other->place.function == part->place.function && other->site.barrier_before != bar)
            passed = wsdbg_graph_passes(graph, 0, other->place.instruction, set, &least, &most) && least > 0;
    }
    free(set);
    return passed;
}

/* Whether a warp may have come to its counter without executing that BAR.  Then it is taken to be in the BAR only if
 * it waits for nothing else. */
static bool is_doubtful(const struct wsdbg_wait_site *site)
{
    return site->bar_is_joined || !site->guard_holds;
}

static bool is_in_bar(const struct states *states, struct range parts, uint32_t number, enum wsdbg_warp_state otherwise)
{
    const struct wsdbg_machine_wait *wait = states->seen->parts[number].wait;
    const struct wsdbg_part_operands *operands = &states->operands->parts[number];
    if (wait)
        return wait->state == WSDBG_WARP_WAIT_NAMED && may_be_in_bar(states, number);
    if (!may_be_in_bar(states, number) || !operands->bar_known || is_held_back(states, number) ||
        threads_behind(states, parts, operands->bar_id) >= bar_threads(states, number))
        return false;
    const bool waits = wsdbg_warp_state_waits(otherwise), is_in_doubt = is_doubtful(&states->seen->parts[number].site);
    if (is_in_doubt && waits)
        return false;
    const bool ambiguous = is_in_doubt || (waits && otherwise != WSDBG_WARP_RECONVERGE);
    return !ambiguous || !others_passed(states, parts, number);
}

/* Whether it is known which BAR the part may be in, and whether that BAR was executed. */
static bool is_bar_known(const struct states *states, uint32_t number)
{
    return states->operands->parts[number].bar_known &&
           (states->seen->parts[number].wait || states->seen->parts[number].site.guard_holds);
}

static void set_state(const struct states *states, struct range parts, uint32_t number)
{
    struct wsdbg_part *row = &states->out->parts[number];
    const bool split = states->out->warps[row->warp].part_count > 1;
    row->state = state_at_counter(states, number, split);
    if (is_in_bar(states, parts, number, row->state)) {
        row->state = WSDBG_WARP_WAIT_NAMED;
        row->count = wsdbg_known_u32(bar_threads(states, number));
        row->parity = row->width_bytes = (struct wsdbg_optional_u32){0};
        row->address = row->value = (struct wsdbg_optional_u64){0};
    } else if (may_be_in_bar(states, number) && !is_bar_known(states, number)) {
        row->state = WSDBG_WARP_UNKNOWN;
    } else if (split && row->state == WSDBG_WARP_RUNNING && is_held_back(states, number)) {
        row->state = WSDBG_WARP_RECONVERGE;
    }
    row->of_several = row->state == WSDBG_WARP_WAIT_MBARRIER && states->seen->parts[number].site.of_several;
}

static struct wsdbg_error *set_site(const struct states *states, uint32_t number)
{
    const struct wsdbg_look_part *part = &states->seen->parts[number];
    struct wsdbg_part *row = &states->out->parts[number];
    struct wsdbg_code_place place = part->named;
    if (!place.function)
        return NULL;
    if (row->state == WSDBG_WARP_WAIT_NAMED)
        place.instruction = part->site.barrier_before;
    else if (wsdbg_warp_state_waits(row->state) && row->state != WSDBG_WARP_RECONVERGE)
        place.instruction = part->site.instruction;
    const uint32_t grid = states->out->ctas[states->out->warps[row->warp].cta].grid;
    struct wsdbg_error *error = wsdbg_look_site(states->tables, &place, states->out->grids[grid].module, &row->site);
    if (!error && part->may_time_out && wsdbg_warp_state_polls(row->state) && row->site != WSDBG_NONE)
        states->out->sites[row->site].may_time_out = true;
    return error;
}

/* The part for which the others wait: one that runs, one whose state is unknown, one in a wait that other warps or the
 * copy engine end; last those that wait for their own lanes. */
static unsigned precedence(enum wsdbg_warp_state state)
{
    static const enum wsdbg_warp_state order[] = {
        WSDBG_WARP_RUNNING,     WSDBG_WARP_UNKNOWN,      WSDBG_WARP_WAIT_MBARRIER,
        WSDBG_WARP_SPIN_GLOBAL, WSDBG_WARP_SPIN_SHARED,  WSDBG_WARP_WAIT_REGISTERS,
        WSDBG_WARP_WAIT_BULK,   WSDBG_WARP_WAIT_WGMMA,   WSDBG_WARP_WAIT_GRID_DEPENDENCY,
        WSDBG_WARP_WAIT_NAMED,  WSDBG_WARP_WAIT_CLUSTER,
    };
    unsigned i = 0;
    while (i < sizeof order / sizeof *order && order[i] != state)
        i++;
    return i;
}

static void decide(const struct states *states, uint32_t warp)
{
    struct wsdbg_warp_row *row = &states->out->warps[warp];
    const struct wsdbg_part *parts = states->out->parts;
    states->deciding[warp] = WSDBG_NONE;
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++) {
        const uint32_t best = states->deciding[warp];
        if (best == WSDBG_NONE || precedence(parts[i].state) < precedence(parts[best].state))
            states->deciding[warp] = i;
    }
    if (states->deciding[warp] == WSDBG_NONE)
        return;
    const struct wsdbg_part *part = &parts[states->deciding[warp]];
    row->state = part->state;
    row->site = part->site;
    row->lanes = wsdbg_known_u32((uint32_t)__builtin_popcount(part->lanes));
    if (part->state == WSDBG_WARP_WAIT_MBARRIER)
        row->parity = part->parity;
    if (part->state == WSDBG_WARP_WAIT_REGISTERS)
        row->registers_asked = part->count;
    if (part->site != WSDBG_NONE)
        row->line = states->out->sites[part->site].line;
}

struct wsdbg_error *wsdbg_look_states(const struct wsdbg_look_seen *seen, const struct wsdbg_look_operands *operands,
                                      const struct wsdbg_words *words, struct wsdbg_look_tables *tables,
                                      uint32_t *deciding)
{
    const struct states states = {seen, operands, words, tables, tables->out, deciding};
    struct wsdbg_error *error = NULL;
    for (uint32_t cta = 0; !error && cta < tables->out->cta_count; cta++) {
        const struct range parts = parts_of_cta(&states, cta);
        for (uint32_t i = parts.first; !error && i < parts.end; i++) {
            set_state(&states, parts, i);
            error = set_site(&states, i);
        }
    }
    for (uint32_t i = 0; !error && i < tables->out->warp_count; i++)
        decide(&states, i);
    return error;
}
