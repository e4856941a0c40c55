/* look_states.c - what each part of a warp is doing, and what the warp is: the state of the part that the rest of it
 * waits for.
 *
 * Reads: parts with their operands, mbarrier words.  Writes: states, sites and operands of parts and warps.
 *
 * Standing at a wait is not waiting: where the barrier's phase is over already, the registers are granted or all
 * threads have come, the warp is about to go on.
 */
#include <stdlib.h>

#include "machine/look.h"

static const struct wsdbg_machine_warp *machine_warp(const struct wsdbg_looking *looking, uint32_t warp)
{
    return &looking->machine->warps[looking->warps[warp].machine];
}

/* try_wait.parity(P) goes on once the phase is not P. */
static struct wsdbg_error *mbarrier_state(struct wsdbg_looking *looking, uint32_t number, enum wsdbg_warp_state *state)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    const struct wsdbg_part *row = &looking->out->parts[number];
    uint64_t word;
    bool known = false;
    struct wsdbg_error *error = NULL;
    *state = WSDBG_WARP_UNKNOWN;
    if (!part->resolved || !row->parity.known)
        return NULL;
    const uint32_t cta = wsdbg_look_target(looking, looking->out->warps[row->warp].cta, part->operand);
    if (cta != WSDBG_NONE)
        error = wsdbg_look_word(looking, cta, part->operand & WSDBG_OFFSET_MASK, &word, &known);
    *state = known && word >> 63 != row->parity.value ? WSDBG_WARP_RUNNING : WSDBG_WARP_WAIT_MBARRIER;
    return error;
}

static bool is_granted(const struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_part *row = &looking->out->parts[number];
    const struct wsdbg_optional_u32 held = machine_warp(looking, row->warp)->registers;
    return row->count.known && held.known && held.value >= row->count.value;
}

/* What the part does if it is not in a BAR before its counter. */
static struct wsdbg_error *state_at_counter(struct wsdbg_looking *looking, uint32_t number, bool split,
                                            enum wsdbg_warp_state *state)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    *state = part->place.function ? part->site.state : WSDBG_WARP_UNKNOWN;
    if (split && part->place.function && part->site.gathers)
        *state = WSDBG_WARP_RECONVERGE;
    if (*state == WSDBG_WARP_WAIT_MBARRIER)
        return mbarrier_state(looking, number, state);
    if ((*state == WSDBG_WARP_WAIT_REGISTERS && is_granted(looking, number)) ||
        (*state == WSDBG_WARP_RECONVERGE && !split))
        *state = WSDBG_WARP_RUNNING;
    return NULL;
}

/* Blocked by the convergence hardware, as far as it says so. */
static bool is_held_back(const struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_optional_u32 state =
        machine_warp(looking, looking->out->parts[number].warp)->lanes[looking->parts[number].lane].state;
    return state.known && state.value >= WSDBG_LANE_BLOCKED_PLUS;
}

static uint32_t threads_of_cta(const struct wsdbg_looking *looking, uint32_t cta)
{
    return looking->out->grids[looking->out->ctas[cta].grid].warps_per_cta * WSDBG_MACHINE_LANES;
}

static uint32_t bar_threads(const struct wsdbg_looking *looking, uint32_t number)
{
    const uint32_t asked = looking->parts[number].bar_threads;
    return asked ? asked : threads_of_cta(looking, looking->out->warps[looking->out->parts[number].warp].cta);
}

static bool may_be_in_bar(const struct wsdbg_look_part *part)
{
    return part->place.function && part->site.barrier_before != WSDBG_NO_INSTRUCTION && !part->bar_skipped;
}

struct range {
    uint32_t first, end;
};

static struct range parts_of_cta(const struct wsdbg_looking *looking, uint32_t cta)
{
    const struct wsdbg_cta *row = &looking->out->ctas[cta];
    struct range range = {UINT32_MAX, 0};
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++) {
        const struct wsdbg_warp_row *warp = &looking->out->warps[w];
        if (warp->part_count && range.first == UINT32_MAX)
            range.first = warp->part_first;
        if (warp->part_count)
            range.end = warp->part_first + warp->part_count;
    }
    return range.end ? range : (struct range){0, 0};
}

/* Threads of the CTA whose counters lie behind a BAR of this id. */
static uint32_t threads_behind(const struct wsdbg_looking *looking, struct range parts, uint32_t id)
{
    uint32_t threads = 0;
    for (uint32_t i = parts.first; i < parts.end; i++)
        if (may_be_in_bar(&looking->parts[i]) && looking->parts[i].bar_known && looking->parts[i].bar_id == id)
            threads += (uint32_t)__builtin_popcount(looking->out->parts[i].lanes);
    return threads;
}

/* Some other warp of the CTA must have passed the BAR: then this part has too. */
static bool others_passed(const struct wsdbg_looking *looking, struct range parts, uint32_t number)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    const uint32_t bar = part->site.barrier_before;
    const struct wsdbg_graph *graph = part->place.function->graph;
    uint64_t *set = calloc(wsdbg_graph_instruction_count(graph) / 64 + 1, sizeof *set);
    bool passed = false;
    if (set)
        set[bar / 64] |= (uint64_t)1 << bar % 64;
    for (uint32_t i = parts.first; set && !passed && i < parts.end; i++) {
        uint8_t least = 0, most = 0;
        const struct wsdbg_look_part *other = &looking->parts[i];
        if (other->place.function == part->place.function && other->site.barrier_before != bar)
            passed = wsdbg_graph_passes(graph, 0, other->place.instruction, set, &least, &most) && least > 0;
    }
    free(set);
    return passed;
}

static bool is_in_bar(const struct wsdbg_looking *looking, struct range parts, uint32_t number,
                      enum wsdbg_warp_state otherwise)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    if (part->wait)
        return part->wait->state == WSDBG_WARP_WAIT_NAMED && may_be_in_bar(part);
    if (!may_be_in_bar(part) || !part->bar_known || is_held_back(looking, number) ||
        threads_behind(looking, parts, part->bar_id) >= bar_threads(looking, number))
        return false;
    const bool ambiguous = wsdbg_warp_state_waits(otherwise) && otherwise != WSDBG_WARP_RECONVERGE;
    return !ambiguous || !others_passed(looking, parts, number);
}

static struct wsdbg_error *part_state(struct wsdbg_looking *looking, struct range parts, uint32_t number)
{
    struct wsdbg_part *row = &looking->out->parts[number];
    const bool split = looking->out->warps[row->warp].part_count > 1;
    struct wsdbg_error *error = state_at_counter(looking, number, split, &row->state);
    if (error)
        return error;
    const struct wsdbg_look_part *part = &looking->parts[number];
    if (is_in_bar(looking, parts, number, row->state)) {
        row->state = WSDBG_WARP_WAIT_NAMED;
        row->count = wsdbg_known_u32(bar_threads(looking, number));
        row->parity = row->width_bytes = (struct wsdbg_optional_u32){0};
        row->address = row->value = (struct wsdbg_optional_u64){0};
    } else if (may_be_in_bar(part) && !part->bar_known) {
        row->state = WSDBG_WARP_UNKNOWN;
    } else if (split && row->state == WSDBG_WARP_RUNNING && is_held_back(looking, number)) {
        row->state = WSDBG_WARP_RECONVERGE;
    }
    return NULL;
}

static struct wsdbg_error *part_site(struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    struct wsdbg_part *row = &looking->out->parts[number];
    struct wsdbg_code_place place = part->place;
    if (!place.function)
        return NULL;
    if (row->state == WSDBG_WARP_WAIT_NAMED)
        place.instruction = part->site.barrier_before;
    else if (wsdbg_warp_state_waits(row->state) && row->state != WSDBG_WARP_RECONVERGE)
        place.instruction = part->site.instruction;
    const uint32_t grid = looking->out->ctas[looking->out->warps[row->warp].cta].grid;
    return wsdbg_look_site(looking, &place, looking->out->grids[grid].module, &row->site);
}

/* Who of the parts the others wait for: one that runs, one nobody knows about, one in a wait that other warps or the
 * copy engine end; last those that wait for their own lanes. */
static unsigned precedence(enum wsdbg_warp_state state)
{
    static const enum wsdbg_warp_state order[] = {
        WSDBG_WARP_RUNNING,        WSDBG_WARP_UNKNOWN,      WSDBG_WARP_WAIT_MBARRIER, WSDBG_WARP_SPIN_GLOBAL,
        WSDBG_WARP_SPIN_SHARED,    WSDBG_WARP_WAIT_REGISTERS, WSDBG_WARP_WAIT_BULK,    WSDBG_WARP_WAIT_WGMMA,    WSDBG_WARP_WAIT_GRID_DEPENDENCY,
        WSDBG_WARP_WAIT_NAMED,     WSDBG_WARP_WAIT_CLUSTER,
    };
    unsigned i = 0;
    while (i < sizeof order / sizeof *order && order[i] != state)
        i++;
    return i;
}

/* What a part waits for, 0 for nothing that has a name.  A warp that polls stays in its loop, also where it waits for
 * others of its CTA to come round; lanes that gather wait for those that poll. */
static uint64_t want_of(const struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    const struct wsdbg_part *shown = &looking->out->parts[number];
    if (part->site.gathers)
        return 0;
    if (wsdbg_warp_state_polls(part->site.state))
        return wsdbg_mix(1, shown->address.value);
    if (part->site.state == WSDBG_WARP_WAIT_MBARRIER)
        return wsdbg_mix(wsdbg_mix(2, part->operand), shown->parity.value);
    if (part->site.state == WSDBG_WARP_RUNNING && may_be_in_bar(part))
        return wsdbg_mix(3, part->bar_id);
    return 0;
}

static bool is_want_known(const struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_look_part *part = &looking->parts[number];
    const struct wsdbg_part *shown = &looking->out->parts[number];
    if (wsdbg_warp_state_polls(part->site.state))
        return shown->seen && shown->address.known;
    if (part->site.state == WSDBG_WARP_WAIT_MBARRIER)
        return shown->seen && part->resolved;
    return shown->seen;
}

static bool is_wanted_before(const struct wsdbg_looking *looking, uint32_t first, uint32_t number, uint64_t want)
{
    for (uint32_t i = first; i < number; i++)
        if (want_of(looking, i) == want)
            return true;
    return false;
}

/* Each thing once: in how many parts its lanes go round one loop differs from look to look.  What lanes want that all
 * gather is not known. */
static void compare_wants(struct wsdbg_looking *looking, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    struct wsdbg_look_warp *beside = &looking->warps[warp];
    bool all_gather = row->part_count > 0;
    beside->wants_known = true;
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++) {
        const uint64_t want = want_of(looking, i);
        all_gather &= looking->parts[i].site.gathers;
        beside->wants_known &= !want || is_want_known(looking, i);
        if (!is_wanted_before(looking, row->part_first, i, want))
            beside->wants += want;
    }
    beside->wants_known &= !all_gather;
}

static void decide(struct wsdbg_looking *looking, uint32_t warp)
{
    struct wsdbg_warp_row *row = &looking->out->warps[warp];
    const struct wsdbg_part *parts = looking->out->parts;
    for (uint32_t i = row->part_first; i < row->part_first + row->part_count; i++) {
        const uint32_t best = looking->warps[warp].decides;
        if (best == WSDBG_NONE || precedence(parts[i].state) < precedence(parts[best].state))
            looking->warps[warp].decides = i;
    }
    if (looking->warps[warp].decides == WSDBG_NONE)
        return;
    const struct wsdbg_part *part = &parts[looking->warps[warp].decides];
    row->state = part->state;
    row->site = part->site;
    row->lanes = wsdbg_known_u32((uint32_t)__builtin_popcount(part->lanes));
    if (part->state == WSDBG_WARP_WAIT_MBARRIER)
        row->parity = part->parity;
    if (part->state == WSDBG_WARP_WAIT_REGISTERS)
        row->registers_asked = part->count;
    if (part->site != WSDBG_NONE)
        row->line = looking->out->sites[part->site].line;
}

struct wsdbg_error *wsdbg_look_states(struct wsdbg_looking *looking)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; i < looking->out->warp_count; i++)
        compare_wants(looking, i);
    for (uint32_t cta = 0; !error && cta < looking->out->cta_count; cta++) {
        const struct range parts = parts_of_cta(looking, cta);
        for (uint32_t i = parts.first; !error && i < parts.end; i++) {
            error = part_state(looking, parts, i);
            if (!error)
                error = part_site(looking, i);
        }
    }
    for (uint32_t i = 0; !error && i < looking->out->warp_count; i++)
        decide(looking, i);
    return error;
}
