/* look_spins.c - lanes that are followed round their loop: whether a poll may end by a time limit, and whether what
 * does not look like a wait is one all the same.
 *
 * Reads: registers and memory of some lanes of a look.  Writes: sites of parts that poll, and what those poll.
 *
 * To read a lane's registers takes a millisecond, in which the GPU stands still: so this is done for few lanes.  Those
 * beyond, in a loop in which others were seen to poll, are taken to poll as well; but that they do is not sure.
 */
#include <stdlib.h>

#include "machine/lane.h"
#include "machine/look.h"
#include "machine/spin.h"
#include "machine/time_limit.h"
#include "machine/walk_thread.h"

enum { LIMITS_MOST = 32, TRIES_MOST = 16 };

/* False: its registers are not to be had. */
static bool read_lane(struct wsdbg_lane *lane, struct wsdbg_thread_state *state)
{
    struct wsdbg_thread_state shared = {0};
    lane->error = wsdbg_lane_read_uniform(lane->machine, lane->warp, &shared);
    return !lane->error && wsdbg_lane_read_registers(lane, &shared, state);
}

/* A poll with a time limit ends by itself, unless the lane's registers say that the limit is off. */
static struct wsdbg_error *look_at_limit(struct wsdbg_lane *lane, struct wsdbg_look_part *part)
{
    const struct wsdbg_graph *graph = part->place.function->graph;
    struct wsdbg_thread_state state;
    struct wsdbg_loop loop;
    bool found = false;
    if (!read_lane(lane, &state))
        return lane->error;
    struct wsdbg_error *error = wsdbg_loop_around(graph, part->place.instruction, &loop, &found);
    if (error || !found)
        return error;
    const struct wsdbg_thread_world world = wsdbg_lane_world(lane);
    error = wsdbg_time_limit_may_count(&loop, part->place.instruction, &state, &world, &part->may_time_out);
    free(loop.body);
    part->may_time_out |= error || lane->error;
    return error ? error : lane->error;
}

static uint32_t loop_of(const struct wsdbg_look_part *part)
{
    const struct wsdbg_graph *graph = part->place.function->graph;
    return wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, part->place.instruction))->loop;
}

static void note(struct wsdbg_look_spins *spins, const struct wsdbg_look_part *part)
{
    if (spins->found_count == sizeof spins->found / sizeof *spins->found)
        return;
    spins->found[spins->found_count].function = part->place.function;
    spins->found[spins->found_count].loop = loop_of(part);
    spins->found[spins->found_count++].site = part->site;
}

static void take_spin(struct wsdbg_look_part *part, const struct wsdbg_spin *spin)
{
    part->site = (struct wsdbg_wait_site){
        .state = spin->is_test     ? WSDBG_WARP_WAIT_MBARRIER
                 : spin->is_shared ? WSDBG_WARP_SPIN_SHARED
                                   : WSDBG_WARP_SPIN_GLOBAL,
        .instruction = spin->load,
        .home = spin->home,
        .barrier_before = WSDBG_NO_INSTRUCTION,
    };
    part->may_time_out = spin->may_time_out;
    part->spin.is_found = part->spin.is_read = true;
    part->spin.address = spin->address;
    part->spin.value = spin->value;
    part->spin.phase = spin->phase;
    part->spin.width_bytes = spin->width_bytes;
}

/* As others in the same loop, that were followed. */
static void take_as_others(const struct wsdbg_look_spins *spins, struct wsdbg_look_part *part)
{
    for (unsigned i = 0; i < spins->found_count && !part->spin.is_found; i++)
        if (spins->found[i].function == part->place.function && spins->found[i].loop == loop_of(part)) {
            part->site = spins->found[i].site;
            part->may_time_out = part->spin.is_found = true;
        }
}

static struct walk_thread thread_of(const struct wsdbg_lane *lane, const struct wsdbg_cta *cta,
                                    struct walk_memory *memory)
{
    struct wsdbg_machine *machine = lane->machine;
    const struct wsdbg_machine_warp *warp = &machine->warps[lane->warp];
    const uint32_t grid = machine->ctas[warp->cta].grid, *block = machine->grids[grid].block;
    const uint32_t *at = warp->lanes[lane->lane].thread;
    return (struct walk_thread){.memory = memory,
                                .machine = machine,
                                .grid = grid,
                                .cta = cta,
                                .cta_row = warp->cta,
                                .sibling = warp->cta,
                                .linear = at[0] + block[0] * (at[1] + block[1] * at[2]),
                                .lane = lane->lane,
                                .warp = lane->warp,
                                .is_there = true,
                                .is_of_words = true};
}

/* Where the part is in the code of its function.  False: it may be in several copies of that. */
static bool place_of(const struct wsdbg_look_part *part, struct wsdbg_spin_place *out)
{
    const struct wsdbg_code_function *function = part->place.function;
    const uint64_t at = part->pc - function->cubin->address;
    *out = (struct wsdbg_spin_place){0, part->place.instruction};
    if (function->joined && part->copies)
        *out = (struct wsdbg_spin_place){part->copy, part->own.instruction};
    else if (function->joined)
        out->number = (uint32_t)(at / WSDBG_INSTRUCTION_BYTES);
    return part->copies <= 1;
}

static void begin_code(struct wsdbg_look_spins *spins, const struct wsdbg_code_function *function)
{
    if (spins->code.graph == function->graph)
        return;
    const uint32_t steps = spins->code.steps;
    wsdbg_spin_code_deinit(&spins->code);
    spins->code = (struct wsdbg_spin_code){.graph = function->graph, .joined = function->joined, .steps = steps};
}

/* What a lane is followed with. */
struct start {
    struct wsdbg_thread_state state;
    struct walk_thread thread;
    struct wsdbg_thread_world world;
    struct wsdbg_spin_place place;
};

/* Sets *known to false if the lane's place or its registers are not known. */
static struct wsdbg_error *begin(struct wsdbg_lane *lane, const struct wsdbg_cta *cta, struct wsdbg_look_spins *spins,
                                 const struct wsdbg_look_part *part, struct start *start, bool *known)
{
    *known = place_of(part, &start->place);
    if (!*known)
        return NULL;
    if (!spins->memory)
        spins->memory = calloc(1, sizeof *spins->memory);
    if (!spins->memory)
        return &wsdbg_error_no_memory;
    *known = read_lane(lane, &start->state);
    if (!*known)
        return lane->error;
    walk_memory_begin_cta(spins->memory);
    start->thread = thread_of(lane, cta, spins->memory);
    start->world = walk_thread_world(&start->thread);
    begin_code(spins, part->place.function);
    return NULL;
}

static struct wsdbg_error *look_for_spin(struct wsdbg_lane *lane, const struct wsdbg_cta *cta,
                                         struct wsdbg_look_spins *spins, struct wsdbg_look_part *part)
{
    struct start start;
    struct wsdbg_spin spin;
    bool known;
    struct wsdbg_error *error = begin(lane, cta, spins, part, &start, &known);
    if (error || !known)
        return error;
    if (wsdbg_spin_find(&spins->code, start.place, &start.state, &start.world, &spin)) {
        take_spin(part, &spin);
        note(spins, part);
    } else {
        part->spin.is_known_not_to = wsdbg_spin_has_steps(&spins->code);
    }
    return start.thread.error;
}

struct wsdbg_error *wsdbg_look_reach(struct wsdbg_machine *machine, uint32_t warp, const struct wsdbg_cta *cta,
                                     struct wsdbg_look_spins *spins, const struct wsdbg_look_part *part,
                                     struct wsdbg_spin_target *out, bool *known)
{
    struct wsdbg_lane lane = {machine, warp, part->lane, NULL};
    struct start start;
    struct wsdbg_error *error = begin(&lane, cta, spins, part, &start, known);
    if (error || !*known)
        return error;
    *known = wsdbg_spin_reach(&spins->code, start.place, &start.state, &start.world, part->site.instruction, out) &&
             !start.thread.error;
    return start.thread.error;
}

struct wsdbg_error *wsdbg_look_spin(struct wsdbg_machine *machine, uint32_t warp, const struct wsdbg_cta *cta,
                                    struct wsdbg_look_spins *spins, struct wsdbg_look_part *part)
{
    struct wsdbg_lane lane = {machine, warp, part->lane, NULL};
    struct wsdbg_error *error = NULL;
    part->may_time_out = part->site.has_limit;
    /* What a limit is made of lies in the stack frame of joined code, which only a lane that is followed has. */
    if (part->site.has_limit && part->place.function->joined && spins->tries++ < TRIES_MOST)
        error = look_for_spin(&lane, cta, spins, part);
    if (error || part->spin.is_found)
        return error;
    if (part->site.has_limit)
        return spins->limits++ < LIMITS_MOST ? look_at_limit(&lane, part) : NULL;
    if ((part->site.state != WSDBG_WARP_RUNNING && !part->site.is_pointed) ||
        part->site.barrier_before != WSDBG_NO_INSTRUCTION || part->spin.is_known_not_to ||
        loop_of(part) == WSDBG_GRAPH_NONE)
        return NULL;
    if (spins->tries++ < TRIES_MOST && wsdbg_spin_has_steps(&spins->code))
        return look_for_spin(&lane, cta, spins, part);
    if (!part->site.is_pointed && part->copies <= 1)
        take_as_others(spins, part);
    return NULL;
}

void wsdbg_look_spins_destroy(struct wsdbg_look_spins *spins)
{
    free(spins->memory);
    wsdbg_spin_code_deinit(&spins->code);
}
