/* register_order.c - see register_order.h.  Reads the view and the kernel's code; writes where it stops. */
#include "lint/register_order.h"

#include <stdlib.h>
#include <string.h>

#include "sass/flow.h"
#include "sass/slice.h"
#include "sass/threads.h"

enum { WARP_THREADS = 32, IDS = 16, FILE_WARPS_MOST = WSDBG_VIEW_WARPS_MOST / WSDBG_VIEW_FILES, STATES_MOST = 1024 };

/* A named barrier: it holds a warp until all its members have reached it, if it is known who they are. */
struct barrier {
    bool holds;
    uint32_t members; /* warps */
};

struct state {
    uint8_t at[FILE_WARPS_MOST]; /* by warp of the file: the step that it has reached */
    uint16_t held[FILE_WARPS_MOST];
};

/* One register file. */
struct machine {
    const struct wsdbg_register_steps *steps[FILE_WARPS_MOST];
    uint32_t file, warp_count, pool;
    struct barrier barriers[IDS];
    bool is_strict; /* whoever is through with its steps does not count as one that reached a barrier */
    struct state *states;
    uint32_t state_count;
    uint8_t asks_at[FILE_WARPS_MOST]; /* by warp: 1 + the step at which it asks for ever in some order; 0 = none */
};

/* ---- the machine ---- */

static bool is_through(const struct machine *machine, const struct state *state, uint32_t warp)
{
    return state->at[warp] == machine->steps[warp]->count;
}

/* The step that the warp has reached; NULL = it is through. */
static const struct wsdbg_register_step *step_at(const struct machine *machine, const struct state *state,
                                                 uint32_t warp)
{
    return is_through(machine, state, warp) ? NULL : &machine->steps[warp]->steps[state->at[warp]];
}

static bool stands_at(const struct machine *machine, const struct state *state, uint32_t warp, int id)
{
    const struct wsdbg_register_step *step = step_at(machine, state, warp);
    return step && step->kind == WSDBG_STEP_SYNC && step->id == id;
}

/* It stands there, or has arrived without a wait, which it does once at most. */
static bool has_come(const struct machine *machine, const struct state *state, uint32_t warp, int id)
{
    bool has_arrived = is_through(machine, state, warp);
    for (uint32_t i = 0; i < state->at[warp]; i++)
        has_arrived |=
            machine->steps[warp]->steps[i].kind == WSDBG_STEP_ARRIVE && machine->steps[warp]->steps[i].id == id;
    return stands_at(machine, state, warp, id) || (!machine->is_strict && has_arrived);
}

static uint32_t bit_of(const struct machine *machine, uint32_t warp)
{
    return 1u << (machine->file + warp * WSDBG_VIEW_FILES);
}

/* Lets the warps go on that stand at the barrier; false where it holds them. */
static bool pass_barrier(const struct machine *machine, struct state *state, int id)
{
    const struct barrier barrier = id < 0 ? (struct barrier){.holds = machine->is_strict} : machine->barriers[id];
    if (barrier.holds && id < 0)
        return false;
    for (uint32_t i = 0; i < machine->warp_count; i++)
        if (barrier.holds && (barrier.members & bit_of(machine, i)) && !has_come(machine, state, i, id))
            return false;
    for (uint32_t i = 0; i < machine->warp_count; i++)
        state->at[i] += stands_at(machine, state, i, id);
    return true;
}

/* One step that needs no choice; false where the warp has none. */
static bool go_on(const struct machine *machine, struct state *state, uint32_t warp)
{
    const struct wsdbg_register_step *step = step_at(machine, state, warp);
    const uint32_t after = machine->steps[warp]->held_after;
    if (!step && after < state->held[warp]) {
        state->held[warp] = (uint16_t)after;
        return true;
    }
    if (!step || step->kind == WSDBG_STEP_REQUEST)
        return false;
    if (step->kind == WSDBG_STEP_SYNC)
        return pass_barrier(machine, state, step->id);
    if (step->kind == WSDBG_STEP_RELEASE && step->count < state->held[warp])
        state->held[warp] = step->count;
    state->at[warp]++;
    return true;
}

/* Giving back and syncing are never in anybody's way: they need no other order. */
static void settle(const struct machine *machine, struct state *state)
{
    for (bool changes = true; changes;) {
        changes = false;
        for (uint32_t i = 0; i < machine->warp_count; i++)
            changes |= go_on(machine, state, i);
    }
}

/* Adds a state that is new; false where there are too many. */
static bool add_state(struct machine *machine, struct state *state)
{
    settle(machine, state);
    for (uint32_t i = 0; i < machine->state_count; i++)
        if (memcmp(&machine->states[i], state, sizeof *state) == 0)
            return true;
    if (machine->state_count == STATES_MOST)
        return false;
    machine->states[machine->state_count++] = *state;
    return true;
}

static bool serve(const struct machine *machine, const struct state *before, uint32_t warp, struct state *after)
{
    const struct wsdbg_register_step *step = step_at(machine, before, warp);
    uint32_t held = 0;
    if (!step || step->kind != WSDBG_STEP_REQUEST)
        return false;
    for (uint32_t i = 0; i < machine->warp_count; i++)
        held += i == warp ? step->count : before->held[i];
    *after = *before;
    after->held[warp] = step->count;
    after->at[warp]++;
    return held <= machine->pool;
}

static bool all_through(const struct machine *machine, const struct state *state)
{
    for (uint32_t i = 0; i < machine->warp_count; i++)
        if (!is_through(machine, state, i))
            return false;
    return true;
}

static void note_asking(struct machine *machine, const struct state *stuck)
{
    for (uint32_t i = 0; i < machine->warp_count; i++) {
        const struct wsdbg_register_step *step = step_at(machine, stuck, i);
        if (step && step->kind == WSDBG_STEP_REQUEST && !machine->asks_at[i])
            machine->asks_at[i] = (uint8_t)(stuck->at[i] + 1);
    }
}

enum outcome { STOPS_NEVER, STOPS_SOMETIMES, STOPS_ALWAYS, TOO_MANY_ORDERS };

/* Whether the order in which requests are served lets all come through; *stuck: else a state in which they do not. */
static enum outcome run(struct machine *machine, uint32_t launch, struct state *stuck)
{
    struct state first = {{0}, {0}};
    bool comes_through = false, is_stuck = false;
    for (uint32_t i = 0; i < machine->warp_count; i++)
        first.held[i] = (uint16_t)launch;
    machine->state_count = 0;
    memset(machine->asks_at, 0, sizeof machine->asks_at);
    add_state(machine, &first);
    for (uint32_t i = 0; i < machine->state_count; i++) {
        const struct state state = machine->states[i];
        bool is_served = false;
        for (uint32_t warp = 0; warp < machine->warp_count; warp++) {
            struct state next;
            if (!serve(machine, &state, warp, &next))
                continue;
            is_served = true;
            if (!add_state(machine, &next))
                return TOO_MANY_ORDERS;
        }
        const bool is_through = all_through(machine, &state);
        comes_through |= is_through;
        if (is_served || is_through)
            continue;
        note_asking(machine, &state);
        if (!is_stuck)
            *stuck = state;
        is_stuck = true;
    }
    if (!is_stuck)
        return STOPS_NEVER;
    return comes_through ? STOPS_SOMETIMES : STOPS_ALWAYS;
}

static void set_file(struct machine *machine, const struct wsdbg_register_view *view,
                     const struct wsdbg_register_steps *steps, uint32_t file)
{
    machine->file = file;
    machine->warp_count = 0;
    machine->pool = wsdbg_register_view_pool(view, file);
    for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES)
        machine->steps[machine->warp_count++] = &steps[i];
}

/* ---- who reaches which barrier ---- */

/* What all warps do, and the barriers they meet at. */
struct play {
    const struct wsdbg_register_view *view;
    struct wsdbg_register_steps warps[WSDBG_VIEW_WARPS_MOST];
    bool is_unknown; /* some warp syncs nobody knows where */
    struct {
        uint32_t warps, arriving; /* that reach it, and those of them that arrive without a wait */
        uint32_t threads;         /* that it counts; 0 = all of the CTA */
        bool is_unclear; /* it counts differently from site to site, or somebody may arrive twice without a wait */
    } ids[IDS];
};

static bool is_number(const struct wsdbg_value_set *set, uint64_t below)
{
    return set->known && set->count == 1 && set->base < below;
}

/* `again`: it arrives without a wait, and may do so once more. */
static void meet(struct play *play, uint32_t warp, const struct wsdbg_instruction *bar,
                 const struct wsdbg_access *access, bool again)
{
    if (!is_number(&access->address, IDS) || bar->mode == WSDBG_BAR_SYNCALL) {
        play->is_unknown = true;
        return;
    }
    const unsigned id = (unsigned)access->address.base;
    const bool is_first = !play->ids[id].warps;
    const bool has_come = play->ids[id].warps >> warp & 1;
    play->ids[id].warps |= 1u << warp;
    play->ids[id].is_unclear |= again || (has_come && access->kind != WSDBG_ACCESS_NAMED_SYNC) ||
                                (has_come && play->ids[id].arriving >> warp & 1) ||
                                !is_number(&access->count, UINT32_MAX) ||
                                (!is_first && play->ids[id].threads != access->count.base);
    play->ids[id].threads = (uint32_t)access->count.base;
    play->ids[id].arriving |= (uint32_t)(access->kind == WSDBG_ACCESS_NAMED_ARRIVE) << warp;
    for (uint32_t i = 0; i < play->warps[warp].count; i++)
        if (play->warps[warp].steps[i].instruction == access->instruction)
            play->warps[warp].steps[i].id = (int8_t)id;
}

/* A barrier of the whole CTA holds all its warps.  One that counts others holds them if no more than those it needs
 * ever come: then all of them must. */
static void set_barriers(const struct play *play, struct barrier *barriers)
{
    const uint32_t count = play->view->warp_count, all = count == 32 ? UINT32_MAX : (1u << count) - 1;
    for (unsigned id = 0; id < IDS; id++) {
        const uint32_t warps = play->ids[id].warps, threads = play->ids[id].threads;
        const bool is_exact = (uint32_t)__builtin_popcount(warps) * WARP_THREADS == threads;
        barriers[id].holds = warps && !play->is_unknown && !play->ids[id].is_unclear && (!threads || is_exact);
        barriers[id].members = threads ? warps : all;
    }
}

/* All that the warp may execute of the accesses. */
static struct wsdbg_error *meet_all(struct play *play, uint32_t warp, const struct wsdbg_graph *theirs,
                                    const struct wsdbg_access *accesses, size_t count)
{
    const size_t words = (size_t)theirs->instruction_count / 64 + 1;
    uint64_t *reached = calloc(2 * words, sizeof *reached), *behind = reached + words;
    if (!reached)
        return &wsdbg_error_no_memory;
    wsdbg_graph_reach_set(theirs, 0, NULL, reached);
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = accesses[i].instruction;
        const struct wsdbg_instruction *bar = wsdbg_graph_instruction(theirs, at);
        if (!wsdbg_flow_contains(reached, at) || wsdbg_flow_never_executes(bar))
            continue;
        bool again = false;
        if (accesses[i].kind == WSDBG_ACCESS_NAMED_ARRIVE && at + 1 < wsdbg_graph_instruction_count(theirs)) {
            wsdbg_graph_reach_set(theirs, at + 1, NULL, behind);
            again = wsdbg_flow_contains(behind, at);
        }
        meet(play, warp, bar, &accesses[i], again);
    }
    free(reached);
    return NULL;
}

static struct wsdbg_error *read_warp(struct wsdbg_lint_kernel *kernel, const struct wsdbg_graph *graph, uint32_t warp,
                                     struct play *play)
{
    const uint32_t kinds = 1u << WSDBG_ACCESS_NAMED_SYNC | 1u << WSDBG_ACCESS_NAMED_ARRIVE;
    const struct wsdbg_access_wanted wanted = {.kinds = kinds, .counts = kinds};
    const struct wsdbg_thread_range threads = {warp * WARP_THREADS, WARP_THREADS};
    struct wsdbg_trace *trace = NULL;
    struct wsdbg_graph *theirs = NULL;
    struct wsdbg_access *accesses = NULL;
    size_t count = 0;
    struct wsdbg_error *error = wsdbg_trace_create(graph, wsdbg_lint_launch_values(kernel), threads, &trace);
    if (!error)
        error = wsdbg_graph_create_traced(trace, &theirs);
    if (!error)
        error = wsdbg_register_steps_read(theirs, &play->warps[warp]);
    if (!error)
        error = wsdbg_accesses_find_traced(trace, &wanted, &accesses, &count);
    if (!error) {
        play->is_unknown |= play->warps[warp].is_open;
        error = meet_all(play, warp, theirs, accesses, count);
    }
    free(accesses);
    wsdbg_graph_destroy(theirs);
    wsdbg_trace_destroy(trace);
    return error;
}

/* The code that leads to a setmaxnreg or a named barrier. */
static struct wsdbg_error *make_slice(const struct wsdbg_graph *graph, struct wsdbg_graph **out, uint32_t **numbers)
{
    uint64_t *set = calloc((size_t)graph->instruction_count / 64 + 1, sizeof *set);
    if (!set)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        if (graph->instructions[i].operation == WSDBG_OP_USETMAXREG || graph->instructions[i].operation == WSDBG_OP_BAR)
            set[i / 64] |= UINT64_C(1) << i % 64;
    struct wsdbg_error *error = wsdbg_graph_create_leading_to(graph, set, out, numbers);
    free(set);
    return error;
}

/* ---- where it stops ---- */

/* Of warp `first` and those of its warpgroup that have the same step at the same place. */
static uint32_t alike(const struct play *play, uint32_t first, uint32_t at)
{
    const uint32_t group = first / WSDBG_VIEW_GROUP_WARPS * WSDBG_VIEW_GROUP_WARPS;
    uint32_t warps = 0;
    for (uint32_t i = group; i < group + WSDBG_VIEW_GROUP_WARPS && i < play->view->warp_count; i++)
        if (at < play->warps[i].count &&
            play->warps[i].steps[at].instruction == play->warps[first].steps[at].instruction)
            warps |= 1u << i;
    return warps;
}

/* The first release behind step `at`. */
static const struct wsdbg_register_step *release_after(const struct wsdbg_register_steps *steps, uint32_t at)
{
    for (uint32_t i = at; i < steps->count; i++)
        if (steps->steps[i].kind == WSDBG_STEP_RELEASE)
            return &steps->steps[i];
    return NULL;
}

static void add_wait(const struct wsdbg_register_steps *steps, uint32_t at, uint32_t warps, const uint32_t *numbers,
                     struct wsdbg_register_stop *out)
{
    const struct wsdbg_register_step *release = release_after(steps, at);
    const uint32_t sync = numbers[steps->steps[at].instruction];
    for (uint32_t i = 0; i < out->wait_count; i++)
        if (out->waits[i].sync == sync && out->waits[i].id == steps->steps[at].id) {
            out->waits[i].warps |= warps;
            return;
        }
    out->waits[out->wait_count++] = (struct wsdbg_register_wait){
        .warps = warps,
        .sync = sync,
        .id = steps->steps[at].id,
        .release = release ? numbers[release->instruction] : WSDBG_GRAPH_NONE,
        .released = release ? release->count : 0,
    };
}

static void describe(const struct play *play, const struct machine *machine, const struct state *stuck,
                     const uint32_t *numbers, bool is_certain, struct wsdbg_register_stop *out)
{
    *out = (struct wsdbg_register_stop){.is_found = true, .is_certain = is_certain};
    for (uint32_t i = 0; i < machine->warp_count; i++) {
        const uint32_t warp = machine->file + i * WSDBG_VIEW_FILES;
        const struct wsdbg_register_step *step = step_at(machine, stuck, i);
        if (step && step->kind == WSDBG_STEP_SYNC)
            add_wait(machine->steps[i], stuck->at[i], alike(play, warp, stuck->at[i]), numbers, out);
        if (!machine->asks_at[i])
            continue;
        const uint32_t at = machine->asks_at[i] - 1u;
        out->request = out->asking ? out->request : numbers[machine->steps[i]->steps[at].instruction];
        out->asking |= alike(play, warp, at);
    }
}

/* Whether the requests stop what would come through if all of them were served at once.  Sometimes only where nothing
 * but them could have a say in the order. */
static enum outcome find_stop(struct machine *machine, const struct play *play, struct state *stuck)
{
    struct machine unlimited = *machine;
    struct state ignored;
    const uint32_t launch = play->view->launch;
    const enum outcome outcome = run(machine, launch, stuck);
    unlimited.pool = UINT32_MAX;
    if (outcome == STOPS_NEVER || outcome == TOO_MANY_ORDERS || run(&unlimited, launch, &ignored) != STOPS_NEVER)
        return STOPS_NEVER;
    for (unsigned id = 0; id < IDS && outcome == STOPS_SOMETIMES; id++)
        if (play->is_unknown || (play->ids[id].warps && !machine->barriers[id].holds))
            return STOPS_NEVER;
    return outcome;
}

/* Cheap, and enough for most kernels: only barriers at which all warps stand let them go on, and what follows the last
 * setmaxnreg is not read. */
static bool all_come_through(struct machine *machine, const struct wsdbg_register_view *view)
{
    struct wsdbg_register_steps steps[WSDBG_VIEW_WARPS_MOST];
    struct state ignored;
    machine->is_strict = true;
    for (unsigned id = 0; id < IDS; id++)
        machine->barriers[id] = (struct barrier){true, UINT32_MAX};
    for (uint32_t i = 0; i < view->warp_count; i++)
        steps[i] = view->warps[i].steps;
    bool through = true;
    for (uint32_t file = 0; file < WSDBG_VIEW_FILES && through; file++) {
        set_file(machine, view, steps, file);
        through = run(machine, view->launch, &ignored) == STOPS_NEVER;
    }
    machine->is_strict = false;
    return through;
}

static struct wsdbg_error *play_through(struct wsdbg_lint_kernel *kernel, struct play *play, struct machine *machine,
                                        struct wsdbg_register_stop *out)
{
    const struct wsdbg_graph *graph;
    struct wsdbg_graph *slice = NULL;
    uint32_t *numbers = NULL;
    struct state stuck;
    struct wsdbg_error *error = wsdbg_lint_graph(kernel, &graph);
    if (!error)
        error = make_slice(graph, &slice, &numbers);
    for (uint32_t i = 0; i < play->view->warp_count && !error; i++)
        error = read_warp(kernel, slice, i, play);
    if (!error)
        set_barriers(play, machine->barriers);
    for (uint32_t file = 0; file < WSDBG_VIEW_FILES && !error && !out->is_certain; file++) {
        set_file(machine, play->view, play->warps, file);
        const enum outcome outcome = find_stop(machine, play, &stuck);
        if (outcome == STOPS_ALWAYS || (outcome == STOPS_SOMETIMES && !out->is_found))
            describe(play, machine, &stuck, numbers, outcome == STOPS_ALWAYS, out);
    }
    free(numbers);
    wsdbg_graph_destroy(slice);
    return error;
}

struct wsdbg_error *wsdbg_register_order_read(struct wsdbg_lint_kernel *kernel, const struct wsdbg_register_view *view,
                                              struct wsdbg_register_stop *out)
{
    struct machine machine = {.states = calloc(STATES_MOST, sizeof *machine.states)};
    struct play *play = calloc(1, sizeof *play);
    struct wsdbg_error *error = machine.states && play ? NULL : &wsdbg_error_no_memory;
    *out = (struct wsdbg_register_stop){.is_found = false};
    bool is_known = true;
    for (uint32_t i = 0; i < view->warp_count; i++)
        is_known = is_known && !view->warps[i].steps.is_open && !view->warps[i].split;
    if (!error && is_known && !all_come_through(&machine, view)) {
        play->view = view;
        error = play_through(kernel, play, &machine, out);
    }
    free(machine.states);
    free(play);
    return error;
}
